#!/bin/sh
# Compiles tests/kernels/*.cu to the PTX beside them (needs nvcc); the tests read the PTX. Names of
# sources are relative to the repository's root.
set -eu
cd "$(dirname "$0")/../.."
for source in tests/kernels/*.cu; do
    ${NVCC:-nvcc} -ptx -lineinfo -arch=compute_80 -o - "$source" | sed "s|\"$PWD/|\"|" >"${source%.cu}.ptx"
done
