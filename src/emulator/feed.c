/* Values of another producer, thread by thread (feed.h). */
#include "emulator/feed.h"

#include "ptx/approximate.h"
#include <stdlib.h>

typedef struct Thread {
    int32_t *events; /* numbers in the block */
    int count, capacity, next;
    bool is_lost;
} Thread;

struct Feed {
    const Grid *grid;
    const EmulatorFeed *from;
    const TraceBlock *recorded;
    Thread *threads;
    size_t thread_count;
    int32_t current[WARP_LANES]; /* the event of each lane of the latest step; -1: it is lost */
    TraceEvent event;            /* the one decoded last */
    int32_t decoded;
    uint64_t *global, *shared; /* a bit for each word that others, or atomics, may have changed */
    EmulatorFed *fed;
};

static void list_events(Feed *feed) {
    TraceEvent event;
    for (int i = 0; i < trace_block_event_count(feed->recorded); i++) {
        trace_block_read_header(feed->recorded, i, &event);
        for (uint32_t rest = event.mask; rest; rest &= rest - 1) {
            size_t thread = (size_t)event.warp * WARP_LANES + (size_t)__builtin_ctz(rest);
            if (thread >= feed->thread_count) continue;
            Thread *of = &feed->threads[thread];
            array_push(of->events, of->count, of->capacity, i);
        }
    }
}

Feed *feed_new(const Grid *grid, const EmulatorFeed *from, const TraceBlock *recorded, const uint64_t *others,
               uint64_t words, EmulatorFed *fed) {
    Feed *feed = memory_new(sizeof *feed);
    *feed = (Feed){.grid = grid, .from = from, .recorded = recorded, .decoded = -1, .fed = fed};
    feed->thread_count = (size_t)grid->warps_per_block * WARP_LANES;
    feed->threads = memory_new(feed->thread_count * sizeof *feed->threads);
    feed->global = memory_new((size_t)(words / 64 + 2) * sizeof *feed->global);
    memcpy(feed->global, others, (size_t)(words / 64 + 1) * sizeof *feed->global);
    feed->shared = memory_new(((size_t)grid->program->shared_bytes / 256 + 2) * sizeof *feed->shared);
    list_events(feed);
    return feed;
}

void feed_free(Feed *feed) {
    for (size_t i = 0; i < feed->thread_count; i++) free(feed->threads[i].events);
    free(feed->threads);
    free(feed->global);
    free(feed->shared);
    free(feed);
}

void feed_step(Feed *feed, const Warp *warp, int pc, uint32_t mask) {
    TraceEvent header;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        Thread *thread = &feed->threads[warp->index * WARP_LANES + lane];
        feed->current[lane] = -1;
        if (thread->is_lost) continue;
        thread->is_lost = thread->next >= thread->count;
        if (!thread->is_lost) {
            trace_block_read_header(feed->recorded, thread->events[thread->next], &header);
            thread->is_lost = header.pc != pc;
        }
        if (!thread->is_lost) feed->current[lane] = thread->events[thread->next++];
    }
}

/* The lane's event; NULL: it is lost. */
static const TraceEvent *event_of(Feed *feed, int lane) {
    if (feed->current[lane] < 0) return NULL;
    if (feed->decoded != feed->current[lane]) {
        feed->decoded = feed->current[lane];
        trace_block_read(feed->recorded, feed->decoded, &feed->event);
    }
    return &feed->event;
}

/* A pointer of the other one as ours. */
static uint64_t translate(const Feed *feed, uint64_t value) {
    const Memory *memory = feed->grid->memory;
    for (int i = 0; i < feed->from->buffer_count && i < memory->count; i++)
        if (feed->from->base[i] && value - feed->from->base[i] < memory->regions[i].bytes)
            return value - feed->from->base[i] + memory->regions[i].base;
    return value;
}

static bool any_set(const uint64_t *bits, uint64_t first, uint64_t last) {
    for (uint64_t i = first; i <= last; i++)
        if (bits[i / 64] >> (i % 64) & 1) return true;
    return false;
}

/* The words of the access, counted as `bits` counts them; NULL: nobody else writes there. */
static uint64_t *words_of(const Feed *feed, const Access *access, int lane, uint64_t *first, uint64_t *last) {
    uint64_t at = access->address[lane], width = access->memory->width, base = 0;
    if (access->space == PTX_SPACE_SHARED) {
        *first = at / 4;
        *last = (at + width - 1) / 4;
        return feed->shared;
    }
    if (access->space != PTX_SPACE_GLOBAL || access->region->read_only) return NULL;
    base = access->region->first_word;
    *first = base + (at - access->region->base) / 4;
    *last = base + (at - access->region->base + width - 1) / 4;
    return feed->global;
}

/* `is_scheduled`: also a value that is the same counts as taken. */
static void feed_lane(Feed *feed, const Access *access, const MemoryValue *values, int count, int lane,
                      bool is_scheduled) {
    const MemoryOp *memory = access->memory;
    const TraceEvent *event = event_of(feed, lane);
    int bytes = memory->element_bytes, unused = 64 - 8 * bytes;
    for (int e = 0; event && e < count && e < event->element_count; e++) {
        if (!values[e].present) continue;
        uint64_t own =
            register_read(access->warp, values[e].place, values[e].bytes, lane) << unused >> unused;
        uint64_t value = bytes == 8 ? translate(feed, event->value[e][lane]) : event->value[e][lane];
        feed->fed->scheduled += is_scheduled || value != own;
        if (value == own) continue;
        feed->fed->scheduled_other++;
        if (memory->is_signed) value = (uint64_t)((int64_t)(value << unused) >> unused);
        register_write(access->warp, values[e].place, values[e].bytes, lane, value);
    }
}

void feed_access(Feed *feed, const Access *access, const MemoryValue *values, int count) {
    const MemoryOp *memory = access->memory;
    if (memory->is_store) return;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t first = 0, last = 0, *bits = words_of(feed, access, lane, &first, &last);
        bool is_scheduled = memory->ordered || memory->is_atomic;
        if (memory->is_atomic && bits) bits_set(bits, first, last - first + 1);
        if (is_scheduled || (bits && any_set(bits, first, last)))
            feed_lane(feed, access, values, count, lane, is_scheduled);
    }
}

void feed_approximate(Feed *feed, Warp *warp, const Op *op, int bytes, uint32_t mask,
                      const uint64_t argument[WARP_LANES]) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        const TraceEvent *event = event_of(feed, lane);
        if (!event) continue;
        uint64_t own = register_read(warp, op->d, bytes, lane), value = event->value[0][lane];
        bool is_machines = ptx_reads_machine(op->instruction);
        if (!is_machines && !ptx_is_within_bound(op->instruction, argument[lane], own, value)) continue;
        *(is_machines ? &feed->fed->scheduled : &feed->fed->approximate) += 1;
        *(is_machines ? &feed->fed->scheduled_other : &feed->fed->approximate_other) += value != own;
        register_write(warp, op->d, bytes, lane, value);
    }
}
