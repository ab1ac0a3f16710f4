#include "runtime/launch_order.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { STREAMS = 32, MOST_MEMORY = 64 << 20, MOST_NOTED = 16 };

typedef struct Clock { /* what is known to have ended: so many launches of each stream */
    uint32_t of[STREAMS];
} Clock;

typedef struct WordUse { /* launches, from 1; 0: none, or not known */
    uint32_t writer, reader;
} WordUse;

typedef struct RecordedEvent {
    uint64_t event;
    Clock clock;
} RecordedEvent;

typedef struct Noted { /* of the running launch and one memory */
    int memory;
    uint32_t newest, older; /* the last writer of what it reads, and an earlier launch of the same kernel */
    uint64_t stale;         /* words of the earlier one */
    uint32_t added_to, counter_of,
        other_of;   /* launches: it adds to what they left; which another stream has not ended */
    bool reads_new; /* the host or another kernel has written what it reads */
} Noted;

struct LaunchOrder {
    Clock streams[STREAMS], host, now;
    bool is_apart[STREAMS]; /* does not wait for the default stream */
    RecordedEvent *events;
    int event_count, event_capacity;
    uint32_t *ticks; /* [launch] its number in its stream; 0: in a stream that is not followed */
    int tick_count, tick_capacity;
    WordUse **words; /* [memory] NULL: not used, or too large */
    int *host_reads; /* [memory] launches before the host read it last */
    int *host_writes;
    int memory_count, memory_capacity, read_capacity, write_capacity;
    Noted noted[MOST_NOTED];
    int noted_count;
};

LaunchOrder *launch_order_new(void) {
    return memory_new(sizeof(LaunchOrder));
}

void launch_order_free(LaunchOrder *order) {
    if (!order) return;
    for (int i = 0; i < order->memory_count; i++) free(order->words[i]);
    free(order->words), free(order->host_reads), free(order->host_writes);
    free(order->events), free(order->ticks);
    free(order);
}

/* ---- streams ------------------------------------------------------------------------------------------- */

static void join(Clock *to, const Clock *from) {
    for (int i = 0; i < STREAMS; i++)
        if (from->of[i] > to->of[i]) to->of[i] = from->of[i];
}

/* The default stream waits for all that are not apart, and they for it. */
static void meet_default(LaunchOrder *order, uint32_t stream) {
    if (!stream)
        for (int i = 1; i < STREAMS; i++)
            if (!order->is_apart[i]) join(&order->streams[0], &order->streams[i]);
    if (stream && !order->is_apart[stream]) join(&order->streams[stream], &order->streams[0]);
}

static Clock *clock_of(LaunchOrder *order, uint64_t event) {
    for (int i = 0; i < order->event_count; i++)
        if (order->events[i].event == event) return &order->events[i].clock;
    return NULL;
}

void launch_order_take(LaunchOrder *order, const MessageOrder *message, int memory, int launches) {
    uint32_t stream = message->stream < STREAMS ? message->stream : 0;
    Clock *event = clock_of(order, message->event);
    switch ((MessageOrderKind)message->kind) {
    case ORDER_STREAM:
        order->is_apart[stream] = stream != 0;
        break;
    case ORDER_HOST:
        meet_default(order, stream);
        join(&order->host, &order->streams[stream]);
        break;
    case ORDER_HOST_ALL:
        for (int i = 0; i < STREAMS; i++) join(&order->host, &order->streams[i]);
        break;
    case ORDER_RECORD:
        if (!event) {
            RecordedEvent recorded = {.event = message->event};
            array_push(order->events, order->event_count, order->event_capacity, recorded);
            event = &order->events[order->event_count - 1].clock;
        }
        meet_default(order, stream);
        *event = order->streams[stream];
        break;
    case ORDER_WAIT:
        if (event) join(&order->streams[stream], event);
        break;
    case ORDER_HOST_EVENT:
        if (event) join(&order->host, event);
        break;
    case ORDER_HOST_READ:
        if (memory >= 0 && memory < order->memory_count) order->host_reads[memory] = launches;
        break;
    }
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static WordUse *words_of(LaunchOrder *order, const Captured *capture, int memory) {
    const CapturedMemory *of = &capture->memories[memory];
    array_reserve(order->words, memory + 1, order->memory_capacity);
    array_reserve(order->host_reads, memory + 1, order->read_capacity);
    array_reserve(order->host_writes, memory + 1, order->write_capacity);
    for (; order->memory_count <= memory; order->memory_count++) {
        order->words[order->memory_count] = NULL;
        order->host_reads[order->memory_count] = order->host_writes[order->memory_count] = 0;
    }
    bool is_followed = of->kind != MEMORY_PINNED && of->bytes <= MOST_MEMORY;
    if (!order->words[memory] && is_followed)
        order->words[memory] = memory_new((size_t)(of->bytes / 4 + 2) * sizeof(WordUse));
    return order->words[memory];
}

void launch_order_host_wrote(LaunchOrder *order, const Captured *capture, int memory, uint64_t first,
                             uint64_t end) {
    WordUse *words = words_of(order, capture, memory);
    order->host_writes[memory] = capture->launch_count;
    if (words) memset(words + first, 0, (size_t)(end - first) * sizeof *words);
}

void launch_order_begin(LaunchOrder *order, int launch, uint32_t stream) {
    bool is_followed = stream < STREAMS;
    uint32_t own = is_followed ? stream : 0;
    array_reserve(order->ticks, launch + 1, order->tick_capacity);
    while (order->tick_count <= launch) order->ticks[order->tick_count++] = 0;
    join(&order->streams[own], &order->host);
    meet_default(order, own);
    order->now = order->streams[own];
    if (is_followed) order->ticks[launch] = ++order->streams[own].of[own];
    order->noted_count = 0;
}

/* Nothing makes the running launch wait for the other one. */
static bool is_unordered(const LaunchOrder *order, const Captured *capture, int launch, uint32_t other) {
    const CapturedLaunch *a = &capture->launches[other - 1], *b = &capture->launches[launch];
    uint32_t tick = order->ticks[other - 1];
    return a->stream != b->stream && a->device == b->device && tick && order->ticks[launch] &&
           order->now.of[a->stream] < tick;
}

/* The host has not waited for it. Kernels that order their accesses with the host's are trusted to do so,
 * also for those before them. */
static bool may_run(const LaunchOrder *order, const Captured *capture, uint32_t launch) {
    uint32_t tick = order->ticks[launch - 1];
    if (!tick || tick <= order->host.of[capture->launches[launch - 1].stream]) return false;
    for (int i = (int)launch - 1; i < capture->launch_count; i++)
        if (capture->launches[i].meets_host) return false;
    return true;
}

uint32_t launch_order_host_touches(const LaunchOrder *order, const Captured *capture, int memory,
                                   uint64_t word, bool is_write) {
    if (memory < 0 || memory >= order->memory_count || !order->words[memory]) return 0;
    const WordUse *use = &order->words[memory][word];
    if (use->writer && may_run(order, capture, use->writer)) return use->writer;
    return is_write && use->reader && may_run(order, capture, use->reader) ? use->reader : 0;
}

static bool is_same_kernel(const Captured *capture, uint32_t a, uint32_t b) {
    const CapturedLaunch *x = &capture->launches[a - 1], *y = &capture->launches[b - 1];
    return x->device == y->device && x->module == y->module && x->function == y->function;
}

static Noted *note_of(LaunchOrder *order, int memory) {
    for (int i = 0; i < order->noted_count; i++)
        if (order->noted[i].memory == memory) return &order->noted[i];
    if (order->noted_count == MOST_NOTED) return NULL;
    order->noted[order->noted_count] = (Noted){.memory = memory};
    return &order->noted[order->noted_count++];
}

/* It adds to a word that an earlier launch of the kernel left. */
static void note_added(Noted *noted, const Captured *capture, int launch, uint32_t writer, uint32_t before,
                       uint32_t now) {
    const uint32_t *grid = capture->launches[launch].grid;
    uint32_t blocks = grid[0] * grid[1] * grid[2];
    if (!before || before == now || !is_same_kernel(capture, writer, (uint32_t)launch + 1)) return;
    noted->added_to = writer;
    if (before % blocks == 0 && now - before == blocks) noted->counter_of = writer;
}

/* The newest launch whose words it reads, then those of earlier launches of that kernel. */
static void note_stale(Noted *noted, const Captured *capture, uint32_t writer) {
    if (writer > noted->newest) {
        if (noted->newest && is_same_kernel(capture, writer, noted->newest)) {
            noted->older = noted->newest;
            noted->stale = 0;
        } else {
            noted->older = 0;
        }
        noted->newest = writer;
    } else if (writer < noted->newest && is_same_kernel(capture, writer, noted->newest)) {
        if (writer != noted->older) noted->stale = 0;
        noted->older = writer;
        noted->stale++;
    }
}

static bool is_set(const uint64_t *bits, uint64_t i) {
    return bits && bits[i / 64] >> i % 64 & 1;
}

static void note_uses(WordUse *words, int launch, const EmulatorPage *page) {
    for (uint64_t i = 0; i < (page->bytes + 3) / 4; i++) {
        if (is_set(page->read, i)) words[i].reader = (uint32_t)launch + 1;
        if (is_set(page->written, i)) words[i].writer = (uint32_t)launch + 1;
    }
}

void launch_order_touch(LaunchOrder *order, Captured *capture, int launch, int memory, uint64_t first,
                        const EmulatorPage *page) {
    WordUse *words = words_of(order, capture, memory);
    /* The host writes managed memory unseen: what launches leave there is not known. */
    bool is_shared = capture->memories[memory].kind != MEMORY_DEVICE;
    Noted *noted = words && !is_shared ? note_of(order, memory) : NULL;
    bool is_by_word = captured_element_bytes(&capture->launches[launch], &capture->memories[memory]) >= 4;
    if (words && is_shared && is_by_word) note_uses(words + first, launch, page);
    if (!noted) return;
    for (uint64_t i = 0; i < (page->bytes + 3) / 4; i++) {
        bool reads = is_set(page->read, i), writes = is_set(page->written, i);
        WordUse *word = &words[first + i];
        if (!reads && !writes) continue;
        if (reads && !writes && word->writer) {
            note_stale(noted, capture, word->writer);
            if (is_unordered(order, capture, launch, word->writer)) noted->other_of = word->writer;
        }
        if (writes && word->reader && word->reader != word->writer &&
            is_unordered(order, capture, launch, word->reader))
            noted->other_of = word->reader;
        if (writes && word->writer && page->before && page->bytes >= i * 4 + 4) {
            uint32_t before, now;
            memcpy(&before, (const uint8_t *)page->before + i * 4, 4);
            memcpy(&now, (const uint8_t *)page->now + i * 4, 4);
            note_added(noted, capture, launch, word->writer, before, now);
        }
        if (reads) word->reader = (uint32_t)launch + 1;
        if (writes) word->writer = (uint32_t)launch + 1;
    }
}

/* ---- faults -------------------------------------------------------------------------------------------- */

static const CapturedRange *changed_of(const CapturedLaunch *launch, int memory) {
    for (int i = 0; i < launch->changed_count; i++)
        if (launch->changed[i].memory == memory) return &launch->changed[i];
    return NULL;
}

static bool has_same_parameters(const CapturedLaunch *a, const CapturedLaunch *b) {
    for (int i = 0; i < a->parameter_count; i++)
        if (memcmp(a->parameters + a->offsets[i], b->parameters + b->offsets[i], (size_t)a->sizes[i]) != 0)
            return false;
    return true;
}

/* Once for each kernel and memory. */
static void add_fault(Captured *capture, CapturedFaultKind kind, int memory, int launch, uint32_t other) {
    for (int i = 0; i < capture->fault_count; i++) {
        const CapturedFault *fault = &capture->faults[i];
        if (fault->kind == kind && fault->memory == memory &&
            capture->launches[fault->after - 1].function == capture->launches[launch].function)
            return;
    }
    CapturedFault fault = {.kind = kind, .memory = memory, .after = launch + 1, .error = (int32_t)other};
    array_push(capture->faults, capture->fault_count, capture->fault_capacity, fault);
}

/* A later, smaller launch has written the beginning alone, and the kernel that reads has run between the
 * two. */
static bool is_stale(const Captured *capture, int launch, const Noted *noted) {
    if (!noted->older || !noted->stale) return false;
    const CapturedLaunch *newer = &capture->launches[noted->newest - 1],
                         *older = &capture->launches[noted->older - 1];
    const CapturedRange *last = changed_of(newer, noted->memory), *then = changed_of(older, noted->memory);
    bool ran_between = false;
    for (uint32_t i = noted->older; i + 1 < noted->newest; i++)
        ran_between |= is_same_kernel(capture, i + 1, (uint32_t)launch + 1);
    return last && then && last->first == then->first && last->count < then->count && ran_between &&
           launch_volume(newer->grid) < launch_volume(older->grid) &&
           newer->parameter_count == older->parameter_count;
}

/* Since that launch no one has written what this one reads. */
static bool has_same_data(const LaunchOrder *order, uint32_t earlier) {
    for (int i = 0; i < order->noted_count; i++) {
        const Noted *noted = &order->noted[i];
        if (order->host_writes[noted->memory] >= (int)earlier || noted->newest >= earlier) return false;
    }
    return true;
}

static bool leaves_out(const CapturedLaunch *launch, const CapturedLaunch *earlier) {
    for (int i = 0; i < earlier->changed_count; i++)
        if (!changed_of(launch, earlier->changed[i].memory)) return true;
    return false;
}

void launch_order_end(LaunchOrder *order, Captured *capture, int launch) {
    const CapturedLaunch *own = &capture->launches[launch];
    for (int i = 0; i < order->noted_count && !own->error; i++) {
        const Noted *noted = &order->noted[i];
        int memory = noted->memory;
        if (noted->other_of) add_fault(capture, CAPTURED_UNORDERED, memory, launch, noted->other_of);
        if (is_stale(capture, launch, noted))
            add_fault(capture, CAPTURED_STALE, memory, launch, noted->older);
        if (!noted->added_to || !own->atomics) continue;
        const CapturedLaunch *earlier = &capture->launches[noted->added_to - 1];
        bool is_read = order->host_reads[memory] >= (int)noted->added_to;
        if (noted->counter_of && leaves_out(own, earlier))
            add_fault(capture, CAPTURED_COUNTER, memory, launch, noted->counter_of);
        else if (is_read && has_same_parameters(own, earlier) &&
                 !memcmp(own->grid, earlier->grid, sizeof own->grid) && has_same_data(order, noted->added_to))
            add_fault(capture, CAPTURED_NOT_CLEARED, memory, launch, noted->added_to);
    }
    order->noted_count = 0;
}
