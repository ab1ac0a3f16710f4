/* Panes: a pane is one file with one const struct, and one line of panes.def.
 *
 * A pane draws the context's contents onto its area and keeps no state. Panes of SLOT_PICTURE show the
 * current instruction: the first pane that lists the event's kind is drawn. Overlays are also drawn over runs
 * without events, for which the context has no step: they must not use it. */
#ifndef TUI_PANES_PANE_H
#define TUI_PANES_PANE_H

#include "tui/draw/canvas.h"
#include "tui/view/step_context.h"

typedef enum PaneSlot {
    SLOT_SOURCE,
    SLOT_LANES,
    SLOT_PICTURE,
    SLOT_REDUCTION, /* on large screens; otherwise in the picture's place */
    SLOT_EXPLANATION,
    SLOT_TIMELINE,
    SLOT_COUNT,
    SLOT_SIDE = SLOT_COUNT, /* panes that share the side places; the view selects which comes first */
    SLOT_OVERLAY
} PaneSlot;

typedef struct PaneHead { /* the pane's top line */
    char title[160], note[160];
    char foot[160]; /* in the line below, if the pane has a frame */
    Role note_role; /* DIM unless the pane sets it */
    int columns;    /* of both texts, without borders; set by the caller */
    int rows;       /* of the pane's inside; likewise */
} PaneHead;

typedef struct Pane {
    PaneSlot slot;
    uint32_t kinds;  /* PICTURE: a bit 1 << TraceKind for each kind that it draws */
    Overlay overlay; /* OVERLAY: the view's state that shows it */
    /* What its body tells (HIDES_ bits): a question about it covers the pane; `tells_here`: only a question
     * about the step on the screen does. Titles tell nothing that `hides` names, notes are left out. */
    unsigned tells, tells_here;
    /* SIDE: the pane has only a sentence to show, so one row is enough; NULL: never. The same at every
     * step. */
    bool (*is_empty)(const StepContext *context);
    void (*head)(const StepContext *context, PaneHead *out);
    void (*draw)(const StepContext *context, Canvas *canvas, Rectangle area);
    /* Handles a click at this place of the inside; NULL: clicks do nothing. */
    ViewAnswer (*click)(const StepContext *context, Rectangle area, int column, int row, View *view);
    /* For an OVERLAY that scrolls: its rows at this width; else NULL. */
    int (*line_count)(const StepContext *context, int columns);
    ViewAnswer (*click_title)(const StepContext *context, View *view); /* may be NULL */
} Pane;

extern const Pane *const panes[]; /* ends with NULL */

int pane_side_count(void);
const Pane *pane_side(int index); /* cyclic */

#define PANE(name) extern const Pane pane_##name;
#include "tui/panes/panes.def"
#undef PANE

/* The picture is drawn in large cells: it is enlarged, or on a projector. */
static inline bool pane_is_large(const View *view) {
    return view->display.projector || (view->display.zoomed && view->display.focus == FOCUS_PICTURE);
}
/* Rows of each of `count` large cells, one below the other. */
static inline int pane_cell_rows(int count, int room) {
    enum { MOST = 5 };
    int rows = count > 0 ? room / count : 1;
    return rows < 1 ? 1 : rows > MOST ? MOST : rows;
}

/* Describes this step in sentences. explain.c */
void explain_step(const StepContext *context, Text *out);
/* For the picture of the access that ended the run: the note says so, instead of what the access would
 * cost. */
void pane_note_trap(const StepContext *context, PaneHead *out);
/* What is wrong at this step; false: no fault is known. If true, explain_step() does not call the access
 * harmless. */
bool explain_fault(const StepContext *context, Text *out);

/* That a run has neither errors nor slow places, with what was looked at. */
void hazards_pane_print_none(const Scene *scene, Text *out);

#endif
