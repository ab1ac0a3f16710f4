/* SVG: a frame as an image for any browser, for slides and the README. */
#ifndef TUI_DRAW_SVG_H
#define TUI_DRAW_SVG_H

#include "tui/draw/theme.h"

/* Uses the colours of a 256-colour terminal; if the theme leaves the background to the terminal, it is
 * dark. */
void canvas_to_svg(const Canvas *canvas, Theme theme, Text *out);

/* SVG movie: several frames as one animated image: style rules show and hide rows, without a script. It
 * repeats after its last frame. A reader who prefers reduced motion, and a program without animation, sees
 * the first frame. */

typedef struct SvgMovie SvgMovie;

SvgMovie *svg_movie_new(void);
void svg_movie_free(SvgMovie *movie); /* NULL is allowed */
/* Adds a frame shown for this time; all frames have the same size. A frame equal to the one before prolongs
 * it. */
void svg_movie_add(SvgMovie *movie, const Canvas *canvas, Theme theme, double seconds);
int svg_movie_frames(const SvgMovie *movie);
/* Needs at least one frame. */
void svg_movie_write(const SvgMovie *movie, Text *out);

#endif
