/* Lanes: every warp of the block as a row of 32 cells. Neighbouring warps that look the same share a row
 * where there are more warps than rows. */
#include "pane.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/memory.h"

enum {
    GLYPH_ACTIVE = 0x25A0,
    GLYPH_IDLE = 0xB7,
    GLYPH_WAITING = 'b',
    GLYPH_EXITED = 'x',
    GLYPH_TRAPPED = '!'
};
enum { LABEL_COLUMNS = 7, NOTE_COLUMNS = 18, LANE_COLUMNS = 3 };

typedef struct Row {
    int first, last; /* warps */
    WarpState state;
} Row;

static void head(const Moment *now, PaneHead *out) {
    snprintf(out->title, sizeof out->title, "lanes  block %u", trace_block_linear(now->steps->block));
    snprintf(out->note, sizeof out->note, "%u of %d threads active",
             now->outline->step[now->view->step].lanes, now->outline->thread_count);
}

static bool same(const WarpState *a, const WarpState *b) {
    return a->exists == b->exists && a->trapped == b->trapped && a->stopped == b->stopped &&
           a->active == b->active && a->waiting == b->waiting && a->exited == b->exited &&
           (a->active || a->next_pc == b->next_pc);
}

static int gather_rows(const Moment *now, bool fold, Row *rows) {
    int count = 0;
    for (int warp = 0; warp < now->outline->warp_count; warp++) {
        Row row = {warp, warp, outline_warp_state(now->outline, now->view->step, warp)};
        if (fold && count && same(&rows[count - 1].state, &row.state))
            rows[count - 1].last = warp;
        else
            rows[count++] = row;
    }
    return count;
}

static void draw_cells(const Moment *now, Canvas *canvas, Rectangle area, int at, int row, int width,
                       const Row *warps) {
    const WarpState *state = &warps->state;
    bool shown = warps->first <= now->event.warp && now->event.warp <= warps->last;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint32_t bit = 1u << lane;
        if (!(state->exists & bit)) continue;
        Role role = ROLE_IDLE;
        uint32_t glyph = GLYPH_IDLE;
        if (state->active & bit)
            role = ROLE_ACTIVE, glyph = GLYPH_ACTIVE;
        else if (state->waiting & bit)
            role = ROLE_WAITING, glyph = GLYPH_WAITING;
        else if (state->exited & bit)
            role = ROLE_EXITED, glyph = GLYPH_EXITED;
        else if (state->trapped & bit)
            role = ROLE_WARNING, glyph = GLYPH_TRAPPED;
        canvas_glyph(canvas, area, at + lane * width, row, role, glyph);
        if (shown && lane == now->view->lane) canvas_reverse(canvas, area, at + lane * width, row, 1);
    }
}

static void print_note(const Moment *now, const Row *row, char *out, size_t bytes, Role *role) {
    const WarpState *state = &row->state;
    *role = ROLE_DIM;
    out[0] = 0;
    if (state->active) {
        Moment other = *now;
        View view = *now->view;
        view.warp = row->first;
        if (!moment_init(&other, now->scene, &view) || !other.cost.wavefronts) return;
        bool excess = other.cost.wavefronts > other.cost.ideal;
        *role = excess ? ROLE_CONFLICT : ROLE_DIM;
        snprintf(out, bytes, "%d wave%s%s", other.cost.wavefronts, other.cost.wavefronts == 1 ? "" : "s",
                 excess ? "!" : "");
    } else if (state->waiting) {
        *role = ROLE_WAITING;
        snprintf(out, bytes, "barrier");
    } else if (state->trapped) {
        *role = ROLE_WARNING;
        snprintf(out, bytes, "TRAP!");
    } else if (state->exited == state->exists || state->stopped) {
        snprintf(out, bytes, state->stopped ? "stopped" : "exited");
    } else if (state->next_pc >= 0) {
        const PtxCode *code = scene_code(now->scene, now->view->view, state->next_pc);
        if (code && code->line.line) snprintf(out, bytes, "to line %d", code->line.line);
    }
}

static void draw_warps(const Moment *now, Canvas *canvas, Rectangle area, int row, int width,
                       const Row *warps) {
    bool shown = warps->first <= now->event.warp && now->event.warp <= warps->last;
    char note[32], label[16];
    Role role;
    if (warps->first == warps->last)
        snprintf(label, sizeof label, "w%d", warps->first);
    else
        snprintf(label, sizeof label, "w%d-%d", warps->first, warps->last);
    canvas_print(canvas, area, 0, row, shown ? ROLE_SELECTED : ROLE_TEXT, "%s%s", shown ? ">" : " ", label);
    draw_cells(now, canvas, area, LABEL_COLUMNS, row, width, warps);
    print_note(now, warps, note, sizeof note, &role);
    int at = LABEL_COLUMNS + WARP_LANES * width + 1;
    canvas_print(canvas, area, at, row, ROLE_TEXT, "%2d/%d", __builtin_popcount(warps->state.active),
                 __builtin_popcount(warps->state.exists));
    canvas_text(canvas, area, at + 7, row, role, note);
}

static int longest_value(const Moment *now) {
    char text[32];
    int longest = 2;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(now->event.mask >> lane & 1)) continue;
        moment_print_value(now, now->event.value[0][lane], 0, text, sizeof text);
        if ((int)strlen(text) > longest) longest = (int)strlen(text);
    }
    return longest;
}

static bool has_values(const Moment *now) {
    return now->event.has_result && now->event.kind != TRACE_BRANCH;
}

/* The values that the warp loads, stores or receives: all 32 lanes, so that nobody prints them one by one.
 * Where there is not enough room, the rows around the selected lane. */
static void draw_values(const Moment *now, Canvas *canvas, Rectangle area) {
    const TraceEvent *event = &now->event;
    int width = longest_value(now) + 1, per_row = WARP_LANES, first = 0;
    while (per_row > 1 && LANE_COLUMNS + per_row * width > area.columns) per_row /= 2;
    if (area.rows * per_row < WARP_LANES) {
        int selected = now->view->lane / per_row, rows = WARP_LANES / per_row;
        int top = selected - area.rows / 2;
        if (top > rows - area.rows) top = rows - area.rows;
        first = (top < 0 ? 0 : top) * per_row;
    }
    for (int lane = first; lane < WARP_LANES && lane < first + area.rows * per_row; lane++) {
        int row = (lane - first) / per_row, column = LANE_COLUMNS + lane % per_row * width;
        char text[32] = "-";
        if (lane % per_row == 0) canvas_print(canvas, area, 0, row, ROLE_DIM, "%2d", lane);
        bool active = event->mask >> lane & 1;
        if (active) moment_print_value(now, event->value[0][lane], 0, text, sizeof text);
        canvas_print(canvas, area, column, row, active ? ROLE_TEXT : ROLE_IDLE, "%*s", width, text);
        if (lane == now->view->lane)
            canvas_reverse(canvas, area, column + width - (int)strlen(text), row, (int)strlen(text));
    }
}

/* What the glyphs mean, and what the values below are. */
static void draw_legend(const Moment *now, Canvas *canvas, Rectangle area, int row) {
    static const struct {
        Role role;
        uint32_t glyph;
        const char *text;
    } legend[] = {{ROLE_ACTIVE, GLYPH_ACTIVE, " active "},
                  {ROLE_IDLE, GLYPH_IDLE, " idle "},
                  {ROLE_WAITING, GLYPH_WAITING, " at barrier "},
                  {ROLE_EXITED, GLYPH_EXITED, " exited"}};
    int at = 1;
    for (size_t i = 0; i < sizeof legend / sizeof *legend; i++) {
        canvas_glyph(canvas, area, at++, row, legend[i].role, legend[i].glyph);
        at += canvas_text(canvas, area, at, row, ROLE_DIM, legend[i].text);
    }
    if (!has_values(now)) return;
    char what[64], element[32] = "";
    const char *format = moment_value_format_name(now);
    if (now->event.element_count > 1)
        snprintf(element, sizeof element, ", first of %d", now->event.element_count);
    snprintf(what, sizeof what, "values of w%d%s%s%s", now->event.warp, *format ? ", " : "", format, element);
    int columns = canvas_text_columns(what);
    if (at + 1 + columns <= area.columns)
        canvas_text(canvas, area, area.columns - columns, row, ROLE_DIM, what);
}

/* Rows that fit, around the shown warp; returns how many were drawn. */
static int draw_block(const Moment *now, Canvas *canvas, Rectangle area, int width, const Row *rows,
                      int count) {
    int first = 0, shown = 0, row = 0;
    while (shown < count && rows[shown].last < now->event.warp) shown++;
    if (count > area.rows && shown >= area.rows - 1) first = shown - area.rows + 2;
    if (first > count - area.rows) first = count - area.rows;
    if (first < 0) first = 0;
    for (int i = first; i < count && row < area.rows; i++, row++)
        draw_warps(now, canvas, area, row, width, &rows[i]);
    if (first + area.rows < count)
        canvas_print(canvas, area, area.columns - 9, area.rows - 1, ROLE_DIM, " %4d more",
                     count - first - area.rows);
    return row;
}

static void draw(const Moment *now, Canvas *canvas, Rectangle area) {
    Row *rows = memory_new((size_t)now->outline->warp_count * sizeof *rows);
    int ruler = area.rows >= 4 ? 1 : 0;
    int width = area.columns >= LABEL_COLUMNS + 2 * WARP_LANES + NOTE_COLUMNS ? 2 : 1;
    int count = gather_rows(now, now->outline->warp_count > area.rows - ruler, rows);
    if (ruler)
        for (int lane = 0; lane < WARP_LANES; lane += 8)
            canvas_print(canvas, area, LABEL_COLUMNS + lane * width, 0, ROLE_DIM, "%d", lane);
    Rectangle block = {area.column, area.row + ruler, area.columns, area.rows - ruler};
    int row = ruler + draw_block(now, canvas, block, width, rows, count);
    free(rows);
    if (row >= area.rows) return;
    if (area.rows - row > 6) row++; /* room to breathe */
    draw_legend(now, canvas, area, row++);
    if (has_values(now))
        draw_values(now, canvas, (Rectangle){area.column, area.row + row, area.columns, area.rows - row});
}

const Pane pane_lanes = {.slot = SLOT_LANES, .head = head, .draw = draw};
