/* Path signs: the colour of a path, and the letter of each lane of a warp that is split. */
#ifndef TUI_PANES_PATH_SIGNS_H
#define TUI_PANES_PATH_SIGNS_H

#include "tui/view/step_context.h"

enum { PATH_ROLES = 4 };

/* Of a row; from the fifth path on, the colours repeat. */
Role path_role(const BranchRows *rows, int row);

typedef struct PathSigns { /* letters of lanes; 0: not on a path */
    char letter[WARP_LANES];
    Role role[WARP_LANES];
} PathSigns;

/* The lanes that execute the event: of the path that runs, or at a branch that splits, of all its paths. */
void path_signs_of(const StepContext *context, int event, PathSigns *out);

#endif
