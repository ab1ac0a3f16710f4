#!/bin/sh
# Mutation testing: puts one small fault at a time into a copy of the tree, and runs the tests of that part.
#
# Variables: COUNT mutants (300) are drawn with SEED (1) from FILES (src/emulator src/metrics src/findings
# src/trace src/instrument tui), JOBS (1) at a time. Test programs that take more than SLOWEST (20) seconds of
# CPU time, or wait twice as long, are left out. RETRY=1 re-runs the mutants that survived the last run,
# against new tests of unchanged sources.
#
# All work is done in build/mutate. The script prints a line per mutant, then the rates of each folder;
# build/mutate/report keeps them. A mutant is `killed` by the first test program that crashes, or that twice
# fails or takes ten times its normal time; `survived` if no program kills it; `equivalent` (not counted) if
# its object code is that of the unchanged file. A change that does not compile and link is replaced by
# another one.
#
# shellcheck disable=SC2086,SC2046,SC2094,SC2030,SC2031 # lists are split into words; no name has a space
set -eu

# The test programs of a source file: those of its folder first, then those that run whole sessions.
# shellcheck disable=SC2005 # echo makes one line of it
tests_of() { # SOURCE
    case $1 in
    src/trace/*) echo $(ls tests/trace/test_*.c tests/metrics/test_*.c tests/findings/test_*.c) emulator/test_folds emulator/test_replay \
        emulator/test_core_spin session/test_saved session/test_compare session/test_damaged session/test_session \
        instrument/test_records instrument/test_buffer instrument/test_cases tui/test_view tui/test_jumps \
        tui/test_frames gpu/test_capture ;;
    src/instrument/*) echo $(ls tests/instrument/test_*.c) gpu/test_capture gpu/test_driver \
        session/test_session_counters ;;
    src/emulator/lanes/*) echo $(ls tests/emulator/test_lanes_*.c) emulator/test_core_fuzz emulator/test_core_warp \
        emulator/test_core_matrix emulator/test_core_memory catalog/test_results_numerics ;;
    src/emulator/*) echo $(ls tests/emulator/test_core_*.c) emulator/test_replay emulator/test_folds \
        emulator/test_provenance findings/test_races findings/test_race_findings emulator/test_lanes_move \
        emulator/test_lanes_integer catalog/test_results_int catalog/test_results_bugs instrument/test_buffer \
        instrument/test_cases instrument/test_records session/test_session tui/test_view tui/test_frames \
        cli/test_front_end ;;
    src/metrics/* | src/findings/* | src/report/*) echo $(ls tests/metrics/test_*.c tests/findings/test_*.c tests/report/test_*.c) catalog/test_hazards catalog/test_results_bugs catalog/test_labs \
        tui/test_hazards tui/test_view tui/test_frames tui/test_timings session/test_session cli/test_runs ;;
    tui/*) echo $(ls tests/tui/test_*.c) session/test_compare ;;
    esac | tr ' ' '\n' | sed 's|^tests/||; s|\.c$||'
}

compile() { # SOURCE OBJECT, text on stdin: __FILE__ and the object code do not depend on where a mutant lies
    CCACHE_DISABLE=1 timeout 120 "${CC:-cc}" -O1 -g0 -fPIC -Werror=return-type -std=c11 -ffp-contract=off -pthread \
        -I. -Isrc -iquote "$(dirname "$1")" -x c -c -o "$2" - 2>/dev/null
}

link_library() { # FOLDER OBJECT...
    folder=$1
    shift
    cc -shared -Wl,-Bsymbolic-functions,-z,defs -o "$folder/libredviz.so" "$@" $libraries
}

run_test() { # SECONDS FOLDER NAME
    CMOCKA_MESSAGE_OUTPUT=TAP REDVIZ_CUDA=/nowhere/libcuda.so.1 REDVIZ_BIN=build/redviz LD_LIBRARY_PATH=$2 \
        LD_PRELOAD=$checked_malloc MALLOC_CHECK_=3 MALLOC_PERTURB_=85 \
        timeout -k 5 "$1" "build/tests/$3" </dev/null >"$2/output" 2>&1
}

# Unless a signal ended it, a test must fail twice, so that a flaky test kills no mutant.
finds_fault() { # SECONDS FOLDER NAME
    status=0
    run_test "$@" || status=$?
    case $status in
    0) return 1 ;;
    132 | 134 | 135 | 136 | 139) return 0 ;; # SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV
    *) ! run_test "$@" ;;
    esac
}

# Milliseconds of CPU time of a test of the unchanged tree, and seconds of elapsed time, most of which a test
# of a slow terminal waits; empty: the test fails, and is left out.
measure() { # NAME
    file=$work/seconds/$(echo "$1" | tr / .)
    [ ! -e "$file" ] || [ -n "$(find "tests/$1.c" -newer "$file")" ] || return 0
    begin=$(date +%s)
    if took=$(run_test 900 "$work/base" "$1" && times); then
        echo "$took" | sed -n '2s/[ms]/ /gp' |
            awk -v waited=$(($(date +%s) - begin)) '{ print int(($1 * 60 + $2 + $3 * 60 + $4) * 1000), waited }' >"$file"
    else
        echo "  $1 fails without any fault: left out" >&2
        : >"$file"
    fi
}

try() { # MUTANT, numbered as drawn
    [ "$(cat "$work"/results/* 2>/dev/null | grep -vc '^equivalent')" -lt "$COUNT" ] || return 0
    here=$work/job.$$
    mkdir -p "$here"
    place=$(head -n 1 "$work/drawn/$1")
    source=${place%:*} line=${place##*:}
    object=build/obj/${source%.c}.o base=$work/base/$(echo "$source" | tr / .).o
    [ -e "$base" ] || { compile "$source" "$base.$$" <"$source" && mv "$base.$$" "$base"; }
    { tail -n +2 "$work/drawn/$1" | tr '\n' ' ' && echo; } >"$here/text" # one line: the lines of assertions stay
    sed -e "${line}r $here/text" -e "${line}d" "$source" >"$here/mutant.c"
    if compile "$source" "$here/mutant.o" <"$here/mutant.c"; then
        verdict=survived
        if cmp -s "$here/mutant.o" "$base"; then
            verdict=equivalent
        elif ! link_library "$here" $(echo "$objects" | grep -vxF "$object") "$here/mutant.o" 2>/dev/null; then
            verdict=
        else
            for name in $(tests_of "$source" | while read -r name; do
                measure "$name"
                echo "$(cat "$work/seconds/$(echo "$name" | tr / .)") $name"
            done | sort -n | awk -v most="$SLOWEST" 'NF == 3 && $1 <= most * 1000 && $2 <= 2 * most { print $3 }'); do
                read -r busy waited <"$work/seconds/$(echo "$name" | tr / .)"
                limit=$((busy / 100 + 3 * waited + 20))
                if finds_fault "$limit" "$here" "$name"; then verdict="killed by $name" && break; fi
            done
        fi
        [ -z "$verdict" ] || {
            printf '%s\t%s\t%s\t%s\n' "$verdict" "$place" "$(sed -n "${line}p" "$source" | sed 's/^ *//')" \
                "$(sed 's/^ *//; s/ *$//' "$here/text")" | tee "$work/results/$1"
        }
    fi
    rm -rf "$here"
}

# The rates by folder: killed mutants, relative to those that are not equivalent.
rates() { # REPORT
    awk -F '\t' '
        { folder = $2; sub(/\/[^\/]*$/, "", folder); sub(/^tui\/.*/, "tui", folder)
          sub(/^src\/(metrics|findings)\/.*/, "src/metrics", folder)
          kind = $1; sub(/ .*/, "", kind)
          count[folder, kind]++; count["total", kind]++; folders[folder]; folders["total"] }
        END { for (f in folders) {
                total = count[f, "killed"] + count[f, "survived"]
                printf "%-24s %4d killed, %3d survived, %3d equivalent: %5.1f %%\n", f, count[f, "killed"],
                    count[f, "survived"], count[f, "equivalent"], total ? 100 * count[f, "killed"] / total : 100 } }' "$1" |
        sort
}

if [ "${1:-}" = --try ]; then
    cd "$work/tree"
    try "$2"
    exit 0
fi

cd "$(dirname "$0")/.."
export COUNT="${COUNT:-300}" JOBS="${JOBS:-1}" SLOWEST="${SLOWEST:-20}" work="$PWD/build/mutate"
mkdir -p "$work/tree" "$work/base" "$work/seconds" "$work/results"

# The copy: tracked files and untracked files that are not ignored. Objects of an earlier copy are kept.
find "$work/tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git ls-files -co --exclude-standard | while read -r file; do [ ! -e "$file" ] || echo "$file"; done |
    tar -c -T - | tar -x -C "$work/tree"

[ -x "$work/venv/bin/python3" ] || python3 -m venv "$work/venv"
"$work/venv/bin/python3" -c 'import universalmutator' 2>/dev/null ||
    "$work/venv/bin/pip" install -q universalmutator==1.14.1

cd "$work/tree"
cat >objects.mk <<'END'
include Makefile
objects: $(LIBRARY_OBJECTS) $(MAINS:%.c=$(O)/obj/%.o) $(O)/helpers.a $(TESTS:$(O)/tests/%=$(O)/obj/tests/%.o)
objects: $(STUBS) $(EMULATED_GPU)
names: ; @echo $(LIBRARY_OBJECTS)
libraries: ; @echo $(LIBRARIES)
END
make --no-print-directory -j"$JOBS" -f objects.mk objects HARDEN= CFLAGS="-O1 -g0 -fPIC" >"$work/make.log"
libraries=$(make --no-print-directory -s -f objects.mk libraries)
objects=$(make --no-print-directory -s -f objects.mk names | tr ' ' '\n')
checked_malloc=$(cc -print-file-name=libc_malloc_debug.so.0) # of glibc: finds writes beyond what was allocated
[ -e "$checked_malloc" ] || checked_malloc=
export libraries objects checked_malloc
link_library "$work/base" $objects
cc -o build/redviz build/obj/src/main.o -L"$work/base" -lredviz $libraries
# shellcheck disable=SC2086
cc -o build/redviz-record build/obj/src/record_main.o -L"$work/base" -lredviz $libraries
for source in tests/*/test_*.c; do
    program=build/${source%.c}
    if [ ! -e "$program" ] || [ -n "$(find "build/obj/${source%.c}.o" build/helpers.a -newer "$program")" ]; then
        mkdir -p "$(dirname "$program")"
        cc -o "$program" "build/obj/${source%.c}.o" build/helpers.a -L"$work/base" -lredviz -lcmocka -lvterm $libraries
    fi
done
rm -f "$work"/base/*.o

if [ -n "${RETRY:-}" ]; then
    retried=$(grep -l '^survived' "$work"/results/* | xargs -n 1 basename)
    for number in $retried; do rm "$work/results/$number"; done
else
    rm -rf "$work/drawn" "$work/results"
    mkdir -p "$work/drawn" "$work/results"
    "$work/venv/bin/python3" scripts/mutate.py "${SEED:-1}" $((COUNT * 12)) "$work/drawn" \
        $(find ${FILES:-src/emulator src/metrics src/findings src/trace src/instrument tui} -name '*.c')
    retried=$(ls "$work/drawn")
fi
cd ../../..
echo "$retried" | xargs -P "$JOBS" -n 1 "$work/tree/scripts/mutate.sh" --try
cat "$work"/results/* >"$work/report"
rates "$work/report" | tee -a "$work/report"
