/* Errors: what a race detector, the traps of a trace and a wrong result show (findings.h). */
#include "metrics/findings_list.h"
#include "metrics/races/race_detector.h"
#include "metrics/sentence.h"
#include <inttypes.h>

/* ---- memory by name --------------------------------------------------------------------------------- */

/* The detector's shared offsets are in the window of the blocks that it observed. */
static void locate_symbol(const SharedWindow *window, const TraceLaunch *launch, FindingAccess *access) {
    const TraceSymbol *symbol = NULL;
    for (int i = 0; i < window->count; i++)
        if (window->symbols[i].space == PTX_SPACE_SHARED &&
            access->offset >= window->symbols[i].window_offset)
            symbol = &window->symbols[i];
    if (!symbol) return;
    access->offset -= symbol->window_offset;
    for (int i = 0; i < launch->symbol_count; i++)
        if (launch->symbols[i].space == PTX_SPACE_SHARED && !strcmp(launch->symbols[i].name, symbol->name))
            access->buffer = i;
}

static int element_bytes(const TraceLaunch *launch, int pc) {
    const PtxInstruction *in = launch->program->code[pc].instruction;
    if (ptx_asynchronous(in) == PTX_ASYNC_COPY) return 4;
    return in->type_count ? ptx_type_bytes(in->types[0]) : 1;
}

/* "sums[3]"; counted in bytes where the instruction has no type. */
static const char *name_memory(const FindingsBuilder *builder, const TraceLaunch *launch, PtxSpace space,
                               const FindingAccess *access) {
    if (access->buffer < 0) return space == PTX_SPACE_GLOBAL ? "global memory" : "shared memory";
    const char *name = space == PTX_SPACE_GLOBAL ? builder->trace->buffers[access->buffer].name
                                                 : launch->symbols[access->buffer].name;
    uint64_t bytes = (uint64_t)element_bytes(launch, access->pc);
    return arena_print(&builder->list->arena, "%s[%" PRIu64 "]", name, access->offset / bytes);
}

/* ---- sentences about races -------------------------------------------------------------------------- */

static const char *verb_of(const FindingAccess *access) {
    return access->is_atomic ? "updates (atomically)" : access->is_store ? "stores" : "loads";
}

static void add_thread(const FindingAccess *access, bool names_block, Text *out) {
    if (names_block) text_print(out, "block %" PRIu64 " ", access->linear_block);
    text_print(out, "warp %d lane %d", access->warp, access->lane);
}

static void add_value(const TraceLaunch *launch, const FindingAccess *access, Text *out) {
    if (!access->has_value || access->is_atomic) return;
    const PtxInstruction *in = launch->program->code[access->pc].instruction;
    PtxType type = in->type_count ? in->types[0] : PTX_B32;
    float single;
    double number;
    switch (type) {
    case PTX_F32:
        memcpy(&single, &access->value, sizeof single);
        text_print(out, " (%g)", (double)single);
        break;
    case PTX_F64:
        memcpy(&number, &access->value, sizeof number);
        text_print(out, " (%g)", number);
        break;
    case PTX_S32:
    case PTX_U32:
    case PTX_B32:
        text_print(out, " (%d)", (int)(uint32_t)access->value);
        break;
    default:
        text_print(out, " (0x%" PRIx64 ")", access->value);
    }
}

/* "warp 0 lane 3 stores sums[3] (7)" */
static void add_access(const TraceLaunch *launch, const FindingAccess *access, bool names_block,
                       const char *what, Text *out) {
    add_thread(access, names_block, out);
    text_print(out, " %s %s", verb_of(access), what);
    add_value(launch, access, out);
}

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
static void add_race(const RacePair *pair, const TraceLaunch *launch, const Finding *finding, Text *out) {
    const FindingAccess *access = &finding->access, *other = &finding->other;
    text_print(out, "line %d: ", other->line);
    add_access(launch, other, !pair->is_same_block, finding->what, out);
    if (access->line == other->line)
        text_add(out, ", and ");
    else
        text_print(out, "; line %d: ", access->line);
    add_access(launch, access, !pair->is_same_block, "it", out);
    text_print(out, ". %s", reason_for_race(pair));
    if (pair->is_atomic) text_add(out, "; an atomic access does not order one that is not atomic");
    text_add(out, access->is_store && other->is_store ? ": either value may remain"
                                                      : ": the value loaded is undefined");
}

static const char *advice_for_race(const RacePair *pair) {
    if (pair->kind == FINDING_STORE_CONFLICT)
        return "let one lane store, or give each lane its own element; to combine the values, use an atomic "
               "or a reduction";
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
               "or an "
               "mbarrier with arrivals and waits of cluster scope";
    if (pair->is_narrow) return "use atomics of device scope (atomicAdd, not atomicAdd_block)";
    if (!pair->is_same_block)
        return "let blocks write different elements; use an atomic; publish with __threadfence() and an "
               "atomic flag, and fence again after reading it; or use a second launch";
    if (pair->is_atomic) return "make both accesses atomic, or put a barrier between them";
    return pair->is_same_warp
               ? "put __syncwarp() between the two accesses, and between a load and the store that follows it"
               : "put __syncthreads() between the two accesses, where every thread of the block reaches it";
}

/* Both accesses are volatile, or one is: PTX allows them, but their order is missing. */
static void add_order(const RacePair *pair, const TraceLaunch *launch, const Finding *finding, Text *out) {
    const FindingAccess *access = &finding->access, *other = &finding->other;
    text_print(out, "line %d: ", other->line);
    add_access(launch, other, !pair->is_same_block, finding->what, out);
    text_print(out, "; line %d: ", access->line);
    add_access(launch, access, !pair->is_same_block, "it", out);
    text_print(out,
               ". %s relies on an atomic or a volatile word that was written after the first store, but no "
               "fence stands "
               "between them, and volatile orders nothing: %s",
               access->is_store ? "The second store" : "The load",
               access->is_store ? "either value may remain" : "the value loaded may be old");
}

static void add_missing_acquire(const RacePair *pair, const TraceLaunch *launch, const Finding *finding,
                                Text *out) {
    const FindingAccess *access = &finding->access, *other = &finding->other;
    text_print(out, "line %d: ", other->line);
    add_access(launch, other, !pair->is_same_block, finding->what, out);
    text_print(out, "; line %d: ", access->line);
    add_access(launch, access, !pair->is_same_block, "it", out);
    if (pair->is_scope) {
        text_add(
            out,
            ". An mbarrier lies between them, but its arrival or its wait has the scope of a block (.cta, "
            "which is the default). PTX then orders nothing between blocks; no GPU is known to lose a "
            "value here");
        return;
    }
    text_print(out,
               ". The writer fences before it announces this, but the %s does not fence after it reads the "
               "announcement. "
               "PTX then orders nothing; no GPU is known to lose a value here",
               access->is_store ? "second writer" : "reader");
}

static void add_lifetime(const RacePair *pair, const TraceLaunch *launch, const Finding *finding, Text *out) {
    const PtxInstruction *in = launch->program->code[finding->access.pc].instruction;
    text_print(out, "line %d: ", finding->access.line);
    if (trace_kind_of(in) == TRACE_SHARED_BULK_READ && !finding->access.is_store)
        text_print(out, "an asynchronous copy reads %s", finding->what);
    else
        add_access(launch, &finding->access, true, finding->what, out);
    if (pair->is_before_start)
        text_print(out, ", and nothing says that block %" PRIu64 " has started", pair->owner);
    else
        text_print(out, ", and nothing keeps block %" PRIu64 " from exiting before", pair->owner);
}

static const char *advice_for_lifetime(const RacePair *pair) {
    return pair->is_before_start
               ? "put cluster.sync() before the first access of another block's shared memory"
               : "put cluster.sync() behind the last access of another block's shared memory, before any "
                 "thread exits";
}

static void add_store_conflict(const TraceLaunch *launch, const Finding *finding, Text *out) {
    text_print(out, "line %d: lanes %d", finding->access.line, finding->other.lane);
    add_value(launch, &finding->other, out);
    text_print(out, " and %d", finding->access.lane);
    add_value(launch, &finding->access, out);
    text_print(out, " of warp %d store different values to %s in one instruction: either value may remain",
               finding->access.warp, finding->what);
}

/* ---- asynchronous copies ---------------------------------------------------------------------------- */

/* What a thread waits for before it may use the copy of this instruction. */
static const char *wait_of(const TraceLaunch *launch, int pc, bool only_read) {
    const PtxInstruction *in = launch->program->code[pc].instruction;
    if (ptx_asynchronous(in) == PTX_ASYNC_COPY) return "cp.async.wait_group";
    if (!ptx_instruction_has(in, PTX_MOD_BULK_GROUP)) return "the phase of its mbarrier is complete";
    return only_read ? "cp.async.bulk.wait_group.read" : "cp.async.bulk.wait_group";
}

/* "line 30: warp 0 lane 3 loads tile[3] (7), read before cp.async.wait_group: line 24 copies it asynchronously". */
static void add_early(const RacePair *pair, const TraceLaunch *launch, const Finding *finding, Text *out) {
    const FindingAccess *access = &finding->access, *copy = &finding->other;
    bool reads = pair->kind == FINDING_ASYNC_READ;
    text_print(out, "line %d: ", access->line);
    add_access(launch, access, !pair->is_same_block, finding->what, out);
    text_print(out, ", %s before %s: line %d copies %s it asynchronously (", reads ? "read" : "written",
               wait_of(launch, copy->pc, pair->is_source), copy->line, pair->is_source ? "from" : "to");
    add_thread(copy, !pair->is_same_block, out);
    text_print(out, "), and the copy may not have %s", pair->is_source ? "read it yet" : "arrived yet");
    text_add(out, reads             ? ": the value loaded is undefined"
                  : pair->is_source ? ": either value may be copied"
                                    : ": either value may remain");
}

static const char *advice_for_early(const RacePair *pair, const TraceLaunch *launch) {
    const PtxInstruction *in = launch->program->code[pair->other.pc].instruction;
    if (ptx_asynchronous(in) == PTX_ASYNC_COPY)
        return "commit the copies (cp.async.commit_group), wait for their group (cp.async.wait_group) in the "
               "thread "
               "that issued them, then synchronize the block before other threads use them";
    if (ptx_instruction_has(in, PTX_MOD_BULK_GROUP))
        return "commit the copy (cp.async.bulk.commit_group) and wait for its group "
               "(cp.async.bulk.wait_group) before "
               "its memory is used again";
    return "expect its bytes (mbarrier.arrive.expect_tx) and wait for the phase that they complete, with the "
           "parity of "
           "that phase, in every thread that uses them";
}

static void describe_left(FindingsBuilder *builder, Finding *finding) {
    const TraceLaunch *launch = builder->trace->launches[finding->launch];
    const FindingAccess *access = &finding->access;
    bool committed = finding->kind == FINDING_COPY_NOT_AWAITED;
    bool bulk = ptx_instruction_has(launch->program->code[access->pc].instruction, PTX_MOD_BULK);
    finding->advice = committed ? "wait for every group, or phase, before the thread ends"
                                : "end the copies of a group with a commit, then wait for the group";
    finding->sentence =
        committed
            ? arena_print(&builder->list->arena,
                          "line %d: the block ends, and no thread has waited for the copy of warp %d lane %d "
                          "(not before %s).",
                          access->line, access->warp, access->lane, wait_of(launch, access->pc, false))
            : arena_print(&builder->list->arena,
                          "line %d: the copy of warp %d lane %d is in no group: no cp.async.%scommit_group "
                          "follows it, so no wait_group waits for it.",
                          access->line, access->warp, access->lane, bulk ? "bulk." : "");
}

static const char *finish_sentence(Findings *list, Text *text) {
    text_add(text, ".");
    return findings_keep(list, text);
}

/* ---- races ------------------------------------------------------------------------------------------ */

/* Unrolled code has many pairs of instructions in the same two lines: they are one finding. */
static bool add_to_same_lines(FindingsBuilder *builder, const RacePair *pair, const TraceLaunch *launch) {
    FindingAccess access = pair->access, other = pair->other;
    finding_put_line(launch, &access);
    finding_put_line(launch, &other);
    for (int i = 0; i < builder->list->count; i++) {
        Finding *earlier = &builder->list->items[i];
        bool same = earlier->kind == pair->kind && earlier->launch == pair->launch &&
                    earlier->access.line == access.line && earlier->other.line == other.line &&
                    earlier->access.is_store == access.is_store && earlier->other.is_store == other.is_store;
        if (!same) continue;
        earlier->count += pair->count;
        if (earlier->blocks < pair->blocks) earlier->blocks = pair->blocks;
        return true;
    }
    return false;
}

/* What lanes do with "a value that a shuffle left undefined". */
static const char *use_of(TraceUse use) {
    switch (use) {
    case TRACE_USE_STORE:
        return "store";
    case TRACE_USE_ADDRESS:
        return "access memory by";
    case TRACE_USE_ATOMIC:
        return "update memory with";
    case TRACE_USE_BRANCH:
        return "branch by";
    case TRACE_USE_GUARD:
        return "execute an instruction, or not, by";
    case TRACE_USE_BARRIER:
        return "give to a barrier";
    }
    return "use";
}

static void describe_undefined(FindingsBuilder *builder, const RacePair *pair, Finding *finding) {
    finding->advice = "let every lane that is read from execute the shuffle: shuffle before the branch, and "
                      "give lanes without an element the identity";
    finding->sentence =
        arena_print(&builder->list->arena,
                    "line %d: lanes 0x%08" PRIx32 " of warp %d %s a value that the shuffle in line %d leaves "
                    "undefined: it reads a lane that does not take part.",
                    finding->access.line, finding->access.lanes, finding->access.warp, use_of(pair->use),
                    finding->other.line);
}

static void describe_partial_barrier(FindingsBuilder *builder, const RacePair *pair, Finding *finding) {
    finding->advice = "keep every lane until the last barrier: guard the work instead of returning early";
    finding->sentence =
        arena_print(&builder->list->arena,
                    "line %d: lanes 0x%08" PRIx32 " of warp %d pass this barrier after lanes 0x%08" PRIx32
                    " of the warp have exited. PTX waits for no thread that has exited, and an H200 goes on; "
                    "CUDA C++ asks that every thread of a block reaches a __syncthreads(), or none.",
                    finding->access.line, finding->access.lanes, finding->access.warp, pair->other.lanes);
}

static void describe_passed_by(FindingsBuilder *builder, const RacePair *pair, Finding *finding) {
    finding->advice =
        "name in the mask only lanes that execute the instruction, or have all of them execute it";
    finding->sentence = arena_print(
        &builder->list->arena,
        "line %d: lanes 0x%08" PRIx32 " of warp %d wait for lanes 0x%08" PRIx32
        ", which their mask names, and which pass the instruction by and end behind it. PTX waits "
        "for no thread that has exited, and an H200 goes on; what these lanes do meanwhile comes "
        "before the instruction.",
        finding->access.line, finding->access.lanes, finding->access.warp, pair->other.lanes);
}

static void describe_race(FindingsBuilder *builder, const RaceDetector *detector, const RacePair *pair,
                          Finding *finding) {
    const TraceLaunch *launch = builder->trace->launches[pair->launch];
    Text text = {0};
    if (pair->space == PTX_SPACE_SHARED) {
        const SharedWindow *window = &detector->windows[pair->launch];
        locate_symbol(window, launch, &finding->access);
        locate_symbol(window, launch, &finding->other);
    }
    finding->what = name_memory(builder, launch, pair->space, &finding->access);
    if (pair->has_owner)
        finding->what =
            arena_print(&builder->list->arena, "%s of block %" PRIu64, finding->what, pair->owner);
    bool is_lifetime = pair->kind == FINDING_BLOCK_LIFETIME;
    bool early = pair->kind == FINDING_ASYNC_READ || pair->kind == FINDING_ASYNC_WRITE;
    finding->advice = is_lifetime ? advice_for_lifetime(pair)
                      : early     ? advice_for_early(pair, launch)
                                  : advice_for_race(pair);
    if (is_lifetime)
        add_lifetime(pair, launch, finding, &text);
    else if (early)
        add_early(pair, launch, finding, &text);
    else if (pair->kind == FINDING_STORE_CONFLICT)
        add_store_conflict(launch, finding, &text);
    else if (pair->kind == FINDING_ORDER)
        add_order(pair, launch, finding, &text);
    else if (pair->kind == FINDING_MISSING_ACQUIRE)
        add_missing_acquire(pair, launch, finding, &text);
    else
        add_race(pair, launch, finding, &text);
    finding->sentence = finish_sentence(builder->list, &text);
}

static void add_pair(FindingsBuilder *builder, const RaceDetector *detector, const RacePair *pair) {
    const TraceLaunch *launch = builder->trace->launches[pair->launch];
    if (add_to_same_lines(builder, pair, launch)) return;
    Finding *finding = findings_add(builder->list, &builder->capacity, pair->kind, pair->launch);
    finding->space = pair->space;
    finding->access = pair->access;
    finding->other = pair->other;
    finding->count = pair->count;
    finding->blocks = pair->blocks;
    finding_put_line(launch, &finding->access);
    finding_put_line(launch, &finding->other);
    if (pair->kind == FINDING_UNDEFINED_SHUFFLE)
        describe_undefined(builder, pair, finding);
    else if (pair->kind == FINDING_PASSED_BY)
        describe_passed_by(builder, pair, finding);
    else if (pair->kind == FINDING_PARTIAL_BARRIER)
        describe_partial_barrier(builder, pair, finding);
    else if (pair->kind == FINDING_COPY_NOT_COMMITTED || pair->kind == FINDING_COPY_NOT_AWAITED)
        describe_left(builder, finding);
    else
        describe_race(builder, detector, pair, finding);
}

/* A note about two instructions that also race. */
static bool is_said_by_error(const RaceDetector *detector, const RacePair *pair) {
    if (pair->kind != FINDING_MISSING_ACQUIRE) return false;
    for (int i = 0; i < detector->pair_count; i++) {
        const RacePair *other = &detector->pairs[i];
        if (finding_kind_severity(other->kind) == SEVERITY_ERROR && other->launch == pair->launch &&
            other->access.pc == pair->access.pc && other->other.pc == pair->other.pc)
            return true;
    }
    return false;
}

void findings_add_races(FindingsBuilder *builder, RaceDetector *detector) {
    race_detector_finish(detector);
    builder->list->is_complete = detector->is_complete;
    for (int i = 0; i < detector->pair_count; i++)
        if (!is_said_by_error(detector, &detector->pairs[i]))
            add_pair(builder, detector, &detector->pairs[i]);
}

/* ---- traps ------------------------------------------------------------------------------------------ */

static const char *advice_for_trap(TrapKind kind) {
    switch (kind) {
    case TRAP_OUT_OF_BOUNDS:
        return "compare the index with the number of elements before the access (if (i < n)), and the size "
               "of the array with that of the block";
    case TRAP_INDEX_OVERFLOW:
        return "compute the index in 64 bits (size_t i = (size_t)row * columns + column), or compare before "
               "it becomes negative";
    case TRAP_MISALIGNED:
        return "align vector accesses to a multiple of their size";
    case TRAP_DIVERGENT_BARRIER:
        return "move the barrier out of the branch, so that every thread of the block reaches it";
    case TRAP_DEADLOCK:
        return "make what is waited for happen: the same barriers on every path, all blocks resident at "
               "once, locks taken by one lane at a time";
    case TRAP_MISSING_LANES:
        return "name in the mask only lanes that execute the instruction (__ballot_sync before the branch "
               "gives it), or move the instruction out of the branch";
    case TRAP_MBARRIER:
        return "make mbarrier.init's count the number of arrivals of a phase, and expect as many bytes as "
               "are "
               "copied";
    case TRAP_LANE_OUTSIDE_MASK:
        return "name every lane in the mask that executes the instruction, or keep other lanes away from it";
    case TRAP_BLOCK_EXITED:
        return "end the kernel with a barrier of the cluster (cluster.sync()), so that no block exits before "
               "the "
               "last access of its shared memory";
    case TRAP_UNINITIALIZED:
        return "let every thread store its element, or the identity where it has none, before a barrier and "
               "the first load";
    case TRAP_INSTRUCTION_BUDGET:
        return "look for a loop that does not end; --max-instructions raises the limit";
    default:
        return NULL;
    }
}

static bool count_same_trap(Findings *list, const Trap *trap) {
    for (int i = 0; i < list->count; i++) {
        Finding *same = &list->items[i];
        if ((same->kind != FINDING_FAULT && same->kind != FINDING_NOT_EMULATED) ||
            same->launch != trap->launch || same->access.pc != trap->pc ||
            strcmp(same->kind_text, trap_kind_text(trap->kind)) != 0)
            continue;
        same->count++;
        same->blocks++;
        return true;
    }
    return false;
}

static void add_trap(FindingsBuilder *builder, const Trap *trap) {
    const TraceLaunch *launch = builder->trace->launches[trap->launch];
    if (count_same_trap(builder->list, trap)) return;
    bool is_fault = trap->kind != TRAP_NOT_EMULATED; /* what the kernel does, not what is missing here */
    FindingKind kind = is_fault ? FINDING_FAULT : FINDING_NOT_EMULATED;
    Finding *finding = findings_add(builder->list, &builder->capacity, kind, trap->launch);
    FindingAccess *access = &finding->access;
    finding->kind_text = trap_kind_text(trap->kind);
    finding->count = finding->blocks = 1;
    access->pc = trap->pc;
    memcpy(access->block, trap->block, sizeof access->block);
    access->linear_block =
        ((uint64_t)trap->block[2] * launch->grid[1] + trap->block[1]) * launch->grid[0] + trap->block[0];
    access->warp = trap->warp;
    access->lanes = trap->lanes;
    access->lane = trap->lanes ? __builtin_ctz(trap->lanes) : -1;
    access->is_store = trap->pc >= 0 && launch->program->code[trap->pc].instruction->opcode == PTX_st;
    finding_put_line(launch, access);
    finding->advice = advice_for_trap(trap->kind);
    Text text = {0};
    if (access->line) text_print(&text, "line %d, ", access->line);
    text_print(&text, "block %" PRIu64, access->linear_block);
    if (trap->lanes) text_print(&text, ", warp %d, lanes 0x%08" PRIx32, trap->warp, trap->lanes);
    text_print(&text, ": %s", trap->detail && *trap->detail ? trap->detail : finding->kind_text);
    if (!is_fault)
        text_print(&text, "%s the run ends here, and what comes behind it was not examined",
                   text.data[text.length - 1] == ';' ? "" : ";");
    finding->sentence = finish_sentence(builder->list, &text);
}

void findings_add_traps(FindingsBuilder *builder) {
    for (int i = 0; i < builder->trace->trap_count; i++) {
        add_trap(builder, &builder->trace->traps[i]);
        builder->list->is_complete &= !trap_kind_is_fatal(builder->trace->traps[i].kind);
    }
}

/* ---- wrong results ---------------------------------------------------------------------------------- */

static void blame_reread(FindingsBuilder *builder, const Reread *reread, Finding *finding, Text *text) {
    const TraceLaunch *launch = builder->trace->launches[finding->launch];
    finding->space = PTX_SPACE_GLOBAL;
    finding->access = reread->access;
    finding->other = reread->other;
    finding_put_line(launch, &finding->access);
    finding_put_line(launch, &finding->other);
    finding->what = name_memory(builder, launch, PTX_SPACE_GLOBAL, &finding->access);
    text_print(text, "; line %d loads %s in block %" PRIu64 ", and line %d loads it again in block %" PRIu64,
               finding->other.line, finding->what, finding->other.linear_block, finding->access.line,
               finding->access.linear_block);
    if (reread->loads > 1) {
        CountText loads;
        text_print(text, " (and %s more such load%s of a lane)", count_text(reread->loads - 1, &loads),
                   plural(reread->loads - 1));
    }
    text_add(text, ": elements may count twice");
    finding->advice = "match the index to the grid: each element belongs to one thread";
}

/* Where to look: at elements that two blocks load, else at the last store. */
void findings_add_result(FindingsBuilder *builder, const RaceDetector *detector,
                         const FindingResult *result) {
    if (!result || !result->is_wrong || !result->result) return;
    Finding *finding = findings_add(builder->list, &builder->capacity, FINDING_WRONG_RESULT,
                                    builder->trace->launch_count - 1);
    Text text = {0};
    finding->count = finding->blocks = 1;
    text_print(&text, "the result is %s, expected %s", result->result, result->expected);
    if (detector && detector->reread.loads) {
        finding->launch = detector->reread_launch;
        blame_reread(builder, &detector->reread, finding, &text);
    } else if (detector && detector->last_store_pc >= 0) {
        finding->launch = detector->last_store_launch;
        finding->access.pc = detector->last_store_pc;
        finding_put_line(builder->trace->launches[finding->launch], &finding->access);
        text_print(&text, "; the last store is in line %d", finding->access.line);
        finding->advice = "check which thread stores the result, and which value: V shows registers, r how "
                          "the result was reduced";
    }
    finding->sentence = finish_sentence(builder->list, &text);
}
