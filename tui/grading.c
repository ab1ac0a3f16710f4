#include "tui/grading.h"

#include "exercise/exercise_lecture.h"
#include "exercise/grade_print.h"
#include "exercise/solved.h"
#include "tui/draw/terminal.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct Grading {
    const Exercise *exercise;
    const char *file;
    LectureScreen *screens; /* [stop_count] all show the same run */
    Lecture **lectures;     /* those that were shown; the last one is current */
    int count, capacity;
    LectureRun run;
    pthread_t thread;
    bool is_running, has_joined, begins_again;
    atomic_bool is_done;
    atomic_bool cancel;
    void (*done)(void);
    Grade grade;
    Error error;
};

void grading_tell(const Exercise *exercise, const Grade *grade) {
    Text json = {0};
    grade_print_exercise(exercise, grade, &json);
    terminal_tell_exercise(text_string(&json));
    text_done(&json);
}

static bool show(Grading *grading, const Grade *grade, Error *error) {
    Lecture *lecture = exercise_lecture(grading->exercise, grading->file, grade, error);
    if (!lecture) return false;
    array_push(grading->lectures, grading->count, grading->capacity, lecture);
    grading->run.lecture = lecture;
    return true;
}

Grading *grading_new(const Exercise *exercise, const char *file, const RunSpec *run, Error *error) {
    Grading *grading = memory_new(sizeof *grading);
    grading->exercise = exercise;
    grading->file = file;
    if (!show(grading, NULL, error)) {
        free(grading);
        return NULL;
    }
    grading->screens = memory_new((size_t)grading->run.lecture->stop_count * sizeof *grading->screens);
    grading->screens[0] = (LectureScreen){.is_set = true, .run = file, .session = run};
    grading->run.screens = grading->screens;
    return grading;
}

void grading_wait(Grading *grading) {
    if (grading->is_running && !grading->has_joined) pthread_join(grading->thread, NULL);
    grading->has_joined = true;
}

void grading_free(Grading *grading) {
    if (!grading) return;
    grading->cancel = true;
    if (grading->is_running) {
        grading_wait(grading);
        grade_done(&grading->grade);
    }
    for (int i = 0; i < grading->count; i++) lecture_free(grading->lectures[i]);
    free(grading->lectures);
    free(grading->screens);
    free(grading);
}

const LectureRun *grading_lecture(const Grading *grading) {
    return &grading->run;
}

static void *work(void *context) {
    Grading *grading = context;
    GradeLimits limits = {.threads = 1, .cancel = &grading->cancel};
    grade_file(grading->exercise, grading->file, NULL, &limits, &grading->grade, &grading->error);
    atomic_store(&grading->is_done, true);
    grading->done();
    return NULL;
}

void grading_begin(Grading *grading, void (*done)(void)) {
    grading->done = done;
    grading->cancel = grading->begins_again = grading->is_running;
    if (grading->is_running) return; /* grading_take() begins again */
    atomic_store(&grading->is_done, false);
    grading->error = (Error){0};
    grading->has_joined = false;
    grading->is_running = !pthread_create(&grading->thread, NULL, work, grading);
}

bool grading_take(Grading *grading) {
    if (!grading || !grading->is_running || !atomic_load(&grading->is_done)) return false;
    grading_wait(grading);
    grading->is_running = false;
    bool is_new = !grading->begins_again && show(grading, &grading->grade, NULL);
    if (is_new) grading_tell(grading->exercise, &grading->grade);
    if (is_new && grade_passed(&grading->grade)) solved_add(grading->exercise->name);
    grade_done(&grading->grade);
    if (grading->begins_again) grading_begin(grading, grading->done);
    return is_new;
}
