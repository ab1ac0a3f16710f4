/* Sentences about races and their remedies (findings_sentences.h). */
#include "base/language.h"
#include "findings/findings_sentences.h"
#include "findings/remedy.h"
#include "metrics/metrics.h"
#include "ptx/opcodes.h"

/* Why nothing orders the two accesses. */
static const char *reason_for_race(const RacePair *pair) {
    if (pair->space == PTX_SPACE_SHARED && !pair->is_same_block)
        return tr("There is no barrier of the cluster between them, and its blocks run in any order");
    if (pair->is_narrow) return tr("Block scope (.cta) does not order accesses of different blocks");
    if (!pair->is_same_block)
        return tr("Blocks run in any order, and no fence with an atomic or a flag orders these two");
    if (pair->is_same_warp && pair->is_volatile)
        return tr("Volatile does not order different lanes, and there is no __syncwarp() between them");
    if (pair->is_same_warp)
        return tr(
            "There is no __syncwarp() between them, and since Volta the lanes of a warp need not run in "
            "lockstep (shuffles and votes do not order memory)");
    return tr("There is no barrier between them, and warps run in any order");
}

static void add_second_place(const FindingAccess *access, Text *out) {
    text_add(out, tr("; "));
    finding_begin_place(access, out);
}

/* "line 26: warp 0 lane 3 stores sums[3] (7); line 28: warp 1 lane 0 loads it (7). There is no barrier
 * ..." */
static void add_race(const RacePair *pair, const Finding *finding, Text *out) {
    const FindingAccess *access = &finding->access, *other = &finding->other;
    finding_begin_place(other, out);
    findings_add_access(other, !pair->is_same_block, finding->what, out);
    if (access->line == other->line)
        text_add(out, tr(", and "));
    else
        add_second_place(access, out);
    findings_add_access(access, !pair->is_same_block, NULL, out);
    text_print(out, tr(". %s"), reason_for_race(pair));
    if (pair->is_atomic) text_add(out, tr("; an atomic access does not order one that is not atomic"));
    text_add(out, access->is_store && other->is_store ? tr(": either value may remain")
                                                      : tr(": the value loaded is undefined"));
}

/* The last fence or barrier of the block before an instruction; PTX_NO_PC: there is none. */
static int find_before(const PtxProgram *program, int pc, bool is_fence) {
    int begin = program->functions[program->code[pc].function].begin;
    for (pc--; pc >= begin; pc--) {
        PtxOpcode opcode = program->code[pc].instruction->opcode;
        if (is_fence ? opcode == PTX_membar || opcode == PTX_fence
                     : opcode == PTX_bar || opcode == PTX_barrier)
            return pc;
    }
    return PTX_NO_PC;
}

static const char *advice_for_acquire(FindingsBuilder *builder, const RacePair *pair,
                                      const TraceLaunch *launch) {
    int fence = find_before(launch->program, pair->access.pc, true),
        barrier = find_before(launch->program, pair->access.pc, false);
    if (fence > barrier && barrier >= 0)
        return arena_print(&builder->list->arena,
                           tr("move the fence of line %d before the barrier of line %d, to the thread that "
                              "reads the announcement: behind the barrier it orders nothing for other "
                              "threads"),
                           metrics_line_of(launch->program, fence).line,
                           metrics_line_of(launch->program, barrier).line);
    return tr("put __threadfence() after the atomic or load that reads the announcement, and before the "
              "barrier that follows");
}

/* Threads of several rows or warps store to one element in one instruction. */
static const char *advice_for_shared_element(const TraceLaunch *launch) {
    if (launch->block[1] > 1 || launch->block[2] > 1)
        return tr("give the threads of each row of the block (threadIdx.y) elements of their own, as in "
                  "scratch[threadIdx.y][threadIdx.x]: a barrier does not help, since they store at the same "
                  "time");
    return tr("give each thread that stores its own element, or let one of them store: a barrier does not "
              "help, since they store at the same time");
}

static const char *advice_for_race(FindingsBuilder *builder, const RacePair *pair,
                                   const TraceLaunch *launch) {
    if (pair->kind == FINDING_STORE_CONFLICT)
        return tr(
            "let one lane store, or give each lane its own element; to combine the values, use an atomic "
            "or a reduction");
    if (pair->kind == FINDING_ORDER && pair->is_same_block)
        return tr("put __threadfence_block() between the store and the atomic or other word that announces "
                  "it");
    if (pair->kind == FINDING_ORDER)
        return tr("put __threadfence() between the store and the atomic or other word that announces it");
    if (pair->is_scope)
        return tr(
            "arrive with mbarrier.arrive.release.cluster, and wait with mbarrier.try_wait.acquire.cluster");
    if (pair->kind == FINDING_MISSING_ACQUIRE) return advice_for_acquire(builder, pair, launch);
    if (pair->kind == FINDING_STALE_READ)
        return tr("put __threadfence() after the atomic or load that reads the announcement: it is the "
                  "acquire, and empties L1; or read the announcement with memory_order_acquire (ld.acquire)");
    if (pair->kind == FINDING_READ_ONLY_LOAD)
        return tr("load it plainly: no __ldg(), and no const __restrict__ pointer to memory that the kernel "
                  "writes");
    if (pair->kind == FINDING_PROXY_ORDER)
        return tr("put fence.proxy.async (cuda::ptx::fence_proxy_async) after the stores, before the barrier "
                  "that the copy follows");
    if (pair->kind == FINDING_DATA_ORDER)
        return tr("__syncwarp() between the two says so to the reader of the source");
    if (pair->space == PTX_SPACE_SHARED && !pair->is_same_block)
        return tr(
            "put cluster.sync() between the two accesses, where every thread of the cluster reaches it, "
            "or an mbarrier with arrivals and waits of cluster scope");
    if (pair->is_narrow) return tr("use atomics of device scope (atomicAdd, not atomicAdd_block)");
    if (!pair->is_same_block)
        return tr("let blocks write different elements; use an atomic; publish with __threadfence() and an "
                  "atomic flag, and fence again after reading it; or use a second launch");
    if (remedy_is_update(launch, pair->access.pc, pair->other.pc))
        return tr(
            "update it by one atomic instruction (atomicAdd, atomicMax, ...), since several threads load, "
            "change and store the same element");
    if (pair->access.pc == pair->other.pc && pair->access.is_store && !pair->is_atomic)
        return advice_for_shared_element(launch);
    if (pair->is_atomic) return tr("make both accesses atomic, or put a barrier between them");
    return pair->is_same_warp ? tr("put __syncwarp() between the two accesses, and between a load and the "
                                   "store that follows it")
                              : tr("put __syncthreads() between the two accesses, where every thread of the "
                                   "block reaches it");
}

/* Both accesses are volatile, or one is: PTX allows them, but does not order them. */
static void add_order(const RacePair *pair, const Finding *finding, Text *out) {
    const FindingAccess *access = &finding->access, *other = &finding->other;
    finding_begin_place(other, out);
    findings_add_access(other, !pair->is_same_block, finding->what, out);
    add_second_place(access, out);
    findings_add_access(access, !pair->is_same_block, NULL, out);
    text_print(
        out,
        tr(". %s relies on an atomic or another word that was written after the first store, but no fence "
           "stands between them, and %s orders nothing: %s"),
        access->is_store ? tr("The second store") : tr("The load"), pair->is_narrow ? "relaxed" : "volatile",
        access->is_store ? tr("either value may remain") : tr("the value loaded may be old"));
}

static void add_missing_acquire(const RacePair *pair, const Finding *finding, Text *out) {
    const FindingAccess *access = &finding->access, *other = &finding->other;
    finding_begin_place(other, out);
    findings_add_access(other, !pair->is_same_block, finding->what, out);
    add_second_place(access, out);
    findings_add_access(access, !pair->is_same_block, NULL, out);
    if (pair->is_scope) {
        text_add(out,
                 tr(". An mbarrier lies between them, but its arrival or its wait has the scope of a block "
                    "(.cta, which is the default). PTX then orders nothing between blocks; no GPU is known "
                    "to lose a value here"));
        return;
    }
    text_print(
        out,
        tr(". The writer fences before it announces this, but the %s has no fence of that scope after it "
           "reads the announcement. "
           "PTX then orders nothing; on a GPU the load is late enough unless L1 holds an old copy of its "
           "line"),
        access->is_store ? tr("second writer") : tr("reader"));
}

/* The two accesses, and what is wrong with them. */
static void add_pair_and(const RacePair *pair, const Finding *finding, const char *what, Text *out) {
    const FindingAccess *access = &finding->access, *other = &finding->other;
    finding_begin_place(other, out);
    findings_add_access(other, !pair->is_same_block, finding->what, out);
    add_second_place(access, out);
    findings_add_access(access, !pair->is_same_block, NULL, out);
    text_add(out, what);
}

static const char *reason_for_order(const RacePair *pair) {
    switch (pair->kind) {
    case FINDING_STALE_READ:
        if (pair->is_of_others)
            return tr(
                ". The writer fences before it announces this, but the reader has no fence (acquire) after "
                "it reads the announcement, and another block had loaded this line of 128 bytes before: "
                "where the two share a multiprocessor, L1 may still hold the old value. It shows from more "
                "blocks on than the GPU has multiprocessors: on an H200, which has 132, a block read the old "
                "value in 100 of 100 runs with 160 blocks or more, and in none with 132");
        return tr(". The writer fences before it announces this, but the reader has no fence (acquire) after "
                  "it reads the "
                  "announcement, and its block had loaded this line of 128 bytes before: L1 may still hold "
                  "the old value. An H100 "
                  "lost 131 of 132 increments so, and none with the fence");
    case FINDING_READ_ONLY_LOAD:
        return tr(". ld.global.nc is for memory that nothing writes while the kernel runs: its cache is not "
                  "kept coherent, so the "
                  "value loaded may be old, whatever orders the two");
    case FINDING_PROXY_ORDER:
        return tr(
            ". The copy reads memory through the async proxy; a barrier orders the threads, but without "
            "fence.proxy.async between them the copy may read what was there before");
    default:
        return tr(". There is no __syncwarp() between them, but what is stored is computed, through "
                  "shuffles, from what was loaded: "
                  "the store cannot come first");
    }
}

static void add_lifetime(const RacePair *pair, const TraceLaunch *launch, const Finding *finding, Text *out) {
    const PtxInstruction *in = launch->program->code[finding->access.pc].instruction;
    finding_begin_place(&finding->access, out);
    if (trace_kind_of(in) == TRACE_SHARED_BULK_READ && !finding->access.is_store)
        text_print(out, tr("an asynchronous copy reads %s"), finding->what);
    else
        findings_add_access(&finding->access, true, finding->what, out);
    if (pair->is_before_start)
        text_print(out, tr(", and nothing says that block %llu has started"),
                   (unsigned long long)pair->owner);
    else
        text_print(out, tr(", and nothing keeps block %llu from exiting before"),
                   (unsigned long long)pair->owner);
}

static const char *advice_for_lifetime(const RacePair *pair) {
    return pair->is_before_start
               ? tr("put cluster.sync() before the first access of another block's shared memory")
               : tr("put cluster.sync() after the last access of another block's shared memory, before any "
                    "thread exits");
}

static void add_store_conflict(const Finding *finding, Text *out) {
    finding_add_place(&finding->access, out);
    text_print(out, tr(": lanes %d"), finding->other.lane);
    findings_add_value(&finding->other, out);
    text_print(out, tr(" and %d"), finding->access.lane);
    findings_add_value(&finding->access, out);
    text_print(out,
               tr(" of warp %d store different values to %s in one instruction: either value may remain"),
               finding->access.warp, finding->what);
}

/* The pc of the bulk copy into shared memory that is one side of the race; -1: neither is. */
static int bulk_copy_of(const RacePair *pair, const TraceLaunch *launch) {
    const int pcs[] = {pair->access.pc, pair->other.pc};
    for (int i = 0; i < 2; i++) {
        const PtxInstruction *in = launch->program->code[pcs[i]].instruction;
        if (trace_written_kind_of(in) == TRACE_SHARED_BULK_WRITE) return pcs[i];
    }
    return -1;
}

void findings_describe_race(FindingsBuilder *builder, const RaceDetector *detector, const RacePair *pair,
                            Finding *finding) {
    const TraceLaunch *launch = builder->trace->launches[pair->launch];
    Text text = {0};
    finding_put_type(builder->trace, launch, pair->space, &finding->access);
    finding_put_type(builder->trace, launch, pair->space, &finding->other);
    if (pair->space == PTX_SPACE_SHARED) {
        const SharedWindow *window = &detector->windows[pair->launch];
        findings_locate_symbol(window, launch, &finding->access);
        findings_locate_symbol(window, launch, &finding->other);
    }
    finding->what = findings_name_memory(builder, launch, pair->space, &finding->access, &finding->other);
    if (pair->has_owner)
        finding->what = arena_print(&builder->list->arena, tr("%s of block %llu"), finding->what,
                                    (unsigned long long)pair->owner);
    bool is_plain = pair->kind == FINDING_SHARED_RACE || pair->kind == FINDING_WARP_RACE;
    if (is_plain && findings_describe_overlap(builder, finding)) return;
    bool is_lifetime = pair->kind == FINDING_BLOCK_LIFETIME;
    bool early = pair->kind == FINDING_ASYNC_READ || pair->kind == FINDING_ASYNC_WRITE;
    int copy = is_plain ? bulk_copy_of(pair, launch) : -1;
    finding->advice = is_lifetime ? advice_for_lifetime(pair)
                      : early     ? findings_advice_for_early(launch, pair->other.pc, pair->is_source)
                      : copy >= 0 ? findings_advice_for_early(launch, copy, false)
                                  : advice_for_race(builder, pair, launch);
    if (is_lifetime)
        add_lifetime(pair, launch, finding, &text);
    else if (early)
        findings_add_early(pair, launch, finding, &text);
    else if (pair->kind == FINDING_STORE_CONFLICT)
        add_store_conflict(finding, &text);
    else if (pair->kind == FINDING_ORDER)
        add_order(pair, finding, &text);
    else if (pair->kind == FINDING_MISSING_ACQUIRE)
        add_missing_acquire(pair, finding, &text);
    else if (pair->kind == FINDING_STALE_READ || pair->kind == FINDING_READ_ONLY_LOAD ||
             pair->kind == FINDING_PROXY_ORDER || pair->kind == FINDING_DATA_ORDER)
        add_pair_and(pair, finding, reason_for_order(pair), &text);
    else
        add_race(pair, finding, &text);
    finding_add_callers(&finding->access, &finding->other, &text);
    finding->sentence = findings_finish_sentence(builder->list, &text);
}
