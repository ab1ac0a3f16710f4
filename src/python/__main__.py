"""Starts the program: python -m redviz."""

from . import main

main()
