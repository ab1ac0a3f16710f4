#!/bin/sh
# Packs an installed tree as a Debian package: make_deb.sh ROOT VERSION  (make deb calls it)
# dpkg-shlibdeps finds the dependencies in the program. DEBFULLNAME and DEBEMAIL name the maintainer.
set -eu
cd "$(dirname "$0")/.."
root=$1 version=$2
architecture=$(dpkg --print-architecture)
package=build/redviz_${version}_$architecture.deb
maintainer="${DEBFULLNAME:-The redviz authors} <${DEBEMAIL:-redviz@example.org}>"
share=$root/usr/share

strip --strip-unneeded "$root/usr/bin/redviz"
gzip -9nf "$share/man/man1/redviz.1"
mkdir -p "$root/DEBIAN" "$share/doc/redviz"
{
    echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    echo
    echo "Files: *"
    sed -n 's/^Copyright (c) /Copyright: /p' LICENSE
    echo "License: Expat"
    tail -n +5 LICENSE | sed -e 's/^$/./' -e 's/^/ /'
} >"$share/doc/redviz/copyright"
{
    echo "redviz ($version) unstable; urgency=medium"
    echo
    echo "  * Release $version; CHANGELOG.md in the source lists the changes."
    echo
    echo " -- $maintainer  $(date -R -u -d "$(sed -n 's/.*REDVIZ_VERSION_DATE  *"\(.*\)"/\1/p' src/base/version.h)")"
} | gzip -9n >"$share/doc/redviz/changelog.gz"

# dpkg-shlibdeps reads debian/control in the current folder.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/debian"
printf 'Source: redviz\n\nPackage: redviz\nArchitecture: any\n' >"$work/debian/control"
program=$PWD/$root/usr/bin/redviz
depends=$(cd "$work" && dpkg-shlibdeps -O "$program" | sed 's/^shlibs:Depends=//')

(cd "$root" && find usr -type f -exec md5sum {} +) >"$root/DEBIAN/md5sums"
cat >"$root/DEBIAN/control" <<END
Package: redviz
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: $depends
Section: education
Priority: optional
Description: see how a CUDA reduction kernel really executes
 redviz emulates the PTX of a CUDA kernel and shows it step by step, forwards
 and backwards, in a terminal: which lanes are active, which shared-memory
 banks they access, where a shuffle moves a value, and what each source line
 costs. It needs no GPU; with one, it compares itself with the hardware.
END
find "$root" -type d -exec chmod 755 {} +
dpkg-deb --root-owner-group --build "$root" "$package"
