#!/bin/sh
# Builds the image of Dockerfile on a base of debootstrap, and checks a program in it.
#
# Prints the bytes of the packed layer above the base: what a registry sends to those who have Debian's image.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
command -v buildah >/dev/null && command -v debootstrap >/dev/null ||
    apt-get install -y -q buildah debootstrap >/dev/null
if ! buildah images -q docker.io/library/debian:bookworm-slim >/dev/null 2>&1; then
    mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1)
    debootstrap --variant=minbase bookworm "$work/base" "${mirror:-http://deb.debian.org/debian}" >/dev/null
    cp /etc/apt/apt.conf.d/*registry* "$work/base/etc/apt/apt.conf.d/" 2>/dev/null || true
    base=$(buildah from scratch)
    tar -C "$work/base" -c . | gzip -1 >"$work/base.tar.gz"
    buildah add "$base" "$work/base.tar.gz" / >/dev/null
    buildah commit -q "$base" docker.io/library/debian:bookworm-slim >/dev/null
fi
buildah bud -q --pull-never -t redviz . >/dev/null
buildah push -q redviz "oci:$work/oci:latest"
cp examples/racy.cu "$work/"
image=$(buildah from redviz)
buildah run -v "$work:/src" "$image" -- redviz --check racy.cu --call sum_blocks >"$work/report" && status=0 || status=$?
cat "$work/report"
[ $status = 1 ] && grep -q "race on shared memory" "$work/report"
manifest=$(sed -n 's/.*"manifests":.*"sha256:\([0-9a-f]*\)".*/\1/p' "$work/oci/index.json")
echo "layers: $(grep -o '"size":[0-9]*' "$work/oci/blobs/sha256/$manifest" | tail -n +2 | tr '\n' ' ')"
