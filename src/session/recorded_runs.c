#include "session/recorded_runs.h"

#include "base/language.h"
#include <limits.h>
#include <math.h>
#include <string.h>

const char *recorded_runs_read(Session *session, const char *kind,
                               int (*read)(const char *path, Session *session, Error *error)) {
    static const char *const machines[] = {"h200", "h100"};
    const char *asked = session->options.machine, *why = NULL;
    char name[128], folder[64], path[PATH_MAX];
    int kept = 0;
    snprintf(name, sizeof name, "%s.tsv", session->kernel.row->id);
    for (size_t i = 0; i < sizeof machines / sizeof *machines && kept <= 0; i++) {
        Error error = {0};
        if (asked && strcmp(asked, machines[i]) != 0) continue;
        snprintf(folder, sizeof folder, "assets/%s/%s", machines[i], kind);
        if (!catalog_path(folder, name, path, sizeof path, NULL)) continue;
        kept = read(path, session, &error);
        if (kept < 0) why = arena_print(&session->arena, "%s, line %d: %s", path, error.line, error.message);
    }
    return why;
}

double recorded_run_distance(const Session *session, const TimelineRun *of) {
    if (strcmp(of->kernel, session->kernel.row->id) != 0) return (double)INFINITY;
    double apart = fabs(log2((double)session->kernel.run.n + 1) - log2((double)of->n + 1));
    return apart + (strcmp(of->dtype, plan_type_name(session->kernel.run.dtype)) ? 100 : 0);
}

bool recorded_run_is_own(const Session *session, const TimelineRun *of) {
    return of->n == session->kernel.run.n && !strcmp(of->dtype, plan_type_name(session->kernel.run.dtype)) &&
           !strcmp(of->op, session->kernel.run.op);
}

bool recorded_run_has_block(const Session *session, const uint32_t block[3]) {
    return launch_volume(block) == launch_volume(session->run->trace->launches[0]->block);
}

const char *recorded_run_other_block(Session *session) {
    return arena_print(&session->arena, tr("not measured with block %u"), session->kernel.run.block);
}
