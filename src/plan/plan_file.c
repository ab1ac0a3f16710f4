/* A plan file: the line "redviz plan 2", then items in the order of plan_write() and get_plan(). An item is a
 * whole number and a blank, or LENGTH:BYTES and a blank. */
#include "plan/plan_file.h"

#include "plan/launches.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const char HEAD[] = "redviz plan 2\n";

enum {
    MOST_MODULES = 4096,
    MOST_BUFFERS = 1 << 16,
    MOST_HEAP = 1 << 30,
    MOST_ARGUMENTS = 4096,
    MOST_WRITES = 1 << 16
};

/* ---- as text -------------------------------------------------------------------------------------------- */

typedef struct PlanPrinter {
    const Plan *plan;
    bool *is_named; /* [buffer] the text already defines it */
    Text *out;
    Error *error;
} PlanPrinter;

/* "float[1024]:random(0,9)" */
static bool print_new_buffer(const PlanPrinter *printer, const PlanBuffer *buffer) {
    Text *out = printer->out;
    if (buffer->fill == FILL_CONTENT || buffer->scale != 0 || buffer->whole_numbers)
        return error_set(printer->error, "--launch cannot say what '%s' contains", buffer->name);
    text_print(out, "%s=", buffer->name);
    if (buffer->path_offset) {
        text_print(out, "@%s", buffer->path);
        return true;
    }
    text_print(out, "%s[%" PRIu64 "]:", plan_type_name(buffer->type), buffer->count);
    if (buffer->fill == FILL_VALUE)
        plan_element_print(buffer->type, buffer->value, 0, out);
    else
        plan_fill_print(buffer, out);
    if (buffer->fill == FILL_FILE) text_print(out, ":%s", buffer->path);
    return true;
}

static bool print_pointer(const PlanPrinter *printer, int index, uint64_t offset) {
    const PlanBuffer *buffer = &printer->plan->buffers[index];
    uint64_t bytes = (uint64_t)ptx_type_bytes(buffer->type);
    if (!printer->is_named[index]) {
        printer->is_named[index] = true;
        if (!offset) return print_new_buffer(printer, buffer);
        return error_set(printer->error, "--launch cannot begin with a pointer into '%s'", buffer->name);
    }
    if (offset % bytes)
        return error_set(printer->error, "--launch cannot say a pointer between two elements of '%s'",
                         buffer->name);
    if (offset)
        text_print(printer->out, "&%s[%" PRIu64 "]", buffer->name, offset / bytes);
    else
        text_add(printer->out, buffer->name);
    return true;
}

/* Its bytes, and pointers where they stand: {&in, (char)7, ...}. */
static bool print_structure(const PlanPrinter *printer, const PlanArgument *argument) {
    int next = 0;
    text_add(printer->out, "{");
    for (int at = 0; at < argument->byte_count;) {
        const PlanPointer *pointer = next < argument->pointer_count && argument->pointers[next].at == at
                                         ? &argument->pointers[next]
                                         : NULL;
        text_add(printer->out, at ? ", " : "");
        if (pointer && !print_pointer(printer, pointer->buffer, pointer->offset)) return false;
        if (!pointer) text_print(printer->out, "(char)%d", (int8_t)argument->bytes[at]);
        at += pointer ? 8 : 1;
        next += pointer != NULL;
    }
    text_add(printer->out, "}");
    return true;
}

static bool print_argument(const PlanPrinter *printer, const PlanArgument *argument,
                           const PtxVariable *parameter) {
    static const PtxType whole[] = {[1] = PTX_S8, [2] = PTX_S16, [4] = PTX_S32, [8] = PTX_S64};
    if (argument->buffer >= 0) return print_pointer(printer, argument->buffer, argument->offset);
    int bytes = argument->byte_count;
    bool is_number = !argument->pointer_count && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
                     ptx_type_bytes(parameter->type) == bytes;
    if (!is_number) return print_structure(printer, argument);
    PtxType type = ptx_type_is_float(parameter->type) ? parameter->type : whole[bytes];
    if (!isfinite(plan_element(type, argument->bytes, 0)))
        return error_set(printer->error, "--launch cannot say a number that is not finite");
    plan_element_print(type, argument->bytes, 0, printer->out);
    return true;
}

static bool print_launch(const PlanPrinter *printer, const PlanLaunch *launch, PtxModule *module) {
    PtxFunction *entry = ptx_module_find_entry(module, launch->entry, printer->error);
    Text arguments = {0};
    PlanPrinter items = *printer;
    items.out = &arguments;
    bool good =
        entry && (!launch->write_count ||
                  error_set(printer->error, "--launch cannot say what the host writes between launches"));
    for (int i = 0; good && i < launch->argument_count && i < entry->parameter_count; i++) {
        text_add(&arguments, i ? ", " : "");
        good = print_argument(&items, &launch->arguments[i], entry->parameters[i]);
    }
    if (good)
        launches_print(ptx_readable_name(module, entry->name), launch, text_string(&arguments), printer->out);
    text_done(&arguments);
    return good;
}

bool plan_print(const Plan *plan, PtxModule *const *modules, Text *out, Error *error) {
    bool good = true;
    PlanPrinter printer = {
        .plan = plan, .is_named = memory_new((size_t)plan->buffer_count + 1), .out = out, .error = error};
    for (int i = 0; good && i < plan->launch_count; i++) {
        text_add(out, i ? "; " : "");
        good = print_launch(&printer, &plan->launches[i], modules[plan->launches[i].module]);
    }
    free(printer.is_named);
    return good;
}

/* ---- writing -------------------------------------------------------------------------------------------- */

static void put_number(Text *out, uint64_t number) {
    text_print(out, "%" PRIu64 " ", number);
}

static void put_real(Text *out, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    put_number(out, bits);
}

static void put_bytes(Text *out, const void *bytes, uint64_t length) {
    text_print(out, "%" PRIu64 ":", length);
    text_add_bytes(out, bytes, (size_t)length);
    text_add(out, " ");
}

/* NULL becomes the number 0. */
static void put_text(Text *out, const char *text) {
    if (text)
        put_bytes(out, text, strlen(text));
    else
        put_number(out, 0);
}

static void put_size(Text *out, const uint32_t size[3]) {
    for (int i = 0; i < 3; i++) put_number(out, size[i]);
}

static uint64_t bytes_of(const PlanBuffer *buffer) {
    return buffer->count * (uint64_t)ptx_type_bytes(buffer->type);
}

static void put_buffer(Text *out, const PlanBuffer *buffer) {
    put_text(out, buffer->name);
    put_text(out, plan_type_name(buffer->type));
    put_number(out, buffer->count);
    put_number(out, buffer->address);
    put_text(out, buffer->variable);
    put_text(out, plan_fill_name(buffer->fill));
    put_text(out, buffer->path);
    put_number(out, buffer->path_offset);
    put_real(out, buffer->first);
    put_real(out, buffer->step);
    put_number(out, buffer->has_range);
    put_real(out, buffer->low);
    put_real(out, buffer->high);
    put_bytes(out, buffer->value, sizeof buffer->value);
    put_real(out, buffer->scale);
    put_number(out, buffer->whole_numbers);
    if (buffer->fill == FILL_CONTENT) put_bytes(out, buffer->content, bytes_of(buffer));
}

static void put_argument(Text *out, const PlanArgument *argument) {
    bool is_pointer = argument->buffer >= 0;
    put_number(out, is_pointer);
    if (is_pointer) {
        put_number(out, (uint64_t)argument->buffer);
        put_number(out, argument->offset);
        return;
    }
    put_bytes(out, argument->bytes, (uint64_t)argument->byte_count);
    put_number(out, (uint64_t)argument->pointer_count);
    for (int i = 0; i < argument->pointer_count; i++) {
        put_number(out, (uint64_t)argument->pointers[i].at);
        put_number(out, (uint64_t)argument->pointers[i].buffer);
        put_number(out, argument->pointers[i].offset);
    }
}

static void put_launch(Text *out, const PlanLaunch *launch) {
    put_number(out, (uint64_t)launch->module);
    put_text(out, launch->entry);
    put_size(out, launch->grid);
    put_size(out, launch->block);
    put_size(out, launch->cluster);
    put_number(out, launch->dynamic_shared_bytes);
    put_number(out, launch->cooperative);
    put_number(out, (uint64_t)launch->argument_count);
    for (int i = 0; i < launch->argument_count; i++) put_argument(out, &launch->arguments[i]);
    put_number(out, (uint64_t)launch->write_count);
    for (int i = 0; i < launch->write_count; i++) {
        put_number(out, (uint64_t)launch->writes[i].buffer);
        put_number(out, launch->writes[i].offset);
        put_bytes(out, launch->writes[i].bytes, launch->writes[i].byte_count);
    }
}

void plan_write(const Plan *plan, Text *out) {
    text_add(out, HEAD);
    put_number(out, (uint64_t)plan->module_count);
    for (int i = 0; i < plan->module_count; i++) {
        put_text(out, plan->modules[i].name);
        put_text(out, plan->modules[i].ptx);
    }
    put_number(out, (uint64_t)plan->buffer_count);
    for (int i = 0; i < plan->buffer_count; i++) put_buffer(out, &plan->buffers[i]);
    put_number(out, (uint64_t)plan->launch_count);
    for (int i = 0; i < plan->launch_count; i++) put_launch(out, &plan->launches[i]);
    put_number(out, plan->heap_bytes);
    put_number(out, plan->has_trace_blocks);
    put_number(out, plan->trace_first);
    put_number(out, plan->trace_last);
    put_text(out, plan->expect);
}

bool plan_is_equal(const Plan *a, const Plan *b) {
    Text one = {0}, other = {0};
    plan_write(a, &one);
    plan_write(b, &other);
    bool is_equal = one.length == other.length && !memcmp(one.data, other.data, one.length);
    text_done(&one);
    text_done(&other);
    return is_equal;
}

/* ---- reading -------------------------------------------------------------------------------------------- */

typedef struct PlanReader {
    const char *begin, *at, *end;
    Plan *plan;
    Error *error; /* of the first wrong item */
    bool failed;
} PlanReader;

static void fail(PlanReader *reader, const char *why) {
    if (!reader->failed)
        error_set(reader->error, "the plan is damaged at byte %zu: %s", (size_t)(reader->at - reader->begin),
                  why);
    reader->failed = true;
    reader->at = reader->end;
}

/* The number before `closing`; 0 if it is wrong. */
static uint64_t get_digits(PlanReader *reader, char closing, uint64_t most) {
    uint64_t number = 0;
    const char *first = reader->at;
    for (; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++) {
        uint64_t digit = (uint64_t)(*reader->at - '0');
        if (number > (UINT64_MAX - digit) / 10) break;
        number = 10 * number + digit;
    }
    if (reader->at == first || reader->at == reader->end || *reader->at != closing || number > most) {
        fail(reader, "no such number");
        return 0;
    }
    reader->at++;
    return number;
}

static uint64_t get_number(PlanReader *reader, uint64_t most) {
    return get_digits(reader, ' ', most);
}

static double get_real(PlanReader *reader) {
    uint64_t bits = get_number(reader, UINT64_MAX);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* A copy in the plan's arena, terminated. */
static const char *get_bytes(PlanReader *reader, uint64_t *length) {
    *length = get_digits(reader, ':', (uint64_t)(reader->end - reader->at));
    if (reader->failed || *length >= (uint64_t)(reader->end - reader->at) || reader->at[*length] != ' ') {
        fail(reader, "it ends within a text");
        *length = 0;
        return "";
    }
    const char *copy = arena_copy_text(&reader->plan->arena, reader->at, (size_t)*length);
    reader->at += *length + 1;
    return copy;
}

/* May be NULL. */
static const char *get_text(PlanReader *reader) {
    uint64_t length;
    bool is_none = reader->end - reader->at >= 2 && !memcmp(reader->at, "0 ", 2);
    if (is_none) reader->at += 2;
    const char *text = is_none ? NULL : get_bytes(reader, &length);
    if (text && strlen(text) != length) fail(reader, "a zero within a text");
    return text;
}

static const char *get_name(PlanReader *reader) {
    const char *text = get_text(reader);
    if (!text || !*text) fail(reader, "a name is missing");
    return text ? text : "";
}

static void get_size(PlanReader *reader, uint32_t size[3], bool may_be_zero) {
    for (int i = 0; i < 3; i++) {
        size[i] = (uint32_t)get_number(reader, UINT32_MAX);
        if (!size[i] && !may_be_zero) fail(reader, "a size is 0");
    }
}

static FillKind get_fill(PlanReader *reader) {
    const char *name = get_name(reader);
    for (int fill = FILL_ZERO; fill <= FILL_CONTENT; fill++)
        if (!strcmp(name, plan_fill_name((FillKind)fill))) return (FillKind)fill;
    fail(reader, "no such fill");
    return FILL_ZERO;
}

static void get_buffer(PlanReader *reader) {
    const char *name = get_name(reader), *type_name = get_name(reader);
    uint64_t length;
    PlanBuffer buffer = {.name = name, .count = get_number(reader, UINT64_MAX / 16)};
    if (!plan_type_parse(type_name, &buffer.type)) fail(reader, "no such type");
    if (!buffer.count) fail(reader, "a buffer has no element");
    buffer.address = get_number(reader, UINT64_MAX);
    if (buffer.address % PLAN_ALIGNMENT) fail(reader, "an address is not aligned");
    buffer.variable = get_text(reader);
    buffer.fill = get_fill(reader);
    buffer.path = get_text(reader);
    if ((buffer.fill == FILL_FILE) != (buffer.path != NULL)) fail(reader, "a path is missing");
    buffer.path_offset = get_number(reader, INT64_MAX);
    buffer.first = get_real(reader);
    buffer.step = get_real(reader);
    buffer.has_range = get_number(reader, 1);
    buffer.low = get_real(reader);
    buffer.high = get_real(reader);
    const char *value = get_bytes(reader, &length);
    if (length == sizeof buffer.value)
        memcpy(buffer.value, value, sizeof buffer.value);
    else
        fail(reader, "a value has not 8 bytes");
    buffer.scale = get_real(reader);
    buffer.whole_numbers = get_number(reader, 1);
    if (buffer.fill == FILL_CONTENT && !reader->failed) {
        buffer.content = get_bytes(reader, &length);
        if (length != bytes_of(&buffer)) fail(reader, "a content has another size than its buffer");
    }
    if (reader->failed) return;
    Plan *plan = reader->plan;
    array_push(plan->buffers, plan->buffer_count, plan->buffer_capacity, buffer);
}

/* A buffer and an offset within it, or its end. */
static int get_place(PlanReader *reader, uint64_t *offset) {
    const Plan *plan = reader->plan;
    int buffer = (int)get_number(reader, MOST_BUFFERS);
    *offset = get_number(reader, UINT64_MAX);
    if (buffer < plan->buffer_count && *offset <= bytes_of(&plan->buffers[buffer])) return buffer;
    fail(reader, "no such place in a buffer");
    return 0;
}

static void get_structure(PlanReader *reader, PlanArgument *argument) {
    uint64_t length;
    argument->buffer = -1;
    argument->bytes = (const uint8_t *)get_bytes(reader, &length);
    if (length > INT32_MAX) fail(reader, "an argument is too large");
    argument->byte_count = (int)length;
    argument->pointer_count = (int)get_number(reader, length / 8);
    if (!argument->pointer_count || reader->failed) return;
    PlanPointer *pointers =
        arena_new(&reader->plan->arena, (size_t)argument->pointer_count * sizeof *pointers);
    for (int i = 0; i < argument->pointer_count && !reader->failed; i++) {
        pointers[i].at = (int)get_number(reader, length - 8);
        pointers[i].buffer = get_place(reader, &pointers[i].offset);
    }
    argument->pointers = pointers;
}

static void get_argument(PlanReader *reader, PlanLaunch *launch) {
    PlanArgument argument = {.buffer = -1};
    if (get_number(reader, 1))
        argument.buffer = get_place(reader, &argument.offset);
    else
        get_structure(reader, &argument);
    array_push(launch->arguments, launch->argument_count, launch->argument_capacity, argument);
}

static void get_host_write(PlanReader *reader, PlanLaunch *launch) {
    PlanWrite write = {0};
    write.buffer = get_place(reader, &write.offset);
    write.bytes = get_bytes(reader, &write.byte_count);
    if (reader->failed) return;
    if (write.byte_count > bytes_of(&reader->plan->buffers[write.buffer]) - write.offset)
        fail(reader, "the host writes behind a buffer");
    array_push(launch->writes, launch->write_count, launch->write_capacity, write);
}

static void get_launch(PlanReader *reader) {
    Plan *plan = reader->plan;
    int module = (int)get_number(reader, MOST_MODULES);
    if (module && module >= plan->module_count) fail(reader, "no such module");
    const char *entry = get_name(reader);
    if (reader->failed) return;
    PlanLaunch *launch = plan_add_launch(plan, entry);
    launch->module = module;
    get_size(reader, launch->grid, false);
    get_size(reader, launch->block, false);
    get_size(reader, launch->cluster, true);
    launch->dynamic_shared_bytes = (uint32_t)get_number(reader, UINT32_MAX);
    launch->cooperative = get_number(reader, 1);
    int arguments = (int)get_number(reader, MOST_ARGUMENTS);
    for (int i = 0; i < arguments && !reader->failed; i++) get_argument(reader, launch);
    int writes = (int)get_number(reader, MOST_WRITES);
    for (int i = 0; i < writes && !reader->failed; i++) get_host_write(reader, launch);
}

static void get_plan(PlanReader *reader) {
    Plan *plan = reader->plan;
    int modules = (int)get_number(reader, MOST_MODULES);
    for (int i = 0; i < modules && !reader->failed; i++) {
        const char *name = get_name(reader), *ptx = get_name(reader);
        plan_add_module(plan, name, ptx);
    }
    int buffers = (int)get_number(reader, MOST_BUFFERS);
    for (int i = 0; i < buffers && !reader->failed; i++) get_buffer(reader);
    int launches = (int)get_number(reader, PLAN_LAUNCHES);
    for (int i = 0; i < launches && !reader->failed; i++) get_launch(reader);
    if (!launches) fail(reader, "it launches nothing");
    plan->heap_bytes = get_number(reader, MOST_HEAP);
    plan->has_trace_blocks = get_number(reader, 1);
    plan->trace_first = (uint32_t)get_number(reader, UINT32_MAX);
    plan->trace_last = (uint32_t)get_number(reader, UINT32_MAX);
    plan->expect = get_text(reader);
    if (!reader->failed && reader->at != reader->end) fail(reader, "there is more behind its end");
}

bool plan_read(const char *bytes, size_t length, Plan *plan, Error *error) {
    size_t head = sizeof HEAD - 1;
    *plan = (Plan){0};
    if (length < head || memcmp(bytes, HEAD, head) != 0)
        return error_set(error, "this is not a plan: it does not begin with 'redviz plan 2'");
    PlanReader reader = {
        .begin = bytes, .at = bytes + head, .end = bytes + length, .plan = plan, .error = error};
    get_plan(&reader);
    if (reader.failed) plan_free(plan);
    return !reader.failed;
}
