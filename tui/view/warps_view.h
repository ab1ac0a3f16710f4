/* Warps view: the cursor, the window and the keys of warps in time.
 *
 * The cursor is a wait of a warp on the timeline. It and the step on the screen are one: selecting a wait
 * goes to the step that executes the instruction which waits, and while the view moves otherwise, the cursor
 * follows the step. */
#ifndef TUI_VIEW_WARPS_VIEW_H
#define TUI_VIEW_WARPS_VIEW_H

#include "tui/view/step_context.h"

const SessionWarps *warps_view_of(const Scene *scene); /* NULL: unknown */
/* The timeline that the view selects; NULL: there is none. `index` (may be NULL): its place in
 * SessionWarps. */
const WarpTimeline *warps_view_timeline(const Scene *scene, const View *view, int *index);

typedef struct WarpsCursor {
    int line, wait; /* of the timeline; wait -1: none */
} WarpsCursor;
WarpsCursor warps_view_cursor(const StepContext *context);

/* The site waits for the instruction of the step on the screen, or for another of its source line. A
 * recording that is of other code (another type) is compared by lines alone. */
bool warps_view_is_here(const StepContext *context, const WarpSite *site);
/* The source line of a site; NULL: unknown. */
const char *warps_view_source(const Scene *scene, const WarpSite *site);

typedef struct WarpsWindow { /* the cycles shown */
    uint32_t begin, span;    /* span: 1 at least */
} WarpsWindow;
/* `line`: the cursor's. */
WarpsWindow warps_view_window(const View *view, const WarpTimeline *timeline, int line);

/* Selects the wait (-1: the warp alone) and goes to its step, as far as the run has it. */
void warps_view_select(View *view, const Scene *scene, int line, int wait);
void warps_view_choose(View *view, const Scene *scene, int timeline);

/* The pane is on the screen, has something to show, and has the focus. `scene` may be NULL: none. */
bool warps_view_has_keys(const View *view, const Scene *scene);
/* `number`: typed before the key, or -1. IGNORED: not a key of the pane. */
ViewAnswer warps_view_press(View *view, const Scene *scene, KeyPress press, int number);

#endif
