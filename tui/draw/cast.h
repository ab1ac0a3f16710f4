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

/* Creates the file; what it held before goes with the first frame. NULL with `error` where it cannot be
 * written. `timestamp`: of the beginning, in seconds since 1970. */
Cast *cast_open(const char *path, int64_t timestamp, Error *error);
/* A frame that is shown `seconds` after the beginning, of any size; a frame like the one before adds nothing.
 */
void cast_add(Cast *cast, const Canvas *canvas, Theme theme, double seconds);
/* NULL is allowed: nothing was recorded. False where not everything could be written. */
bool cast_close(Cast *cast, Error *error);

#endif
