/* The header, f, Enter, --report, its JSON and the opening have the same first entry. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "stage.h"
#include "tests/cli/json_reader.h"
#include "tui/panes/pane.h"
#include "tui/scene/headline.h"
#include <stdlib.h>
#include <string.h>

enum { COMPARED = 24 }; /* bytes of a sentence: it may be broken into rows after them */

static Stage *open(const char *kernel, uint64_t n, bool search) {
    return stage_open(&(RunSpec){
        .kernel = kernel, .catalog.n = n, .threads = 1, .backend = BACKEND_EMULATOR, .search_races = search});
}

static const Finding *first_of(const Findings *list) {
    bool is_entry = list->count && list->items[0].severity != SEVERITY_NOTE;
    return is_entry ? &list->items[0] : NULL;
}

static bool begins_alike(const char *text, const char *sentence) {
    return !strncmp(text, sentence, strnlen(sentence, COMPARED));
}

static void check_header(Stage *stage, const char *kernel, const Finding *first) {
    const char *story = stage->scene->identity.story;
    char text[256];
    stage->scene->identity.story = ""; /* as for a file */
    headline_print_story(stage->scene, 250, text, sizeof text);
    stage->scene->identity.story = story;
    if (!first || !first->access.line) return;
    if (strncmp(text, "1. ", 3) != 0 || !begins_alike(text + 3, first->sentence))
        fail_msg("%s: the header says '%s', not '%s'", kernel, text, first->sentence);
}

static void check_keys(Stage *stage, const char *kernel, const Finding *first) {
    static const char *const keys[] = {"f", "G<Enter>", "1f"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        stage_view(stage)->selection.hazard = 0;
        stage_press(stage, keys[i]);
        const View *view = stage_view(stage);
        if (!stage->scene->borrowed.hazards->count) {
            if (!view->transient.message[0]) fail_msg("%s: %s is silent", kernel, keys[i]);
            continue;
        }
        if (first) assert_int_equal(view->selection.hazard, 1);
        if (!first || first->access.event < 0 || view->selection.hazard_waits) continue;
        const SessionBlock *block = &stage->scene->traced.blocks[view->place.block];
        int pc = block->steps->steps[view->place.step].pc;
        if (pc != first->access.pc)
            fail_msg("%s: %s goes to pc %d, not %d", kernel, keys[i], pc, first->access.pc);
    }
}

/* As a file, the kernel opens there, if one access shows the problem and its block is traced. */
static int check_opening(Stage *stage, const char *kernel, const Finding *first) {
    const char *story = stage->scene->identity.story;
    View *view = stage_view(stage);
    stage->scene->identity.story = "";
    view_restart(view);
    view_open(view, stage->scene);
    stage->scene->identity.story = story;
    if (!first || !finding_has_place(first)) return 0;
    ViewPosition wanted = view_finding_place(stage->scene, first, &first->access);
    if (!wanted.number) return 0;
    if (view->place.block != wanted.block || view->place.step + 1 != wanted.number)
        fail_msg("%s: opens at step %d, its first problem is at step %d", kernel, view->place.step + 1,
                 wanted.number);
    return 1;
}

/* `text` begins a line with this number and the sentence, perhaps behind a title. */
static void check_text(Session *session, const char *kernel, const Finding *first) {
    Text out = {0}, flat = {0};
    ask_report(session, false, &out);
    const char *at = strstr(text_string(&out), "\n1. ");
    if (!at == !first && first) {
        for (const char *c = at + 4; *c && c < at + 500; c++)
            if (*c != '\n' || c[1] != ' ')
                text_add_bytes(&flat, c, 1);
            else
                text_add(&flat, " "), c += strspn(c + 1, " ");
        char wanted[COMPARED + 1];
        snprintf(wanted, sizeof wanted, "%s", first->sentence);
        const char *found = strstr(text_string(&flat), wanted), *second = strstr(text_string(&flat), "2. ");
        if (!found || (second && second < found)) fail_msg("%s: --report says '%.80s'", kernel, at);
    } else if (!at != !first) {
        fail_msg("%s: --report %s", kernel, at ? "has an entry" : "has none");
    }
    text_done(&out);
    text_done(&flat);
}

static void check_json(Session *session, const char *kernel, const Finding *first) {
    Text out = {0};
    char wanted[256];
    ask_report(session, true, &out);
    const char *at = strstr(text_string(&out), "\"verdict\":[");
    assert_non_null(at);
    if (first)
        snprintf(wanted, sizeof wanted, "\"verdict\":[{\"number\":1,\"kind\":\"%s\",", first->kind_text);
    else
        snprintf(wanted, sizeof wanted, "\"verdict\":[]");
    if (strncmp(at, wanted, strlen(wanted)) != 0) fail_msg("%s: JSON has %.80s", kernel, at);
    if (first && first->access.line) {
        snprintf(wanted, sizeof wanted, "\"line\":%d,", first->access.line);
        const char *line = strstr(at, "\"line\":");
        if (!line || strncmp(line, wanted, strlen(wanted)) != 0) fail_msg("%s: JSON has %.160s", kernel, at);
    }
    text_done(&out);
}

static int check_kernel(const char *kernel, uint64_t n, bool search, int *openings) {
    Stage *stage = open(kernel, n, search);
    const Findings *list = search ? ask_hazards(stage->session) : ask_counted(stage->session);
    const Finding *first = first_of(list);
    stage->scene->borrowed.hazards = list;
    if (search) stage->scene->borrowed.hazards_note = NULL;
    check_header(stage, kernel, first);
    check_keys(stage, kernel, first);
    *openings += check_opening(stage, kernel, first);
    if (!search) check_text(stage->session, kernel, first);
    check_json(stage->session, kernel, first);
    stage_free(stage);
    return first != NULL;
}

static void all_places_have_the_same_first_entry(void **state) {
    (void)state;
    int runs = 0, entries = 0, openings = 0;
    for (int i = 0; i < catalog_count(); i++)
        for (int search = 0; search < 2; search++) {
            entries += check_kernel(catalog_row(i)->id, 4096, search, &openings);
            runs++;
        }
    assert_true(runs >= 100); /* more than 50 kernels, with and without a search */
    assert_true(entries >= 40);
    assert_true(openings >= 20);
}

/* ---- files --------------------------------------------------------------------------------------------- */

static void a_file_opens_at_its_first_entry(void **state) {
    (void)state;
    static const struct {
        const char *file, *entry;
        FindingKind kind;
        TraceKind event;
    } files[] = {
        {"assets/ptx/interleaved.ptx", "interleaved<int,Sum>", FINDING_IDLE_LANES, TRACE_BRANCH},
        {"assets/ptx/strided.ptx", "strided<int,Sum>", FINDING_BANK_CONFLICT, TRACE_SHARED_LOAD},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        Stage *stage = stage_open(&(RunSpec){.file = files[i].file,
                                             .entry = files[i].entry,
                                             .block = {256, 1, 1},
                                             .catalog.n = 4096,
                                             .threads = 1,
                                             .backend = BACKEND_EMULATOR});
        const Finding *first = first_of(stage->scene->borrowed.hazards);
        assert_non_null(first);
        assert_int_equal(first->kind, files[i].kind);
        const View *view = stage_view(stage);
        const StepIndex *index = scene_step_index(stage->scene, view->place.block);
        assert_int_equal(index->step[view->place.step].kind, files[i].event);
        assert_int_equal(index->steps->steps[view->place.step].pc, first->access.pc);
        assert_int_equal(view->display.picture, SHOW_INSTRUCTION);
        stage_free(stage);
    }
}

/* Races are known after the search of all blocks: the file then opens again, at the race, unless a key was
 * pressed. */
static void a_file_opens_again_at_its_race(void **state) {
    (void)state;
    for (int is_moved = 0; is_moved < 2; is_moved++) {
        Stage *stage = stage_open(&(RunSpec){.file = "assets/ptx/bug_missing_sync.ptx",
                                             .entry = "bug_missing_sync<int>",
                                             .block = {256, 1, 1},
                                             .catalog.n = 256,
                                             .threads = 1,
                                             .backend = BACKEND_EMULATOR});
        if (is_moved) stage_press(stage, "g");
        const View *view = stage_view(stage);
        int before = view->place.step;
        stage->scene->borrowed.hazards = ask_hazards(stage->session);
        view_open_again(stage_view(stage), stage->scene);
        const Findings *list = stage->scene->borrowed.hazards;
        const Finding *first = &list->items[findings_first(list)];
        assert_true(finding_is_race(first));
        int race = view_finding_place(stage->scene, first, &first->access).number - 1;
        assert_int_equal(view->place.step, is_moved ? before : race);
        if (!is_moved) assert_int_not_equal(before, race);
        stage_free(stage);
    }
}

/* ---- shares -------------------------------------------------------------------------------------------- */

/* No share exceeds all passes; no entry is a trifle; they are in order. */
static void shares_are_ranked(void **state) {
    (void)state;
    for (int i = 0; i < catalog_count(); i++) {
        Stage *stage = open(catalog_row(i)->id, 4096, false);
        const Findings *list = ask_counted(stage->session);
        double before = 1;
        for (int k = list->error_count; k < list->count; k++) {
            const Finding *finding = &list->items[k];
            if (finding->severity != SEVERITY_SLOW) break;
            if (finding->share > before || finding->share * 100 < FINDINGS_LEAST_PERCENT)
                fail_msg("%s: share %g after %g: %s", catalog_row(i)->id, finding->share, before,
                         finding->sentence);
            assert_true(finding->cost >= finding->ideal);
            assert_int_equal(findings_find_number(list, finding_number(list, k)), k);
            before = finding->share;
        }
        stage_free(stage);
    }
}

/* Counted by hand: 32 lanes of 1 warp add to one word. */
static void atomics_on_one_word_are_an_entry(void **state) {
    (void)state;
    Stage *stage = open("atomic", 4096, false);
    const Finding *first = first_of(ask_counted(stage->session));
    assert_non_null(first);
    assert_int_equal(first->kind, FINDING_ATOMIC_CONFLICT);
    assert_int_equal(first->cost, 4096);
    assert_int_equal(first->ideal, 4096 / 32);
    stage_free(stage);
}

/* 8 warps: of the 8 rounds of `s`, 128 to 1, the first three have work for 4, 2 and 1 warps, the others for
 * 1; a barrier comes before the loop. */
static void warps_without_work_are_counted(void **state) {
    (void)state;
    Stage *stage = open("sequential", 256, false);
    const Findings *list = ask_counted(stage->session);
    const Finding *idle = NULL, *needless = NULL;
    for (int i = 0; i < list->count; i++) {
        if (list->items[i].kind == FINDING_IDLE_WARPS) idle = &list->items[i];
        if (list->items[i].kind == FINDING_NEEDLESS_BARRIER) needless = &list->items[i];
    }
    if (!idle || !needless) fail_msg("a kind of finding is missing");
    assert_int_equal(idle->cost, 8 * 8);
    assert_int_equal(idle->ideal, 4 + 2 + 1 + 5);
    assert_int_equal(needless->cost, 8 * 8);
    assert_int_equal(needless->ideal, 2 * 8);
    stage_free(stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_places_have_the_same_first_entry),
        cmocka_unit_test(a_file_opens_at_its_first_entry),
        cmocka_unit_test(a_file_opens_again_at_its_race),
        cmocka_unit_test(shares_are_ranked),
        cmocka_unit_test(atomics_on_one_word_are_an_entry),
        cmocka_unit_test(warps_without_work_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
