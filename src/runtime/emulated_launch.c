/* Launches of a device: executed, or known to repeat an earlier one. */
#define _POSIX_C_SOURCE 200809L
#include "runtime/emulated_device.h"
#include "runtime/launch_order.h"

#include "base/clock.h"
#include "findings/findings.h"

#include <stdlib.h>

enum { /* cudaError_t */
       GOOD = 0,
       INVALID_VALUE = 1,
       ILLEGAL_ADDRESS = 700,
       LAUNCH_TIMEOUT = 702,
       ASSERTION = 710,
       ILLEGAL_INSTRUCTION = 715,
       MISALIGNED_ADDRESS = 716,
       LAUNCH_FAILURE = 719,
       NOT_SUPPORTED = 801
};

enum { MOST_CANDIDATES = 8, MOST_RANGES = 4096, WORDS = CONTENTS_PAGE_BYTES / 4 };

static int32_t error_of_trap(TrapKind kind) {
    switch (kind) {
    case TRAP_MISALIGNED:
        return MISALIGNED_ADDRESS;
    case TRAP_ASSERTION:
        return ASSERTION;
    case TRAP_NOT_EMULATED:
    case TRAP_TOO_LARGE:
        return NOT_SUPPORTED;
    case TRAP_DEADLOCK:
    case TRAP_INSTRUCTION_BUDGET:
        return LAUNCH_TIMEOUT;
    case TRAP_BAD_CALL:
    case TRAP_TENSOR_COPY:
        return ILLEGAL_INSTRUCTION;
    case TRAP_TRAP_INSTRUCTION:
    case TRAP_DIVERGENT_BARRIER:
    case TRAP_MISSING_LANES:
    case TRAP_MBARRIER:
        return LAUNCH_FAILURE;
    default:
        return ILLEGAL_ADDRESS;
    }
}

static uint8_t *host_at(const Device *device, uint64_t address) {
    return device->host + (address - device->window);
}

static CapturedLaunch *running(const Device *device) {
    return &device->capture->launches[device->running];
}

/* ---- pages --------------------------------------------------------------------------------------------- */

static uint64_t page_bytes(const CapturedMemory *memory, uint64_t page) {
    uint64_t left = memory->bytes - page * CONTENTS_PAGE_BYTES;
    return left < CONTENTS_PAGE_BYTES ? left : CONTENTS_PAGE_BYTES;
}

static PageHash hash_page(const Device *device, CapturedMemory *memory, uint64_t page) {
    if (!memory->is_hashed[page]) {
        memory->hashes[page] = contents_hash(host_at(device, memory->address + page * CONTENTS_PAGE_BYTES),
                                             (size_t)page_bytes(memory, page));
        memory->is_hashed[page] = 1;
    }
    return memory->hashes[page];
}

/* The program writes managed and pinned memory unseen. */
static void forget_shared_hashes(Device *device) {
    for (int i = 0; i < device->live_count; i++) {
        CapturedMemory *memory = &device->capture->memories[device->live[i]];
        if (memory->kind != MEMORY_DEVICE)
            memset(memory->is_hashed, 0, (size_t)(memory->bytes / CONTENTS_PAGE_BYTES + 1));
    }
}

static void keep_page(Device *device, PageHash hash, const void *page, size_t bytes) {
    CapturedLaunch *launch = running(device);
    if (launch->is_kept && !contents_keep(device->capture->contents, hash, page, bytes))
        launch->is_kept = false;
}

/* The range of the last page, if that is of the same memory; else a new one. */
static CapturedRange *range_of(Device *device, CapturedLaunch *launch, int memory) {
    CapturedRange *range = launch->changed_count ? &launch->changed[launch->changed_count - 1] : NULL;
    if (range && range->memory == memory) return range;
    CapturedRange begun = {.memory = memory, .first = UINT64_MAX};
    begun.element_bytes = captured_element_bytes(launch, &device->capture->memories[memory]);
    array_push(launch->changed, launch->changed_count, launch->changed_capacity, begun);
    return &launch->changed[launch->changed_count - 1];
}

/* Extends the range by the words written in a page, which begins with the word `first`. */
static void note_changed(CapturedRange *range, uint64_t first, const EmulatorPage *page) {
    for (uint64_t i = 0; i < WORDS / 64; i++) {
        uint64_t bits = page->written[i];
        if (!bits) continue;
        if (range->first == UINT64_MAX) range->first = first + i * 64 + (uint64_t)__builtin_ctzll(bits);
        range->count = first + i * 64 + 64 - (uint64_t)__builtin_clzll(bits) - range->first;
    }
    uint32_t bytes = (uint32_t)range->element_bytes;
    for (uint32_t at = 0; at + bytes <= page->bytes; at += bytes)
        range->elements += memcmp(page->before + at, page->now + at, bytes) != 0;
}

/* Words of this memory up to `end` that had not been written; ranges from page to page are joined. */
static void note_unwritten(CapturedLaunch *launch, int index, const CapturedMemory *memory, uint64_t first,
                           uint64_t end) {
    for (uint64_t word = first; word < end; word++) {
        if (memory->written[word / 64] == ~UINT64_C(0) && word % 64 == 0) {
            word += 63;
            continue;
        }
        if (memory->written[word / 64] >> word % 64 & 1) continue;
        CapturedRange *range = launch->unwritten && launch->unwritten_count
                                   ? &launch->unwritten[launch->unwritten_count - 1]
                                   : NULL;
        if (range && range->memory == index && range->first + range->count == word) {
            range->count++;
        } else if (launch->unwritten_count < MOST_RANGES) {
            CapturedRange begun = {.memory = index, .first = word, .count = 1};
            array_reserve(launch->unwritten, launch->unwritten_count + 1, launch->unwritten_capacity);
            if (launch->unwritten) launch->unwritten[launch->unwritten_count++] = begun;
        }
    }
}

void device_touched(void *context, const EmulatorPage *touched) {
    Device *device = context;
    int index = device->running < 0 ? -1 : device_find_memory(device, touched->address);
    if (index < 0) return; /* the heap, or the workspace of a grid */
    CapturedLaunch *launch = running(device);
    CapturedMemory *memory = &device->capture->memories[index];
    uint64_t page = (touched->address - memory->address) / CONTENTS_PAGE_BYTES, first = page * WORDS;
    launch_order_touch(device->order, device->capture, device->running, index, first, touched);
    note_unwritten(launch, index, memory, first, first + (touched->bytes + 3) / 4);
    PageHash before =
        touched->before ? contents_hash(touched->before, touched->bytes) : hash_page(device, memory, page);
    keep_page(device, before, touched->before ? touched->before : touched->now, touched->bytes);
    CapturedPage kept = {touched->address, before};
    array_push(launch->before, launch->before_count, launch->before_capacity, kept);
    if (!touched->written || !touched->before) return;
    launch->changes |= memcmp(touched->before, touched->now, touched->bytes) != 0;
    launch->writes_after_launch |= memory->is_of_launches;
    memory->is_hashed[page] = 0;
    kept.hash = hash_page(device, memory, page);
    keep_page(device, kept.hash, touched->now, touched->bytes);
    array_push(launch->after, launch->after_count, launch->after_capacity, kept);
    note_changed(range_of(device, launch, index), first, touched);
    for (uint64_t i = 0; i < WORDS / 64; i++) /* the last page may end early */
        if (touched->written[i]) memory->written[first / 64 + i] |= touched->written[i];
}

/* ---- launches that repeat ------------------------------------------------------------------------------ */

static bool is_alike(const CapturedLaunch *a, const CapturedLaunch *b, size_t parameter_bytes) {
    return a->device == b->device && a->module == b->module && a->function == b->function &&
           !memcmp(a->grid, b->grid, sizeof a->grid) && !memcmp(a->block, b->block, sizeof a->block) &&
           !memcmp(a->cluster, b->cluster, sizeof a->cluster) &&
           a->dynamic_shared_bytes == b->dynamic_shared_bytes && a->cooperative == b->cooperative &&
           !memcmp(a->parameters, b->parameters, parameter_bytes);
}

static bool finds_same_memory(Device *device, const CapturedLaunch *earlier) {
    for (int i = 0; i < earlier->before_count; i++) {
        int index = device_find_memory(device, earlier->before[i].address);
        if (index < 0) return false;
        CapturedMemory *memory = &device->capture->memories[index];
        uint64_t offset = earlier->before[i].address - memory->address;
        if (offset % CONTENTS_PAGE_BYTES ||
            !page_hash_is_equal(hash_page(device, memory, offset / CONTENTS_PAGE_BYTES),
                                earlier->before[i].hash))
            return false;
    }
    return true;
}

static void do_again(Device *device, const CapturedLaunch *earlier) {
    for (int i = 0; i < earlier->after_count; i++) {
        const CapturedPage *page = &earlier->after[i];
        CapturedMemory *memory = &device->capture->memories[device_find_memory(device, page->address)];
        uint64_t number = (page->address - memory->address) / CONTENTS_PAGE_BYTES;
        memcpy(host_at(device, page->address), contents_find(device->capture->contents, page->hash),
               (size_t)page_bytes(memory, number));
        memory->hashes[number] = page->hash;
        memory->is_hashed[number] = 1;
    }
    for (int i = 0; i < earlier->changed_count; i++) {
        const CapturedRange *range = &earlier->changed[i];
        int index = device_find_memory(device, device->capture->memories[range->memory].address);
        CapturedMemory *memory = &device->capture->memories[index];
        launch_order_host_wrote(device->order, device->capture, index, range->first,
                                range->first + range->count);
        for (uint64_t word = range->first; word < range->first + range->count; word++)
            memory->written[word / 64] |= UINT64_C(1) << word % 64;
    }
}

/* True: an earlier launch did the same, and what it wrote has been written again. */
static bool repeat(Device *device, size_t parameter_bytes) {
    Captured *capture = device->capture;
    CapturedLaunch *launch = running(device);
    int tried = 0;
    forget_shared_hashes(device);
    for (int i = device->running - 1; i >= 0 && tried < MOST_CANDIDATES; i--) {
        CapturedLaunch *earlier = &capture->launches[i];
        if (earlier->repeats >= 0 || !earlier->is_kept || earlier->error ||
            !is_alike(launch, earlier, parameter_bytes))
            continue;
        tried++;
        if (!finds_same_memory(device, earlier)) continue;
        do_again(device, earlier);
        launch->repeats = i;
        launch->instructions = earlier->instructions;
        launch->trap = earlier->trap;
        launch->meets_host = earlier->meets_host;
        launch->is_kept = true;
        earlier->times++;
        return true;
    }
    return false;
}

/* ---- a launch ------------------------------------------------------------------------------------------ */

/* The allocations that its parameters point to and that it touched, ascending. */
static void note_memories(Device *device, const CapturedLaunch *launch, CapturedLaunch *to) {
    bool *is_used = memory_new((size_t)device->live_count + 1);
    const Captured *capture = device->capture;
    int count = 0;
    for (int i = 0; i < device->live_count; i++) {
        const CapturedMemory *memory = &capture->memories[device->live[i]];
        is_used[i] = memory->variable && memory->module == launch->module;
    }
    size_t end = launch->parameter_count ? (size_t)(launch->offsets[launch->parameter_count - 1] +
                                                    launch->sizes[launch->parameter_count - 1])
                                         : 0;
    for (size_t at = 0; at + 8 <= end; at += 4) {
        uint64_t address;
        memcpy(&address, launch->parameters + at, 8);
        for (int i = 0; address && i < device->live_count; i++) {
            const CapturedMemory *memory = &capture->memories[device->live[i]];
            is_used[i] |= address - memory->address <= memory->bytes;
        }
    }
    int place = 0;
    for (int i = 0; i < launch->before_count; i++) {
        uint64_t address = launch->before[i].address;
        while (place < device->live_count && capture->memories[device->live[place]].address +
                                                     capture->memories[device->live[place]].bytes <=
                                                 address)
            place++;
        if (place < device->live_count) is_used[place] = true;
    }
    for (int i = 0; i < device->live_count; i++) count += is_used[i];
    to->memories = memory_new(((size_t)count + 1) * sizeof *to->memories);
    to->memory_count = 0;
    for (int i = 0; i < device->live_count; i++)
        if (is_used[i]) to->memories[to->memory_count++] = device->live[i];
    free(is_used);
}

/* Variables of the module belong to what a launch reads: constant ones leave no footprint. */
static void keep_variables(Device *device, const CapturedLaunch *launch) {
    for (int i = 0; i < device->live_count; i++) {
        CapturedMemory *memory = &device->capture->memories[device->live[i]];
        if (!memory->variable || memory->module != launch->module) continue;
        for (uint64_t page = 0; page * CONTENTS_PAGE_BYTES < memory->bytes; page++) {
            CapturedPage kept = {memory->address + page * CONTENTS_PAGE_BYTES, {0, 0}};
            bool is_kept = false;
            for (int b = 0; b < launch->before_count && !is_kept; b++)
                is_kept = launch->before[b].address == kept.address;
            if (is_kept) continue;
            kept.hash = hash_page(device, memory, page);
            keep_page(device, kept.hash, host_at(device, kept.address), (size_t)page_bytes(memory, page));
            CapturedLaunch *to = running(device);
            array_push(to->before, to->before_count, to->before_capacity, kept);
        }
    }
}

static void fail(Device *device, int32_t error, const char *why) {
    CapturedLaunch *launch = running(device);
    launch->error = error;
    launch->why = arena_copy_string(&device->capture->arena, why);
    if (!device->error) device->error = error;
}

/* The first problem of the launch, as its own run names it. */
static void note_finding(Device *device, CapturedLaunch *launch, const Trace *trace) {
    Findings *list = findings_new_counted(trace, NULL, (FindingNames){0}, false);
    int first = findings_first(list);
    const Finding *finding = first < 0 ? NULL : &list->items[first];
    launch->finding =
        arena_copy_string(&device->capture->arena, finding ? finding_kind_text(finding->kind) : "");
    if (finding && finding->severity == SEVERITY_SLOW) launch->beyond = finding->cost - finding->ideal;
    findings_free(list);
}

static void count(CapturedLaunch *launch, const Trace *trace) {
    const TraceLaunch *traced = trace->launches[0];
    launch->instructions = trace_count_instructions(trace);
    for (int pc = 0; pc < traced->program->code_count; pc++) {
        const TraceCounter *counter = &traced->counters[pc];
        launch->excess_wavefronts += counter->wavefronts - counter->ideal_wavefronts;
        launch->excess_sectors += counter->sectors - counter->ideal_sectors;
        launch->divergent_branches += counter->divergent;
    }
}

static CapturedLine line_of(Device *device, const PtxProgram *program, int pc) {
    const PtxSourceLine *line = &program->code[pc].line;
    return (CapturedLine){arena_copy_string(&device->capture->arena, line->file), line->line};
}

static int find_variable(const Device *device, int module, const char *name) {
    for (int i = 0; i < device->live_count; i++) {
        const CapturedMemory *memory = &device->capture->memories[device->live[i]];
        if (memory->variable && memory->module == module && !strcmp(memory->variable, name))
            return device->live[i];
    }
    return -1;
}

static void note_use(Device *device, CapturedLaunch *launch, const PtxProgram *program, int pc,
                     const PtxOperand *operand) {
    for (int i = 0; i < operand->item_count; i++) note_use(device, launch, program, pc, &operand->items[i]);
    const PtxVariable *variable = operand->variable;
    int memory = variable && !variable->function ? find_variable(device, launch->module, variable->name) : -1;
    for (int i = 0; i < launch->use_count; i++)
        if (launch->uses[i].memory == memory) return;
    CapturedUse use = {memory, {NULL, 0}};
    if (memory < 0) return;
    use.line = line_of(device, program, pc);
    array_push(launch->uses, launch->use_count, launch->use_capacity, use);
}

/* The places in the source of its atomic extremes and of the variables that it names. */
static void note_places(Device *device, CapturedLaunch *launch, const Trace *trace) {
    const TraceLaunch *traced = trace->launches[0];
    const PtxProgram *program = traced->program;
    launch->atomics = trace_count_atomics(trace);
    launch->outdone = traced->outdone;
    launch->meets_host = false;
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        bool is_extreme = trace_kind_of(in) == TRACE_GLOBAL_ATOMIC && traced->counters[pc].lanes &&
                          (ptx_instruction_has(in, PTX_MOD_MIN) || ptx_instruction_has(in, PTX_MOD_MAX));
        if (is_extreme && !launch->extreme.file) launch->extreme = line_of(device, program, pc);
        launch->meets_host |=
            ptx_instruction_has(in, PTX_MOD_SYS) ||
            (ptx_instruction_has(in, PTX_MOD_VOLATILE) && !ptx_instruction_has(in, PTX_MOD_SHARED));
        for (int i = 0; i < in->operand_count; i++) note_use(device, launch, program, pc, &in->operands[i]);
    }
}

/* As a GPU prints it, a line for each thread: "FILE:LINE: FUNCTION: block: [0,0,0], thread: [7,0,0] Assertion
 * `x > 0` failed." */
static void print_assertion(Device *device, const CapturedLaunch *launch, const Trap *trap) {
    static const char mark[] = ": assertion `", failed[] = "` failed";
    const char *begin = strstr(trap->detail, mark), *end = begin ? strstr(begin, failed) : NULL;
    for (int lane = 0; end && lane < 32; lane++) {
        if (!(trap->lanes >> lane & 1)) continue;
        uint32_t thread = (uint32_t)(trap->warp * 32 + lane), x = launch->block[0], y = launch->block[1];
        text_print(&device->printed, "%.*s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%.*s` failed.\n",
                   (int)(begin - trap->detail), trap->detail, trap->block[0], trap->block[1], trap->block[2],
                   thread % x, thread / x % y, thread / x / y,
                   (int)(end - begin - (ptrdiff_t)sizeof mark + 1), begin + sizeof mark - 1);
    }
}

/* A fault at an address that has been freed is the host's. */
static void note_freed(Device *device, const Trap *trap) {
    Captured *capture = device->capture;
    uint64_t address = trap->lanes ? trap->address[__builtin_ctz(trap->lanes)] : 0;
    for (int i = capture->memory_count - 1; i >= 0 && address; i--) {
        const CapturedMemory *memory = &capture->memories[i];
        if (!memory->is_freed || memory->device != device->index ||
            address - memory->address >= memory->bytes)
            continue;
        CapturedFault fault = {.kind = CAPTURED_USED_FREED,
                               .device = device->index,
                               .memory = i,
                               .callers = {memory->freed_by},
                               .caller_count = memory->freed_by != 0,
                               .after = capture->launch_count};
        array_push(capture->faults, capture->fault_count, capture->fault_capacity, fault);
        return;
    }
}

/* Tracing a launch of one block takes three times as long as running it. */
static void execute(Device *device, DeviceFunction *function, const uint8_t *parameters) {
    enum { MOST_TRACED = 256 };
    CapturedLaunch *launch = running(device);
    bool is_traced = function->launches++ < MOST_TRACED;
    Launch bound = {.program = function->program,
                    .dynamic_shared_bytes = launch->dynamic_shared_bytes,
                    .cooperative = launch->cooperative,
                    .parameters = memory_new(function->parameter_bytes + 1),
                    .parameter_bytes = function->parameter_bytes};
    memcpy(bound.grid, launch->grid, sizeof bound.grid);
    memcpy(bound.block, launch->block, sizeof bound.block);
    memcpy(bound.cluster, launch->cluster, sizeof bound.cluster);
    if (function->parameter_bytes) memcpy(bound.parameters, parameters, function->parameter_bytes);
    Error error = {0};
    Trace *trace = trace_new("emulator");
    emulator_trace_first_block(device->emulator, is_traced);
    bool good = emulator_run(device->emulator, &bound, trace, &error);
    launch = running(device);
    if (trace->launch_count) count(launch, trace);
    if (trace->launch_count) note_places(device, launch, trace);
    if (trace->launch_count && is_traced) note_finding(device, launch, trace);
    if (trace->printed.length) text_add_bytes(&device->printed, trace->printed.data, trace->printed.length);
    if (!good) {
        launch->is_cancelled = device->cancel;
        fail(device, device->cancel ? LAUNCH_TIMEOUT : INVALID_VALUE,
             device->cancel ? "it had not ended" : error.message);
    }
    for (int i = 0; i < trace->trap_count; i++) {
        const Trap *trap = &trace->traps[i];
        if (trap_kind_is_dropped(trap->kind) && launch->trap < 0) launch->trap = trap->kind;
        if (!trap_kind_is_fatal(trap->kind)) continue;
        launch->is_unsupported = trap->kind == TRAP_NOT_EMULATED;
        launch->trap = trap->kind;
        if (trap->kind == TRAP_ASSERTION) print_assertion(device, launch, trap);
        if (trap->kind == TRAP_OUT_OF_BOUNDS || trap->kind == TRAP_INDEX_OVERFLOW ||
            trap->kind == TRAP_NARROW_INDEX)
            note_freed(device, trap);
        fail(device, error_of_trap(trap->kind), trap->detail);
        break;
    }
    for (int i = 0; i < launch->changed_count; i++)
        device->capture->memories[launch->changed[i].memory].is_of_launches = true;
    keep_variables(device, launch);
    note_memories(device, launch, launch);
    trace_free(trace);
    free(bound.parameters);
}

static const int *copy_layout(Device *device, const PtxFunction *entry, bool sizes) {
    int *list = arena_new(&device->capture->arena, ((size_t)entry->parameter_count + 1) * sizeof *list);
    size_t end = 0;
    for (int i = 0; i < entry->parameter_count; i++) {
        size_t offset = launch_parameter_offset(entry->parameters[i], &end);
        list[i] = sizes ? (int)entry->parameters[i]->bytes : (int)offset;
    }
    return list;
}

/* "2,048 threads" and the like: what the library refused. */
static const char *why_refused(Arena *arena, const CapturedLaunch *launch, const DeviceFunction *function) {
    uint64_t threads = launch_volume(launch->block), blocks = launch_volume(launch->grid);
    uint64_t shared = (uint64_t)function->static_shared_bytes + launch->dynamic_shared_bytes;
    if (!threads || !blocks) return "a grid and a block have at least one block and one thread";
    if (threads > 1024)
        return arena_print(arena, "a block has at most 1,024 threads; this one has %llu",
                           (unsigned long long)threads);
    if (launch->cooperative && launch->error == 720)
        return arena_print(
            arena,
            "a cooperative launch must have all blocks resident at once; these are %llu, more than fit",
            (unsigned long long)blocks);
    if (shared > 227 << 10)
        return arena_print(arena, "a block has at most 232,448 bytes of shared memory; this one needs %llu",
                           (unsigned long long)shared);
    if (shared > 48 << 10)
        return arena_print(
            arena,
            "more than 48 KB of shared memory (%llu bytes) need "
            "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) first",
            (unsigned long long)shared);
    return arena_print(arena, "a GPU refuses it (cudaError %d)", launch->error);
}

void device_launch(Device *device, const MessageLaunch *asked, const uint8_t *parameters) {
    if (asked->function >= (uint32_t)device->function_count) return;
    DeviceFunction *function = &device->functions[asked->function];
    if (asked->parameter_bytes < function->parameter_bytes) return;
    Captured *capture = device->capture;
    PtxFunction *entry = function->program->entry;
    CapturedLaunch added = {
        .device = device->index,
        .module = device->modules[function->module]->captured,
        .function = (int)asked->function,
        .entry = arena_copy_string(&capture->arena, entry->name),
        .name = arena_copy_string(&capture->arena, ptx_readable_name(function->program->module, entry->name)),
        .static_shared_bytes = function->static_shared_bytes,
        .dynamic_shared_bytes = asked->dynamic_shared_bytes,
        .cooperative = asked->flags & LAUNCH_COOPERATIVE,
        .heap_bytes = device->heap_bytes,
        .parameters = arena_copy(&capture->arena, parameters, function->parameter_bytes),
        .offsets = copy_layout(device, entry, false),
        .sizes = copy_layout(device, entry, true),
        .parameter_count = entry->parameter_count,
        .stream = asked->stream,
        .graph = asked->graph,
        .caller = asked->caller,
        .repeats = -1,
        .times = 1,
        .trap = -1,
        .error = asked->refused};
    memcpy(added.grid, asked->grid, sizeof added.grid);
    memcpy(added.block, asked->block, sizeof added.block);
    memcpy(added.cluster, asked->cluster, sizeof added.cluster);
    added.is_refused = asked->refused;
    if (asked->refused) added.why = why_refused(&capture->arena, &added, function);
    added.is_kept = !asked->refused;
    array_push(capture->launches, capture->launch_count, capture->launch_capacity, added);
    if (asked->refused || device->error || device->cancel) return;
    device->running = capture->launch_count - 1;
    launch_order_begin(device->order, device->running, asked->stream);
    double begun = clock_seconds();
    if (!function->is_fixed || !repeat(device, function->parameter_bytes))
        execute(device, function, parameters);
    launch_order_end(device->order, capture, device->running);
    running(device)->seconds = clock_seconds() - begun;
    device->running = -1;
}
