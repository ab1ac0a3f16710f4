/* Cast: a recording of the frames shown, as an asciicast (version 2: a JSON header line, then one event a
 * line) that asciinema plays and agg or svg-term convert to images. It holds what the terminal was sent, in
 * the language of xterm-256color, whichever terminal it was: the first frame whole, then the cells that
 * changed. */
#ifndef TUI_DRAW_CAST_H
#define TUI_DRAW_CAST_H

#include "base/error.h"
#include "tui/draw/theme.h"
#include <stdint.h>

typedef struct Cast Cast;

/* The first frame creates the file or replaces its contents: a recording without frames leaves no trace. NULL
 * with `error` if the file cannot be written. `timestamp`: of the beginning, in seconds since 1970; 0:
 * none. */
Cast *cast_open(const char *path, int64_t timestamp, Error *error);
/* Adds a frame that is shown `seconds` after the beginning, of any size; a frame equal to the one before adds
 * nothing. */
void cast_add(Cast *cast, const Canvas *canvas, Theme theme, double seconds);
/* Nothing changes until then: players keep showing the last frame. */
void cast_hold(Cast *cast, double seconds);
/* How long a reader needs for the last frame: 0.6 seconds, and 1 more for every 600 cells that differ from
 * the frame before, up to 4 seconds. */
double cast_reading_seconds(const Cast *cast);
/* NULL is allowed: nothing was recorded. Returns false if not everything could be written. */
bool cast_close(Cast *cast, Error *error);

#endif
