#!/bin/sh
# Fails if a public function or table of src and tui is of no use to the program: check_callers.sh [ROOT [OBJECTS]].
#
# One line for each: what nothing mentions, or only tests do, is deleted; what only its own file and no test
# mentions is made static. The linker's names say what other objects take, the source what its own file takes.
set -eu
cd "${1:-$(dirname "$0")/..}"
objects=${2:-build/obj}

# What only tests call, to see or to set what the program does not: shorten this list, never extend it.
for_tests='
counters_known
emulator_repeated_blocks
lanes_limit_level
language_texts
replay_event_provenance
sass_read_text
trace_block_bytes
warp_file_read_text
'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources=$(find src tui -path src/runtime/library -prune -o -name '*.c' -print | sort)
for source in $sources; do [ -f "$objects/${source%.c}.o" ] && echo "$objects/${source%.c}.o"; done >"$work/objects" || :
[ -s "$work/objects" ] || { echo "no objects to check here; run make first" >&2; exit 1; }

# "SOURCE NAME" of each definition that no other object takes; the CUDA library takes some, too.
{
    xargs nm -A -P -g <"$work/objects"
    find "$objects/../pic/src/runtime/library" -name '*.o' -exec nm -A -P -g -u {} +
} 2>/dev/null | awk -v root="$objects/" '
    $3 == "U" { taken[$2] = 1; next }
    $3 ~ /^[TDRBC]$/ { defined[$2] = $1 }
    END {
        for (name in defined) {
            if (name in taken || name == "main") continue
            source = substr(defined[name], length(root) + 1)
            sub(/o:$/, "c", source)
            print source, name
        }
    }' | sort >"$work/alone"

status=0
complain() {
    echo "$1" >&2
    status=1
}
while read -r source name; do
    case $for_tests in *"
$name
"*) continue ;; esac
    case $name in act_*) continue ;; esac # of the table in tui/actions.c
    mentions=$(grep -ow "$name" "$source" | wc -l)
    used=$(grep -rlw --include='*.[ch]' "$name" tests web 2>/dev/null | head -n 1)
    if [ "$mentions" -le 1 ] && [ -z "${used##tests/*}" ]; then
        complain "$source: the program does not need $name${used:+, only $used}: delete it"
    elif [ -z "$used" ]; then
        complain "$source: only this file needs $name: make it static"
    fi
done <"$work/alone"
for name in $for_tests; do
    grep -q " $name\$" "$work/alone" || complain "tests/check_callers.sh: take $name out of its list: the program needs it, or it is gone"
done

# An inline function of a header is mentioned beyond its definition.
grep -rhoE --include='*.h' '^static inline [^=;(]*\(' src tui | sed -E 's/.*[ *]([A-Za-z_0-9]+)\($/\1/' | grep -E '^[a-z_0-9]+$' | sort -u >"$work/inline" || :
grep -rhowE --include='*.[ch]' --include='*.def' '[A-Za-z0-9_]+' src tui | sort | uniq -c | awk '$1 == 1 { print $2 }' | sort >"$work/once"
comm -12 "$work/inline" "$work/once" >"$work/unused"
while read -r name; do complain "nothing mentions the inline function $name: delete it"; done <"$work/unused"
exit $status
