#!/bin/sh
# Compares all forms of asynchronous copies and mbarriers: the emulator against this GPU. Each form has a
# small kernel and is compared thread by thread:
#
#   tests/device/verify_copies.sh [build/redviz]      exit 1 if any form differs
#
# A kernel has 64 threads in 2 blocks. %q0: this thread's 16 bytes of `in`; %q2: of `out`; %r0: of `tile`;
# %r5: of `other`; %q1, %r1, %r6: where the block's `in`, `tile` and `other` begin. At the end, a thread
# stores its part of tile and other. cluster_form: instructions that are illegal outside of clusters on an
# H200; each block is a cluster of its own. remote_form: in clusters of 2, then of 4; each block accesses the
# next one. %r31: its rank; %r32, %r33: this thread's part of its `other`, and where that begins; %r34: its
# gate; %q10, %q11: generic addresses of %r32 and %r34.
set -u
redviz=${1:-build/redviz}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
forms=0
wrong=0
blocks=2

form() { # NAME BODY [DIRECTIVE OF THE ENTRY]
    forms=$((forms + 1))
    cat >"$work/$1.ptx" <<PTX
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
${3-}
{
.reg .pred %p<8>;
.reg .b32 %r<48>;
.reg .b64 %q<24>;
.shared .align 128 .b8 tile[1024];
.shared .align 128 .b8 other[1024];
.shared .align 8 .b64 gate[2];
ld.param.u64 %q1, [in];
ld.param.u64 %q2, [out];
mov.u32 %r20, %tid.x;
mov.u32 %r21, %ctaid.x;
mad.lo.u32 %r22, %r21, 64, %r20;
mad.wide.u32 %q0, %r22, 16, %q1;
mad.wide.u32 %q1, %r21, 1024, %q1;
mad.wide.u32 %q3, %r22, 32, %q2;
mad.wide.u32 %q2, %r21, 2048, %q2;
mov.u32 %r1, tile;
mov.u32 %r6, other;
mad.lo.u32 %r0, %r20, 16, %r1;
mad.lo.u32 %r5, %r20, 16, %r6;
mov.u32 %r9, gate;
cvta.shared.u64 %q9, gate;
setp.eq.u32 %p0, %r20, 0;
and.b32 %r23, %r20, 1;
setp.eq.u32 %p1, %r23, 1;
add.u32 %r24, %r20, 3;
st.shared.v4.u32 [%r0], {%r20, %r24, %r20, %r24};
st.shared.v4.u32 [%r5], {%r24, %r20, %r24, 7};
bar.sync 0;
$2
bar.sync 0;
ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r0];
ld.shared.v4.u32 {%r14, %r15, %r16, %r17}, [%r5];
st.global.v4.u32 [%q3], {%r10, %r11, %r12, %r13};
st.global.v4.u32 [%q3+16], {%r14, %r15, %r16, %r17};
ret;
}
PTX
    if ! "$redviz" "$work/$1.ptx" --args "in=int[$((blocks * 256))]:iota, out=int[$((blocks * 512))]:zero" \
        --grid "$blocks" --block 64 --trace-blocks "0-$((blocks - 1))" --verify >"$work/log" 2>&1; then
        wrong=$((wrong + 1))
        echo "$1:"
        sed 's/^/    /' "$work/log"
    fi
}

cluster_form() { form "$1" "$2" '.reqnctapercluster 1, 1, 1'; }

cluster_sync='barrier.cluster.arrive; barrier.cluster.wait;'
remote_form() {
    for blocks in 2 4; do
        form "remote_$1_in_$blocks" "mov.u32 %r30, %cluster_ctarank; mov.u32 %r35, %cluster_nctarank;
add.u32 %r31, %r30, 1; rem.u32 %r31, %r31, %r35;
mapa.shared::cluster.u32 %r32, %r5, %r31; mapa.shared::cluster.u32 %r33, %r6, %r31; mapa.shared::cluster.u32 %r34, %r9, %r31;
cvt.u64.u32 %q12, %r5; cvta.shared.u64 %q12, %q12; mapa.u64 %q10, %q12, %r31; mapa.u64 %q11, %q9, %r31;
$2
$cluster_sync" ".reqnctapercluster $blocks, 1, 1"
    done
    blocks=2
}

wait_all='cp.async.wait_all;'
group='cp.async.commit_group; cp.async.wait_group 0;'
init() { echo "@%p0 mbarrier.init.shared::cta.b64 [%r9], $1; fence.mbarrier_init.release.cluster; bar.sync 0;"; }
until_phase() { echo "SPIN: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], $1; @!%p3 bra SPIN;"; }

for size in 4 8 16; do
    form "ca_$size" "cp.async.ca.shared.global [%r0], [%q0], $size; $group"
    form "ca_guarded_$size" "@%p1 cp.async.ca.shared::cta.global [%r0], [%q0], $size; $wait_all"
    form "ca_ignore_$size" "cp.async.ca.shared.global [%r0], [%q0], $size, %p1; $wait_all"
    form "ca_by_thread_$size" "min.u32 %r8, %r20, $size; cp.async.ca.shared.global [%r0], [%q0], $size, %r8; $group"
    for part in 0 1 2 3 4 7 8 13; do
        [ "$part" -lt "$size" ] || continue
        form "ca_${part}_of_$size" "cp.async.ca.shared.global [%r0], [%q0], $size, $part; $group"
    done
    for hint in 64B 128B 256B; do
        form "ca_${size}_$hint" "cp.async.ca.shared.global.L2::$hint [%r0], [%q0], $size; $group"
    done
done
form cg "cp.async.cg.shared.global [%r0], [%q0], 16; $group"
form cg_policy "createpolicy.fractional.L2::evict_last.b64 %q5, 0.5;
cp.async.cg.shared.global.L2::cache_hint [%r0], [%q0], 16, %q5; $group"
form two_groups "cp.async.ca.shared.global [%r0], [%q0], 8; cp.async.commit_group;
cp.async.ca.shared.global [%r0+8], [%q0+8], 8; cp.async.commit_group; cp.async.wait_group 1; cp.async.wait_group 0;"
form noinc "$(init 64) cp.async.cg.shared.global [%r0], [%q0], 16;
cp.async.mbarrier.arrive.noinc.shared.b64 [%r9]; $(until_phase 0)"
form inc "$(init 64) cp.async.cg.shared.global [%r0], [%q0], 16; cp.async.mbarrier.arrive.shared::cta.b64 [%r9];
mbarrier.arrive.shared::cta.b64 %q5, [%r9]; $(until_phase 0)"
form generic_noinc "$(init 64) cp.async.cg.shared.global [%r0], [%q0], 16;
cp.async.mbarrier.arrive.noinc.b64 [%q9]; $(until_phase 0)"

form arrive "$(init 64) mbarrier.arrive.shared::cta.b64 %q5, [%r9]; $(until_phase 0)"
form arrive_generic "$(init 64) mbarrier.arrive.b64 %q5, [%q9]; $(until_phase 0)"
form arrive_count "$(init 128) mbarrier.arrive.release.cta.shared::cta.b64 %q5, [%r9], 2; $(until_phase 0)"
form arrive_cluster "$(init 64) mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9]; $(until_phase 0)"
form arrive_state "$(init 64) mbarrier.arrive.shared::cta.b64 %q5, [%r9];
SPIN: mbarrier.test_wait.shared::cta.b64 %p3, [%r9], %q5; @!%p3 bra SPIN;"
form try_state "$(init 64) mbarrier.arrive.shared::cta.b64 %q5, [%r9];
SPIN: mbarrier.try_wait.shared::cta.b64 %p3, [%r9], %q5, 1000; @!%p3 bra SPIN;"
form no_complete "$(init 65) mbarrier.arrive.noComplete.shared.b64 _, [%r9], 1; bar.sync 0;
@%p0 mbarrier.arrive.shared.b64 _, [%r9]; $(until_phase 0)"
form drop "$(init 64) @%p1 mbarrier.arrive_drop.shared::cta.b64 _, [%r9];
@!%p1 mbarrier.arrive.shared::cta.b64 _, [%r9]; $(until_phase 0) @!%p1 mbarrier.arrive.shared::cta.b64 _, [%r9];
NEXT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 1; @!%p3 bra NEXT;"
form phase_before "$(init 65) mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r9], 1; selp.u32 %r8, 1, 0, %p3;
st.shared.u32 [%r0], %r8;"
form phase_of_now "$(init 65) mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r9], 0; selp.u32 %r8, 1, 0, %p3;
st.shared.u32 [%r0], %r8;"
form pending "$(init 64) @%p0 mbarrier.arrive.shared::cta.b64 %q5, [%r9]; @%p0 mbarrier.pending_count.b64 %r8, %q5;
@%p0 st.shared.u32 [%r0], %r8;"
form complete_tx "$(init 1) @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 64;
@%p0 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r9], 64; $(until_phase 0)"
form expect_tx "$(init 1) @%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 64;
@%p0 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r9], 64; @%p0 mbarrier.arrive.shared::cta.b64 _, [%r9];
$(until_phase 0)"
form inval "$(init 64) @%p0 mbarrier.inval.shared::cta.b64 [%r9]; bar.sync 0; $(init 64)
mbarrier.arrive.shared::cta.b64 _, [%r9]; $(until_phase 0)"

expect() { echo "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], $1;"; }
for size in 16 256 1024; do
    for space in cluster cta; do
        form "bulk_${space}_$size" "$(init 1) $(expect $size)
@%p0 cp.async.bulk.shared::$space.global.mbarrier::complete_tx::bytes [%r1], [%q1], $size, [%r9]; $(until_phase 0)"
    done
    cluster_form "bulk_shared_$size" "fence.proxy.async.shared::cta; $(init 1) $(expect $size)
@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6], [%r1], $size, [%r9]; $(until_phase 0)"
    form "bulk_out_$size" "fence.proxy.async.shared::cta; bar.sync 0;
@%p0 cp.async.bulk.global.shared::cta.bulk_group [%q2], [%r1], $size;
@%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group.read 0; @%p0 cp.async.bulk.wait_group 0;"
done
form bulk_lanes "$(init 1) $(expect 1024)
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%q0], 16, [%r9]; $(until_phase 0)"
form bulk_policy "createpolicy.fractional.L2::evict_first.b64 %q5, 1.0; $(init 1) $(expect 1024)
@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r1], [%q1], 1024, [%r9], %q5;
$(until_phase 0)"
form prefetch "@%p0 cp.async.bulk.prefetch.L2.global [%q1], 1024;"

for op in add.u32 add.s32 add.u64 min.u32 min.s32 min.u64 min.s64 max.u32 max.s32 max.u64 max.s64 inc.u32 dec.u32 \
    and.b32 or.b32 xor.b32 and.b64 or.b64 xor.b64 add.f32 add.f64 add.noftz.f16 add.noftz.bf16 min.f16 max.bf16; do
    form "reduce_$op" "fence.proxy.async.shared::cta; bar.sync 0;
@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.$op [%q2], [%r1], 1024;
@%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0; bar.sync 0;
ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%q3]; st.shared.v4.u32 [%r0], {%r10, %r11, %r12, %r13};"
done
form reduce_twice_add.f32 "fence.proxy.async.shared::cta; bar.sync 0;
@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%q2], [%r1], 1024;
@%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0;
@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%q2], [%r1], 1024;
@%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0; bar.sync 0;
ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%q3]; st.shared.v4.u32 [%r0], {%r10, %r11, %r12, %r13};"
for op in add.u32 add.s32 add.u64 min.u32 min.s32 max.u32 max.s32 inc.u32 dec.u32 and.b32 or.b32 xor.b32; do
    cluster_form "reduce_shared_$op" "fence.proxy.async.shared::cta; $(init 1) $(expect 1024)
@%p0 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.$op [%r6], [%r1], 1024, [%r9];
$(until_phase 0)"
done
each() { echo "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], $1;"; }
for type in b32 u32 s32 f32; do
    cluster_form "st_async_$type" "$(init 64) $(each 4)
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.$type [%r5], %r20, [%r9]; $(until_phase 0)"
done
for type in b64 u64 s64; do
    cluster_form "st_async_$type" "$(init 64) $(each 8) mul.wide.u32 %q5, %r20, 0x10001;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.$type [%r5], %q5, [%r9]; $(until_phase 0)
mov.u64 %q6, 5; st.shared.u64 [%r5], %q6;"
done
cluster_form st_async_v2 "$(init 64) $(each 8)
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r5], {%r20, %r24}, [%r9]; $(until_phase 0)"
cluster_form st_async_v4 "$(init 64) $(each 16)
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r5], {%r20, %r24, %r20, %r24}, [%r9]; $(until_phase 0)"
for op in add.u32 add.s32 min.u32 min.s32 max.u32 max.s32 inc.u32 dec.u32 and.b32 or.b32 xor.b32; do
    cluster_form "red_async_$op" "$(init 64) $(each 4)
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.$op [%r5], %r20, [%r9]; $(until_phase 0)"
done
cluster_form red_async_add.u64 "$(init 64) $(each 8) mov.u64 %q6, 9;
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r5], %q6, [%r9]; $(until_phase 0)"

# ---- in another block of the cluster ----

open_gate() { echo "@%p0 mbarrier.init.shared::cta.b64 [%r9], $1; fence.mbarrier_init.release.cluster; $cluster_sync"; }
until_cluster() { echo "SPIN$1: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r9], $1; @!%p3 bra SPIN$1;"; }
push="st.shared::cluster.v2.u32 [%r32], {%r22, %r24};"
bytes=mbarrier::complete_tx::bytes
for arrival in 'mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r34];' \
    'mbarrier.arrive.shared::cluster.b64 _, [%r34];' \
    'mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r34], 1;' \
    'mbarrier.arrive.release.cluster.b64 _, [%q11];' \
    'mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r34];'; do
    remote_form "$(echo "$arrival" | tr -c 'a-z\n' _)" "$(open_gate 64) $push $arrival $(until_cluster 0)"
done
remote_form arrive_count "$(open_gate 192) $push mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r34], 3; $(until_cluster 0)"
remote_form arrive_relaxed "$(open_gate 64) $push fence.acq_rel.cluster;
mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r34]; $(until_cluster 0)"
remote_form arrive_one "$(open_gate 1) $push bar.sync 0;
@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r34]; $(until_cluster 0)"
remote_form arrive_both "$(open_gate 128) $push mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r34];
mbarrier.arrive.release.cluster.shared::cta.b64 %q13, [%r9]; $(until_cluster 0)"
remote_form arrive_mapped_own "mapa.shared::cluster.u32 %r36, %r9, %r30; $(open_gate 64)
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r36]; $(until_cluster 0)"
remote_form arrive_expect_tx "$(open_gate 64) $push
mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r34], 8;
mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r34], 8; $(until_cluster 0)"
remote_form expect_tx "$(open_gate 64) $push mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r34], 8;
mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r34], 8;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r34]; $(until_cluster 0)"
remote_form phases "$(open_gate 64) $push mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r34]; $(until_cluster 0)
ld.shared.u32 %r37, [%r5]; $cluster_sync add.u32 %r37, %r37, 5; st.shared::cluster.u32 [%r32], %r37;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r34]; $(until_cluster 1)"
for size in 16 256 1024; do
    remote_form "bulk_shared_$size" "fence.proxy.async.shared::cta; $(open_gate 1) $(expect $size)
@%p0 cp.async.bulk.shared::cluster.shared::cta.$bytes [%r33], [%r1], $size, [%r34]; $(until_cluster 0)"
    remote_form "bulk_global_$size" "$(open_gate 1) $(expect $size)
@%p0 cp.async.bulk.shared::cluster.global.$bytes [%r33], [%q1], $size, [%r34]; $(until_cluster 0)"
done
remote_form bulk_expected_by_sender "fence.proxy.async.shared::cta; $(open_gate 1)
@%p0 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r34], 1024;
@%p0 cp.async.bulk.shared::cluster.shared::cta.$bytes [%r33], [%r1], 1024, [%r34]; $(until_cluster 0)"
remote_form bulk_lanes "fence.proxy.async.shared::cta; $(open_gate 1) $(expect 1024)
selp.b32 %r36, %r5, %r32, %p1; selp.b32 %r37, %r9, %r34, %p1;
cp.async.bulk.shared::cluster.shared::cta.$bytes [%r36], [%r0], 16, [%r37]; $(until_cluster 0)"
for op in add.u32 add.s32 add.u64 min.u32 min.s32 max.u32 max.s32 inc.u32 dec.u32 and.b32 or.b32 xor.b32; do
    remote_form "reduce_$op" "fence.proxy.async.shared::cta; $(open_gate 1) $(expect 1024)
@%p0 cp.reduce.async.bulk.shared::cluster.shared::cta.$bytes.$op [%r33], [%r1], 1024, [%r34]; $(until_cluster 0)"
done
remote_form reduce_into_first "mapa.shared::cluster.u32 %r33, %r6, 0; mapa.shared::cluster.u32 %r34, %r9, 0;
fence.proxy.async.shared::cta; $(open_gate 1) setp.eq.u32 %p4, %r30, 0; and.pred %p5, %p4, %p0; mul.lo.u32 %r36, %r35, 1024;
@%p5 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], %r36;
@%p0 cp.reduce.async.bulk.shared::cluster.shared::cta.$bytes.add.u32 [%r33], [%r1], 1024, [%r34];
@!%p4 bra END; $(until_cluster 0) END:"
for type in b32 u32 s32 f32; do
    remote_form "st_async_$type" "$(open_gate 64) $(each 4)
st.async.weak.shared::cluster.$bytes.$type [%r32], %r22, [%r34]; $(until_cluster 0)"
done
for type in b64 u64 s64; do
    remote_form "st_async_$type" "$(open_gate 64) $(each 8) mul.wide.u32 %q5, %r22, 0x10001;
st.async.weak.shared::cluster.$bytes.$type [%r32], %q5, [%r34]; $(until_cluster 0)"
done
remote_form st_async_v2 "$(open_gate 64) $(each 8)
st.async.weak.shared::cluster.$bytes.v2.b32 [%r32], {%r22, %r24}, [%r34]; $(until_cluster 0)"
remote_form st_async_v4 "$(open_gate 64) $(each 16)
st.async.weak.shared::cluster.$bytes.v4.b32 [%r32], {%r22, %r24, %r20, %r22}, [%r34]; $(until_cluster 0)"
remote_form st_async_generic "$(open_gate 64) $(each 4)
st.async.weak.$bytes.u32 [%q10], %r22, [%q11]; $(until_cluster 0)"
remote_form st_async_lanes "$(open_gate 64) $(each 4) selp.b32 %r36, %r5, %r32, %p1; selp.b32 %r37, %r9, %r34, %p1;
st.async.weak.shared::cluster.$bytes.u32 [%r36], %r22, [%r37]; $(until_cluster 0)"
for op in add.u32 add.s32 min.u32 min.s32 max.u32 max.s32 inc.u32 dec.u32 and.b32 or.b32 xor.b32; do
    remote_form "red_async_$op" "$(open_gate 64) $(each 4)
red.async.relaxed.cluster.shared::cluster.$bytes.$op [%r32], %r22, [%r34]; $(until_cluster 0)"
done
remote_form red_async_add.u64 "$(open_gate 64) $(each 8) mov.u64 %q6, 9;
red.async.relaxed.cluster.shared::cluster.$bytes.add.u64 [%r32], %q6, [%r34]; $(until_cluster 0)"
remote_form red_async_generic "$(open_gate 64) $(each 4)
red.async.relaxed.cluster.$bytes.add.u32 [%q10], %r22, [%q11]; $(until_cluster 0)"

echo "$forms forms, $wrong differ"
[ "$wrong" -eq 0 ]
