#include "lecture/lecture_reader.h"

#include <ctype.h>
#include <string.h>

bool reader_fail_at(LectureReader *reader, LecturePlace place, const char *message) {
    error_set_at(reader->error, reader->lecture->path, place.line, place.column, "%s", message);
    if (place.line == reader->number && reader->error)
        error_show_line(reader->error, reader->line.text, reader->line.length);
    return false;
}

bool reader_refuse(LectureReader *reader, int column, const char *message) {
    return reader_fail_at(reader, (LecturePlace){reader->number, column}, message);
}

bool reader_next_line(LectureReader *reader) {
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

bool reader_begins(LectureLine line, const char *with) {
    size_t length = strlen(with);
    return line.length >= length && !memcmp(line.text, with, length);
}

LectureLine reader_trim(LectureLine line) {
    while (line.length && isspace((unsigned char)line.text[0])) line.text++, line.length--;
    while (line.length && isspace((unsigned char)line.text[line.length - 1])) line.length--;
    return line;
}

int reader_column(const LectureReader *reader, const char *at) {
    return (int)(at - reader->line.text) + 1;
}

const char *reader_keep(LectureReader *reader, LectureLine line) {
    return arena_copy_text(&reader->lecture->arena, line.text, line.length);
}

bool reader_is_wide(const char *at) {
    return (unsigned char)*at >= 0xe2;
}

bool reader_next_of_block(LectureReader *reader, LecturePlace begin, bool *failed) {
    if (!reader_next_line(reader)) {
        reader_fail_at(reader, begin, "this block is never closed: ``` is missing");
        *failed = true;
        return false;
    }
    return !reader_begins(reader_trim(reader->line), "```");
}
