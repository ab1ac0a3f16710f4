/* The possible questions about a run: one for each place of the code and each answer that occurs there.
 * Private to tui/quiz*.c. */
#ifndef TUI_QUIZ_ASKS_H
#define TUI_QUIZ_ASKS_H

#include "base/text.h"
#include "tui/view/place_values.h"

typedef enum AskKind {
    ASK_LEVELS,
    ASK_LANES,
    ASK_WAVEFRONTS,
    ASK_SECTORS,
    ASK_DIVERGENCE,
    ASK_VALUES,
    ASK_KINDS
} AskKind;

typedef struct Ask {
    AskKind kind;
    int step;     /* the step that is asked about */
    int before;   /* the beat before it, where the question is asked */
    int pc;       /* program counter of the step */
    int region;   /* barrier interval and level: an answer shows the figures of all of it */
    double value; /* the answer */
    struct {
        double value;
        const char *why; /* of quiz_words() */
    } wrong[3];          /* likely wrong answers of this run */
    int wrong_count;
    char question[512];
    char expression[128];
} Ask;

typedef struct Asks {
    Ask *asks; /* by step */
    int count, capacity;
    View view; /* as the run opens */
    PlaceValues values;
    const struct QuizWords *words;
} Asks;

/* Collects all possible questions: none trivial, none twice with the same answer. `scene` and `session` are
 * borrowed. */
void asks_find(Asks *asks, const Scene *scene, Session *session, const struct QuizWords *words);
void asks_done(Asks *asks);

/* The sentences of --predict by language. Each is a format with the same arguments in every language. Private
 * to tui/quiz*.c. */

typedef struct QuizWords {
    const char *language;
    const char *topics[ASK_KINDS];
    const char *lanes; /* lanes, warp, one of the verbs */
    const char *loads_shared, *stores_shared, *loads_global, *stores_global, *executes_atomic,
        *executes_shuffle, *evaluates_branch;
    const char *load_wavefronts, *store_wavefronts, *load_sectors, *store_sectors; /* warp */
    const char *divergence;                                                        /* warps */
    const char *word_holds, *lane_holds, *between_values;                          /* number, value */
    const char *stored; /* values, lane, warp, word */
    const char *held;   /* warp, values, lane, operation */
    const char *addition, *levels;
    /* Why an answer is wrong: */
    const char *all_lanes, *other_lanes, *are_lanes, *are_banks, *is_least, *all_warps, *is_old;
    const char *line_title, *ptx_title;       /* number, kind of the event */
    const char *next_line, *next_ptx;         /* number */
    const char *interval, *level, *full_stop; /* number; number, distance */
    const char *title, *one, *many;           /* kernel; questions */
    const char *levels_title, *end_title, *end;
} QuizWords;

/* English for a language that lacks one. */
const QuizWords *quiz_words(const char *language);

#endif
