/* Grading: an exercise that is solved in the interface. The learner's file is graded in a worker thread
 * whenever it changes. */
#ifndef TUI_GRADING_H
#define TUI_GRADING_H

#include "exercise/grade.h"
#include "tui/lecture_run.h"

typedef struct Grading Grading;

/* Of `file`, which the run shows; all are borrowed. NULL with `error`. */
Grading *grading_new(const Exercise *exercise, const char *file, const RunSpec *run, Error *error);
void grading_free(Grading *grading);

/* Tells a page of the exercise, which it shows beside its editor; `grade` NULL: there is none yet. */
void grading_tell(const Exercise *exercise, const Grade *grade);

/* The lecture with the state that is known; valid until grading_free(). */
const LectureRun *grading_lecture(const Grading *grading);
/* Grades the file as it is now, in place of what is being graded. The thread calls `done`. */
void grading_begin(Grading *grading, void (*done)(void));
/* Waits until the grade that has begun is complete. */
void grading_wait(Grading *grading);
/* True: a grade is complete, and grading_lecture() shows it. */
bool grading_take(Grading *grading);

#endif
