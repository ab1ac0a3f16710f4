/* The search for races counts and reports what it could not check. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings/results.h"
#include "findings/races/race_detector.h"
#include "tests/emulator/core.h"
#include <string.h>

typedef struct Limits {
    FindingsUnseen unseen;
    bool is_complete;
    int errors;
    Text text, json, sarif;
} Limits;

static const char *no_source(void *context, const char *file, int line) {
    (void)context, (void)file, (void)line;
    return NULL;
}

/* `bytes` of shadow memory; 0: the default. */
static Limits search(CoreKernel kernel, uint64_t bytes) {
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    if (bytes) detector->most_bytes = bytes;
    kernel.module = ".shared .align 16 .b8 words[128];\n";
    kernel.options.observer = &observer;
    kernel.untraced = true;
    CoreRun run = core_run_well(kernel);
    Findings *findings = findings_new(detector, run.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    assert_true(findings->has_unseen);
    Limits limits = {findings->unseen, findings->is_complete, findings->error_count, {0}, {0}, {0}};
    Json json = {.out = &limits.json};
    json_open_object(&json, NULL);
    findings_put_limits(findings, &json);
    json_close_object(&json);
    findings_print_limits(findings, &limits.text);
    CheckResults results = {0};
    results_add_findings(&results, findings, &(ResultOrigin){.trace = run.trace, .source = no_source});
    results_put_sarif(&results, NULL, &limits.sarif);
    results_done(&results);
    findings_free(findings);
    race_detector_free(detector);
    core_done(&run);
    return limits;
}

static void limits_done(Limits *limits) {
    text_done(&limits->text);
    text_done(&limits->json);
    text_done(&limits->sarif);
}

static void check_places(const char *body, uint32_t grid, uint32_t block, uint64_t places) {
    for (int threads = 1; threads <= 2; threads++) {
        CoreKernel kernel = {
            .body = body, .grid = grid, .block = block, .words = 1024, .options = {.threads = threads}};
        Limits limits = search(kernel, 0);
        if (limits.unseen.places != places)
            fail_msg("%u blocks of %u, %s: %d places are counted", grid, block, body,
                     (int)limits.unseen.places);
        assert_int_equal(limits.unseen.accesses, 0);
        assert_true(limits.is_complete);
        assert_int_equal(limits.text.length != 0, places != 0);
        limits_done(&limits);
    }
}

#define INIT "st.shared.u32 [words], 0; bar.sync 0;\n"

static void places_with_more_readers_are_counted(void **state) {
    (void)state;
    static const char *const in_shared = INIT "ld.shared.u32 %r1, [words]; st.shared.u32 [words], 1;";
    check_places(in_shared, 1, 256, 0); /* eight warps */
    check_places(in_shared, 1, 288, 1);
    check_places(in_shared, 3, 288, 3);
    check_places(INIT "membar.cta; ld.shared.u32 %r1, [words]; st.shared.u32 [words], 1;", 200, 288, 200);
    check_places(INIT "ld.shared.u32 %r1, [words]; bar.sync 0; st.shared.u32 [words], 1;", 1, 288, 0);
    check_places(INIT "ld.shared.u32 %r1, [words]; st.shared.u32 [words+4], 1;", 1, 288, 0);
    check_places("ld.global.u32 %r1, [%base]; st.global.u32 [%out+4], 1;", 20, 32, 0);
    check_places(
        "ld.global.u32 %r1, [%base]; bar.sync 0; setp.eq.u32 %p1, %i, 288; @%p1 st.global.u32 [%base], 1;",
        10, 32, 1);
    /* accesses that may overlap */
    check_places("ld.relaxed.gpu.global.u32 %r1, [%base]; red.global.add.u32 [%base], 1;", 10, 32, 0);
}

static void accesses_without_memory_are_counted(void **state) {
    (void)state;
    CoreKernel kernel = {
        .body = "ld.global.u32 %r1, [%out]; st.global.u32 [%out], 1;", .grid = 64, .block = 32};
    Limits all = search(kernel, 0), none = search(kernel, 1000);
    assert_int_equal(all.unseen.accesses, 0);
    assert_true(all.is_complete);
    assert_string_equal(text_string(&all.text), "");
    assert_string_equal(text_string(&all.json), "{\"unseen\":{\"places\":0,\"accesses\":0},\"limits\":[]}");
    assert_null(strstr(text_string(&all.sarif), "invocations"));
    assert_int_equal(none.unseen.accesses, 128);
    assert_false(none.is_complete);
    assert_string_equal(text_string(&none.text),
                        "The search had no memory left for 128 accesses: races with them may be missing.\n");
    limits_done(&all);
    limits_done(&none);
}

static void limits_are_said_in_every_form(void **state) {
    (void)state;
    Limits limits = search((CoreKernel){.body = INIT "ld.shared.u32 %r1, [words]; st.shared.u32 [words], 1;",
                                        .grid = 2,
                                        .block = 1024},
                           0);
    assert_string_equal(text_string(&limits.text),
                        "The search keeps 8 reads of a place; 2 places had more when written (words[0] in\n"
                        "line 28): a race there may be missing.\n");
    assert_string_equal(
        text_string(&limits.json),
        "{\"unseen\":{\"places\":2,\"accesses\":0},\"limits\":[\"The search keeps 8 reads of a place; 2 "
        "places had more when written (words[0] in line 28): a race there may be missing.\"]}");
    assert_non_null(strstr(
        text_string(&limits.sarif),
        "\"toolExecutionNotifications\":[{\"level\":\"note\",\"message\":{\"text\":\"The search keeps 8 "
        "reads"));
    assert_true(limits.errors > 0);
    limits_done(&limits);
    Text json = {0};
    Json object = {.out = &json};
    json_open_object(&object, NULL);
    findings_put_limits(NULL, &object);
    json_close_object(&object);
    assert_string_equal(text_string(&json), "{\"unseen\":null,\"limits\":[]}");
    text_done(&json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_with_more_readers_are_counted),
        cmocka_unit_test(accesses_without_memory_are_counted),
        cmocka_unit_test(limits_are_said_in_every_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
