/* Sums are kept at every SPACING-th step, on first use; a question adds the steps after the nearest one. */
#include "tally.h"

#include "base/memory.h"

enum { SPACING = 64 };

static void gather(Outline *outline) {
    int count = outline->steps->step_count / SPACING + 1;
    outline->tally = memory_new((size_t)count * sizeof *outline->tally);
    for (int i = 1; i < count; i++) {
        metrics_of_steps(outline->steps, (i - 1) * SPACING, SPACING, &outline->tally[i]);
        totals_add(&outline->tally[i], &outline->tally[i - 1]);
    }
}

void tally_so_far(Outline *outline, int step, Totals *out) {
    *out = (Totals){0};
    if (step < 0 || step >= outline->steps->step_count) return;
    if (!outline->tally) gather(outline);
    int kept = (step + 1) / SPACING;
    metrics_of_steps(outline->steps, kept * SPACING, step + 1 - kept * SPACING, out);
    totals_add(out, &outline->tally[kept]);
}
