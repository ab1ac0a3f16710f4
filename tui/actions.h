/* Actions: one function for each row of keys.def. tui/input.c reads the keys and calls them. */
#ifndef TUI_ACTIONS_H
#define TUI_ACTIONS_H

#include "tui/panes/pane.h"
#include "tui/view/view.h"

typedef struct Press { /* a key, as the functions see it */
    View *view;
    const Scene *scene;
    int direction; /* 1 or -1 */
    int number;    /* typed before the key, or -1 */
} Press;

/* act_NAME of each row of keys.def, in actions.c, actions_find.c and actions_show.c. */
#define KEY(action, ...) ViewAnswer act_##action(Press press);
#include "tui/view/keys.def"

ViewAnswer action_run(KeyAction action, Press press);

/* Goes to the next step (in the direction of the press) that matches the view's search. Without a search, a
 * message says so. */
ViewAnswer action_search(Press press);

/* ---- for these three files */
static inline int action_repeats(const Press *press) {
    return press->number > 0 ? press->number : 1;
}
void action_focus_on(View *view, Focus focus);
int action_side_of(const Pane *pane); /* its number among the side panes */
/* Makes it the first side pane, and the one that z enlarges; false: it is already. */
bool action_bring_to_front(View *view, const Pane *pane);

#endif
