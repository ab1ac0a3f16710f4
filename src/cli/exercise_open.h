/* Exercises by name: their list, their check, and the grades of files. */
#ifndef CLI_EXERCISE_OPEN_H
#define CLI_EXERCISE_OPEN_H

#include "cli/options.h"
#include "exercise/grade.h"

/* The exercise that `options` name, in their language or the locale's; NULL with `error`. The caller frees it. */
Exercise *exercise_open(const Options *options, Error *error);

/* --exercise: lists those that ship, in their order, with a mark for those that were solved. */
bool exercise_list(const Options *options, Text *out, Error *error);

/* --exercise NAME --check: true if its solutions behave as they must; *failed: one does not. */
bool exercise_check(const Options *options, Text *out, bool *failed, Error *error);

/* --exercise NAME --grade FILE.cu or FOLDER. *failed: a file does not reach all goals. */
bool exercise_grade(const Options *options, Text *out, bool *failed, Error *error);

/* Writes NAME.cu with the task and what the learner begins with, unless there is such a file. */
bool exercise_write_start(const Exercise *exercise, const char *path, Error *error);

#endif
