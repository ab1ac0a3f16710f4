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

#endif
