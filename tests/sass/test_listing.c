/* The parser of nvdisasm's text, and the search for nvdisasm. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/text.h"
#include "sass/cuda_tools.h"
#include "sass/nvdisasm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char INTERLEAVED[] = "_Z11interleavedIi3SumEvPKT_PS1_j";

static char *listing_of(const char *name) {
    char path[256], *text;
    size_t length;
    Error error = {.line = 0};
    snprintf(path, sizeof path, "tests/data/sass/%s.txt", name);
    if (!text_read_file(path, 1 << 20, &text, &length, &error)) fail_msg("%s", error.message);
    return text;
}

static const SassInstruction *instruction(const SassKernel *kernel, uint32_t offset) {
    int index = sass_at(kernel, offset);
    if (index < 0) fail_msg("no instruction at %x", (unsigned)offset);
    return &kernel->instructions[index];
}

static void a_listing(void **state) {
    (void)state;
    char *text = listing_of("interleaved");
    SassKernel kernel = {.count = 0};
    Error error = {.line = 0};
    assert_true(sass_parse(text, INTERLEAVED, &kernel, &error));
    kernel.kernel = "interleaved"; /* headers of the catalogue are not the reader's */
    assert_string_equal(kernel.entry, INTERLEAVED);
    const SassInstruction *first = instruction(&kernel, 0);
    assert_string_equal(first->text, "LDC R1, c[0x0][0x28]");
    assert_string_equal(kernel.places[first->place].file, "kernels/interleaved.cu");
    assert_int_equal(kernel.places[first->place].line, 13);
    assert_true(first->ptx_line > 0);
    const SassInstruction *last = &kernel.instructions[kernel.count - 1];
    assert_string_equal(last->text, "EXIT"); /* not the padding */
    int labels = 0, chains = 0;
    for (int i = 0; i < kernel.count; i++) {
        const SassInstruction *in = &kernel.instructions[i];
        assert_int_equal(in->offset, 16 * i);
        assert_null(strpbrk(in->text, ";`("));
        labels += in->label != NULL;
        if (in->place < 0 || kernel.places[in->place].inlined_at < 0) continue;
        chains++;
        assert_string_equal(kernel.places[in->place].file, "kernels/operations.cuh");
        assert_int_equal(kernel.places[sass_own_place(&kernel, in->place)].line, 23);
    }
    assert_int_equal(labels, 2);
    assert_int_equal(chains, 1);
    sass_kernel_done(&kernel);
    free(text);
}

static void a_subroutine_is_part_of_the_kernel(void **state) {
    (void)state;
    char *text = listing_of("mean");
    SassKernel kernel = {.count = 0};
    assert_true(sass_parse(text, "_Z16mean_of_partialsIfEvPKT_PS0_jj", &kernel, NULL));
    const SassInstruction *first = instruction(&kernel, 0x3d0), *call = instruction(&kernel, 0x390);
    assert_string_equal(first->label, "$__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath");
    assert_string_equal(kernel.places[first->place].file, "__cuda_sm3x_div_rn_noftz_f32_slowpath");
    assert_int_equal(kernel.places[first->place].line, 0);
    assert_int_equal(kernel.places[first->place].inlined_at, call->place);
    assert_int_equal(first->ptx_line, call->ptx_line);
    assert_int_equal(kernel.places[call->place].line, 49);
    sass_kernel_done(&kernel);
    free(text);
}

static void what_is_no_listing(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "nvdisasm fatal   : no such file\n",
        "\t.section\t.text.other,\"ax\"\n        /*0000*/                   EXIT ;\n",
        "\t.section\t.text.kernel_2,\"ax\"\n        /*0000*/                   EXIT ;\n",
        "\t.section\t.text.kernel,\"ax\"\n        /*0010*/  NOP ;\n",
        "\t.section\t.text.kernel,\"ax\"\n        /*0010*/  FADD ;\n        /*0010*/  EXIT ;\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        SassKernel kernel = {.count = 0};
        Error error = {.line = 0};
        assert_false(sass_parse(texts[i], "kernel", &kernel, &error));
        assert_non_null(strstr(error.message, "nvdisasm's listing"));
        assert_true(kernel.count == 0 && !kernel.instructions);
    }
}

/* ---- the program --------------------------------------------------------------------------------------- */

static void write_program(char *path, size_t bytes, const char *script) {
    snprintf(path, bytes, "/tmp/redviz_nvdisasm_XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_true(write(file, script, strlen(script)) == (ssize_t)strlen(script));
    assert_int_equal(fchmod(file, 0755), 0);
    close(file);
}

static void a_cubin_is_given_to_nvdisasm(void **state) {
    (void)state;
    char path[64];
    SassKernel kernel = {.count = 0};
    Error error = {.line = 0};
    write_program(path, sizeof path,
                  "#!/bin/sh\nfor last; do :; done\n[ \"$(cat \"$last\")\" = CUBIN ] || exit 3\n"
                  "exec cat tests/data/sass/interleaved.txt\n");
    setenv("REDVIZ_NVDISASM", path, 1);
    if (!sass_disassemble("CUBIN", 5, INTERLEAVED, &kernel, &error)) fail_msg("%s", error.message);
    assert_true(kernel.count > 50);
    sass_kernel_done(&kernel);
    assert_false(sass_disassemble("other", 5, INTERLEAVED, &kernel, &error));
    assert_non_null(strstr(error.message, "nvdisasm failed"));
    unlink(path);
    assert_false(sass_disassemble("CUBIN", 5, INTERLEAVED, &kernel, &error));
    assert_non_null(strstr(error.message, "REDVIZ_NVDISASM=/tmp/redviz_nvdisasm_"));
    unsetenv("REDVIZ_NVDISASM");
}

static void without_nvdisasm_one_line_says_so(void **state) {
    (void)state;
    char path[4096], *old = memory_copy_text(getenv("PATH"));
    Error error = {.line = 0};
    unsetenv("REDVIZ_NVDISASM");
    unsetenv("CUDA_HOME");
    unsetenv("CUDA_PATH");
    setenv("PATH", "/nowhere", 1);
    bool is_here = cuda_tool_find(TOOL_NVDISASM, path, sizeof path, &error);
    setenv("PATH", old, 1);
    free(old);
    if (is_here) skip_because("nvdisasm is in /usr/local/cuda"); /* in /usr/local/cuda */
    assert_string_equal(
        error.message,
        "nvdisasm was not found: pip install nvidia-cuda-nvdisasm, install the CUDA toolkit, or set "
        "REDVIZ_NVDISASM to its path");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_listing),
        cmocka_unit_test(a_subroutine_is_part_of_the_kernel),
        cmocka_unit_test(what_is_no_listing),
        cmocka_unit_test(a_cubin_is_given_to_nvdisasm),
        cmocka_unit_test(without_nvdisasm_one_line_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
