/* The page grades files one after another, in its only process. */
#include "exercise/grade_class.h"

bool grade_class(const GradeClass *class, bool *passed, Error *error) {
    Text out = {0};
    bool good = true;
    *passed = true;
    grade_print_begin(class->exercise, class->limits->seed, class->form, &out);
    for (int i = 0; good && i < class->count; i++) {
        Grade grade;
        good = grade_file(class->exercise, class->files[i], NULL, class->limits, &grade, error);
        if (i) text_add(&out, grade_print_separator(class->form));
        grade_print_file(class->exercise, &grade, class->count == 1, class->form, &out);
        *passed = *passed && good && grade_passed(&grade);
        grade_done(&grade);
    }
    grade_print_end(class->form, &out);
    class->print(&out);
    return good;
}
