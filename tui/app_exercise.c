/* An exercise: grades the learner's file, and shows its goals as a stop of the lecture. */
#include "tui/app_state.h"

#include "base/language.h"
#include "exercise/exercise_lecture.h"
#include "tui/draw/terminal.h"
#include "tui/view/menu.h"
#include <string.h>

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
        lecture_view_begin_stop(&app->lecture, EXERCISE_STOP_GOALS);
    return true;
}

static bool is_offered(const ViewTitles *exercises, const char *name) {
    for (int i = 0; exercises && i < exercises->count; i++)
        if (!strcmp(exercises->names[i], name)) return true;
    return false;
}

/* Its file is the working folder's, and its run and grades are its own: another redviz shows it. */
void app_open_exercise(App *app, const char *name) {
    const char *command[] = {app->command, "--exercise", name, "--language", language(), NULL};
    if (app->waits || !app->command) {
        app_say(app, name, tr("an exercise needs a terminal: redviz --exercise NAME"));
        return;
    }
    if (!terminal_has_programs() && !is_offered(app_view(app)->display.exercises, name)) {
        app_say(app, name, tr("it needs a compiler for CUDA C++: redviz --exercise NAME in a terminal"));
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
