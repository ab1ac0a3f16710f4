#!/bin/sh
# clang-tidy (.clang-tidy) and cppcheck over the given sources: lint.sh FILE.c...  Exit 1 when either finds something.
set -u
cd "$(dirname "$0")/.." || exit 1
status=0

echo "  clang-tidy"
printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -n 1 sh -c \
    'clang-tidy --quiet "$1" -- -std=c11 -Wall -Wextra -Wpedantic -pthread -Isrc -I. 2>/dev/null' clang-tidy || status=1

# Suppressed: what cppcheck cannot know. missingIncludeSystem: it does not read libc's headers. unusedFunction is not
# asked for: a public function may wait for the next layer to call it.
echo "  cppcheck"
cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
    --suppress=missingIncludeSystem -j "${JOBS:-2}" --template=gcc -Isrc -I. "$@" || status=1
exit $status
