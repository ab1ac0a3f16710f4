#include "exercise/exercise.h"
#include "base/number.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef enum ExerciseSection { SECTION_TASK, SECTION_HINT, SECTION_SOLUTION, SECTION_WRONG } ExerciseSection;

typedef struct ExerciseReader {
    Exercise *exercise;
    const char *at, *end;
    int number; /* of the current line */
    const char *line;
    size_t length;
    ExerciseSection section;
    Text prose; /* of the section */
    const char *title;
    bool is_translation;
    Error *error;
} ExerciseReader;

static bool fail_at(const ExerciseReader *reader, int line, int column, const char *message) {
    return error_set_at(reader->error, reader->exercise->path, line, column, "%s", message);
}

static bool fail(const ExerciseReader *reader, const char *message) {
    return fail_at(reader, reader->number, 1, message);
}

static bool next_line(ExerciseReader *reader) {
    if (reader->at >= reader->end) return false;
    const char *stop = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    reader->line = reader->at;
    reader->length = (size_t)((stop ? stop : reader->end) - reader->at);
    reader->at = stop ? stop + 1 : reader->end;
    if (reader->length && reader->line[reader->length - 1] == '\r') reader->length--;
    reader->number++;
    return true;
}

static bool begins(const ExerciseReader *reader, const char *with) {
    size_t length = strlen(with);
    return reader->length >= length && !memcmp(reader->line, with, length);
}

static const char *keep(ExerciseReader *reader, const char *from, const char *to) {
    while (from < to && isspace((unsigned char)*from)) from++;
    while (to > from && isspace((unsigned char)to[-1])) to--;
    return arena_copy_text(&reader->exercise->arena, from, (size_t)(to - from));
}

static const char *rest_of_line(ExerciseReader *reader, size_t from) {
    return keep(reader, reader->line + from, reader->line + reader->length);
}

/* ---- blocks ---- */

/* The lines up to ```. */
static bool read_code(ExerciseReader *reader, const char **code) {
    Text text = {0};
    int begin = reader->number;
    while (next_line(reader) && !begins(reader, "```")) {
        text_add_bytes(&text, reader->line, reader->length);
        text_add(&text, "\n");
    }
    bool is_closed = reader->line && begins(reader, "```") && reader->number > begin;
    *code = arena_copy_string(&reader->exercise->arena, text_string(&text));
    text_done(&text);
    return is_closed || fail_at(reader, begin, 1, "this block is never closed: ``` is missing");
}

static bool read_sizes(ExerciseReader *reader, const char *text) {
    Exercise *exercise = reader->exercise;
    exercise->size_count = 0;
    for (const char *at = text;; at++) {
        while (*at == ' ') at++;
        uint64_t size;
        if (exercise->size_count == EXERCISE_SIZES || !number_read(&at, &size) || !size ||
            (*at && *at != ','))
            return fail(reader, "n: up to 16 sizes, separated by commas, are expected");
        exercise->sizes[exercise->size_count++] = size;
        if (!*at) return true;
    }
}

/* Fills, separated by blanks: "random random(-9,-1) digits". */
static bool read_inputs(ExerciseReader *reader, const char *text) {
    Exercise *exercise = reader->exercise;
    exercise->input_count = 0;
    while (*text) {
        const char *end = text + strcspn(text, " ");
        if (exercise->input_count == EXERCISE_INPUTS) return fail(reader, "inputs: at most 8 are expected");
        exercise->inputs[exercise->input_count++] = keep(reader, text, end);
        text = end + strspn(end, " ");
    }
    return exercise->input_count || fail(reader, "inputs: fills, separated by blanks, are expected");
}

static bool read_order(ExerciseReader *reader, const char *text) {
    reader->exercise->order = atoi(text);
    return reader->exercise->order > 0 || fail(reader, "order: its place in the list is expected, from 1");
}

static bool read_source(ExerciseReader *reader, const char *text) {
    reader->exercise->is_ptx = !strcmp(text, "ptx");
    return reader->exercise->is_ptx || !strcmp(text, "cu") || fail(reader, "source: cu or ptx is expected");
}

static bool read_twin(ExerciseReader *reader, const char *text) {
    reader->exercise->twin = text;
    return *text || fail(reader, "twin: the name of an exercise in PTX is expected");
}

static bool read_counted(ExerciseReader *reader, const char *text) {
    return (number_read(&text, &reader->exercise->counted_n) && reader->exercise->counted_n && !*text) ||
           fail(reader, "counted: the n of the run that the goals are about is expected");
}

static bool read_launch(ExerciseReader *reader, const char *text) {
    reader->exercise->launch = text;
    return strstr(text, "<<<") || fail(reader, "launch: kernel<<<GRID, BLOCK>>>(ARGUMENTS) is expected");
}

static bool read_expect(ExerciseReader *reader, const char *text) {
    reader->exercise->expect = text;
    return text[strcspn(text, "=(")] == '=' ||
           fail(reader, "expect: the output and a function are expected, \"out=sum(in)\"");
}

/* "small large" */
static bool read_same(ExerciseReader *reader, const char *text) {
    size_t length = strcspn(text, " ");
    const char *second = text + length + strspn(text + length, " ");
    reader->exercise->same[0] = keep(reader, text, text + length);
    reader->exercise->same[1] = second;
    return (length && *second && !strchr(second, ' ')) || fail(reader, "same: two buffers are expected");
}

static bool read_head(ExerciseReader *reader, const char *info) {
    static const struct {
        const char *name;
        bool (*read)(ExerciseReader *reader, const char *text);
    } fields[] = {{"order:", read_order},   {"launch:", read_launch}, {"expect:", read_expect},
                  {"n:", read_sizes},       {"inputs:", read_inputs}, {"counted:", read_counted},
                  {"source:", read_source}, {"same:", read_same},     {"twin:", read_twin}};
    enum { FIELDS = sizeof fields / sizeof *fields };
    (void)info;
    while (next_line(reader) && !begins(reader, "```")) {
        size_t i = 0;
        while (i < FIELDS && !begins(reader, fields[i].name)) i++;
        if (i == FIELDS)
            return fail(reader,
                        "order, launch, expect, same, n, inputs, counted, source or twin is expected");
        if (!fields[i].read(reader, rest_of_line(reader, strlen(fields[i].name)))) return false;
    }
    return true;
}

static bool read_goal(ExerciseReader *reader) {
    static const char *const comparisons[] = {"<=", ">=", "==", "!=", "<", ">"};
    Exercise *exercise = reader->exercise;
    const char *end = reader->line + reader->length;
    const char *colon = memchr(reader->line, ':', reader->length), *sign = NULL;
    if (!reader->length) return true;
    if (exercise->goal_count == EXERCISE_GOALS) return fail(reader, "at most 8 goals are expected");
    ExerciseGoal *goal = &exercise->goals[exercise->goal_count];
    for (size_t i = 0; colon && i < sizeof comparisons / sizeof *comparisons && !sign; i++) {
        size_t length = strlen(comparisons[i]);
        for (const char *at = colon; at + length <= end && !sign; at++)
            if (!memcmp(at, comparisons[i], length)) sign = at;
        goal->comparison = comparisons[i];
    }
    if (!sign) return fail(reader, "a goal is expected, \"barriers: here.barriers <= 3\"");
    char *after;
    const char *limit = keep(reader, sign + strlen(goal->comparison), end);
    goal->limit = strtod(limit, &after);
    if (!*limit || *after)
        return fail_at(reader, reader->number, (int)(sign - reader->line) + 1,
                       "a number is expected behind the comparison");
    goal->words = keep(reader, reader->line, colon);
    goal->claim = keep(reader, colon + 1, end);
    goal->expression = keep(reader, colon + 1, sign);
    goal->line = reader->number;
    goal->column = (int)(colon - reader->line) + 2 + (int)strspn(colon + 1, " ");
    exercise->goal_count++;
    return true;
}

static bool read_goals(ExerciseReader *reader, const char *info) {
    (void)info;
    while (next_line(reader) && !begins(reader, "```"))
        if (!read_goal(reader)) return false;
    return true;
}

static bool read_start(ExerciseReader *reader, const char *info) {
    (void)info;
    return read_code(reader, &reader->exercise->start);
}

/* "right: out[0]": the goal and the reason. */
static bool read_wrong(ExerciseReader *reader, const char *info) {
    Exercise *exercise = reader->exercise;
    if (reader->section != SECTION_WRONG)
        return fail(reader, "a wrong solution stands below \"## Wrong: TITLE\"");
    if (exercise->wrong_count == EXERCISE_WRONGS)
        return fail(reader, "at most 12 wrong solutions are expected");
    ExerciseWrong *wrong = &exercise->wrongs[exercise->wrong_count++];
    const char *colon = strchr(info, ':'), *end = info + strlen(info);
    *wrong = (ExerciseWrong){.title = reader->title, .line = reader->number};
    wrong->goal = keep(reader, info, colon ? colon : end);
    wrong->reason = keep(reader, colon ? colon + 1 : end, end);
    if (!*wrong->goal)
        return fail(
            reader,
            "```wrong GOAL: REASON is expected; GOAL is compiles, right, safe or the words of a goal");
    return read_code(reader, &wrong->code);
}

static bool read_cuda(ExerciseReader *reader, const char *info) {
    const char *code;
    (void)info;
    if (!read_code(reader, &code)) return false;
    if (reader->section == SECTION_SOLUTION) {
        reader->exercise->solution = code;
        return true;
    }
    text_print(&reader->prose, "```\n%s```\n", code);
    return true;
}

static bool read_block(ExerciseReader *reader) {
    static const struct {
        const char *fence;
        bool (*read)(ExerciseReader *reader, const char *info);
        bool is_text; /* translations may have it */
    } blocks[] = {{"```exercise", read_head, false},
                  {"```start", read_start, false},
                  {"```goals", read_goals, false},
                  {"```wrong", read_wrong, false},
                  {"```", read_cuda, true}};
    size_t i = 0;
    while (!begins(reader, blocks[i].fence)) i++;
    if (reader->is_translation && (!blocks[i].is_text || reader->section == SECTION_SOLUTION))
        return fail(reader, "a translation has no such block: it is taken from NAME.en.md");
    return blocks[i].read(reader, rest_of_line(reader, strlen(blocks[i].fence)));
}

/* ---- sections ---- */

static bool end_section(ExerciseReader *reader) {
    Exercise *exercise = reader->exercise;
    const char *prose = text_string(&reader->prose);
    prose = keep(reader, prose, prose + strlen(prose));
    text_clear(&reader->prose);
    switch (reader->section) {
    case SECTION_TASK:
        exercise->task = prose;
        return true;
    case SECTION_HINT:
        if (exercise->hint_count == EXERCISE_HINTS) return fail(reader, "three hints are expected");
        exercise->hints[exercise->hint_count++] = prose;
        return true;
    case SECTION_SOLUTION:
        exercise->solution_text = prose;
        return true;
    default:
        return true;
    }
}

static bool begin_section(ExerciseReader *reader) {
    static const struct {
        const char *heading;
        ExerciseSection section;
    } sections[] = {
        {"## Hint", SECTION_HINT}, {"## Solution", SECTION_SOLUTION}, {"## Wrong:", SECTION_WRONG}};
    if (!end_section(reader)) return false;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (!begins(reader, sections[i].heading)) continue;
        reader->section = sections[i].section;
        reader->title = rest_of_line(reader, strlen(sections[i].heading));
        return !reader->is_translation || reader->section != SECTION_WRONG ||
               fail(reader, "a translation has no wrong solutions");
    }
    return fail(reader, "\"## Hint\", \"## Solution\" or \"## Wrong: TITLE\" is expected");
}

static bool read_line(ExerciseReader *reader) {
    if (begins(reader, "## ")) return begin_section(reader);
    if (begins(reader, "# ") && !reader->exercise->title) {
        reader->exercise->title = rest_of_line(reader, 2);
        return true;
    }
    if (begins(reader, "```")) return read_block(reader);
    text_add_bytes(&reader->prose, reader->line, reader->length);
    text_add(&reader->prose, "\n");
    return true;
}

static bool check_whole(const ExerciseReader *reader) {
    const Exercise *exercise = reader->exercise;
    if (!exercise->title) return fail(reader, "a title is missing: # TITLE");
    if (!exercise->task || !*exercise->task) return fail(reader, "the task is missing");
    if (reader->is_translation) return true;
    if (!exercise->launch || !exercise->expect)
        return fail(reader, "a block ```exercise with launch and expect is missing");
    if (!exercise->start) return fail(reader, "a block ```start is missing: what the learner begins with");
    if (!exercise->solution)
        return fail(reader, "\"## Solution\" with a block of code (```cuda, ```ptx) is missing");
    for (int i = 0; i < exercise->wrong_count; i++) {
        const char *goal = exercise->wrongs[i].goal;
        bool is_known = !strcmp(goal, "compiles") || !strcmp(goal, "right") || !strcmp(goal, "safe");
        for (int g = 0; g < exercise->goal_count; g++)
            is_known = is_known || !strcmp(goal, exercise->goals[g].words);
        if (!is_known) return fail_at(reader, exercise->wrongs[i].line, 1, "this is not one of its goals");
    }
    return true;
}

static bool read_text(Exercise *exercise, const char *text, size_t length, bool is_translation,
                      Error *error) {
    ExerciseReader reader = {.exercise = exercise,
                             .at = text,
                             .end = text + length,
                             .is_translation = is_translation,
                             .error = error};
    bool good = true;
    while (good && next_line(&reader)) good = read_line(&reader);
    good = good && end_section(&reader) && check_whole(&reader);
    text_done(&reader.prose);
    return good;
}

static bool read_file(Exercise *exercise, const char *path, bool is_translation, Error *error) {
    enum { LIMIT = 1 << 20 };
    char *text;
    size_t length;
    if (!text_read_file(path, LIMIT, &text, &length, error)) return false;
    exercise->path = arena_copy_string(&exercise->arena, path);
    bool good = read_text(exercise, text, length, is_translation, error);
    free(text);
    return good;
}

/* ---- the file and its translation ---- */

/* "strided.zh.md": *language gets "zh". */
static void split_name(Exercise *exercise, const char *path, char language[8]) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strchr(name, '.');
    size_t length = dot ? (size_t)(dot - name) : strlen(name);
    exercise->name = arena_copy_text(&exercise->arena, name, length);
    snprintf(language, 8, "en");
    if (dot && strlen(dot) == 6) snprintf(language, 8, "%.2s", dot + 1);
}

/* Takes what only the English file has. */
static bool take_from_english(Exercise *exercise, const char *path, Error *error) {
    const char *title = exercise->title, *task = exercise->task, *solution_text = exercise->solution_text;
    const char *hints[EXERCISE_HINTS];
    int hint_count = exercise->hint_count;
    memcpy(hints, exercise->hints, sizeof hints);
    exercise->title = NULL, exercise->hint_count = 0;
    const char *english = arena_print(&exercise->arena, "%.*s.en.md", (int)(strlen(path) - 6), path);
    if (!read_file(exercise, english, false, error)) return false;
    if (hint_count != exercise->hint_count)
        return error_set_at(error, path, 0, 0, "it has %d hints, and %s has %d", hint_count, english,
                            exercise->hint_count);
    exercise->title = title, exercise->task = task, exercise->solution_text = solution_text;
    memcpy(exercise->hints, hints, sizeof hints);
    return true;
}

static void set_defaults(Exercise *exercise) {
    static const uint64_t sizes[] = {1, 31, 32, 1000, 1025, 4097, 5003, 70000};
    /* the last one: an int keeps its sums, a float does not */
    static const char *const inputs[] = {"digits", "random", "random(-9000,-1)", "random(20000,30000)",
                                         "random(-3000000,3000000)"};
    exercise->size_count = sizeof sizes / sizeof *sizes;
    memcpy(exercise->sizes, sizes, sizeof sizes);
    exercise->input_count = sizeof inputs / sizeof *inputs;
    memcpy(exercise->inputs, inputs, sizeof inputs);
    exercise->counted_n = 1 << 16;
    exercise->order = 1000;
}

Exercise *exercise_read(const char *path, Error *error) {
    Exercise *exercise = memory_new(sizeof *exercise);
    char language[8];
    split_name(exercise, path, language);
    set_defaults(exercise);
    bool is_translation = strcmp(language, "en") != 0;
    if (read_file(exercise, path, is_translation, error) &&
        (!is_translation || take_from_english(exercise, path, error)))
        return exercise;
    exercise_free(exercise);
    return NULL;
}

void exercise_free(Exercise *exercise) {
    if (!exercise) return;
    arena_done(&exercise->arena);
    free(exercise);
}

const char *exercise_suffix(const Exercise *exercise) {
    return exercise->is_ptx ? "ptx" : "cu";
}

/* A launch that names no shared memory gets none: --launch alone would guess what the kernel needs. */
static void add_shared_bytes(const char *launch, Text *out) {
    int depth = 0, commas = 0;
    for (const char *at = launch; *at; at++) {
        bool begins = !strncmp(at, "<<<", 3), ends = !strncmp(at, ">>>", 3);
        if (begins) depth = commas = 0;
        depth += (*at == '(') - (*at == ')');
        commas += *at == ',' && depth == 0;
        if (ends && commas == 1) text_add(out, ", 0");
        text_add_bytes(out, at, ends ? 3 : 1);
        if (ends) at += 2;
    }
}

void exercise_print_launch(const Exercise *exercise, const char *input, Text *out) {
    static const char word[] = "INPUT";
    Text launch = {0};
    add_shared_bytes(exercise->launch, &launch);
    const char *text = text_string(&launch);
    for (const char *at; (at = strstr(text, word)); text = at + sizeof word - 1) {
        text_add_bytes(out, text, (size_t)(at - text));
        text_add(out, input);
    }
    text_add(out, text);
    text_done(&launch);
}
