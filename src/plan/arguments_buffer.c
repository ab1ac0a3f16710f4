/* Items of --args that make a buffer: NAME=TYPE[COUNT]:FILL, NAME=@FILE.npy. */
#include "plan/arguments.h"

#include "plan/npy.h"

#include <math.h>

static bool starts(Span span, const char *word) {
    return span.length > strlen(word) && !memcmp(span.text, word, strlen(word));
}

/* NAME(A,B) */
static bool read_two(ArgumentReader *reader, Span fill, ExpressionValue values[2]) {
    size_t open = argument_find(fill, '('), comma = argument_find(fill, ',');
    if (fill.text[fill.length - 1] != ')' || comma == fill.length)
        return argument_fail(reader, fill, "'%.*s' needs two numbers, as %.*s(0,9)", argument_shown(fill),
                             fill.text, (int)open, fill.text);
    return argument_evaluate(reader, argument_cut(fill, open + 1, comma), &values[0]) &&
           argument_evaluate(reader, argument_cut(fill, comma + 1, fill.length - 1), &values[1]);
}

static bool read_range(ArgumentReader *reader, Span fill, FillKind kind, PlanBuffer *buffer) {
    ExpressionValue values[2] = {{.number = 0}, {.number = 0}};
    if (!read_two(reader, fill, values)) return false;
    buffer->fill = kind;
    buffer->has_range = true;
    buffer->whole_numbers = !ptx_type_is_float(buffer->type) && !values[0].is_float && !values[1].is_float;
    buffer->low = values[0].number;
    buffer->high = values[1].number;
    return buffer->low <= buffer->high ||
           argument_fail(reader, fill, "%.*s: the first number is the larger one", argument_shown(fill),
                         fill.text);
}

/* A fill that gives every element the same value: 7, -inf. */
static bool read_value(ArgumentReader *reader, Span fill, PlanBuffer *buffer) {
    ExpressionValue value = {.is_float = true, .number = NAN};
    if (argument_equals(fill, "inf") || argument_equals(fill, "-inf"))
        value.number = fill.length == 3 ? INFINITY : -INFINITY;
    else if (!argument_equals(fill, "nan") && !argument_evaluate(reader, fill, &value))
        return argument_fail(
            reader, fill,
            "the fill '%.*s' of %s is not one of zero, ones, iota, random, digits, permutation, unwritten, "
            "random(LOW,HIGH), peaks(LOW,HIGH), iota(FIRST,STEP), file:PATH, or a number",
            argument_shown(fill), fill.text, buffer->name);
    buffer->fill = FILL_VALUE;
    if (value.is_float || ptx_type_is_float(buffer->type))
        plan_element_set(buffer->type, buffer->value, 0, value.number);
    else
        for (int i = 0; i < ptx_type_bytes(buffer->type); i++)
            buffer->value[i] = (uint8_t)((uint64_t)value.integer >> (8 * i));
    return true;
}

/* A .npy of the buffer's type is read behind its head. */
static bool read_file(ArgumentReader *reader, Span fill, const char *path, PlanBuffer *buffer) {
    NpyFile file;
    buffer->path = arena_copy_text(&reader->plan->arena, path, (size_t)(fill.text + fill.length - path));
    if (!text_ends_with(buffer->path, ".npy")) return true;
    if (!npy_read_head(buffer->path, &file, reader->error)) return false;
    bool are_bits =
        buffer->type == PTX_BF16 && file.type == PTX_U16; /* as --dump writes them: NumPy has no bfloat16 */
    if ((file.type != buffer->type && !are_bits) || file.count < buffer->count)
        return argument_fail(reader, fill, "%s has %llu elements of type %s", buffer->path,
                             (unsigned long long)file.count, plan_type_name(file.type));
    buffer->path_offset = file.data_bytes;
    return true;
}

static bool read_fill(ArgumentReader *reader, Span fill, PlanBuffer *buffer) {
    const char *path;
    if (plan_fill_parse(fill.text, fill.length, &buffer->fill, &path) && (path || buffer->fill < FILL_FILE)) {
        return !path || read_file(reader, fill, path, buffer);
    }
    if (argument_equals(fill, plan_fill_name(FILL_PERMUTATION))) {
        buffer->fill = FILL_PERMUTATION;
        return true;
    }
    if (argument_equals(fill, plan_fill_name(FILL_UNWRITTEN))) {
        buffer->fill = FILL_UNWRITTEN;
        return true;
    }
    if (starts(fill, "random(")) return read_range(reader, fill, FILL_RANDOM, buffer);
    if (starts(fill, "peaks(")) return read_range(reader, fill, FILL_PEAKS, buffer);
    if (!starts(fill, "iota(")) return read_value(reader, fill, buffer);
    ExpressionValue values[2] = {{.number = 0}, {.number = 0}};
    if (!read_two(reader, fill, values)) return false;
    buffer->fill = values[1].number != 0 ? FILL_IOTA : FILL_VALUE;
    buffer->first = values[0].number;
    buffer->step = values[1].number;
    plan_element_set(buffer->type, buffer->value, 0, buffer->first);
    return true;
}

static bool is_new(const ArgumentReader *reader, Span name) {
    return argument_buffer(reader, name) < 0 ||
           argument_fail(reader, name, "%.*s is defined twice; write only its name to pass it again",
                         argument_shown(name), name.text);
}

int argument_array_file(ArgumentReader *reader, Span name, Span path) {
    NpyFile file;
    if (!is_new(reader, name)) return -1;
    char *copy = arena_copy_text(&reader->plan->arena, path.text, path.length);
    if (!npy_read_head(copy, &file, reader->error)) return -1;
    int index = plan_add_buffer(reader->plan, arena_copy_text(&reader->plan->arena, name.text, name.length),
                                file.type, file.count, FILL_FILE);
    reader->plan->buffers[index].path = copy;
    reader->plan->buffers[index].path_offset = file.data_bytes;
    return index;
}

static bool read_type(const ArgumentReader *reader, Span name, PtxType *type) {
    char text[PLAN_TYPE_BYTES] = "";
    if (name.length < sizeof text) memcpy(text, name.text, name.length);
    return plan_type_parse(text, type) ||
           argument_fail(reader, name,
                         "'%.*s' is not a type; types are char, uchar, short, ushort, int, uint, long, "
                         "ulong, half, bfloat, float, double",
                         argument_shown(name), name.text);
}

int argument_new_buffer(ArgumentReader *reader, Span name, Span value, size_t bracket) {
    PtxType type;
    ExpressionValue count;
    size_t close = argument_find(value, ']');
    if (!read_type(reader, argument_cut(value, 0, bracket), &type)) return -1;
    if (close == value.length || close < bracket) {
        argument_fail(reader, argument_cut(value, value.length, value.length), "']' is missing in '%.*s'",
                      argument_shown(value), value.text);
        return -1;
    }
    Span size = argument_cut(value, bracket + 1, close), rest = argument_cut(value, close + 1, value.length);
    if (!is_new(reader, name) || !argument_evaluate(reader, size, &count)) return -1;
    if (count.is_float || count.integer < 1 || count.integer > (int64_t)1 << 48) {
        argument_fail(reader, size, "%.*s has %.17g elements; a whole number from 1 to 2^48 is needed",
                      argument_shown(name), name.text, count.number);
        return -1;
    }
    bool is_file = starts(rest, "=@");
    if (rest.length && rest.text[0] != ':' && !is_file) {
        argument_fail(reader, rest, "'%.*s' follows ']'; a fill begins with ':'", argument_shown(rest),
                      rest.text);
        return -1;
    }
    char *copy = arena_copy_text(&reader->plan->arena, name.text, name.length);
    int index = plan_add_buffer(reader->plan, copy, type, (uint64_t)count.integer, FILL_ZERO);
    PlanBuffer *buffer = &reader->plan->buffers[index];
    if (is_file) buffer->fill = FILL_FILE;
    bool good = is_file ? read_file(reader, rest, rest.text + 2, buffer)
                        : !rest.length || read_fill(reader, argument_cut(rest, 1, rest.length), buffer);
    return good ? index : -1;
}
