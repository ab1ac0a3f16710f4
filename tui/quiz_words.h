/* The sentences of --predict by language. Each is a format with the same arguments in every language. Private
 * to tui/quiz*.c. */
#ifndef TUI_QUIZ_WORDS_H
#define TUI_QUIZ_WORDS_H

#include "tui/quiz_asks.h"

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
