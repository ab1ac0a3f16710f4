/* Chooses questions of different kinds, spread over the run, and writes them as the text of a lecture. */
#include "tui/quiz.h"

#include "tui/quiz_asks.h"
#include "tui/view/step_context.h"
#include <stdlib.h>
#include <string.h>

/* The formats are those of quiz_words(), each with the arguments that its header names. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

enum { MOST_OF_A_KIND = 4 };

/* ---- the choice ---------------------------------------------------------------------------------------- */

/* The answer to the earlier question reveals that of the later one: the source shows lanes and wavefronts of
 * the whole interval, the reduction shows the sums of the whole level. */
static bool shows(const Ask *earlier, const Ask *later) {
    if (later->kind == ASK_SECTORS || later->kind == ASK_DIVERGENCE) return earlier->step == later->step;
    return earlier->region == later->region;
}

/* Each kind of question has each answer only once, except for values. A question whose answer an earlier one
 * reveals is not asked. */
static bool fits(const Asks *asks, const bool *chosen, int index) {
    const Ask *ask = &asks->asks[index];
    int same = 0;
    for (int i = 0; i < asks->count; i++) {
        const Ask *other = &asks->asks[i];
        if (!chosen[i]) continue;
        same += other->kind == ask->kind;
        if (i < index ? shows(other, ask) : shows(ask, other)) return false;
        if (other->kind == ask->kind && other->value == ask->value && ask->kind != ASK_VALUES) return false;
    }
    return same < MOST_OF_A_KIND;
}

/* Ranks least wanted first: a kind chosen often, close to one already chosen. */
static double weight(const Asks *asks, const bool *chosen, int index) {
    const Ask *ask = &asks->asks[index];
    int steps = asks->asks[asks->count - 1].step + 1, nearest = steps, same = 0;
    for (int i = 0; i < asks->count; i++) {
        if (!chosen[i]) continue;
        int apart = abs(asks->asks[i].step - ask->step);
        nearest = apart < nearest ? apart : nearest;
        same += asks->asks[i].kind == ask->kind;
    }
    return (double)nearest / steps - same;
}

static int choose(const Asks *asks, bool *chosen) {
    int count = 0;
    for (; count < QUIZ_MOST; count++) {
        int best = -1;
        for (int i = 0; i < asks->count; i++)
            if (!chosen[i] && fits(asks, chosen, i) &&
                (best < 0 || weight(asks, chosen, i) > weight(asks, chosen, best)))
                best = i;
        if (best < 0) break;
        chosen[best] = true;
    }
    return count;
}

/* ---- the text ------------------------------------------------------------------------------------------ */

/* Writes inline code; nothing if the text contains marks of its own. */
static void print_code(Text *out, const char *text) {
    text += text ? strspn(text, " \t") : 0;
    if (!text || !*text || strpbrk(text, "`\n\r") || strstr(text, "<!--")) return;
    text_print(out, ": `%s`", text);
}

/* Writes "Line 26: shared load", unless the stop has a title, and below it the line and its place in the
 * reduction. */
static void print_place(Text *out, const Asks *asks, const Ask *ask, bool has_title) {
    View view = asks->view;
    StepContext context;
    char kind[32];
    view.place.step = ask->step;
    step_context_init(&context, asks->values.scene, &view);
    snprintf(kind, sizeof kind, "%s", trace_kind_text(context.event.kind));
    for (char *at = kind; (at = strchr(at, '_')) != NULL;) *at = ' ';
    const PtxSourceLine *line = &context.code->line;
    const char *source = line->file ? scene_source_line(context.scene, line->file, line->line) : NULL;
    int number_of = source ? line->line : ask->pc;
    const QuizWords *words = asks->words;
    if (!has_title) {
        text_add(out, "\n## ");
        text_print(out, source ? words->line_title : words->ptx_title, number_of, kind);
        text_add(out, "\n");
    }
    text_add(out, "\n");
    text_print(out, source ? words->next_line : words->next_ptx, number_of);
    print_code(out, source ? source : scene_ptx_line(context.scene, view.place.block, ask->pc));
    Reduction *reduction = scene_reduction(context.scene, view.place.block);
    int number = reduction ? reduction_number_at(reduction, ask->step) : 0;
    const ReductionLevel *level =
        number ? reduction_level(reduction, reduction_level_at(reduction, ask->step)) : NULL;
    text_print(out, words->interval, context.step->interval_step + 1);
    if (level && level->distance > 0) text_print(out, words->level, number, level->distance);
    text_print(out, "%s\n", words->full_stop);
}

static void print_question(Text *out, const QuizWords *words, const Ask *ask, const char *keys) {
    text_print(out, "\n```predict\n%s\ntopic: %s\nkeys: %s\nanswer: %s = %.10g\n", ask->question,
               words->topics[ask->kind], keys, ask->expression, ask->value);
    for (int i = 0; i < ask->wrong_count; i++)
        text_print(out, "wrong: %.10g = %s\n", ask->wrong[i].value, ask->wrong[i].why);
    text_add(out, "```\n");
}

/* The first question stands below the lecture's title: a stop before it would show its figures. */
static void print_stop(Text *out, const Asks *asks, const Ask *ask, bool is_first) {
    char keys[32];
    if (ask->kind == ASK_LEVELS) {
        if (!is_first) text_print(out, "\n## %s\n", asks->words->levels_title);
        text_add(out, "\n```redviz\n--keys 'g'\n```\n");
        print_question(out, asks->words, ask, "g");
        return;
    }
    print_place(out, asks, ask, is_first);
    text_print(out, "\n```redviz\n--keys '%dg'\n```\n", ask->before + 1);
    snprintf(keys, sizeof keys, "%dg", ask->step + 1);
    print_question(out, asks->words, ask, keys);
}

static void print_lecture(Text *out, const Scene *scene, const Asks *asks, const bool *chosen, int count) {
    const QuizWords *words = asks->words;
    text_add(out, "# ");
    text_print(out, words->title, scene->identity.kernel);
    text_print(out, "\n\n```lecture\nlanguage: %s\nminutes: %d\nneeds: no GPU\n```\n\n", words->language,
               count);
    text_print(out, count == 1 ? words->one : words->many, count);
    text_add(out, "\n");
    bool is_first = true;
    for (int i = 0; i < asks->count; i++) {
        if (!chosen[i]) continue;
        print_stop(out, asks, &asks->asks[i], is_first);
        is_first = false;
    }
    text_print(out, "\n## %s\n\n%s\n", words->end_title, words->end);
}

/* ---- the lecture --------------------------------------------------------------------------------------- */

static void make_screens(Quiz *quiz) {
    const Lecture *lecture = quiz->lecture;
    quiz->screens = memory_new((size_t)lecture->stop_count * sizeof *quiz->screens);
    for (int i = 0; i < lecture->stop_count; i++)
        if (lecture->stops[i].has_command)
            quiz->screens[i] = (LectureScreen){.is_set = true,
                                               .run = "",
                                               .session = &quiz->options,
                                               .keys = lecture->stops[i].words[1].text};
    quiz->run = (LectureRun){lecture, quiz->screens, true};
}

bool quiz_open(Session *session, const char *language, Quiz *out, Error *error) {
    Asks asks;
    Text text = {0};
    Scene *scene = scene_new(session);
    *out = (Quiz){.options = *session_spec(session)};
    asks_find(&asks, scene, (Session *)session, quiz_words(language));
    bool *chosen = memory_new(((size_t)asks.count + 1) * sizeof *chosen);
    int count = choose(&asks, chosen);
    if (count) {
        print_lecture(&text, scene, &asks, chosen, count);
        out->lecture = lecture_parse(text_string(&text), text.length, scene->identity.kernel, error);
    } else {
        error_set(error,
                  "--predict: %s has nothing to ask about: no lane is idle, and no warp accesses memory",
                  scene->identity.kernel);
    }
    if (out->lecture) make_screens(out);
    free(chosen);
    text_done(&text);
    asks_done(&asks);
    scene_free(scene);
    return out->lecture != NULL;
}

void quiz_close(Quiz *quiz) {
    lecture_free(quiz->lecture);
    free(quiz->screens);
    *quiz = (Quiz){0};
}
