/* Branch rows: the paths of a split as the interface names them: a letter, and what the lanes do in words of
 * the source ("enter the if"), or of PTX where the source is not there.
 *
 * The branches that one source line makes (switch, &&) are one group of rows; so are the rounds of a loop, of
 * which the lanes that have left it are one row. A group inside a path continues its letters. */
#ifndef TUI_SCENE_BRANCH_ROWS_H
#define TUI_SCENE_BRANCH_ROWS_H

#include "trace/paths.h"

enum { MOST_BRANCH_ROWS = WARP_LANES };

/* In the order in which a sentence names them. */
typedef enum BranchWords {
    BRANCH_ENTERS_IF,
    BRANCH_ENTERS_ELSE,
    BRANCH_GOES_ON,
    BRANCH_ENTERS_LOOP,
    BRANCH_CASE,
    BRANCH_NO_CASE,
    BRANCH_SKIPS,
    BRANCH_DONE,
    BRANCH_RETURNS,
    BRANCH_JUMPS,
    BRANCH_FALLS_THROUGH,
    BRANCH_WORDS_COUNT
} BranchWords;

typedef struct BranchRow {
    uint32_t lanes;
    int path;              /* -1: lanes that left the loop in an earlier round */
    bool only_waits;       /* they continue at the join */
    uint64_t instructions; /* warp instructions issued on it */
    uint64_t alone;        /* the same with the conditions on the way to it: if all lanes went this way */
    PathLines lines;       /* source lines that it executes; first 0: none */
    int shared_line;       /* of lanes that wait within the statement: what they execute with others; or 0 */
    BranchWords words;
    char label[24]; /* of BRANCH_CASE: "case 3", "default" */
} BranchRow;

typedef struct BranchRows {
    BranchRow rows[MOST_BRANCH_ROWS];
    int count;
    int first_letter; /* of the first row: 0 is A */
    int split;        /* the first of the group */
    uint64_t issued;  /* warp instructions of all rows */
    bool is_counted;  /* false: there may be more */
} BranchRows;

/* The text of a line of source; NULL: unknown. */
typedef struct BranchSource {
    const char *(*line)(const void *context, const char *file, int line);
    const void *context;
} BranchSource;

/* The group of a split, without words. */
void branch_rows_of(const Paths *paths, const PtxProgram *program, int split, BranchRows *out);
/* The same with words. */
void branch_rows_describe(const Paths *paths, const PtxProgram *program, const BranchSource *source,
                          BranchRows *rows);
/* The row that contains the path; -1: none. */
int branch_rows_find(const Paths *paths, const BranchRows *rows, int path);
char branch_letter(const BranchRows *rows, int row); /* 'A' */

/* "enter", "case 3": for a table. */
const char *branch_label(const BranchRow *row);
/* "4 lanes enter the if, 28 skip it" */
void branch_rows_print(const BranchRows *rows, Text *out);

#endif
