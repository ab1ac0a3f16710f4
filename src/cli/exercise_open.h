/* Exercises by name: their list, their check, and the grades of files. */
#ifndef CLI_EXERCISE_OPEN_H
#define CLI_EXERCISE_OPEN_H

#include "cli/options.h"
#include "cli/translated_files.h"
#include "exercise/grade.h"
#include "lecture/lecture.h"
#include "tui/view/view.h"

/* The exercise that `options` name, in their language or the locale's; NULL with `error`. The caller frees
 * it. */
Exercise *cli_exercise_open(const Options *options, Error *error);

/* Those that ship, in their order, for the menu. */
typedef struct OfferedExercises {
    ViewTitles rows;
    Exercise *exercises[TRANSLATED_MOST];
    const char *names[TRANSLATED_MOST], *titles[TRANSLATED_MOST], *tasks[TRANSLATED_MOST];
} OfferedExercises;

void cli_exercise_offer_open(const Options *options, OfferedExercises *out);
void cli_exercise_offer_close(OfferedExercises *offered);

/* A name that no exercise has is an error at its place. */
bool cli_exercise_check_lecture(const Lecture *lecture, Error *error);

/* --exercise: lists those that ship, in their order, with a mark for those that were solved. */
bool cli_exercise_list(const Options *options, Text *out, Error *error);

/* What a learner who leaves `exercise` does next: the next exercise if it is solved, else how to go on with
 * their file. */
void cli_exercise_print_next(const Options *options, const Exercise *exercise, const char *file);

/* --exercise NAME --check: true if its solutions behave as they must; *failed: one does not. */
bool cli_exercise_check(const Options *options, Text *out, bool *failed, Error *error);

/* --exercise NAME --grade FILE.cu or FOLDER: prints the grades. *failed: a file does not reach all goals. */
bool cli_exercise_grade(const Options *options, bool *failed, Error *error);

/* Writes NAME.cu with the task and what the learner begins with, unless there is such a file. */
bool cli_exercise_write_start(const Exercise *exercise, const char *path, Error *error);

#endif
