/* Launches: `kernel<T, 256><<<grid, block, shared>>>(arguments)` and cudaLaunchCooperativeKernel(), found in the text; their
 * expressions are evaluated by host_value.c. */
#include "compile/host_code.h"

#include "compile/host_value.h"

#include <ctype.h>
#include <stdlib.h>

struct HostCode {
    HostText text;
    HostValues values;
    HostLaunch *launches;
    int count, capacity;
    Arena arena;
};

static const char *copy(HostCode *code, HostSpan span) {
    span = host_trim(&code->text, span);
    return arena_copy_text(&code->arena, code->text.text + span.begin, span.end - span.begin);
}

/* Where an expression of the launch stands. */
static bool place_of(const HostLaunch *launch, const char *expression, HostSpan *span) {
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

static HostNumber value_at(HostCode *code, const HostLaunch *launch, const char *expression) {
    HostSpan span;
    if (!place_of(launch, expression, &span)) return (HostNumber){0};
    return host_value(&code->values, span, launch->at);
}

/* ---- launches ------------------------------------------------------------------------------------------- */

static size_t back_over_blanks(const HostText *text, size_t at) {
    while (at > 0 && isspace((unsigned char)text->text[at - 1])) at--;
    return at;
}

/* The < of the > before `at`, searched backwards. */
static size_t open_angle(const HostText *text, size_t at) {
    int depth = 0;
    for (size_t i = at; i-- > 0;) {
        char c = text->text[i];
        if (c == ')') depth += 100;
        if (c == '(') depth -= 100;
        if (c == ';' || c == '{' || c == '}') break;
        depth += (c == '>') - (c == '<');
        if (depth <= 0) return i;
    }
    return SIZE_MAX;
}

static bool is_in_directive(const HostText *text, size_t at) {
    size_t line = at;
    while (line > 0 && (text->text[line - 1] != '\n' || (line > 1 && text->text[line - 2] == '\\'))) line--;
    return text->text[host_skip_blanks(text, line, text->length)] == '#';
}

/* "T, 256" of a launch, with numbers for what can be evaluated and types for what a call says. */
static const char *template_arguments(HostCode *code, HostSpan angles, size_t at) {
    Text out = {0};
    HostSpan item;
    for (int i = 0; host_list_item(&code->text, angles, i, &item); i++) {
        HostNumber value = host_value(&code->values, item, at);
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

static void read_kernel(HostCode *code, size_t angles, HostLaunch *launch) {
    HostText *text = &code->text;
    size_t end = back_over_blanks(text, angles), name;
    HostSpan list = {0, 0};
    if (end && text->text[end - 1] == '>') {
        size_t open = open_angle(text, end);
        if (open != SIZE_MAX) {
            list = (HostSpan){open + 1, end - 1};
            end = back_over_blanks(text, open);
        }
    }
    for (name = end; name > 0 && host_is_word(text->text[name - 1]);) name--;
    launch->kernel = copy(code, (HostSpan){name, end});
    launch->arguments = list.end > list.begin ? template_arguments(code, list, angles) : NULL;
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
    HostLaunch launch = {.line = line_of(text, at), .at = at};
    if (text->text[open] != '(' || !host_list_item(text, list, 0, &item)) return;
    read_kernel(code, at, &launch);
    launch.grid = add_size(code, &launch, list, 0, 0);
    launch.block = add_size(code, &launch, list, 1, 1);
    launch.shared = add_size(code, &launch, list, 2, 2);
    add_items(code, &launch, (HostSpan){open + 1, host_skip_brackets(text, open, text->length) - 1});
    array_push(code->launches, code->count, code->capacity, launch);
}

/* cudaLaunchCooperativeKernel((void *)kernel, grid, block, arguments, shared) */
static void read_call(HostCode *code, size_t at, size_t open) {
    HostText *text = &code->text;
    HostSpan list = {open + 1, host_skip_brackets(text, open, text->length) - 1}, item, name, arguments;
    HostLaunch launch = {.line = line_of(text, at), .at = at};
    if (!host_list_item(text, list, 3, &arguments) || !host_list_item(text, list, 0, &item)) return;
    size_t end = item.end;
    if (end > item.begin && text->text[end - 1] == '>') end = open_angle(text, end);
    if (end == SIZE_MAX) return;
    launch.arguments =
        end < item.end ? template_arguments(code, (HostSpan){end + 1, item.end - 1}, at) : NULL;
    size_t begin = end;
    while (begin > item.begin && host_is_word(text->text[begin - 1])) begin--;
    launch.kernel = copy(code, (HostSpan){begin, end});
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

static void find_launches(HostCode *code) {
    HostText *text = &code->text;
    static const char call[] = "cudaLaunchCooperativeKernel";
    enum { MOST = 256 };
    for (size_t at = 0; at + 3 < text->length && code->count < MOST; at++) {
        if (!strncmp(text->text + at, "<<<", 3) && !is_in_directive(text, at)) {
            read_launch(code, at);
            at += 2;
        } else if (!strncmp(text->text + at, call, sizeof call - 1)) {
            size_t open = host_skip_blanks(text, at + sizeof call - 1, text->length);
            if (text->text[open] == '(') read_call(code, at, open);
        }
    }
}

HostCode *host_code_read(const char *text) {
    HostCode *code = memory_new(sizeof *code);
    host_text_read(&code->text, text);
    code->values.text = &code->text;
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

/* ---- their order ---------------------------------------------------------------------------------------- */

/* The kernel's name begins a statement. */
static bool begins_statement(const HostText *text, size_t at) {
    size_t begin = back_over_blanks(text, at);
    if (begin && text->text[begin - 1] == '>') {
        size_t open = open_angle(text, begin);
        if (open == SIZE_MAX) return false;
        begin = back_over_blanks(text, open);
    }
    while (begin > 0 && (host_is_word(text->text[begin - 1]) || text->text[begin - 1] == ':')) begin--;
    begin = back_over_blanks(text, begin);
    return begin > 0 && strchr(";{}", text->text[begin - 1]);
}

bool host_code_follows(const HostCode *code, const HostLaunch *launch, const HostLaunch *later) {
    const HostText *text = &code->text;
    int depth = 0;
    if (later->at <= launch->at || !begins_statement(text, later->at)) return false;
    for (size_t at = launch->at; at < later->at && depth >= 0; at++)
        depth += (text->text[at] == '{') - (text->text[at] == '}');
    return depth == 0;
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
    for (int i = -1; i < launch->item_count; i++) {
        value_at(code, launch, i < 0 ? launch->grid : launch->items[i]);
        for (int k = 0; k < code->values.free_count; k++) {
            int m = 0;
            while (m < count && met[m] != code->values.free_places[k]) m++;
            if (m == count && count < HOST_ROOTS) met[count++] = code->values.free_places[k];
        }
    }
    return count;
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

bool host_code_evaluate_size(HostCode *code, const HostLaunch *launch, const char *expression,
                             uint32_t size[3]) {
    HostSpan span, list, item;
    size_t at = launch->at;
    if (!place_of(launch, expression, &span)) return false;
    size[0] = size[1] = size[2] = 1;
    bool is_dim3 = find_dim3(code, span, &at, &list);
    if (!is_dim3) list = span;
    for (int i = 0; i < (is_dim3 ? 3 : 1); i++) {
        if (is_dim3 && !host_list_item(&code->text, list, i, &item)) return i > 0;
        HostNumber value = host_value(&code->values, is_dim3 ? item : span, is_dim3 ? at : launch->at);
        if (!value.is_known || value.number < 1 || value.number > UINT32_MAX) return false;
        size[i] = (uint32_t)(value.is_float ? (int64_t)value.number : value.integer);
    }
    return true;
}

/* ---- pointers ------------------------------------------------------------------------------------------- */

/* The name that an argument is made of: of (float *)d_in, thrust::raw_pointer_cast(v.data()), &v[0], x.get(). */
static HostSpan base_name(const HostText *text, HostSpan span) {
    static const char *const passed[] = {
        "thrust",   "raw_pointer_cast", "static_cast", "reinterpret_cast", "const", "void", "std",
        "unsigned", "struct",           "data",        "CUdeviceptr"};
    for (size_t at = span.begin; at < span.end;) {
        HostSpan word = host_word(text, at);
        if (word.end == word.begin) {
            at++;
            continue;
        }
        bool is_passed = host_type_bytes(text->text + word.begin, word.end - word.begin) > 0;
        for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
            is_passed |= host_span_is(text, word, passed[i]);
        if (!is_passed) return word;
        at = word.end;
    }
    return (HostSpan){span.begin, span.begin};
}

/* cudaMalloc(&name, BYTES), and its like. */
static bool find_allocation(HostCode *code, HostSpan name, size_t from, size_t end, HostSpan *bytes,
                            size_t *place) {
    HostText *text = &code->text;
    bool found = false;
    for (size_t at = from; (at = host_text_find(text, name, at, end)) != SIZE_MAX; at++) {
        size_t before = back_over_blanks(text, at),
               after = host_skip_blanks(text, at + (name.end - name.begin), end);
        if (!before || text->text[before - 1] != '&' || after >= end || text->text[after] != ',') continue;
        size_t open = before;
        int depth = 0;
        while (open > 0 && depth <= 0 && text->text[open] != ';') {
            open--;
            depth += (text->text[open] == '(') - (text->text[open] == ')');
        }
        size_t word = back_over_blanks(text, open), begin = word;
        while (begin > 0 && (host_is_word(text->text[begin - 1]))) begin--;
        bool allocates = false;
        for (size_t i = begin; i + 5 <= word; i++)
            allocates |= !strncmp(text->text + i, "alloc", 5) || !strncmp(text->text + i, "Alloc", 5);
        if (!allocates) continue;
        if (!host_list_item(text, (HostSpan){after + 1, host_skip_brackets(text, open, text->length) - 1}, 0,
                            bytes))
            continue;
        *place = at;
        found = true;
    }
    return found;
}

static HostNumber times(HostNumber count, uint64_t bytes) {
    if (!count.is_known || count.is_float || !bytes || count.integer < 0 ||
        (uint64_t)count.integer > (uint64_t)1 << 48)
        return (HostNumber){0};
    HostNumber result = host_number(count.integer * (int64_t)bytes);
    result.is_free = count.is_free;
    return result;
}

/* thrust::device_vector<float> v(COUNT) */
static HostNumber vector_bytes(HostCode *code, const HostDefinition *definition) {
    HostText *text = &code->text;
    size_t end = back_over_blanks(text, definition->at), open;
    HostSpan item;
    if (!end || text->text[end - 1] != '>' || (open = open_angle(text, end)) == SIZE_MAX)
        return (HostNumber){0};
    HostSpan type = host_trim(text, (HostSpan){open + 1, end - 1});
    if (!host_list_item(text, definition->value, 0, &item)) return (HostNumber){0};
    return times(host_value(&code->values, item, definition->at),
                 host_type_bytes(text->text + type.begin, type.end - type.begin));
}

static HostPointer follow_pointer(HostCode *code, HostSpan span, size_t at) {
    HostText *text = &code->text;
    HostPointer none = {0};
    for (int depth = 0; depth < 8; depth++) {
        HostSpan name = base_name(text, span), bytes, arguments, angles;
        const HostFunction *function = host_text_function_at(text, at);
        size_t place;
        if (name.begin == name.end) return none;
        if ((function &&
             find_allocation(code, name, function->body.begin, function->body.end, &bytes, &place)))
            return (HostPointer){place + 1, host_value(&code->values, bytes, place)};
        HostDefinition definition = host_text_define(text, name, at);
        if (definition.kind == HOST_PARAMETER) {
            size_t call;
            if (!host_text_find_call(text, definition.function, &arguments, &angles, &call) ||
                !host_list_item(text, arguments, definition.index, &span))
                return (HostPointer){.identity = definition.at + (size_t)definition.index + 1};
            at = call;
            continue;
        }
        if (find_allocation(code, name, 0, text->length, &bytes, &place))
            return (HostPointer){place + 1, host_value(&code->values, bytes, place)};
        if (definition.kind != HOST_VALUE) return none;
        if (definition.is_called) return (HostPointer){definition.at + 1, vector_bytes(code, &definition)};
        HostSpan value = host_trim(text, definition.value), word = base_name(text, value);
        bool is_name = word.end == value.end && word.end > word.begin &&
                       !host_span_is(text, word, "nullptr") && !host_span_is(text, word, "NULL");
        if (!is_name) return (HostPointer){.identity = definition.at + 1};
        span = value;
        at = definition.at;
    }
    return none;
}

HostPointer host_code_pointer(HostCode *code, const HostLaunch *launch, int item) {
    HostSpan span;
    if (!place_of(launch, launch->items[item], &span)) return (HostPointer){0};
    return follow_pointer(code, span, launch->at);
}

bool host_code_resize(HostCode *code, const HostLaunch *launch, int item, uint64_t bytes) {
    HostValues *values = &code->values;
    HostPointer now = host_code_pointer(code, launch, item);
    int roots = values->root_count;
    if (!now.bytes.is_known || now.bytes.integer <= 0 || values->override_count == HOST_OVERRIDES)
        return false;
    if ((uint64_t)now.bytes.integer == bytes) return true;
    HostRoot met[HOST_ROOTS];
    memcpy(met, values->roots, sizeof met);
    for (int i = 0; i < roots; i++) {
        double wanted = (double)met[i].value * (double)bytes / (double)now.bytes.integer;
        if (wanted < 1 || met[i].value < 32) continue; /* a block size, a factor */
        values->overrides[values->override_count++] = (HostOverride){met[i].at, (int64_t)wanted};
        HostPointer then = host_code_pointer(code, launch, item);
        if (then.bytes.is_known && (uint64_t)then.bytes.integer == bytes) return true;
        values->override_count--;
    }
    return false;
}

/* ---- beside the kernel ---------------------------------------------------------------------------------- */

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
