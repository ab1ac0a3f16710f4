/* The asynchronous copies of a block, found in its events (async_copies.h). */
#include "tui/scene/scene_copies.h"

typedef struct GroupStep { /* what an event does to the groups of a lane */
    bool copies, commits, waits;
    uint32_t pending;
} GroupStep;

static bool is_bulk(PtxAsync form) {
    return form == PTX_ASYNC_BULK_COPY || form == PTX_ASYNC_BULK_REDUCE || form == PTX_ASYNC_BULK_COMMIT ||
           form == PTX_ASYNC_BULK_WAIT;
}

static const PtxInstruction *instruction_of(const TraceLaunch *launch, const TraceEvent *event) {
    return launch->program->code[event->pc].instruction;
}

/* Whether it concerns bulk groups, or those of cp.async; a wait that only waits for reads of the sources does
 * not count. */
static GroupStep step_of(const TraceLaunch *launch, const TraceEvent *event, bool bulk) {
    const PtxInstruction *in = instruction_of(launch, event);
    PtxAsync form = ptx_asynchronous(in);
    GroupStep step = {.pending = event->participants};
    if (form == PTX_ASYNC_NOT || is_bulk(form) != bulk) return step;
    step.copies =
        event->kind == trace_written_kind_of(in) && (!bulk || ptx_instruction_has(in, PTX_MOD_BULK_GROUP));
    step.commits = form == PTX_ASYNC_COMMIT || form == PTX_ASYNC_BULK_COMMIT || form == PTX_ASYNC_WAIT_ALL;
    step.waits = form == PTX_ASYNC_WAIT || form == PTX_ASYNC_WAIT_ALL ||
                 (form == PTX_ASYNC_BULK_WAIT && !ptx_instruction_has(in, PTX_MOD_READ));
    return step;
}

static void arrive(AsyncCopiesOnTheirWay *on, uint32_t pending) {
    int kept = 0;
    for (int i = 0; i < on->count; i++)
        if (on->copies[i].group + (int64_t)pending >= on->groups) on->copies[kept++] = on->copies[i];
    on->count = kept;
    if (!kept) on->more = 0;
}

void async_copies_before(const TraceLaunch *launch, const TraceBlock *block, int event, int lane,
                         AsyncCopiesOnTheirWay *out) {
    TraceEvent at, earlier;
    *out = (AsyncCopiesOnTheirWay){.count = 0};
    trace_block_read(block, event, &at);
    bool bulk = is_bulk(ptx_asynchronous(instruction_of(launch, &at)));
    for (int i = 0; i < event; i++) {
        trace_block_read_header(block, i, &earlier);
        if (earlier.warp != at.warp || !(earlier.mask >> lane & 1)) continue;
        GroupStep step = step_of(launch, &earlier, bulk);
        out->groups += step.commits;
        if (step.waits) arrive(out, step.pending);
        if (!step.copies) continue;
        if (out->count < MOST_COPIES_SHOWN)
            out->copies[out->count++] = (AsyncCopyOnItsWay){.event = i, .group = out->groups};
        else
            out->more++;
    }
    GroupStep step = step_of(launch, &at, bulk);
    int groups = out->groups + step.commits;
    for (int i = 0; i < out->count; i++)
        out->copies[i].arrives = step.waits && out->copies[i].group + (int64_t)step.pending < groups;
}

int async_copy_wait(const TraceLaunch *launch, const TraceBlock *block, int event, int lane) {
    TraceEvent copy, later;
    trace_block_read_header(block, event, &copy);
    const PtxInstruction *in = instruction_of(launch, &copy);
    bool bulk = is_bulk(ptx_asynchronous(in));
    if (bulk && !ptx_instruction_has(in, PTX_MOD_BULK_GROUP)) return NO_EVENT;
    int64_t commits = 0;
    for (int i = event + 1; i < trace_block_event_count(block); i++) {
        trace_block_read_header(block, i, &later);
        if (later.warp != copy.warp || !(later.mask >> lane & 1)) continue;
        if (ptx_asynchronous(instruction_of(launch, &later)) == PTX_ASYNC_ARRIVE && !bulk && !commits)
            return NO_EVENT;
        GroupStep step = step_of(launch, &later, bulk);
        commits += step.commits;
        if (step.waits && commits > (int64_t)step.pending) return i;
    }
    return NO_EVENT;
}

int async_copy_other_side(const TraceLaunch *launch, const TraceBlock *block, int event) {
    TraceEvent side, other;
    trace_block_read_header(block, event, &side);
    bool written = side.kind == trace_written_kind_of(instruction_of(launch, &side));
    int step = written ? -1 : 1;
    for (int i = event + step; i >= 0 && i < trace_block_event_count(block); i += step) {
        trace_block_read_header(block, i, &other);
        if (other.warp != side.warp) continue;
        return other.pc == side.pc && other.kind != side.kind ? i : NO_EVENT;
    }
    return NO_EVENT;
}

int async_copy_line(const TraceLaunch *launch, const TraceBlock *block, int event) {
    TraceEvent header;
    trace_block_read_header(block, event, &header);
    const PtxCode *code = &launch->program->code[header.pc];
    return code->line.line ? code->line.line : code->instruction->line;
}
