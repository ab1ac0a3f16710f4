/* Edit: opens a run's source files in the user's editor, and watches them for changes. */
#ifndef TUI_EDIT_H
#define TUI_EDIT_H

#include "tui/scene/scene.h"
#include "tui/view/view.h"

typedef struct EditPlace {
    const char *file;
    int line; /* from 1 */
} EditPlace;

/* The session's file (there is at least one) and line of the current step; the first file if none contains
 * it. */
EditPlace edit_place(const char *const *files, int count, const Scene *scene, const View *view);

/* The command line that opens the user's editor ($VISUAL, $EDITOR, else nano or vi) at this place, for
 * execvp(); the caller owns it, as one block. */
char **edit_command(EditPlace place);
const char *edit_program(void); /* its name, as the user wrote it */
/* True: it is vi, which the user has not chosen, so how to leave it has to be said. */
bool edit_needs_words(void);

/* Notices when a file is changed, replaced or created. */
typedef struct FileWatch FileWatch;
FileWatch *file_watch_new(const char *const *files, int count);
void file_watch_free(FileWatch *watch);
/* Returns true once for each change since file_watch_new(). */
bool file_watch_changed(FileWatch *watch);
/* For files that both watch, changes count from the state that `from` saw, so that no change in between is
 * missed. */
void file_watch_follow(FileWatch *watch, const FileWatch *from);

#endif
