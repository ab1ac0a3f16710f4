/* Reads the lines of a lecture's file one by one. Private to this folder. */
#ifndef LECTURE_LECTURE_READER_H
#define LECTURE_LECTURE_READER_H

#include "base/text.h"
#include "lecture/lecture.h"

typedef struct LectureLine {
    const char *text; /* not 0-terminated, without its line break */
    size_t length;
} LectureLine;

typedef struct LectureReader {
    Lecture *lecture;
    LectureStop *stop; /* the current stop */
    const char *at, *end;
    int number; /* of the current line */
    LectureLine line;
    bool has_head;  /* the `lecture` block was read */
    Text paragraph; /* in progress */
    LectureBlockKind kind;
    char label[16];
    Error *error;
} LectureReader;

/* Fail with an error at a place of the file, or in the current line; return false. */
bool reader_fail_at(LectureReader *reader, LecturePlace place, const char *message);
bool reader_refuse(LectureReader *reader, int column, const char *message);

/* False: no more lines. */
bool reader_next_line(LectureReader *reader);
/* The next line of a block that began at `begin`; false at its end, or with *failed if it has none. */
bool reader_next_of_block(LectureReader *reader, LecturePlace begin, bool *failed);

bool reader_begins(LectureLine line, const char *with);
LectureLine reader_trim(LectureLine line);
int reader_column(const LectureReader *reader, const char *at);   /* in the current line, from 1 */
const char *reader_keep(LectureReader *reader, LectureLine line); /* in the lecture's arena */
/* True if a character of a script without blanks between words begins here. */
bool reader_is_wide(const char *at);

/* ---- lecture_blocks.c: blocks between ```NAME and ``` ---- */

typedef struct LectureFence {
    const char *name;
    bool (*read)(LectureReader *reader); /* up to its end, which is consumed */
} LectureFence;

enum { LECTURE_FENCES = 5 };
extern const LectureFence lecture_fences[LECTURE_FENCES];

#endif
