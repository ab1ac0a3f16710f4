/* The timings pane: the speed of each kernel of the ladder as a bar, with its references below: the longest
 * bar is the fastest. The bars are followed by as many numbers as fit, the most useful first. A lab shows the
 * curve of its parameter instead (pane.h). The title says whether they were recorded on another machine
 * or are measured live. '*' marks a row that was not timed in the selected way. */

#include "base/language.h"
#include "tui/panes/pane.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TIME_COLUMNS = 10,
    NUMBER_COLUMNS = 9,
    LEAST_BAR_COLUMNS = 6,
    LEAST_NAME_COLUMNS = 6,
    MOST_NAME_COLUMNS = 24,
    ROWS_FOR_NAMES = 5,
    ROWS_FOR_SETTINGS = 8
};

/* One row of the table, timed in the selected way, with the other ways. */
typedef struct ShownTimings {
    const TimesRow *row;
    const Timing *timing;             /* NULL: not timed in this way */
    const Timing *other, *other_part; /* warm for cold, alone for to one scalar, and vice versa */
    double here;                      /* microseconds of the run's own kernel; NaN: unknown */
} ShownTimings;

/* ---- numbers ------------------------------------------------------------------------------------------- */

static void print_share(double share, char *out, size_t bytes) {
    snprintf(out, bytes, share < 0.0995 ? "%.1f%%" : "%.0f%%", share * 100);
}

static void print_whole(double number, char *out, size_t bytes) {
    snprintf(out, bytes, "%.0f", number);
}

static double median(const Timing *timing) {
    return timing ? timing->median : NAN;
}

typedef struct Number {
    const char *names[2]; /* for one way of timing, and for the other */
    double (*value)(const ShownTimings *shown);
    void (*print)(double value, char *out, size_t bytes);
} Number;

#define VALUE(name, expression)                                                                              \
    static double name(const ShownTimings *shown) {                                                          \
        return expression;                                                                                   \
    }
VALUE(speed_up, shown->here / shown->timing->median)
VALUE(rate, shown->timing->gigabytes_per_second)
VALUE(of_read, shown->timing->share_of_read)
VALUE(part, median(shown->other_part))
VALUE(way, median(shown->other))
VALUE(low, shown->timing->low)
VALUE(high, shown->timing->high)
VALUE(of_copy, shown->timing->share_of_copy)
VALUE(of_peak, shown->timing->share_of_peak)
VALUE(clock_rate, shown->timing->clock)
VALUE(heat, shown->timing->temperature)
#undef VALUE

static const Number numbers[] = {
    {{"speed-up over >", "speed-up over >"}, speed_up, times_print_ratio},
    {{"GB/s", "GB/s"}, rate, print_whole},
    {{"of read", "of read"}, of_read, print_share},
    {{"alone", "result"}, part, times_print},
    {{"warm", "cold"}, way, times_print},
    {{"p5", "p5"}, low, times_print},
    {{"p95", "p95"}, high, times_print},
    {{"of copy", "of copy"}, of_copy, print_share},
    {{"of peak", "of peak"}, of_peak, print_share},
    {{"MHz", "MHz"}, clock_rate, print_whole},
    {{"\u00B0C", "\u00B0C"}, heat, print_whole},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static const char *number_name(const View *view, const Number *number) {
    bool second = number->value == part ? view->display.times_alone
                  : number->value == way
                      ? view->display.times == TIMES_WARM || view->display.times == TIMES_WARM_CALL
                      : false;
    return tr(number->names[second]);
}

/* ---- what is shown ------------------------------------------------------------------------------------- */

static TimesWay other_temperature(TimesWay way) {
    static const TimesWay other[TIMES_WAY_COUNT] = {TIMES_WARM, TIMES_COLD, TIMES_WARM_CALL, TIMES_COLD_CALL};
    return other[way];
}

static ShownTimings show(const View *view, const TimesRow *row, double here) {
    bool to_scalar = !view->display.times_alone;
    return (ShownTimings){.row = row,
                          .timing = times_shown(row, to_scalar, view->display.times),
                          .other = row->of[to_scalar][other_temperature(view->display.times)],
                          .other_part = times_of(row, !to_scalar, view->display.times),
                          .here = here};
}

static int find_kernel(const Times *times, const char *kernel) {
    for (int i = 0; i < times->kernel_count; i++)
        if (!strcmp(times->rows[i].kernel, kernel)) return i;
    return -1;
}

typedef struct TimingTable {
    const View *view;
    const Scene *scene;
    const char *measuring; /* the kernel being measured; "": none */
    Times times;
    ShownTimings rows[TIMES_MOST_ROWS]; /* as in `times` */
    int fastest;                        /* a kernel that is always drawn; -1: none */
    int here;                           /* the run's kernel; -1: not in the table */
    int first, kernels;                 /* the rows drawn; below them the first `references` references */
    int references;
    double best;           /* microseconds of a full bar */
    int name, bar;         /* widths */
    bool numbers[NUMBERS]; /* which are drawn */
} TimingTable;

static bool is_in_window(const TimingTable *table, int row) {
    return row >= table->first && row < table->first + table->kernels;
}

static bool is_drawn(const TimingTable *table, int row) {
    int reference = row - table->times.kernel_count;
    return reference >= 0 ? reference < table->references : row == table->fastest || is_in_window(table, row);
}

/* The kernels around the run's own. */
static void choose_window(TimingTable *table, int room) {
    int kernels = table->times.kernel_count;
    table->kernels = room < kernels ? room : kernels;
    table->first = canvas_first_shown(table->here < 0 ? 0 : table->here, table->kernels, kernels);
}

static int find_fastest(const TimingTable *table) {
    int fastest = -1;
    for (int i = 0; i < table->times.kernel_count; i++)
        if (table->rows[i].timing &&
            (fastest < 0 || table->rows[i].timing->median < table->rows[fastest].timing->median))
            fastest = i;
    return fastest;
}

/* The references stay below the kernels if there is room, and the fastest kernel is always shown. */
static void choose_rows(TimingTable *table, int room) {
    int kernels = table->times.kernel_count, references = table->times.count - kernels;
    int kept = room >= references + 4 || !kernels ? references : room >= 3 && references;
    table->references = kept < room ? kept : room;
    choose_window(table, room - table->references);
    int fastest = find_fastest(table);
    bool is_apart = fastest >= 0 && table->kernels > 4 && !is_in_window(table, fastest);
    if (is_apart) choose_window(table, room - table->references - 1);
    table->fastest = is_apart ? fastest : -1;
}

static bool is_known(const TimingTable *table, const Number *number) {
    for (int i = 0; i < table->times.count; i++)
        if (is_drawn(table, i) && table->rows[i].timing && isfinite(number->value(&table->rows[i])))
            return true;
    return false;
}

/* Marks a live row among recorded ones. */
static void print_name(const TimingTable *table, const TimesRow *row, char *out, size_t bytes) {
    bool is_apart = row->is_live && table->times.sample && !table->times.is_live;
    snprintf(out, bytes, "%s%s", row->kernel, is_apart ? tr(" live") : "");
}

/* Names and times first, then a bar, then the numbers that fit. */
static void choose_columns(TimingTable *table, int columns) {
    char name[64];
    table->name = LEAST_NAME_COLUMNS;
    for (int i = 0; i < table->times.count; i++) {
        print_name(table, table->rows[i].row, name, sizeof name);
        if (is_drawn(table, i) && canvas_text_columns(name) > table->name)
            table->name = canvas_text_columns(name);
    }
    if (table->name > MOST_NAME_COLUMNS) table->name = MOST_NAME_COLUMNS;
    int least = columns < 100 ? LEAST_BAR_COLUMNS : columns / 6;
    int room = columns - 1 - table->name - TIME_COLUMNS - 2 - least;
    for (int i = 0; i < NUMBERS && room >= NUMBER_COLUMNS; i++) {
        table->numbers[i] = is_known(table, &numbers[i]);
        room -= table->numbers[i] ? NUMBER_COLUMNS : 0;
    }
    table->bar = room > 0 ? least + room : least;
}

static void table_init(TimingTable *table, const StepContext *context) {
    const SceneTimings *timings = context->scene->borrowed.timings;
    *table = (TimingTable){
        .view = context->view, .scene = context->scene, .measuring = timings ? timings->measuring : ""};
    times_gather(&table->times, context->scene);
    table->here = find_kernel(&table->times, context->scene->identity.kernel);
    double here =
        table->here < 0
            ? NAN
            : median(times_shown(&table->times.rows[table->here], !context->view->display.times_alone,
                                 context->view->display.times));
    for (int i = 0; i < table->times.count; i++)
        table->rows[i] = show(context->view, &table->times.rows[i], here);
}

/* ---- texts --------------------------------------------------------------------------------------------- */

static void print_size(uint64_t n, char *out, size_t bytes) {
    int power = 0;
    while (power < 63 && (UINT64_C(1) << power) < n) power++;
    if (n == UINT64_C(1) << power && power >= 10)
        snprintf(out, bytes, "2^%d", power);
    else
        step_context_print_count(n, out, bytes);
}

/* Where and when the timings were measured, in the longest form that fits. */
static void print_title(const Times *times, int columns, char *out, size_t bytes) {
    enum { FORMS = 4 };
    const Timing *sample = times->sample;
    if (!sample) {
        snprintf(out, bytes, times->count ? tr("timings, live on this machine") : tr("timings"));
        return;
    }
    const char *machine = sample->machine, *name = scene_machine_name(machine);
    const char *date = sample->measured ? sample->measured : "";
    int day = (int)strcspn(date, "T ");
    for (int form = 0; form < FORMS; form++) {
        if (times->is_live)
            snprintf(out, bytes, form ? tr("live on %s") : tr("timings, live on %s"),
                     form > 1 ? name : machine);
        else if (form < 2)
            snprintf(out, bytes, form ? tr("recorded on %s, %.*s") : tr("timings, recorded on %s, %.*s"),
                     machine, day, date);
        else
            snprintf(out, bytes, form > 2 ? "%s %.*s" : tr("recorded, %s %.*s"), name, day, date);
        if (canvas_text_columns(out) + 2 <= columns) return;
    }
}

/* What limits the kernel shown, and what the ratios refer to, if no row above the table says it. */
static void print_foot(const StepContext *context, const Times *times, PaneHead *out) {
    const TimesRow *own = times_own(times, context->scene);
    TimesWay way = context->view->display.times;
    LimitFigures figures;
    char limit[128] = "";
    if (!own || !times_shown(own, !context->view->display.times_alone, way)) return;
    times_find_limit(times, context->scene, own, way, &figures);
    Limit of = limit_print(&figures, limit, sizeof limit);
    if (of == LIMIT_UNKNOWN) *limit = 0;
    if (of == LIMIT_LATENCY || of == LIMIT_BARRIERS) {
        char stalls[128] = "";
        for (int with_line = 1; with_line >= 0; with_line--)
            if (times_print_stalls(context->scene, &figures, with_line, stalls, sizeof stalls) &&
                canvas_text_columns(stalls) + 2 <= out->columns)
                break;
        pane_foot(out, "%s", stalls);
        if (*stalls) return;
    }
    int room = out->columns - 2 - canvas_text_columns(tr("limited by "));
    /* Its first part, else only its name. */
    char *rest = strstr(limit, tr("; "));
    if (canvas_text_columns(limit) > room && rest) *rest = 0;
    if (canvas_text_columns(limit) > room) limit_print_short(&figures, limit, sizeof limit);
    pane_foot(out, "%s%s%s", *limit ? tr("limited by ") : "", limit,
              out->rows >= ROWS_FOR_NAMES ? ""
              : *limit                    ? tr("  x over >")
                                          : tr("x over >"));
}

static const Curve *curve_of(const StepContext *context) {
    const Curve *curve = context->scene->borrowed.curve;
    return curve && curve->count ? curve : NULL;
}

static void head(const StepContext *context, PaneHead *out) {
    Times times;
    char size[32];
    times_gather(&times, context->scene);
    if (curve_of(context)) {
        curve_print_title(curve_of(context), out->title, sizeof out->title);
        pane_note(out, tr("emulated"));
        return;
    }
    if (times.count) {
        print_size(times.n, size, sizeof size);
        pane_note(out, "%sn = %s", times.n == context->scene->identity.n ? "" : tr("nearest "), size);
    }
    print_foot(context, &times, out);
    print_title(&times, out->columns - canvas_text_columns(out->note) - 3, out->title, sizeof out->title);
}

/* A kernel that was not timed in the selected way. */
static bool is_otherwise(const TimingTable *table, int index) {
    const Timing *timing = table->rows[index].timing;
    bool graph = table->view->display.times == TIMES_COLD || table->view->display.times == TIMES_WARM;
    bool cold = table->view->display.times == TIMES_COLD || table->view->display.times == TIMES_COLD_CALL;
    return index < table->times.kernel_count && (timing->graph != graph || timing->cold != cold ||
                                                 timing->to_scalar == table->view->display.times_alone);
}

static void draw_settings(const TimingTable *table, Canvas *canvas, Rectangle area, int row) {
    static const char *const ways[TIMES_WAY_COUNT] = {"L2 cold, in a graph", "L2 warm, in a graph",
                                                      "L2 cold, single calls", "L2 warm, single calls"};
    const Timing *of = table->here >= 0 ? table->rows[table->here].timing : NULL;
    char block[32] = "";
    if (!of) of = table->times.sample;
    if (!of) of = table->rows[0].timing;
    if (!of) return;
    if (of->threads && table->times.sample) snprintf(block, sizeof block, tr(", block %u"), of->threads);
    bool otherwise = false;
    for (int i = 0; i < table->times.kernel_count; i++)
        otherwise |= is_drawn(table, i) && table->rows[i].timing && is_otherwise(table, i);
    canvas_print(canvas, area, 0, row, ROLE_DIM, tr("%s %s%s; %s%s"), of->dtype, of->op, block,
                 tr(ways[table->view->display.times]), otherwise ? tr("; * differs") : "");
}

static void draw_names(const TimingTable *table, Canvas *canvas, Rectangle area, int row) {
    int at = 1 + table->name;
    canvas_text(canvas, area, 1, row, ROLE_DIM, "kernel");
    const char *time = table->view->display.times_alone ? tr("alone") : tr("to result");
    canvas_right(canvas, area, at + TIME_COLUMNS, row, ROLE_DIM, time);
    at += TIME_COLUMNS + 2 + table->bar;
    for (int i = 0; i < NUMBERS; i++) {
        if (!table->numbers[i]) continue;
        const char *name = number_name(table->view, &numbers[i]);
        canvas_right(canvas, area, at + NUMBER_COLUMNS, row, ROLE_DIM, name);
        at += NUMBER_COLUMNS;
    }
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static void draw_numbers(const TimingTable *table, const ShownTimings *shown, Canvas *canvas, Rectangle area,
                         int at, int row, Role role) {
    char text[32];
    for (int i = 0; i < NUMBERS; i++) {
        if (!table->numbers[i]) continue;
        double value = numbers[i].value(shown);
        if (isfinite(value)) {
            numbers[i].print(value, text, sizeof text);
            canvas_print(canvas, area, at, row, role, "%*s", NUMBER_COLUMNS, text);
        }
        at += NUMBER_COLUMNS;
    }
}

/* Why the row has no time. */
static const char *no_time(const TimesRow *row, const char *missing) {
    if (row->skipped && row->skipped->note) return tr(row->skipped->note);
    for (int way = 0; way < TIMES_WAY_COUNT; way++)
        if (row->of[true][way]) return tr("only to one result");
    return missing;
}

static void draw_row(const TimingTable *table, Canvas *canvas, Rectangle area, int row, int index) {
    const ShownTimings *shown = &table->rows[index];
    const TimesRow *of = shown->row;
    bool here = index == table->here, is_measured = !strcmp(table->measuring, of->kernel);
    Role role = here ? ROLE_CURRENT : index < table->times.kernel_count ? ROLE_TEXT : ROLE_DIM;
    int at = 1 + table->name;
    char text[64];
    print_name(table, of, text, sizeof text);
    canvas_print(canvas, (Rectangle){area.column, area.row, at, area.rows}, 0, row, role, "%c%s",
                 here          ? '>'
                 : is_measured ? '~'
                               : ' ',
                 text);
    if (!shown->timing) {
        char own[160], missing[80];
        times_print_missing(&table->times, here ? table->scene : NULL, missing, sizeof missing);
        bool has_own = here && times_print_own(table->scene, area.columns - at - 2, own, sizeof own);
        canvas_print(canvas, area, at + 2, row, has_own ? role : ROLE_DIM, "%s",
                     has_own ? own : no_time(of, missing));
        return;
    }
    times_print(shown->timing->median, text, sizeof text);
    canvas_print(canvas, area, at, row, role, "%*s%c", TIME_COLUMNS, text,
                 is_otherwise(table, index) ? '*' : ' ');
    at += TIME_COLUMNS + 2;
    int length = (int)(table->best / shown->timing->median * table->bar + 0.5);
    canvas_row(canvas, area, at, row, length > 1 ? length : 1, here ? ROLE_ACTIVE : ROLE_DIM,
               here ? 0x2588 : 0x25A0);
    draw_numbers(table, shown, canvas, area, at + table->bar, row, role);
}

static void draw_nothing(const Scene *scene, Canvas *canvas, Rectangle area) {
    const SceneTimings *timings = scene->borrowed.timings;
    char own[256];
    if (times_print_own(scene, (int)sizeof own - 1, own, sizeof own)) {
        canvas_paragraph(canvas, area, 0, ROLE_TEXT, own);
        return;
    }
    if (!scene->identity.row) {
        canvas_paragraph(
            canvas, area, 0, ROLE_DIM,
            tr("Not measured, and the ladder's kernels do other work; --bench times kernels of the "
               "catalogue."));
        return;
    }
    int row =
        canvas_paragraph(canvas, area, 0, ROLE_DIM,
                         tr("No timings for this type and size: counts are exact, but timings need a GPU."));
    if (timings) canvas_paragraph(canvas, area, row, ROLE_DIM, timings->failure);
}

/* "1.8 us at n = 1,024 (H200, recorded)": of the run's own parameters; a recording has no others. */
static void print_own_time(const StepContext *context, char *out, size_t bytes) {
    const View *view = context->view;
    Times times;
    times_gather(&times, context->scene);
    const TimesRow *own = times_own(&times, context->scene);
    const Timing *timing = own ? times_shown(own, !view->display.times_alone, view->display.times) : NULL;
    char time[32], size[32];
    if (!timing) {
        snprintf(out, bytes, tr("time: not measured"));
        return;
    }
    const char *machine = scene_machine_name(timing->machine);
    times_print(timing->median, time, sizeof time);
    print_size(times.n, size, sizeof size);
    snprintf(out, bytes, tr("time: %s at n = %s (%s%s); other values not measured"), time, size, machine,
             times.is_live ? tr(", live") : tr(", recorded"));
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    TimingTable table;
    char time[128];
    int row = 0;
    if (curve_of(context)) {
        print_own_time(context, time, sizeof time);
        curve_draw(curve_of(context), time, canvas, area);
        return;
    }
    table_init(&table, context);
    if (!table.times.count) {
        draw_nothing(context->scene, canvas, area);
        return;
    }
    bool settings = area.rows >= ROWS_FOR_SETTINGS, named = area.rows >= ROWS_FOR_NAMES;
    choose_rows(&table, area.rows - settings - named);
    table.best = INFINITY;
    for (int i = 0; i < table.times.count; i++)
        if (is_drawn(&table, i)) table.best = fmin(table.best, median(table.rows[i].timing));
    choose_columns(&table, area.columns);
    if (settings) draw_settings(&table, canvas, area, row++);
    if (named) draw_names(&table, canvas, area, row++);
    for (int i = 0; i < table.times.count; i++)
        if (is_drawn(&table, i)) draw_row(&table, canvas, area, row++, i);
}

/* A kernel outside the catalogue without times has one sentence. */
static bool is_empty(const StepContext *context) {
    Times times;
    if (context->scene->identity.row) return false;
    times_gather(&times, context->scene);
    return !times.count;
}

const Pane pane_timings = {
    .slot = SLOT_SIDE, .tells = HIDES_TIMES | HIDES_COUNTS, .is_empty = is_empty, .head = head, .draw = draw};
