/* The actions of keys.def by name, and the groups in which the help lists them. */
#ifndef TUI_VIEW_KEY_ACTIONS_H
#define TUI_VIEW_KEY_ACTIONS_H

enum { /* of KeyAction */
       ACT_NONE,
#define KEY(action, ...) ACT_##action,
#include "tui/view/keys.def"
       ACTION_COUNT
};

enum { /* of KeyGroup */
#define GROUP(group, title) KEY_GROUP_##group,
#include "tui/view/keys.def"
       KEY_GROUP_COUNT
};

#endif
