/* The access that ended the block's run, with the element of each thread. */
#include "tui/panes/reduction_row.h"

#include "base/language.h"
#include <inttypes.h>
#include <stdio.h>

static const Trap *trap_of(const BoxRow *row) {
    return row->context->step_index->trap;
}

static bool is_of_arrays(TraceKind kind) {
    return step_context_is_shared(kind) || kind == TRACE_GLOBAL_LOAD || kind == TRACE_GLOBAL_STORE ||
           kind == TRACE_GLOBAL_ATOMIC;
}

bool boxes_has_trap(const BoxRow *row) {
    const Steps *steps = row->context->steps;
    const Trap *trap = trap_of(row);
    int step = row->context->view->place.step;
    return trap && trap->warp >= 0 && trap->lanes && step + 1 == steps->step_count &&
           steps->steps[step].pc == trap->pc && is_of_arrays(row->context->event.kind) &&
           row->level->place == PLACE_THREAD && !row->is_chain;
}

/* The array that the other threads access with this instruction. */
static int array_of(const TraceEvent *event) {
    return event->buffer[event->mask ? __builtin_ctz(event->mask) : 0];
}

/* The element that a trapped lane accessed; -1: unknown. */
static int64_t trapped_element(const BoxRow *row, int lane) {
    const TraceEvent *event = &row->context->event;
    uint64_t offset;
    if (event->element_bytes <= 0 || !step_context_trap_offset(row->context, trap_of(row), lane, &offset))
        return -1;
    return (int64_t)(offset / (uint64_t)event->element_bytes);
}

static void print_array(const BoxRow *row, char *out, size_t bytes) {
    const TraceEvent *event = &row->context->event;
    if (step_context_is_shared(event->kind))
        step_context_print_symbol(row->context, array_of(event), out, bytes);
    else
        scene_short_name(row->context->scene->traced.trace->buffers[array_of(event)].name, out, bytes);
}

/* What the thread's event of this step says; false: no event. */
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

bool boxes_is_stopped(const BoxRow *row, int thread) {
    int64_t element;
    return boxes_has_trap(row) && !find_element(row, thread, &element);
}

void boxes_draw_trap(const BoxRow *row, int line) {
    const Trap *trap = trap_of(row);
    char text[96], name[64];
    print_array(row, name, sizeof name);
    snprintf(text, sizeof text, row->context->event.is_load ? tr("from %s") : tr("into %s"), name);
    Rectangle label = {row->area.column + 1, row->area.row, LABEL_COLUMNS - 2, row->area.rows};
    canvas_text(row->canvas, label, 0, line, ROLE_DIM, text);
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

/* Elements of that array; 0: unknown. */
static int64_t count_elements(const BoxRow *row) {
    const TraceEvent *event = &row->context->event;
    if (event->element_bytes <= 0) return 0;
    uint64_t bytes = step_context_is_shared(event->kind)
                         ? row->context->launch->symbols[array_of(event)].bytes
                         : row->context->scene->traced.trace->buffers[array_of(event)].bytes;
    return (int64_t)bytes / event->element_bytes;
}

/* "T t128 stores to sums[128], sums has 128 elements: out_of_bounds (32 lanes)" */
void boxes_explain_trap(const BoxRow *row, char *out, size_t bytes) {
    const Trap *trap = trap_of(row);
    int lane = __builtin_ctz(trap->lanes), count = __builtin_popcount(trap->lanes);
    int64_t element = trapped_element(row, lane), elements = count_elements(row);
    char name[64], place[32] = "", size[128] = "", others[32] = "";
    print_array(row, name, sizeof name);
    if (element >= 0) snprintf(place, sizeof place, "[%" PRId64 "]", element);
    if (elements > 0) snprintf(size, sizeof size, tr(", %s has %lld elements"), name, (long long)elements);
    if (count > 1) snprintf(others, sizeof others, tr(" (%d lanes)"), count);
    snprintf(out, bytes,
             row->context->event.is_load ? tr("T t%d loads from %s%s%s: %s%s")
                                         : tr("T t%d stores to %s%s%s: %s%s"),
             trap->warp * WARP_LANES + lane, name, place, size, trap_kind_text(trap->kind), others);
}
