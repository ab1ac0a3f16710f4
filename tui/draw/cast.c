#define _POSIX_C_SOURCE 200809L

#include "tui/draw/cast.h"

#include "base/json.h"
#include "base/memory.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct Cast {
    FILE *file;
    char *path;
    int64_t timestamp;
    Cell *shown; /* NULL: nothing yet */
    int columns, rows;
    Theme theme;
    Text output, line; /* of the frame being added */
};

Cast *cast_open(const char *path, int64_t timestamp, Error *error) {
    FILE *file = fopen(path, "ab");
    if (!file) {
        error_set(error, "--record-cast: %s cannot be written: %s", path, strerror(errno));
        return NULL;
    }
    Cast *cast = memory_new(sizeof *cast);
    cast->file = file;
    cast->path = memory_copy_text(path);
    cast->timestamp = timestamp;
    return cast;
}

/* ---- what a terminal is sent --------------------------------------------------------------------------- */

typedef struct Pen { /* the terminal's cursor position and current look */
    int column, row;
    int role, reverse; /* -1: not known */
} Pen;

static void add_look(Text *out, Theme theme, const Cell *cell) {
    Look look = theme_look(theme, (Role)cell->role, 256);
    text_add(out, "\033[0");
    if (look.bold) text_add(out, ";1");
    if (look.underline) text_add(out, ";4");
    if (look.reverse != (cell->reverse != 0)) text_add(out, ";7");
    if (look.colour >= 0) text_print(out, ";38;5;%d", look.colour);
    if (look.background >= 0) text_print(out, ";48;5;%d", look.background);
    text_add(out, "m");
}

static void add_cell(Text *out, Pen *pen, Theme theme, const Cell *cell, int column, int row) {
    char glyph[CANVAS_GLYPH_BYTES];
    if (pen->row != row || pen->column != column) text_print(out, "\033[%d;%dH", row + 1, column + 1);
    if (pen->role != cell->role || pen->reverse != cell->reverse) add_look(out, theme, cell);
    text_add_bytes(out, glyph, canvas_encode(cell->glyph, glyph));
    *pen = (Pen){column + 1, row, cell->role, cell->reverse};
}

static bool same_cell(const Cell *a, const Cell *b) {
    return a->glyph == b->glyph && a->role == b->role && a->reverse == b->reverse;
}

/* After a new size or theme, and in the first frame: everything; else what changed. */
static void add_cells(Cast *cast, const Canvas *canvas, bool everything) {
    Pen pen = {-1, -1, -1, -1};
    if (everything) text_add(&cast->output, "\033[0m\033[?25l\033[2J");
    for (int row = 0; row < canvas->rows; row++)
        for (int column = 0; column < canvas->columns; column++) {
            int at = row * canvas->columns + column;
            if (everything || !same_cell(&canvas->cells[at], &cast->shown[at]))
                add_cell(&cast->output, &pen, cast->theme, &canvas->cells[at], column, row);
        }
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static void write_line(Cast *cast) {
    text_add(&cast->line, "\n");
    fwrite(text_string(&cast->line), 1, cast->line.length, cast->file);
    fflush(cast->file); /* complete up to here, however the program ends */
    text_clear(&cast->line);
}

static void write_header(Cast *cast, const Canvas *canvas) {
    Json json = {.out = &cast->line};
    if (ftruncate(fileno(cast->file), 0)) { /* no file: a pipe has nothing to empty */
    }
    json_open_object(&json, NULL);
    json_integer(&json, "version", 2);
    json_integer(&json, "width", canvas->columns);
    json_integer(&json, "height", canvas->rows);
    json_integer(&json, "timestamp", cast->timestamp);
    json_open_object(&json, "env");
    json_string(&json, "TERM", "xterm-256color");
    json_close_object(&json);
    json_close_object(&json);
    write_line(cast);
}

static void write_event(Cast *cast, double seconds, const char *kind, const char *data) {
    Json json = {.out = &cast->line, .comma = true};
    text_print(&cast->line, "[%.6f", seconds);
    json_string(&json, NULL, kind);
    json_string(&json, NULL, data);
    text_add(&cast->line, "]");
    write_line(cast);
}

void cast_add(Cast *cast, const Canvas *canvas, Theme theme, double seconds) {
    size_t count = (size_t)canvas->columns * (size_t)canvas->rows;
    if (!cast) return;
    bool resized = cast->shown && (cast->columns != canvas->columns || cast->rows != canvas->rows);
    if (!cast->shown) write_header(cast, canvas);
    if (resized) {
        char size[32];
        snprintf(size, sizeof size, "%dx%d", canvas->columns, canvas->rows);
        write_event(cast, seconds, "r", size);
    }
    bool everything = !cast->shown || resized || cast->theme != theme;
    cast->theme = theme;
    text_clear(&cast->output);
    add_cells(cast, canvas, everything);
    if (cast->output.length) write_event(cast, seconds, "o", text_string(&cast->output));
    cast->shown = memory_resize(cast->shown, (count + 1) * sizeof *cast->shown);
    memcpy(cast->shown, canvas->cells, count * sizeof *cast->shown);
    cast->columns = canvas->columns;
    cast->rows = canvas->rows;
}

bool cast_close(Cast *cast, Error *error) {
    if (!cast) return true;
    bool failed = ferror(cast->file) != 0;
    failed |= fclose(cast->file) != 0;
    if (failed)
        error_set(error, "--record-cast: %s could not be written to its end: %s", cast->path,
                  strerror(errno));
    free(cast->path);
    free(cast->shown);
    text_done(&cast->output);
    text_done(&cast->line);
    free(cast);
    return !failed;
}
