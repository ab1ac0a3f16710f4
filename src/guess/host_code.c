#include "guess/host_code.h"

#include "guess/host_text.h"
#include "plan/plan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct HostCode {
    HostText text;
    HostLaunch *launches;
    int count, capacity;
    int lookups; /* of names that the present expression may still need */
    Arena arena;
};

/* ---- launches ------------------------------------------------------------------------------------------ */

static const char *copy(HostCode *code, HostSpan span) {
    span = host_trim(&code->text, span);
    return arena_copy_text(&code->arena, code->text.text + span.begin, span.end - span.begin);
}

static const char *copy_item(HostCode *code, HostSpan list, int index) {
    HostSpan item;
    return host_list_item(&code->text, list, index, &item) ? copy(code, item) : "";
}

static void add_items(HostCode *code, HostLaunch *launch, HostSpan list) {
    HostSpan item;
    for (int i = 0; i < HOST_ARGUMENTS && host_list_item(&code->text, list, i, &item); i++)
        launch->items[launch->item_count++] = copy(code, item);
}

static int line_of(const HostText *text, size_t at) {
    int line = 1;
    for (size_t i = 0; i < at; i++) line += text->text[i] == '\n';
    return line;
}

/* The kernel whose name, with the arguments of its template, ends at `end`: space::k<float>, &k. */
static bool read_kernel(HostCode *code, size_t end, HostLaunch *launch) {
    const HostText *text = &code->text;
    end = host_back_over_blanks(text, end);
    if (end && text->text[end - 1] == '>') {
        size_t open = host_open_angle(text, end);
        if (open == SIZE_MAX) return false;
        if (end > open + 2) launch->arguments = copy(code, (HostSpan){open + 1, end - 1});
        end = host_back_over_blanks(text, open);
    }
    size_t name = end;
    while (name > 0 && host_is_word(text->text[name - 1])) name--;
    launch->kernel = copy(code, (HostSpan){name, end});
    return name < end;
}

/* kernel<<<grid, block, shared>>>(arguments) */
static void read_launch(HostCode *code, size_t at) {
    const HostText *text = &code->text;
    HostLaunch launch = {.line = line_of(text, at)};
    size_t close = at + 3;
    while (close < text->length && text->text[close] != ';' && strncmp(text->text + close, ">>>", 3) != 0)
        close = strchr("({[", text->text[close]) ? host_skip_brackets(text, close, text->length) : close + 1;
    size_t open = close + 3 < text->length ? host_skip_blanks(text, close + 3, text->length) : text->length;
    if (text->text[close] != '>' || text->text[open] != '(' || !read_kernel(code, at, &launch)) return;
    HostSpan list = {at + 3, close};
    launch.grid = copy_item(code, list, 0);
    launch.block = copy_item(code, list, 1);
    launch.shared = copy_item(code, list, 2);
    add_items(code, &launch, (HostSpan){open + 1, host_skip_brackets(text, open, text->length) - 1});
    array_push(code->launches, code->count, code->capacity, launch);
}

/* `void *NAME[] = {&a, &b}`, the last one before `at`. */
static bool find_pointers(const HostText *text, const char *name, size_t at, HostSpan *list) {
    bool found = false;
    for (size_t i = 0; (i = host_text_find(text, name, i)) < at; i++) {
        size_t next = host_skip_blanks(text, i + strlen(name), text->length);
        if (text->text[next] != '[') continue;
        next = host_skip_blanks(text, host_skip_brackets(text, next, text->length), text->length);
        if (text->text[next] != '=') continue;
        next = host_skip_blanks(text, next + 1, text->length);
        if (text->text[next] != '{') continue;
        *list = (HostSpan){next + 1, host_skip_brackets(text, next, text->length) - 1};
        found = true;
    }
    return found;
}

/* cudaLaunchKernel((void *)kernel, grid, block, arguments, shared), and its cooperative twin */
static void read_call(HostCode *code, size_t at, size_t open, bool is_cooperative) {
    const HostText *text = &code->text;
    HostSpan list = {open + 1, host_skip_brackets(text, open, text->length) - 1}, kernel, pointers, item;
    HostLaunch launch = {.line = line_of(text, at), .is_cooperative = is_cooperative};
    if (!host_list_item(text, list, 0, &kernel)) return;
    while (kernel.end > kernel.begin && text->text[kernel.end - 1] == ')')
        kernel.end--; /* (void *)(k<1, 2>) */
    if (!read_kernel(code, kernel.end, &launch)) return;
    launch.grid = copy_item(code, list, 1);
    launch.block = copy_item(code, list, 2);
    launch.shared = copy_item(code, list, 4);
    if (find_pointers(text, copy_item(code, list, 3), at, &pointers))
        for (int i = 0; i < HOST_ARGUMENTS && host_list_item(text, pointers, i, &item); i++) {
            const char *address = memchr(text->text + item.begin, '&', item.end - item.begin);
            if (address) item.begin = (size_t)(address - text->text) + 1;
            launch.items[launch.item_count++] = copy(code, item);
        }
    array_push(code->launches, code->count, code->capacity, launch);
}

static void find_launches(HostCode *code) {
    const HostText *text = &code->text;
    static const char *const calls[] = {"cudaLaunchKernel", "cudaLaunchCooperativeKernel"};
    enum { MOST = 256 };
    for (size_t at = 0; at < text->length && code->count < MOST; at++) {
        if (!strncmp(text->text + at, "<<<", 3) && !host_is_in_directive(text, at)) {
            read_launch(code, at);
            at += 2;
        }
        if (text->text[at] != 'c' || (at && host_is_word(text->text[at - 1]))) continue;
        HostSpan word = host_word(text, at);
        size_t open = host_skip_blanks(text, word.end, text->length);
        for (int i = 0; i < 2; i++)
            if (host_span_is(text, word, calls[i]) && text->text[open] == '(')
                read_call(code, at, open, i == 1);
    }
}

HostCode *host_code_read(const char *text) {
    HostCode *code = memory_new(sizeof *code);
    host_text_read(&code->text, text);
    find_launches(code);
    return code;
}

void host_code_free(HostCode *code) {
    if (!code) return;
    host_text_done(&code->text);
    free(code->launches);
    arena_done(&code->arena);
    free(code);
}

int host_code_launch_count(const HostCode *code) {
    return code->count;
}

const HostLaunch *host_code_launch(const HostCode *code, int index) {
    return &code->launches[index];
}

bool host_code_has_main(const HostCode *code) {
    for (int i = 0; i < code->text.function_count; i++)
        if (host_span_is(&code->text, code->text.functions[i].name, "main")) return true;
    return false;
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

/* Where the statement that `at` stands in begins. */
static size_t statement_of(const HostText *text, size_t at) {
    while (at > 0 && !strchr(";{}", text->text[at - 1])) at--;
    return at;
}

/* One of these words stands in [begin, end). */
static bool has_word(const HostText *text, size_t begin, size_t end, const char *const *words, int count) {
    for (size_t at = begin; at < end; at++) {
        HostSpan word = host_word(text, at);
        for (int i = 0; i < count; i++)
            if (host_span_is(text, word, words[i])) return true;
        if (word.end > at) at = word.end - 1;
    }
    return false;
}

static bool is_kernel(const HostText *text, const HostFunction *function) {
    static const char *const words[] = {"__global__"};
    return has_word(text, statement_of(text, function->name.begin), function->name.begin, words, 1);
}

size_t host_code_place(const HostCode *code, const char *kernel) {
    const HostText *text = &code->text;
    for (int i = 0; i < text->function_count; i++)
        if (host_span_is(text, text->functions[i].name, kernel) && is_kernel(text, &text->functions[i]))
            return text->functions[i].name.begin;
    return host_text_find(text, kernel, 0);
}

bool host_code_parameter(const HostCode *code, const char *kernel, int index, int count, Text *type,
                         Text *name) {
    const HostText *text = &code->text;
    for (int i = 0; i < text->function_count; i++) {
        const HostFunction *function = &text->functions[i];
        HostSpan item, beyond;
        if (!host_span_is(text, function->name, kernel) || !is_kernel(text, function) ||
            !host_list_item(text, function->parameters, index, &item) ||
            !host_list_item(text, function->parameters, count - 1, &beyond) ||
            host_list_item(text, function->parameters, count, &beyond))
            continue;
        for (size_t at = item.begin; at < item.end; at++) /* what follows is its default, or its length */
            if (strchr("=[", text->text[at])) item.end = host_back_over_blanks(text, at);
        size_t begin = item.end;
        while (begin > item.begin && host_is_word(text->text[begin - 1])) begin--;
        text_add_bytes(type, text->text + item.begin, begin - item.begin);
        text_add_bytes(name, text->text + begin, item.end - begin);
        return begin > item.begin && begin < item.end;
    }
    return false;
}

/* The namespaces around a place, "a::b::". */
static void add_namespaces(const HostText *text, size_t at, Text *out) {
    for (size_t i = 0; (i = host_text_find(text, "namespace", i)) < at; i++) {
        size_t begin = host_skip_blanks(text, i + strlen("namespace"), at), end = begin;
        while (end < at && (host_is_word(text->text[end]) || text->text[end] == ':')) end++;
        size_t open = host_skip_blanks(text, end, at);
        if (text->text[open] == '{' && end > begin && host_skip_brackets(text, open, text->length) > at)
            text_print(out, "%.*s::", (int)(end - begin), text->text + begin);
    }
}

static void add_argument(const HostText *text, HostSpan item, Text *out) {
    HostSpan first = host_word(text, item.begin);
    const char *equal = memchr(text->text + item.begin, '=', item.end - item.begin);
    if (equal) {
        HostSpan value = host_trim(text, (HostSpan){(size_t)(equal - text->text) + 1, item.end});
        text_add_bytes(out, text->text + value.begin, value.end - value.begin);
        return;
    }
    bool is_type = host_span_is(text, first, "typename") || host_span_is(text, first, "class");
    text_add(out, is_type ? "float" : host_span_is(text, first, "bool") ? "true" : "256");
}

bool host_code_template(const HostCode *code, Text *out) {
    const HostText *text = &code->text;
    for (int i = 0; i < text->function_count; i++) {
        const HostFunction *function = &text->functions[i];
        HostSpan item;
        if (function->head.begin == function->head.end || !is_kernel(text, function)) continue;
        add_namespaces(text, function->name.begin, out);
        text_add_bytes(out, text->text + function->name.begin, function->name.end - function->name.begin);
        for (int k = 0; host_list_item(text, function->head, k, &item); k++) {
            text_add(out, k ? ", " : "<");
            add_argument(text, item, out);
        }
        text_add(out, ">");
        return true;
    }
    return false;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

enum { DEEPEST = 8, MOST_LOOKUPS = 64 };

static bool evaluate(HostCode *code, const char *text, size_t length, const ExpressionName *n, int depth,
                     ExpressionValue *value);

/* The name, which stands in [at, end), is assigned, counted or passed by its address elsewhere. */
static bool is_changed(const HostText *text, size_t at, size_t end) {
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(end - at), text->text + at);
    for (size_t other = 0; (other = host_text_find(text, name, other)) != SIZE_MAX; other++) {
        size_t before = host_back_over_blanks(text, other),
               next = host_skip_blanks(text, other + (end - at), text->length);
        char last = before ? text->text[before - 1] : 0, first = text->text[next];
        char second = first ? text->text[next + 1] : 0;
        bool is_assigned = (first == '=' && second != '=') ||
                           (first && strchr("+-*/%&|^<>", first) && (second == '=' || second == first) &&
                            !(strchr("<>", first) && second == '=') && !strchr("&|", second));
        if (other != at && (is_assigned || last == '&' ||
                            (before > 1 && strchr("+-", last) && text->text[before - 2] == last)))
            return true;
    }
    return false;
}

/* What a definition of a name gives it: #define NAME VALUE, const int NAME = VALUE; or int NAME = VALUE, if
 * it is the only assignment. Empty: it is none, or none that stays. */
static HostSpan value_of(const HostText *text, size_t at, size_t end) {
    static const char *const fixed[] = {"const", "constexpr"};
    size_t begin = statement_of(text, at), before = host_back_over_blanks(text, at),
           next = host_skip_blanks(text, end, text->length), stop = next;
    HostSpan nothing = {at, at};
    if (host_is_in_directive(text, at)) {
        if (before < 6 || memcmp(text->text + before - 6, "define", 6) != 0 || text->text[end] == '(')
            return nothing;
        return host_trim(text, (HostSpan){end, end + strcspn(text->text + end, "\n")});
    }
    if (text->text[next] != '=' || text->text[next + 1] == '=') return nothing;
    if (!has_word(text, begin, at, fixed, 2) &&
        (host_skip_blanks(text, begin, at) == at || is_changed(text, at, end)))
        return nothing;
    while (stop < text->length && !strchr(";,", text->text[stop]))
        stop = strchr("({[", text->text[stop]) ? host_skip_brackets(text, stop, text->length) : stop + 1;
    return host_trim(text, (HostSpan){next + 1, stop});
}

/* The number that a name stands for; several definitions must agree. */
static bool find_number(HostCode *code, const char *name, const ExpressionName *n, int depth,
                        ExpressionValue *value) {
    const HostText *text = &code->text;
    bool found = false;
    if (n && !strcmp(n->name, name)) {
        *value = n->value;
        return true;
    }
    if (code->lookups-- <= 0) return false;
    for (size_t at = 0; (at = host_text_find(text, name, at)) != SIZE_MAX; at++) {
        HostSpan span = value_of(text, at, at + strlen(name));
        ExpressionValue other;
        if (span.begin == span.end) continue;
        if (!evaluate(code, text->text + span.begin, span.end - span.begin, n, depth, &other)) return false;
        if (found && other.number != value->number) return false;
        *value = other;
        found = true;
    }
    return found;
}

/* sizeof(TYPE), whose ( stands at *at; 0: it is of something else. */
static int size_of(const char *text, size_t length, size_t *at) {
    size_t close = *at;
    while (close < length && text[close] != ')') close++;
    char name[32] = "";
    PtxType type;
    for (size_t i = *at + 1, k = 0; i < close && k + 1 < sizeof name; i++)
        if (!isspace((unsigned char)text[i])) name[k++] = text[i];
    *at = close + 1;
    return !strcmp(name, "unsigned") ? 4 : plan_type_parse(name, &type) ? ptx_type_bytes(type) : 0;
}

/* Names become numbers; the rest is an expression of --args. */
static bool evaluate(HostCode *code, const char *text, size_t length, const ExpressionName *n, int depth,
                     ExpressionValue *value) {
    Text numbers = {0};
    bool good = length > 0 && depth < DEEPEST;
    for (size_t at = 0, end; good && at < length; at = end) {
        bool is_name = (isalpha((unsigned char)text[at]) || text[at] == '_') &&
                       (!at || !isalnum((unsigned char)text[at - 1]));
        for (end = at + 1; is_name && end < length && host_is_word(text[end]);) end++;
        if (!is_name) {
            text_add_bytes(&numbers, text + at, 1);
            continue;
        }
        char name[128];
        ExpressionValue number;
        snprintf(name, sizeof name, "%.*s", (int)(end - at), text + at);
        if (!strcmp(name, "sizeof") && end < length && text[end] == '(') {
            number = expression_integer(size_of(text, length, &end));
            good = number.integer > 0;
        } else {
            good = find_number(code, name, n, depth + 1, &number);
        }
        if (good) text_print(&numbers, number.is_float ? "(%.17g)" : "(%.0f)", number.number);
    }
    good = good && expression_evaluate(text_string(&numbers), numbers.length, NULL, 0, value, NULL);
    text_done(&numbers);
    return good;
}

bool host_code_number(HostCode *code, const char *expression, const ExpressionName *n,
                      ExpressionValue *value) {
    code->lookups = MOST_LOOKUPS;
    return evaluate(code, expression, strlen(expression), n, 0, value);
}

/* The list of a dim3: dim3(2, 3), or of a name that is defined as one, `dim3 block(2, 3)`, once. */
static bool find_dim3(const HostCode *code, const char *expression, HostSpan *list) {
    static const char *const words[] = {"dim3"};
    const HostText *text = &code->text;
    bool found = false;
    for (size_t at = 0; *expression && (at = host_text_find(text, expression, at)) != SIZE_MAX; at++) {
        size_t open = host_skip_blanks(text, at + strlen(expression), text->length);
        if (!text->text[open] || !strchr("({", text->text[open]) ||
            !has_word(text, statement_of(text, at), at, words, 1))
            continue;
        if (found) return false;
        *list = (HostSpan){open + 1, host_skip_brackets(text, open, text->length) - 1};
        found = true;
    }
    return found;
}

bool host_code_size(HostCode *code, const char *expression, const ExpressionName *n, uint32_t size[3]) {
    const HostText *text = &code->text;
    const char *numbers = NULL;
    HostText alone = {0};
    HostSpan list = {0, 0}, item;
    bool is_dim3 = !strncmp(expression, "dim3", 4) && strchr("({ ", expression[4]) && expression[4],
         good = true;
    code->lookups = MOST_LOOKUPS;
    size[0] = size[1] = size[2] = 1;
    if (is_dim3) {
        numbers = expression + strcspn(expression, "({");
        host_text_read(&alone, numbers);
        text = &alone;
        list = (HostSpan){1, alone.length ? alone.length - 1 : 1};
    } else {
        is_dim3 = find_dim3(code, expression, &list);
    }
    for (int i = 0; i < 3 && good; i++) {
        ExpressionValue value;
        const char *begin = expression;
        size_t length = strlen(expression);
        if (!is_dim3 && i) break;
        if (is_dim3) {
            if (!host_list_item(text, list, i, &item)) break;
            begin = text->text + item.begin;
            length = item.end - item.begin;
        }
        good = evaluate(code, begin, length, n, 0, &value) && value.number >= 1 && value.number <= UINT32_MAX;
        if (good) size[i] = (uint32_t)value.number;
    }
    host_text_done(&alone);
    return good;
}

uint64_t host_code_length(HostCode *code, const char *name) {
    static const char *const others[] = {"__shared__", "extern", "return", "delete"};
    const HostText *text = &code->text;
    uint64_t length = 0;
    code->lookups = MOST_LOOKUPS;
    for (size_t at = 0; *name && (at = host_text_find(text, name, at)) != SIZE_MAX; at++) {
        const HostFunction *function = host_text_function_at(text, at);
        size_t open = host_skip_blanks(text, at + strlen(name), text->length), begin = statement_of(text, at),
               before = host_back_over_blanks(text, at);
        bool is_declared = text->text[open] == '[' && before > begin &&
                           (host_is_word(text->text[before - 1]) || text->text[before - 1] == ',');
        if (!is_declared || (function && is_kernel(text, function)) || has_word(text, begin, at, others, 4))
            continue;
        size_t close = host_skip_brackets(text, open, text->length);
        char next = text->text[host_skip_blanks(text, close, text->length)];
        ExpressionValue value;
        if (!next || !strchr(";,=", next)) continue;
        if (length || !evaluate(code, text->text + open + 1, close - open - 2, NULL, 0, &value) ||
            value.is_float || value.integer < 1)
            return 0;
        length = (uint64_t)value.integer;
    }
    return length;
}
