#!/bin/sh
# README's two commands on a bare Debian, in a folder of its own: bare.sh [RELEASE [LOGS]]. Needs root.
#
# debootstrap makes the folder from this machine's package source. LOGS (build) gets bare_run.log, bare_test.log.
set -u
cd "$(dirname "$0")/.." || exit 1
release=${1:-bookworm} logs=${2:-build}
mkdir -p "$logs"
command -v debootstrap >/dev/null || apt-get install -y -q debootstrap >/dev/null 2>&1
root=$(mktemp -d) || exit 1
trap 'umount -q "$root/proc" "$root/dev/pts" 2>/dev/null; rm -rf "$root"' EXIT
mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null | head -n 1)
debootstrap --variant=minbase "$release" "$root" "${mirror:-http://deb.debian.org/debian}" >"$logs/bare_run.log" 2>&1 ||
    { tail -n 3 "$logs/bare_run.log" && exit 1; }
cp /etc/apt/apt.conf.d/*registry* "$root/etc/apt/apt.conf.d/" 2>/dev/null
cp /etc/resolv.conf "$root/etc/"
git clone -q . "$root/src"
mkdir -p "$root/dev/pts"
mount -t proc proc "$root/proc"
mount -t devpts devpts "$root/dev/pts" && ln -sf pts/ptmx "$root/dev/ptmx"
in_root() { chroot "$root" sh -c "cd /src && $1" </dev/null; }

start=$(date +%s)
in_root "apt-get update -q && apt-get install -y make && make run" >"$logs/bare_run.log" 2>&1
run=$?
grep -q interleaved "$logs/bare_run.log" || run=1
middle=$(date +%s)
in_root "make test" >"$logs/bare_test.log" 2>&1
test=$?
echo "$release: make run: $run in $((middle - start)) s; make test: $test in $(($(date +%s) - middle)) s: $(tail -n 1 "$logs/bare_test.log")"
[ $run = 0 ] && [ $test = 0 ]
