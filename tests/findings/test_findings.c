/* The findings of small traces, in text and JSON: their kinds, their order, their examples and advice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings/findings.h"
#include "tests/cli/json_reader.h"
#include "tests/metrics/sample.h"
#include <string.h>

#define ALL 0xffffffffu

static void append(TraceBlock *block, TraceEvent event) {
    trace_block_append(block, &event);
}

/* Line 10: a 2-way, two 7-way and again a 2-way bank conflict; line 11: strided loads; line 12: worse
 * ones. */
static void fill(Sample *sample) {
    sample_open(sample);
    TraceCounter *c = sample->launch->counters;
    c[SAMPLE_LOAD_SHARED] = (TraceCounter){
        .executions = 400, .lanes = 12800, .requests = 400, .wavefronts = 2000, .ideal_wavefronts = 400};
    c[SAMPLE_LOAD_GLOBAL] =
        (TraceCounter){.executions = 10, .lanes = 320, .requests = 10, .sectors = 280, .ideal_sectors = 40};
    c[SAMPLE_LOAD_GENERIC] = (TraceCounter){
        .executions = 10, .lanes = 320, .global_requests = 10, .sectors = 320, .ideal_sectors = 40};
    TraceBlock *block = trace_block_new(0);
    append(block, sample_access(TRACE_SHARED_LOAD, SAMPLE_LOAD_SHARED, ALL, 0, 0, 8));
    append(block, sample_access(TRACE_SHARED_LOAD, SAMPLE_LOAD_SHARED, 0xfffffff0, 0, 0, 32));
    append(block, sample_access(TRACE_SHARED_LOAD, SAMPLE_LOAD_SHARED, 0xfffffff0, 0, 4, 32));
    append(block, sample_access(TRACE_SHARED_LOAD, SAMPLE_LOAD_SHARED, ALL, 0, 0, 8));
    trace_launch_add_block(sample->launch, block);
}

/* The most costly first, regardless of line and kind. */
static void slow_findings_are_ordered_by_what_they_waste(void **state) {
    (void)state;
    Sample sample;
    fill(&sample);
    Findings *findings = findings_new(NULL, sample.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    assert_int_equal(findings->error_count, 0);
    assert_int_equal(findings->count, 3);
    static const int lines[] = {10, 12, 11};
    static const uint64_t costs[] = {2000, 320, 280}, ideals[] = {400, 40, 40};
    for (int i = 0; i < 3; i++) {
        const Finding *finding = &findings->items[i];
        assert_int_equal(finding->severity, SEVERITY_SLOW);
        assert_int_equal(finding->kind, i ? FINDING_UNCOALESCED : FINDING_BANK_CONFLICT);
        assert_int_equal(finding->access.line, lines[i]);
        assert_int_equal(finding->cost, costs[i]);
        assert_int_equal(finding->ideal, ideals[i]);
    }
    findings_free(findings);
    sample_close(&sample);
}

/* The first of the worst accesses, by its first active lane. */
static void the_example_is_the_first_of_the_worst(void **state) {
    (void)state;
    Sample sample;
    fill(&sample);
    Findings *findings = findings_new(NULL, sample.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    const FindingAccess *access = &findings->items[0].access;
    assert_int_equal(access->event, 1);
    assert_int_equal(access->pc, SAMPLE_LOAD_SHARED);
    assert_int_equal(access->lanes, 0xfffffff0);
    assert_int_equal(access->lane, 4);
    assert_int_equal(access->offset, 4 * 32);
    assert_int_equal(findings->items[1].access.event, -1); /* its accesses are not traced */
    findings_free(findings);
    sample_close(&sample);
}

/* The prediction is the cost of the traced accesses with the padding. */
static void padding_is_computed_from_the_traced_accesses(void **state) {
    (void)state;
    Sample sample;
    fill(&sample);
    Findings *findings = findings_new(NULL, sample.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    const Finding *finding = &findings->items[0];
    uint64_t now = 0, padded = 0;
    const TraceBlock *block = sample.launch->blocks[0];
    for (int i = 0; i < trace_block_event_count(block); i++) {
        TraceEvent event;
        trace_block_read(block, i, &event);
        now += (uint64_t)access_shared_cost(true, event.width, event.mask, event.offset).wavefronts;
        for (int lane = 0; lane < WARP_LANES; lane++) event.offset[lane] += event.offset[lane] / 128 * 4;
        padded += (uint64_t)access_shared_cost(true, event.width, event.mask, event.offset).wavefronts;
    }
    if (padded >= now) fail_msg("%d wavefronts with padding, %d without", (int)padded, (int)now);
    assert_int_equal(finding->predicted, (finding->cost * padded + now / 2) / now);
    assert_non_null(strstr(finding->advice,
                           "pad `sdata`: 1 unused element after every 32 (index + index / 32; "
                           "rows of 33 instead of 32)"));
    findings_free(findings);
    sample_close(&sample);
}

static void only_the_most_costly_get_advice(void **state) {
    (void)state;
    Sample sample;
    fill(&sample);
    TraceCounter *all = sample.launch->counters;
    all[SAMPLE_LOAD_SHARED].executions = all[SAMPLE_LOAD_SHARED].requests = 20;
    all[SAMPLE_LOAD_SHARED].wavefronts = 500;
    enum { LAUNCHES = 5 }; /* of lines 10, 11, 12; each in a file of its own */
    static const char *const files[LAUNCHES] = {"a.cu", "b.cu", "c.cu", "d.cu", "e.cu"};
    Sample others[LAUNCHES];
    for (int i = 0; i < LAUNCHES; i++) {
        sample_open(&others[i]);
        for (int pc = 0; pc < SAMPLE_COUNT; pc++) others[i].program->code[pc].line.file = files[i];
        Launch one_thread = {.program = others[i].program, .grid = {1, 1, 1}, .block = {1, 1, 1}};
        TraceLaunch *launch = trace_add_launch(sample.trace, &one_thread);
        memcpy(launch->counters, sample.launch->counters, SAMPLE_COUNT * sizeof *launch->counters);
        launch->counters[SAMPLE_LOAD_GLOBAL].sectors = 300 + (uint64_t)i;
    }
    Findings *findings = findings_new(NULL, sample.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    assert_int_equal(findings->count, 16); /* of 18 */
    assert_int_equal(findings->items[15].cost, 301);
    for (int i = 0; i < findings->count; i++) assert_non_null(findings->items[i].advice);
    findings_free(findings);
    sample_close(&sample);
    for (int i = 0; i < LAUNCHES; i++) sample_close(&others[i]);
}

static Findings *with_errors(Sample *sample) {
    fill(sample);
    Trap trap = {.kind = TRAP_OUT_OF_BOUNDS, .pc = SAMPLE_LOAD_GLOBAL, .warp = 1, .lanes = 0xf0};
    trap.detail = "past the end";
    trap.block[0] = 2;
    trace_add_trap(sample->trace, &trap);
    trace_add_trap(sample->trace, &trap);
    return findings_new(NULL, sample->trace, &(FindingResult){true, "17", "18", NULL},
                        &(FindingKnown){.leak_pc = PTX_NO_PC});
}

static void errors_come_first(void **state) {
    (void)state;
    Sample sample;
    Findings *findings = with_errors(&sample);
    assert_int_equal(findings->error_count, 2);
    assert_int_equal(findings->count, 5);
    assert_string_equal(findings->items[0].kind_text, "wrong_result"); /* without a line */
    assert_string_equal(findings->items[0].sentence, "the result is 17, expected 18.");
    const Finding *fault = &findings->items[1];
    assert_int_equal(fault->kind, FINDING_FAULT);
    assert_string_equal(fault->kind_text, "out_of_bounds");
    assert_int_equal(fault->count, 2);
    assert_int_equal(fault->access.lane, 4);
    assert_string_equal(fault->sentence, "line 11, block 2, warp 1, lanes 4-7: past the end.");
    for (int i = 0; i < 2; i++) assert_int_equal(findings->items[i].severity, SEVERITY_ERROR);
    assert_false(findings->is_complete);
    findings_free(findings);
    sample_close(&sample);
}

/* The advice for each fault; some have none. Only poison that is read does not end the search. */
static void faults_have_advice(void **state) {
    (void)state;
    static const struct {
        TrapKind kind;
        const char *advice;
    } cases[] = {
        {TRAP_OUT_OF_BOUNDS,
         "compare the index with the number of elements before the access (if (i < n)), and "
         "the size of the array with that of the block"},
        {TRAP_INDEX_OVERFLOW,
         "compute the index in 64 bits (size_t i = (size_t)row * columns + column), or compare "
         "before it becomes negative"},
        {TRAP_MISALIGNED, "align vector accesses to a multiple of their size"},
        {TRAP_DIVERGENT_BARRIER,
         "move the barrier out of the branch, so that every thread of the block reaches it"},
        {TRAP_DEADLOCK, "make sure that what the threads wait for happens: the same barriers on every path, "
                        "all blocks resident at "
                        "once, locks taken by one lane at a time"},
        {TRAP_MISSING_LANES,
         "include in the mask only lanes that execute the instruction (__ballot_sync before the "
         "branch gives it), or move the instruction out of the branch"},
        {TRAP_LANE_OUTSIDE_MASK, "let the mask name every lane that executes the instruction"},
        {TRAP_UNINITIALIZED, "let every thread store its element, or the identity if it has none, before a "
                             "barrier and the first load"},
        {TRAP_INSTRUCTION_BUDGET, "look for a loop that does not end; --max-instructions raises the limit"},
        {TRAP_TRAP_INSTRUCTION, NULL},
        {TRAP_ASSERTION, NULL},
        {TRAP_READ_ONLY, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Sample sample;
        sample_open(&sample);
        memcpy(sample.launch->grid, (uint32_t[]){4, 5, 6}, sizeof sample.launch->grid);
        Trap trap = {
            .kind = cases[i].kind, .pc = i % 2 ? SAMPLE_STORE_SHARED : PTX_NO_PC, .block = {3, 2, 1}};
        trace_add_trap(sample.trace, &trap);
        Findings *findings = findings_new(NULL, sample.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
        const Finding *fault = findings->items;
        assert_int_equal(findings->count, 1);
        assert_string_equal(fault->kind_text, trap_kind_text(cases[i].kind));
        if (cases[i].advice)
            assert_string_equal(fault->advice, cases[i].advice);
        else
            assert_null(fault->advice);
        assert_int_equal(fault->access.lane, -1);
        assert_int_equal(fault->access.linear_block, 3 + 4 * (2 + 5 * 1));
        Text sentence = {0};
        text_print(&sentence, "%sblock 31: %s.", i % 2 ? "line 10, " : "", fault->kind_text);
        assert_string_equal(fault->sentence, text_string(&sentence));
        text_done(&sentence);
        findings_free(findings);
        sample_close(&sample);
    }
}

/* What a count means: executions by warps, copies of lanes, the faults recorded. */
static void counts_say_of_what(void **state) {
    (void)state;
    static const struct {
        FindingKind kind;
        const char *text;
    } cases[] = {
        {FINDING_SHARED_RACE, "in 1,536 executions by a warp, in 16 blocks"},
        {FINDING_COPY_NOT_AWAITED, "1,536 such copies of a lane, in 16 blocks"},
        {FINDING_FAULT, "1,536 such faults are kept, in 16 blocks"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Finding finding = {.kind = cases[i].kind, .count = 1536, .blocks = 16};
        Text out = {0};
        assert_true(finding_has_count(&finding));
        finding_print_count(&finding, &out);
        assert_string_equal(text_string(&out), cases[i].text);
        text_done(&out);
    }
    /* Its sentence contains the count. */
    assert_false(finding_has_count(&(Finding){.kind = FINDING_HEAP_LEAK, .count = 3}));
}

static void text_numbers_them(void **state) {
    (void)state;
    Sample sample;
    Findings *findings = with_errors(&sample);
    Text out = {0};
    findings_print(findings, NULL, NULL, &out);
    static const char begin[] =
        " 1. wrong result\n"
        "    the result is 17, expected 18.\n"
        " 2. out of bounds\n"
        "    line 11, block 2, warp 1, lanes 4-7: past the end.\n"
        "    2 such faults are kept, in 1 block.\n"
        "    What to do: compare the index with the number of elements before the access\n"
        "    (if (i < n)), and the size of the array with that of the block.\n"
        "Beyond the ideal (counts, not times):\n"
        " 3. bank conflicts\n"
        "    line 10: up to 7-way bank conflicts: 2,000 wavefronts, ideal 400.\n"
        "    What to do: pad `sdata`: ";
    static const char end[] = "The search ended before the run did: there may be more.\n"
                              "2 hazards; 3 places beyond the ideal.\n";
    const char *text = text_string(&out);
    if (strncmp(text, begin, strlen(begin)) != 0) fail_msg("%s", text);
    assert_string_equal(text + strlen(text) - strlen(end), end);
    text_clear(&out);
    findings_print_brief(findings, false, &out);
    assert_non_null(
        strstr(text_string(&out),
               "1. wrong result: the result is 17, expected 18.\n"
               "2. TRAP out of bounds: line 11, block 2, warp 1, lanes 4-7: past the end. 1 more\n"
               "   at this line.\n"
               "3. line 10: up to 7-way bank conflicts: 2,000 wavefronts, ideal 400.\n"
               "4. line 12: 32 sectors per request, ideal 4; "));
    text_done(&out);
    findings_free(findings);
    sample_close(&sample);
}

static void json_parts_them_by_severity(void **state) {
    (void)state;
    Sample sample;
    Findings *findings = with_errors(&sample);
    Text out = {0};
    Json json = {.out = &out};
    json_open_object(&json, NULL);
    findings_put_json(findings, &json);
    json_close_object(&json);
    static const struct {
        const char *path, *value;
    } expected[] = {{"hazards.0.kind", "\"wrong_result\""},
                    {"hazards.0.severity", "\"error\""},
                    {"hazards.0.line", "null"},
                    {"hazards.1.kind", "\"out_of_bounds\""},
                    {"hazards.1.severity", "\"error\""},
                    {"hazards.1.line", "11"},
                    {"hazards.1.other_line", "null"},
                    {"hazards.1.count", "2"},
                    {"efficiency.0.kind", "\"bank_conflict\""},
                    {"efficiency.0.severity", "\"slow\""},
                    {"efficiency.0.cost", "2000"},
                    {"efficiency.0.ideal", "400"},
                    {"efficiency.0.access.lane", "4"},
                    {"efficiency.1.predicted", "null"},
                    {"hazards_complete", "false"}};
    assert_true(json_valid(text_string(&out)));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const char *value = json_at(out.data, expected[i].path);
        if (!value || strncmp(value, expected[i].value, strlen(expected[i].value)) != 0)
            fail_msg("%s: %.40s", expected[i].path, value ? value : "is not there");
    }
    assert_null(json_at(out.data, "hazards.2"));
    assert_null(json_at(out.data, "efficiency.3"));
    text_clear(&out);
    json = (Json){.out = &out};
    json_open_object(&json, NULL);
    findings_put_json(NULL, &json);
    json_close_object(&json);
    assert_string_equal(text_string(&out),
                        "{\"hazards\":null,\"causes\":null,\"efficiency\":null,\"hazards_complete\":null}");
    text_done(&out);
    findings_free(findings);
    sample_close(&sample);
}

/* Every field of a finding, and null for missing ones. */
static void json_has_every_field(void **state) {
    (void)state;
    static const FindingAccess none = {.pc = PTX_NO_PC, .lane = -1, .buffer = -1, .event = -1};
    Finding items[] = {
        {.kind_text = "warp_race",
         .severity = SEVERITY_ERROR,
         .launch = 2,
         .space = PTX_SPACE_SHARED,
         .count = 3,
         .blocks = 4,
         .what = "sums[3]",
         .sentence = "it happens.",
         .advice = "do not",
         .cause = 1,
         .access =
             {.pc = 0, .file = "a.cu", .line = 5, .linear_block = 6, .warp = 7, .lanes = 0x80, .interval = 9},
         .other = {.pc = 10,
                   .file = "b.cu",
                   .line = 11,
                   .linear_block = 12,
                   .warp = 13,
                   .lanes = 0xffffffff,
                   .lane = 14,
                   .buffer = 1,
                   .offset = 16,
                   .has_value = true,
                   .is_store = true,
                   .value = 17,
                   .interval = 18,
                   .event = 19}},
        {.kind_text = "warp_race",
         .severity = SEVERITY_ERROR,
         .space = PTX_SPACE_GENERIC,
         .sentence = "it.",
         .cause = 0,
         .is_behind = true,
         .is_taken = true,
         .schedule = 7,
         .access = {.pc = 1,
                    .lane = -1,
                    .buffer = -1,
                    .offset = 5,
                    .value = 5,
                    .is_store = true,
                    .is_atomic = true,
                    .event = -1},
         .other = none},
        {.kind_text = "bank_conflict",
         .severity = SEVERITY_SLOW,
         .space = PTX_SPACE_GLOBAL,
         .sentence = "slow.",
         .cause = -1,
         .cost = 21,
         .ideal = 20,
         .predicted = 22,
         .access = none,
         .other = none},
        {.kind_text = "missing_acquire",
         .severity = SEVERITY_NOTE,
         .sentence = "a note.",
         .cause = -1,
         .access = none,
         .other = none}};
    static const FindingOrder order = {
        .schedule = 8,
        .holds = {{.launch = 2,
                   .at = {.block = 6, .warp = 7, .lane = 0, .pc = 0, .time = 1},
                   .until = {.block = 12, .warp = 13, .lane = 14, .pc = 10, .time = 2},
                   .lanes = 1}},
        .at = {{.file = "a.cu", .line = 5}},
        .until = {{.file = "b.cu", .line = 11}},
        .hold_count = 1,
        .where = "out[0]",
        .result = "500",
        .instead_of = "512",
        .sentence = "Loses."};
    FindingCause causes[] = {{.lead = 1, .count = 1, .no_order = "None loses."},
                             {.lead = 0,
                              .count = 2,
                              .insert = "insert it",
                              .proof = "it is gone.",
                              .is_proved = true,
                              .order = &order}};
    Findings findings = {.items = items,
                         .count = 4,
                         .error_count = 2,
                         .causes = causes,
                         .cause_count = 2,
                         .is_complete = true};
    Text out = {0};
    Json json = {.out = &out};
    json_open_object(&json, NULL);
    findings_put_json(&findings, &json);
    json_close_object(&json);
    assert_string_equal(
        text_string(&out),
        "{\"hazards\":[{\"kind\":\"warp_race\",\"severity\":\"error\",\"line\":null,\"other_line\":null,"
        "\"detail\":\"it.\","
        "\"advice\":null,\"launch\":0,\"space\":null,\"place\":null,\"count\":0,\"blocks\":0,\"cause\":0,"
        "\"seen_with_schedule\":7,\"behind_fault\":true,\"order\":null,\"no_order\":\"None "
        "loses.\",\"further\":[],"
        "\"access\":{\"file\":null,\"line\":0,\"or_lines\":[],\"called_from\":[],\"pc\":1,\"block\":0,"
        "\"warp\":0,\"lanes\":\"0x00000000\","
        "\"lane\":null,"
        "\"offset\":null,\"value\":null,\"does\":\"atomic\",\"interval\":0,\"event\":null},\"other\":null},"
        "{\"kind\":\"warp_race\",\"severity\":\"error\",\"line\":5,\"other_line\":11,"
        "\"detail\":\"it happens.\",\"advice\":\"do "
        "not\",\"launch\":2,\"space\":\"shared\",\"place\":\"sums[3]\","
        "\"count\":3,\"blocks\":4,\"cause\":1,\"seen_with_schedule\":null,\"behind_fault\":false,"
        "\"order\":{\"sentence\":\"Loses.\",\"where\":\"out[0]\",\"result\":\"500\",\"instead_of\":\"512\","
        "\"schedule\":8,\"holds\":[{\"launch\":2,\"lanes\":\"0x00000001\",\"before\":{\"block\":6,\"warp\":7,"
        "\"lane\":0,\"file\":\"a.cu\",\"line\":5,\"pc\":0,\"time\":1},\"until\":{\"block\":12,\"warp\":13,"
        "\"lane\":14,\"file\":\"b.cu\",\"line\":11,\"pc\":10,\"time\":2}}]},\"no_order\":null,\"further\":[],"
        "\"access\":{\"file\":\"a.cu\",\"line\":5,\"or_lines\":[],\"called_from\":[],\"pc\":0,\"block\":6,"
        "\"warp\":7,\"lanes\":\"0x00000080\","
        "\"lane\":0,"
        "\"offset\":0,\"value\":null,\"does\":\"load\",\"interval\":9,\"event\":0},"
        "\"other\":{\"file\":\"b.cu\",\"line\":11,\"or_lines\":[],\"called_from\":[],\"pc\":10,\"block\":12,"
        "\"warp\":13,\"lanes\":"
        "\"0xffffffff\",\"lane\":14,"
        "\"offset\":16,\"value\":17,\"does\":\"store\",\"interval\":18,\"event\":19}},"
        "{\"kind\":\"missing_acquire\",\"severity\":\"note\",\"line\":null,\"other_line\":null,\"detail\":"
        "\"a note.\","
        "\"advice\":null,\"launch\":0,\"space\":null,\"place\":null,\"count\":0,\"blocks\":0,\"cause\":null,"
        "\"seen_with_schedule\":null,\"behind_fault\":false,\"further\":[],"
        "\"access\":null,\"other\":null}],"
        "\"causes\":[{\"hazard\":0,\"hazards\":1,\"insert\":null,\"proved\":null,\"proof\":null},"
        "{\"hazard\":1,\"hazards\":2,\"insert\":\"insert it\",\"proved\":true,\"proof\":\"it is gone.\"}],"
        "\"efficiency\":[{\"kind\":\"bank_conflict\",\"severity\":\"slow\",\"line\":null,\"other_line\":null,"
        "\"detail\":\"slow.\",\"advice\":null,\"launch\":0,\"space\":\"global\",\"place\":null,\"count\":0,"
        "\"blocks\":0,\"cause\":null,\"seen_with_schedule\":null,\"behind_fault\":false,\"further\":[],"
        "\"cost\":21,\"ideal\":20,\"predicted\":22,\"access\":null,\"other\":null}],\"hazards_complete\":"
        "true}");
    text_done(&out);
}

/* Two splits of a kind and one of another: the advice is that of the two. */
static void advice_follows_from_the_lanes_that_split(void **state) {
    (void)state;
    static const struct {
        uint32_t mask, usual, other;
        const char *advice;
    } rows[] = {{ALL, 0x11111111, 0xf, "not by a remainder"},
                {ALL, 0xfefefefe, 0xf, "not by a remainder"}, /* the lanes that do not take it */
                {0xffff, 0xf, 0x5, "consecutive already"},
                {ALL, 0xffff0000, 0x5, "consecutive already"},
                {ALL, 1, 0x5, "consecutive already"},
                {ALL, 0x137, 0x5, "data decides"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Sample sample;
        sample_open(&sample);
        sample.launch->counters[SAMPLE_BRANCH] =
            (TraceCounter){.executions = 100, .lanes = 100, .requests = 100, .divergent = 75};
        TraceBlock *block = trace_block_new(0);
        append(block, sample_branch(rows[i].mask, rows[i].usual));
        append(block, sample_branch(rows[i].mask, rows[i].other));
        append(block, sample_branch(rows[i].mask, rows[i].usual));
        trace_launch_add_block(sample.launch, block);
        Findings *findings = findings_new(NULL, sample.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
        const char *advice = findings->items[0].advice;
        if (!strstr(advice, rows[i].advice)) fail_msg("row %d: %s", (int)i, advice);
        findings_free(findings);
        sample_close(&sample);
    }
}

/* Of a thousand branches, 5 would be 0 %. */
static void few_branches_are_not_zero_percent(void **state) {
    (void)state;
    static const struct {
        uint64_t divergent;
        const char *words;
    } rows[] = {{5, "few branches diverge, 2.0 of 32"}, {6, "1 % of branches diverge, 2.0 of 32"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Sample sample;
        sample_open(&sample);
        PtxCode *branch = &sample.program->code[SAMPLE_BRANCH];
        TraceCounter *c = sample.launch->counters;
        int target = branch->target, reconvergence = branch->reconvergence;
        branch->target = branch->reconvergence = SAMPLE_BRANCH + 2; /* it skips one instruction */
        c[SAMPLE_BRANCH] = (TraceCounter){
            .executions = 1000, .lanes = 32000, .requests = 1000, .divergent = rows[i].divergent};
        c[SAMPLE_BRANCH + 1] = (TraceCounter){.executions = 900, .lanes = 1800};
        Findings *findings = findings_new(NULL, sample.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
        assert_non_null(strstr(findings->items[0].sentence, rows[i].words));
        findings_free(findings);
        /* A conflict that loses less stands before the few, and behind 1 %. */
        c[SAMPLE_LOAD_SHARED] = (TraceCounter){
            .executions = 100, .lanes = 3200, .requests = 100, .wavefronts = 200, .ideal_wavefronts = 100};
        findings = findings_new(NULL, sample.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
        assert_int_equal(findings->count, 2);
        const Finding *conflict = &findings->items[i], *branches = &findings->items[!i];
        assert_int_equal(conflict->kind, FINDING_BANK_CONFLICT);
        assert_int_equal(branches->kind, FINDING_IDLE_LANES);
        assert_true(conflict->share < branches->share);
        findings_free(findings);
        branch->target = target, branch->reconvergence = reconvergence;
        sample_close(&sample);
    }
}

/* The example of uncoalesced loads and of divergent branches: the worst one, in any place. */
static void examples_are_complete(void **state) {
    (void)state;
    Sample sample;
    fill(&sample);
    TraceCounter *c = sample.launch->counters;
    c[SAMPLE_BRANCH] = (TraceCounter){.executions = 100, .lanes = 100, .requests = 100, .divergent = 75};
    TraceBlock *block = trace_block_new(3);
    TraceEvent load = sample_access(TRACE_GLOBAL_LOAD, SAMPLE_LOAD_GLOBAL, 0xff0, 0, 8, 32);
    append(block, load);
    load = sample_access(TRACE_GLOBAL_LOAD, SAMPLE_LOAD_GLOBAL, 0xfffff0, 0, 8, 32);
    load.warp = 1, load.interval = 2;
    append(block, load);
    append(block, sample_branch(ALL, ALL));
    TraceEvent branch = sample_branch(0xffff, 0xf);
    branch.warp = 1, branch.interval = 5;
    append(block, branch);
    TraceEvent store = sample_access(TRACE_SHARED_STORE, SAMPLE_LOAD_SHARED, ALL, 0, 128, 128);
    append(block, store);
    trace_launch_add_block(sample.launch, block);
    Findings *findings = findings_new(NULL, sample.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    Text out = {0};
    for (int i = 0; i < findings->count; i++) {
        const Finding *finding = &findings->items[i];
        const FindingAccess *access = &finding->access;
        text_print(&out,
                   "%s line %d pc %d block %d warp %d lanes %x lane %d buffer %d offset %d interval %d event "
                   "%d store %d: %s\n",
                   finding->kind_text, access->line, access->pc, (int)access->linear_block, access->warp,
                   access->lanes, access->lane, access->buffer, (int)access->offset, (int)access->interval,
                   access->event, access->is_store, finding->sentence);
    }
    assert_string_equal(
        text_string(&out),
        "bank_conflict line 10 pc 0 block 3 warp 0 lanes ffffffff lane 0 buffer 0 offset 128 interval 0 "
        "event 4 store 1: line 10: up to 32-way bank conflicts: 2,000 wavefronts, ideal 400.\n"
        "divergence line 13 pc 4 block 3 warp 1 lanes ffff lane -1 buffer -1 offset 0 interval 5 event 3 "
        "store 0: line 13: 75 % of branches diverge (75 of 100).\n"
        "uncoalesced line 12 pc -1 block 0 warp 0 lanes 0 lane -1 buffer -1 offset 0 interval 0 event -1 "
        "store 0: line 12: 32 sectors per request, ideal 4; 320 sectors in all, ideal 40 (8,960 bytes "
        "more).\n"
        "uncoalesced line 11 pc 2 block 3 warp 1 lanes fffff0 lane 4 buffer 0 offset 136 interval 2 event 1 "
        "store 0: line 11: 28 sectors per request, ideal 4; 280 sectors in all, ideal 40 (7,680 bytes "
        "more).\n");
    text_done(&out);
    findings_free(findings);
    sample_close(&sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_findings_are_ordered_by_what_they_waste),
        cmocka_unit_test(the_example_is_the_first_of_the_worst),
        cmocka_unit_test(padding_is_computed_from_the_traced_accesses),
        cmocka_unit_test(only_the_most_costly_get_advice),
        cmocka_unit_test(errors_come_first),
        cmocka_unit_test(faults_have_advice),
        cmocka_unit_test(text_numbers_them),
        cmocka_unit_test(counts_say_of_what),
        cmocka_unit_test(json_parts_them_by_severity),
        cmocka_unit_test(json_has_every_field),
        cmocka_unit_test(advice_follows_from_the_lanes_that_split),
        cmocka_unit_test(few_branches_are_not_zero_percent),
        cmocka_unit_test(examples_are_complete),
    };
    return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
