/* Recorded machine code: written and read again, and recordings that are refused.
 * tests/data/sass/synthetic.tsv is fictitious. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "catalog/catalog.h"
#include "ptx/program.h"
#include "sass/recorded.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char SYNTHETIC[] = "tests/data/sass/synthetic.tsv";

static bool write_again(void *context, SassKernel *kernel) {
    sass_record_kernel(context, kernel);
    sass_kernel_done(kernel);
    return true;
}

static void reading_and_writing_gives_the_same_text(void **state) {
    (void)state;
    char *text;
    size_t length;
    Text again = {0};
    Error error = {.line = 0};
    assert_true(text_read_file(SYNTHETIC, 1 << 20, &text, &length, NULL));
    sass_record_begin(&again);
    if (!sass_read_text(text, SYNTHETIC, write_again, &again, &error))
        fail_msg("%d: %s", error.line, error.message);
    assert_string_equal(strstr(text, "stalls\t"), text_string(&again));
    text_done(&again);
    free(text);
}

static bool keep(void *context, SassKernel *kernel) {
    sass_kernel_done(context);
    *(SassKernel *)context = *kernel;
    return true;
}

static const char SMALL[] = "# made up\n"
                            "stalls\twait\tselected\tof a later CUPTI\n"
                            "sass\tsmall\tint\tsum\t1\tentry\tNVIDIA H200\t580\t2026-11-22T15:00:00Z\n"
                            "counted\t1024\t4\t256\t0.5\n"
                            "sampled\t2048\t8\t256\t32\t-\n"
                            "place\tsmall.cu\t7\t-\n"
                            "place\tsmall.h\t3\t0\n"
                            "i\t0\t0\t12\t-\t32\t\t\t\tS2R R0, SR_TID.X\n"
                            "i\ta0\t1\t-\t.L_x_1\t32\t1000\t8\t0:5,1:2,2:1\t@P0 FADD R1, R2, R3\n"
                            "i\tb0\t-\t-\t-\t0\t\t\t\tEXIT\n";

static void what_a_line_means(void **state) {
    (void)state;
    SassKernel kernel = {.count = 0};
    assert_true(sass_read_text(SMALL, "small", keep, &kernel, NULL));
    assert_string_equal(kernel.kernel, "small");
    assert_int_equal(kernel.launch, 1);
    assert_true(kernel.counted.n == 1024 && kernel.counted.grid == 4 && kernel.counted.overhead == 0.5);
    assert_true(kernel.sampled.n == 2048 && kernel.sampled.period == 32 && isnan(kernel.sampled.overhead));
    assert_int_equal(kernel.count, 3);
    const SassInstruction *in = &kernel.instructions[1];
    assert_true(in->offset == 0xa0 && in->executed == 32 && in->threads == 1000 && in->acting == 8);
    assert_true(kernel.instructions[0].threads == 1024 && kernel.instructions[0].acting == 1024);
    assert_int_equal(in->samples[SASS_STALL_wait], 5);
    assert_int_equal(in->samples[SASS_STALL_selected], 2);
    assert_int_equal(in->samples[SASS_STALL_other], 1);
    assert_int_equal(sass_own_place(&kernel, in->place), 0);
    assert_int_equal(kernel.instructions[2].place, -1);
    SassSums sums = sass_sums(&kernel);
    assert_true(sums.executed == 64 && sums.threads == 2024 && sums.all_samples == 8);
    assert_int_equal(sass_top_stall(sums.samples), SASS_STALL_wait);

    SassKernel copy;
    Text first = {0}, second = {0};
    sass_kernel_copy(&copy, &kernel);
    sass_record_kernel(&first, &kernel);
    sass_kernel_done(&kernel);
    sass_record_kernel(&second, &copy);
    assert_string_equal(text_string(&first), text_string(&second));
    sass_kernel_done(&copy);
    text_done(&first);
    text_done(&second);
}

/* One place of SMALL is replaced; the message names the line. */
static void what_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        int line;
        const char *message;
    } rows[] = {
        {"sass\tsmall", "# small", 4, "no kernel above"},
        {"\tentry", "\t-", 3, "without the name of its entry"},
        {"\tint\tsum", "\tint", 3, "'sass' has 9 columns, not 8"},
        {"counted\t1024", "counted\t0", 4, "column 2 is '0', not a whole number from 1"},
        {"counted\t1024", "counted\tmany", 4, "column 2 is 'many', not a whole number from 1"},
        {"\t256\t0.5", "\t256\tnan", 4, "column 5 is 'nan', not a number"},
        {"\t256\t0.5", "\t4294967296\t0.5", 4, "column 4 is '4294967296', not a whole number"},
        {"place\tsmall.h\t3\t0", "place\tsmall.h\t3\t1", 7,
         "column 4 is '1', neither - nor a whole number below 1"},
        {"\ta0\t1", "\ta0\t2", 9, "column 3 is '2', neither - nor a whole number below 2"},
        {"\ta0\t", "\t0\t", 9, "not an offset above the one before: 0"},
        {"\ta0\t", "\tzz\t", 9, "not an offset"},
        {"\t1000\t8", "\t1025\t8", 9, "1025"},
        {"\t1000\t8", "\t1000\t1001", 9, "1001"},
        {"0:5,1:2", "0:5,3:2", 9, "not a list of samples"},
        {"0:5,1:2", "0=5,1:2", 9, "not a list of samples"},
        {"0:5,1:2", "0:5,0:4294967295", 9, "not a list of samples"},
        {"i\tb0", "j\tb0", 10, "not a line of recorded machine code: j"},
        {"i\tb0", "place\tx.cu\t1\t-\ncounted\t1\t1\t1\t-\ni\tb0", 11, "belongs before the instructions"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = strstr(SMALL, rows[i].from);
        Text text = {0};
        SassKernel kernel = {.count = 0};
        Error error = {.line = 0};
        text_add_bytes(&text, SMALL, (size_t)(at - SMALL));
        text_print(&text, "%s%s", rows[i].to, at + strlen(rows[i].from));
        assert_false(sass_read_text(text_string(&text), "small", keep, &kernel, &error));
        if (error.line != rows[i].line || !strstr(error.message, rows[i].message))
            fail_msg("row %d: %s:%d: %s", (int)i, error.file, error.line, error.message);
        sass_kernel_done(&kernel);
        text_done(&text);
    }
}

static void what_is_not_recorded(void **state) {
    (void)state;
    SassKernel kernel = {.count = 0};
    Error error = {.line = 0};
    assert_false(
        sass_recorded_find(&(SassKey){.machine = "abacus", .kernel = "interleaved"}, &kernel, &error));
    assert_string_equal(error.message, "no machine code of interleaved is recorded on abacus");
    assert_false(
        sass_recorded_find(&(SassKey){.machine = "../h200", .kernel = "interleaved"}, &kernel, &error));
}

/* ---- beside the PTX ------------------------------------------------------------------------------------ */

static PtxModule *module_of(const char *kernel, char **text, Error *error) {
    const CatalogRow *row = catalog_find(kernel, error);
    char path[256];
    size_t length;
    if (!row) return NULL;
    snprintf(path, sizeof path, "assets/ptx/%.*s.ptx", (int)strcspn(row->source, "."), row->source);
    return text_read_file(path, 16 << 20, text, &length, error) ? ptx_module_parse(*text, length, path, error)
                                                                : NULL;
}

/* Whether the recorded PTX lines have instructions of the entry. Most do: a few are the first line of its
 * body. */
static bool fits(void *context, SassKernel *kernel) {
    Error error = {.line = 0};
    char *text = NULL;
    int missing = 0;
    PtxModule *module = module_of(kernel->kernel, &text, &error);
    PtxFunction *entry = module ? ptx_module_find_entry(module, kernel->entry, &error) : NULL;
    PtxProgram *program = entry ? ptx_program_link(module, entry, &error) : NULL;
    if (!program) {
        fail_msg("%s %s: %s", kernel->kernel, kernel->entry, error.message);
        return false;
    }
    for (int i = 0; i < kernel->count; i++) {
        bool is_there = !kernel->instructions[i].ptx_line;
        for (int pc = 0; !is_there && pc < program->code_count; pc++)
            is_there = program->code[pc].instruction->line == kernel->instructions[i].ptx_line;
        missing += !is_there;
    }
    if (missing)
        fail_msg("%s %s: %d instructions are of PTX lines that are not there: record it again",
                 kernel->kernel, kernel->entry, missing);
    ++*(int *)context;
    ptx_program_free(program);
    ptx_module_free(module);
    free(text);
    sass_kernel_done(kernel);
    return true;
}

static void recordings_are_of_the_ptx_that_ships(void **state) {
    (void)state;
    Error error = {.line = 0};
    glob_t files = {.gl_pathc = 0};
    int kernels = 0;
    assert_true(sass_read_file(SYNTHETIC, fits, &kernels, &error));
    assert_int_equal(kernels, 2);
    if (!glob("assets/h[12]00/sass/*.tsv", 0, NULL, &files))
        for (size_t i = 0; i < files.gl_pathc; i++)
            if (!sass_read_file(files.gl_pathv[i], fits, &kernels, &error))
                fail_msg("%s:%d: %s", error.file, error.line, error.message);
    globfree(&files);
    print_message("# summary: %d recordings of machine code\n", kernels - 2);
}

/* ---- beside Nsight Compute ----------------------------------------------------------------------------- */

typedef struct LaneSums {
    uint64_t executed, threads, acting;
    /* Lanes at branches with a guard and another predicate; those that take the branch. */
    uint64_t guarded, jumping;
} LaneSums;

/* A label is reached from the instruction above, or by a branch. */
static uint64_t jumping_to(const SassKernel *kernel, const char *label) {
    for (int i = 1; i < kernel->count; i++)
        if (kernel->instructions[i].label && !strcmp(kernel->instructions[i].label, label))
            return kernel->instructions[i].threads - kernel->instructions[i - 1].threads;
    fail_msg("no instruction is called %s", label);
    return 0;
}

static bool sum_lanes(void *context, SassKernel *kernel) {
    LaneSums *sums = context;
    bool is_wanted = !strcmp(kernel->dtype, "int") && !strcmp(kernel->op, "sum") && kernel->launch == 0;
    for (int i = 0; is_wanted && i < kernel->count; i++) {
        const SassInstruction *in = &kernel->instructions[i];
        const char *branch = *in->text == '@' ? strstr(in->text, " BRA P") : NULL;
        sums->executed += in->executed;
        sums->threads += in->threads;
        sums->acting += in->acting;
        if (!branch) continue;
        sums->guarded += in->acting;
        sums->jumping += jumping_to(kernel, strstr(branch, ", ") + 2);
    }
    sass_kernel_done(kernel);
    return !is_wanted;
}

/* At a branch with two predicates, Nsight Compute counts lanes whose predicate is true as those that take it,
 * the listing as those of the guard; everything else is equal. */
static void lanes_are_those_of_nsight_compute(void **state) {
    (void)state;
    char *text, *rest = NULL, kernel[64];
    size_t length;
    int compared = 0, with_two = 0;
    unsigned long long executed, threads, acting;
    assert_true(text_read_file("tests/data/ladder_sass.csv", 1 << 20, &text, &length, NULL));
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char path[128];
        LaneSums sums = {0};
        if (sscanf(line, "%63[a-z_],2^20,%*u,%llu,%llu,%llu", kernel, &executed, &threads, &acting) != 4)
            continue;
        snprintf(path, sizeof path, "assets/h200/sass/%s.tsv", kernel);
        assert_true(sass_read_file(path, sum_lanes, &sums, NULL));
        assert_int_equal(sums.executed, executed);
        assert_int_equal(sums.threads, threads);
        assert_int_equal(sums.acting - sums.guarded + sums.jumping, acting);
        compared++;
        with_two += sums.guarded > 0;
    }
    free(text);
    assert_int_equal(compared, 8);
    assert_int_equal(with_two, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_and_writing_gives_the_same_text),
        cmocka_unit_test(what_a_line_means),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(what_is_not_recorded),
        cmocka_unit_test(recordings_are_of_the_ptx_that_ships),
        cmocka_unit_test(lanes_are_those_of_nsight_compute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
