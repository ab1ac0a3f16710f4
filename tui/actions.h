/* Actions: a function for each row of keys.def. Called by tui/input.c, which reads the keys. */
#ifndef TUI_ACTIONS_H
#define TUI_ACTIONS_H

#include "tui/view/view.h"

typedef struct Press { /* a key, as the functions see it */
    View *view;
    const Scene *scene;
    int direction; /* 1 or -1 */
    int number;    /* typed before, or -1 */
} Press;

ViewAnswer action_run(KeyAction action, Press press);

/* Goes to the next step (in the press' direction) that matches the view's search; without one, a message says
 * so. */
ViewAnswer action_search(Press press);

/* What was typed after ':'. Other words than these give a message that names them. */
ViewAnswer action_command(Press press, const char *command);

#endif
