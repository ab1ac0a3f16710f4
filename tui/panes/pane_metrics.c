/* The metrics pane: the counts of step, line, interval, block and grid, side by side. Accesses have their
 * ideal counts. If rows are scarce, those with a count in this step come first. */

#include "base/language.h"
#include "metrics/totals.h"
#include "tui/panes/pane.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LABEL_COLUMNS = 16,
    NUMBER_COLUMNS = 8,
    LEAST_NUMBER_COLUMNS = 6,
    SCOPE_COUNT = 6,
    LONGEST_ROUNDED = 5
};
enum { BLOCK_SCOPE = 3, GRID_SCOPE = 4, BEFORE_SCOPE = 5 };

static bool is_same_row(Metric a, Metric b) {
    const MetricInfo *x = &metric_infos[a], *y = &metric_infos[b];
    if (a == b) return true;
    if (!x->from_events || !y->from_events || x->shown != y->shown || strcmp(x->pane, y->pane) != 0)
        return false;
    return x->shown == SHOWN_COUNT || is_same_row(x->of, y->of);
}

static bool is_row(int row) {
    for (Metric metric = 0; (int)metric < row; metric++)
        if (is_same_row(metric, (Metric)row)) return false;
    return metric_infos[row].from_events;
}

int metric_row_count(void) {
    return METRIC_COUNT;
}

const char *metric_row_label(int row) {
    return tr(metric_infos[row].pane);
}

/* It is a part of the row above it. */
static bool metric_row_is_part(int row) {
    return metric_infos[row].shown != SHOWN_COUNT;
}

static uint64_t metric_row_value(int row, const Totals *totals) {
    uint64_t sum = 0;
    if (!is_row(row)) return 0;
    for (Metric metric = (Metric)row; metric < METRIC_COUNT; metric++)
        if (is_same_row(metric, (Metric)row)) sum += totals_value(totals, metric);
    return sum;
}

static bool metric_row_has_excess(int row, const Totals *totals) {
    uint64_t ideal = 0;
    if (metric_infos[row].shown == SHOWN_WASTE) return metric_row_value(row, totals) > 0;
    bool has_ideal = false;
    for (Metric metric = 0; metric < METRIC_COUNT; metric++)
        if (metric_infos[metric].shown == SHOWN_IDEAL && is_same_row(metric_infos[metric].of, (Metric)row)) {
            ideal += totals_value(totals, metric);
            has_ideal = true;
        }
    return has_ideal && metric_row_value(row, totals) > ideal;
}

/* The step as counters: one execution of each kind of work in it. */
bool metric_row_counts(int row, const StepIndexEntry *step) {
    TraceCounter counter = {.executions = 1,
                            .lanes = step->lanes,
                            .requests = 1,
                            .wavefronts = step->wavefronts,
                            .ideal_wavefronts = step->ideal,
                            .sectors = 1,
                            .ideal_sectors = 1,
                            .divergent = step->diverges};
    Totals totals = {0};
    metrics_add_counter((TraceKind)step->kind, &counter, &totals);
    /* Generic ones may mix state spaces. */
    if (step->accesses) metrics_add_counter(TRACE_SHARED_LOAD, &counter, &totals);
    return metric_row_value(row, &totals) > 0;
}

typedef struct Scopes {
    bool counting;   /* the grid's counts are not available yet */
    bool has_before; /* the file was edited, and the grid's earlier counts are known */
    Totals of[SCOPE_COUNT];
    const char *names[SCOPE_COUNT];
} Scopes;

static void head(const StepContext *context, PaneHead *out) {
    pane_title(out, tr("metrics"));
    pane_note(out, tr("%s%s, PTX"), context->scene->outcome.counting ? tr("grid: counting   ") : "",
              context->scene->identity.captured ? "EMU. grid" : context->scene->identity.level);
}

static bool same_line(const PtxSourceLine *a, const PtxSourceLine *b) {
    return a->line == b->line && a->file && b->file && !strcmp(a->file, b->file);
}

static void gather(const StepContext *context, Scopes *scopes) {
    const PtxProgram *program = context->launch->program;
    *scopes = (Scopes){.counting = context->scene->outcome.counting,
                       .names = {"step", "line", "interval", "block", "grid", "was"}};
    metrics_of_step(context->steps, context->view->place.step, &scopes->of[0]);
    for (int pc = 0; pc < program->code_count; pc++) {
        const Totals *totals = step_index_pc_totals(context->step_index, pc);
        if (context->code &&
            (pc == context->step->pc || same_line(&program->code[pc].line, &context->code->line)))
            totals_add(&scopes->of[1], totals);
        totals_add(&scopes->of[BLOCK_SCOPE], totals);
    }
    scopes->of[2] = *step_index_interval_totals(context->step_index, context->step->interval_step);
    metrics_of_launch(context->launch, &scopes->of[GRID_SCOPE]);
    const Scene *before = context->scene->borrowed.before;
    int launch = context->scene->traced.blocks[context->view->place.block].launch;
    scopes->has_before = before && !before->outcome.counting && launch < before->traced.trace->launch_count;
    if (scopes->has_before)
        metrics_of_launch(before->traced.trace->launches[launch], &scopes->of[BEFORE_SCOPE]);
}

/* In at most `columns`, which is at least 4: "1048576", "1.05M" or "1.0M". */
static void print_number(uint64_t value, int columns, char *out, size_t bytes) {
    static const char units[] = "kMGTPE";
    int length = snprintf(out, bytes, "%" PRIu64, value), unit = 0;
    double scaled = (double)value / 1000;
    if (length <= columns) return;
    for (; scaled >= 999.5; unit++) scaled /= 1000;
    for (int digits = 2; digits >= 0; digits--) {
        length = snprintf(out, bytes, "%.*f%c", digits, scaled, units[unit]);
        if (length <= columns && length <= LONGEST_ROUNDED) return;
    }
}

static void draw_row(const Scopes *scopes, Canvas *canvas, Rectangle area, int row, int metric,
                     const bool *shown, int columns, bool selected) {
    char text[32];
    int at = LABEL_COLUMNS;
    snprintf(text, sizeof text, "%s%s", metric_row_is_part(metric) ? "  " : "", metric_row_label(metric));
    canvas_text(canvas, area, 0, row, selected ? ROLE_SELECTED : ROLE_DIM, text);
    for (int scope = 0; scope < SCOPE_COUNT; scope++) {
        if (!shown[scope]) continue;
        if (scope == GRID_SCOPE && scopes->counting) {
            canvas_text(canvas, area, at + columns - 4, row, ROLE_DIM, "...");
            at += columns;
            continue;
        }
        uint64_t value = metric_row_value(metric, &scopes->of[scope]);
        bool excess = metric_row_has_excess(metric, &scopes->of[scope]);
        print_number(value, columns - 2, text, sizeof text); /* a space before it, the '!' after it */
        int begin = at + columns - 1 - (int)strlen(text);
        if (value)
            canvas_text(canvas, area, begin, row, excess ? ROLE_CONFLICT : ROLE_TEXT, text);
        else
            canvas_glyph(canvas, area, begin, row, ROLE_IDLE, 0xB7);
        if (excess) canvas_glyph(canvas, area, at + columns - 1, row, ROLE_CONFLICT, '!');
        at += columns;
    }
}

/* The scopes that fit: the step, the interval and the grid before the others; after an edit the grid's old
 * counts. */
static int choose_scopes(const Scopes *scopes, Rectangle area, bool shown[SCOPE_COUNT], int *columns) {
    static const int orders[2][SCOPE_COUNT] = {{0, 2, GRID_SCOPE, 1, BLOCK_SCOPE, BEFORE_SCOPE},
                                               {0, GRID_SCOPE, BEFORE_SCOPE, 2, 1, BLOCK_SCOPE}};
    const int *order = orders[scopes->has_before], most = SCOPE_COUNT - !scopes->has_before;
    int count = (area.columns - LABEL_COLUMNS) / LEAST_NUMBER_COLUMNS;
    if (count > most) count = most;
    for (int i = 0; i < SCOPE_COUNT; i++) shown[order[i]] = i < count;
    *columns = count > 0 ? (area.columns - LABEL_COLUMNS) / count : 0;
    if (*columns > NUMBER_COLUMNS + 2) *columns = NUMBER_COLUMNS + 2;
    return count;
}

/* The row is not zero in the block, or was not in the grid before the edit. */
static bool is_there(const Scopes *scopes, int row) {
    return metric_row_value(row, &scopes->of[BLOCK_SCOPE]) ||
           metric_row_value(row, &scopes->of[BEFORE_SCOPE]);
}

/* The rows in display order: those that are not zero in the block; if not all fit, those with a count in this
 * step come first. Returns how many fit. */
static int order_rows(const Scopes *scopes, Rectangle area, int order[METRIC_COUNT]) {
    bool taken[METRIC_COUNT] = {false};
    int count = 0, all = 0;
    for (int i = 0; i < METRIC_COUNT; i++) all += is_there(scopes, i);
    for (int turn = all > area.rows - 1 ? 0 : 1; turn < 2; turn++)
        for (int i = 0; i < METRIC_COUNT && count < area.rows - 1; i++) {
            if (taken[i] || !(turn ? is_there(scopes, i) : metric_row_value(i, &scopes->of[0]) != 0))
                continue;
            taken[i] = true;
            order[count++] = i;
        }
    return count;
}

/* Below the rows, or to their right, where it fits. */
static void draw_counters(const StepContext *context, Canvas *canvas, Rectangle area, int row, int column) {
    int rows = counter_rows_height(context);
    Rectangle below = {area.column, area.row + row, area.columns, area.rows - row};
    Rectangle beside = {area.column + column, area.row, area.columns - column, area.rows};
    if (rows && rows <= below.rows && below.columns >= COUNTER_ROWS_COLUMNS)
        counter_rows_draw(context, canvas, below);
    else if (rows && rows <= beside.rows && beside.columns >= COUNTER_ROWS_COLUMNS)
        counter_rows_draw(context, canvas, beside);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Scopes scopes;
    bool shown[SCOPE_COUNT] = {false};
    int columns, at = LABEL_COLUMNS, order[METRIC_COUNT];
    gather(context, &scopes);
    if (!choose_scopes(&scopes, area, shown, &columns)) return;
    /* They are beside the rows. */
    if (counter_rows_height(context) && columns > NUMBER_COLUMNS) columns = NUMBER_COLUMNS;
    for (int scope = 0; scope < SCOPE_COUNT; scope++) {
        if (!shown[scope]) continue;
        const char *name = columns < 10 && scope == 2 ? "intvl" : tr(scopes.names[scope]);
        canvas_right(canvas, area, at + columns - 1, 0, ROLE_DIM, name);
        at += columns;
    }
    int count = order_rows(&scopes, area, order);
    for (int i = 0; i < count; i++)
        draw_row(&scopes, canvas, area, 1 + i, order[i], shown, columns,
                 context->view->selection.traced == order[i] + 1);
    draw_counters(context, canvas, area, 2 + count, at + 1);
}

/* Marks the steps that the row counts, or removes the marks. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    Scopes scopes;
    int order[METRIC_COUNT];
    (void)column;
    gather(context, &scopes);
    int count = order_rows(&scopes, area, order);
    if (row < 1 || row > count) return VIEW_IGNORED;
    view->selection.traced = view->selection.traced == order[row - 1] + 1 ? 0 : order[row - 1] + 1;
    return VIEW_CHANGED;
}

const Pane pane_metrics = {
    .slot = SLOT_SIDE, .tells = HIDES_ALL & ~HIDES_HERE, .head = head, .draw = draw, .click = click};
