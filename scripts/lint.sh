#!/bin/sh
# Runs clang-tidy (.clang-tidy) and cppcheck on the given sources: lint.sh FILE.c...
# Exit status 1 if either finds something.
#
# LINT_SINCE=COMMIT leaves out every source that is the same as in COMMIT, including the project headers and
# tables that it includes. Of sources of which only these differ, clang-tidy's remarks are printed and do not count, and
# clang's analyzer is left out, which follows the paths through one source and takes ten times as long as the rest.
set -u
cd "$(dirname "$0")/.." || exit 1
flags="-std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -pthread -Isrc -I."
status=0

# Those of the given sources that are changed or include a changed file.
changed() {
    for source; do
        # shellcheck disable=SC2086 # the flags are words
        ${CC:-cc} $flags -MM "$source" | tr ' \\' '\n\n' | grep -qxFf "$work/changed" && echo "$source"
    done
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
printf '%s\n' "$@" >"$work/changed"
if [ -n "${LINT_SINCE:-}" ]; then
    { git diff --name-only "$LINT_SINCE" -- && git ls-files -o --exclude-standard; } >"$work/changed"
    # shellcheck disable=SC2046 # paths of this project have no blanks
    set -- $(changed "$@")
fi
[ $# -gt 0 ] || { echo "  lint: no source has changed" && exit 0; }

echo "  clang-tidy: $# files"
printf '%s\n' "$@" | CHANGED="$work/changed" FLAGS="$flags" xargs -P "${JOBS:-2}" -n 1 sh -c '
    case $1 in tests/*) FLAGS="$FLAGS -include tests/cmocka_fail.h" ;; esac
    grep -qxF "$1" "$CHANGED" && exec clang-tidy --quiet "$1" -- $FLAGS 2>/dev/null
    clang-tidy --quiet --checks="-clang-analyzer-*" "$1" -- $FLAGS 2>/dev/null || echo "    $1 has not changed: not counted"' clang-tidy ||
    status=1
# shellcheck disable=SC2046 # paths of this project have no blanks
set -- $(printf '%s\n' "$@" | grep -xFf "$work/changed")
[ $# -gt 0 ] || exit $status

# missingIncludeSystem is suppressed: cppcheck does not read libc's headers. unusedFunction is not enabled:
# tests/check_callers.sh looks for them in what is linked.
echo "  cppcheck: $# files"
cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
    --suppress=missingIncludeSystem -j "${JOBS:-2}" --template=gcc -D_POSIX_C_SOURCE=200809L -Isrc -I. "$@" || status=1
exit $status
