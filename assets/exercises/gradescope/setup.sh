#!/bin/sh
# Runs once, when Gradescope builds the image of the assignment. The wheel of redviz (make wheel) is in the same zip.
apt-get update
apt-get install -y clang python3-pip
pip install --break-system-packages /autograder/source/redviz-*.whl
