/* Random programs of products and sums that ptxas fuses: every bit of their outputs is the machine's.
 *
 * tests/data/contract/f32.ptx, f64.ptx   an entry a program, with the address of its inputs and of its
 *                                        outputs
 * tests/data/contract/f32.txt, f64.txt   a line a program: their bits, in order */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "emulator/emulator.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 32 };

typedef struct Words { /* of 4 or 8 bytes */
    unsigned char bytes[8 * MOST_WORDS];
    int count;
} Words;

static void put_word(Words *words, uint64_t word, int bytes) {
    assert_true(words->count < MOST_WORDS);
    memcpy(words->bytes + words->count++ * bytes, &word, (size_t)bytes); /* little-endian */
}

/* "k0 in WORDS out WORDS" */
static void read_line(char *line, int bytes, char name[16], Words *in, Words *out) {
    Words *words = NULL;
    *in = *out = (Words){.count = 0};
    char *rest = NULL;
    snprintf(name, 16, "%s", strtok_r(line, " ", &rest));
    for (char *word; (word = strtok_r(NULL, " ", &rest));) {
        if (!strcmp(word, "in"))
            words = in;
        else if (!strcmp(word, "out"))
            words = out;
        else if (words)
            put_word(words, strtoull(word, NULL, 16), bytes);
        else
            fail_msg("%s: neither in nor out precedes it", word);
    }
}

static int differing(PtxModule *module, const char *name, const Words *in, const Words *out, int bytes) {
    Error error = {0};
    Words got = {.count = out->count}, inputs = *in;
    PtxFunction *entry = ptx_module_find_entry(module, name, &error);
    PtxProgram *program = entry ? ptx_program_link(module, entry, &error) : NULL;
    if (!program) fail_msg("%s: %s", name, error.message);
    Emulator *emulator = emulator_new(&(EmulatorOptions){.threads = 1, .trace_first = 1});
    PtxType type = bytes == 4 ? PTX_F32 : PTX_F64;
    int p = emulator_add_buffer(emulator, "p", inputs.bytes, (size_t)bytes * (size_t)in->count, type);
    int q = emulator_add_buffer(emulator, "q", got.bytes, (size_t)bytes * (size_t)out->count, type);
    uint64_t parameters[] = {emulator_buffer_address(emulator, p), emulator_buffer_address(emulator, q)};
    Launch launch = {.program = program,
                     .grid = {1, 1, 1},
                     .block = {1, 1, 1},
                     .parameters = (uint8_t *)parameters,
                     .parameter_bytes = sizeof parameters};
    Trace *trace = trace_new("emulator");
    if (!emulator_run(emulator, &launch, trace, &error)) fail_msg("%s: %s", name, error.message);
    int differ = 0;
    for (int i = 0; i < out->count; i++)
        differ += memcmp(got.bytes + i * bytes, out->bytes + i * bytes, (size_t)bytes) != 0;
    if (differ && !module->keeps_products)
        print_message("%s: %d of %d outputs differ\n", name, differ, out->count);
    trace_free(trace);
    emulator_free(emulator);
    ptx_program_free(program);
    return differ;
}

/* Returns how many outputs differ; sets how many there are. */
static int run_all(const char *type, int bytes, bool keeps_products, int *outputs) {
    char path[64], *text, *lines, *rest = NULL;
    size_t length, line_length;
    Error error = {0};
    snprintf(path, sizeof path, "tests/data/contract/%s.ptx", type);
    assert_true(text_read_file(path, 1 << 20, &text, &length, &error));
    PtxModule *module = ptx_module_parse(text, length, path, &error);
    assert_non_null(module);
    module->keeps_products = keeps_products;
    snprintf(path, sizeof path, "tests/data/contract/%s.txt", type);
    assert_true(text_read_file(path, 1 << 20, &lines, &line_length, &error));
    int differ = 0;
    *outputs = 0;
    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char name[16];
        Words in, out;
        if (*line == '#') continue;
        read_line(line, bytes, name, &in, &out);
        differ += differing(module, name, &in, &out, bytes);
        *outputs += out.count;
    }
    free(text);
    free(lines);
    ptx_module_free(module);
    return differ;
}

static void programs_of_f32(void **state) {
    (void)state;
    int outputs;
    assert_int_equal(run_all("f32", 4, false, &outputs), 0);
    assert_int_equal(outputs, 245);
}

static void programs_of_f64(void **state) {
    (void)state;
    int outputs;
    assert_int_equal(run_all("f64", 8, false, &outputs), 0);
    assert_int_equal(outputs, 117);
}

/* Without fusing, some of them have other bits. */
static void programs_that_are_not_fused(void **state) {
    (void)state;
    int outputs;
    assert_int_equal(run_all("f32", 4, true, &outputs), 30);
    assert_true(run_all("f64", 8, true, &outputs) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_of_f32), cmocka_unit_test(programs_of_f64),
                                       cmocka_unit_test(programs_that_are_not_fused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
