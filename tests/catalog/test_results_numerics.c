/* The numerics kernels: the error is as large as theory predicts, and not larger. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "metrics/totals.h"
#include "runs.h"
#include <math.h>
#include <string.h>

static Session *run_filled(const char *kernel, uint64_t n, FillKind fill, const char *parameter) {
    CatalogOptions options = {.n = n,
                              .fill = fill,
                              .has_fill = true,
                              .seed = 3,
                              .parameters = {parameter},
                              .parameter_count = parameter != NULL};
    return run_kernel(kernel, &options);
}

static void assert_sum(const char *kernel, uint64_t n, const char *parameter, double result,
                       double expected) {
    Session *session = run_filled(kernel, n, FILL_ONES, parameter);
    assert_true(session_result(session)->result == result);
    assert_true(session_result(session)->expected == expected);
    assert_true(session_result(session)->correct); /* as predicted, which is not the same as exact */
    assert_true(session_result(session)->absolute_error == expected - result);
    session_free(session);
}

/* 11 significant bits: 2048 + 1 is half way to 2050 and rounds to the even 2048. */
static void half_sums_of_ones_stop_at_2048(void **state) {
    (void)state;
    assert_sum("half_naive", 2047 * 32, "items=2047", 2047, 2047);
    assert_sum("half_naive", 2048 * 32, "items=2048", 2048, 2048);
    assert_sum("half_naive", 2049 * 32, "items=2049", 2048, 2049);
    assert_sum("half_naive", 4096 * 32, NULL, 2048, 4096);
    assert_sum("half_promote", 4096 * 32, NULL, 4096, 4096);
    assert_sum("bfloat_promote", 4096 * 32, NULL, 4096, 4096);
}

/* The default run, as a lecturer types it. */
static void half_naive_is_half_by_default(void **state) {
    (void)state;
    Session *session = run_with("half_naive", "items=4096", NULL);
    assert_true(session_result(session)->result == 2048);
    assert_true(session_result(session)->expected == 4096);
    assert_false(ask_failed(session));
    session_free(session);
}

static void promotion_is_nearer_than_half(void **state) {
    (void)state;
    Session *naive = run_filled("half_naive", 65536, FILL_RANDOM, "items=1024");
    Session *promoted = run_filled("half_promote", 65536, FILL_RANDOM, "items=1024");
    assert_true(session_result(naive)->correct);
    assert_true(session_result(promoted)->correct);
    assert_true(session_result(naive)->absolute_error > 10 * session_result(promoted)->absolute_error);
    session_free(naive);
    session_free(promoted);
}

static void scaling_prevents_overflow(void **state) {
    (void)state;
    Session *scaled = run_filled("scaled_half", 65536, FILL_RANDOM, NULL);
    Session *unscaled = run_filled("scaled_half", 65536, FILL_RANDOM, "scale=1");
    assert_true(session_result(scaled)->correct);
    assert_false(session_result(unscaled)->correct);
    assert_false(isfinite(session_result(unscaled)->result));
    session_free(scaled);
    session_free(unscaled);
}

/* A running float sum of a million values in [-1, 1] may lose thousands of units; this one loses 3. */
static void kahan_error_does_not_grow(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1000, 65537};
    for (int i = 0; i < 2; i++) {
        Session *session = run_filled("kahan", sizes[i], FILL_RANDOM, NULL);
        const ExpectResult *result = session_result(session);
        assert_true(result->correct);
        assert_true(result->bound < 3.1 * 0x1p-24 * (double)sizes[i]); /* magnitudes are at most 1 */
        session_free(session);
    }
}

/* Exact sums of whole numbers, for any shape; the last row is shorter. */
static void assert_exact(const char *kernel, uint64_t n, PtxType type, const char *op, const char *first,
                         const char *second, const char *third) {
    CatalogOptions options = {.n = n,
                              .dtype = type,
                              .op = op,
                              .whole_numbers = true,
                              .parameters = {first, second, third},
                              .parameter_count = (first != NULL) + (second != NULL) + (third != NULL)};
    Session *session = run_kernel(kernel, &options);
    assert_int_equal(session_trace(session)->trap_count, 0);
    assert_true(session_result(session)->correct);
    assert_true(session_result(session)->absolute_error == 0);
    session_free(session);
}

static Session *run_argmax(PtxType type, uint64_t n, FillKind fill) {
    CatalogOptions options = {.n = n, .dtype = type, .op = "argmax", .has_fill = true, .fill = fill};
    return run_kernel("fastest", &options);
}

static void every_shape_is_exact(void **state) {
    (void)state;
    static const char *const columns[] = {"columns=1", "columns=7", "columns=256", "columns=1000"};
    static const char *const axes[] = {"axis=0", "axis=1", "axis=2"};
    static const char *const depths[] = {"depth=1", "depth=2", "depth=33"};
    static const char *const ops[] = {"sum", "min", "max"};
    static const PtxType types[] = {PTX_S32, PTX_F32, PTX_F64};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) {
            assert_exact("row_sum", 5003, types[j], ops[j], columns[i], NULL, NULL);
            assert_exact("row_sum", 5003, types[j], ops[j], columns[i], "tiles=2", NULL);
            assert_exact("row_sum_vectors", 5003, types[j], ops[j], columns[i], NULL, NULL);
            assert_exact("row_sum_vectors", 5003, types[j], ops[j], columns[i], "team=1", NULL);
            assert_exact("row_sum_vectors", 5003, types[j], ops[j], columns[i], "team=2", NULL);
            if (i < 3) assert_exact("row_sum", 5003, types[j], ops[j], columns[i], "tiles=1", NULL);
            assert_exact("column_sum_permuted", 5003, types[j], ops[j], columns[i], NULL, NULL);
            assert_exact("column_sum_permuted", 20, types[j], ops[j], columns[i], NULL, NULL);
            for (int axis = 0; axis < 3; axis++)
                for (int depth = axis == 2; depth < 3; depth++)
                    assert_exact("column_sum", 5003, types[j], ops[j], columns[i], axes[axis], depths[depth]);
        }
}

/* Of rows longer than the input there is one, and warps without a row stay out, however far off theirs would
 * be. */
static void a_row_longer_than_the_input(void **state) {
    (void)state;
    assert_exact("row_sum_vectors", 5003, PTX_S32, "sum", "columns=1073741824", "team=1", NULL);
    assert_exact("row_sum_vectors", 5003, PTX_S32, "sum", "columns=1073741824", "team=2", NULL);
}

/* Of equal elements the first, wherever it is: the last in a vector, of another block, behind the last
 * vector. */
static void argmax_finds_the_first(void **state) {
    (void)state;
    static const PtxType types[] = {PTX_S32, PTX_F32, PTX_F64, PTX_F16};
    static const uint64_t sizes[] = {1, 7, 4099, 20001};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            Session *ties = run_argmax(types[i], sizes[j], FILL_ONES),
                    *digits = run_argmax(types[i], sizes[j], FILL_DIGITS);
            assert_true(session_result(ties)->correct && session_result(digits)->correct);
            assert_true(session_result(ties)->result == 0);
            session_free(ties);
            session_free(digits);
        }
}

/* The lesson of column_sum: the dimension determines the cost of a load. */
static void inner_sums_touch_a_sector_a_lane(void **state) {
    (void)state;
    for (int axis = 0; axis < 2; axis++) {
        CatalogOptions options = {
            .n = 65536, .parameters = {axis ? "axis=1" : "axis=0", "columns=256"}, .parameter_count = 2};
        Session *session = run_kernel("column_sum", &options);
        Totals totals = run_totals(session);
        assert_int_equal(totals.global_load_sectors, totals.global_load_requests * (axis ? 32 : 4));
        session_free(session);
    }
}

/* exp(), log() and the rest against long double; large values must not overflow. */
static void exponentials_are_stable(void **state) {
    (void)state;
    static const char *const kernels[] = {"softmax_row", "logsumexp"};
    static const FillKind fills[] = {FILL_RANDOM, FILL_ONES, FILL_IOTA};
    for (int kernel = 0; kernel < 2; kernel++)
        for (int fill = 0; fill < 3; fill++)
            for (int is_double = 0; is_double < 2; is_double++) {
                CatalogOptions options = {.n = 5003,
                                          .dtype = is_double ? PTX_F64 : PTX_F32,
                                          .fill = fills[fill],
                                          .has_fill = true,
                                          .parameters = {"columns=1000"},
                                          .parameter_count = 1};
                Session *session = run_kernel(kernels[kernel], &options);
                assert_true(session_result(session)->correct);
                assert_true(isfinite(session_result(session)->result));
                session_free(session);
            }
}

static void impossible_shapes_are_refused(void **state) {
    (void)state;
    RunSpec tile = {.kernel = "row_sum", .catalog = {.parameters = {"tiles=1"}, .parameter_count = 1}};
    RunSpec axis = {.kernel = "column_sum", .catalog = {.parameters = {"axis=2"}, .parameter_count = 1}};
    RunSpec scale = {.kernel = "scaled_half", .catalog = {.parameters = {"scale=3"}, .parameter_count = 1}};
    Error error = {0};
    assert_null(session_open(&tile, &error));
    assert_non_null(strstr(error.message, "tiles=1"));
    assert_null(session_open(&axis, &error));
    assert_non_null(strstr(error.message, "axis=2"));
    assert_null(session_open(&scale, &error));
    assert_non_null(strstr(error.message, "scale=3"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_sums_of_ones_stop_at_2048),   cmocka_unit_test(half_naive_is_half_by_default),
        cmocka_unit_test(promotion_is_nearer_than_half),    cmocka_unit_test(scaling_prevents_overflow),
        cmocka_unit_test(kahan_error_does_not_grow),        cmocka_unit_test(every_shape_is_exact),
        cmocka_unit_test(inner_sums_touch_a_sector_a_lane), cmocka_unit_test(exponentials_are_stable),
        cmocka_unit_test(impossible_shapes_are_refused),    cmocka_unit_test(a_row_longer_than_the_input),
        cmocka_unit_test(argmax_finds_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
