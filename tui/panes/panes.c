/* The table of all panes, from panes.def. */
#include "tui/panes/pane.h"

const Pane *const panes[] = {
#define PANE(name) &pane_##name,
#include "tui/panes/panes.def"
#undef PANE
    NULL,
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
