#define _POSIX_C_SOURCE 200809L
#include "ask/ask.h"
#include "exercise/grade.h"
#include "base/clock.h"
#include "base/language.h"
#include "base/sentence.h"
#include "exercise/draw.h"
#include "exercise/submission.h"
#include "lecture/values.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    USUAL_INSTRUCTIONS =
        1 << 18, /* and 2^15 for each of n, which may be rows, up to 2^24 in all; and 2^8 for each */
    MOST_INSTRUCTIONS = 1 << 24,
    USUAL_SECONDS = 120,
    SEARCHED_N = 5003,
    SEARCHED_WRONG_N = 1025
};

typedef enum BuiltInGoal { GOAL_COMPILES, GOAL_RIGHT, GOAL_SAFE, BUILT_IN_GOALS } BuiltInGoal;

typedef struct GradeWork {
    const Exercise *exercise;
    const GradeLimits *limits;
    const char *text; /* of the file */
    Grade *grade;
    double end;       /* in processor time: no run begins later */
    bool was_stopped; /* by limits->cancel */
} GradeWork;

static bool is_cancelled(const GradeWork *grading) {
    return grading->limits->cancel && *grading->limits->cancel;
}

static bool is_late(const GradeWork *grading) {
    return clock_processor_seconds() > grading->end;
}

static void miss_at(GradeWork *grading, int goal, int line, const char *why) {
    GradedGoal *missed = &grading->grade->goals[goal];
    if (missed->state == GOAL_MISSED) return;
    missed->state = GOAL_MISSED;
    missed->why = arena_copy_string(&grading->grade->arena, why);
    missed->line = line;
}

static void miss(GradeWork *grading, int goal, const char *why) {
    miss_at(grading, goal, 0, why);
}

static void miss_late(GradeWork *grading) {
    miss(grading, GOAL_RIGHT, tr("it takes too long: the runs were stopped"));
}

static void meet(GradeWork *grading, int goal) {
    if (grading->grade->goals[goal].state == GOAL_NOT_TRIED) grading->grade->goals[goal].state = GOAL_MET;
}

/* ---- a run ---- */

typedef struct GradeRun { /* of the submission */
    uint64_t n;
    const char *input; /* the fill */
    bool twice, searches_races;
} GradeRun;

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The launches with another name for a buffer: "out" is "out_before". */
static void add_renamed(Text *out, const char *launch, const char *name, size_t length) {
    for (const char *at = launch; *at;) {
        bool is_name =
            !strncmp(at, name, length) && !is_word(at[length]) && (at == launch || !is_word(at[-1]));
        text_add_bytes(out, at, is_name ? length : 1);
        if (is_name) text_add(out, "_before");
        at += is_name ? length : 1;
    }
}

/* The launches once more, which name the buffers instead of making them, "in=int[n]:random" is "in", also in
 * "tensor(in=int[n]:random, {n}, {32})", except for that of the result. */
static void add_again(Text *out, const char *launch, const char *name, size_t length) {
    int depth = 0;   /* of the brackets of the arguments */
    int skipped = 0; /* the depth at which "=int[n]:random" is skipped; 0: it is not */
    text_add(out, "; ");
    for (const char *at = launch; *at; at++) {
        bool opens = strchr("([{", *at) != NULL, closes = strchr(")]}", *at) != NULL;
        bool makes = *at == '=' && depth && !skipped && strcspn(at, "[") < strcspn(at, ",;");
        bool is_result = makes && at - launch > (ptrdiff_t)length && !strncmp(at - length, name, length) &&
                         !is_word(at[-(ptrdiff_t)length - 1]);
        if (closes) depth--;
        if (depth < skipped || (*at == ',' && depth == skipped)) skipped = 0;
        if (makes && !is_result) skipped = depth;
        if (!skipped) text_add_bytes(out, at, 1);
        if (opens) depth++;
    }
}

/* The second call has an output of its own, which no kernel has written; all other memory is as the first one
 * left it. */
static void add_twice(Text *out, const char *launch, const char *expect) {
    size_t length = 0;
    while (is_word(expect[length])) length++;
    add_renamed(out, launch, expect, length);
    add_again(out, launch, expect, length);
}

/* Of a launch: an endless loop must end soon, at every n and on every machine. */
static uint64_t usual_instructions(uint64_t n) {
    uint64_t rows = n < MOST_INSTRUCTIONS >> 15 ? n << 15 : MOST_INSTRUCTIONS;
    return USUAL_INSTRUCTIONS + rows + (n << 8);
}

static Session *open_run(GradeWork *grading, const GradeRun *run, Error *error) {
    Text launch = {0}, whole = {0};
    exercise_print_launch(grading->exercise, run->input, &launch);
    if (run->twice)
        add_twice(&whole, text_string(&launch), grading->exercise->expect);
    else
        text_add(&whole, text_string(&launch));
    const GradeLimits *limits = grading->limits;
    RunSpec options = {.file = grading->grade->file,
                       .text = grading->text,
                       .launches = text_string(&whole),
                       .expect = grading->exercise->expect,
                       .compiler = limits->compiler,
                       .catalog = {.n = run->n, .seed = limits->seed},
                       .backend = BACKEND_EMULATOR,
                       .threads = limits->threads,
                       .instruction_budget =
                           limits->instructions ? limits->instructions : usual_instructions(run->n),
                       .search_races = run->searches_races,
                       .cancel = limits->cancel};
    Session *session = session_open(&options, error);
    text_done(&launch), text_done(&whole);
    return session;
}

static const char *describe(GradeWork *grading, const GradeRun *run) {
    return arena_print(&grading->grade->arena, tr("n = %llu, input %s%s"), (unsigned long long)run->n,
                       run->input, run->twice ? tr(", called twice in the same memory") : "");
}

/* A barrier between warps is missing: __syncwarp() would not do. */
static bool is_between_warps(const Finding *error) {
    return error->other.pc != PTX_NO_PC && (error->other.warp != error->access.warp ||
                                            error->other.linear_block != error->access.linear_block);
}

/* The first error, but of races the first one between warps. */
static const Finding *first_error(const Findings *findings) {
    const Finding *first = NULL;
    for (int i = 0; findings && i < findings->error_count; i++) {
        const Finding *error = &findings->items[i];
        if (error->kind == FINDING_WRONG_RESULT) continue;
        bool is_race = first && first->other.pc != PTX_NO_PC && error->kind == first->kind;
        if (!first || (is_race && !is_between_warps(first) && is_between_warps(error))) first = error;
    }
    return first;
}

static void keep_notes(GradeWork *grading, const Findings *findings) {
    Grade *grade = grading->grade;
    for (int i = 0; findings && i < findings->count && grade->note_count < GRADE_NOTES; i++) {
        const char *note = findings->items[i].sentence;
        bool is_new = findings->items[i].severity == SEVERITY_NOTE;
        for (int known = 0; known < grade->note_count; known++)
            is_new = is_new && strcmp(grade->notes[known], note) != 0;
        if (is_new) grade->notes[grade->note_count++] = arena_copy_string(&grade->arena, note);
    }
}

static const char *with_line(Arena *arena, int line, const char *message) {
    return line ? arena_print(arena, tr("line %d: %s"), line, message) : arena_copy_string(arena, message);
}

/* An error of all runs, in the words of somebody who typed no option. */
static const char *explain_refusal(GradeWork *grading, const Error *error) {
    Arena *arena = &grading->grade->arena;
    const char *name = strstr(error->message, "there is no entry '"),
               *found = strstr(error->message, "one of: ");
    if (name && found) {
        name += strlen("there is no entry '");
        return arena_print(arena, tr("the kernel must be called %.*s; the file has %s"),
                           (int)strcspn(name, "'"), name, found + strlen("one of: "));
    }
    static const char option[] = "--launch: ";
    const char *message = error->message;
    if (!strncmp(message, option, sizeof option - 1)) message += sizeof option - 1;
    return with_line(arena, error->line, message);
}

static const char *sentence_of(GradeWork *grading, const Finding *error) {
    const char *end = strstr(error->sentence, tr("; an endless loop?"));
    return end ? arena_print(&grading->grade->arena, tr("%.*s: an endless loop?"),
                             (int)(end - error->sentence), error->sentence)
               : error->sentence;
}

/* As memory is before a kernel writes it: every byte is 0xa5 (plan_fill()). */
static bool is_poison(double result) {
    const uint64_t bits = 0xa5a5a5a5a5a5a5a5;
    float single;
    double wide;
    memcpy(&single, &bits, sizeof single);
    memcpy(&wide, &bits, sizeof wide);
    return result == (double)(int32_t)bits || result == (double)(uint32_t)bits ||
           result == (double)(int64_t)bits || result == (double)bits || result == (double)single ||
           result == wide;
}

static void judge_result(GradeWork *grading, Session *session, const GradeRun *run) {
    const ExpectResult *result = session_result(session);
    const Finding *error = first_error(ask_counted(session));
    const char *where = describe(grading, run), *output = grading->exercise->expect;
    Arena *arena = &grading->grade->arena;
    size_t name_bytes = strcspn(output, "[=");
    uint64_t index;
    bool ends = error && ask_failed(session);
    const char *fault = error ? arena_print(arena, tr("%s: %s"), where, sentence_of(grading, error)) : NULL;
    if (ends) miss_at(grading, GOAL_RIGHT, error->access.line, fault);
    if (error) miss_at(grading, GOAL_SAFE, error->access.line, fault);
    if (ends) return;
    if (session_is_unsupported(session))
        miss(grading, GOAL_RIGHT,
             arena_print(arena, tr("%s: it uses an instruction that is not emulated"), where));
    else if (!result)
        miss(grading, GOAL_RIGHT, arena_print(arena, tr("%s: it leaves no result"), where));
    else if (!result->correct && is_poison(result->result))
        miss(grading, GOAL_RIGHT,
             arena_print(arena, tr("%s: the output is not written, expected %s"), where,
                         result->expected_text));
    else if (!result->correct && result->compared > 1)
        miss(grading, GOAL_RIGHT,
             arena_print(arena, tr("%s: the result is %s in %.*s[%llu], expected %s"), where,
                         result->result_text, (int)name_bytes, output, (unsigned long long)result->index,
                         result->expected_text));
    else if (!result->correct && ask_finds_unwritten(session, output, name_bytes, &index))
        miss(grading, GOAL_RIGHT,
             arena_print(arena, tr("%s: the result is %s, expected %s; %.*s[%llu] is not written"), where,
                         result->result_text, result->expected_text, (int)name_bytes, output,
                         (unsigned long long)index));
    else if (!result->correct)
        miss(grading, GOAL_RIGHT,
             arena_print(arena, tr("%s: the result is %s, expected %s"), where, result->result_text,
                         result->expected_text));
}

/* The bits that must not depend on the batch or on the order. */
static void judge_bits(GradeWork *grading, const Session *session, const GradeRun *run) {
    const char *const *same = grading->exercise->same;
    Arena *arena = &grading->grade->arena;
    SameBits found;
    if (!same[0] || grading->grade->goals[GOAL_RIGHT].state == GOAL_MISSED) return;
    if (!ask_same_bits(session, same[0], same[1], run->searches_races, &found))
        miss(grading, GOAL_RIGHT,
             arena_print(arena,
                         found.is_order ? tr("%s: other bits in another order of the warps: %s, and %s")
                                        : tr("%s: other bits: %s, and %s"),
                         describe(grading, run), text_string(&found.one), text_string(&found.other)));
    ask_same_bits_done(&found);
}

static void judge_safety(GradeWork *grading, Session *session, const GradeRun *run) {
    const Findings *findings = ask_hazards(session);
    if (!first_error(findings)) ask_other_orders(session);
    const Finding *error = first_error(findings = ask_hazards(session));
    if (grading->grade->note_count == 0) keep_notes(grading, findings);
    if (!error) return;
    ask_losing_orders(session);
    const FindingOrder *order = error->cause >= 0 ? findings->causes[error->cause].order : NULL;
    Arena *arena = &grading->grade->arena;
    const char *sentence =
        order ? arena_print(arena, "%s %s", error->sentence, order->sentence) : error->sentence;
    miss_at(grading, GOAL_SAFE, error->access.line,
            arena_print(arena, tr("%s: %s"), describe(grading, run), sentence));
}

/* False: it could not be opened. */
static bool try_run(GradeWork *grading, const GradeRun *run) {
    Error error = {0};
    Session *session = open_run(grading, run, &error);
    if (!session) {
        if (is_cancelled(grading))
            grading->was_stopped = true;
        else
            miss_at(grading, GOAL_COMPILES, error.line, explain_refusal(grading, &error));
        return false;
    }
    meet(grading, GOAL_COMPILES);
    if (run->searches_races) judge_safety(grading, session, run);
    judge_result(grading, session, run);
    judge_bits(grading, session, run);
    session_free(session);
    return true;
}

/* ---- all runs ---- */

/* The search for races goes on behind a wrong result, to the largest size that it takes. False: no run can
 * follow. */
static bool try_input(GradeWork *grading, uint64_t n, int input) {
    const GradedGoal *goals = grading->grade->goals;
    GradeRun run = {n, grading->exercise->inputs[input], input % 2 == 1, false};
    bool is_wrong = goals[GOAL_RIGHT].state == GOAL_MISSED;
    run.searches_races = input < (is_wrong ? 1 : 2) && n <= (is_wrong ? SEARCHED_WRONG_N : SEARCHED_N) &&
                         goals[GOAL_SAFE].state == GOAL_NOT_TRIED;
    if (is_wrong && !run.searches_races) return true;
    if (!is_late(grading)) return try_run(grading, &run);
    miss_late(grading);
    return false;
}

static void try_runs(GradeWork *grading) {
    const Exercise *exercise = grading->exercise;
    uint64_t drawn[DRAWN_SIZES];
    draw_sizes(exercise, grading->limits->seed, drawn);
    for (int s = 0; s < exercise->size_count; s++)
        for (int i = 0; i < exercise->input_count; i++)
            if (!try_input(grading, exercise->sizes[s], i)) return;
    for (int s = 0; s < DRAWN_SIZES; s++)
        for (int i = 0; i < 2 && i < exercise->input_count; i++)
            if (!try_input(grading, drawn[s], i)) return;
    meet(grading, GOAL_RIGHT);
    meet(grading, GOAL_SAFE);
}

static void count_goals(GradeWork *grading, Session *session) {
    const Exercise *exercise = grading->exercise;
    const Trace *trace = session_trace(session);
    const uint32_t *grid = trace->launches[0]->grid;
    grading->grade->counted_n = exercise->counted_n;
    grading->grade->counted_blocks = trace->launch_count == 1 ? (uint64_t)grid[0] * grid[1] * grid[2] : 0;
    ClaimRuns *runs = claim_runs_new(&(ClaimRunsOptions){.threads = grading->limits->threads});
    ClaimWorld world = {.context = runs, .value = claim_runs_value};
    claim_runs_stand_at(runs, session, NULL);
    for (int i = 0; i < exercise->goal_count; i++) {
        const ExerciseGoal *goal = &exercise->goals[i];
        GradedGoal *graded = &grading->grade->goals[BUILT_IN_GOALS + i];
        LectureExpression claim = {goal->claim, {goal->line, goal->column}};
        LectureExpression counted = {goal->expression, claim.place};
        ClaimResult result = {0};
        Error error = {0};
        bool is_known = claim_evaluate(&claim, exercise->path, &world, &result, &error) &&
                        claim_number(&counted, exercise->path, &world, &graded->value, &error);
        graded->state = result.holds ? GOAL_MET : GOAL_MISSED;
        claim_result_done(&result);
        if (!is_known) {
            graded->state = GOAL_NOT_TRIED;
            miss(grading, BUILT_IN_GOALS + i, error.message);
            continue;
        }
        graded->is_count = true;
    }
    claim_runs_free(runs);
}

static void try_counts(GradeWork *grading) {
    const Exercise *exercise = grading->exercise;
    GradeRun run = {exercise->counted_n, exercise->inputs[0], false, false};
    Error error = {0};
    if (!exercise->goal_count || grading->grade->goals[GOAL_RIGHT].state != GOAL_MET) return;
    Session *session = open_run(grading, &run, &error);
    if (!session) {
        grading->was_stopped = is_cancelled(grading);
        miss(grading, GOAL_RIGHT, error.message);
        return;
    }
    judge_result(grading, session, &run);
    if (grading->grade->goals[GOAL_RIGHT].state == GOAL_MET) count_goals(grading, session);
    session_free(session);
}

/* ---- goals ---- */

static const char *number_text(Arena *arena, double number) {
    CountText count;
    bool is_count = number >= 0 && number < 0x1p63 && number == (double)(int64_t)number;
    return is_count ? arena_copy_string(arena, count_text((uint64_t)number, &count))
                    : arena_print(arena, "%g", number);
}

static void add_goal(Grade *grade, const char *id, const char *words) {
    grade->goals[grade->goal_count++] = (GradedGoal){.id = id, .words = words};
}

/* The file, whatever the exercise begins with. */
static bool is_ptx(const Grade *grade) {
    return text_ends_with(grade->file, ".ptx");
}

static void list_goals(const Exercise *exercise, Grade *grade) {
    Text sizes = {0};
    for (int i = 0; i < exercise->size_count; i++)
        text_print(&sizes, "%s%llu", i ? ", " : "", (unsigned long long)exercise->sizes[i]);
    add_goal(grade, "compiles", is_ptx(grade) ? tr("is complete PTX") : tr("compiles"));
    add_goal(grade, "right", arena_print(&grade->arena, tr("right for n = %s"), text_string(&sizes)));
    add_goal(grade, "safe",
             tr("no race, right in every order of the warps, nothing read before it is written"));
    for (int i = 0; i < exercise->goal_count; i++) {
        const ExerciseGoal *goal = &exercise->goals[i];
        add_goal(grade, goal->words,
                 arena_print(&grade->arena, "%s %s %s", goal->words, goal->comparison,
                             number_text(&grade->arena, goal->limit)));
    }
    text_done(&sizes);
}

/* "it is 6,144 for n = 65,536 and 256 blocks" */
static const char *explain_count(Grade *grade, const GradedGoal *goal) {
    const char *n = number_text(&grade->arena, (double)grade->counted_n);
    if (grade->counted_blocks < 2)
        return arena_print(&grade->arena, tr("it is %s for n = %s"), goal->value_text, n);
    return arena_print(&grade->arena, tr("it is %s for n = %s and %s blocks"), goal->value_text, n,
                       number_text(&grade->arena, (double)grade->counted_blocks));
}

/* What comes first, for goals that were not tried; and what a count is. */
static void explain(Grade *grade) {
    grade->met_count = 0;
    for (int i = 0; i < grade->goal_count; i++) {
        GradedGoal *goal = &grade->goals[i];
        grade->met_count += goal->state == GOAL_MET;
        if (goal->state == GOAL_NOT_TRIED)
            goal->why = grade->goals[GOAL_COMPILES].state == GOAL_MET ? tr("first it must be right")
                        : is_ptx(grade)                               ? tr("first it must be complete PTX")
                                                                      : tr("first it must compile");
        if (goal->is_count) goal->value_text = number_text(&grade->arena, goal->value);
        if (goal->is_count && goal->state == GOAL_MISSED) goal->why = explain_count(grade, goal);
    }
}

static void miss_all(GradeWork *grading, const char *why) {
    for (int i = 0; i < grading->grade->goal_count; i++) miss(grading, i, why);
}

bool grade_file(const Exercise *exercise, const char *file, const char *text, const GradeLimits *limits,
                Grade *grade, Error *error) {
    char *read = NULL;
    size_t length = text ? strlen(text) : 0;
    Error refused = {0};
    double begin = clock_seconds();
    *grade = (Grade){0};
    grade->file = arena_copy_string(&grade->arena, file);
    grade->seed = limits->seed;
    bool is_read = text || text_read_file(file, SUBMISSION_BYTES, &read, &length, &refused);
    double seconds = limits->seconds > 0 ? limits->seconds : USUAL_SECONDS;
    static const char mark[] = "\xef\xbb\xbf"; /* of the order of bytes: a compiler may refuse it */
    const char *whole = text ? text : read;
    size_t marked = whole && !strncmp(whole, mark, 3) ? 3 : 0;
    GradeWork grading = {exercise, limits, whole ? whole + marked : NULL, grade, 0, false};
    grading.end = clock_processor_seconds() + seconds;
    list_goals(exercise, grade);
    if (!is_read || !submission_check(grading.text, length - marked, file, &refused))
        miss_at(&grading, GOAL_COMPILES, refused.line,
                with_line(&grade->arena, refused.line, refused.message));
    else if (limits->refuses_start && submission_begins_with(grading.text, exercise->start))
        miss_all(&grading, tr("not judged: it is what the exercise begins with, nothing was changed"));
    else
        try_runs(&grading);
    try_counts(&grading);
    if (grading.was_stopped && is_late(&grading)) {
        grading.was_stopped = false;
        miss_late(&grading);
    }
    explain(grade);
    grade->seconds = clock_seconds() - begin;
    free(read);
    return !grading.was_stopped || error_set(error, "it was stopped");
}

void grade_nothing(const Exercise *exercise, const char *file, const GradeLimits *limits, const char *why,
                   Grade *grade) {
    *grade = (Grade){.seed = limits->seed};
    grade->file = arena_copy_string(&grade->arena, file);
    GradeWork grading = {.exercise = exercise, .limits = limits, .grade = grade};
    list_goals(exercise, grade);
    miss(&grading, GOAL_COMPILES, why);
    explain(grade);
}

void grade_done(Grade *grade) {
    arena_done(&grade->arena);
    *grade = (Grade){0};
}

bool grade_passed(const Grade *grade) {
    return grade->met_count == grade->goal_count;
}

/* ---- the exercise itself ---- */

/* A text of the exercise, as a file of this name; false with `error`, as grade_file(). */
static bool grade_own(const Exercise *exercise, const char *name, const char *text, const GradeLimits *limits,
                      Grade *grade, Error *error) {
    char file[32];
    snprintf(file, sizeof file, "%s.%s", name, exercise_suffix(exercise));
    return grade_file(exercise, file, text, limits, grade, error);
}

static const GradedGoal *first_missed(const Grade *grade) {
    for (int i = 0; i < grade->goal_count; i++)
        if (grade->goals[i].state == GOAL_MISSED) return &grade->goals[i];
    return NULL;
}

static bool check_solution(const Exercise *exercise, const GradeLimits *limits, Text *out) {
    Grade grade;
    Error error = {0};
    bool good =
        grade_own(exercise, "solution", exercise->solution, limits, &grade, &error) && grade_passed(&grade);
    const GradedGoal *missed = first_missed(&grade);
    if (good)
        text_print(out, "ok      the solution reaches %d goals, in %.1f s\n", grade.goal_count,
                   grade.seconds);
    else
        text_print(out, "FAILED  the solution misses: %s: %s\n", missed ? missed->words : "",
                   missed ? missed->why : error.message);
    grade_done(&grade);
    return good;
}

static bool check_start(const Exercise *exercise, const GradeLimits *limits, Text *out) {
    Grade grade;
    Error error = {0};
    bool fails =
        grade_own(exercise, "start", exercise->start, limits, &grade, &error) && !grade_passed(&grade);
    bool good = fails && grade.goals[GOAL_COMPILES].state == GOAL_MET;
    const GradedGoal *missed = first_missed(&grade);
    if (good)
        text_print(out, "ok      the start compiles, and misses: %s\n", missed->words);
    else
        text_print(out, "FAILED  the start must compile and miss a goal: %s\n",
                   missed ? missed->why : "it reaches all");
    grade_done(&grade);
    return good;
}

static bool check_wrong(const Exercise *exercise, const ExerciseWrong *wrong, const GradeLimits *limits,
                        Text *out) {
    Grade grade;
    Error error = {0};
    grade_own(exercise, "wrong", wrong->code, limits, &grade, &error);
    const GradedGoal *named = NULL;
    for (int i = 0; i < grade.goal_count; i++)
        if (!strcmp(grade.goals[i].id, wrong->goal)) named = &grade.goals[i];
    bool is_missed = named && named->state == GOAL_MISSED;
    bool good = is_missed && strstr(named->why, wrong->reason);
    text_print(out, "%s  %s: %s\n", good ? "ok    " : "FAILED", wrong->title,
               is_missed                           ? named->why
               : *error.message                    ? error.message
               : named && named->state == GOAL_MET ? "it reaches this goal"
                                                   : "this goal was not tried");
    grade_done(&grade);
    return good;
}

bool grade_check_exercise(const Exercise *exercise, const GradeLimits *limits, Text *out) {
    bool good = check_solution(exercise, limits, out);
    good = check_start(exercise, limits, out) && good;
    for (int i = 0; i < exercise->wrong_count; i++)
        good = check_wrong(exercise, &exercise->wrongs[i], limits, out) && good;
    return good;
}
