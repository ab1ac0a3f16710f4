/* The functions of a kernel's inputs that --expect can compute on the host. Private to the catalogue. */
#ifndef EXPECT_EXPECT_FUNCTIONS_H
#define EXPECT_EXPECT_FUNCTIONS_H

#include "plan/plan.h"

typedef enum ExpectFold { EXPECT_NO_FOLD, EXPECT_SUM, EXPECT_MAX, EXPECT_MIN } ExpectFold;

typedef enum ExpectShape {
    EXPECT_TOTAL, /* one number of all elements */
    EXPECT_ROWS,  /* one number of each row */
    EXPECT_EACH   /* as many numbers as elements, row by row */
} ExpectShape;

typedef enum ExpectRounding { /* of EACH: what the rounding error of a result is relative to */
                              EXPECT_OF_SCALED, /* the result, and its weight and bias: the mean was taken away before */
                              EXPECT_OF_ELEMENT,    /* the result */
                              EXPECT_OF_SUM_SO_FAR, /* absolute values of the elements up to it */
                              EXPECT_OF_ALL         /* of all elements of its row */
} ExpectRounding;

typedef struct ExpectValues {
    long double *values;     /* [count]; free() */
    long double *magnitudes; /* [count] sums of absolute values that rounding errors are relative to */
    uint64_t count;
    bool whole; /* all that was added were whole numbers: sums are exact as long as they fit */
} ExpectValues;

typedef struct ExpectFunction {
    const char *name;
    ExpectShape shape;
    ExpectFold fold; /* how partial results are folded to the result */
    int inputs;      /* 1 or 2; of EACH the second has flags: where one is set, the result begins anew */
    bool takes_columns;
    bool is_rounded; /* the result is more than additions, or an extreme: it is within a few roundings more */
    bool is_guessed; /* looked for where nothing is said */
    /* Of `count` elements from `first` of a and b, `step` apart. */
    long double (*of)(const PlanBuffer *a, const PlanBuffer *b, uint64_t first, uint64_t count, uint64_t step,
                      long double *magnitude);
    /* `epsilon` is what keeps a division from being one by zero. */
    void (*each)(const PlanBuffer *a, uint64_t first, uint64_t count, long double epsilon, long double *out);
    bool
        has_bins; /* COLUMNS are bins; after them may stand how many values each has, and the first value. Of two inputs, the second
                      says which bin an element of the first is added to */
    bool takes_weights; /* each element of a row may be multiplied by a weight, and a bias be added */
    bool by_column;     /* of each column, not of each row; of EACH, a column has one weight */
    ExpectRounding rounding;
} ExpectFunction;

extern const ExpectFunction expect_functions[];
extern const int expect_function_count;

/* The function that is called so, by `length` characters; NULL: there is none. */
const ExpectFunction *expect_function_named(const char *name, size_t length);

#endif
