/* Control flow of linked functions: branch targets, and where the lanes of a divergent branch reconverge.
 *
 * A body is written with ~ for an instruction without control flow, # for a barrier of the block, and ?L for
 * a branch to L by some lanes. The expectation is a list of branches: "0>3=5" is the branch at pc 0 to pc 3
 * whose lanes reconverge at pc 5, "=end" at the function's end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/opcodes.h"
#include "tests/ptx/ptx_test.h"
#include <stdlib.h>

static PtxModule *parse_flow(const char *body) {
    Text text = {0};
    for (const char *c = body; *c; c++) {
        if (*c == '~')
            text_add(&text, "mov.u32 %r1, 1;");
        else if (*c == '#')
            text_add(&text, "bar.sync 0;");
        else if (*c == '?')
            text_add(&text, "@%p1 bra ");
        else
            text_add_bytes(&text, c, 1);
    }
    PtxModule *module = parse_body(text_string(&text));
    text_done(&text);
    return module;
}

static void describe_place(int pc, Text *out) {
    if (pc == PTX_NO_PC)
        text_add(out, "end");
    else
        text_print(out, "%d", pc);
}

static void describe_branches(const PtxProgram *program, Text *out) {
    for (int pc = program->functions[0].begin; pc < program->functions[0].end; pc++) {
        const PtxCode *code = &program->code[pc];
        if (code->target == PTX_NO_PC && code->instruction->opcode != PTX_brx) continue;
        text_print(out, "%s%d>", out->length ? " " : "", pc);
        if (code->instruction->opcode == PTX_bra) text_print(out, "%d", code->target);
        for (int i = 0; i < code->target_count; i++) text_print(out, "%s%d", i ? "," : "", code->targets[i]);
        text_add(out, "=");
        describe_place(code->reconvergence, out);
    }
}

static void check_flow(const char *body, const char *expected) {
    PtxModule *module = parse_flow(body);
    PtxProgram *program = link_entry(module, "k");
    Text out = {0};
    describe_branches(program, &out);
    if (strcmp(text_string(&out), expected) != 0)
        fail_msg("%s\n  gives %s\n  not   %s", body, text_string(&out), expected);
    text_done(&out);
    ptx_program_free(program);
    ptx_module_free(module);
}

static void branches_meet_at_the_post_dominator(void **state) {
    (void)state;
    check_flow("?L; ~ L: ~ ret;", "0>2=2");                   /* if */
    check_flow("?L; ~ bra M; L: ~ M: ~ ret;", "0>3=4 2>4=4"); /* if else */
    check_flow("L: ~ ?L; ~ ret;", "1>0=2");                   /* loop */
    check_flow("L: ?M; ~ bra L; M: ~ ret;", "0>3=3 2>0=0");   /* while */
    check_flow("L: ~ ?M; ~ ?L; ~ M: ~ ret;",
               "1>5=5 3>0=5");                             /* loop with a break that skips what follows it */
    check_flow("?L; ?M; ~ M: ~ L: ~ ret;", "0>4=4 1>3=3"); /* nested */
    check_flow("L: M: ~ ?M; ~ ?L; ~ ret;", "1>0=2 3>0=4"); /* nested loops */
    check_flow("?L; L: ~ ret;", "0>1=1");                  /* nothing between */
    check_flow("bra L; ~ L: ~ ret;", "0>2=2");             /* by all lanes, over dead code */
    check_flow("@%p1 bra L; @!%p1 bra L; ~ L: ~ ret;", "0>3=3 1>3=3"); /* both ways */
}

static void graphs_that_are_no_nested_ifs_and_loops(void **state) {
    (void)state;
    check_flow("?IN; L: ~ ?OUT; IN: ~ ?L; ~ OUT: ~ ret;", "0>3=6 2>6=6 4>1=6"); /* a loop with two entries */
    check_flow("?B; A: ~ ?C; B: ~ ?A; ~ C: ~ ret;", "0>3=6 2>6=6 4>1=6");
    check_flow("?A; ?B; ~ bra D; A: ?D; B: ~ D: ~ ret;", "0>4=6 1>5=6 3>6=6 4>6=6"); /* crossing branches */
}

static void switches(void **state) {
    (void)state;
    check_flow("l: .branchtargets A, B, C; brx.idx %r1, l; A: ~ bra D; B: ~ C: ~ D: ~ ret;",
               "0>1,3,4=5 2>5=5");
    check_flow("l: .branchtargets A, A; brx.idx %r1, l; A: ~ ret;", "0>1,1=1");
    check_flow("l: .branchtargets A, B; L: brx.idx %r1, l; A: ~ bra L; B: ~ ret;", "0>1,3=3 2>0=0");
    check_flow("l: .branchtargets A, B; @%p1 brx.idx %r1, l; ~ A: ~ B: ~ ret;", "0>2,3=3");
}

/* Lanes that exit early do not move the reconvergence point of the others. */
static void early_exits(void **state) {
    (void)state;
    check_flow("?L; ~ ~ L: ret;", "0>3=3");                       /* if (x) return; */
    check_flow("?A; ?R; ~ A: ~ ~ ret; R: ret;", "0>3=3 1>6=end"); /* if (!a) { if (r) return; b; } c; */
    check_flow("?A; @%p2 ret; ~ A: ~ ~ ret;", "0>3=3");           /* the same, guarded */
    check_flow("?A; @%p2 exit; ~ A: ~ ~ exit;", "0>3=3");
    check_flow("L: ?R; ~ ?L; ~ ~ ret; R: ret;", "0>6=end 2>0=3"); /* return inside a loop */
    check_flow("L: ~ ?B; ?R; ~ B: ~ ?L; ~ ~ ret; R: ~ ret;", "1>4=4 2>9=end 5>0=6");
    check_flow("?A; ~ bra B; A: ~ B: ~ ?R; ~ ~ ret; R: ~ ret;", "0>3=4 2>4=4 5>9=end");
}

/* The same if the exit path does something, and nvcc has placed it after everything else. Lanes of another
 * path that will also reach the barrier must not wait for the lanes that wait at it. */
static void early_exits_and_barriers(void **state) {
    (void)state;
    check_flow("?E; ~ # ~ E: ret;", "0>4=end"); /* if (i >= n) return; */
    check_flow("?E; ~ ~ E: ret;", "0>3=3");
    check_flow("?A; ?R; ~ A: # ~ bra E; R: ~ E: ret;", "0>3=3 1>6=end 5>7=7");
    check_flow("?A; ?R; ~ A: ~ ~ bra E; R: ~ E: ret;", "0>3=3 1>6=7 5>7=7"); /* without any */
    check_flow("?X; L: ?A; ?R; ~ A: # ?L; X: ~ bra E; R: ~ E: ret;",
               "0>6=end 1>4=4 2>8=end 5>1=end 7>9=9"); /* inside a loop */
    check_flow("?X; L: ?A; ?R; ~ A: # ?L; X: # bra E; R: ~ E: ret;", "0>6=6 1>4=4 2>8=end 5>1=6 7>9=9");
    check_flow("?X; L: ?A; ?R; ~ A: ~ ?L; X: ~ bra E; R: ~ E: ret;", "0>6=6 1>4=4 2>8=9 5>1=6 7>9=9");
    check_flow("L: ?A; ?R; ~ A: # ?L; bra E; R: ~ E: ret;", "0>3=3 1>6=end 4>0=end 5>7=7");
    check_flow("?R; ?R; # ~ bra E; R: ~ E: ret;", "0>5=end 1>5=end 4>6=6"); /* if (a || b) { x; return; } */
    check_flow("L: ?C; ?R; # ?L; bra E; C: ~ bra L; R: ~ E: ret;",
               "0>5=1 1>7=end 3>0=end 4>8=8 6>0=0"); /* continue */
}

static void assertions_and_endless_loops(void **state) {
    (void)state;
    check_flow("?A; ?T; ~ A: ~ ~ ret; T: trap;", "0>3=3 1>6=end");
    check_flow("?A; @%p2 trap; ~ A: ~ ~ ret;", "0>3=3");
    check_flow("?F; ~ ret; F: bra F;", "0>3=end 3>3=end");
    check_flow("L: ?A; ~ A: ~ bra L;", "0>2=2 3>0=end"); /* without an exit */
    check_flow("ret; ?L; ~ L: ~ ret;", "1>3=3");         /* dead code */
}

static void functions_always_end(void **state) {
    (void)state;
    static const struct {
        const char *body;
        int count; /* number of instructions, with the ret that the linker adds */
    } rows[] = {{"", 1},
                {"~", 2},
                {"ret;", 1},
                {"@%p1 ret;", 2},
                {"exit;", 1},
                {"trap;", 1},
                {"L: bra L;", 1},
                {"?L; ret; L:", 3},
                {"bra L; L:", 2},
                {"L: ?L;", 2},
                {"l: .branchtargets L; brx.idx %r1, l; L:", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PtxModule *module = parse_flow(rows[i].body);
        PtxProgram *program = link_entry(module, "k");
        if (program->code_count != rows[i].count)
            fail_msg("%s: %d instructions", rows[i].body, program->code_count);
        ptx_program_free(program);
        ptx_module_free(module);
    }
}

static void blocks_begin_at_targets_and_behind_jumps(void **state) {
    (void)state;
    PtxModule *module = parse_flow("~ ~ ?L; ~ ~ L: ~ @%p2 ret; ~ ret;");
    PtxProgram *program = link_entry(module, "k");
    static const bool begins[] = {true, false, false, true, false, true, false, true, false};
    assert_int_equal(program->code_count, 9);
    for (int pc = 0; pc < 9; pc++) assert_int_equal(program->code[pc].block_begin, begins[pc]);
    ptx_program_free(program);
    ptx_module_free(module);
}

/* ---- random graphs against the definition
 * ---------------------------------------------------------------- */

enum { BLOCKS = 12 };

static unsigned next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

/* Whether block `from` can reach the last one without entering `without`. */
static bool reaches_end(const int *target, int from, int without) {
    bool seen[BLOCKS] = {false};
    int stack[2 * BLOCKS + 1], depth = 0;
    stack[depth++] = from;
    while (depth) {
        int block = stack[--depth];
        if (block == without || seen[block]) continue;
        if (block == BLOCKS - 1) return true;
        seen[block] = true;
        stack[depth++] = block + 1;
        stack[depth++] = target[block];
    }
    return false;
}

/* The first block that every path from `from` to the end enters; the others are on every path from it. */
static int meeting_block(const int *target, int from) {
    for (int block = 0; block < BLOCKS; block++) {
        if (block == from || reaches_end(target, from, block)) continue;
        bool first = true;
        for (int other = 0; other < BLOCKS; other++)
            if (other != from && other != block && !reaches_end(target, from, other) &&
                reaches_end(target, block, other))
                first = false;
        if (first) return block;
    }
    return -1;
}

/* Each block but the last is two instructions and a branch to anywhere, so that the graphs have loops with
 * many entries. */
static void random_graphs_meet_where_the_definition_says(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int round = 0; round < 400; round++) {
        int target[BLOCKS];
        Text body = {0};
        for (int block = 0; block < BLOCKS - 1; block++) {
            target[block] = (int)(next_random(&random) % BLOCKS);
            text_print(&body, "b%d: ~ ~ ?b%d; ", block, target[block]);
        }
        text_print(&body, "b%d: ~ ~ ret;", BLOCKS - 1);
        PtxModule *module = parse_flow(text_string(&body));
        PtxProgram *program = link_entry(module, "k");
        for (int block = 0; block < BLOCKS - 1; block++) {
            const PtxCode *code = &program->code[3 * block + 2];
            assert_int_equal(code->target, 3 * target[block]);
            if (code->reconvergence != 3 * meeting_block(target, block))
                fail_msg("%s\n  block %d meets at pc %d, not at block %d", text_string(&body), block,
                         code->reconvergence, meeting_block(target, block));
        }
        ptx_program_free(program);
        ptx_module_free(module);
        text_done(&body);
    }
}

/* A function of a hundred thousand blocks takes milliseconds. */
static void large_functions(void **state) {
    (void)state;
    enum { COUNT = 100000 };
    Text body = {0};
    for (int i = 0; i < COUNT; i++)
        text_print(&body, "L%d: ~ ?L%d;\n", i, i % 3 ? i / 2 : i + 1 < COUNT ? i + 1 : 0);
    text_add(&body, "~ ret;");
    PtxModule *module = parse_flow(text_string(&body));
    PtxProgram *program = link_entry(module, "k");
    assert_int_equal(program->code_count, 2 * COUNT + 2);
    for (int i = 0; i < COUNT; i++) assert_int_equal(program->code[2 * i + 1].reconvergence, 2 * i + 2);
    ptx_program_free(program);
    ptx_module_free(module);
    text_done(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(branches_meet_at_the_post_dominator),
                                       cmocka_unit_test(graphs_that_are_no_nested_ifs_and_loops),
                                       cmocka_unit_test(switches),
                                       cmocka_unit_test(early_exits),
                                       cmocka_unit_test(early_exits_and_barriers),
                                       cmocka_unit_test(assertions_and_endless_loops),
                                       cmocka_unit_test(functions_always_end),
                                       cmocka_unit_test(blocks_begin_at_targets_and_behind_jumps),
                                       cmocka_unit_test(random_graphs_meet_where_the_definition_says),
                                       cmocka_unit_test(large_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
