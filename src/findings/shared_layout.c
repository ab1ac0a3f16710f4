/* Finds a better layout of a shared array: counts every traced access to the array again, at its offset in
 * that layout (shared_layout.h). */
#include "findings/shared_layout.h"

#include "metrics/metrics.h"
#include "trace/access.h"
#include "trace/tile.h"
#include <string.h>

enum { MOST_EVENTS = 20000, MOST_ROWS = 6 };

uint64_t layout_offset(const SharedLayout *layout, uint64_t offset) {
    if (!layout->swizzles) return offset + offset / layout->row * layout->pad;
    uint64_t ways = LINE_BYTES / layout->pad;
    return offset ^ (offset / layout->row % ways * layout->pad);
}

uint64_t layout_bytes(const SharedLayout *layout, uint64_t bytes) {
    if (!bytes) return 0;
    if (layout->swizzles) return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    return bytes + (bytes - 1) / layout->row * layout->pad;
}

typedef struct Cost { /* wavefronts of the traced accesses */
    uint64_t of_line, of_all;
} Cost;

typedef struct Conflict { /* the bank conflicts of a line, and their array */
    const Trace *trace;
    const Finding *finding;
    int symbol;
} Conflict;

bool finding_is_on_line(const Finding *finding, const TraceLaunch *launch, int pc) {
    const char *file = finding->access.file;
    PtxSourceLine at = metrics_line_of(launch->program, pc);
    return at.line == finding->access.line &&
           (at.file == file || (at.file && file && !strcmp(at.file, file)));
}

static bool is_shared_access(const TraceEvent *event) {
    return event->kind == TRACE_SHARED_LOAD || event->kind == TRACE_SHARED_STORE ||
           event->kind == TRACE_SHARED_ATOMIC;
}

static int wavefronts_of(const TraceLaunch *launch, const TraceEvent *event, int symbol,
                         const SharedLayout *layout) {
    uint64_t offsets[WARP_LANES] = {0};
    if (trace_event_peer(event) >= 0) return 0;
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t offset = event->offset[lane];
        if (layout && event->buffer[lane] == symbol) offset = layout_offset(layout, offset);
        offsets[lane] = launch->symbols[event->buffer[lane]].window_offset + offset;
    }
    return trace_shared_cost(launch->program, event, offsets, NULL).wavefronts;
}

/* `layout` NULL: the present layout. */
static Cost cost_of(const Conflict *conflict, const SharedLayout *layout) {
    const TraceLaunch *launch = conflict->trace->launches[conflict->finding->launch];
    Cost cost = {0};
    TraceEvent event;
    int seen = 0;
    for (int b = 0; b < launch->block_count; b++)
        for (int i = 0; i < trace_block_event_count(launch->blocks[b]) && seen < MOST_EVENTS; i++) {
            trace_block_read_header(launch->blocks[b], i, &event);
            if (!is_shared_access(&event)) continue;
            trace_block_read(launch->blocks[b], i, &event);
            if (event.buffer[__builtin_ctz(event.mask)] != conflict->symbol) continue;
            uint64_t wavefronts = (uint64_t)wavefronts_of(launch, &event, conflict->symbol, layout);
            cost.of_all += wavefronts;
            if (finding_is_on_line(conflict->finding, launch, event.pc)) cost.of_line += wavefronts;
            seen++;
        }
    return cost;
}

bool layout_find(const Trace *trace, const Finding *finding, uint64_t width, LayoutKind kind,
                 SharedLayout *best, double *rest) {
    Conflict conflict = {trace, finding, finding->access.buffer};
    uint64_t unit = width < BANK_BYTES ? BANK_BYTES : width;
    Cost now = cost_of(&conflict, NULL), after = now;
    for (int i = 0; i < 2 * MOST_ROWS && now.of_line; i++) { /* padding first: it is preferred */
        SharedLayout layout = {(uint64_t)LINE_BYTES << i % MOST_ROWS, unit, i >= MOST_ROWS};
        if (kind == LAYOUT_COPIED) layout = (SharedLayout){LINE_BYTES, TILE_CHUNK, true};
        if ((kind == LAYOUT_PADS && layout.swizzles) || (kind == LAYOUT_SWIZZLES && !layout.swizzles))
            continue;
        Cost cost = cost_of(&conflict, &layout);
        if (cost.of_line >= now.of_line || cost.of_all > now.of_all || cost.of_all >= after.of_all) continue;
        *best = layout;
        after = cost;
    }
    if (after.of_line < now.of_line) *rest = (double)after.of_line / (double)now.of_line;
    return after.of_line < now.of_line;
}

bool layout_is_of_tiles(const Trace *trace, const Finding *finding, bool *can_swizzle) {
    const TraceLaunch *launch = trace->launches[finding->launch];
    TraceEvent event;
    TraceTile tile;
    for (int b = 0; b < launch->block_count; b++)
        for (int i = 0; i < trace_block_event_count(launch->blocks[b]) && i < MOST_EVENTS; i++) {
            trace_block_read_header(launch->blocks[b], i, &event);
            if (event.kind != TRACE_SHARED_BULK_WRITE) continue;
            trace_block_read(launch->blocks[b], i, &event);
            int lane = __builtin_ctz(event.mask);
            if (event.buffer[lane] != finding->access.buffer || !trace_tile_read(&event, lane, &tile))
                continue;
            if (can_swizzle) *can_swizzle = tile.count[0] * tile.element_bytes == LINE_BYTES && !tile.swizzle;
            return true;
        }
    return false;
}
