/* Pointers that a launch is given, with their allocations and the sizes of these. */
#include "guess/host_launch.h"
#include "guess/host_number.h"
#include "guess/host_type.h"

#include <ctype.h>
#include <string.h>

static const HostSpan none_of_all = {0, 0}; /* an object: of any */

/* `d_in` of buffers.d_in, this->d_in; a call, v.data(), is none. */
static HostSpan last_member(const HostText *text, HostSpan word, size_t end) {
    for (;;) {
        size_t dot = host_skip_blanks(text, word.end, end);
        bool is_arrow = dot + 1 < end && text->text[dot] == '-' && text->text[dot + 1] == '>';
        if (dot >= end || (text->text[dot] != '.' && !is_arrow)) return word;
        HostSpan member = host_word(text, dot + 1 + is_arrow);
        if (member.end == member.begin || member.end > end || text->text[member.end] == '(') return word;
        word = member;
    }
}

/* Where `&buffers.d_in[i]` begins, behind the &: at `buffers`. */
static size_t begin_of_chain(const HostText *text, size_t at) {
    for (;;) {
        size_t before = host_back_over_blanks(text, at);
        bool is_arrow = before > 1 && text->text[before - 1] == '>' && text->text[before - 2] == '-';
        if (!before || (text->text[before - 1] != '.' && !is_arrow)) return at;
        at = host_back_over_blanks(text, before - 1 - is_arrow);
        while (at > 0 && host_is_word(text->text[at - 1])) at--;
    }
}

/* The name that an argument is made of: of (float *)d_in, thrust::raw_pointer_cast(v.data()), &v[0], x.get(). `object`, of
 * which it is a member, is empty where it is none. */
static HostSpan base_and_object(const HostText *text, HostSpan span, HostSpan *object) {
    static const char *const passed[] = {"thrust",      "raw_pointer_cast",
                                         "static_cast", "reinterpret_cast",
                                         "const_cast",  "const",
                                         "void",        "std",
                                         "unsigned",    "struct",
                                         "data",        "CUdeviceptr"};
    for (size_t at = span.begin; at < span.end;) {
        HostSpan word = host_word(text, at);
        if (word.end == word.begin) {
            at++;
            continue;
        }
        bool is_passed = host_type_bytes(text->text + word.begin, word.end - word.begin) > 0;
        for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
            is_passed |= host_span_is(text, word, passed[i]);
        if (!is_passed) {
            HostSpan member = last_member(text, word, span.end);
            *object = member.begin == word.begin ? (HostSpan){0, 0} : word;
            return member;
        }
        at = word.end;
    }
    *object = (HostSpan){0, 0};
    return (HostSpan){span.begin, span.begin};
}

static HostSpan base_name(const HostText *text, HostSpan span) {
    HostSpan object;
    return base_and_object(text, span, &object);
}

/* From `&name` in reinterpret_cast<void **>(&name) to where the cast begins, and behind its end. */
static void leave_cast(const HostText *text, size_t *before, size_t *after, size_t end) {
    size_t open = host_back_over_blanks(text, *before - 1);
    if (!open || text->text[open - 1] != '(' || *after >= end || text->text[*after] != ')') return;
    size_t begin = open - 1, end_of_word = host_back_over_blanks(text, begin);
    char last = end_of_word ? text->text[end_of_word - 1] : ';';
    if (host_is_word(last)) return; /* f(&name) */
    if (last == '>') {
        begin = host_open_angle(text, end_of_word);
        if (begin == SIZE_MAX) return;
        begin = host_back_over_blanks(text, begin);
        while (begin > 0 && host_is_word(text->text[begin - 1])) begin--;
    }
    *before = begin;
    *after = host_skip_blanks(text, *after + 1, end);
}

/* cudaMalloc(&name, BYTES), and its like: the last one before `use`, else the first one. An `object` of another name has other
 * members; where it is empty, any object's will do. */
static bool find_allocation(HostCode *code, HostSpan object, HostSpan name, HostSpan where, size_t use,
                            HostSpan *bytes, size_t *place) {
    HostText *text = &code->text;
    size_t end = where.end;
    bool found = false;
    for (size_t at = where.begin; (at = host_text_find(text, name, at, end)) != SIZE_MAX; at++) {
        if (found && at > use) break;
        size_t chain = begin_of_chain(text, at);
        bool is_other = object.end > object.begin &&
                        (chain == at || !host_spans_equal(text, host_word(text, chain), object));
        if (is_other) continue;
        size_t before = host_back_over_blanks(text, chain),
               after = host_skip_blanks(text, at + (name.end - name.begin), end);
        if (after < end && text->text[after] == '[')
            after = host_skip_blanks(text, host_skip_brackets(text, after, end), end);
        if (!before || text->text[before - 1] != '&') continue;
        leave_cast(text, &before, &after, end);
        if (after >= end || text->text[after] != ',') continue;
        size_t open = before;
        int depth = 0;
        while (open > 0 && depth <= 0 && text->text[open] != ';') {
            open--;
            depth += (text->text[open] == '(') - (text->text[open] == ')');
        }
        size_t word = host_back_over_blanks(text, open), begin = word;
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
    size_t end = host_back_over_blanks(text, definition->at), open;
    HostSpan item;
    if (!end || text->text[end - 1] != '>' || (open = host_open_angle(text, end)) == SIZE_MAX)
        return (HostNumber){0};
    HostSpan type = host_trim(text, (HostSpan){open + 1, end - 1});
    if (!host_list_item(text, definition->value, 0, &item)) return (HostNumber){0};
    return times(host_value(&code->values, item, definition->at),
                 host_type_bytes(text->text + type.begin, type.end - type.begin));
}

/* A member of another object is another pointer. */
static size_t member_identity(const HostText *text, const HostDefinition *object, HostSpan member) {
    uint32_t hash = 2166136261u;
    for (size_t i = member.begin; i < member.end; i++)
        hash = (hash ^ (unsigned char)text->text[i]) * 16777619u;
    return (object->at + (size_t)object->index + 1) ^ (size_t)hash << 32;
}

/* object.member: what was allocated for it, also where a caller has the object; of Buffer<T> object(COUNT) what that says.
 * Identity 0: it is not known. */
static HostPointer follow_member(HostCode *code, HostSpan object, HostSpan member, size_t at) {
    HostText *text = &code->text;
    HostDefinition definition = {0};
    for (int depth = 0; depth < 8; depth++) {
        HostSpan bytes, arguments, angles, item;
        size_t place;
        if (find_allocation(code, object, member, (HostSpan){0, text->length}, at, &bytes, &place))
            return (HostPointer){place + 1, host_value(&code->values, bytes, place)};
        definition = host_text_define(text, object, at);
        if (definition.kind != HOST_PARAMETER ||
            !host_text_find_call(text, definition.function, &arguments, &angles, &at) ||
            !host_list_item(text, arguments, definition.index, &item))
            break;
        object = base_name(text, item);
    }
    bool is_known =
        definition.kind == HOST_PARAMETER || (definition.kind == HOST_VALUE && definition.is_called);
    if (!is_known) return (HostPointer){0};
    HostPointer pointer = {.identity = member_identity(text, &definition, member)};
    if (definition.kind == HOST_VALUE) pointer.bytes = vector_bytes(code, &definition);
    return pointer;
}

static HostPointer follow_from(HostCode *code, HostSpan span, size_t at, bool chooses);

/* if (is_last) name = a; else name = b: of the two, that for which more was allocated. */
static HostDefinition larger_of(HostCode *code, HostSpan name, HostDefinition first, size_t at) {
    HostDefinition other;
    if (!host_text_find_alternative(&code->text, name, &first, at, &other) || other.kind != HOST_VALUE)
        return first;
    HostNumber bytes = follow_from(code, first.value, first.at, false).bytes,
               more = follow_from(code, other.value, other.at, false).bytes;
    return bytes.is_known && more.is_known && more.number > bytes.number ? other : first;
}

static HostPointer follow_from(HostCode *code, HostSpan span, size_t at, bool chooses) {
    HostText *text = &code->text;
    HostPointer none = {0};
    const HostBinding *binding = host_binding_find(&code->values.bindings, text, base_name(text, span), at);
    if (binding && binding->is_pointer) {
        span = binding->target;
        at = code->values.bindings.from;
    }
    HostSpan object, member = base_and_object(text, span, &object), everywhere = {0, text->length};
    if (object.end > object.begin && !host_span_is(text, object, "this")) {
        HostPointer found = follow_member(code, object, member, at);
        HostSpan bytes;
        size_t place;
        bool is_allocated = !found.bytes.is_known &&
                            find_allocation(code, none_of_all, member, everywhere, at, &bytes, &place);
        if (found.identity && !is_allocated) return found;
    }
    for (int depth = 0; depth < 8; depth++) {
        HostSpan name = base_name(text, span), bytes, arguments, angles;
        const HostFunction *function = host_text_function_at(text, at);
        size_t place;
        if (name.begin == name.end) return none;
        if ((function && find_allocation(code, none_of_all, name, function->body, at, &bytes, &place)))
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
        if (find_allocation(code, none_of_all, name, everywhere, SIZE_MAX, &bytes, &place))
            return (HostPointer){place + 1, host_value(&code->values, bytes, place)};
        if (chooses) definition = larger_of(code, name, definition, at);
        if (definition.kind != HOST_VALUE) return none;
        if (definition.is_called) return (HostPointer){definition.at + 1, vector_bytes(code, &definition)};
        HostSpan value = host_trim(text, definition.value), word = base_name(text, value);
        size_t after = word.end; /* of a cast, (float *)(in) */
        while (after < value.end && (text->text[after] == ')' || isspace((unsigned char)text->text[after])))
            after++;
        bool is_name = after == value.end && word.end > word.begin && !host_span_is(text, word, "nullptr") &&
                       !host_span_is(text, word, "NULL");
        if (!is_name) return (HostPointer){.identity = definition.at + 1};
        span = value;
        at = definition.at;
    }
    return none;
}

static HostPointer follow_pointer(HostCode *code, HostSpan span, size_t at) {
    return follow_from(code, span, at, true);
}

/* name[i], of pointers that were allocated one by one: cudaMalloc(&name[i], ..). */
static bool is_array_of_pointers(HostCode *code, HostSpan span, size_t bracket) {
    HostText *text = &code->text;
    HostSpan name = base_name(text, span), bytes;
    size_t place;
    if (host_skip_blanks(text, name.end, span.end) != bracket || text->text[span.begin] == '&') return false;
    if (!find_allocation(code, none_of_all, name, (HostSpan){0, text->length}, SIZE_MAX, &bytes, &place))
        return false;
    size_t after = host_skip_blanks(text, place + (name.end - name.begin), text->length);
    return text->text[after] == '[';
}

/* in + i, &in[n]: it points into what was allocated, and how much follows it is not known. */
static bool has_offset(HostCode *code, HostSpan span, size_t at) {
    HostText *text = &code->text;
    for (size_t i = span.begin; i < span.end; i++) {
        char c = text->text[i];
        HostSpan offset = {i + 1, span.end};
        if (c == '[') offset.end = host_skip_brackets(text, i, span.end) - 1;
        if (c == '[' && is_array_of_pointers(code, span, i)) continue;
        bool is_sum = (c == '+' || (c == '-' && text->text[i + 1] != '>')) && text->text[span.end - 1] != ')';
        if (c != '[' && !is_sum) continue;
        HostNumber value = host_value(&code->values, offset, at);
        return !value.is_known || value.number != 0;
    }
    return false;
}

/* is_there ? a : b: of the two, that for which something was allocated. */
static HostSpan choose_alternative(HostCode *code, HostSpan span, size_t at) {
    HostText *text = &code->text;
    size_t question = span.begin, colon;
    while (question < span.end && text->text[question] != '?')
        question =
            strchr("([", text->text[question]) ? host_skip_brackets(text, question, span.end) : question + 1;
    for (colon = question; colon < span.end && (text->text[colon] != ':' || text->text[colon + 1] == ':');)
        colon += text->text[colon] == ':' ? 2 : 1;
    if (colon >= span.end) return span;
    HostSpan second = {colon + 1, span.end};
    return follow_pointer(code, second, at).bytes.is_known ? second : (HostSpan){question + 1, colon};
}

HostPointer host_code_pointer(HostCode *code, const HostLaunch *launch, int item) {
    HostSpan span;
    if (!host_place_of(launch, launch->items[item], &span)) return (HostPointer){0};
    span = choose_alternative(code, span, launch->at);
    if (has_offset(code, span, launch->at)) return (HostPointer){0};
    return follow_pointer(code, span, launch->at);
}

bool host_code_resize(HostCode *code, const HostLaunch *launch, int item, uint64_t bytes, bool compiled) {
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
        if (!compiled && host_is_compiled_in(code, host_word(&code->text, met[i].at), met[i].at)) continue;
        values->overrides[values->override_count++] = (HostOverride){met[i].at, (int64_t)wanted};
        HostPointer then = host_code_pointer(code, launch, item);
        if (then.bytes.is_known && (uint64_t)then.bytes.integer == bytes) return true;
        values->override_count--;
    }
    return false;
}
