/* The forms in which a grade is printed. */
#ifndef EXERCISE_GRADE_PRINT_H
#define EXERCISE_GRADE_PRINT_H

#include "exercise/grade.h"

typedef enum GradeForm {
    GRADE_TEXT,
    GRADE_JSON,
    GRADE_GRADESCOPE, /* results.json of Gradescope's autograder */
    GRADE_JUNIT       /* JUnit XML, as GitHub Classroom and others read it */
} GradeForm;

/* A document is its begin, its files with separators between them, and its end. In text, a file alone is told
 * whole; one of several is a line of a table. */
void grade_print_begin(const Exercise *exercise, uint64_t seed, GradeForm form, Text *out);
void grade_print_file(const Exercise *exercise, const Grade *grade, bool is_alone, GradeForm form, Text *out);
const char *grade_print_separator(GradeForm form);
void grade_print_end(GradeForm form, Text *out);
/* What a page shows beside its editor, as JSON: title, task and hints in Markdown, and the goals; none before
 * the first grade, which is NULL. */
void grade_print_exercise(const Exercise *exercise, const Grade *grade, Text *out);
const char *grade_mark(GoalState state); /* "[x]" */
/* Why the goal is not met, "as above" if it is the reason of the goal above; NULL: it is met. */
const char *grade_why(const Grade *grade, int goal);

#endif
