/* Exercise: a Markdown file with a task, its goals, hints, a solution and wrong solutions.
 *
 *     # Sum of each block
 *
 *     ```exercise
 *     order: 1
 *     launch: total<<<(n + 127) / 128, 128>>>(in=int[n]:INPUT, out=int[grid]:unwritten, n)
 *     expect: out=sum(in)
 *     ```
 *
 *     The task, in paragraphs.
 *
 *     ```start
 *     __global__ void total(const int *in, int *out, int n) { ... }
 *     ```
 *
 *     ```goals
 *     shared wavefronts: here.shared_load_wavefronts + here.shared_store_wavefronts <= 147456
 *     ```
 *
 *     ## Hint
 *     ...
 *     ## Solution
 *     ```cuda
 *     ...
 *     ```
 *     ## Wrong: a barrier is missing
 *     ```wrong safe: race
 *     ...
 *     ```
 *
 * NAME.en.md is the whole exercise. NAME.zh.md, beside it, translates the title, the task, the hints and the
 * text of the solution, and has none of the blocks. assets/exercises/README.md describes the format for
 * authors. */
#ifndef EXERCISE_EXERCISE_H
#define EXERCISE_EXERCISE_H

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include <stdint.h>

enum {
    EXERCISE_HINTS = 3,
    EXERCISE_SIZES = 16,
    EXERCISE_INPUTS = 8,
    EXERCISE_GOALS = 8,
    EXERCISE_WRONGS = 12
};

typedef struct ExerciseGoal { /* of counts: "shared wavefronts: here.shared_loads <= 100" */
    const char *words;
    const char *claim, *expression; /* "here.shared_loads <= 100", and its left side */
    const char *comparison;         /* "<=", "==", ... */
    double limit;
    int line, column; /* of the claim */
} ExerciseGoal;

typedef struct ExerciseWrong {
    const char *title, *code;
    const char
        *goal; /* that must not be met: "compiles", "right", "safe", or the words of a goal of counts */
    const char *reason; /* what the feedback must contain; "": anything */
    int line;
} ExerciseWrong;

typedef struct Exercise {
    const char *path, *name; /* "strided" of "strided.en.md" */
    const char *title, *task;
    int order;        /* in the list */
    bool is_ptx;      /* solved in PTX, which needs no compiler; else in CUDA C++ */
    const char *twin; /* the exercise in PTX that teaches the same; NULL: none */
    /* As --launch has them; INPUT is the fill of the input. */
    const char *launch;
    const char *expect;
    const char *same[2]; /* two buffers whose elements must have the same bits in every order; NULL: none */
    uint64_t sizes[EXERCISE_SIZES]; /* n for which it must be right */
    int size_count;
    uint64_t counted_n;                  /* of the run whose counts the goals are about */
    const char *inputs[EXERCISE_INPUTS]; /* fills: "random", "digits", "random(-9,-1)" */
    int input_count;
    const char *start, *solution, *solution_text;
    const char *hints[EXERCISE_HINTS];
    int hint_count;
    ExerciseGoal goals[EXERCISE_GOALS];
    int goal_count;
    ExerciseWrong wrongs[EXERCISE_WRONGS];
    int wrong_count;
    Arena arena;
} Exercise;

/* Reads the file. One in another language than English takes what it lacks from NAME.en.md beside it. NULL
 * with the place and the expected form. */
Exercise *exercise_read(const char *path, Error *error);
void exercise_free(Exercise *exercise);

/* What the learner's file ends with: "cu" or "ptx". */
const char *exercise_suffix(const Exercise *exercise);

/* The launch with this fill for INPUT, as --launch takes it. */
void exercise_print_launch(const Exercise *exercise, const char *input, Text *out);

#endif
