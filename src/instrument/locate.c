/* Translates a GPU address into the terms of the trace (locate.h). */
#include "instrument/locate.h"

#include "base/memory.h"
#include <stdlib.h>

enum { WINDOW_BYTES = 1 << 24, RESERVED_BYTES = 1024 };

/* ---- symbols ---------------------------------------------------------------------------------------- */

static int by_base(const void *a, const void *b) {
    const LocatedSymbol *x = a, *y = b;
    if (x->base != y->base) return x->base < y->base ? -1 : 1;
    /* dynamic memory may start at the same address as an empty variable */
    return (x->bytes != 0) - (y->bytes != 0);
}

static int buffer_of_variable(const InstrumentMemory *memory, const char *name) {
    for (int i = 0; i < memory->count; i++)
        if (memory->buffers[i].variable && !strcmp(memory->buffers[i].variable, name))
            return memory->buffers[i].buffer;
    return memory->other;
}

static bool reads_reserved(const PtxProgram *program) {
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        for (int i = 0; i < in->operand_count; i++)
            if (in->operands[i].kind == PTX_OPERAND_SPECIAL &&
                !strncmp(in->operands[i].name, "%reserved_smem_offset", strlen("%reserved_smem_offset")))
                return true;
    }
    return false;
}

/* True if the program has the variable of this function. Others belong to other entries of the module. */
static bool has_variable(const PtxProgram *program, const PtxVariable *variable) {
    return !variable->function || ptx_program_function(program, variable->function) >= 0;
}

static void add_variable(Locator *locator, const InstrumentSymbol *symbol, uint64_t base,
                         const TraceLaunch *launch) {
    const PtxVariable *variable = symbol->variable;
    uint64_t bytes = variable->bytes ? variable->bytes : launch->dynamic_shared_bytes;
    LocatedSymbol located = {variable, base, bytes, 0};
    if (variable->space == PTX_SPACE_LOCAL) {
        locator->local[locator->local_count++] = located;
    } else if (variable->space != PTX_SPACE_CONST) {
        located.base %= WINDOW_BYTES; /* in a cluster, the bits above are the block's rank */
        locator->shared[locator->shared_count++] = located;
    } else {
        LocatedConstant constant = {base, bytes, buffer_of_variable(locator->memory, variable->name)};
        if (symbol->is_generic)
            locator->generic_constants[locator->generic_constant_count++] = constant;
        else
            locator->constants[locator->constant_count++] = constant;
    }
}

/* The entry's local variables are consecutive in its frame, each at the next aligned offset. */
static void lay_out_frame(Locator *locator) {
    uint64_t at = 0;
    for (int i = 0; i < locator->local_count; i++) {
        uint64_t alignment = (uint64_t)locator->local[i].variable->alignment;
        if (!alignment) alignment = 1;
        at = (at + alignment - 1) / alignment * alignment;
        locator->local[i].frame_offset = at;
        at = (at + locator->local[i].bytes + 15) / 16 * 16;
    }
}

void locator_init(Locator *locator, const InstrumentSites *sites, const InstrumentMemory *memory,
                  const TraceLaunch *launch, uint32_t block, const uint8_t *region) {
    size_t most = (size_t)sites->symbol_count + 1;
    *locator = (Locator){.memory = memory,
                         .shared_window = region_read(region + REGION_SHARED_WINDOW, 8),
                         .local_window = region_read(region + REGION_LOCAL_WINDOW, 8),
                         .rank = trace_cluster_rank(launch, block),
                         .cluster_blocks = trace_cluster_blocks(launch),
                         .shared = memory_new(most * sizeof(LocatedSymbol)),
                         .local = memory_new(most * sizeof(LocatedSymbol)),
                         .constants = memory_new(most * sizeof(LocatedConstant)),
                         .generic_constants = memory_new(most * sizeof(LocatedConstant))};
    if (reads_reserved(launch->program))
        locator->shared[locator->shared_count++] = (LocatedSymbol){.bytes = RESERVED_BYTES};
    for (int i = 0; i < sites->symbol_count; i++) {
        uint64_t address = region_read(region + REGION_SYMBOLS + 8 * i, 8);
        if (!address || !has_variable(launch->program, sites->symbols[i].variable)) continue;
        if (sites->symbols[i].is_mapped) {
            locator->has_peers = locator->cluster_blocks > 1;
            locator->origin = (uint32_t)((address - 1) / WINDOW_BYTES);
        } else {
            add_variable(locator, &sites->symbols[i], address - 1, launch);
        }
    }
    lay_out_frame(locator);
    qsort(locator->shared, (size_t)locator->shared_count, sizeof *locator->shared, by_base);
    locator->local_symbol = locator->shared_count ? locator->shared_count : 1;
}

void locator_done(Locator *locator) {
    free(locator->shared);
    free(locator->local);
    free(locator->constants);
    free(locator->generic_constants);
}

static void add_symbol(TraceLaunch *launch, const char *name, PtxSpace space, uint64_t at, uint64_t bytes) {
    launch->symbols[launch->symbol_count++] = (TraceSymbol){name, space, at, bytes};
}

void locator_name_symbols(const Locator *locator, Arena *arena, TraceLaunch *launch) {
    size_t count = (size_t)locator->shared_count + 2;
    launch->symbols = arena_new(arena, count * sizeof *launch->symbols);
    PtxModule *module = launch->program->module;
    for (int i = 0; i < locator->shared_count; i++) {
        const LocatedSymbol *symbol = &locator->shared[i];
        const char *name = symbol->variable ? ptx_readable_name(module, symbol->variable->name) : "reserved";
        add_symbol(launch, arena_copy_string(arena, name), PTX_SPACE_SHARED, symbol->base, symbol->bytes);
    }
    if (!locator->shared_count) add_symbol(launch, "shared", PTX_SPACE_SHARED, 0, 0);
    uint64_t local_bytes = 0;
    for (int i = 0; i < locator->local_count; i++)
        local_bytes = (locator->local[i].frame_offset + locator->local[i].bytes + 15) / 16 * 16;
    add_symbol(launch, "local", PTX_SPACE_LOCAL, 0, local_bytes);
}

/* ---- addresses -------------------------------------------------------------------------------------- */

/* The rank that the address names, if it is another block's; otherwise -1. */
static int peer_of(const Locator *locator, uint64_t address) {
    uint64_t rank = address / WINDOW_BYTES - locator->origin;
    return locator->has_peers && rank != locator->rank && rank < locator->cluster_blocks ? (int)rank : -1;
}

static Location in_shared(const Locator *locator, uint64_t address) {
    int place = 0, peer = peer_of(locator, address);
    if (locator->cluster_blocks > 1) address %= WINDOW_BYTES; /* also the own block's rank */
    while (place + 1 < locator->shared_count && locator->shared[place + 1].base <= address) place++;
    uint64_t base = locator->shared_count ? locator->shared[place].base : 0;
    return (Location){PTX_SPACE_SHARED, (uint16_t)place, address - base, peer};
}

/* Outside the entry's variables: frames of called functions, which the GPU places. */
static Location in_local(const Locator *locator, uint64_t address) {
    uint64_t offset = address;
    for (int i = 0; i < locator->local_count; i++)
        if (address - locator->local[i].base < locator->local[i].bytes)
            offset = locator->local[i].frame_offset + (address - locator->local[i].base);
    return (Location){PTX_SPACE_LOCAL, (uint16_t)locator->local_symbol, offset, -1};
}

static bool in_constants(const LocatedConstant *constants, int count, uint64_t address, Location *out) {
    for (int i = 0; i < count; i++) {
        if (address - constants[i].base >= constants[i].bytes || constants[i].buffer < 0) continue;
        *out = (Location){PTX_SPACE_GLOBAL, (uint16_t)constants[i].buffer, address - constants[i].base, -1};
        return true;
    }
    return false;
}

static bool in_global(const Locator *locator, uint64_t address, Location *out) {
    const InstrumentMemory *memory = locator->memory;
    for (int i = 0; i < memory->count; i++) {
        const InstrumentBuffer *buffer = &memory->buffers[i];
        if (address - buffer->base >= buffer->bytes) continue;
        *out = (Location){PTX_SPACE_GLOBAL, (uint16_t)buffer->buffer, address - buffer->base, -1};
        return true;
    }
    if (memory->other < 0) return false;
    *out = (Location){PTX_SPACE_GLOBAL, (uint16_t)memory->other, address, -1};
    return true;
}

/* In a cluster: of all its blocks, also if no instruction names the others: an H200 puts its own rank into a
 * block's addresses. */
static uint64_t shared_window_bytes(const Locator *locator) {
    return (uint64_t)WINDOW_BYTES * (locator->origin + locator->cluster_blocks);
}

bool locate(const Locator *locator, PtxSpace space, uint64_t address, Location *out) {
    switch (space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        *out = in_shared(locator, address);
        return true;
    case PTX_SPACE_LOCAL:
        *out = in_local(locator, address);
        return true;
    case PTX_SPACE_CONST:
        return in_constants(locator->constants, locator->constant_count, address, out) ||
               in_global(locator, address, out);
    case PTX_SPACE_GENERIC:
        if (address - locator->shared_window < shared_window_bytes(locator)) {
            *out = in_shared(locator, address - locator->shared_window);
            return true;
        }
        if (address - locator->local_window < WINDOW_BYTES) {
            *out = in_local(locator, address - locator->local_window);
            return true;
        }
        return in_constants(locator->generic_constants, locator->generic_constant_count, address, out) ||
               in_global(locator, address, out);
    default:
        return in_global(locator, address, out);
    }
}

int locator_element_bytes(const Locator *locator, uint64_t address) {
    for (int i = 0; i < locator->memory->count; i++) {
        const InstrumentBuffer *buffer = &locator->memory->buffers[i];
        if (address - buffer->base < buffer->bytes) return buffer->element_bytes;
    }
    return 0;
}
