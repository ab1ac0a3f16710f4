/* Plans as values: copied, compared, printed as --launch, saved and loaded; damaged bytes are refused. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/launches.h"
#include "plan/plan_file.h"
#include <stdlib.h>
#include <string.h>

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .f32 scale,\n"
    "                  .param .align 8 .b8 pair[16]) { ret; }\n";

static PtxModule *parse(void) {
    Error error = {0};
    PtxModule *module = ptx_module_parse(ptx, strlen(ptx), "k.ptx", &error);
    if (!module) fail_msg("%s", error.message);
    return module;
}

/* One of everything. */
static void make(Plan *plan) {
    static const int32_t content[4] = {7, -7, 0, 1};
    static const float written[2] = {1.5f, -0.25f};
    uint32_t n = 1000;
    float scale = 0.1f;
    uint8_t pair[16] = {0};
    *plan = (Plan){.has_trace_blocks = true, .trace_first = 1, .trace_last = 3};
    plan->expect = arena_copy_string(&plan->arena, "sum(in)");
    plan_add_module(plan, "k.ptx", ptx);
    int in = plan_add_buffer(plan, "in", PTX_F32, 1000, FILL_RANDOM);
    plan->buffers[in].has_range = true;
    plan->buffers[in].low = -0.5;
    plan->buffers[in].high = 0.1;
    int out = plan_add_buffer(plan, "out", PTX_S32, 4, FILL_CONTENT);
    plan->buffers[out].content = arena_copy(&plan->arena, content, sizeof content);
    plan->buffers[out].address = 0x800000000;
    PlanLaunch *launch = plan_add_launch(plan, "k");
    launch->grid[0] = 4;
    launch->block[1] = 8;
    launch->dynamic_shared_bytes = 64;
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    plan_add_scalar(plan, launch, &n, sizeof n);
    plan_add_scalar(plan, launch, &scale, sizeof scale);
    PlanPointer *pointer = arena_new(&plan->arena, sizeof *pointer);
    *pointer = (PlanPointer){.at = 8, .buffer = in, .offset = 40};
    plan_add_structure(plan, launch, pair, sizeof pair, pointer, 1);
    plan_add_write(plan, launch, in, 4, written, sizeof written);
}

static void a_copy_is_equal_and_its_own(void **state) {
    (void)state;
    Plan plan, copy;
    make(&plan);
    plan_copy(&plan, &copy);
    assert_true(plan_is_equal(&plan, &copy));
    copy.launches[0].grid[0] = 5;
    assert_false(plan_is_equal(&plan, &copy));
    copy.launches[0].grid[0] = 4;
    ((int32_t *)(uintptr_t)copy.buffers[1].content)[2] = 9;
    assert_false(plan_is_equal(&plan, &copy));
    plan_free(&plan);
    assert_string_equal(copy.modules[0].ptx, ptx);
    assert_string_equal(copy.expect, "sum(in)");
    plan_free(&copy);
}

static void what_is_saved_is_loaded(void **state) {
    (void)state;
    Plan plan, loaded;
    Text bytes = {0};
    Error error = {0};
    make(&plan);
    plan_write(&plan, &bytes);
    assert_true(plan_read(bytes.data, bytes.length, &loaded, &error));
    assert_true(plan_is_equal(&plan, &loaded));
    assert_int_equal(loaded.buffers[1].address, 0x800000000);
    assert_int_equal(loaded.launches[0].writes[0].byte_count, 8);
    assert_int_equal(loaded.launches[0].arguments[4].pointers[0].offset, 40);
    assert_true(loaded.buffers[0].high == 0.1);
    plan_free(&plan);
    plan_free(&loaded);
    text_done(&bytes);
}

/* Cut anywhere, and with any byte changed: refused with one line, or a plan that can be written again. */
static void damaged_bytes_are_refused(void **state) {
    (void)state;
    Plan plan, loaded;
    Text bytes = {0};
    make(&plan);
    plan_write(&plan, &bytes);
    char *copy = malloc(bytes.length);
    for (size_t length = 0; length < bytes.length; length++) {
        Error error = {0};
        memcpy(copy, bytes.data, bytes.length);
        assert_false(plan_read(copy, length, &loaded, &error));
        assert_true(error.message[0] && !strchr(error.message, '\n'));
    }
    for (size_t at = 0; at < bytes.length; at++)
        for (int change = 1; change < 256; change *= 2) {
            Error error = {0};
            memcpy(copy, bytes.data, bytes.length);
            copy[at] = (char)(copy[at] ^ change);
            if (!plan_read(copy, bytes.length, &loaded, &error)) {
                assert_true(error.message[0] && !strchr(error.message, '\n'));
                continue;
            }
            Text again = {0};
            plan_write(&loaded, &again);
            text_done(&again);
            plan_free(&loaded);
        }
    free(copy);
    text_done(&bytes);
    plan_free(&plan);
}

static void bind(const char *text, PtxModule *module, Plan *plan) {
    TypedLaunch launches[PLAN_LAUNCHES];
    Error error = {0};
    int count;
    Arena arena = {0};
    *plan = (Plan){0};
    if (!launches_read(text, 1000, launches, &count, &arena, &error)) fail_msg("%s", error.message);
    for (int i = 0; i < count; i++) {
        PtxFunction *entry = ptx_module_find_entry(module, launches[i].entry, &error);
        assert_non_null(entry);
        PlanLaunch *launch = plan_add_launch(plan, entry->name);
        memcpy(launch->grid, launches[i].grid, sizeof launch->grid);
        memcpy(launch->block, launches[i].block, sizeof launch->block);
        launch->dynamic_shared_bytes = launches[i].shared_bytes;
        PlanTyped typed = {.option = "--launch",
                           .text = text,
                           .begin = launches[i].arguments,
                           .length = launches[i].argument_length};
        PlanVariables variables = {1000, launch_volume(launch->block), launch_volume(launch->grid)};
        if (!plan_parse_typed(plan, launch, entry, &typed, &variables, &error)) fail_msg("%s", error.message);
    }
    arena_done(&arena);
}

/* Printed as --launch, and read again, it is the same plan. */
static void what_is_printed_is_read_again(void **state) {
    (void)state;
    static const char text[] =
        "k<<<4, (1, 8), 64>>>(in=float[n]:random(-0.5,0.1), out=int[4]:iota(3,2), n, 0.1, {7l, &in[10]}); "
        "k<<<1, 32>>>(in, &out[2], -1, 2, {-3, 5, &out}); "
        "k<<<1, 32>>>(low=half[8]:-2.5, mask=uchar[9]:ones, 0, -1e-30, {1, 2, null})";
    PtxModule *module = parse();
    Plan plan, again;
    Text printed = {0}, twice = {0};
    Error error = {0};
    bind(text, module, &plan);
    if (!plan_print(&plan, &module, &printed, &error)) fail_msg("%s", error.message);
    bind(text_string(&printed), module, &again);
    if (!plan_is_equal(&plan, &again)) fail_msg("not the same: %s", text_string(&printed));
    assert_true(plan_print(&again, &module, &twice, &error));
    assert_string_equal(text_string(&printed), text_string(&twice));
    text_done(&printed);
    text_done(&twice);
    plan_free(&plan);
    plan_free(&again);
    ptx_module_free(module);
}

static void what_launch_cannot_say_is_refused(void **state) {
    (void)state;
    PtxModule *module = parse();
    Plan plan;
    Text printed = {0};
    Error error = {0};
    make(&plan);
    assert_false(plan_print(&plan, &module, &printed, &error));
    assert_non_null(strstr(error.message, "what the host writes"));
    plan.launches[0].write_count = 0;
    assert_false(plan_print(&plan, &module, &printed, &error));
    assert_non_null(strstr(error.message, "what 'out' contains"));
    text_done(&printed);
    plan_free(&plan);
    ptx_module_free(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_equal_and_its_own),       cmocka_unit_test(what_is_saved_is_loaded),
        cmocka_unit_test(damaged_bytes_are_refused),         cmocka_unit_test(what_is_printed_is_read_again),
        cmocka_unit_test(what_launch_cannot_say_is_refused),
    };
    return cmocka_run_group_tests_name("plan_file", tests, NULL, NULL);
}
