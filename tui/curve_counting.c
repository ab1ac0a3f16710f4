#include "tui/curve_counting.h"

#include <inttypes.h>
#include <string.h>

/* The options of the run with this value. */
static RunSpec options_of(const Curve *curve, const Session *session, int64_t value, Arena *arena) {
    RunSpec options = {.kernel = curve->run.row->id, .backend = BACKEND_EMULATOR, .threads = 1};
    options.catalog = session_spec(session)->catalog;
    options.catalog.n = curve->run.n;
    options.catalog.block = curve->run.block;
    options.catalog.dtype = curve->run.dtype;
    options.catalog.op = curve->run.op;
    options.catalog.parameter_count = 0;
    const CatalogParameter *parameters = curve->run.row->parameters;
    for (int i = 0; i < CATALOG_PARAMETERS && parameters[i].name; i++)
        options.catalog.parameters[options.catalog.parameter_count++] =
            arena_print(arena, "%s=%" PRId64, parameters[i].name, i ? curve->run.parameters[i] : value);
    return options;
}

static void put(Curve *curve, int64_t value, Session *session) {
    for (int i = 0; i < curve->count; i++) {
        CurvePoint *point = &curve->points[i];
        if (point->value != value) continue;
        point->has_failed = !session;
        if (session) curve_put(point, session_trace(session));
    }
}

void curve_counting_go_on(CurveCounting *counting, const Session *session, bool waits, void (*wake)(void)) {
    const CatalogRun *run = session_run(session);
    int next;
    if (!curve_is_of(run) || run->n > LADDER_COUNTED_N) {
        counting->curve.count = 0;
        return;
    }
    curve_begin(&counting->curve, run);
    while (!counting->loader && (next = curve_next(&counting->curve)) >= 0) {
        int64_t value = counting->curve.points[next].value;
        Arena arena = {0};
        RunSpec options = options_of(&counting->curve, session, value, &arena);
        counting->of = counting->curve.run;
        counting->of.parameters[0] = value;
        if (!waits) {
            counting->loader = loader_start(&options, wake);
            arena_done(&arena);
            return;
        }
        Session *of_value = session_open(&options, NULL);
        put(&counting->curve, value, of_value);
        session_free(of_value);
        arena_done(&arena);
    }
}

bool curve_counting_take(CurveCounting *counting) {
    if (!counting->loader || !loader_is_done(counting->loader)) return false;
    Session *session = loader_finish(counting->loader, NULL);
    counting->loader = NULL;
    if (curve_is_same(&counting->curve, &counting->of))
        put(&counting->curve, counting->of.parameters[0], session);
    session_free(session);
    return true;
}

/* ---- rungs of the ladder ------------------------------------------------------------------------------- */

/* NULL: all are counted, or there are too many elements. */
static const char *next_rung(const RungCounting *counting, const Ladder *ladder, uint64_t n) {
    for (int row = 0; row < ladder->row_count && n <= LADDER_COUNTED_N; row++)
        if (ladder->rows[row].row &&
            !ladder_counts_find(&counting->counts, ladder->rows[row].id, n, ladder->of.dtype, ladder->of.op))
            return ladder->rows[row].row->id;
    return NULL;
}

void rung_counting_go_on(RungCounting *counting, const Ladder *ladder, uint64_t n, bool waits,
                         void (*wake)(void)) {
    const char *kernel;
    while (!counting->loader && (kernel = next_rung(counting, ladder, n))) {
        counting->options = ladder_counts_options(kernel, n, ladder->of.dtype,
                                                  !strcmp(ladder->of.op, "min")   ? "min"
                                                  : !strcmp(ladder->of.op, "max") ? "max"
                                                                                  : "sum");
        if (!waits) {
            counting->loader = loader_start(&counting->options, wake);
            return;
        }
        Session *session = session_open(&counting->options, NULL);
        ladder_counts_add(&counting->counts, &counting->options, session);
        session_free(session);
    }
}

bool rung_counting_take(RungCounting *counting) {
    if (!counting->loader || !loader_is_done(counting->loader)) return false;
    Session *session = loader_finish(counting->loader, NULL);
    counting->loader = NULL;
    ladder_counts_add(&counting->counts, &counting->options, session);
    session_free(session);
    return true;
}
