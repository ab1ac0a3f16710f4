/* An exercise as a lecture, which the interface plays beside the learner's file: the task, the goals with
 * their state, each hint, the solution. */
#ifndef EXERCISE_EXERCISE_LECTURE_H
#define EXERCISE_EXERCISE_LECTURE_H

#include "exercise/grade.h"
#include "lecture/lecture.h"

enum { EXERCISE_STOP_TASK, EXERCISE_STOP_GOALS };

/* `grade` NULL: it is being graded. `file` is the learner's. The texts are in the interface's language
 * (tr()), those of the exercise in the language of its file. NULL with `error`: its texts are no lecture. The
 * caller frees it. */
Lecture *exercise_lecture(const Exercise *exercise, const char *file, const Grade *grade, Error *error);

#endif
