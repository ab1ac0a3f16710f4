/* Explain: the step in plain sentences, from the contents of the trace: lanes, addresses, distances between
 * addresses, shuffle deltas. It never mentions source variables, which the trace does not contain. */
#include "tui/panes/banks.h"
#include "ptx/opcodes.h"

#include "tui/scene/scene_copies.h"

#include "base/language.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct Participants { /* warps and lanes that take part in the step */
    bool *active, *waiting;   /* [warp] */
    int warp_count, active_count, waiting_count;
    int threads;    /* active, over all warps */
    bool same_mask; /* every active warp has the same active lanes */
    uint32_t mask;  /* those lanes */
    int idle;       /* lanes of each active warp that exist but are inactive; with same_mask only */
} Participants;

static Participants participants_of(const StepContext *context) {
    int count = context->step_index->warp_count;
    Participants participants = {.active = memory_new((size_t)count),
                                 .waiting = memory_new((size_t)count),
                                 .warp_count = count,
                                 .same_mask = true};
    for (int warp = 0; warp < count; warp++) {
        WarpState state = step_index_warp_state(context->step_index, context->view->place.step, warp);
        participants.waiting[warp] = state.waiting != 0;
        participants.waiting_count += participants.waiting[warp];
        if (!state.active) continue;
        if (participants.active_count && state.active != participants.mask) participants.same_mask = false;
        participants.active[warp] = true;
        participants.mask = state.active;
        participants.idle = __builtin_popcount(state.exists & ~state.active & ~state.exited);
        participants.active_count++;
        participants.threads += __builtin_popcount(state.active);
    }
    return participants;
}

static void participants_done(Participants *participants) {
    free(participants->active);
    free(participants->waiting);
}

/* A format that takes the "s" of one lane. */
static const char *verb_of(TraceKind kind) {
    switch (kind) {
    case TRACE_SHARED_LOAD:
    case TRACE_GLOBAL_LOAD:
    case TRACE_LOCAL_LOAD:
        return "load%s";
    case TRACE_SHARED_STORE:
    case TRACE_GLOBAL_STORE:
    case TRACE_LOCAL_STORE:
        return "store%s";
    case TRACE_SHARED_ATOMIC:
    case TRACE_GLOBAL_ATOMIC:
        return "update%s";
    case TRACE_CONSTANT_LOAD:
        return "load%s";
    case TRACE_SHUFFLE:
        return "shuffle%s";
    case TRACE_VOTE:
        return "vote%s";
    case TRACE_REDUX:
        return "reduce%s";
    case TRACE_MATRIX:
        return "multiply matrices%s";
    case TRACE_TEXTURE:
        return "access%s a texture or surface";
    case TRACE_BRANCH:
        return "evaluate%s the branch";
    case TRACE_BARRIER:
    case TRACE_NAMED_BARRIER:
    case TRACE_WARP_SYNC:
        return "arrive%s";
    default:
        return "execute%s";
    }
}

/* "lanes 0, 8, 16, 24 of warps 0-7 load, 28 of each idle" */
static void print_participants(const Participants *participants, TraceKind kind, Text *out) {
    char lanes[64], warps[64];
    step_context_describe_warps(participants->active, participants->warp_count, warps, sizeof warps);
    step_context_describe_lanes(participants->mask, lanes, sizeof lanes);
    if (participants->same_mask) {
        text_print(out, tr("%s of %s "), lanes, warps);
        text_print(out, tr(verb_of(kind)), participants->threads == 1 ? "s" : "");
        if (participants->idle)
            text_print(out, participants->active_count > 1 ? tr(", %d of each idle") : tr(", %d idle"),
                       participants->idle);
    } else {
        text_print(out, tr("%d threads of %s "), participants->threads, warps);
        text_print(out, tr(verb_of(kind)), "");
    }
    if (!participants->waiting_count) return;
    step_context_describe_warps(participants->waiting, participants->warp_count, warps, sizeof warps);
    text_print(out, tr("; %s wait%s at the barrier"), warps, participants->waiting_count == 1 ? "s" : "");
}

static bool same_line(const PtxCode *a, const PtxCode *b) {
    return a && b && a->line.line && a->line.line == b->line.line && a->line.file && b->line.file &&
           !strcmp(a->line.file, b->line.file);
}

/* Elements between the two shared addresses that every lane touches on this line (sdata[i] += sdata[i +
 * distance]); 0: not two addresses, or the distance differs between lanes. */
static int64_t operand_distance(const StepContext *context) {
    const TraceEvent *event = &context->event;
    for (int by = -3; by <= 3; by++) {
        int number =
            by ? step_index_neighbour(context->step_index, context->event_number, event->warp, by) : -1;
        TraceEvent other;
        if (number < 0) continue;
        trace_block_read(context->steps->block, number, &other);
        if ((other.kind != TRACE_SHARED_LOAD && other.kind != TRACE_SHARED_STORE) ||
            other.mask != event->mask || other.width != event->width || other.interval != event->interval ||
            !same_line(context->code, scene_code(context->scene, context->view->place.block, other.pc)))
            continue;
        int first = __builtin_ctz(event->mask);
        int64_t distance = (int64_t)(other.offset[first] - event->offset[first]);
        bool same = true;
        for (int lane = first; lane < WARP_LANES; lane++)
            if (event->mask >> lane & 1 && (other.buffer[lane] != event->buffer[lane] ||
                                            (int64_t)(other.offset[lane] - event->offset[lane]) != distance))
                same = false;
        if (!same || !distance || distance % event->width) continue;
        return (distance < 0 ? -distance : distance) / event->width;
    }
    return 0;
}

/* Words from one active lane's address to the next one's; false if it varies. */
static bool lane_stride(const StepContext *context, int64_t *words) {
    int64_t stride = 0;
    int previous = -1, pairs = 0;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(context->event.mask >> lane & 1)) continue;
        if (previous >= 0) {
            int64_t bytes = (int64_t)(context->address[lane] - context->address[previous]);
            if (pairs++ && bytes != stride) return false;
            stride = bytes;
        }
        previous = lane;
    }
    *words = (stride < 0 ? -stride : stride) / BANK_BYTES;
    return pairs > 0 && stride % BANK_BYTES == 0;
}

static int banks_used(const StepContext *context) {
    uint32_t banks = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (context->event.mask >> lane & 1) banks |= 1u << context->address[lane] / BANK_BYTES % BANK_COUNT;
    return __builtin_popcount(banks);
}

/* In global memory the cost of updates of one address is unknown: the memory system may combine them. */
static void explain_collisions(const StepContext *context, Text *out) {
    int addresses, most = step_context_collisions(&context->event, &addresses);
    if (__builtin_popcount(context->event.mask) == 1)
        text_print(out, tr("w%d: one update of one address."), context->event.warp);
    else if (most <= 1)
        text_add(out, tr("Each lane updates a different address."));
    else if (addresses == 1)
        text_print(out, tr("w%d: %d lanes update the same address; every update counts, in whatever order."),
                   context->event.warp, most);
    else
        text_print(out, tr("w%d: its lanes update %d addresses, up to %d lanes the same one."),
                   context->event.warp, addresses, most);
}

static void explain_atomic(const StepContext *context, Text *out) {
    const SharedCost *cost = &context->cost;
    PtxAtomicForm form = context->code ? context->code->atomic_form : PTX_ATOMIC_UNKNOWN;
    int addresses, most = step_context_collisions(&context->event, &addresses);
    explain_collisions(context, out);
    if (!cost->each || __builtin_popcount(context->event.mask) == 1) return;
    if (cost->wavefronts > cost->ideal)
        text_print(out,
                   access_atomic_counts_lanes(form)
                       ? tr(" A bank serves its lanes one after another: %d wavefronts instead of %d.")
                       : tr(" Different words fall into the same bank: %d wavefronts instead of %d."),
                   cost->wavefronts, cost->ideal);
    else if (most > 1 && form == PTX_ATOMIC_COUNTED)
        text_add(out,
                 tr(" To add 1 without using the result, lanes on one word are counted: one wavefront."));
    else if (most > 1)
        text_add(out, tr(" The compiler sees one address: it combines the values, and one lane updates it."));
    else
        text_print(out, tr(" No two lanes share a bank: %d wavefront%s, the ideal."), cost->wavefronts,
                   cost->wavefronts == 1 ? "" : "s");
    if (cost->rounds > 1)
        text_print(out, tr(" It is a loop of load and compare-and-swap: %d rounds."), cost->rounds);
}

/* `faulty`: something is wrong at this step, so a cost equal to the ideal is not mentioned. */
static void explain_shared(const StepContext *context, bool faulty, Text *out) {
    int64_t stride = 0;
    Text peers = {0};
    peers_explain(context, &peers);
    bool reaches_others = peers.length;
    text_add(out, text_string(&peers));
    text_done(&peers);
    if (reaches_others) return;
    if (context->event.kind == TRACE_SHARED_ATOMIC) {
        explain_atomic(context, out);
        return;
    }
    bool regular = lane_stride(context, &stride);
    if (context->cost.wavefronts > context->cost.ideal) {
        if (regular && stride > 1)
            text_print(out, tr("Words %lld apart fall into %d of 32 banks"), (long long)stride,
                       banks_used(context));
        else
            text_print(out, tr("Different words fall into the same bank"));
        text_print(out, tr(": w%d needs %d wavefronts instead of %d."), context->event.warp,
                   context->cost.wavefronts, context->cost.ideal);
    } else if (faulty) {
        return;
    } else if (context->cost.ideal > 1) {
        text_print(out,
                   tr("%d bytes per lane are served in %d phases, each without a conflict: %d wavefronts, "
                      "the ideal."),
                   context->event.width, context->cost.phases, context->cost.wavefronts);
    } else if (regular && stride == 0) {
        text_add(out, tr("All lanes access the same word (broadcast): one wavefront."));
    } else {
        text_add(out, tr("No two words share a bank: one wavefront, no conflict."));
    }
}

static void explain_global(const StepContext *context, bool faulty, Text *out) {
    const TraceEvent *event = &context->event;
    uint64_t address[WARP_LANES] = {0};
    if (event->kind == TRACE_LOCAL_LOAD || event->kind == TRACE_LOCAL_STORE) {
        text_add(out, tr("Local memory: spilled registers, or an array that is indexed at run time."));
        return;
    }
    if (event->kind == TRACE_GLOBAL_ATOMIC) {
        explain_collisions(context, out);
        return;
    }
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (event->mask >> lane & 1)
            address[lane] = (uint64_t)(event->buffer[lane] + 1) << 40 | event->offset[lane];
    int sectors = access_global_sectors(event->width, event->mask, address);
    int ideal = access_global_sectors_ideal(event->width, event->mask, address);
    int threads = __builtin_popcount(event->mask);
    if (faulty && sectors <= ideal) return;
    text_print(out, tr("w%d: %d access%s of %d byte%s touch%s %d sector%s of 32 bytes"), event->warp, threads,
               threads == 1 ? "" : "es", event->width, event->width == 1 ? "" : "s", threads == 1 ? "es" : "",
               sectors, sectors == 1 ? "" : "s");
    if (sectors > ideal)
        text_print(out, tr(", where %d would suffice: %d%% of the traffic is not used."), ideal,
                   (sectors - ideal) * 100 / sectors);
    else
        text_add(out, tr(", the minimum: coalesced."));
}

static void explain_shuffle(const StepContext *context, Text *out) {
    uint32_t keeps = 0, undefined = 0;
    int delta = 0, takers = 0;
    bool same = true;
    char lanes[64];
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int source = context->event.source[lane];
        if (!(context->event.mask >> lane & 1)) continue;
        if (source < 0) {
            undefined |= 1u << lane;
        } else if (source == lane) {
            keeps |= 1u << lane;
        } else {
            if (takers++ && source - lane != delta) same = false;
            delta = source - lane;
        }
    }
    if (takers && same)
        text_print(
            out,
            delta < 0
                ? tr("Delta %d: each lane reads the value of the lane %d below it, register to register.")
                : tr("Delta %d: each lane reads the value of the lane %d above it, register to register."),
            abs(delta), abs(delta));
    else if (takers)
        text_add(out, tr("Lanes exchange values from register to register, without shared memory."));
    if (keeps) {
        step_context_describe_lanes(keeps, lanes, sizeof lanes);
        text_print(out,
                   keeps & (keeps - 1) ? tr("%sSource outside the segment: %s keep their own values.")
                                       : tr("%sSource outside the segment: %s keeps its own value."),
                   takers ? " " : "", lanes);
    }
    if (undefined) {
        step_context_describe_lanes(undefined, lanes, sizeof lanes);
        text_print(out, tr("%sUndefined value, a bug: the source lane of %s is inactive."),
                   takers || keeps ? " " : "", lanes);
    }
}

static bool short_branch(const StepContext *context) {
    enum {
        /* Ptxas predicates short bodies; its limit is not documented, so the text says "may". */
        FEW_INSTRUCTIONS = 12
    };
    const PtxCode *code = context->code;
    if (!code || code->reconvergence == PTX_NO_PC || code->reconvergence <= context->step->pc ||
        code->reconvergence - context->step->pc > FEW_INSTRUCTIONS)
        return false;
    if (code->target >= 0 && code->target <= context->step->pc) return false; /* a loop's: it has rounds */
    for (int pc = context->step->pc + 1; pc < code->reconvergence; pc++)      /* a branch is not predicated */
        if (context->launch->program->code[pc].instruction->opcode == PTX_bra) return false;
    return true;
}

static void explain_branch(const StepContext *context, Text *out) {
    const StepIndexEntry *step = &context->step_index->step[context->view->place.step];
    const TraceEvent *event = &context->event;
    int block = context->view->place.block;
    const Paths *paths = scene_paths(context->scene, block);
    bool has_event = context->event_number >= 0;
    int split = has_event ? paths->split_at[context->event_number] : -1;
    int path = has_event ? paths->of_event[context->event_number] : -1;
    BranchRows rows;
    if (scene_branch_rows(context->scene, block, split, &rows)) {
        text_print(out, tr("w%d splits: "), event->warp);
        branch_rows_print(&rows, out);
        text_add(out, tr("; the paths execute one after another."));
        if (short_branch(context)) text_add(out, tr(" (Its body is short: ptxas may predicate it.)"));
    } else if (path >= 0 && scene_branch_rows(context->scene, block, paths->paths[path].split, &rows)) {
        int row = branch_rows_find(paths, &rows, path);
        text_print(out, tr("w%d is on path %c of the branch"), event->warp,
                   branch_letter(&rows, row < 0 ? 0 : row));
        const PtxCode *code = scene_code(context->scene, block, paths->splits[paths->paths[path].split].pc);
        if (code && code->line.line) text_print(out, tr(" in line %d"), code->line.line);
        text_add(out, tr(": "));
        branch_rows_print(&rows, out);
        text_add(out, tr("."));
    } else if (step->diverges) {
        text_print(out, tr("w%d does not split, but another warp does."), event->warp);
    } else {
        text_add(out, tr("In every warp all lanes take the same path: no divergence."));
    }
}

static bool has_modifier(const StepContext *context, const char *text) {
    const PtxInstruction *instruction = context->code ? context->code->instruction : NULL;
    for (int i = 0; instruction && i < instruction->modifier_count; i++)
        if (!strcmp(instruction->modifiers[i].text, text)) return true;
    return false;
}

static void explain_vote(const StepContext *context, Text *out) {
    if (has_modifier(context, "ballot"))
        text_add(out, tr("Each lane's predicate is one bit of the mask that every lane receives."));
    else
        text_add(out, has_modifier(context, "any")
                          ? tr("Every lane learns whether the predicate is true in any lane.")
                      : has_modifier(context, "all")
                          ? tr("Every lane learns whether the predicate is true in all lanes.")
                          : tr("Every lane learns whether the predicate is the same in all lanes."));
}

static void explain_activemask(const StepContext *context, Text *out) {
    (void)context;
    text_add(out,
             tr("The mask shows which lanes execute together at this moment; they need not stay together."));
}

static void explain_match(const StepContext *context, Text *out) {
    (void)context;
    text_add(out, tr("Every lane receives the mask of the lanes that hold the same value."));
}

static void explain_elect(const StepContext *context, Text *out) {
    (void)context;
    text_add(out, tr("One lane is elected to act for all of them."));
}

static void explain_redux(const StepContext *context, Text *out) {
    (void)context;
    text_add(out, tr("One instruction reduces the values of all its lanes; every lane receives the result."));
}

static void explain_product(const StepContext *context, Text *out) {
    (void)context;
    text_add(out,
             tr("Together they hold A, B and C, some elements each; every lane receives its elements of the "
                "result. A column of ones in B adds the rows of A."));
}

static void explain_texture(const StepContext *context, Text *out) {
    PtxOpcode opcode = context->code ? context->code->instruction->opcode : PTX_tex;
    if (opcode == PTX_tex || opcode == PTX_tld4)
        text_add(out, tr("A texture unit finds the texels around the coordinates, and filters them if the "
                         "texture says so. The sectors that it reads are not counted."));
    else if (opcode == PTX_txq || opcode == PTX_suq)
        text_add(out, tr("It asks for a property of the texture or surface."));
    else
        text_add(out,
                 tr("It accesses the bytes of a surface: the first coordinate counts bytes. Their sectors "
                    "are not counted."));
}

static void explain_constant(const StepContext *context, Text *out) {
    int addresses;
    step_context_collisions(&context->event, &addresses);
    if (addresses == 1)
        text_add(out, tr("All lanes read the same address of constant memory."));
    else
        text_print(out, tr("The lanes read %d different addresses of constant memory."), addresses);
}

static bool barrier_is_complete(const StepContext *context) {
    for (int warp = 0; warp < context->step_index->warp_count; warp++) {
        WarpState state = step_index_warp_state(context->step_index, context->view->place.step, warp);
        if (!state.active && !state.waiting && state.exited != state.exists) return false;
    }
    return true;
}

static bool is_faulty(const StepContext *context) {
    Text ignored = {0};
    bool faulty = explain_fault(context, &ignored);
    text_done(&ignored);
    return faulty;
}

/* The block of this rank in the cluster. */
static uint32_t block_of(const StepContext *context, int rank) {
    return trace_cluster_member(context->launch, trace_block_linear(context->steps->block), (uint32_t)rank);
}

static void explain_barrier(const StepContext *context, Text *out) {
    if (context->event.kind == TRACE_WARP_SYNC)
        text_add(out, tr("These lanes synchronize: each sees what the others wrote before."));
    else if (context->event.kind == TRACE_NAMED_BARRIER)
        text_add(
            out,
            trace_event_is_cluster_wait(&context->event)
                ? tr("The barrier of the cluster: they go on when all threads of its blocks have arrived.")
                : tr("A named barrier: it waits only for the threads it counts."));
    else
        text_add(out,
                 barrier_is_complete(context)
                     ? tr("All have arrived: from here on every thread sees what the others wrote before.")
                     : tr("They wait until the others arrive."));
}

/* By the addresses, since a generic address has its state space only at run time. */
static void explain_access(const StepContext *context, Text *out) {
    if (step_context_is_shared(context->event.kind))
        explain_shared(context, is_faulty(context), out);
    else if (context->event.kind == TRACE_CONSTANT_LOAD)
        explain_constant(context, out);
    else
        explain_global(context, is_faulty(context), out);
}

static void explain_wmma(const StepContext *context, Text *out) {
    (context->event.kind == TRACE_MATRIX ? explain_product : explain_access)(context, out);
}

static void explain_wgmma(const StepContext *context, Text *out) {
    if (context->event.kind != TRACE_MATRIX) return;
    if (context->code && ptx_instruction_has(context->code->instruction, PTX_MOD_SP))
        text_add(
            out,
            tr("A is sparse: its metadata say which two of four columns are stored (tf32: one of two). "));
    text_add(out,
             tr("Four warps multiply: A and B are in shared memory (A may be in registers), and each warp "
                "computes 16 rows of D. D is undefined until wgmma.wait_group. Bank conflicts of "
                "these reads were not measured, so they are not counted."));
}

/* A side of an asynchronous copy, a commit, a wait, an mbarrier: when the data arrives. */
static void explain_arrival(const StepContext *context, Text *out) {
    const PtxInstruction *in = context->code ? context->code->instruction : NULL;
    TraceKind written = in ? trace_written_kind_of(in) : TRACE_NOT_RECORDED;
    if (written == TRACE_NOT_RECORDED || context->trap) return;
    int lane = __builtin_ctz(context->event.mask);
    int wait = async_copy_wait(context->launch, context->steps->block, context->event_number, lane);
    text_add(out, context->event.kind == written ? tr(" An asynchronous copy writes this later")
                                                 : tr(" An asynchronous copy reads this"));
    int peer = trace_event_peer(&context->event);
    if (peer >= 0)
        text_print(out, tr(", in shared memory of block %u of its cluster"), block_of(context, peer));
    if (wait == NO_EVENT) {
        text_add(out, ptx_instruction_has(in, PTX_MOD_COMPLETE_TX_BYTES)
                          ? tr("; it arrives with the phase of its mbarrier.")
                          : tr("; no wait for groups that this lane executes includes it."));
        return;
    }
    text_print(out, tr("; it arrives at the wait on line %d."),
               async_copy_line(context->launch, context->steps->block, wait));
}

static void explain_group(const StepContext *context, Text *out) {
    if (ptx_instruction_has(context->code->instruction, PTX_MOD_COMMIT_GROUP))
        text_add(out, tr("The copies that a lane has issued since its last commit are a group."));
    else
        text_print(
            out,
            context->event.participants
                ? tr("A lane goes on when all of its groups but the last %u have arrived; it may read "
                     "what they wrote.")
                : tr("A lane goes on when all of its groups have arrived; it may read what they wrote."),
            context->event.participants);
}

static void explain_mbarrier(const StepContext *context, Text *out) {
    const PtxInstruction *in = context->code->instruction;
    bool waits = ptx_instruction_has(in, PTX_MOD_TRY_WAIT) || ptx_instruction_has(in, PTX_MOD_TEST_WAIT);
    text_add(out,
             waits ? tr("They ask whether a phase of the mbarrier is complete: then they see what was "
                        "written before it.")
             : ptx_instruction_has(in, PTX_MOD_INIT)
                 ? tr("An mbarrier: its phase is complete after so many arrivals, and when the bytes that "
                      "it expects have come.")
                 : tr("What they do at the mbarrier brings its phase nearer to its end."));
    int peer = trace_event_peer(&context->event);
    if (peer >= 0)
        text_print(out, tr(" It lies in shared memory of block %u, whose threads alone can wait for it."),
                   block_of(context, peer));
}

static void explain_copy(const StepContext *context, Text *out) {
    if (context->event.kind == TRACE_ASYNC_GROUP)
        explain_group(context, out);
    else if (context->event.kind == TRACE_MBARRIER)
        explain_mbarrier(context, out);
    else if (!trace_kind_is_bulk(context->event.kind))
        explain_access(context, out);
}

/* The column "explanation" of ptx/opcodes.def. */
static void explain_instruction(const StepContext *context, Text *out) {
    static void (*const explain[PTX_OPCODE_COUNT])(const StepContext *, Text *) = {
#define OPCODE(...)
#define RECORDED(name, section, syntax, meaning, event, probe, machine_code, explanation)                    \
    [PTX_##name] = explain_##explanation,
#include "ptx/opcodes.def"
#undef OPCODE
    };
    PtxOpcode opcode =
        context->code && context->code->instruction ? context->code->instruction->opcode : PTX_OTHER;
    if (explain[opcode]) explain[opcode](context, out);
}

/* ---- selects ------------------------------------------------------------------------------------------- */

static bool has_branch(const PtxProgram *program, const PtxSourceLine *line) {
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxCode *code = &program->code[pc];
        bool branches = code->instruction && code->instruction->opcode == PTX_bra &&
                        code->instruction->guard.kind != PTX_OPERAND_NONE;
        if (branches && code->line.line == line->line && code->line.file == line->file) return true;
    }
    return false;
}

/* "selp", "predicated instructions"; NULL: the instruction does not choose. */
static const char *chooser(const PtxInstruction *instruction) {
    if (!instruction) return NULL;
    bool is_guarded = instruction->guard.kind != PTX_OPERAND_NONE;
    if (instruction->opcode == PTX_selp) return "selp";
    return is_guarded && instruction->opcode != PTX_bra && instruction->opcode != PTX_brx
               ? tr("predicated instructions")
               : NULL;
}

/* An `if` or a `?` between the event before and this one that became no branch. */
static void explain_select(const StepContext *context, Text *out) {
    const PtxProgram *program = context->launch->program;
    int first = context->step->pc;
    while (first > 0 && !program->code[first].block_begin &&
           trace_kind_of(program->code[first - 1].instruction) == TRACE_NOT_RECORDED)
        first--;
    for (int pc = context->step->pc; pc >= first; pc--) {
        const PtxSourceLine *line = &program->code[pc].line;
        const char *with = chooser(program->code[pc].instruction);
        const char *text = with && line->line && line->file
                               ? scene_source_line(context->scene, line->file, line->line)
                               : NULL;
        bool chooses = text && (strchr(text, '?') || strstr(text, "if ") || strstr(text, "if("));
        if (!chooses || has_branch(program, line)) continue;
        int lanes = __builtin_popcount(context->event.mask);
        text_print(out, tr(" Line %d: no branch here; the compiler chose with %s, "), line->line, with);
        if (lanes == 1)
            text_add(out, tr("the lane executes both sides."));
        else
            text_print(out, tr("all %d lanes execute both sides."), lanes);
        return;
    }
}

void explain_step(const StepContext *context, Text *out) {
    Participants participants = participants_of(context);
    bool is_access = step_context_is_shared(context->event.kind) && !context->trap;
    int64_t distance = is_access ? operand_distance(context) : 0;
    size_t begin = out->length;
    if (distance) text_print(out, tr("Distance %lld: "), (long long)distance);
    print_participants(&participants, context->event.kind, out);
    bool has_capitals = !strcmp(language(), "en"); /* Chinese has "warp" and "lane" as they are */
    if (has_capitals && out->data && out->data[begin] >= 'a' && out->data[begin] <= 'z')
        out->data[begin] -= 'a' - 'A';
    text_add(out, tr(". "));
    explain_instruction(context, out);
    explain_arrival(context, out);
    explain_select(context, out);
    participants_done(&participants);
}
