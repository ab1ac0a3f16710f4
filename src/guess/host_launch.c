/* Launches, found in the text: `kernel<T, 256><<<grid, block, shared>>>(arguments)`, cudaLaunchKernel(), cudaLaunchKernelEx() and
 * cudaLaunchCooperativeKernel(). */
#include "guess/host_launch.h"
#include "guess/host_deduce.h"

#include <ctype.h>
#include <string.h>

bool host_place_of(const HostLaunch *launch, const char *expression, HostSpan *span) {
    const char *const sizes[] = {launch->grid, launch->block, launch->shared};
    size_t length = expression ? strlen(expression) : 0;
    for (int i = 0; length && i < launch->item_count + 3; i++) {
        int k = i < launch->item_count ? i : HOST_ARGUMENTS + i - launch->item_count;
        if ((i < launch->item_count ? launch->items[i] : sizes[i - launch->item_count]) != expression)
            continue;
        *span = (HostSpan){launch->places[k], launch->places[k] + length};
        return true;
    }
    return false;
}

static const char *copy(HostCode *code, HostSpan span) {
    span = host_trim(&code->text, span);
    return arena_copy_text(&code->arena, code->text.text + span.begin, span.end - span.begin);
}

/* "T, 256" of a launch, with numbers for what can be evaluated and types for what a call says. */
static const char *template_arguments(HostCode *code, HostSpan angles, size_t at) {
    Text out = {0};
    HostSpan item;
    for (int i = 0; host_list_item(&code->text, angles, i, &item); i++) {
        HostNumber value = host_value(&code->values, item, at);
        for (int k = 0; k < code->values.root_count; k++)
            array_push(code->fixed, code->fixed_count, code->fixed_capacity, code->values.roots[k].at);
        HostDefinition definition = host_text_define(&code->text, item, at);
        HostSpan arguments, given, type;
        size_t call;
        text_add(&out, i ? ", " : "");
        if (value.is_known && !value.is_float)
            text_print(&out, "%lld", (long long)value.integer);
        else if (definition.kind == HOST_TEMPLATE &&
                 host_text_find_call(&code->text, definition.function, &arguments, &given, &call) &&
                 host_list_item(&code->text, given, definition.index, &type))
            text_add_bytes(&out, code->text.text + type.begin, type.end - type.begin);
        else if (definition.kind == HOST_TEMPLATE &&
                 host_text_find_call(&code->text, definition.function, &arguments, &given, &call) &&
                 host_deduce_argument(&code->text, definition.function, definition.index, arguments, call,
                                      &out))
            continue;
        else if (definition.kind == HOST_TEMPLATE &&
                 host_list_item(&code->text, definition.function->head, definition.index, &type))
            host_guess_argument(&code->text, type, &out);
        else if (host_span_is(&code->text, item,
                              "scalar_t")) /* of PyTorch's AT_DISPATCH: any type of floats */
            text_add(&out, "float");
        else
            text_add_bytes(&out, code->text.text + item.begin, item.end - item.begin);
    }
    const char *text = arena_copy_text(&code->arena, text_string(&out), out.length);
    text_done(&out);
    return text;
}

static void add_item(HostCode *code, HostLaunch *launch, HostSpan item) {
    item = host_trim(&code->text, item);
    launch->places[launch->item_count] = item.begin;
    launch->items[launch->item_count++] = copy(code, item);
}

/* Grid, block or shared memory, number 0, 1 or 2 of the list from `first` on. */
static const char *add_size(HostCode *code, HostLaunch *launch, HostSpan list, int number, int index) {
    HostSpan item;
    if (!host_list_item(&code->text, list, index, &item)) return number < 2 ? "" : NULL;
    launch->places[HOST_ARGUMENTS + number] = item.begin;
    return copy(code, item);
}

static void add_items(HostCode *code, HostLaunch *launch, HostSpan list) {
    HostSpan item;
    for (int i = 0; i < HOST_ARGUMENTS && host_list_item(&code->text, list, i, &item); i++)
        add_item(code, launch, item);
}

static int line_of(const HostText *text, size_t at) {
    int line = 1;
    for (size_t i = 0; i < at; i++) line += text->text[i] == '\n';
    return line;
}

/* False: a macro puts its name together. */
static bool read_kernel(HostCode *code, size_t angles, HostLaunch *launch) {
    HostText *text = &code->text;
    size_t end = host_back_over_blanks(text, angles), name;
    HostSpan list = {0, 0};
    if (end && text->text[end - 1] == '>') {
        size_t open = host_open_angle(text, end);
        if (open != SIZE_MAX) {
            list = (HostSpan){open + 1, end - 1};
            end = host_back_over_blanks(text, open);
        }
    }
    for (name = end; name > 0 && host_is_word(text->text[name - 1]);) name--;
    launch->kernel = copy(code, (HostSpan){name, end});
    launch->arguments = list.end > list.begin ? template_arguments(code, list, angles) : NULL;
    return !name || text->text[name - 1] != '#';
}

static void read_launch(HostCode *code, size_t at) {
    HostText *text = &code->text;
    size_t close = at + 3;
    int depth = 0;
    for (; close + 3 <= text->length; close++) {
        char c = text->text[close];
        depth += (c == '(' || c == '{' || c == '[') - (c == ')' || c == '}' || c == ']');
        if (c == ';' || (depth <= 0 && !strncmp(text->text + close, ">>>", 3))) break;
    }
    if (strncmp(text->text + close, ">>>", 3) != 0) return;
    HostSpan list = {at + 3, close}, item;
    size_t open = host_skip_blanks(text, close + 3, text->length);
    HostLaunch launch = {.code = code, .line = line_of(text, at), .at = at};
    if (text->text[open] != '(' || !host_list_item(text, list, 0, &item) || !read_kernel(code, at, &launch))
        return;
    launch.grid = add_size(code, &launch, list, 0, 0);
    launch.block = add_size(code, &launch, list, 1, 1);
    launch.shared = add_size(code, &launch, list, 2, 2);
    add_items(code, &launch, (HostSpan){open + 1, host_skip_brackets(text, open, text->length) - 1});
    array_push(code->launches, code->count, code->capacity, launch);
}

/* The kernel that `item` names: (void *)k<float>, &k, space::k. */
static bool read_named_kernel(HostCode *code, HostSpan item, size_t at, HostLaunch *launch) {
    HostText *text = &code->text;
    size_t end = item.end;
    if (end > item.begin && text->text[end - 1] == ')' && text->text[item.begin] == '(') { /* (k<1, 2>) */
        size_t close = host_skip_brackets(text, item.begin, item.end);
        if (close == item.end)
            return read_named_kernel(code, host_trim(text, (HostSpan){item.begin + 1, end - 1}), at, launch);
    }
    if (end > item.begin && text->text[end - 1] == '>') end = host_open_angle(text, end);
    if (end == SIZE_MAX) return false;
    launch->arguments =
        end < item.end ? template_arguments(code, (HostSpan){end + 1, item.end - 1}, at) : NULL;
    end = host_back_over_blanks(text, end);
    size_t begin = end;
    while (begin > item.begin && host_is_word(text->text[begin - 1])) begin--;
    launch->kernel = copy(code, (HostSpan){begin, end});
    return begin < end;
}

/* cudaLaunchKernel((void *)kernel, grid, block, arguments, shared), and its cooperative twin */
static void read_call(HostCode *code, size_t at, size_t open) {
    HostText *text = &code->text;
    HostSpan list = {open + 1, host_skip_brackets(text, open, text->length) - 1}, item, name, arguments;
    HostLaunch launch = {.code = code, .line = line_of(text, at), .at = at};
    if (!host_list_item(text, list, 3, &arguments) || !host_list_item(text, list, 0, &item)) return;
    if (!read_named_kernel(code, item, at, &launch)) return;
    launch.grid = add_size(code, &launch, list, 0, 1);
    launch.block = add_size(code, &launch, list, 1, 2);
    launch.shared = add_size(code, &launch, list, 2, 4);
    name = host_word(text, arguments.begin);
    HostDefinition definition = host_text_define(text, name, at);
    HostSpan values = host_trim(text, definition.parameters);
    if (definition.kind != HOST_ARRAY || values.begin == values.end || text->text[values.begin] != '{')
        return;
    for (int i = 0;
         i < HOST_ARGUMENTS && host_list_item(text, (HostSpan){values.begin + 1, values.end - 1}, i, &item);
         i++) {
        const char *address = memchr(text->text + item.begin, '&', item.end - item.begin);
        if (!address) return;
        add_item(code, &launch, (HostSpan){(size_t)(address - text->text) + 1, item.end});
    }
    array_push(code->launches, code->count, code->capacity, launch);
}

/* What `config.MEMBER` is assigned last before `at`, or number `index` of `config = {...}`. */
static HostSpan find_member(HostCode *code, HostSpan config, const char *member, int index, size_t at) {
    HostText *text = &code->text;
    const HostFunction *function = host_text_function_at(text, at);
    HostSpan found = {0, 0}, item;
    for (size_t i = function ? function->body.begin : 0;
         (i = host_text_find(text, config, i, at)) != SIZE_MAX; i++) {
        size_t after = host_skip_blanks(text, i + (config.end - config.begin), at);
        if (text->text[after] == '.' && host_span_is(text, host_word(text, after + 1), member)) {
            size_t equal = host_skip_blanks(text, after + 1 + strlen(member), at), end = equal;
            while (end < at && text->text[end] != ';') end++;
            if (text->text[equal] == '=') found = host_trim(text, (HostSpan){equal + 1, end});
        }
        if (text->text[after] == '=') after = host_skip_blanks(text, after + 1, at);
        if (text->text[after] == '{' &&
            host_list_item(text, (HostSpan){after + 1, host_skip_brackets(text, after, at) - 1}, index,
                           &item)) {
            size_t equal = item.begin; /* .gridDim = 4 */
            if (text->text[equal] == '.')
                while (equal < item.end && text->text[equal++] != '=') {
                }
            found = host_trim(text, (HostSpan){equal, item.end});
        }
    }
    return found;
}

static const char *add_member(HostCode *code, HostLaunch *launch, HostSpan config, const char *member,
                              int number, int index) {
    HostSpan span = find_member(code, config, member, index, launch->at);
    if (span.begin == span.end) return number < 2 ? "" : NULL;
    launch->places[HOST_ARGUMENTS + number] = span.begin;
    return copy(code, span);
}

/* cudaLaunchKernelEx(&config, kernel, arguments...) */
static void read_call_ex(HostCode *code, size_t at, size_t open) {
    HostText *text = &code->text;
    HostSpan list = {open + 1, host_skip_brackets(text, open, text->length) - 1}, item;
    HostLaunch launch = {.code = code, .line = line_of(text, at), .at = at};
    if (!host_list_item(text, list, 0, &item) || text->text[item.begin] != '&') return;
    HostSpan config = host_word(text, host_skip_blanks(text, item.begin + 1, item.end));
    if (!host_list_item(text, list, 1, &item) || !read_named_kernel(code, item, at, &launch)) return;
    launch.grid = add_member(code, &launch, config, "gridDim", 0, 0);
    launch.block = add_member(code, &launch, config, "blockDim", 1, 1);
    launch.shared = add_member(code, &launch, config, "dynamicSmemBytes", 2, 2);
    for (int i = 2; i < HOST_ARGUMENTS && host_list_item(text, list, i, &item); i++)
        add_item(code, &launch, item);
    array_push(code->launches, code->count, code->capacity, launch);
}

void host_find_launches(HostCode *code) {
    HostText *text = &code->text;
    static const struct {
        const char *name;
        void (*read)(HostCode *code, size_t at, size_t open);
    } calls[] = {{"cudaLaunchCooperativeKernel", read_call},
                 {"cudaLaunchKernelExC", NULL},
                 {"cudaLaunchKernelEx", read_call_ex},
                 {"cudaLaunchKernel", read_call}};
    enum { MOST = 256 };
    for (size_t at = 0; at + 3 < text->length && code->count < MOST; at++) {
        if (!strncmp(text->text + at, "<<<", 3) && !host_is_in_directive(text, at)) {
            read_launch(code, at);
            at += 2;
            continue;
        }
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            HostSpan word = {at, at + strlen(calls[i].name)};
            if (text->text[at] != 'c' || word.end > text->length ||
                !host_span_is(text, word, calls[i].name) || host_is_word(text->text[word.end]) ||
                (at && host_is_word(text->text[at - 1])))
                continue;
            size_t open = host_skip_blanks(text, word.end, text->length);
            if (calls[i].read && text->text[open] == '(') calls[i].read(code, at, open);
        }
    }
}
