/* Vote: instructions that combine all lanes of a warp: vote, match, activemask, elect, and redux. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include "tui/panes/ruler.h"
#include <stdio.h>

static bool has_modifier(const StepContext *context, const char *text) {
    const PtxInstruction *instruction = context->code ? context->code->instruction : NULL;
    for (int i = 0; instruction && i < instruction->modifier_count; i++)
        if (!strcmp(instruction->modifiers[i].text, text)) return true;
    return false;
}

/* The result is a set of lanes, one bit each. */
static bool gives_mask(const StepContext *context) {
    const char *name = context->code && context->code->instruction ? context->code->instruction->name : "";
    return has_modifier(context, "ballot") || !strcmp(name, "match") || !strcmp(name, "activemask");
}

static void head(const StepContext *context, PaneHead *out) {
    const char *name =
        context->code && context->code->instruction ? context->code->instruction->name : "vote";
    char lanes[64];
    step_context_describe_lanes(context->event.mask, lanes, sizeof lanes);
    pane_title(out, tr("%s   w%d   one instruction for %s"), name, context->event.warp, lanes);
    if (context->event.participants && context->event.participants != context->event.mask) {
        pane_note(out, tr("member mask %08x, active %08x!"), context->event.participants,
                  context->event.mask);
        out->note_role = ROLE_WARNING;
    }
}

/* "add" of redux.sync.add.s32. */
static const char *operation(const StepContext *context) {
    static const char *const operations[] = {"add", "min", "max", "and", "or", "xor"};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (has_modifier(context, operations[i])) return operations[i];
    return "";
}

/* Draws all active lanes converging to one value. */
static void draw_bus(const StepContext *context, Canvas *canvas, Rectangle area, const Ruler *ruler,
                     const char *value) {
    uint32_t mask = context->event.mask;
    int first = ruler_column(ruler, __builtin_ctz(mask)),
        last = ruler_column(ruler, 31 - __builtin_clz(mask));
    for (int column = first; column <= last; column++)
        canvas_glyph(canvas, area, column, 2, ROLE_ARROW, 0x2500);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int column = ruler_column(ruler, lane);
        if (mask >> lane & 1)
            canvas_glyph(canvas, area, column, 2, ROLE_ARROW,
                         column == first  ? 0x2514
                         : column == last ? 0x2518
                                          : 0x2534);
    }
    char text[64];
    snprintf(text, sizeof text, " %s \u2192 %s ", operation(context), value);
    int middle = first + (last - first - canvas_text_columns(text)) / 2;
    canvas_text(canvas, area, middle > first ? middle : first + 1, 3, ROLE_LIT, text);
}

static void draw_own_values(const StepContext *context, Canvas *canvas, Rectangle area, int row) {
    const TraceEvent *event = &context->event;
    char value[40];
    int column = 8;
    canvas_text(canvas, area, 1, row, ROLE_DIM, tr("values"));
    for (int lane = 0; lane < WARP_LANES && row < area.rows; lane++) {
        if (!(event->mask >> lane & 1)) continue;
        step_context_print_value(context, event->operand[lane], 0, value, sizeof value);
        if (column + (int)strlen(value) > area.columns) column = 8, row++;
        int columns = canvas_text(canvas, area, column, row, ROLE_TEXT, value);
        if (lane == context->view->selection.lane) canvas_reverse(canvas, area, column, row, columns);
        column += columns + 1;
    }
}

static void draw_mask_result(const StepContext *context, Canvas *canvas, Rectangle area, const Ruler *ruler,
                             int lane) {
    uint64_t result = context->event.value[0][lane];
    char lanes[64];
    canvas_text(canvas, area, 1, 2, ROLE_DIM, tr("result"));
    for (int i = 0; i < WARP_LANES; i++)
        canvas_glyph(canvas, area, ruler_column(ruler, i), 2, result >> i & 1 ? ROLE_ARROW : ROLE_IDLE,
                     result >> i & 1 ? '1' : '0');
    step_context_describe_lanes((uint32_t)result, lanes, sizeof lanes);
    canvas_print(canvas, area, 1, 4, ROLE_TEXT, tr("lane %d receives the mask %08x: %s"), lane,
                 (unsigned)result, lanes);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const TraceEvent *event = &context->event;
    Ruler ruler = ruler_make(area, RULER_LABEL, 0);
    int lane = context->view->selection.lane;
    char value[40];
    if (!event->mask) return;
    if (!(event->mask >> lane & 1)) lane = __builtin_ctz(event->mask);
    ruler_draw(&ruler, canvas, area, 0, context->view->selection.lane);
    canvas_text(canvas, area, 1, 1, ROLE_DIM, tr("active"));
    uint32_t exists = step_context_existing_lanes(context, event->warp);
    ruler_draw_absent(&ruler, canvas, area, 1, exists);
    ruler_draw_mask(&ruler, canvas, area, 1, ROLE_ACTIVE, event->mask, exists, context->view->selection.lane);
    if (!event->has_result) return;
    if (gives_mask(context)) {
        draw_mask_result(context, canvas, area, &ruler, lane);
        return;
    }
    step_context_print_value(context, event->value[0][lane], 0, value, sizeof value);
    if (event->kind != TRACE_REDUX) {
        canvas_print(canvas, area, 1, 4, ROLE_TEXT, tr("lane %d receives %s"), lane, value);
        return;
    }
    draw_bus(context, canvas, area, &ruler, value);
    draw_own_values(context, canvas, area, area.rows > 6 ? 5 : 4);
}

const Pane pane_vote = {.slot = SLOT_PICTURE,
                        .tells_here = HIDES_LANES | HIDES_VALUES,
                        .kinds = 1u << TRACE_VOTE | 1u << TRACE_REDUX,
                        .head = head,
                        .draw = draw,
                        .click = ruler_click};
