/* Grade class: grades files, several at a time, each in a process of its own.
 *
 * Nothing that a file makes a compiler or the emulator do stops the others. A process that uses more
 * processor time than it may is ended. */
#ifndef EXERCISE_GRADE_CLASS_H
#define EXERCISE_GRADE_CLASS_H

#include "exercise/grade_print.h"

typedef struct GradeClass {
    const Exercise *exercise;
    const GradeLimits *limits; /* .threads: for all files together; .cancel is not used */
    char *const *files;
    int count;
    GradeForm form;
    void (*print)(Text *part); /* of the document, as soon as it is known; it calls text_done() */
} GradeClass;

/* In the order of the files. A signal that ends the program ends it behind a whole document of what is known.
 * *passed: all files reach all goals. */
bool grade_class(const GradeClass *class, bool *passed, Error *error);

#endif
