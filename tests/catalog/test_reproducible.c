/* reproducible: the exact sum, rounded once, whatever the launch, the order and the values.
 *
 * The reference counts every bit of every element, in an array with one number for each power of two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runs.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reference --------------------------------------------------------------------------------------- */

enum { LOWEST = -1074, POSITIONS = 2200 }; /* bit p stands for 2^(p + LOWEST) */

typedef struct Input {
    PtxType type; /* of the elements, which are kept as doubles */
    uint64_t n;
    double *values;
} Input;

static double round_bits(const int *bits, int top, bool is_double) {
    int last = top - (is_double ? 52 : 23), lowest = is_double ? 0 : -149 - LOWEST;
    double value = 0;
    if (last < lowest) last = lowest;
    for (int p = top; p >= last; p--) value += ldexp(bits[p], p + LOWEST);
    bool half = last > 0 && bits[last - 1], more = false;
    for (int p = 0; p < last - 1; p++) more |= bits[p] != 0;
    if (half && (more || bits[last])) value += ldexp(1, last + LOWEST);
    return !is_double && value > FLT_MAX ? INFINITY : value;
}

static double exact_sum(const Input *input) {
    static int64_t count[POSITIONS];
    static int bits[POSITIONS];
    double special = 0;
    memset(count, 0, sizeof count);
    for (uint64_t i = 0; i < input->n; i++) {
        double x = input->values[i];
        int exponent;
        if (!isfinite(x)) special += x;
        if (!isfinite(x) || x == 0) continue;
        double fraction = frexp(fabs(x), &exponent);
        for (int p = exponent - 1 - LOWEST; fraction > 0; p--) {
            fraction *= 2;
            if (fraction >= 1) count[p] += x < 0 ? -1 : 1, fraction -= 1;
        }
    }
    if (special != 0) return special;
    for (int sign = 1;; sign = -1) { /* a negative sum does not end: its magnitude does */
        int64_t carry = 0;
        int top = -1;
        for (int p = 0; p < POSITIONS; p++) {
            carry += sign * count[p];
            bits[p] = (int)(carry & 1);
            carry = (carry - bits[p]) / 2;
            if (bits[p]) top = p;
        }
        if (carry == 0) return top < 0 ? 0 : sign * round_bits(bits, top, input->type == PTX_F64);
    }
}

/* ---- inputs ------------------------------------------------------------------------------------------ */

typedef enum Kind {
    UNIFORM,      /* in -1 .. 1 */
    WIDE,         /* of normal size, some smaller by far */
    CANCELLING,   /* 1e30, 1, -1e30, ... */
    SUBNORMAL,    /* less than the smallest normal number */
    ANY_EXPONENT, /* any finite bits */
    ZEROS,        /* of both signs */
    ONES_LATE,    /* zeros, then numbers that no window was chosen for */
    LARGEST,      /* the largest number, of both signs */
    OVERFLOWING,  /* the largest number */
    TIES,         /* 1, and halves of a unit in its last place */
    GROWING,      /* each 2^10 times the one before, again and again */
    INFINITE,
    OPPOSED, /* infinities of both signs */
    NO_NUMBER,
    KINDS
} Kind;

static uint64_t state = 1;

static uint64_t random_bits(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state * 0x2545f4914f6cdd1du;
}

static double random_unit(bool is_double) { /* of all bits that the type has */
    double value =
        is_double ? (double)(random_bits() >> 11) * 0x1p-52 : (double)(random_bits() >> 40) * 0x1p-23;
    return value - 1;
}

static double any_finite(bool is_double) {
    for (;;) {
        uint64_t bits = random_bits();
        uint32_t low = (uint32_t)bits;
        double wide;
        float narrow;
        memcpy(&wide, &bits, sizeof wide);
        memcpy(&narrow, &low, sizeof narrow);
        if (is_double ? isfinite(wide) : isfinite(narrow)) return is_double ? wide : (double)narrow;
    }
}

static double element(Kind kind, uint64_t i, uint64_t n, bool is_double) {
    double largest = is_double ? DBL_MAX : (double)FLT_MAX, unit = random_unit(is_double);
    switch (kind) {
    case UNIFORM:
        return unit;
    case WIDE:
        return random_bits() % 8 ? unit * 4 : (double)(float)ldexp(unit, -(int)(random_bits() % 100));
    case CANCELLING:
        return i % 3 == 0 ? 1e30 : i % 3 == 1 ? 1 : -1e30;
    case SUBNORMAL:
        return ldexp((double)(random_bits() >> 41) - 0x1p22, is_double ? -1074 : -149);
    case ANY_EXPONENT:
        return any_finite(is_double);
    case ZEROS:
        return i % 2 ? -0.0 : 0.0;
    case ONES_LATE:
        return i < n / 2 ? 0 : unit;
    case LARGEST:
        return random_bits() % 2 ? largest : -largest;
    case OVERFLOWING:
        return largest;
    case TIES:
        return i == 0 ? 1 : i % 2 ? ldexp(1, is_double ? -53 : -24) : i == 2 ? ldexp(1, -149) : 0;
    case GROWING:
        return ldexp(i % 2 ? -1.5 : 1.25, (int)(i % 20) * 10 - 100);
    case INFINITE:
        return i == n / 3 ? -INFINITY : unit;
    case OPPOSED:
        return i == n / 3 ? INFINITY : i == n / 2 ? -INFINITY : unit;
    default:
        return i == n / 2 ? NAN : unit;
    }
}

static Input make_input(Kind kind, PtxType type, uint64_t n) {
    Input input = {type, n, malloc(n * sizeof(double))};
    assert_non_null(input.values);
    for (uint64_t i = 0; i < n; i++) {
        double x = element(kind, i, n, type == PTX_F64);
        input.values[i] = type == PTX_F64 ? x : (double)(float)x;
    }
    return input;
}

static void shuffle(Input *input) {
    for (uint64_t i = input->n; i > 1; i--) {
        uint64_t j = random_bits() % i;
        double kept = input->values[j];
        input->values[j] = input->values[i - 1];
        input->values[i - 1] = kept;
    }
}

/* ---- runs -------------------------------------------------------------------------------------------- */

typedef struct Shape {
    uint32_t grid, block; /* grid 0: the default */
} Shape;

static void assert_same(double got, double expected, const char *of, const Input *input, int kind,
                        Shape shape) {
    bool same = isnan(expected) ? isnan(got) : got == expected && signbit(got) == signbit(expected);
    if (!same)
        fail_msg("%s of %llu %s, kind %d, grid %u, block %u: %.17g, not %.17g", of,
                 (unsigned long long)input->n, input->type == PTX_F64 ? "doubles" : "floats", kind,
                 shape.grid, shape.block, got, expected);
}

static void assert_exact(const Input *input, int kind, Shape shape) {
    char path[] = "/tmp/redviz-reproducible-XXXXXX";
    int descriptor = mkstemp(path);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    assert_non_null(file);
    for (uint64_t i = 0; i < input->n; i++) {
        float narrow = (float)input->values[i];
        if (input->type == PTX_F64)
            fwrite(&input->values[i], sizeof(double), 1, file);
        else
            fwrite(&narrow, sizeof narrow, 1, file);
    }
    fclose(file);
    CatalogOptions options = {.n = input->n,
                              .dtype = input->type,
                              .grid = shape.grid,
                              .block = shape.block,
                              .fill = FILL_FILE,
                              .has_fill = true,
                              .fill_path = path};
    Session *session = run_kernel("reproducible", &options);
    const ExpectResult *result = session_result(session);
    double expected = exact_sum(input);
    assert_same(result->result, expected, "the sum", input, kind, shape);
    if (result->expected != 0) /* whose sign is lost */
        assert_same(result->expected, expected, "the catalogue's reference", input, kind, shape);
    assert_true(result->correct);
    session_free(session);
    remove(path);
}

static const PtxType TYPES[] = {PTX_F32, PTX_F64};
static const Shape SHAPES[] = {{0, 256}, {1, 32}, {1, 512}, {3, 96}, {7, 64}, {2, 256}, {40, 32}, {9, 480}};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof *SHAPES };

static void every_kind_of_value_in_every_launch(void **unused) {
    (void)unused;
    for (int t = 0; t < 2; t++)
        for (int kind = 0; kind < KINDS; kind++) {
            Input input = make_input((Kind)kind, TYPES[t], 5003);
            for (int s = 0; s < SHAPE_COUNT; s++) assert_exact(&input, kind, SHAPES[s]);
            free(input.values);
        }
}

static void every_order(void **unused) {
    (void)unused;
    static const Kind kinds[] = {UNIFORM, WIDE, CANCELLING, ANY_EXPONENT, TIES, GROWING};
    for (int t = 0; t < 2; t++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            Input input = make_input(kinds[k], TYPES[t], 1009);
            double first = exact_sum(&input);
            for (int order = 0; order < 5; order++) {
                shuffle(&input);
                assert_true(exact_sum(&input) == first);
                assert_exact(&input, (int)kinds[k], SHAPES[order % SHAPE_COUNT]);
            }
            free(input.values);
        }
}

static void every_number_of_elements(void **unused) {
    (void)unused;
    for (int t = 0; t < 2; t++)
        for (uint64_t n = 1; n <= 5003; n += n < 70 ? 1 : n / 3) {
            Kind kind = n % 3 == 0 ? UNIFORM : n % 3 == 1 ? ANY_EXPONENT : TIES;
            Input input = make_input(kind, TYPES[t], n);
            assert_exact(&input, (int)kind, SHAPES[n % SHAPE_COUNT]);
            free(input.values);
        }
}

/* 300,000 of one sign in one warp: more than a lane's windows have room for. Windows that are chosen for 1
 * leave numbers of the second exponents to window 1, and of the third to window 2. */
static void windows_that_fill_up(void **unused) {
    (void)unused;
    static const int exponents[2][3] = {{15, -31, -31}, {15, -36, -76}};
    if (run_limit() < 300000) return;
    for (int t = 0; t < 2; t++)
        for (int w = 0; w < 3; w++) {
            Input input = make_input(ZEROS, TYPES[t], 300000);
            for (uint64_t i = 0; i < input.n; i++) input.values[i] = i < 512 ? 1 : ldexp(1, exponents[t][w]);
            assert_exact(&input, w, (Shape){1, 32});
            free(input.values);
        }
}

static void many_blocks(void **unused) {
    (void)unused;
    if (run_limit() < 70000) return;
    for (int t = 0; t < 2; t++)
        for (int kind = 0; kind <= ANY_EXPONENT; kind++) {
            Input input = make_input((Kind)kind, TYPES[t], 70000);
            assert_exact(&input, kind, (Shape){0, 256});
            assert_exact(&input, kind, (Shape){kind == 0 ? 2048 : 300, 32});
            free(input.values);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_in_every_launch),
        cmocka_unit_test(every_order),
        cmocka_unit_test(every_number_of_elements),
        cmocka_unit_test(windows_that_fill_up),
        cmocka_unit_test(many_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
