/* Change: what an edit changed, above the run before it and the run after it: the entries of the ranked list of
 * findings whose counts differ, the results, the times; then the metrics that differ most. */
#ifndef TUI_CHANGE_H
#define TUI_CHANGE_H

#include "tui/draw/canvas.h"
#include "tui/scene/scene.h"

typedef struct Differences Differences; /* of differences.h */

/* `scene`: before, after; `what`: what was edited. */
void change_draw(const Differences *differences, const Scene *const scene[2], const char *what,
                 Canvas *canvas, Rectangle area, bool boxed);

#endif
