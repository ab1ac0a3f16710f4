/* SVG movie: several frames as one image that moves: style rules show and hide rows, and it needs no script. It begins again
 * after its last frame. Whoever asks for less motion, and a program that knows no animation, sees the first frame. */
#ifndef TUI_DRAW_SVG_MOVIE_H
#define TUI_DRAW_SVG_MOVIE_H

#include "tui/draw/theme.h"

typedef struct SvgMovie SvgMovie;

SvgMovie *svg_movie_new(void);
void svg_movie_free(SvgMovie *movie); /* NULL is allowed */
/* A frame that is shown so long; all are of the same size. One that equals the frame before prolongs it. */
void svg_movie_add(SvgMovie *movie, const Canvas *canvas, Theme theme, double seconds);
int svg_movie_frames(const SvgMovie *movie);
/* There is at least one frame. */
void svg_movie_write(const SvgMovie *movie, Text *out);

#endif
