#include "tui/panes/metric_rows.h"

#define SUM(name, ...)                                                                                       \
    static uint64_t name(const Totals *t) {                                                                  \
        return __VA_ARGS__;                                                                                  \
    }
SUM(shared_accesses, t->shared_loads + t->shared_stores)
SUM(wavefronts, t->shared_load_wavefronts + t->shared_store_wavefronts)
SUM(ideal_wavefronts, t->shared_load_wavefronts_ideal + t->shared_store_wavefronts_ideal)
SUM(global_requests, t->global_load_requests + t->global_store_requests)
SUM(sectors, t->global_load_sectors + t->global_store_sectors)
SUM(ideal_sectors, t->global_load_sectors_ideal + t->global_store_sectors_ideal)
SUM(atomics, t->atomics)
SUM(shuffles, t->shuffles)
SUM(barriers, t->barriers)
SUM(branches, t->branches)
SUM(divergent, t->divergent_branches)
SUM(none, t->branches * 0)
#undef SUM

#define COUNTS(name, ...)                                                                                    \
    static bool name(const StepIndexEntry *step) {                                                           \
        return __VA_ARGS__;                                                                                  \
    }
COUNTS(is_shared, step->accesses > 0)
COUNTS(is_global, step->kind == TRACE_GLOBAL_LOAD || step->kind == TRACE_GLOBAL_STORE)
COUNTS(is_atomic, step->kind == TRACE_SHARED_ATOMIC || step->kind == TRACE_GLOBAL_ATOMIC)
COUNTS(is_shuffle, step->kind == TRACE_SHUFFLE)
COUNTS(is_barrier, step->kind == TRACE_BARRIER || step->kind == TRACE_NAMED_BARRIER)
COUNTS(is_branch, step->kind == TRACE_BRANCH)
COUNTS(is_divergent, step->diverges)
#undef COUNTS

const MetricRow metric_rows[METRIC_ROW_COUNT] = {
    {"shared accesses", shared_accesses, NULL, is_shared},
    {"  wavefronts", wavefronts, ideal_wavefronts, is_shared},
    {"  ideal", ideal_wavefronts, NULL, is_shared},
    {"global requests", global_requests, NULL, is_global},
    {"  sectors", sectors, ideal_sectors, is_global},
    {"  ideal", ideal_sectors, NULL, is_global},
    {"atomics", atomics, NULL, is_atomic},
    {"shuffles", shuffles, NULL, is_shuffle},
    {"barriers", barriers, NULL, is_barrier},
    {"branches", branches, NULL, is_branch},
    {"  divergent", divergent, none, is_divergent},
};
