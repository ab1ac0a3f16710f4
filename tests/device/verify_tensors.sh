#!/bin/sh
# Compares tensor copies and wgmma: the emulator against this GPU. Each form has a small kernel and is compared
# thread by thread:
#
#   tests/device/verify_tensors.sh [build/redviz [NAME...]]    NAME of a form; default: all. Exit 1 if any differs
#
# A tensor copy's kernel has 2 blocks of 64 threads; the tile comes from the tensor `in`, or goes there. wgmma's
# kernel has a warpgroup and runs twice: with numbers near 1, and with arbitrary bits; every
# register of D is compared to the bit. Ends with the number of forms that agree. With
# REDVIZ_CUDA=build/tests/gpu/libcuda_emulated.so the emulator replaces the GPU.
set -u
cd "$(dirname "$0")/../.." || exit 2
redviz=${1:-build/redviz}
[ $# -gt 0 ] && shift
wanted=" $* "
. tests/device/forms.sh
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
agree=0 differ=0

run() { # NAME ARGUMENTS THREADS
    if said=$("$redviz" "$work/k.ptx" --args "$2" --grid 2 --block "$3" --trace-blocks 0-1 --verify 2>&1); then
        agree=$((agree + 1))
    else
        differ=$((differ + 1))
        printf '%s:\n' "$1"
        printf '%s\n' "$said" | sed 's/^/    /'
    fi
}

# ---- tensor copies --------------------------------------------------------------------------------------

copy() { # NAME TYPE SIZES BOX SPAN BODY [DIRECTIVE OF THE ENTRY]
    is_wanted "$1" || return
    cat >"$work/k.ptx" <<PTX
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128])
${7-}
{
.reg .pred %p<8>;
.reg .b16 %h<2>;
.reg .b32 %r<24>;
.reg .b64 %q<8>;
.shared .align 1024 .b8 tile[8192];
.shared .align 8 .b64 gate;
ld.param.u64 %q1, [out];
mov.b64 %q0, map;
cvta.param.u64 %q0, %q0;
mov.u32 %r0, %tid.x;
mov.u32 %r1, tile;
mov.u32 %r2, gate;
mov.u32 %r3, %ctaid.x;
mad.lo.u32 %r4, %r3, 64, %r0;
mad.wide.u32 %q1, %r4, 128, %q1;
mad.lo.u32 %r5, %r0, 128, %r1;
setp.eq.u32 %p0, %r0, 0;
mov.u32 %r8, -1; mov.u32 %r9, 0; mov.u32 %r10, 1; mov.u32 %r11, 2; mov.u32 %r12, 16; mov.u32 %r13, 30;
mov.u32 %r14, 0;
FILL: add.u32 %r15, %r5, %r14; mad.lo.u32 %r16, %r0, 131, %r14; st.shared.v4.u32 [%r15], {%r16, %r0, %r16, %r14};
add.u32 %r14, %r14, 16; setp.lt.u32 %p1, %r14, 128; @%p1 bra FILL;
@%p0 mbarrier.init.shared::cta.b64 [%r2], 1;
fence.mbarrier_init.release.cluster;
fence.proxy.async;
bar.sync 0;
$6
bar.sync 0;
mov.u32 %r14, 0;
SHOW: add.u32 %r15, %r5, %r14; ld.shared.v4.u32 {%r16, %r17, %r18, %r19}, [%r15];
cvt.u64.u32 %q2, %r14; add.u64 %q2, %q2, %q1; st.global.v4.u32 [%q2], {%r16, %r17, %r18, %r19};
add.u32 %r14, %r14, 16; setp.lt.u32 %p1, %r14, 128; @%p1 bra SHOW;
ret;
}
PTX
    run "$1" "in=$2[16384]:iota, out=int[4096]:zero, tensor(in, {$3}, {$4}, $5)" 64
}

wait='W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0; @!%p2 bra W;'
load() { # NAME TYPE SIZES BOX SPAN BYTES RANK COORDINATES
    copy "$1" "$2" "$3" "$4" "$5" "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], $6;
@%p0 cp.async.bulk.tensor.$7d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%q0, {$8}], [%r2];
$wait"
}

load line int 4000 64 0 256 1 %r12
load line_of_bytes char 16000 256 0 256 1 %r12
load line_that_ends int 40 64 0 256 1 %r12
load plane int '64, 64' '32, 8' 0 1024 2 '%r9, %r11'
load plane_32 int '64, 64' '8, 8' 32 256 2 '%r12, %r11'
load plane_64 half '64, 64' '32, 16' 64 1024 2 '%r12, %r11'
load plane_128 float '64, 64' '32, 16' 128 2048 2 '%r12, %r11'
load plane_of_doubles double '64, 64' '16, 16' 128 2048 2 '%r12, %r11'
load plane_of_bytes uchar '64, 64' '64, 16' 64 1024 2 '%r12, %r11'
load short_rows int '64, 64' '16, 8' 128 512 2 '%r9, %r9'
load above_its_begin float '64, 64' '32, 16' 128 2048 2 '%r9, %r8'
load behind_its_end float '60, 36' '32, 16' 128 2048 2 '%r12, %r13'
load outside int '16, 16' '16, 16' 64 1024 2 '%r12, %r8'
load cube int '16, 16, 16' '16, 4, 4' 64 1024 3 '%r9, %r8, %r11'
load four half '32, 8, 8, 8' '32, 2, 2, 4' 64 1024 4 '%r9, %r11, %r8, %r10'
load five bfloat '16, 8, 4, 4, 4' '16, 4, 2, 2, 2' 32 1024 5 '%r9, %r11, %r8, %r10, %r10'

copy own_block int '64, 64' '32, 8' 128 "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 1024;
@%p0 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%q0, {%r9, %r10}], [%r2];
$wait"
copy three_lanes int '64, 64' '32, 8' 128 "setp.lt.u32 %p3, %r0, 3; shl.b32 %r20, %r0, 10; add.u32 %r20, %r20, %r1;
@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 3072; @!%p3 mov.u64 %q0, 0;
@%p3 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%q0, {%r9, %r0}], [%r2];
$wait"
copy prefetched int '64, 64' '32, 8' 0 "@%p0 cp.async.bulk.prefetch.tensor.2d.L2.global [%q0, {%r9, %r10}];"
copy multicast int '64, 64' '32, 8' 128 "mov.b16 %h0, 3; mov.u32 %r20, %cluster_ctarank; setp.eq.u32 %p3, %r20, 1;
and.pred %p3, %p3, %p0; @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 1024;
barrier.cluster.arrive; barrier.cluster.wait;
@%p3 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%q0, {%r9, %r10}], [%r2], %h0;
$wait
barrier.cluster.arrive; barrier.cluster.wait;" '.reqnctapercluster 2, 1, 1'

stores='@%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0;'
store() { # NAME TYPE SIZES BOX SPAN RANK COORDINATES; block 0 only
    copy "$1" "$2" "$3" "$4" "$5" "setp.eq.u32 %p3, %r3, 0; and.pred %p3, %p3, %p0;
@%p3 cp.async.bulk.tensor.$6d.global.shared::cta.bulk_group [%q0, {$7}], [%r1]; $stores"
}
store stored_line int 4000 64 0 1 %r12
store stored_plane float '64, 64' '32, 16' 128 2 '%r12, %r11'
store stored_over_its_end half '64, 36' '32, 16' 64 2 '%r12, %r13'
store stored_cube int '16, 16, 16' '16, 4, 4' 0 3 '%r9, %r10, %r11'
for operation in add min max and or xor inc dec; do
    copy reduced_$operation uint '64, 64' '32, 8' 128 \
        "@%p0 cp.reduce.async.bulk.tensor.2d.global.shared::cta.$operation.tile.bulk_group [%q0, {%r9, %r11}], [%r1]; $stores"
done

# ---- wgmma ----------------------------------------------------------------------------------------------

list() { # NAME COUNT
    i=0
    text=
    while [ $i -lt "$2" ]; do
        text="$text${text:+, }%$1$i"
        i=$((i + 1))
    done
    echo "{$text}"
}

product() { # N K D A B [SELECTOR: A is sparse]
    name=wgmma_$1_$3_$4_$5${6:+_sparse_$6}
    is_wanted "$name" || return
    count=$(($1 / 2)) kind=f
    [ "$3" = f16 ] && count=$(($1 / 4))
    [ "$3" = f32 ] || kind=r1
    turns=
    case $4 in *16) turns=', 0, 0' ;; esac
    sp=${6:+.sp} metadata=${6:+, %r9, $6}
    signs=', 1, 1'
    [ "$3" = s32 ] && signs=
    for numbers in near any; do
        {
            echo '.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred %p<4>;
.reg .b32 %r<32>;
.reg .b64 %q<16>;
.shared .align 1024 .b8 tile[16384];
ld.param.u64 %q0, [in];
ld.param.u64 %q1, [out];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, tile;
mad.wide.u32 %q0, %r1, 16384, %q0;
mad.wide.u32 %q1, %r1, 4096, %q1;
mad.wide.u32 %q2, %r0, 128, %q0;
mad.lo.u32 %r3, %r0, 128, %r2;'
            [ "$3" = f32 ] && echo ".reg .f32 %f<$count>;" || echo ".reg .b32 %r1<$count>;" | sed 's/%r1</%r1_</'
            mask=$(mask_of "$4" $numbers)
            at=0
            while [ $at -lt 128 ]; do
                echo "ld.global.b64 %q3, [%q2+$at]; and.b64 %q3, %q3, ${mask% *}; or.b64 %q3, %q3, ${mask#* }; st.shared.b64 [%r3+$at], %q3;"
                at=$((at + 8))
            done
            i=0
            while [ $i -lt $count ]; do
                [ "$3" = f32 ] && echo "mov.f32 %f$i, 0f3f800000;" || echo "mov.b32 %r1_$i, 0;"
                i=$((i + 1))
            done
            d=$(list $kind $count | sed 's/%r1\([0-9]\)/%r1_\1/g')
            # A at 0: 8 rows of 16 bytes are 128 bytes; the next 8 rows 256 behind, the next columns 128
            echo "fence.proxy.async.shared::cta; bar.sync 0; shr.u32 %r4, %r2, 4; cvt.u64.u32 %q4, %r4;
or.b64 %q4, %q4, 0x0000001000080000; add.u64 %q5, %q4, 128; setp.ne.u32 %p0, %r0, 1000;
ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r3];
mov.b32 %r9, $([ "$4" = tf32 ] && echo 0x4ee4e44e || echo 0x4e9d8c94); shl.b32 %r10, %r0, 2; shf.l.wrap.b32 %r9, %r9, %r9, %r10;
wgmma.fence.sync.aligned;
wgmma.mma_async$sp.sync.aligned.m64n$1k$2.$3.$4.$5 $d, %q4, %q5$metadata, %p0$signs$turns;
wgmma.mma_async$sp.sync.aligned.m64n$1k$2.$3.$4.$5 $d, {%r5, %r6, %r7, %r8}, %q5$metadata, %p0$signs${turns:+, 0};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
mad.wide.u32 %q6, %r0, 32, %q1;"
            [ "$3" = f32 ] && echo "st.global.f32 [%q6], %f0;" || echo "st.global.b32 [%q6], %r1_0;"
            echo 'ret;
}'
        } >"$work/k.ptx"
        run "$name $numbers" 'in=int[8192]:random(-2147483648,2147483647), out=int[2048]:zero' 128
    done
}

for n in 8 24 64; do
    product $n 16 f32 f16 f16
    product $n 16 f16 f16 f16
    product $n 16 f32 bf16 bf16
    product $n 8 f32 tf32 tf32
    for a in e4m3 e5m2; do
        for b in e4m3 e5m2; do
            product $n 32 f32 $a $b
            product $n 32 f16 $a $b
        done
    done
    for a in s8 u8; do
        for b in s8 u8; do product $n 32 s32 $a $b; done
    done
done
product 256 16 f32 f16 f16
for selector in 0 1; do
    product 24 32 f32 f16 f16 $selector
    product 24 32 f16 f16 f16 $selector
    product 24 32 f32 bf16 bf16 $selector
    product 24 16 f32 tf32 tf32 $selector
done
product 24 64 f32 e4m3 e5m2 0
product 24 64 f16 e5m2 e4m3 0
product 24 64 s32 s8 u8 0

echo "$agree agree, $differ differ"
[ $differ -eq 0 ]
