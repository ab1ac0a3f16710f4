/* Keys in groups and the signs of the panes (legend.def), filtered by typing. Those of the focused pane come
 * first. */
#include "base/language.h"
#include "tui/panes/pane.h"
#include "tui/panes/sheet.h"
#include "tui/view/key_actions.h"
#include "tui/view/warps_view.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    KEY_COLUMNS = 13,
    SIGN_COLUMNS = 19,
    LEAST_COLUMNS = 56, /* two columns on a screen of 120 */
    MOST_ROWS = ACTION_COUNT + 2 * KEY_GROUP_COUNT + LECTURE_KEY_COUNT + WARPS_KEY_COUNT + 13
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
    pane_title(out, tr("signs and keys: %s_"), context->view->transient.filter);
    pane_note(out, tr("type to filter, ?: words, Esc closes"));
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

static void put_keys(Sheet *sheet, bool of_lecture, bool of_warps, bool ascii) {
    SheetRow rows[MOST_ROWS];
    int count = 0;
    KeyAction action;
    if (of_lecture) rows[count++] = title_row("lecture");
    for (int i = 0; of_lecture && i < LECTURE_KEY_COUNT; i++)
        count = add_key(rows, count, &lecture_key_rows[i], ascii);
    if (of_warps) rows[count++] = title_row("warps in time");
    for (int i = 0; of_warps && i < WARPS_KEY_COUNT; i++)
        count = add_key(rows, count, &warps_key_rows[i], ascii);
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
    int count = 0, kept = 0;
    for (int i = 0; i < SIGN_COUNT; i++) {
        if (signs[i].pane != pane) continue;
        SheetRow *row = &rows[count++];
        *row = (SheetRow){.role = signs[i].role == ROLE_TEXT ? ROLE_CURRENT : signs[i].role,
                          .text = signs[i].meaning,
                          .begins = true};
        snprintf(row->term, sizeof row->term, "%s", signs[i].sign);
        snprintf(title, sizeof title, tr("signs: %s"), tr(signs[i].name));
        kept += sheet_keeps(sheet, row);
    }
    if (!kept) return;
    sheet_space(sheet);
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
    if (picture == SHOW_WARPS) {
        put_signs(sheet, &pane_warps);
        return;
    }
    Reduction *reduction = scene_reduction(context->scene, block);
    if (reduction && picture == SHOW_REDUCTION && reduction_is_worth_showing(reduction))
        put_signs(sheet, &pane_reduction);
    put_signs(sheet, picture_of_step(context));
}

static void put_signs_of(Sheet *sheet, const StepContext *context, Focus focus) {
    const ViewDisplay *display = &context->view->display;
    switch (focus) {
    case FOCUS_SOURCE:
        put_signs(sheet, display->source == SOURCE_SASS ? &pane_sass : &pane_source);
        break;
    case FOCUS_LANES:
        put_signs(sheet, &pane_lanes);
        break;
    case FOCUS_SIDE:
        put_signs(sheet, pane_side(display->side));
        break;
    default:
        put_signs_of_picture(sheet, context);
    }
}

/* ---- both ---------------------------------------------------------------------------------------------- */

/* The pane where the reader stands (the picture only if it is enlarged), the keys, then the other panes of
 * the screen. */
static int put(const StepContext *context, Sheet sheet, bool ascii) {
    static const Focus others[] = {FOCUS_PICTURE, FOCUS_SIDE, FOCUS_SOURCE, FOCUS_LANES};
    const View *view = context->view;
    const Pane *own = view->transient.behind == OVERLAY_LADDER     ? &pane_ladder
                      : view->transient.behind == OVERLAY_INDEX    ? &pane_index
                      : view->transient.behind == OVERLAY_LAUNCHES ? &pane_launches
                      : view->transient.behind == OVERLAY_OUTPUT   ? &pane_output
                                                                   : NULL;
    bool has_step = context->step != NULL;
    bool stands = view->display.focus != FOCUS_PICTURE || view->display.zoomed;
    sheet.filter = view->transient.filter;
    if (own)
        put_signs(&sheet, own);
    else if (has_step && stands)
        put_signs_of(&sheet, context, view->display.focus);
    sheet_space(&sheet);
    put_keys(&sheet, view->display.plays_lecture, warps_view_has_keys(view, context->scene), ascii);
    for (size_t i = 0; !own && has_step && i < sizeof others / sizeof *others; i++) {
        if (!stands || others[i] != view->display.focus) put_signs_of(&sheet, context, others[i]);
        if (!i) put_signs(&sheet, &pane_timeline);
    }
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
    if (!put(context, sheet_open(canvas, area, lines, context->view->transient.scroll), canvas->ascii))
        canvas_text(canvas, area, 0, 0, ROLE_WARNING,
                    tr("nothing here has this text; : finds actions by name"));
}

const Pane pane_help = {
    .slot = SLOT_OVERLAY, .overlay = OVERLAY_HELP, .head = head, .draw = draw, .line_count = line_count};

/* ---- words --------------------------------------------------------------------------------------------- */

enum { TERM_COLUMNS = 20, LEAST_WORD_COLUMNS = 70 };

static const SheetRow words[] = {
#define WORD(word, meaning) {.term = word, .role = ROLE_CURRENT, .text = meaning, .begins = true},
#include "tui/panes/glossary.def"
#undef WORD
};

static void words_head(const StepContext *context, PaneHead *out) {
    pane_title(out, tr("words: %s_"), context->view->transient.filter);
    pane_note(out, tr("type to filter, ?: keys, Esc closes"));
}

static int put_words(const StepContext *context, Sheet sheet) {
    sheet.filter = context->view->transient.filter;
    sheet_section(&sheet, words, sizeof words / sizeof *words, LEAST_WORD_COLUMNS, TERM_COLUMNS);
    return sheet.row;
}

static int count_words(const StepContext *context, int columns) {
    return put_words(context, (Sheet){.area = {.columns = columns}}) + 1;
}

static void draw_words(const StepContext *context, Canvas *canvas, Rectangle area) {
    put_words(context,
              sheet_open(canvas, area, count_words(context, area.columns), context->view->transient.scroll));
}

const Pane pane_words = {.slot = SLOT_OVERLAY,
                         .overlay = OVERLAY_WORDS,
                         .head = words_head,
                         .draw = draw_words,
                         .line_count = count_words};
