/* Accesses of other blocks' shared memory in a cluster, drawn block by block. */
#ifndef TUI_PANES_PEERS_PANE_H
#define TUI_PANES_PEERS_PANE_H

#include "tui/panes/pane.h"

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
