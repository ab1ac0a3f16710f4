/* Edit: the files that a run was made of, changed by the user's editor or by anybody else. */
#ifndef TUI_EDIT_H
#define TUI_EDIT_H

#include "tui/scene/scene.h"
#include "tui/view/view.h"

typedef struct EditPlace {
    const char *file;
    int line; /* from 1 */
} EditPlace;

/* Of the session's files (at least one) the one that holds the current step, and where; where none does, the
 * first. */
EditPlace edit_place(const char *const *files, int count, const Scene *scene, const View *view);

/* What runs the user's editor ($VISUAL, $EDITOR, else vi) at this place, as execvp() takes it; owned, one
 * block. */
char **edit_command(EditPlace place);
const char *edit_program(void); /* its name, as the user gave it */

/* Notices when files are changed, replaced, or come into being. */
typedef struct FileWatch FileWatch;
FileWatch *file_watch_new(const char *const *files, int count);
void file_watch_free(FileWatch *watch);
/* Since the last time that this was true, or since file_watch_new(). */
bool file_watch_changed(FileWatch *watch);
/* What both watch counts from where `from` stands: nothing that happened since goes unnoticed. */
void file_watch_follow(FileWatch *watch, const FileWatch *from);

#endif
