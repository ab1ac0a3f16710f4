/* The hazards pane: findings made by hand in a run made by hand: the list, the text about the selected one,
 * and where f and F go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "sample.h"
#include "tui/frame.h"
#include "tui/input.h"
#include <string.h>

enum { RACE, SHUFFLE, RESULT, CONFLICT, FINDINGS };

typedef struct Found {
    Sample *sample;
    Finding items[FINDINGS];
    Findings list;
    FindingCause causes[CONFLICT];
    View view;
} Found;

/* An access by the first lane of the step's first event. */
static FindingAccess access_at(const Sample *sample, int step, uint64_t value) {
    const Steps *steps = sample->blocks[0].steps;
    int event = steps->events[steps->steps[step].first];
    TraceEvent header;
    trace_block_read_header(steps->block, event, &header);
    return (FindingAccess){.pc = header.pc,
                           .file = "strided.cu",
                           .line = 11,
                           .warp = header.warp,
                           .lanes = 0xFF,
                           .lane = 3,
                           .has_value = true,
                           .is_store = header.kind == TRACE_SHARED_STORE,
                           .value = value,
                           .event = event};
}

static const FindingAccess nothing = {.pc = PTX_NO_PC, .lane = -1, .buffer = -1, .warp = -1, .event = -1};

static Found *find_all(void) {
    static Found found;
    found = (Found){.sample = sample_new(256)};
    Sample *sample = found.sample;
    int store = sample_step(sample, TRACE_SHARED_STORE, 1), load = sample_step(sample, TRACE_SHARED_LOAD, 2);
    found.items[RACE] = (Finding){
        .kind = FINDING_SHARED_RACE,
        .kind_text = "shared_race",
        .access = access_at(sample, load, 7),
        .other = access_at(sample, store, 5),
        .count = 1536,
        .blocks = 16,
        .what = "sdata[8]",
        .sentence = "Warp 1 reads what warp 0 writes in the same barrier interval: either may be first.",
        .advice = "put __syncthreads() between line 11 and line 11"};
    found.items[SHUFFLE] = (Finding){.kind = FINDING_UNDEFINED_SHUFFLE,
                                     .kind_text = "undefined_shuffle",
                                     .access = access_at(sample, sample_step(sample, TRACE_SHUFFLE, 1), 0),
                                     .other = nothing,
                                     .count = 1,
                                     .blocks = 1,
                                     .sentence = "Lanes 24-31 are read, and do not take part.",
                                     .advice = "let all lanes take part"};
    found.items[SHUFFLE].access.linear_block = 9; /* not traced */
    found.items[SHUFFLE].access.event = -1;
    found.items[RESULT] = (Finding){.kind = FINDING_WRONG_RESULT,
                                    .kind_text = "wrong_result",
                                    .access = nothing,
                                    .other = nothing,
                                    .count = 1,
                                    .sentence = "The result is 41; the reference is 42."};
    found.items[CONFLICT] = (Finding){.kind = FINDING_BANK_CONFLICT,
                                      .severity = SEVERITY_SLOW,
                                      .kind_text = "bank_conflict",
                                      .access = access_at(sample, load, 7),
                                      .other = nothing,
                                      .count = 40,
                                      .blocks = 16,
                                      .what = "sdata",
                                      .sentence = "8 lanes ask for different words of one bank.",
                                      .advice = "let the distance between threads shrink",
                                      .cost = 614400,
                                      .ideal = 184320};
    for (int i = 0; i < FINDINGS; i++) found.items[i].cause = i < CONFLICT ? i : -1;
    for (int i = 0; i < CONFLICT; i++) found.causes[i] = (FindingCause){.lead = i, .count = 1};
    found.list = (Findings){.items = found.items,
                            .count = FINDINGS,
                            .error_count = CONFLICT,
                            .causes = found.causes,
                            .cause_count = CONFLICT,
                            .is_complete = true};
    sample->scene.borrowed.hazards = &found.list;
    view_init(&found.view);
    return &found;
}

static ViewAnswer press(Found *found, const char *script) {
    ViewAnswer answer = VIEW_IGNORED;
    Key key;
    while (*script) {
        assert_true(keys_read(&script, &key, NULL));
        answer = input_press(&found->view, &found->sample->scene, keys_decode(key));
    }
    return answer;
}

static void check(const char *name, const char *keys, int columns, int rows) {
    Found *found = find_all();
    press(found, keys);
    Canvas *canvas = canvas_new(columns, rows, false);
    frame_draw(&found->sample->scene, &found->view, canvas);
    golden_check_canvas(name, canvas);
    sample_free(found->sample);
}

static void goldens(void **state) {
    (void)state;
    check("hazards_80x24", "f", 80, 24);
    check("hazards_zoomed_80x24", "fz", 80, 24);
    check("hazards_other_80x24", "ffz", 80, 24);
    check("hazards_slow_80x24", "Fz", 80, 24);
    check("hazards_120x40", "f", 120, 40);
    check("hazards_200x60", "f", 200, 60);
}

static void a_run_without_findings_says_so(void **state) {
    (void)state;
    Found *found = find_all();
    found->list = (Findings){.is_complete = true};
    press(found, "f");
    assert_int_equal(found->view.place.step, 0);
    assert_string_equal(found->view.transient.message,
                        "No hazard, no excess wavefronts, no divergence: c compares");
    found->sample->scene.borrowed.hazards = NULL;
    found->sample->scene.borrowed.hazards_note = "they are being looked for";
    press(found, "f");
    assert_string_equal(found->view.transient.message, "they are being looked for");
    Canvas *canvas = canvas_new(80, 24, false);
    frame_draw(&found->sample->scene, &found->view, canvas);
    canvas_free(canvas);
    sample_free(found->sample);
}

/* To where it was detected, to the access it races with, to the next finding; and back. */
static void keys_go_from_access_to_access(void **state) {
    (void)state;
    Found *found = find_all();
    const Steps *steps = found->sample->blocks[0].steps;
    int load = steps->step_of_event[found->items[RACE].access.event],
        store = steps->step_of_event[found->items[RACE].other.event];
    assert_true(load != store);
    press(found, "f");
    assert_int_equal(found->view.place.step, load);
    assert_int_equal(found->view.selection.lane, 3);
    assert_int_equal(found->view.selection.warp, found->items[RACE].access.warp);
    press(found, "f");
    assert_int_equal(found->view.place.step, store);
    assert_true(found->view.selection.hazard == RACE + 1 && found->view.selection.hazard_other);
    press(found, "F");
    assert_int_equal(found->view.place.step, load);
    press(found, "F"); /* cyclic: the last one */
    assert_int_equal(found->view.selection.hazard, CONFLICT + 1);
    press(found, "f");
    assert_int_equal(found->view.selection.hazard, RACE + 1);
    press(found, "3f");
    assert_int_equal(found->view.selection.hazard, RESULT + 1); /* no access: the place stays */
    assert_int_equal(found->view.place.step, load);
    press(found, "''");
    sample_free(found->sample);
}

/* The view asks for the block; once it is traced, the view goes there; if it is not traced, the view does not
 * ask again. */
static void a_block_that_is_not_traced_is_asked_for(void **state) {
    (void)state;
    Found *found = find_all();
    assert_int_equal(press(found, "2f"), VIEW_TRACE);
    assert_int_equal(found->view.transient.wanted_block, 9);
    assert_true(found->view.selection.hazard_waits);
    assert_int_equal(view_go_to_hazard(&found->view, &found->sample->scene), VIEW_CHANGED);
    assert_false(found->view.selection.hazard_waits);
    sample_free(found->sample);
}

static void every_size_can_be_drawn(void **state) {
    (void)state;
    Found *found = find_all();
    for (int columns = 60; columns < 210; columns += 7)
        for (int rows = 16; rows < 60; rows += 3) {
            Canvas *canvas = canvas_new(columns, rows, rows & 1);
            press(found, (columns + rows) % 2 ? "f" : "z");
            frame_draw(&found->sample->scene, &found->view, canvas);
            canvas_free(canvas);
        }
    sample_free(found->sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goldens),
        cmocka_unit_test(a_run_without_findings_says_so),
        cmocka_unit_test(keys_go_from_access_to_access),
        cmocka_unit_test(a_block_that_is_not_traced_is_asked_for),
        cmocka_unit_test(every_size_can_be_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
