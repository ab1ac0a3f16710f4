/* Paths: the instructions counted on them are those that the emulator counted; nested splits, loops and early
 * returns by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/session.h"
#include "trace/paths.h"
#include "trace/producer_rules.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static Session *open_all_blocks(RunSpec options) {
    Error error = {0};
    options.threads = 1;
    options.has_trace_blocks = true;
    options.trace_last = 1000;
    options.backend = BACKEND_EMULATOR;
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", options.kernel ? options.kernel : options.file, error.message);
    return session;
}

/* ---- against the emulator's counters ------------------------------------------------------------------- */

/* The lanes of a split part; what a path has is part of what is around it. */
static void check_shape(const char *kernel, const Paths *paths) {
    for (int i = 0; i < paths->split_count; i++) {
        const PathSplit *split = &paths->splits[i];
        uint32_t lanes = 0;
        assert_true(split->path_count >= 2);
        for (int k = 0; k < split->path_count; k++) {
            const Path *path = &paths->paths[split->first_path + k];
            assert_int_equal(path->split, i);
            assert_int_equal(lanes & path->lanes, 0);
            lanes |= path->lanes;
            if (path->first_event >= 0) assert_true(path->first_event > split->event);
            if (split->join_event >= 0 && path->last_event >= split->join_event)
                fail_msg("%s: split %d: event %d of a path comes after the join at %d", kernel, i,
                         path->last_event, split->join_event);
        }
        if (split->parent < 0) continue;
        assert_true(split->parent < split->first_path);
        assert_int_equal(lanes & ~paths->paths[split->parent].lanes, 0);
        assert_true(paths_issued(paths, split) <= paths->paths[split->parent].instructions);
    }
}

/* A loop that waits has more rounds than the trace. */
static bool may_spin(const PtxProgram *program) {
    for (int pc = 0; pc < program->code_count; pc++)
        if (trace_watches(program->code[pc].instruction)) return true;
    return false;
}

/* True if everything in the run was counted. */
static bool check_run(const char *kernel, const Session *session) {
    const Trace *trace = session_trace(session);
    bool is_whole = true;
    for (int i = 0; i < trace->launch_count; i++) {
        const TraceLaunch *launch = trace->launches[i];
        uint64_t sum = 0, issued = 0;
        bool is_counted = true;
        for (int b = 0; b < launch->block_count; b++) {
            Paths *paths = paths_build(launch, launch->blocks[b]);
            check_shape(kernel, paths);
            sum += paths->instructions;
            is_counted &= paths->is_counted;
            paths_free(paths);
        }
        is_whole &= is_counted;
        for (int pc = 0; pc < launch->program->code_count; pc++) issued += launch->counters[pc].executions;
        bool has_all = (uint32_t)launch->block_count == launch->grid[0] * launch->grid[1] * launch->grid[2];
        bool is_right = sum == issued || (sum < issued && may_spin(launch->program));
        if (has_all && is_counted && !is_right)
            fail_msg("%s, launch %d: %" PRIu64 " instructions on paths, %" PRIu64 " by the emulator", kernel,
                     i, sum, issued);
    }
    return is_whole;
}

static bool check_kernel(const char *kernel, uint64_t n) {
    Error error = {0};
    RunSpec options = {.kernel = kernel, .threads = 1, .has_trace_blocks = true, .trace_last = 1000};
    options.catalog.n = n;
    Session *session = session_open(&options, &error);
    if (!session) return false; /* another size */
    bool is_whole = check_run(kernel, session);
    session_free(session);
    return is_whole;
}

static void instructions_are_those_that_the_emulator_counted(void **state) {
    (void)state;
    int whole = 0;
    for (int i = 0; i < catalog_count(); i++) {
        const char *kernel = catalog_row(i)->id;
        whole += check_kernel(kernel, 200);
        whole += check_kernel(kernel, 3000);
    }
    assert_true(whole >= 2 * catalog_count() - 4); /* two kernels end at a fault */
}

/* ---- by hand ------------------------------------------------------------------------------------------- */

/* The splits of warp 0, nested ones indented: the lanes of each path, the instructions, the lines. */
static void print_splits(const Session *session, const Paths *paths, Text *out) {
    const TraceLaunch *launch = session_trace(session)->launches[0];
    for (int i = 0; i < paths->split_count; i++) {
        const PathSplit *split = &paths->splits[i];
        TraceEvent event;
        if (split->warp) continue;
        for (int p = split->parent; p >= 0; p = paths->splits[paths->paths[p].split].parent)
            text_add(out, "  ");
        trace_block_read_header(launch->blocks[0], split->event, &event);
        text_print(out, "line %d:", launch->program->code[event.pc].line.line);
        for (int k = 0; k < split->path_count; k++) {
            const Path *path = &paths->paths[split->first_path + k];
            text_print(out, " %08x %" PRIu64 "%s", path->lanes, path->instructions,
                       path->first_event < 0 ? "" : "*"); /* with events */
            if (path->after.first) text_print(out, " (%d-%d)", path->after.first, path->after.last);
        }
        if (split->join_event < 0)
            text_add(out, ", no join\n");
        else {
            trace_block_read_header(launch->blocks[0], split->join_event, &event);
            text_print(out, ", join line %d\n", launch->program->code[event.pc].line.line);
        }
    }
}

static void check_splits(const char *entry, const char *args, uint32_t threads, const char *expected) {
    Session *session = open_all_blocks((RunSpec){.file = "tests/kernels/paths.ptx",
                                                 .entry = entry,
                                                 .args = args,
                                                 .grid = {1, 1, 1},
                                                 .block = {threads, 1, 1}});
    Paths *paths =
        paths_build(session_trace(session)->launches[0], session_trace(session)->launches[0]->blocks[0]);
    Text text = {0};
    check_shape(entry, paths);
    assert_true(check_run(entry, session));
    print_splits(session, paths, &text);
    assert_string_equal(text_string(&text), expected);
    text_done(&text);
    paths_free(paths);
    session_free(session);
}

static void lanes_leave_a_loop_one_after_another(void **state) {
    (void)state;
    check_splits("collatz", "in=uint[4]:iota, out=uint[4]:zero", 4,
                 "line 6: 0000000e 58* (7-8) 00000001 0, join line 10\n"
                 "  line 6: 0000000c 48* (7-8) 00000002 0, join line 10\n"
                 "    line 6: 00000004 40* (7-8) 00000008 0, join line 10\n");
}

static void a_switch_is_nested_in_another(void **state) {
    (void)state;
    check_splits("nested_switch", "in=int[32]:iota, out=int[32]:zero", 32,
                 "line 17: b6db6db6 8* (32-35) 49249249 17* (19-29), join line 37\n"
                 "  line 17: 92492492 3* (32-32) 24924924 3* (35-35), join line 37\n"
                 "  line 19: 48248248 5* (24-27) 01001001 2 (21-21), join line 29\n"
                 "    line 19: 00200200 2 (24-24) 48048048 1 (27-27), join line 29\n");
}

static void an_early_return_joins_nowhere(void **state) {
    (void)state;
    check_splits("early", "in=int[32]:iota, out=int[32]:zero, 20", 32,
                 "line 43: 000fffff 8* (45-45) fff00000 0, no join\n");
}

static void two_conditions_are_two_splits(void **state) {
    (void)state;
    check_splits("both", "in=int[32]:iota, out=int[33]:zero", 32,
                 "line 51: 55555555 13* (52-54) aaaaaaaa 0, join line 54\n"
                 "  line 51: 00000001 4* (54-54) 55555554 2* (52-52), no join\n");
}

static void a_select_is_no_split(void **state) {
    (void)state;
    check_splits("chosen", "in=int[32]:iota, out=int[32]:zero", 32, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_are_those_that_the_emulator_counted),
        cmocka_unit_test(lanes_leave_a_loop_one_after_another),
        cmocka_unit_test(a_switch_is_nested_in_another),
        cmocka_unit_test(an_early_return_joins_nowhere),
        cmocka_unit_test(two_conditions_are_two_splits),
        cmocka_unit_test(a_select_is_no_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
