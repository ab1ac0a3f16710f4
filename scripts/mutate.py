"""Writes a random sample of mutants of C files: mutate.py SEED COUNT FOLDER FILE...

The operators are those of universalmutator (universal, c_like and c rules). A line is drawn first, then one
of its mutants, so that long and short lines have the same weight. FOLDER/00001, FOLDER/00002, ... are the
mutants in the order drawn: FILE:LINE, then the text that replaces the line. Excluded: comments, directives,
assertions, error messages, changes inside strings, and calls that free memory (`make test-sanitize` finds
missing ones).
"""
import contextlib
import io
import os
import random
import re
import sys

from universalmutator import mutator

SKIPPED = re.compile(r"^\s*(#|assert\(|_Static_assert|typedef\b|/?\*|//)|error_set\(|fprintf\(stderr"
                     r"|^\s*(\w+_)?(free|done|drop)\(")
STRING = re.compile(r'"(\\.|[^"\\])*"')


def plain(text):
    """The text without the contents of its strings, and without spaces."""
    return re.sub(r"\s+", "", STRING.sub('""', text))


def mutants_by_line(path):
    with open(path, encoding="utf-8") as file:
        source = file.readlines()
    with contextlib.redirect_stdout(io.StringIO()):
        mutants = mutator.mutants_regexp(source, ["universal.rules", "c_like.rules", "c.rules"], ignorePatterns=[])
    lines = {}
    for number, text, *_ in mutants:
        original = source[number - 1]
        if not SKIPPED.match(original) and plain(text) != plain(original):
            lines.setdefault(number, []).append(text)
    return lines


def main():
    seed, count, folder, files = sys.argv[1], int(sys.argv[2]), sys.argv[3], sorted(sys.argv[4:])
    places = []
    for path in files:
        places += [(path, number, texts) for number, texts in sorted(mutants_by_line(path).items())]
    draw = random.Random(seed)
    drawn = set()
    for index in range(1, count + 1):
        for _ in range(1000):
            path, number, texts = draw.choice(places)
            text = draw.choice(texts)
            if (path, number, text) not in drawn:
                break
        drawn.add((path, number, text))
        with open(os.path.join(folder, "%05d" % index), "w", encoding="utf-8") as file:
            file.write("%s:%d\n%s" % (path, number, text))


main()
