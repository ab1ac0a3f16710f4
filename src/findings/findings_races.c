/* Sentences about races and their remedies (findings_sentences.h). */
#include "findings/findings_sentences.h"
#include "findings/remedy.h"
#include <inttypes.h>

/* Why nothing orders the two accesses. */
static const char *reason_for_race(const RacePair *pair) {
    if (pair->space == PTX_SPACE_SHARED && !pair->is_same_block)
        return "There is no barrier of the cluster between them, and its blocks run in any order";
    if (pair->is_narrow) return "Block scope (.cta) does not order accesses of different blocks";
    if (!pair->is_same_block)
        return "Blocks run in any order, and no fence with an atomic or a flag orders these two";
    if (pair->is_same_warp && pair->is_volatile)
        return "Volatile does not order different lanes, and there is no __syncwarp() between them";
    if (pair->is_same_warp)
        return "There is no __syncwarp() between them, and since Volta the lanes of a warp need not run in "
               "lockstep (shuffles and votes do not order memory)";
    return "There is no barrier between them, and warps run in any order";
}

/* "line 26: warp 0 lane 3 stores sums[3] (7); line 28: warp 1 lane 0 loads it (7). There is no barrier
 * ..." */
static void add_race(const RacePair *pair, const Finding *finding, Text *out) {
    const FindingAccess *access = &finding->access, *other = &finding->other;
    text_print(out, "line %d: ", other->line);
    findings_add_access(other, !pair->is_same_block, finding->what, out);
    if (access->line == other->line)
        text_add(out, ", and ");
    else
        text_print(out, "; line %d: ", access->line);
    findings_add_access(access, !pair->is_same_block, "it", out);
    text_print(out, ". %s", reason_for_race(pair));
    if (pair->is_atomic) text_add(out, "; an atomic access does not order one that is not atomic");
    text_add(out, access->is_store && other->is_store ? ": either value may remain"
                                                      : ": the value loaded is undefined");
}

static const char *advice_for_race(const RacePair *pair, const TraceLaunch *launch) {
    if (pair->kind == FINDING_STORE_CONFLICT)
        return "let one lane store, or give each lane its own element; to combine the values, use an atomic "
               "or a reduction";
    if (pair->kind == FINDING_ORDER && pair->is_same_block)
        return "put __threadfence_block() between the store and the atomic or volatile word that announces "
               "it";
    if (pair->kind == FINDING_ORDER)
        return "put __threadfence() between the store and the atomic or volatile word that announces it";
    if (pair->is_scope)
        return "arrive with mbarrier.arrive.release.cluster, and wait with mbarrier.try_wait.acquire.cluster";
    if (pair->kind == FINDING_MISSING_ACQUIRE)
        return "put __threadfence() after the atomic or load that reads the announcement, and before the "
               "barrier that "
               "follows";
    if (pair->space == PTX_SPACE_SHARED && !pair->is_same_block)
        return "put cluster.sync() between the two accesses, where every thread of the cluster reaches it, "
               "or an mbarrier with arrivals and waits of cluster scope";
    if (pair->is_narrow) return "use atomics of device scope (atomicAdd, not atomicAdd_block)";
    if (!pair->is_same_block)
        return "let blocks write different elements; use an atomic; publish with __threadfence() and an "
               "atomic flag, and fence again after reading it; or use a second launch";
    if (remedy_is_update(launch->program, pair->access.pc, pair->other.pc))
        return "update it by one atomic instruction (atomicAdd, atomicMax, ...), since several threads load, "
               "change and store the same element";
    if (pair->is_atomic) return "make both accesses atomic, or put a barrier between them";
    return pair->is_same_warp
               ? "put __syncwarp() between the two accesses, and between a load and the store that follows it"
               : "put __syncthreads() between the two accesses, where every thread of the block reaches it";
}

/* Both accesses are volatile, or one is: PTX allows them, but does not order them. */
static void add_order(const RacePair *pair, const Finding *finding, Text *out) {
    const FindingAccess *access = &finding->access, *other = &finding->other;
    text_print(out, "line %d: ", other->line);
    findings_add_access(other, !pair->is_same_block, finding->what, out);
    text_print(out, "; line %d: ", access->line);
    findings_add_access(access, !pair->is_same_block, "it", out);
    text_print(out,
               ". %s relies on an atomic or a volatile word that was written after the first store, but no "
               "fence stands "
               "between them, and volatile orders nothing: %s",
               access->is_store ? "The second store" : "The load",
               access->is_store ? "either value may remain" : "the value loaded may be old");
}

static void add_missing_acquire(const RacePair *pair, const Finding *finding, Text *out) {
    const FindingAccess *access = &finding->access, *other = &finding->other;
    text_print(out, "line %d: ", other->line);
    findings_add_access(other, !pair->is_same_block, finding->what, out);
    text_print(out, "; line %d: ", access->line);
    findings_add_access(access, !pair->is_same_block, "it", out);
    if (pair->is_scope) {
        text_add(out, ". An mbarrier lies between them, but its arrival or its wait has the scope of a block "
                      "(.cta, which is the default). PTX then orders nothing between blocks; no GPU is known "
                      "to lose a value here");
        return;
    }
    text_print(out,
               ". The writer fences before it announces this, but the %s has no fence of that scope after it "
               "reads the announcement. "
               "PTX then orders nothing; no GPU is known to lose a value here",
               access->is_store ? "second writer" : "reader");
}

static void add_lifetime(const RacePair *pair, const TraceLaunch *launch, const Finding *finding, Text *out) {
    const PtxInstruction *in = launch->program->code[finding->access.pc].instruction;
    text_print(out, "line %d: ", finding->access.line);
    if (trace_kind_of(in) == TRACE_SHARED_BULK_READ && !finding->access.is_store)
        text_print(out, "an asynchronous copy reads %s", finding->what);
    else
        findings_add_access(&finding->access, true, finding->what, out);
    if (pair->is_before_start)
        text_print(out, ", and nothing says that block %" PRIu64 " has started", pair->owner);
    else
        text_print(out, ", and nothing keeps block %" PRIu64 " from exiting before", pair->owner);
}

static const char *advice_for_lifetime(const RacePair *pair) {
    return pair->is_before_start
               ? "put cluster.sync() before the first access of another block's shared memory"
               : "put cluster.sync() after the last access of another block's shared memory, before any "
                 "thread exits";
}

static void add_store_conflict(const Finding *finding, Text *out) {
    text_print(out, "line %d: lanes %d", finding->access.line, finding->other.lane);
    findings_add_value(&finding->other, out);
    text_print(out, " and %d", finding->access.lane);
    findings_add_value(&finding->access, out);
    text_print(out, " of warp %d store different values to %s in one instruction: either value may remain",
               finding->access.warp, finding->what);
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
        finding->what =
            arena_print(&builder->list->arena, "%s of block %" PRIu64, finding->what, pair->owner);
    bool is_lifetime = pair->kind == FINDING_BLOCK_LIFETIME;
    bool early = pair->kind == FINDING_ASYNC_READ || pair->kind == FINDING_ASYNC_WRITE;
    finding->advice = is_lifetime ? advice_for_lifetime(pair)
                      : early     ? findings_advice_for_early(pair, launch)
                                  : advice_for_race(pair, launch);
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
    else
        add_race(pair, finding, &text);
    finding->sentence = findings_finish_sentence(builder->list, &text);
}
