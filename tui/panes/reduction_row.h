/* A row of boxes, as pane_reduction.c and the files reduction_*.c share it. A file is one idea:
 * reduction_window.c says which boxes are drawn, reduction_values.c where, reduction_rows.c draws what each
 * box holds, reduction_ways.c how operands come to their sums, reduction_marks.c and reduction_trap.c what
 * goes wrong. */
#ifndef TUI_PANES_REDUCTION_ROW_H
#define TUI_PANES_REDUCTION_ROW_H

#include "tui/draw/canvas.h"
#include "tui/scene/reduction.h"
#include "tui/view/step_context.h"

enum { LABEL_COLUMNS = 14 }; /* left of the boxes */

typedef struct BoxRow { /* the boxes of the window, and where they are drawn */
    const StepContext *context;
    Canvas *canvas; /* NULL while only the pane's head is asked for */
    Rectangle area;
    Reduction *reduction;
    const ReductionLevel *level; /* NULL: there is none */
    const TreePath *path;        /* of the final result: inputs that are in it twice */
    const TreePath *chain;       /* of the selected box, where it is lit; NULL: it is not */
    int64_t first;
    int count, width;
    int64_t selected; /* box; -1: none of this level */
    bool marked;      /* some sum has a mark behind it, for which a column stays free */
    bool is_chain;    /* the boxes are additions of one thread, one after another */
    bool brackets;    /* ways are drawn to the boxes whose operands are all in the window */
} BoxRow;

/* ---- reduction_window.c ---------------------------------------------------------------------------------- */

BoxRow boxes_row(const StepContext *context, int columns); /* around the selected thread's box */

/* ---- reduction_values.c ---------------------------------------------------------------------------------- */

const ReductionBox *boxes_at(const BoxRow *row, int index);
bool boxes_in_window(const BoxRow *row, int64_t box);
int boxes_column(const BoxRow *row, int64_t box); /* of its last digit */
const Tree *boxes_tree(const BoxRow *row);
const FoldNode *boxes_node(const BoxRow *row, int node);
/* The value is part of the selected one. */
bool boxes_is_lit(const BoxRow *row, int node);
/* Does the term's value reach its adder in this very step? */
bool boxes_is_now(const BoxRow *row, const ReductionTerm *term);
/* The sum is there: its store, or its addition, has been played. */
bool boxes_is_done(const BoxRow *row, const ReductionBox *box);
/* In at most `columns`, with an exponent where that is shorter: "1.2e9". */
void boxes_print_number(double value, int columns, char *out, size_t bytes);
/* The value in at most `columns`: as it is, else rounded. */
void boxes_print_value(const BoxRow *row, PtxType type, uint64_t bits, int columns, char *out, size_t bytes);
void boxes_print_name(const BoxRow *row, char *out, size_t bytes); /* of what the boxes are */
void boxes_draw_right(const BoxRow *row, int64_t box, int line, Role role, const char *text);
void boxes_draw_value(const BoxRow *row, int64_t box, int line, Role role, PtxType type, uint64_t bits);
void boxes_draw_dot(const BoxRow *row, int64_t box, int line);

/* ---- reduction_rows.c ------------------------------------------------------------------------------------ */

bool boxes_show_before(const BoxRow *row);
bool boxes_count_inputs(const BoxRow *row); /* counting says something of a sum in the window */
bool boxes_sum_floats(const BoxRow *row);   /* rounding is known of a sum in the window */
void boxes_draw_indexes(const BoxRow *row, int line);
void boxes_draw_before(const BoxRow *row, int line);
void boxes_draw_after(const BoxRow *row, int line);
void boxes_draw_threads(const BoxRow *row, int line);
void boxes_draw_inputs(const BoxRow *row, int line);
void boxes_draw_rounding(const BoxRow *row, int line); /* of each addition */
/* Who adds, in a line below the boxes: how many threads, in which part of the warps, with how many lanes. False: there is
 * none in so many rows, and the pane's head says it in short. */
bool boxes_show_adders(const BoxRow *row, int rows);
void boxes_draw_adders(const BoxRow *row, int line);
/* The selected box in words: its sum, what rounding changed, how far it is from the exact sum. */
void boxes_draw_error(const BoxRow *row, int line);

/* ---- reduction_kept.c ------------------------------------------------------------------------------------ */

/* Rows for what threads keep in registers beside their boxes, at most `room`; drawn below the sums. */
int boxes_kept_rows(const BoxRow *row, int room);
void boxes_draw_kept(const BoxRow *row, int line, int rows);

/* ---- reduction_ways.c ------------------------------------------------------------------------------------ */

/* How the operands are drawn: a way between two boxes of the window, where no ways overlap; else rows of their own. */
typedef struct BoxWays {
    bool brackets; /* the row of ways */
    int partners;  /* operands that need rows */
    int shown;     /* of them, as many as there is room for; what the others are is said in one line */
    int rows;      /* for it all */
} BoxWays;

/* In at most `room` rows; sets row->brackets. */
BoxWays boxes_plan_ways(BoxRow *row, int room);
void boxes_draw_ways(const BoxRow *row, const BoxWays *ways, int line);

/* ---- reduction_marks.c ----------------------------------------------------------------------------------- */

enum {
    MARK_NONE = ' ',
    MARK_TWICE = '!',     /* an input is in it twice */
    MARK_LOST = '?',      /* it is in no result and takes inputs with it */
    MARK_RACE = 'X',      /* made of a word that another thread writes at the same time */
    MARK_UNWRITTEN = 'U', /* made of a word that no thread had written */
    MARK_TRAP = 'T',      /* the run ends at this thread's access */
    MARK_STUCK = '='      /* the addition changed nothing, although its operand is not zero */
};

enum { MOST_FAULTS = 6 };
typedef struct BoxFaults { /* what the marks of the window mean, a line each */
    char line[MOST_FAULTS][160];
    int count;
} BoxFaults;

/* What goes wrong with the box's sum. */
char boxes_mark(const BoxRow *row, const ReductionBox *box);
/* The term's load is one of a race that was found, and its word has another writer. */
bool boxes_is_racing(const BoxRow *row, const ReductionTerm *term);
void boxes_find_faults(const BoxRow *row, BoxFaults *out);
/* A sum of the window with a mark, or one of its operands, comes in this very step. */
bool boxes_marks_step(const BoxRow *row);

/* ---- reduction_trap.c ------------------------------------------------------------------------------------ */

/* The block's run ends at this place, in an access of boxes that are threads. */
bool boxes_has_trap(const BoxRow *row);
/* There the thread does nothing in the step at which the run ends: it trapped, or was stopped. */
bool boxes_is_stopped(const BoxRow *row, int thread);
void boxes_draw_trap(const BoxRow *row, int line); /* the element that each thread was to reach */
void boxes_explain_trap(const BoxRow *row, char *out, size_t bytes);

#endif
