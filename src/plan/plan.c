/* Building a plan, and binding its launches to the addresses that a backend gave the buffers. */
#include "plan/plan.h"

#include <assert.h>
#include <stdlib.h>

int plan_add_buffer(Plan *plan, const char *name, PtxType type, uint64_t count, FillKind fill) {
    PlanBuffer buffer = {.type = type, .count = count, .fill = fill};
    buffer.name = arena_copy_string(&plan->arena, name);
    array_push(plan->buffers, plan->buffer_count, plan->buffer_capacity, buffer);
    return plan->buffer_count - 1;
}

/* The number of "in3" or "out" among the inputs or outputs, from 1; 0 for other names. */
static unsigned long number_of(const char *name, size_t length, bool *is_input) {
    *is_input = length >= 2 && !memcmp(name, "in", 2);
    size_t letters = *is_input ? 2 : 3;
    if (!*is_input && (length < 3 || memcmp(name, "out", 3) != 0)) return 0;
    unsigned long number = 0;
    for (size_t i = letters; i < length; i++) {
        if (name[i] < '0' || name[i] > '9' || number > PLAN_MOST_NUMBERED) return 0;
        number = 10 * number + (unsigned long)(name[i] - '0');
    }
    return length == letters ? 1 : number > 1 ? number : 0;
}

int plan_find_buffer(const Plan *plan, const char *name, size_t length) {
    bool wants_input;
    unsigned long number = number_of(name, length, &wants_input);
    for (int i = 0; i < plan->buffer_count; i++)
        if (strlen(plan->buffers[i].name) == length && !memcmp(plan->buffers[i].name, name, length)) return i;
    for (int i = 0; number && i < plan->buffer_count; i++) {
        FillKind fill = plan->buffers[i].fill;
        bool is_input = fill != FILL_ZERO && fill != FILL_VALUE;
        if (is_input == wants_input && --number == 0) return i;
    }
    return -1;
}

PlanLaunch *plan_add_launch(Plan *plan, const char *entry) {
    assert(plan->launch_count < PLAN_LAUNCHES);
    PlanLaunch *launch = &plan->launches[plan->launch_count++];
    *launch = (PlanLaunch){.grid = {1, 1, 1}, .block = {1, 1, 1}};
    launch->entry = arena_copy_string(&plan->arena, entry);
    return launch;
}

int plan_add_module(Plan *plan, const char *name, const char *ptx) {
    PlanModule module = {arena_copy_string(&plan->arena, name), arena_copy_string(&plan->arena, ptx)};
    array_push(plan->modules, plan->module_count, plan->module_capacity, module);
    return plan->module_count - 1;
}

void plan_add_write(Plan *plan, PlanLaunch *launch, int buffer, uint64_t offset, const void *bytes,
                    uint64_t byte_count) {
    PlanWrite write = {buffer, offset, byte_count, arena_copy(&plan->arena, bytes, (size_t)byte_count)};
    array_push(launch->writes, launch->write_count, launch->write_capacity, write);
}

void plan_add_pointer(Plan *plan, PlanLaunch *launch, int buffer) {
    assert(buffer >= 0 && buffer < plan->buffer_count);
    PlanArgument argument = {.buffer = buffer};
    array_push(launch->arguments, launch->argument_count, launch->argument_capacity, argument);
}

void plan_add_scalar(Plan *plan, PlanLaunch *launch, const void *bytes, int byte_count) {
    PlanArgument argument = {.buffer = -1, .byte_count = byte_count};
    argument.bytes = arena_copy(&plan->arena, bytes, (size_t)byte_count);
    array_push(launch->arguments, launch->argument_count, launch->argument_capacity, argument);
}

void plan_add_structure(Plan *plan, PlanLaunch *launch, const void *bytes, int byte_count,
                        const PlanPointer *pointers, int pointer_count) {
    plan_add_scalar(plan, launch, bytes, byte_count);
    PlanArgument *argument = &launch->arguments[launch->argument_count - 1];
    argument->pointers = pointers;
    argument->pointer_count = pointer_count;
}

void plan_add_tensor(Plan *plan, PlanLaunch *launch, int buffer, const TensorMap *map) {
    uint8_t bytes[TENSOR_MAP_BYTES];
    PlanPointer address = {.at = TENSOR_MAP_ADDRESS_AT, .buffer = buffer};
    tensor_map_encode(map, bytes);
    plan_add_structure(plan, launch, bytes, TENSOR_MAP_BYTES,
                       arena_copy(&plan->arena, &address, sizeof address), 1);
}

void plan_mark_buffers(const PlanLaunch *launch, int argument, bool *marked) {
    const PlanArgument *of = &launch->arguments[argument];
    if (of->buffer >= 0) marked[of->buffer] = true;
    for (int i = 0; i < of->pointer_count; i++) marked[of->pointers[i].buffer] = true;
}

static void copy_argument(const PlanArgument *from, Arena *arena, PlanArgument *to) {
    *to = *from;
    if (from->bytes) to->bytes = arena_copy(arena, from->bytes, (size_t)from->byte_count);
    if (from->pointers)
        to->pointers =
            arena_copy(arena, from->pointers, (size_t)from->pointer_count * sizeof *from->pointers);
}

static void copy_launch(const PlanLaunch *from, Plan *copy, PlanLaunch *to) {
    *to = *from;
    to->entry = arena_copy_string(&copy->arena, from->entry);
    to->arguments = NULL;
    to->argument_count = to->argument_capacity = 0;
    to->writes = NULL;
    to->write_count = to->write_capacity = 0;
    for (int i = 0; i < from->argument_count; i++) {
        PlanArgument argument;
        copy_argument(&from->arguments[i], &copy->arena, &argument);
        array_push(to->arguments, to->argument_count, to->argument_capacity, argument);
    }
    for (int i = 0; i < from->write_count; i++) {
        const PlanWrite *write = &from->writes[i];
        plan_add_write(copy, to, write->buffer, write->offset, write->bytes, write->byte_count);
    }
}

void plan_copy(const Plan *plan, Plan *copy) {
    *copy = (Plan){.launch_count = plan->launch_count,
                   .heap_bytes = plan->heap_bytes,
                   .has_trace_blocks = plan->has_trace_blocks,
                   .trace_first = plan->trace_first,
                   .trace_last = plan->trace_last,
                   .cancel = plan->cancel,
                   .threads = plan->threads};
    copy->expect = arena_copy_string(&copy->arena, plan->expect);
    for (int i = 0; i < plan->module_count; i++)
        plan_add_module(copy, plan->modules[i].name, plan->modules[i].ptx);
    for (int i = 0; i < plan->buffer_count; i++) {
        PlanBuffer buffer = plan->buffers[i];
        size_t bytes = (size_t)buffer.count * (size_t)ptx_type_bytes(buffer.type);
        buffer.name = arena_copy_string(&copy->arena, buffer.name);
        buffer.path = arena_copy_string(&copy->arena, buffer.path);
        buffer.variable = arena_copy_string(&copy->arena, buffer.variable);
        if (buffer.content) buffer.content = arena_copy(&copy->arena, buffer.content, bytes);
        buffer.bytes = NULL;
        array_push(copy->buffers, copy->buffer_count, copy->buffer_capacity, buffer);
    }
    for (int i = 0; i < plan->launch_count; i++) copy_launch(&plan->launches[i], copy, &copy->launches[i]);
}

void plan_free(Plan *plan) {
    for (int i = 0; i < plan->buffer_count; i++) free(plan->buffers[i].bytes);
    for (int i = 0; i < plan->launch_count; i++) {
        free(plan->launches[i].arguments);
        free(plan->launches[i].writes);
    }
    free(plan->modules);
    free(plan->buffers);
    arena_done(&plan->arena);
    *plan = (Plan){0};
}

static bool check_argument(const PtxFunction *entry, int index, const PlanArgument *argument, Error *error) {
    bool is_pointer = argument->buffer >= 0;
    uint64_t wanted = entry->parameters[index]->bytes,
             given = is_pointer ? sizeof(uint64_t) : (uint64_t)argument->byte_count;
    return wanted == given || error_set(error, "argument %d of %s: the parameter has %llu bytes, %s has %llu",
                                        index + 1, entry->name, (unsigned long long)wanted,
                                        is_pointer ? "a pointer" : "the value", (unsigned long long)given);
}

static void write_argument(const PlanArgument *argument, const uint64_t *addresses, uint8_t *to) {
    PlanPointer whole = {.buffer = argument->buffer, .offset = argument->offset};
    bool is_pointer = argument->buffer >= 0;
    const PlanPointer *pointers = is_pointer ? &whole : argument->pointers;
    if (!is_pointer) memcpy(to, argument->bytes, (size_t)argument->byte_count);
    for (int i = 0; i < (is_pointer ? 1 : argument->pointer_count); i++) {
        uint64_t address = addresses[pointers[i].buffer] + pointers[i].offset;
        memcpy(to + pointers[i].at, &address, sizeof address);
    }
}

bool plan_bind_launch(const PlanLaunch *planned, const PtxProgram *program, const uint64_t *addresses,
                      Launch *launch, Error *error) {
    const PtxFunction *entry = program->entry;
    size_t bytes = 0, end = 0;
    if (planned->argument_count != entry->parameter_count)
        return error_set(error, "%s takes %d arguments, not %d: give --args an item for each", entry->name,
                         entry->parameter_count, planned->argument_count);
    for (int i = 0; i < entry->parameter_count; i++) {
        if (!check_argument(entry, i, &planned->arguments[i], error)) return false;
        launch_parameter_offset(entry->parameters[i], &bytes);
    }
    *launch = (Launch){.program = program,
                       .grid = {planned->grid[0], planned->grid[1], planned->grid[2]},
                       .block = {planned->block[0], planned->block[1], planned->block[2]},
                       .cluster = {planned->cluster[0], planned->cluster[1], planned->cluster[2]},
                       .dynamic_shared_bytes = planned->dynamic_shared_bytes,
                       .cooperative = planned->cooperative,
                       .parameters = memory_new(bytes),
                       .parameter_bytes = bytes};
    for (int i = 0; i < entry->parameter_count; i++) {
        uint8_t *to = launch->parameters + launch_parameter_offset(entry->parameters[i], &end);
        write_argument(&planned->arguments[i], addresses, to);
    }
    return true;
}
