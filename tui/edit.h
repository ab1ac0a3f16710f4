/* Edit: opens a run's source files in the user's editor, and watches them for changes. */
#ifndef TUI_EDIT_H
#define TUI_EDIT_H

#include "tui/scene/scene.h"
#include "tui/view/view.h"

typedef struct EditPlace {
    const char *file;
    int line; /* from 1 */
} EditPlace;

/* The session's file (there is at least one) and line of the current step; the first file where no file has
 * it. */
EditPlace edit_place(const char *const *files, int count, const Scene *scene, const View *view);

/* The command line of the user's editor ($VISUAL, $EDITOR, else vi) at this place, for execvp(); owned, one
 * block. */
char **edit_command(EditPlace place);
const char *edit_program(void); /* its name, as the user gave it */

/* Notices when files are changed, replaced or created. */
typedef struct FileWatch FileWatch;
FileWatch *file_watch_new(const char *const *files, int count);
void file_watch_free(FileWatch *watch);
/* True once for every change since file_watch_new(). */
bool file_watch_changed(FileWatch *watch);
/* For files that both watch, changes count from the state that `from` saw: none in between is missed. */
void file_watch_follow(FileWatch *watch, const FileWatch *from);

#endif
