/* Timeline: every step of the run. The height is the share of the block's threads that are active; 'X' marks
 * an access of a hazard, '!' a bank conflict, 'd' a divergent branch, '|' a barrier, '^' the current step; a
 * letter is the path that the selected warp is on while it is split. If there are more steps than columns, a
 * column shows the mean of their heights and any of their marks. If cycles were measured between the barriers
 * of this block, the width of an interval is its share of them. */

#include "base/language.h"
#include "tui/panes/pane.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BAR_LEVELS = 8, MOST_BAR_ROWS = 3, MOST_STEP_COLUMNS = 4, MOST_LOOKED_AT = 4 };

/* ---- which steps a column shows ------------------------------------------------------------------------ */

enum { MOST_INTERVALS = 256 };

typedef struct Scale {
    const Steps *steps;
    int columns;
    int count;     /* of steps on all columns: those of the longer run while two are compared */
    bool is_timed; /* the width of an interval is its share of the cycles; else all steps are equally wide */
    int end[MOST_INTERVALS]; /* the column after each interval */
} Scale;

/* The cycles measured for an interval of the shown block; NULL: not measured. */
static const IntervalTime *find_time(const StepContext *context, int interval) {
    const SceneTimings *timings = context->scene->borrowed.timings;
    const Measurements *measured = context->scene->borrowed.measured; /* from a file, else live */
    if (timings && (!measured || !measured->interval_count)) measured = timings->timed;
    const SessionBlock *view = &context->scene->traced.blocks[context->view->place.block];
    for (int i = 0; measured && i < measured->interval_count; i++) {
        const IntervalTime *time = &measured->intervals[i];
        if (time->launch == view->launch && time->block == trace_block_linear(view->block) &&
            time->interval == (uint32_t)interval)
            return time;
    }
    return NULL;
}

/* Cycles of all intervals; 0: some were not measured, or the intervals differ. */
static double sum_cycles(const StepContext *context) {
    double sum = 0;
    int count = context->steps->interval_step_count;
    if (count > MOST_INTERVALS || find_time(context, count)) return 0;
    for (int i = 0; i < count; i++) {
        const IntervalTime *time = find_time(context, i);
        if (!time || !(time->cycles >= 0)) return 0;
        sum += time->cycles;
    }
    return sum;
}

/* Every interval has at least one column. */
static Scale scale_of(const StepContext *context, int columns) {
    Scale scale = {.steps = context->steps, .columns = columns, .count = context->steps->step_count};
    int common = context->view->display.timeline_steps;
    if (common > scale.count) scale.count = common;
    int count = context->steps->interval_step_count, before = 0;
    double all = sum_cycles(context), sum = 0;
    scale.is_timed = all > 0 && columns >= count && !common;
    for (int i = 0; scale.is_timed && i < count; i++) {
        sum += find_time(context, i)->cycles;
        int end = (int)(sum / all * columns + 0.5), last = columns - (count - 1 - i);
        if (end < before + 1) end = before + 1;
        if (end > last) end = last;
        before = scale.end[i] = end;
    }
    return scale;
}

/* `count` steps on `columns` columns: a column shows the steps [first, *end). */
static int divide(int count, int columns, int column, int *end) {
    assert(columns > 0);
    *end = (int)((int64_t)(column + 1) * count / columns);
    int first = (int)((int64_t)column * count / columns);
    if (*end == first) *end = first + 1; /* a wide step */
    return first;
}

/* The steps of a column: [first, *end). If there are few steps, each takes several columns of equal width. */
static int first_step(const Scale *scale, int column, int *end) {
    int count = scale->steps->step_count, columns = scale->columns, interval = 0;
    if (scale->is_timed) {
        while (interval + 1 < scale->steps->interval_step_count && column >= scale->end[interval]) interval++;
        int from = interval ? scale->end[interval - 1] : 0, begin = scale->steps->interval_begin[interval];
        int first = divide(scale->steps->interval_begin[interval + 1] - begin, scale->end[interval] - from,
                           column - from, end);
        *end += begin;
        return begin + first;
    }
    if (scale->count <= columns) {
        int each = columns / scale->count;
        if (each > MOST_STEP_COLUMNS) each = MOST_STEP_COLUMNS;
        int step = column / each;
        *end = step < count ? step + 1 : 0;
        return step < count ? step : 0;
    }
    int first = divide(scale->count, columns, column, end);
    if (*end > count) *end = first < count ? count : 0;
    return first < count ? first : 0;
}

/* The machine that the widths come from, and the overhead of reading its clock. */
static void print_machine(const StepContext *context, char *out, size_t bytes) {
    const IntervalTime *time = find_time(context, 0);
    int length = snprintf(out, bytes, tr("in cycles: %s"), time->machine);
    if (isfinite(time->overhead) && length > 0 && (size_t)length < bytes)
        snprintf(out + length, bytes - (size_t)length, tr(", clock adds %.0f%%"), time->overhead * 100);
}

static Reduction *reduction_of(const StepContext *context) {
    Reduction *reduction = scene_reduction(context->scene, context->view->place.block);
    return reduction && reduction_fold_count(reduction) ? reduction : NULL;
}

static bool has_splits(const StepContext *context) {
    return scene_paths(context->scene, context->view->place.block)->split_count;
}

/* The rows of the pane: the names of levels above the bars and the marks, the paths and the signs below. */
typedef struct TimelineRows {
    bool names, paths, signs;
    int bars;
} TimelineRows;

static TimelineRows rows_of(const StepContext *context, int rows) {
    TimelineRows out = {.names = rows >= 3 && reduction_of(context)};
    rows -= out.names;
    out.paths = rows >= 3 && has_splits(context);
    out.bars = canvas_clamp(rows - 1 - out.paths, 1, MOST_BAR_ROWS);
    out.signs = out.bars + 1 + out.paths < rows;
    return out;
}

/* Where no row has the signs: those of this block's marks, as far as the title has room. */
static void add_signs(const StepContext *context, PaneHead *out) {
    const StepIndex *step_index = context->step_index;
    const Findings *hazards = context->scene->borrowed.hazards;
    int steps = context->steps->step_count;
    if (context->view->transient.hides) return; /* "conflict" tells the answer */
    const struct {
        bool has;
        const char *text;
    } signs[] = {{hazards && hazards->error_count, tr("   X hazard")},
                 {step_index->conflict_from[0] < steps, tr("   ! conflict")},
                 {step_index->divergence_from[0] < steps, tr("   d split")}};
    enum { APART = 7 };
    int room = out->columns - canvas_text_columns(out->note) - canvas_text_columns(out->title) - APART;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        int columns = canvas_text_columns(signs[i].text);
        if (!signs[i].has || columns > room) continue;
        pane_add_title(out, "%s", signs[i].text);
        room -= columns;
    }
}

static void head(const StepContext *context, PaneHead *out) {
    char speed[VIEW_SPEED_BYTES];
    const char *label =
        context->view->selection.traced ? metric_row_label(context->view->selection.traced - 1) : "";
    view_print_speed(context->view->display.speed, speed);
    if (context->view->transient.playing)
        pane_title(out, tr("timeline  playing %s"), speed);
    else if (*label)
        pane_title(out, tr("timeline  marks: %s"), label);
    else if (sum_cycles(context) > 0)
        print_machine(context, out->title, sizeof out->title);
    else
        pane_title(out, tr("timeline"));
    /* "beat 7 of 33   level 2 of 8   step 9 of 59" */
    const Beats *beats = scene_beats(context->scene, context->view->place.block);
    Reduction *reduction = reduction_of(context);
    int step = context->view->place.step;
    char group[64];
    if (reduction)
        snprintf(group, sizeof group, tr("level %d of %d"), reduction_number_at(reduction, step),
                 reduction_fold_count(reduction));
    else
        snprintf(group, sizeof group, tr("interval %d of %d"), context->step->interval_step + 1,
                 context->steps->interval_step_count);
    pane_note(out, tr("beat %d of %d   %s   step %d of %d"), beats->count ? beats->of_step[step] + 1 : 0,
              beats->count, group, step + 1, context->steps->step_count);
    if (!rows_of(context, out->rows).signs) add_signs(context, out);
}

static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    Scale scale = scale_of(context, area.columns);
    int end = 0, first = first_step(&scale, column, &end);
    (void)row;
    if (first >= end) return VIEW_IGNORED;
    view_jump_to_step(view, context->scene, first);
    return VIEW_CHANGED;
}

static void draw_bar(Canvas *canvas, Rectangle area, int column, int bar_rows, double share, Role role) {
    int eighths = (int)(share * bar_rows * BAR_LEVELS + 0.5);
    if (share > 0 && eighths == 0) eighths = 1;
    canvas_column(canvas, area, column, bar_rows - 1, role, eighths);
}

/* The summary of the steps of one column. */
typedef struct TimelineColumn {
    double share; /* of the block's threads that are active */
    bool has_hazard, conflicts, diverges, barrier, here;
    bool counted; /* the traced metric has a count here */
    char mark;    /* 0: no mark */
} TimelineColumn;

static char mark_of(const View *view, int step) {
    for (int i = 0; i < MARK_COUNT; i++)
        if (view->selection.marks[i].number == step + 1 &&
            view->selection.marks[i].block == view->place.block)
            return (char)('a' + i);
    return 0;
}

static bool is_counted(const StepContext *context, int first, int end) {
    if (!context->view->selection.traced) return false;
    for (int step = first; step < end; step++)
        if (metric_row_counts(context->view->selection.traced - 1, &context->step_index->step[step]))
            return true;
    return false;
}

/* ---- steps of hazards ---------------------------------------------------------------------------------- */

/* The step of the access, if it is of the shown block. */
static void mark_access(const StepContext *context, const FindingAccess *access, bool *of_hazard) {
    const Steps *steps = context->steps;
    if (access->event >= 0 && access->linear_block == trace_block_linear(steps->block))
        of_hazard[steps->step_of_event[access->event]] = true;
}

/* [step_count] owned; NULL: no known hazard. */
static bool *steps_of_hazards(const StepContext *context) {
    const Findings *hazards = context->scene->borrowed.hazards;
    int launch = context->scene->traced.blocks[context->view->place.block].launch;
    if (!hazards || !hazards->error_count) return NULL;
    bool *of_hazard = memory_new((size_t)context->steps->step_count * sizeof *of_hazard);
    for (int i = 0; i < hazards->error_count; i++) {
        const Finding *hazard = &hazards->items[i];
        if (hazard->launch != launch) continue;
        mark_access(context, &hazard->access, of_hazard);
        mark_access(context, &hazard->other, of_hazard);
    }
    /* A finding names one of its executions; the reduction knows each load of a word that is written
     * concurrently. */
    Reduction *reduction = reduction_of(context);
    for (int index = 0; reduction && index < reduction_level_count(reduction); index++) {
        const ReductionLevel *level = reduction_level(reduction, index);
        for (int t = 0; level && t < level->term_count; t++) {
            const ReductionTerm *term = &level->terms[t];
            if (term->writer >= 0 && step_context_is_of_hazard(context, context->steps->steps[term->step].pc))
                of_hazard[term->step] = true;
        }
    }
    return of_hazard;
}

static bool is_any(const bool *of_hazard, int first, int end) {
    for (int step = first; of_hazard && step < end; step++)
        if (of_hazard[step]) return true;
    return false;
}

static TimelineColumn column_of(const StepContext *context, const bool *of_hazard, int first, int end,
                                bool begins) {
    const StepIndex *step_index = context->step_index;
    const Step *steps = context->steps->steps;
    TimelineColumn column = {.has_hazard = is_any(of_hazard, first, end),
                             .conflicts = step_index->conflict_from[first] < end,
                             .diverges = step_index->divergence_from[first] < end,
                             .here = first <= context->view->place.step && context->view->place.step < end,
                             .counted = is_counted(context, first, end)};
    int before = first > 0 ? first - 1 : 0;
    column.barrier = begins && steps[end - 1].interval_step != steps[before].interval_step;
    for (int i = 0; i < MARK_COUNT; i++)
        if (context->view->selection.marks[i].number > first &&
            context->view->selection.marks[i].number <= end)
            column.mark = mark_of(context->view, context->view->selection.marks[i].number - 1);
    double threads = step_index->thread_count ? step_index->thread_count : 1;
    column.share =
        (double)(step_index->lanes_before[end] - step_index->lanes_before[first]) / ((end - first) * threads);
    return column;
}

static Role role_of_bar(const View *view, const TimelineColumn *column) {
    if (column->here) return ROLE_CURRENT;
    return view->selection.traced && !column->counted ? ROLE_IDLE : ROLE_BAR;
}

static void draw_mark(Canvas *canvas, Rectangle area, int at, int row, const TimelineColumn *column) {
    if (column->here)
        canvas_glyph(canvas, area, at, row, ROLE_LIT, '^');
    else if (column->mark)
        canvas_glyph(canvas, area, at, row, ROLE_KEY, (uint32_t)column->mark);
    else if (column->counted)
        canvas_glyph(canvas, area, at, row, ROLE_ARROW, 0x25B2);
    else if (column->has_hazard)
        canvas_glyph(canvas, area, at, row, ROLE_WARNING, 'X');
    else if (column->conflicts)
        canvas_glyph(canvas, area, at, row, ROLE_CONFLICT, '!');
    else if (column->diverges)
        canvas_glyph(canvas, area, at, row, ROLE_WARNING, 'd');
    else if (column->barrier)
        canvas_glyph(canvas, area, at, row, ROLE_DIM, '|');
}

/* The first column in which a step is drawn. */
static int column_of_step(const Scale *scale, int step) {
    for (int at = 0; at < scale->columns; at++) {
        int end, first = first_step(scale, at, &end);
        if (first <= step && step < end) return at;
    }
    return scale->columns;
}

/* ---- paths --------------------------------------------------------------------------------------------- */

/* The path on which the selected warp executes a step; 0: it is not split, or does nothing there. */
static char letter_at(const StepContext *context, int step, Role *role) {
    int event = step_index_warp_event(context->step_index, step, context->event.warp, 0);
    const Paths *paths = scene_paths(context->scene, context->view->place.block);
    if (event < 0 || paths->of_event[event] < 0) return 0;
    BranchRows rows;
    branch_rows_of(paths, context->launch->program, paths->paths[paths->of_event[event]].split, &rows);
    int row = branch_rows_find(paths, &rows, paths->of_event[event]);
    if (row < 0) return 0;
    *role = path_role(&rows, row);
    return branch_letter(&rows, row);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    TimelineRows rows = rows_of(context, area.rows);
    if (rows.names) {
        Scale scale = scale_of(context, area.columns);
        /* Above each level's steps, what it adds: "load", "+1", "+2", ... from the distances in the trace. */
        Reduction *reduction = reduction_of(context);
        int free_from = 0, here = reduction_level_at(reduction, context->view->place.step);
        char label[32];
        for (int i = 0; i < reduction_level_count(reduction); i++) {
            int at = column_of_step(&scale, reduction_level_first(reduction, i));
            reduction_print_short(reduction, i, label, sizeof label);
            if (at < free_from || at + canvas_text_columns(label) > area.columns) continue;
            free_from = at + 1 + canvas_text(canvas, area, at, 0, i == here ? ROLE_CURRENT : ROLE_DIM, label);
        }
        area.row++;
        area.rows--;
    }
    int bar_rows = rows.bars, before = -1;
    Scale scale = scale_of(context, area.columns);
    bool *of_hazard = steps_of_hazards(context);
    for (int at = 0; at < area.columns; at++) {
        int end, first = first_step(&scale, at, &end);
        if (first >= end) break;
        /* A wide step's first column. */
        TimelineColumn column = column_of(context, of_hazard, first, end, first != before);
        before = first;
        draw_bar(canvas, area, at, bar_rows, column.share, role_of_bar(context->view, &column));
        draw_mark(canvas, area, at, bar_rows, &column);
    }
    free(of_hazard);
    int below = bar_rows + 1;
    if (rows.paths) {
        /* Below the marks, where the selected warp is split: the letter of its path. Of a column of many
         * steps, a few are looked at. */
        int row = below++;
        for (int at = 0; at < area.columns; at++) {
            int end, first = first_step(&scale, at, &end);
            Role role = ROLE_DIM;
            char letter = 0;
            int by = (end - first) / MOST_LOOKED_AT + 1;
            for (int step = first; step < end && !letter; step += by)
                letter = letter_at(context, step, &role);
            if (letter) canvas_glyph(canvas, area, at, row, role, (uint32_t)letter);
        }
    }
    if (rows.signs)
        canvas_text(canvas, area, 0, below, ROLE_DIM,
                    tr("height: active threads   X hazard   ! bank conflict   d divergent branch   | barrier "
                       "  ^ here"));
}

const Pane pane_timeline = {.slot = SLOT_TIMELINE,
                            .tells = HIDES_LANES | HIDES_ACCESSES | HIDES_COUNTS,
                            .head = head,
                            .draw = draw,
                            .click = click};
