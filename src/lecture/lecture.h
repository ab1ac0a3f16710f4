/* Lecture: a Markdown file as stops, each with text, a screen, a question and claims.
 * assets/lectures/README.md describes the format. Parsing only checks the form; the command line reads a
 * stop's options, and claim.h its claims. */
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
    const char *label; /* for an ITEM: "-", "1." */
    /* with inline marks (lecture_next_span); CODE: verbatim lines, each ended by '
     *
     * ' */
    const char *text;
} LectureBlock;

typedef struct LectureExpression { /* a claim, or the answer to a question */
    const char *text;              /* "": the answer is not computed */
    LecturePlace place;            /* of its first character */
} LectureExpression;

enum { LECTURE_CHOICES = 8 };

typedef enum LecturePointing { /* the answer is a mask that can be marked on the screen */
                               LECTURE_TYPED,
                               LECTURE_LANES,
                               LECTURE_BANKS
} LecturePointing;

typedef struct LectureReason { /* of a likely wrong answer */
    const char *value;         /* a number, or one of the choices; "*": any other */
    LecturePlace place;
    const char *text; /* "those are the lanes; the banks are 16" */
} LectureReason;

typedef struct LectureQuestion {
    const char *text, *topic;
    const char *keys; /* pressed after the answer; NULL: none */
    LectureExpression answer;
    LecturePointing pointing; /* from the answer's lane_mask() or bank_mask() */
    const char *value;        /* the required answer: a number, or one of the choices */
    LecturePlace value_place;
    const char *choices[LECTURE_CHOICES];
    int choice_count; /* 0: a number */
    LectureReason reasons[LECTURE_CHOICES];
    int reason_count;
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
    bool has_command; /* a `redviz` block; otherwise the screen stays unchanged */
    LecturePlace command_place;
    LectureWord *words; /* of the command line, quotes removed */
    int word_count, word_capacity;
    LectureQuestion *question; /* NULL: none */
    const char *exercise;      /* the name of one that ends the section; NULL: none */
    LecturePlace exercise_place;
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

/* NULL with the place and the expected form. `path` is the file's name in errors; copied. */
Lecture *lecture_parse(const char *text, size_t length, const char *path, Error *error);
Lecture *lecture_read(const char *path, Error *error);
void lecture_free(Lecture *lecture);

/* Sets `error` to a message for this place of the file: `why`, with its own place if it has one. Returns
 * false. */
bool lecture_refuse(const Lecture *lecture, LecturePlace place, const Error *why, Error *error);

/* True if two files have the same stops, screens, claims and answers; otherwise sets the place in `other` and
 * what it lacks. */
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
    const char *text; /* not 0-terminated */
    size_t length;
    const char *address; /* of a LINK; not 0-terminated */
    size_t address_length;
} LectureSpan;

/* The next piece of a block's text with one kind of mark, without the marks; false at the end. */
bool lecture_next_span(const char **at, LectureSpan *span);

#endif
