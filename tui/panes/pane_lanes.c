/* Lanes: every warp of the block as a row of 32 cells. If there are more warps than rows, neighbouring warps
 * that look the same share a row; in the enlarged pane only as many as necessary, so that idle warps form a
 * visible shape. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include "tui/panes/ruler.h"
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

enum {
    GLYPH_ACTIVE = 0x25A0,
    GLYPH_IDLE = 0xB7,
    GLYPH_WAITING = 'b',
    GLYPH_EXITED = 'x',
    GLYPH_TRAPPED = '!'
};
enum { LABEL_COLUMNS = 7, COUNT_COLUMNS = 6, NOTE_COLUMNS = 21, LANE_COLUMNS = 3, MORE_COLUMNS = 10 };

typedef struct WarpRow {
    int first, last; /* warps */
    WarpState state;
} WarpRow;

static void head(const StepContext *context, PaneHead *out) {
    pane_title(out, tr("lanes  block %u, w%d, lane %d"), trace_block_linear(context->steps->block),
               context->event.warp, context->view->selection.lane);
    pane_note(out, tr("%u of %d active"), context->step_index->step[context->view->place.step].lanes,
              context->step_index->thread_count);
}

static bool same(const WarpState *a, const WarpState *b) {
    return a->exists == b->exists && a->trapped == b->trapped && a->stopped == b->stopped &&
           a->active == b->active && a->waiting == b->waiting && a->exited == b->exited &&
           (a->active || a->next_pc == b->next_pc);
}

/* Their lanes are on the same paths. */
static bool has_same_paths(const StepContext *context, const WarpState *a, const WarpState *b) {
    PathSigns one, other;
    path_signs_of(context, a->event, &one);
    path_signs_of(context, b->event, &other);
    return !memcmp(one.letter, other.letter, sizeof one.letter);
}

/* At most `most` warps share a row. */
static int gather_rows(const StepContext *context, int most, WarpRow *rows) {
    int count = 0;
    for (int warp = 0; warp < context->step_index->warp_count; warp++) {
        WarpRow row = {warp, warp,
                       step_index_warp_state(context->step_index, context->view->place.step, warp)};
        if (count && warp - rows[count - 1].first < most && same(&rows[count - 1].state, &row.state) &&
            has_same_paths(context, &rows[count - 1].state, &row.state))
            rows[count - 1].last = warp;
        else
            rows[count++] = row;
    }
    return count;
}

/* A value of the warp in each active lane, in the second row of its large cell, where it fits. */
static void draw_cell_values(const StepContext *context, Canvas *canvas, Rectangle area, int at, int row,
                             int width, const WarpRow *warps) {
    StepContext other = *context;
    View view = *context->view;
    view.selection.warp = warps->first;
    if (!warps->state.active || !step_context_init(&other, context->scene, &view)) return;
    if (!other.event.has_result || other.event.kind == TRACE_BRANCH) return;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        char text[40];
        if (!(other.event.mask >> lane & 1)) continue;
        step_context_print_value(&other, other.event.value[0][lane], 0, text, sizeof text);
        if ((int)strlen(text) < width) canvas_text(canvas, area, at + lane * width, row, ROLE_TEXT, text);
    }
}

/* `rows`: of a cell; a large one is a block of its colour. */
static void draw_cells(const StepContext *context, Canvas *canvas, Rectangle area, int at, int row, int width,
                       int rows, const WarpRow *warps) {
    const WarpState *state = &warps->state;
    bool shown = warps->first <= context->event.warp && context->event.warp <= warps->last;
    PathSigns signs;
    path_signs_of(context, state->event, &signs);
    if (rows > 1 && width > 1) draw_cell_values(context, canvas, area, at, row + 1, width, warps);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint32_t bit = 1u << lane;
        Role role = ROLE_IDLE;
        uint32_t glyph = state->exists & bit ? GLYPH_IDLE : GLYPH_ABSENT;
        if (state->active & bit && signs.letter[lane])
            role = signs.role[lane], glyph = (uint32_t)signs.letter[lane];
        else if (state->active & bit)
            role = ROLE_ACTIVE, glyph = GLYPH_ACTIVE;
        else if (state->waiting & bit)
            role = ROLE_WAITING, glyph = GLYPH_WAITING;
        else if (state->exited & bit)
            role = ROLE_EXITED, glyph = GLYPH_EXITED;
        else if (state->trapped & bit)
            role = ROLE_WARNING, glyph = GLYPH_TRAPPED;
        canvas_glyph(canvas, area, at + lane * width, row, role, glyph);
        if (rows > 1 && (state->active | state->waiting | state->trapped) & bit)
            canvas_tile(
                canvas,
                (Rectangle){area.column + at + lane * width, area.row + row, width > 1 ? width - 1 : 1, rows},
                shown && lane == context->view->selection.lane ? ROLE_SELECTED : role);
        else if (shown && lane == context->view->selection.lane)
            canvas_reverse(canvas, area, at + lane * width, row, 1);
    }
}

/* `columns`: the room available. */
static void print_note(const StepContext *context, const WarpRow *row, int columns, char *out, size_t bytes,
                       Role *role) {
    const WarpState *state = &row->state;
    *role = ROLE_DIM;
    out[0] = 0;
    if (state->active) {
        StepContext other = *context;
        View view = *context->view;
        view.selection.warp = row->first;
        if (context->view->transient.hides & HIDES_ACCESSES) return;
        if (!step_context_init(&other, context->scene, &view) || !other.cost.wavefronts) return;
        bool excess = other.cost.wavefronts > other.cost.ideal;
        *role = excess ? ROLE_CONFLICT : ROLE_DIM;
        snprintf(out, bytes, tr("%d wavefront%s%s"), other.cost.wavefronts,
                 other.cost.wavefronts == 1 ? "" : "s", excess ? "!" : "");
        if (canvas_text_columns(out) > columns)
            snprintf(out, bytes, "%d wf%s", other.cost.wavefronts, excess ? "!" : "");
    } else if (state->waiting) {
        *role = ROLE_WAITING;
        snprintf(out, bytes, "barrier");
    } else if (state->trapped) {
        *role = ROLE_WARNING;
        snprintf(out, bytes, tr("TRAP!"));
    } else if (state->exited == state->exists || state->stopped) {
        snprintf(out, bytes, state->stopped ? tr("stopped") : tr("exited"));
    } else if (state->next_pc >= 0) {
        const PtxCode *code = scene_code(context->scene, context->view->place.block, state->next_pc);
        if (code && code->line.line) snprintf(out, bytes, tr("to line %d"), code->line.line);
    }
}

static void print_label(const WarpRow *warps, char *out, size_t bytes) {
    if (warps->first == warps->last)
        snprintf(out, bytes, "w%d", warps->first);
    else
        snprintf(out, bytes, "w%d-%d", warps->first, warps->last);
}

/* `label`: columns left of the first lane. The count of a large row is below its name. */
static void draw_warps(const StepContext *context, Canvas *canvas, Rectangle area, int row, int label,
                       int width, int rows, const WarpRow *warps) {
    bool shown = warps->first <= context->event.warp && context->event.warp <= warps->last;
    char text[32];
    Role role;
    print_label(warps, text, sizeof text);
    canvas_print(canvas, area, 0, row, shown ? ROLE_SELECTED : ROLE_TEXT, "%s%s", shown ? ">" : " ", text);
    draw_cells(context, canvas, area, label, row, width, rows, warps);
    int at = label + WARP_LANES * width + 1, count = rows > 1 ? 0 : COUNT_COLUMNS;
    print_note(context, warps, area.columns - at - count, text, sizeof text, &role);
    canvas_print(canvas, area, count ? at : 1, count ? row : row + 1, ROLE_TEXT, "%2d/%d",
                 __builtin_popcount(warps->state.active), WARP_LANES);
    canvas_text(canvas, area, at + count, row, role, text);
}

/* The values below the rows: of the event, or of a register of its instruction. */
typedef struct Values {
    const PtxRegister *reg; /* NULL: what the event loads, stores or receives */
    PtxType type;           /* of the register */
    uint32_t lanes;         /* lanes that have one */
    RegisterValues of_register;
} Values;

static void values_of(const StepContext *context, Values *values) {
    values->reg = register_chosen(context);
    values->lanes = 0;
    if (context->view->transient.hides & HIDES_VALUES) return;
    if (!values->reg)
        values->lanes =
            context->event.has_result && context->event.kind != TRACE_BRANCH ? context->event.mask : 0;
    else if (register_values(context, values->reg, &values->of_register)) {
        values->type = register_type(context, values->reg);
        values->lanes =
            step_index_warp_state(context->step_index, context->view->place.step, context->event.warp).exists;
    }
}

static void print_lane(const StepContext *context, const Values *values, int lane, char *out, size_t bytes) {
    if (!(values->lanes >> lane & 1))
        snprintf(out, bytes, "-");
    else if (values->reg)
        register_print(context, values->type, values->of_register.bits[lane], out, bytes);
    else
        step_context_print_value(context, context->event.value[0][lane], 0, out, bytes);
}

static int longest_value(const StepContext *context, const Values *values) {
    char text[40];
    int longest = 2;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        print_lane(context, values, lane, text, sizeof text);
        if ((int)strlen(text) > longest) longest = (int)strlen(text);
    }
    return longest;
}

/* All 32 lanes; if there is not enough room, the rows around the selected lane. */
static void draw_values(const StepContext *context, Canvas *canvas, Rectangle area, const Values *values) {
    int width = longest_value(context, values) + 1, per_row = WARP_LANES, first = 0;
    while (per_row > 1 && LANE_COLUMNS + per_row * width > area.columns) per_row /= 2;
    if (area.rows * per_row < WARP_LANES) {
        int selected = context->view->selection.lane / per_row, rows = WARP_LANES / per_row;
        first = canvas_first_shown(selected, area.rows, rows) * per_row;
    }
    for (int lane = first; lane < WARP_LANES && lane < first + area.rows * per_row; lane++) {
        int row = (lane - first) / per_row, column = LANE_COLUMNS + lane % per_row * width;
        char text[40];
        if (lane % per_row == 0) canvas_print(canvas, area, 0, row, ROLE_DIM, "%2d", lane);
        print_lane(context, values, lane, text, sizeof text);
        bool active = context->event.mask >> lane & 1;
        canvas_print(canvas, area, column, row, active ? ROLE_TEXT : ROLE_IDLE, "%*s", width, text);
        if (lane == context->view->selection.lane)
            canvas_reverse(canvas, area, column + width - (int)strlen(text), row, (int)strlen(text));
    }
}

/* "A else B enter": the paths that the lanes of the shown warp are on. Returns the column after it. */
static int draw_path_legend(const StepContext *context, Canvas *canvas, Rectangle area, int row, int at) {
    BranchRows rows;
    PathSigns signs;
    if (!path_rows_of(context, &rows)) return at;
    path_signs_of(context, context->event_number, &signs);
    for (int i = 0; i < rows.count; i++) {
        char letter = branch_letter(&rows, i);
        if (!memchr(signs.letter, letter, WARP_LANES)) continue;
        canvas_glyph(canvas, area, ++at, row, path_role(&rows, i), (uint32_t)letter);
        at += 2 + canvas_text(canvas, area, at + 2, row, ROLE_DIM, branch_label(&rows.rows[i]));
    }
    return at;
}

/* The meaning of the glyphs and of the values below. */
static void draw_legend(const StepContext *context, Canvas *canvas, Rectangle area, int row,
                        const Values *values) {
    static const struct {
        Role role;
        uint32_t glyph;
        const char *text;
    } legend[] = {{ROLE_ACTIVE, GLYPH_ACTIVE, " active"},       {ROLE_IDLE, GLYPH_IDLE, " idle"},
                  {ROLE_WAITING, GLYPH_WAITING, " at barrier"}, {ROLE_EXITED, GLYPH_EXITED, " exited"},
                  {ROLE_WARNING, GLYPH_TRAPPED, " trap"},       {ROLE_IDLE, GLYPH_ABSENT, " no thread"}};
    enum { ACTIVE = 0, TRAP = 4, ABSENT = 5 };
    bool has_absent = context->step_index->thread_count % WARP_LANES != 0;
    bool has_trap = context->step_index->trap && context->view->place.step + 1 == context->steps->step_count;
    int at = 0;
    for (size_t i = 0; i < sizeof legend / sizeof *legend; i++) {
        if ((i == TRAP && !has_trap) || (i == ABSENT && !has_absent)) continue;
        canvas_glyph(canvas, area, ++at, row, legend[i].role, legend[i].glyph);
        at += 1 + canvas_text(canvas, area, at + 1, row, ROLE_DIM, tr(legend[i].text));
        if (i == ACTIVE) at = draw_path_legend(context, canvas, area, row, at);
    }
    if (!values->lanes || row + 1 >= area.rows) return;
    char what[64];
    /* "values of w0", "%r21 of w0, hex" */
    char element[32] = "";
    const char *format = step_context_value_format_name(context);
    if (!values->reg && context->event.element_count > 1)
        snprintf(element, sizeof element, tr(", first of %d"), context->event.element_count);
    snprintf(what, sizeof what, tr("%s of w%d%s%s%s"), values->reg ? values->reg->name : tr("values"),
             context->event.warp, *format ? tr(", ") : "", format, element);
    int columns = canvas_text_columns(what);
    if (at + 1 + columns <= area.columns)
        canvas_text(canvas, area, area.columns - columns, row, ROLE_DIM, what);
}

/* The layout of the pane. */
typedef struct Arrangement {
    WarpRow *rows;
    int count, first, shown; /* number of rows, the first shown and how many */
    int ruler, label, width; /* rows of the lane numbers; columns of the warps' names; columns per lane */
    int cell_rows;           /* of a warp; more than 1 in the enlarged pane */
    int legend;              /* its row; -1: no room */
    Values values;
    int values_row;
} Arrangement;

static int fill_rows(const StepContext *context, int room, WarpRow *rows) {
    const ViewDisplay *display = &context->view->display;
    int warps = context->step_index->warp_count, most = 1, count = warps;
    if (warps <= room) return gather_rows(context, 1, rows);
    if (!display->zoomed || display->focus != FOCUS_LANES) return gather_rows(context, warps, rows);
    while (count > room - 1 && most < warps) count = gather_rows(context, ++most, rows); /* and the legend */
    return count;
}

/* The enlarged pane has cells as large as fit, above its legend and the values of a warp. */
static void choose_cells(const StepContext *context, Arrangement *plan, int columns, int room) {
    enum { LEGEND_AND_VALUES = 4, LARGE_NOTE_COLUMNS = 8, MOST_COLUMNS = 6 };
    const ViewDisplay *display = &context->view->display;
    plan->cell_rows = 1;
    if (!display->zoomed || display->focus != FOCUS_LANES) return;
    int rows = pane_cell_rows(plan->count, room - LEGEND_AND_VALUES);
    int width = (columns - LABEL_COLUMNS - LARGE_NOTE_COLUMNS) / WARP_LANES;
    if (rows < 2) return;
    plan->cell_rows = rows;
    plan->width = canvas_clamp(width, 1, MOST_COLUMNS);
}

static void arrange(const StepContext *context, Rectangle area, Arrangement *plan) {
    *plan = (Arrangement){.ruler = area.rows >= 4 ? 1 : 0, .legend = -1};
    plan->rows = memory_new((size_t)context->step_index->warp_count * sizeof *plan->rows);
    plan->width = area.columns >= LABEL_COLUMNS + 2 * WARP_LANES + NOTE_COLUMNS ? 2 : 1;
    int room = area.rows - plan->ruler;
    plan->count = fill_rows(context, room, plan->rows);
    choose_cells(context, plan, area.columns, room);
    /* As many rows as fit, around the shown warp. */
    int selected = 0;
    while (selected < plan->count && plan->rows[selected].last < context->event.warp) selected++;
    if (plan->count > room && selected >= room - 1) plan->first = room > 1 ? selected - room + 2 : selected;
    plan->first = canvas_scroll(plan->first, room, plan->count);
    plan->shown = plan->count - plan->first < room ? plan->count - plan->first : room;
    plan->label = LABEL_COLUMNS;
    for (int i = 0; i < plan->count; i++) {
        char name[32];
        print_label(&plan->rows[i], name, sizeof name);
        if ((int)strlen(name) + 2 > plan->label) plan->label = (int)strlen(name) + 2;
    }
    int row = plan->ruler + plan->shown * plan->cell_rows;
    if (row >= area.rows) return;
    if (area.rows - row > 6) row++; /* an empty row */
    plan->legend = row;
    plan->values_row = row + 1;
    values_of(context, &plan->values);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Arrangement plan;
    arrange(context, area, &plan);
    for (int lane = 0; lane < WARP_LANES && plan.ruler; lane += 8)
        canvas_print(canvas, area, plan.label + lane * plan.width, 0, ROLE_DIM, "%d", lane);
    for (int i = 0; i < plan.shown; i++)
        draw_warps(context, canvas, area, plan.ruler + i * plan.cell_rows, plan.label, plan.width,
                   plan.cell_rows, &plan.rows[plan.first + i]);
    int more = plan.count - plan.first - plan.shown;
    bool narrow = area.columns < LABEL_COLUMNS + WARP_LANES + NOTE_COLUMNS + MORE_COLUMNS;
    if (more > 0)
        canvas_print(canvas, area, area.columns - (narrow ? 3 : MORE_COLUMNS), area.rows - 1, ROLE_DIM,
                     narrow ? "%+3d" : tr(" %4d more"), more);
    free(plan.rows);
    if (plan.legend < 0) return;
    draw_legend(context, canvas, area, plan.legend, &plan.values);
    Rectangle below = {area.column, area.row + plan.values_row, area.columns, area.rows - plan.values_row};
    if (plan.values.lanes) draw_values(context, canvas, below, &plan.values);
}

/* Selects the warp and the lane. */
static ViewAnswer click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    Arrangement plan;
    arrange(context, area, &plan);
    int index = row < plan.ruler ? -1 : (row - plan.ruler) / plan.cell_rows,
        lane = (column - plan.label) / plan.width;
    if (index >= 0 && index < plan.shown) {
        const WarpRow *warps = &plan.rows[plan.first + index];
        if (view->selection.warp < warps->first || view->selection.warp > warps->last) {
            view->selection.warp = warps->first;
            view->place.wavefront = 0;
        }
        if (column >= plan.label && lane < WARP_LANES) view->selection.lane = lane;
    }
    free(plan.rows);
    return VIEW_CHANGED;
}

/* Goes to the next traced block; after the last one to the first. */
static ViewAnswer click_title(const StepContext *context, View *view) {
    view_go_to_block(view, context->scene, (view->place.block + 1) % context->scene->traced.block_count);
    return VIEW_CHANGED;
}

const Pane pane_lanes = {.slot = SLOT_LANES,
                         .tells = HIDES_LANES,
                         .tells_here = HIDES_VALUES,
                         .head = head,
                         .draw = draw,
                         .click = click,
                         .click_title = click_title};
