/* The access at which the block's run ended: which element each thread of the window was to load or store there. */
#include "tui/panes/reduction_row.h"

#include <inttypes.h>
#include <stdio.h>

static const Trap *trap_of(const BoxRow *row) {
    return row->context->step_index->trap;
}

bool boxes_has_trap(const BoxRow *row) {
    const Steps *steps = row->context->steps;
    const Trap *trap = trap_of(row);
    int step = row->context->view->place.step;
    return trap && trap->warp >= 0 && trap->lanes && step + 1 == steps->step_count &&
           steps->steps[step].pc == trap->pc && trace_kind_is_access(row->context->event.kind) &&
           row->level->place == PLACE_THREAD && !row->is_chain;
}

/* The array of shared memory that ends last before the address: the one that the thread ran out of. */
static int symbol_before(const BoxRow *row, uint64_t address) {
    const TraceLaunch *launch = row->context->launch;
    int found = -1;
    for (int i = 0; i < launch->symbol_count; i++) {
        const TraceSymbol *symbol = &launch->symbols[i];
        if (symbol->space != PTX_SPACE_SHARED || symbol->window_offset > address) continue;
        if (found < 0 || symbol->window_offset >= launch->symbols[found].window_offset) found = i;
    }
    return found;
}

/* The element that a trapped lane was to reach; -1: not known, as in global memory. */
static int64_t trapped_element(const BoxRow *row, int lane) {
    const TraceEvent *event = &row->context->event;
    uint64_t address = trap_of(row)->address[lane];
    int symbol = step_context_is_shared(event->kind) ? symbol_before(row, address) : -1;
    if (symbol < 0 || event->element_bytes <= 0) return -1;
    return (int64_t)(address - row->context->launch->symbols[symbol].window_offset) / event->element_bytes;
}

static void print_array(const BoxRow *row, char *out, size_t bytes) {
    const TraceEvent *event = &row->context->event;
    int lane = event->mask ? __builtin_ctz(event->mask) : 0;
    if (step_context_is_shared(event->kind))
        step_context_print_symbol(row->context, event->buffer[lane], out, bytes);
    else
        scene_short_name(row->context->scene->traced.trace->buffers[event->buffer[lane]].name, out, bytes);
}

/* What the thread's event of this step says; false: it has none. */
static bool find_element(const BoxRow *row, int thread, int64_t *element) {
    TraceEvent event;
    int lane = thread % WARP_LANES;
    int number = step_index_warp_event(row->context->step_index, row->context->view->place.step,
                                       thread / WARP_LANES, lane);
    if (number < 0) return false;
    trace_block_read(row->context->steps->block, number, &event);
    if (!(event.mask >> lane & 1) || event.element_bytes <= 0) return false;
    *element = (int64_t)(event.offset[lane] / (uint64_t)event.element_bytes);
    return true;
}

void boxes_draw_trap(const BoxRow *row, int line) {
    const Trap *trap = trap_of(row);
    char text[96], name[64];
    print_array(row, name, sizeof name);
    snprintf(text, sizeof text, "%s %s", row->context->event.is_load ? "from" : "into", name);
    canvas_print(row->canvas, row->area, 1, line, ROLE_DIM, "%.*s", LABEL_COLUMNS - 2, text);
    for (int i = 0; i < row->count; i++) {
        int thread = (int)row->first + i, lane = thread % WARP_LANES;
        bool is_trapped = thread / WARP_LANES == trap->warp && trap->lanes >> lane & 1;
        int64_t element = is_trapped ? trapped_element(row, lane) : -1;
        if (!is_trapped && !find_element(row, thread, &element)) continue;
        snprintf(text, sizeof text, "%" PRId64, element);
        if (element < 0) snprintf(text, sizeof text, "%s", "");
        boxes_draw_right(row, thread, line, is_trapped ? ROLE_WARNING : ROLE_ARROW, text);
        if (is_trapped)
            canvas_glyph(row->canvas, row->area, boxes_column(row, thread) + (element >= 0), line,
                         ROLE_WARNING, MARK_TRAP);
    }
}

/* "T t128 stores to sums[128], sums has 128 elements: out_of_bounds (32 lanes)" */
void boxes_explain_trap(const BoxRow *row, char *out, size_t bytes) {
    const Trap *trap = trap_of(row);
    int lane = __builtin_ctz(trap->lanes), count = __builtin_popcount(trap->lanes);
    int64_t element = trapped_element(row, lane);
    char name[64], place[192], others[32] = "";
    print_array(row, name, sizeof name);
    snprintf(place, sizeof place, "%s", name);
    if (count > 1) snprintf(others, sizeof others, " (%d lanes)", count);
    if (element >= 0) {
        const TraceSymbol *symbol = &row->context->launch->symbols[symbol_before(row, trap->address[lane])];
        snprintf(place, sizeof place, "%s[%" PRId64 "], %s has %" PRId64 " elements", name, element, name,
                 (int64_t)symbol->bytes / row->context->event.element_bytes);
    }
    snprintf(out, bytes, "T t%d %s %s: %s%s", trap->warp * WARP_LANES + lane,
             row->context->event.is_load ? "loads from" : "stores to", place, trap_kind_text(trap->kind),
             others);
}
