#!/usr/bin/env python3
"""Prints src/base/utf8_kinds.def: the characters that take two columns or none on a terminal.

    python3 scripts/make_kinds.py >src/base/utf8_kinds.def

Python's unicodedata holds EastAsianWidth.txt and the general categories of one version of Unicode; the output
names it. Unassigned characters join the ranges around them, so that the table stays short."""
import unicodedata

KINDS = {"Mn": "MARK", "Me": "MARK", "Cf": "FORMAT", "Cc": "CONTROL", "Cs": "CONTROL", "Co": "CONTROL",
         "Zl": "CONTROL", "Zp": "CONTROL"}


def kind(code):
    """The kind of a character; None: not assigned."""
    character = chr(code)
    category = unicodedata.category(character)
    if 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FF:
        return "MARK"  # vowels and final consonants of Hangul: terminals put them over the first consonant
    if category == "Cn":
        return "WIDE" if 0x20000 <= code <= 0x3FFFD else None  # EastAsianWidth.txt: planes 2 and 3 are wide
    if category in KINDS:
        return KINDS[category]
    return "WIDE" if unicodedata.east_asian_width(character) in "WF" else "NARROW"


ranges = []
for code in range(0x110000):
    here = kind(code)
    if here is None:
        continue
    if ranges and ranges[-1][0] == here:
        ranges[-1][2] = code
    else:
        ranges.append([here, code, code])
shown = ["RANGE(%s, 0x%04X, 0x%04X)" % tuple(r) for r in ranges if r[0] != "NARROW"]
print("/* Characters that do not take one column, in order: RANGE(kind, first, last). From Unicode")
print(" * %s: EastAsianWidth.txt (W and F: WIDE), the general categories (Mn, Me: MARK; Cf: FORMAT; Cc, Cs, Co, Zl, Zp:" %
      unicodedata.unidata_version)
print(" * CONTROL); Hangul vowels and final consonants are MARK. Written by scripts/make_kinds.py. */")
for i in range(0, len(shown), 3):
    print(" ".join(shown[i:i + 3]))
