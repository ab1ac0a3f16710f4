/* Host text: a CUDA C++ file as the reader of host code sees it: without comments, strings and what #if 0 hides, with
 * its functions and the places where names are defined. Offsets are those of the file. Private to src/compile. */
#ifndef GUESS_HOST_TEXT_H
#define GUESS_HOST_TEXT_H

#include "base/memory.h"
#include "base/text.h"
#include "guess/host_code.h"

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
    uint64_t budget; /* characters that may still be looked at */
} HostText;

typedef enum HostDefinitionKind {
    HOST_UNDEFINED,
    HOST_VALUE,     /* name = VALUE, name(VALUE), name{VALUE} */
    HOST_RANGE,     /* for (name : VALUE) */
    HOST_ARRAY,     /* name[VALUE], name[VALUE] = PARAMETERS */
    HOST_MACRO,     /* #define name VALUE, or #define name(parameters) VALUE */
    HOST_PARAMETER, /* number `index` of `function` */
    HOST_TEMPLATE   /* the same, of its template */
} HostDefinitionKind;

typedef struct HostDefinition {
    HostDefinitionKind kind;
    size_t at; /* of the name */
    HostSpan value, parameters;
    bool is_called; /* name(VALUE): a constructor */
    const HostFunction *function;
    int index;
} HostDefinition;

void host_text_read(HostText *text, const char *file);
void host_text_done(HostText *text);

bool host_is_word(int c);
HostSpan host_trim(const HostText *text, HostSpan span);
bool host_span_is(const HostText *text, HostSpan span, const char *word);
bool host_spans_equal(const HostText *text, HostSpan a, HostSpan b);
/* The identifier that begins at `at`; empty: none does. */
HostSpan host_word(const HostText *text, size_t at);
/* After the bracket that closes the one at `at`. */
size_t host_skip_brackets(const HostText *text, size_t at, size_t end);
size_t host_skip_blanks(const HostText *text, size_t at, size_t end);
/* After the > that closes the < at `at`; `at`: none does. */
size_t host_skip_angles(const HostText *text, size_t at, size_t end);
/* Part `index` of a list with commas; false: there are fewer. */
bool host_list_item(const HostText *text, HostSpan list, int index, HostSpan *item);
/* The last word of a parameter's declaration that is no default: its name, or its type where it has none. */
HostSpan host_declared_name(const HostText *text, HostSpan item);
/* The place after the last character before `at` that is not blank. */
size_t host_back_over_blanks(const HostText *text, size_t at);
/* The < of the > before `at`, searched backwards; SIZE_MAX: none. */
size_t host_open_angle(const HostText *text, size_t at);
bool host_is_in_directive(const HostText *text, size_t at);
/* The function whose body `at` lies in; NULL: none. */
const HostFunction *host_text_function_at(const HostText *text, size_t at);
const HostFunction *host_text_find_function(const HostText *text, HostSpan name);
/* What `name` means at `at`. */
HostDefinition host_text_define(HostText *text, HostSpan name, size_t at);
/* `first` stands under a condition that is over at `use`: the next definition that does, as in the else. False: there is none. */
bool host_text_find_alternative(HostText *text, HostSpan name, const HostDefinition *first, size_t use,
                                HostDefinition *other);
/* The next place from `from` on where `name` stands as a word of its own; SIZE_MAX: none. */
size_t host_text_find(HostText *text, HostSpan name, size_t from, size_t end);
/* The first call of the function: what it is given, and of its template. False: there is none. */
bool host_text_find_call(HostText *text, const HostFunction *function, HostSpan *arguments, HostSpan *angles,
                         size_t *at);

#endif
