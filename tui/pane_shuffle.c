/* Shuffle: from which lane every lane of the shown warp takes its value, with the selected lane's arrow drawn. */
#include "pane.h"

#include <stdio.h>

enum { LABEL_COLUMNS = 8, UNDEFINED = -1 };

typedef struct Shuffle {
    const char *mode;        /* "down", "up", "bfly", "idx" */
    int delta;               /* the same for all that take from another lane (down, up: distance; bfly: xor); 0: not */
    uint32_t takes;          /* lanes that receive another lane's value */
    uint32_t keeps;          /* lanes that keep their own: their source is out of the segment, or themselves */
    uint32_t undefined;      /* lanes whose source was inactive */
} Shuffle;

static const char *mode_of(const Moment *now) {
    static const char *const modes[] = {"down", "up", "bfly", "idx"};
    const PtxInstruction *instruction = now->code ? now->code->instruction : NULL;
    for (int i = 0; instruction && i < instruction->modifier_count; i++)
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
            if (!strcmp(instruction->modifiers[i].text, modes[m])) return modes[m];
    return "";
}

static Shuffle shuffle_of(const Moment *now) {
    Shuffle shuffle = {.mode = mode_of(now)};
    bool first = true, same = true;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(now->event.mask >> lane & 1)) continue;
        int source = now->event.source[lane];
        if (source == UNDEFINED) {
            shuffle.undefined |= 1u << lane;
        } else if (source == lane) {
            shuffle.keeps |= 1u << lane;
        } else {
            int delta = !strcmp(shuffle.mode, "bfly") ? source ^ lane : source - lane;
            if (delta < 0 && !strcmp(shuffle.mode, "up")) delta = -delta;
            shuffle.takes |= 1u << lane;
            if (!first && delta != shuffle.delta) same = false;
            shuffle.delta = delta;
            first = false;
        }
    }
    if (!same || !strcmp(shuffle.mode, "idx")) shuffle.delta = 0;
    return shuffle;
}

static void head(const Moment *now, PaneHead *out) {
    Shuffle shuffle = shuffle_of(now);
    char lanes[64];
    int at = snprintf(out->title, sizeof out->title, "shuffle %s", shuffle.mode);
    if (shuffle.delta)
        at += snprintf(out->title + at, sizeof out->title - (size_t)at, " %d", shuffle.delta);
    if (now->code && now->code->line.line)
        at += snprintf(out->title + at, sizeof out->title - (size_t)at, "   line %d", now->code->line.line);
    snprintf(out->title + at, sizeof out->title - (size_t)at, "   w%d", now->event.warp);
    if (shuffle.undefined) {
        moment_describe_lanes(shuffle.undefined, lanes, sizeof lanes);
        snprintf(out->note, sizeof out->note, "%s: undefined value!", lanes);
        out->note_role = ROLE_WARNING;
    } else if (shuffle.keeps) {
        moment_describe_lanes(shuffle.keeps, lanes, sizeof lanes);
        snprintf(out->note, sizeof out->note, "%s keep%s own value", lanes,
                 shuffle.keeps & (shuffle.keeps - 1) ? " their" : "s its");
    }
}

static int column_of(int lane, int width) { return LABEL_COLUMNS + lane * width; }

static void draw_sources(const Moment *now, Canvas *canvas, Rectangle area, int width) {
    canvas_text(canvas, area, 1, 0, ROLE_DIM, "lane");
    canvas_text(canvas, area, 1, 1, ROLE_DIM, "from");
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int column = column_of(lane, width), source = now->event.source[lane];
        bool selected = lane == now->view->lane;
        if (width == 1) {
            if (lane % 8 == 0) canvas_print(canvas, area, column, 0, ROLE_DIM, "%d", lane);
        } else {
            canvas_print(canvas, area, column, 0, selected ? ROLE_SELECTED : lane % 2 && width == 2 ? ROLE_DIM : ROLE_TEXT,
                         "%2d", lane);
        }
        if (!(now->event.mask >> lane & 1))
            canvas_glyph(canvas, area, column + (width > 1), 1, ROLE_IDLE, 0xB7);
        else if (source == UNDEFINED)
            canvas_glyph(canvas, area, column + (width > 1), 1, ROLE_WARNING, '?');
        else if (source == lane)
            canvas_glyph(canvas, area, column + (width > 1), 1, ROLE_DIM, '=');
        else if (width == 1)
            canvas_glyph(canvas, area, column, 1, ROLE_ARROW, source > lane ? '<' : '>');
        else
            canvas_print(canvas, area, column, 1, ROLE_ARROW, "%2d", source);
    }
}

/* From the source lane's column, along row 3, up to the selected lane's. */
static void draw_arrow(const Moment *now, Canvas *canvas, Rectangle area, int width) {
    int lane = now->view->lane, source = now->event.source[lane], shift = width > 1;
    if (!(now->event.mask >> lane & 1) || source == UNDEFINED || source == lane) return;
    int to = column_of(lane, width) + shift, from = column_of(source, width) + shift;
    int left = to < from ? to : from, right = to < from ? from : to;
    for (int column = left + 1; column < right; column++)
        canvas_glyph(canvas, area, column, 3, ROLE_ARROW, 0x2500);
    canvas_glyph(canvas, area, to, 2, ROLE_ARROW, 0x25B2);
    canvas_glyph(canvas, area, from, 2, ROLE_ARROW, 0x2502);
    canvas_glyph(canvas, area, left, 3, ROLE_ARROW, 0x2514);
    canvas_glyph(canvas, area, right, 3, ROLE_ARROW, 0x2518);
    char label[24];
    int distance = source > lane ? source - lane : lane - source;
    snprintf(label, sizeof label, to < from ? "\u2190 %d " : " %d \u2192", distance);
    int columns = canvas_text_columns(label);
    if (right - left - 1 >= columns)
        canvas_text(canvas, area, left + 1 + (right - left - 1 - columns) / 2, 3, ROLE_ARROW, label);
}

static void draw_lane_note(const Moment *now, Canvas *canvas, Rectangle area, int row) {
    const TraceEvent *event = &now->event;
    int lane = now->view->lane, source = event->source[lane];
    char own[40], taken[40];
    moment_print_value(now, event->operand[lane], 0, own, sizeof own);
    moment_print_value(now, event->value[0][lane], 0, taken, sizeof taken);
    if (!(event->mask >> lane & 1))
        canvas_print(canvas, area, 1, row, ROLE_DIM, "lane %d takes no part in this shuffle", lane);
    else if (source == UNDEFINED)
        canvas_print(canvas, area, 1, row, ROLE_WARNING, "lane %d reads a lane that takes no part: its value is undefined",
                     lane);
    else if (source == lane)
        canvas_print(canvas, area, 1, row, ROLE_TEXT, "lane %d keeps its own value: %s", lane, taken);
    else
        canvas_print(canvas, area, 1, row, ROLE_TEXT, "lane %d has %s and takes %s from lane %d", lane, own, taken, source);
}

/* Own and taken values of all lanes, as many lanes in a row as fit. */
static void draw_values(const Moment *now, Canvas *canvas, Rectangle area, int row) {
    const TraceEvent *event = &now->event;
    char text[40];
    int width = 4;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        moment_print_value(now, event->operand[lane], 0, text, sizeof text);
        if ((int)strlen(text) + 1 > width) width = (int)strlen(text) + 1;
        moment_print_value(now, event->value[0][lane], 0, text, sizeof text);
        if ((int)strlen(text) + 1 > width) width = (int)strlen(text) + 1;
    }
    int per_row = 32;
    while (per_row > 1 && LABEL_COLUMNS + per_row * width > area.columns) per_row /= 2;
    int first = now->view->lane / per_row * per_row;
    if ((area.rows - row) / 3 >= WARP_LANES / per_row) first = 0;
    for (; first < WARP_LANES && row + 3 <= area.rows; first += per_row, row += 3) {
        canvas_text(canvas, area, 1, row, ROLE_DIM, "lane");
        canvas_text(canvas, area, 1, row + 1, ROLE_DIM, "has");
        canvas_text(canvas, area, 1, row + 2, ROLE_DIM, "takes");
        for (int i = 0; i < per_row; i++) {
            int lane = first + i, column = LABEL_COLUMNS + i * width - 1;
            bool active = event->mask >> lane & 1;
            canvas_print(canvas, area, column, row, lane == now->view->lane ? ROLE_SELECTED : ROLE_DIM, "%*d", width, lane);
            if (!active) continue;
            moment_print_value(now, event->operand[lane], 0, text, sizeof text);
            canvas_print(canvas, area, column, row + 1, ROLE_TEXT, "%*s", width, text);
            moment_print_value(now, event->value[0][lane], 0, text, sizeof text);
            if (event->source[lane] == UNDEFINED) snprintf(text, sizeof text, "?");
            Role role = event->source[lane] == UNDEFINED ? ROLE_WARNING : event->source[lane] == lane ? ROLE_DIM : ROLE_ARROW;
            canvas_print(canvas, area, column, row + 2, role, "%*s", width, text);
        }
    }
}

static void draw(const Moment *now, Canvas *canvas, Rectangle area) {
    int width = area.columns >= LABEL_COLUMNS + 3 * WARP_LANES   ? 3
                : area.columns >= LABEL_COLUMNS + 2 * WARP_LANES ? 2
                                                                 : 1;
    draw_sources(now, canvas, area, width);
    draw_arrow(now, canvas, area, width);
    draw_lane_note(now, canvas, area, 4);
    draw_values(now, canvas, area, area.rows > 8 ? 6 : 5);
    if (area.rows == 6)
        canvas_text(canvas, area, 1, 5, ROLE_DIM, "= keeps its own value   ? undefined: the source lane takes no part");
}

const Pane pane_shuffle = {.slot = SLOT_PICTURE, .kinds = 1u << TRACE_SHUFFLE, .head = head, .draw = draw};
