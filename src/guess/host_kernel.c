/* Kernels as the file defines them: where, with which bounds, instances and sizes of blocks; and which
 * numbers they are compiled with. */
#include "guess/host_deduce.h"
#include "guess/host_launch.h"

#include <ctype.h>
#include <string.h>

/* BLOCK_SIZE, threadsPerBlock, TPB; not NUM_BLOCKS. */
static bool names_block_size(const HostText *text, HostSpan name) {
    static const char *const parts[] = {"block", "thread", "tpb"}, *const others[] = {"num_block", "numblock",
                                                                                      "nblock",    "blocks",
                                                                                      "grid",      "item",
                                                                                      "per_thread"};
    char lower[64];
    size_t length = name.end - name.begin;
    bool found = false;
    if (length >= sizeof lower) return false;
    for (size_t i = 0; i < length; i++) lower[i] = (char)tolower((unsigned char)text->text[name.begin + i]);
    lower[length] = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) found |= strstr(lower, parts[i]) != NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) found &= strstr(lower, others[i]) == NULL;
    return found;
}

/* WARP_SIZE, warpSize; not WARPS_PER_BLOCK. */
static bool names_warp_size(const HostText *text, HostSpan name) {
    char lower[64] = "";
    size_t length = 0;
    for (size_t i = name.begin; i < name.end && length + 1 < sizeof lower; i++)
        if (text->text[i] != '_') lower[length++] = (char)tolower((unsigned char)text->text[i]);
    return strstr(lower, "warpsize") != NULL;
}

void host_guess_argument(const HostText *text, HostSpan item, Text *out) {
    HostSpan first = host_word(text, item.begin), name = {item.end, item.end};
    for (size_t i = item.begin; i < item.end; i++)
        if (text->text[i] == '=') {
            HostSpan value = host_trim(text, (HostSpan){i + 1, item.end});
            text_add_bytes(out, text->text + value.begin, value.end - value.begin);
            return;
        }
    while (name.begin > item.begin && host_is_word(text->text[name.begin - 1])) name.begin--;
    if (host_span_is(text, first, "typename") || host_span_is(text, first, "class"))
        text_add(out, "float");
    else if (host_span_is(text, first, "bool"))
        text_add(out, "true");
    else
        text_add(out, names_warp_size(text, name) ? "32" : names_block_size(text, name) ? "256" : "4");
}

/* One namespace of the text, `namespace a::b {`, whose braces `at` lies in: the place behind its {; `end`: none. */
static size_t next_namespace(const HostText *text, size_t from, size_t at, HostSpan *name) {
    for (size_t i = from; i < at; i++) {
        HostSpan word = i && host_is_word(text->text[i - 1]) ? (HostSpan){i, i} : host_word(text, i);
        if (!host_span_is(text, word, "namespace")) continue;
        size_t begin = host_skip_blanks(text, word.end, at), end = begin;
        while (end < at && (host_is_word(text->text[end]) || text->text[end] == ':')) end++;
        size_t open = host_skip_blanks(text, end, at);
        if (open >= at || text->text[open] != '{' || host_skip_brackets(text, open, text->length) <= at)
            continue;
        *name = (HostSpan){begin, end};
        return open + 1;
    }
    return at;
}

/* "a::b::", which the name at `at` is in. */
static void add_namespaces(const HostText *text, size_t at, Text *out) {
    HostSpan name;
    for (size_t i = 0; (i = next_namespace(text, i, at, &name)) < at;) {
        if (name.end == name.begin) continue; /* a namespace without a name needs none */
        text_add_bytes(out, text->text + name.begin, name.end - name.begin);
        text_add(out, "::");
    }
}

/* Stands `mark` (__global__) before the function's name? */
static bool has_mark(const HostText *text, const HostFunction *function, const char *mark) {
    size_t begin = function->name.begin;
    while (begin > 0 && !strchr(";}{", text->text[begin - 1])) begin--;
    for (; begin < function->name.begin; begin++)
        if (!strncmp(text->text + begin, mark, strlen(mark))) return true;
    return false;
}

static bool is_of_device(const HostText *text, const HostFunction *function) {
    return has_mark(text, function, "__global__") || has_mark(text, function, "__device__");
}

/* The name that the definition around `at` defines: of `#define B (N / 2)`, `const int b = N / 2`. */
static HostSpan defined_around(const HostText *text, size_t at) {
    size_t begin = at, equal = at;
    while (begin > 0 && !strchr(";{}\n", text->text[begin - 1])) begin--;
    size_t word = host_skip_blanks(text, begin, at);
    if (text->text[word] == '#') {
        word = host_skip_blanks(text, word + 1, at);
        if (!host_span_is(text, host_word(text, word), "define")) return (HostSpan){at, at};
        HostSpan name = host_word(text, host_skip_blanks(text, word + 6, at));
        return name.begin < at ? name : (HostSpan){at, at};
    }
    while (equal > begin && text->text[equal - 1] != '=') equal--;
    if (equal == begin) return (HostSpan){at, at};
    size_t end = host_back_over_blanks(text, equal - 1);
    for (word = end; word > begin && host_is_word(text->text[word - 1]);) word--;
    return (HostSpan){word, end};
}

/* The kernels, or the arguments of their templates, are compiled with this value: `name`, defined at `at`. */
static bool is_compiled_in(HostCode *code, HostSpan name, size_t at, int depth) {
    enum { DEEPEST = 3 };
    HostText *text = &code->text;
    for (int i = 0; i < code->fixed_count; i++)
        if (code->fixed[i] == at) return true;
    if (host_text_function_at(text, at) && !host_is_in_directive(text, at)) return false;
    for (size_t i = 0; (i = host_text_find(text, name, i, text->length)) != SIZE_MAX; i++) {
        const HostFunction *function = host_text_function_at(text, i);
        if (function && is_of_device(text, function)) return true;
        if (function || depth == DEEPEST) continue;
        HostSpan next = defined_around(text, i);
        if (next.end > next.begin && next.begin != i && is_compiled_in(code, next, next.begin, depth + 1))
            return true;
    }
    return false;
}

bool host_is_compiled_in(HostCode *code, HostSpan name, size_t at) {
    return is_compiled_in(code, name, at, 0);
}

size_t host_code_place(const HostCode *code, const char *readable) {
    size_t bare = strcspn(readable, "<("), begin = bare;
    while (begin > 0 && host_is_word(readable[begin - 1])) begin--;
    for (int i = 0; i < code->text.function_count; i++) {
        HostSpan name = code->text.functions[i].name;
        if (name.end - name.begin == bare - begin &&
            !memcmp(code->text.text + name.begin, readable + begin, bare - begin))
            return name.begin;
    }
    return SIZE_MAX / 4;
}

uint64_t host_code_launch_bound(HostCode *code, const char *kernel) {
    HostText *text = &code->text;
    for (int i = 0; i < text->function_count; i++) {
        const HostFunction *function = &text->functions[i];
        if (!host_span_is(text, function->name, kernel)) continue;
        size_t begin = function->name.begin;
        while (begin > 0 && !strchr(";}{", text->text[begin - 1])) begin--;
        const char *bounds = strstr(text->text + begin, "__launch_bounds__");
        HostSpan item;
        if (!bounds || (size_t)(bounds - text->text) > function->name.begin) continue;
        size_t open = (size_t)(bounds - text->text) + 17;
        open = host_skip_blanks(text, open, text->length);
        if (text->text[open] != '(') continue;
        if (!host_list_item(text, (HostSpan){open + 1, host_skip_brackets(text, open, text->length) - 1}, 0,
                            &item))
            continue;
        HostNumber value = host_value(&code->values, item, function->name.begin);
        if (value.is_known && value.integer > 0 && value.integer <= 1024) return (uint64_t)value.integer;
    }
    return 0;
}

/* `x` of `const float *__restrict__ x`; empty: it has none. */
static HostSpan parameter_name(const HostText *text, HostSpan item) {
    HostSpan name = host_declared_name(text, item);
    return name.begin > item.begin ? name : (HostSpan){item.begin, item.begin};
}

/* Parameter `index` of this kernel, of those that have `count`; NULL: the file does not say. */
static const HostFunction *find_parameter(const HostText *text, const char *kernel, int index, int count,
                                          HostSpan *item) {
    for (int i = 0; i < text->function_count; i++) {
        const HostFunction *function = &text->functions[i];
        HostSpan beyond;
        if (host_span_is(text, function->name, kernel) && has_mark(text, function, "__global__") &&
            host_list_item(text, function->parameters, index, item) &&
            host_list_item(text, function->parameters, count - 1, &beyond) &&
            !host_list_item(text, function->parameters, count, &beyond))
            return function;
    }
    return NULL;
}

const char *host_code_parameter_name(HostCode *code, const char *kernel, int index, int count, Arena *arena) {
    const HostText *text = &code->text;
    HostSpan item;
    if (!find_parameter(text, kernel, index, count, &item)) return NULL;
    HostSpan name = parameter_name(text, item);
    return name.end > name.begin ? arena_copy_text(arena, text->text + name.begin, name.end - name.begin)
                                 : NULL;
}

HostNumber host_code_default(HostCode *code, const char *kernel, int index, int count) {
    HostText *text = &code->text;
    HostSpan item = {0};
    const HostFunction *function = find_parameter(text, kernel, index, count, &item);
    for (size_t at = item.begin; function && at < item.end; at++)
        if (text->text[at] == '=')
            return host_value(&code->values, host_trim(text, (HostSpan){at + 1, item.end}),
                              function->name.begin);
    return (HostNumber){0};
}

int host_code_block_sizes(HostCode *code, uint64_t *sizes, int most) {
    HostText *text = &code->text;
    int count = 0;
    for (size_t at = 0; at < text->length && count < most;) {
        HostSpan name = host_word(text, at);
        if (name.end == name.begin) {
            at++;
            continue;
        }
        at = name.end;
        if (!names_block_size(text, name)) continue;
        size_t after = host_skip_blanks(text, name.end, text->length);
        if (text->text[after] != '=' && !host_is_in_directive(text, name.begin)) continue;
        HostNumber value = host_value(&code->values, name, name.end);
        bool is_new = value.is_known && !value.is_float && value.integer >= 16 && value.integer <= 1024;
        for (int i = 0; i < count; i++) is_new &= sizes[i] != (uint64_t)value.integer;
        if (is_new) sizes[count++] = (uint64_t)value.integer;
    }
    return count;
}

bool host_code_complete_instance(HostCode *code, const HostLaunch *launch, Text *out) {
    HostText *text = &code->text;
    for (int i = 0; *launch->kernel && i < text->function_count; i++) {
        const HostFunction *function = &text->functions[i];
        HostSpan item;
        int given = launch->arguments != NULL;
        if (!host_span_is(text, function->name, launch->kernel) ||
            function->head.begin == function->head.end || !has_mark(text, function, "__global__"))
            continue;
        for (const char *at = launch->arguments; at && *at; at++) given += *at == ',';
        HostSpan list = {0, 0};
        if (launch->item_count) {
            int last = launch->item_count - 1;
            list = (HostSpan){launch->places[0], launch->places[last] + strlen(launch->items[last])};
        }
        size_t begin = out->length;
        bool is_known = true;
        add_namespaces(text, function->name.begin, out);
        text_print(out, "%s<%s", launch->kernel, launch->arguments ? launch->arguments : "");
        for (int k = 0; host_list_item(text, function->head, k, &item); k++) {
            if (k < given) continue;
            text_add(out, k ? ", " : "");
            if (host_deduce_argument(text, function, k, list, launch->at, out)) continue;
            is_known &= !host_calls_parameter(text, function, k);
            host_guess_argument(text, item, out);
        }
        text_add(out, ">");
        if (!is_known) text_cut(out, begin);
        return is_known;
    }
    return false;
}

bool host_code_guess_instance(HostCode *code, Text *out) {
    HostText *text = &code->text;
    for (int i = 0; i < text->function_count; i++) {
        const HostFunction *function = &text->functions[i];
        HostSpan item;
        if (function->head.begin == function->head.end || !has_mark(text, function, "__global__")) continue;
        add_namespaces(text, function->name.begin, out);
        text_add_bytes(out, text->text + function->name.begin, function->name.end - function->name.begin);
        text_add(out, "<");
        for (int k = 0; host_list_item(text, function->head, k, &item); k++) {
            text_add(out, k ? ", " : "");
            host_guess_argument(text, item, out);
        }
        text_add(out, ">");
        return true;
    }
    return false;
}
