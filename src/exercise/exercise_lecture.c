#include "exercise/exercise_lecture.h"

#include "base/language.h"
#include "exercise/grade_print.h"

static void add_goals(const Grade *grade, Text *out) {
    if (!grade) {
        text_print(out, "## %s\n\n%s\n\n", tr("Goals"), tr("The file is being graded ..."));
        return;
    }
    text_print(out, "## ");
    text_print(out, grade_passed(grade) ? tr("Solved: %d of %d goals") : tr("%d of %d goals"),
               grade->met_count, grade->goal_count);
    text_add(out, "\n\n");
    if (grade_passed(grade)) text_print(out, "%s\n\n", tr("The hints and a solution follow."));
    for (int i = 0; i < grade->goal_count; i++) {
        const GradedGoal *goal = &grade->goals[i];
        text_print(out, "- %s %s", grade_mark(goal->state), goal->words);
        if (goal->is_count && goal->state == GOAL_MET) text_print(out, " (%s)", goal->value_text);
        text_print(out, "%s%s\n", goal->why ? ": " : "", goal->why ? grade_why(grade, i) : "");
    }
    text_add(out, "\n");
    for (int i = 0; i < grade->note_count; i++) text_print(out, "%s %s\n\n", tr("Note:"), grade->notes[i]);
}

Lecture *exercise_lecture(const Exercise *exercise, const char *file, const Grade *grade, Error *error) {
    Text text = {0};
    text_print(&text, "# %s\n\n```lecture\nlanguage: %s\nminutes: 10\nneeds: no GPU\n```\n\n%s\n\n",
               exercise->title, language(), exercise->task);
    text_print(&text, tr("Edit %s (`e`): after each save it runs again, and the next stop shows the goals."),
               file);
    text_print(&text, "\n\n```redviz\nexercise.%s\n```\n\n", exercise_suffix(exercise));
    add_goals(grade, &text);
    for (int i = 0; i < exercise->hint_count; i++) {
        text_print(&text, "## ");
        text_print(&text, tr("Hint %d of %d"), i + 1, exercise->hint_count);
        if (grade) text_add(&text, tr(", "));
        if (grade && grade_passed(grade))
            text_add(&text, tr("solved"));
        else if (grade)
            text_print(&text, tr("%d of %d goals"), grade->met_count, grade->goal_count);
        text_print(&text, "\n\n%s\n\n", exercise->hints[i]);
    }
    text_print(&text, "## %s\n\n%s\n\n```\n%s```\n", tr("A solution"),
               exercise->solution_text ? exercise->solution_text : "", exercise->solution);
    Lecture *lecture = lecture_parse(text_string(&text), text.length, exercise->path, error);
    text_done(&text);
    return lecture;
}
