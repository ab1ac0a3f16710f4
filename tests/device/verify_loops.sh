#!/bin/sh
# Compares the main loops of main_loops.cu: their products with plain sums of products, and the emulator with
# this GPU, thread by thread:
#
#   tests/device/verify_loops.sh [build/redviz [FILE.ptx]]      exit 1 if any differs
#
# pipelined_product's numbers are whole, so that its result is exact. promoted_product's tensor cores keep 13 bits
# of a sum, so that its result may be off by 1/512 of the sum of the magnitudes. Ends with the number of checks
# that agree. With REDVIZ_CUDA=build/tests/gpu/libcuda_emulated.so the emulator replaces the GPU. Without nvcc, FILE.ptx is
# main_loops.cu, compiled elsewhere by nvcc -ptx -lineinfo -arch=sm_90a.
set -u
cd "$(dirname "$0")/../.." || exit 2
redviz=${1:-build/redviz}
kernels=${2:-tests/device/main_loops.cu}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
agree=0 differ=0

count() { # NAME STATUS FILE
    if [ "$2" -eq 0 ]; then
        agree=$((agree + 1))
    else
        differ=$((differ + 1))
        printf '%s:\n' "$1"
        sed 's/^/    /' "$3"
    fi
}

# Dumps a, b and the result of the emulator, and compares it with the product; then compares with the GPU.
product() { # NAME ROWS COLUMNS DEPTH ARGUMENTS BUFFER...
    name=$1 rows=$2 columns=$3 depth=$4 arguments=$5
    shift 5
    launch() {
        "$redviz" "$kernels" --compile-flags -arch=sm_90a --entry "$name" --grid 2 --block 384 \
            --shared 90112 --args "$arguments, $rows, $columns, $depth" "$@"
    }
    for buffer; do
        launch --backend emulator --dump "$buffer" >"$work/$buffer" 2>"$work/said" || break
    done
    (cd "$work" && awk -v name="$name" -v rows="$rows" -v columns="$columns" -v depth="$depth" \
        -f "$OLDPWD/tests/device/products.awk" "$@") >"$work/said" 2>&1
    count "$name as a product" $? "$work/said"
    launch --trace-blocks 0-1 --verify >"$work/said" 2>&1
    count "$name" $? "$work/said"
}

# Random numbers of a half, whole from -3 to 3, and of e4m3: a sign, then an exponent and 3 bits from 1/4 (0x28)
# to 15 (0x57).
fill() { # FILE SEED COUNT half|e4m3
    LC_ALL=C awk -v seed="$2" -v count="$3" -v type="$4" 'BEGIN {
        split("0 60 64 66", high)
        srand(seed)
        for (i = 0; i < count; i++) {
            sign = rand() < 0.5 ? 128 : 0
            if (type == "half") printf "%c%c", 0, high[1 + int(rand() * 4)] + sign
            else printf "%c", 40 + int(rand() * 48) + sign
        }
    }' >"$work/$1"
}

fill a.half 1 65536 half
fill b.half 2 32768 half
product pipelined_product 256 128 256 "tensor(a=half[65536]:file:$work/a.half, {256, 256}, {64, 128}, 128),
tensor(b=half[32768]:file:$work/b.half, {256, 128}, {64, 64}, 128),
tensor(out=half[32768]:zero, {128, 256}, {64, 64}, 128)" a b out
fill a.e4m3 3 65536 e4m3
fill b.e4m3 4 65536 e4m3
product promoted_product 128 128 512 "tensor(a=uchar[65536]:file:$work/a.e4m3, {512, 128}, {128, 128}, 128),
tensor(b=uchar[65536]:file:$work/b.e4m3, {512, 128}, {128, 64}, 128), scales_of_a=float[512]:random(0.5,2.0),
scales_of_b=float[4]:random(0.5,2.0), out=float[16384]:zero" a b out scales_of_a scales_of_b

echo "$agree agree, $differ differ"
[ $differ -eq 0 ]
