/* Files that the user edits, and re-running when they change. */
#include "tui/app_state.h"

#include "tui/draw/terminal.h"
#include <stdlib.h>
#include <string.h>

#define LOOK_SECONDS 0.25 /* between looks at watched files */

/* The line that the compiler rejected, else the line of this step. */
static EditPlace app_edit_place(App *app, const char *const *files, int count) {
    const Error *failure = &app_view(app)->transient.failure;
    for (int i = 0; i < count && failure->line; i++)
        if (!strcmp(files[i], failure->file)) return (EditPlace){files[i], failure->line};
    return edit_place(files, count, comparison_scene(&app->comparison), app_view(app));
}

void app_edit(App *app) {
    int count;
    RunSlot *slot = &app->slots[app->comparison.active];
    const char *const *files = session_files(slot->current.session, &count);
    if (!count || app->waits) {
        app_say(app, "nothing to edit",
                app->waits ? "the editor needs a terminal"
                           : "open your own FILE.cu or FILE.ptx; kernels/ has examples to copy");
        return;
    }
    char **command = edit_command(app_edit_place(app, files, count));
    int status = terminal_run(command);
    free(command);
    slot->is_stale |= file_watch_changed(slot->files);
    if (status == 127)
        app_say(app, edit_program(), "cannot be run; set EDITOR to the name of your editor");
    else if (status)
        app_say(app, edit_program(), "exited with an error");
    else if (!slot->is_stale)
        app_say(app, scene_file_name(files[0]), "unchanged");
}

void app_rerun_stale(App *app) {
    int count;
    for (int i = 0; i < app->comparison.count && !app->loader; i++) {
        RunSlot *slot = &app->slots[i];
        if (!slot->is_stale) continue;
        slot->is_stale = false;
        const char *const *files = session_files(slot->current.session, &count);
        app_open_at(app, session_options(slot->current.session), PURPOSE_EDIT, scene_file_name(files[0]), i);
    }
}

void app_check_files(App *app) {
    double now = app_now();
    if (!app->watch || now < app->look_due) return;
    app->look_due = now + LOOK_SECONDS;
    for (int i = 0; i < app->comparison.count; i++)
        if (app->slots[i].files) app->slots[i].is_stale |= file_watch_changed(app->slots[i].files);
}
