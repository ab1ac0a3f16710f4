/* From what a watch has seen, and the traps of a trace, to findings that say what they mean (hazards.h). */
#include "metrics/hazards.h"

#include "metrics/hazards_slow.h"
#include "metrics/metrics.h"
#include "metrics/races/race_detector.h"
#include <inttypes.h>
#include <stdlib.h>

const char *hazard_kind_text(HazardKind kind) {
    static const char *const texts[] = {
#define HAZARD(id, text, class, title) text,
#include "metrics/hazards.def"
#undef HAZARD
    };
    return texts[kind];
}

const char *hazard_kind_title(HazardKind kind) {
    static const char *const titles[] = {
#define HAZARD(id, text, class, title) title,
#include "metrics/hazards.def"
#undef HAZARD
    };
    return titles[kind];
}

const char *hazard_space_text(PtxSpace space) {
    return space == PTX_SPACE_SHARED   ? "shared"
           : space == PTX_SPACE_GLOBAL ? "global"
           : space == PTX_SPACE_LOCAL  ? "local"
                                       : NULL;
}

static const bool is_slow_kind[] = {
#define WRONG                          false
#define SLOW                           true
#define HAZARD(id, text, class, title) class,
#include "metrics/hazards.def"
#undef HAZARD
#undef WRONG
#undef SLOW
};

typedef struct HazardBuilder { /* of a list */
    const RaceDetector *detector;
    const Trace *trace;
    Hazards *list;
    int capacity;
} HazardBuilder;

Hazard *hazards_add(Hazards *list, int *capacity, HazardKind kind, int launch) {
    Hazard hazard = {.kind = kind,
                     .is_slow = is_slow_kind[kind],
                     .kind_text = hazard_kind_text(kind),
                     .launch = launch,
                     .access = {.pc = PTX_NO_PC, .lane = -1, .buffer = -1, .event = -1},
                     .other = {.pc = PTX_NO_PC, .lane = -1, .buffer = -1, .event = -1}};
    array_push(list->items, list->count, *capacity, hazard);
    return &list->items[list->count - 1];
}

void hazard_put_line(const TraceLaunch *launch, HazardAccess *access) {
    if (access->pc < 0) return;
    PtxSourceLine line = metrics_line_of(launch->program, access->pc);
    access->file = line.file;
    access->line = line.line;
}

/* ---- places ----------------------------------------------------------------------------------------- */

/* Shared offsets of a watch are those of the window of the blocks that it saw. */
static void place_symbol(const SharedWindow *window, const TraceLaunch *launch, HazardAccess *access) {
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
    return in->type_count ? ptx_type_bytes(in->types[0]) : 1;
}

/* "sums[3]"; by bytes where the access is not made of elements. */
static const char *name_place(const HazardBuilder *making, const TraceLaunch *launch, PtxSpace space,
                              const HazardAccess *access) {
    if (access->buffer < 0) return space == PTX_SPACE_GLOBAL ? "global memory" : "shared memory";
    const char *name = space == PTX_SPACE_GLOBAL ? making->trace->buffers[access->buffer].name
                                                 : launch->symbols[access->buffer].name;
    uint64_t bytes = (uint64_t)element_bytes(launch, access->pc);
    return arena_print(&making->list->arena, "%s[%" PRIu64 "]", name, access->offset / bytes);
}

/* ---- sentences -------------------------------------------------------------------------------------- */

static const char *does(const HazardAccess *access) {
    return access->is_atomic ? "updates (atomically)" : access->is_store ? "stores" : "loads";
}

static void say_who(const HazardAccess *access, bool block, Text *out) {
    if (block) text_print(out, "block %" PRIu64 ", ", access->linear_block);
    text_print(out, "warp %d lane %d", access->warp, access->lane);
}

static void say_value(const TraceLaunch *launch, const HazardAccess *access, Text *out) {
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

/* "line 26, warp 0 lane 3, stores sums[3] (7)" */
static void say_side(const TraceLaunch *launch, const HazardAccess *access, bool block, const char *what,
                     Text *out) {
    text_print(out, "line %d, ", access->line);
    say_who(access, block, out);
    text_print(out, ", %s %s", does(access), what);
    say_value(launch, access, out);
}

static void say_race(const RacePair *finding, const TraceLaunch *launch, Hazard *hazard, Text *out) {
    bool blocks = !finding->is_same_block, both_write = hazard->access.is_store && hazard->other.is_store;
    say_side(launch, &hazard->other, blocks, hazard->what, out);
    text_add(out, ", and ");
    if (hazard->access.line == hazard->other.line && hazard->access.pc == hazard->other.pc) {
        say_who(&hazard->access, blocks, out);
        text_print(out, ", %s", does(&hazard->access));
        text_add(out, " it");
        say_value(launch, &hazard->access, out);
    } else {
        say_side(launch, &hazard->access, blocks, "it", out);
    }
    const char *open = both_write ? "which value stays is open" : "what is loaded is open";
    if (finding->is_narrow)
        text_print(out, ": the scope of one of them is the block (.cta), so %s", open);
    else if (blocks)
        text_print(out,
                   ": blocks run in any order, and no fence with an atomic or flag orders the two, so %s",
                   open);
    else if (finding->is_same_warp && finding->is_volatile)
        text_print(out,
                   ": volatile keeps each lane's accesses in order, but not the lanes together, and no "
                   "__syncwarp() is between, so %s",
                   open);
    else if (finding->is_same_warp)
        text_print(out,
                   ": no __syncwarp() is between, and since Volta lanes need not walk in lockstep (shuffles "
                   "and votes order no memory), so %s",
                   open);
    else
        text_print(out, ": no barrier is between, and warps run in any order, so %s", open);
    if (finding->is_atomic) text_add(out, "; an atomic does not order the access that is none");
}

static const char *advice_for_race(const RacePair *finding) {
    if (finding->kind == HAZARD_STORE_CONFLICT)
        return "let one lane store, or give each lane an element of its own; to combine the values, use an "
               "atomic or a reduction";
    if (finding->is_narrow) return "use atomics of the device's scope (atomicAdd, not atomicAdd_block)";
    if (!finding->is_same_block)
        return "let blocks write different elements; use an atomic; or publish with __threadfence() and an "
               "atomic flag, and fence again after reading it; or use a second launch";
    if (finding->is_atomic) return "make both accesses atomic, or put a barrier between them";
    return finding->is_same_warp ? "put __syncwarp() between the two, also between loading and storing again"
                                 : "put __syncthreads() between the two, where all threads of the block pass";
}

static void say_store_conflict(const TraceLaunch *launch, const Hazard *hazard, Text *out) {
    text_print(out, "line %d: lanes %d", hazard->access.line, hazard->other.lane);
    say_value(launch, &hazard->other, out);
    text_print(out, " and %d", hazard->access.lane);
    say_value(launch, &hazard->access, out);
    text_print(out,
               " of warp %d store different values to %s in one instruction: one of them stays, and which is "
               "open",
               hazard->access.warp, hazard->what);
}

static void say_undefined(const Hazard *hazard, Text *out) {
    text_print(out,
               "line %d: lanes 0x%08" PRIx32
               " of warp %d take a value from a lane that does not execute this shuffle: it is undefined",
               hazard->access.line, hazard->access.lanes, hazard->access.warp);
}

static const char *finish_sentence(Hazards *list, Text *text) {
    text_add(text, ".");
    const char *sentence = arena_copy_text(&list->arena, text_string(text), text->length);
    text_done(text);
    return sentence;
}

/* What unrolled code does several times in two lines is told once. */
static bool is_told(HazardBuilder *making, const RacePair *finding, const TraceLaunch *launch) {
    HazardAccess access = finding->access, other = finding->other;
    hazard_put_line(launch, &access);
    hazard_put_line(launch, &other);
    for (int i = 0; i < making->list->count; i++) {
        Hazard *told = &making->list->items[i];
        bool same = told->kind == finding->kind && told->launch == finding->launch &&
                    told->access.line == access.line && told->other.line == other.line &&
                    told->access.is_store == access.is_store && told->other.is_store == other.is_store;
        if (!same) continue;
        told->count += finding->count;
        if (told->blocks < finding->blocks) told->blocks = finding->blocks;
        return true;
    }
    return false;
}

static void add_finding(HazardBuilder *making, const RacePair *finding) {
    const TraceLaunch *launch = making->trace->launches[finding->launch];
    if (is_told(making, finding, launch)) return;
    Hazard *hazard = hazards_add(making->list, &making->capacity, finding->kind, finding->launch);
    Text text = {0};
    hazard->space = finding->space;
    hazard->access = finding->access;
    hazard->other = finding->other;
    hazard->count = finding->count;
    hazard->blocks = finding->blocks;
    hazard_put_line(launch, &hazard->access);
    hazard_put_line(launch, &hazard->other);
    if (finding->kind == HAZARD_UNDEFINED_SHUFFLE) {
        say_undefined(hazard, &text);
        hazard->advice = "let all lanes that are read from take part: shuffle before the branch, and give "
                         "lanes without an element the identity";
    } else {
        if (finding->space == PTX_SPACE_SHARED) {
            const SharedWindow *window = &making->detector->windows[finding->launch];
            place_symbol(window, launch, &hazard->access);
            place_symbol(window, launch, &hazard->other);
        }
        hazard->what = name_place(making, launch, finding->space, &hazard->access);
        hazard->advice = advice_for_race(finding);
        if (finding->kind == HAZARD_STORE_CONFLICT)
            say_store_conflict(launch, hazard, &text);
        else
            say_race(finding, launch, hazard, &text);
    }
    hazard->sentence = finish_sentence(making->list, &text);
}

/* ---- traps ------------------------------------------------------------------------------------------ */

static const char *advice_for_trap(TrapKind kind) {
    switch (kind) {
    case TRAP_OUT_OF_BOUNDS:
        return "compare the index with the number of elements before the access (if (i < n)), and the array "
               "with the block's size";
    case TRAP_INDEX_OVERFLOW:
        return "compute the index in 64 bits (size_t i = (size_t)row * columns + column), or test it before "
               "it "
               "falls below 0";
    case TRAP_MISALIGNED:
        return "let vector accesses begin at a multiple of their size";
    case TRAP_DIVERGENT_BARRIER:
        return "take the barrier out of the branch, so that every thread of the block comes to it";
    case TRAP_DEADLOCK:
        return "let whoever is waited for come: the same barriers on every path, blocks that fit the device "
               "at once, locks taken by one lane at a time";
    case TRAP_MISSING_LANES:
        return "name in the mask the lanes that execute the instruction (__ballot_sync before the branch "
               "gives it), or take the instruction out of the branch";
    case TRAP_UNINITIALIZED:
        return "let every thread store its element, the identity where it has none, before a barrier and the "
               "first load";
    case TRAP_INSTRUCTION_BUDGET:
        return "look for a loop that does not end; --max-instructions raises the limit";
    default:
        return NULL;
    }
}

static void add_trap(HazardBuilder *making, const Trap *trap) {
    Hazards *list = making->list;
    const TraceLaunch *launch = making->trace->launches[trap->launch];
    for (int i = 0; i < list->count; i++) { /* the first stands for all of one instruction */
        Hazard *same = &list->items[i];
        if (same->kind != HAZARD_FAULT || same->launch != trap->launch || same->access.pc != trap->pc ||
            strcmp(same->kind_text, trap_kind_text(trap->kind)) != 0)
            continue;
        same->count++;
        same->blocks++;
        return;
    }
    Hazard *hazard = hazards_add(list, &making->capacity, HAZARD_FAULT, trap->launch);
    HazardAccess *access = &hazard->access;
    hazard->kind_text = trap_kind_text(trap->kind);
    hazard->count = hazard->blocks = 1;
    access->pc = trap->pc;
    memcpy(access->block, trap->block, sizeof access->block);
    access->linear_block =
        ((uint64_t)trap->block[2] * launch->grid[1] + trap->block[1]) * launch->grid[0] + trap->block[0];
    access->warp = trap->warp;
    access->lanes = trap->lanes;
    access->lane = trap->lanes ? __builtin_ctz(trap->lanes) : -1;
    access->is_store = trap->pc >= 0 && launch->program->code[trap->pc].instruction->opcode == PTX_st;
    hazard_put_line(launch, access);
    hazard->advice = advice_for_trap(trap->kind);
    Text text = {0};
    if (access->line) text_print(&text, "line %d, ", access->line);
    text_print(&text, "block %" PRIu64, access->linear_block);
    if (trap->lanes) text_print(&text, ", warp %d, lanes 0x%08" PRIx32, trap->warp, trap->lanes);
    text_print(&text, ": %s", trap->detail ? trap->detail : hazard->kind_text);
    hazard->sentence = finish_sentence(list, &text);
}

/* ---- wrong results ---------------------------------------------------------------------------------- */

/* Where to look: at elements that were loaded twice, else at what stored last. */
static void add_result(HazardBuilder *making, const HazardResult *result) {
    const RaceDetector *detector = making->detector;
    int launch = making->trace->launch_count - 1;
    const Reread *reread = &detector->reread;
    if (reread->words) launch = detector->reread_launch;
    Hazard *hazard = hazards_add(making->list, &making->capacity, HAZARD_WRONG_RESULT, launch);
    Text text = {0};
    hazard->count = hazard->blocks = 1;
    text_print(&text, "the result is %s, and %s is right", result->result, result->expected);
    const TraceLaunch *launched = making->trace->launches[launch];
    if (reread->words) {
        hazard->space = PTX_SPACE_GLOBAL;
        hazard->access = reread->access;
        hazard->other = reread->other;
        hazard_put_line(launched, &hazard->access);
        hazard_put_line(launched, &hazard->other);
        hazard->what = name_place(making, launched, PTX_SPACE_GLOBAL, &hazard->access);
        text_print(&text,
                   "; line %d loads %s in block %" PRIu64 " and again in block %" PRIu64 ", and so %" PRIu64
                   " pieces more: elements may count twice",
                   hazard->access.line, hazard->what, hazard->other.linear_block, hazard->access.linear_block,
                   reread->words - 1);
        hazard->advice = "make the index and the grid go together: each element belongs to one thread";
    } else if (detector->last_store_pc >= 0) {
        hazard->launch = detector->last_store_launch;
        launched = making->trace->launches[hazard->launch];
        hazard->access.pc = detector->last_store_pc;
        hazard_put_line(launched, &hazard->access);
        text_print(&text, "; line %d wrote it", hazard->access.line);
        hazard->advice = "look at who writes the result, with which value: press V for registers, r for who "
                         "folded what";
    }
    hazard->sentence = finish_sentence(making->list, &text);
}

/* ---- events ----------------------------------------------------------------------------------------- */

static bool is_event_of(const TraceEvent *event, const HazardAccess *access) {
    if (event->pc != access->pc || event->warp != access->warp) return false;
    if (access->lane >= 0 && !(event->mask >> access->lane & 1)) return false;
    if (access->buffer < 0) return true;
    uint64_t first = event->offset[access->lane];
    return event->buffer[access->lane] == access->buffer && access->offset >= first &&
           access->offset < first + (uint64_t)event->width;
}

/* The last such event before `before` (-1: the first of all) in the access's block, in its interval. */
static int find_event(const TraceLaunch *launch, const HazardAccess *access, int before) {
    const TraceBlock *block = trace_launch_find_block(launch, (uint32_t)access->linear_block);
    int found = -1, count = block && access->pc >= 0 ? trace_block_event_count(block) : 0;
    TraceEvent event;
    for (int i = 0; i < count && (before < 0 ? found < 0 : i < before); i++) {
        trace_block_read_header(block, i, &event);
        if (event.pc != access->pc || event.warp != access->warp || event.interval != access->interval)
            continue;
        trace_block_read(block, i, &event);
        if (is_event_of(&event, access)) found = i;
    }
    return found;
}

static void find_events(const Trace *trace, Hazard *hazard) {
    const TraceLaunch *launch = trace->launches[hazard->launch];
    hazard->access.event = find_event(launch, &hazard->access, -1);
    bool same = hazard->access.linear_block == hazard->other.linear_block && hazard->access.event >= 0;
    hazard->other.event = find_event(launch, &hazard->other, same ? hazard->access.event + 1 : -1);
}

/* ---- the list --------------------------------------------------------------------------------------- */

static int compare_hazards(const void *a, const void *b) {
    const Hazard *x = a, *y = b;
    if (x->is_slow != y->is_slow) return x->is_slow - y->is_slow;
    if (x->is_slow) {
        uint64_t p = x->cost - x->ideal, q = y->cost - y->ideal;
        if (p != q) return p < q ? 1 : -1;
    }
    if (x->launch != y->launch) return x->launch - y->launch;
    if (x->access.line != y->access.line) return x->access.line - y->access.line;
    if (x->access.pc != y->access.pc) return x->access.pc - y->access.pc;
    if (x->other.pc != y->other.pc) return x->other.pc - y->other.pc;
    return (int)x->kind - (int)y->kind;
}

Hazards *hazards_new(RaceDetector *detector, const Trace *trace, const HazardResult *result) {
    HazardBuilder making = {.detector = detector, .trace = trace, .list = memory_new(sizeof(Hazards))};
    Hazards *list = making.list;
    race_detector_finish(detector);
    list->is_complete = detector->is_complete;
    for (int i = 0; i < detector->finding_count; i++) add_finding(&making, &detector->findings[i]);
    for (int i = 0; i < trace->trap_count; i++) {
        add_trap(&making, &trace->traps[i]);
        list->is_complete &= trace->traps[i].kind == TRAP_UNINITIALIZED;
    }
    if (result && result->is_wrong && result->result) add_result(&making, result);
    hazards_add_slow(list, &making.capacity, trace);
    for (int i = 0; i < list->count; i++) {
        if (!list->items[i].is_slow) find_events(trace, &list->items[i]);
        list->wrong_count += !list->items[i].is_slow;
    }
    if (list->count) qsort(list->items, (size_t)list->count, sizeof *list->items, compare_hazards);
    return list;
}

void hazards_free(Hazards *hazards) {
    if (!hazards) return;
    free(hazards->items);
    arena_done(&hazards->arena);
    free(hazards);
}
