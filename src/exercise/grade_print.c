#include "exercise/grade_print.h"
#include "base/json.h"
#include "base/language.h"
#include "base/visible.h"

#include <string.h>

const char *grade_mark(GoalState state) {
    static const char *const marks[] = {[GOAL_NOT_TRIED] = "[-]", [GOAL_MISSED] = "[ ]", [GOAL_MET] = "[x]"};
    return marks[state];
}

const char *grade_why(const Grade *grade, int goal) {
    const GradedGoal *goals = grade->goals;
    bool is_again = goal && goals[goal].state == GOAL_MISSED && goals[goal - 1].why && goals[goal].why &&
                    !strcmp(goals[goal].why, goals[goal - 1].why);
    return is_again ? tr("as above") : goals[goal].why;
}

static const char *visible(Text *out, const char *text) {
    text_clear(out);
    visible_add(out, text);
    return text_string(out);
}

static void print_goals(const Grade *grade, Text *out) {
    Text why = {0};
    for (int i = 0; i < grade->goal_count; i++) {
        const GradedGoal *goal = &grade->goals[i];
        text_print(out, "  %s %s", grade_mark(goal->state), goal->words);
        if (goal->is_count && goal->state == GOAL_MET) text_print(out, " (%s)", goal->value_text);
        text_add(out, "\n");
        if (goal->why) text_print(out, "      %s\n", visible(&why, grade_why(grade, i)));
    }
    text_done(&why);
}

static const GradedGoal *first_open(const Grade *grade) {
    for (int i = 0; i < grade->goal_count; i++)
        if (grade->goals[i].state != GOAL_MET) return &grade->goals[i];
    return NULL;
}

static void print_seed(uint64_t seed, Text *out) {
    if (!seed) return;
    text_print(out, tr("seed %llu (--seed %llu repeats it)"), (unsigned long long)seed,
               (unsigned long long)seed);
}

static void print_whole(const Grade *grade, Text *out) {
    Text data = {0};
    text_print(out, "%s, %.1f s\n", visible(&data, grade->file), grade->seconds);
    print_goals(grade, out);
    for (int n = 0; n < grade->note_count; n++)
        text_print(out, "  %s%s\n", tr("note: "), visible(&data, grade->notes[n]));
    text_print(out, tr("%d of %d goals"), grade->met_count, grade->goal_count);
    text_add(out, "\n");
    text_done(&data);
}

/* A line of the table of several files. */
static void print_row(const Grade *grade, Text *out) {
    const GradedGoal *open = first_open(grade);
    Text data = {0};
    text_print(out, tr("  %2d of %d  %-32s "), grade->met_count, grade->goal_count,
               visible(&data, grade->file));
    if (open && open->why)
        text_print(out, tr("%s: %s"), open->words, visible(&data, open->why));
    else if (open)
        text_add(out, open->words);
    text_add(out, "\n");
    text_done(&data);
}

static void begin_text(const Exercise *exercise, uint64_t seed, Text *out) {
    text_print(out, "%s: %s\n", exercise->name, exercise->title);
    print_seed(seed, out);
    if (seed) text_add(out, "\n");
}

static const char *state_text(GoalState state) {
    static const char *const texts[] = {
        [GOAL_NOT_TRIED] = "not tried", [GOAL_MISSED] = "missed", [GOAL_MET] = "met"};
    return texts[state];
}

static void add_goal_json(Json *json, const GradedGoal *goal) {
    json_open_object(json, NULL);
    json_string(json, "goal", goal->id);
    json_string(json, "words", goal->words);
    json_string(json, "state", state_text(goal->state));
    if (goal->is_count)
        json_number(json, "value", goal->value);
    else
        json_null(json, "value");
    json_string(json, "why", goal->why);
    if (goal->line)
        json_integer(json, "line", goal->line);
    else
        json_null(json, "line");
    json_close_object(json);
}

static void begin_json(const Exercise *exercise, uint64_t seed, Text *out) {
    Json json = {.out = out};
    json_open_object(&json, NULL);
    json_string(&json, "exercise", exercise->name);
    json_integer(&json, "seed", (int64_t)seed);
    json_open_array(&json, "files");
}

static void print_json(const Grade *grade, Text *out) {
    Json json = {.out = out};
    json_open_object(&json, NULL);
    json_string(&json, "file", grade->file);
    json_boolean(&json, "passed", grade_passed(grade));
    json_number(&json, "seconds", grade->seconds);
    json_open_array(&json, "goals");
    for (int g = 0; g < grade->goal_count; g++) add_goal_json(&json, &grade->goals[g]);
    json_close_array(&json);
    json_open_array(&json, "notes");
    for (int n = 0; n < grade->note_count; n++) json_string(&json, NULL, grade->notes[n]);
    json_close_array(&json);
    json_close_object(&json);
}

/* A test is a goal, and scores one point: https://gradescope-autograders.readthedocs.io, "Output format". */
static void print_gradescope(const Grade *grade, Text *out) {
    Json json = {.out = out};
    json_open_object(&json, NULL);
    json_number(&json, "execution_time", grade->seconds);
    if (grade->seed) {
        Text seed = {0};
        print_seed(grade->seed, &seed);
        json_string(&json, "output", text_string(&seed));
        text_done(&seed);
    }
    json_open_array(&json, "tests");
    for (int i = 0; i < grade->goal_count; i++) {
        const GradedGoal *goal = &grade->goals[i];
        json_open_object(&json, NULL);
        json_string(&json, "name", goal->words);
        json_integer(&json, "score", goal->state == GOAL_MET);
        json_integer(&json, "max_score", 1);
        json_string(&json, "status", goal->state == GOAL_MET ? "passed" : "failed");
        json_string(&json, "output", goal->why ? goal->why : "");
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    text_add(out, "\n");
}

static void print_junit(const Exercise *exercise, const Grade *grade, Text *out) {
    int skipped = 0;
    for (int g = 0; g < grade->goal_count; g++) skipped += grade->goals[g].state == GOAL_NOT_TRIED;
    text_add(out, "  <testsuite name=\"");
    visible_add_xml(out, grade->file);
    text_print(out, "\" tests=\"%d\" failures=\"%d\" skipped=\"%d\" time=\"%.3f\">\n", grade->goal_count,
               grade->goal_count - grade->met_count - skipped, skipped, grade->seconds);
    for (int g = 0; g < grade->goal_count; g++) {
        const GradedGoal *goal = &grade->goals[g];
        text_print(out, "    <testcase classname=\"%s\" name=\"", exercise->name);
        visible_add_xml(out, goal->words);
        text_add(out, goal->state == GOAL_MET ? "\"/>\n" : "\">");
        if (goal->state == GOAL_MET) continue;
        text_add(out, goal->state == GOAL_MISSED ? "<failure message=\"" : "<skipped message=\"");
        visible_add_xml(out, goal->why ? goal->why : "");
        text_add(out, "\"/></testcase>\n");
    }
    text_add(out, "  </testsuite>\n");
}

void grade_print_begin(const Exercise *exercise, uint64_t seed, GradeForm form, Text *out) {
    if (form == GRADE_TEXT) begin_text(exercise, seed, out);
    if (form == GRADE_JSON) begin_json(exercise, seed, out);
    if (form == GRADE_JUNIT) text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
}

void grade_print_file(const Exercise *exercise, const Grade *grade, bool is_alone, GradeForm form,
                      Text *out) {
    switch (form) {
    case GRADE_TEXT:
        (is_alone ? print_whole : print_row)(grade, out);
        break;
    case GRADE_JSON:
        print_json(grade, out);
        break;
    case GRADE_GRADESCOPE:
        print_gradescope(grade, out);
        break;
    case GRADE_JUNIT:
        print_junit(exercise, grade, out);
        break;
    }
}

const char *grade_print_separator(GradeForm form) {
    return form == GRADE_JSON ? "," : "";
}

void grade_print_exercise(const Exercise *exercise, const Grade *grade, Text *out) {
    Json json = {.out = out};
    json_open_object(&json, NULL);
    json_string(&json, "title", exercise->title);
    json_string(&json, "task", exercise->task);
    json_open_array(&json, "hints");
    for (int i = 0; i < exercise->hint_count; i++) json_string(&json, NULL, exercise->hints[i]);
    json_close_array(&json);
    json_open_array(&json, "goals");
    for (int i = 0; grade && i < grade->goal_count; i++) add_goal_json(&json, &grade->goals[i]);
    json_close_array(&json);
    json_close_object(&json);
}

void grade_print_end(GradeForm form, Text *out) {
    if (form == GRADE_JSON) text_add(out, "]}\n");
    if (form == GRADE_JUNIT) text_add(out, "</testsuites>\n");
}
