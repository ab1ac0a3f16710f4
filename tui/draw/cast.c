#define _POSIX_C_SOURCE 200809L

#include "tui/draw/cast.h"

#include "base/json.h"
#include "base/memory.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct Cast {
    FILE *file; /* NULL: not created yet, or creation failed */
    char *path;
    int64_t timestamp;
    Cell *shown; /* NULL: nothing shown yet */
    int columns, rows;
    Theme theme;
    int changed;       /* cells in the last frame */
    int error;         /* errno of opening or writing; 0: none */
    Text output, line; /* of the frame being added */
};

/* The first frame creates a missing file: this only checks whether that is possible. */
static FILE *open_or_try(const char *path, Error *error) {
    bool is_new = access(path, F_OK) != 0;
    FILE *file = fopen(path, "ab");
    if (!file) error_set(error, "--record-cast: %s cannot be written: %s", path, strerror(errno));
    if (!file || !is_new) return file;
    fclose(file);
    remove(path);
    return NULL;
}

Cast *cast_open(const char *path, int64_t timestamp, Error *error) {
    Error reason = {0};
    FILE *file = open_or_try(path, &reason);
    if (reason.message[0]) {
        *error = reason;
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

/* All players advance the cursor as we do. The newer a character is, the fewer of them know its width. */
static bool is_certain(const Cell *cell) {
    return cell->glyph < 0x10000 && !cell->marks[0];
}

static void add_cell(Text *out, Pen *pen, Theme theme, const Cell *cell, int column, int row) {
    if (pen->row != row || pen->column != column) text_print(out, "\033[%d;%dH", row + 1, column + 1);
    if (pen->role != cell->role || pen->reverse != cell->reverse) {
        Look look = theme_look(theme, (Role)cell->role, 256);
        text_add(out, "\033[0");
        if (look.bold) text_add(out, ";1");
        if (look.underline) text_add(out, ";4");
        if (look.reverse != (cell->reverse != 0)) text_add(out, ";7");
        if (look.colour >= 0) text_print(out, ";38;5;%d", look.colour);
        if (look.background >= 0) text_print(out, ";48;5;%d", look.background);
        text_add(out, "m");
    }
    canvas_add_cell_text(cell, out);
    *pen = (Pen){is_certain(cell) ? column + canvas_cell_columns(cell) : -1, row, cell->role, cell->reverse};
}

/* ---- the file ------------------------------------------------------------------------------------------ */

/* Complete up to here, even if the program is killed. */
static void flush_lines(Cast *cast) {
    size_t length = cast->line.length;
    if (cast->file &&
        (fwrite(text_string(&cast->line), 1, length, cast->file) < length || fflush(cast->file)))
        if (!cast->error) cast->error = errno;
    text_clear(&cast->line);
}

static void add_event(Cast *cast, double seconds, const char *kind, const char *data) {
    Json json = {.out = &cast->line, .comma = true};
    text_print(&cast->line, "[%.6f", seconds);
    json_string(&json, NULL, kind);
    json_string(&json, NULL, data);
    text_add(&cast->line, "]\n");
}

void cast_add(Cast *cast, const Canvas *canvas, Theme theme, double seconds) {
    size_t count = (size_t)canvas->columns * (size_t)canvas->rows;
    if (!cast) return;
    bool resized = cast->shown && (cast->columns != canvas->columns || cast->rows != canvas->rows);
    if (!cast->shown) {
        if (!cast->file) cast->file = fopen(cast->path, "ab");
        if (!cast->file) {
            cast->error = errno;
        } else if (ftruncate(fileno(cast->file), 0)) { /* not a file: a pipe cannot be truncated */
        }
        Json json = {.out = &cast->line};
        json_open_object(&json, NULL);
        json_integer(&json, "version", 2);
        json_integer(&json, "width", canvas->columns);
        json_integer(&json, "height", canvas->rows);
        if (cast->timestamp) json_integer(&json, "timestamp", cast->timestamp);
        json_open_object(&json, "env");
        json_string(&json, "TERM", "xterm-256color");
        json_close_object(&json);
        json_close_object(&json);
        text_add(&cast->line, "\n");
    }
    if (resized) {
        char size[32];
        snprintf(size, sizeof size, "%dx%d", canvas->columns, canvas->rows);
        add_event(cast, seconds, "r", size);
    }
    bool everything = !cast->shown || resized || cast->theme != theme;
    cast->theme = theme;
    text_clear(&cast->output);
    /* After a new size or theme, and in the first frame, sends everything; otherwise what changed. */
    Pen pen = {-1, -1, -1, -1};
    cast->changed = 0;
    if (everything) text_add(&cast->output, "\033[0m\033[?25l\033[2J");
    for (int row = 0; row < canvas->rows; row++)
        for (int column = 0; column < canvas->columns; column++) {
            int at = row * canvas->columns + column;
            const Cell *cell = &canvas->cells[at];
            if (!everything && canvas_same_cell(cell, &cast->shown[at])) continue;
            if (cell->glyph != CELL_RIGHT_HALF) add_cell(&cast->output, &pen, cast->theme, cell, column, row);
            cast->changed += !everything || cell->glyph != ' ';
        }
    if (cast->output.length) add_event(cast, seconds, "o", text_string(&cast->output));
    flush_lines(cast);
    cast->shown = memory_resize(cast->shown, (count + 1) * sizeof *cast->shown);
    memcpy(cast->shown, canvas->cells, count * sizeof *cast->shown);
    cast->columns = canvas->columns;
    cast->rows = canvas->rows;
}

void cast_hold(Cast *cast, double seconds) {
    if (!cast || !cast->shown) return;
    add_event(cast, seconds, "o", "");
    flush_lines(cast);
}

double cast_reading_seconds(const Cast *cast) {
    enum { CELLS_A_SECOND = 600 };
    return fmin(0.6 + (double)cast->changed / CELLS_A_SECOND, 4);
}

bool cast_close(Cast *cast, Error *error) {
    if (!cast) return true;
    if (cast->file && fclose(cast->file) && !cast->error) cast->error = errno;
    int reason = cast->error;
    if (reason) {
        error_set(error, "--record-cast: %s could not be written to its end: %s", cast->path,
                  strerror(reason));
        /* A recording that could not be started does not leave an empty file. */
        struct stat status;
        if (stat(cast->path, &status) == 0 && S_ISREG(status.st_mode) && !status.st_size) remove(cast->path);
    }
    free(cast->path);
    free(cast->shown);
    text_done(&cast->output);
    text_done(&cast->line);
    free(cast);
    return !reason;
}
