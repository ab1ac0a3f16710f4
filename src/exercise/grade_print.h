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

/* One file, or several: text is then a table, a line for each. */
void grade_print(const Exercise *exercise, const Grade *grades, int count, GradeForm form, Text *out);
const char *grade_mark(GoalState state); /* "[x]" */
/* Why the goal is not met, "as above" if it is the reason of the goal above; NULL: it is met. */
const char *grade_why(const Grade *grade, int goal);

#endif
