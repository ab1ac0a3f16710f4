/* Findings in a session file: every field of both accesses is read back, the limits of each range are
 * accepted, and values beyond are refused. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings/findings_list.h"
#include "tests/metrics/sample.h"
#include "trace/store.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static int make_path(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/redviz-findings-%d.redviz", (int)getpid());
    return 0;
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path);
}

static void write_findings(const Findings *findings) {
    Error error = {0};
    Store *store = store_create(path, 0, &error);
    if (!store) fail_msg("%s", error.message);
    findings_write(findings, store);
    if (!store_finish(store, &error)) fail_msg("%s", error.message);
}

/* `reason` NULL: the findings are read; else they are refused with these words, and NULL is returned. */
static Findings *read_findings(const Trace *trace, const char *reason) {
    Error error = {0};
    Store *store = store_open(path, &error);
    if (!store) fail_msg("%s", error.message);
    Findings *findings = findings_read(trace, store);
    bool good = store_close(store, &error);
    if (!reason && !good) fail_msg("%s", error.message);
    if (!reason) return findings;
    if (good || !strstr(error.message, reason)) fail_msg("'%s' is not in '%s'", reason, error.message);
    if (findings) findings_free(findings);
    return NULL;
}

/* ---- what is read back
 * ---------------------------------------------------------------------------------- */

/* Two launches; the second has a grid of 3 * 5 * 7 blocks of 3 warps, of which block 52 is traced: 4
 * events. */
static void open_trace(Sample *sample) {
    sample_open(sample);
    Launch launch = {.program = sample->program, .grid = {3, 5, 7}, .block = {33, 2, 1}};
    TraceLaunch *second = trace_add_launch(sample->trace, &launch);
    second->symbols = sample->launch->symbols;
    second->symbol_count = sample->launch->symbol_count;
    TraceBlock *block = trace_block_new(52);
    for (int i = 0; i < 4; i++) {
        TraceEvent event = sample_access(TRACE_SHARED_LOAD, SAMPLE_LOAD_SHARED, 1, 0, 0, 4);
        trace_block_append(block, &event);
    }
    trace_launch_add_block(second, block);
    trace_add_buffer(sample->trace, "out", 64, PTX_U32);
    trace_add_buffer(sample->trace, "more", 64, PTX_U32);
}

/* Every number is the largest allowed there, or different from that of every other field. */
static void fill(Finding *finding, PtxSpace space) {
    finding->kind_text = finding_kind_text(finding->kind);
    finding->space = space;
    finding->count = UINT64_MAX;
    finding->blocks = 105;
    finding->what = "sums[3]";
    finding->sentence = "it happens.";
    finding->advice = "do not";
    finding->cost = 1001;
    finding->ideal = UINT64_C(1) << 63;
    finding->predicted = 1003;
    finding->access = (FindingAccess){.pc = SAMPLE_COUNT - 1,
                                      .linear_block = 104,
                                      .warp = 2,
                                      .lanes = UINT32_MAX,
                                      .lane = 31,
                                      .buffer = space == PTX_SPACE_GLOBAL ? 2 : 1,
                                      .offset = UINT64_MAX - 1,
                                      .value = UINT64_MAX - 2,
                                      .has_value = true,
                                      .is_atomic = true,
                                      .interval = UINT32_MAX,
                                      .event = -1};
    finding->other = (FindingAccess){.pc = SAMPLE_LOAD_GLOBAL,
                                     .linear_block = 52,
                                     .warp = 1,
                                     .lanes = 0x80000001,
                                     .lane = 7,
                                     .offset = 77,
                                     .value = 78,
                                     .is_store = true,
                                     .interval = 9,
                                     .event = 3};
}

static void assert_same_text(const char *a, const char *b) {
    if (a && b)
        assert_string_equal(a, b);
    else
        assert_true(!a && !b);
}

static void assert_same_access(const FindingAccess *a, const FindingAccess *b) {
    assert_int_equal(a->pc, b->pc);
    assert_true(a->linear_block == b->linear_block);
    assert_int_equal(a->warp, b->warp);
    assert_int_equal(a->lanes, b->lanes);
    assert_int_equal(a->lane, b->lane);
    assert_int_equal(a->buffer, b->buffer);
    assert_true(a->offset == b->offset);
    assert_true(a->value == b->value);
    assert_int_equal(a->has_value, b->has_value);
    assert_int_equal(a->is_store, b->is_store);
    assert_int_equal(a->is_atomic, b->is_atomic);
    assert_int_equal(a->interval, b->interval);
    assert_int_equal(a->event, b->event);
}

static void assert_same_finding(const Finding *a, const Finding *b) {
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->severity, b->severity);
    assert_int_equal(a->launch, b->launch);
    assert_int_equal(a->space, b->space);
    assert_true(a->count == b->count);
    assert_true(a->blocks == b->blocks);
    assert_true(a->cost == b->cost);
    assert_true(a->ideal == b->ideal);
    assert_true(a->predicted == b->predicted);
    assert_same_text(a->kind_text, b->kind_text);
    assert_same_text(a->what, b->what);
    assert_same_text(a->sentence, b->sentence);
    assert_same_text(a->advice, b->advice);
    assert_same_access(&a->access, &b->access);
    assert_same_access(&a->other, &b->other);
}

/* One of each space, a fault, one without a place, and a note. */
static Findings *new_findings(const Trace *trace) {
    static const PtxSpace spaces[] = {PTX_SPACE_SHARED, PTX_SPACE_GLOBAL, PTX_SPACE_LOCAL};
    FindingsBuilder builder = findings_begin(trace);
    Findings *list = builder.list;
    for (int i = 0; i < 3; i++) fill(findings_add(list, &builder.capacity, FINDING_WARP_RACE, 1), spaces[i]);
    findings_add(list, &builder.capacity, FINDING_FAULT, 0)->kind_text = trap_kind_text(TRAP_MISALIGNED);
    list->items[3].sentence = "";
    list->error_count = 4;
    fill(findings_add(list, &builder.capacity, FINDING_DROPPED_EVENTS, 1), PTX_SPACE_GENERIC);
    list->items[4].sentence = "\tline\x7f \xc2\x9b.";
    return list;
}

static void findings_come_back(void **state) {
    (void)state;
    Sample sample;
    open_trace(&sample);
    Findings *list = new_findings(sample.trace);
    for (int complete = 0; complete < 2; complete++) {
        list->is_complete = complete;
        write_findings(list);
        Findings *back = read_findings(sample.trace, NULL);
        assert_int_equal(back->is_complete, complete);
        assert_int_equal(back->count, 5);
        assert_int_equal(back->error_count, 4);
        for (int i = 0; i < 4; i++) assert_same_finding(&list->items[i], &back->items[i]);
        /* No control character reaches the terminal. */
        assert_string_equal(back->items[4].sentence, "?line? ??.");
        const FindingAccess *access = &back->items[0].access, *other = &back->items[0].other;
        assert_memory_equal(access->block, ((uint32_t[]){2, 4, 6}), sizeof access->block);
        assert_memory_equal(other->block, ((uint32_t[]){1, 2, 3}), sizeof other->block);
        assert_int_equal(other->line, 11); /* follows from the pc */
        assert_string_equal(other->file, "sample.cu");
        assert_int_equal(back->items[3].access.line, 0);
        assert_null(back->items[3].access.file);
        findings_free(back);
    }
    findings_free(list);
    write_findings(NULL);
    assert_null(read_findings(sample.trace, NULL));
    sample_close(&sample);
}

/* ---- what is refused ----------------------------------------------------------------------------------- */

static void wrong_launch(Finding *finding) {
    finding->launch = 2;
}
static void no_launch(Finding *finding) {
    finding->launch = -1;
}
static void wrong_kind(Finding *finding) {
    finding->kind_text = "no_such_kind";
}
static void wrong_pc(Finding *finding) {
    finding->access.pc = SAMPLE_COUNT;
}
static void no_pc(Finding *finding) {
    finding->other.pc = -2;
}
static void wrong_block(Finding *finding) {
    finding->access.linear_block = 105;
}
static void wrong_warp(Finding *finding) {
    finding->access.warp = 3;
}
static void no_warp(Finding *finding) {
    finding->other.warp = -1;
}
static void wrong_lane(Finding *finding) {
    finding->access.lane = 32;
}
static void no_lane(Finding *finding) {
    finding->other.lane = -2;
}
static void wrong_symbol(Finding *finding) {
    finding->access.buffer = 2;
}
static void wrong_buffer(Finding *finding) {
    finding->space = PTX_SPACE_GLOBAL;
    finding->access.buffer = 3;
}
static void no_buffer(Finding *finding) {
    finding->other.buffer = -2;
}
static void wrong_event(Finding *finding) {
    finding->other.event = 4;
}
static void untraced_event(Finding *finding) {
    finding->access.event = 0;
}
static void no_event(Finding *finding) {
    finding->other.event = -2;
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    static const struct {
        void (*damage)(Finding *finding);
        const char *reason;
    } cases[] = {
        {wrong_launch, "column launch is 2"},
        {no_launch, "column launch is -1"},
        {wrong_kind, "there is no hazard 'no_such_kind'"},
        {wrong_pc, "column access_pc is 9"},
        {no_pc, "column other_pc is -2"},
        {wrong_block, "column access_block is 105"},
        {wrong_warp, "column access_warp is 3"},
        {no_warp, "column other_warp is -1"},
        {wrong_lane, "column access_lane is 32"},
        {no_lane, "column other_lane is -2"},
        {wrong_symbol, "column access_buffer is 2"},
        {wrong_buffer, "column access_buffer is 3"},
        {no_buffer, "column other_buffer is -2"},
        {wrong_event, "column other_event is 4"},
        {untraced_event, "column access_event is 0"},
        {no_event, "column other_event is -2"},
    };
    Sample sample;
    open_trace(&sample);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Findings *list = new_findings(sample.trace);
        cases[i].damage(&list->items[0]);
        write_findings(list);
        read_findings(sample.trace, cases[i].reason);
        findings_free(list);
    }
    sample_close(&sample);
}

/* Errors come first, and the number of findings is limited. */
static void lists_that_cannot_be_are_refused(void **state) {
    (void)state;
    enum { MOST = 4096 };
    Sample sample;
    open_trace(&sample);
    FindingsBuilder builder = findings_begin(sample.trace);
    for (int i = 0; i < MOST; i++)
        findings_add(builder.list, &builder.capacity, FINDING_BANK_CONFLICT, 0)->sentence = "";
    write_findings(builder.list);
    Findings *back = read_findings(sample.trace, NULL);
    assert_int_equal(back->count, MOST);
    assert_int_equal(back->error_count, 0);
    findings_free(back);
    findings_add(builder.list, &builder.capacity, FINDING_BANK_CONFLICT, 0)->sentence = "";
    write_findings(builder.list);
    read_findings(sample.trace, "there are too many (table hazard, row 4096)");
    builder.list->count = 1;
    findings_add(builder.list, &builder.capacity, FINDING_WARP_RACE, 0)->sentence = "";
    write_findings(builder.list);
    read_findings(sample.trace, "what is wrong comes after what is slow (table hazard, row 1)");
    findings_free(builder.list);
    sample_close(&sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_come_back),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(lists_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests_name("findings in a file", tests, make_path, remove_path);
}
