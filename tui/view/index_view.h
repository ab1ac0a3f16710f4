/* Index view: the state of the index lab and its keys. The lab shows what an index expression costs: banks,
 * wavefronts, sectors (src/index), for two expressions A and B and the numbers in them. */
#ifndef TUI_VIEW_INDEX_VIEW_H
#define TUI_VIEW_INDEX_VIEW_H

#include "index/index_text.h"
#include "tui/view/step_context.h"

/* Opens the lab with these expressions; NULL for both: as it was last, at first with a stride and a padded
 * one. */
void view_index_open(View *view, const char *a, const char *b);
/* Opens it with the expression that gives the addresses of this access. False, with the view unchanged: the
 * step is no load or store of shared or global memory. */
bool view_index_open_access(View *view, const StepContext *context);

/* The expression alone. False: none gives all its addresses, or the step is no load or store of these. */
bool view_index_of_access(const StepContext *context, bool *is_store, char out[INDEX_TEXT_BYTES]);

/* IGNORED: not a key of the lab. */
ViewAnswer view_index_press(View *view, const Scene *scene, KeyPress press);

/* What the arrow keys can turn, in the order of Up and Down. */
typedef struct IndexField {
    enum {
        INDEX_FIELD_NUMBER,
        INDEX_FIELD_TEXT, /* an expression without numbers */
        INDEX_FIELD_S,
        INDEX_FIELD_N,
        INDEX_FIELD_WARP,
        INDEX_FIELD_BYTES,
        INDEX_FIELD_STORE,
        INDEX_FIELD_LANES /* those of the access, or all; only if these differ */
    } kind;
    int expression; /* of NUMBER and TEXT: 0: A, 1: B; of the others: A */
    int number;     /* of NUMBER */
} IndexField;

enum { INDEX_FIELDS = 2 * INDEX_NUMBERS + 8 };
IndexField view_index_field(const ViewIndex *index); /* the selected one */

/* A (0) or B (1), as it is typed or as it last was without an error; false with `error`. */
bool view_index_access(const ViewIndex *index, int expression, bool last_good, IndexAccess *out,
                       Error *error);

enum { INDEX_CHART = 32 };
typedef struct IndexChart { /* the expression at each value of the selected field */
    int count;              /* 0: the field has no values */
    int now;                /* the current value's place; -1: not among them */
    int64_t value[INDEX_CHART];
    int wavefronts[INDEX_CHART], ideal[INDEX_CHART]; /* 0: an error */
    int most;                                        /* wavefronts */
} IndexChart;
void view_index_chart(const ViewIndex *index, IndexChart *out);
/* "16 (of A)", "s", "bytes": the selected field in words. */
void view_index_print_field(const ViewIndex *index, char *out, size_t bytes);

#endif
