/* Grade: what of an exercise's goals a source file reaches. It is compiled, unless it is FILE.ptx, and its
 * kernels run on the emulator; nothing of its host code is executed.
 *
 *   compiles   it compiles, and has the kernel with its parameters
 *   right      for each size and each input the result is that of the reference, for sizes drawn by the
 * seed, too (draw.h);
 *              memory holds no zeros before, and every other input is run twice: the second call has an
 * output of its own, and all other memory as the first left it
 *   safe       no error that --check finds: races, reads of what nothing wrote, accesses out of bounds; and
 * no order of the warps
 *              that gives another result
 *   counts     the goals of the file, over the run with `counted_n` elements; not tried before it is right */
#ifndef EXERCISE_GRADE_H
#define EXERCISE_GRADE_H

#include "base/text.h"
#include "exercise/exercise.h"
#include <stdatomic.h>

typedef enum GoalState { GOAL_NOT_TRIED, GOAL_MISSED, GOAL_MET } GoalState;

typedef struct GradedGoal {
    const char *id;    /* "compiles", "right", "safe", or the words of a goal of counts */
    const char *words; /* "right for n = 1, 31, 32", "barriers <= 24" */
    GoalState state;
    bool is_count;
    double value;           /* of a count that was tried */
    const char *value_text; /* "14,336" */
    const char *why;        /* MISSED: one line; NOT_TRIED: what comes first; else NULL */
    int line;               /* of the file, that `why` is about; 0: none */
} GradedGoal;

enum { GRADE_GOALS = 3 + EXERCISE_GOALS, GRADE_NOTES = 3 };

typedef struct Grade {
    const char *file;
    GradedGoal goals[GRADE_GOALS];
    int goal_count, met_count;
    const char *notes[GRADE_NOTES]; /* what --check remarks without calling it an error */
    int note_count;
    double seconds; /* that it took */
    /* What the counts are for. blocks: of the only launch; 0: there are several, or nothing was counted */
    uint64_t counted_n, counted_blocks;
    uint64_t seed; /* of its inputs and drawn sizes; 0: the usual ones */
    Arena arena;
} Grade;

typedef struct GradeLimits {
    /* Warp instructions of a launch; 0: 2^18, 2^15 for each of n up to 2^24, and 2^8 for each. */
    uint64_t instructions;
    double seconds;       /* of processor time: no run begins later; 0: 120 */
    int threads;          /* host threads of each run; 0: the default */
    uint64_t seed;        /* of the inputs and of the drawn sizes (draw.h) */
    bool refuses_start;   /* what the exercise begins with, unchanged, misses every goal */
    const char *compiler; /* NULL: the first that is found */
    const atomic_bool *cancel;
} GradeLimits;

/* Grades `file`, whose contents are `text` (NULL: it is read). A file that cannot be read does not
 * compile. False with `error`: it was cancelled. The caller ends *grade with grade_done(). */
bool grade_file(const Exercise *exercise, const char *file, const char *text, const GradeLimits *limits,
                Grade *grade, Error *error);
/* The grade of a file whose grading ended without one. */
void grade_nothing(const Exercise *exercise, const char *file, const GradeLimits *limits, const char *why,
                   Grade *grade);
void grade_done(Grade *grade);
bool grade_passed(const Grade *grade);

/* Checks the exercise itself: its solution reaches every goal, each wrong solution misses the goal that it
 * names, for the reason that it names, and reaches what comes before. Prints a line for each; false if one
 * does not hold. */
bool grade_check_exercise(const Exercise *exercise, const GradeLimits *limits, Text *out);

#endif
