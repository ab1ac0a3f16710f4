/* Accesses of one run at the instructions of its races (list.h). */
#include "ask/access_list.h"

#include "ask/questions.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_ACCESSES = 1 << 20, WORD = 4, NOT_MARKED = -1 };

typedef struct Marked { /* instructions of a launch */
    int16_t *index;     /* [code_count] among them; NOT_MARKED */
    int count;
    const PtxProgram *program;
} Marked;

typedef struct ListedBlock {
    AccessList *list;
    uint64_t linear;
    uint32_t interval;
    uint32_t (*times)[WARP_LANES]; /* [index * warps + warp][lane] executions; NULL: none yet */
} ListedBlock;

struct AccessList {
    Marked *marked; /* [launch_count] */
    int launch_count, launch, warps;
    uint64_t sequence;
    ListedAccess *accesses;
    int count, capacity;
    bool is_sorted;
};

static void mark(Marked *marked, int pc) {
    if (pc >= 0 && marked->index[pc] == NOT_MARKED) marked->index[pc] = (int16_t)marked->count++;
}

static AccessList *new_list(const Trace *trace) {
    AccessList *list = memory_new(sizeof *list);
    list->launch_count = trace->launch_count;
    list->marked = memory_new((size_t)trace->launch_count * sizeof *list->marked);
    for (int i = 0; i < trace->launch_count; i++) {
        Marked *marked = &list->marked[i];
        marked->program = trace->launches[i]->program;
        marked->index = memory_new((size_t)marked->program->code_count * sizeof *marked->index);
        for (int pc = 0; pc < marked->program->code_count; pc++) marked->index[pc] = NOT_MARKED;
    }
    return list;
}

AccessList *access_list_new_of(const Trace *trace, bool (*is_listed)(const PtxInstruction *in)) {
    AccessList *list = new_list(trace);
    for (int i = 0; i < trace->launch_count; i++) {
        Marked *marked = &list->marked[i];
        for (int pc = 0; pc < marked->program->code_count; pc++)
            if (is_listed(marked->program->code[pc].instruction)) mark(marked, pc);
    }
    return list;
}

AccessList *access_list_new(const Findings *hazards, const Trace *trace) {
    AccessList *list = new_list(trace);
    for (int i = 0; i < hazards->error_count; i++) {
        const Finding *finding = &hazards->items[i];
        if (!finding_is_race(finding)) continue;
        Marked *marked = &list->marked[finding->launch];
        mark(marked, finding->access.pc), mark(marked, finding->other.pc);
        for (int k = 0; k < finding->pair_count; k++)
            mark(marked, finding->pairs[k].pc), mark(marked, finding->pairs[k].other_pc);
    }
    return list;
}

void access_list_free(AccessList *list) {
    if (!list) return;
    for (int i = 0; i < list->launch_count; i++) free(list->marked[i].index);
    free(list->marked);
    free(list->accesses);
    free(list);
}

/* ---- the observer -------------------------------------------------------------------------------------- */

static void begin_launch(void *context, const Trace *trace, int launch) {
    AccessList *list = context;
    const uint32_t *block = trace->launches[launch]->block;
    list->launch = launch;
    list->warps = (int)(((uint64_t)block[0] * block[1] * block[2] + WARP_LANES - 1) / WARP_LANES);
}

static void *begin_block(void *context, uint64_t linear) {
    ListedBlock *block = memory_new(sizeof *block);
    block->list = context;
    block->linear = linear;
    return block;
}

static void end_block(void *context, bool is_stopped) {
    ListedBlock *block = context;
    (void)is_stopped;
    free(block->times);
    free(block);
}

static uint64_t place_of(const ListedBlock *block, const TraceAccess *access, uint64_t at) {
    const ListedBlock *owner = access->owner ? access->owner : block;
    if (access->space != PTX_SPACE_SHARED) return (uint64_t)(access->buffer + 1) << 48 | at;
    return UINT64_C(1) << 63 | owner->linear << 18 | at; /* shared memory has less than 2^18 bytes */
}

static uint32_t word_at(const uint8_t *bytes, uint64_t count) {
    uint32_t word = 0;
    memcpy(&word, bytes, count < WORD ? (size_t)count : WORD);
    return word;
}

static void add_lane(ListedBlock *block, const TraceAccess *access, const PtxInstruction *in, int lane,
                     uint64_t time) {
    AccessList *list = block->list;
    TraceKind kind = trace_kind_of(in);
    bool is_load = kind == TRACE_SHARED_LOAD || kind == TRACE_GLOBAL_LOAD,
         stores = kind == TRACE_SHARED_STORE || kind == TRACE_GLOBAL_STORE;
    uint64_t offset = trace_access_offset(access, lane);
    uint64_t element = in->type_count ? (uint64_t)ptx_type_bytes(in->types[0]) : WORD;
    uint64_t width = element * (in->vector > 1 ? (uint64_t)in->vector : 1);
    uint8_t bytes[32] = {0};
    if (stores) access->stored(access, lane, bytes);
    for (uint64_t at = offset; at < offset + width && list->count < MOST_ACCESSES;
         at += WORD - at % WORD) { /* of a narrow access: its own bytes */
        uint64_t left = offset + width - at;
        ListedAccess one = {.place = place_of(block, access, at),
                            .sequence = list->sequence,
                            .block = block->linear,
                            .time = time,
                            .launch = list->launch,
                            .warp = access->warp,
                            .lane = lane,
                            .pc = access->pc,
                            .interval = block->interval,
                            .before = word_at(access->memory + at, left),
                            .writes = !is_load};
        one.after = stores ? word_at(bytes + (at - offset), left) : one.before;
        array_push(list->accesses, list->count, list->capacity, one);
    }
}

static void see_access(void *context, const TraceAccess *access) {
    ListedBlock *block = context;
    AccessList *list = block->list;
    const Marked *marked = &list->marked[list->launch];
    if (access->arrives || marked->index[access->pc] == NOT_MARKED) return;
    if (!block->times)
        block->times = memory_new((size_t)(marked->count * list->warps) * sizeof *block->times);
    uint32_t *times = block->times[marked->index[access->pc] * list->warps + access->warp];
    list->sequence++;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        add_lane(block, access, marked->program->code[access->pc].instruction, lane, ++times[lane]);
    }
}

static void see_sync(void *context, const TraceSync *sync) {
    ListedBlock *block = context;
    block->interval += sync->kind == TRACE_SYNC_RELEASE && sync->is_blockwide;
}

static void ignore_copy(void *context, const TraceCopy *copy) {
    (void)context, (void)copy;
}

static void ignore_undefined(void *context, const TraceUndefined *undefined) {
    (void)context, (void)undefined;
}

TraceObserver access_list_observer(AccessList *list) {
    return (TraceObserver){.context = list,
                           .launch = begin_launch,
                           .block = begin_block,
                           .access = see_access,
                           .sync = see_sync,
                           .copy = ignore_copy,
                           .undefined = ignore_undefined,
                           .end = end_block};
}

/* ---- afterwards ---------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
    const ListedAccess *x = a, *y = b;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    if (x->sequence != y->sequence) return x->sequence < y->sequence ? -1 : 1;
    return x->lane - y->lane;
}

const ListedAccess *access_list_sorted(AccessList *list, int *count) {
    if (!list->is_sorted && list->count)
        qsort(list->accesses, (size_t)list->count, sizeof(ListedAccess), by_place);
    list->is_sorted = true;
    *count = list->count;
    return list->accesses;
}

const ListedAccess *access_list_find(const AccessList *list, int launch, const HoldPlace *at,
                                     uint64_t place) {
    for (int i = 0; i < list->count; i++) {
        const ListedAccess *access = &list->accesses[i];
        if (access->launch == launch && access->block == at->block && access->warp == at->warp &&
            access->lane == at->lane && access->pc == at->pc && access->time == at->time &&
            access->place == place)
            return access;
    }
    return NULL;
}
