/* Reads the blocks lecture, redviz, predict and claim. */
#include "lecture/lecture_reader.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MINUTES = 24 * 60 };

/* "name: value"; *value is trimmed. False: the line is not a field of this name. */
static bool is_field(LectureLine line, const char *name, LectureLine *value) {
    size_t length = strlen(name);
    if (!reader_begins(line, name) || line.length <= length || line.text[length] != ':') return false;
    *value = reader_trim((LectureLine){line.text + length + 1, line.length - length - 1});
    return true;
}

static bool read_head_field(LectureReader *reader) {
    Lecture *lecture = reader->lecture;
    LectureLine line = reader_trim(reader->line), value;
    if (!line.length) return true;
    if (is_field(line, "language", &value)) {
        lecture->language = reader_keep(reader, value);
    } else if (is_field(line, "needs", &value)) {
        lecture->needs = reader_keep(reader, value);
    } else if (is_field(line, "minutes", &value)) {
        char *stop;
        const char *text = reader_keep(reader, value);
        long minutes = strtol(text, &stop, 10);
        if (!*text || *stop || minutes < 1 || minutes > MOST_MINUTES)
            return reader_refuse(reader, reader_column(reader, value.text),
                                 "minutes is a whole number, like 20");
        lecture->minutes = (int)minutes;
    } else {
        return reader_refuse(reader, reader_column(reader, line.text),
                             "the block ```lecture has the lines language: ..., minutes: ... and needs: ...");
    }
    return true;
}

static bool read_head(LectureReader *reader) {
    LecturePlace begin = {reader->number, 1};
    bool failed = false;
    if (!reader->lecture->title)
        return reader_refuse(reader, 1, "the lecture's title comes first: '# Title'");
    if (reader->has_head) return reader_refuse(reader, 1, "there is one block ```lecture");
    while (reader_next_of_block(reader, begin, &failed))
        if (!read_head_field(reader)) return false;
    if (failed) return false;
    const Lecture *lecture = reader->lecture;
    if (!lecture->language || !*lecture->language || !lecture->minutes || !lecture->needs)
        return reader_fail_at(reader, begin, "the block ```lecture lacks one of language, minutes, needs");
    reader->has_head = true;
    return true;
}

/* Splits words like a shell, with both kinds of quotes. */
static bool read_words(LectureReader *reader) {
    LectureStop *stop = reader->stop;
    const char *at = reader->line.text, *end = at + reader->line.length;
    Text word = {0};
    while (at < end) {
        while (at < end && isspace((unsigned char)*at)) at++;
        if (at == end) break;
        LectureWord next = {.place = {reader->number, reader_column(reader, at)}};
        for (text_clear(&word); at < end && !isspace((unsigned char)*at); at++) {
            if (*at != '\'' && *at != '"') {
                text_add_bytes(&word, at, 1);
                continue;
            }
            const char *closing = memchr(at + 1, *at, (size_t)(end - at - 1));
            if (!closing) {
                text_done(&word);
                return reader_refuse(reader, reader_column(reader, at), "this quote is never closed");
            }
            text_add_bytes(&word, at + 1, (size_t)(closing - at - 1));
            at = closing;
        }
        next.text = arena_copy_string(&reader->lecture->arena, text_string(&word));
        array_push(stop->words, stop->word_count, stop->word_capacity, next);
    }
    text_done(&word);
    return true;
}

static bool read_command(LectureReader *reader) {
    LecturePlace begin = {reader->number, 1};
    bool failed = false;
    if (reader->stop->has_command) return reader_refuse(reader, 1, "a stop has one block ```redviz");
    reader->stop->has_command = true;
    reader->stop->command_place = begin;
    while (reader_next_of_block(reader, begin, &failed))
        if (!read_words(reader)) return false;
    if (failed) return false;
    if (!reader->stop->word_count)
        return reader_fail_at(reader, begin,
                              "this block is empty: give options, like --kernel interleaved --keys ']'");
    if (!strcmp(reader->stop->words[0].text, "redviz"))
        return reader_fail_at(reader, reader->stop->words[0].place,
                              "the options alone, without the word redviz");
    return true;
}

static bool read_claims(LectureReader *reader) {
    LecturePlace begin = {reader->number, 1};
    LectureStop *stop = reader->stop;
    bool failed = false;
    int before = stop->claim_count;
    while (reader_next_of_block(reader, begin, &failed)) {
        LectureLine line = reader_trim(reader->line);
        LectureExpression claim = {reader_keep(reader, line),
                                   {reader->number, reader_column(reader, line.text)}};
        if (line.length) array_push(stop->claims, stop->claim_count, stop->claim_capacity, claim);
    }
    if (failed) return false;
    return stop->claim_count > before ||
           reader_fail_at(reader, begin,
                          "this block is empty: give claims, a line each, like interleaved.excess == 0");
}

static bool read_choices(LectureReader *reader, LectureQuestion *question, LectureLine value) {
    const char *end = value.text + value.length;
    for (const char *at = value.text;; at++) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        LectureLine choice = reader_trim((LectureLine){at, (size_t)((bar ? bar : end) - at)});
        if (!choice.length)
            return reader_refuse(reader, reader_column(reader, at),
                                 "a choice is empty: choices: one | two | three");
        if (question->choice_count == LECTURE_CHOICES)
            return reader_refuse(reader, reader_column(reader, at), "a question has at most 8 choices");
        question->choices[question->choice_count++] = reader_keep(reader, choice);
        if (!bar) break;
        at = bar;
    }
    return question->choice_count > 1 || reader_refuse(reader, reader_column(reader, value.text),
                                                       "at least two choices: choices: one | two | three");
}

/* wrong: 32 = those are the lanes; the banks are 16 */
static bool read_reason(LectureReader *reader, LectureQuestion *question, LectureLine value) {
    const char *equals = value.length ? memchr(value.text, '=', value.length) : NULL;
    if (!equals)
        return reader_refuse(reader, reader_column(reader, value.text),
                             "a wrong answer has its reason behind '=': wrong: 32 = those are the lanes");
    if (question->reason_count == LECTURE_CHOICES)
        return reader_refuse(reader, reader_column(reader, value.text),
                             "a question has at most 8 wrong answers");
    LectureLine answer = reader_trim((LectureLine){value.text, (size_t)(equals - value.text)});
    LectureLine why =
        reader_trim((LectureLine){equals + 1, value.length - (size_t)(equals + 1 - value.text)});
    if (!answer.length || !why.length)
        return reader_refuse(reader, reader_column(reader, value.text),
                             "a wrong answer and its reason: wrong: 32 = those are the lanes");
    question->reasons[question->reason_count++] =
        (LectureReason){reader_keep(reader, answer),
                        {reader->number, reader_column(reader, answer.text)},
                        reader_keep(reader, why)};
    return true;
}

/* "EXPRESSION = VALUE"; splits at the last single '='. */
static bool read_answer(LectureReader *reader, LectureQuestion *question, LectureLine value) {
    size_t at = value.length;
    while (at > 0 && value.text[at - 1] != '=') at--;
    LectureLine right = reader_trim((LectureLine){value.text + at, value.length - at});
    if (!at || !right.length)
        return reader_refuse(reader, reader_column(reader, value.text),
                             "write the answer as EXPRESSION = VALUE, like lanes(step) = 4");
    LectureLine left = reader_trim((LectureLine){value.text, at - 1});
    question->answer =
        (LectureExpression){reader_keep(reader, left), {reader->number, reader_column(reader, left.text)}};
    if (strstr(question->answer.text, "lane_mask")) question->pointing = LECTURE_LANES;
    if (strstr(question->answer.text, "bank_mask")) question->pointing = LECTURE_BANKS;
    question->value = reader_keep(reader, right);
    question->value_place = (LecturePlace){reader->number, reader_column(reader, right.text)};
    return true;
}

static bool read_question_line(LectureReader *reader, LectureQuestion *question, Text *text) {
    LectureLine line = reader_trim(reader->line), value;
    if (is_field(line, "topic", &value)) {
        question->topic = reader_keep(reader, value);
    } else if (is_field(line, "keys", &value)) {
        question->keys = reader_keep(reader, value);
        question->keys_place = (LecturePlace){reader->number, reader_column(reader, value.text)};
    } else if (is_field(line, "choices", &value)) {
        return read_choices(reader, question, value);
    } else if (is_field(line, "answer", &value)) {
        return read_answer(reader, question, value);
    } else if (is_field(line, "wrong", &value)) {
        return read_reason(reader, question, value);
    } else if (line.length && question->topic) {
        return reader_refuse(reader, reader_column(reader, line.text),
                             "after the question come the lines topic: ..., choices: ..., keys: ..., answer: "
                             "... and wrong: ...");
    } else if (line.length) {
        text_print(text, "%s%.*s", text->length && !reader_is_wide(line.text) ? " " : "", (int)line.length,
                   line.text);
    }
    return true;
}

static bool is_choice(const LectureQuestion *question, const char *value) {
    for (int i = 0; i < question->choice_count; i++)
        if (!strcmp(question->choices[i], value)) return true;
    return false;
}

static bool is_number(const char *text) {
    char *stop;
    double value = strtod(text, &stop);
    return stop != text && !*stop && isfinite(value);
}

static bool check_reasons(LectureReader *reader, const LectureQuestion *question) {
    for (int i = 0; i < question->reason_count; i++) {
        const LectureReason *reason = &question->reasons[i];
        bool is_any = !strcmp(reason->value, "*");
        if (!is_any &&
            (question->choice_count ? !is_choice(question, reason->value) : !is_number(reason->value)))
            return reader_fail_at(reader, reason->place,
                                  "a wrong answer is a number, one of the choices, or *");
        if (!strcmp(reason->value, question->value))
            return reader_fail_at(reader, reason->place, "this is the right answer");
    }
    return true;
}

static bool check_question(LectureReader *reader, LecturePlace begin, const LectureQuestion *question) {
    if (!*question->text)
        return reader_fail_at(reader, begin, "the question is missing: it comes before topic: and answer:");
    if (!question->topic || !*question->topic)
        return reader_fail_at(reader, begin,
                              "topic: is missing, the word under which the score counts this question");
    if (!question->value)
        return reader_fail_at(reader, begin, "answer: is missing: answer: EXPRESSION = VALUE");
    if (question->choice_count && !is_choice(question, question->value))
        return reader_fail_at(reader, question->value_place, "this is none of the choices");
    if (!question->choice_count && !is_number(question->value))
        return reader_fail_at(reader, question->value_place,
                              "an answer is a number; else give choices: one | two | three");
    if (!*question->answer.text && !question->choice_count)
        return reader_fail_at(reader, question->value_place,
                              "the expression before '=' is missing, like lanes(step)");
    if (*question->answer.text && !isdigit((unsigned char)*question->value) && *question->value != '-')
        return reader_fail_at(
            reader, question->value_place,
            "the expression gives a number, so this choice begins with one; else write answer: = CHOICE");
    return check_reasons(reader, question);
}

static bool read_question(LectureReader *reader) {
    LecturePlace begin = {reader->number, 1};
    Text text = {0};
    bool failed = false, good = true;
    if (reader->stop->question) return reader_refuse(reader, 1, "a stop has one block ```predict");
    LectureQuestion *question = arena_new(&reader->lecture->arena, sizeof *question);
    question->place = begin;
    while (good && reader_next_of_block(reader, begin, &failed))
        good = read_question_line(reader, question, &text);
    question->text = arena_copy_string(&reader->lecture->arena, text_string(&text));
    text_done(&text);
    reader->stop->question = question;
    return good && !failed && check_question(reader, begin, question);
}

/* Readers of a page or a handout see the command. */
static bool read_exercise(LectureReader *reader) {
    LecturePlace begin = {reader->number, 1};
    LectureStop *stop = reader->stop;
    Arena *arena = &reader->lecture->arena;
    bool failed = false;
    if (stop->exercise) return reader_refuse(reader, 1, "a stop has one block ```exercise");
    while (reader_next_of_block(reader, begin, &failed)) {
        LectureLine name = reader_trim(reader->line);
        if (!name.length) continue;
        if (stop->exercise) return reader_refuse(reader, 1, "one name of an exercise is expected");
        stop->exercise = reader_keep(reader, name);
        stop->exercise_place = (LecturePlace){reader->number, reader_column(reader, name.text)};
    }
    if (failed) return false;
    if (!stop->exercise)
        return reader_fail_at(reader, begin,
                              "this block is empty: give the name of an exercise, like block-sum");
    LectureBlock block = {.kind = LECTURE_CODE,
                          .text = arena_print(arena, "redviz --exercise %s\n", stop->exercise)};
    array_push(stop->blocks, stop->block_count, stop->block_capacity, block);
    return true;
}

const LectureFence lecture_fences[LECTURE_FENCES] = {{"lecture", read_head},
                                                     {"redviz", read_command},
                                                     {"predict", read_question},
                                                     {"claim", read_claims},
                                                     {"exercise", read_exercise}};
