/* HTML: frames as differences, escaped text, colours of roles as style rules. */
#include "tui/draw/html.h"

#include <stdlib.h>
#include <string.h>

enum {
    REVERSED = 32,   /* added to the digit of a role */
    FILL_FROM = 4,   /* from this many equal cells on, one character stands for all */
    BRIDGED = 2,     /* unchanged cells that are repeated to avoid a new run */
    NUMBER_BITS = 5, /* bits per digit */
    DARK_BACKGROUND = 0x16181d
};
_Static_assert((int)ROLE_COUNT <= (int)REVERSED, "a role and its reverse are one digit");

typedef enum RunKind { RUN_TEXT, RUN_FILL, RUN_WIDE, RUN_MARKED } RunKind;

static void add_digit(Text *out, unsigned value) {
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
    text_add_bytes(out, &digits[value & 63], 1);
}

static void add_number(Text *out, unsigned value) {
    const unsigned more = 1U << NUMBER_BITS;
    for (; value >= more; value >>= NUMBER_BITS) add_digit(out, more | (value & (more - 1)));
    add_digit(out, value);
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

typedef struct CellChanges {
    const Canvas *canvas, *before;
    int count; /* cells */
} CellChanges;

static bool differs(const CellChanges *of, int at) {
    return !of->before || !canvas_same_cell(&of->canvas->cells[at], &of->before->cells[at]);
}

static bool looks_alike(const Cell *a, const Cell *b) {
    return a->role == b->role && a->reverse == b->reverse;
}

static int code_points(const Cell *cell) {
    Text text = {0};
    int count = 0;
    canvas_add_cell_text(cell, &text);
    for (const char *at = text_string(&text); *at; at++) count += ((unsigned char)*at & 0xc0) != 0x80;
    text_done(&text);
    return count;
}

/* Cells of the character at this cell; a half without its partner counts as one cell. */
static int columns_at(const CellChanges *of, int at) {
    int columns = canvas_cell_columns(&of->canvas->cells[at]);
    bool has_room = at + columns <= of->count && at % of->canvas->columns + columns <= of->canvas->columns;
    return columns < 1 || !has_room ? 1 : columns;
}

static RunKind kind_at(const CellChanges *of, int at) {
    if (code_points(&of->canvas->cells[at]) > 1) return RUN_MARKED;
    return columns_at(of, at) == 2 ? RUN_WIDE : RUN_TEXT;
}

/* Whether a character differs in one of its cells. */
static bool character_differs(const CellChanges *of, int at) {
    return differs(of, at) || (columns_at(of, at) == 2 && differs(of, at + 1));
}

static int equal_cells(const CellChanges *of, int at) {
    const Cell *cells = of->canvas->cells;
    int end = at + 1;
    while (end < of->count && canvas_same_cell(&cells[end], &cells[at])) end++;
    return end - at;
}

static bool goes_on(const CellChanges *of, int first, int at, RunKind kind) {
    return at < of->count && looks_alike(&of->canvas->cells[first], &of->canvas->cells[at]) &&
           kind_at(of, at) == kind;
}

/* The end of the run of characters that begins at `first`. A few unchanged cells do not end it. */
static int end_of_run(const CellChanges *of, int first, RunKind kind) {
    int end = first, unchanged = 0;
    for (int at = first; goes_on(of, first, at, kind); at += columns_at(of, at)) {
        if (kind == RUN_TEXT && at > first && equal_cells(of, at) >= 2 * FILL_FROM) break;
        unchanged = character_differs(of, at) ? 0 : unchanged + 1;
        if (unchanged > BRIDGED) break;
        if (!unchanged) end = at + columns_at(of, at);
        if (kind == RUN_MARKED) break;
    }
    return end;
}

/* Equal cells are written as one character if all of them have changed, or enough. */
static int fill_at(const CellChanges *of, int first) {
    int count = equal_cells(of, first), last = 0;
    if (kind_at(of, first) != RUN_TEXT) return 0;
    for (int i = 0; i < count; i++)
        if (differs(of, first + i)) last = i + 1;
    return last >= FILL_FROM ? last : 0;
}

/* Returns the cell after the run. */
static int add_run(Text *out, const CellChanges *of, int first, int gap) {
    const Cell *cell = &of->canvas->cells[first];
    RunKind kind = kind_at(of, first);
    int end = first + fill_at(of, first), count = end - first;
    if (count) {
        kind = RUN_FILL;
    } else {
        end = end_of_run(of, first, kind);
        for (int at = first; at < end; at += columns_at(of, at)) count++;
    }
    if (kind == RUN_MARKED) count = 2 * code_points(cell) + (columns_at(of, first) == 2);
    add_number(out, (unsigned)gap);
    add_digit(out, cell->role + (cell->reverse ? REVERSED : 0));
    add_number(out, (unsigned)count * 4 + (unsigned)kind);
    for (int at = first; at < end; at += columns_at(of, at)) {
        size_t length = out->length;
        canvas_add_cell_text(&of->canvas->cells[at], out);
        if (out->length == length) text_add(out, " "); /* half of a missing character */
        if (kind == RUN_FILL || kind == RUN_MARKED) break;
    }
    return end;
}

void html_add_frame(Text *out, const Canvas *canvas, const Canvas *before) {
    const CellChanges of = {canvas, before, canvas->columns * canvas->rows};
    for (int at = 0, end = 0; at < of.count;) {
        if (!character_differs(&of, at)) {
            at += columns_at(&of, at);
            continue;
        }
        end = add_run(out, &of, at, at - end);
        at = end;
    }
}

/* ---- text ---------------------------------------------------------------------------------------------- */

void html_add_text(Text *out, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        const char *name = byte == '<'   ? "&lt;"
                           : byte == '>' ? "&gt;"
                           : byte == '&' ? "&amp;"
                           : byte == '"' ? "&quot;"
                                         : NULL;
        if (name)
            text_add(out, name);
        else if ((byte < 32 && byte != '\n' && byte != '\t') || byte == 127)
            text_add(out, "\xef\xbf\xbd");
        else
            text_add_bytes(out, &text[i], 1);
    }
}

void html_add_script_data(Text *out, const char *json) {
    while (*json) {
        size_t plain = strcspn(json, "<\xe2");
        text_add_bytes(out, json, plain);
        json += plain;
        if (*json == '<') {
            text_add(out, "\\u003c");
            json++;
        } else if (!strncmp(json, "\xe2\x80\xa8", 3) || !strncmp(json, "\xe2\x80\xa9", 3)) {
            text_print(out, "\\u20%02x", (unsigned char)json[2] - 0x80U);
            json += 3;
        } else if (*json) {
            text_add_bytes(out, json++, 1);
        }
    }
}

/* ---- colours ------------------------------------------------------------------------------------------- */

static const char *const role_names[ROLE_COUNT] = {
#define ROLE(id, ...) #id,
#include "tui/draw/roles.def"
#undef ROLE
};

void html_add_palette(Text *out, const char *selector, Theme theme) {
    text_print(out, "%s{--back:#%06x", selector,
               theme_rgb(theme_look(theme, ROLE_TEXT, 256).background, DARK_BACKGROUND));
    for (int role = 0; role < ROLE_COUNT; role++)
        text_print(out, ";--%s:#%06x", role_names[role],
                   theme_rgb(theme_look(theme, (Role)role, 256).colour, 0));
    text_add(out, "}\n");
}

static void add_role(Text *out, const char *within, Theme theme, Role role) {
    Look look = theme_look(theme, role, 256);
    const char *plain = look.reverse ? ".v" : "", *reversed = look.reverse ? "" : ".v";
    const char *colour = role_names[theme == THEME_MONO ? ROLE_TEXT : role];
    text_print(out, "%s.r%d%s{color:var(--%s);background:none%s%s}\n", within, role, plain, colour,
               look.bold ? ";font-weight:bold" : "", look.underline ? ";text-decoration:underline" : "");
    text_print(out, "%s.r%d%s{color:var(--back);background:var(--%s)%s}\n", within, role, reversed, colour,
               look.bold ? ";font-weight:bold" : "");
}

void html_add_colours(Text *out) {
    html_add_palette(out, ":root", THEME_DARK);
    text_add(out, "@media (prefers-color-scheme:light){\n");
    html_add_palette(out, ":root:not([data-theme=dark])", THEME_LIGHT);
    text_add(out, "}\n");
    html_add_palette(out, ":root[data-theme=light]", THEME_LIGHT);
    for (int role = 0; role < ROLE_COUNT; role++) add_role(out, "", THEME_DARK, (Role)role);
}

void html_add_mono(Text *out) {
    for (int role = 0; role < ROLE_COUNT; role++)
        add_role(out, ":root[data-theme=mono] ", THEME_MONO, (Role)role);
}
