#include "tui/layout.h"

#include <string.h>

enum { ROWS_FOR_STORY = 20, LEAST_NAMED = 20, LEAST_TIMELINE = 3 };
enum {
    MOST_OVERLAY_ROWS = 48,
    LANES_OTHER_ROWS = 2, /* the lanes' numbers and the legend */
    LANES_COLUMNS = 64    /* a warp's row with a note such as "16 wavefronts!" */
};

/* Cuts `rows` off the top of `area`. */
static Rectangle cut_top(Rectangle *area, int rows) {
    Rectangle top = *area;
    top.rows = canvas_clamp(rows, 0, area->rows);
    area->row += top.rows;
    area->rows -= top.rows;
    return top;
}

static Rectangle cut_bottom(Rectangle *area, int rows) {
    Rectangle bottom = *area;
    bottom.rows = canvas_clamp(rows, 0, area->rows);
    area->rows -= bottom.rows;
    bottom.row += area->rows;
    return bottom;
}

static Rectangle cut_left(Rectangle *area, int columns) {
    Rectangle left = *area;
    left.columns = canvas_clamp(columns, 0, area->columns);
    area->column += left.columns;
    area->columns -= left.columns;
    return left;
}

static Rectangle cut_right(Rectangle *area, int columns) {
    Rectangle right = *area;
    right.columns = canvas_clamp(columns, 0, area->columns);
    area->columns -= right.columns;
    right.column += area->columns;
    return right;
}

static void add_side(Layout *layout, Rectangle area) {
    layout->sides[layout->side_count++] = area;
}

static bool shown(const View *view, Focus focus) {
    return !(view->display.hidden >> focus & 1);
}

/* Places source and lanes side by side, or the one that is not hidden. */
static void split_top(Layout *layout, Rectangle top, const View *view, int source_columns) {
    if (!shown(view, FOCUS_LANES)) source_columns = top.columns;
    if (shown(view, FOCUS_SOURCE)) layout->slots[SLOT_SOURCE] = cut_left(&top, source_columns);
    if (shown(view, FOCUS_LANES)) layout->slots[SLOT_LANES] = top;
}

/* Places the picture in this many rows; in all rows if nothing is above it. */
static Rectangle cut_picture(Rectangle *middle, const View *view, int rows) {
    bool alone = !shown(view, FOCUS_SOURCE) && !shown(view, FOCUS_LANES);
    return cut_bottom(middle, alone ? middle->rows : rows);
}

/* One column of panes, each with a line above: source, picture, lanes, explanation, timeline. The timeline
 * names the levels of a reduction. On a low screen the lines of a bank conflict take the rows of these names
 * and of a second line of source. */
static void make_narrow(Layout *layout, Rectangle middle, const View *view, LayoutNeeds needs) {
    enum { LOW_ROWS = 28, LEAST_OTHER_ROWS = 9, TITLE_HEAD_AND_WORDS = 3 };
    Rectangle *slots = layout->slots;
    int rows = middle.rows, usual = canvas_clamp((rows * 2 + 1) / 5, 5, 14);
    int lines = needs.bank_lines ? needs.bank_lines + TITLE_HEAD_AND_WORDS : 0;
    bool is_tight = rows >= LEAST_NAMED && rows < LOW_ROWS && lines > usual;
    int names = needs.folds && rows >= LEAST_NAMED && !is_tight;
    slots[SLOT_TIMELINE] = cut_bottom(&middle, names + (rows >= 20 ? 3 : 2));
    slots[SLOT_EXPLANATION] = cut_bottom(&middle, rows >= 30 ? 4 : 2);
    if (rows >= 36 && shown(view, FOCUS_SIDE))
        add_side(layout, cut_bottom(&middle, canvas_clamp(rows / 5, 6, 12)));
    if (shown(view, FOCUS_LANES))
        slots[SLOT_LANES] = cut_bottom(&middle, is_tight ? 1 : canvas_clamp(rows / 7, 2, 12));
    Rectangle picture = middle;
    if (shown(view, FOCUS_SOURCE)) {
        bool is_long = view->display.source == SOURCE_SASS; /* many instructions a line */
        if (is_tight) usual = canvas_clamp(lines, usual, rows - LEAST_OTHER_ROWS);
        picture = cut_bottom(&middle, is_long ? 5 : usual);
        slots[SLOT_SOURCE] = middle;
    }
    if (view->display.focus == FOCUS_SIDE &&
        !layout->side_count) /* it has the focus: takes the picture's place */
        add_side(layout, picture);
    else
        slots[SLOT_PICTURE] = picture;
}

/* Rows for the picture: more if the lines of a bank conflict need them, as long as the lanes of eight warps
 * still fit. */
static int picture_rows(int rows, int room, int frame, LayoutNeeds needs) {
    enum { HEAD_AND_WORDS = 2, LEAST_ABOVE = 10 };
    int wanted = needs.bank_lines ? frame + needs.bank_lines + HEAD_AND_WORDS : 0,
        most = room - frame - LEAST_ABOVE;
    return canvas_clamp(wanted > most ? most : wanted, rows, room - 8);
}

/* Source beside lanes, the picture below, explanation beside one more pane, timeline. */
static void make_middle(Layout *layout, Rectangle middle, const View *view, LayoutNeeds needs) {
    Rectangle *slots = layout->slots;
    int frame = layout->boxed ? 2 : 1;
    slots[SLOT_TIMELINE] = cut_bottom(&middle, frame + (middle.rows >= 34 ? 3 : 2));
    Rectangle words = cut_bottom(&middle, frame + (middle.rows >= 32 ? 6 : middle.rows >= 24 ? 3 : 2));
    int rows = canvas_clamp(middle.rows * 9 / 20, 8, 13 + (middle.rows - 29) / 3);
    if (needs.folds && layout->area.columns >= 160 && layout->area.rows >= 50) /* room for both pictures */
        slots[SLOT_REDUCTION] = cut_bottom(&middle, frame + 8);
    slots[SLOT_PICTURE] = cut_picture(
        &middle, view, picture_rows(canvas_clamp(rows, 8, middle.rows - 8), middle.rows, frame, needs));
    if (shown(view, FOCUS_SIDE)) add_side(layout, cut_right(&words, words.columns / 2));
    slots[SLOT_EXPLANATION] = words;
    split_top(layout, middle, view,
              canvas_clamp(middle.columns - LANES_COLUMNS, middle.columns / 2 - 8, middle.columns / 2));
}

/* The same layout with a column of more panes on the right. */
static void make_wide(Layout *layout, Rectangle middle, const View *view, bool folds) {
    Rectangle *slots = layout->slots;
    slots[SLOT_TIMELINE] = cut_bottom(&middle, 7);
    if (folds && layout->area.rows >= 50) slots[SLOT_REDUCTION] = cut_bottom(&middle, 11);
    Rectangle right = cut_right(&middle, canvas_clamp(middle.columns - 140, 50, 70));
    for (int left = canvas_clamp(right.rows / 14, 1, MOST_SIDES - 1); left > 0; left--)
        add_side(layout, cut_top(&right, right.rows / left));
    slots[SLOT_EXPLANATION] = cut_bottom(&middle, 6);
    slots[SLOT_PICTURE] = cut_picture(&middle, view, canvas_clamp(middle.rows * 9 / 20, 13, 24));
    split_top(layout, middle, view,
              canvas_clamp(middle.columns - LANES_COLUMNS, middle.columns / 2, middle.columns * 2 / 3));
}

/* Three panes, for a projector: the current line, the picture, the explanation. */
/* Two runs show which lanes work in place of sentences; a tall screen has room for the timeline, too. */
static void make_projector(Layout *layout, Rectangle middle, const View *view) {
    enum { TALL = 40 };
    Rectangle *slots = layout->slots;
    int frame = layout->boxed ? 2 : 1;
    bool is_one_of_two = view->display.timeline_steps > 0;
    slots[SLOT_EXPLANATION] = cut_bottom(&middle, is_one_of_two ? 0 : layout->boxed ? 5 : 2);
    slots[SLOT_LANES] = cut_bottom(&middle, is_one_of_two ? frame + 3 : 0);
    slots[SLOT_TIMELINE] = cut_bottom(&middle, middle.rows > TALL ? frame + 3 : 0);
    slots[SLOT_SOURCE] = cut_top(&middle, frame + (middle.rows > 24 ? 4 : middle.rows > 14 ? 3 : 2));
    slots[SLOT_PICTURE] = middle;
}

static void fill_with(Layout *layout, Rectangle area, Focus focus) {
    static const PaneSlot slots[FOCUS_COUNT] = {
        [FOCUS_PICTURE] = SLOT_PICTURE, [FOCUS_SOURCE] = SLOT_SOURCE, [FOCUS_LANES] = SLOT_LANES};
    if (focus == FOCUS_SIDE)
        add_side(layout, area);
    else
        layout->slots[slots[focus]] = area;
}

/* One pane fills the middle of the screen. If the screen is tall enough, the pane of lanes gets a row for
 * every warp of the block before the other two panes get theirs. The rows that neither cells of the largest
 * size nor a picture can fill go to the other of lanes and picture. */
static void make_zoomed(Layout *layout, Rectangle middle, const View *view, int warps) {
    enum { LARGE_ROWS = 5, LEGEND_AND_VALUES = 6, PICTURE_ROWS = 30, LEAST_OTHER = 8 };
    Focus focus = view->display.focus;
    bool has_cells = focus == FOCUS_PICTURE && !picture_is_of_machine(view->display.picture);
    int frame = layout->boxed ? 2 : 1, timeline = frame + 2, explanation = layout->boxed ? 5 : 3;
    int lanes = focus == FOCUS_LANES ? frame + warps + LANES_OTHER_ROWS : 0;
    if (lanes <= middle.rows) {
        if (middle.rows - timeline < lanes) timeline = 0;
        if (middle.rows - timeline - explanation < lanes) explanation = 0;
    }
    layout->slots[SLOT_TIMELINE] = cut_bottom(&middle, timeline);
    layout->slots[SLOT_EXPLANATION] = cut_bottom(&middle, explanation);
    int most = focus == FOCUS_LANES ? frame + warps * LARGE_ROWS + LEGEND_AND_VALUES
               : has_cells          ? PICTURE_ROWS + frame
                                    : middle.rows;
    Rectangle rest = cut_bottom(&middle, middle.rows - most >= LEAST_OTHER ? middle.rows - most : 0);
    fill_with(layout, middle, focus);
    if (rest.rows) fill_with(layout, rest, focus == FOCUS_LANES ? FOCUS_PICTURE : FOCUS_LANES);
}

/* The help is longer than any screen; the ladder, the latencies and the index lab keep only the header. */
static Rectangle make_overlay(Rectangle screen, Rectangle middle, const View *view) {
    Rectangle overlay = middle;
    if (overlay_fills_screen(view->transient.overlay))
        return (Rectangle){0, 1, screen.columns, screen.rows - 1};
    if (view->transient.overlay == OVERLAY_MENU && view->transient.menu == MENU_HOME) return screen;
    if (view->transient.overlay == OVERLAY_HELP || view->transient.overlay == OVERLAY_WORDS) return middle;
    if (middle.columns > 100) {
        overlay.column = (middle.columns - 96) / 2;
        overlay.columns = 96;
    }
    if (middle.rows > MOST_OVERLAY_ROWS) {
        overlay.row = middle.row + (middle.rows - MOST_OVERLAY_ROWS) / 2;
        overlay.rows = MOST_OVERLAY_ROWS;
    }
    return overlay;
}

static bool shows_timings(const Layout *layout, const View *view) {
    for (int i = 0; i < layout->side_count && i < pane_side_count(); i++)
        if (pane_side(view->display.side + i) == &pane_timings) return true;
    return false;
}

static void fill_middle(Layout *layout, Rectangle middle, const View *view, LayoutNeeds needs) {
    int columns = layout->area.columns, rows = layout->area.rows;
    layout->side_count = 0;
    memset(layout->slots, 0, sizeof layout->slots);
    if (view->display.zoomed)
        make_zoomed(layout, middle, view, needs.warps);
    else if (view->display.projector)
        make_projector(layout, middle, view);
    else if (columns >= 180 && rows >= 44 && shown(view, FOCUS_SIDE))
        make_wide(layout, middle, view, needs.folds);
    else if (columns >= 100 && rows >= 24)
        make_middle(layout, middle, view, needs);
    else
        make_narrow(layout, middle, view, needs);
}

/* The settings, and below them before and after, in place of the hints and of the time. */
static int footer_rows(const View *view) {
    return view->transient.input == INPUT_SETTINGS ? 2 : 1;
}

bool layout_make(int columns, int rows, const View *view, LayoutNeeds needs, Layout *out) {
    Rectangle middle = {0, 0, columns, rows};
    *out = (Layout){.area = middle, .boxed = columns >= 100 && rows >= 30};
    if (columns < SMALLEST_COLUMNS || rows < SMALLEST_ROWS) return false;
    out->header = cut_top(&middle, rows >= ROWS_FOR_STORY ? 2 : 1);
    out->footer = cut_bottom(&middle, 1);
    out->overlay = make_overlay(out->area, middle, view);
    fill_middle(out, middle, view, needs);
    bool has_settings = footer_rows(view) > 1,
         has_times = rows >= ROWS_FOR_STORY && !shows_timings(out, view);
    Rectangle *timeline = &out->slots[SLOT_TIMELINE];
    bool is_lowered = has_settings && !has_times && timeline->rows > LEAST_TIMELINE;
    out->footer.row -= has_settings;
    out->footer.rows += has_settings;
    timeline->rows -= is_lowered; /* the other panes keep their places */
    if (is_lowered || (!has_times && !has_settings)) return true;
    Rectangle row = cut_bottom(&middle, 1);
    if (!has_settings) out->times = row;
    fill_middle(out, middle, view, needs);
    return true;
}

/* ---- two runs ------------------------------------------------------------------------------------------ */

enum { RACE_ROWS = 4, BESIDE_COLUMNS = 120, LEAST_LOW_HALF = 8, MOST_LOW_HALF = 14 };

/* Half of a low screen: two kernels differ in the picture; the line is above it, the lanes below. */
static void make_low_half(Layout *half, Rectangle middle) {
    half->slots[SLOT_LANES] = cut_bottom(&middle, 1);
    half->slots[SLOT_SOURCE] = cut_top(&middle, 2);
    half->slots[SLOT_PICTURE] = middle;
}

/* One column of panes in half a screen; a low screen keeps what distinguishes two kernels: the place, the
 * active lanes, the cost. */
static void make_half(Layout *half, Rectangle area, const View *view) {
    Rectangle *slots = half->slots, middle = area;
    int frame = half->boxed ? 2 : 1;
    half->area = area;
    half->header = cut_top(&middle, 1);
    bool as_it_opens = !view->display.zoomed && !view->display.projector && !view->display.hidden &&
                       view->display.focus != FOCUS_SIDE;
    if (as_it_opens && middle.rows >= LEAST_LOW_HALF && middle.rows < MOST_LOW_HALF) {
        make_low_half(half, middle);
        return;
    }
    slots[SLOT_TIMELINE] = cut_bottom(&middle, frame + (middle.rows >= 36 ? 2 : middle.rows >= 7));
    slots[SLOT_EXPLANATION] = cut_bottom(&middle, middle.rows >= 26 ? frame + 3 : 2);
    if (view->display.zoomed) {
        fill_with(half, middle, view->display.focus);
        return;
    }
    if (view->display.picture >= SHOW_LANE_TREE && middle.rows < 8) { /* the user asked for it */
        slots[SLOT_PICTURE] = middle;
        return;
    }
    bool has_side = view->display.focus == FOCUS_SIDE && shown(view, FOCUS_SIDE);
    if (has_side && middle.rows < 8) {
        add_side(half, middle);
        return;
    }
    if (middle.rows >= 5 && shown(view, FOCUS_LANES) && !view->display.projector)
        slots[SLOT_LANES] = cut_bottom(&middle, canvas_clamp(middle.rows / 4, 2, frame + 10));
    int level = canvas_clamp(middle.rows * 2 / 3, 5, frame + 7); /* a level of the reduction needs this */
    if (!shown(view, FOCUS_SOURCE))
        slots[SLOT_PICTURE] = middle;
    else if (middle.rows >= 8)
        slots[SLOT_PICTURE] = cut_bottom(&middle, canvas_clamp((middle.rows + 1) / 2, level, frame + 15));
    if (shown(view, FOCUS_SOURCE)) slots[SLOT_SOURCE] = middle;
    if (!has_side) return;
    PaneSlot given = slots[SLOT_PICTURE].rows > 0 ? SLOT_PICTURE : SLOT_SOURCE;
    add_side(half, slots[given]);
    slots[given].rows = 0;
}

bool layout_make_comparison(int columns, int rows, const View *view, ComparisonHead above,
                            ComparisonLayout *out) {
    bool beside = columns >= BESIDE_COLUMNS;
    Rectangle middle = {0, 0, columns, rows};
    *out = (ComparisonLayout){.boxed = beside && rows >= 36};
    if (columns < COMPARISON_SMALLEST_COLUMNS || rows < COMPARISON_SMALLEST_ROWS) return false;
    out->footer = cut_bottom(&middle, footer_rows(view));
    out->overlay = make_overlay((Rectangle){0, 0, columns, rows}, (Rectangle){0, 1, columns, rows - 2}, view);
    int inside = above == HEAD_RACE ? RACE_ROWS : canvas_clamp(rows / 10, 2, 6);
    out->differences = (above == HEAD_NONE ? cut_bottom : cut_top)(&middle, (out->boxed ? 2 : 1) + inside);
    Rectangle second = middle,
              first = beside ? cut_left(&second, columns / 2) : cut_top(&second, middle.rows / 2);
    /* equal, so that panes line up */
    if (beside)
        first.columns = second.columns = columns / 2;
    else
        first.rows = second.rows = middle.rows / 2;
    out->half[0].boxed = out->half[1].boxed = out->boxed;
    make_half(&out->half[0], first, view);
    make_half(&out->half[1], second, view);
    return true;
}

bool layout_holds(Rectangle area, int column, int row) {
    return column >= area.column && column < area.column + area.columns && row >= area.row &&
           row < area.row + area.rows;
}
