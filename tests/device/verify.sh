#!/bin/sh
# Compares kernels that the catalogue does not have with this GPU, event by event (--verify).
#
#   tests/device/verify.sh build/redviz [ENTRY...]     entries of tests/kernels/early_return.ptx; default: all
#
# Ends with "N agree, N differ"; exit 1 if one differs. With REDVIZ_CUDA=build/tests/gpu/libcuda_emulated.so
# the emulator replaces the GPU.
set -u
cd "$(dirname "$0")/../.." || exit 2
redviz=$1
shift
file=tests/kernels/early_return.ptx
[ $# -gt 0 ] || set -- $(sed -n 's/^\.visible \.entry \([a-z_0-9]*\)(.*/\1/p' $file)
agree=0 differ=0
for entry; do
    for n in 77 70 33 96; do # lanes of the last warp: 13, 6, 1, 32
        if said=$("$redviz" $file --entry "$entry" --args 'in=int[n]:random, out=int[n]:zero, n' --n $n --block 96 --grid 1 --verify 2>&1)
        then agree=$((agree + 1))
        else
            differ=$((differ + 1))
            printf '%s, n = %s:\n%s\n' "$entry" $n "$said"
        fi
    done
done
echo "$agree agree, $differ differ"
[ $differ -eq 0 ]
