/* The grid on the machine: multiprocessors as rows, time as columns. A cell is fuller the more blocks are
 * resident, relative to the number that fits; each launch has its own role. Below are the whole machine, the
 * time axis, and a summary. If rows are scarce, multiprocessors that had no block are left out. */
#include "tui/panes/pane.h"

#include "base/language.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST_CHART_COLUMNS = 20, LEAST_TICK_COLUMNS = 12, SHADES = 4, EIGHTHS = 8, ROLES = 3 };
static const Role launch_roles[ROLES] = {ROLE_BAR, ROLE_ARROW, ROLE_WAITING};

typedef struct Chart {
    const SessionGrid *grid;
    const GridTimeline *timeline;
    int launch; /* of the view's place; -1: the timeline is of others */
    uint32_t block;
    uint64_t end;          /* nanoseconds covered by all columns */
    int labels, columns;   /* of the label, of the time */
    int rows;              /* of multiprocessors */
    int texts, each_text;  /* rows of text below the axis; rows for each launch */
    bool has_launches;     /* a row shows when each launch ran */
    uint32_t *shown;       /* [shown_count] multiprocessors that are drawn, in order */
    int shown_count, each; /* each: multiprocessors per row */
    double *resident;      /* [launch][multiprocessor][column] */
} Chart;

static const SessionGrid *grid_of(const StepContext *context) {
    const SceneQuestions *questions = &context->scene->questions;
    return questions->grid ? questions->grid(questions->session) : NULL;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* "640 ns", "12.3 us", "1.52 ms": three digits. */
static void print_time(double nanoseconds, char *out, size_t bytes) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int unit = 0;
    for (; unit < 3 && fabs(nanoseconds) >= 999.5; unit++) nanoseconds /= 1000;
    int decimals = !unit || fabs(nanoseconds) >= 99.95 ? 0 : fabs(nanoseconds) >= 9.995 ? 1 : 2;
    snprintf(out, bytes, "%.*f %s", decimals, nanoseconds, units[unit]);
}

/* ---- what is shown ------------------------------------------------------------------------------------- */

static const double *resident_of(const Chart *chart, int launch, uint32_t multiprocessor) {
    return chart->resident +
           ((size_t)launch * chart->timeline->multiprocessors + multiprocessor) * (size_t)chart->columns;
}

static bool is_used(const Chart *chart, uint32_t multiprocessor) {
    for (int i = 0; i < chart->timeline->launch_count; i++)
        for (int column = 0; column < chart->columns; column++)
            if (resident_of(chart, i, multiprocessor)[column] > 0) return true;
    return false;
}

static void chart_open(const StepContext *context, Chart *chart, Rectangle area) {
    *chart = (Chart){.grid = grid_of(context)};
    const GridTimeline *timeline = chart->timeline = chart->grid->timeline;
    const SessionBlock *block = &context->scene->traced.blocks[context->view->place.block];
    const TraceLaunch *launch = context->launch;
    bool same = block->launch < chart->timeline->launch_count &&
                grid_same_launch(&chart->timeline->launches[block->launch], launch->grid, launch->block);
    chart->launch = same ? block->launch : -1;
    chart->block = trace_block_linear(block->block);
    chart->end = grid_timeline_end(timeline);
    if (!chart->end) chart->end = 1;
    chart->labels = 8;
    chart->columns = area.columns - chart->labels;
    if (chart->columns < LEAST_CHART_COLUMNS) chart->columns = LEAST_CHART_COLUMNS;
    /* A row for each launch, and one for block and probe; fewer, or two for each launch, depending on the
     * room. */
    enum { ONE_ROW_COLUMNS = 140 };
    int rows = area.rows, most = rows / 3 > 1 ? rows / 3 : 1;
    chart->each_text = rows >= 20 && area.columns < ONE_ROW_COLUMNS ? 2 : 1;
    chart->texts = rows < 6 ? 1 : rows < 12 ? 2 : chart->timeline->launch_count * chart->each_text + 1;
    if (chart->texts > most) chart->texts = most;
    chart->has_launches = timeline->launch_count > 1 && area.rows >= 6;
    chart->rows = area.rows - chart->texts - chart->has_launches - 1 - (area.rows >= 6);
    if (chart->rows < 1) chart->rows = 1;
    size_t cells = (size_t)timeline->multiprocessors * (size_t)chart->columns;
    chart->resident = memory_new((size_t)timeline->launch_count * cells * sizeof *chart->resident);
    for (int i = 0; i < timeline->launch_count; i++)
        grid_residency(timeline, i, 0, chart->end, chart->columns, chart->resident + (size_t)i * cells);
    /* All multiprocessors, several per row if necessary; if all that were used have a row of their own, only
     * those. */
    uint32_t count = chart->timeline->multiprocessors;
    chart->shown = memory_new((size_t)count * sizeof *chart->shown);
    for (uint32_t m = 0; m < count; m++)
        if (is_used(chart, m)) chart->shown[chart->shown_count++] = m;
    if (chart->shown_count > chart->rows || (int)count <= chart->rows) {
        chart->shown_count = (int)count;
        for (uint32_t m = 0; m < count; m++) chart->shown[m] = m;
    }
    chart->each = chart->shown_count > chart->rows ? (chart->shown_count + chart->rows - 1) / chart->rows : 1;
    chart->rows = (chart->shown_count + chart->each - 1) / chart->each;
}

static void chart_done(Chart *chart) {
    free(chart->shown);
    free(chart->resident);
}

/* ---- the chart ----------------------------------------------------------------------------------------- */

/* The occupancy of multiprocessors shown[first .. end) in a column, 0 to 1, and the launch with the most
 * blocks there. */
static double fullness(const Chart *chart, int first, int end, int column, int *launch) {
    double sum = 0, most = 0;
    for (int i = 0; i < chart->timeline->launch_count; i++) {
        const GridLaunch *of = &chart->timeline->launches[i];
        double capacity = of->capacity ? of->capacity : of->figures.most_resident;
        double resident = 0;
        for (int k = first; k < end; k++) resident += resident_of(chart, i, chart->shown[k])[column];
        double share = capacity > 0 ? resident / (capacity * (end - first)) : 0;
        sum += share;
        if (share <= most) continue;
        most = share;
        *launch = i;
    }
    return sum > 1 ? 1 : sum;
}

static void draw_label(const Chart *chart, Canvas *canvas, Rectangle area, int at, int row) {
    int first = row * chart->each, last = first + chart->each - 1;
    if (last >= chart->shown_count) last = chart->shown_count - 1;
    if (last > first)
        canvas_print(canvas, area, 0, at, ROLE_DIM, "%3" PRIu32 "-%" PRIu32, chart->shown[first],
                     chart->shown[last]);
    else
        canvas_print(canvas, area, 0, at, ROLE_DIM, "%3" PRIu32, chart->shown[first]);
}

static void draw_row(const Chart *chart, Canvas *canvas, Rectangle area, int at, int row) {
    static const uint32_t shades[SHADES] = {0x2591, 0x2592, 0x2593, 0x2588};
    int first = row * chart->each, end = first + chart->each;
    if (end > chart->shown_count) end = chart->shown_count;
    draw_label(chart, canvas, area, at, row);
    for (int column = 0; column < chart->columns; column++) {
        int launch = 0;
        double share = fullness(chart, first, end, column, &launch);
        int shade = (int)(share * SHADES);
        if (shade == SHADES) shade--;
        if (share > 0)
            canvas_glyph(canvas, area, chart->labels + column, at, launch_roles[launch % ROLES],
                         shades[shade]);
    }
}

static int column_of(const Chart *chart, uint64_t time) {
    int column = (int)((double)time / (double)chart->end * chart->columns);
    return column < chart->columns ? column : chart->columns - 1;
}

/* Shows when each launch ran, if there is room for its number. */
static void draw_launches(const Chart *chart, Canvas *canvas, Rectangle area, int at) {
    canvas_text(canvas, area, 0, at, ROLE_DIM, tr("launch"));
    for (int i = 0; i < chart->timeline->launch_count; i++) {
        const GridFigures *figures = &chart->timeline->launches[i].figures;
        int first = column_of(chart, figures->start), last = column_of(chart, figures->end);
        Role role = launch_roles[i % ROLES];
        char text[16];
        snprintf(text, sizeof text, "%d", i + 1);
        int length = canvas_text_columns(text), middle = (first + last - length + 1) / 2;
        if (middle + length > chart->columns) middle = chart->columns - length;
        for (int column = first; column <= last; column++)
            canvas_glyph(canvas, area, chart->labels + column, at, role,
                         column == first  ? 0x251C
                         : column == last ? 0x2524
                                          : 0x2500);
        canvas_text(canvas, area, chart->labels + middle, at, role, text);
    }
}

/* 1, 2 or 5 times a power of ten. */
static double choose_step(double least) {
    double power = pow(10, floor(log10(least)));
    return least <= power       ? power
           : least <= 2 * power ? 2 * power
           : least <= 5 * power ? 5 * power
                                : 10 * power;
}

static void draw_axis(const Chart *chart, Canvas *canvas, Rectangle area, int at) {
    double step = choose_step((double)chart->end * LEAST_TICK_COLUMNS / chart->columns);
    canvas_text(canvas, area, 0, at, ROLE_DIM, tr("time"));
    for (int tick = 0; tick * step < (double)chart->end; tick++) {
        char text[32];
        double time = tick * step;
        int column = column_of(chart, (uint64_t)time);
        print_time(time, text, sizeof text);
        if (column + 1 + canvas_text_columns(text) > chart->columns) break;
        canvas_glyph(canvas, area, chart->labels + column, at, ROLE_DIM, 0x2502);
        canvas_text(canvas, area, chart->labels + column + 1, at, ROLE_DIM, time > 0 ? text : "0");
    }
}

/* The block of the view, in reverse, on the row of its multiprocessor. NULL: its place is unknown. */
static const GridBlock *find_block(const Chart *chart) {
    const GridLaunch *launch = chart->launch >= 0 ? &chart->timeline->launches[chart->launch] : NULL;
    return launch && launch->blocks && chart->block < launch->block_count ? &launch->blocks[chart->block]
                                                                          : NULL;
}

static void mark_block(const Chart *chart, Canvas *canvas, Rectangle area, int top) {
    const GridBlock *block = find_block(chart);
    if (!block) return;
    int place = 0;
    while (place < chart->shown_count && chart->shown[place] != block->multiprocessor) place++;
    int row = top + place / chart->each, first = column_of(chart, block->start),
        last = column_of(chart, block->end);
    canvas_glyph(canvas, area, chart->labels - 1, row, ROLE_SELECTED, '>');
    canvas_reverse(canvas, area, chart->labels + first, row, last - first + 1);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

/* "launch 1: 4,096 blocks in 13.1 us; 3.88 waves of 1,056; tail 1.20 us, idle 12%; ..." */
static void add_launch(const Chart *chart, int index, Text *out) {
    const GridTimeline *timeline = chart->timeline;
    const GridLaunch *launch = &timeline->launches[index];
    const GridFigures *figures = &launch->figures;
    char blocks[32], held[32], tail[32], gap[32], length[32];
    double waves = grid_waves(timeline, index);
    step_context_print_count(launch->block_count, blocks, sizeof blocks);
    print_time((double)figures->tail, tail, sizeof tail);
    print_time((double)(figures->end - figures->start), length, sizeof length);
    print_time((double)grid_gap(timeline, index), gap, sizeof gap);
    if (timeline->launch_count > 1) text_print(out, tr("launch %d: "), index + 1);
    text_print(out, tr("%s block%s in %s"), blocks, launch->block_count == 1 ? "" : "s", length);
    if (index) text_print(out, tr(", %s after the one before"), gap);
    if (isfinite(waves)) {
        step_context_print_count((uint64_t)launch->capacity * timeline->multiprocessors, held, sizeof held);
        if (waves < 0.01)
            text_print(out, tr("; under 0.01 waves of %s"), held);
        else
            text_print(out, tr("; %.*f waves of %s"), waves < 10 ? 2 : 0, waves, held);
    }
    text_print(out, tr("; tail %s"), tail);
    if (isfinite(figures->idle))
        text_print(out, tr(", idle %.*f%%"), figures->idle < 0.1 || figures->idle > 0.99,
                   figures->idle * 100);
    text_print(out, tr("; %u multiprocessor%s used, up to %u block%s on one"), figures->used_multiprocessors,
               figures->used_multiprocessors == 1 ? "" : "s", figures->most_resident,
               figures->most_resident == 1 ? "" : "s");
    if (launch->plain_capacity != launch->capacity)
        text_print(out, tr("; a multiprocessor holds %u, without the probe %u"), launch->capacity,
                   launch->plain_capacity);
}

static void draw_texts(const Chart *chart, Canvas *canvas, Rectangle area) {
    Text text = {0};
    int launches = area.rows > 1 ? (area.rows - 1) / chart->each_text : 1, used = 0;
    int first = chart->launch > 0 && chart->launch >= launches ? chart->launch - launches + 1 : 0;
    for (int i = 0; i < launches && first + i < chart->timeline->launch_count; i++) {
        Rectangle rows = {area.column, area.row + used, area.columns, chart->each_text};
        Role role = chart->timeline->launch_count == 1 || first + i == chart->launch ? ROLE_TEXT : ROLE_DIM;
        text_clear(&text);
        add_launch(chart, first + i, &text);
        used += canvas_sentences(canvas, rows, 0, role, text_string(&text), PART_CLAUSE);
    }
    Rectangle last = {area.column, area.row + used, area.columns, area.rows - used};
    text_clear(&text);
    const GridBlock *block = find_block(chart);
    char start[32], end[32], cycles[32];
    if (block) {
        print_time((double)block->start, start, sizeof start);
        print_time((double)block->end, end, sizeof end);
        text_print(&text, tr("> block %u: multiprocessor %u, %s to %s"), chart->block, block->multiprocessor,
                   start, end);
        if (block->cycles) {
            step_context_print_count(block->cycles, cycles, sizeof cycles);
            text_print(&text, tr(", %s cycles"), cycles);
        }
        text_add(&text, tr(". "));
    }
    const GridTimeline *timeline = chart->timeline;
    if (isfinite(timeline->overhead))
        text_print(&text, tr("The probe makes a call %.1f%% %s"), fabs(timeline->overhead) * 100,
                   timeline->overhead < 0 ? tr("shorter") : tr("longer"));
    else
        text_add(&text, tr("What the probe costs was not measured"));
    if (timeline->granularity)
        text_print(&text, tr("; smallest step of its timer %u ns"), timeline->granularity);
    text_add(&text, tr(". L2 cold."));
    if (last.rows > 0) canvas_sentences(canvas, last, 0, ROLE_DIM, text_string(&text), PART_CLAUSE);
    text_done(&text);
}

/* ---- the pane ------------------------------------------------------------------------------------------ */

static void head(const StepContext *context, PaneHead *out) {
    const SessionGrid *grid = grid_of(context);
    char size[32];
    pane_title(out, tr("grid on the machine"));
    if (!grid || !grid->timeline) return;
    const GridTimeline *timeline = grid->timeline;
    const char *machine = scene_machine_name(timeline->of.machine);
    step_context_print_size(timeline->of.n, size, sizeof size);
    pane_title(out, tr("grid%s %u multiprocessors%s"), out->columns >= 90 ? tr(" on the machine  ") : ",",
               timeline->multiprocessors, out->columns >= 110 ? tr(", fuller cells: more blocks") : "");
    if (grid->is_live)
        pane_note(out, tr("live on %s   n = %s"), machine, size);
    else
        pane_note(out, tr("%s, %s %.10s   %s%sn = %s"), grid->is_saved ? tr("of this run") : tr("recorded"),
                  machine, timeline->of.measured, timeline->of.dtype, *timeline->of.dtype ? " " : "", size);
}

static void draw_nothing(const StepContext *context, Canvas *canvas, Rectangle area) {
    const SessionGrid *grid = grid_of(context);
    Text text = {0};
    if (grid && grid->why)
        text_print(&text, tr("Not known: %s."), grid->why);
    else
        text_add(
            &text,
            tr("Not known: nothing is recorded for this kernel. On a machine with a GPU it is measured."));
    canvas_paragraph(canvas, area, 0, ROLE_DIM, text_string(&text));
    text_done(&text);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const SessionGrid *grid = grid_of(context);
    Chart chart;
    if (!grid || !grid->timeline) {
        draw_nothing(context, canvas, area);
        return;
    }
    chart_open(context, &chart, area);
    int top = 0, row = chart.rows;
    if (chart.has_launches) draw_launches(&chart, canvas, area, top++);
    for (int i = 0; i < chart.rows; i++) draw_row(&chart, canvas, area, top + i, i);
    mark_block(&chart, canvas, area, top);
    row += top;
    if (area.rows >= 6) {
        /* Draws the resident blocks of the whole machine. */
        int at = row++;
        canvas_text(canvas, area, 0, at, ROLE_TITLE, tr("all"));
        for (int column = 0; column < chart.columns; column++) {
            int launch = 0;
            double share = fullness(&chart, 0, chart.shown_count, column, &launch);
            int eighths = (int)(share * EIGHTHS + 0.5);
            if (share > 0 && !eighths) eighths = 1;
            canvas_column(canvas, area, chart.labels + column, at, launch_roles[launch % ROLES], eighths);
        }
    }
    draw_axis(&chart, canvas, area, row++);
    Rectangle texts = {area.column, area.row + row, area.columns, chart.texts};
    if (row < area.rows) draw_texts(&chart, canvas, texts);
    chart_done(&chart);
}

const Pane pane_grid = {.slot = SLOT_PICTURE, .head = head, .draw = draw};
