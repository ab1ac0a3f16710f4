/* Frame: one screen, a pure function of scene, view and size. */
#ifndef TUI_FRAME_H
#define TUI_FRAME_H

#include "layout.h"

/* Draws onto the whole canvas. */
void frame_draw(const Scene *scene, const View *view, Canvas *canvas);

/* A click at this place of the screen: selects, seeks, goes to another pane. */
ViewAnswer frame_click(const Scene *scene, View *view, int columns, int rows, int column, int row);

#endif
