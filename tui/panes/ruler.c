#include "tui/panes/ruler.h"

enum { MOST_COLUMNS = 6 };

Ruler ruler_make(Rectangle area, int label, int note) {
    Ruler ruler = {.label = label, .width = (area.columns - label - note) / WARP_LANES};
    ruler.width = canvas_clamp(ruler.width, 1, MOST_COLUMNS);
    return ruler;
}

int ruler_column(const Ruler *ruler, int lane) {
    int width = ruler->width;
    return ruler->label + lane * width + (width > 2 ? width - 2 : width - 1);
}

ViewAnswer ruler_select(Ruler ruler, int column, View *view) {
    int lane = (column - ruler.label) / ruler.width;
    if (column >= ruler.label && lane < WARP_LANES) view->selection.lane = lane;
    return VIEW_CHANGED;
}

ViewAnswer ruler_click(const StepContext *context, Rectangle area, int column, int row, View *view) {
    (void)context, (void)row;
    return ruler_select(ruler_make(area, RULER_LABEL, 0), column, view);
}

void ruler_draw(const Ruler *ruler, Canvas *canvas, Rectangle area, int row, int selected) {
    int every = ruler->width > 2 ? 1 : ruler->width > 1 ? 2 : 8;
    canvas_text(canvas, area, 1, row, ROLE_DIM, "lane");
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int column = ruler_column(ruler, lane);
        if (lane % every == 0)
            canvas_print(canvas, area, ruler->width > 1 ? column - 1 : column, row, ROLE_DIM,
                         ruler->width > 1 ? "%2d" : "%d", lane);
    }
    if (selected % every == 0 && ruler->width > 1) /* bold and underlined, also with few colours */
        canvas_print(canvas, area, ruler_column(ruler, selected) - (selected > 9), row, ROLE_SELECTED, "%d",
                     selected);
}

void ruler_draw_mask(const Ruler *ruler, Canvas *canvas, Rectangle area, int row, Role role, uint32_t mask,
                     uint32_t of, int selected) {
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int column = ruler_column(ruler, lane);
        bool in = mask >> lane & 1;
        if (!(of >> lane & 1)) continue;
        canvas_glyph(canvas, area, column, row, in ? role : ROLE_IDLE, in ? 0x25A0 : 0xB7);
        if (lane == selected) canvas_reverse(canvas, area, column, row, 1);
    }
}

void ruler_draw_absent(const Ruler *ruler, Canvas *canvas, Rectangle area, int row, uint32_t exists) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (!(exists >> lane & 1))
            canvas_glyph(canvas, area, ruler_column(ruler, lane), row, ROLE_IDLE, GLYPH_ABSENT);
}

static bool is_crowded(const int8_t lanes[32], int index) {
    bool left = index > 0 && lanes[index - 1] >= 0, right = index + 1 < WARP_LANES && lanes[index + 1] > 9;
    return index % 2 == 1 && (right || (left && lanes[index] > 9));
}

void ruler_draw_lane(Canvas *canvas, Rectangle area, int column, int row, int width, Role role,
                     const int8_t lanes[32], int index, bool shared, bool selected) {
    int lane = lanes[index];
    if (width > 3) column += width - 3, width = 3;
    if (width == 1)
        canvas_glyph(canvas, area, column, row, role, shared ? '+' : 0x25A0);
    else if (width == 2 && shared)
        canvas_print(canvas, area, column, row, role, lane > 9 ? "++" : "%d+", lane);
    else if (width == 2 && !selected && is_crowded(lanes, index))
        canvas_glyph(canvas, area, column + 1, row, role, 0x25A0);
    else
        canvas_print(canvas, area, column, row, role, shared ? "%2d+" : "%2d", lane);
}
