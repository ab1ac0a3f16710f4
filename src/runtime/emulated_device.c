/* The modules, kernels and variables of a device. */
#define _GNU_SOURCE
#include "runtime/emulated_device.h"

#include "runtime/fatbin.h"
#include "runtime/join_ptx.h"
#include "runtime/launch_order.h"

#include "ptx/ptx_check.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    USUAL_REGISTERS = 32,
    MOST_THREADS = 1024,
};

enum { /* cudaError_t */
       GOOD = 0,
       INVALID_SYMBOL = 13,
       INVALID_DEVICE_FUNCTION = 98,
       NO_KERNEL_IMAGE = 209,
       INVALID_PTX = 218
};

static void *place_variable(void *context, const PtxVariable *variable, uint64_t *address);
Device *device_new(Captured *capture, int file, uint64_t address, uint64_t bytes, Error *error) {
    Device *device = memory_new(sizeof *device);
    *device = (Device){
        .capture = capture, .window = address, .window_bytes = bytes, .next = address, .running = -1};
    device->order = launch_order_new();
    device->host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (device->host == MAP_FAILED) {
        launch_order_free(device->order);
        free(device);
        error_set(error, "there is no room for %.0f GB of device memory among this process's addresses",
                  (double)bytes * 1e-9);
        return NULL;
    }
    EmulatorOptions options = {.trace_most = 1 << 20, /* a launch may never end */
                               .touched = device_touched,
                               .place_variable = place_variable,
                               .context = device,
                               .cancel = &device->cancel};
    device->emulator = emulator_new(&options);
    emulator_place_next(device->emulator, address + bytes); /* its heap and the like */
    return device;
}

void device_free(Device *device) {
    if (!device) return;
    emulator_free(device->emulator);
    for (int i = 0; i < device->function_count; i++) ptx_program_free(device->functions[i].program);
    for (int i = 0; i < device->module_count; i++) {
        ptx_module_free(device->modules[i]->module);
        text_done(&device->modules[i]->ptx);
        free(device->modules[i]);
    }
    munmap(device->host, device->window_bytes);
    text_done(&device->printed);
    launch_order_free(device->order);
    free(device->modules);
    free(device->functions);
    free(device->live);
    free(device->free_places);
    free(device);
}

/* ---- modules ------------------------------------------------------------------------------------------- */

static DeviceModule *find_module(const Device *device, uint32_t number) {
    for (int i = 0; i < device->module_count; i++)
        if (device->modules[i]->number == number) return device->modules[i];
    return NULL;
}

void device_add_module(Device *device, const MessageModule *head, const void *bytes, size_t count) {
    DeviceModule *module = find_module(device, head->number);
    if (!module) {
        module = memory_new(sizeof *module);
        *module = (DeviceModule){.number = head->number, .captured = -1};
        array_push(device->modules, device->module_count, device->module_capacity, module);
    }
    Text text = {0};
    bool good = true;
    if (head->format == FORMAT_FATBIN)
        good = fatbin_find_ptx(bytes, count, FATBIN_NEWEST, &text, NULL, &module->why);
    else if (head->format == FORMAT_PTX)
        text_add_bytes(&text, bytes, strnlen(bytes, count));
    else
        good = error_set(&module->why, "it has machine code and no PTX; %s", fatbin_remedy);
    /* NVIDIA's own parts of a linked program have no PTX that is of use. */
    bool is_joined = !good || join_ptx(&module->ptx, module->text_count, text_string(&text), &module->why);
    if (good && is_joined) module->text_count++;
    if (module->error != INVALID_PTX) module->error = module->text_count > 0 ? GOOD : NO_KERNEL_IMAGE;
    if (!is_joined) module->error = INVALID_PTX;
    text_done(&text);
}

/* Says that a line of it is none of its first source; else a number. */
static const char *name_of_module(const Device *device, const DeviceModule *module) {
    Arena *arena = &device->capture->arena;
    for (int i = 0; i < module->module->file_count; i++)
        if (text_ends_with(module->module->files[i].path, ".cu"))
            return arena_print(arena, "%s (as PTX)", module->module->files[i].path);
    return arena_print(arena, "module %u", module->number);
}

/* Parses the module at its first use. */
static bool prepare(Device *device, DeviceModule *module) {
    if (module->is_tried || module->error) return module->module;
    module->is_tried = true;
    if (module->text_count > 1) join_ptx_finish(&module->ptx);
    module->module =
        ptx_module_parse(text_string(&module->ptx), module->ptx.length, "the program's PTX", &module->why);
    if (module->module && !emulator_load_module(device->emulator, module->module, &module->why)) {
        ptx_module_free(module->module);
        module->module = NULL;
    }
    module->error = module->module ? GOOD : INVALID_PTX;
    if (!module->module) return false;
    Captured *capture = device->capture;
    CapturedModule captured = {name_of_module(device, module),
                               arena_copy_string(&capture->arena, text_string(&module->ptx))};
    array_push(capture->modules, capture->module_count, capture->module_capacity, captured);
    module->captured = capture->module_count - 1;
    for (int i = 0; i < capture->memory_count; i++) /* its variables have been placed */
        if (capture->memories[i].variable && capture->memories[i].module < 0)
            capture->memories[i].module = module->captured;
    return true;
}

static void *place_variable(void *context, const PtxVariable *variable, uint64_t *address) {
    Device *device = context;
    uint64_t bytes = variable->bytes ? variable->bytes : 1;
    *address = device_find_place(device, bytes);
    if (!*address) return NULL;
    CapturedMemory memory = {.address = *address,
                             .bytes = bytes,
                             .kind = MEMORY_DEVICE,
                             .variable = arena_copy_string(&device->capture->arena, variable->name),
                             .module = -1};
    memory.name = memory.variable;
    int index = device_add_memory(device, &memory);
    device_mark_written(&device->capture->memories[index], 0, bytes);
    return device->host + (*address - device->window);
}

/* ---- functions and variables --------------------------------------------------------------------------- */

/* Adds a fault of the program that a question met. */
static void note_fault(Device *device, const char *call, int32_t error, const char *what) {
    Captured *capture = device->capture;
    CapturedFault fault = {.kind = CAPTURED_CALL_FAILED,
                           .device = device->index,
                           .error = error,
                           .call = call,
                           .what = arena_copy_string(&capture->arena, what),
                           .after = capture->launch_count};
    array_push(capture->faults, capture->fault_count, capture->fault_capacity, fault);
}

/* A clock, printed text and the heap make each launch another one. */
static bool is_fixed(const PtxProgram *program) {
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        for (int i = 0; i < in->operand_count; i++) {
            const PtxOperand *operand = &in->operands[i];
            if (operand->kind == PTX_OPERAND_SPECIAL &&
                (strstr(operand->name, "clock") || strstr(operand->name, "timer")))
                return false;
            if (operand->kind == PTX_OPERAND_FUNCTION && operand->name && ptx_external_find(operand->name))
                return false;
        }
    }
    return true;
}

static bool link_function(Device *device, int module_index, const char *name, DeviceFunction *function,
                          int32_t *code, Error *error) {
    DeviceModule *module = device->modules[module_index];
    PtxFunction *entry = ptx_module_find(module->module, name);
    *code = INVALID_DEVICE_FUNCTION;
    if (!entry || !entry->has_body) return error_set(error, "no kernel is called '%s'", name);
    *code = INVALID_PTX;
    function->module = module_index;
    function->program = ptx_program_link(module->module, entry, error);
    if (!function->program || !ptx_program_check(function->program, error)) return false;
    size_t bytes = 0;
    for (int i = 0; i < entry->parameter_count; i++) launch_parameter_offset(entry->parameters[i], &bytes);
    function->parameter_bytes = (uint32_t)bytes;
    function->is_fixed = is_fixed(function->program);
    Launch launch = {.program = function->program,
                     .grid = {1, 1, 1},
                     .block = {1, 1, 1},
                     .parameters = memory_new(bytes + 1),
                     .parameter_bytes = bytes};
    Arena arena = {0};
    const EmulatorUnsupported *list;
    int count;
    for (int d = 0; d < 3; d++) {
        if (entry->required_threads[d]) launch.block[d] = entry->required_threads[d];
        if (entry->required_cluster[d]) launch.grid[d] = entry->required_cluster[d];
    }
    if (entry->needs_cluster && !entry->required_cluster[0])
        launch.cluster[0] = launch.cluster[1] = launch.cluster[2] = 1;
    bool good = emulator_unsupported(device->emulator, &launch, &arena, &list, &count, error) &&
                emulator_static_shared(device->emulator, &launch, &function->static_shared_bytes, error);
    if (good && count) function->unsupported = arena_copy_string(&device->capture->arena, list[0].why);
    free(launch.parameters);
    arena_done(&arena);
    return good;
}

static uint64_t aligned(uint64_t bytes, int alignment) {
    uint64_t unit = alignment > 0 ? (uint64_t)alignment : 1;
    return (bytes + unit - 1) / unit * unit;
}

/* What the linked functions declare as .local. */
static uint64_t local_bytes(const PtxProgram *program) {
    uint64_t bytes = 0;
    for (int f = 0; f < program->function_count; f++) {
        const PtxFunction *function = program->functions[f].function;
        for (int i = 0; i < function->statement_count; i++) {
            const PtxVariable *variable = function->statements[i].variable;
            if (function->statements[i].kind == PTX_STATEMENT_VARIABLE && variable->space == PTX_SPACE_LOCAL)
                bytes = aligned(bytes, variable->alignment) + variable->bytes;
        }
    }
    return aligned(bytes, 8); /* ptxas 13.0 */
}

/* Of the module, as ptxas counts them. */
static uint64_t constant_bytes(const PtxModule *module) {
    uint64_t bytes = 0;
    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i]->space == PTX_SPACE_CONST)
            bytes = aligned(bytes, module->variables[i]->alignment) + module->variables[i]->bytes;
    return bytes;
}

static void describe(const DeviceFunction *function, MessageFunction *answer, MessageParameter **parameters) {
    assert(function->program);
    const PtxFunction *entry = function->program->entry;
    size_t end = 0;
    uint32_t most = 1;
    answer->parameter_count = (uint32_t)entry->parameter_count;
    answer->parameter_bytes = function->parameter_bytes;
    answer->static_shared_bytes = function->static_shared_bytes;
    answer->registers = USUAL_REGISTERS;
    answer->local_bytes = (uint32_t)local_bytes(function->program);
    answer->constant_bytes = (uint32_t)constant_bytes(function->program->module);
    for (int d = 0; d < 3; d++) {
        answer->required_threads[d] = entry->required_threads[d];
        answer->required_cluster[d] = entry->required_cluster[d];
        if (entry->maximum_threads[d]) most *= entry->maximum_threads[d];
    }
    answer->max_threads = entry->maximum_threads[0] && most < MOST_THREADS ? most : MOST_THREADS;
    answer->ptx_version = (uint32_t)atoi(function->program->module->target + strlen("sm_"));
    *parameters = memory_new(((size_t)entry->parameter_count + 1) * sizeof **parameters);
    for (int i = 0; i < entry->parameter_count; i++) {
        size_t offset = launch_parameter_offset(entry->parameters[i], &end);
        (*parameters)[i] = (MessageParameter){(uint32_t)offset, (uint32_t)entry->parameters[i]->bytes};
    }
}

static int index_of_module(const Device *device, uint32_t number) {
    for (int i = 0; i < device->module_count; i++)
        if (device->modules[i]->number == number) return i;
    return -1;
}

void device_find_function(Device *device, uint32_t number, const char *name, MessageFunction *answer,
                          MessageParameter **parameters) {
    int index = index_of_module(device, number);
    DeviceFunction function = {0};
    Error error = {0};
    *answer = (MessageFunction){0};
    *parameters = NULL;
    if (index < 0) {
        answer->error = INVALID_DEVICE_FUNCTION;
        return;
    }
    DeviceModule *module = device->modules[index];
    if (!prepare(device, module)) {
        answer->error = module->error;
        note_fault(device, "cudaLaunchKernel", module->error, module->why.message);
    } else if (!link_function(device, index, name, &function, &answer->error, &error)) {
        note_fault(device, "cudaLaunchKernel", answer->error, error.message);
        ptx_program_free(function.program);
    } else {
        answer->error = GOOD;
        array_push(device->functions, device->function_count, device->function_capacity, function);
        answer->number = (uint32_t)device->function_count - 1;
        describe(&function, answer, parameters);
    }
}

void device_find_variable(Device *device, uint32_t number, const char *name, MessagePlace *place) {
    DeviceModule *module = find_module(device, number);
    *place = (MessagePlace){.error = INVALID_SYMBOL};
    if (!module || !prepare(device, module)) return;
    for (int i = 0; i < module->module->variable_count; i++) {
        const PtxVariable *variable = module->module->variables[i];
        if (strcmp(variable->name, name) != 0 ||
            !emulator_find_variable(device->emulator, variable, &place->address))
            continue;
        place->bytes = variable->bytes;
        place->error = GOOD;
        return;
    }
}
