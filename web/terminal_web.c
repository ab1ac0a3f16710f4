/* Terminal: a web page behind a canvas. The page (page.js) draws the cells that changed and reports keys, the
 * mouse and its size; the program is called for each event and never waits. */
#include "tui/draw/terminal.h"
#include "tui/draw/terminal_text.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "tui/draw/html.h"
#include "web/threads.h"
#include <stdlib.h>
#include <string.h>

#define IMPORTED(name) __attribute__((import_module("page"), import_name(#name)))
#define EXPORTED(name) __attribute__((export_name(#name)))

/* A frame as tui/draw/html.h writes it: whole, or what changed. */
IMPORTED(show) void page_show(const char *frame, size_t bytes, int columns, int rows, int is_whole);
IMPORTED(say) void page_say(const char *text, size_t bytes);
IMPORTED(exercise) void page_exercise(const char *json, size_t bytes);
IMPORTED(mark) void page_mark(int line, const char *why, size_t bytes);
IMPORTED(set_theme) void page_set_theme(const char *name, size_t bytes);
IMPORTED(set_style) void page_set_style(const char *rules, size_t bytes);
/* The words of a command line, a NUL between two. */
IMPORTED(run) void page_run(const char *words, size_t bytes);
/* Leaves C at once: its frames stay where they are, below those of the calls that follow. */
IMPORTED(leave) _Noreturn void page_leave(void);

static struct {
    int columns, rows;
    Canvas *shown; /* NULL: unknown */
    TerminalTurn *turn;
    void *context;
} terminal = {.columns = 120, .rows = 40};

/* ---- called by the program ----------------------------------------------------------------------------- */

bool terminal_open(Error *error) {
    Text rules = {0};
    (void)error;
    html_add_colours(&rules);
    html_add_palette(&rules, ":root[data-theme=contrast]", THEME_CONTRAST);
    html_add_mono(&rules);
    page_set_style(text_string(&rules), rules.length);
    text_done(&rules);
    return true;
}

const char *terminal_library(void) {
    return "a web page";
}

void terminal_close(void) {}

void terminal_size(int *columns, int *rows) {
    *columns = terminal.columns;
    *rows = terminal.rows;
}

void terminal_forget(void) {
    if (terminal.shown) canvas_free(terminal.shown);
    terminal.shown = NULL;
}

void terminal_show(const Canvas *canvas) {
    Text frame = {0};
    bool is_other = terminal.shown &&
                    (terminal.shown->columns != canvas->columns || terminal.shown->rows != canvas->rows);
    if (is_other) terminal_forget();
    html_add_frame(&frame, canvas, terminal.shown);
    page_show(text_string(&frame), frame.length, canvas->columns, canvas->rows, !terminal.shown);
    text_done(&frame);
    if (!terminal.shown) terminal.shown = canvas_new(canvas->columns, canvas->rows, canvas->ascii);
    canvas_put(terminal.shown, canvas, 0, 0);
}

int terminal_busy_milliseconds(void) {
    return 0;
}

void terminal_set_theme(Theme theme) {
    page_set_theme(theme_name(theme), strlen(theme_name(theme)));
}

void terminal_say(const char *text) {
    page_say(text, strlen(text));
}

void terminal_tell_exercise(const char *json) {
    page_exercise(json, strlen(json));
}

void terminal_mark(int line, const char *why) {
    page_mark(line, why, strlen(why));
}

void terminal_serve(TerminalTurn *turn, void *context) {
    terminal.turn = turn;
    terminal.context = context;
    page_leave();
}

/* The loader has run within a turn, so the loop is awake. */
void terminal_wake(void) {}

int terminal_run(char *const command[]) {
    Text words = {0};
    for (int i = 0; command[i]; i++) {
        if (i) text_add_bytes(&words, "", 1);
        text_add(&words, command[i]);
    }
    page_run(text_string(&words), words.length);
    text_done(&words);
    return TERMINAL_GOES_ON;
}

bool terminal_has_programs(void) {
    return false;
}

void terminal_end(int signal) {
    exit(128 + signal);
}

bool terminal_shows_utf8(void) {
    return true;
}

bool terminal_shows_text(const char *utf8) {
    (void)utf8;
    return true;
}

bool terminal_knows(uint32_t character, int columns) {
    return utf8_columns(character) == columns;
}

/* ---- called by the page -------------------------------------------------------------------------------- */

/* Milliseconds until the next call at the latest; -1: there is nothing to do; -2: the program has ended. */
static int turn(const TerminalEvent *event) {
    int wait = terminal.turn(terminal.context, event);
    if (wait == TERMINAL_DONE) return -2;
    return threads_wait() ? 0 : wait;
}

EXPORTED(begin) int web_begin(void) {
    return turn(NULL);
}

/* Kinds are those of terminal.h; a wheel's direction comes in `key`. */
EXPORTED(event) int web_event(int kind, int key, int column, int row) {
    TerminalEvent event = {.kind = (TerminalEventKind)kind, .column = column, .row = row};
    if (event.kind == TERMINAL_KEY) event.key = (Key)key;
    if (event.kind == TERMINAL_WHEEL) event.direction = key;
    return turn(&event);
}

/* Time has passed: what was begun goes on, or is done. */
EXPORTED(tick) int web_tick(void) {
    threads_run_one();
    return turn(&(TerminalEvent){.kind = TERMINAL_TIMEOUT});
}

EXPORTED(resize) void web_resize(int columns, int rows) {
    terminal.columns = columns;
    terminal.rows = rows;
}

/* The special key of this name (special_keys.def), 0: none. */
EXPORTED(key_named) int web_key_named(char *name) {
    static const char *const names[] = {
#define SPECIAL(id, name, shown) name,
#include "tui/draw/special_keys.def"
#undef SPECIAL
    };
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (!strcmp(names[i], name)) return SPECIAL_KEYS + 1 + i;
    return 0;
}

EXPORTED(allocate) void *web_allocate(size_t bytes) {
    return memory_new(bytes);
}
