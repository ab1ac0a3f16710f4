/* The functions of a kernel's inputs that --expect computes on the host. Private to src/expect. */
#ifndef EXPECT_EXPECT_FUNCTIONS_H
#define EXPECT_EXPECT_FUNCTIONS_H

#include "plan/plan.h"

typedef enum ExpectFold { EXPECT_NO_FOLD, EXPECT_SUM, EXPECT_MAX, EXPECT_MIN } ExpectFold;

typedef enum ExpectShape {
    EXPECT_TOTAL, /* one number for all elements */
    EXPECT_ROWS,  /* one number for each row */
    EXPECT_EACH   /* one number for each element, row by row */
} ExpectShape;

typedef enum ExpectRounding { /* for EACH: what the rounding error of a result is relative to */
                              /* The result with its weight and bias: the mean was subtracted before. */
                              EXPECT_OF_SCALED,
                              EXPECT_OF_ELEMENT,    /* the result */
                              EXPECT_OF_SUM_SO_FAR, /* sum of absolute values of the elements up to it */
                              EXPECT_OF_ALL         /* sum of absolute values of its row */
} ExpectRounding;

typedef struct ExpectValues {
    long double *values;     /* [count]; free() */
    long double *magnitudes; /* [count] sums of absolute values, to which rounding errors are relative */
    uint64_t count;
    bool whole; /* all summands are whole numbers: sums are exact as long as they fit */
} ExpectValues;

typedef struct ExpectFunction {
    const char *name;
    ExpectShape shape;
    ExpectFold fold; /* combines partial results */
    int inputs;      /* 1 or 2; for EACH, a flag of the second input restarts the result */
    bool takes_columns;
    bool is_rounded; /* the result takes more than additions or an extreme: allows a few more roundings */
    bool is_guessed; /* tried without --expect */
    /* For `count` elements from `first` of a and b, `step` apart. */
    long double (*of)(const PlanBuffer *a, const PlanBuffer *b, uint64_t first, uint64_t count, uint64_t step,
                      long double *magnitude);
    /* `epsilon` keeps a divisor above zero. */
    void (*each)(const PlanBuffer *a, uint64_t first, uint64_t count, long double epsilon, long double *out);
    /* COLUMNS are bins; the number of values per bin and the first value may follow. With two inputs, the
     * second gives the bin to which an element of the first is added. */
    bool has_bins;
    bool takes_weights; /* each element of a row may have a weight and a bias */
    bool by_column;     /* for each column instead of each row; for EACH, a column has one weight */
    ExpectRounding rounding;
} ExpectFunction;

extern const ExpectFunction expect_functions[];
extern const int expect_function_count;

/* The function whose name has these `length` characters; NULL: none. */
const ExpectFunction *expect_function_named(const char *name, size_t length);

#endif
