/* Lecture: a Markdown file as stops, each with text, a screen, a question and claims. The format is
 * assets/lectures/README.md. Reading checks the form only; the command line reads a stop's options, and
 * claim.h its claims. */
#ifndef LECTURE_LECTURE_H
#define LECTURE_LECTURE_H

#include "base/error.h"
#include "base/memory.h"

typedef struct LecturePlace { /* in the file; from 1 */
    int line, column;
} LecturePlace;

typedef enum LectureBlockKind {
    LECTURE_PARAGRAPH,
    LECTURE_HEADING,
    LECTURE_ITEM,
    LECTURE_CODE
} LectureBlockKind;

typedef struct LectureBlock {
    LectureBlockKind kind;
    const char *label; /* of an ITEM: "-", "1." */
    const char
        *text; /* inline marks still in it (lecture_next_span); of CODE: lines as they stand, ended by '\n' */
} LectureBlock;

typedef struct LectureExpression { /* a claim, or the answer of a question */
    const char *text;              /* "" : an answer that is not computed */
    LecturePlace place;            /* of its first character */
} LectureExpression;

enum { LECTURE_CHOICES = 8 };

typedef enum LecturePointing { /* the answer is a mask that can be marked on the screen */
                               LECTURE_TYPED,
                               LECTURE_LANES,
                               LECTURE_BANKS
} LecturePointing;

typedef struct LectureQuestion {
    const char *text, *topic;
    const char *keys; /* pressed after the answer; NULL: none */
    LectureExpression answer;
    LecturePointing pointing; /* by the answer's lane_mask() or bank_mask() */
    const char *value;        /* what the answer must be: a number, or one of the choices */
    LecturePlace value_place;
    const char *choices[LECTURE_CHOICES];
    int choice_count; /* 0: a number is typed */
    LecturePlace place, keys_place;
} LectureQuestion;

typedef struct LectureWord { /* of the command line */
    const char *text;
    LecturePlace place;
} LectureWord;

typedef struct LectureStop {
    const char *title;
    LecturePlace place; /* of its heading */
    LectureBlock *blocks;
    int block_count, block_capacity;
    bool has_command; /* a `redviz` block; else the screen stays as it was */
    LecturePlace command_place;
    LectureWord *words; /* of the command line, quotes removed */
    int word_count, word_capacity;
    LectureQuestion *question; /* NULL: none */
    LectureExpression *claims;
    int claim_count, claim_capacity;
} LectureStop;

typedef struct Lecture {
    const char *path, *title, *language, *needs;
    int minutes;
    LectureStop *stops;
    int stop_count, stop_capacity;
    Arena arena; /* texts */
} Lecture;

/* NULL with the place and what would be right. `path` names the file in errors, and is copied. */
Lecture *lecture_parse(const char *text, size_t length, const char *path, Error *error);
Lecture *lecture_read(const char *path, Error *error);
void lecture_free(Lecture *lecture);

/* `error` becomes what is wrong at this place of the file: `why`, with its own place where it has one. Returns false. */
bool lecture_refuse(const Lecture *lecture, LecturePlace place, const Error *why, Error *error);

/* Do two files have the same stops, screens, claims and answers? Else the place in `other`, and what it lacks. */
bool lecture_is_same(const Lecture *lecture, const Lecture *other, Error *error);

typedef enum LectureMark {
    LECTURE_PLAIN,
    LECTURE_STRONG,
    LECTURE_EMPHASIS,
    LECTURE_INLINE_CODE,
    LECTURE_LINK
} LectureMark;

typedef struct LectureSpan {
    LectureMark mark;
    const char *text; /* not terminated */
    size_t length;
    const char *address; /* of a LINK; not terminated */
    size_t address_length;
} LectureSpan;

/* The next piece of a block's text with one kind of mark, the marks removed; false at the end. */
bool lecture_next_span(const char **at, LectureSpan *span);

#endif
