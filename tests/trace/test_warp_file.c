/* Files of timelines of warps: read as written, damaged files, and the recordings that ship. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalog/catalog.h"
#include "ptx/opcodes.h"
#include "ptx/program.h"
#include "trace/warp_file.h"
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 150 }; /* waits: more than a line holds */

static WarpTimeline *make_timeline(void) {
    WarpTimeline *timeline = warp_timeline_new(2, 3, 3);
    Arena *arena = &timeline->arena;
    timeline->of.kernel = "two_stage";
    timeline->of.n = 1 << 20;
    timeline->of.dtype = "int";
    timeline->of.op = "";
    timeline->of.machine = "NVIDIA H200";
    timeline->of.driver = "580.159.04, CUDA 13.0";
    timeline->of.measured = "2026-11-22T10:00:00Z";
    timeline->multiprocessor = 131;
    timeline->resident = 4;
    timeline->is_order_only = true;
    timeline->dropped = UINT64_C(1) << 40;
    timeline->plain_us = 8.5;
    timeline->traced_us = 10.25; /* untraced_us and the lives are not known */
    timeline->launches[0] = (WarpLaunch){.entry = "stage<int, Sum>", .grid = {7, 2, 3}, .block = {96, 1, 1}};
    timeline->launches[1] = (WarpLaunch){.entry = "last", .grid = {1, 1, 1}, .block = {4, 5, 6}};
    timeline->sites[0] = (WarpSite){WARP_WAITS_GLOBAL, 0, 20, 13, 23};
    timeline->sites[1] = (WarpSite){WARP_WAITS_BARRIER, 0, 0, -1, 0};
    timeline->sites[2] = (WarpSite){WARP_WAITS_SHARED, 1, 7, 0, 9};
    static const WarpWait two[] = {{10, 30, 0, 0}, {15, 40, 1, 31}};
    WarpWait *many = arena_new(arena, MANY * sizeof *many);
    for (uint32_t i = 0; i < MANY; i++) many[i] = (WarpWait){500 + 5 * i, 503 + 5 * i, 2, (uint8_t)(i % 2)};
    timeline->lines[0] = (WarpLine){.block = UINT64_C(1) << 50,
                                    .warp = 31,
                                    .slot = 63,
                                    .begin = 5,
                                    .end = 400,
                                    .waits = arena_copy(arena, two, sizeof two),
                                    .wait_count = 2};
    timeline->lines[1] = (WarpLine){.block = UINT64_MAX, .begin = 6, .end = 6};
    timeline->lines[2] = (WarpLine){.launch = 1,
                                    .warp = 3,
                                    .slot = 1,
                                    .begin = 450,
                                    .end = WARP_MOST_CYCLES,
                                    .waits = many,
                                    .wait_count = MANY};
    warp_timeline_finish(timeline);
    return timeline;
}

typedef struct Taken {
    WarpTimeline *timelines[8];
    int count;
} Taken;

static void take(void *context, WarpTimeline *timeline) {
    Taken *taken = context;
    assert_true(taken->count < 8);
    taken->timelines[taken->count++] = timeline;
}

static bool read_text(const char *text, Taken *taken, Error *error) {
    return warp_file_read_text(text, "warps.tsv", take, taken, error);
}

static void free_taken(Taken *taken) {
    for (int i = 0; i < taken->count; i++) warp_timeline_free(taken->timelines[i]);
    taken->count = 0;
}

/* ---- written and read ---------------------------------------------------------------------------------- */

static void expect_same(const WarpTimeline *a, const WarpTimeline *b) {
    assert_string_equal(a->of.kernel, b->of.kernel);
    assert_string_equal(a->of.dtype, b->of.dtype);
    assert_string_equal(a->of.op, b->of.op);
    assert_string_equal(a->of.machine, b->of.machine);
    assert_string_equal(a->of.driver, b->of.driver);
    assert_string_equal(a->of.measured, b->of.measured);
    assert_true(a->of.n == b->of.n && a->dropped == b->dropped && a->cycles == b->cycles);
    assert_true(a->multiprocessor == b->multiprocessor && a->resident == b->resident);
    assert_int_equal(a->is_order_only, b->is_order_only);
    assert_true(a->plain_us == b->plain_us && a->traced_us == b->traced_us);
    assert_true(isnan(a->untraced_us) && isnan(a->plain_life) && isnan(a->traced_life));
    assert_int_equal(a->launch_count, b->launch_count);
    for (int i = 0; i < a->launch_count; i++) {
        assert_string_equal(a->launches[i].entry, b->launches[i].entry);
        assert_memory_equal(a->launches[i].grid, b->launches[i].grid, sizeof a->launches[i].grid);
        assert_memory_equal(a->launches[i].block, b->launches[i].block, sizeof a->launches[i].block);
        assert_true(a->launches[i].begin == b->launches[i].begin && a->launches[i].end == b->launches[i].end);
    }
    assert_int_equal(a->site_count, b->site_count);
    assert_memory_equal(a->sites, b->sites, (size_t)a->site_count * sizeof *a->sites);
    assert_int_equal(a->line_count, b->line_count);
    for (int i = 0; i < a->line_count; i++) {
        const WarpLine *x = &a->lines[i], *y = &b->lines[i];
        assert_true(x->launch == y->launch && x->block == y->block && x->warp == y->warp &&
                    x->slot == y->slot);
        assert_true(x->begin == y->begin && x->end == y->end);
        assert_int_equal(x->wait_count, y->wait_count);
        for (int k = 0; k < x->wait_count; k++) {
            const WarpWait *u = &x->waits[k], *v = &y->waits[k];
            assert_true(u->begin == v->begin && u->end == v->end && u->site == v->site && u->lane == v->lane);
        }
    }
}

/* Two timelines in one file, with a comment between them. */
static void read_as_written(void **state) {
    (void)state;
    WarpTimeline *timeline = make_timeline();
    Text text = {0}, again = {0};
    Taken taken = {0};
    Error error = {0};
    warp_file_write(timeline, &text);
    text_add(&text, "# the same\n");
    warp_file_write(timeline, &text);
    if (!read_text(text_string(&text), &taken, &error)) fail_msg("line %d: %s", error.line, error.message);
    assert_int_equal(taken.count, 2);
    for (int i = 0; i < 2; i++) expect_same(timeline, taken.timelines[i]);
    warp_file_write(taken.timelines[0], &again);
    assert_int_equal(strncmp(text_string(&again), text_string(&text), again.length), 0);
    free_taken(&taken);
    assert_true(read_text("", &taken, &error) && taken.count == 0);
    warp_timeline_free(timeline);
    text_done(&text);
    text_done(&again);
}

/* ---- damaged files ------------------------------------------------------------------------------------- */

#define HEAD(counts) "warps\tk\t64\tint\tsum\tM\tD\tT\t0\t0\tlengths\t0\t1\t1\t1\t-\t-\t" counts "\n"
#define LAUNCH       "launch\te\t1\t1\t1\t32\t1\t1\n"
#define SITE         "site\tglobal\t0\t3\t1\t7\n"
#define WARP(waits)  "warp\t0\t5\t0\t9\t10\t90\t" waits "\n"
#define FRONT        HEAD("1\t1\t1") LAUNCH SITE

static void damaged_files(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *says;
    } cases[] = {
        {"hello\n", 1, "'hello' is not a kind of line"},
        {LAUNCH, 1, "there is no timeline above that this line belongs to"},
        {FRONT "wrap\t0\n", 4, "'wrap' is not a kind of line"},
        {"warps\tk\n", 1, "'warps' has 20 columns, not 2"},
        {"warps\tk\t-1\tint\tsum\tM\tD\tT\t0\t0\tlengths\t0\t1\t1\t1\t-\t-\t1\t1\t1\n", 1,
         "column 3 is '-1'"},
        {"warps\tk\t64\tint\tsum\tM\tD\tT\t1024\t0\tlengths\t0\t1\t1\t1\t-\t-\t1\t1\t1\n", 1, "column 9"},
        {"warps\tk\t64\tint\tsum\tM\tD\tT\t0\t65\tlengths\t0\t1\t1\t1\t-\t-\t1\t1\t1\n", 1, "column 10"},
        {"warps\tk\t64\tint\tsum\tM\tD\tT\t0\t0\tlength\t0\t1\t1\t1\t-\t-\t1\t1\t1\n", 1,
         "column 11 is 'length', not order or lengths"},
        {"warps\tk\t64\tint\tsum\tM\tD\tT\t0\t0\tlengths\tx\t1\t1\t1\t-\t-\t1\t1\t1\n", 1, "column 12"},
        {"warps\tk\t64\tint\tsum\tM\tD\tT\t0\t0\tlengths\t0\t-1\t1\t1\t-\t-\t1\t1\t1\n", 1, "column 13"},
        {"warps\tk\t64\tint\tsum\tM\tD\tT\t0\t0\tlengths\t0\t1\t1\t1\t-\t1e13\t1\t1\t1\n", 1, "column 17"},
        {HEAD("0\t1\t1"), 1, "column 18 is '0', not a whole number from 1 to 64"},
        {HEAD("65\t1\t1"), 1, "column 18"},
        {HEAD("1\t65536\t1"), 1, "column 19"},
        {HEAD("1\t1\t16385"), 1, "column 20"},
        {HEAD("1\t1\t1") "launch\te\t1\n", 2, "'launch' has 8 columns, not 3"},
        {HEAD("1\t1\t1") "launch\te\t0\t1\t1\t32\t1\t1\n", 2, "column 3"},
        {HEAD("1\t1\t1") "launch\te\t1\t1\t1\t32\t1\t1025\n", 2, "column 8"},
        {HEAD("1\t1\t1") LAUNCH LAUNCH, 3, "the timeline has only 1 launches"},
        {FRONT SITE, 4, "the timeline has only 1 sites"},
        {HEAD("1\t1\t1") LAUNCH "site\tglobal\t0\t3\t1\n", 3, "'site' has 6 columns, not 5"},
        {HEAD("1\t1\t1") LAUNCH "site\tlunch\t0\t3\t1\t7\n", 3, "'lunch' is nothing to wait for"},
        {HEAD("1\t1\t1") LAUNCH "site\tworks\t0\t3\t1\t7\n", 3, "'works' is nothing to wait for"},
        {HEAD("1\t1\t1") LAUNCH "site\tglobal\t1\t3\t1\t7\n", 3, "column 3"},
        {HEAD("1\t1\t1") LAUNCH "site\tglobal\t0\t-\t1\t7\n", 3, "column 4"},
        {HEAD("1\t1\t1") LAUNCH "site\tglobal\t0\t3\t-1\t7\n", 3, "column 5 is '-1'"},
        {HEAD("1\t1\t1") LAUNCH "site\tglobal\t0\t3\t1\tx\n", 3, "column 6 is 'x'"},
        {FRONT "warp\t0\n", 4, "'warp' has 8 columns, not 2"},
        {FRONT "warp\t1\t5\t0\t9\t10\t90\t0\n", 4, "column 2"},
        {FRONT "warp\t0\t-5\t0\t9\t10\t90\t0\n", 4, "column 3"},
        {FRONT "warp\t0\t5\t32\t9\t10\t90\t0\n", 4, "column 4"},
        {FRONT "warp\t0\t5\t0\t256\t10\t90\t0\n", 4, "column 5"},
        {FRONT "warp\t0\t5\t0\t9\t2147483648\t2147483648\t0\n", 4, "column 6"},
        {FRONT "warp\t0\t5\t0\t9\t10\t9\t0\n", 4, "column 7 is '9', not a whole number from 10"},
        {FRONT "warp\t0\t5\t0\t9\t10\t2147483648\t0\n", 4, "column 7"},
        {FRONT "warp\t0\t5\t0\t9\t10\t90\t4194305\n", 4, "column 8"},
        {FRONT WARP("0") WARP("0"), 5, "the timeline has only 1 warps"},
        {FRONT WARP("2") "w\t0,0,1\n", 5, "the warp above has 1 of its 2 waits"},
        {HEAD("1\t1\t2") LAUNCH SITE WARP("1") WARP("0"), 5, "the warp above has 0 of its 1 waits"},
        {FRONT "w\t0,0,1\n", 4, "there is no warp above"},
        {FRONT WARP("1") "w\t0,0,1\t0,0,1\n", 5, "'w' has 2 columns, not 3"},
        {FRONT WARP("1") "w\t0,0,1 0,0,1\n", 5, "the warp has only 1 waits"},
        {FRONT WARP("1") "w\t1,0,1\n", 5, "'1,0,1' is not SITE,GAP,LENGTH of a wait"},
        {FRONT WARP("1") "w\t0,0\n", 5, "'0,0' is not SITE"},
        {FRONT WARP("1") "w\t0\n", 5, "'0' is not SITE"},
        {FRONT WARP("1") "w\t0,-1,1\n", 5, "'0,-1,1' is not SITE"},
        {FRONT WARP("1") "w\t0,+1,1\n", 5, "is not SITE"},
        {FRONT WARP("1") "w\t0,1,1,32\n", 5, "'0,1,1,32' is not SITE"},
        {FRONT WARP("1") "w\t0,1,1,\n", 5, "is not SITE"},
        {FRONT WARP("1") "w\t0,1,1;\n", 5, "is not SITE"},
        {FRONT WARP("1") "w\t0,2147483647,1\n", 5, "is not SITE"},
        {FRONT WARP("1") "w\t0,0,99999999999999999999999\n", 5, "is not SITE"},
        {FRONT, 3, "the timeline above has 1 launches, 1 sites and 0 warps, not 1, 1 and 1"},
        {HEAD("2\t1\t0") LAUNCH SITE, 3, "has 1 launches, 1 sites and 0 warps, not 2, 1 and 0"},
        {HEAD("1\t1\t0") LAUNCH HEAD("1\t1\t0"), 3, "has 1 launches, 0 sites and 0 warps, not 1, 1 and 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Taken taken = {0};
        Error error = {0};
        bool good = read_text(cases[i].text, &taken, &error);
        if (good || error.line != cases[i].line || !strstr(error.message, cases[i].says) ||
            strcmp(error.file, "warps.tsv") != 0)
            fail_msg("case %zu: %s line %d: %s", i, error.file, error.line,
                     good ? "is not refused" : error.message);
        free_taken(&taken);
    }
    Taken taken = {0};
    Error error = {0};
    assert_true(read_text(FRONT WARP("2") "w\t0,0,1 0,20,900,31\n", &taken, &error)); /* which is fine */
    assert_int_equal(taken.timelines[0]->lines[0].waits[1].end, 90);
    free_taken(&taken);
}

/* Any changed byte of a valid file gives another timeline or an error, never a crash. */
static void every_byte_may_be_wrong(void **state) {
    (void)state;
    WarpTimeline *timeline = make_timeline();
    Text text = {0};
    warp_file_write(timeline, &text);
    warp_timeline_free(timeline);
    for (size_t i = 0; i < text.length; i++) {
        static const char others[] = "\t\n9-, z";
        Taken taken = {0};
        Error error = {0};
        char before = text.data[i];
        text.data[i] = others[i % (sizeof others - 1)];
        bool good = read_text(text.data, &taken, &error);
        assert_true(good || *error.message);
        for (int k = 0; k < taken.count; k++) {
            WarpSummary summary = warp_summary(taken.timelines[k], 0, taken.timelines[k]->cycles);
            assert_true(summary.ready >= 0 && summary.empty >= 0);
        }
        free_taken(&taken);
        text.data[i] = before;
    }
    text_done(&text);
}

/* ---- recordings ---------------------------------------------------------------------------------------- */

/* The load whose value it waits for, or else the waiting instruction itself, is what the state says, and on
 * that line. */
static void check_site(const char *path, const PtxProgram *program, const WarpSite *site) {
    int pc = warp_site_pc(site);
    if (pc >= program->code_count || site->pc >= program->code_count)
        fail_msg("%s: no instruction %d", path, pc);
    const PtxInstruction *in = program->code[pc].instruction;
    bool loads = in->opcode == PTX_ld || in->opcode == PTX_atom;
    if (loads != (site->load >= 0) || (site->state == WARP_WAITS_ATOMIC && in->opcode != PTX_atom) ||
        (site->state == WARP_WAITS_BARRIER && in->opcode != PTX_bar && in->opcode != PTX_barrier))
        fail_msg("%s: the instruction %d does not wait for %s", path, pc, warp_state_name(site->state));
    if (site->line != program->code[pc].line.line)
        fail_msg("%s: the instruction %d is on line %d, not %d", path, pc, program->code[pc].line.line,
                 site->line);
}

static PtxFunction *entry_named(PtxModule *module, const char *name) {
    for (int i = 0; i < module->item_count; i++) {
        const PtxItem *item = &module->items[i];
        if (item->kind == PTX_ITEM_FUNCTION && item->function->is_entry &&
            !strcmp(ptx_readable_name(module, item->function->name), name))
            return item->function;
    }
    return NULL;
}

static void check_recording(const char *path, const WarpTimeline *timeline) {
    Error error = {0};
    const CatalogRow *row = catalog_find(timeline->of.kernel, &error);
    char name[160];
    snprintf(name, sizeof name, "/%s.tsv", timeline->of.kernel);
    if (!row || !strstr(path, name)) fail_msg("%s has %s", path, timeline->of.kernel);
    PtxModule *module = row ? catalog_module(row, &error) : NULL;
    if (!module) fail_msg("%s: %s", path, error.message);
    assert_true(timeline->line_count > 0 && timeline->dropped == 0 && timeline->plain_us > 0);
    for (int i = 0; i < timeline->launch_count; i++) {
        PtxFunction *entry = entry_named(module, timeline->launches[i].entry);
        PtxProgram *program = entry ? ptx_program_link(module, entry, &error) : NULL;
        if (!program) fail_msg("%s: %s %s", path, timeline->launches[i].entry, error.message);
        for (int k = 0; k < timeline->site_count; k++)
            if (timeline->sites[k].launch == i) check_site(path, program, &timeline->sites[k]);
        ptx_program_free(program);
    }
    for (int i = 0; i < timeline->line_count; i++) {
        const WarpLine *line = &timeline->lines[i];
        const uint32_t *grid = timeline->launches[line->launch].grid;
        assert_true(line->block < (uint64_t)grid[0] * grid[1] * grid[2] && line->begin < line->end);
    }
    ptx_module_free(module);
}

static void shipped_files_agree_with_their_kernels(void **state) {
    (void)state;
    glob_t files = {0};
    glob("assets/*/warps/*.tsv", 0, NULL, &files);
    assert_true(files.gl_pathc >= 20);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        Taken taken = {0};
        Error error = {0};
        if (!warp_file_read(files.gl_pathv[i], take, &taken, &error))
            fail_msg("%s, line %d: %s", files.gl_pathv[i], error.line, error.message);
        assert_true(taken.count > 0);
        for (int k = 0; k < taken.count; k++) check_recording(files.gl_pathv[i], taken.timelines[k]);
        free_taken(&taken);
    }
    globfree(&files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_as_written),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(every_byte_may_be_wrong),
        cmocka_unit_test(shipped_files_agree_with_their_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
