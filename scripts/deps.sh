#!/bin/sh
# Installs the missing packages of each group: deps.sh GROUP...
# Groups: build, test, valgrind, lint, format, musl, fuzz, deb, html, wheel, web, firefox.
# deps.sh --check GROUP...: installs nothing, fails if something is missing.
#
# Libraries are checked by compiling, so the check works on every system; nothing is downloaded if it
# succeeds. Packages are installed with apt-get (Debian, Ubuntu) as root or with sudo; on other systems the
# script prints the command to type.
set -u
cd "$(dirname "$0")/.." || exit 1
cc=${CC:-cc}
case $(uname -s) in Darwin) curses=${CURSES_LIBRARIES:--lncurses} ;; *) curses=${CURSES_LIBRARIES:--lncursesw} ;; esac

# compiles HEADERS LIBRARIES: whether a program with these headers compiles and links.
compiles() {
    command -v "${cc%% *}" >/dev/null 2>&1 || return 1
    folder=$(mktemp -d) || return 1
    for header in $1; do echo "#include <$header>"; done >"$folder/check.c"
    echo 'int main(void) { return 0; }' >>"$folder/check.c"
    # shellcheck disable=SC2086 # the compiler and the libraries are words
    $cc -o "$folder/check" "$folder/check.c" $2 2>"$folder/messages"
    status=$?
    rm -rf "$folder"
    return $status
}

# Finds Chromium by the names that tests/html/browser.py knows.
has_browser() {
    for browser in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$browser" >/dev/null 2>&1 && return 0
    done
    return 1
}

# Ubuntu's firefox is a snap, which tests/html/firefox.py cannot use and firefox-esr cannot replace.
has_firefox() { command -v firefox-esr >/dev/null 2>&1 || command -v firefox >/dev/null 2>&1; }

# Whether clang compiles and links for WebAssembly.
has_wasm() {
    file=$(mktemp) || return 1
    echo 'int main(void) { return 0; }' | clang --target=wasm32-wasi -xc - -o "$file" 2>/dev/null
    status=$?
    rm -f "$file"
    return $status
}

has() {
    case $1 in
    build) compiles "stdio.h math.h pthread.h curses.h sqlite3.h" "$curses -lsqlite3 -lm -pthread" ;;
    test) compiles "stdarg.h stddef.h setjmp.h stdint.h cmocka.h vterm.h" "-lcmocka -lvterm" ;;
    valgrind) command -v valgrind >/dev/null 2>&1 ;;
    lint) command -v clang-tidy >/dev/null 2>&1 && command -v cppcheck >/dev/null 2>&1 ;;
    fuzz | clang) command -v clang >/dev/null 2>&1 ;;
    format) command -v clang-format >/dev/null 2>&1 ;;
    musl) command -v musl-gcc >/dev/null 2>&1 ;;
    deb) command -v dpkg-deb >/dev/null 2>&1 && command -v dpkg-shlibdeps >/dev/null 2>&1 ;;
    wheel) command -v readelf >/dev/null 2>&1 && python3 -c "import ensurepip, venv" 2>/dev/null ;;
    web) has_wasm && command -v node >/dev/null 2>&1 && command -v python3 >/dev/null 2>&1 ;;
    html) has_browser && command -v python3 >/dev/null 2>&1 ;;
    firefox) has_firefox ;;
    *) echo "redviz: deps.sh: no such group: $1" >&2 && exit 2 ;;
    esac
}

# packages MANAGER GROUP: the packages to install, by the manager's names.
packages() {
    case $1:$2 in
    apt-get:build) echo "gcc libc6-dev libncurses-dev libsqlite3-dev" ;;
    apt-get:test) echo "libcmocka-dev libvterm-dev" ;;
    apt-get:lint) echo "clang-tidy cppcheck" ;;
    apt-get:fuzz | apt-get:clang) echo "clang" ;;
    apt-get:format) echo "clang-format" ;;
    apt-get:web) echo "clang lld wasi-libc libclang-rt-dev-wasm32 nodejs python3" ;;
    apt-get:deb) echo "dpkg-dev" ;;
    apt-get:wheel) echo "binutils python3-venv" ;;
    pacman:wheel) echo "binutils python" ;;
    *:wheel) echo "binutils python3" ;;
    pacman:html) echo "chromium python" ;;
    brew:html) echo "--cask chromium" ;;
    *:html) echo "chromium python3" ;;
    apt-get:firefox) echo "firefox-esr" ;;
    brew:firefox) echo "--cask firefox" ;;
    *:firefox) echo "firefox" ;;
    dnf:build) echo "gcc glibc-devel ncurses-devel sqlite-devel libasan libubsan" ;;
    dnf:test) echo "libcmocka-devel libvterm-devel" ;;
    dnf:lint) echo "clang-tools-extra cppcheck" ;;
    dnf:fuzz | dnf:clang) echo "clang compiler-rt" ;;
    dnf:format) echo "clang-tools-extra" ;;
    dnf:musl) echo "musl-gcc" ;;
    dnf:deb) echo "dpkg-dev" ;;
    pacman:build) echo "gcc ncurses sqlite" ;;
    pacman:test) echo "cmocka libvterm" ;;
    pacman:lint | pacman:fuzz | pacman:clang | pacman:format) echo "clang cppcheck" ;;
    pacman:musl) echo "musl" ;;
    pacman:deb) echo "dpkg" ;;
    brew:build) ;; # the compiler, curses and SQLite come with xcode-select --install
    brew:test) echo "cmocka libvterm" ;;
    brew:lint | brew:fuzz | brew:clang | brew:format) echo "llvm cppcheck" ;;
    *:web) echo "clang lld wasi-libc nodejs" ;;
    *:valgrind) echo "valgrind" ;;
    *:musl) echo "musl-tools" ;;
    *:deb) echo "dpkg" ;;
    esac
}

only_check=
if [ "${1-}" = --check ]; then only_check=1 && shift; fi
missing=
for group in "$@"; do has "$group" || missing="$missing $group"; done
[ -z "$missing" ] && exit 0
if [ -n "$only_check" ]; then
    case $missing in
    *build*) what="a compiler, curses.h, sqlite3.h or their libraries" ;;
    *test*) what="cmocka.h, vterm.h or their libraries, which the tests need," ;;
    *) what="what is needed for$missing" ;;
    esac
    echo "redviz: $what are not found here; make deps installs them" >&2
    exit 1
fi

manager=
for candidate in apt-get dnf pacman brew; do
    if command -v "$candidate" >/dev/null 2>&1; then manager=$candidate && break; fi
done
names=
for group in $missing; do names="$names $(packages "${manager:-apt-get}" "$group")"; done
names=$(echo $names) # one space between words

give_up() {
    echo "redviz: needed for$missing and not found here; install it with this command, then run make again:" >&2
    echo "    $1" >&2
    exit 1
}

case $manager in
apt-get)
    if [ "$(id -u)" = 0 ]; then prefix=; elif command -v sudo >/dev/null 2>&1; then prefix="sudo "; else prefix=none; fi
    command="${prefix}apt-get update && ${prefix}apt-get install -y --no-install-recommends $names"
    [ "$prefix" = none ] && give_up "su -c 'apt-get update && apt-get install -y --no-install-recommends $names'"
    # sudo can ask for a password only on a terminal.
    [ -n "$prefix" ] && [ ! -t 0 ] && ! sudo -n true 2>/dev/null && give_up "$command"
    echo "installing $names"
    log=$(mktemp) || exit 1
    # One broken third-party list must not stop the installation, so the status of the update is ignored.
    ${prefix}apt-get update -q >"$log" 2>&1 </dev/null
    if ! ${prefix}env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        -o DPkg::Lock::Timeout=120 $names >>"$log" 2>&1 </dev/null; then
        tail -n 15 "$log" >&2
        rm -f "$log"
        give_up "$command"
    fi
    rm -f "$log"
    ;;
dnf) give_up "sudo dnf install $names" ;;
pacman) give_up "sudo pacman -S --needed $names" ;;
brew) give_up "xcode-select --install${names:+; brew install $names}" ;;
*)
    if [ "$(uname -s)" = Darwin ]; then give_up "xcode-select --install, and Homebrew's packages cmocka, libvterm"; fi
    give_up "your package manager; on Debian the packages are: $names"
    ;;
esac

for group in $missing; do
    if ! has "$group"; then
        echo "redviz: $names installed, but '$cc' still cannot build with it; see: scripts/deps.sh $group" >&2
        exit 1
    fi
done
