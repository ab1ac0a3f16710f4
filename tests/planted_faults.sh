#!/bin/sh
# Puts ten faults into a clone, one at a time; a stage of .ci/run must find each. The clone is build/planted, and the stage
# runs with few tests. Prints the line that tells of each fault, and last "N found, N not found"; status 1 if one was
# not found.
cd "$(dirname "$0")/.." || exit 1
exec </dev/null
export DEV=1
[ -d build/planted ] || git clone -q . build/planted || exit 1
commit=$(git rev-parse HEAD)
cd build/planted && git fetch -q ../.. "$commit" && git checkout -qf "$commit" || exit 1
log=build/planted.log
mkdir -p build
found=0 lost=0

# What the stage says must match $expected: it could also have failed for another reason.
try() { # FAULT STAGE FILE SED_SCRIPT EXPECTED COMMAND...
    fault=$1 stage=$2 file=$3 change=$4 expected=$5
    shift 5
    sed -i "$change" "$file"
    answer="NOT FOUND"
    if git diff --quiet; then
        line="$file has no place for it"
    elif "$@" >$log 2>&1; then
        line="the stage passed"
    elif line=$(grep -aE -m 1 "$expected" $log); then
        answer=found
    else
        line="the stage failed for another reason: $(tail -n 1 $log)"
    fi
    [ "$answer" = found ] && found=$((found + 1)) || lost=$((lost + 1))
    printf '  %-9s  %-22s %-9s %.150s\n' "$answer" "$fault" "$stage" "$(echo "$line" | sed 's/^[ #=]*//')"
    git checkout -q .
}

try "leak" sanitize src/base/text.c '/^void text_done/,/^}/s/free(text->data);//' \
    "LeakSanitizer: detected" make test-sanitize TEST_SOURCES=tests/base/test_tsv.c
try "overflow" sanitize src/base/text.c '/^void text_clear/,/^}/s/data\[0\] = 0/data[text->capacity] = 0/' \
    "heap-buffer-overflow" make test-sanitize TEST_SOURCES=tests/ptx/test_names.c
try "undefined shift" sanitize src/base/number.c '/^bool number_parse(/,/^}/s/{$/{\n    if (1 << (int)(maximum % 64 + 32) == 3) return false;/' \
    "runtime error: shift exponent" make test-sanitize TEST_SOURCES=tests/base/test_number.c
try "warning of clang only" sanitize src/base/text.c '/^void text_clear/,/^}/s/{$/{\n    text = text;/' \
    "error: .*-Wself-assign" make test-sanitize TEST_SOURCES=tests/base/test_tsv.c
try "race of threads" threads src/emulator/machine/machine_grid.c '/^static void run_share/,/^}/s/{$/{\n    share->grid->latest++;/;ta;b;:a;n;ba' \
    "ThreadSanitizer: data race" make test-threads THREADED=tests/emulator/test_core_threads.c
try "wrong golden" test tests/tui/golden/ascii_80x24.txt '2s/[a-z]/Q/' \
    "FAILED .*test_frames" make test TEST_SOURCES=tests/tui/test_frames.c
try "missing translation" test src/base/texts/finding_texts.def '/^TEXT("result ok"/d' \
    "FAILED .*test_language" make test TEST_SOURCES=tests/base/test_language.c
try "symbol of glibc only" musl src/base/text.c 's/^#include <fcntl.h>/&\n#include <execinfo.h>/' \
    "execinfo.h.*No such file" make musl-check
try "broken page" html assets/html/frames.js 's/function /functoin /' \
    "^test-html: Chromium: " make test-html
try "wheel without a file" wheel scripts/make_wheel.py 's/for name in sorted(names):/for name in sorted(set(names) - {"strided.cu"}):/' \
    "kernels/strided.cu" make test-wheel WHEEL_CC=cc
echo "$found found, $lost not found"
[ $lost -eq 0 ]
