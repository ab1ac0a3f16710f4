#include "ptx/messages.h"

#include <stdarg.h>

const char *ptx_line_begin(const PtxModule *module, int line) {
    const char *at = module->text, *end = module->text + module->length;
    for (int i = 1; i < line; i++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        if (!next) return end;
        at = next + 1;
    }
    return at;
}

static void show_line(const PtxModule *module, const char *begin, Error *error) {
    const char *end = module->text + module->length, *stop = memchr(begin, '\n', (size_t)(end - begin));
    error_show_line(error, begin, (size_t)((stop ? stop : end) - begin));
}

bool ptx_fail_at(const PtxModule *module, const char *place, int line, int column, Error *error,
                 const char *format, ...) {
    if (!error) return false;
    char message[sizeof error->message];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    error_set_at(error, module->file, line, column, "%s", message);
    if (line < 1 || column < 1) return false;
    bool inside = place && place >= module->text && place <= module->text + module->length;
    if (!place || inside)
        show_line(module, place ? place - (column - 1) : ptx_line_begin(module, line), error);
    return false;
}
