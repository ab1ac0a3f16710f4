/* Frame: one screen as a pure function of scene, view and size. */
#ifndef TUI_FRAME_H
#define TUI_FRAME_H

#include "tui/layout.h"
#include "tui/panes/pane.h"

/* Draws onto the whole canvas. */
void frame_draw(const Scene *scene, const View *view, Canvas *canvas);

/* Handles a click at this place of the screen: selects, seeks, or focuses another pane. */
ViewAnswer frame_click(const Scene *scene, View *view, int columns, int rows, int column, int row);

/* What the layout needs to know about the block shown. */
LayoutNeeds frame_needs(const Scene *scene, const View *view);

/* The key whose hint is in this column of the footer, which is the screen's last row. KEY_NONE_PRESSED: no
 * hint there, or the row holds a message, or an overlay has the keys. */
Key frame_footer_key(const Scene *scene, const View *view, int columns, bool ascii, int column);

/* The parts of a frame, for screens that show two runs: header and panes; the line of hints, or the view's
 * message; the view's overlay, if any. `beside`: the other run, whose step_context_init() was true; NULL:
 * none. */
void frame_draw_run(const Scene *scene, const View *view, const StepContext *beside, const Layout *layout,
                    Canvas *canvas);
void frame_draw_footer(const Scene *scene, const View *view, Canvas *canvas, Rectangle area);
void frame_draw_overlay(const Scene *scene, const View *view, Rectangle area, Canvas *canvas);
/* Whether the pane is on the screen in this layout. */
bool frame_shows(const Scene *scene, const View *view, const Layout *layout, const Pane *pane);
/* The steps of the timeline at this place; no rows: there is no timeline. */
Rectangle frame_timeline_at(const Scene *scene, const View *view, const Layout *layout, int column, int row);
ViewAnswer frame_click_in(const Scene *scene, View *view, const Layout *layout, int column, int row);

#endif
