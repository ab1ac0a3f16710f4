#include "stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "bench/bench.h"
#include "golden.h"
#include "tui/frame.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

Stage *stage_open(const RunSpec *options) {
    Error error = {0};
    Stage *stage = memory_new(sizeof *stage);
    stage->session = session_open(options, &error);
    if (!stage->session) fail_msg("%s: %s", options->kernel ? options->kernel : options->file, error.message);
    stage->scene = scene_new(stage->session);
    if (!bench_recorded(NULL, &stage->recorded, &error)) fail_msg("%s", error.message);
    stage->timings.recorded = &stage->recorded;
    stage->scene->borrowed.timings = &stage->timings;
    stage->scene->questions.assemble = NULL;
    stage->scene->questions.sass = NULL; /* frames must not change when new machine code is recorded */
    stage->scene->borrowed.hazards_note = "hazards were not searched for";
    comparison_init(&stage->comparison, stage->scene);
    return stage;
}

Stage *stage_open_kernel(const char *kernel) {
    return stage_open(
        &(RunSpec){.kernel = kernel, .first_look = true, .threads = 1, .catalog.prefers_digits = true});
}

Session *stage_session_of_ptx(const char *parameters, const char *body, const char *args, uint32_t threads) {
    char name[64];
    Error error = {0};
    snprintf(name, sizeof name, "/tmp/redviz-stage-%d.ptx", (int)getpid());
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fprintf(file, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kernel(%s)\n{\n%s\n}\n",
            parameters, body);
    assert_int_equal(fclose(file), 0);
    RunSpec options = {
        .file = name, .args = args, .grid = {1}, .block = {threads}, .backend = BACKEND_EMULATOR};
    Session *session = session_open(&options, &error);
    unlink(name);
    if (!session) fail_msg("%s", error.message);
    return session;
}

void stage_free(Stage *stage) {
    scene_free(stage->scene);
    session_free(stage->session);
    measured_done(&stage->recorded);
    free(stage);
}

void stage_press(Stage *stage, const char *script) {
    Key key;
    while (*script) {
        assert_true(keys_read(&script, &key, NULL));
        comparison_press(&stage->comparison, keys_decode(key));
    }
}

View *stage_view(Stage *stage) {
    return comparison_view(&stage->comparison);
}

Canvas *stage_draw(const Stage *stage, int columns, int rows) {
    Canvas *canvas = canvas_new(columns, rows, false);
    comparison_draw(&stage->comparison, canvas);
    return canvas;
}

char *stage_text(const Stage *stage, int columns, int rows) {
    Canvas *canvas = stage_draw(stage, columns, rows);
    Text text = {0};
    canvas_to_text(canvas, &text);
    canvas_free(canvas);
    return text.data;
}

void stage_check(const Stage *stage, const char *name, int columns, int rows, bool ascii) {
    Canvas *canvas = canvas_new(columns, rows, ascii);
    comparison_draw(&stage->comparison, canvas);
    golden_check_canvas(name, canvas);
}

const Pane *stage_picture(const Stage *stage, int columns, int rows, Rectangle *area) {
    Layout layout;
    const View *view = &stage->comparison.view[0];
    assert_true(layout_make(columns, rows, view, frame_needs(stage->scene, view), &layout));
    *area = layout.slots[SLOT_PICTURE];
    bool is_apart = layout.slots[SLOT_REDUCTION].rows > 0;
    for (int i = 0; panes[i]; i++)
        if ((panes[i]->slot == SLOT_PICTURE || (panes[i] == &pane_reduction && !is_apart)) &&
            frame_shows(stage->scene, view, &layout, panes[i]))
            return panes[i];
    return NULL;
}
