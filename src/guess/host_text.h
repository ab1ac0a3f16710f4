/* Host text: a CUDA C++ file without comments, strings and what #if 0 hides, with its functions. Offsets are
 * those of the file. Private to src/guess. */
#ifndef GUESS_HOST_TEXT_H
#define GUESS_HOST_TEXT_H

#include "base/memory.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HostSpan { /* text[begin .. end - 1] */
    size_t begin, end;
} HostSpan;

typedef struct HostFunction {
    HostSpan name, parameters, body; /* without the brackets */
    HostSpan head;                   /* the parameters of its template; empty: it is none */
} HostFunction;

typedef struct HostText {
    char *text;
    size_t length;
    HostFunction *functions;
    int function_count, function_capacity;
} HostText;

void host_text_read(HostText *text, const char *file);
void host_text_done(HostText *text);

bool host_is_word(int c);
HostSpan host_trim(const HostText *text, HostSpan span);
bool host_span_is(const HostText *text, HostSpan span, const char *word);
/* The identifier that begins at `at`; empty: none does. */
HostSpan host_word(const HostText *text, size_t at);
/* After the bracket that closes the one at `at`. */
size_t host_skip_brackets(const HostText *text, size_t at, size_t end);
size_t host_skip_blanks(const HostText *text, size_t at, size_t end);
/* Part `index` of a list with commas; false: there are fewer. */
bool host_list_item(const HostText *text, HostSpan list, int index, HostSpan *item);
/* The place after the last character before `at` that is not blank. */
size_t host_back_over_blanks(const HostText *text, size_t at);
/* The < of the > before `at`, searched backwards; SIZE_MAX: none. */
size_t host_open_angle(const HostText *text, size_t at);
bool host_is_in_directive(const HostText *text, size_t at);
/* The function whose body `at` lies in; NULL: none. */
const HostFunction *host_text_function_at(const HostText *text, size_t at);
/* The next place from `from` on where `word` stands by itself; SIZE_MAX: none. */
size_t host_text_find(const HostText *text, const char *word, size_t from);

#endif
