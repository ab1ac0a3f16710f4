/* Actions: one function for each row of keys.def. tui/input.c reads the keys and calls them. */
#ifndef TUI_ACTIONS_H
#define TUI_ACTIONS_H

#include "tui/view/view.h"

typedef struct Press { /* a key, as the functions see it */
    View *view;
    const Scene *scene;
    int direction; /* 1 or -1 */
    int number;    /* typed before the key, or -1 */
} Press;

ViewAnswer action_run(KeyAction action, Press press);

/* Goes to the next step (in the direction of the press) that matches the view's search. Without a search, a
 * message says so. */
ViewAnswer action_search(Press press);

/* Runs the command typed after ':'. A message names an unknown command. */
ViewAnswer action_command(Press press, const char *command);

#endif
