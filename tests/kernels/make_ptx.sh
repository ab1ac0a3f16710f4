#!/bin/sh
# Compiles tests/kernels/*.cu to the PTX beside them (needs nvcc); the tests read the PTX.
set -eu
cd "$(dirname "$0")/../.."
for source in tests/kernels/*.cu; do
    ${NVCC:-nvcc} -ptx -lineinfo -arch=compute_80 -o "${source%.cu}.ptx" "$source"
done
