#!/bin/sh
# Writes the lists of files in src/MAP.md, tui/README.md and tests/README.md, one line per file.
#
#   scripts/map.sh            rewrites the lists between the two marker lines (make map)
#   scripts/map.sh --check    changes nothing; exit status 1 if a list is out of date
#   scripts/map.sh --list     prints the lines: folder, name, text
#
# A line is the first sentence of the comment at the top of NAME.h, else of NAME.c, NAME.def, NAME.sh, without
# a label that repeats the name and without parentheses at its end. A sentence that is too long ends at its
# last colon or semicolon that fits. The line of a folder, "src/base/   memory, text", is written by hand in
# the document; the order of folders stays.
set -u
cd "$(dirname "$0")/.." || exit 1
LC_ALL=C
export LC_ALL

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The sources of a tree, sorted by name.
sources() {
    find "$1" \( -path tests/data -o -path tests/fuzz/corpus -o -name __pycache__ \) -prune -o -type f \
        \( -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name '*.zsh' -o -name '*.py' \) -print | sort
}

# Reads sources, prints "folder<TAB>name<TAB>text"; exit status 1 if one has no first sentence that fits.
first_sentences() {
    xargs awk -v width=85 '
    function fail(why) { printf "%s: %s\n", path[key], why | "cat >&2"; failed = 1 }

    # The first sentence of a comment, without a label that repeats the file name.
    function sentence(text, label, name) {
        gsub(/[ \t]+/, " ", text); sub(/^ /, "", text)
        sub(/: [a-z_]+\.(sh|zsh|py)( .*)?$/, ".", text)
        sub(/:$/, ".", text)
        if (!match(text, /[.?](" |"$| |$)/)) return ""
        text = substr(text, 1, RSTART - (substr(text, RSTART, 1) == "."))
        name = key; sub(/.*\t/, "", name)
        if (match(text, /^[A-Za-z0-9_ ]+: /)) {
            label = tolower(substr(text, 1, RLENGTH - 2)); gsub(/ /, "_", label)
            if (label == name || label == name "s" || label "s" == name) text = substr(text, RLENGTH + 1)
        }
        sub(/ \([^()]*\)$/, "", text)
        if (text ~ /^[A-Z][a-z ]/) text = tolower(substr(text, 1, 1)) substr(text, 2)
        while (length(text) > width && match(text, /^.*[:;] /)) text = substr(text, 1, RLENGTH - 2)
        return text
    }

    FNR == 1 {
        split("h c def sh zsh py", ending, " ")
        folder = FILENAME; sub(/\/[^\/]*$/, "", folder)
        name = FILENAME; sub(/.*\//, "", name)
        kind = name; sub(/.*\./, "", kind); sub(/\..*/, "", name)
        for (rank = 1; ending[rank] != kind;) rank++
        key = folder "\t" name
        reading = !(key in best) || rank < best[key]
        if (!reading) next
        if (!(key in best)) order[++count] = key
        best[key] = rank; path[key] = FILENAME; comment[key] = ""
        if (rank > 3) { hash = 1; start = 0; if (/^#!/ || kind == "zsh" && /^#compdef/) next }
        else { hash = 0; start = 0 }
    }
    !reading { next }
    hash && kind == "py" {
        if (!start) { start = 1; if (!sub(/^"""/, "")) { reading = 0; next } }
        if (/^ *$/) { reading = 0; next }
        if (sub(/""".*/, "")) reading = 0
        comment[key] = comment[key] " " $0; next
    }
    hash { if (!sub(/^# ?/, "") || /^ *$/) { reading = 0; next } comment[key] = comment[key] " " $0; next }
    !start && /^#define _/ { next }
    {
        if (!start && !/^\/\*/) { reading = 0; next }
        start = 1
        if (sub(/\*\/.*/, "")) reading = 0
        sub(/^\/\* ?/, ""); sub(/^ \* ?/, "")
        if (/^ *$/ || /^ \*$/) { reading = 0; next }
        comment[key] = comment[key] " " $0
    }
    END {
        for (i = 1; i <= count; i++) {
            key = order[i]; text = sentence(comment[key])
            if (text == "") fail("the comment at its head has no first sentence")
            else if (length(text) < 12) fail("the first sentence says too little: " text)
            else if (length(text) > width) fail("the first sentence is longer than " width " columns: " text)
            print key "\t" text
        }
        exit failed
    }'
}

# Puts the lines into a document between its markers, below the lines of their folders.
placed() {
    awk -v lines="$2" -v document="$1" '
    BEGIN {
        FS = "\t"
        while ((getline <lines) > 0) { text[$1] = text[$1] sprintf("  %-22s %s\n", $2, $3); left[$1] = 1 }
        FS = " "
    }
    /^<!-- map/ { print; inside = 1; next }
    /^<!-- end of map/ {
        for (folder in left) { printf "%s: %s/ has no line\n", document, folder | "cat >&2"; failed = 1 }
        inside = 0; seen = 1
    }
    inside && /^[a-z][a-z_\/]*\/ / {
        print; folder = substr($1, 1, length($1) - 1)
        if (!(folder in left)) { printf "%s: %s has no files\n", document, $1 | "cat >&2"; failed = 1 }
        printf "%s", text[folder]; delete left[folder]; next
    }
    inside && !/^```/ { next }
    { print }
    END { if (!seen) { printf "%s: there are no marker lines\n", document | "cat >&2"; failed = 1 } exit failed }' "$1"
}

failed=0
for tree in src tui tests; do
    document=$tree/README.md
    [ $tree = src ] && document=src/MAP.md
    sources "$tree" | first_sentences >"$work/$tree" || failed=1
    case ${1-} in
    --list) cat "$work/$tree" ;;
    --check)
        placed "$document" "$work/$tree" >"$work/document" || failed=1
        cmp -s "$work/document" "$document" && continue
        echo "$document: the list of files is out of date: make map" >&2
        diff "$document" "$work/document" | sed -n '/^[<>]/p' | head -n 10 >&2
        failed=1
        ;;
    *) placed "$document" "$work/$tree" >"$work/document" && cat "$work/document" >"$document" || failed=1 ;;
    esac
done
exit $failed
