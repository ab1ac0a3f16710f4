/* Index expressions: their banks and sectors against recorded traces of kernels, their errors, the numbers in
 * them, and expressions found for addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "index/index_fit.h"
#include "index/index_text.h"
#include "session/session.h"
#include "trace/tile.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const IndexOf plain = {.bytes = 4, .mask = 0xffffffff, .s = 1, .n = 1024};

static IndexAccess access_of(const char *text, const IndexOf *of) {
    IndexAccess access;
    Error error = {0};
    if (!index_access(text, of, &access, &error)) fail_msg("%s: %s", text, error.message);
    return access;
}

/* ---- against traces ------------------------------------------------------------------------------------ */

/* The first load of this kind of the run's first warp. */
static void trace_event(const char *kernel, const char *parameter, TraceKind kind, TraceEvent *event) {
    Error error = {0};
    RunSpec options = {.kernel = kernel,
                       .threads = 1,
                       .backend = BACKEND_EMULATOR,
                       .catalog = {.parameters = {parameter}, .parameter_count = parameter != NULL}};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", kernel, error.message);
    const TraceBlock *block = session_trace(session)->launches[0]->blocks[0];
    int count = trace_block_event_count(block), found = 0;
    for (int i = 0; i < count && !found; i++) {
        trace_block_read(block, i, event);
        found = event->kind == kind && event->warp == 0;
    }
    session_free(session);
    assert_true(found);
}

/* The expression has the cost of the kernel's access, and the access's addresses. */
static void same_as_trace(const char *text, const char *kernel, const char *parameter, int bytes) {
    TraceEvent event;
    IndexOf of = plain;
    of.bytes = bytes;
    trace_event(kernel, parameter, TRACE_SHARED_LOAD, &event);
    assert_int_equal(event.width, bytes);
    assert_int_equal(event.mask, 0xffffffff);
    SharedCost cost = access_shared_cost(true, bytes, event.mask, event.offset);
    IndexAccess access = access_of(text, &of);
    if (access.shared.wavefronts != cost.wavefronts || access.shared.ideal != cost.ideal)
        fail_msg("%s: %d wavefronts, %s %s has %d", text, access.shared.wavefronts, kernel,
                 parameter ? parameter : "", cost.wavefronts);
    assert_memory_equal(access.offset, event.offset, sizeof access.offset);
}

static void strides_are_those_of_the_kernel(void **state) {
    (void)state;
    for (int stride = 1; stride <= 33; stride++) {
        char text[INDEX_TEXT_BYTES], parameter[32];
        IndexNumber numbers[INDEX_NUMBERS];
        snprintf(text, sizeof text, "%s", index_presets[0].text);
        index_numbers(text, numbers);
        assert_true(index_put_number(text, &numbers[index_presets[0].number], stride));
        snprintf(parameter, sizeof parameter, "stride=%d", stride);
        same_as_trace(text, "lab_bank_stride", parameter, 4);
        same_as_trace(text, "lab_bank_double", parameter, 8);
    }
}

/* The text of a preset with another value of number `number`. */
static void preset(int index, int number, int value, char text[INDEX_TEXT_BYTES]) {
    IndexNumber numbers[INDEX_NUMBERS];
    snprintf(text, INDEX_TEXT_BYTES, "%s", index_presets[index].text);
    assert_true(index_numbers(text, numbers) > number);
    assert_true(index_put_number(text, &numbers[number], value));
}

static void presets_are_those_of_kernels(void **state) {
    (void)state;
    char text[INDEX_TEXT_BYTES];
    preset(3, 1, 0, text);
    assert_string_equal(text, "lane * 32 + 0");
    same_as_trace(text, "lab_bank_padding", "padding=0", 4);
    preset(3, 0, 33, text);
    assert_string_equal(text, "lane * 33 + 5");
    same_as_trace("lane * 33", "lab_bank_padding", "padding=1", 4);
    same_as_trace(index_presets[4].text, "lab_bank_broadcast", "words=1", 4);
    same_as_trace("lane % 4", "lab_bank_broadcast", "words=4", 4);
    same_as_trace(index_presets[5].text, "lab_bank_vector", "stride=1", index_presets[5].bytes);
    for (int stride = 1; stride <= 32; stride++) {
        char parameter[32];
        preset(6, 0, stride, text);
        snprintf(parameter, sizeof parameter, "stride=%d", stride);
        same_as_trace(text, "lab_bank_bytes", parameter, index_presets[6].bytes);
    }
}

/* No kernel of the catalogue swizzles by hand: every column of such a tile is free of conflicts. */
static void a_swizzle_frees_every_column(void **state) {
    (void)state;
    char text[INDEX_TEXT_BYTES];
    for (int column = 0; column < 32; column++) {
        preset(2, 1, column, text);
        IndexAccess access = access_of(text, &plain);
        assert_int_equal(access.shared.wavefronts, 1);
        assert_int_equal(access.ways, 1);
    }
    for (int bank = 0; bank < BANK_COUNT; bank++)
        assert_int_equal(access_of(index_presets[3].text, &plain).words[bank], bank == 5 ? 32 : 0);
    assert_int_equal(access_of(index_presets[1].text, &plain).shared.wavefronts, 1);
}

/* The tiles of tensor copies: rows of 128 bytes, whose 16-byte pieces change places within the span. */
static void a_copys_swizzle_is_the_hardwares(void **state) {
    (void)state;
    for (uint32_t swizzle = 0; swizzle <= 3; swizzle++) {
        char text[INDEX_TEXT_BYTES];
        preset(7, 3, swizzle ? (4 << swizzle) - 4 : 0, text);
        IndexAccess access = access_of(text, &plain);
        for (int lane = 0; lane < WARP_LANES; lane++)
            assert_int_equal(access.offset[lane], trace_tile_swizzled(swizzle, (uint64_t)lane * 128));
        assert_int_equal(access.shared.wavefronts, 32 >> swizzle);
    }
}

static void sectors_are_those_of_the_kernel(void **state) {
    (void)state;
    for (int stride = 1; stride <= 32; stride++) {
        char text[INDEX_TEXT_BYTES], parameter[32];
        TraceEvent event = {0};
        preset(0, 0, stride, text);
        snprintf(parameter, sizeof parameter, "stride=%d", stride);
        trace_event("lab_coalescing", parameter, TRACE_GLOBAL_LOAD, &event);
        IndexAccess access = access_of(text, &plain);
        assert_int_equal(access.global.sectors, access_global_sectors(4, event.mask, event.offset));
        assert_int_equal(access.global.ideal, access_global_sectors_ideal(4, event.mask, event.offset));
        assert_int_equal(access.lines, stride);
    }
}

/* ---- names and errors ---------------------------------------------------------------------------------- */

static void names_have_their_values(void **state) {
    (void)state;
    IndexOf of = plain;
    of.warp = 3, of.s = 7, of.n = 100;
    IndexAccess access = access_of("tid - lane - 32 * warp + (i - tid) + s * n + lane * 0", &of);
    for (int lane = 0; lane < WARP_LANES; lane++) assert_int_equal(access.offset[lane], 4 * 700);
    of.mask = 0x10;
    access = access_of("tid", &of);
    assert_int_equal(access.offset[4], 4 * 100);
    assert_int_equal(access.offset[5], 0); /* not active */
    assert_int_equal(access.global.sectors, 1);
}

static void errors_say_what_and_where(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        int column;
    } cases[] = {
        {"tid *", "something is missing at the end", 6},
        {"tid * q", "'q' is not known: use numbers, tid, lane, warp, i, s and n", 7},
        {"n / (3 - lane)", "division by zero", 3},
        {"tid - 4", "the index of lane 0 is negative: -4", 0},
        {"8 << 62", "the value does not fit 64 bits", 3},
        {"1 >> (lane - 1)", "a shift is by 0 to 63 bits", 3},
        {"lane << 50", "the index of lane 1 is too large: 1125899906842624", 0},
        {"tid * 1.5", "an index is a whole number", 1},
        {"", "something is missing at the end", 1},
        {"(tid", "')' is missing", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        IndexAccess access;
        Error error = {0};
        assert_false(index_access(cases[i].text, &plain, &access, &error));
        assert_string_equal(error.message, cases[i].message);
        if (error.column != cases[i].column) fail_msg("%s: column %d", cases[i].text, error.column);
    }
}

static void more_than_a_block_has_is_known(void **state) {
    (void)state;
    IndexAccess access = access_of("tid * 1024", &plain);
    assert_true(index_access_fits_shared(&plain, &access));
    access = access_of("tid * 2048", &plain);
    assert_false(index_access_fits_shared(&plain, &access));
}

/* ---- numbers, and fits --------------------------------------------------------------------------------- */

static void numbers_are_found_and_replaced(void **state) {
    (void)state;
    IndexNumber numbers[INDEX_NUMBERS];
    char text[INDEX_TEXT_BYTES] = "tid2*12+0x10u/n-7";
    assert_int_equal(index_numbers(text, numbers), 3);
    assert_int_equal(numbers[0].value, 12);
    assert_int_equal(numbers[1].value, 16);
    assert_int_equal(numbers[1].length, 4);
    assert_int_equal(numbers[2].value, 7);
    assert_true(index_put_number(text, &numbers[0], 100));
    assert_string_equal(text, "tid2*100+0x10u/n-7");
    memset(text, '1', sizeof text - 1);
    assert_int_equal(index_numbers("", numbers), 0);
    text[1] = '+';
    index_numbers(text, numbers);
    assert_false(index_put_number(text, &numbers[0], 10));
}

static void fits_give_the_addresses(void **state) {
    (void)state;
    static const char *const texts[] = {"tid * 2",
                                        "tid * 1",
                                        "tid * 1 + 256",
                                        "7",
                                        "tid * 33",
                                        "tid * 2 + tid / 16",
                                        "tid % 8 * 33 + tid / 8 * 2",
                                        "(lane ^ 5)",
                                        "tid * 32 + (lane ^ 5)",
                                        "(tid % 8 ^ tid / 8)",
                                        "31 - lane",
                                        "tid / 32",
                                        "lane / 4 * 32",
                                        "tid % 4",
                                        "lane * 32 + (lane ^ 5) + 3"};
    static const uint32_t masks[] = {0xffffffff, 0x11111111, 0x000000ff, 0x80000001, 0x4, 0x5a5a0ff0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t j = 0; j < sizeof masks / sizeof *masks; j++)
            for (int bytes = 1; bytes <= 16; bytes *= 4) {
                IndexOf of = plain;
                char fitted[INDEX_TEXT_BYTES];
                of.mask = masks[j], of.bytes = bytes;
                IndexAccess wanted = access_of(texts[i], &of);
                if (!index_fit(wanted.offset, &of, fitted)) fail_msg("%s, %x", texts[i], masks[j]);
                IndexAccess found = access_of(fitted, &of);
                assert_memory_equal(found.offset, wanted.offset, sizeof found.offset);
                if (i < 6 && j == 0) assert_string_equal(fitted, texts[i]);
            }
}

static void what_no_form_fits_is_not_fitted(void **state) {
    (void)state;
    uint64_t offset[WARP_LANES];
    char fitted[INDEX_TEXT_BYTES];
    for (int lane = 0; lane < WARP_LANES; lane++) offset[lane] = (uint64_t)(lane * lane * lane) * 4;
    assert_false(index_fit(offset, &plain, fitted));
    offset[0] = 2; /* between two elements */
    assert_false(index_fit(offset, &plain, fitted));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_are_those_of_the_kernel),  cmocka_unit_test(presets_are_those_of_kernels),
        cmocka_unit_test(a_copys_swizzle_is_the_hardwares), cmocka_unit_test(a_swizzle_frees_every_column),
        cmocka_unit_test(sectors_are_those_of_the_kernel),  cmocka_unit_test(names_have_their_values),
        cmocka_unit_test(errors_say_what_and_where),        cmocka_unit_test(more_than_a_block_has_is_known),
        cmocka_unit_test(numbers_are_found_and_replaced),   cmocka_unit_test(fits_give_the_addresses),
        cmocka_unit_test(what_no_form_fits_is_not_fitted),
    };
    return cmocka_run_group_tests_name("index", tests, NULL, NULL);
}
