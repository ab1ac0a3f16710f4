/* Replays of every kernel, to any event, forwards and backwards: values, weights and producers of any
 * register. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/session.h"
#include "session/state.h"
#include <stdlib.h>
#include <string.h>

static Session *open_kernel(const char *kernel, uint64_t n, int block) {
    RunSpec options = {.kernel = kernel, .threads = 1};
    options.catalog.n = n;
    options.catalog.block = (uint32_t)block;
    Error error = {0};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", kernel, error.message);
    return session;
}

typedef struct Value {
    uint64_t bits[32];
    uint32_t weight[32];
    int32_t producer[32];
} Value;

/* The register that the event's instruction wrote; NULL: none. */
static const char *result_of(Session *session, int view, const TraceEvent *event) {
    const SessionBlock *shown = session_block(session, view);
    const PtxInstruction *in =
        session_trace(session)->launches[shown->launch]->program->code[event->pc].instruction;
    bool writes = event->has_result && event->element_count == 1 && in->operand_count > 1 &&
                  event->kind != TRACE_SHARED_STORE && event->kind != TRACE_GLOBAL_STORE &&
                  event->kind != TRACE_LOCAL_STORE && event->kind != TRACE_BRANCH;
    if (!writes || in->operands[0].kind != PTX_OPERAND_REGISTER) return NULL;
    return in->operands[0].reg->name;
}

static void read_value(Session *session, int view, int event, int warp, const char *name, Value *out) {
    if (!session_register(session, view, event, warp, name, out->bits, out->weight, out->producer))
        fail_msg("%s: register %s after event %d", session_name(session), name, event);
}

/* The value of an event is in its register, from any previous position; returns how many were checked. */
static int check_values(Session *session, int view) {
    const TraceBlock *block = session_block(session, view)->block;
    int count = trace_block_event_count(block), step = count / 200 + 1, checked = 0;
    Value *forward = calloc((size_t)count + 1, sizeof *forward);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < count; i += step) {
            int at = pass ? (count - 1 - i) / step * step : i; /* the same events, backwards */
            TraceEvent event;
            Value value;
            trace_block_read(block, at, &event);
            const char *name = result_of(session, view, &event);
            if (!name) continue;
            read_value(session, view, at, event.warp, name, &value);
            for (int lane = 0; lane < 32; lane++) {
                if (!(event.mask >> lane & 1)) continue;
                uint64_t bits =
                    event.element_bytes < 8 ? (UINT64_C(1) << 8 * event.element_bytes) - 1 : ~UINT64_C(0);
                assert_int_equal(value.bits[lane] & bits, event.value[0][lane] & bits);
                assert_int_equal(value.producer[lane], at);
            }
            if (!pass)
                forward[at] = value;
            else
                assert_memory_equal(&forward[at], &value, sizeof value);
            checked++;
        }
    }
    free(forward);
    return checked;
}

/* The weights of an event's values, of the replay that answers for the block. */
static bool event_weights(Session *session, int view, int event, uint32_t weight[32], int32_t producer[32]) {
    if (session_progress(session, view, event) < 0 || !session->views[view].replay) return false;
    const ReplayEventProvenance *found = replay_event_provenance(session->views[view].replay, event);
    if (!found) return false;
    memcpy(weight, found->weight, sizeof found->weight);
    memcpy(producer, found->producer, sizeof found->producer);
    return true;
}

static void every_kernel_replays(void **state) {
    (void)state;
    int checked = 0;
    for (int row = 0; row < catalog_count(); row++) {
        Session *session = open_kernel(catalog_row(row)->id, 0, 0);
        for (int view = 0; view < session_block_count(session); view++) {
            int count = trace_block_event_count(session_block(session, view)->block);
            uint32_t weight[32];
            int32_t producer[32];
            double before = 0;
            for (int event = 0; event < count; event += count / 100 + 1) {
                assert_true(event_weights(session, view, event, weight, producer));
                double progress = session_progress(session, view, event);
                assert_true(progress >= before && progress <= 1);
                before = progress;
            }
            if (count) assert_true(session_progress(session, view, count - 1) == 1);
            checked += check_values(session, view);
            /* The last event can be reached: nothing differed. */
            uint64_t bits[32];
            const PtxFunction *entry =
                session_trace(session)->launches[session_block(session, view)->launch]->program->entry;
            if (entry->register_count)
                assert_true(session_register(session, view, count - 1, 0,
                                             entry->registers[entry->register_count - 1]->name, bits, weight,
                                             producer));
        }
        session_free(session);
    }
    assert_true(checked > 1000);
}

/* max of floats is a loop of compare and swap, in which the threads of all warps compete. */
static void threads_that_compete_replay(void **state) {
    (void)state;
    RunSpec options = {.kernel = "atomic", .threads = 1};
    options.catalog.n = 1000;
    options.catalog.dtype = PTX_F32;
    options.catalog.op = "max";
    Error error = {0};
    Session *session = session_open(&options, &error);
    assert_non_null(session);
    assert_true(check_values(session, 0) > 0);
    int count = trace_block_event_count(session_block(session, 0)->block);
    uint64_t bits[32];
    uint32_t weight[32];
    int32_t producer[32];
    const PtxFunction *entry = session_trace(session)->launches[0]->program->entry;
    assert_true(
        session_register(session, 0, count - 1, 0, entry->registers[0]->name, bits, weight, producer));
    session_free(session);
}

static void weights_count_inputs(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        uint64_t n;
        int block;
        uint32_t all;
    } cases[] = {{"interleaved", 64, 64, 64},      {"strided", 256, 256, 256},
                 {"sequential", 1024, 1024, 1024}, {"first_add", 128, 64, 128},
                 {"shuffle", 256, 256, 256},       {"shuffle_last_warp", 256, 128, 256},
                 {"grid_stride", 5000, 256, 0},    {"vectorized_shuffle", 4096, 256, 0},
                 {"redux", 256, 256, 256},         {"interleaved", 50, 64, 50}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Session *session = open_kernel(cases[i].kernel, cases[i].n, cases[i].block);
        const TraceBlock *block = session_block(session, 0)->block;
        int last = -1;
        for (int event = 0; event < trace_block_event_count(block); event++) {
            TraceEvent header;
            trace_block_read_header(block, event, &header);
            if (header.kind == TRACE_GLOBAL_STORE) last = event;
        }
        assert_true(last >= 0);
        uint32_t weight[32];
        int32_t producer[32];
        assert_true(event_weights(session, 0, last, weight, producer));
        if (cases[i].all)
            assert_int_equal(weight[0], cases[i].all);
        else
            assert_true(weight[0] > 1);
        assert_true(producer[0] >= 0 && producer[0] < last);
        session_free(session);
    }
}

/* interleaved: after each distance the word of thread 0 contains twice as many inputs, and came from the
 * store before. */
static void weights_double(void **state) {
    (void)state;
    Session *session = open_kernel("interleaved", 64, 64);
    const TraceBlock *block = session_block(session, 0)->block;
    uint32_t expected = 1;
    for (int event = 0; event < trace_block_event_count(block); event++) {
        TraceEvent read;
        uint32_t weight[32];
        int32_t producer[32];
        trace_block_read(block, event, &read);
        if (read.kind != TRACE_SHARED_STORE || read.warp != 0 || !(read.mask & 1)) continue;
        assert_true(event_weights(session, 0, event, weight, producer));
        assert_int_equal(weight[0], expected);
        if (read.mask == 0xffffffff) assert_int_equal(weight[31], 1);
        TraceEvent from;
        trace_block_read(block, producer[0], &from);
        assert_int_equal(from.kind, expected == 1 ? TRACE_GLOBAL_LOAD : TRACE_SHARED_LOAD);
        expected *= 2;
    }
    assert_int_equal(expected, 128);
    session_free(session);
}

/* ---- kernels that do not reduce: tests/data/replay.cu
 * ---------------------------------------------------- */

static Session *open_entry(const char *entry, const char *args, uint32_t block) {
    RunSpec options = {.file = "tests/data/replay.ptx", .entry = entry, .args = args, .threads = 1};
    options.block[0] = block;
    options.block[1] = options.block[2] = options.grid[0] = options.grid[1] = options.grid[2] = 1;
    Error error = {0};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", entry, error.message);
    assert_int_equal(session_trace(session)->trap_count, 0);
    assert_true(check_values(session, 0) > 0);
    return session;
}

/* The weights of the last event of this kind. */
static void last_weights(Session *session, TraceKind kind, uint32_t weight[32]) {
    const TraceBlock *block = session_block(session, 0)->block;
    int32_t producer[32];
    TraceEvent header = {.kind = TRACE_NOT_RECORDED};
    int event = trace_block_event_count(block);
    while (event > 0 && header.kind != kind) trace_block_read_header(block, --event, &header);
    assert_int_equal(header.kind, kind);
    assert_true(event_weights(session, 0, event, weight, producer));
}

static void weights_pass_through_calls(void **state) {
    (void)state;
    Session *session = open_entry("calls", "in=int[1024]:ones,out=int[32]:zero,5", 32);
    uint32_t weight[32];
    last_weights(session, TRACE_GLOBAL_STORE, weight);
    for (uint32_t lane = 0; lane < 32; lane++) assert_int_equal(weight[lane], 5 - lane % 3);
    session_free(session);
}

static void lanes_that_spin_replay(void **state) {
    (void)state;
    Session *session = open_entry("lane_lock", "in=int[64]:ones,out=int[1]:zero", 64);
    uint32_t weight[32];
    last_weights(session, TRACE_GLOBAL_STORE, weight);
    assert_int_equal(weight[0], 64);
    session_free(session);
}

static void warps_that_wait_replay(void **state) {
    (void)state;
    Session *session = open_entry("chain", "in=int[1024]:ones,out=int[1]:zero", 1024);
    uint32_t weight[32];
    last_weights(session, TRACE_GLOBAL_STORE, weight);
    assert_int_equal(weight[0], 1024);
    session_free(session);
}

/* The previous contents of `out` count as one value, as a load of them does. */
static void compare_and_swap_replaces(void **state) {
    (void)state;
    Session *session = open_entry("cas_add", "in=double[64]:ones,out=double[1]:zero", 64);
    uint32_t weight[32], most = 0;
    last_weights(session, TRACE_GLOBAL_ATOMIC, weight);
    for (int lane = 0; lane < 32; lane++) most = weight[lane] > most ? weight[lane] : most;
    assert_int_equal(most, 65);
    session_free(session);
}

static void a_generic_load_finds_what_its_lanes_stored(void **state) {
    (void)state;
    Session *session = open_entry("spaces", "in=int[128]:iota,out=int[64]:zero", 64);
    uint32_t weight[32];
    last_weights(session, TRACE_GLOBAL_STORE, weight);
    for (int lane = 0; lane < 32; lane++) { /* of warp 1 */
        int thread = 32 + lane;
        assert_int_equal(weight[lane], thread % 3 == 0 ? 2 : thread % 3 == 1 ? 3 : 1);
    }
    session_free(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_replays),
        cmocka_unit_test(threads_that_compete_replay),
        cmocka_unit_test(weights_count_inputs),
        cmocka_unit_test(weights_double),
        cmocka_unit_test(weights_pass_through_calls),
        cmocka_unit_test(lanes_that_spin_replay),
        cmocka_unit_test(warps_that_wait_replay),
        cmocka_unit_test(compare_and_swap_replaces),
        cmocka_unit_test(a_generic_load_finds_what_its_lanes_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
