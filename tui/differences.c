#include "tui/differences.h"

#include "base/language.h"
#include "tui/view/step_context.h"
#include "base/sentence.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LABEL_COLUMNS = 29, NUMBER_COLUMNS = 13, ROW_COLUMNS = LABEL_COLUMNS + 3 * NUMBER_COLUMNS + 6 };

enum { TIME_LINES = 2 }; /* of all lines: the times, and an empty line */

typedef enum Scope { WHOLE_RUN, SO_FAR } Scope;

typedef struct DifferenceRow {
    char label[40];
    double value[2];
    bool is_average;
} DifferenceRow;

/* The rows of metrics.def, then the rows derived from them. */
enum { EXCESS_WAVEFRONTS = METRIC_COUNT, EXCESS_SECTORS, AVERAGE_LANES, ROW_COUNT };

static const char *name_of(int row) {
    static const char *const made[] = {"excess shared wavefronts", "excess global sectors",
                                       "average active lanes"};
    return row < METRIC_COUNT ? metric_infos[row].name : made[row - METRIC_COUNT];
}

static bool is_from_events(int row) {
    return row < METRIC_COUNT ? metric_infos[row].from_events : row != AVERAGE_LANES;
}

static double value_of(const Totals *totals, int row) {
    switch (row) {
    case EXCESS_WAVEFRONTS:
        return (double)(totals_wavefronts(totals) - totals_wavefronts_ideal(totals));
    case EXCESS_SECTORS:
        return (double)(totals->global_load_sectors - totals->global_load_sectors_ideal +
                        totals->global_store_sectors - totals->global_store_sectors_ideal);
    case AVERAGE_LANES:
        return totals_average_active_lanes(totals);
    default:
        return (double)totals_value(totals, (Metric)row);
    }
}

static DifferenceRow metric_of(const Differences *differences, Scope scope, int index) {
    DifferenceRow metric = {.is_average = index == AVERAGE_LANES};
    snprintf(metric.label, sizeof metric.label, "%s", name_of(index));
    for (char *c = metric.label; *c; c++)
        if (*c == '_') *c = ' ';
    for (int side = 0; side < 2; side++)
        metric.value[side] =
            value_of(scope == SO_FAR ? &differences->so_far[side] : &differences->run[side], index);
    return metric;
}

static bool is_known(Scope scope, int index) {
    return scope == WHOLE_RUN || is_from_events(index);
}

static void add_place(Differences *out, int side, const Scene *scene, const View *view) {
    running_totals_at(scene_step_index(scene, view->place.block), view->place.step, &out->so_far[side]);
    if (view->place.step < scene->traced.blocks[view->place.block].steps->step_count)
        out->progress[side] = scene_progress(scene, view->place.block)[view->place.step];
}

/* ---- times --------------------------------------------------------------------------------------------- */

/* "time, H200 recorded 2026-11-23"; "time at n = 2^18, H200 recorded" if the run's size was not timed. */
static void print_time_label(const Times *times, const Timing *timing, uint64_t n, char *out, size_t bytes) {
    char size[32];
    const char *machine = scene_machine_name(timing->machine),
               *date = timing->measured ? timing->measured : "";
    int name = (int)strcspn(machine, " ");
    step_context_print_size(timing->n, size, sizeof size);
    if (times->is_live)
        snprintf(out, bytes, tr("time, %.*s live"), name, machine);
    else if (timing->n == n)
        snprintf(out, bytes, tr("time, %.*s recorded %.10s"), name, machine, date);
    else
        snprintf(out, bytes, tr("time at n = %s, %.*s recorded"), size, name, machine);
}

/* Times are comparable if they are of one machine and measured in the same way. */
static bool is_alike(const Timing *a, const Timing *b) {
    return a && b && !strcmp(a->machine, b->machine) && a->to_scalar == b->to_scalar && a->n == b->n;
}

/* The runs themselves, both timed here in the same way. */
static bool add_own_times(Differences *out, const Scene *const scene[2]) {
    const SceneOwnTime *own[2];
    char ratio[16];
    for (int side = 0; side < 2; side++) {
        own[side] = scene[side]->borrowed.timings ? &scene[side]->borrowed.timings->own : NULL;
        if (!own[side] || own[side]->microseconds <= 0) return false;
    }
    const char *machine = scene_machine_name(own[0]->machine);
    snprintf(out->time, sizeof out->time, tr("time, %.*s live"), (int)strcspn(machine, " "), machine);
    for (int side = 0; side < 2; side++)
        times_print(own[side]->microseconds, out->time_of[side], sizeof out->time_of[side]);
    times_print_ratio(own[0]->microseconds / own[1]->microseconds, ratio, sizeof ratio);
    snprintf(out->faster, sizeof out->faster, tr("%s as fast"), ratio);
    return true;
}

static void add_times(Differences *out, const Scene *const scene[2], const View *view) {
    const Timing *timing[2];
    Times times;
    char missing[2][80];
    bool to_scalar = !view->display.times_alone;
    if (add_own_times(out, scene)) return;
    for (int side = 0; side < 2; side++) {
        times_gather(&times, scene[side]);
        const TimesRow *own = times_own(&times, scene[side]);
        timing[side] = own ? times_shown(own, to_scalar, view->display.times) : NULL;
        snprintf(out->time_of[side], sizeof out->time_of[side], "-");
        if (timing[side]) times_print(timing[side]->median, out->time_of[side], sizeof out->time_of[side]);
        times_print_missing(&times, scene[side], missing[side], sizeof missing[side]);
    }
    if (timing[0])
        print_time_label(&times, timing[0], scene[0]->identity.n, out->time, sizeof out->time);
    else
        snprintf(out->time, sizeof out->time, tr("time: %s"), missing[0]);
    if (timing[0] && !timing[1]) snprintf(out->time_of[1], sizeof out->time_of[1], "%s", missing[1]);
    if (!is_alike(timing[0], timing[1])) return;
    char ratio[16];
    times_print_ratio(timing[0]->median / timing[1]->median, ratio, sizeof ratio);
    snprintf(out->faster, sizeof out->faster, tr("%s as fast"), ratio);
}

/* "time, H200 recorded 2026-11-23   15.8 us > 9.5 us   1.7x as fast" */
static void draw_time(const Differences *differences, Canvas *canvas, Rectangle area, int row) {
    canvas_text(canvas, area, 0, row, ROLE_CURRENT, differences->time);
    if (!strcmp(differences->time_of[0], "-") && !strcmp(differences->time_of[1], "-")) return;
    const char *sign = !*differences->faster ? " " : *differences->faster == '0' ? "<" : ">";
    int columns = canvas_text_columns(differences->time_of[0]); /* the label may be longer than its column */
    canvas_print(canvas, area, LABEL_COLUMNS + NUMBER_COLUMNS - columns, row, ROLE_CURRENT, "%s %s %s",
                 differences->time_of[0], sign, differences->time_of[1]);
    columns = canvas_text_columns(differences->faster);
    canvas_text(canvas, area, LABEL_COLUMNS + 3 * NUMBER_COLUMNS + 4 - columns, row, ROLE_CURRENT,
                differences->faster);
}

void differences_init(Differences *out, const Scene *left, const View *left_view, const Scene *right,
                      const View *right_view, bool linked) {
    const Scene *scene[2] = {left, right};
    const View *view[2] = {left_view, right_view};
    *out = (Differences){.linked = linked};
    settings_print_differences(left, right, out->settings, sizeof out->settings);
    add_times(out, scene, left_view);
    for (int side = 0; side < 2; side++) {
        out->name[side] = scene[side]->identity.kernel;
        out->counting |= scene[side]->outcome.counting;
        metrics_of_run(scene[side]->traced.trace, &out->run[side]);
        if (view[side]->place.block < scene[side]->traced.block_count)
            add_place(out, side, scene[side], view[side]);
    }
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static void print_number(const DifferenceRow *metric, double value, char *out, size_t bytes) {
    if (metric->is_average)
        snprintf(out, bytes, "%.1f", value);
    else
        step_context_print_count((uint64_t)value, out, bytes);
}

static bool differs(const DifferenceRow *metric) {
    return fabs(metric->value[0] - metric->value[1]) > (metric->is_average ? 0.05 : 0);
}

/* "12,288 < 20,480   +8,192" */
static void draw_metric(const DifferenceRow *metric, Canvas *canvas, Rectangle area, int column, int row) {
    char number[2][32], change[40], difference[32];
    double more = metric->value[1] - metric->value[0];
    bool different = differs(metric);
    Role role = different ? ROLE_CURRENT : ROLE_DIM;
    for (int side = 0; side < 2; side++)
        print_number(metric, metric->value[side], number[side], sizeof number[side]);
    print_number(metric, fabs(more), difference, sizeof difference);
    snprintf(change, sizeof change, "%s%s", more > 0 ? "+" : "-", difference);
    canvas_text(canvas, area, column, row, different ? ROLE_TEXT : ROLE_DIM, tr(metric->label));
    canvas_print(canvas, area, column + LABEL_COLUMNS, row, role, "%*s %s %-*s", NUMBER_COLUMNS, number[0],
                 !different ? "="
                 : more > 0 ? "<"
                            : ">",
                 NUMBER_COLUMNS, number[1]);
    if (different)
        canvas_print(canvas, area, column + LABEL_COLUMNS + 2 * NUMBER_COLUMNS + 4, row, ROLE_TEXT, "%*s",
                     NUMBER_COLUMNS, change);
}

/* How far apart the two are: 1 if one of them is zero. Ideal counts weigh less, as they explain less. */
static double distance(const DifferenceRow *metric) {
    double largest = fmax(metric->value[0], metric->value[1]),
           weight = strstr(metric->label, "ideal") ? 0.25 : 1;
    return largest > 0 ? weight * fabs(metric->value[0] - metric->value[1]) / largest : 0;
}

/* Selects the `room` metrics that are furthest apart, in the table's order. Returns how many there are. */
static int choose(const Differences *differences, Scope scope, int room, int *chosen) {
    bool taken[ROW_COUNT] = {false};
    int count = 0;
    for (; count < room; count++) {
        int best = -1;
        double most = 0;
        for (int i = 0; i < ROW_COUNT; i++) {
            DifferenceRow metric = metric_of(differences, scope, i);
            if (taken[i] || !is_known(scope, i) || !differs(&metric) || distance(&metric) <= most) continue;
            best = i;
            most = distance(&metric);
        }
        if (best < 0) break;
        taken[best] = true;
    }
    int at = 0;
    for (int i = 0; i < ROW_COUNT; i++)
        if (taken[i]) chosen[at++] = i;
    return count;
}

static int count_different(const Differences *differences, Scope scope) {
    int count = 0;
    for (int i = 0; i < ROW_COUNT; i++) {
        DifferenceRow metric = metric_of(differences, scope, i);
        count += is_known(scope, i) && differs(&metric);
    }
    return count;
}

static void draw_chosen(const Differences *differences, Scope scope, Canvas *canvas, Rectangle area) {
    int chosen[ROW_COUNT], room = area.rows < ROW_COUNT ? area.rows : ROW_COUNT;
    if (scope == WHOLE_RUN && differences->counting) {
        canvas_text(canvas, area, 0, 0, ROLE_DIM, tr("counting the whole grid ..."));
        return;
    }
    int count = choose(differences, scope, room, chosen);
    if (!count) canvas_text(canvas, area, 0, 0, ROLE_DIM, tr("every metric is the same"));
    for (int row = 0; row < count; row++) {
        DifferenceRow metric = metric_of(differences, scope, chosen[row]);
        draw_metric(&metric, canvas, area, 0, row);
    }
}

/* How many metrics of the whole run differ. */
static int differences_count(const Differences *differences) {
    return count_different(differences, WHOLE_RUN);
}

/* "interleaved : strided"; for one kernel "strided  block 256 : 64" */
static void print_runs(const Differences *differences, char *out, size_t bytes) {
    if (differences->settings[0])
        snprintf(out, bytes, "%s  %s", differences->name[0], differences->settings);
    else
        snprintf(out, bytes, "%s : %s", differences->name[0], differences->name[1]);
}

static Rectangle draw_head(const Differences *differences, bool both, Canvas *canvas, Rectangle area,
                           bool boxed) {
    char title[192], note[96], link[48], runs[128];
    /* "both at 6 %", "unlinked: 6 % and 12 %" */
    double left = 100 * differences->progress[0], right = 100 * differences->progress[1];
    if (differences->linked)
        snprintf(link, sizeof link, tr("both at %.0f %%"), left);
    else
        snprintf(link, sizeof link, tr("unlinked: %.0f %% and %.0f %%"), left, right);
    print_runs(differences, runs, sizeof runs);
    snprintf(title, sizeof title, "%s%s   %s", area.columns < 100 ? "" : tr("differences  "), runs,
             both ? tr("whole run | traced block so far") : tr("whole run"));
    if (differences->counting)
        snprintf(note, sizeof note, tr("%s   counting   i: all"), link);
    else
        snprintf(note, sizeof note, tr("%s   %d differ, i: all"), link,
                 count_different(differences, WHOLE_RUN));
    return (boxed ? canvas_box : canvas_rule)(canvas, area, ROLE_TITLE, title, ROLE_DIM, note);
}

void differences_draw(const Differences *differences, Canvas *canvas, Rectangle area, bool boxed) {
    bool both = area.columns >= 2 * ROW_COLUMNS;
    Rectangle inside = draw_head(differences, both, canvas, area, boxed), right = inside;
    if (both) {
        inside.columns /= 2;
        right.column += inside.columns;
        right.columns -= inside.columns;
        draw_chosen(differences, SO_FAR, canvas, right);
    }
    if (inside.rows > 1) {
        draw_time(differences, canvas, inside, 0);
        inside.row++;
        inside.rows--;
    }
    draw_chosen(differences, WHOLE_RUN, canvas, inside);
}

void differences_describe(const Differences *differences, char *out, size_t bytes) {
    int chosen;
    char number[2][32];
    if (differences->counting) {
        snprintf(out, bytes, "%s", tr("counting the grid"));
        return;
    }
    if (!choose(differences, WHOLE_RUN, 1, &chosen)) {
        snprintf(out, bytes, "%s", tr("every metric is the same"));
        return;
    }
    DifferenceRow metric = metric_of(differences, WHOLE_RUN, chosen);
    for (int side = 0; side < 2; side++)
        print_number(&metric, metric.value[side], number[side], sizeof number[side]);
    snprintf(out, bytes, "%s %s -> %s", tr(metric.label), number[0], number[1]);
}

/* ---- all of them --------------------------------------------------------------------------------------- */

static int events_metric_count(void) {
    int count = 0;
    for (int i = 0; i < ROW_COUNT; i++) count += is_from_events(i);
    return count;
}

int differences_line_count(void) {
    return TIME_LINES + 1 + ROW_COUNT + 2 + events_metric_count();
}

/* Draws line `line` of: the times and an empty line, a heading and all metrics of the run, an empty line, a
 * heading and all metrics of the block so far. */
static void draw_line(const Differences *differences, int line, Canvas *canvas, Rectangle area, int row) {
    if (line == 0) draw_time(differences, canvas, area, row);
    line -= TIME_LINES;
    if (line < 0) return;
    Scope scope = line < 1 + ROW_COUNT ? WHOLE_RUN : SO_FAR;
    if (line == 0 || line == ROW_COUNT + 2) {
        canvas_text(canvas, area, 0, row, ROLE_TITLE,
                    scope == WHOLE_RUN ? tr("whole run") : tr("traced block so far"));
        if (scope == WHOLE_RUN && differences->counting)
            canvas_text(canvas, area, 12, row, ROLE_DIM, tr("counting ..."));
        return;
    }
    int index = scope == WHOLE_RUN ? line - 1 : line - ROW_COUNT - 3;
    if (scope == WHOLE_RUN && differences->counting) return;
    for (int i = 0; scope == SO_FAR && i <= index && i < ROW_COUNT; i++) index += !is_from_events(i);
    if (index < 0 || index >= ROW_COUNT) return;
    DifferenceRow metric = metric_of(differences, scope, index);
    draw_metric(&metric, canvas, area, 0, row);
}

void differences_draw_all(const Differences *differences, Canvas *canvas, Rectangle area, int scroll) {
    char title[192], runs[128];
    print_runs(differences, runs, sizeof runs);
    snprintf(title, sizeof title, tr("every difference  %s"), runs);
    canvas_fill(canvas, area, ROLE_TEXT);
    Rectangle inside =
        canvas_box(canvas, area, ROLE_TITLE, title, ROLE_DIM, tr("j k scroll, any other key closes"));
    scroll = canvas_scroll(scroll, inside.rows, differences_line_count());
    for (int row = 0; row < inside.rows && scroll + row < differences_line_count(); row++)
        draw_line(differences, scroll + row, canvas, inside, row);
    canvas_more(canvas, inside, scroll > 0, scroll + inside.rows < differences_line_count());
}

/* ---- what an edit changed ------------------------------------------------------------------------------ */

enum { MOST_CLAUSES = 12 };

typedef struct Clause { /* "excess wavefronts 430,080 -> 0" */
    char text[96];
    Role role;
} Clause;

typedef struct Clauses {
    Clause items[MOST_CLAUSES];
    int count;
} Clauses;

static void add_clause(Clauses *clauses, Role role, const char *text) {
    Clause *clause = &clauses->items[clauses->count];
    if (clauses->count == MOST_CLAUSES) return;
    snprintf(clause->text, sizeof clause->text, "%s", text);
    clause->role = role;
    clauses->count++;
}

/* ---- the ranked list ----------------------------------------------------------------------------------- */

/* What a kind of slow places costs in a run; each is better if it is less. */
typedef struct KindCost {
    const char *label;
    uint64_t count;
    double share;   /* of the run's passes, of its places that are listed */
    bool is_listed; /* has a place in the list */
    bool is_metric; /* counted even where no place is listed */
} KindCost;

static void add_metric(KindCost *cost, FindingKind kind, const Totals *totals) {
    cost->is_metric = true;
    switch (kind) {
    case FINDING_BANK_CONFLICT:
        cost->label = tr("excess wavefronts");
        cost->count = totals_wavefronts(totals) - totals_wavefronts_ideal(totals);
        break;
    case FINDING_UNCOALESCED:
        cost->label = tr("excess sectors");
        cost->count = totals->global_load_sectors - totals->global_load_sectors_ideal +
                      totals->global_store_sectors - totals->global_store_sectors_ideal;
        break;
    case FINDING_IDLE_LANES:
        cost->label = tr("divergent branches");
        cost->count = totals->divergent_branches;
        break;
    default:
        cost->is_metric = false;
    }
}

static KindCost cost_of(FindingKind kind, const Findings *list, const Totals *totals) {
    KindCost cost = {.label = finding_kind_title(kind)};
    for (int i = 0; list && i < list->count; i++) {
        const Finding *finding = &list->items[i];
        if (finding->kind != kind) continue;
        cost.is_listed = true;
        cost.share += finding->share;
        cost.count += finding->cost - finding->ideal;
    }
    add_metric(&cost, kind, totals);
    return cost;
}

static const char *print_cost(const KindCost *cost, CountText *buffer) {
    return cost->is_listed || cost->is_metric ? count_text(cost->count, buffer) : tr("not listed");
}

/* The kinds of both lists whose counts differ, the largest share first. */
static void add_costs(Clauses *clauses, const Differences *differences, const Scene *const scene[2]) {
    bool taken[FINDING_KIND_COUNT] = {false};
    for (;;) {
        int best = -1;
        double most = -1;
        KindCost found[2] = {{0}};
        for (int kind = 0; kind < FINDING_KIND_COUNT; kind++) {
            if (taken[kind] || !(finding_kind_severity((FindingKind)kind) == SEVERITY_SLOW)) continue;
            KindCost then = cost_of((FindingKind)kind, scene[0]->borrowed.hazards, &differences->run[0]),
                     now = cost_of((FindingKind)kind, scene[1]->borrowed.hazards, &differences->run[1]);
            double share = then.share > now.share ? then.share : now.share;
            if ((!then.is_listed && !now.is_listed) || then.count == now.count || share <= most) continue;
            best = kind;
            most = share;
            found[0] = then;
            found[1] = now;
        }
        if (best < 0) return;
        taken[best] = true;
        char text[96];
        CountText before, after;
        snprintf(text, sizeof text, "%s %s -> %s", tr(found[0].label), print_cost(&found[0], &before),
                 print_cost(&found[1], &after));
        add_clause(clauses, found[1].count < found[0].count ? ROLE_GOOD : ROLE_WARNING, text);
    }
}

/* A wrong result is the result's clause. */
static int errors_of(const Scene *scene) {
    const Findings *list = scene->borrowed.hazards;
    int count = 0;
    for (int i = 0; list && i < list->cause_count; i++)
        count += list->items[list->causes[i].lead].kind != FINDING_WRONG_RESULT;
    return count;
}

/* ---- result and time ----------------------------------------------------------------------------------- */

static const char *result_of(const Scene *scene) {
    switch (scene->outcome.verdict) {
    case SCENE_RIGHT:
        return tr("ok");
    case SCENE_OFF:
        return tr("ok within its error");
    case SCENE_TRAPPED:
        return tr("trap");
    case SCENE_WRONG:
    case SCENE_WRONG_ON_PURPOSE:
        return tr("WRONG");
    default:
        return tr("not checked");
    }
}

static void add_result(Clauses *clauses, const Scene *const scene[2]) {
    char text[96];
    SceneVerdict now = scene[1]->outcome.verdict;
    Role role = now == SCENE_RIGHT || now == SCENE_OFF ? ROLE_GOOD
                : now == SCENE_NOT_CHECKED             ? ROLE_DIM
                                                       : ROLE_WARNING;
    snprintf(text, sizeof text, tr("result %s -> %s"), tr(result_of(scene[0])), tr(result_of(scene[1])));
    add_clause(clauses, role, text);
}

static void add_time(Clauses *clauses, const Differences *differences) {
    char text[96];
    snprintf(text, sizeof text, "%s", tr("time not measured"));
    if (*differences->faster)
        snprintf(text, sizeof text, tr("time %s -> %s"), differences->time_of[0], differences->time_of[1]);
    add_clause(clauses, ROLE_DIM, text);
}

/* A fault ends a run early, with fewer of everything. */
static bool has_whole_runs(const Scene *const scene[2]) {
    return !scene_fatal_trap(scene[0]) && !scene_fatal_trap(scene[1]);
}

/* ---- all of them --------------------------------------------------------------------------------------- */

static void list_clauses(Clauses *clauses, const Differences *differences, const Scene *const scene[2]) {
    clauses->count = 0;
    if (differences->counting) {
        add_clause(clauses, ROLE_DIM, tr("counting the whole grid ..."));
        return;
    }
    char text[96];
    int then = errors_of(scene[0]), now = errors_of(scene[1]);
    if (then != now) {
        snprintf(text, sizeof text, tr("errors %d -> %d"), then, now);
        add_clause(clauses, now < then ? ROLE_GOOD : ROLE_WARNING, text);
    }
    if (!has_whole_runs(scene)) {
        add_clause(clauses, ROLE_TEXT, tr("a fault ended a run early: counts are not compared"));
        add_result(clauses, scene);
        return;
    }
    add_costs(clauses, differences, scene);
    if (!clauses->count && differences_count(differences))
        add_clause(clauses, ROLE_TEXT, tr("the ranked list is the same"));
    else if (!clauses->count)
        add_clause(clauses, ROLE_TEXT,
                   (!strcmp(result_of(scene[0]), result_of(scene[1]))) ? tr("did not help: the same counts")
                                                                       : tr("the same counts"));
    add_result(clauses, scene);
    add_time(clauses, differences);
}

/* Returns the rows taken. A clause that does not fit begins a new row. */
static int draw_clauses(const Clauses *clauses, Canvas *canvas, Rectangle area) {
    enum { APART = 3 };
    int row = 0, column = 0;
    for (int i = 0; i < clauses->count; i++) {
        const Clause *clause = &clauses->items[i];
        int columns = canvas_text_columns(clause->text);
        if (column && column + columns > area.columns) row++, column = 0;
        if (row >= area.rows) return row;
        column += canvas_text(canvas, area, column, row, clause->role, clause->text) + APART;
    }
    return row + 1;
}

void change_draw(const Differences *differences, const Scene *const scene[2], const char *what,
                 Canvas *canvas, Rectangle area, bool boxed) {
    char title[224], note[96];
    Clauses clauses;
    snprintf(title, sizeof title, "%s%s%s", what, *differences->settings ? "   " : "", differences->settings);
    snprintf(note, sizeof note, tr("%d differ, i: all   Esc closes"), differences_count(differences));
    bool is_remedy = scene[1]->identity.options && scene[1]->identity.options->what_if.label;
    if (area.columns < 100) snprintf(note, sizeof note, "%s", tr("i: all   Esc closes"));
    if (is_remedy) snprintf(note, sizeof note, "%s", tr("k keep it (shows the diff)  I next  Esc"));
    Rectangle inside = (boxed ? canvas_box : canvas_rule)(canvas, area, ROLE_TITLE, title, ROLE_DIM, note);
    list_clauses(&clauses, differences, scene);
    int rows = draw_clauses(&clauses, canvas, inside);
    inside.row += rows;
    inside.rows -= rows;
    if (inside.rows > 0 && !differences->counting && differences_count(differences) &&
        has_whole_runs(scene)) {
        /* Draws the metrics of the whole run that are furthest apart, as many as the area has rows. */
        draw_chosen(differences, WHOLE_RUN, canvas, inside);
    }
}
