/* --args: the arguments of a kernel that is in no catalogue, written by hand or guessed
 * (guess.h). The grammar is in plan.h. */
#include "catalog/expression.h"
#include "catalog/npy.h"
#include "catalog/plan.h"

#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { NAMES = 64, STRUCTURE_LIMIT_BYTES = 1 << 16 };

typedef struct ArgumentReader {
    Plan *plan;
    PlanLaunch *launch;
    const PtxFunction *entry;
    ExpressionName names[NAMES]; /* n, block, grid, then the named scalars */
    int name_count;
    Error *error;
} ArgumentReader;

typedef struct Span { /* a piece of the command line */
    const char *text;
    size_t length;
} Span;

static Span trim(Span span) {
    while (span.length && isspace((unsigned char)span.text[0])) span.text++, span.length--;
    while (span.length && isspace((unsigned char)span.text[span.length - 1])) span.length--;
    return span;
}

static Span cut(Span span, size_t begin, size_t end) {
    return trim((Span){span.text + begin, end - begin});
}

static size_t find(Span span, char wanted) {
    size_t at = 0;
    while (at < span.length && span.text[at] != wanted) at++;
    return at;
}

static int shown(Span span) {
    return (int)(span.length > 100 ? 100 : span.length);
}

static bool is_name(Span span) {
    if (!span.length || isdigit((unsigned char)span.text[0])) return false;
    for (size_t i = 0; i < span.length; i++)
        if (!isalnum((unsigned char)span.text[i]) && span.text[i] != '_') return false;
    return true;
}

static bool equals(Span span, const char *text) {
    return strlen(text) == span.length && memcmp(text, span.text, span.length) == 0;
}

static bool evaluate(ArgumentReader *reader, Span span, ExpressionValue *value) {
    Error inner = {0};
    if (expression_evaluate(span.text, span.length, reader->names, reader->name_count, value, &inner))
        return true;
    return error_set(reader->error, "--args: %s", inner.message);
}

static int find_buffer(const ArgumentReader *reader, Span name) {
    for (int i = 0; i < reader->plan->buffer_count; i++)
        if (equals(name, reader->plan->buffers[i].name)) return i;
    return -1;
}

static bool starts(Span span, const char *word) {
    return span.length > strlen(word) && !memcmp(span.text, word, strlen(word));
}

/* NAME(A,B) */
static bool read_two(ArgumentReader *reader, Span fill, ExpressionValue values[2]) {
    size_t open = find(fill, '('), comma = find(fill, ',');
    if (fill.text[fill.length - 1] != ')' || comma == fill.length)
        return error_set(reader->error, "--args: '%.*s' needs two numbers, as %.*s(0,9)", shown(fill),
                         fill.text, (int)open, fill.text);
    return evaluate(reader, cut(fill, open + 1, comma), &values[0]) &&
           evaluate(reader, cut(fill, comma + 1, fill.length - 1), &values[1]);
}

static bool read_range(ArgumentReader *reader, Span fill, PlanBuffer *buffer) {
    ExpressionValue values[2];
    if (!read_two(reader, fill, values)) return false;
    buffer->fill = FILL_RANDOM;
    buffer->has_range = true;
    buffer->whole_numbers = !values[0].is_float && !values[1].is_float;
    buffer->low = values[0].number;
    buffer->high = values[1].number;
    return buffer->low <= buffer->high ||
           error_set(reader->error, "--args: %.*s: the first number is the larger one", shown(fill),
                     fill.text);
}

/* Every element has the same value: 7, -inf. */
static bool read_value(ArgumentReader *reader, Span fill, PlanBuffer *buffer) {
    ExpressionValue value = {.is_float = true, .number = NAN};
    if (equals(fill, "inf") || equals(fill, "-inf"))
        value.number = fill.length == 3 ? INFINITY : -INFINITY;
    else if (!equals(fill, "nan") && !evaluate(reader, fill, &value))
        return error_set(
            reader->error,
            "--args: the fill '%.*s' of %s is not one of zero, ones, iota, random, digits, permutation, "
            "random(LOW,HIGH), iota(FIRST,STEP), file:PATH, or a number",
            shown(fill), fill.text, buffer->name);
    buffer->fill = FILL_VALUE;
    if (value.is_float || ptx_type_is_float(buffer->type))
        plan_element_set(buffer->type, buffer->value, 0, value.number);
    else
        for (int i = 0; i < ptx_type_bytes(buffer->type); i++)
            buffer->value[i] = (uint8_t)((uint64_t)value.integer >> (8 * i));
    return true;
}

static bool read_fill(ArgumentReader *reader, Span fill, PlanBuffer *buffer) {
    const char *path;
    if (plan_fill_parse(fill.text, fill.length, &buffer->fill, &path) && (path || buffer->fill < FILL_FILE)) {
        if (path)
            buffer->path =
                arena_copy_text(&reader->plan->arena, path, (size_t)(fill.text + fill.length - path));
        return true;
    }
    if (equals(fill, plan_fill_name(FILL_PERMUTATION))) {
        buffer->fill = FILL_PERMUTATION;
        return true;
    }
    if (starts(fill, "random(")) return read_range(reader, fill, buffer);
    if (!starts(fill, "iota(")) return read_value(reader, fill, buffer);
    ExpressionValue values[2];
    if (!read_two(reader, fill, values)) return false;
    buffer->fill = values[1].number != 0 ? FILL_IOTA : FILL_VALUE;
    buffer->first = values[0].number;
    buffer->step = values[1].number;
    plan_element_set(buffer->type, buffer->value, 0, buffer->first);
    return true;
}

/* NAME=@FILE.npy */
static bool read_array_file(ArgumentReader *reader, Span name, Span path) {
    NpyFile file;
    if (find_buffer(reader, name) >= 0)
        return error_set(reader->error, "--args: %.*s is defined twice; write only its name to pass it again",
                         shown(name), name.text);
    char *copy = arena_copy_text(&reader->plan->arena, path.text, path.length);
    if (!npy_read_head(copy, &file, reader->error)) return false;
    int index = plan_add_buffer(reader->plan, arena_copy_text(&reader->plan->arena, name.text, name.length),
                                file.type, file.count, FILL_FILE);
    reader->plan->buffers[index].path = copy;
    reader->plan->buffers[index].path_offset = file.data_bytes;
    plan_add_pointer(reader->plan, reader->launch, index);
    return true;
}

/* TYPE[COUNT] or TYPE[COUNT]:FILL; `bracket` is where '[' is. */
static bool read_buffer(ArgumentReader *reader, Span name, Span value, size_t bracket) {
    char type_name[16] = "";
    PtxType type;
    ExpressionValue count;
    Span type_span = cut(value, 0, bracket);
    size_t close = find(value, ']');
    if (type_span.length < sizeof type_name) memcpy(type_name, type_span.text, type_span.length);
    if (!plan_type_parse(type_name, &type))
        return error_set(reader->error,
                         "--args: '%.*s' is not a type; types are char, uchar, short, ushort, int, uint, "
                         "long, ulong, half, bfloat, float, double",
                         shown(type_span), type_span.text);
    if (close == value.length)
        return error_set(reader->error, "--args: ']' is missing in '%.*s'", shown(value), value.text);
    if (find_buffer(reader, name) >= 0)
        return error_set(reader->error, "--args: %.*s is defined twice; write only its name to pass it again",
                         shown(name), name.text);
    if (!evaluate(reader, cut(value, bracket + 1, close), &count)) return false;
    if (count.is_float || count.integer < 1 || count.integer > (int64_t)1 << 48)
        return error_set(reader->error,
                         "--args: %.*s has %.17g elements; a whole number from 1 to 2^48 is needed",
                         shown(name), name.text, count.number);
    char *copy = arena_copy_text(&reader->plan->arena, name.text, name.length);
    int index = plan_add_buffer(reader->plan, copy, type, (uint64_t)count.integer, FILL_ZERO);
    plan_add_pointer(reader->plan, reader->launch, index);
    Span rest = cut(value, close + 1, value.length);
    if (!rest.length) return true;
    if (rest.text[0] != ':')
        return error_set(reader->error, "--args: '%.*s' follows ']'; a fill begins with ':'", shown(rest),
                         rest.text);
    return read_fill(reader, cut(rest, 1, rest.length), &reader->plan->buffers[index]);
}

static bool fits(int64_t integer, uint64_t bytes) {
    if (bytes >= 8) return true;
    int64_t limit = (int64_t)1 << (8 * bytes);
    return integer < limit && integer >= -(limit / 2);
}

/* As the parameter's type says; a float for a parameter declared as bits (.b32, .b8 x[2]) becomes a float of
 * its size. */
static bool add_scalar(ArgumentReader *reader, Span span, const PtxVariable *parameter,
                       ExpressionValue value) {
    uint8_t bytes[16] = {0};
    int size = parameter->bytes > sizeof bytes ? 0 : (int)parameter->bytes;
    bool is_float = ptx_type_is_float(parameter->type);
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return error_set(reader->error,
                         "--args: parameter %d of the kernel is a structure of %" PRIu64
                         " bytes; give file:PATH, a file that holds them",
                         reader->launch->argument_count + 1, parameter->bytes);
    if (is_float || (value.is_float && size > 1)) {
        PtxType type = parameter->type == PTX_BF16 ? PTX_BF16
                       : size == 2                 ? PTX_F16
                       : size == 4                 ? PTX_F32
                                                   : PTX_F64;
        bool wants_integer =
            !is_float && (ptx_type_is_signed(parameter->type) || parameter->type == PTX_U16 ||
                          parameter->type == PTX_U32 || parameter->type == PTX_U64);
        if (wants_integer)
            return error_set(reader->error,
                             "--args: '%.*s' is not a whole number, but parameter %d of the kernel is",
                             shown(span), span.text, reader->launch->argument_count + 1);
        plan_element_set(type, bytes, 0, value.number);
    } else {
        if (value.is_float || !fits(value.integer, parameter->bytes))
            return error_set(reader->error,
                             "--args: '%.*s' does not fit the %d bytes of parameter %d of the kernel",
                             shown(span), span.text, size, reader->launch->argument_count + 1);
        for (int i = 0; i < size; i++) bytes[i] = (uint8_t)((uint64_t)value.integer >> (8 * i));
    }
    plan_add_scalar(reader->plan, reader->launch, bytes, size);
    return true;
}

/* file:PATH */
static bool read_structure(ArgumentReader *reader, Span path) {
    const PtxVariable *parameter = reader->entry->parameters[reader->launch->argument_count];
    char *bytes;
    size_t length;
    Error inner = {0};
    const char *copy = arena_copy_text(&reader->plan->arena, path.text, path.length);
    if (!text_read_file(copy, STRUCTURE_LIMIT_BYTES, &bytes, &length, &inner))
        return error_set(reader->error, "--args: %s", inner.message);
    bool fits_it = length == parameter->bytes;
    if (fits_it)
        plan_add_scalar(reader->plan, reader->launch, bytes, (int)length);
    else
        error_set(reader->error, "--args: %.*s has %zu bytes, and parameter %d of the kernel has %" PRIu64,
                  shown(path), path.text, length, reader->launch->argument_count + 1, parameter->bytes);
    free(bytes);
    return fits_it;
}

static bool read_scalar(ArgumentReader *reader, Span name, Span span) {
    const PtxVariable *parameter = reader->entry->parameters[reader->launch->argument_count];
    ExpressionValue value;
    if (!evaluate(reader, span, &value) || !add_scalar(reader, span, parameter, value)) return false;
    if (!name.length) return true;
    if (reader->name_count == NAMES) return error_set(reader->error, "--args: more than %d names", NAMES);
    char *copy = arena_copy_text(&reader->plan->arena, name.text, name.length);
    reader->names[reader->name_count++] = (ExpressionName){copy, value};
    return true;
}

static bool read_item(ArgumentReader *reader, Span item) {
    size_t equal = find(item, '=');
    Span name = {item.text, 0}, value = item;
    if (!item.length) return error_set(reader->error, "--args: an item is empty");
    if (equal < item.length) {
        name = cut(item, 0, equal);
        value = cut(item, equal + 1, item.length);
        if (!is_name(name))
            return error_set(reader->error, "--args: '%.*s' is not a name", shown(name), name.text);
    }
    if (name.length && value.length && value.text[0] == '@')
        return read_array_file(reader, name, cut(value, 1, value.length));
    size_t bracket = find(value, '[');
    if (bracket < value.length) {
        if (name.length) return read_buffer(reader, name, value, bracket);
        return error_set(reader->error, "--args: the buffer '%.*s' has no name; write NAME=%.*s",
                         shown(value), value.text, shown(value), value.text);
    }
    if (!name.length && value.length > 5 && memcmp(value.text, "file:", 5) == 0)
        return read_structure(reader, cut(value, 5, value.length));
    int buffer = name.length ? -1 : find_buffer(reader, value);
    if (buffer < 0) return read_scalar(reader, name, value);
    plan_add_pointer(reader->plan, reader->launch, buffer);
    return true;
}

/* The comma that ends an item, or the end: those within brackets belong to it. */
static size_t end_of_item(Span args) {
    int depth = 0;
    for (size_t i = 0; i < args.length; i++) {
        char c = args.text[i];
        depth += (c == '(') - (c == ')');
        if (c == ',' && depth <= 0) return i;
    }
    return args.length;
}

static int count_items(Span args) {
    int count = args.length > 0;
    for (size_t end; (end = end_of_item(args)) < args.length; count++)
        args = (Span){args.text + end + 1, args.length - end - 1};
    return count;
}

static bool read_items(ArgumentReader *reader, Span args) {
    int count = count_items(args);
    if (count != reader->entry->parameter_count)
        return error_set(reader->error, "--args: the kernel takes %d arguments, not %d",
                         reader->entry->parameter_count, count);
    for (int i = 0; i < count; i++) {
        size_t comma = end_of_item(args);
        if (!read_item(reader, cut(args, 0, comma))) return false;
        args = comma < args.length ? cut(args, comma + 1, args.length) : (Span){args.text, 0};
    }
    return true;
}

bool plan_parse_arguments(Plan *plan, PlanLaunch *launch, const PtxFunction *entry, const char *args,
                          const PlanVariables *variables, Error *error) {
    ArgumentReader reader = {.plan = plan, .launch = launch, .entry = entry, .error = error, .name_count = 3};
    reader.names[0] = (ExpressionName){"n", expression_integer((int64_t)variables->n)};
    reader.names[1] = (ExpressionName){"block", expression_integer((int64_t)variables->block)};
    reader.names[2] = (ExpressionName){"grid", expression_integer((int64_t)variables->grid)};
    return read_items(&reader, trim((Span){args, strlen(args)}));
}
