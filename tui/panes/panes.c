#include "tui/panes/pane.h"

const Pane *const panes[] = {
    &pane_source,      &pane_lanes,    &pane_banks,   &pane_shuffle,   &pane_vote,
    &pane_global,      &pane_branch,   &pane_barrier, &pane_tree,      &pane_reduction,
    &pane_explanation, &pane_timings,  &pane_metrics, &pane_registers, &pane_counters,
    &pane_hazards,     &pane_timeline, &pane_help,    &pane_menu,      &pane_settings,
    &pane_failure,     NULL,
};

int pane_side_count(void) {
    int count = 0;
    for (int i = 0; panes[i]; i++) count += panes[i]->slot == SLOT_SIDE;
    return count;
}

const Pane *pane_side(int index) {
    int count = pane_side_count();
    if (count) index %= count;
    for (int i = 0; panes[i]; i++)
        if (panes[i]->slot == SLOT_SIDE && index-- == 0) return panes[i];
    return NULL;
}
