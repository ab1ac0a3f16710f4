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

/* One column of panes, a line above each: source, picture, lanes, explanation, timeline. */
static void make_narrow(Layout *layout, Rectangle middle) {
    Rectangle *slots = layout->slots;
    slots[SLOT_TIMELINE] = cut_bottom(&middle, middle.rows >= 20 ? 3 : 2);
    slots[SLOT_EXPLANATION] = cut_bottom(&middle, middle.rows >= 26 ? 4 : 2);
    slots[SLOT_LANES] = cut_bottom(&middle, clamp(middle.rows / 4, 2, 12));
    slots[SLOT_PICTURE] = cut_bottom(&middle, clamp((middle.rows + 1) / 2, 5, 15));
    slots[SLOT_SOURCE] = middle;
}

/* Source beside lanes, the picture below over the whole width, explanation beside timings, timeline. */
static void make_middle(Layout *layout, Rectangle middle) {
    Rectangle *slots = layout->slots;
    int frame = layout->boxed ? 2 : 1;
    int tall = middle.rows >= 50;
    slots[SLOT_TIMELINE] = cut_bottom(&middle, frame + (tall ? 4 : 2));
    Rectangle words = cut_bottom(&middle, frame + (tall ? 4 : middle.rows > 24 ? 3 : 2));
    slots[SLOT_PICTURE] = cut_bottom(&middle, clamp(middle.rows * 9 / 20, 8, 13 + (middle.rows - 29) / 3));
    slots[SLOT_EXPLANATION] = cut_left(&words, words.columns * 65 / 100);
    slots[SLOT_TIMINGS] = words;
    slots[SLOT_SOURCE] =
        cut_left(&middle, clamp(middle.columns - 60, middle.columns / 2 - 8, middle.columns / 2));
    slots[SLOT_LANES] = middle;
}

bool layout_make(int columns, int rows, Zoom zoom, Layout *out) {
    static const Slot slot_of_zoom[ZOOM_COUNT] = {
        [ZOOM_PICTURE] = SLOT_PICTURE, [ZOOM_SOURCE] = SLOT_SOURCE, [ZOOM_LANES] = SLOT_LANES};
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
    if (zoom != ZOOM_NONE) {
        out->slots[SLOT_TIMELINE] = cut_bottom(&middle, out->boxed ? 4 : 3);
        out->slots[SLOT_EXPLANATION] = cut_bottom(&middle, out->boxed ? 5 : 3);
        out->slots[slot_of_zoom[zoom]] = middle;
    } else if (columns >= 100 && rows >= 24) {
        make_middle(out, middle);
    } else {
        make_narrow(out, middle);
    }
    return true;
}
