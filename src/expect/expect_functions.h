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

typedef enum ExpectError {               /* what the roundings of a kernel may do to a result */
                           EXPECT_EXACT, /* nothing: it is one of the inputs, its index, or a count */
                           /* those of a sum; none if all its terms are whole numbers that fit */
                           EXPECT_OF_SUM,
                           EXPECT_OF_PRODUCT,  /* a rounding for every factor */
                           EXPECT_OF_ROUNDINGS /* those of sums, and a few of functions and quotients */
} ExpectError;

typedef struct ExpectFunction {
    const char *name;
    ExpectShape shape;
    ExpectFold fold; /* combines partial results */
    int inputs;      /* 1 or 2; for EACH, a flag of the second input restarts the result */
    bool takes_columns;
    ExpectError error;
    /* For `count` elements from `first` of a and b, `step` apart. `magnitude` gets what rounding errors are
     * relative to added: the sum of the absolute values of all terms. */
    long double (*of)(const PlanBuffer *a, const PlanBuffer *b, uint64_t first, uint64_t count, uint64_t step,
                      long double *magnitude);
    /* `epsilon` keeps a divisor above zero; `of` gets the magnitude of each result. */
    void (*each)(const PlanBuffer *a, uint64_t first, uint64_t count, long double epsilon, long double *out,
                 long double *of);
    /* COLUMNS are bins; the number of values per bin and the first value may follow. With two inputs, the
     * second gives the bin to which an element of the first is added. */
    bool has_bins;
    bool takes_weights; /* each element of a row may have a weight and a bias */
    bool by_column;     /* for each column instead of each row; for EACH, a column has one weight */
} ExpectFunction;

extern const ExpectFunction expect_functions[];
extern const int expect_function_count;

/* The function whose name has these `length` characters; NULL: none. */
const ExpectFunction *expect_function_named(const char *name, size_t length);

#endif
