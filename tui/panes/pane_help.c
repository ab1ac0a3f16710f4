/* Help: the keys in groups, then the signs of the panes, the focused pane first (legend.def). */
#include "tui/panes/pane.h"
#include "tui/panes/sheet.h"

#include <stdio.h>

enum {
    KEY_COLUMNS = 13,
    SIGN_COLUMNS = 19,
    LEAST_COLUMNS = 56, /* two columns on a screen of 120 */
    MOST_ROWS = ACTION_COUNT + 2 * KEY_GROUP_COUNT + LECTURE_KEY_COUNT + 12
};

static const struct {
    const Pane *pane;
    const char *name;
    Role role;
    const char *sign, *meaning;
} signs[] = {
#define SIGN(pane, role, sign, meaning) {&pane_##pane, #pane, ROLE_##role, sign, meaning},
#include "tui/panes/legend.def"
#undef SIGN
};
enum { SIGN_COUNT = sizeof signs / sizeof *signs };

static void head(const StepContext *context, PaneHead *out) {
    (void)context;
    snprintf(out->title, sizeof out->title, "keys, then the signs on the screen");
    snprintf(out->note, sizeof out->note, "?: words, any other key closes");
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

/* "→ l  ← h" */
static void print_keys(const KeyRow *row, bool ascii, char *out, size_t bytes) {
    char name[24];
    size_t at = 0;
    out[0] = 0;
    for (int backwards = 0; backwards < 2; backwards++) {
        const char *list = backwards ? row->backwards : row->forwards;
        for (int i = 0; keys_show(list, i, ascii, name, sizeof name) && at < bytes; i++)
            at += (size_t)snprintf(out + at, bytes - at, "%s%s", i ? " " : backwards ? "  " : "", name);
    }
}

static SheetRow title_row(const char *title) {
    SheetRow row = {.role = ROLE_TITLE, .begins = true};
    snprintf(row.term, sizeof row.term, "%s", title);
    return row;
}

/* The mouse, and numbers, which have no row in keys.def. */
static const SheetRow others[] = {
    {.term = "wheel", .role = ROLE_KEY, .text = "beat"},
    {.term = "click", .role = ROLE_KEY, .text = "step, line, level, warp, lane, pane, hint"},
    {.term = "drag", .role = ROLE_KEY, .text = "on the timeline: through the steps"},
    {.term = "10l 74g 3w", .role = ROLE_KEY, .text = "a number repeats the key, or says which"},
};

static int add_key(SheetRow *rows, int count, const KeyRow *key, bool ascii) {
    rows[count] = (SheetRow){.role = ROLE_KEY, .text = key->help};
    print_keys(key, ascii, rows[count].term, sizeof rows[count].term);
    return count + 1;
}

static void put_keys(Sheet *sheet, bool of_lecture, bool ascii) {
    SheetRow rows[MOST_ROWS];
    int count = 0;
    KeyAction action;
    if (of_lecture) rows[count++] = title_row("lecture");
    for (int i = 0; of_lecture && i < LECTURE_KEY_COUNT; i++)
        count = add_key(rows, count, &lecture_key_rows[i], ascii);
    for (KeyGroup group = 0; group < KEY_GROUP_COUNT; group++) {
        rows[count++] = title_row(keys_group_title(group));
        for (int i = 0; (action = keys_in_group(group, i)) != ACT_NONE; i++)
            count = add_key(rows, count, &key_rows[action], ascii);
    }
    rows[count++] = title_row("mouse and numbers");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) rows[count++] = others[i];
    sheet_section(sheet, rows, count, LEAST_COLUMNS, KEY_COLUMNS);
}

/* ---- signs --------------------------------------------------------------------------------------------- */

static void put_signs(Sheet *sheet, const Pane *pane) {
    SheetRow rows[SIGN_COUNT];
    char title[64];
    int count = 0;
    for (int i = 0; i < SIGN_COUNT; i++) {
        if (signs[i].pane != pane) continue;
        SheetRow *row = &rows[count++];
        *row = (SheetRow){.role = signs[i].role == ROLE_TEXT ? ROLE_CURRENT : signs[i].role,
                          .text = signs[i].meaning,
                          .begins = true};
        snprintf(row->term, sizeof row->term, "%s", signs[i].sign);
        snprintf(title, sizeof title, "signs: %s", signs[i].name);
    }
    if (!count) return;
    sheet->row++;
    sheet_title(sheet, title);
    sheet_section(sheet, rows, count, LEAST_COLUMNS, SIGN_COLUMNS);
}

/* The picture of this step's kind of instruction. */
static const Pane *picture_of_step(const StepContext *context) {
    for (int i = 0; panes[i]; i++)
        if (panes[i]->slot == SLOT_PICTURE && panes[i]->kinds >> context->event.kind & 1) return panes[i];
    return NULL;
}

/* The reduction is in the picture's place or beside it. */
static void put_signs_of_picture(Sheet *sheet, const StepContext *context) {
    ShownPicture picture = context->view->display.picture;
    int block = context->view->place.block;
    if (picture == SHOW_LANE_TREE || picture == SHOW_RESULT_TREE) {
        put_signs(sheet, &pane_tree);
        return;
    }
    if (picture == SHOW_GRID) {
        put_signs(sheet, &pane_grid);
        return;
    }
    Reduction *reduction = scene_reduction(context->scene, block);
    if (reduction && picture == SHOW_REDUCTION && reduction_is_worth_showing(reduction))
        put_signs(sheet, &pane_reduction);
    put_signs(sheet, picture_of_step(context));
}

/* The focused pane first, then the other panes of the screen. */
static void put_signs_here(Sheet *sheet, const StepContext *context) {
    const ViewDisplay *display = &context->view->display;
    const Pane *source = display->source == SOURCE_SASS ? &pane_sass : &pane_source;
    if (context->view->transient.behind == OVERLAY_LADDER) {
        put_signs(sheet, &pane_ladder);
        return;
    }
    if (display->focus == FOCUS_SOURCE) put_signs(sheet, source);
    if (display->focus == FOCUS_LANES) put_signs(sheet, &pane_lanes);
    if (display->focus == FOCUS_SIDE) put_signs(sheet, pane_side(display->side));
    put_signs_of_picture(sheet, context);
    put_signs(sheet, &pane_timeline);
    if (display->focus != FOCUS_SIDE) put_signs(sheet, pane_side(display->side));
    if (display->focus != FOCUS_SOURCE) put_signs(sheet, source);
    if (display->focus != FOCUS_LANES) put_signs(sheet, &pane_lanes);
}

/* ---- both ---------------------------------------------------------------------------------------------- */

static int put(const StepContext *context, Sheet sheet, bool ascii) {
    put_keys(&sheet, context->view->display.plays_lecture, ascii);
    if (context->step) put_signs_here(&sheet, context);
    return sheet.row;
}

static int count_lines(const StepContext *context, int columns, bool ascii) {
    return put(context, (Sheet){.area = {.columns = columns}}, ascii) + 1;
}

static int line_count(const StepContext *context, int columns) {
    return count_lines(context, columns, false);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    int lines = count_lines(context, area.columns, canvas->ascii);
    put(context, sheet_open(canvas, area, lines, context->view->transient.scroll), canvas->ascii);
}

const Pane pane_help = {
    .slot = SLOT_OVERLAY, .overlay = OVERLAY_HELP, .head = head, .draw = draw, .line_count = line_count};
