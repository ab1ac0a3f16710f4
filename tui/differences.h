/* Differences: the metrics of two runs side by side: of the whole run, and of the traced block so far.
 *
 * A row reads as arithmetic: the left run's number, <, > or =, the right run's number, and how much more or
 * less the right one is. Nothing depends on colour. */
#ifndef TUI_DIFFERENCES_H
#define TUI_DIFFERENCES_H

#include "tui/draw/canvas.h"
#include "metrics/totals.h"
#include "tui/view/view.h"

typedef struct Differences {
    const char *name[2]; /* left, right; borrowed */
    char settings[96];   /* differing settings, if both run the same kernel */
    Totals run[2];       /* whole grid */
    double progress[2];  /* 0 .. 1, of the traced block */
    Totals so_far[2];    /* the traced block, up to the view's step */
    char time[160];      /* timings of both on one machine, as a row of the table; "": not timed for both */
    char time_of[2][80], faster[24]; /* its numbers; or why there is none */
    bool counting;                   /* the whole grid of one run is still being counted */
    bool linked;
} Differences;

void differences_init(Differences *out, const Scene *left, const View *left_view, const Scene *right,
                      const View *right_view, bool linked);

/* Draws the largest differences, as many as the area has room for. */
void differences_draw(const Differences *differences, Canvas *canvas, Rectangle area, bool boxed);
/* Draws every metric, from line `scroll` on. */
void differences_draw_all(const Differences *differences, Canvas *canvas, Rectangle area, int scroll);
/* The largest changes over the whole run: "shared loads 12 -> 6". */
void differences_describe(const Differences *differences, char *out, size_t bytes);
int differences_line_count(void); /* of differences_draw_all() */

/* Change: what an edit changed, above the run before it and the run after it: the entries of the ranked list
 * of findings whose counts differ, the results, the times; then the metrics that differ most. */

/* `scene`: before, after; `what`: what was edited, or the remedy. */
void change_draw(const Differences *differences, const Scene *const scene[2], const char *what,
                 Canvas *canvas, Rectangle area, bool boxed);

#endif
