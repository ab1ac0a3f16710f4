/* Building a plan, and laying its arguments out as an entry wants them. */
#include "catalog/plan.h"

#include <assert.h>
#include <stdlib.h>

int plan_add_buffer(Plan *plan, const char *name, PtxType type, uint64_t count, FillKind fill) {
    PlanBuffer buffer = {.type = type, .count = count, .fill = fill};
    buffer.name = arena_copy_text(&plan->arena, name, strlen(name));
    array_push(plan->buffers, plan->buffer_count, plan->buffer_capacity, buffer);
    return plan->buffer_count - 1;
}

PlanLaunch *plan_add_launch(Plan *plan, const char *entry) {
    assert(plan->launch_count < PLAN_LAUNCHES);
    PlanLaunch *launch = &plan->launches[plan->launch_count++];
    *launch = (PlanLaunch){.grid = {1, 1, 1}, .block = {1, 1, 1}};
    launch->entry = arena_copy_text(&plan->arena, entry, strlen(entry));
    return launch;
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

void plan_free(Plan *plan) {
    for (int i = 0; i < plan->buffer_count; i++) free(plan->buffers[i].bytes);
    for (int i = 0; i < plan->launch_count; i++) free(plan->launches[i].arguments);
    free(plan->buffers);
    arena_done(&plan->arena);
    *plan = (Plan){0};
}

/* "Kernel Function Parameter Attributes" and ".param" in the PTX ISA: parameters lie one after the other,
 * each at a multiple of its alignment. */
bool plan_pack_arguments(const PlanLaunch *launch, const PtxFunction *entry,
                         uint64_t (*address_of)(void *context, int buffer), void *context, uint8_t **bytes,
                         size_t *byte_count, Error *error) {
    if (launch->argument_count != entry->parameter_count)
        return error_set(error, "%s takes %d arguments, not %d: give --args an item for each", entry->name,
                         entry->parameter_count, launch->argument_count);
    size_t size = 0;
    for (int i = 0; i < entry->parameter_count; i++) {
        const PtxVariable *parameter = entry->parameters[i];
        const PlanArgument *argument = &launch->arguments[i];
        uint64_t wanted = parameter->bytes,
                 given = argument->buffer >= 0 ? 8 : (uint64_t)argument->byte_count;
        if (wanted != given)
            return error_set(error, "argument %d of %s: the parameter has %llu bytes, %s has %llu", i + 1,
                             entry->name, (unsigned long long)wanted,
                             argument->buffer >= 0 ? "a pointer" : "the value", (unsigned long long)given);
        size_t alignment = parameter->alignment > 0 ? (size_t)parameter->alignment : 1;
        size = (size + alignment - 1) / alignment * alignment + (size_t)wanted;
    }
    *bytes = memory_new(size);
    *byte_count = size;
    size_t at = 0;
    for (int i = 0; i < entry->parameter_count; i++) {
        const PlanArgument *argument = &launch->arguments[i];
        size_t alignment = entry->parameters[i]->alignment > 0 ? (size_t)entry->parameters[i]->alignment : 1;
        at = (at + alignment - 1) / alignment * alignment;
        uint64_t address =
            argument->buffer >= 0 ? address_of(context, argument->buffer) + argument->offset : 0;
        memcpy(*bytes + at, argument->buffer >= 0 ? (const void *)&address : argument->bytes,
               (size_t)entry->parameters[i]->bytes);
        at += (size_t)entry->parameters[i]->bytes;
    }
    return true;
}
