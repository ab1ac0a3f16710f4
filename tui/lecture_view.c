/* Stops, answers and the score. */
#include "tui/lecture_view.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const LectureWords *view_lecture_words(const LectureView *lecture) {
    static const LectureWords english = {.type_answer = "type your answer, then Enter; PgDn shows it",
                                         .mark_lane = "Space marks lane %d, x: the next one; then Enter",
                                         .mark_bank = "Space marks bank %d, x: the next one; then Enter",
                                         .type_number = "type a number, then Enter; PgDn: the answer",
                                         .type_choice =
                                             "type a number from 1 to %d, then Enter; PgDn shows the answer",
                                         .right = "Right: %s",
                                         .wrong = "No, it is %s (your answer: %s)",
                                         .answer = "The answer: %s",
                                         .score = "Your answers: %d of %d right",
                                         .topic = "%s %d of %d",
                                         .stop = "stop %d of %d",
                                         .more = "PgDn ↓ more",
                                         .next = "PgDn next",
                                         .first = "Home first"};
    static const LectureWords chinese = {.type_answer = "输入答案，按 Enter；PgDn 显示答案",
                                         .mark_lane = "Space 标记 lane %d，x 移到下一个；然后按 Enter",
                                         .mark_bank = "Space 标记 bank %d，x 移到下一个；然后按 Enter",
                                         .type_number = "请输入数字，按 Enter；PgDn 显示答案",
                                         .type_choice = "输入 1 到 %d 的编号，按 Enter；PgDn 显示答案",
                                         .right = "答对了：%s",
                                         .wrong = "不对，应为 %s（你的回答：%s）",
                                         .answer = "答案：%s",
                                         .score = "答对 %d 题，共 %d 题",
                                         .topic = "%s %d/%d",
                                         .stop = "第 %d 节，共 %d 节",
                                         .more = "PgDn ↓ 更多",
                                         .next = "PgDn 下一节",
                                         .first = "Home 第一节"};
    return !strncmp(lecture->run->lecture->language, "zh", 2) ? &chinese : &english;
}

const LectureScreen *view_lecture_screen(const LectureView *lecture) {
    int stop = lecture->stop;
    while (!lecture->run->screens[stop].is_set) stop--;
    return &lecture->run->screens[stop];
}

const LectureStop *view_lecture_stop(const LectureView *lecture) {
    return lecture->run ? &lecture->run->lecture->stops[lecture->stop] : NULL;
}

static const LectureQuestion *question_of(const LectureView *lecture) {
    const LectureStop *stop = view_lecture_stop(lecture);
    return stop->question;
}

const char *view_lecture_exercise(const LectureView *lecture) {
    return lecture->question == QUESTION_WAITS ? NULL : view_lecture_stop(lecture)->exercise;
}

void view_lecture_done(LectureView *lecture) {
    free(lecture->answered);
    *lecture = (LectureView){0};
}

void view_lecture_begin_stop(LectureView *lecture, int stop) {
    lecture->stop = stop;
    lecture->scroll = 0;
    lecture->has_left = false;
    lecture->typed[0] = 0;
    lecture->has_marks = false;
    lecture->is_refused = false;
    bool asks = lecture->run->asks && question_of(lecture);
    lecture->question = asks ? QUESTION_WAITS : QUESTION_NONE;
}

unsigned view_lecture_hides(const LectureView *lecture) {
    static const struct {
        const char *word;
        unsigned hides;
    } kinds[] = {{"lane", HIDES_LANES},       {"diverg", HIDES_LANES},     {"wavefront", HIDES_ACCESSES},
                 {"bank", HIDES_ACCESSES},    {"ways", HIDES_ACCESSES},    {"excess", HIDES_ACCESSES},
                 {"sector", HIDES_ACCESSES},  {"request", HIDES_ACCESSES}, {"value", HIDES_VALUES},
                 {"word", HIDES_VALUES},      {"result", HIDES_VALUES},    {"time", HIDES_TIMES},
                 {"gigabytes", HIDES_TIMES},  {"cycles", HIDES_TIMES},     {"stalled", HIDES_TIMES},
                 {"ready", HIDES_TIMES},      {"wait", HIDES_TIMES},       {"no_warp", HIDES_TIMES},
                 {"throughput", HIDES_TIMES}, {"life", HIDES_TIMES}};
    if (!lecture->run || lecture->question != QUESTION_WAITS) return 0;
    const LectureQuestion *question = question_of(lecture);
    unsigned hides = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(question->answer.text, kinds[i].word)) hides |= kinds[i].hides;
    if (!*question->answer.text) hides = HIDES_ALL; /* no expression says what it is about */
    if (!hides) hides = HIDES_COUNTS;
    return hides | (question->keys ? 0 : HIDES_HERE);
}

/* As enter() of app_lecture.c does it. */
void view_lecture_tell(const LectureView *lecture, View *view) {
    view->transient.hides = view_lecture_hides(lecture);
    view->transient.enter = NULL;
    if (!lecture->run) return;
    bool waits = lecture->question == QUESTION_WAITS && (*lecture->typed || !lecture->has_left);
    view->transient.enter = waits                                                   ? "answer"
                            : lecture->has_left                                     ? "return"
                            : view_lecture_exercise(lecture)                        ? "solve"
                            : lecture->stop + 1 < lecture->run->lecture->stop_count ? "next"
                                                                                    : NULL;
}

/* ---- answers ------------------------------------------------------------------------------------------- */

static bool add_character(LectureView *lecture, char character) {
    size_t length = strlen(lecture->typed);
    if (length + 1 >= sizeof lecture->typed) return true;
    lecture->typed[length] = character;
    lecture->typed[length + 1] = 0;
    return true;
}

/* Space marks the lane or bank, or removes its mark: the answer is a mask. */
static bool mark(LectureView *lecture, int bit) {
    unsigned long mask = strtoul(lecture->typed, NULL, 0) ^ 1UL << bit;
    lecture->typed[0] = 0;
    if (mask) snprintf(lecture->typed, sizeof lecture->typed, "0x%lx", mask);
    lecture->has_marks = mask != 0;
    return true;
}

/* "0x11": every other key moves the cursor. */
static bool type_mask(LectureView *lecture, Key key, size_t length, bool counts) {
    bool is_next = length == 0   ? key == '0' && !counts
                   : length == 1 ? key == 'x'
                                 : key < 128 && isxdigit((int)key) && !lecture->has_marks;
    return is_next && add_character(lecture, (char)key);
}

bool view_lecture_type(LectureView *lecture, Key key, int lane, bool counts) {
    const LectureQuestion *question = question_of(lecture);
    size_t length = strlen(lecture->typed);
    lecture->is_refused = false;
    if (key == SPECIAL_BACKSPACE && length) {
        lecture->typed[lecture->has_marks ? 0 : length - 1] = 0;
        lecture->has_marks = false;
        return true;
    }
    if (question->pointing) return key == ' ' ? mark(lecture, lane) : type_mask(lecture, key, length, counts);
    bool is_digit = key >= '0' && key <= '9';
    bool is_sign = (key == '-' && !length) || (key == '.' && length && !question->choice_count);
    return (is_digit || is_sign) && add_character(lecture, (char)key);
}

static LectureScore *score_of(LectureView *lecture, const char *topic) {
    for (int i = 0; i < lecture->score_count; i++)
        if (!strcmp(lecture->scores[i].topic, topic)) return &lecture->scores[i];
    if (lecture->score_count == LECTURE_TOPICS) return &lecture->scores[LECTURE_TOPICS - 1];
    lecture->scores[lecture->score_count] = (LectureScore){.topic = topic};
    return &lecture->scores[lecture->score_count++];
}

/* The first answer counts. */
static void count_answer(LectureView *lecture, bool right) {
    if (!lecture->answered)
        lecture->answered = memory_new((size_t)lecture->run->lecture->stop_count * sizeof *lecture->answered);
    if (lecture->answered[lecture->stop]) return;
    lecture->answered[lecture->stop] = true;
    LectureScore *score = score_of(lecture, question_of(lecture)->topic);
    score->asked++;
    score->right += right;
}

static bool is_typed(const LectureQuestion *question, double typed, const char *value) {
    if (question->choice_count) return !strcmp(question->choices[(int)typed - 1], value);
    double wanted = strtod(value, NULL);
    return fabs(typed - wanted) <= 1e-9 * fabs(wanted);
}

const char *view_lecture_reason(const LectureView *lecture) {
    if (lecture->question != QUESTION_WRONG) return NULL;
    const LectureQuestion *question = question_of(lecture);
    double typed = strtod(lecture->typed, NULL);
    const char *any = NULL;
    for (int i = 0; i < question->reason_count; i++) {
        const LectureReason *reason = &question->reasons[i];
        if (!strcmp(reason->value, "*"))
            any = reason->text;
        else if (is_typed(question, typed, reason->value))
            return reason->text;
    }
    return any;
}

static bool is_right(const LectureQuestion *question, double typed, bool *valid) {
    *valid = true;
    *valid = !question->choice_count || (typed >= 1 && typed <= question->choice_count);
    return *valid && is_typed(question, typed, question->value);
}

bool view_lecture_answer(LectureView *lecture) {
    const LectureQuestion *question = question_of(lecture);
    char *end;
    double typed = strtod(lecture->typed, &end);
    bool valid = *lecture->typed && !*end;
    bool right = valid && is_right(question, typed, &valid);
    lecture->is_refused = !valid;
    if (!valid) {
        lecture->typed[0] = 0;
        return false;
    }
    lecture->question = right ? QUESTION_RIGHT : QUESTION_WRONG;
    count_answer(lecture, right);
    return true;
}

void view_lecture_skip(LectureView *lecture) {
    lecture->question = QUESTION_SKIPPED;
    count_answer(lecture, false);
}
