#!/bin/sh
# Runs test programs: run_tests.sh BUILD_FOLDER tests/AREA/test_NAME.c...
#
# Prints one line per program (with its own "# summary:"), the whole output of those that fail, and last
# "N passed, N failed, N skipped"; a skipped test is printed with its reason. The numbers are those of the
# programs: cmocka writes TAP, whose first line is the number of tests, so that tests which did not run after a
# crash count as failed. A program that is missing, or fails after its tests passed, is one failure. REDVIZ_UNDER is a command to run each program under
# (valgrind). JOBS + 1 programs run at a time. REDVIZ_BROKEN states that the build failed, so that programs of
# an earlier build cannot hide it.
set -u

run_one() { # BUILD_FOLDER SOURCE
    name=${2#tests/}
    name=${name%.c}
    base=$1/results/$(echo "$name" | tr / .)
    program=$1/tests/$name
    if [ ! -x "$program" ]; then
        echo "0 1 0" >"$base.count"
        echo "  FAILED   $name: it did not build"
        return
    fi
    under=${REDVIZ_UNDER:-}
    command -v timeout >/dev/null 2>&1 && under="timeout -k 10 ${REDVIZ_TEST_SECONDS:-900} $under"
    start=$(date +%s)
    # shellcheck disable=SC2086 # a command and its arguments
    CMOCKA_MESSAGE_OUTPUT=TAP XDG_CONFIG_HOME=/dev/null XDG_STATE_HOME=/dev/null REDVIZ_CUDA=/nowhere/libcuda.so.1 REDVIZ_BIN=$1/redviz $under "$program" </dev/null >"$base.log" 2>&1
    status=$?
    seconds=$(($(date +%s) - start))
    # the processor time of what this shell has waited for: "0m1.234s 0m0.056s"
    times >"$base.times"
    processor=$(awk 'NR == 2 { split($1 $2, t, /[ms]/); printf "%.1f", t[1] * 60 + t[2] + t[3] * 60 + t[4] }' "$base.times")
    planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$base.log" | awk '{ sum += $1 } END { print sum + 0 }')
    skipped=$(grep -c '^\(not \)\{0,1\}ok .*# SKIP' "$base.log")
    passed=$(grep '^ok ' "$base.log" | grep -vc '# SKIP')
    failed=$((planned - passed - skipped))
    note=
    if [ "$planned" -eq 0 ]; then
        failed=1 note=" (it ran no test)"
    elif [ $status -ne 0 ] && [ $failed -eq 0 ]; then
        failed=1
    fi
    [ $status -gt 123 ] && note="$note (ended with status $status)"
    echo "$passed $failed $skipped" >"$base.count"
    if [ $failed -eq 0 ]; then
        echo "  passed   $name: $passed in $seconds s (processor: $processor s)$note"
        sed -n 's/^# summary: /           /p' "$base.log"
        awk '/^# skip: / { reason = substr($0, 9) }
            /^(not )?ok .*# SKIP/ { sub(/.*# SKIP */, ""); print "           skipped " $0 ": " (reason ? reason : "no reason given"); reason = "" }' "$base.log"
    else
        echo "  FAILED   $name: $passed passed, $failed failed$note
$(grep -v '^ok ' "$base.log" | tail -n 100 | sed 's/^/           /')"
    fi
}

if [ "$1" = --one ]; then
    shift
    run_one "$@"
    exit 0
fi

folder=$1
shift
rm -rf "$folder/results"
mkdir -p "$folder/results"
# The programs that take most processor time begin first, so that none runs alone at the end; then the last folder: the
# tests of the interface wait for terminals.
longest="cli/test_hostile session/test_saved exercise/test_shipped session/test_damaged emulator/test_core_fuzz cli/test_lecture
    cli/test_plain tui/test_chinese tui/test_boxes instrument/test_text cli/test_invariant runtime/test_programs cli/test_cases"
in_order() {
    printf '%s\n' "$@" | sort -r | awk -v longest="$(echo $longest)" '
        BEGIN { count = split(longest, names, " "); for (i = 1; i <= count; i++) rank["tests/" names[i] ".c"] = i }
        { print ($0 in rank ? rank[$0] : count + 1), $0 }' | sort -s -n -k 1,1 | cut -d " " -f 2
}
# One more at a time than there are cores.
in_order "$@" | xargs -P $((${JOBS:-2} + 1)) -n 1 "$0" --one "$folder"

passed=0 failed=0 skipped=0
for source in "$@"; do
    name=${source#tests/}
    count=$folder/results/$(echo "${name%.c}" | tr / .).count
    [ -s "$count" ] && read -r p f s <"$count" || { p=0 f=1 s=0; }
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
[ $((passed + failed)) -gt 0 ] || failed=1
if [ -n "${REDVIZ_BROKEN:-}" ]; then
    echo "  FAILED   the build: see the compiler's messages above"
    failed=$((failed + 1))
fi
echo "$passed $failed $skipped" >"$folder/results/summary"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
