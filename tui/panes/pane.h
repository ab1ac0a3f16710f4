/* Panes: a pane is one file with one const struct, and one line of the array in panes.c.
 *
 * A pane draws what the moment holds onto its area and keeps nothing. Panes of the slot PICTURE show the
 * current instruction; the one that lists its kind is drawn. Overlays and panes in EMPTY runs must not touch
 * moment->steps. */
#ifndef TUI_PANES_PANE_H
#define TUI_PANES_PANE_H

#include "tui/draw/canvas.h"
#include "tui/view/step_context.h"

typedef enum PaneSlot {
    SLOT_SOURCE,
    SLOT_LANES,
    SLOT_PICTURE,
    SLOT_REDUCTION, /* on large screens; else in the picture's place */
    SLOT_EXPLANATION,
    SLOT_TIMELINE,
    SLOT_COUNT,
    SLOT_SIDE = SLOT_COUNT, /* panes that share the places at the side: the view says which comes first */
    SLOT_OVERLAY
} PaneSlot;

typedef struct PaneHead { /* the pane's top line */
    char title[160], note[160];
    Role note_role;
    int columns; /* for both, borders left out; set by whoever asks */
} PaneHead;

typedef struct Pane {
    PaneSlot slot;
    uint32_t kinds;  /* PICTURE: a bit 1 << TraceKind for each kind that it draws */
    Overlay overlay; /* OVERLAY: the view's state that shows it */
    void (*head)(const StepContext *context,
                 PaneHead *out); /* title and note; the note's role is DIM unless set */
    void (*draw)(const StepContext *context, Canvas *canvas, Rectangle area);
    /* A click at this place of the inside; NULL: means nothing here. */
    ViewAnswer (*click)(const StepContext *context, Rectangle area, int column, int row, View *view);
    ViewAnswer (*click_title)(const StepContext *context, View *view); /* may be NULL */
} Pane;

extern const Pane *const panes[]; /* ends with NULL */

int pane_side_count(void);
const Pane *pane_side(int index); /* around */

extern const Pane pane_source, pane_lanes, pane_banks, pane_shuffle, pane_vote, pane_global, pane_branch,
    pane_barrier, pane_tree, pane_reduction, pane_explanation, pane_metrics, pane_registers, pane_timings, pane_hazards,
    pane_counters, pane_timeline, pane_help, pane_menu, pane_settings, pane_failure;

/* What happens at this step, as sentences for people. explain.c */
void explain_step(const StepContext *context, Text *out);

#endif
