/* A warp's shared access as lines of 32 words, one word for each bank (pane_banks.c). */
#ifndef TUI_PANES_BANKS_H
#define TUI_PANES_BANKS_H

#include "tui/panes/pane.h"

enum { BANKS_MOST_ROWS = WARP_LANES * 9 }; /* a lane of 32 bytes touches at most 9 words */

typedef struct BankRow {
    uint64_t line; /* word / 32 */
    int8_t
        lane[BANK_COUNT]; /* lane that is served now, or the lowest that accesses the word; -1: untouched */
    uint8_t sharers[BANK_COUNT]; /* lanes that access it */
    uint32_t lit, served;        /* banks served by the current wavefront, by an earlier one */
    uint32_t waits;              /* banks with lanes that are served later */
    uint32_t selected;           /* banks of the selected lane's words */
} BankRow;

typedef struct Banks {
    BankRow rows[BANKS_MOST_ROWS]; /* ascending */
    int count;
    int words[BANK_COUNT];  /* distinct words per bank, in the current phase; counts_lanes: lanes */
    int ways;               /* the maximum over all phases */
    bool shared_words;      /* several lanes access the same word */
    int phase, phase_lanes; /* of the current wavefront; lanes per phase */
    bool is_trap;           /* the access that ended the run */
    bool is_modelled;       /* wavefronts are known */
    bool counts_lanes;      /* of an atomic: a bank serves one lane at a time */
} Banks;

/* The shared access of the step shown. */
void banks_fill(Banks *banks, const StepContext *context);

/* The lines of the kernel's arrays. On a GPU they begin after the memory that the driver reserves. */
typedef struct BankLines {
    uint64_t first, count;
} BankLines;

BankLines banks_lines_of_arrays(const StepContext *context);
/* The rows left for all of shared memory, below the header and above the words. */
bool banks_fill_rows(const StepContext *context, int rows);

/* Banks side by side form a band: a header, the lines, the words. */
typedef struct BankGrid {
    int label, width, banks; /* columns left of the cells, columns of a cell, cells of a row */
    int band, bands;         /* the first band shown, and how many */
    int room, first, shown;  /* rows for lines, the first line shown, how many */
    int cell_rows;           /* 1: the lane; 2: also its value; 3: also how long it waits */
    bool is_beside;          /* all of these in one row */
    int spacing;             /* rows from one line to the next */
    int band_rows;
} BankGrid;

/* Adds rows for lines that are not accessed, if all of shared memory fits. */
BankGrid bank_grid_lay_out(Banks *banks, const StepContext *context, Rectangle area);
bool bank_grid_is_enlarged(const StepContext *context);

/* Accesses of other blocks' shared memory in a cluster, drawn block by block. */

enum { PEERS_MOST = LAUNCH_CLUSTER_BLOCKS };

typedef struct PeerBlock { /* a block whose shared memory the warp's access reaches */
    uint32_t block;        /* linear index in the grid */
    bool is_own;           /* the block that accesses it */
    uint32_t lanes;        /* the lanes that access it */
    int event;             /* index in the traced block */
} PeerBlock;

/* The blocks that the shown access reaches, by rank, including its own; 0: it stays in its own block. */
int peers_list(const StepContext *context, PeerBlock peers[PEERS_MOST]);
void peers_head(const StepContext *context, PaneHead *out);
void peers_draw(const StepContext *context, Canvas *canvas, Rectangle area);
void peers_explain(const StepContext *context, Text *out);

#endif
