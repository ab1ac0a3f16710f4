/* The file, line by line: headings, fenced blocks, paragraphs. */
#include "lecture/lecture.h"

#include "base/text.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 4 << 20, MOST_STOPS = 500, MOST_MINUTES = 24 * 60 };

typedef struct LectureLine {
    const char *text; /* not terminated, without its line break */
    size_t length;
} LectureLine;

typedef struct LectureReader {
    Lecture *lecture;
    LectureStop *stop; /* the one that is being filled */
    const char *at, *end;
    int number; /* of the line that was read last */
    LectureLine line;
    bool has_head;  /* the `lecture` block was read */
    Text paragraph; /* under way */
    LectureBlockKind kind;
    char label[16];
    Error *error;
} LectureReader;

static bool fail_at(LectureReader *reader, LecturePlace place, const char *message) {
    error_set_at(reader->error, reader->lecture->path, place.line, place.column, "%s", message);
    if (place.line == reader->number && reader->error)
        error_show_line(reader->error, reader->line.text, reader->line.length);
    return false;
}

static bool refuse(LectureReader *reader, int column, const char *message) {
    return fail_at(reader, (LecturePlace){reader->number, column}, message);
}

static bool next_line(LectureReader *reader) {
    if (reader->at >= reader->end) return false;
    const char *stop = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    const char *next = stop ? stop + 1 : reader->end;
    size_t length = (size_t)((stop ? stop : reader->end) - reader->at);
    if (length && reader->at[length - 1] == '\r') length--;
    reader->line = (LectureLine){reader->at, length};
    reader->at = next;
    reader->number++;
    return true;
}

static bool begins(LectureLine line, const char *with) {
    size_t length = strlen(with);
    return line.length >= length && !memcmp(line.text, with, length);
}

static LectureLine trim(LectureLine line) {
    while (line.length && isspace((unsigned char)line.text[0])) line.text++, line.length--;
    while (line.length && isspace((unsigned char)line.text[line.length - 1])) line.length--;
    return line;
}

static int column_of(const LectureReader *reader, const char *at) {
    return (int)(at - reader->line.text) + 1;
}

static const char *keep(LectureReader *reader, LectureLine line) {
    return arena_copy_text(&reader->lecture->arena, line.text, line.length);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static void add_block(LectureReader *reader, LectureBlockKind kind, const char *label, const char *text) {
    LectureBlock block = {kind, label, text};
    array_push(reader->stop->blocks, reader->stop->block_count, reader->stop->block_capacity, block);
}

static void end_paragraph(LectureReader *reader) {
    Arena *arena = &reader->lecture->arena;
    if (reader->paragraph.length)
        add_block(reader, reader->kind,
                  reader->kind == LECTURE_ITEM ? arena_copy_string(arena, reader->label) : NULL,
                  arena_copy_string(arena, text_string(&reader->paragraph)));
    text_clear(&reader->paragraph);
    reader->kind = LECTURE_PARAGRAPH;
}

static bool
is_wide(const char *at) { /* a character of a script that has no blanks between words begins here */
    return (unsigned char)*at >= 0xe2;
}

/* A line break is a blank, except between characters of a script without blanks. */
static void add_line(LectureReader *reader, LectureLine line) {
    const char *so_far = text_string(&reader->paragraph);
    size_t length = reader->paragraph.length, back = length;
    while (back && ((unsigned char)so_far[back - 1] & 0xc0) == 0x80) back--;
    bool joins = back && back < length && is_wide(so_far + back - 1) && is_wide(line.text);
    if (length && !joins) text_add(&reader->paragraph, " ");
    text_add_bytes(&reader->paragraph, line.text, line.length);
}

/* "- ", "1. ": the length of the label; 0: the line begins no item. */
static size_t item_label(LectureLine line) {
    size_t digits = 0;
    if (line.length > 1 && strchr("-*", line.text[0]) && line.text[1] == ' ') return 1;
    while (digits < line.length && digits < 3 && isdigit((unsigned char)line.text[digits])) digits++;
    bool is_number =
        digits && digits + 1 < line.length && line.text[digits] == '.' && line.text[digits + 1] == ' ';
    return is_number ? digits + 1 : 0;
}

static void read_text(LectureReader *reader) {
    LectureLine line = trim(reader->line);
    size_t label = item_label(line);
    if (!line.length) {
        end_paragraph(reader);
    } else if (begins(line, "### ")) {
        end_paragraph(reader);
        add_block(reader, LECTURE_HEADING, NULL,
                  keep(reader, trim((LectureLine){line.text + 4, line.length - 4})));
    } else if (label) {
        end_paragraph(reader);
        reader->kind = LECTURE_ITEM;
        snprintf(reader->label, sizeof reader->label, "%.*s", (int)label, line.text);
        add_line(reader, trim((LectureLine){line.text + label, line.length - label}));
    } else {
        add_line(reader, line);
    }
}

static const char *find(LectureLine line, const char *text) {
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= line.length; i++)
        if (!memcmp(line.text + i, text, length)) return line.text + i;
    return NULL;
}

static void keep_piece(Text *kept, LectureLine piece) {
    piece = trim(piece);
    if (piece.length && kept->length) text_add(kept, " ");
    text_add_bytes(kept, piece.text, piece.length);
}

/* Takes the comments out of the line, which may end some lines below. */
static bool skip_comments(LectureReader *reader) {
    Text kept = {0};
    LectureLine line = reader->line;
    for (const char *open; (open = find(line, "<!--"));) {
        const char *end = line.text + line.length, *close;
        LecturePlace begin = {reader->number, column_of(reader, open)};
        keep_piece(&kept, (LectureLine){line.text, (size_t)(open - line.text)});
        line = (LectureLine){open + 4, (size_t)(end - open - 4)};
        while (!(close = find(line, "-->"))) {
            if (!next_line(reader)) {
                text_done(&kept);
                return fail_at(reader, begin, "this comment is never closed: --> is missing");
            }
            line = reader->line;
        }
        line = (LectureLine){close + 3, (size_t)(line.text + line.length - close - 3)};
    }
    keep_piece(&kept, line);
    reader->line.text = arena_copy_string(&reader->lecture->arena, text_string(&kept));
    reader->line.length = kept.length;
    text_done(&kept);
    return true;
}

/* ---- stops --------------------------------------------------------------------------------------------- */

static bool begin_stop(LectureReader *reader, LectureLine title, int column) {
    Lecture *lecture = reader->lecture;
    if (!title.length) return refuse(reader, column, "this heading is empty: '## Title' begins a stop");
    if (lecture->stop_count == MOST_STOPS) return refuse(reader, 1, "a lecture has at most 500 stops");
    LectureStop stop = {.title = keep(reader, title), .place = {reader->number, 1}};
    array_push(lecture->stops, lecture->stop_count, lecture->stop_capacity, stop);
    reader->stop = &lecture->stops[lecture->stop_count - 1];
    return true;
}

static bool read_heading(LectureReader *reader) {
    bool is_title = begins(reader->line, "# ");
    LectureLine title =
        trim((LectureLine){reader->line.text + (is_title ? 2 : 3), reader->line.length - (is_title ? 2 : 3)});
    if (is_title && reader->lecture->title)
        return refuse(reader, 1, "a lecture has one title; '## Title' begins a stop");
    if (!is_title && !reader->lecture->title)
        return refuse(reader, 1, "the lecture's title is missing: '# Title' comes before the first stop");
    if (!is_title && !reader->has_head)
        return refuse(reader, 1,
                      "the block ```lecture (language, minutes, needs) is missing before the first stop");
    if (reader->stop) end_paragraph(reader);
    if (is_title) reader->lecture->title = keep(reader, title);
    return begin_stop(reader, title, is_title ? 2 : 3);
}

/* ---- fenced blocks ------------------------------------------------------------------------------------- */

/* The next line of the block; false at its end, or with *failed where there is none. */
static bool next_of_block(LectureReader *reader, LecturePlace begin, bool *failed) {
    if (!next_line(reader)) {
        fail_at(reader, begin, "this block is never closed: ``` is missing");
        *failed = true;
        return false;
    }
    return !begins(trim(reader->line), "```");
}

/* "name: value"; *value trimmed. False: the line is no field of this name. */
static bool is_field(LectureLine line, const char *name, LectureLine *value) {
    size_t length = strlen(name);
    if (!begins(line, name) || line.length <= length || line.text[length] != ':') return false;
    *value = trim((LectureLine){line.text + length + 1, line.length - length - 1});
    return true;
}

static bool read_head_field(LectureReader *reader) {
    Lecture *lecture = reader->lecture;
    LectureLine line = trim(reader->line), value;
    if (!line.length) return true;
    if (is_field(line, "language", &value)) {
        lecture->language = keep(reader, value);
    } else if (is_field(line, "needs", &value)) {
        lecture->needs = keep(reader, value);
    } else if (is_field(line, "minutes", &value)) {
        char *stop;
        const char *text = keep(reader, value);
        long minutes = strtol(text, &stop, 10);
        if (!*text || *stop || minutes < 1 || minutes > MOST_MINUTES)
            return refuse(reader, column_of(reader, value.text), "minutes is a whole number, like 20");
        lecture->minutes = (int)minutes;
    } else {
        return refuse(reader, column_of(reader, line.text),
                      "the block ```lecture has the lines language: ..., minutes: ... and needs: ...");
    }
    return true;
}

static bool read_head(LectureReader *reader) {
    LecturePlace begin = {reader->number, 1};
    bool failed = false;
    if (!reader->lecture->title) return refuse(reader, 1, "the lecture's title comes first: '# Title'");
    if (reader->has_head) return refuse(reader, 1, "there is one block ```lecture");
    while (next_of_block(reader, begin, &failed))
        if (!read_head_field(reader)) return false;
    if (failed) return false;
    const Lecture *lecture = reader->lecture;
    if (!lecture->language || !*lecture->language || !lecture->minutes || !lecture->needs)
        return fail_at(reader, begin, "the block ```lecture lacks one of language, minutes, needs");
    reader->has_head = true;
    return true;
}

/* Words as a shell separates them, with quotes of either kind. */
static bool read_words(LectureReader *reader) {
    LectureStop *stop = reader->stop;
    const char *at = reader->line.text, *end = at + reader->line.length;
    Text word = {0};
    while (at < end) {
        while (at < end && isspace((unsigned char)*at)) at++;
        if (at == end) break;
        LectureWord next = {.place = {reader->number, column_of(reader, at)}};
        for (text_clear(&word); at < end && !isspace((unsigned char)*at); at++) {
            if (*at != '\'' && *at != '"') {
                text_add_bytes(&word, at, 1);
                continue;
            }
            const char *closing = memchr(at + 1, *at, (size_t)(end - at - 1));
            if (!closing) {
                text_done(&word);
                return refuse(reader, column_of(reader, at), "this quote is never closed");
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
    if (reader->stop->has_command) return refuse(reader, 1, "a stop has one block ```redviz");
    reader->stop->has_command = true;
    reader->stop->command_place = begin;
    while (next_of_block(reader, begin, &failed))
        if (!read_words(reader)) return false;
    if (failed) return false;
    if (!reader->stop->word_count)
        return fail_at(reader, begin,
                       "this block is empty: give options, like --kernel interleaved --keys ']'");
    if (!strcmp(reader->stop->words[0].text, "redviz"))
        return fail_at(reader, reader->stop->words[0].place, "the options alone, without the word redviz");
    return true;
}

static bool read_claims(LectureReader *reader) {
    LecturePlace begin = {reader->number, 1};
    LectureStop *stop = reader->stop;
    bool failed = false;
    int before = stop->claim_count;
    while (next_of_block(reader, begin, &failed)) {
        LectureLine line = trim(reader->line);
        LectureExpression claim = {keep(reader, line), {reader->number, column_of(reader, line.text)}};
        if (line.length) array_push(stop->claims, stop->claim_count, stop->claim_capacity, claim);
    }
    if (failed) return false;
    return stop->claim_count > before ||
           fail_at(reader, begin,
                   "this block is empty: give claims, a line each, like interleaved.excess == 0");
}

static bool read_choices(LectureReader *reader, LectureQuestion *question, LectureLine value) {
    const char *end = value.text + value.length;
    for (const char *at = value.text;; at++) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        LectureLine choice = trim((LectureLine){at, (size_t)((bar ? bar : end) - at)});
        if (!choice.length)
            return refuse(reader, column_of(reader, at), "a choice is empty: choices: one | two | three");
        if (question->choice_count == LECTURE_CHOICES)
            return refuse(reader, column_of(reader, at), "a question has at most 8 choices");
        question->choices[question->choice_count++] = keep(reader, choice);
        if (!bar) break;
        at = bar;
    }
    return question->choice_count > 1 ||
           refuse(reader, column_of(reader, value.text), "at least two choices: choices: one | two | three");
}

/* "EXPRESSION = VALUE"; the last '=' that stands alone. */
static bool read_answer(LectureReader *reader, LectureQuestion *question, LectureLine value) {
    size_t at = value.length;
    while (at > 0 && value.text[at - 1] != '=') at--;
    LectureLine right = trim((LectureLine){value.text + at, value.length - at});
    if (!at || !right.length)
        return refuse(reader, column_of(reader, value.text),
                      "write the answer as EXPRESSION = VALUE, like lanes(step) = 4");
    LectureLine left = trim((LectureLine){value.text, at - 1});
    question->answer =
        (LectureExpression){keep(reader, left), {reader->number, column_of(reader, left.text)}};
    if (strstr(question->answer.text, "lane_mask")) question->pointing = LECTURE_LANES;
    if (strstr(question->answer.text, "bank_mask")) question->pointing = LECTURE_BANKS;
    question->value = keep(reader, right);
    question->value_place = (LecturePlace){reader->number, column_of(reader, right.text)};
    return true;
}

static bool read_question_line(LectureReader *reader, LectureQuestion *question, Text *text) {
    LectureLine line = trim(reader->line), value;
    if (is_field(line, "topic", &value)) {
        question->topic = keep(reader, value);
    } else if (is_field(line, "keys", &value)) {
        question->keys = keep(reader, value);
        question->keys_place = (LecturePlace){reader->number, column_of(reader, value.text)};
    } else if (is_field(line, "choices", &value)) {
        return read_choices(reader, question, value);
    } else if (is_field(line, "answer", &value)) {
        return read_answer(reader, question, value);
    } else if (line.length && question->topic) {
        return refuse(
            reader, column_of(reader, line.text),
            "after the question come the lines topic: ..., choices: ..., keys: ... and answer: ...");
    } else if (line.length) {
        text_print(text, "%s%.*s", text->length && !is_wide(line.text) ? " " : "", (int)line.length,
                   line.text);
    }
    return true;
}

static bool is_choice(const LectureQuestion *question) {
    for (int i = 0; i < question->choice_count; i++)
        if (!strcmp(question->choices[i], question->value)) return true;
    return false;
}

static bool is_number(const char *text) {
    char *stop;
    double value = strtod(text, &stop);
    return stop != text && !*stop && isfinite(value);
}

static bool check_question(LectureReader *reader, LecturePlace begin, const LectureQuestion *question) {
    if (!*question->text)
        return fail_at(reader, begin, "the question is missing: it comes before topic: and answer:");
    if (!question->topic || !*question->topic)
        return fail_at(reader, begin,
                       "topic: is missing, the word under which the score counts this question");
    if (!question->value) return fail_at(reader, begin, "answer: is missing: answer: EXPRESSION = VALUE");
    if (question->choice_count && !is_choice(question))
        return fail_at(reader, question->value_place, "this is none of the choices");
    if (!question->choice_count && !is_number(question->value))
        return fail_at(reader, question->value_place,
                       "an answer is a number; else give choices: one | two | three");
    if (!*question->answer.text && !question->choice_count)
        return fail_at(reader, question->value_place,
                       "the expression before '=' is missing, like lanes(step)");
    if (*question->answer.text && !isdigit((unsigned char)*question->value) && *question->value != '-')
        return fail_at(
            reader, question->value_place,
            "the expression gives a number, so this choice begins with one; else write answer: = CHOICE");
    return true;
}

static bool read_question(LectureReader *reader) {
    LecturePlace begin = {reader->number, 1};
    Text text = {0};
    bool failed = false, good = true;
    if (reader->stop->question) return refuse(reader, 1, "a stop has one block ```predict");
    LectureQuestion *question = arena_new(&reader->lecture->arena, sizeof *question);
    question->place = begin;
    while (good && next_of_block(reader, begin, &failed)) good = read_question_line(reader, question, &text);
    question->text = arena_copy_string(&reader->lecture->arena, text_string(&text));
    text_done(&text);
    reader->stop->question = question;
    return good && !failed && check_question(reader, begin, question);
}

static bool read_code(LectureReader *reader) {
    LecturePlace begin = {reader->number, 1};
    Text text = {0};
    bool failed = false;
    while (next_of_block(reader, begin, &failed))
        text_print(&text, "%.*s\n", (int)reader->line.length, reader->line.text);
    add_block(reader, LECTURE_CODE, NULL, arena_copy_string(&reader->lecture->arena, text_string(&text)));
    text_done(&text);
    return !failed;
}

static bool read_fence(LectureReader *reader) {
    static const struct {
        const char *name;
        bool (*read)(LectureReader *reader);
    } kinds[] = {
        {"lecture", read_head}, {"redviz", read_command}, {"predict", read_question}, {"claim", read_claims}};
    const char *names[sizeof kinds / sizeof *kinds];
    LectureLine line = trim(reader->line);
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)line.length - 3, line.text + 3);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        names[i] = kinds[i].name;
        if (strcmp(name, kinds[i].name) != 0) continue;
        if (!reader->stop) return refuse(reader, 1, "the lecture's title comes first: '# Title'");
        end_paragraph(reader);
        return kinds[i].read(reader);
    }
    const char *nearest = *name ? text_nearest(name, names, sizeof names / sizeof *names) : NULL;
    if (nearest) {
        char message[96];
        snprintf(message, sizeof message, "there is no block '%.32s'; did you mean ```%s?", name, nearest);
        return refuse(reader, 4, message);
    }
    if (!reader->stop) return refuse(reader, 1, "the lecture's title comes first: '# Title'");
    end_paragraph(reader);
    return read_code(reader);
}

static bool read_line(LectureReader *reader) {
    bool has_comment = find(reader->line, "<!--") != NULL;
    if (has_comment && !skip_comments(reader)) return false;
    LectureLine line = trim(reader->line);
    if (has_comment && !line.length) return true; /* no empty line: the paragraph goes on */
    if (begins(line, "```")) return read_fence(reader);
    if (begins(reader->line, "# ") || begins(reader->line, "## ")) return read_heading(reader);
    if (!reader->stop) return !line.length || refuse(reader, 1, "the lecture's title comes first: '# Title'");
    read_text(reader);
    return true;
}

/* A first part without text or screen is no stop. */
static void drop_empty_first(Lecture *lecture) {
    const LectureStop *first = &lecture->stops[0];
    if (lecture->stop_count < 2 || first->block_count || first->has_command || first->question ||
        first->claim_count)
        return;
    free(first->blocks);
    memmove(lecture->stops, lecture->stops + 1, (size_t)--lecture->stop_count * sizeof *lecture->stops);
}

/* Texts end at a byte 0, so none may hold one. */
static bool check_bytes(LectureReader reader) {
    while (next_line(&reader)) {
        const char *bad = memchr(reader.line.text, 0, reader.line.length);
        if (bad) return refuse(&reader, column_of(&reader, bad), "a lecture is text; this byte is 0");
    }
    return true;
}

static bool read_all(LectureReader *reader) {
    if (!check_bytes(*reader)) return false;
    while (next_line(reader))
        if (!read_line(reader)) return false;
    if (!reader->stop)
        return fail_at(reader, (LecturePlace){1, 1}, "this file is empty: '# Title' begins a lecture");
    if (!reader->has_head)
        return refuse(reader, 1, "the block ```lecture (language, minutes, needs) is missing");
    end_paragraph(reader);
    drop_empty_first(reader->lecture);
    for (int i = 0; i < reader->lecture->stop_count; i++)
        if (reader->lecture->stops[i].has_command) return true;
    return fail_at(reader, (LecturePlace){1, 1}, "no stop shows anything: a block ```redviz says what");
}

Lecture *lecture_parse(const char *text, size_t length, const char *path, Error *error) {
    Lecture *lecture = memory_new(sizeof *lecture);
    lecture->path = arena_copy_string(&lecture->arena, path);
    LectureReader reader = {.lecture = lecture, .at = text, .end = text + length, .error = error};
    if (length > 2 && !memcmp(text, "\xef\xbb\xbf", 3)) reader.at += 3; /* byte order mark */
    bool good = read_all(&reader);
    text_done(&reader.paragraph);
    if (good) return lecture;
    lecture_free(lecture);
    return NULL;
}

Lecture *lecture_read(const char *path, Error *error) {
    char *text;
    size_t length;
    if (!text_read_file(path, MOST_BYTES, &text, &length, error)) return NULL;
    Lecture *lecture = lecture_parse(text, length, path, error);
    free(text);
    return lecture;
}

bool lecture_refuse(const Lecture *lecture, LecturePlace place, const Error *why, Error *error) {
    char message[sizeof why->message], at[sizeof why->file + 32] = "";
    snprintf(message, sizeof message, "%s", why->message);
    if (*why->file && why->line)
        snprintf(at, sizeof at, "%s:%d: ", why->file, why->line);
    else if (*why->file)
        snprintf(at, sizeof at, "%s: ", why->file);
    return error_set_at(error, lecture->path, place.line, place.column, "%s%s", at, message);
}

void lecture_free(Lecture *lecture) {
    if (!lecture) return;
    for (int i = 0; i < lecture->stop_count; i++) {
        free(lecture->stops[i].blocks);
        free(lecture->stops[i].words);
        free(lecture->stops[i].claims);
    }
    free(lecture->stops);
    arena_done(&lecture->arena);
    free(lecture);
}
