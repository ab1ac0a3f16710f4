/* Records of an H200, kept in tests/data/h200, decode to the events of the emulator. They are compared thread
 * by thread; values that depend on scheduling are taken from the record. (If src/instrument changes the
 * numbering of its sites, record them again: tests/device/on_gpu records.) */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "kept.h"
#include "session/state.h"
#include "twin.h"
#include "trace/block.h"

#include <glob.h>
#include <stdlib.h>

typedef struct Decoded {
    Trace *trace;
    InstrumentSites sites;
    InstrumentTally tally;
    uint64_t *base;
} Decoded;

static Decoded decode(const Kept *kept, Session *session) {
    Decoded decoded = {.trace = trace_new("gpu")};
    Error error = {0};
    Text text = {0};
    char *probe = twin_probe();
    if (!instrument((const PtxProgram *const *)session->run->launches.programs, session->run->launches.count,
                    probe, kept->approximate, &text, &decoded.sites, &error))
        fail_msg("%s", error.message);
    decoded.base = memory_new(((size_t)session->run->trace->buffer_count + 1) * sizeof *decoded.base);
    for (int i = 0; i < session->run->trace->buffer_count; i++) {
        const TraceBuffer *buffer = &session->run->trace->buffers[i];
        trace_add_buffer(decoded.trace, buffer->name, buffer->bytes, buffer->type);
    }
    for (int i = 0; i < session->run->launches.count; i++)
        trace_add_launch(decoded.trace, &session->run->launches.bound[i]);
    for (int i = 0; i < kept->region_count; i++) {
        const KeptRegion *region = &kept->regions[i];
        assert_true(region->launch < session->run->launches.count);
        for (int b = 0; b < region->memory.count; b++)
            decoded.base[region->memory.buffers[b].buffer] = region->memory.buffers[b].base;
        if (!instrument_decode(&decoded.sites, &region->settings, &region->memory, region->block,
                               region->bytes, &decoded.trace->arena, decoded.trace->launches[region->launch],
                               &decoded.tally, &error))
            fail_msg("%s: %s", kept->kernel, error.message);
    }
    text_done(&text);
    free(probe);
    return decoded;
}

/* Queries of values re-run a block with the GPU's order of lanes. (If results of .approx affect control flow,
 * only with those, which a session's trace does not contain.) */
static void replay(const Kept *kept, Session *session, const Decoded *decoded) {
    for (int l = 0; l < decoded->trace->launch_count && !kept->approximate; l++) {
        const TraceLaunch *launch = decoded->trace->launches[l];
        for (int i = 0; i < launch->block_count; i++) {
            Error error = {0};
            Folds *folds =
                replay_folds(decoded->trace, l, launch->blocks[i], &session->run->launches.bound[l], &error);
            if (!folds) fail_msg("%s: %s", kept->kernel, error.message);
            folds_free(folds);
        }
    }
}

static void compare(const char *path) {
    Kept kept;
    Error error = {0};
    Text text = {0};
    bool same = false;
    if (!kept_read(&kept, path, &error)) fail_msg("%s", error.message);
    RunSpec options = kept_options(&kept);
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", path, error.message);
    Decoded decoded = decode(&kept, session);
    assert_true(decoded.tally.records > 5);
    assert_int_equal(decoded.tally.dropped, 0);
    AskRecording other = {decoded.trace, decoded.base, kept.device, kept.approximate};
    if (!ask_compare(session, &other, &(EmulatorTakenValues){0}, &text, &same, &error))
        fail_msg("%s: %s", path, error.message);
    if (!same) fail_msg("%s: %s", path, text_string(&text));
    print_message("# summary: %s", text_string(&text));
    replay(&kept, session, &decoded);
    text_done(&text);
    trace_free(decoded.trace);
    instrument_sites_done(&decoded.sites);
    free(decoded.base);
    session_free(session);
    kept_done(&kept);
}

static void records_of_an_h200(void **state) {
    (void)state;
    glob_t files;
    assert_int_equal(glob("tests/data/h200/*.records", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) compare(files.gl_pathv[i]);
    assert_true(files.gl_pathc >= 6);
    globfree(&files);
}

/* A byte of a value: some thread read a different value. */
static void a_changed_record_is_found(void **state) {
    (void)state;
    Kept kept;
    Error error = {0};
    Text text = {0};
    bool same = true;
    assert_true(kept_read(&kept, "tests/data/h200/interleaved_int.records", &error));
    RunSpec options = kept_options(&kept);
    Session *session = session_open(&options, &error);
    size_t bytes = kept.regions[0].settings.region_bytes;
    while (!kept.regions[0].bytes[bytes - 1]) bytes--;
    kept.regions[0].bytes[bytes - 1] ^= 1;
    Decoded decoded = decode(&kept, session);
    AskRecording other = {decoded.trace, decoded.base, kept.device, false};
    assert_true(ask_compare(session, &other, &(EmulatorTakenValues){0}, &text, &same, &error));
    assert_false(same);
    text_done(&text);
    trace_free(decoded.trace);
    instrument_sites_done(&decoded.sites);
    free(decoded.base);
    session_free(session);
    kept_done(&kept);
}

/* The same events, except for a result of .approx far outside the instruction's error bound. */
static TraceBlock *with_a_wrong_approximation(const TraceBlock *from) {
    TraceBlock *changed = trace_block_new(trace_block_linear(from));
    bool done = false;
    for (int i = 0; i < trace_block_event_count(from); i++) {
        TraceEvent event;
        trace_block_read(from, i, &event);
        if (event.kind == TRACE_APPROXIMATE && !done) {
            event.value[0][__builtin_ctz(event.mask)] ^= 0x00400000; /* half of its value, or more */
            done = true;
        }
        trace_block_append(changed, &event);
    }
    assert_true(done);
    return changed;
}

/* The difference is found in its own event, not only in later ones. */
static void a_wrong_approximation_is_found(void **state) {
    (void)state;
    Kept kept;
    Error error = {0};
    Text text = {0};
    bool same = true;
    assert_true(kept_read(&kept, "tests/data/h200/softmax_row_float.records", &error));
    RunSpec options = kept_options(&kept);
    Session *session = session_open(&options, &error);
    Decoded decoded = decode(&kept, session);
    TraceBlock **block = &decoded.trace->launches[0]->blocks[0], *right = *block;
    *block = with_a_wrong_approximation(right);
    trace_block_free(right);
    AskRecording other = {decoded.trace, decoded.base, kept.device, kept.approximate};
    assert_true(ask_compare(session, &other, &(EmulatorTakenValues){0}, &text, &same, &error));
    assert_false(same);
    const char *difference = strstr(text_string(&text), "first difference");
    assert_non_null(difference);
    assert_non_null(strstr(difference, trace_kind_text(TRACE_APPROXIMATE)));
    text_done(&text);
    trace_free(decoded.trace);
    instrument_sites_done(&decoded.sites);
    free(decoded.base);
    session_free(session);
    kept_done(&kept);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(records_of_an_h200),
                                       cmocka_unit_test(a_changed_record_is_found),
                                       cmocka_unit_test(a_wrong_approximation_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
