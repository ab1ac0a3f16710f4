/* The interface in lines: commands as words, a fact a line, nothing drawn. */
#define _POSIX_C_SOURCE 200809L
#include "ask/ask.h"
#include "exercise/exercise_lecture.h"
#include "exercise/grade_print.h"
#include "tui/app_state.h"
#include "tui/view/index_view.h"

#include "base/language.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct PlainApp {
    App *app;
    FILE *in, *out;
    int stop;        /* of the lecture, that was printed last; -1: none */
    const void *of;  /* its lecture: an exercise has another one after each grade */
    int step;        /* that was printed last; -1: none */
    const void *run; /* its run */
    int hints;       /* that were asked for */
} PlainApp;

/* ---- texts ---- */

/* A sentence a line. */
static void print_sentences(const PlainApp *plain, const char *text) {
    while (*text) {
        const char *end = strstr(text, ". ");
        while (end && end > text && end[-1] == '.') end = strstr(end + 1, ". "); /* "0, 2, ... 30" */
        int length = end ? (int)(end - text) + 1 : (int)strlen(text);
        fprintf(plain->out, "%.*s\n", length, text);
        text += length;
        text += strspn(text, " ");
    }
}

/* Without the marks of strong and code. */
static void print_marked(const PlainApp *plain, const char *label, const char *text) {
    LectureSpan span;
    if (label) fprintf(plain->out, "%s ", label);
    while (lecture_next_span(&text, &span)) fprintf(plain->out, "%.*s", (int)span.length, span.text);
    fputc('\n', plain->out);
}

static void print_question(const PlainApp *plain) {
    const LectureView *lecture = &plain->app->lecture;
    if (lecture->question != QUESTION_WAITS) return;
    const LectureStop *stop = view_lecture_stop(lecture);
    const LectureQuestion *question = stop->question;
    if (question->pointing)
        fprintf(plain->out, "%s", tr("Answer with a mask: 0x5 is lanes, or banks, 0 and 2."));
    else if (question->choice_count)
        fprintf(plain->out, tr("Answer with a number from 1 to %d; skip shows the answer."),
                question->choice_count);
    else
        fprintf(plain->out, "%s", tr("Answer with a number; skip shows the answer."));
    fputc('\n', plain->out);
    print_marked(plain, tr("Question:"), question->text);
    for (int i = 0; i < question->choice_count; i++) {
        char label[16];
        snprintf(label, sizeof label, "%d:", i + 1);
        print_marked(plain, label, question->choices[i]);
    }
}

/* A goal's mark is a word: a screen reader leaves out the brackets of "[ ]". */
static void print_item(const PlainApp *plain, const LectureBlock *block) {
    static const char *const words[] = {
        [GOAL_NOT_TRIED] = "not tried:", [GOAL_MISSED] = "missed:", [GOAL_MET] = "reached:"};
    for (GoalState state = GOAL_NOT_TRIED; state <= GOAL_MET; state++) {
        const char *mark = grade_mark(state);
        size_t length = strlen(mark);
        if (strncmp(block->text, mark, length) != 0) continue;
        print_marked(plain, tr(words[state]), block->text + length + strspn(block->text + length, " "));
        return;
    }
    print_marked(plain, block->label, block->text);
}

static void print_blocks(const PlainApp *plain, const LectureStop *stop) {
    for (int i = 0; i < stop->block_count; i++) {
        const LectureBlock *block = &stop->blocks[i];
        if (block->kind == LECTURE_CODE)
            fputs(block->text, plain->out);
        else if (block->kind == LECTURE_ITEM)
            print_item(plain, block);
        else
            print_marked(plain, NULL, block->text);
    }
}

static void print_stop(PlainApp *plain) {
    const LectureView *lecture = &plain->app->lecture;
    const LectureStop *stop = view_lecture_stop(lecture);
    if (!stop || (plain->stop == lecture->stop && plain->of == lecture->run->lecture)) return;
    plain->stop = lecture->stop;
    plain->of = lecture->run->lecture;
    fprintf(plain->out, tr("Stop %d of %d: %s"), lecture->stop + 1, lecture->run->lecture->stop_count,
            stop->title);
    fputc('\n', plain->out);
    print_blocks(plain, stop);
    Text score = {0};
    view_lecture_add_score(lecture, &score);
    if (score.length) fprintf(plain->out, "%s\n", text_string(&score));
    text_done(&score);
}

/* ---- the exercise ---- */

/* A stop of its lecture, wherever the learner stands. */
static void print_part(const PlainApp *plain, int stop) {
    const Lecture *lecture = plain->app->grading ? plain->app->lecture.run->lecture : NULL;
    if (!lecture) {
        fprintf(plain->out, "%s\n", tr("no exercise is open: redviz --exercise lists them"));
        return;
    }
    fprintf(plain->out, "%s\n", lecture->stops[stop].title);
    print_blocks(plain, &lecture->stops[stop]);
}

static void print_task(PlainApp *plain) {
    print_part(plain, EXERCISE_STOP_TASK);
}

static void print_goals(PlainApp *plain) {
    print_part(plain, EXERCISE_STOP_GOALS);
}

/* The next one; after the last one, the last one. */
static void print_hint(PlainApp *plain) {
    if (plain->hints < EXERCISE_HINTS) plain->hints++;
    print_part(plain, EXERCISE_STOP_GOALS + plain->hints);
}

/* ---- the step ---- */

/* The line and the instruction; without a source, the instruction is the line. */
static void print_code(const PlainApp *plain, const StepContext *context) {
    const PtxSourceLine *line = &context->code->line;
    const char *text = line->file ? scene_source_line(context->scene, line->file, line->line) : NULL;
    const char *instruction = scene_ptx_line(context->scene, context->view->place.block, context->step->pc);
    if (text) {
        fprintf(plain->out, tr("Line %d: %s"), line->line, text + strspn(text, " \t"));
        fputc('\n', plain->out);
    }
    if (!instruction) return;
    instruction += strspn(instruction, " \t");
    if (text)
        fprintf(plain->out, tr("Instruction: %s"), instruction);
    else
        fprintf(plain->out, tr("Line %d of the PTX: %s"), context->code->instruction->line, instruction);
    fputc('\n', plain->out);
}

/* The array that the lane accesses. */
static void print_array(const StepContext *context, int lane, char *out, size_t bytes) {
    int buffer = context->event.buffer[lane];
    if (step_context_is_shared(context->event.kind))
        step_context_print_symbol(context, buffer, out, bytes);
    else
        step_context_print_input(context, buffer, out, bytes);
}

/* "Warp 0 loads sdata[tid + 1]": which operand of the line it is. */
static void print_operand(const PlainApp *plain, const StepContext *context) {
    char expression[INDEX_TEXT_BYTES], name[64];
    const TraceEvent *event = &context->event;
    bool is_store;
    if (app_is_covered(plain->app) || !view_index_of_access(context, &is_store, expression)) return;
    print_array(context, __builtin_ctz(event->mask), name, sizeof name);
    const char *factor = "tid * 1";
    size_t length = strlen(factor);
    bool is_thread = !strncmp(expression, factor, length) && !isdigit((unsigned char)expression[length]);
    fprintf(plain->out, is_store ? tr("Warp %d stores to %s[%s%s].") : tr("Warp %d loads %s[%s%s]."),
            event->warp, name, is_thread ? "tid" : "", is_thread ? expression + length : expression);
    fputc('\n', plain->out);
}

static void print_step(PlainApp *plain, bool again) {
    App *app = plain->app;
    const View *view = app_view(app);
    const Scene *scene = comparison_scene(&app->comparison);
    StepContext context;
    Text text = {0};
    if (!step_context_init(&context, scene, view)) return;
    if (!again && plain->step == view->place.step && plain->run == scene) return;
    plain->step = view->place.step;
    plain->run = scene;
    fprintf(plain->out, tr("Step %d of %d"), view->place.step + 1, context.steps->step_count);
    fputc('\n', plain->out);
    print_code(plain, &context);
    print_operand(plain, &context);
    app_explain(app, &context, &text);
    print_sentences(plain, text_string(&text));
    text_done(&text);
}

static void print_values(PlainApp *plain) {
    StepContext context;
    char value[64], name[64], expression[INDEX_TEXT_BYTES];
    if (!step_context_init(&context, comparison_scene(&plain->app->comparison), app_view(plain->app))) return;
    if (app_is_covered(plain->app) || !context.event.element_count) {
        fprintf(plain->out, "%s\n",
                app_is_covered(plain->app) ? tr("answer the question first; skip shows the answer")
                                           : tr("this step moves no value"));
        return;
    }
    bool is_store, is_access = view_index_of_access(&context, &is_store, expression);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(context.event.mask >> lane & 1)) continue;
        step_context_print_value(&context, context.event.value[0][lane], 0, value, sizeof value);
        fprintf(plain->out, tr("warp %d lane %d: %s"), context.event.warp, lane, value);
        if (is_access) {
            print_array(&context, lane, name, sizeof name);
            int element = (int)(context.event.offset[lane] / (uint64_t)context.event.element_bytes);
            fprintf(plain->out, tr(", element %d of %s"), element, name);
        }
        fputc('\n', plain->out);
    }
}

/* ---- commands ---- */

static void print_report(PlainApp *plain) {
    Text text = {0};
    ask_report(plain->app->slots[plain->app->comparison.active].current.session, false, &text);
    fputs(text_string(&text), plain->out);
    text_done(&text);
}

static void print_check(PlainApp *plain) {
    Text text = {0};
    ask_check(plain->app->slots[plain->app->comparison.active].current.session, TOOL_NONE, CHECK_TEXT, &text);
    fputs(text_string(&text), plain->out);
    text_done(&text);
}

static void print_edit(PlainApp *plain) {
    int count;
    const char *const *files =
        session_files(plain->app->slots[app_edited_index(plain->app)].current.session, &count);
    if (count)
        fprintf(plain->out,
                tr("Edit and save %s in another terminal; an empty line here then runs it again."), files[0]);
    else
        fputs(tr("nothing to edit"), plain->out);
    fputc('\n', plain->out);
}

static const struct {
    const char *word, *keys, *help;
    void (*print)(PlainApp *plain);
} commands[] = {
    {"next", "l", "the next beat: an access, a shuffle, a split, a wait", NULL},
    {"back", "h", "the beat before", NULL},
    {"level", "]", "the next level of the reduction", NULL},
    {"split", "d", "the next branch that diverges, its arms", NULL},
    {"conflict", "n", "the next bank conflict", NULL},
    {"finding", "f", "the next error or slow place", NULL},
    {"warp", "w", "the next warp of this step", NULL},
    {"first", "g", "the first step", NULL},
    {"last", "G", "the last step", NULL},
    {"task", NULL, "the task of the exercise", print_task},
    {"goals", NULL, "its goals, and which of them are reached", print_goals},
    {"hint", NULL, "the next hint", print_hint},
    {"values", NULL, "the values of this step, lane by lane", print_values},
    {"report", NULL, "the counts of the run", print_report},
    {"check", NULL, "races, other hazards and a wrong result", print_check},
    {"edit", NULL, "how the file is edited and run again; also e", print_edit},
    {"stop", "<PgDn>", "the next stop of the lecture; also an empty line", NULL},
    {"previous", "<PgUp>", "the stop before", NULL},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static bool press(PlainApp *plain, const char *keys) {
    bool quit = false;
    Error error = {0};
    if (!app_press_script(plain->app, keys, 0, 0, &quit, &error)) {
        fprintf(plain->out, "%s\n", error.message);
        plain->app->failed = false;
    }
    return !quit;
}

/* A number or a mask is the answer to the question that waits. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the formats are those of view_lecture_words() */
static bool answer(PlainApp *plain, const char *line) {
    const LectureWords *words = view_lecture_words(&plain->app->lecture);
    const LectureView *lecture = &plain->app->lecture;
    const LectureStop *stop = view_lecture_stop(lecture);
    const LectureQuestion *question = stop->question;
    char keys[128];
    Text said = {0};
    snprintf(keys, sizeof keys, "%.100s<Enter>", line);
    bool goes_on = press(plain, keys);
    if (lecture->question == QUESTION_RIGHT) {
        text_print(&said, words->right, question->value);
    } else if (lecture->question == QUESTION_WRONG) {
        int choice = question->choice_count ? atoi(lecture->typed) : 0;
        bool is_choice = choice >= 1 && choice <= question->choice_count;
        text_print(&said, words->wrong, question->value,
                   is_choice ? question->choices[choice - 1] : lecture->typed);
        if (view_lecture_reason(lecture)) text_print(&said, "\n%s", view_lecture_reason(lecture));
    }
    if (said.length) print_marked(plain, NULL, text_string(&said));
    text_done(&said);
    plain->step = -1; /* what was covered is shown */
    return goes_on;
}

/* The question that waits: its answer. */
static bool skip(PlainApp *plain) {
    const LectureView *lecture = &plain->app->lecture;
    if (!lecture->run || lecture->question != QUESTION_WAITS) {
        fprintf(plain->out, "%s\n", tr("no question waits"));
        return true;
    }
    bool goes_on = press(plain, "<PgDn>");
    if (lecture->question == QUESTION_SKIPPED) {
        Text said = {0};
        text_print(&said, view_lecture_words(lecture)->answer, view_lecture_stop(lecture)->question->value);
        print_marked(plain, NULL, text_string(&said));
        text_done(&said);
    }
    plain->step = -1;
    return goes_on;
}

#pragma GCC diagnostic pop

static bool is_number(const char *line) {
    return *line && strspn(line, "0123456789.xabcdefABCDEF-") == strlen(line) &&
           (*line >= '0' && *line <= '9');
}

/* To the next stop. */
static bool go_on(PlainApp *plain) {
    const LectureView *lecture = &plain->app->lecture;
    bool waits = lecture->run && lecture->question == QUESTION_WAITS;
    if (!lecture->run || waits || lecture->stop + 1 < lecture->run->lecture->stop_count)
        return press(plain, "<PgDn>");
    fprintf(plain->out, "%s\n", tr("This is the last stop: quit ends, previous goes back."));
    return true;
}

static void print_help(const PlainApp *plain) {
    static const char *const others[] = {"step N: that step", "skip: the answer of the question that waits",
                                         "where: this stop and this step again",
                                         "keys KEYS: presses them as in the interface",
                                         "quit: leaves redviz"};
    for (int i = 0; i < COMMANDS; i++)
        fprintf(plain->out, "%s: %s\n", commands[i].word, tr(commands[i].help));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) fprintf(plain->out, "%s\n", tr(others[i]));
}

/* False: quit. */
static bool obey(PlainApp *plain, char *line) {
    App *app = plain->app;
    bool waits = app->lecture.run && app->lecture.question == QUESTION_WAITS;
    char *word = line + strspn(line, " \t"), *rest = word + strcspn(word, " \t");
    if (*rest) *rest++ = 0;
    rest += strspn(rest, " \t");
    if (!strcmp(word, "quit") || !strcmp(word, "q")) return false;
    if (!strcmp(word, "skip")) return skip(plain);
    if (waits && is_number(word)) return answer(plain, word);
    if (waits && !*word) return true; /* it is asked again */
    if (!*word && !app->lecture.run) return press(plain, "l");
    if (!*word || !strcmp(word, "stop")) return go_on(plain);
    if (!strcmp(word, "help") || !strcmp(word, "?")) {
        print_help(plain);
        return true;
    }
    if (!strcmp(word, "where")) {
        plain->stop = plain->step = -1;
        return true;
    }
    if (!strcmp(word, "keys")) return press(plain, rest);
    if (!strcmp(word, "step") && !is_number(rest)) {
        fprintf(plain->out, "%s\n", tr("step needs a number: step 12"));
        return true;
    }
    if (!strcmp(word, "step")) {
        char keys[32];
        snprintf(keys, sizeof keys, "%.12sg", rest);
        return press(plain, keys);
    }
    if (!strcmp(word, "e")) word = "edit";
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(word, commands[i].word) != 0) continue;
        if (commands[i].keys) return press(plain, commands[i].keys);
        commands[i].print(plain);
        return true;
    }
    if (is_number(word))
        fprintf(plain->out, tr("no question waits for %.40s; step %.40s goes to that step"), word, word);
    else if (word[1])
        fprintf(plain->out, tr("'%.40s' is no command; help lists them"), word);
    else
        fprintf(plain->out, tr("'%.1s' is no command; keys %.1s presses this key"), word, word);
    fputc('\n', plain->out);
    return true;
}

/* Behind its goals an exercise does not show them by itself. */
static void print_new_grade(PlainApp *plain) {
    const LectureView *lecture = &plain->app->lecture;
    if (!plain->app->grading || lecture->stop <= EXERCISE_STOP_GOALS) return;
    plain->stop = lecture->stop;
    plain->of = lecture->run->lecture;
    print_goals(plain);
}

/* A saved file is run and graded first. True: it was, and the next state shows it. */
static bool follow_files(PlainApp *plain) {
    App *app = plain->app;
    app->look_due = 0;
    app_check_files(app);
    bool is_saved = app->slots[0].is_stale || app->slots[1].is_stale;
    app_rerun_stale(app);
    if (is_saved) print_new_grade(plain);
    return is_saved;
}

static void print_state(PlainApp *plain) {
    View *view = app_view(plain->app);
    print_stop(plain);
    print_step(plain, false);
    if (*view->transient.message) fprintf(plain->out, "%s\n", view->transient.message);
    view->transient.message[0] = 0;
    if (plain->app->lecture.run) print_question(plain);
    fputs("> ", plain->out);
    fflush(plain->out);
}

static void print_open(const PlainApp *plain, const Session *session) {
    fprintf(plain->out, tr("This is a run of %s; redviz --lecture and redviz --exercise list what to learn."),
            session_name(session));
    fputc('\n', plain->out);
}

bool app_plain(Session *session, const AppStart *start, FILE *in, FILE *out, Error *error) {
    App app;
    bool quit;
    char *line = NULL;
    size_t capacity = 0;
    PlainApp plain = {&app, in, out, -1, NULL, -1, NULL, 0};
    app_init(&app, session, start);
    app.watch = start->watch;
    bool ok = app_start(&app, start, 0, 0, &quit, error);
    if (ok && !quit) {
        fprintf(out, "%s\n", tr("Commands are words; help lists them, an empty line goes on."));
        if (!app.lecture.run) print_open(&plain, session);
        bool goes_on = true;
        while (goes_on) {
            print_state(&plain);
            ssize_t length = getline(&line, &capacity, in);
            if (length < 0) break;
            line[strcspn(line, "\r\n")] = 0;
            bool is_saved = follow_files(&plain);
            bool is_done = is_saved && (!*line || (app.grading && !strcmp(line, "goals")));
            if (is_saved && !is_done) print_state(&plain);
            goes_on = is_done || obey(&plain, line);
        }
    }
    free(line);
    app_done(&app);
    return ok;
}
