/* Reports of the sample launch: the exact text, the exact JSON, and values that become null. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/report.h"
#include "tests/cli/json_reader.h"
#include "tests/metrics/sample.h"
#include <math.h>
#include <string.h>

#define ALL 0xffffffffu

static const char *source_text(void *context, const char *file, int line) {
    static const char *const lines[] = {"    sdata[2 * tid] += sdata[tid];", "\tint x = in[tid];",
                                        "    x += p[32 * tid]; // a comment that is too long for its column",
                                        "    if (tid < s)  \r\n"};
    (void)context;
    return strcmp(file, "sample.cu") == 0 && line >= 10 && line < 14 ? lines[line - 10] : NULL;
}

static void fill(Sample *sample, ReportInput *input) {
    sample_open(sample);
    TraceCounter *c = sample->launch->counters;
    c[SAMPLE_LOAD_SHARED] = (TraceCounter){.executions = 10000,
                                           .lanes = 320000,
                                           .requests = 10000,
                                           .wavefronts = 40000,
                                           .ideal_wavefronts = 10000};
    c[SAMPLE_STORE_SHARED] =
        (TraceCounter){.executions = 10, .lanes = 100, .requests = 8, .wavefronts = 8, .ideal_wavefronts = 8};
    c[SAMPLE_LOAD_GLOBAL] =
        (TraceCounter){.executions = 4, .lanes = 128, .requests = 4, .sectors = 16, .ideal_sectors = 16};
    c[SAMPLE_LOAD_GENERIC] = (TraceCounter){.executions = 6,
                                            .lanes = 192,
                                            .requests = 6,
                                            .shared_requests = 2,
                                            .global_requests = 5,
                                            .wavefronts = 7,
                                            .ideal_wavefronts = 2,
                                            .sectors = 160,
                                            .ideal_sectors = 20};
    c[SAMPLE_BRANCH] = (TraceCounter){.executions = 12, .lanes = 384, .requests = 12, .divergent = 5};
    c[SAMPLE_SHUFFLE] = (TraceCounter){.executions = 7, .lanes = 224, .requests = 7};
    c[SAMPLE_BARRIER] = (TraceCounter){.executions = 3, .lanes = 96, .requests = 3};
    c[SAMPLE_RED] =
        (TraceCounter){.executions = 2, .lanes = 2, .requests = 2, .sectors = 2, .ideal_sectors = 2};
    TraceBlock *block = trace_block_new(0);
    TraceEvent load = sample_access(TRACE_SHARED_LOAD, SAMPLE_LOAD_SHARED, ALL, 0, 0, 32);
    trace_block_append(block, &load);
    TraceEvent shuffle = {.kind = TRACE_SHUFFLE, .pc = SAMPLE_SHUFFLE, .mask = 1};
    shuffle.source[0] = -1;
    trace_block_append(block, &shuffle);
    trace_launch_add_block(sample->launch, block);
    *input = (ReportInput){.kernel = "sample",
                           .title = "a launch built by hand",
                           .backend = "emulator",
                           .n = 1048576,
                           .block = 64,
                           .grid = 4,
                           .dtype = "int",
                           .op = "sum",
                           .has_result = true,
                           .correct = true,
                           .result = "-18",
                           .expected = "-18",
                           .trace = sample->trace,
                           .source_text = source_text};
}

static void assert_text(const ReportInput *input, const char *expected) {
    Text out = {0};
    report_text(input, &out);
    size_t same = 0, begin = 0; /* cmocka truncates long texts: the first line that differs is enough */
    for (; same < out.length && out.data[same] == expected[same]; same++)
        if (out.data[same] == '\n') begin = same + 1;
    if (same < out.length || expected[same])
        fail_msg("'%.*s' instead of '%.*s'", (int)strcspn(out.data + begin, "\n"), out.data + begin,
                 (int)strcspn(expected + begin, "\n"), expected + begin);
    for (const char *line = text_string(&out); *line;) { /* fits on a slide */
        size_t length = strcspn(line, "\n");
        if (length > 80) fail_msg("more than 80 columns: %.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
    text_done(&out);
}

#define TABLE                                                                                                \
    "                                    active wavefronts      ideal sectors diverg.\n"                     \
    " line  sample.cu                     lanes                      /request  branch\n"                     \
    "   10  sdata[2 * tid] += sdata[ti..   32.0     40,008     10,008\n"                                     \
    "   11  int x = in[tid];               32.0                          4.00\n"                             \
    "   12  x += p[32 * tid]; // a com..   32.0          7          2   32.00\n"                             \
    "   13  if (tid < s)                   32.0                                  42 %%\n"                    \
    "   14                                 32.0\n"                                                           \
    "   15                                 32.0\n"                                                           \
    "   16                                  1.0\n"                                                           \
    "\n"                                                                                                     \
    "PTX counts, whole grid%s\n"                                                                             \
    "  warp instructions                   10,044\n"                                                         \
    "  average active lanes                  32.0   of 32\n"                                                 \
    "  shared loads                        10,002\n"                                                         \
    "    wavefronts                        40,007   ideal 10,002\n"                                          \
    "  shared stores                            8\n"                                                         \
    "    wavefronts                             8   ideal 8\n"                                               \
    "  global load requests                     9\n"                                                         \
    "    sectors                              176   ideal 36\n"                                              \
    "  shuffles                                 7\n"                                                         \
    "  barriers (all warps)                     3\n"                                                         \
    "  conditional branches                    12\n"                                                         \
    "    divergent                              5\n"                                                         \
    "  atomics (all warps)                      2\n"                                                         \
    "\n"

// clang-format off
#define UNDEFINED                                                                                            \
    "- line 14: a shuffle reads inactive lanes (1 execution in the traced blocks);\n"                        \
    "  --check says whether the undefined value is used.\n"
#define SLOW                                                                                                 \
    ". line 10: up to 8-way bank conflicts: 40,008 wavefronts, ideal 10,008.\n"                              \
    "- Below 2 % of the run: bank conflicts in line 12; uncoalesced accesses in line\n"                      \
    "  12.\n"
// clang-format on

static const char HEAD[] =
    "sample: a launch built by hand                                          EMULATED\n"
    "n = 1,048,576 int, sum, 4 blocks of 64 threads\n";

static void assert_slide(const ReportInput *input, const char *result, const char *launch, const char *limit,
                         const char *findings) {
    Text expected = {0};
    text_print(&expected, "%s%s%s\n" TABLE "%s", HEAD, result, launch, limit, findings);
    assert_text(input, text_string(&expected));
    text_done(&expected);
}

static void a_report_reads_like_a_slide(void **state) {
    (void)state;
    Sample sample;
    ReportInput input;
    fill(&sample, &input);
    static const int registers[] = {16};
    static const double occupancy[] = {0.75};
    input.registers = registers;
    input.occupancy = occupancy;
    input.occupancy_of = "an H200";
    assert_slide(&input, "result -18, expected -18: ok\n",
                 "sample<<<4, 64>>>\n"
                 "  8,192 bytes of shared memory, 16 registers, occupancy 75 % on an H200\n",
                 "", "1" SLOW UNDEFINED);
    sample_close(&sample);
}

static void traps_and_wrong_results_come_first(void **state) {
    (void)state;
    Sample sample;
    ReportInput input;
    fill(&sample, &input);
    Trap trap = {
        .kind = TRAP_OUT_OF_BOUNDS, .pc = SAMPLE_LOAD_GLOBAL, .warp = 1, .lanes = 0xff, .block = {3, 0, 0}};
    trap.detail = "4 bytes past the end of `in` (4000 bytes); nothing is nearer";
    trace_add_trap(sample.trace, &trap);
    trace_add_trap(sample.trace, &trap);
    trace_add_trap(sample.trace,
                   &(Trap){.kind = TRAP_DEADLOCK, .pc = PTX_NO_PC, .detail = "warp 0 waits at line 15"});
    input.correct = false;
    input.result = "17";
    input.absolute_error = 35;
    assert_slide(&input, "result 17, expected -18: WRONG, off by 35\n",
                 "sample<<<4, 64>>>\n"
                 "  8,192 bytes of shared memory\n",
                 ", up to the trap",
                 "1. TRAP deadlock: block 0: warp 0 waits at line 15.\n"
                 "2. wrong result: the result is 17, expected -18.\n"
                 "3. TRAP out of bounds: line 11, block 3, warp 1, lanes 0-7: 4 bytes past the end\n"
                 "   of `in` (4000 bytes); nothing is nearer. 1 more at this line.\n"
                 "4" SLOW UNDEFINED);
    sample_close(&sample);
}

/* The first lines of the report. */
static void assert_head(const ReportInput *input, const char *head) {
    Text out = {0};
    report_text(input, &out);
    if (out.length > strlen(head)) out.data[strlen(head)] = 0;
    assert_string_equal(text_string(&out), head);
    text_done(&out);
}

static void the_head_says_what_ran_and_how_right_it_was(void **state) {
    (void)state;
    Sample sample;
    ReportInput input;
    fill(&sample, &input);
    input.lesson = "A sentence that is long enough to be broken into two lines, because it has more than "
                   "eighty letters.";
    input.n = input.block = input.grid = 1;
    input.compared = 1;
    input.result = "0.25";
    input.expected = "0.26";
    input.absolute_error = 0.01;
    input.bound = 0.5;
    memcpy(sample.launch->grid, (uint32_t[]){4, 5, 1}, sizeof sample.launch->grid);
    memcpy(sample.launch->block, (uint32_t[]){4, 5, 6}, sizeof sample.launch->block);
    sample.launch->static_shared_bytes = 1;
    sample.launch->cooperative = true;
    assert_head(&input, "sample: a launch built by hand                                          EMULATED\n"
                        "A sentence that is long enough to be broken into two lines, because it has more\n"
                        "than eighty letters.\n"
                        "n = 1 int, sum, 1 block of 1 thread\n"
                        "result 0.25, expected 0.26: ok, off by 0.01 (0.5 allowed)\n"
                        "sample<<<(4,5), (4,5,6)>>> (cooperative)\n"
                        "  1 byte of shared memory\n");
    input.title = input.lesson = NULL;
    input.compared = 2000;
    input.index = 1000;
    sample.launch->static_shared_bytes = 0;
    input.verdict = "what it should be";
    assert_head(&input, "sample                                                                  EMULATED\n"
                        "n = 1 int, sum, 1 block of 1 thread\n"
                        "2,000 results, largest error: result 1,000 is 0.25, expected 0.26: what it\n"
                        "should be\n"
                        "sample<<<(4,5), (4,5,6)>>> (cooperative)\n"
                        "  no shared memory\n");
    input.absolute_error = 0;
    input.verdict = NULL;
    input.result = "0.26";
    assert_head(&input, "sample                                                                  EMULATED\n"
                        "n = 1 int, sum, 1 block of 1 thread\n"
                        "2,000 results, the first is 0.26, expected 0.26: ok\n");
    input.result = NULL;
    assert_head(&input, "sample                                                                  EMULATED\n"
                        "n = 1 int, sum, 1 block of 1 thread\n"
                        "no result: a trap ended the run; expected 0.26\n");
    input.has_result = false;
    assert_head(&input, "sample                                                                  EMULATED\n"
                        "n = 1 int, sum, 1 block of 1 thread\n"
                        "result not checked; --expect can name what it should be\n");
    sample_close(&sample);
}

/* A branch is charged with the lanes that are idle until its paths join; a run that trapped has no ideal
 * costs. */
static void divergence_is_reported_with_its_branch(void **state) {
    (void)state;
    Sample sample;
    ReportInput input;
    fill(&sample, &input);
    TraceCounter *c = sample.launch->counters;
    PtxCode *branch = &sample.program->code[SAMPLE_BRANCH];
    int target = branch->target, reconvergence = branch->reconvergence;
    memset(c, 0, SAMPLE_COUNT * sizeof *c);
    branch->target = branch->reconvergence = SAMPLE_BRANCH + 2; /* it skips one instruction */
    c[SAMPLE_BRANCH] = (TraceCounter){.executions = 40, .lanes = 1280, .requests = 40, .divergent = 30};
    c[SAMPLE_BRANCH + 1] = (TraceCounter){.executions = 40, .lanes = 320};
    c[SAMPLE_LOAD_SHARED] = (TraceCounter){
        .executions = 20, .lanes = 640, .requests = 20, .wavefronts = 20, .ideal_wavefronts = 20};
    Text out = {0};
    report_text(&input, &out);
    assert_non_null(strstr(out.data,
                           "1. line 13: 75 % of branches diverge, 8.0 of 32 lanes busy in 40 % of all\n"
                           "   instructions (30 of 40 branches).\n"));
    assert_non_null(strstr(out.data, "- 22.4 of 32 lanes active on average.\n"
                                     "- No shared access has a bank conflict.\n"));
    text_clear(&out);
    c[SAMPLE_BRANCH + 1].executions = 1; /* its share is a trifle */
    c[SAMPLE_BRANCH + 1].lanes = 8;
    report_text(&input, &out);
    assert_null(strstr(out.data, "1. line"));
    assert_non_null(strstr(out.data, "- Below 2 % of the run: divergence in line 13.\n"));
    text_clear(&out);
    trace_add_trap(sample.trace, &(Trap){.kind = TRAP_DEADLOCK, .pc = PTX_NO_PC, .detail = ""});
    report_text(&input, &out);
    assert_null(strstr(out.data, "No shared access"));
    text_done(&out);
    branch->target = target;
    branch->reconvergence = reconvergence;
    sample_close(&sample);
}

static void what_is_good_is_said_too(void **state) {
    (void)state;
    Sample sample;
    ReportInput input;
    fill(&sample, &input);
    TraceCounter *c = sample.launch->counters;
    memset(c, 0, SAMPLE_COUNT * sizeof *c);
    c[SAMPLE_LOAD_SHARED] =
        (TraceCounter){.executions = 4, .lanes = 96, .requests = 4, .wavefronts = 4, .ideal_wavefronts = 4};
    c[SAMPLE_LOAD_GLOBAL] =
        (TraceCounter){.executions = 4, .lanes = 128, .requests = 4, .sectors = 16, .ideal_sectors = 16};
    c[SAMPLE_BRANCH] = (TraceCounter){.executions = 8, .lanes = 256, .requests = 8};
    Text out = {0};
    report_text(&input, &out);
    assert_non_null(strstr(text_string(&out), "- 30.0 of 32 lanes active on average.\n"
                                              "- No shared access has a bank conflict.\n"
                                              "- Every global request touches the fewest sectors possible.\n"
                                              "- No branch diverges.\n"));
    assert_null(strstr(text_string(&out), "- line 10"));
    text_done(&out);
    sample_close(&sample);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

/* Fails with the texts from the first difference. */
static void assert_begins(const char *text, const char *begin) {
    size_t same = 0;
    while (begin[same] && text[same] == begin[same]) same++;
    if (begin[same]) fail_msg("after %zu bytes '%.60s' instead of '%.60s'", same, text + same, begin + same);
}

static void json_has_its_fields_in_their_order(void **state) {
    (void)state;
    Sample sample;
    ReportInput input;
    fill(&sample, &input);
    input.title = NULL;
    trace_add_trap(sample.trace, &(Trap){.kind = TRAP_OUT_OF_BOUNDS,
                                         .pc = SAMPLE_LOAD_GLOBAL,
                                         .warp = 1,
                                         .lanes = 3,
                                         .block = {3, 0, 0},
                                         .detail = "past \"in\""});
    Text out = {0};
    report_json(&input, &out);
    static const char counters[] =
        "\"warp_instructions\":10044,\"shared_loads\":10002,\"shared_stores\":8,\"shared_load_wavefronts\":"
        "40007,"
        "\"shared_load_wavefronts_ideal\":10002,\"shared_store_wavefronts\":8,\"shared_store_wavefronts_"
        "ideal\":8,"
        "\"shared_atomics\":0,\"shared_atomic_wavefronts\":0,\"shared_atomic_wavefronts_ideal\":0,"
        "\"global_load_requests\":9,\"global_load_sectors\":176,\"global_store_requests\":0,\"global_store_"
        "sectors\":0,"
        "\"shuffles\":7,\"barriers\":3,\"branches\":12,\"divergent_branches\":5,\"atomics\":2,"
        "\"average_active_lanes\":31.971923536439665}";
    Text begin = {0};
    text_print(&begin,
               "{\"kernel\":\"sample\",\"backend\":\"emulator\",\"device\":null,\"n\":1048576,\"block\":64,"
               "\"grid\":4,"
               "\"dtype\":\"int\",\"op\":\"sum\",\"result\":-18,\"expected\":-18,\"absolute_error\":0,"
               "\"relative_error\":0,"
               "\"correct\":true,\"error_is_rounding\":true,\"totals\":{%s,\"launches\":[{\"entry\":"
               "\"sample\",\"grid\":[4,1,1],"
               "\"block\":[64,1,1],\"cluster\":[1,1,1],"
               "\"shared_bytes\":8192,\"registers\":null,\"occupancy\":null,\"totals\":{%s}],\"lines\":[{"
               "\"file\":\"sample.cu\","
               "\"line\":10,\"text\":\"sdata[2 * tid] += sdata[tid];\",\"warp_instructions\":10010,",
               counters, counters);
    assert_begins(text_string(&out), text_string(&begin));
    static const char end[] =
        "\"average_active_lanes\":1}],\"measured\":null,\"grid_on_machine\":null,\"traps\":[{\"kind\":\"out_"
        "of_bounds\",\"line\":11,"
        "\"block\":3,\"warp\":1,\"lanes\":\"0x00000003\",\"detail\":\"past \\\"in\\\"\"}],"
        "\"hazards\":null,\"causes\":null,\"efficiency\":null,\"hazards_complete\":null,\"counted_by\":null,"
        "\"dropped_events\":0}\n";
    assert_true(out.length > sizeof end);
    assert_string_equal(out.data + out.length - (sizeof end - 1), end);
    assert_true(json_valid(out.data));
    text_done(&begin);
    text_done(&out);
    sample_close(&sample);
}

static void assert_field(const char *json, const char *path, const char *expected) {
    const char *value = json_at(json, path);
    if (!value) fail_msg("there is no %s", path);
    assert_memory_equal(value, expected, strlen(expected));
}

static void what_is_not_known_is_null(void **state) {
    (void)state;
    Sample sample;
    ReportInput input;
    fill(&sample, &input);
    input.has_result = false;
    input.dtype = input.op = NULL;
    input.source_text = NULL;
    Text out = {0};
    report_json(&input, &out);
    static const char *const paths[] = {"device",         "dtype",    "op",
                                        "result",         "expected", "absolute_error",
                                        "relative_error", "correct",  "error_is_rounding",
                                        "measured",       "hazards",  "lines.0.text"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) assert_field(out.data, paths[i], "null");
    text_clear(&out);
    input.has_result = true; /* a trap came before there was a result; the reference is a huge integer */
    input.correct = false;
    input.result = NULL;
    input.expected = "18446744073709551615";
    input.absolute_error = input.relative_error = 0.0 / 0.0;
    report_json(&input, &out);
    assert_field(out.data, "result", "null");
    assert_field(out.data, "expected", "18446744073709551615");
    assert_field(out.data, "absolute_error", "null");
    assert_field(out.data, "correct", "false");
    text_clear(&out);
    input.result = "nan";
    input.expected = "0.1";
    report_json(&input, &out);
    assert_field(out.data, "result", "null");
    assert_field(out.data, "expected", "0.1,");
    text_done(&out);
    sample_close(&sample);
}

/* --trace-blocks: the contents of events, and null for missing values. */
static void a_narrowed_report_counts_traced_events(void **state) {
    (void)state;
    Sample sample;
    ReportInput input;
    fill(&sample, &input);
    input.narrowed = true;
    Text out = {0};
    report_json(&input, &out);
    static const char *const objects[] = {"totals", "launches.0.totals", "lines.0"};
    for (size_t i = 0; i < 3; i++) {
        char path[80];
        snprintf(path, sizeof path, "%s.warp_instructions", objects[i]);
        assert_field(out.data, path, "null");
        snprintf(path, sizeof path, "%s.average_active_lanes", objects[i]);
        assert_field(out.data, path, "null");
        snprintf(path, sizeof path, "%s.shared_loads", objects[i]);
        assert_field(out.data, path, "1,");
        snprintf(path, sizeof path, "%s.shared_load_wavefronts", objects[i]);
        assert_field(out.data, path, "8,");
    }
    text_clear(&out);
    report_text(&input, &out);
    assert_non_null(strstr(out.data, "PTX counts, traced blocks only"));
    assert_null(strstr(out.data, "warp instructions"));
    assert_non_null(strstr(out.data, "1. line 10: 8-way bank conflicts: 8 wavefronts, ideal 1.\n"));
    text_done(&out);
    sample_close(&sample);
}

/* PTX without line information: its own lines are used as the source. */
static void ptx_stands_in_for_missing_source(void **state) {
    (void)state;
    Sample sample;
    ReportInput input;
    fill(&sample, &input);
    for (int pc = 0; pc < SAMPLE_COUNT; pc++) sample.program->code[pc].line = (PtxSourceLine){NULL, 0};
    Text out = {0};
    report_json(&input, &out);
    assert_field(out.data, "lines.0.file", "\"sample.ptx\"");
    assert_field(out.data, "lines.0.line", "10,");
    assert_field(out.data, "lines.0.text", "\"ld.shared.u32 %r1, [%rd1];\"");
    assert_field(out.data, "lines.2.text", "\"ld.global.u32 %r2, [%rd2];\"");
    text_done(&out);
    sample_close(&sample);
}

/* Hardware counters beside the trace's, all of them in order; registers and results as far as they are
 * known. */
static void json_has_what_was_measured(void **state) {
    (void)state;
    static MeasuredCounter counters[] = {
        {.launch = 0,
         .metric = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
         .label = "  wavefronts",
         .machine = "H200",
         .value = 40,
         .predicted = 40},
        {.launch = 1, .metric = "dram", .label = "bytes", .machine = "H200", .value = 7.5, .note = "caches"}};
    counters[1].predicted = (double)NAN;
    Measurements measured = {.counters = counters, .counter_count = 2};
    static const int registers[] = {0}, unknown[] = {-1};
    static const double occupancy[] = {0}, no_occupancy[] = {-1};
    static const char expected[] =
        "\"measured\":{\"device\":\"H200\",\"recorded\":\"2026-11-21T15:00:00Z\",\"counters\":["
        "{\"launch\":0,\"metric\":\"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum\",\"label\":"
        "\"wavefronts\",\"predicted\":4e+01,\"measured\":4e+01,"
        "\"agreement\":\"equal\",\"note\":null,\"reason\":null},"
        "{\"launch\":1,\"metric\":\"dram\",\"label\":\"bytes\",\"predicted\":null,\"measured\":7.5,"
        "\"agreement\":null,\"note\":\"caches\",\"reason\":null}],"
        "\"machine\":null,\"sass\":null,\"lines\":null}";
    Sample sample;
    ReportInput input;
    Text out = {0};
    fill(&sample, &input);
    input.measured = &measured;
    input.recorded = "2026-11-21T15:00:00Z";
    input.registers = registers;
    input.occupancy = occupancy;
    input.expected = "18446744073709551615";
    report_json(&input, &out);
    if (!strstr(text_string(&out), expected)) fail_msg("%s", strstr(text_string(&out), "\"measured\""));
    assert_non_null(strstr(text_string(&out), "\"registers\":0,\"occupancy\":0,"));
    assert_non_null(strstr(text_string(&out), "\"result\":-18,\"expected\":18446744073709551615,"));
    text_clear(&out);
    input.registers = unknown;
    input.occupancy = no_occupancy;
    report_json(&input, &out);
    assert_non_null(strstr(text_string(&out), "\"registers\":null,\"occupancy\":null,"));
    text_done(&out);
    sample_close(&sample);
}

/* A launch after another one, without known hardware figures. */
static void json_has_the_grid(void **state) {
    (void)state;
    static GridLaunch launches[2] = {
        {.entry = "a", .block_count = 40, .capacity = 2, .plain_capacity = 3, .figures = {.end = 2000}},
        {.entry = "b",
         .block_count = 1,
         .figures = {.start = 3000, .end = 3500, .used_multiprocessors = 1, .most_resident = 1, .tail = 0}}};
    GridTimeline timeline = {.of = {.machine = "H200", .driver = "", .measured = "2026-11-22T10:00:00Z"},
                             .multiprocessors = 10,
                             .overhead = (double)NAN,
                             .launches = launches,
                             .launch_count = 2};
    launches[0].figures = (GridFigures){.end = 2000,
                                        .used_multiprocessors = 10,
                                        .most_resident = 2,
                                        .tail = 300,
                                        .idle = 0.125,
                                        .mean_block = 750,
                                        .longest_block = 800};
    launches[1].figures.idle = launches[1].figures.mean_block = launches[1].figures.longest_block =
        (double)NAN;
    static const char expected[] =
        "\"grid_on_machine\":{\"device\":\"H200\",\"driver\":null,\"recorded\":\"2026-11-22T10:00:00Z\","
        "\"multiprocessors\":10,\"granularity_ns\":null,\"overhead\":null,\"launches\":[{\"entry\":\"a\","
        "\"blocks\":40,\"blocks_per_multiprocessor\":2,\"blocks_per_multiprocessor_without_probe\":3,"
        "\"waves\":2,\"most_resident\":2,\"used_multiprocessors\":10,\"start_ns\":0,\"end_ns\":2000,"
        "\"gap_ns\":null,\"tail_ns\":300,\"idle_share\":0.125,\"mean_block_ns\":7.5e+02,"
        "\"longest_block_ns\":8e+02},{\"entry\":\"b\",\"blocks\":1,\"blocks_per_multiprocessor\":null,"
        "\"blocks_per_multiprocessor_without_probe\":null,\"waves\":null,\"most_resident\":1,"
        "\"used_multiprocessors\":1,\"start_ns\":3000,\"end_ns\":3500,\"gap_ns\":1000,\"tail_ns\":0,"
        "\"idle_share\":null,\"mean_block_ns\":null,\"longest_block_ns\":null}]},";
    Sample sample;
    ReportInput input;
    Text out = {0};
    fill(&sample, &input);
    input.timeline = &timeline;
    report_json(&input, &out);
    const char *at = strstr(text_string(&out), "\"grid_on_machine\"");
    if (!at || strncmp(at, expected, strlen(expected)) != 0) fail_msg("%s", at ? at : text_string(&out));
    input.timeline_is_live = true;
    text_clear(&out);
    report_json(&input, &out);
    assert_non_null(strstr(text_string(&out), "\"driver\":null,\"recorded\":null,"));
    sample_close(&sample);
    text_done(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_has_the_grid),
        cmocka_unit_test(json_has_what_was_measured),
        cmocka_unit_test(a_report_reads_like_a_slide),
        cmocka_unit_test(traps_and_wrong_results_come_first),
        cmocka_unit_test(the_head_says_what_ran_and_how_right_it_was),
        cmocka_unit_test(divergence_is_reported_with_its_branch),
        cmocka_unit_test(what_is_good_is_said_too),
        cmocka_unit_test(json_has_its_fields_in_their_order),
        cmocka_unit_test(what_is_not_known_is_null),
        cmocka_unit_test(a_narrowed_report_counts_traced_events),
        cmocka_unit_test(ptx_stands_in_for_missing_source),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
