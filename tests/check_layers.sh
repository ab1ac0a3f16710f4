#!/bin/sh
# Fails if a folder includes or links a folder that it must not: check_layers.sh [ROOT [OBJECTS [LIMITS]]].
#
# One declared order (below) serves two checks: every #include of the sources under ROOT; and, if OBJECTS is
# given, every symbol that an object under it takes from an object of another folder, as the linker sees it.
# Each violation is one line. A folder may only name folders declared above it, so folders form no cycle.
#
# Inside a folder, objects may depend on each other in cycles. The number of objects in cycles may only
# decrease: the limits are below, unless LIMITS are given.
#
# tui, cli and main see the producers (emulator, instrument, gpu) only through session and bench, metrics
# never sees one, and curses is included by tui/draw/terminal.c alone.
set -eu

# folder: folders that it may depend on
order='
base/texts:
base: base/texts
ptx: base
trace: base ptx
emulator/lower: base ptx trace
emulator/lanes: base ptx trace emulator/lower
emulator/machine: base ptx trace emulator/lower
emulator/instructions: base ptx trace emulator/lower emulator/lanes emulator/machine
emulator/tape: base ptx trace emulator/lower emulator/lanes emulator/machine emulator/instructions
emulator/replay: base ptx trace emulator/lower emulator/machine emulator/instructions
emulator: base ptx trace emulator/lower emulator/machine emulator/instructions emulator/tape emulator/replay
instrument: base ptx trace
plan: base ptx
index: base trace plan
expect: base ptx plan
catalog: base ptx plan expect
compile: base
guess: base ptx trace plan expect compile
sass: base ptx catalog compile
gpu: base ptx trace sass instrument
metrics: base ptx trace sass
findings/races: base ptx trace
findings: base ptx trace metrics findings/races
runtime: base ptx trace emulator metrics findings findings/races plan compile
runtime/library: base runtime
report: base ptx trace sass metrics findings findings/races
bench: base ptx trace instrument sass gpu plan expect catalog findings
session: base ptx trace emulator emulator/replay instrument sass gpu metrics findings findings/races report plan expect catalog compile guess runtime
ask: base ptx trace emulator emulator/replay instrument sass gpu metrics findings findings/races report plan expect catalog compile guess runtime session
ladder: base ptx trace sass metrics findings plan expect catalog session ask bench
lecture: base ptx trace sass metrics findings plan expect catalog session ask bench ladder
exercise: base ptx trace metrics findings plan expect catalog session ask lecture
tui/draw: base
tui/scene: base ptx trace sass metrics findings report plan expect catalog session ask bench ladder
tui/view: base ptx trace sass metrics findings report plan index expect catalog session ask bench ladder lecture tui/draw tui/scene runtime
tui/panes: base ptx trace sass metrics findings report plan index expect catalog session ask bench ladder lecture tui/draw tui/scene tui/view runtime
tui: base ptx trace sass metrics findings report plan index expect catalog session ask bench ladder lecture exercise tui/draw tui/scene tui/view tui/panes runtime
cli: base ptx trace sass metrics findings report plan index expect catalog session ask bench ladder lecture exercise tui/draw tui/view tui runtime compile
record: base ptx trace sass metrics plan expect catalog session ask bench cli
main: base ptx trace sass metrics findings report plan expect catalog session ask bench lecture exercise tui/draw tui/view tui cli record runtime
'

# Known violations to be removed, as "folder>folder": shorten these lists, never extend them.
known_includes=''
known_links=''

# folder: the number of its objects in cycles. A folder that is not listed has none.
limits='
ptx: 6
compile: 4
tui/panes: 2 runtime
'

limits=${3-$limits}
cd "${1:-$(dirname "$0")/..}"
status=0

functions='
    BEGIN {
        lines = split(order, line, "\n")
        for (i = 1; i <= lines; i++) {
            if (line[i] == "") continue
            split(line[i], part, ":")
            may[part[1]] = part[2] " "
            needed = split(part[2], need, " ")
            for (n = 1; n <= needed; n++)
                if (!(need[n] in may)) {
                    print "check_layers.sh: " part[1] " names " need[n] ", which is not declared above it"
                    bad = 1
                }
        }
        lines = split(limits, line, "\n")
        for (i = 1; i <= lines; i++)
            if (line[i] != "") {
                split(line[i], part, ":")
                limit[part[1]] = part[2] + 0
            }
    }
    function layer_of(path) { # "" where a path is in no layer
        if (path ~ /^src\/[^\/]*$/) return "main"
        if (path !~ /^(src|tui)\//) return ""
        sub(/^src\//, "", path)
        sub(/\/[^\/]*$/, "", path)
        return path in may ? path : ""
    }
    function is_allowed(from, to) {
        return from == to || index(may[from], " " to " ") || index(" " known " ", " " from ">" to " ")
    }
'

find src tui -name '*.[ch]' -o -name '*.def' | sort |
    xargs awk -v order="$order" -v known="$known_includes" -v limits="$limits" "$functions"'
    function exists(path, line) {
        if (!(path in found)) {
            found[path] = (getline line <path) >= 0
            close(path)
        }
        return found[path]
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
        else if (!is_allowed(from, to)) complain(from " must not include " to)
    }
    END {
        if (!files) print "nothing to check here"
        exit bad || !files
    }' >&2 || status=1

[ $# -ge 2 ] || exit $status

# Only objects whose source exists: others are left from an earlier build. The CUDA library is linked by itself.
objects= missing=
for source in $(find src tui -path src/runtime/library -prune -o -name '*.c' -print | sort); do
    object=$2/${source%.c}.o
    if [ -f "$object" ]; then objects="$objects $object"; else missing="$missing $source"; fi
done
# shellcheck disable=SC2086 # one word each
nm -A -P -g $objects /dev/null 2>/dev/null |
    awk -v order="$order" -v known="$known_links" -v limits="$limits" -v missing="$missing" -v root="$2/" "$functions"'
    BEGIN {
        if (missing != "") {
            print "no object file of" missing "; run make first"
            bad = 1
        }
    }
    {
        sub(/:$/, "", $1)
        object = substr($1, length(root) + 1)
        sub(/o$/, "c", object)
        objects++
    }
    $3 == "U" || $3 == "w" || $3 == "v" { takes[++taken] = object " " $2; next }
    { defined_in[$2] = object }
    function reaches(from, to, i, next_one) { # through objects of their folder
        if (from in visited) return 0
        visited[from] = 1
        for (i = 1; i <= degree[from]; i++) {
            next_one = edge[from, i]
            if (next_one == to || reaches(next_one, to)) return 1
        }
        return 0
    }
    END {
        if (!objects) {
            print "no objects to check here"
            exit 1
        }
        for (t = 1; t <= taken; t++) {
            split(takes[t], part, " ")
            from = part[1]
            if (!(part[2] in defined_in)) continue # of a library
            to = defined_in[part[2]]
            if (to == from) continue
            if (layer_of(from) == layer_of(to)) {
                if ((from, to) in seen) continue
                seen[from, to] = 1
                edge[from, ++degree[from]] = to
            } else if (!is_allowed(layer_of(from), layer_of(to))) {
                print from ": " layer_of(from) " must not need " layer_of(to) ": " part[2] " of " to
                bad = 1
            }
        }
        for (from in degree) {
            split("", visited)
            if (!reaches(from, from)) continue
            circle[layer_of(from)]++
            members[layer_of(from)] = members[layer_of(from)] " " from
        }
        for (layer in may) {
            if (circle[layer] + 0 > limit[layer] + 0) {
                print layer ": " circle[layer] " objects need each other in a circle, at most " limit[layer] + 0 \
                    " may:" members[layer]
                bad = 1
            } else if (circle[layer] + 0 < limit[layer] + 0) {
                print layer ": " circle[layer] + 0 " objects need each other in a circle; lower the limit of " \
                    limit[layer] " in tests/check_layers.sh"
                bad = 1
            }
        }
        exit bad
    }' >&2 || status=1
exit $status
