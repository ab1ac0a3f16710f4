/* The checker: it accepts what ptxas accepts, and refuses what ptxas refuses; by tables of ptxas 13.0's
 * answers. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "ptx/ptx_check.h"
#include "ptx/forms.h"
#include "tests/ptx/ptx_test.h"
#include <glob.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>

static const char declarations[] =
    ".address_size 64\n"
    ".global .align 128 .b8 table[4096];\n"
    ".const .b16 constant;\n"
    ".global .texref texture;\n"
    ".global .surfref surface;\n"
    ".func (.param .b32 result) callee(.param .b32 x) { ret; }\n"
    ".entry k(.param .align 64 .b8 map[128]) {\n"
    ".reg .pred %p<10>; .reg .b8 %b<4>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .b128 "
    "%q<4>;\n"
    ".reg .u8 %ub<2>; .reg .u16 %uh<2>; .reg .u32 %u<2>; .reg .s64 %sd<2>; .reg .f16 %fh<2>; .reg .f16x2 "
    "%fx<2>;\n"
    ".reg .f32 %f<20>; .reg .f64 %fd<10>; .reg .v2 .f32 %vf<4>;\n"
    ".shared .align 128 .b8 tile[4096]; .shared .b64 bar; .local .align 8 .b8 stack[64];\n";

/* What versions of PTX before 7.0 have of them. */
static const char old_declarations[] =
    ".address_size 64\n.entry k() {\n"
    ".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<20>;\n";

static void print_module(const char *version, const char *target, const char *text, Text *whole) {
    text_print(whole, ".version %s\n.target %s\n%s%s\nret;\n}\n", version, target,
               *version < '7' ? old_declarations : declarations, text);
}

/* Whether `text` is accepted in a module of this version. If not, the message is in *error. */
static bool is_taken(const char *version, const char *target, const char *text, Error *error) {
    Text whole = {0};
    print_module(version, target, text, &whole);
    PtxModule *module = parse_module(text_string(&whole));
    module->is_target_checked = true;
    PtxProgram *program = link_entry(module, "k");
    bool good = ptx_program_check(program, error);
    ptx_program_free(program);
    ptx_module_free(module);
    text_done(&whole);
    return good;
}

static void every_instruction_of_the_isa_is_taken(void **state) {
    (void)state;
    static const struct {
        int target;
        const char *text;
    } lines[] = {
#define EXECUTED(opcode, target, text) {target, text},
#define PARSED(opcode, target, text)   {target, text},
#include "tests/ptx/isa.def"
#undef EXECUTED
#undef PARSED
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Error error = {0};
        char target[16];
        snprintf(target, sizeof target, "sm_%d%s", lines[i].target, lines[i].target >= 90 ? "a" : "");
        if (!is_taken("9.0", target, lines[i].text, &error)) fail_msg("%s\n%s", lines[i].text, error.message);
    }
}

static void every_opcode_has_a_form(void **state) {
    (void)state;
    PtxModule *module = parse_module(".version 9.0\n.target sm_90\n");
    PtxForms *forms = ptx_forms_new(module);
    static const char *const names[] = {
#define OPCODE(name, ...) #name,
#include "ptx/opcodes.def"
#undef OPCODE
    };
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        int count;
        ptx_forms_of(forms, (PtxOpcode)(i + 1), &count); /* opcode 0 is PTX_OTHER */
        if (!count && !ptx_forms_is_parsed(names[i])) fail_msg("%s has no row in forms.def", names[i]);
    }
    ptx_forms_free(forms);
    ptx_module_free(module);
}

/* Which registers fit which type: rows as `matrix` of ptxas gives them. */
static void registers_of_types(void **state) {
    (void)state;
    static const struct {
        const char *format, *taken, *refused;
    } rows[] = {
        {"mov.b16 %s, %s;", "%h1 %uh1 %fh1", "%b1 %r1 %rd1 %p1"},
        {"mov.u32 %s, %s;", "%r1 %u1 %fx1", "%f1 %h1 %rd1 %p1"},
        {"mov.b32 %s, %s;", "%r1 %u1 %f1 %fx1", "%h1 %rd1 %fd1 %p1"},
        {"mov.f32 %s, %s;", "%r1 %f1", "%u1 %fx1 %fd1 %rd1"},
        {"mov.s64 %s, %s;", "%rd1 %sd1", "%fd1 %r1 %q1"},
        {"mov.pred %s, %s;", "%p1", "%r1 %h1"},
        {"add.f16 %s, %s, %%h2;", "%h1 %fh1", "%uh1 %r1"},
        {"add.f16x2 %s, %s, %%r2;", "%r1 %fx1", "%u1 %f1 %rd1"},
        {"add.f32x2 %s, %s, %%rd2;", "%rd1", "%fd1 %sd1 %r1"},
        {"ld.global.u16 %s, [%%rd1]; cvt.u32.u16 %%r1, %s;", "%h1 %uh1 %r1 %u1 %fx1 %rd1 %q1",
         "%b1 %f1 %fh1 %p1"},
        {"ld.global.b16 %s, [%%rd1]; st.b16 [%%rd1], %s;", "%h1 %fh1 %r1 %f1 %fd1 %q1", "%b1 %ub1 %p1"},
        {"ld.global.f32 %s, [%%rd1]; cvt.rzi.s32.f32 %%r1, %s;", "%r1 %f1 %rd1", "%u1 %fd1 %sd1 %h1"},
        {"setp.eq.s32 %%p1, %s, %s;", "%r1 %u1 5 -1", "%f1 %rd1 %p1 1.0"},
        {"setp.eq.f64 %%p1, %s, %s;", "%fd1 %rd1 1.0 0d3FF0000000000000", "%f1 %sd1 %r1 1"},
        {"selp.b64 %%rd1, %s, %s, %%p1;", "%rd1 %sd1 %fd1 7 1.0", "%r1 0f3F800000 %p1"},
        {"and.b32 %%r1, %s, %s;", "%r1 %u1 %f1 0f3F800000 0xFF", "%rd1 1.0 0d3FF0000000000000 %p1"},
        {"shl.b64 %%rd1, %%rd2, %s; shr.u64 %%rd1, %%rd2, %s;", "%r1 %u1 5", "%rd1 %f1 %h1"},
        {"popc.b64 %s, %%rd1; clz.b64 %s, %%rd1;", "%r1 %u1", "%rd1 %f1"},
        {"@%%p1 st.shared.u32 [%s], 1; ld.local.u32 %%r1, [%s];", "%r1 %rd1 %u1 %sd1", "%f1 %fd1 %p1 %vf1"},
        {"add.f32 %%f1, %s, %s;", "%vf1.x %vf1.y %f1 1.0", "%vf1 %r1.x"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int taken = 0; taken < 2; taken++) {
            char list[160], text[200];
            snprintf(list, sizeof list, "%s", taken ? rows[i].taken : rows[i].refused);
            for (char *name = strtok(list, " "); name; name = strtok(NULL, " ")) {
                Error error = {0};
                snprintf(text, sizeof text, rows[i].format, name, name);
                if (is_taken("9.0", "sm_100a", text, &error) != taken)
                    fail_msg("%s: %s", text, taken ? error.message : "this is taken");
                if (!taken) assert_int_equal(error.line, 14);
            }
        }
}

/* Rules that end with a version of PTX, and unknown future versions. */
static void versions(void **state) {
    (void)state;
    static const struct {
        const char *text, *last;
    } rows[] = {{"mad.f32 %f1, %f2, %f3, %f4;", "2.0"},
                {"div.f32 %f1, %f2, %f3;", "1.4"},
                {"sin.f32 %f1, %f2;", "1.4"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Error error = {0};
        assert_true(is_taken(rows[i].last, "sm_20", rows[i].text, &error));
        assert_false(is_taken("2.1", "sm_20", rows[i].text, &error));
    }
    Error error = {0};
    assert_false(is_taken("9.0", "sm_90", "add.sparkling.s32 %r1, %r2;", &error));
    assert_true(is_taken("9.1", "sm_90", "add.sparkling.s32 %r1, %r2;", &error));
    assert_true(is_taken("9.1", "sm_135", "add.s32 %r1, %r2, 1;", &error));
}

typedef struct Answer {
    const char *version, *target, *text;
    const char *message; /* NULL: taken */
} Answer;

/* Targets: the last that lacks the instruction, and the first that has it. */
static const Answer of_targets[] = {
    {"9.0", "sm_75", "redux.sync.add.s32 %r1, %r2, -1;",
     "redux needs .target sm_80 or later; this file has sm_75"},
    {"9.0", "sm_80", "redux.sync.add.s32 %r1, %r2, -1;", NULL},
    {"9.0", "sm_90", "redux.sync.add.s32 %r1, %r2, -1;", NULL},
    {"9.0", "sm_90a", "redux.sync.min.f32 %f1, %f2, -1;",
     "redux.f32 needs .target sm_100f or later of its family; this file has sm_90a"},
    {"9.0", "sm_100", "redux.sync.min.f32 %f1, %f2, -1;",
     "redux.f32 needs .target sm_100f or later of its family; this file has sm_100"},
    {"9.0", "sm_100f", "redux.sync.min.f32 %f1, %f2, -1;", NULL},
    {"9.0", "sm_103a", "redux.sync.min.f32 %f1, %f2, -1;", NULL},
    {"9.0", "sm_120a", "redux.sync.min.f32 %f1, %f2, -1;",
     "redux.f32 needs .target sm_100f or later of its family; this file has sm_120a"},
    {"9.0", "sm_90", "setmaxnreg.inc.sync.aligned.u32 64;",
     "setmaxnreg needs .target sm_90a, sm_100f, sm_110f or sm_120f; this file has sm_90"},
    {"9.0", "sm_90a", "setmaxnreg.inc.sync.aligned.u32 64;", NULL},
    {"9.0", "sm_121a", "setmaxnreg.inc.sync.aligned.u32 64;", NULL},
    {"9.0", "sm_100f", "cvt.rs.f16x2.f32 %r1, %f1, %f2, %r3;",
     "cvt.rs needs .target sm_100a or sm_103a; this file has sm_100f"},
    {"9.0", "sm_103a", "cvt.rs.f16x2.f32 %r1, %f1, %f2, %r3;", NULL},
    {"9.0", "sm_89", "elect.sync %r1|%p1, -1;", "elect needs .target sm_90 or later; this file has sm_89"},
    {"9.0", "sm_90", "elect.sync %r1|%p1, -1;", NULL},
    {"9.0", "sm_89", "barrier.cluster.arrive;",
     "barrier.cluster needs .target sm_90 or later; this file has sm_89"},
    {"9.0", "sm_90", "barrier.cluster.arrive;", NULL},
    {"9.0", "sm_90", "min.f32 %f1, %f2, %f3, %f4;",
     "min.f32 with 4 operands needs .target sm_100 or later; this file has sm_90"},
    {"9.0", "sm_75", "min.f32 %f1, %f2, %f3;", NULL},
    {"9.0", "sm_80", "cvt.bf16.bf16 %h1, %h2;",
     "cvt.bf16.bf16 needs .target sm_90 or later; this file has sm_80"},
    {"9.0", "sm_80", "cvt.rn.bf16.f32 %h1, %f2;", NULL},
    {"9.0", "sm_90", "ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd1];",
     "ld.v8.b32 needs .target sm_100 or later; this file has sm_90"},
    {"9.0", "sm_75", "cp.async.commit_group;", "cp.async needs .target sm_80 or later; this file has sm_75"},
    {"9.0", "sm_80", "cp.async.bulk.commit_group;",
     "cp.bulk needs .target sm_90 or later; this file has sm_80"},
    {"9.0", "sm_75", "tanh.approx.f32 %f1, %f2;", NULL},
    {"6.3", "sm_75", "shfl.down.b32 %r1, %r2, 1, 31; vote.all.pred %p1, %p2;", NULL},
    {"6.5", "sm_60", "shfl.down.b32 %r1, %r2, 1, 31; vote.all.pred %p1, %p2;", NULL},
    {"6.4", "sm_70", "shfl.down.b32 %r1, %r2, 1, 31;",
     "shfl needs .sync for .target sm_70 or later since PTX 6.4; this file has sm_70 and PTX 6.4"},
    {"6.4", "sm_75", "vote.all.pred %p1, %p2;",
     "vote needs .sync for .target sm_70 or later since PTX 6.4; this file has sm_75 and PTX 6.4"}};

/* Sparse products have twice the k of dense ones; s8 and u8 fewer shapes than e4m3. */
static const Answer of_sparse_products[] = {
    {"9.0", "sm_90a",
     "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, %r5, 0, %p1, 1, 1, "
     "0, 0;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 takes no .sp"},
    {"9.0", "sm_90a",
     "wgmma.mma_async.sync.aligned.m64n8k32.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
     "wgmma.mma_async.sync.aligned.m64n8k32.f32.f16.f16 is incomplete: it needs .sp"},
    {"9.0", "sm_90a",
     "wgmma.mma_async.sp.sync.aligned.m64n40k64.s32.s8.s8 {%r1,%r2,%r3,%r4}, %rd1, %rd2, %r5, 0, %p1;",
     "wgmma.mma_async.sp.sync.aligned.s32.s8.s8 takes no .m64n40k64"}};

/* Orders of suffixes: free but for the name, types and layouts. */
static const Answer of_orders[] = {
    {"9.0", "sm_90", "add.s32.sat %r1, %r2, %r3;", NULL},
    {"9.0", "sm_90", "setp.s32.lt %p1, %r2, %r3;", NULL},
    {"9.0", "sm_90", "shfl.down.sync.b32 %r1, %r2, 1, 31, -1;", NULL},
    {"9.0", "sm_90", "ld.s32.global.v4 {%r1,%r2,%r3,%r4}, [%rd1];", NULL},
    {"9.0", "sm_90", "div.ftz.approx.f32 %f1, %f2, %f3;", NULL},
    {"9.0", "sm_90", "barrier.aligned.sync 0;", NULL},
    {"9.0", "sm_90", "mad.hi.s32.sat %r1, %r2, %r3, %r4;", NULL},
    {"9.0", "sm_90", "mul.s32.lo %r1, %r2, %r3;", ".lo is part of the name mul.lo: write it right after mul"},
    {"9.0", "sm_90", "mul.s32.wide %rd1, %r2, %r3;",
     ".wide is part of the name mul.wide: write it right after mul"},
    {"9.0", "sm_90", "div.f32.full %f1, %f2, %f3;",
     ".full is part of the name div.full: write it right after div"},
    {"9.0", "sm_90", "shf.wrap.l.b32 %r1, %r2, %r3, %r4;",
     ".l is part of the name shf.l: write it right after shf"},
    {"9.0", "sm_90", "cvta.global.to.u64 %rd1, %rd2;",
     ".to is part of the name cvta.to: write it right after cvta"},
    {"9.0", "sm_90", "bar.sync.cta 0;", ".cta is part of the name bar.cta: write it right after bar"},
    {"9.0", "sm_90", "mbarrier.test_wait.shared.parity.b64 %p1, [%rd1], %r1;",
     ".parity is part of the name mbarrier.test_wait.parity: write it right after mbarrier.test_wait"},
    {"9.0", "sm_90a",
     "wgmma.mma_async.sync.sp.aligned.m64n8k64.s32.s8.s8 {%r1,%r2,%r3,%r4}, %rd1, %rd2, %r5, 0, %p1;", NULL},
    {"9.0", "sm_90",
     "mma.sync.aligned.m16n8k8.col.row.f16.f16.f16.f16 {%r1,%r2}, {%r3,%r4}, {%r5}, {%r6,%r7};",
     "mma.sync.aligned.m16n8k8.row.f16.f16.f16.f16 takes no .col"}};

static void check_answers(const Answer *answers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Error error = {0};
        const Answer *answer = &answers[i];
        bool taken = is_taken(answer->version, answer->target, answer->text, &error);
        if (taken != !answer->message || (!taken && !strstr(error.message, answer->message)))
            fail_msg("%s on %s: %s", answer->text, answer->target, taken ? "taken" : error.message);
    }
}

static void targets(void **state) {
    (void)state;
    check_answers(of_targets, sizeof of_targets / sizeof *of_targets);
}

static void shapes_of_sparse_products(void **state) {
    (void)state;
    check_answers(of_sparse_products, sizeof of_sparse_products / sizeof *of_sparse_products);
}

/* The target of a compiler's PTX, which nobody chose, refuses nothing. */
static void the_target_of_a_compiler(void **state) {
    (void)state;
    for (int checked = 0; checked < 2; checked++) {
        Text whole = {0};
        Error error = {0};
        print_module("9.0", "sm_80", "elect.sync %r1|%p1, -1;", &whole);
        PtxModule *module = parse_module(text_string(&whole));
        module->is_target_checked = checked;
        PtxProgram *program = link_entry(module, "k");
        assert_int_equal(ptx_program_check(program, &error), !checked);
        ptx_program_free(program);
        ptx_module_free(module);
        text_done(&whole);
    }
}

static void orders_of_suffixes(void **state) {
    (void)state;
    check_answers(of_orders, sizeof of_orders / sizeof *of_orders);
}

/* Targets before sm_75 are compiled for sm_75, the oldest of ptxas 13.0. */
static void compare(const char *ptxas, const Answer *answers, size_t count) {
    char path[] = "/tmp/redviz_check_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (size_t i = 0; i < count; i++) {
        Text whole = {0}, command = {0};
        print_module(answers[i].version, answers[i].target, answers[i].text, &whole);
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        assert_true(fputs(text_string(&whole), out) >= 0);
        assert_int_equal(fclose(out), 0);
        bool is_old = atoi(answers[i].target + 3) < 75;
        text_print(&command, "%s -arch=%s -o /dev/null %s >/dev/null 2>&1", ptxas,
                   is_old ? "sm_75" : answers[i].target, path);
        bool taken = system(text_string(&command)) == 0;
        if (taken != !answers[i].message)
            fail_msg("ptxas %s for %s: %s", taken ? "takes" : "refuses", answers[i].target, answers[i].text);
        text_done(&whole);
        text_done(&command);
    }
    unlink(path);
}

static void ptxas_answers_the_same(void **state) {
    (void)state;
    const char *ptxas = find_ptxas();
    if (!ptxas) {
        print_message("# summary: no ptxas here: its answers were not compared\n");
        skip_because("ptxas was not found, whose answers it compares");
    }
    compare(ptxas, of_targets, sizeof of_targets / sizeof *of_targets);
    compare(ptxas, of_orders, sizeof of_orders / sizeof *of_orders);
    compare(ptxas, of_sparse_products, sizeof of_sparse_products / sizeof *of_sparse_products);
}

/* All shipped kernels, and those of other compilers in the tests. */
static void files(void **state) {
    (void)state;
    static const char *const patterns[] = {"assets/ptx/*.ptx", "tests/kernels/*.ptx",
                                           "tests/data/sass/*.ptx"};
    glob_t found;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        assert_int_equal(glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        Error error = {0};
        char *text;
        size_t length;
        assert_true(text_read_file(found.gl_pathv[i], 64 << 20, &text, &length, &error));
        PtxModule *module = ptx_module_parse(text, length, found.gl_pathv[i], &error);
        for (int f = 0; f < module->function_count; f++) {
            if (!module->functions[f]->is_entry) continue;
            PtxProgram *program = ptx_program_link(module, module->functions[f], &error);
            if (!program || !ptx_program_check(program, &error))
                fail_msg("%s:%d: %s", found.gl_pathv[i], error.line, error.message);
            ptx_program_free(program);
        }
        ptx_module_free(module);
        free(text);
    }
    assert_true(found.gl_pathc > 60);
    globfree(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_instruction_of_the_isa_is_taken),
                                       cmocka_unit_test(every_opcode_has_a_form),
                                       cmocka_unit_test(registers_of_types),
                                       cmocka_unit_test(versions),
                                       cmocka_unit_test(targets),
                                       cmocka_unit_test(shapes_of_sparse_products),
                                       cmocka_unit_test(the_target_of_a_compiler),
                                       cmocka_unit_test(orders_of_suffixes),
                                       cmocka_unit_test(ptxas_answers_the_same),
                                       cmocka_unit_test(files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
