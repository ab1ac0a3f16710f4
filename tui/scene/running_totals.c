/* The first use stores the sums up to every SPACING-th step; each call adds the steps after the nearest
 * one. */
#include "tui/scene/running_totals.h"

#include "base/memory.h"

enum { SPACING = 64 };

void running_totals_at(StepIndex *step_index, int step, Totals *out) {
    *out = (Totals){0};
    if (step < 0 || step >= step_index->steps->step_count) return;
    if (!step_index->running_totals) {
        int count = step_index->steps->step_count / SPACING + 1;
        step_index->running_totals = memory_new((size_t)count * sizeof *step_index->running_totals);
        for (int i = 1; i < count; i++) {
            metrics_of_steps(step_index->steps, (i - 1) * SPACING, SPACING, &step_index->running_totals[i]);
            totals_add(&step_index->running_totals[i], &step_index->running_totals[i - 1]);
        }
    }
    int kept = (step + 1) / SPACING;
    metrics_of_steps(step_index->steps, kept * SPACING, step + 1 - kept * SPACING, out);
    totals_add(out, &step_index->running_totals[kept]);
}
