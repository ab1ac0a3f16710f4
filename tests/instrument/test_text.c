/* The text of instrumented kernels: its probes, and that ptxas accepts it. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "catalog/catalog.h"
#include "instrument/instrument.h"
#include "ptx/approximate.h"
#include "ptx/opcodes.h"
#include "tests/ptx/ptx_test.h"

#include <glob.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Made { /* an asset, instrumented */
    PtxModule *module;
    PtxProgram *programs[512];
    int program_count;
    Text text;
    InstrumentSites sites;
} Made;

static char *read_file(const char *path) {
    char *text;
    size_t length;
    Error error = {0};
    if (!text_read_file(path, 1 << 28, &text, &length, &error)) fail_msg("%s", error.message);
    return text;
}

/* `step`: every step-th entry. `approximate`: with probes at .approx instructions, too. */
static Made make(const char *path, int step, bool approximate) {
    Made made = {0};
    Error error = {0};
    char *text = read_file(path), *probe = read_file("assets/ptx/probe.ptx");
    made.module = ptx_module_parse(text, strlen(text), path, &error);
    assert_non_null(made.module);
    int entry = 0;
    for (int i = 0; i < made.module->function_count; i++) {
        PtxFunction *function = made.module->functions[i];
        if (!function->is_entry || entry++ % step) continue;
        assert_true(made.program_count < 512);
        made.programs[made.program_count] = ptx_program_link(made.module, function, &error);
        assert_non_null(made.programs[made.program_count++]);
    }
    if (!instrument((const PtxProgram *const *)made.programs, made.program_count, probe, approximate,
                    &made.text, &made.sites, &error))
        fail_msg("%s: %s", path, error.message);
    free(text);
    free(probe);
    return made;
}

static void made_done(Made *made) {
    instrument_sites_done(&made->sites);
    for (int i = 0; i < made->program_count; i++) ptx_program_free(made->programs[i]);
    ptx_module_free(made->module);
    text_done(&made->text);
}

static void each_asset(void (*visit)(const char *path, int index)) {
    glob_t files;
    assert_int_equal(glob("assets/ptx/*.ptx", 0, NULL, &files), 0);
    int index = 0;
    for (size_t i = 0; i < files.gl_pathc; i++)
        if (!strstr(files.gl_pathv[i], "probe.ptx")) visit(files.gl_pathv[i], index++);
    globfree(&files);
    assert_true(index > 40);
}

/* ---- probes -------------------------------------------------------------------------------------------- */

/* The site of a call; -1: not a call of a probe. */
static int probed_site(const PtxInstruction *in) {
    if (in->opcode != PTX_call || in->operand_count < 2) return -1;
    if (in->operands[0].kind != PTX_OPERAND_FUNCTION) return -1;
    const char *name = in->operands[0].function->name;
    if (strncmp(name, "redviz_record_", 14) != 0 && strncmp(name, "redviz_branch_", 14) != 0) return -1;
    assert_false(ptx_instruction_has(in, PTX_MOD_UNI));
    assert_int_equal(in->operands[1].items[1].kind, PTX_OPERAND_INTEGER);
    return (int)in->operands[1].items[1].integer;
}

static void count_kinds(const PtxFunction *function, int counts[TRACE_KIND_COUNT]) {
    for (int i = 0; i < function->statement_count; i++) {
        const PtxInstruction *in = function->statements[i].instruction;
        if (function->statements[i].kind != PTX_STATEMENT_INSTRUCTION) continue;
        counts[ptx_is_approximate(in) || ptx_reads_machine(in) ? TRACE_APPROXIMATE : trace_kind_of(in)]++;
    }
}

/* The probe of a wgmma is several calls. */
static void count_probes(const PtxFunction *function, const InstrumentSites *sites,
                         int counts[TRACE_KIND_COUNT]) {
    for (int i = 0, latest = -1; i < function->statement_count; i++) {
        if (function->statements[i].kind != PTX_STATEMENT_INSTRUCTION) continue;
        int site = probed_site(function->statements[i].instruction);
        if (site < 0 || site == latest) continue;
        latest = site;
        assert_true(site < sites->site_count);
        assert_string_equal(sites->module->functions[sites->sites[site].function]->name, function->name);
        counts[sites->sites[site].kind]++;
    }
}

static int entries, probes;

static void check_counts(const char *path, int index) {
    (void)index;
    Made made = make(path, 1, true);
    Error error = {0};
    PtxModule *parsed =
        ptx_module_parse(text_string(&made.text), made.text.length, "instrumented.ptx", &error);
    if (!parsed || !ptx_module_parse_all(parsed, &error))
        fail_msg("%s: %d: %s", path, error.line, error.message);
    for (int p = 0; p < made.program_count; p++) {
        const PtxFunction *before = made.programs[p]->entry, *after = ptx_module_find(parsed, before->name);
        int wanted[TRACE_KIND_COUNT] = {0}, found[TRACE_KIND_COUNT] = {0};
        assert_non_null(after);
        count_kinds(before, wanted);
        count_probes(after, &made.sites, found);
        for (int kind = 1; kind < TRACE_KIND_COUNT; kind++) {
            if (wanted[kind] != found[kind])
                fail_msg("%s: %s: %d %s, but %d probes", path, before->name, wanted[kind],
                         trace_kind_text((TraceKind)kind), found[kind]);
            probes += found[kind];
        }
        entries++;
    }
    assert_int_equal(made.sites.unprobed, 0);
    ptx_module_free(parsed);
    made_done(&made);
}

static void test_each_recorded_instruction_has_its_probe(void **state) {
    (void)state;
    each_asset(check_counts);
    print_message("# summary: %d probes in %d entries\n", probes, entries);
    assert_true(entries > 300 && probes > 20 * entries);
}

static void test_versions_are_kept(void **state) {
    (void)state;
    Made made = make("assets/ptx/strided.ptx", 1, false);
    assert_non_null(strstr(text_string(&made.text), ".version 7.2\n.target sm_75\n.address_size 64\n"));
    assert_null(strstr(text_string(&made.text), "\t.loc\t"));
    assert_null(strstr(text_string(&made.text), "debug_str"));
    made_done(&made);
}

/* Only those of the probe's functions that are called. */
static void test_no_more_than_needed(void **state) {
    (void)state;
    Made made = make("assets/ptx/strided.ptx", 1, false);
    const char *text = text_string(&made.text);
    assert_non_null(strstr(text, ".func redviz_record_0_2("));
    assert_non_null(strstr(text, "redviz_append_in_loop("));
    assert_null(strstr(text, "redviz_record_5_0"));
    made_done(&made);
}

static void test_twice_is_refused(void **state) {
    (void)state;
    Made made = make("assets/ptx/redux.ptx", 1, false);
    Error error = {0};
    char *probe = read_file("assets/ptx/probe.ptx");
    PtxModule *again = ptx_module_parse(text_string(&made.text), made.text.length, "again.ptx", &error);
    PtxProgram *program =
        ptx_program_link(again, ptx_module_find(again, made.programs[0]->entry->name), &error);
    assert_non_null(program);
    Text out = {0};
    InstrumentSites sites;
    assert_false(instrument((const PtxProgram *const *)&program, 1, probe, false, &out, &sites, &error));
    assert_non_null(strstr(error.message, "instrumented before"));
    ptx_program_free(program);
    ptx_module_free(again);
    text_done(&out);
    free(probe);
    made_done(&made);
}

/* ---- ptxas --------------------------------------------------------------------------------------------- */

static const char *const architectures[] = {"75", "80", "86", "89", "90", "100", "120"};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

static int assembled;

/* The entries that have probes; the module's others are unchanged. */
static void assemble(const char *path, const Made *made, const char *architecture) {
    char input[] = "/tmp/redviz_text_XXXXXX";
    Text command = {0};
    bool is_exact = strstr(text_string(&made->text), ".target sm_90a") != NULL; /* and no other: wgmma */
    if (is_exact && strcmp(architecture, "90") != 0) return;
    int file = mkstemp(input);
    assert_true(file >= 0);
    assert_int_equal(write(file, text_string(&made->text), made->text.length), (ssize_t)made->text.length);
    close(file);
    text_print(&command, "%s -O1 -arch=sm_%s%s -o /dev/null %s >&2", find_ptxas(), architecture,
               is_exact ? "a" : "", input);
    for (int i = 0; i < made->program_count; i++)
        text_print(&command, " -e %s", made->programs[i]->entry->name);
    int status = system(text_string(&command));
    if (status != 0) fail_msg("ptxas refuses %s, instrumented, for sm_%s: see %s", path, architecture, input);
    unlink(input);
    text_done(&command);
    assembled++;
}

/* Every tenth entry, for every architecture from its own target on; with REDVIZ_TEST_QUICK only for its
 * target. */
static void check_with_ptxas(const char *path, int index) {
    (void)index;
    Made made = make(path, 10, true);
    const char *own = made.module->target + strlen("sm_");
    bool is_taken = false;
    for (int i = 0; i < ARCHITECTURES && !(is_taken && getenv("REDVIZ_TEST_QUICK")); i++) {
        is_taken = atoi(architectures[i]) >= atoi(own);
        if (is_taken) assemble(path, &made, architectures[i]);
    }
    made_done(&made);
}

static void test_ptxas_takes_it(void **state) {
    (void)state;
    if (!find_ptxas()) {
        print_message("# summary: no ptxas here: whether it takes the text was not tried\n");
        skip_because("ptxas was not found");
    }
    each_asset(check_with_ptxas);
    print_message("# summary: %d times ptxas\n", assembled);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_recorded_instruction_has_its_probe),
        cmocka_unit_test(test_versions_are_kept),
        cmocka_unit_test(test_no_more_than_needed),
        cmocka_unit_test(test_twice_is_refused),
        cmocka_unit_test(test_ptxas_takes_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
