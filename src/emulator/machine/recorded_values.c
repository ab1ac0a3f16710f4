/* Values that another producer recorded, thread by thread (recorded_values.h). */
#include "emulator/machine/recorded_values.h"

#include "ptx/approximate.h"
#include <stdlib.h>

typedef struct RecordedThread {
    int32_t *events; /* numbers in the block */
    int count, capacity, next;
    bool is_lost;
} RecordedThread;

struct RecordedValues {
    const Grid *grid;
    const EmulatorRecording *from;
    const TraceBlock *recorded;
    RecordedThread *threads;
    size_t thread_count;
    int32_t current[WARP_LANES]; /* the event of each lane in the latest step; -1: the lane is lost */
    TraceEvent event;            /* the last decoded event */
    int32_t decoded;
    uint64_t *global, *shared; /* one bit per word that others, or atomics, may have changed */
    EmulatorTakenValues *taken;
};

static void list_events(RecordedValues *recorded_values) {
    TraceEvent event;
    for (int i = 0; i < trace_block_event_count(recorded_values->recorded); i++) {
        trace_block_read_header(recorded_values->recorded, i, &event);
        for (uint32_t rest = event.mask; rest; rest &= rest - 1) {
            size_t thread = (size_t)event.warp * WARP_LANES + (size_t)__builtin_ctz(rest);
            if (thread >= recorded_values->thread_count) continue;
            RecordedThread *of = &recorded_values->threads[thread];
            array_push(of->events, of->count, of->capacity, i);
        }
    }
}

RecordedValues *recorded_values_new(const Grid *grid, const EmulatorRecording *from,
                                    const TraceBlock *recorded, const uint64_t *others, uint64_t words,
                                    EmulatorTakenValues *taken) {
    RecordedValues *recorded_values = memory_new(sizeof *recorded_values);
    *recorded_values =
        (RecordedValues){.grid = grid, .from = from, .recorded = recorded, .decoded = -1, .taken = taken};
    recorded_values->thread_count = (size_t)grid->warps_per_block * WARP_LANES;
    recorded_values->threads = memory_new(recorded_values->thread_count * sizeof *recorded_values->threads);
    recorded_values->global = memory_new((size_t)(words / 64 + 2) * sizeof *recorded_values->global);
    memcpy(recorded_values->global, others, (size_t)(words / 64 + 1) * sizeof *recorded_values->global);
    recorded_values->shared =
        memory_new(((size_t)grid->program->shared_bytes / 256 + 2) * sizeof *recorded_values->shared);
    /* Blocks of the cluster also write to this block's shared memory. */
    if (grid->cluster_blocks > 1)
        memset(recorded_values->shared, 0xff,
               ((size_t)grid->program->shared_bytes / 256 + 2) * sizeof *recorded_values->shared);
    list_events(recorded_values);
    return recorded_values;
}

void recorded_values_free(RecordedValues *recorded_values) {
    for (size_t i = 0; i < recorded_values->thread_count; i++) free(recorded_values->threads[i].events);
    free(recorded_values->threads);
    free(recorded_values->global);
    free(recorded_values->shared);
    free(recorded_values);
}

void recorded_values_step(RecordedValues *recorded_values, const Warp *warp, int pc, uint32_t mask) {
    TraceEvent header;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        RecordedThread *thread = &recorded_values->threads[warp->index * WARP_LANES + lane];
        recorded_values->current[lane] = -1;
        if (thread->is_lost) continue;
        thread->is_lost = thread->next >= thread->count;
        if (!thread->is_lost) {
            trace_block_read_header(recorded_values->recorded, thread->events[thread->next], &header);
            thread->is_lost = header.pc != pc;
        }
        if (!thread->is_lost) recorded_values->current[lane] = thread->events[thread->next++];
    }
}

/* The lane's event; NULL: it is lost. */
static const TraceEvent *event_of(RecordedValues *recorded_values, int lane) {
    if (recorded_values->current[lane] < 0) return NULL;
    if (recorded_values->decoded != recorded_values->current[lane]) {
        recorded_values->decoded = recorded_values->current[lane];
        trace_block_read(recorded_values->recorded, recorded_values->decoded, &recorded_values->event);
    }
    return &recorded_values->event;
}

/* Translates a pointer of the other producer into ours. */
static uint64_t translate(const RecordedValues *recorded_values, uint64_t value) {
    const Memory *memory = recorded_values->grid->memory;
    for (int i = 0; i < recorded_values->from->buffer_count && i < memory->count; i++)
        if (recorded_values->from->base[i] &&
            value - recorded_values->from->base[i] < memory->regions[i].bytes)
            return value - recorded_values->from->base[i] + memory->regions[i].base;
    return value;
}

static bool any_set(const uint64_t *bits, uint64_t first, uint64_t last) {
    for (uint64_t i = first; i <= last; i++)
        if (bits[i / 64] >> (i % 64) & 1) return true;
    return false;
}

/* The words of the access, numbered as in `bits`; NULL: no other thread writes there. */
static uint64_t *words_of(const RecordedValues *recorded_values, const Access *access, int lane,
                          uint64_t *first, uint64_t *last) {
    uint64_t at = access->address[lane], width = access->memory->width, base = 0;
    if (access->space == PTX_SPACE_SHARED) { /* of another block: the same words, all of them */
        *first = at / 4;
        *last = (at + width - 1) / 4;
        return recorded_values->shared;
    }
    if (access->space != PTX_SPACE_GLOBAL || access->region->read_only) return NULL;
    base = access->region->first_word;
    *first = base + (at - access->region->base) / 4;
    *last = base + (at - access->region->base + width - 1) / 4;
    return recorded_values->global;
}

/* `is_scheduled`: counts an equal value as taken too. */
static void recorded_values_lane(RecordedValues *recorded_values, const Access *access,
                                 const MemoryValue *values, int count, int lane, bool is_scheduled) {
    const MemoryOp *memory = access->memory;
    const TraceEvent *event = event_of(recorded_values, lane);
    int bytes = memory->element_bytes, unused = 64 - 8 * bytes;
    for (int e = 0; event && e < count && e < event->element_count; e++) {
        if (!values[e].present) continue;
        uint64_t own =
            register_read(access->warp, values[e].place, values[e].bytes, lane) << unused >> unused;
        uint64_t value =
            bytes == 8 ? translate(recorded_values, event->value[e][lane]) : event->value[e][lane];
        recorded_values->taken->scheduled += is_scheduled || value != own;
        if (value == own) continue;
        recorded_values->taken->scheduled_other++;
        if (memory->is_signed) value = (uint64_t)((int64_t)(value << unused) >> unused);
        register_write(access->warp, values[e].place, values[e].bytes, lane, value);
    }
}

void recorded_values_access(RecordedValues *recorded_values, const Access *access, const MemoryValue *values,
                            int count) {
    const MemoryOp *memory = access->memory;
    if (memory->is_store) return;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t first = 0, last = 0, *bits = words_of(recorded_values, access, lane, &first, &last);
        bool is_scheduled = memory->ordered || memory->is_atomic;
        if (memory->is_atomic && bits) bits_set(bits, first, last - first + 1);
        if (is_scheduled || (bits && any_set(bits, first, last)))
            recorded_values_lane(recorded_values, access, values, count, lane, is_scheduled);
    }
}

void recorded_values_shuffle(RecordedValues *recorded_values, Warp *warp, Operand place, bool present,
                             uint32_t lanes, uint64_t values[WARP_LANES]) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const TraceEvent *event = event_of(recorded_values, lane);
        if (!event) continue;
        recorded_values->taken->scheduled++;
        recorded_values->taken->scheduled_other += values[lane] != event->value[0][lane];
        values[lane] = event->value[0][lane];
        if (present) register_write(warp, place, 4, lane, values[lane]);
    }
}

bool recorded_values_find(RecordedValues *recorded_values, int lane, int element, uint64_t *value) {
    const TraceEvent *event = event_of(recorded_values, lane);
    if (event && element < event->element_count) *value = event->value[element][lane];
    return event && element < event->element_count;
}

void recorded_values_count_product(RecordedValues *recorded_values, bool is_other) {
    recorded_values->taken->products++;
    recorded_values->taken->products_other += is_other;
}

void recorded_values_approximate(RecordedValues *recorded_values, Warp *warp, const Op *op, int bytes,
                                 uint32_t mask, const uint64_t argument[WARP_LANES]) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const TraceEvent *event = event_of(recorded_values, lane);
        if (!event) continue;
        uint64_t own = register_read(warp, op->d, bytes, lane), value = event->value[0][lane];
        bool is_machines = ptx_reads_machine(op->instruction);
        if (!is_machines && !ptx_is_within_bound(op->instruction, argument[lane], own, value)) continue;
        *(is_machines ? &recorded_values->taken->scheduled : &recorded_values->taken->approximate) += 1;
        *(is_machines ? &recorded_values->taken->scheduled_other
                      : &recorded_values->taken->approximate_other) += value != own;
        register_write(warp, op->d, bytes, lane, value);
    }
}
