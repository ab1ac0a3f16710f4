/* Paths: follows each warp through the program from event to event.
 *
 * A warp is a set of strands: lanes at one pc. An event moves the strands of its lanes to its pc: through
 * the code between, past the joins on the way. Where one strand passes a join, the other paths of the split
 * are moved there too, if nothing that would have been recorded lies between. */
#include "trace/paths.h"

#include "base/memory.h"
#include "ptx/opcodes.h"
#include <stdlib.h>

enum { MOST_CALLS = 32, NO_EVENT = -1, NO_PATH = -1 };

typedef struct Strand {
    uint32_t mask; /* 0: it has ended, or is part of another one */
    int pc;
    int path;         /* innermost; NO_PATH: none */
    bool is_executed; /* the instruction at pc: it left an event */
    int calls;
    int returns[MOST_CALLS];
} Strand;

typedef struct Follower {
    const TraceLaunch *launch;
    const PtxProgram *program;
    const TraceBlock *block;
    Paths *paths;
    int split_capacity, path_capacity;
    Strand strands[2 * WARP_LANES]; /* of the warp that is followed */
    int strand_count;
    int event; /* to which strands move; NO_EVENT: to the end of the run */
    uint32_t event_lanes;
} Follower;

static bool is_guarded(const PtxInstruction *instruction) {
    return instruction->guard.kind != PTX_OPERAND_NONE;
}

/* ---- one instruction ----------------------------------------------------------------------------------- */

/* The function that a direct call enters; -1: unknown, or it has no code. */
static int function_called(const Follower *follower, const PtxInstruction *call, bool *is_direct) {
    for (int i = 0; i < call->operand_count; i++)
        if (call->operands[i].kind == PTX_OPERAND_FUNCTION) {
            *is_direct = true;
            return ptx_program_function(follower->program, call->operands[i].function);
        }
    *is_direct = false;
    return -1;
}

typedef enum Motion { MOVED, ENDED, UNKNOWN } Motion;

static Motion pass_call(const Follower *follower, Strand *strand, const PtxInstruction *call) {
    bool is_direct;
    int function = function_called(follower, call, &is_direct);
    if (!is_direct || is_guarded(call)) return UNKNOWN;
    strand->pc++;
    if (function < 0) return MOVED;
    if (strand->calls == MOST_CALLS) return UNKNOWN;
    strand->returns[strand->calls++] = strand->pc;
    strand->pc = follower->program->functions[function].begin;
    return MOVED;
}

/* Moves the strand by the instruction at its pc. */
static Motion pass_instruction(const Follower *follower, Strand *strand) {
    if (strand->pc < 0 || strand->pc >= follower->program->code_count) return UNKNOWN;
    strand->is_executed = false;
    const PtxCode *code = &follower->program->code[strand->pc];
    const PtxInstruction *instruction = code->instruction;
    if (!instruction) return UNKNOWN;
    switch (instruction->opcode) {
    case PTX_bra:
        if (is_guarded(instruction)) return UNKNOWN;
        strand->pc = code->target;
        return MOVED;
    case PTX_brx:
        return UNKNOWN;
    case PTX_call:
        return pass_call(follower, strand, instruction);
    case PTX_ret:
        if (is_guarded(instruction)) break;
        if (!strand->calls) return ENDED;
        strand->pc = strand->returns[--strand->calls];
        return MOVED;
    case PTX_exit:
    case PTX_trap:
        if (!is_guarded(instruction)) return ENDED;
        break;
    default:
        break;
    }
    strand->pc++; /* a guarded exit: these are the lanes that stay */
    return MOVED;
}

/* The instruction at the strand's pc would have left an event if it had been executed. */
static bool waits_for_event(const Follower *follower, const Strand *strand) {
    if (strand->is_executed || strand->pc < 0 || strand->pc >= follower->program->code_count) return false;
    const PtxInstruction *instruction = follower->program->code[strand->pc].instruction;
    if (!instruction || is_guarded(instruction) || instruction->opcode == PTX_bra) return false;
    TraceKind kind = trace_kind_of(instruction);
    return kind != TRACE_NOT_RECORDED && kind != TRACE_APPROXIMATE;
}

/* ---- joins --------------------------------------------------------------------------------------------- */

static PathSplit *split_of(const Follower *follower, int path) {
    return &follower->paths->splits[follower->paths->paths[path].split];
}

/* The split whose join the strand has come to; -1: none. Lanes of a split without a join go on to the join of
 * the split around it. */
static int split_joined(const Follower *follower, const Strand *strand) {
    for (int path = strand->path; path != NO_PATH;) {
        const PathSplit *split = split_of(follower, path);
        bool joins =
            split->calls > strand->calls || (split->calls == strand->calls && split->join_pc == strand->pc);
        if (joins) return follower->paths->paths[path].split;
        if (split->join_pc != PTX_NO_PC) return -1;
        path = split->parent;
    }
    return -1;
}

static bool is_inside(const Follower *follower, int path, int split) {
    for (; path != NO_PATH; path = split_of(follower, path)->parent)
        if (follower->paths->paths[path].split == split) return true;
    return false;
}

static bool is_on(const Follower *follower, int path, int outer) {
    while (path != NO_PATH && path != outer) path = split_of(follower, path)->parent;
    return path == outer;
}

static const PtxSourceLine *split_line(const Follower *follower, const Path *path) {
    return &follower->program->code[follower->paths->splits[path->split].pc].line;
}

static void add_lines(PathLines *lines, PathLines more) {
    if (!more.first) return;
    if (!lines->first || more.first < lines->first) lines->first = more.first;
    if (more.last > lines->last) lines->last = more.last;
}

static void add_to_path(Path *path, int line, PathLines lines) {
    if (lines.first <= line && lines.last > line) lines.first = line + 1;
    add_lines(lines.first > line ? &path->after : &path->before, lines);
}

/* The instruction does what its source line says: the compiler did not add it, and it is no jump or return at
 * the end of a path. */
static bool is_of_its_line(const Follower *follower, int pc) {
    const PtxCode *code = &follower->program->code[pc];
    const PtxInstruction *instruction = code->instruction;
    bool only_leaves = instruction->opcode == PTX_bra || instruction->opcode == PTX_ret;
    if (!code->line.line || (only_leaves && !is_guarded(instruction))) return false;
    if (instruction->loc < 0 || !follower->program->functions) return true;
    return follower->program->functions[code->function].function->locs[instruction->loc].line != 0;
}

/* The instruction at `pc` is issued on this path. */
static void count(Follower *follower, int number, int pc) {
    follower->paths->instructions++;
    if (number == NO_PATH) return;
    Path *path = &follower->paths->paths[number];
    const PtxSourceLine *line = &follower->program->code[pc].line, *branch = split_line(follower, path);
    path->instructions++;
    if (line->file == branch->file && is_of_its_line(follower, pc))
        add_to_path(path, branch->line, (PathLines){line->line, line->line});
}

/* A strand on a path inside `split` gets out of it, or to its exit, without anything that would have been
 * recorded. */
static bool can_leave(const Follower *follower, Strand strand, int split) {
    for (int i = 0; i <= follower->program->code_count; i++) {
        for (int left; (left = split_joined(follower, &strand)) >= 0;)
            strand.path = follower->paths->splits[left].parent;
        if (!is_inside(follower, strand.path, split)) return true;
        if (waits_for_event(follower, &strand)) return false;
        Motion motion = pass_instruction(follower, &strand);
        if (motion != MOVED) return motion == ENDED;
    }
    return false;
}

static void pass_join(Follower *follower, Strand *strand, int number);

static void leave(Follower *follower, Strand *strand, int split) {
    while (strand->mask && is_inside(follower, strand->path, split)) {
        int joined = split_joined(follower, strand), path = strand->path, pc = strand->pc;
        if (joined == split) {
            strand->path = follower->paths->splits[split].parent;
        } else if (joined >= 0) {
            pass_join(follower, strand, joined);
        } else {
            if (pass_instruction(follower, strand) == ENDED) strand->mask = 0;
            count(follower, path, pc);
        }
    }
}

static uint32_t split_lanes(const Paths *paths, const PathSplit *split) {
    uint32_t lanes = 0;
    for (int i = 0; i < split->path_count; i++) lanes |= paths->paths[split->first_path + i].lanes;
    return lanes;
}

/* `strand` leaves the split, and with it all others of the split that have nothing left to do there. */
static void pass_join(Follower *follower, Strand *strand, int number) {
    PathSplit *split = &follower->paths->splits[number];
    bool is_complete = true;
    strand->path = split->parent;
    for (int i = 0; i < follower->strand_count; i++) {
        Strand *other = &follower->strands[i];
        if (!other->mask || other == strand || !is_inside(follower, other->path, number)) continue;
        if (can_leave(follower, *other, number)) {
            leave(follower, other, number);
            strand->mask |= other->mask;
            other->mask = 0;
        } else {
            is_complete = false;
        }
    }
    if (is_complete && follower->event_lanes & split_lanes(follower->paths, split))
        split->join_event = follower->event;
}

/* Past all joins at the strand's pc. */
static void pass_joins(Follower *follower, Strand *strand) {
    for (int split; (split = split_joined(follower, strand)) >= 0;) pass_join(follower, strand, split);
}

/* ---- one event ----------------------------------------------------------------------------------------- */

static void lose(Follower *follower, int path) {
    follower->paths->is_counted = false;
    if (path != NO_PATH) follower->paths->paths[path].is_counted = false;
}

/* Moves the strand to `pc`. */
static void follow(Follower *follower, Strand *strand, int pc) {
    for (int i = 0; i <= follower->program->code_count; i++) {
        pass_joins(follower, strand);
        if (strand->pc == pc) return;
        int path = strand->path, at = strand->pc;
        if (pass_instruction(follower, strand) != MOVED) break;
        count(follower, path, at);
    }
    lose(follower, strand->path);
    strand->pc = pc;
}

/* The rest of the run: up to the exit, or to what stopped the run. */
static void follow_to_end(Follower *follower, Strand *strand) {
    for (int i = 0; strand->mask && i <= follower->program->code_count; i++) {
        pass_joins(follower, strand);
        int path = strand->path, pc = strand->pc;
        if (waits_for_event(follower, strand)) break;
        Motion motion = pass_instruction(follower, strand);
        if (motion == UNKNOWN) break;
        count(follower, path, pc);
        if (motion == ENDED) strand->mask = 0;
    }
    if (strand->mask) lose(follower, strand->path);
    strand->mask = 0;
}

/* The innermost path that both are on, which are at the same pc. */
static void merge(Follower *follower, Strand *strand, Strand *other) {
    while (strand->path != NO_PATH && !is_on(follower, other->path, strand->path))
        pass_join(follower, strand, follower->paths->paths[strand->path].split);
    strand->mask |= other->mask;
    other->mask = 0;
}

/* The strand that executes the event; all its lanes are moved there. */
static Strand *strand_of(Follower *follower, const TraceEvent *event) {
    Strand *found = NULL;
    for (int i = 0; i < follower->strand_count; i++) {
        Strand *strand = &follower->strands[i];
        if (!(strand->mask & event->mask)) continue;
        if (event->kind == TRACE_BRANCH && strand->mask & ~event->mask &&
            follower->strand_count < 2 * WARP_LANES) {
            Strand rest = *strand; /* every lane of a strand reaches its branch: others have left it */
            rest.mask &= ~event->mask;
            strand->mask &= event->mask;
            follower->strands[follower->strand_count++] = rest;
        }
        follow(follower, strand, event->pc);
        if (found)
            merge(follower, found, strand);
        else
            found = strand;
    }
    return found;
}

/* Ways of a branch: the lanes that continue at each pc. */
typedef struct Ways {
    uint32_t lanes[WARP_LANES];
    int target[WARP_LANES];
    int count;
} Ways;

static void add_way(Ways *ways, int target, uint32_t lanes) {
    int way = 0;
    if (!lanes) return;
    while (way < ways->count && ways->target[way] != target) way++;
    if (way == ways->count) ways->target[ways->count] = target, ways->lanes[ways->count++] = 0;
    ways->lanes[way] |= lanes;
}

static void swap_ways(Ways *ways, int a, int b) {
    uint32_t lanes = ways->lanes[a];
    int target = ways->target[a];
    ways->lanes[a] = ways->lanes[b], ways->target[a] = ways->target[b];
    ways->lanes[b] = lanes, ways->target[b] = target;
}

/* In the order of execution: that of the next event comes first; lanes that only wait at the join, last. */
static Ways ways_of(const Follower *follower, const PtxCode *code, const TraceEvent *event,
                    const TraceEvent *next) {
    Ways ways = {.count = 0};
    add_way(&ways, event->pc + 1, event->mask & ~event->taken);
    if (code->instruction && code->instruction->opcode == PTX_brx) {
        TraceEvent *whole = memory_new(sizeof *whole);
        trace_block_read_places(follower->block, follower->event, whole);
        for (uint32_t rest = event->taken; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            add_way(&ways, (int)whole->value[0][lane], 1u << lane);
        }
        free(whole);
    } else {
        add_way(&ways, code->target, event->taken);
    }
    for (int way = 0; way + 1 < ways.count; way++)
        if (ways.target[way] == code->reconvergence) swap_ways(&ways, way, ways.count - 1);
    for (int way = 1; next && way < ways.count; way++)
        if (ways.lanes[way] & next->mask && !(ways.lanes[0] & next->mask)) swap_ways(&ways, 0, way);
    return ways;
}

static void split(Follower *follower, Strand *strand, const TraceEvent *event, const Ways *ways) {
    Paths *paths = follower->paths;
    PathSplit made = {.event = follower->event,
                      .warp = event->warp,
                      .pc = event->pc,
                      .parent = strand->path,
                      .join_pc = follower->program->code[event->pc].reconvergence,
                      .join_event = NO_EVENT,
                      .first_path = paths->path_count,
                      .path_count = ways->count,
                      .calls = strand->calls};
    paths->split_at[follower->event] = paths->split_count;
    if (made.parent != NO_PATH && paths->paths[made.parent].nested < 0)
        paths->paths[made.parent].nested = paths->split_count;
    Strand from = *strand;
    for (int way = 0; way < ways->count; way++) {
        Path path = {.split = paths->split_count,
                     .lanes = ways->lanes[way],
                     .target = ways->target[way],
                     .first_event = NO_EVENT,
                     .last_event = NO_EVENT,
                     .nested = -1,
                     .is_counted = true};
        Strand *part = way ? &follower->strands[follower->strand_count++] : strand;
        *part = from;
        part->mask = ways->lanes[way];
        part->pc = ways->target[way];
        part->path = paths->path_count;
        array_push(paths->paths, paths->path_count, follower->path_capacity, path);
    }
    array_push(paths->splits, paths->split_count, follower->split_capacity, made);
}

static void remove_ended(Follower *follower) {
    int kept = 0;
    for (int i = 0; i < follower->strand_count; i++)
        if (follower->strands[i].mask) follower->strands[kept++] = follower->strands[i];
    follower->strand_count = kept;
}

static void take_event(Follower *follower, const TraceEvent *event, const TraceEvent *next) {
    Paths *paths = follower->paths;
    const PtxCode *code = &follower->program->code[event->pc];
    Strand *strand = strand_of(follower, event);
    if (strand) strand->is_executed = true;
    paths->of_event[follower->event] = strand ? strand->path : NO_PATH;
    if (strand && strand->path != NO_PATH) {
        Path *path = &paths->paths[strand->path];
        if (path->first_event < 0) path->first_event = follower->event;
        path->last_event = follower->event;
    }
    if (strand && event->kind == TRACE_BRANCH) {
        count(follower, strand->path, event->pc);
        Ways ways = ways_of(follower, code, event, next);
        remove_ended(follower);
        for (int i = 0; i < follower->strand_count; i++)
            if (follower->strands[i].mask & event->mask) strand = &follower->strands[i];
        strand->is_executed = false;
        if (ways.count == 1)
            strand->pc = ways.target[0];
        else
            split(follower, strand, event, &ways);
    }
    remove_ended(follower);
}

/* ---- all warps ----------------------------------------------------------------------------------------- */

static void follow_warp(Follower *follower, int warp, const int *events, int event_count) {
    TraceEvent event, next;
    int threads = (int)(follower->launch->block[0] * follower->launch->block[1] * follower->launch->block[2]);
    int lanes = threads - warp * WARP_LANES;
    follower->strand_count = 1;
    follower->strands[0] =
        (Strand){.mask = lanes >= WARP_LANES ? 0xffffffffu : (1u << lanes) - 1, .path = NO_PATH};
    if (event_count) trace_block_read_header(follower->block, events[0], &next);
    for (int i = 0; i < event_count; i++) {
        event = next;
        bool has_next = i + 1 < event_count;
        if (has_next) trace_block_read_header(follower->block, events[i + 1], &next);
        follower->event = events[i];
        follower->event_lanes = event.mask;
        take_event(follower, &event, has_next ? &next : NULL);
    }
    follower->event = NO_EVENT;
    follower->event_lanes = 0;
    for (int i = 0; i < follower->strand_count; i++) follow_to_end(follower, &follower->strands[i]);
}

/* What a path has is also its outer path's; nested ones come later. */
static void add_to_outer_paths(const Follower *follower) {
    Paths *paths = follower->paths;
    for (int i = paths->path_count - 1; i >= 0; i--) {
        const Path *path = &paths->paths[i];
        int parent = paths->splits[path->split].parent;
        if (parent == NO_PATH) continue;
        Path *outer = &paths->paths[parent];
        outer->instructions += path->instructions;
        int line = split_line(follower, outer)->line;
        if (split_line(follower, path)->file == split_line(follower, outer)->file) {
            add_to_path(outer, line, path->before);
            add_to_path(outer, line, path->after);
        }
        outer->is_counted &= path->is_counted;
        if (path->first_event >= 0 && (outer->first_event < 0 || path->first_event < outer->first_event))
            outer->first_event = path->first_event;
        if (path->last_event > outer->last_event) outer->last_event = path->last_event;
    }
}

Paths *paths_build(const TraceLaunch *launch, const TraceBlock *block) {
    int event_count = trace_block_event_count(block);
    int warps = (int)(launch->block[0] * launch->block[1] * launch->block[2] + WARP_LANES - 1) / WARP_LANES;
    Follower *follower = memory_new(sizeof *follower);
    Paths *paths = memory_new(sizeof *paths);
    *follower = (Follower){.launch = launch, .program = launch->program, .block = block, .paths = paths};
    paths->is_counted = true;
    paths->of_event = memory_new(((size_t)event_count + 1) * sizeof *paths->of_event);
    paths->split_at = memory_new(((size_t)event_count + 1) * sizeof *paths->split_at);
    int *begin = memory_new(((size_t)warps + 2) * sizeof *begin);
    int *events = memory_new(((size_t)event_count + 1) * sizeof *events);
    TraceEvent event;
    for (int i = 0; i < event_count; i++) {
        trace_block_read_header(block, i, &event);
        begin[event.warp + 2]++;
        paths->of_event[i] = paths->split_at[i] = -1;
    }
    for (int warp = 0; warp < warps; warp++) begin[warp + 2] += begin[warp + 1];
    for (int i = 0; i < event_count; i++) {
        trace_block_read_header(block, i, &event);
        events[begin[event.warp + 1]++] = i;
    }
    for (int warp = 0; warp < warps; warp++)
        follow_warp(follower, warp, events + begin[warp], begin[warp + 1] - begin[warp]);
    add_to_outer_paths(follower);
    free(begin);
    free(events);
    free(follower);
    return paths;
}

void paths_free(Paths *paths) {
    if (!paths) return;
    free(paths->splits);
    free(paths->paths);
    free(paths->of_event);
    free(paths->split_at);
    free(paths);
}

uint64_t paths_issued(const Paths *paths, const PathSplit *split) {
    uint64_t sum = 0;
    for (int i = 0; i < split->path_count; i++) sum += paths->paths[split->first_path + i].instructions;
    return sum;
}
