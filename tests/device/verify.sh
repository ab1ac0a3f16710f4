#!/bin/sh
# Compares kernels that the catalogue does not have with this GPU, event by event (--verify).
#
#   tests/device/verify.sh build/redviz [ENTRY...]     entries of tests/kernels/early_return.ptx, places.ptx, named.ptx;
#                                                      default: all
#
# Ends with "N agree, N differ"; exit 1 if one differs. With REDVIZ_CUDA=build/tests/gpu/libcuda_emulated.so
# the emulator replaces the GPU.
set -u
cd "$(dirname "$0")/../.." || exit 2
redviz=$1
shift
wanted=" $* "
agree=0 differ=0

compare() { # ENTRY OPTION...
    entry=$1
    shift
    case $wanted in
    '  ' | *" $entry "*) ;;
    *) return ;;
    esac
    if said=$("$redviz" "$file" --entry "$entry" "$@" --grid 1 --verify 2>&1); then
        agree=$((agree + 1))
    else
        differ=$((differ + 1))
        printf '%s %s:\n%s\n' "$entry" "$*" "$said"
    fi
}

entries() {
    sed -n 's/^\.visible \.entry \([a-z_0-9]*\)(.*/\1/p' "$file"
}

file=tests/kernels/early_return.ptx
for entry in $(entries); do
    for n in 77 70 33 96; do # lanes of the last warp: 13, 6, 1, 32
        compare "$entry" --args 'in=int[n]:random, out=int[n]:zero, n' --n $n --block 96
    done
done
file=tests/kernels/places.ptx
for entry in $(entries); do compare "$entry" --args 'out=uint[64]:zero' --block 64; done
file=tests/kernels/named.ptx
for entry in $(entries); do compare "$entry" --args 'out=uint[128]:zero' --block 128; done
echo "$agree agree, $differ differ"
[ $differ -eq 0 ]
