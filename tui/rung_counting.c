#include "tui/rung_counting.h"

#include <string.h>

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
            counting->loader = session_loader_start(&counting->options, wake);
            return;
        }
        Session *session = session_open(&counting->options, NULL);
        ladder_counts_add(&counting->counts, &counting->options, session);
        session_free(session);
    }
}

bool rung_counting_take(RungCounting *counting) {
    if (!counting->loader || !session_loader_is_done(counting->loader)) return false;
    Session *session = session_loader_finish(counting->loader, NULL);
    counting->loader = NULL;
    ladder_counts_add(&counting->counts, &counting->options, session);
    session_free(session);
    return true;
}
