#include "frame.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

static const char *verdict_text(const Scene *scene, char *out, size_t bytes) {
    switch (scene->verdict) {
    case SCENE_RIGHT:
        return "result ok";
    case SCENE_WRONG:
        snprintf(out, bytes, "WRONG: %s, not %s", scene->result, scene->expected);
        return out;
    case SCENE_WRONG_ON_PURPOSE:
        if (!scene_fatal_trap(scene)) return "wrong on purpose";
        snprintf(out, bytes, "TRAP %s, on purpose", trap_kind_text(scene_fatal_trap(scene)->kind));
        return out;
    case SCENE_TRAPPED:
        snprintf(out, bytes, "TRAP %s", trap_kind_text(scene->trace->traps[0].kind));
        return out;
    default:
        return "result not checked";
    }
}

static uint64_t product(const uint32_t size[3]) {
    return (uint64_t)size[0] * size[1] * size[2];
}

/* What the run is, in as many words as `columns` have room for; where it comes from is always told. */
static void print_run(const Scene *scene, const View *view, int columns, char *out, size_t bytes) {
    char n[32], data[96], grid[64] = "", launch[48] = "";
    moment_print_count(scene->n, n, sizeof n);
    snprintf(data, sizeof data, "%s%s%s  n %s", scene->dtype, *scene->dtype ? " " : "", scene->op, n);
    if (view->view < scene->view_count) {
        const TraceLaunch *of = scene_launch(scene, view->view);
        snprintf(grid, sizeof grid, "  <<<%" PRIu64 ", %" PRIu64 ">>>", product(of->grid),
                 product(of->block));
        if (scene->trace->launch_count > 1)
            snprintf(launch, sizeof launch, "  launch %d of %d", scene->views[view->view].launch + 1,
                     scene->trace->launch_count);
    }
    for (int words = 3; words >= 0; words--) {
        snprintf(out, bytes, "%s%s%s   %s   ", words > 1 ? data : "", words > 2 ? grid : "",
                 words > 0 ? launch : "", scene->level);
        if (canvas_text_columns(out) <= columns) return;
    }
}

/* The kernel on the left with its title where that fits; the run and its verdict on the right. */
static void draw_header(const Scene *scene, const View *view, Canvas *canvas, Rectangle area) {
    char verdict[96], right[256];
    const char *told = verdict_text(scene, verdict, sizeof verdict);
    canvas_print(canvas, area, 0, 0, ROLE_HEADER, "%*s", area.columns, "");
    int at = 1 + canvas_print(canvas, area, 1, 0, ROLE_HEADER, "redviz  %s", scene->kernel);
    int told_at = area.columns - canvas_text_columns(told) - 1;
    print_run(scene, view, told_at - at - 1, right, sizeof right);
    int right_at = told_at - canvas_text_columns(right);
    Role role = scene->verdict == SCENE_RIGHT         ? ROLE_GOOD
                : scene->verdict == SCENE_NOT_CHECKED ? ROLE_HEADER
                                                      : ROLE_WARNING;
    if (at + 3 + canvas_text_columns(scene->title) + 2 < right_at)
        canvas_print(canvas, area, at + 3, 0, ROLE_HEADER, "%s", scene->title);
    if (right_at > at) canvas_text(canvas, area, right_at, 0, ROLE_HEADER, right);
    canvas_text(canvas, area, told_at, 0, role, told);
    canvas_reverse(canvas, area, 0, 0, area.columns);
    for (int column = 0; column < area.columns; column++) { /* HEADER is reverse by itself */
        Cell *cell = canvas_cell(canvas, area, column, 0);
        if (cell && cell->role == ROLE_HEADER) cell->reverse = 0;
    }
}

/* "← → step"; returns its columns, drawn or not. */
static int draw_hint(Canvas *canvas, Rectangle area, int at, const KeyRow *row, bool draw) {
    char keys[64], key[24], back[24];
    keys_show(row->forwards, 0, canvas->ascii, key, sizeof key);
    bool two = keys_show(row->backwards, 0, canvas->ascii, back, sizeof back);
    if (!two)
        snprintf(keys, sizeof keys, "%s", key);
    else if (isalpha((unsigned char)key[0]) && !key[1])
        snprintf(keys, sizeof keys, "%s %s", key, back); /* n N */
    else
        snprintf(keys, sizeof keys, "%s %s", back, key); /* as they lie on the keyboard */
    if (draw) {
        canvas_text(canvas, area, at, 0, ROLE_KEY, keys);
        canvas_text(canvas, area, at + canvas_text_columns(keys) + 1, 0, ROLE_DIM, row->name);
    }
    return canvas_text_columns(keys) + 1 + canvas_text_columns(row->name) + 2;
}

/* Hints in the order of keys.def while they fit; how to get help and how to leave are always there. */
static void draw_footer(const View *view, Canvas *canvas, Rectangle area) {
    int at = 1, kept = draw_hint(canvas, area, 0, &key_rows[ACT_HELP], false) +
                       draw_hint(canvas, area, 0, &key_rows[ACT_QUIT], false);
    if (view->message[0]) {
        canvas_text(canvas, area, 1, 0, ROLE_WARNING, view->message);
        return;
    }
    if (view->number >= 0) at += canvas_print(canvas, area, at, 0, ROLE_CURRENT, "%d_ ", view->number);
    bool full = false;
    for (int action = 1; action < ACTION_COUNT; action++) {
        const KeyRow *row = &key_rows[action];
        bool always = action == ACT_HELP || action == ACT_QUIT;
        if (!*row->name) continue;
        full |= at + draw_hint(canvas, area, 0, row, false) + kept > area.columns + 2;
        if (full && !always) continue;
        at += draw_hint(canvas, area, at, row, true);
    }
}

static void draw_pane(const Pane *pane, const Moment *now, Canvas *canvas, Rectangle area, bool boxed) {
    PaneHead head = {.note_role = ROLE_DIM};
    pane->head(now, &head);
    if (pane->slot == SLOT_EXPLANATION && !boxed && area.rows <= 2) { /* no row to spare for a title */
        pane->draw(now, canvas, (Rectangle){area.column + 1, area.row, area.columns - 2, area.rows});
        return;
    }
    Rectangle inside = boxed ? canvas_box(canvas, area, head.note_role, head.title, head.note)
                             : canvas_rule(canvas, area, head.note_role, head.title, head.note);
    if (inside.rows > 0 && inside.columns > 0) pane->draw(now, canvas, inside);
}

static void draw_nothing(const Scene *scene, Canvas *canvas, Rectangle area) {
    int row = 1;
    area.column += 2;
    area.columns -= 4;
    row +=
        canvas_paragraph(canvas, area, row, ROLE_TEXT,
                         "This run recorded no events of a traced block: there is nothing to step through.");
    if (!scene->trace->trap_count) return;
    Text text = {0};
    text_print(&text, "Trap %s: %s", trap_kind_text(scene->trace->traps[0].kind),
               scene->trace->traps[0].detail);
    canvas_paragraph(canvas, area, row + 1, ROLE_WARNING, text_string(&text));
    text_done(&text);
}

static void draw_overlay(const Moment *now, const Layout *layout, Canvas *canvas) {
    for (int i = 0; panes[i]; i++) {
        if (panes[i]->slot != SLOT_OVERLAY || panes[i]->overlay != now->view->overlay) continue;
        canvas_fill(canvas, layout->overlay, ROLE_TEXT);
        draw_pane(panes[i], now, canvas, layout->overlay, true);
    }
}

static void draw_panes(const Moment *now, const Layout *layout, Canvas *canvas) {
    for (int i = 0; panes[i]; i++) {
        const Pane *pane = panes[i];
        if (pane->slot >= SLOT_COUNT || layout->slots[pane->slot].rows <= 0) continue;
        bool wanted = now->view->tree ? pane == &pane_tree : pane->kinds >> now->event.kind & 1;
        if (pane->slot == SLOT_PICTURE && !wanted) continue;
        draw_pane(pane, now, canvas, layout->slots[pane->slot], layout->boxed);
    }
    for (int i = 0; i < layout->side_count && i < pane_side_count(); i++)
        draw_pane(pane_side(now->view->side + i), now, canvas, layout->sides[i], layout->boxed);
}

void frame_draw(const Scene *scene, const View *view, Canvas *canvas) {
    Layout layout;
    Moment now;
    canvas_clear(canvas);
    if (!layout_make(canvas->columns, canvas->rows, view->zoom, &layout)) {
        char text[96];
        snprintf(text, sizeof text, "redviz needs %d columns and %d rows; here are %d and %d.",
                 SMALLEST_COLUMNS, SMALLEST_ROWS, canvas->columns, canvas->rows);
        canvas_paragraph(canvas, (Rectangle){0, 0, canvas->columns, canvas->rows}, 0, ROLE_TEXT, text);
        return;
    }
    draw_header(scene, view, canvas, layout.header);
    draw_footer(view, canvas, layout.footer);
    if (moment_init(&now, scene, view))
        draw_panes(&now, &layout, canvas);
    else
        draw_nothing(scene, canvas, (Rectangle){0, 1, canvas->columns, canvas->rows - 2});
    draw_overlay(&now, &layout, canvas);
}

int frame_step_at(const Scene *scene, const View *view, int columns, int rows, int column, int row) {
    Layout layout;
    Moment now;
    if (view->overlay != OVERLAY_NONE || !layout_make(columns, rows, view->zoom, &layout) ||
        !moment_init(&now, scene, view))
        return -1;
    Rectangle area = layout.slots[SLOT_TIMELINE];
    int border = layout.boxed ? 2 : 1; /* as canvas_box and canvas_rule leave them */
    if (row < area.row || row >= area.row + area.rows) return -1;
    return pane_timeline_step_at(&now, area.columns - 2 * border, column - area.column - border);
}
