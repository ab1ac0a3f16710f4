/* Vote: instructions that all lanes of a warp answer together: vote, match, activemask, elect, and redux. */
#include "pane.h"

#include <stdio.h>

enum { LABEL_COLUMNS = 8 };

static bool has_modifier(const Moment *now, const char *text) {
    const PtxInstruction *instruction = now->code ? now->code->instruction : NULL;
    for (int i = 0; instruction && i < instruction->modifier_count; i++)
        if (!strcmp(instruction->modifiers[i].text, text)) return true;
    return false;
}

/* The result is a set of lanes: a bit each. */
static bool gives_mask(const Moment *now) {
    const char *name = now->code && now->code->instruction ? now->code->instruction->name : "";
    return has_modifier(now, "ballot") || !strcmp(name, "match") || !strcmp(name, "activemask");
}

static void head(const Moment *now, PaneHead *out) {
    const char *name = now->code && now->code->instruction ? now->code->instruction->name : "vote";
    char lanes[64];
    moment_describe_lanes(now->event.mask, lanes, sizeof lanes);
    snprintf(out->title, sizeof out->title, "%s   w%d   one instruction for %s", name, now->event.warp, lanes);
    if (now->event.participants && now->event.participants != now->event.mask) {
        snprintf(out->note, sizeof out->note, "member mask %08x, active %08x!", now->event.participants, now->event.mask);
        out->note_role = ROLE_WARNING;
    }
}

static void draw_lane_numbers(const Moment *now, Canvas *canvas, Rectangle area, int width) {
    canvas_text(canvas, area, 1, 0, ROLE_DIM, "lane");
    for (int lane = 0; lane < WARP_LANES; lane++) {
        Role role = lane == now->view->lane ? ROLE_SELECTED : lane % 2 && width == 2 ? ROLE_DIM : ROLE_TEXT;
        if (width > 1)
            canvas_print(canvas, area, LABEL_COLUMNS + lane * width, 0, role, "%2d", lane);
        else if (lane % 8 == 0)
            canvas_print(canvas, area, LABEL_COLUMNS + lane, 0, ROLE_DIM, "%d", lane);
    }
}

static void draw(const Moment *now, Canvas *canvas, Rectangle area) {
    const TraceEvent *event = &now->event;
    int width = area.columns >= LABEL_COLUMNS + 3 * WARP_LANES   ? 3
                : area.columns >= LABEL_COLUMNS + 2 * WARP_LANES ? 2
                                                                 : 1;
    int lane = now->view->lane, shift = width > 1;
    char value[40], lanes[64];
    if (!(event->mask >> lane & 1)) lane = event->mask ? __builtin_ctz(event->mask) : 0;
    uint64_t result = event->value[0][lane];
    draw_lane_numbers(now, canvas, area, width);
    canvas_text(canvas, area, 1, 1, ROLE_DIM, "takes");
    canvas_text(canvas, area, 1, 2, ROLE_DIM, gives_mask(now) ? "result" : "");
    for (int i = 0; i < WARP_LANES; i++) {
        bool active = event->mask >> i & 1;
        canvas_glyph(canvas, area, LABEL_COLUMNS + i * width + shift, 1, active ? ROLE_ACTIVE : ROLE_IDLE,
                     active ? 0x25A0 : 0xB7);
        if (gives_mask(now))
            canvas_glyph(canvas, area, LABEL_COLUMNS + i * width + shift, 2, result >> i & 1 ? ROLE_ARROW : ROLE_IDLE,
                         result >> i & 1 ? '1' : '0');
    }
    if (!event->has_result) return;
    if (gives_mask(now)) {
        moment_describe_lanes((uint32_t)result, lanes, sizeof lanes);
        canvas_print(canvas, area, 1, 4, ROLE_TEXT, "lane %d receives the mask %08x: %s", lane, (unsigned)result, lanes);
        return;
    }
    moment_print_value(now, result, 0, value, sizeof value);
    canvas_print(canvas, area, 1, 4, ROLE_TEXT, "lane %d receives %s", lane, value);
    if (event->kind != TRACE_REDUX || area.rows < 7) return;
    int column = 1;
    canvas_text(canvas, area, 1, 5, ROLE_DIM, "from the lanes' own values");
    for (int i = 0, row = 6; i < WARP_LANES && row < area.rows; i++) {
        if (!(event->mask >> i & 1)) continue;
        moment_print_value(now, event->operand[i], 0, value, sizeof value);
        if (column + (int)strlen(value) > area.columns) column = 1, row++;
        column += canvas_print(canvas, area, column, row, ROLE_TEXT, "%s ", value);
    }
}

const Pane pane_vote = {
    .slot = SLOT_PICTURE, .kinds = 1u << TRACE_VOTE | 1u << TRACE_REDUX, .head = head, .draw = draw};
