/* A captured launch as a plan (capture.h). */
#include "runtime/captured.h"

#include "base/memory.h"
#include "runtime/program_messages.h"
#include "trace/trace.h"

#include <stdlib.h>

Captured *captured_new(uint64_t most_bytes) {
    Captured *capture = memory_new(sizeof *capture);
    capture->contents = contents_new(most_bytes);
    return capture;
}

void captured_free(Captured *capture) {
    if (!capture) return;
    for (int i = 0; i < capture->memory_count; i++) {
        free(capture->memories[i].written);
        free(capture->memories[i].hashes);
        free(capture->memories[i].is_hashed);
    }
    for (int i = 0; i < capture->launch_count; i++) {
        CapturedLaunch *launch = &capture->launches[i];
        free(launch->before);
        free(launch->after);
        free(launch->unwritten);
        free(launch->changed);
        free(launch->memories);
        free(launch->uses);
    }
    contents_free(capture->contents);
    free(capture->memories);
    free(capture->modules);
    free(capture->launches);
    free(capture->faults);
    free(capture->sources);
    free(capture->processes);
    arena_done(&capture->arena);
    free(capture);
}

const CapturedLaunch *captured_original(const Captured *capture, int launch) {
    const CapturedLaunch *found = &capture->launches[launch];
    return found->repeats >= 0 ? &capture->launches[found->repeats] : found;
}

int captured_find(const Captured *capture, const char *at) {
    const char *hash = strchr(at, '#');
    size_t length = hash ? (size_t)(hash - at) : 0;
    int number = atoi(hash ? hash + 1 : at), seen = 0;
    if (!hash) return number >= 1 && number <= capture->launch_count ? number - 1 : -1;
    for (int i = 0; i < capture->launch_count; i++) {
        const char *name = capture->launches[i].name;
        size_t bare = strcspn(name, "<(");
        bool is_named = (bare == length || strlen(name) == length) && !strncmp(name, at, length);
        if (is_named && ++seen == number) return i;
    }
    return -1;
}

int captured_choose(const Captured *capture) {
    int best = -1, cancelled = -1;
    uint64_t most = 0;
    for (int i = 0; i < capture->launch_count; i++) {
        const CapturedLaunch *launch = &capture->launches[i];
        if (launch->is_refused || launch->repeats >= 0 || !launch->memories || !launch->is_kept) continue;
        if (launch->is_cancelled) {
            cancelled = i;
            continue;
        }
        if (launch->error || launch->trap >= 0) return i;
        uint64_t shown = launch->excess_wavefronts + launch->excess_sectors + launch->divergent_branches;
        if (best < 0 || shown > most) best = i, most = shown;
    }
    return best < 0 ? cancelled : best;
}

bool captured_lacks(const Captured *capture) {
    for (int i = 0; i < capture->fault_count; i++)
        if (capture->faults[i].kind == CAPTURED_LACKS) return true;
    return false;
}

bool captured_has_fault(const Captured *capture) {
    for (int i = 0; i < capture->launch_count; i++) {
        const CapturedLaunch *launch = &capture->launches[i];
        if (launch->error && launch->trap >= 0 && launch->trap != TRAP_NOT_EMULATED) return true;
    }
    return false;
}

/* ---- buffers ------------------------------------------------------------------------------------------- */

/* The element type of a parameter of "const float*"; B8 and the like: not known. */
static PtxType type_of_pointer(const char *declared) {
    static const struct {
        const char *name;
        PtxType type;
    } types[] = {{"char", PTX_S8},           {"signed char", PTX_S8},   {"unsigned char", PTX_U8},
                 {"bool", PTX_U8},           {"short", PTX_S16},        {"unsigned short", PTX_U16},
                 {"int", PTX_S32},           {"unsigned int", PTX_U32}, {"long", PTX_S64},
                 {"unsigned long", PTX_U64}, {"long long", PTX_S64},    {"unsigned long long", PTX_U64},
                 {"float", PTX_F32},         {"double", PTX_F64},       {"__half", PTX_F16},
                 {"__nv_bfloat16", PTX_BF16}};
    const char *star = strchr(declared, '*');
    if (!star || strchr(star + 1, '*')) return PTX_U8;
    if (!strncmp(declared, "const ", 6)) declared += 6;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == (size_t)(star - declared) &&
            !strncmp(declared, types[i].name, (size_t)(star - declared)))
            return types[i].type;
    return PTX_U8;
}

/* What the parameter that points to the memory says of its elements. */
static PtxType type_of_memory(const CapturedLaunch *launch, const CapturedMemory *memory) {
    PtxType type = memory->bytes % 4 ? PTX_U8 : PTX_U32;
    Text declared = {0};
    char *line = NULL, *next;
    if (ptx_readable_parameters(launch->entry, &declared)) line = declared.data;
    for (int i = 0; line && i < launch->parameter_count; i++, line = next) {
        uint64_t address = 0;
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        if (launch->sizes[i] == 8) memcpy(&address, launch->parameters + launch->offsets[i], 8);
        if (!address || address - memory->address >= memory->bytes) continue;
        PtxType found = type_of_pointer(line);
        if (memory->bytes % (uint64_t)ptx_type_bytes(found) == 0) type = found;
        if (found != PTX_U8) break;
    }
    text_done(&declared);
    return type;
}

int captured_element_bytes(const CapturedLaunch *launch, const CapturedMemory *memory) {
    return ptx_type_bytes(type_of_memory(launch, memory));
}

static void add_content(const Captured *capture, const CapturedLaunch *launch, const CapturedMemory *memory,
                        uint8_t *bytes) {
    for (int i = 0; i < launch->before_count; i++) {
        const CapturedPage *page = &launch->before[i];
        uint64_t offset = page->address - memory->address, left = memory->bytes - offset;
        if (page->address < memory->address || offset >= memory->bytes) continue;
        const void *held = contents_find(capture->contents, page->hash);
        if (held)
            memcpy(bytes + offset, held, (size_t)(left < CONTENTS_PAGE_BYTES ? left : CONTENTS_PAGE_BYTES));
    }
}

/* The parts that the host and earlier launches had written, between those that they had not. */
static void add_writes(Plan *plan, PlanLaunch *planned, const CapturedLaunch *launch, int buffer, int index,
                       uint64_t count, const uint8_t *bytes) {
    uint64_t at = 0;
    for (int i = 0; i < launch->unwritten_count; i++) {
        const CapturedRange *range = &launch->unwritten[i];
        uint64_t first = range->first * 4, end = (range->first + range->count) * 4;
        if (range->memory != index) continue;
        if (first > at) plan_add_write(plan, planned, buffer, at, bytes + at, first - at);
        at = end < count ? end : count;
    }
    if (at < count) plan_add_write(plan, planned, buffer, at, bytes + at, count - at);
}

static int add_buffer(const Captured *capture, const CapturedLaunch *launch, Plan *plan, PlanLaunch *planned,
                      int index) {
    const CapturedMemory *memory = &capture->memories[index];
    PtxType type = memory->variable ? (memory->bytes % 4 ? PTX_U8 : PTX_U32) : type_of_memory(launch, memory);
    uint64_t count = memory->bytes / (uint64_t)ptx_type_bytes(type);
    bool is_unwritten = false;
    for (int i = 0; i < launch->unwritten_count; i++) is_unwritten |= launch->unwritten[i].memory == index;
    const char *name = arena_copy_string(&plan->arena, memory->name ? memory->name : "memory");
    int buffer = plan_add_buffer(plan, name, type, count, is_unwritten ? FILL_UNWRITTEN : FILL_CONTENT);
    uint8_t *bytes = arena_new(&plan->arena, (size_t)memory->bytes + 1);
    add_content(capture, launch, memory, bytes);
    plan->buffers[buffer].address = memory->address;
    plan->buffers[buffer].variable = arena_copy_string(&plan->arena, memory->variable);
    if (is_unwritten)
        add_writes(plan, planned, launch, buffer, index, memory->bytes, bytes);
    else
        plan->buffers[buffer].content = bytes;
    return buffer;
}

/* ---- arguments ----------------------------------------------------------------------------------------- */

static int find_buffer(const Plan *plan, uint64_t address, uint64_t *offset) {
    for (int i = 0; i < plan->buffer_count; i++) {
        const PlanBuffer *buffer = &plan->buffers[i];
        uint64_t bytes = buffer->count * (uint64_t)ptx_type_bytes(buffer->type);
        *offset = address - buffer->address;
        if (address && *offset <= bytes) return i;
    }
    return -1;
}

static void add_argument(Plan *plan, PlanLaunch *planned, const uint8_t *bytes, int size) {
    PlanPointer pointers[64];
    int count = 0, buffer;
    uint64_t address, offset;
    for (int at = 0; at + 8 <= size && count < 64; at += 8) {
        memcpy(&address, bytes + at, 8);
        if ((buffer = find_buffer(plan, address, &offset)) < 0) continue;
        pointers[count++] = (PlanPointer){at, buffer, offset};
    }
    if (count && size == 8) {
        plan_add_pointer(plan, planned, pointers[0].buffer);
        planned->arguments[planned->argument_count - 1].offset = pointers[0].offset;
    } else if (count) {
        plan_add_structure(plan, planned, bytes, size,
                           arena_copy(&plan->arena, pointers, (size_t)count * sizeof *pointers), count);
    } else {
        plan_add_scalar(plan, planned, bytes, size);
    }
}

bool captured_plan(const Captured *capture, int number, Plan *plan, Error *error) {
    const CapturedLaunch *launch = captured_original(capture, number);
    *plan = (Plan){0};
    if (launch->is_refused)
        return error_set(error, "launch %d of %s was refused: %s", number + 1, launch->name, launch->why);
    if (!launch->memories)
        return error_set(error, "launch %d of %s was not executed", number + 1, launch->name);
    if (!launch->is_kept)
        return error_set(error,
                         "launch %d of %s: there was no room to keep the memory that it touched; give the "
                         "program less data",
                         number + 1, launch->name);
    uint64_t bytes = 0, most = memory_of_machine() / 2;
    for (int i = 0; i < launch->memory_count; i++) bytes += capture->memories[launch->memories[i]].bytes;
    if (bytes > most)
        return error_set(error, "launch %d of %s uses %.1f GB of memory; this machine has room for %.1f GB",
                         number + 1, launch->name, (double)bytes / 1e9, (double)most / 1e9);
    const CapturedModule *module = &capture->modules[launch->module];
    plan->heap_bytes = launch->heap_bytes;
    plan_add_module(plan, module->name, module->ptx);
    PlanLaunch *planned = plan_add_launch(plan, launch->entry);
    memcpy(planned->grid, launch->grid, sizeof planned->grid);
    memcpy(planned->block, launch->block, sizeof planned->block);
    memcpy(planned->cluster, launch->cluster, sizeof planned->cluster);
    planned->dynamic_shared_bytes = launch->dynamic_shared_bytes;
    planned->cooperative = launch->cooperative;
    for (int i = 0; i < launch->memory_count; i++)
        add_buffer(capture, launch, plan, planned, launch->memories[i]);
    for (int i = 0; i < launch->parameter_count; i++)
        add_argument(plan, planned, launch->parameters + launch->offsets[i], launch->sizes[i]);
    return true;
}
