/* A row of boxes, shared by pane_reduction.c and reduction_*.c. Each file has one task: reduction_values.c
 * places boxes, reduction_rows.c selects those to draw and draws their contents, reduction_ways.c
 * the paths of operands to their sums, reduction_marks.c the faults, reduction_strip.c the whole block. */
#ifndef TUI_PANES_REDUCTION_ROW_H
#define TUI_PANES_REDUCTION_ROW_H

#include "tui/draw/canvas.h"
#include "tui/scene/reduction.h"
#include "tui/view/step_context.h"

enum { LABEL_COLUMNS = 14 }; /* left of the boxes */

typedef struct BoxRow { /* the boxes of the window, and where they are drawn */
    const StepContext *context;
    Canvas *canvas; /* NULL while only the pane's head is needed */
    Rectangle area;
    Reduction *reduction;
    const ReductionLevel *level; /* NULL: none */
    const TreePath *path;        /* of the final result, for inputs that it contains twice */
    const TreePath *chain;       /* of the selected box, if it is highlighted; NULL: not */
    int64_t first;
    int count, width;
    int tall;         /* rows of a value: 1, or those of a big number */
    int64_t selected; /* box; -1: not in this level */
    bool marked;      /* some sum has a mark after it, for which a column is reserved */
    bool is_chain;    /* the boxes are additions of one thread, one after another */
    bool brackets;    /* brackets are drawn to the boxes whose operands are all in the window */
} BoxRow;

/* ---- reduction_values.c -------------------------------------------------------------------------------- */

const ReductionBox *boxes_at(const BoxRow *row, int index);
bool boxes_in_window(const BoxRow *row, int64_t box);
int boxes_column(const BoxRow *row, int64_t box); /* column of its last digit */
const Tree *boxes_tree(const BoxRow *row);
const FoldNode *boxes_node(const BoxRow *row, int node);
/* The value is part of the selected one. */
bool boxes_is_lit(const BoxRow *row, int node);
/* The term is what the box shows as its value before. */
bool boxes_is_home(const BoxRow *row, const ReductionBox *box, const ReductionTerm *term);
/* Whether the term's value reaches its adder in this step. */
bool boxes_is_now(const BoxRow *row, const ReductionTerm *term);
/* The sum is complete: its store, or its addition, has been played. */
bool boxes_is_done(const BoxRow *row, const ReductionBox *box);
/* In at most `columns`, with an exponent if that is shorter: "1.2e9". */
void boxes_print_number(double value, int columns, char *out, size_t bytes);
/* The value in at most `columns`: exact, else rounded. */
void boxes_print_value(const BoxRow *row, PtxType type, uint64_t bits, int columns, char *out, size_t bytes);
void boxes_print_name(const BoxRow *row, char *out, size_t bytes); /* the name of the boxes' kind */
void boxes_draw_right(const BoxRow *row, int64_t box, int line, Role role, const char *text);
void boxes_draw_value(const BoxRow *row, int64_t box, int line, Role role, PtxType type, uint64_t bits);
void boxes_draw_dot(const BoxRow *row, int64_t box, int line);

/* ---- reduction_rows.c ---------------------------------------------------------------------------------- */

/* The row around the box of the selected thread. */
BoxRow boxes_row(const StepContext *context, int columns);
bool boxes_show_before(const BoxRow *row);
bool boxes_count_inputs(const BoxRow *row); /* a sum in the window has a meaningful input count */
bool boxes_sum_floats(const BoxRow *row);   /* a sum in the window has a known rounding error */
void boxes_draw_indexes(const BoxRow *row, int line);
void boxes_draw_before(const BoxRow *row, int line);
void boxes_draw_after(const BoxRow *row, int line);
void boxes_draw_threads(const BoxRow *row, int line);
void boxes_draw_inputs(const BoxRow *row, int line);
void boxes_draw_rounding(const BoxRow *row, int line); /* of each addition */
/* Describes which threads add in a line below the boxes: how many threads, in which part of the warps, with
 * how many lanes. False: this many rows have no room, and the pane's head says it in short. */
bool boxes_show_adders(const BoxRow *row, int rows);
void boxes_draw_adders(const BoxRow *row, int line);
/* The selected box in words: its sum, its rounding error, its distance from the exact sum. */
void boxes_draw_error(const BoxRow *row, int line);
/* Rows for the values that threads keep in registers beside their boxes, at most `room`; drawn below the
 * sums. */
int boxes_kept_rows(const BoxRow *row, int room);
void boxes_draw_kept(const BoxRow *row, int line, int rows);

/* ---- reduction_ways.c ---------------------------------------------------------------------------------- */

/* How the operands are drawn: a path between two boxes of the window if no paths overlap; else rows of their
 * own. */
typedef struct BoxWays {
    bool brackets; /* the row of brackets */
    int partners;  /* operands that need rows */
    int shown;     /* how many of them have room; one line describes the others */
    int rows;      /* all rows together */
} BoxWays;

/* Uses at most `room` rows; sets row->brackets. */
BoxWays boxes_plan_ways(BoxRow *row, int room);
void boxes_draw_ways(const BoxRow *row, const BoxWays *ways, int line);

/* ---- reduction_strip.c --------------------------------------------------------------------------------- */

/* Rows of the strip of all threads and its arcs; 0: no thread adds what another one made. */
int boxes_strip_rows(const BoxRow *row);
/* `counts`: with the number of threads that add. */
void boxes_draw_strip(const BoxRow *row, int line, bool counts);

/* ---- reduction_marks.c --------------------------------------------------------------------------------- */

enum {
    MARK_NONE = ' ',
    MARK_TWICE = '!',     /* it contains an input twice */
    MARK_LOST = '?',      /* it is in no result, and its inputs are lost */
    MARK_RACE = 'X',      /* made from a word that another thread writes concurrently */
    MARK_UNWRITTEN = 'U', /* made from a word that no thread had written */
    MARK_TRAP = 'T',      /* the run ends at this thread's access */
    MARK_STUCK = '='      /* the addition changed nothing, although its operand is not zero */
};

enum { MOST_FAULTS = 6 };
typedef struct BoxFaults { /* the meaning of the marks in the window, a line each */
    char line[MOST_FAULTS][160];
    int count;
} BoxFaults;

/* The fault of the box's sum. */
char boxes_mark(const BoxRow *row, const ReductionBox *box);
/* The term's load is part of a hazard that was found, and its word has another writer. */
bool boxes_is_racing(const BoxRow *row, const ReductionTerm *term);
void boxes_find_faults(const BoxRow *row, BoxFaults *out);
/* A sum of the window with a mark, or one of its operands, arrives in this step. */
bool boxes_marks_step(const BoxRow *row);
/* The block's run ends at this place, in an access of boxes that are threads. */
bool boxes_has_trap(const BoxRow *row);
/* At that place the thread does nothing in the last step of the run: it trapped, or was stopped. */
bool boxes_is_stopped(const BoxRow *row, int thread);
void boxes_draw_trap(const BoxRow *row, int line); /* the element that each thread accessed */

#endif
