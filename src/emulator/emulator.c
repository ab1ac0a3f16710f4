/* The emulator: memory, module variables and launches (emulator.h). */
#include "emulator/emulator.h"

#include "emulator/instructions/instruction_set.h"
#include "emulator/machine/guided_run.h"
#include "emulator/machine/holds.h"
#include "emulator/machine/shadow.h"
#include "emulator/lower/index_products.h"
#include "emulator/tape/tape.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { BETWEEN_LAUNCHES = 1000 }; /* ticks of %clock */
enum { WORKSPACE_BYTES = 4096, MAX_SHARED_BYTES = 227 << 10, MAX_THREADS = 1024 };
static const uint64_t DEFAULT_BUDGET = UINT64_C(20000000000);

typedef struct Placed { /* a module variable in global memory */
    const PtxVariable *variable;
    int region;
} Placed;

struct Emulator {
    EmulatorOptions options;
    Memory memory;
    Placed *placed; /* hashed by variable; the capacity is a power of two */
    size_t placed_count, placed_capacity;
    const PtxModule **modules; /* modules whose variables exist */
    int module_count, module_capacity;
    int workspace;                /* region of the grid workspace; -1: not allocated yet */
    const TraceLaunch *shared_as; /* emulator_place_shared_as() */
    uint64_t *written; /* guided runs: one bit per word that launches have written; NULL: not allocated yet */
    uint64_t written_words;
    uint64_t launches;
    uint64_t clock; /* start of the next launch, for %clock */
    uint64_t repeated_blocks;
    ShadowPages *shadow; /* NULL: none yet, or not asked for */
    double **deviations; /* [launches] with a shadow: of each instruction */
};

Emulator *emulator_new(const EmulatorOptions *options) {
    Emulator *emulator = memory_new(sizeof *emulator);
    if (options) emulator->options = *options;
    EmulatorOptions *settings = &emulator->options;
    if (!settings->instruction_budget) settings->instruction_budget = DEFAULT_BUDGET;
    if (!settings->multiprocessors) settings->multiprocessors = DEFAULT_MULTIPROCESSORS;
    if (settings->threads <= 0) settings->threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (settings->threads < 1) settings->threads = 1;
    if (!settings->memory_limit_bytes) settings->memory_limit_bytes = memory_of_machine() / 2;
    emulator->workspace = -1;
    return emulator;
}

void emulator_free(Emulator *emulator) {
    if (!emulator) return;
    memory_done(&emulator->memory);
    shadow_pages_free(emulator->shadow);
    for (uint64_t i = 0; emulator->deviations && i < emulator->launches; i++) free(emulator->deviations[i]);
    free(emulator->deviations);
    free(emulator->written);
    free(emulator->placed);
    free(emulator->modules);
    free(emulator);
}

int emulator_add_buffer(Emulator *emulator, const char *name, void *bytes, uint64_t byte_count,
                        PtxType type) {
    return memory_add(&emulator->memory, name, bytes, byte_count, type, false, false);
}

/* Regions from `first` on have moved by `by`. */
static void move_indices(Emulator *emulator, int first, int by) {
    for (size_t i = 0; i < emulator->placed_capacity; i++)
        if (emulator->placed[i].variable && emulator->placed[i].region >= first)
            emulator->placed[i].region += by;
    if (emulator->workspace >= first) emulator->workspace += by;
}

int emulator_insert_buffer(Emulator *emulator, const char *name, void *bytes, uint64_t byte_count,
                           PtxType type, uint64_t address) {
    int index = memory_insert(&emulator->memory, name, bytes, byte_count, type, false, address);
    if (index >= 0) move_indices(emulator, index, 1);
    return index;
}

void emulator_remove_buffer(Emulator *emulator, int buffer) {
    memory_remove(&emulator->memory, buffer);
    move_indices(emulator, buffer + 1, -1);
}

int emulator_find_buffer(const Emulator *emulator, uint64_t address) {
    return memory_find(&emulator->memory, address);
}

void emulator_write(Emulator *emulator, int buffer, uint64_t offset, const void *bytes, uint64_t count) {
    memory_write(&emulator->memory, buffer, offset, bytes, count);
}

void emulator_keep_going(Emulator *emulator) {
    emulator->options.keeps_going = true;
}

void emulator_trace_first_block(Emulator *emulator, bool is_traced) {
    emulator->options.trace_first = is_traced ? 0 : 1;
    emulator->options.trace_last = 0;
}

bool emulator_place_next(Emulator *emulator, uint64_t address) {
    return memory_skip(&emulator->memory, address);
}

void emulator_mark_unwritten(Emulator *emulator, int buffer) {
    if (emulator->options.observer) memory_mark_unwritten(&emulator->memory, buffer);
}

void emulator_set_heap(Emulator *emulator, uint64_t bytes) {
    emulator->memory.heap_bytes = bytes;
}

bool emulator_find_leak(const Emulator *emulator, EmulatorLeak *leak) {
    HeapAllocation first = {.pc = PTX_NO_PC};
    *leak = (EmulatorLeak){.pc = PTX_NO_PC};
    if (!emulator->memory.pieces) return false;
    leak->allocations = heap_left(&emulator->memory, &leak->bytes, &first);
    leak->pc = first.pc;
    return leak->allocations;
}

uint64_t emulator_buffer_address(const Emulator *emulator, int buffer) {
    return emulator->memory.regions[buffer].base;
}

void *emulator_buffer_bytes(const Emulator *emulator, int buffer) {
    return emulator->memory.regions[buffer].host;
}

/* ---- module variables ------------------------------------------------------------------------------- */

/* The slot of the variable, or the slot it would take. */
static Placed *placed_slot(const Emulator *emulator, const PtxVariable *variable) {
    size_t mask = emulator->placed_capacity - 1, i = ((uintptr_t)variable >> 4) * 0x9e3779b97f4a7c15u >> 20;
    while (emulator->placed[i & mask].variable && emulator->placed[i & mask].variable != variable) i++;
    return &emulator->placed[i & mask];
}

static int find_placed(const Emulator *emulator, const PtxVariable *variable) {
    const Placed *slot = emulator->placed_count ? placed_slot(emulator, variable) : NULL;
    return slot && slot->variable ? slot->region : -1;
}

static void keep_placed(Emulator *emulator, Placed placed) {
    if (2 * (emulator->placed_count + 1) > emulator->placed_capacity) {
        Placed *old = emulator->placed;
        size_t capacity = emulator->placed_capacity;
        emulator->placed_capacity = capacity ? 2 * capacity : 64;
        emulator->placed = memory_new(emulator->placed_capacity * sizeof *old);
        for (size_t i = 0; i < capacity; i++)
            if (old[i].variable) *placed_slot(emulator, old[i].variable) = old[i];
        free(old);
    }
    *placed_slot(emulator, placed.variable) = placed;
    emulator->placed_count++;
}

static int place_variable(Emulator *emulator, const PtxVariable *variable) {
    int region = find_placed(emulator, variable);
    if (region >= 0) return region;
    const EmulatorOptions *options = &emulator->options;
    uint64_t bytes = variable->bytes, address = 0;
    bool is_constant = variable->space == PTX_SPACE_CONST;
    uint8_t *host =
        options->place_variable ? options->place_variable(options->context, variable, &address) : NULL;
    if (host) {
        region = memory_insert(&emulator->memory, variable->name, host, bytes, variable->type, is_constant,
                               address);
        move_indices(emulator, region, 1);
    } else {
        host = memory_new(bytes ? bytes : 1);
        region =
            memory_add(&emulator->memory, variable->name, host, bytes, variable->type, is_constant, true);
    }
    if (variable->initial) memcpy(host, variable->initial, bytes);
    keep_placed(emulator, (Placed){variable, region});
    return region;
}

int emulator_add_variable(Emulator *emulator, const PtxVariable *variable, void *bytes) {
    int region = memory_add(&emulator->memory, variable->name, bytes, variable->bytes, variable->type,
                            variable->space == PTX_SPACE_CONST, false);
    keep_placed(emulator, (Placed){variable, region});
    return region;
}

bool emulator_find_variable(const Emulator *emulator, const PtxVariable *variable, uint64_t *address) {
    int region = find_placed(emulator, variable);
    if (region >= 0) *address = emulator->memory.regions[region].base;
    return region >= 0;
}

static uint64_t address_of(void *context, const PtxVariable *variable) {
    Emulator *emulator = context;
    int region = place_variable(emulator, variable);
    return emulator->memory.regions[region].base;
}

/* The value of a symbol in an initializer: a variable of global or constant memory, or a function. */
static uint64_t symbol_value(Emulator *emulator, const PtxModule *module, const char *symbol) {
    for (int i = 0; i < module->variable_count; i++) {
        const PtxVariable *variable = module->variables[i];
        if (strcmp(variable->name, symbol) != 0) continue;
        return variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST
                   ? address_of(emulator, variable)
                   : 0;
    }
    for (int i = 0; i < module->function_count; i++)
        if (!strcmp(module->functions[i]->name, symbol)) return FUNCTION_BASE + (uint64_t)i * FUNCTION_STRIDE;
    return 0;
}

static bool check_size(const Emulator *emulator, const PtxModule *module, Error *error) {
    uint64_t left = emulator->options.memory_limit_bytes;
    for (int i = 0; i < module->variable_count; i++) {
        const PtxVariable *variable = module->variables[i];
        if (variable->space != PTX_SPACE_GLOBAL && variable->space != PTX_SPACE_CONST) continue;
        if (variable->bytes > left)
            return error_set_at(error, module->file, variable->line, 0,
                                "%s needs %.1f GB, and this machine has room for %.1f GB", variable->name,
                                (double)variable->bytes * 1e-9, (double)left * 1e-9);
        left -= variable->bytes;
    }
    return true;
}

static bool make_module(Emulator *emulator, const PtxModule *module, Error *error) {
    for (int i = 0; i < emulator->module_count; i++)
        if (emulator->modules[i] == module) return true;
    if (!check_size(emulator, module, error)) return false;
    array_push(emulator->modules, emulator->module_count, emulator->module_capacity, module);
    bool *is_new = memory_new((size_t)module->variable_count + 1);
    for (int i = 0; i < module->variable_count; i++) {
        const PtxVariable *variable = module->variables[i];
        if (variable->space != PTX_SPACE_GLOBAL && variable->space != PTX_SPACE_CONST) continue;
        is_new[i] = find_placed(emulator, variable) < 0;
        place_variable(emulator, variable);
    }
    for (int i = 0; i < module->variable_count; i++) {
        const PtxVariable *variable = module->variables[i];
        for (int r = 0; r < variable->relocation_count; r++) {
            const PtxRelocation *relocation = &variable->relocations[r];
            uint64_t value =
                symbol_value(emulator, module, relocation->symbol) + (uint64_t)relocation->addend;
            int region = is_new[i] ? find_placed(emulator, variable) : -1;
            if (region < 0 || relocation->offset + (uint64_t)relocation->bytes > variable->bytes) continue;
            memcpy(emulator->memory.regions[region].host + relocation->offset, &value,
                   (size_t)relocation->bytes);
        }
    }
    free(is_new);
    return true;
}

bool emulator_load_module(Emulator *emulator, const PtxModule *module, Error *error) {
    return make_module(emulator, module, error);
}

/* ---- launches --------------------------------------------------------------------------------------- */

static bool check_geometry(const Launch *launch, Error *error) {
    static const uint64_t most_blocks[] = {0x7fffffff, 65535, 65535}, most_threads[] = {1024, 1024, 64};
    uint64_t threads = 1;
    for (int d = 0; d < 3; d++) {
        if (!launch->grid[d] || launch->grid[d] > most_blocks[d])
            return error_set(error,
                             "the grid is %u x %u x %u; a grid has 1 to 2147483647 x 65535 x 65535 blocks",
                             launch->grid[0], launch->grid[1], launch->grid[2]);
        if (!launch->block[d] || launch->block[d] > most_threads[d])
            return error_set(
                error, "the block is %u x %u x %u; a block has at most 1024 x 1024 x 64 threads, 1024 in all",
                launch->block[0], launch->block[1], launch->block[2]);
        threads *= launch->block[d];
    }
    if (threads > MAX_THREADS)
        return error_set(error, "the block has %llu threads; the limit is 1024; use a smaller --block",
                         (unsigned long long)threads);
    const PtxFunction *entry = launch->program->entry;
    uint64_t most = 1;
    for (int d = 0; d < 3; d++) {
        if (entry->required_threads[d] && entry->required_threads[d] != launch->block[d])
            return error_set(error, "this kernel is compiled for blocks of %u x %u x %u threads; use --block",
                             entry->required_threads[0],
                             entry->required_threads[1] ? entry->required_threads[1] : 1,
                             entry->required_threads[2] ? entry->required_threads[2] : 1);
        most *= entry->maximum_threads[d] ? entry->maximum_threads[d] : 1;
    }
    if (entry->maximum_threads[0] && threads > most)
        return error_set(error,
                         "this kernel is compiled for at most %llu threads per block, not %llu; use --block",
                         (unsigned long long)most, (unsigned long long)threads);
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1];
    if (blocks > UINT32_MAX || blocks * launch->grid[2] > UINT32_MAX)
        return error_set(
            error,
            "the grid has more than 4294967295 blocks, which is too many to emulate; use a smaller --grid");
    return launch_check_cluster(launch, error);
}

static void add_symbol(TraceLaunch *launch, const char *name, PtxSpace space, uint64_t window_offset,
                       uint64_t bytes) {
    launch->symbols[launch->symbol_count++] = (TraceSymbol){name, space, window_offset, bytes};
}

static void describe_launch(Grid *grid, Trace *trace) {
    const LoweredProgram *program = grid->program;
    TraceLaunch *launch = grid->trace;
    launch->name = ptx_readable_name(program->program->module, program->program->entry->name);
    launch->static_shared_bytes = program->static_shared_bytes;
    launch->symbols = arena_new(&trace->arena, (size_t)(program->shared_count + 2) * sizeof *launch->symbols);
    for (int i = 0; i < program->shared_count; i++) {
        const SharedPlace *place = &program->shared[i];
        const char *name = place->name;
        add_symbol(launch, arena_copy_string(&trace->arena, name), PTX_SPACE_SHARED, place->offset,
                   place->bytes);
    }
    if (!program->shared_count) add_symbol(launch, "shared", PTX_SPACE_SHARED, 0, program->shared_bytes);
    add_symbol(launch, "local", PTX_SPACE_LOCAL, 0, program->functions[0].local_bytes);
}

static void add_buffers(const Emulator *emulator, Trace *trace) {
    for (int i = trace->buffer_count; i < emulator->memory.count; i++) {
        const Region *region = &emulator->memory.regions[i];
        trace_add_buffer(trace, region->name, region->bytes, region->type);
    }
}

/* The words that cooperative groups read through %envreg1 and %envreg2: the workspace size, then the grid
 * barrier. */
static uint64_t make_workspace(Emulator *emulator) {
    if (emulator->workspace < 0)
        emulator->workspace = memory_add(&emulator->memory, "grid workspace", memory_new(WORKSPACE_BYTES),
                                         WORKSPACE_BYTES, PTX_U32, false, true);
    Region *region = &emulator->memory.regions[emulator->workspace];
    memset(region->host, 0, WORKSPACE_BYTES);
    uint32_t bytes = WORKSPACE_BYTES;
    memcpy(region->host, &bytes, sizeof bytes);
    return region->base;
}

static void set_options(Grid *grid, Emulator *emulator) {
    const EmulatorOptions *options = &emulator->options;
    grid->multiprocessors = options->multiprocessors;
    grid->number = ++emulator->launches;
    grid->seed = options->seed;
    grid->launched_at = emulator->clock;
    grid->schedule = options->schedule;
    grid->budget = options->instruction_budget;
    grid->block_budget = options->block_budget;
    grid->trace_first = options->trace_first;
    grid->trace_last = options->trace_last;
    grid->trace_most = options->trace_most ? options->trace_most : INT_MAX;
    grid->has_trace_also = options->has_trace_also;
    grid->trace_also = options->trace_also;
    grid->first_look = options->first_look;
    grid->keeps_going = options->keeps_going;
    grid->observer = options->observer;
    if (options->has_shadow && !emulator->shadow) emulator->shadow = shadow_pages_new();
    grid->shadow = emulator->shadow;
    grid->touched = options->touched;
    grid->touched_context = options->context;
    grid->cancel = options->cancel;
    grid->blocks_done = options->blocks_done;
}

static LoweredProgram *lower_launch(Emulator *emulator, const Launch *launch, const LoweringOptions *options,
                                    Error *error) {
    if (!check_geometry(launch, error)) return NULL;
    if (!make_module(emulator, launch->program->module, error)) return NULL;
    return lowered_new(launch, &instruction_set, options, address_of, emulator, error);
}

bool emulator_print_ops(Emulator *emulator, const Launch *launch, Text *out, Error *error) {
    LoweredProgram *program =
        lower_launch(emulator, launch, &(LoweringOptions){.shares_registers = true}, error);
    if (!program) return false;
    lowered_print(program, out);
    lowered_free(program);
    return true;
}

bool emulator_unsupported(Emulator *emulator, const Launch *launch, Arena *arena,
                          const EmulatorUnsupported **list, int *count, Error *error) {
    LoweredProgram *program = lower_launch(emulator, launch, &(LoweringOptions){0}, error);
    *count = 0;
    if (!program) return false;
    EmulatorUnsupported *found = arena_new(arena, ((size_t)program->op_count + 1) * sizeof *found);
    for (int pc = 0; pc < program->op_count; pc++)
        if (program->ops[pc].op_class == OP_TRAP)
            found[(*count)++] =
                (EmulatorUnsupported){pc, arena_copy_string(arena, trap_text(&program->ops[pc]))};
    *list = found;
    lowered_free(program);
    return true;
}

bool emulator_static_shared(Emulator *emulator, const Launch *launch, uint32_t *bytes, Error *error) {
    LoweredProgram *program = lower_launch(emulator, launch, &(LoweringOptions){0}, error);
    if (!program) return false;
    *bytes = program->static_shared_bytes;
    lowered_free(program);
    return true;
}

static int region_at(void *memory, uint64_t address) {
    return memory_find(memory, address);
}

/* The part of a launch that every kind of run shares. */
static LoweredProgram *begin_launch(Emulator *emulator, const Launch *launch, const LoweringOptions *options,
                                    Grid *grid, Trace *trace, Error *error) {
    LoweredProgram *program = lower_launch(emulator, launch, options, error);
    if (!program) return NULL;
    uint32_t shared_bytes = program->shared_bytes - program->reserved_shared_bytes;
    if (shared_bytes > MAX_SHARED_BYTES) {
        error_set(error, "a block uses %u bytes of shared memory; the limit is %d", shared_bytes,
                  MAX_SHARED_BYTES);
        lowered_free(program);
        return NULL;
    }
    lowered_find_arrays(program, launch, region_at, &emulator->memory);
    if (emulator->options.observer) lowered_find_products(program);
    if (program->uses_heap) heap_prepare(&emulator->memory);
    if (program->uses_heap && emulator->options.observer)
        memory_mark_unwritten(&emulator->memory, emulator->memory.heap_region);
    grid_init(grid, launch, program, &emulator->memory);
    set_options(grid, emulator);
    if (launch->cooperative) grid->workspace = make_workspace(emulator);
    grid->trace = trace_add_launch(trace, launch);
    grid->launch_index = trace->launch_count - 1;
    describe_launch(grid, trace);
    add_buffers(emulator, trace);
    return program;
}

void emulator_place_shared_as(Emulator *emulator, const TraceLaunch *recorded) {
    emulator->shared_as = recorded;
}

static double *add_deviations(Emulator *emulator, const LoweredProgram *program) {
    uint64_t index = emulator->launches - 1;
    emulator->deviations =
        memory_resize(emulator->deviations, (size_t)emulator->launches * sizeof *emulator->deviations);
    emulator->deviations[index] = memory_new(((size_t)program->op_count + 1) * sizeof(double));
    return emulator->deviations[index];
}

bool emulator_run(Emulator *emulator, const Launch *launch, Trace *trace, Error *error) {
    Grid grid;
    LoweringOptions options = {.shares_registers = true, .shared_as = emulator->shared_as};
    LoweredProgram *program = begin_launch(emulator, launch, &options, &grid, trace, error);
    if (!program) return false;
    grid.holds = holds_new(emulator->options.holds, emulator->options.hold_count, grid.launch_index);
    grid.tapes = emulator->options.without_tapes || emulator->shadow ? NULL : &tape_door;
    if (emulator->shadow) grid.deviation = add_deviations(emulator, program);
    if (grid.observer) grid.observer->launch(grid.observer->context, trace, grid.launch_index);
    bool done =
        grid_run(&grid, emulator->options.threads, emulator->options.memory_limit_bytes, trace, error);
    emulator->clock += grid.latest + BETWEEN_LAUNCHES;
    emulator->repeated_blocks += grid.repeated_blocks;
    holds_free(grid.holds);
    lowered_free(program);
    return done;
}

EmulatorShadow emulator_find_shadow(const Emulator *emulator, const void *element, PtxType type) {
    int bytes = ptx_type_bytes(type);
    uint64_t bits = 0;
    memcpy(&bits, element, (size_t)bytes);
    ShadowParts parts = {0};
    if (emulator->shadow && shadow_pages_find(emulator->shadow, element, bytes, bits, &parts.number[0]))
        parts.count = 1;
    ShadowNumber number = shadow_number(&parts, type, 0, bits);
    return (EmulatorShadow){number.shadow, number.flags & SHADOW_IS_CUT, number.flags & SHADOW_OF_LITERAL};
}

double emulator_deviation(const Emulator *emulator, int launch, int pc) {
    return emulator->deviations[launch][pc];
}

bool emulator_lost_shadow(const Emulator *emulator) {
    return emulator->shadow && shadow_pages_is_lost(emulator->shadow);
}

uint64_t emulator_repeated_blocks(const Emulator *emulator) {
    return emulator->repeated_blocks;
}

bool emulator_run_guided(Emulator *emulator, const Launch *launch, const EmulatorRecording *recording,
                         Trace *trace, EmulatorTakenValues *taken, Error *error) {
    Grid grid;
    LoweringOptions options = {.shares_registers = true,
                               .shared_as = recording->recorded,
                               .records_approximate = recording->approximate};
    LoweredProgram *program = begin_launch(emulator, launch, &options, &grid, trace, error);
    if (!program) return false;
    grid.trace_first = 1; /* only the recorded blocks are traced, later */
    grid.trace_last = 0;
    grid.has_trace_also = false;
    bool done = grid_run_guided(&grid, recording, emulator->options.memory_limit_bytes, &emulator->written,
                                &emulator->written_words, taken, trace, error);
    emulator->clock += grid.latest + BETWEEN_LAUNCHES;
    lowered_free(program);
    return done;
}
