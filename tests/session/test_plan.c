/* A run is a value: a plan goes in, a session comes out. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/session.h"
#include "session/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Session *open(const RunSpec *options) {
    Error error = {0};
    Session *session = session_open(options, &error);
    if (!session) fail_msg("%s", error.message);
    return session;
}

static Session *open_plan(const Plan *plan) {
    RunSpec options = {.threads = 1, .catalog.seed = 5};
    Error error = {0};
    Session *session = session_open_plan(plan, &options, &error);
    if (!session) fail_msg("%s", error.message);
    return session;
}

/* All events of all traced blocks, and the counters. */
static void describe(Session *session, Text *out) {
    const Trace *trace = session_trace(session);
    char *bytes = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&bytes, &length);
    session_events(session, stream);
    fclose(stream);
    text_add_bytes(out, bytes, length);
    free(bytes);
    for (int i = 0; i < trace->launch_count; i++)
        for (int pc = 0; pc < trace->launches[i]->program->code_count; pc++)
            text_print(out, "%llu ", (unsigned long long)trace->launches[i]->counters[pc].executions);
}

static void copy_plan(const Session *session, Plan *copy) {
    plan_copy(&session->run->plan, copy);
    if (!copy->module_count) plan_add_module(copy, session->code.path, session->code.text);
}

/* The plan of a run runs the same again without the file that it came from. */
static void a_copied_plan_runs_the_same(void **state) {
    (void)state;
    static const struct {
        const char *kernel, *file, *launches, *looks_like;
    } runs[] = {
        {.kernel = "interleaved", .looks_like = "sum(in) of 4 partial results"},
        {.kernel = "two_stage", .looks_like = "sum(in)"},
        {.file = "tests/kernels/stages.ptx",
         .launches = "stage_sum<<<16, 256>>>(in, partial, n); stage_sum<<<1, 256>>>(partial, out, 16)",
         .looks_like = "sum(in)"}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        RunSpec options = {.kernel = runs[i].kernel,
                           .file = runs[i].file,
                           .launches = runs[i].launches,
                           .threads = 1,
                           .catalog = {.n = 1000, .seed = 5}};
        Session *session = open(&options);
        Plan plan;
        Text before = {0}, after = {0};
        copy_plan(session, &plan);
        describe(session, &before);
        session_free(session);
        session = open_plan(&plan);
        describe(session, &after);
        assert_string_equal(text_string(&before), text_string(&after));
        assert_string_equal(session->guess.verdict.looks_like, runs[i].looks_like);
        assert_null(session_result(session));
        session_free(session);
        plan_free(&plan);
        text_done(&before);
        text_done(&after);
    }
}

static const char add_ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".global .u32 calls;\n"
                              ".visible .entry add(.param .u64 to) {\n"
                              "    .reg .u32 %r<4>; .reg .u64 %d<4>;\n"
                              "    ld.param.u64 %d1, [to];\n"
                              "    ld.global.u32 %r1, [%d1];\n"
                              "    ld.global.u32 %r2, [%d1+4];\n"
                              "    add.u32 %r3, %r1, %r2;\n"
                              "    st.global.u32 [%d1], %r3;\n"
                              "    ret;\n}\n";
static const char double_ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                 ".visible .entry twice(.param .u64 to, .param .u64 seen) {\n"
                                 "    .reg .u32 %r<4>; .reg .u64 %d<4>;\n"
                                 "    ld.param.u64 %d1, [to];\n"
                                 "    ld.param.u64 %d2, [seen];\n"
                                 "    ld.global.u32 %r1, [%d1];\n"
                                 "    shl.b32 %r2, %r1, 1;\n"
                                 "    st.global.u32 [%d1], %r2;\n"
                                 "    st.global.u64 [%d2], %d1;\n"
                                 "    ret;\n}\n";

/* Two modules, what the host writes between launches, an address that was asked for: add, write, add, double.
 */
static void the_host_writes_between_launches(void **state) {
    (void)state;
    static const uint32_t begin[2] = {1, 10}, later = 100;
    const uint64_t place = 0x7a0000000;
    Plan plan = {0};
    plan_add_module(&plan, "add.ptx", add_ptx);
    plan_add_module(&plan, "double.ptx", double_ptx);
    int words = plan_add_buffer(&plan, "words", PTX_U32, 2, FILL_CONTENT),
        seen = plan_add_buffer(&plan, "seen", PTX_U64, 1, FILL_ZERO);
    plan.buffers[words].content = arena_copy(&plan.arena, begin, sizeof begin);
    plan.buffers[words].address = place;
    for (int i = 0; i < 2; i++) {
        PlanLaunch *launch = plan_add_launch(&plan, "add");
        plan_add_pointer(&plan, launch, words);
        if (i) plan_add_write(&plan, launch, words, 4, &later, sizeof later);
    }
    PlanLaunch *last = plan_add_launch(&plan, "twice");
    last->module = 1;
    plan_add_pointer(&plan, last, words);
    plan_add_pointer(&plan, last, seen);
    Session *session = open_plan(&plan);
    Text out = {0};
    char *bytes = NULL;
    size_t length = 0;
    Error error = {0};
    FILE *stream = open_memstream(&bytes, &length);
    assert_true(session_dump(session, "words", stream, &error) &&
                session_dump(session, "seen", stream, &error));
    fclose(stream);
    text_print(&out, "%u\n%u\n%llu\n", 2 * (1 + 10 + 100), 100u, (unsigned long long)place);
    assert_string_equal(bytes, text_string(&out));
    free(bytes);
    text_done(&out);
    session_free(session);
    plan_free(&plan);
}

/* The traced blocks and the expectation travel with the plan. */
static void settings_travel_with_the_plan(void **state) {
    (void)state;
    RunSpec options = {.kernel = "interleaved", .threads = 1, .catalog = {.n = 1000, .seed = 5}};
    Session *session = open(&options);
    Plan plan;
    copy_plan(session, &plan);
    session_free(session);
    plan.has_trace_blocks = true;
    plan.trace_first = 1;
    plan.trace_last = 2;
    plan.expect = "max(in)";
    session = open_plan(&plan);
    assert_int_equal(session_block_count(session), 2);
    assert_true(session_spec(session)->has_trace_blocks);
    assert_false(session_result(session)->correct);
    session_free(session);
    plan_free(&plan);
}

static void what_cannot_be_placed_is_refused(void **state) {
    (void)state;
    Plan plan = {0};
    Error error = {0};
    plan_add_module(&plan, "add.ptx", add_ptx);
    int words = plan_add_buffer(&plan, "words", PTX_U32, 2, FILL_ZERO);
    plan.buffers[words].address = 256; /* below all buffers */
    plan_add_pointer(&plan, plan_add_launch(&plan, "add"), words);
    RunSpec options = {.threads = 1};
    assert_null(session_open_plan(&plan, &options, &error));
    assert_non_null(strstr(error.message, "buffer 'words' cannot lie at 0x100"));
    plan.buffers[words].address = 0;
    plan.launches[0].entry = "missing";
    assert_null(session_open_plan(&plan, &options, &error));
    assert_non_null(strstr(error.message, "missing"));
    plan_free(&plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copied_plan_runs_the_same),
        cmocka_unit_test(the_host_writes_between_launches),
        cmocka_unit_test(settings_travel_with_the_plan),
        cmocka_unit_test(what_cannot_be_placed_is_refused),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
