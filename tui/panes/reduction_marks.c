/* Marks of errors in a level: one after the sum, and its meaning below the boxes. */
#include "tui/panes/reduction_row.h"

#include "base/language.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

bool boxes_is_racing(const BoxRow *row, const ReductionTerm *term) {
    return term->writer >= 0 && term->step <= row->context->view->place.step &&
           step_context_is_of_hazard(row->context, row->context->steps->steps[term->step].pc);
}

static const ReductionTerm *racing_term(const BoxRow *row, const ReductionBox *box) {
    for (int t = 0; box->adds && t < box->term_count; t++) {
        const ReductionTerm *term = &row->level->terms[box->first_term + t];
        if (boxes_is_racing(row, term)) return term;
    }
    return NULL;
}

char boxes_mark(const BoxRow *row, const ReductionBox *box) {
    if (!box->adds) return MARK_NONE;
    if (box->unwritten >= 0) return MARK_UNWRITTEN;
    if (box->node == FOLD_NONE) return MARK_NONE;
    const Tree *tree = boxes_tree(row);
    if (row->path && box->node <= row->path->root && row->path->doubles[box->node]) return MARK_TWICE;
    if (!tree->reaches[box->node] && boxes_node(row, box->node)->is_plain &&
        (box->is_live || tree->holds_lost[box->node]))
        return MARK_LOST;
    if (racing_term(row, box)) return MARK_RACE;
    return reduction_is_stuck(row->reduction, box->node) ? MARK_STUCK : MARK_NONE;
}

/* The first sum of the window that has the mark and is complete, preferably the selected one; NULL: none. */
static const ReductionBox *marked_box(const BoxRow *row, char mark) {
    const ReductionBox *selected =
        boxes_in_window(row, row->selected) ? reduction_find(row->level, row->selected) : NULL;
    if (selected && boxes_is_done(row, selected) && boxes_mark(row, selected) == mark) return selected;
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        if (boxes_is_done(row, box) && boxes_mark(row, box) == mark) return box;
    }
    return NULL;
}

/* The result is wrong, and other blocks also add inputs of this one. */
static bool counts_elsewhere(const BoxRow *row) {
    SceneVerdict verdict = row->context->scene->outcome.verdict;
    return boxes_tree(row)->shared_count && (verdict == SCENE_WRONG || verdict == SCENE_WRONG_ON_PURPOSE);
}

bool boxes_marks_step(const BoxRow *row) {
    int step = row->context->view->place.step;
    bool all = counts_elsewhere(row);
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        if (!box->adds || !boxes_is_done(row, box) || (!all && boxes_mark(row, box) == MARK_NONE)) continue;
        if (box->step == step) return true;
        for (int t = 0; t < box->term_count; t++)
            if (row->level->terms[box->first_term + t].step == step) return true;
    }
    return false;
}

static void add_fault(BoxFaults *faults, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_fault(BoxFaults *faults, const char *format, ...) {
    va_list list;
    if (faults->count == MOST_FAULTS) return;
    va_start(list, format);
    vsnprintf(faults->line[faults->count], sizeof *faults->line, format, list);
    va_end(list);
    faults->count++;
}

static void explain_race(const BoxRow *row, const ReductionBox *box, BoxFaults *out) {
    const ReductionTerm *term = racing_term(row, box);
    add_fault(out,
              term->is_early ? tr("X t%d reads word %lld before t%d writes it, and no barrier orders them")
                             : tr("X t%d reads word %lld after t%d writes it, and no barrier orders them"),
              term->thread, (long long)term->index, term->writer);
}

static void explain_stuck(const BoxRow *row, const ReductionBox *box, BoxFaults *out) {
    const FoldNode *at = boxes_node(row, box->node);
    char operand[64], sum[64];
    int less = at->bits == boxes_node(row, at->a)->bits ? at->b : at->a;
    step_context_print_typed(row->context, reduction_type(row->reduction, less, row->level->type),
                             boxes_node(row, less)->bits, operand, sizeof operand);
    step_context_print_typed(row->context, row->level->type, box->after, sum, sizeof sum);
    add_fault(out, tr("= t%d adds %s, but the sum stays %s: rounding to %s takes all of it"), box->thread,
              operand, sum, ptx_type_text(row->level->type));
}

/* ---- the access that ended the run --------------------------------------------------------------------- */

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
static void boxes_explain_trap(const BoxRow *row, char *out, size_t bytes) {
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

void boxes_find_faults(const BoxRow *row, BoxFaults *out) {
    const ReductionBox *box;
    out->count = 0;
    if (boxes_has_trap(row)) {
        boxes_explain_trap(row, out->line[0], sizeof out->line[0]);
        out->count++;
    }
    if ((box = marked_box(row, MARK_UNWRITTEN)))
        add_fault(out, tr("U t%d reads word %lld, which no thread has written: its value is undefined"),
                  box->thread, (long long)box->unwritten);
    if ((box = marked_box(row, MARK_RACE))) explain_race(row, box, out);
    if ((box = marked_box(row, MARK_STUCK))) explain_stuck(row, box, out);
    /* What happens to inputs: twice in a result, in two results, in none. */
    const Tree *tree = boxes_tree(row);
    bool is_last = row->level->level + 1 == reduction_level_count(row->reduction);
    if (marked_box(row, MARK_TWICE))
        add_fault(out, tr("! an input is in this sum more than once"));
    else if (is_last && row->path && row->path->twice && boxes_node(row, row->path->root)->is_plain)
        add_fault(out, tr("! %d of %d inputs are in the result more than once"), row->path->twice,
                  tree->input_count);
    if (counts_elsewhere(row))
        add_fault(out, tr("! %d of %d inputs are also in another block's result"), tree->shared_count,
                  tree->input_count);
    if (marked_box(row, MARK_LOST) || (is_last && tree->lost_count))
        add_fault(out, tr("? %d of %d inputs reach no result"), tree->lost_count, tree->input_count);
}
