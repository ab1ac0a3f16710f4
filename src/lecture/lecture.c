/* Reads the file line by line: headings, fenced blocks, paragraphs. */
#include "lecture/lecture_reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 4 << 20, MOST_STOPS = 500 };

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

/* A line break becomes a blank, except in a script without blanks. */
static void add_line(LectureReader *reader, LectureLine line) {
    const char *so_far = text_string(&reader->paragraph);
    size_t length = reader->paragraph.length, back = length;
    while (back && ((unsigned char)so_far[back - 1] & 0xc0) == 0x80) back--;
    bool joins = back && back < length && reader_is_wide(so_far + back - 1) && reader_is_wide(line.text);
    if (length && !joins) text_add(&reader->paragraph, " ");
    text_add_bytes(&reader->paragraph, line.text, line.length);
}

/* "- ", "1. ": the length of the label; 0: not an item. */
static size_t item_label(LectureLine line) {
    size_t digits = 0;
    if (line.length > 1 && strchr("-*", line.text[0]) && line.text[1] == ' ') return 1;
    while (digits < line.length && digits < 3 && isdigit((unsigned char)line.text[digits])) digits++;
    bool is_number =
        digits && digits + 1 < line.length && line.text[digits] == '.' && line.text[digits + 1] == ' ';
    return is_number ? digits + 1 : 0;
}

static void read_text(LectureReader *reader) {
    LectureLine line = reader_trim(reader->line);
    size_t label = item_label(line);
    if (!line.length) {
        end_paragraph(reader);
    } else if (reader_begins(line, "### ")) {
        end_paragraph(reader);
        add_block(reader, LECTURE_HEADING, NULL,
                  reader_keep(reader, reader_trim((LectureLine){line.text + 4, line.length - 4})));
    } else if (label) {
        end_paragraph(reader);
        reader->kind = LECTURE_ITEM;
        snprintf(reader->label, sizeof reader->label, "%.*s", (int)label, line.text);
        add_line(reader, reader_trim((LectureLine){line.text + label, line.length - label}));
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
    piece = reader_trim(piece);
    if (piece.length && kept->length) text_add(kept, " ");
    text_add_bytes(kept, piece.text, piece.length);
}

/* Removes comments from the line; they may end on a later line. */
static bool skip_comments(LectureReader *reader) {
    Text kept = {0};
    LectureLine line = reader->line;
    for (const char *open; (open = find(line, "<!--"));) {
        const char *end = line.text + line.length, *close;
        LecturePlace begin = {reader->number, reader_column(reader, open)};
        keep_piece(&kept, (LectureLine){line.text, (size_t)(open - line.text)});
        line = (LectureLine){open + 4, (size_t)(end - open - 4)};
        while (!(close = find(line, "-->"))) {
            if (!reader_next_line(reader)) {
                text_done(&kept);
                return reader_fail_at(reader, begin, "this comment is never closed: --> is missing");
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
    if (!title.length)
        return reader_refuse(reader, column, "this heading is empty: '## Title' begins a stop");
    if (lecture->stop_count == MOST_STOPS) return reader_refuse(reader, 1, "a lecture has at most 500 stops");
    LectureStop stop = {.title = reader_keep(reader, title), .place = {reader->number, 1}};
    array_push(lecture->stops, lecture->stop_count, lecture->stop_capacity, stop);
    reader->stop = &lecture->stops[lecture->stop_count - 1];
    return true;
}

static bool read_heading(LectureReader *reader) {
    bool is_title = reader_begins(reader->line, "# ");
    LectureLine title = reader_trim(
        (LectureLine){reader->line.text + (is_title ? 2 : 3), reader->line.length - (is_title ? 2 : 3)});
    if (is_title && reader->lecture->title)
        return reader_refuse(reader, 1, "a lecture has one title; '## Title' begins a stop");
    if (!is_title && !reader->lecture->title)
        return reader_refuse(reader, 1,
                             "the lecture's title is missing: '# Title' comes before the first stop");
    if (!is_title && !reader->has_head)
        return reader_refuse(
            reader, 1, "the block ```lecture (language, minutes, needs) is missing before the first stop");
    if (reader->stop) end_paragraph(reader);
    if (is_title) reader->lecture->title = reader_keep(reader, title);
    return begin_stop(reader, title, is_title ? 2 : 3);
}

/* ---- fenced blocks ------------------------------------------------------------------------------------- */

static bool read_code(LectureReader *reader) {
    LecturePlace begin = {reader->number, 1};
    Text text = {0};
    bool failed = false;
    while (reader_next_of_block(reader, begin, &failed))
        text_print(&text, "%.*s\n", (int)reader->line.length, reader->line.text);
    add_block(reader, LECTURE_CODE, NULL, arena_copy_string(&reader->lecture->arena, text_string(&text)));
    text_done(&text);
    return !failed;
}

static bool read_fence(LectureReader *reader) {
    const char *names[LECTURE_FENCES];
    LectureLine line = reader_trim(reader->line);
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)line.length - 3, line.text + 3);
    for (int i = 0; i < LECTURE_FENCES; i++) {
        names[i] = lecture_fences[i].name;
        if (strcmp(name, lecture_fences[i].name) != 0) continue;
        if (!reader->stop) return reader_refuse(reader, 1, "the lecture's title comes first: '# Title'");
        end_paragraph(reader);
        return lecture_fences[i].read(reader);
    }
    const char *nearest = *name ? text_nearest(name, names, LECTURE_FENCES) : NULL;
    if (nearest) {
        char message[96];
        snprintf(message, sizeof message, "there is no block '%.32s'; did you mean ```%s?", name, nearest);
        return reader_refuse(reader, 4, message);
    }
    if (!reader->stop) return reader_refuse(reader, 1, "the lecture's title comes first: '# Title'");
    end_paragraph(reader);
    return read_code(reader);
}

static bool read_line(LectureReader *reader) {
    bool has_comment = find(reader->line, "<!--") != NULL;
    if (has_comment && !skip_comments(reader)) return false;
    LectureLine line = reader_trim(reader->line);
    if (has_comment && !line.length) return true; /* not an empty line: the paragraph continues */
    if (reader_begins(line, "```")) return read_fence(reader);
    if (reader_begins(reader->line, "# ") || reader_begins(reader->line, "## ")) return read_heading(reader);
    if (!reader->stop)
        return !line.length || reader_refuse(reader, 1, "the lecture's title comes first: '# Title'");
    read_text(reader);
    return true;
}

/* A first part without text or screen is not a stop. */
static void drop_empty_first(Lecture *lecture) {
    const LectureStop *first = &lecture->stops[0];
    if (lecture->stop_count < 2 || first->block_count || first->has_command || first->question ||
        first->claim_count)
        return;
    free(first->blocks);
    memmove(lecture->stops, lecture->stops + 1, (size_t)--lecture->stop_count * sizeof *lecture->stops);
}

/* Texts end at a zero byte, so the file must not contain one. */
static bool check_bytes(LectureReader reader) {
    while (reader_next_line(&reader)) {
        const char *bad = memchr(reader.line.text, 0, reader.line.length);
        if (bad)
            return reader_refuse(&reader, reader_column(&reader, bad), "a lecture is text; this byte is 0");
    }
    return true;
}

static bool read_all(LectureReader *reader) {
    if (!check_bytes(*reader)) return false;
    while (reader_next_line(reader))
        if (!read_line(reader)) return false;
    if (!reader->stop)
        return reader_fail_at(reader, (LecturePlace){1, 1}, "this file is empty: '# Title' begins a lecture");
    if (!reader->has_head)
        return reader_refuse(reader, 1, "the block ```lecture (language, minutes, needs) is missing");
    end_paragraph(reader);
    drop_empty_first(reader->lecture);
    for (int i = 0; i < reader->lecture->stop_count; i++)
        if (reader->lecture->stops[i].has_command) return true;
    return reader_fail_at(reader, (LecturePlace){1, 1},
                          "no stop shows anything: a block ```redviz says what");
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

/* ---- compares one lecture in two languages: only the prose may differ ---------------------------------- */

static bool differs(const Lecture *other, LecturePlace place, Error *error, const Lecture *lecture,
                    LecturePlace original, const char *what) {
    return error_set_at(error, other->path, place.line, place.column, "%s line %d of %s", what, original.line,
                        lecture->path);
}

static bool is_same_command(const LectureStop *a, const LectureStop *b) {
    if (a->has_command != b->has_command || a->word_count != b->word_count) return false;
    for (int i = 0; i < a->word_count; i++)
        if (strcmp(a->words[i].text, b->words[i].text) != 0) return false;
    return true;
}

static bool is_same_text(const char *a, const char *b) {
    return (!a && !b) || (a && b && !strcmp(a, b));
}

/* The texts of choices are translated; the index of the right one is the same. */
static int right_choice(const LectureQuestion *question) {
    for (int i = 0; i < question->choice_count; i++)
        if (!strcmp(question->choices[i], question->value)) return i;
    return -1;
}

static bool is_same_question(const LectureQuestion *a, const LectureQuestion *b) {
    if (!a || !b) return a == b;
    return !strcmp(a->answer.text, b->answer.text) && a->choice_count == b->choice_count &&
           a->reason_count == b->reason_count && is_same_text(a->keys, b->keys) &&
           right_choice(a) == right_choice(b) && (a->choice_count || !strcmp(a->value, b->value));
}

static bool is_same_stop(const Lecture *lecture, const LectureStop *stop, const Lecture *other,
                         const LectureStop *its, Error *error) {
    if (!is_same_command(stop, its))
        return differs(other, its->has_command ? its->command_place : its->place, error, lecture,
                       stop->has_command ? stop->command_place : stop->place,
                       "the block ```redviz of this stop is not that of");
    if (!is_same_question(stop->question, its->question))
        return differs(other, its->question ? its->question->place : its->place, error, lecture,
                       stop->question ? stop->question->place : stop->place,
                       "the answer of this stop is not that of");
    if (!is_same_text(stop->exercise, its->exercise))
        return differs(other, its->exercise ? its->exercise_place : its->place, error, lecture,
                       stop->exercise ? stop->exercise_place : stop->place,
                       "the exercise of this stop is not that of");
    for (int i = 0; i < stop->claim_count; i++)
        if (i >= its->claim_count || strcmp(stop->claims[i].text, its->claims[i].text) != 0)
            return differs(other, i < its->claim_count ? its->claims[i].place : its->place, error, lecture,
                           stop->claims[i].place, "this stop lacks the claim in");
    if (its->claim_count > stop->claim_count)
        return error_set_at(error, other->path, its->claims[stop->claim_count].place.line,
                            its->claims[stop->claim_count].place.column,
                            "%s lacks this claim in the stop of line %d", lecture->path, stop->place.line);
    return true;
}

bool lecture_is_same(const Lecture *lecture, const Lecture *other, Error *error) {
    for (int i = 0; i < lecture->stop_count && i < other->stop_count; i++)
        if (!is_same_stop(lecture, &lecture->stops[i], other, &other->stops[i], error)) return false;
    if (lecture->stop_count == other->stop_count) return true;
    const Lecture *longer = lecture->stop_count > other->stop_count ? lecture : other;
    const Lecture *shorter = longer == lecture ? other : lecture;
    LecturePlace place = longer->stops[shorter->stop_count].place;
    return error_set_at(error, longer->path, place.line, place.column, "%s lacks this stop", shorter->path);
}

/* ---- the inline marks of Markdown that a lecture uses -------------------------------------------------- */

/* The end of the text between two of these marks; NULL: no closed pair begins here. */
static const char *closing_of(const char *at, const char *mark) {
    size_t length = strlen(mark);
    if (strncmp(at, mark, length) != 0 || !at[length] || at[length] == ' ') return NULL;
    return strstr(at + length, mark);
}

static bool read_link(const char **at, LectureSpan *span) {
    const char *bracket = **at == '[' ? strchr(*at, ']') : NULL;
    const char *closing = bracket && bracket[1] == '(' ? strchr(bracket, ')') : NULL;
    if (!closing) return false;
    *span = (LectureSpan){LECTURE_LINK, *at + 1, (size_t)(bracket - *at - 1), bracket + 2,
                          (size_t)(closing - bracket - 2)};
    *at = closing + 1;
    return true;
}

static bool read_marked(const char **at, LectureSpan *span) {
    static const struct {
        const char *mark;
        LectureMark kind;
    } marks[] = {{"``", LECTURE_INLINE_CODE},
                 {"`", LECTURE_INLINE_CODE},
                 {"**", LECTURE_STRONG},
                 {"*", LECTURE_EMPHASIS}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *closing = closing_of(*at, marks[i].mark);
        size_t length = strlen(marks[i].mark);
        if (!closing || closing == *at + length) continue;
        *span = (LectureSpan){marks[i].kind, *at + length, (size_t)(closing - *at - length), NULL, 0};
        *at = closing + length;
        return true;
    }
    return read_link(at, span);
}

bool lecture_next_span(const char **at, LectureSpan *span) {
    const char *begin = *at, *end = begin, *next;
    LectureSpan marked;
    if (!*begin) return false;
    if (read_marked(at, span)) return true;
    do {
        next = end += strcspn(end + 1, "`*[") + 1;
    } while (*end && !read_marked(&next, &marked));
    *span = (LectureSpan){LECTURE_PLAIN, begin, (size_t)(end - begin), NULL, 0};
    *at = end;
    return true;
}
