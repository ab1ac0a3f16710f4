/* The door: a file is read, and the expressions of its launches are evaluated (host_value.c). */
#include "guess/host_code.h"

#include "guess/host_launch.h"

#include <ctype.h>
#include <stdlib.h>

static HostNumber value_at(HostCode *code, const HostLaunch *launch, const char *expression) {
    HostSpan span;
    if (!host_place_of(launch, expression, &span)) return (HostNumber){0};
    return host_value(&code->values, span, launch->at);
}

HostCode *host_code_read(const char *text) {
    HostCode *code = memory_new(sizeof *code);
    host_text_read(&code->text, text);
    code->values.text = &code->text;
    host_find_launches(code);
    return code;
}

void host_code_free(HostCode *code) {
    if (!code) return;
    host_text_done(&code->text);
    free(code->launches);
    free(code->fixed);
    arena_done(&code->arena);
    free(code);
}

int host_code_launch_count(const HostCode *code) {
    return code->count;
}

const HostLaunch *host_code_launch(const HostCode *code, int index) {
    return &code->launches[index];
}

/* ---- their order ---------------------------------------------------------------------------------------- */

/* `if (CONDITION)` ends before `end`, and what is known of CONDITION says yes. */
static bool is_taken(HostCode *code, size_t end) {
    const HostText *text = &code->text;
    size_t close = host_back_over_blanks(text, end), open = close;
    int depth = 0;
    if (!close || text->text[close - 1] != ')') return false;
    while (open > 0) {
        open--;
        depth += (text->text[open] == ')') - (text->text[open] == '(');
        if (!depth) break;
    }
    size_t word = host_back_over_blanks(text, open);
    if (word < 2 || memcmp(text->text + word - 2, "if", 2) != 0 ||
        (word > 2 && host_is_word(text->text[word - 3])))
        return false;
    HostNumber value = host_value(&code->values, (HostSpan){open + 1, close - 1}, open);
    return value.is_known && !value.is_free && value.number != 0;
}

/* The kernel's name begins a statement, or follows a condition that holds. */
static bool begins_statement(HostCode *code, size_t at) {
    const HostText *text = &code->text;
    size_t begin = host_back_over_blanks(text, at);
    if (begin && text->text[begin - 1] == '>') {
        size_t open = host_open_angle(text, begin);
        if (open == SIZE_MAX) return false;
        begin = host_back_over_blanks(text, open);
    }
    while (begin > 0 && (host_is_word(text->text[begin - 1]) || text->text[begin - 1] == ':')) begin--;
    begin = host_back_over_blanks(text, begin);
    return begin > 0 && (strchr(";{}", text->text[begin - 1]) || is_taken(code, begin));
}

bool host_code_follows(HostCode *code, const HostLaunch *launch, const HostLaunch *later) {
    enum { DEEPEST = 16 };
    const HostText *text = &code->text;
    bool taken[DEEPEST] = {false}; /* the open braces are of conditions that hold */
    int depth = 0, others = 0;
    if (later->at <= launch->at || !begins_statement(code, later->at)) return false;
    for (size_t at = launch->at; at < later->at; at++) {
        if (text->text[at] == '{' && depth == DEEPEST) return false;
        if (text->text[at] == '{') others += !(taken[depth++] = is_taken(code, at));
        if (text->text[at] == '}' && depth-- == 0) return false;
        if (text->text[at] == '}') others -= !taken[depth];
    }
    return others == 0;
}

bool host_code_overwrites(const HostCode *code, size_t begin, size_t end, const char *argument) {
    const HostText *text = &code->text;
    static const char call[] = "cudaMem";
    for (size_t at = begin; at + sizeof call < end; at++) {
        if (strncmp(text->text + at, call, sizeof call - 1) != 0) continue;
        size_t open = at;
        while (open < end && host_is_word(text->text[open])) open++;
        HostSpan list = {open + 1, host_skip_brackets(text, open, text->length) - 1}, item;
        if (text->text[open] != '(' || !host_list_item(text, list, 0, &item)) continue;
        item = host_trim(text, item);
        if (host_span_is(text, item, argument)) return true;
    }
    return false;
}

/* ---- values --------------------------------------------------------------------------------------------- */

void host_code_set_n(HostCode *code, uint64_t n) {
    code->values.free_size = n;
}

int host_code_free_sizes(HostCode *code, const HostLaunch *launch) {
    size_t met[HOST_ROOTS];
    int count = 0;
    for (int i = 0; i < launch->item_count; i++) {
        value_at(code, launch, launch->items[i]);
        for (int k = 0; k < code->values.free_count; k++) {
            int m = 0;
            while (m < count && met[m] != code->values.free_places[k]) m++;
            if (m == count && count < HOST_ROOTS) met[count++] = code->values.free_places[k];
        }
    }
    return count;
}

/* The free sizes that the last evaluation met are among `places`: any of them, or all. */
static bool are_among(const HostValues *values, const size_t *places, int count, bool all) {
    for (int i = 0; i < values->free_count; i++) {
        int k = 0;
        while (k < count && places[k] != values->free_places[i]) k++;
        if ((k < count) != all) return !all;
    }
    return all;
}

bool host_code_decides_grid(HostCode *code, const HostLaunch *launch, const char *expression) {
    uint32_t grid[3];
    size_t places[HOST_ROOTS];
    value_at(code, launch, expression);
    int count = code->values.free_count;
    memcpy(places, code->values.free_places, sizeof places);
    return host_code_evaluate_size(code, launch, launch->grid, grid) &&
           are_among(&code->values, places, count, false);
}

bool host_code_knows_size(HostCode *code, const HostLaunch *launch, const char *expression) {
    HostValues *values = &code->values;
    uint32_t size[3];
    size_t places[4 * HOST_ROOTS];
    int count = 0;
    for (int i = 0; i < launch->item_count; i++) {
        bool is_pointer = host_code_pointer(code, launch, i).bytes.is_known;
        if (!is_pointer) value_at(code, launch, launch->items[i]);
        for (int k = 0; k < values->free_count && count < 4 * HOST_ROOTS; k++)
            places[count++] = values->free_places[k];
    }
    return host_code_evaluate_size(code, launch, expression, size) && are_among(values, places, count, true);
}

HostNumber host_code_evaluate(HostCode *code, const HostLaunch *launch, const char *expression) {
    return value_at(code, launch, expression);
}

/* The list of a dim3: of its constructor, or of the name's definition. */
static bool find_dim3(HostCode *code, HostSpan span, size_t *at, HostSpan *list) {
    HostText *text = &code->text;
    for (int depth = 0; depth < 8; depth++) {
        span = host_trim(text, span);
        HostSpan word = host_word(text, span.begin);
        size_t open = host_skip_blanks(text, word.end, span.end);
        if (host_span_is(text, word, "dim3") && open < span.end && strchr("({", text->text[open])) {
            *list = (HostSpan){open + 1, host_skip_brackets(text, open, span.end) - 1};
            return true;
        }
        if (text->text[span.begin] == '{') {
            *list = (HostSpan){span.begin + 1, host_skip_brackets(text, span.begin, span.end) - 1};
            return true;
        }
        if (word.end != span.end || word.end == word.begin) return false;
        HostDefinition definition = host_text_define(text, word, *at);
        HostSpan arguments, angles;
        if (definition.kind == HOST_VALUE && definition.is_called) {
            *list = definition.value;
            *at = definition.at;
            return true;
        }
        if (definition.kind == HOST_PARAMETER) {
            if (!host_text_find_call(text, definition.function, &arguments, &angles, at) ||
                !host_list_item(text, arguments, definition.index, &span))
                return false;
        } else if (definition.kind == HOST_VALUE || definition.kind == HOST_MACRO) {
            span = definition.value;
            *at = definition.at;
        } else {
            return false;
        }
    }
    return false;
}

bool host_code_set_block(HostCode *code, const HostLaunch *launch, uint64_t threads) {
    enum { TRIED = 96 };
    HostValues *values = &code->values;
    uint64_t before = values->free_size;
    uint32_t block[3], grid[3];
    values->free_size = TRIED;
    bool is_free = !values->known_place && host_code_evaluate_size(code, launch, launch->block, block) &&
                   values->free_count == 1 && block[0] == TRIED && block[1] == 1 && block[2] == 1;
    size_t place = values->free_places[0];
    is_free = is_free && host_code_evaluate_size(code, launch, launch->grid, grid) &&
              are_among(values, &place, 1, false);
    for (int i = 0; i < launch->item_count && is_free; i++) { /* it is a number of elements, too */
        if (host_code_pointer(code, launch, i).bytes.is_known) continue;
        value_at(code, launch, launch->items[i]);
        is_free = !are_among(values, &place, 1, false);
    }
    values->free_size = before;
    if (is_free) values->known_place = place;
    if (is_free) values->known_size = threads;
    return is_free;
}

bool host_code_evaluate_size(HostCode *code, const HostLaunch *launch, const char *expression,
                             uint32_t size[3]) {
    HostSpan span, list, item;
    size_t at = launch->at;
    if (!host_place_of(launch, expression, &span)) return false;
    size[0] = size[1] = size[2] = 1;
    bool is_dim3 = find_dim3(code, span, &at, &list);
    if (!is_dim3) list = span;
    HostValues *values = &code->values;
    size_t places[HOST_ROOTS] = {0};
    int count = 0; /* of all dimensions */
    for (int i = 0; i < (is_dim3 ? 3 : 1); i++) {
        if (is_dim3 && !host_list_item(&code->text, list, i, &item)) break;
        HostNumber value = host_value(values, is_dim3 ? item : span, is_dim3 ? at : launch->at);
        for (int k = 0; k < values->free_count && count < HOST_ROOTS; k++)
            places[count++] = values->free_places[k];
        if (!value.is_known || value.number < 1 || value.number > UINT32_MAX) return false;
        size[i] = (uint32_t)(value.is_float ? (int64_t)value.number : value.integer);
    }
    memcpy(values->free_places, places, (size_t)count * sizeof *places);
    values->free_count = count;
    return true;
}
