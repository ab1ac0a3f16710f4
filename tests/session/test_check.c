/* --check: errors by their causes, their remedies, and the proof in a copy of the PTX.
 *
 * tests/data/checks/NAME.txt: its output for every kernel that is wrong on purpose, as exact text. */
#include "tests/cli/json_reader.h"
#include "tests/tui/golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "ask/ask.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Session *open_well(const RunSpec *options) {
    Error error = {0};
    Session *session = session_open(options, &error);
    if (!session) fail_msg("%s: %s", options->kernel ? options->kernel : options->entry, error.message);
    return session;
}

static void every_wrong_kernel_is_explained(void **state) {
    (void)state;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (row->group != CATALOG_BUG) continue;
        Session *session = open_well(&(RunSpec){.kernel = row->id, .search_races = true, .threads = 1});
        Text out = {0};
        char path[128];
        ask_check(session, TOOL_NONE, CHECK_TEXT, &out);
        snprintf(path, sizeof path, "tests/data/checks/%s.txt", row->id);
        golden_check_file(path, &out);
        text_done(&out);
        session_free(session);
    }
}

static int count_lines(const char *text) {
    int count = 0;
    for (; *text; text++) count += *text == '\n';
    return count;
}

static void a_missing_barrier_is_one_finding(void **state) {
    (void)state;
    static const PtxType types[] = {PTX_S32, PTX_F32, PTX_F64};
    for (int t = 0; t < 3; t++) {
        RunSpec options = {.kernel = "bug_volatile_tail",
                           .catalog = {.dtype = types[t]},
                           .search_races = true,
                           .threads = 1};
        Session *session = open_well(&options);
        Text out = {0};
        ask_check(session, TOOL_NONE, CHECK_TEXT, &out);
        const Findings *findings = ask_hazards(session);
        assert_true(findings->error_count > 10);
        assert_int_equal(findings->cause_count, 1);
        assert_int_equal(findings->causes[0].count, findings->error_count);
        assert_true(findings->causes[0].is_proved);
        assert_non_null(strstr(text_string(&out), "insert __syncwarp() after lines 29 to 33"));
        assert_true(count_lines(text_string(&out)) <= 13);
        text_done(&out);
        session_free(session);
    }
}

/* ---- kernels and their correct counterparts
 * -------------------------------------------------------------- */

typedef struct Case {
    const char *entry, *arguments;
    uint32_t blocks, threads;
    const char *insert; /* at the only cause; NULL: no insertion helps */
    const char *kind;   /* kind of its first error; NULL: no error */
    int notes;          /* about a fence that the reader lacks */
} Case;

#define ONE_BLOCK  "in=int[n]:random, out=int[n]"
#define LAST_BLOCK "in=int[n]:random, partial=int[8]:zero, finished=uint[1]:zero, out=int[1]"

static const Case cases[] = {
    {"loop_without", "in=int[n]:random, out=int[4]", 4, 256, "insert __syncthreads() after line 12",
     "shared_race", 0},
    {"loop_with", "in=int[n]:random, out=int[4]", 4, 256, NULL, NULL, 0},
    {"half_warp_without", ONE_BLOCK, 1, 32, "insert __syncwarp(0xffff) after line 60", "warp_race", 0},
    {"half_warp_with", ONE_BLOCK, 1, 32, NULL, NULL, 0},
    {"bins_plain", ONE_BLOCK, 1, 128, NULL, "shared_race", 0},
    {"bins_atomic", ONE_BLOCK, 1, 128, NULL, NULL, 0},
    {"lock", "taken=int[1]:zero, out=int[1]:zero, 0", 4, 32, "insert __threadfence() before line 120",
     "global_race", 0},
    {"lock", "taken=int[1]:zero, out=int[1]:zero, 1", 4, 32, "insert __threadfence() before line 120",
     "global_race", 0},
    {"lock", "taken=int[1]:zero, out=int[1]:zero, 3", 4, 32, "insert __threadfence() before line 120",
     "global_race", 0},
    {"lock", "taken=int[1]:zero, out=int[1]:zero, -1", 4, 32, NULL, NULL, 0},
    {"lock_taken", "taken=int[1]:zero, out=int[1]:zero, 0", 2, 32, NULL, NULL, 1},
    {"lock_taken", "taken=int[1]:zero, out=int[1]:zero, 1", 2, 32, NULL, NULL, 1},
    {"lock_taken", "taken=int[1]:zero, out=int[1]:zero, -1", 2, 32, NULL, NULL, 0},
    {"lock_taken", "taken=int[1]:zero, out=int[1]:zero, 0", 1, 64, NULL, NULL, 1},
    {"lock_taken", "taken=int[1]:zero, out=int[1]:zero, 1", 1, 64, NULL, NULL, 1},
    {"lock_taken", "taken=int[1]:zero, out=int[1]:zero, -1", 1, 64, NULL, NULL, 0},
    {"last_block_without", LAST_BLOCK, 8, 64, "insert __threadfence() before line 136", "global_race", 0},
    {"last_block_writer_only", LAST_BLOCK, 8, 64, NULL, NULL, 1},
    {"last_block_with", LAST_BLOCK, 8, 64, NULL, NULL, 0},
};

static Session *open_case(const Case *of) {
    RunSpec options = {.file = "tests/kernels/remedies.ptx",
                       .entry = of->entry,
                       .args = of->arguments,
                       .catalog = {.n = of->blocks * of->threads, .seed = 3},
                       .grid = {of->blocks, 1, 1},
                       .block = {of->threads, 1, 1},
                       .search_races = true,
                       .threads = 1};
    return open_well(&options);
}

static void each_cause_has_its_remedy(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *of = &cases[i];
        Session *session = open_case(of);
        ask_other_orders(session);
        ask_proofs(session);
        const Findings *findings = ask_hazards(session);
        int notes = 0;
        for (int k = 0; k < findings->count; k++) notes += findings->items[k].kind == FINDING_MISSING_ACQUIRE;
        assert_int_equal(notes, of->notes);
        assert_int_equal(findings->cause_count, of->kind != NULL);
        if (of->kind) {
            const FindingCause *cause = &findings->causes[0];
            assert_string_equal(findings->items[cause->lead].kind_text, of->kind);
            assert_int_equal(cause->is_proved, of->insert != NULL);
            if (of->insert) assert_string_equal(cause->insert, of->insert);
            if (!of->insert) assert_null(cause->insert);
        }
        session_free(session);
    }
}

/* Atomics do not race: only the result tells that one may come after the total has been read. */
static void a_late_atomic_is_found_by_its_result(void **state) {
    (void)state;
    static const struct {
        const char *entry, *expect;
        int errors;
    } cases_of_late[] = {
        {"total_late", "out=sum(in)", 1}, {"total_waits", "out=sum(in)", 0}, {"total_late", NULL, 0}};
    for (size_t i = 0; i < sizeof cases_of_late / sizeof *cases_of_late; i++) {
        RunSpec options = {.file = "tests/kernels/late.ptx",
                           .entry = cases_of_late[i].entry,
                           .args = "in=int[n]:digits, total=int[1]:zero, count=uint[1]:zero, out=int[1]",
                           .expect = cases_of_late[i].expect,
                           .catalog = {.n = 256},
                           .grid = {4, 1, 1},
                           .block = {64, 1, 1},
                           .search_races = true,
                           .threads = 1};
        Session *session = open_well(&options);
        ask_late_atomics(session);
        const Findings *findings = ask_hazards(session);
        assert_int_equal(findings->error_count, cases_of_late[i].errors);
        if (findings->error_count) {
            assert_string_equal(findings->items[0].kind_text, "late_atomic");
            assert_non_null(strstr(findings->items[0].advice, "__syncthreads()"));
            assert_int_equal(findings->items[0].other.line, 21);
            assert_int_equal(findings->items[0].access.line, 31);
        }
        session_free(session);
    }
}

/* The first block, which is traced, has no update. */
static void updates_of_all_blocks_are_counted(void **state) {
    (void)state;
    static const char *const entries[] = {"upper_one", "upper_each"};
    for (int is_each = 0; is_each < 2; is_each++) {
        RunSpec options = {.file = "tests/kernels/upper.ptx",
                           .entry = entries[is_each],
                           .args = "in=int[n]:iota, hits=int[32]:zero, n",
                           .catalog = {.n = 1000},
                           .grid = {4, 1, 1},
                           .block = {256, 1, 1},
                           .threads = 1};
        Session *session = open_well(&options);
        const Findings *findings = ask_counted(session);
        int found = 0;
        for (int i = 0; i < findings->count; i++) {
            if (findings->items[i].kind != FINDING_ATOMIC_CONFLICT) continue;
            found++;
            assert_int_equal(findings->items[i].cost, 400);
            assert_int_equal(findings->items[i].ideal, 14);
        }
        assert_int_equal(found, !is_each);
        session_free(session);
    }
}

/* A missing fence has the same effect in every block, and in every order of the blocks. */
static void any_order_shows_a_missing_fence(void **state) {
    (void)state;
    for (int careless = -1; careless < 4; careless++)
        for (uint64_t schedule = 0; schedule < 8; schedule++) {
            char arguments[64];
            snprintf(arguments, sizeof arguments, "taken=int[1]:zero, out=int[1]:zero, %d", careless);
            RunSpec options = {.file = "tests/kernels/remedies.ptx",
                               .entry = "lock",
                               .args = arguments,
                               .grid = {4, 1, 1},
                               .block = {32, 1, 1},
                               .schedule = schedule,
                               .search_races = true,
                               .threads = 1};
            Session *session = open_well(&options);
            ask_other_orders(session);
            assert_int_equal(ask_hazards(session)->cause_count, careless >= 0);
            session_free(session);
        }
}

/* Each of two races has an order in which its own lines lose. */
static void every_race_has_its_order(void **state) {
    (void)state;
    Session *session =
        open_case(&(Case){.entry = "phases_without", .arguments = ONE_BLOCK, .blocks = 1, .threads = 128});
    ask_proofs(session);
    ask_losing_orders(session);
    const Findings *findings = ask_hazards(session);
    assert_int_equal(findings->cause_count, 2);
    for (int i = 0; i < 2; i++) {
        const FindingCause *cause = &findings->causes[i];
        const Finding *lead = &findings->items[cause->lead];
        assert_non_null(cause->order);
        assert_null(cause->no_order);
        assert_int_equal(cause->order->hold_count, 1);
        assert_int_equal(cause->order->holds[0].end, HOLD_MET);
        assert_int_equal(cause->order->holds[0].at.pc, lead->other.pc);
        assert_int_equal(cause->order->holds[0].until.pc, lead->access.pc);
    }
    assert_ptr_equal(ask_bad_order(session), findings->causes[0].order);
    session_free(session);
}

/* Two barriers are missing, in two phases that a third barrier separates. */
static void two_barriers_are_two_findings(void **state) {
    (void)state;
    Session *session =
        open_case(&(Case){.entry = "phases_without", .arguments = ONE_BLOCK, .blocks = 1, .threads = 128});
    ask_proofs(session);
    const Findings *findings = ask_hazards(session);
    assert_int_equal(findings->cause_count, 2);
    assert_string_equal(findings->causes[0].insert, "insert __syncthreads() after line 34");
    assert_string_equal(findings->causes[1].insert, "insert __syncthreads() after line 37");
    assert_true(findings->causes[0].is_proved && findings->causes[1].is_proved);
    session_free(session);
    session = open_case(&(Case){.entry = "phases_with", .arguments = ONE_BLOCK, .blocks = 1, .threads = 128});
    assert_int_equal(ask_hazards(session)->error_count, 0);
    session_free(session);
}

static Session *open_memory_case(const char *entry) {
    RunSpec options = {.file = "tests/kernels/memory.ptx",
                       .entry = entry,
                       .args = "in=int[n]:random, out=int[n]:unwritten",
                       .catalog = {.n = 64, .seed = 3},
                       .grid = {1, 1, 1},
                       .block = {64, 1, 1},
                       .search_races = true,
                       .threads = 1};
    return open_well(&options);
}

/* An access out of bounds ends the run; the race after it is still found. */
static void a_fault_hides_no_race(void **state) {
    (void)state;
    Session *session = open_memory_case("race_behind_fault");
    ask_behind(session);
    const Findings *findings = ask_hazards(session);
    assert_string_equal(findings->items[0].kind_text, "out_of_bounds");
    assert_false(findings->items[0].is_behind);
    bool found = false;
    for (int i = 1; i < findings->error_count; i++) {
        const Finding *finding = &findings->items[i];
        assert_true(finding->is_behind);
        found |= finding->kind == FINDING_SHARED_RACE &&
                 strstr(session_source_line(session, finding->access.file, finding->access.line),
                        "WRONG race_behind_fault");
    }
    assert_true(found);
    assert_true(findings->is_complete);
    session_free(session);
    session = open_memory_case("race_behind_nothing");
    ask_behind(session);
    assert_int_equal(ask_hazards(session)->error_count, 0);
    session_free(session);
}

/* Only the end of the kernel is left: the lines before it are still checked. */
static void a_kernel_may_be_removed_whole(void **state) {
    (void)state;
    Session *session =
        open_case(&(Case){.entry = "all_removed", .arguments = ONE_BLOCK, .blocks = 1, .threads = 32});
    Text out = {0};
    ask_check(session, TOOL_NONE, CHECK_TEXT, &out);
    const Findings *findings = ask_hazards(session);
    assert_int_equal(findings->count, 1);
    assert_int_equal(findings->items[0].kind, FINDING_DELETED_STORE);
    assert_non_null(strstr(findings->items[0].sentence, "lines 208 to 210"));
    text_done(&out);
    session_free(session);
}

/* An access that the compiler removed is reported with its line; registers are not memory. */
static void removed_stores_are_noted(void **state) {
    (void)state;
    Session *session =
        open_case(&(Case){.entry = "store_removed", .arguments = ONE_BLOCK, .blocks = 1, .threads = 32});
    Text out = {0};
    ask_check(session, TOOL_NONE, CHECK_TEXT, &out);
    const Findings *findings = ask_hazards(session);
    int found = 0;
    for (int i = 0; i < findings->count; i++) {
        const Finding *finding = &findings->items[i];
        if (finding->kind != FINDING_DELETED_STORE) continue;
        found++;
        const char *text = session_source_line(session, finding->access.file, finding->access.line);
        assert_non_null(strstr(text, "scratch[tid] = pair[1];"));
        assert_non_null(strstr(finding->sentence, "no memory access is left in the PTX"));
    }
    assert_int_equal(found, 1);
    text_done(&out);
    session_free(session);
}

/* What a comment holds is no store, and another kernel's stores are not removed. */
static void comments_and_other_kernels_remove_nothing(void **state) {
    (void)state;
    RunSpec options = {.file = "tests/kernels/comments.ptx",
                       .entry = "commented",
                       .args = ONE_BLOCK,
                       .catalog = {.n = 32},
                       .grid = {1, 1, 1},
                       .block = {32, 1, 1},
                       .search_races = true,
                       .threads = 1};
    Session *session = open_well(&options);
    Text out = {0};
    ask_check(session, TOOL_NONE, CHECK_TEXT, &out);
    const Findings *findings = ask_hazards(session);
    int found = 0;
    for (int i = 0; i < findings->count; i++) {
        const Finding *finding = &findings->items[i];
        if (finding->kind != FINDING_DELETED_STORE) continue;
        found++;
        assert_string_equal(finding->access.file, "tests/kernels/comments.cu");
        const char *text = session_source_line(session, finding->access.file, finding->access.line);
        assert_non_null(strstr(text, "WRONG commented"));
    }
    assert_int_equal(found, 1);
    text_done(&out);
    session_free(session);
}

/* Fixes of a race after the fault are also tried in copies that continue after it. */
static void a_race_behind_a_fault_is_proved(void **state) {
    (void)state;
    Session *session = open_memory_case("race_behind_fault");
    ask_behind(session);
    ask_proofs(session);
    const Findings *findings = ask_hazards(session);
    assert_int_equal(findings->cause_count, 2);
    assert_null(findings->causes[0].insert);
    assert_string_equal(findings->causes[1].insert, "insert __syncthreads() after line 79");
    assert_true(findings->causes[1].is_proved);
    session_free(session);
}

static const char *no_source(void *context, const char *file, int line) {
    (void)context, (void)file, (void)line;
    return NULL;
}

/* Findings of a trace with one launch, of the kernel "k". */
static void add_findings(CheckResults *results, const Findings *findings, FindingSource source) {
    TraceLaunch launch = {.name = "k"}, *launches = &launch;
    Trace trace = {.launches = &launches, .launch_count = 1};
    results_add_findings(results, findings, &(ResultOrigin){.trace = &trace, .source = source});
}

/* Names of files below the folder start there; `folder` must end at a boundary of the path. */
static void sarif_names_files_from_the_folder(void **state) {
    (void)state;
    static const struct {
        const char *file, *folder, *uri, *base;
    } cases[] = {
        {"/home/me/src/a b.cu", "/home/me", "\"src/a%20b.cu\"", "\"file:///home/me/\""},
        {"/home/me/a.cu", "/home/me/", "\"a.cu\"", "\"file:///home/me/\""},
        {"/a.cu", "/", "\"a.cu\"", "\"file:///\""},
        {"/home/mean/a.cu", "/home/me", "\"file:///home/mean/a.cu\"", NULL},
        {"/home/me/a.cu", NULL, "\"file:///home/me/a.cu\"", NULL},
        {"kernels/a.cu", "/home/me", "\"kernels/a.cu\"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Finding finding = {.kind = FINDING_PARTIAL_BARRIER,
                           .severity = SEVERITY_NOTE,
                           .kind_text = finding_kind_text(FINDING_PARTIAL_BARRIER),
                           .sentence = "it.",
                           .access = {.pc = 0, .file = cases[i].file, .line = 3},
                           .other = {.pc = PTX_NO_PC},
                           .cause = -1};
        Findings findings = {.items = &finding, .count = 1};
        CheckResults results = {0};
        Text out = {0};
        add_findings(&results, &findings, no_source);
        results_put_sarif(&results, cases[i].folder, &out);
        results_done(&results);
        assert_true(json_valid(text_string(&out)));
        const char *place =
            json_at(text_string(&out), "runs.0.results.0.locations.0.physicalLocation.artifactLocation.uri");
        assert_memory_equal(place, cases[i].uri, strlen(cases[i].uri));
        const char *base = strstr(text_string(&out), "\"originalUriBaseIds\":{\"%SRCROOT%\":{\"uri\":");
        assert_int_equal(base != NULL, cases[i].base != NULL);
        if (base && cases[i].base) assert_non_null(strstr(base, cases[i].base));
        assert_int_equal(strstr(text_string(&out), "\"uriBaseId\":\"%SRCROOT%\"") != NULL, base != NULL);
        text_done(&out);
    }
}

static const char *sources[8]; /* [line] */

static const char *source_of(void *context, const char *file, int line) {
    (void)context, (void)file;
    return sources[line];
}

/* The fingerprints of notes in these lines, ended by 0. */
static void take_fingerprints(const int *lines, char fingerprints[4][17]) {
    Finding items[4];
    Findings findings = {.items = items};
    CheckResults results = {0};
    for (; lines[findings.count]; findings.count++)
        items[findings.count] = (Finding){.kind = FINDING_PARTIAL_BARRIER,
                                          .severity = SEVERITY_NOTE,
                                          .kind_text = finding_kind_text(FINDING_PARTIAL_BARRIER),
                                          .sentence = "it.",
                                          .access = {.file = "a.cu", .line = lines[findings.count]},
                                          .other = {.pc = PTX_NO_PC},
                                          .cause = -1};
    add_findings(&results, &findings, source_of);
    add_findings(&results, &findings, source_of); /* of a second launch: the same ones */
    assert_int_equal(results.count, findings.count);
    for (int i = 0; i < results.count; i++) memcpy(fingerprints[i], results.items[i].fingerprint, 17);
    results_done(&results);
}

static void a_moved_line_keeps_its_fingerprint(void **state) {
    (void)state;
    char before[4][17], after[4][17], changed[4][17];
    sources[1] = "    sums[t] += x;", sources[2] = "__syncwarp();", sources[3] = "    sums[t] += x;";
    take_fingerprints((int[]){1, 2, 3, 0}, before);
    assert_string_not_equal(before[0], before[1]);
    assert_string_not_equal(before[0], before[2]); /* another occurrence of its text */
    sources[4] = "  sums[t]  += x;", sources[5] = "__syncwarp();", sources[6] = "sums[t] += x;";
    take_fingerprints((int[]){4, 5, 6, 0}, after);
    for (int i = 0; i < 3; i++) assert_string_equal(before[i], after[i]);
    sources[4] = "sums[t] += y;";
    take_fingerprints((int[]){4, 5, 6, 0}, changed);
    assert_string_not_equal(changed[0], before[0]);
    assert_string_equal(changed[1], before[1]);
    assert_string_equal(changed[2], before[0]); /* now the first occurrence */
}

/* A SARIF log: a result for each cause, with the line where it shows, and the related locations. */
static void sarif_has_a_result_for_each_cause(void **state) {
    (void)state;
    Session *session =
        open_well(&(RunSpec){.kernel = "bug_missing_sync", .search_races = true, .threads = 1});
    Text out = {0};
    CheckResults results = {0};
    ask_add_results(session, NULL, &results);
    results_put_sarif(&results, NULL, &out);
    results_done(&results);
    assert_true(json_valid(text_string(&out)));
    static const struct {
        const char *path, *value;
    } expected[] = {
        {"version", "\"2.1.0\""},
        {"runs.0.tool.driver.name", "\"redviz\""},
        {"runs.0.tool.driver.rules.0.id", "\"warp_race\""},
        {"runs.0.tool.driver.rules.1.id", "\"wrong_result\""},
        {"runs.0.results.0.ruleId", "\"warp_race\""},
        {"runs.0.results.0.level", "\"error\""},
        {"runs.0.results.0.message.text", "\"Insert __syncwarp() before the store of line 35. line 31: "},
        {"runs.0.results.0.locations.0.physicalLocation.artifactLocation.uri",
         "\"kernels/bug_missing_sync.cu\""},
        {"runs.0.results.0.locations.0.physicalLocation.region.startLine", "35"},
        {"runs.0.results.0.locations.0.logicalLocations.0.name", "\"bug_missing_sync"},
        {"runs.0.results.0.partialFingerprints.redviz/v1", "\""},
        {"runs.0.results.0.relatedLocations.0.physicalLocation.region.startLine", "31"},
        {"runs.0.results.0.relatedLocations.8.physicalLocation.region.startLine", "35"},
        {"runs.0.results.1.ruleId", "\"wrong_result\""},
        {"runs.0.results.2.level", "\"note\""},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const char *value = json_at(text_string(&out), expected[i].path);
        if (!value || strncmp(value, expected[i].value, strlen(expected[i].value)) != 0)
            fail_msg("%s: %.60s", expected[i].path, value ? value : "is not there");
    }
    assert_null(json_at(text_string(&out), "runs.0.results.3"));
    text_done(&out);
    session_free(session);
}

/* Limits too short for any work. */
static void what_is_given_up_for_time_is_said(void **state) {
    (void)state;
    static const struct {
        const char *kernel;
        double order_seconds, proof_seconds;
        const char *said; /* NULL: no message */
    } cases[] = {
        {"last_block", 1e-9, 0,
         "The limit of 1e-09 s for other orders was reached: 5 of 5 were not searched."},
        {"last_block", 1000, 0, NULL},
        {"bug_volatile_tail", 0, 1e-9,
         "The limit of 1e-09 s for proofs was reached: for 1 of 1 hazards not all was tried."},
        {"bug_volatile_tail", 0, 1000, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Session *session = open_well(&(RunSpec){.kernel = cases[i].kernel,
                                                .search_races = true,
                                                .threads = 1,
                                                .order_seconds = cases[i].order_seconds,
                                                .proof_seconds = cases[i].proof_seconds});
        Text text = {0}, json = {0};
        ask_check(session, TOOL_NONE, CHECK_TEXT, &text);
        ask_check(session, TOOL_NONE, CHECK_JSON, &json);
        const Findings *findings = ask_hazards(session);
        const char *last = strstr(text_string(&text), "The limit of "),
                   *list = json_at(text_string(&json), "limits");
        assert_int_equal(findings->limit_count, cases[i].said != NULL);
        assert_int_equal(last != NULL, cases[i].said != NULL);
        if (last && cases[i].said) {
            assert_string_equal(findings->limits[0], cases[i].said);
            assert_true(strlen(last) < strlen(cases[i].said) + 3); /* nothing follows */
            assert_non_null(strstr(list, cases[i].said));
        } else {
            assert_memory_equal(list, "[]", 2);
        }
        for (int c = 0; c < findings->cause_count; c++)
            assert_int_equal(findings->causes[c].proof != NULL, cases[i].said == NULL);
        text_done(&text);
        text_done(&json);
        session_free(session);
    }
}

/* A product added to a double-double sum, with the error of the addition. %s: the rounding of the product. */
static const char double_double[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry double_double(.param .u64 p, .param .u64 q) {\n"
    ".reg .f64 %d<9>; .reg .b64 %q<3>;\n"
    ".loc 1 5 1\n"
    "ld.param.u64 %q1, [p]; ld.param.u64 %q2, [q]; ld.global.f64 %d1, [%q1]; ld.global.f64 %d2, [%q1+8];\n"
    ".loc 1 6 1\n"
    "mul%s.f64 %d3, %d1, %d2;\n"
    ".loc 1 7 1\n"
    "add.f64 %d4, %d3, %d1; sub.f64 %d5, %d4, %d1;\n"
    ".loc 1 8 1\n"
    "sub.f64 %d6, %d3, %d5; st.global.f64 [%q2], %d4; st.global.f64 [%q2+8], %d6; ret; }\n"
    ".file 1 \"/none/double_double.cu\"\n";

static void check_fused(const char *rounding, const char *flags, bool is_noted) {
    Text text = {0}, out = {0};
    const char *at = strstr(double_double, "%s");
    text_add_bytes(&text, double_double, (size_t)(at - double_double));
    text_print(&text, "%s%s", rounding, at + 2);
    Session *session = open_well(&(RunSpec){.file = "double_double.ptx",
                                            .text = text_string(&text),
                                            .args = "p=double[2]:random, q=double[2]:zero",
                                            .block = {1, 1, 1},
                                            .grid = {1, 1, 1},
                                            .compile_flags = flags,
                                            .search_races = true,
                                            .threads = 1});
    ask_check(session, TOOL_NONE, CHECK_TEXT, &out);
    bool has = strstr(text_string(&out),
                      "line 6: ptxas fuses this product into the addition and the subtraction.\n") &&
               strstr(text_string(&out), "__dmul_rn() keeps them apart");
    if (has != is_noted) fail_msg("mul%s, flags %s: %s", rounding, flags ? flags : "", text_string(&out));
    session_free(session);
    text_done(&text);
    text_done(&out);
}

static void products_fused_into_an_error_term(void **state) {
    (void)state;
    check_fused("", NULL, true);
    check_fused(".rn", NULL, false);
    check_fused("", "--fmad=false", false);
    check_fused("", "-O3 -G", false);
    static const char *const quiet[] = {"kahan", "shuffle", "two_stage"};
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++) {
        Session *session = open_well(&(RunSpec){.kernel = quiet[i], .search_races = true, .threads = 1});
        const Findings *findings = ask_hazards(session);
        for (int k = 0; k < findings->count; k++)
            assert_int_not_equal(findings->items[k].kind, FINDING_FUSED_PRODUCT);
        session_free(session);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_fused_into_an_error_term),
        cmocka_unit_test(every_wrong_kernel_is_explained),
        cmocka_unit_test(a_missing_barrier_is_one_finding),
        cmocka_unit_test(each_cause_has_its_remedy),
        cmocka_unit_test(two_barriers_are_two_findings),
        cmocka_unit_test(a_late_atomic_is_found_by_its_result),
        cmocka_unit_test(updates_of_all_blocks_are_counted),
        cmocka_unit_test(any_order_shows_a_missing_fence),
        cmocka_unit_test(every_race_has_its_order),
        cmocka_unit_test(removed_stores_are_noted),
        cmocka_unit_test(comments_and_other_kernels_remove_nothing),
        cmocka_unit_test(what_is_given_up_for_time_is_said),
        cmocka_unit_test(a_kernel_may_be_removed_whole),
        cmocka_unit_test(a_fault_hides_no_race),
        cmocka_unit_test(a_race_behind_a_fault_is_proved),
        cmocka_unit_test(sarif_names_files_from_the_folder),
        cmocka_unit_test(a_moved_line_keeps_its_fingerprint),
        cmocka_unit_test(sarif_has_a_result_for_each_cause),
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
