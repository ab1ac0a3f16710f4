/* Panes: a pane is one file with one const struct, and one line of panes.def.
 *
 * A pane draws the context's contents onto its area and keeps no state. Panes of SLOT_PICTURE show the
 * current instruction: the first pane that lists the event's kind is drawn. Overlays are also drawn over runs
 * without events, for which the context has no step: they must not use it. */
#ifndef TUI_PANES_PANE_H
#define TUI_PANES_PANE_H

#include "tui/draw/canvas.h"
#include "tui/scene/curve.h"
#include "tui/view/settings.h"
#include "runtime/user_program.h"
#include "tui/scene/step_index.h"
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

/* Sets a text of the head, or adds to its title or note. */
void pane_title(PaneHead *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pane_note(PaneHead *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pane_foot(PaneHead *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pane_add_title(PaneHead *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pane_add_note(PaneHead *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

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

/* Counter rows: hardware counters of the shown launch, beside what its trace predicts. */

enum { COUNTER_ROWS_COLUMNS = 54 };

int counter_rows_height(const StepContext *context); /* rows that counter_rows_draw() needs; 0: no counters */
void counter_rows_draw(const StepContext *context, Canvas *canvas, Rectangle area);

/* Metric rows: metrics as the interface shows them, with the steps that they count. Loads and stores are
 * summed. A row has the number of the first of its metrics (metrics.def); the other numbers are empty
 * rows. */

int metric_row_count(void);
const char *metric_row_label(int row);
bool metric_row_counts(int row, const StepIndexEntry *step); /* the row counts this step */

/* Output lines: what a program printed, without what could control the terminal. */

typedef struct OutputLines {
    const char *at, *end;
    Text line; /* text_done() frees it */
} OutputLines;

OutputLines output_lines(const Program *program);
/* The next line, in lines.line: escape sequences are left out, and of what a carriage return overwrites the
 * last is kept. Other controls stay, for canvas_text() to show as '?'. False: there is none. */
bool output_next_line(OutputLines *lines);
/* The last line that is not blank; nothing if there is none. */
void output_last_line(const Program *program, Text *out);
/* Bytes of the text that fit into so many columns, at least one character. */
int output_fit(const char *text, int columns);

/* Path signs: the colour of a path, and the letter of each lane of a warp that is split. */

enum { PATH_ROLES = 4 };

/* Of a row; from the fifth path on, the colours repeat. */
Role path_role(const BranchRows *rows, int row);

typedef struct PathSigns { /* letters of lanes; 0: not on a path */
    char letter[WARP_LANES];
    Role role[WARP_LANES];
} PathSigns;

/* The paths of the split that the shown warp is in, or at; false: of none. */
bool path_rows_of(const StepContext *context, BranchRows *out);
/* The lanes that execute the event: of the path that runs, or at a branch that splits, of all its paths. */
void path_signs_of(const StepContext *context, int event, PathSigns *out);

/* The settings being edited, in two rows in place of the footer's hints: side by side, the chosen one
 * marked, as many as fit around it, with their keys; below them what the chosen one means, or why there is no
 * run with them, and from the first change on the run before and the run after. */
void settings_rows_draw(const Scene *scene, const View *view, Canvas *canvas, Rectangle area);

/* The curve of a parameter as a bar chart (tui/scene/curve.h), with the time of the run. */

/* "wavefronts of the worst shared access, stride 1 to 33" */
void curve_print_title(const Curve *curve, char *out, size_t bytes);
/* `time`: what is known of the run's time, in a line of its own. */
void curve_draw(const Curve *curve, const char *time, Canvas *canvas, Rectangle area);

#endif
