#!/bin/sh
# Who may include whom: check_layers.sh [ROOT]. Names every #include that goes against the order
#
#   base <- ptx <- trace <- {emulator, instrument <- gpu, metrics} <- session <- tui <- cli <- main
#   ptx <- catalog <- session, base <- compile <- session, gpu <- bench <- tui
#
# tui, cli and main see the producers (emulator, instrument, gpu) only through session and bench, metrics never sees
# one, and curses is included by tui/draw/terminal.c alone.
set -eu
cd "${1:-$(dirname "$0")/..}"

find src tui -name '*.[ch]' -o -name '*.def' | sort | xargs awk '
    BEGIN {
        may["base"] = ""
        may["ptx"] = "base"
        may["trace"] = "base ptx"
        may["emulator"] = "base ptx trace"
        may["instrument"] = "base ptx trace"
        may["gpu"] = "base ptx trace instrument"
        may["metrics"] = "base ptx trace"
        may["catalog"] = "base ptx"
        may["compile"] = "base"
        may["bench"] = "base ptx trace instrument gpu catalog"
        may["session"] = "base ptx trace emulator instrument gpu metrics catalog compile"
        may["tui"] = "base ptx trace metrics catalog session bench"
        may["cli"] = "base ptx trace metrics catalog session bench tui"
        may["main"] = "base ptx trace metrics catalog session bench tui cli"
    }
    function layer_of(path) { # "" where a path is in no layer
        if (path ~ /^src\/[^\/]*$/) return "main"
        sub(/^src\//, "", path)
        sub(/\/.*/, "", path)
        return path in may ? path : ""
    }
    function exists(path, line) {
        if (!(path in known)) {
            known[path] = (getline line <path) >= 0
            close(path)
        }
        return known[path]
    }
    function complain(why) {
        print FILENAME ":" FNR ": " why ": " $0
        bad = 1
    }
    FNR == 1 {
        files++
        from = layer_of(FILENAME)
        folder = FILENAME
        sub(/[^\/]*$/, "", folder)
        if (from == "") complain("the file is in no layer of tests/check_layers.sh")
    }
    /^[ \t]*#[ \t]*include[ \t]*</ {
        if ($0 ~ /<(n?cursesw?|ncursesw?\/.*|panel|term|termcap|unctrl)\.h>/ && FILENAME != "tui/draw/terminal.c")
            complain("only tui/draw/terminal.c includes curses")
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, part, "\"")
        path = folder part[2]
        if (!exists(path)) path = "src/" part[2]
        if (!exists(path)) path = part[2]
        to = exists(path) ? layer_of(path) : ""
        if (part[2] ~ /\.\./) complain("written from src or the root, never with ..")
        else if (to == "") complain("included from outside src and tui")
        else if (to != from && index(" " may[from] " ", " " to " ") == 0) complain(from " must not include " to)
    }
    END {
        if (!files) print "nothing to check here"
        exit bad || !files
    }' >&2 || exit 1
