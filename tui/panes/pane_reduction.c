/* Reduction: the sum as textbooks draw it: a row of boxes with their values, the operands from elsewhere, and
 * the resulting row; one level at a time, with as many earlier levels above as there is room for.
 *
 *   sdata        0     1     2     3     4     5     6     7
 *   before       7     4     7     6     9     2     2     1
 *                ├───────────╯           ├───────────╯
 *   after       14     ·     ·     ·    11     ·     ·     ·
 *   thread      t0                      t4
 *   inputs       4                       4
 */
#include "tui/panes/pane.h"

#include "base/language.h"
#include "tui/panes/reduction_row.h"

#include <inttypes.h>
#include <stdio.h>

enum { NARROW_HEAD = 90 };

/* All atomics of the level update the same word. */
static bool to_one_word(const ReductionLevel *level) {
    const ReductionTerm *first = NULL;
    for (int i = 0; i < level->term_count; i++) {
        const ReductionTerm *term = &level->terms[i];
        if (term->is_own || (term->place != PLACE_WORD && term->place != PLACE_GLOBAL)) continue;
        if (first && (term->symbol != first->symbol || term->index != first->index)) return false;
        first = term;
    }
    return first != NULL;
}

/* The box whose thread is the only one that adds; NULL: several add, or none. */
static const ReductionBox *only_adder(const ReductionLevel *level) {
    const ReductionBox *found = NULL;
    for (int i = 0; i < level->box_count; i++) {
        if (!level->boxes[i].adds) continue;
        if (found) return NULL;
        found = &level->boxes[i];
    }
    return found;
}

static int count_words(const ReductionLevel *level, const ReductionBox *box) {
    int words = 0;
    for (int t = 0; t < box->term_count; t++) {
        const ReductionTerm *term = &level->terms[box->first_term + t];
        words += term->place == PLACE_WORD && !term->is_own;
    }
    return words;
}

/* "t0 adds 16 words, as a tree"; "one by one"; "t0 takes the max of 16 words" */
static void print_own_sum(const ReductionLevel *level, const ReductionBox *box, char *out, size_t bytes) {
    const char *how = level->is_tree ? tr(", as a tree") : tr(", one by one");
    if (!strcmp(level->operation, "+"))
        snprintf(out, bytes, tr("t%d adds %d words%s"), box->thread, count_words(level, box), how);
    else if (!strcmp(level->operation, "from"))
        snprintf(out, bytes, tr("t%d computes a value from %d words"), box->thread, count_words(level, box));
    else
        snprintf(out, bytes, tr("t%d takes the %s of %d words%s"), box->thread, level->operation,
                 count_words(level, box), how);
}

/* Words that each thread adds to what it has and stored itself; 0: it differs, or others stored them. */
static int count_own_words(const StepContext *context, const ReductionLevel *level) {
    const Tree *tree = scene_tree(context->scene, context->view->place.block);
    int all = 0;
    for (int i = 0; i < level->box_count; i++) {
        const ReductionBox *box = &level->boxes[i];
        int words = 0;
        for (int t = 0; box->adds && t < box->term_count; t++) {
            const ReductionTerm *term = &level->terms[box->first_term + t];
            if (term->is_own) continue;
            if (term->place != PLACE_WORD || term->node == FOLD_NONE) return 0;
            if (tree_thread(tree, tree->folds->nodes[term->node].a) != term->thread) return 0;
            words++;
        }
        if (!box->adds) continue;
        if (!words || (all && words != all)) return 0;
        all = words;
    }
    return all;
}

static bool takes_no_part(const ReductionLevel *level) {
    for (int i = 0; i < level->box_count; i++)
        if (level->boxes[i].adds && !level->boxes[i].is_idle) return false;
    return true;
}

/* Where no distance is common to all boxes. */
static void print_sources(const StepContext *context, const ReductionLevel *level, char *out, size_t bytes) {
    int words = count_own_words(context, level);
    if (takes_no_part(level))
        snprintf(out, bytes, tr("values that no result uses"));
    else if (words && !strcmp(level->operation, "+"))
        snprintf(out, bytes, tr("each thread adds %d word%s of its own"), words, words == 1 ? "" : "s");
    else
        snprintf(out, bytes, tr("%s values at several distances"), level->operation);
}

/* "+ the word 2 away" */
static void print_distance(const StepContext *context, const ReductionLevel *level, char *out, size_t bytes) {
    int distance = level->distance < 0 ? -level->distance : level->distance;
    bool lanes = level->through == TRACE_SHUFFLE;
    const ReductionBox *only = level->place == PLACE_WORD && !distance ? only_adder(level) : NULL;
    const char *what = level->place == PLACE_WORD ? "word" : lanes ? "lane" : tr("thread");
    if (level->kind == TREE_INPUTS)
        snprintf(out, bytes, tr("the inputs"));
    else if (level->kind == TREE_TAKE)
        snprintf(out, bytes, tr("values handed over"));
    else if (level->through == TRACE_REDUX && !strcmp(level->operation, "+"))
        snprintf(out, bytes, tr("all lanes of a warp"));
    else if (level->through == TRACE_REDUX && !strcmp(level->operation, "from"))
        snprintf(out, bytes, tr("from all lanes of a warp"));
    else if (level->through == TRACE_REDUX)
        snprintf(out, bytes, tr("%s of all lanes of a warp"), level->operation);
    else if (level->through == TRACE_MATRIX)
        snprintf(out, bytes, tr("+ the rows of a matrix"));
    else if (level->through == TRACE_SHARED_ATOMIC || level->through == TRACE_GLOBAL_ATOMIC)
        snprintf(out, bytes, to_one_word(level) ? tr("atomics to one word") : tr("atomics, a word each"));
    else if (only && count_words(level, only) > 2)
        print_own_sum(level, only, out, bytes);
    else if (!distance)
        print_sources(context, level, out, bytes);
    else if (level->crosswise)
        snprintf(out, bytes, tr("%s the %s across %d"), level->operation, what, distance);
    else
        snprintf(out, bytes, tr("%s the %s %d away"), level->operation, what, distance);
}

static void head(const StepContext *context, PaneHead *out) {
    BoxRow row = boxes_row(context, out->columns);
    char name[32], distance[64];
    if (!row.level) {
        pane_title(out, tr("reduction"));
        return;
    }
    boxes_print_name(&row, name, sizeof name);
    bool is_narrow = out->columns < NARROW_HEAD; /* fewer words, none cut off */
    if (is_narrow)
        pane_title(out, tr("reduction  %s"), name);
    else
        pane_title(out, tr("reduction   %s[%lld..%lld] of %d"), name, (long long)row.first,
                   (long long)row.first + row.count - 1, row.level->box_count);
    print_distance(context, row.level, distance, sizeof distance);
    if (row.is_chain) {
        pane_title(out, tr("reduction   t%d, element by element"), row.level->boxes[0].thread);
        pane_note(out, tr("addition %lld of %d"), (long long)row.selected, row.level->box_count - 1);
        return;
    }
    int threads = boxes_tree(&row)->thread_count, folds = reduction_fold_count(row.reduction);
    if (boxes_show_adders(&row, out->rows))
        pane_note(out, tr("level %d of %d: %s"), row.level->number, folds, distance);
    else if (row.level->kind == TREE_FOLD)
        pane_note(out, tr("level %d of %d: %s; %d of %d %s%s"), row.level->number, folds, distance,
                  row.level->adder_count, threads, is_narrow ? "" : tr("threads "),
                  reduction_verb(row.level, false));
    else if (boxes_has_trap(&row))
        pane_note(out, tr("%s; %u of %d threads %s"), distance,
                  context->step_index->step[context->view->place.step].lanes, threads,
                  context->event.is_load ? tr("load") : tr("store"));
    else
        pane_note(out, tr("%s; %d of %d threads"), distance, row.level->adder_count, threads);
}

/* The levels before this one, a row each, if they have the same boxes. */
static void draw_history(BoxRow row, int line, int rows) {
    const ReductionLevel *shown = row.level;
    char text[32];
    for (int i = rows; i > 0; i--, line++) {
        const ReductionLevel *level = reduction_level(row.reduction, shown->level - i - 1);
        row.level = level;
        if (level->kind == TREE_FOLD)
            snprintf(text, sizeof text, "level %d", level->number);
        else
            snprintf(text, sizeof text, tr("loaded"));
        canvas_text(row.canvas, row.area, 1, line, ROLE_DIM, text);
        for (int b = 0; b < row.count; b++) {
            const ReductionBox *box = boxes_at(&row, b);
            if (!box || !box->has_after || !box->is_live)
                boxes_draw_dot(&row, row.first + b, line);
            else
                boxes_draw_value(&row, box->index, line, boxes_is_lit(&row, box->node) ? ROLE_LIT : ROLE_DIM,
                                 level->type, box->after);
        }
    }
}

/* A value in the window that is used after the level. */
static bool has_live_box(const BoxRow *row, const ReductionLevel *level) {
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = reduction_find(level, row->first + i);
        if (box && box->has_after && box->is_live) return true;
    }
    return false;
}

static int count_history(const BoxRow *row, int room) {
    int count = 0;
    while (count < room) {
        const ReductionLevel *level = reduction_level(row->reduction, row->level->level - count - 2);
        if (!level || level->place != row->level->place || level->symbol != row->level->symbol) break;
        if (!has_live_box(row, level)) break;
        count++;
    }
    return count;
}

/* If room is scarce, the order of importance: the operands, the faults, which threads add, then the rest.
 * Returns the rows used. `own_rows`: those among them that a row of boxes below lacks, the strip and earlier
 * levels; NULL: such a row, without what is true of the whole level. */
static int draw_levels(BoxRow *row, int *own_rows) {
    bool is_first = own_rows != NULL;
    BoxFaults faults;
    boxes_find_faults(row, &faults);
    bool has_before = row->is_chain || (row->level->kind != TREE_INPUTS && boxes_show_before(row));
    int line = 0, room = row->area.rows - 1 - row->tall * (1 + has_before);
    bool trap = boxes_has_trap(row);
    bool sums_floats = boxes_sum_floats(row), has_adders = is_first && boxes_show_adders(row, row->area.rows);
    int strip = has_adders ? boxes_strip_rows(row) : 0;
    BoxWays ways = boxes_plan_ways(row, room - trap - (faults.count > 0) - strip);
    if (strip && ways.shown < ways.partners && !ways.brackets) { /* the operands come first */
        strip = 0;
        ways = boxes_plan_ways(row, room - trap - (faults.count > 0));
    }
    room -= ways.rows + trap + faults.count;
    /* Where there is no room for both, a wide line says more than the strip does. */
    if (strip + sums_floats + (row->area.columns >= NARROW_HEAD) > room) strip = 0;
    room -= strip;
    int adders = has_adders && room > (strip ? sums_floats : 0);
    int rounding = sums_floats && room > adders;
    int error = rounding && room > adders + rounding;
    int threads = row->level->place == PLACE_WORD && room > adders + rounding + error;
    room -= adders + rounding + error + threads;
    int kept = boxes_kept_rows(row, room);
    room -= kept;
    int inputs = room > 0 && boxes_count_inputs(row);
    room -= inputs;
    int history = row->is_chain || row->tall > 1 || !is_first ? 0 : count_history(row, room);
    if (own_rows) *own_rows = history + strip;
    if (strip) boxes_draw_strip(row, line, !adders);
    line += strip;
    boxes_draw_indexes(row, line++);
    if (history > 0) draw_history(*row, line, history), line += history;
    if (has_before) boxes_draw_before(row, line), line += row->tall;
    boxes_draw_ways(row, &ways, line);
    line += ways.rows;
    boxes_draw_after(row, line);
    line += row->tall;
    boxes_draw_kept(row, line, kept);
    line += kept;
    if (trap) boxes_draw_trap(row, line++);
    if (rounding) boxes_draw_rounding(row, line++);
    if (threads) boxes_draw_threads(row, line++);
    if (inputs) boxes_draw_inputs(row, line++);
    if (adders) boxes_draw_adders(row, line++);
    if (error) boxes_draw_error(row, line++);
    for (int i = 0; i < faults.count; i++)
        canvas_text(row->canvas, row->area, 1, line++, ROLE_WARNING, faults.line[i]);
    return line;
}

/* A value in the window lives before or after the level. */
static bool is_alive(const BoxRow *row) {
    for (int i = 0; i < row->count; i++) {
        const ReductionBox *box = boxes_at(row, i);
        if ((box->has_before && box->was_live) || (box->has_after && box->is_live)) return true;
    }
    return false;
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    enum { LEAST_TALL_ROWS = 4 * CANVAS_BIG_ROWS };
    BoxRow row = boxes_row(context, area.columns);
    if (!row.level) return;
    row.canvas = canvas;
    row.area = area;
    if (area.rows < LEAST_TALL_ROWS) row.tall = 1;
    int own, used = draw_levels(&row, &own);
    /* Below a whole row of boxes, the next ones with values, as long as each has room for its values and
     * operands. */
    enum { GAP = 1 };
    int rows = row.area.rows, width = row.count, count = row.level->box_count;
    int top_row = row.area.row;
    if (row.is_chain || boxes_has_trap(&row)) return;
    for (int top = used + GAP; top + (used - own) <= rows && row.first + width < count;) {
        row.first += width;
        if (row.first + row.count > count) row.count = (int)(count - row.first);
        if (!is_alive(&row)) continue;
        row.area.row = top_row + top;
        row.area.rows = rows - top;
        draw_levels(&row, NULL);
        top += (used - own) + GAP;
    }
}

const Pane pane_reduction = {.slot = SLOT_REDUCTION, .tells_here = HIDES_VALUES, .head = head, .draw = draw};
