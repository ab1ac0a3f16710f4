/* Files that the user edits, and re-running when they change. */
#define _POSIX_C_SOURCE 200809L
#include "tui/app_state.h"

#include "base/clock.h"
#include "base/language.h"
#include "tui/draw/terminal.h"
#include "exercise/exercise_lecture.h"
#include "tui/view/menu.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_SECONDS 0.25 /* between looks at watched files */

/* The line that the compiler rejected, else the line of this step. */
static EditPlace app_edit_place(App *app, const char *const *files, int count) {
    int index = app_edited_index(app);
    const View *view = &app->comparison.view[index];
    const Error *failure = &view->transient.failure;
    for (int i = 0; i < count && failure->line; i++)
        if (!strcmp(files[i], failure->file)) return (EditPlace){files[i], failure->line};
    return edit_place(files, count, app->comparison.scene[index], view);
}

/* ---- the editor ---------------------------------------------------------------------------------------- */

/* The reader was not told yet how to leave the editor. */
static bool app_needs_words(const App *app) {
    return !app->told_of_editor && terminal_has_programs() && edit_needs_words();
}

/* True: it opens at the next Enter; the reader learns first how to leave it. */
static bool app_tell_of_editor(App *app) {
    View *view = app_view(app);
    if (!app_needs_words(app)) return false;
    app->told_of_editor = true;
    view_say(view, "%s", tr("vi: i types, Esc then :wq saves and leaves (or set EDITOR)   Enter: open"));
    view->transient.input = INPUT_EDITOR;
    return true;
}

/* False: it could not be run, or failed, and a message says so; or it goes on. */
static bool app_run_editor(App *app, EditPlace place) {
    char **command = edit_command(place);
    int status = terminal_run(command);
    free(command);
    if (status == TERMINAL_GOES_ON)
        app->watch = true;
    else if (status == 127)
        app_say(app, edit_program(), tr("cannot be run; set EDITOR to the name of your editor"));
    else if (status)
        app_say(app, edit_program(), tr("exited with an error"));
    return status == 0;
}

/* ---- kernels of the catalogue -------------------------------------------------------------------------- */

static void app_ask_to_copy(App *app, const char *source) {
    View *view = app_view(app);
    if (!text_ends_with(source, ".cu")) {
        app_say(app, source, tr("Triton compiles it, which redviz does not run; other kernels are .cu"));
        return;
    }
    if (!terminal_has_programs()) {
        app_say(app, source, tr("a browser compiles no CUDA C++; a PTX file can be dropped here and edited"));
        return;
    }
    bool is_there = access(source, F_OK) == 0;
    if (app_needs_words(app)) {
        app->told_of_editor = true;
        view_say(view,
                 is_there ? tr("./%s is there: edit it?   vi: i types, Esc :wq leaves   Enter: yes   Esc: no")
                          : tr("edit a copy, ./%s?   vi: i types, Esc :wq leaves   Enter: yes   Esc: no"),
                 source);
    } else {
        view_say(view,
                 is_there ? tr("./%s is there already: edit it?   Enter: yes   Esc: no")
                          : tr("copy %s to ./ and edit it?   Enter: yes   Esc: no"),
                 source);
    }
    view->transient.input = INPUT_COPY;
}

/* Never overwrites a file. */
static bool copy_source(const char *source, Error *error) {
    char path[PATH_MAX], *text;
    size_t length;
    if (access(source, F_OK) == 0) return true;
    if (!catalog_path("kernels", source, path, sizeof path, error) ||
        !text_read_file(path, 1 << 20, &text, &length, error))
        return false;
    int file = open(source, O_WRONLY | O_CREAT | O_EXCL, 0666);
    bool good = file >= 0 && write(file, text, length) == (ssize_t)length;
    if (file >= 0) good = close(file) == 0 && good;
    free(text);
    return good || error_set(error, "cannot be written here: %s", strerror(errno));
}

static RunSpec options_of_copy(const Session *session) {
    RunSpec options = *session_spec(session);
    options.source = session_row(session)->source;
    options.ptx = NULL;
    return options;
}

void app_copy_source(App *app) {
    Error error = {0};
    const Session *session = app->slots[app_edited_index(app)].current.session;
    const char *source = session_row(session)->source;
    RunSpec options = options_of_copy(session);
    if (copy_source(source, &error))
        app_open_at(app, &options, PURPOSE_COPY, source, app_edited_index(app));
    else
        app_say(app, source, error.message);
}

/* The copy cannot be run: if the error is in it, the editor opens there. */
static void app_edit_broken_copy(App *app, const Error *error) {
    const Session *session = app->slots[app_edited_index(app)].current.session;
    const char *source = session_row(session)->source;
    if (strcmp(scene_file_name(error->file), source) != 0) return;
    FileWatch *watch = file_watch_new(&source, 1);
    bool is_done = app_run_editor(app, (EditPlace){source, error->line ? error->line : 1});
    RunSpec options = options_of_copy(session);
    if (is_done && file_watch_changed(watch)) app_show_changed(app, &options, source);
    file_watch_free(watch);
}

/* ---- the key, and changed files ------------------------------------------------------------------------ */

void app_edit(App *app) {
    int count;
    RunSlot *slot = &app->slots[app_edited_index(app)];
    Session *session = slot->current.session;
    const char *const *files = session_files(session, &count);
    if (app->waits) {
        app_say(app, tr("nothing to edit"), tr("the editor needs a terminal"));
    } else if (count) {
        if (app_tell_of_editor(app)) return;
        bool is_done = app_run_editor(app, app_edit_place(app, files, count));
        slot->is_stale |= file_watch_changed(slot->files);
        if (is_done && !slot->is_stale) app_say(app, scene_file_name(files[0]), tr("unchanged"));
    } else if (session_row(session) && !session_is_from_file(session)) {
        app_ask_to_copy(app, session_row(session)->source);
    } else {
        app_say(app, tr("nothing to edit"), tr("a saved run holds no file; open FILE.cu or FILE.ptx itself"));
    }
}

void app_rerun_stale(App *app) {
    int count;
    bool ran = app->copied == COPY_RAN, refused = app->copied == COPY_REFUSED;
    app->copied = COPY_NONE;
    if (ran) app_edit(app);
    if (refused) app_edit_broken_copy(app, &app->error);
    bool is_stale = app->slots[0].is_stale || app->slots[1].is_stale;
    if (is_stale && !app->loader && app->grading) {
        app->was_edited = true;
        app_grade(app);
    }
    for (int i = 0; i < app->comparison.count && !app->loader; i++) {
        RunSlot *slot = &app->slots[i];
        if (!slot->is_stale) continue;
        slot->is_stale = false;
        const char *const *files = session_files(slot->current.session, &count);
        RunSpec options = *session_spec(slot->current.session);
        run_spec_drop_remedy(&options);
        app_open_at(app, &options, PURPOSE_EDIT, scene_file_name(files[0]), i);
    }
}

void app_check_files(App *app) {
    double now = clock_seconds();
    if (!app->watch || now < app->look_due) return;
    app->look_due = now + LOOK_SECONDS;
    for (int i = 0; i < app->comparison.count; i++)
        if (app->slots[i].files) app->slots[i].is_stale |= file_watch_changed(app->slots[i].files);
}

/* ---- exercises ----------------------------------------------------------------------------------------- */

void app_grade(App *app) {
    if (!app->grading) return;
    grading_begin(app->grading, terminal_wake);
    if (!app->waits) return;
    grading_wait(app->grading);
    app_take_grade(app);
}

bool app_take_grade(App *app) {
    if (!grading_take(app->grading)) return false;
    bool is_before = app->lecture.stop == EXERCISE_STOP_TASK && app->was_edited;
    if (is_before || app->lecture.stop == EXERCISE_STOP_GOALS)
        view_lecture_begin_stop(&app->lecture, EXERCISE_STOP_GOALS);
    return true;
}

/* Its file is the working folder's, and its run and grades are its own: another redviz shows it. */
void app_open_exercise(App *app, const char *name) {
    const char *command[] = {app->command, "--exercise", name, "--language", language(), NULL};
    if (app->waits || !app->command) {
        app_say(app, name, tr("an exercise needs a terminal: redviz --exercise NAME"));
        return;
    }
    int status = terminal_run((char *const *)command);
    if (status == 0) app_say(app, name, tr("left; your file stays in this folder"));
    if (status > 0) app_say(app, name, tr("it could not be opened; redviz --exercise NAME says why"));
}

void app_open_chosen_exercise(App *app) {
    MenuRow chosen;
    if (menu_choice(app_view(app), &chosen)) app_open_exercise(app, chosen.name);
}
