/* What the wait probe prints: what each option changes, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small_kernel.h"
#include "waited.h"
#include <stdlib.h>
#include <string.h>

static char *text_with(SmallKernel small, WaitProbeOptions options, const char *reason) {
    Waited waited = {.name = small.name, .options = options};
    Error error = {0};
    waited.module = small_kernel_parse(&small);
    waited.programs[0] = waited_link(&waited, waited.module, "kernel");
    bool good = instrument_waits((const PtxProgram *const *)waited.programs, 1, &waited.options, &waited.text,
                                 &waited.sites, &error);
    if (good != !reason || (reason && !strstr(error.message, reason)))
        fail_msg("%s: %s", small.name, good ? "is not refused" : error.message);
    ptx_program_free(waited.programs[0]);
    ptx_module_free(waited.module);
    free(waited.sites.sites);
    return waited.text.data;
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) count++;
    return count;
}

static void options_change_the_text(void **state) {
    (void)state;
    const SmallKernel small = {
        .name = "options",
        .body = "ld.global.u32 %r0, [%out];\nadd.u32 %r2, %r2, %r0;\nld.global.u32 %r1, [%out+4];\n"
                "add.u32 %r2, %r2, %r1;\nbar.sync 0;\nld.shared.u32 %r3, [0];\nadd.u32 %r2, %r2, %r3;\n"
                "st.global.u32 [%out], %r2;\nret;"};
    WaitProbeOptions changed = waited_options;
    changed.full_warps = true;
    char *plain = text_with(small, changed, NULL);
    const char *second = strstr(plain, "ld.global.u32 %r1");
    assert_true(second < strstr(plain, "add.u32 %r2, %r2, %r0")); /* both loads first */
    assert_int_equal(count_of(plain, "bar.warp.sync"), 1);
    assert_int_equal(count_of(plain, "@%redviz_q mov.u32 %redviz_b, %clock;"), 2);
    assert_null(strstr(plain, "%r3, 0x55555555"));

    changed.keep_order = true;
    char *text = text_with(small, changed, NULL);
    assert_true(strstr(text, "ld.global.u32 %r1") > strstr(text, "add.u32 %r2, %r2, %r0"));
    free(text);
    changed.keep_order = false;

    changed.plain_barrier_clock = true;
    text = text_with(small, changed, NULL);
    assert_int_equal(count_of(text, "bar.warp.sync"), 0);
    assert_int_equal(count_of(text, "@%redviz_q mov.u32 %redviz_b, %clock;"), 2);
    free(text);
    changed.plain_barrier_clock = false;

    changed.plain_load_clock = true;
    text = text_with(small, changed, NULL);
    assert_int_equal(count_of(text, "bar.warp.sync"), 1);
    assert_int_equal(count_of(text, "@%redviz_q mov.u32 %redviz_b, %clock;"), 0);
    free(text);
    changed.plain_load_clock = false;

    changed.full_warps = false; /* a vote instead */
    text = text_with(small, changed, NULL);
    assert_int_equal(count_of(text, "bar.warp.sync"), 0);
    assert_int_equal(count_of(text, "@%redviz_q mov.u32 %redviz_b, %clock;"), 3);
    free(text);

    changed.kinds |= 1 << WARP_WAITS_SHARED;
    text = text_with(small, changed, NULL);
    assert_non_null(strstr(text, "%r3, 0x55555555"));
    free(text);
    changed.kinds = 1 << WARP_WAITS_FENCE; /* of which there is none */
    text = text_with(small, changed, NULL);
    assert_int_equal(count_of(text, "mov.u32 %redviz_a, %clock;"), 0);
    free(text);
    free(plain);
}

static void what_is_refused(void **state) {
    (void)state;
    free(text_with(
        (SmallKernel){.name = "exit", .module = ".func leave() { exit; }", .body = "call leave;\nret;"},
        waited_options, "the called function leave exits, which the probe would not see"));
    free(text_with(
        (SmallKernel){.name = "ret", .module = ".func leave() { ret; }", .body = "call leave;\nret;"},
        waited_options, NULL));
    free(text_with((SmallKernel){.name = "shared", .body = "{ .shared .b32 word; }\nret;"}, waited_options,
                   "kernel declares shared memory in an inner scope"));
    free(text_with((SmallKernel){.name = "local", .body = "{ .local .b32 word; }\nret;"}, waited_options,
                   NULL));
    Text body = {0};
    for (int i = 0; i < WAIT_SITES; i++) text_add(&body, "membar.cta;\n");
    free(text_with((SmallKernel){.name = "most", .body = text_string(&body)}, waited_options, NULL));
    text_add(&body, "membar.cta;\n");
    free(text_with((SmallKernel){.name = "too many", .body = text_string(&body)}, waited_options,
                   "4097 places that may wait; at most 4096 are recorded"));
    text_done(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_change_the_text),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
