/* Machine code without a GPU: what ptxas says, with stubs of ptxas and nvdisasm, and with the programs
 * themselves where they are installed. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/text.h"
#include "catalog/catalog.h"
#include "sass/assemble.h"
#include "sass/cuda_tools.h"
#include "sass/recorded.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char FIRST_PART[] = "// two comments before\n"
                                 "// the version\n"
                                 ".version 7.0\n"
                                 ".target ";
static const char SECOND_PART[] = "\n.address_size 64\n"
                                  ".visible .entry other()\n{\n\tret;\n}\n\n\n"
                                  ".visible .entry one(.param .u64 out)\n"
                                  "{\n"
                                  "    .reg .b32 %r<3>;\n"
                                  "    .reg .b64 %rd<2>;\n"
                                  "\n"
                                  "    ld.param.u64 %rd1, [out];\n"
                                  "    mov.u32 %r1, %tid.x;\n"
                                  "    st.global.u32 [%rd1], %r1;\n"
                                  "    ret;\n"
                                  "}\n";
enum { STORE_LINE = 19 };

typedef struct Parsed {
    PtxModule *module;
    PtxProgram *program;
} Parsed;

static Parsed parse(const char *target) {
    Text text = {0};
    Error error = {.line = 0};
    Parsed parsed;
    text_print(&text, "%s%s%s", FIRST_PART, target, SECOND_PART);
    parsed.module = ptx_module_parse(text_string(&text), text.length, "one.ptx", &error);
    if (!parsed.module) fail_msg("%s", error.message);
    parsed.program =
        ptx_program_link(parsed.module, ptx_module_find_entry(parsed.module, "one", &error), &error);
    if (!parsed.program) fail_msg("%s", error.message);
    text_done(&text);
    return parsed;
}

static void parsed_done(const Parsed *parsed) {
    ptx_program_free(parsed->program);
    ptx_module_free(parsed->module);
}

static int use_stubs(void **state) {
    (void)state;
    unsetenv("STUB_PTXAS_FAILS");
    unsetenv("STUB_PTXAS_ARGUMENTS");
    setenv("REDVIZ_PTXAS", "tests/gpu/stub/ptxas_stub.sh", 1);
    setenv("REDVIZ_NVDISASM", "tests/gpu/stub/nvdisasm.sh", 1);
    return 0;
}

static int use_programs(void **state) {
    (void)state;
    unsetenv("REDVIZ_PTXAS");
    unsetenv("REDVIZ_NVDISASM");
    return 0;
}

/* ---- what ptxas says ----------------------------------------------------------------------------------- */

static const char MESSAGES[] = "ptxas info    : 0 bytes gmem\n"
                               "ptxas info    : Compiling entry function 'kernel_of_another' for 'sm_90'\n"
                               "ptxas info    : Function properties for kernel_of_another\n"
                               "    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                               "ptxas info    : Used 7 registers, used 0 barriers\n"
                               "ptxas info    : Compiling entry function 'kernel' for 'sm_90'\n"
                               "ptxas info    : Function properties for helper\n"
                               "    1 bytes stack frame, 2 bytes spill stores, 3 bytes spill loads\n"
                               "ptxas info    : Function properties for kernel\n"
                               "    1024 bytes stack frame, 40 bytes spill stores, 52 bytes spill loads\n"
                               "ptxas info    : Used 255 registers, used 1 barriers, 49152 bytes smem\n";

static void the_resources_of_an_entry(void **state) {
    (void)state;
    SassResources resources;
    assert_true(sass_read_resources(MESSAGES, "kernel", &resources));
    assert_true(resources.registers == 255 && resources.shared_bytes == 49152);
    assert_true(resources.stack_bytes == 1024 && resources.spill_store_bytes == 40);
    assert_true(resources.spill_load_bytes == 52);
    assert_true(sass_read_resources(MESSAGES, "kernel_of_another", &resources));
    assert_true(resources.registers == 7 && resources.shared_bytes == 0 && resources.stack_bytes == 8);
    assert_false(sass_read_resources(MESSAGES, "kern", &resources));
    assert_false(sass_read_resources("", "kernel", &resources));
}

static int line_of(const char *text, const char *part) {
    int line = 1;
    const char *end = strstr(text, part);
    assert_non_null(end);
    for (; text < end; text++) line += *text == '\n';
    return line;
}

/* ptxas reads a printed copy; the error names the line of the text that the user has. */
static void an_error_has_the_line_of_the_ptx(void **state) {
    (void)state;
    Parsed parsed = parse("sm_75");
    Text printed = {0}, said = {0};
    Error error = {.line = 0};
    ptx_programs_print((const PtxProgram *const[]){parsed.program}, 1, &printed);
    int line = line_of(text_string(&printed), "st.global");
    assert_true(line != STORE_LINE);
    text_print(&said,
               "ptxas info    : 0 bytes gmem\nptxas /tmp/a/kernel.ptx, line %d; error   : No such store\n"
               "ptxas fatal   : Ptx assembly aborted due to errors\n",
               line);
    assert_false(sass_ptxas_error(text_string(&said), text_string(&printed), parsed.program, &error));
    assert_string_equal(error.message, "ptxas refuses line 19 of the PTX: No such store");
    text_clear(&said);
    text_print(&said, "ptxas k.ptx, line %d; fatal   : Unsupported .version 7.0; current version is '6.5'\n",
               line_of(text_string(&printed), ".version"));
    sass_ptxas_error(text_string(&said), text_string(&printed), parsed.program, &error);
    assert_string_equal(
        error.message, "ptxas refuses line 3 of the PTX: Unsupported .version 7.0; current version is '6.5'");
    sass_ptxas_error(
        "ptxas error   : Entry function 'one' uses too much shared data (0x20000 bytes, 0xc000 max)\n",
        text_string(&printed), parsed.program, &error);
    assert_string_equal(
        error.message,
        "ptxas refuses the PTX: Entry function 'one' uses too much shared data (0x20000 bytes, 0xc000 max)");
    sass_ptxas_error("Killed\nand more\n", text_string(&printed), parsed.program, &error);
    assert_string_equal(error.message, "ptxas failed: Killed");
    text_done(&printed);
    text_done(&said);
    parsed_done(&parsed);
}

/* ---- with stubs ---------------------------------------------------------------------------------------- */

static void a_kernel_is_assembled(void **state) {
    (void)state;
    Parsed parsed = parse("sm_75");
    SassKernel kernel = {.count = 0}, copy;
    Error error = {.line = 0};
    if (!sass_assemble(parsed.program, 60, &kernel, &error)) fail_msg("%s", error.message);
    sass_kernel_copy(&copy, &kernel);
    sass_kernel_done(&kernel);
    assert_string_equal(copy.entry, "one");
    assert_string_equal(copy.assembler, "ptxas 1.2.3");
    assert_string_equal(copy.architecture, "sm_90");
    assert_true(copy.count == 2 && !copy.counted.n && !copy.sampled.n && !copy.machine && !copy.measured);
    assert_true(copy.has_resources && copy.resources.registers == 21 &&
                copy.resources.spill_load_bytes == 12);
    sass_kernel_done(&copy);
    parsed_done(&parsed);
}

/* The machines of the recordings have sm_90; what is made for another one is assembled for that. */
static void for_which_architecture(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"sm_75", "sm_90"},
                                           {"sm_90", "sm_90"},
                                           {"sm_90a", "sm_90a"},
                                           {"sm_100", "sm_100"},
                                           {"sm_100f", "sm_100f"}};
    char path[] = "/tmp/redviz-arguments-XXXXXX", wanted[64], *text;
    size_t length;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    setenv("STUB_PTXAS_ARGUMENTS", path, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Parsed parsed = parse(cases[i][0]);
        SassKernel kernel = {.count = 0};
        Error error = {.line = 0};
        if (!sass_assemble(parsed.program, 60, &kernel, &error)) fail_msg("%s", error.message);
        assert_string_equal(kernel.architecture, cases[i][1]);
        assert_true(text_read_file(path, 1 << 16, &text, &length, &error));
        snprintf(wanted, sizeof wanted, "-arch=%s -lineinfo -v -o ", cases[i][1]);
        if (strncmp(text, wanted, strlen(wanted)) != 0) fail_msg("%s", text);
        free(text);
        sass_kernel_done(&kernel);
        parsed_done(&parsed);
    }
    unlink(path);
}

static void expect_error(const char *wanted) {
    Parsed parsed = parse("sm_75");
    SassKernel kernel = {.count = 0};
    Error error = {.line = 0};
    assert_false(sass_assemble(parsed.program, 60, &kernel, &error));
    assert_string_equal(error.message, wanted);
    assert_true(kernel.count == 0 && !kernel.instructions);
    parsed_done(&parsed);
}

static void what_fails_is_one_line(void **state) {
    (void)state;
    setenv("STUB_PTXAS_FAILS", "ptxas k.ptx, line 9999; error   : behind the end", 1);
    expect_error("ptxas refuses the PTX: behind the end");
    unsetenv("STUB_PTXAS_FAILS");
    setenv("STUB_NVDISASM_FAILS", "nvdisasm fatal   : Invalid cubin", 1);
    expect_error("nvdisasm failed: nvdisasm fatal   : Invalid cubin");
    unsetenv("STUB_NVDISASM_FAILS");
    setenv("REDVIZ_NVDISASM", "/nowhere", 1);
    expect_error("REDVIZ_NVDISASM=/nowhere is not an executable program");
    setenv("REDVIZ_PTXAS", "/nowhere", 1);
    expect_error("REDVIZ_PTXAS=/nowhere is not an executable program");
}

/* ---- with the programs themselves ---------------------------------------------------------------------- */

static void without_ptxas_one_line_says_so(void **state) {
    (void)state;
    char path[4096], *old = memory_copy_text(getenv("PATH"));
    Error error = {.line = 0};
    setenv("PATH", "/nowhere", 1);
    bool is_here = cuda_tool_find(TOOL_PTXAS, path, sizeof path, &error);
    setenv("PATH", old, 1);
    free(old);
    if (is_here) skip_because("ptxas is in /usr/local/cuda"); /* in /usr/local/cuda */
    assert_string_equal(error.message, "ptxas was not found: pip install nvidia-cuda-nvcc, install the CUDA "
                                       "toolkit, or set REDVIZ_PTXAS to its path");
}

/* In the toolkit's folder of $CUDA_HOME, before all others. */
static void in_a_toolkit(void **state) {
    (void)state;
    char folder[] = "/tmp/redviz-toolkit-XXXXXX", path[4096], wanted[64], command[256];
    Error error = {.line = 0};
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "mkdir %s/bin && cp tests/gpu/stub/ptxas_stub.sh %s/bin/ptxas", folder,
             folder);
    assert_int_equal(system(command), 0);
    setenv("CUDA_HOME", folder, 1);
    bool good = cuda_tool_find(TOOL_PTXAS, path, sizeof path, &error);
    unsetenv("CUDA_HOME");
    snprintf(wanted, sizeof wanted, "%s/bin/ptxas", folder);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    assert_true(good);
    assert_string_equal(path, wanted);
}

/* Parses the catalogue's PTX as a file's, and compares with what the driver made of it on the machine. */
static void compare_with_recording(const char *name, const char *machine) {
    Error error = {.line = 0};
    SassKernel kernel = {.count = 0}, recorded = {.count = 0};
    SassKey key = {.machine = machine, .kernel = name, .dtype = "int", .op = "sum"};
    if (!sass_recorded_find(&key, &recorded, &error)) fail_msg("%s", error.message);
    PtxModule *module = catalog_module(catalog_find(name, &error), &error);
    assert_non_null(module);
    PtxProgram *program =
        ptx_program_link(module, ptx_module_find_entry(module, recorded.entry, &error), &error);
    if (!program || !sass_assemble(program, 60, &kernel, &error)) fail_msg("%s: %s", name, error.message);
    if (strcmp(kernel.assembler, "ptxas 13.0.88") != 0) {
        print_message("# summary: %s: the recordings are of 13.0\n", kernel.assembler);
    } else {
        assert_int_equal(kernel.count, recorded.count);
        for (int i = 0; i < kernel.count; i++) {
            const SassInstruction *a = &kernel.instructions[i], *b = &recorded.instructions[i];
            assert_string_equal(a->text, b->text);
            assert_int_equal(a->ptx_line, b->ptx_line);
            assert_true(a->place < 0 ? b->place < 0
                                     : b->place >= 0 &&
                                           kernel.places[a->place].line == recorded.places[b->place].line);
        }
    }
    assert_true(kernel.has_ptx_lines && kernel.has_resources && kernel.resources.registers > 0);
    sass_kernel_done(&kernel);
    sass_kernel_done(&recorded);
    ptx_program_free(program);
    ptx_module_free(module);
}

/* The driver of the recordings, of CUDA 13.0, makes the same of the PTX as ptxas 13.0. */
static void ptxas_makes_what_the_driver_makes(void **state) {
    (void)state;
    static const char *const kernels[] = {"sequential", "shuffle", "vectorized"};
    char path[4096];
    Error error = {.line = 0};
    if (!cuda_tool_find(TOOL_PTXAS, path, sizeof path, &error) ||
        !cuda_tool_find(TOOL_NVDISASM, path, sizeof path, &error)) {
        print_message("# summary: %s: nothing was assembled\n", error.message);
        skip_because("ptxas or nvdisasm was not found");
    }
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        compare_with_recording(kernels[i], "h100");
        compare_with_recording(kernels[i], "h200");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_resources_of_an_entry),
        cmocka_unit_test(an_error_has_the_line_of_the_ptx),
        cmocka_unit_test_setup(a_kernel_is_assembled, use_stubs),
        cmocka_unit_test_setup(for_which_architecture, use_stubs),
        cmocka_unit_test_setup(what_fails_is_one_line, use_stubs),
        cmocka_unit_test_setup(without_ptxas_one_line_says_so, use_programs),
        cmocka_unit_test_setup(in_a_toolkit, use_programs),
        cmocka_unit_test_setup(ptxas_makes_what_the_driver_makes, use_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
