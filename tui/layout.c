#include "layout.h"

static int clamp(int value, int least, int most) {
    return value < least ? least : value > most ? most : value;
}

/* Cuts `rows` off the top of `area`. */
static Rectangle cut_top(Rectangle *area, int rows) {
    Rectangle top = *area;
    top.rows = clamp(rows, 0, area->rows);
    area->row += top.rows;
    area->rows -= top.rows;
    return top;
}

static Rectangle cut_bottom(Rectangle *area, int rows) {
    Rectangle bottom = *area;
    bottom.rows = clamp(rows, 0, area->rows);
    area->rows -= bottom.rows;
    bottom.row += area->rows;
    return bottom;
}

static Rectangle cut_left(Rectangle *area, int columns) {
    Rectangle left = *area;
    left.columns = clamp(columns, 0, area->columns);
    area->column += left.columns;
    area->columns -= left.columns;
    return left;
}

static Rectangle cut_right(Rectangle *area, int columns) {
    Rectangle right = *area;
    right.columns = clamp(columns, 0, area->columns);
    area->columns -= right.columns;
    right.column += area->columns;
    return right;
}

static void add_side(Layout *layout, Rectangle area) {
    layout->sides[layout->side_count++] = area;
}

/* One column of panes, a line above each: source, picture, lanes, explanation, timeline. */
static void make_narrow(Layout *layout, Rectangle middle) {
    Rectangle *slots = layout->slots;
    int rows = middle.rows;
    slots[SLOT_TIMELINE] = cut_bottom(&middle, rows >= 20 ? 3 : 2);
    slots[SLOT_EXPLANATION] = cut_bottom(&middle, rows >= 30 ? 4 : 2);
    if (rows >= 36) add_side(layout, cut_bottom(&middle, clamp(rows / 5, 6, 12)));
    slots[SLOT_LANES] = cut_bottom(&middle, clamp(rows / 7, 2, 12));
    slots[SLOT_PICTURE] = cut_bottom(&middle, clamp((rows * 2 + 1) / 5, 5, 14));
    slots[SLOT_SOURCE] = middle;
}

/* Source beside lanes, the picture below, explanation beside one more pane, timeline. */
static void make_middle(Layout *layout, Rectangle middle) {
    Rectangle *slots = layout->slots;
    int frame = layout->boxed ? 2 : 1;
    slots[SLOT_TIMELINE] = cut_bottom(&middle, frame + 2);
    Rectangle words = cut_bottom(&middle, frame + (middle.rows > 34 ? 4 : middle.rows > 24 ? 3 : 2));
    slots[SLOT_PICTURE] = cut_bottom(&middle, clamp(middle.rows * 9 / 20, 8, 13 + (middle.rows - 29) / 3));
    slots[SLOT_EXPLANATION] = cut_left(&words, words.columns * 62 / 100);
    add_side(layout, words);
    slots[SLOT_SOURCE] =
        cut_left(&middle, clamp(middle.columns - 60, middle.columns / 2 - 8, middle.columns / 2));
    slots[SLOT_LANES] = middle;
}

/* The same, and a column of more panes on the right of it all. */
static void make_wide(Layout *layout, Rectangle middle) {
    Rectangle *slots = layout->slots;
    slots[SLOT_TIMELINE] = cut_bottom(&middle, 6);
    Rectangle right = cut_right(&middle, clamp(middle.columns - 140, 50, 70));
    for (int left = clamp(right.rows / 14, 1, MOST_SIDES - 1); left > 0; left--)
        add_side(layout, cut_top(&right, right.rows / left));
    slots[SLOT_EXPLANATION] = cut_bottom(&middle, 6);
    slots[SLOT_PICTURE] = cut_bottom(&middle, clamp(middle.rows * 9 / 20, 13, 24));
    slots[SLOT_SOURCE] =
        cut_left(&middle, clamp(middle.columns - 62, middle.columns / 2, middle.columns * 2 / 3));
    slots[SLOT_LANES] = middle;
}

/* One pane fills the middle of the screen. */
static void make_zoomed(Layout *layout, Rectangle middle, Zoom zoom) {
    static const Slot slot_of_zoom[ZOOM_COUNT] = {
        [ZOOM_PICTURE] = SLOT_PICTURE, [ZOOM_SOURCE] = SLOT_SOURCE, [ZOOM_LANES] = SLOT_LANES};
    layout->slots[SLOT_TIMELINE] = cut_bottom(&middle, layout->boxed ? 4 : 3);
    layout->slots[SLOT_EXPLANATION] = cut_bottom(&middle, layout->boxed ? 5 : 3);
    if (zoom == ZOOM_SIDE)
        add_side(layout, middle);
    else
        layout->slots[slot_of_zoom[zoom]] = middle;
}

bool layout_make(int columns, int rows, Zoom zoom, Layout *out) {
    *out = (Layout){.boxed = columns >= 100 && rows >= 30};
    if (columns < SMALLEST_COLUMNS || rows < SMALLEST_ROWS) return false;
    Rectangle middle = {0, 0, columns, rows};
    out->header = cut_top(&middle, 1);
    out->footer = cut_bottom(&middle, 1);
    out->overlay = middle;
    if (columns > 100) {
        out->overlay.column = (columns - 96) / 2;
        out->overlay.columns = 96;
    }
    if (rows > 32) {
        out->overlay.row = (rows - 28) / 2;
        out->overlay.rows = 28;
    }
    if (zoom != ZOOM_NONE)
        make_zoomed(out, middle, zoom);
    else if (columns >= 180 && rows >= 44)
        make_wide(out, middle);
    else if (columns >= 100 && rows >= 24)
        make_middle(out, middle);
    else
        make_narrow(out, middle);
    return true;
}
