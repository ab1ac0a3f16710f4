/* A run without rounding beside the run: what a kernel leaves out, counts twice or weights wrongly is found
 * in every type and function, and no right kernel is refused, however it rounds (emulator/machine/shadow.h).
 * */
#define _POSIX_C_SOURCE 200809L
#include "tests/skip.h"

#include "base/memory.h"
#include "base/text.h"
#include "session/session.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 256, ROWS = 3 };

typedef enum Outcome { REFUSED, ROUNDED, WITHIN_BOUND } Outcome;

static Outcome judge(const char *text, const char *entry, const char *arguments, const char *expect,
                     uint32_t rows, uint32_t block) {
    RunSpec options = {.file = "rounding.ptx",
                       .text = text,
                       .entry = entry,
                       .args = arguments,
                       .expect = expect,
                       .grid = {rows, 1, 1},
                       .block = {block, 1, 1},
                       .catalog = {.seed = 3},
                       .threads = 1};
    Error error = {0};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", entry, error.message);
    const ExpectResult *result = session_result(session);
    assert_non_null(result);
    Outcome outcome = !result->correct                            ? REFUSED
                      : result->is_rounding || result->bound == 0 ? ROUNDED
                                                                  : WITHIN_BOUND;
    session_free(session);
    return outcome;
}

/* ---- what moves a value ----------------------------------------------------------------------------- */

#define HEAD                                                                                                 \
    ".version 8.0\n.target sm_80\n.address_size 64\n"                                                        \
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .f32 more) {\n"                               \
    ".reg .pred %p; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"                  \
    ".shared .align 8 .b8 s[256];\n"                                                                         \
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.f32 %f8, [more];\n"                         \
    "mov.u32 %r1, %tid.x; setp.eq.u32 %p, %r1, 0;\n"

/* 64 thirds, and more * 1e-6 or so: the first 63 lanes' sums, moved by `MOVE` from %f1 to %f2. */
#define SUM_OF_THIRDS                                                                                        \
    "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd3, %rd1; ld.global.f32 %f1, [%rd3];\n"                      \
    "add.f32 %f1, %f1, 0f3E800000; add.f32 %f1, %f1, 0fBE800000;\n" /* rounds */
#define STORE "@%p st.global.f32 [%rd2], %f2; ret; }\n"

static void moves_carry_it(void **state) {
    (void)state;
    static const char *const sums[] = {
        /* shuffles of the bits */
        "mov.b32 %r2, %f1; shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; mov.b32 %f2, %r3; add.f32 %f2, %f1, "
        "%f2;\n",
        /* shared memory */
        "mov.u32 %r4, s; mad.lo.u32 %r5, %r1, 4, %r4; st.shared.f32 [%r5], %f1; bar.sync 0; xor.b32 %r6, "
        "%r1, 1;\n"
        "mad.lo.u32 %r5, %r6, 4, %r4; ld.shared.u32 %r7, [%r5]; mov.b32 %f2, %r7; add.f32 %f2, %f1, %f2;\n",
        /* an atomic, and what it finds */
        "mov.u32 %r4, s; @%p st.shared.u32 [%r4], 0; bar.sync 0; atom.shared.add.f32 %f3, [%r4], %f1; "
        "bar.sync 0;\n"
        "ld.shared.f32 %f2, [%r4];\n",
        /* the two halves of a double */
        "cvt.f64.f32 %d1, %f1; add.f64 %d1, %d1, 0d3FB999999999999A; sub.f64 %d1, %d1, 0d3FB999999999999A;\n"
        "mov.b64 {%r2, %r3}, %d1; shfl.sync.down.b32 %r2, %r2, 1, 31, -1; shfl.sync.down.b32 %r3, %r3, 1, "
        "31, -1;\n"
        "mov.b64 %d2, {%r2, %r3}; add.f64 %d2, %d1, %d2; cvt.rn.f32.f64 %f2, %d2;\n",
        /* a choice, and a change of sign by its bit */
        "neg.f32 %f3, %f1; mov.b32 %r2, %f3; and.b32 %r2, %r2, 2147483647; mov.b32 %f3, %r2; selp.f32 %f3, "
        "%f3, %f1, %p;\n"
        "shfl.sync.bfly.b32 %r3, %f3, 1, 31, -1; mov.b32 %f2, %r3; add.f32 %f2, %f3, %f2;\n",
        /* a rounding to an integer by a large literal */
        "add.f32 %f3, %f1, 0f4B400000; sub.f32 %f3, %f3, 0f4B400000; add.f32 %f4, %f1, %f3; sub.f32 %f4, "
        "%f4, %f3;\n"
        "shfl.sync.bfly.b32 %r3, %f4, 1, 31, -1; mov.b32 %f2, %r3; add.f32 %f2, %f4, %f2;\n"};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        Text right = {0}, wrong = {0};
        text_print(&right, "%s%s%s%s", HEAD, SUM_OF_THIRDS, sums[i], STORE);
        text_print(&wrong, "%s%s%s%s%s", HEAD, SUM_OF_THIRDS, sums[i],
                   "fma.rn.f32 %f2, %f2, 0f2F000000, %f2;\n" /* 2^-33 of it more */, STORE);
        static const char arguments[] = "in=float[2]:random(0.3,0.4), out=float[1], more=0";
        if (judge(text_string(&right), "k", arguments, "sum(in)", 1, 2) != ROUNDED)
            fail_msg("sum %zu is refused:\n%s", i, sums[i]);
        if (judge(text_string(&wrong), "k", arguments, "sum(in)", 1, 2) != REFUSED)
            fail_msg("sum %zu hides an error:\n%s", i, sums[i]);
        text_done(&right);
        text_done(&wrong);
    }
}

/* Where bits are taken apart nothing is claimed: the sum is judged by its bound, as far as that goes. */
static void bits_cut_it(void **state) {
    (void)state;
    Text text = {0};
    text_print(&text, "%s%s%s%s", HEAD, SUM_OF_THIRDS,
               "mov.b32 %r2, %f1; and.b32 %r3, %r2, -256; xor.b32 %r4, %r2, %r3; or.b32 %r2, %r3, %r4; "
               "xor.b32 %r2, %r2, 0;\n"
               "shfl.sync.bfly.b32 %r5, %r2, 1, 31, -1; mov.b32 %f2, %r5; mov.b32 %f1, %r2; add.f32 %f2, "
               "%f1, %f2;\n",
               STORE);
    assert_int_not_equal(
        judge(text_string(&text), "k", "in=float[2]:random(0.3,0.4), out=float[1], more=0", "sum(in)", 1, 2),
        REFUSED);
    text_done(&text);
}

/* ---- planted errors --------------------------------------------------------------------------------- */

typedef struct Function {
    const char *name, *expect;
    bool is_whole;       /* of all rows */
    bool has_each;       /* a result for each element */
    bool has_literals;   /* its exponential is made of rounded literals */
    bool is_right_alone; /* has no planted error */
} Function;

static const Function functions[] = {{"sum", "out=rowsum(in, 256)", 0, 0, 0, 0},
                                     {"mean", "out=rowmean(in, 256)", 0, 0, 0, 0},
                                     {"dot", "out=rowdot(in, other, 256)", 0, 0, 0, 0},
                                     {"sumsq", "out=sumsq(in)", 1, 0, 0, 0},
                                     {"sumcube", "out=sumcube(in)", 1, 0, 0, 0},
                                     {"sumabs", "out=sumabs(in)", 1, 0, 0, 0},
                                     {"norm", "out=rownorm(in, 256)", 0, 0, 0, 0},
                                     {"sqdist", "out=sqdist(in, other)", 1, 0, 0, 0},
                                     {"mse", "out=mse(in, other)", 1, 0, 0, 0},
                                     {"absdist", "out=absdist(in, other)", 1, 0, 0, 0},
                                     {"variance", "out=rowvariance(in, 256)", 0, 0, 0, 0},
                                     {"sumexp", "out=rowsumexp(in, 256)", 0, 0, 1, 0},
                                     {"scan", "out=scan(in, 256)", 0, 1, 0, 0},
                                     {"softmax", "out=softmax(in, 256)", 0, 1, 1, 0},
                                     {"normalize", "out=normalize(in, 256)", 0, 1, 0, 0},
                                     {"colsum", "out=colsum(in, 3)", 0, 0, 0, 0},
                                     {"butterfly", "out=rowsum(in, 256)", 0, 0, 0, 0},
                                     {"kahan", "out=rowsum(in, 256)", 0, 0, 0, 1},
                                     {"two_sum", "out=rowsum(in, 256)", 0, 0, 0, 1},
                                     {"pairwise", "out=rowsum(in, 256)", 0, 0, 0, 1},
                                     {"welford", "out=rowvariance(in, 256)", 0, 0, 0, 1},
                                     {"atomics", "out=rowsum(in, 256)", 0, 0, 0, 1},
                                     {"online_softmax", "out=softmax(in, 256)", 0, 1, 1, 1}};

static const struct {
    const char *name, *type;
} types[] = {{"half", "half"},         {"half_float", "half"}, {"bf16", "bfloat"},
             {"bf16_float", "bfloat"}, {"float", "float"},     {"double", "double"}};

static const char *const fills[] = {"random(0.5,1.5)", "random(-1.0,1.0)", "random(0.0,0.01)"};

typedef struct Plant { /* the elements from `from` to `to` count 1 + `weight` times */
    const char *name, *text;
    bool is_small; /* beyond what functions with rounded literals can tell */
} Plant;

static const Plant plants[] = {{"nothing", "from=0, to=0, weight=0", false},
                               {"an element dropped", "from=5, to=6, weight=-1", false},
                               {"an element twice", "from=5, to=6, weight=1", false},
                               {"a warp dropped", "from=0, to=32, weight=-1", false},
                               {"half of a quarter", "from=64, to=128, weight=0.5", false},
                               {"1/1024 of a quarter", "from=0, to=64, weight=0.0009765625", false},
                               {"1e-6 of the row", "from=0, to=256, weight=1e-6", true},
                               {"1e-9 of the row", "from=0, to=256, weight=1e-9", true}};

/* The entry NAME_TYPE of the file alone, with what stands before all entries; NULL: there is none. */
static char *entry_alone(const char *file, const char *name) {
    static const char mark[] = ".visible .entry ";
    Text text = {0};
    const char *first = strstr(file, mark);
    for (const char *at = first; at; at = strstr(at + 1, mark)) {
        size_t length = strlen(name);
        if (strncmp(at + strlen(mark), name, length) != 0 || at[strlen(mark) + length] != '(') continue;
        const char *end = strstr(at + 1, mark);
        text_add_bytes(&text, file, (size_t)(first - file));
        text_add_bytes(&text, at, end ? (size_t)(end - at) : strlen(at));
        return text.data;
    }
    return NULL;
}

typedef struct Counts {
    int runs, bounds;
} Counts;

/* A right kernel is never refused; a wrong one is, unless bits are taken apart in it, as bf16's conversions
 * from double do. */
static void try_plant(const Function *function, int type, const char *fill, const Plant *plant,
                      const char *text, const char *entry, Counts *counts) {
    char arguments[512];
    int rows = function->is_whole ? 1 : ROWS;
    snprintf(arguments, sizeof arguments, "in=%s[%d]:%s, other=%s[%d]:%s, out=%s[%d], n=%d, %s",
             types[type].type, N * rows, fill, types[type].type, N * rows, fill, types[type].type,
             function->has_each ? N * rows : rows, N, plant->text);
    Outcome outcome = judge(text, entry, arguments, function->expect, (uint32_t)rows, 64);
    bool is_right = plant == plants, is_beyond = plant->is_small && function->has_literals;
    counts->runs++;
    counts->bounds += outcome == WITHIN_BOUND;
    if (is_right ? outcome == REFUSED : outcome == ROUNDED && !is_beyond)
        fail_msg("%s, %s, %s: %s", entry, fill, plant->name, is_right ? "refused" : "not found");
}

static void planted_errors_are_found(void **state) {
    (void)state;
    skip_without_nvcc("cuda_fp16.h");
    bool is_quick = getenv("REDVIZ_TEST_QUICK") != NULL;
    char *file, path[] = "/tmp/redviz_planted_XXXXXX", command[512];
    const char *root = getenv("REDVIZ_SHARE");
    size_t length;
    Counts counts = {0};
    Error error = {0};
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    snprintf(command, sizeof command, "nvcc -ptx -arch=compute_80 -o %s %s/tests/data/rounding/planted.cu",
             path, root ? root : ".");
    assert_int_equal(system(command), 0);
    assert_true(text_read_file(path, 16 << 20, &file, &length, &error));
    unlink(path);
    int turn = 0;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (int type = 0; type < 6; type++) {
            char entry[64];
            snprintf(entry, sizeof entry, "%s_%s", functions[f].name, types[type].name);
            char *text = entry_alone(file, entry);
            size_t most = functions[f].is_right_alone ? 1 : sizeof plants / sizeof *plants;
            for (size_t fill = 0; text && fill < 3; fill++)
                for (size_t p = 0; p < most; p++)
                    if (!is_quick || turn++ % 8 == 0)
                        try_plant(&functions[f], type, fills[fill], &plants[p], text, entry, &counts);
            free(text);
        }
    free(file);
    print_message("# summary: %d runs, %d judged by a bound only\n", counts.runs, counts.bounds);
    assert_true(counts.runs > (is_quick ? 250 : 2400));
    assert_true(counts.bounds * 10 < counts.runs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(moves_carry_it), cmocka_unit_test(bits_cut_it),
                                       cmocka_unit_test(planted_errors_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
