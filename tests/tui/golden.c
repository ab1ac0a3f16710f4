#include "golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

enum { GOLDEN_LIMIT_BYTES = 8 << 20 };

static void rewrite(const char *path, const Text *text) {
    FILE *file = fopen(path, "wb");
    if (!file) fail_msg("cannot write %s", path);
    fwrite(text_string(text), 1, text->length, file);
    fclose(file);
}

static void print_difference(const char *path, const char *expected, const char *got) {
    int line = 1;
    while (*expected || *got) {
        size_t a = strcspn(expected, "\n"), b = strcspn(got, "\n");
        if (a != b || memcmp(expected, got, a) != 0) {
            print_error("%s:%d\n  expected: %.*s\n  got:      %.*s\n", path, line, (int)a, expected, (int)b,
                        got);
            return;
        }
        expected += a + (expected[a] == '\n');
        got += b + (got[b] == '\n');
        line++;
    }
}

void golden_check(const char *name, const Text *text) {
    char path[256];
    snprintf(path, sizeof path, "tests/tui/golden/%s.txt", name);
    golden_check_file(path, text);
}

void golden_check_canvas(const char *name, Canvas *canvas) {
    Text text = {0};
    canvas_to_text(canvas, &text);
    canvas_free(canvas);
    golden_check(name, &text);
    text_done(&text);
}

void golden_check_file(const char *path, const Text *text) {
    char *expected;
    size_t length;
    Error error = {0};
    if (getenv("REDVIZ_REWRITE")) {
        rewrite(path, text);
        return;
    }
    if (!text_read_file(path, GOLDEN_LIMIT_BYTES, &expected, &length, &error))
        fail_msg("%s: %s; REDVIZ_REWRITE=1 writes it", path, error.message);
    bool same = length == text->length && !memcmp(expected, text_string(text), length);
    if (!same) print_difference(path, expected, text_string(text));
    free(expected);
    if (!same) fail_msg("%s differs; REDVIZ_REWRITE=1 rewrites it, git diff shows what changed", path);
}

void golden_add_roles(const Canvas *canvas, Text *out) {
    static const char *const names[ROLE_COUNT] = {
#define ROLE(id, ...) [ROLE_##id] = #id,
#include "tui/draw/roles.def"
#undef ROLE
    };
    for (int row = 0; row < canvas->rows; row++) {
        for (int column = 0; column < canvas->columns;) {
            const Cell *cell = &canvas->cells[row * canvas->columns + column];
            int begin = column;
            while (column < canvas->columns) {
                const Cell *other = &canvas->cells[row * canvas->columns + column];
                if (other->role != cell->role || other->reverse != cell->reverse) break;
                column++;
            }
            if (cell->role != ROLE_TEXT || cell->reverse)
                text_print(out, "%d:%d-%d %s%s\n", row, begin, column - 1, names[cell->role],
                           cell->reverse ? " reverse" : "");
        }
    }
}
