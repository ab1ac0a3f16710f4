#include "tui/curve_counting.h"

#include "ladder/counts.h"

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
            counting->loader = session_loader_start(&options, wake);
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
    if (!counting->loader || !session_loader_is_done(counting->loader)) return false;
    Session *session = session_loader_finish(counting->loader, NULL);
    counting->loader = NULL;
    if (curve_is_same(&counting->curve, &counting->of))
        put(&counting->curve, counting->of.parameters[0], session);
    session_free(session);
    return true;
}
