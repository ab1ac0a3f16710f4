/* An exercise: grades the learner's file, and shows its goals as a stop of the lecture. */
#include "tui/app_state.h"

#include "exercise/exercise_lecture.h"
#include "tui/draw/terminal.h"

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
