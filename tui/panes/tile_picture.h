/* The picture of a tensor copy: where its box lies in the array, and which 16-byte piece of which row
 * (im2col: pixel) lies in which banks of shared memory. Pixels and gathered rows are no box: of them it says
 * how many they are, and where the first byte lies. */
#ifndef TUI_PANES_TILE_PICTURE_H
#define TUI_PANES_TILE_PICTURE_H

#include "trace/tile.h"
#include "tui/panes/pane.h"

typedef struct TilePicture {
    TraceTile tile;
    const char *array, *shared; /* names */
    uint64_t array_bytes;
    uint64_t offset;         /* in the array, of the first byte inside of the tensor */
    uint64_t shared_offset;  /* in `shared` */
    uint64_t shared_address; /* in the window: the swizzle is a function of it */
    bool loads;
} TilePicture;

void tile_picture_draw(const TilePicture *picture, Canvas *canvas, Rectangle area);

#endif
