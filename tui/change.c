#include "tui/change.h"

#include "base/language.h"
#include "base/sentence.h"
#include <inttypes.h>
#include <string.h>

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

/* ---- the ranked list ------------------------------------------------------------------------------------ */

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

/* ---- result and time ------------------------------------------------------------------------------------ */

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

/* ---- all of them ---------------------------------------------------------------------------------------- */

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
    if (area.columns < 100) snprintf(note, sizeof note, "%s", tr("i: all   Esc closes"));
    Rectangle inside = (boxed ? canvas_box : canvas_rule)(canvas, area, ROLE_TITLE, title, ROLE_DIM, note);
    list_clauses(&clauses, differences, scene);
    int rows = draw_clauses(&clauses, canvas, inside);
    inside.row += rows;
    inside.rows -= rows;
    if (inside.rows > 0 && !differences->counting && differences_count(differences) && has_whole_runs(scene))
        differences_draw_rows(differences, canvas, inside);
}
