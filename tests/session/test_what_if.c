/* Remedies of slow places, tried in a copy of the PTX: the result stays as it was to the bit, the wavefronts
 * are those that a count by hand gives, and what cannot be rewritten is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/totals.h"
#include "plan/plan.h"
#include "ask/ask.h"
#include "session/state.h"
#include <stdio.h>
#include <string.h>

typedef struct Tried { /* a run, and the same with a remedy */
    Session *before, *after;
    Arena arena;
    int finding, number;
    Error error;
} Tried;

/* after NULL: refused, or no slow place has the remedy. */
static Tried try_kind(const RunSpec *options, AskRemedyKind kind) {
    Tried tried = {0};
    Error error = {0};
    RunSpec changed;
    tried.before = session_open(options, &error);
    if (!tried.before) fail_msg("%s", error.message);
    if (ask_find_remedy(tried.before, kind, &tried.finding, &tried.number) &&
        ask_try_remedy(tried.before, tried.finding, tried.number, &tried.arena, &changed, &tried.error)) {
        tried.after = session_open(&changed, &tried.error);
        if (!tried.after) fail_msg("%s", tried.error.message);
    }
    return tried;
}

static void done(Tried *tried) {
    session_free(tried->before);
    session_free(tried->after);
    arena_done(&tried->arena);
}

static uint64_t wavefronts(const Session *session, bool ideal) {
    Totals t = {0};
    metrics_of_run(session_trace(session), &t);
    return ideal ? t.shared_load_wavefronts_ideal + t.shared_store_wavefronts_ideal
                 : t.shared_load_wavefronts + t.shared_store_wavefronts;
}

static void assert_same_results(const Tried *tried) {
    Plan a, b;
    plan_copy(&tried->before->run->plan, &a);
    plan_copy(&tried->after->run->plan, &b);
    assert_int_equal(a.buffer_count, b.buffer_count);
    for (int i = 0; i < a.buffer_count; i++) {
        const PlanBuffer *x = &a.buffers[i], *y = &b.buffers[i];
        assert_int_equal(x->count, y->count);
        if (x->bytes && y->bytes)
            assert_memory_equal(x->bytes, y->bytes, x->count * (uint64_t)ptx_type_bytes(x->type));
    }
    plan_free(&a);
    plan_free(&b);
}

static bool is_clocked(const char *kernel) { /* its results are cycles */
    return !strcmp(kernel, "lab_wavefronts") || !strcmp(kernel, "lab_latency");
}

static void catalogue_kernels_keep_their_results(void **state) {
    (void)state;
    int tried_count = 0;
    for (int i = 0; i < catalog_count(); i++)
        for (AskRemedyKind kind = ASK_PAD; kind <= ASK_SWIZZLE; kind++) {
            const CatalogRow *row = catalog_row(i);
            RunSpec options = {.kernel = row->id, .threads = 1, .catalog.n = 4096};
            if (row->group == CATALOG_BUG) continue;
            Tried tried = try_kind(&options, kind);
            if (tried.error.message[0]) fail_msg("%s: %s", row->id, tried.error.message);
            if (tried.after) {
                Text line = {0};
                bool helped =
                    ask_remedy_change(tried.before, tried.after, tried.finding, tried.number, &line);
                if (!is_clocked(row->id)) assert_same_results(&tried);
                if (!helped) fail_msg("%s: %s", row->id, text_string(&line));
                assert_null(strstr(text_string(&line), "wrong"));
                text_done(&line);
                tried_count++;
            }
            done(&tried);
        }
    assert_true(tried_count >= 9);
}

/* Each remedy that is offered is followed: the count of the finding it stands at falls. */
static void every_remedy_that_is_offered_helps(void **state) {
    (void)state;
    int followed = 0, in_vain = 0;
    for (int i = 0; i < catalog_count(); i++) {
        RunSpec options = {.kernel = catalog_row(i)->id, .threads = 1, .catalog.n = 4096};
        Error error = {0};
        AskRemedy remedies[ASK_REMEDIES];
        Session *before = session_open(&options, &error);
        if (!before) fail_msg("%s: %s", options.kernel, error.message);
        const Findings *list = ask_verdict(before);
        for (int k = 0; k < list->count; k++) {
            int count = ask_remedies(before, k, remedies);
            for (int number = 0; number < count; number++, followed++) {
                Arena arena = {0};
                RunSpec changed;
                Text line = {0};
                Session *after = ask_try_remedy(before, k, number, &arena, &changed, &error)
                                     ? session_open(&changed, &error)
                                     : NULL;
                bool helped = after && ask_remedy_change(before, after, k, number, &line);
                if (!helped)
                    print_message("%s, line %d, %s, %s: %s\n", options.kernel, list->items[k].access.line,
                                  list->items[k].kind_text, remedies[number].name,
                                  after ? text_string(&line) : error.message);
                in_vain += !helped;
                session_free(after);
                arena_done(&arena);
                text_done(&line);
            }
        }
        session_free(before);
    }
    print_message("%d remedies were followed\n", followed);
    assert_true(followed > 0);
    assert_int_equal(in_vain, 0);
}

/* Types of 1 to 16 bytes, and blocks of several sizes: dynamic shared memory grows with them. */
static void every_type_and_block_size_keeps_its_result(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        PtxType type;
        uint32_t block;
    } runs[] = {{"strided", PTX_S32, 64},  {"strided", PTX_S32, 1024}, {"strided", PTX_F32, 512},
                {"strided", PTX_F64, 256}, {"strided", PTX_F64, 1024}, {"strided", PTX_S32, 256}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (AskRemedyKind kind = ASK_PAD; kind <= ASK_SWIZZLE; kind++) {
            RunSpec options = {.kernel = runs[i].kernel, .threads = 1};
            options.catalog = (CatalogOptions){.n = 3000, .block = runs[i].block, .dtype = runs[i].type};
            Tried tried = try_kind(&options, kind);
            if (!tried.after) fail_msg("%zu: %s", i, tried.error.message);
            assert_same_results(&tried);
            assert_true(session_result(tried.after)->correct);
            assert_true(wavefronts(tried.after, false) < wavefronts(tried.before, false));
            done(&tried);
        }
}

/* Wavefronts of 32 lanes that load words `stride` apart, at their places in the layout, counted by hand: the
 * most words in one bank. */
static int count_banks(unsigned stride, bool swizzles, unsigned row) {
    int words[32] = {0}, most = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned word = lane * stride, number = word / (row / 4);
        unsigned place = swizzles ? word ^ number % 32 : word + number;
        words[place % 32]++;
    }
    for (int i = 0; i < 32; i++)
        if (words[i] > most) most = words[i];
    return most;
}

/* A store and a load of 32 words each. */
static void strides_cost_what_a_count_by_hand_gives(void **state) {
    (void)state;
    for (unsigned stride = 2; stride <= 32; stride++)
        for (AskRemedyKind kind = ASK_PAD; kind <= ASK_SWIZZLE; kind++) {
            char text[16];
            snprintf(text, sizeof text, "stride=%u", stride);
            RunSpec options = {.kernel = "lab_bank_stride", .threads = 1};
            options.catalog = (CatalogOptions){.parameters = {text}, .parameter_count = 1};
            Tried tried = try_kind(&options, kind);
            if (!tried.after) { /* no layout has fewer wavefronts: it is not offered */
                for (unsigned row = 128; row <= 4096; row *= 2)
                    assert_true(2 * count_banks(stride, kind == ASK_SWIZZLE, row) >=
                                (int)wavefronts(tried.before, false));
                done(&tried);
                continue;
            }
            const char *label = session_spec(tried.after)->what_if.label,
                       *format = kind == ASK_PAD ? "a word after every %u in words"
                                                 : "XOR with the number of the row of %u words in words";
            unsigned row = 0;
            assert_int_equal(sscanf(label, format, &row), 1);
            row *= 4;
            assert_int_equal(wavefronts(tried.after, false),
                             2 * count_banks(stride, kind == ASK_SWIZZLE, row));
            if (!(stride & (stride - 1))) assert_int_equal(wavefronts(tried.after, false), 2);
            assert_same_results(&tried);
            done(&tried);
        }
}

/* A warp reads a column of a tile of 32 x 32: without a conflict in either layout. */
static void a_column_of_a_tile_has_no_conflict(void **state) {
    (void)state;
    for (AskRemedyKind kind = ASK_PAD; kind <= ASK_SWIZZLE; kind++) {
        Tried tried = try_kind(&(RunSpec){.kernel = "lab_bank_padding", .threads = 1}, kind);
        assert_int_equal(wavefronts(tried.before, false), 32 + 32 * 32);
        assert_int_equal(wavefronts(tried.after, false), 32 + 32);
        assert_int_equal(wavefronts(tried.after, true), 32 + 32);
        assert_same_results(&tried);
        done(&tried);
    }
}

/* ---- small kernels ------------------------------------------------------------------------------------- */

#define HEAD                                                                                                 \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                                        \
    "%s\n"                                                                                                   \
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"                                                \
    ".reg .b32 %%r<40>; .reg .b64 %%rd<20>; .reg .pred %%p<4>; .reg .b16 %%h<4>;\n"                          \
    "ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out];\n"                                                 \
    "cvta.to.global.u64 %%rd1, %%rd1; cvta.to.global.u64 %%rd2, %%rd2;\n"                                    \
    "mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd3, %%r1, 4;\n"                                                  \
    "add.s64 %%rd4, %%rd1, %%rd3; add.s64 %%rd5, %%rd2, %%rd3;\n"                                            \
    "ld.global.u32 %%r2, [%%rd4];\n"
#define TAIL "\nst.global.u32 [%rd5], %r9;\nret;\n}\n"
/* Column-wise: word 32 * lane of `a`, a conflict of 32 lanes. */
#define COLUMN "mov.u32 %r3, a; shl.b32 %r4, %r1, 7; add.s32 %r5, %r3, %r4;\n"

static RunSpec options_of_text(const char *ptx, uint64_t seed, uint32_t shared) {
    RunSpec options = {.file = "k.ptx", .text = ptx, .threads = 1};
    options.args = "in=uint[32]:random, out=uint[32]:zero";
    options.block[0] = 32, options.block[1] = options.block[2] = 1;
    options.grid[0] = options.grid[1] = options.grid[2] = 1;
    options.catalog.seed = seed;
    options.shared_bytes = shared;
    options.has_shared = shared > 0;
    return options;
}

/* Tries both layouts of a kernel that has `shared` bytes of dynamic memory. `ideal`: no conflict is left. */
static void try_text(const char *declarations, const char *body, uint64_t seed, uint32_t shared, bool ideal) {
    for (AskRemedyKind kind = ASK_PAD; kind <= ASK_SWIZZLE; kind++) {
        Text ptx = {0};
        text_print(&ptx, HEAD, declarations);
        text_add(&ptx, body);
        text_add(&ptx, TAIL);
        RunSpec options = options_of_text(text_string(&ptx), seed, shared);
        Tried tried = try_kind(&options, kind);
        if (!tried.after) fail_msg("%s\n%s", tried.error.message, text_string(&ptx));
        assert_same_results(&tried);
        if (session_trace(tried.after)->trap_count) fail_msg("a trap in\n%s", text_string(&ptx));
        if (ideal) assert_int_equal(wavefronts(tried.after, false), wavefronts(tried.after, true));
        done(&tried);
        text_done(&ptx);
    }
}

static void small_kernels_keep_their_results(void **state) {
    (void)state;
    static const char array[] = ".shared .align 4 .b8 a[4096];";
    /* One static array; its first word by name. */
    try_text(array, COLUMN "st.shared.u32 [%r5], %r2; bar.sync 0; ld.shared.u32 %r9, [%r5];", 1, 0, true);
    /* A named place in the last row, and a guard. */
    try_text(array,
             COLUMN "st.shared.u32 [%r5+4], %r2; bar.sync 0; ld.shared.u32 %r8, [a+3972];\n"
                    "setp.lt.u32 %p1, %r1, 20; mov.u32 %r9, %r8; @%p1 ld.shared.u32 %r9, [%r5+4];",
             2, 0, true);
    /* Another array before it and one behind it stay where they are. */
    try_text(".shared .align 4 .b8 z[128]; .shared .align 4 .b8 a[4096]; .shared .align 4 .b8 b[128];",
             COLUMN "mov.u32 %r6, b; shl.b32 %r7, %r1, 2; add.s32 %r6, %r6, %r7; mov.u32 %r10, z;\n"
                    "add.s32 %r10, %r10, %r7; st.shared.u32 [%r6], %r1; st.shared.u32 [%r10], %r2;\n"
                    "st.shared.u32 [%r5], %r2; bar.sync 0; ld.shared.u32 %r9, [%r5];\n"
                    "ld.shared.u32 %r8, [%r6]; ld.shared.u32 %r11, [%r10]; add.s32 %r9, %r9, %r8;\n"
                    "add.s32 %r9, %r9, %r11;",
             3, 0, true);
    /* Dynamic memory, 64-bit addresses, and an atomic. */
    try_text(".extern .shared .align 16 .b8 a[];",
             COLUMN "cvt.u64.u32 %rd6, %r5; st.shared.u32 [%rd6], %r2; bar.sync 0;\n"
                    "atom.shared.add.u32 %r8, [%rd6], 3; ld.shared.u32 %r9, [%rd6];",
             4, 4096, true);
    /* Vectors stay together; the load of every second half of 16 bytes keeps half of the banks idle. */
    try_text(".shared .align 16 .b8 a[8192];",
             "mov.u32 %r3, a; shl.b32 %r4, %r1, 8; add.s32 %r5, %r3, %r4;\n"
             "st.shared.v4.u32 [%r5], {%r2, %r1, %r2, %r1}; bar.sync 0;\n"
             "ld.shared.v2.u32 {%r8, %r9}, [%r5+8];",
             5, 0, false);
}

static void random_addresses_keep_their_results(void **state) {
    (void)state;
    static const char *const accesses[] = {
        "and.b32 %r4, %r2, 4095; add.s32 %r5, %r3, %r4; cvt.u16.u32 %h1, %r2; st.shared.u8 [%r5], %h1;\n",
        "and.b32 %r4, %r2, 4094; add.s32 %r5, %r3, %r4; cvt.u16.u32 %h1, %r1; st.shared.u16 [%r5], %h1;\n",
        "and.b32 %r4, %r2, 4092; add.s32 %r5, %r3, %r4; st.shared.u32 [%r5], %r2;\n",
        "and.b32 %r4, %r2, 4088; add.s32 %r5, %r3, %r4; st.shared.v2.u32 [%r5], {%r2, %r1};\n",
        "and.b32 %r4, %r2, 4080; add.s32 %r5, %r3, %r4; st.shared.v4.u32 [%r5], {%r1, %r2, %r1, %r2};\n",
        "and.b32 %r4, %r2, 4092; add.s32 %r5, %r3, %r4; atom.shared.add.u32 %r6, [%r5], %r2;\n"};
    static const char mix[] = "mul.lo.s32 %r2, %r2, 1664525; add.s32 %r2, %r2, 1013904223;\n";
    for (uint64_t seed = 1; seed <= 12; seed++) {
        Text body = {0};
        unsigned random = (unsigned)seed * 2654435761u;
        text_add(&body, "mov.u32 %r3, a; mov.u32 %r10, 0; mov.u32 %r13, 0;\n"
                        "Z: add.s32 %r11, %r3, %r10; shl.b32 %r12, %r1, 2; add.s32 %r11, %r11, %r12;\n"
                        "st.shared.u32 [%r11], %r13; add.s32 %r10, %r10, 128;\n"
                        "setp.lt.u32 %p2, %r10, 4096; @%p2 bra Z;\n"
                        "shl.b32 %r4, %r1, 7; add.s32 %r5, %r3, %r4;\n"
                        "st.shared.u32 [%r5], %r1;\n");
        for (int i = 0; i < 12; i++) {
            random = random * 1664525u + 1013904223u;
            text_print(&body, "%s%s", mix, accesses[(random >> 16) % (sizeof accesses / sizeof *accesses)]);
        }
        text_add(&body,
                 "mov.u32 %r9, 0; mov.u32 %r10, 0;\n" /* a hash of every 32nd word */
                 "L: add.s32 %r11, %r3, %r10; shl.b32 %r12, %r1, 2; add.s32 %r11, %r11, %r12;\n"
                 "ld.shared.u32 %r13, [%r11]; mad.lo.s32 %r9, %r9, 31, %r13; add.s32 %r10, %r10, 128;\n"
                 "setp.lt.u32 %p2, %r10, 4096; @%p2 bra L;\n");
        try_text(".shared .align 16 .b8 a[4096];", text_string(&body), seed, 0, false);
        text_done(&body);
    }
}

static void what_cannot_be_rewritten_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *body, *why;
    } cases[] = {{"cvta.shared.u64 %rd6, %rd7;", "takes a generic address"},
                 {"cp.async.ca.shared.global [%r5], [%rd4], 4; cp.async.wait_all;", "copies asynchronously"},
                 {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r3];", "accesses whole matrices"},
                 {"mapa.shared::cluster.u32 %r8, %r5, 0;", "accesses shared memory of other blocks"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text ptx = {0};
        text_print(&ptx, HEAD, ".shared .align 16 .b8 a[4096];");
        text_add(&ptx, COLUMN "st.shared.u32 [%r5], %r2; cvt.u64.u32 %rd7, %r5;\n");
        text_print(&ptx, "%s\nld.shared.u32 %%r9, [%%r5];", cases[i].body);
        text_add(&ptx, TAIL);
        RunSpec options = options_of_text(text_string(&ptx), 1, 0);
        options.until_unsupported = true;
        Tried tried = try_kind(&options, ASK_PAD);
        assert_null(tried.after);
        if (!strstr(tried.error.message, cases[i].why)) fail_msg("'%s'", tried.error.message);
        done(&tried);
        text_done(&ptx);
    }
}

/* A tensor copy writes its rows without padding, but can swizzle them: the advice, and what it saves. */
static void a_copied_tile_is_swizzled_by_its_copy(void **state) {
    (void)state;
    Error error = {0};
    RunSpec plain = {.kernel = "tma_row_sum", .threads = 1, .catalog.n = 65536}, swizzled = plain;
    plain.catalog.parameters[plain.catalog.parameter_count++] = "swizzle=0";
    Session *without = session_open(&plain, &error), *with = session_open(&swizzled, &error);
    if (!without || !with) fail_msg("%s", error.message);
    const Findings *findings = ask_verdict(without);
    assert_int_equal(findings->count, 1);
    assert_int_equal(findings->items[0].kind, FINDING_BANK_CONFLICT);
    assert_non_null(strstr(findings->items[0].advice, "have the tensor copy swizzle `shared_tile_bytes`"));
    assert_int_equal(findings->items[0].predicted, wavefronts(with, false));
    assert_int_equal(findings->items[0].cost, wavefronts(without, false));
    AskRemedy remedies[ASK_REMEDIES];
    assert_int_equal(ask_remedies(without, 0, remedies), 0);
    session_free(without);
    session_free(with);
}

static void other_kernels_and_settings_drop_the_remedy(void **state) {
    (void)state;
    Tried tried = try_kind(&(RunSpec){.kernel = "strided", .threads = 1, .catalog.n = 4096}, ASK_PAD);
    RunSpec options = *session_spec(tried.after);
    assert_non_null(options.ptx);
    assert_true(options.what_if.more_shared > 0);
    run_spec_choose_kernel(&options, "sequential");
    assert_null(options.ptx);
    assert_null(options.what_if.label);
    assert_int_equal(options.what_if.more_shared, 0);
    assert_string_equal(session_backend(tried.after), "EMULATED, CHANGED COPY");
    assert_null(session_sass(tried.after, 0, NULL)); /* recorded of another machine code */
    AskRemedy remedies[ASK_REMEDIES];
    assert_int_equal(ask_remedies(tried.after, 0, remedies), 0);
    done(&tried);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(catalogue_kernels_keep_their_results),
        cmocka_unit_test(every_remedy_that_is_offered_helps),
        cmocka_unit_test(every_type_and_block_size_keeps_its_result),
        cmocka_unit_test(strides_cost_what_a_count_by_hand_gives),
        cmocka_unit_test(a_column_of_a_tile_has_no_conflict),
        cmocka_unit_test(small_kernels_keep_their_results),
        cmocka_unit_test(random_addresses_keep_their_results),
        cmocka_unit_test(what_cannot_be_rewritten_is_refused),
        cmocka_unit_test(a_copied_tile_is_swizzled_by_its_copy),
        cmocka_unit_test(other_kernels_and_settings_drop_the_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
