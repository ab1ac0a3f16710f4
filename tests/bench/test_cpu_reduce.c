/* Reductions by this machine's CPU against a loop in long double; and the team that shares them. The numbers
 * are small whole numbers, which are exact in any order. */
#include "bench/cpu_reduce.h"
#include "bench/cpu_team.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 1000 };
static const PtxType types[] = {PTX_S32, PTX_F32, PTX_F64};
static const char *const ops[] = {"sum", "min", "max"};

typedef union Values {
    int32_t whole[MOST];
    float single[MOST];
    double wide[MOST];
} Values;

static void set(Values *values, PtxType type, size_t i, int value) {
    if (type == PTX_S32)
        values->whole[i] = value;
    else if (type == PTX_F32)
        values->single[i] = (float)value;
    else
        values->wide[i] = value;
}

static double get(const Values *values, PtxType type, size_t i) {
    return type == PTX_S32 ? values->whole[i] : type == PTX_F32 ? (double)values->single[i] : values->wide[i];
}

static double fold(const Values *values, PtxType type, const char *op, size_t count) {
    double total = get(values, type, 0);
    for (size_t i = 1; i < count; i++) {
        double x = get(values, type, i);
        if (!strcmp(op, "sum"))
            total += x;
        else if (!strcmp(op, "min") ? x < total : x > total)
            total = x;
    }
    return total;
}

static void every_count(void **state) {
    (void)state;
    static Values values, out;
    uint32_t seed = 1;
    for (int t = 0; t < 3; t++) {
        for (size_t i = 0; i < MOST; i++) {
            seed = seed * 1664525 + 1013904223;
            set(&values, types[t], i, (int)(seed >> 20) - 2048);
        }
        for (int o = 0; o < 3; o++)
            for (int simd = 0; simd < 2; simd++)
                for (size_t count = 1; count <= MOST; count += count < 300 ? 1 : 50) {
                    cpu_reduce(types[t], ops[o], simd)(&values, count, &out);
                    double expected = fold(&values, types[t], ops[o], count), got = get(&out, types[t], 0);
                    if (got != expected)
                        fail_msg("%s of %zu, type %d, simd %d: %g instead of %g", ops[o], count, t, simd, got,
                                 expected);
                }
    }
}

static void nothing_and_overflow(void **state) {
    (void)state;
    static Values values, out;
    for (int simd = 0; simd < 2; simd++) {
        cpu_reduce(PTX_F32, "min", simd)(&values, 0, &out);
        assert_true(isinf(out.single[0]) && out.single[0] > 0);
        cpu_reduce(PTX_S32, "max", simd)(&values, 0, &out);
        assert_int_equal(out.whole[0], INT32_MIN);
        values.whole[0] = INT32_MAX;
        values.whole[1] = 2;
        cpu_reduce(PTX_S32, "sum", simd)(&values, 2, &out);
        assert_int_equal(out.whole[0], INT32_MIN + 1);
    }
    assert_null(cpu_reduce(PTX_F16, "sum", true));
    assert_null(cpu_reduce(PTX_S32, "product", true));
    assert_true(*cpu_simd_name());
}

typedef struct Count {
    int calls[8];
} Count;

static void count_calls(void *context, int member) {
    ((Count *)context)->calls[member]++;
}

static void a_team(void **state) {
    (void)state;
    CpuTeam *team = cpu_team_new(8);
    Count count = {0};
    assert_int_equal(cpu_team_size(team), 8);
    for (int i = 0; i < 1000; i++) cpu_team_do(team, count_calls, &count);
    for (int i = 0; i < 8; i++) assert_int_equal(count.calls[i], 1000);
    cpu_team_free(team);
    team = cpu_team_new(0);
    assert_true(cpu_team_size(team) >= 1);
    cpu_team_free(team);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_count),
        cmocka_unit_test(nothing_and_overflow),
        cmocka_unit_test(a_team),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
