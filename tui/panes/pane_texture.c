/* What each lane fetches from a texture, or moves to and from a surface. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include <stdio.h>

enum { LABEL_COLUMNS = 9, COLUMN_GAP = 2 };

static void head(const StepContext *context, PaneHead *out) {
    char lanes[64];
    const char *name = context->code && context->code->instruction ? context->code->instruction->name : "tex";
    step_context_describe_lanes(context->event.mask, lanes, sizeof lanes);
    pane_title(out, tr("%s   w%d   one instruction for %s"), name, context->event.warp, lanes);
    pane_note(out, "%s", tr("sectors are not counted"));
}

/* A row for each lane, from the selected one on if not all fit: its values, one for each channel. */
static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const TraceEvent *event = &context->event;
    int selected = context->view->selection.lane;
    int first = area.rows < WARP_LANES && selected + area.rows > WARP_LANES ? WARP_LANES - area.rows
                : area.rows < WARP_LANES                                    ? selected
                                                                            : 0;
    for (int lane = first < 0 ? 0 : first, row = 0; lane < WARP_LANES && row < area.rows; lane++) {
        if (!(event->mask >> lane & 1)) continue;
        char value[40];
        int columns = canvas_print(canvas, area, 1, row, ROLE_DIM, tr("lane %d"), lane),
            column = LABEL_COLUMNS;
        if (lane == selected) canvas_reverse(canvas, area, 1, row, columns);
        for (int e = 0; e < event->element_count; e++) {
            step_context_print_value(context, event->value[e][lane], 0, value, sizeof value);
            column += canvas_text(canvas, area, column, row, ROLE_TEXT, value) + COLUMN_GAP;
        }
        row++;
    }
}

const Pane pane_texture = {.slot = SLOT_PICTURE,
                           .tells_here = HIDES_VALUES,
                           .kinds = 1u << TRACE_TEXTURE,
                           .head = head,
                           .draw = draw};
