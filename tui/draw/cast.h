/* Cast: a recording of the frames shown, as an asciicast (version 2: a JSON header line, then an event a
 * line) that asciinema plays and agg or svg-term turn into pictures. What is recorded is what the terminal
 * was sent, in the language of xterm-256color, whichever terminal it was: the first frame whole, then the
 * cells that changed. */
#ifndef TUI_DRAW_CAST_H
#define TUI_DRAW_CAST_H

#include "base/error.h"
#include "tui/draw/theme.h"
#include <stdint.h>

typedef struct Cast Cast;

/* The file is created, or what it held before goes, with the first frame: a recording without one leaves no trace. NULL
 * with `error` where it cannot be written. `timestamp`: of the beginning, in seconds since 1970; 0: it has none. */
Cast *cast_open(const char *path, int64_t timestamp, Error *error);
/* A frame that is shown `seconds` after the beginning, of any size; a frame like the one before adds nothing.
 */
void cast_add(Cast *cast, const Canvas *canvas, Theme theme, double seconds);
/* Nothing changes until then: players show the last frame as long. */
void cast_hold(Cast *cast, double seconds);
/* How long a reader needs for the frame that was added last: 0.6 seconds, and 1 for every 600 cells in which it differs
 * from the frame before, up to 4 seconds. */
double cast_reading_seconds(const Cast *cast);
/* NULL is allowed: nothing was recorded. False where not everything could be written. */
bool cast_close(Cast *cast, Error *error);

#endif
