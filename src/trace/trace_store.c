#include "trace/trace_store.h"

#include "trace/block.h"
#include <limits.h>
#include <stdlib.h>

enum { MOST_SYMBOLS = 1 << 16, MOST_BUFFERS = 1 << 16, MOST_THREADS = 1024 };

/* ---- writing ------------------------------------------------------------------------------------------- */

static uint64_t block_bytes(const TraceBlock *block) {
    size_t bytes;
    int count;
    uint64_t sum = 0;
    for (int i = 0; i < trace_block_page_count(block); i++) {
        trace_block_page(block, i, &bytes, &count);
        sum += bytes;
    }
    return sum;
}

uint64_t trace_stored_bytes(const Trace *trace) {
    uint64_t sum = 0;
    for (int i = 0; i < trace->launch_count; i++) {
        const TraceLaunch *launch = trace->launches[i];
        for (int b = 0; b < launch->block_count; b++) sum += block_bytes(launch->blocks[b]);
        for (int b = 0; b < launch->other_count; b++) sum += block_bytes(launch->others[b]);
    }
    return sum;
}

static void write_launch(const TraceLaunch *launch, Store *store) {
    store_begin_row(store, TABLE_launch);
    store_put_text(store, COLUMN_launch_name, launch->name);
    store_put_integer(store, COLUMN_launch_instructions, launch->program->code_count);
    for (int i = 0; i < 3; i++) store_put_integer(store, COLUMN_launch_grid_x + i, launch->grid[i]);
    for (int i = 0; i < 3; i++) store_put_integer(store, COLUMN_launch_block_x + i, launch->block[i]);
    store_put_integer(store, COLUMN_launch_static_shared_bytes, launch->static_shared_bytes);
    store_put_integer(store, COLUMN_launch_dynamic_shared_bytes, launch->dynamic_shared_bytes);
    store_put_integer(store, COLUMN_launch_cooperative, launch->cooperative);
    store_put_word(store, COLUMN_launch_dropped, launch->dropped);
    for (int i = 0; i < 3; i++) store_put_integer(store, COLUMN_launch_cluster_x + i, launch->cluster[i]);
    store_end_row(store);
}

static void write_symbol(int launch, const TraceSymbol *symbol, Store *store) {
    store_begin_row(store, TABLE_symbol);
    store_put_integer(store, COLUMN_symbol_launch, launch);
    store_put_text(store, COLUMN_symbol_name, symbol->name);
    store_put_integer(store, COLUMN_symbol_shared, symbol->space == PTX_SPACE_SHARED);
    store_put_word(store, COLUMN_symbol_window_offset, symbol->window_offset);
    store_put_word(store, COLUMN_symbol_bytes, symbol->bytes);
    store_end_row(store);
}

static void write_buffer(const TraceBuffer *buffer, Store *store) {
    store_begin_row(store, TABLE_buffer);
    store_put_text(store, COLUMN_buffer_name, buffer->name);
    store_put_word(store, COLUMN_buffer_bytes, buffer->bytes);
    store_put_text(store, COLUMN_buffer_type,
                   buffer->type == PTX_NO_TYPE ? NULL : ptx_type_text(buffer->type));
    store_end_row(store);
}

/* Every field of a counter, one column each. */
#define COUNTER_FIELDS(FIELD)                                                                                \
    FIELD(executions)                                                                                        \
    FIELD(lanes)                                                                                             \
    FIELD(requests)                                                                                          \
    FIELD(shared_requests)                                                                                   \
    FIELD(global_requests)                                                                                   \
    FIELD(wavefronts)                                                                                        \
    FIELD(ideal_wavefronts)                                                                                  \
    FIELD(sectors)                                                                                           \
    FIELD(ideal_sectors)                                                                                     \
    FIELD(divergent)

static void write_counter(int launch, int pc, const TraceCounter *counter, Store *store) {
    static const TraceCounter nothing;
    if (!memcmp(counter, &nothing, sizeof nothing)) return;
    store_begin_row(store, TABLE_counter);
    store_put_integer(store, COLUMN_counter_launch, launch);
    store_put_integer(store, COLUMN_counter_pc, pc);
#define FIELD(name) store_put_word(store, COLUMN_counter_##name, counter->name);
    COUNTER_FIELDS(FIELD)
#undef FIELD
    store_end_row(store);
}

static void write_trap(const Trap *trap, Store *store) {
    uint8_t addresses[WARP_LANES * 8];
    for (int i = 0; i < WARP_LANES * 8; i++) addresses[i] = (uint8_t)(trap->address[i / 8] >> 8 * (i % 8));
    store_begin_row(store, TABLE_trap);
    store_put_text(store, COLUMN_trap_kind, trap_kind_text(trap->kind));
    store_put_integer(store, COLUMN_trap_launch, trap->launch);
    store_put_integer(store, COLUMN_trap_pc, trap->pc);
    for (int i = 0; i < 3; i++) store_put_integer(store, COLUMN_trap_block_x + i, trap->block[i]);
    store_put_integer(store, COLUMN_trap_warp, trap->warp);
    store_put_integer(store, COLUMN_trap_lanes, trap->lanes);
    store_put_bytes(store, COLUMN_trap_addresses, addresses, sizeof addresses);
    store_put_text(store, COLUMN_trap_detail, trap->detail);
    store_end_row(store);
}

static void write_blocks(int launch, TraceBlock *const *blocks, int count, bool shown, Store *store) {
    for (int i = 0; i < count; i++) {
        store_begin_row(store, TABLE_block);
        store_put_integer(store, COLUMN_block_launch, launch);
        store_put_integer(store, COLUMN_block_number, trace_block_linear(blocks[i]));
        store_put_integer(store, COLUMN_block_shown, shown);
        store_put_integer(store, COLUMN_block_events, trace_block_event_count(blocks[i]));
        store_put_integer(store, COLUMN_block_pages, trace_block_page_count(blocks[i]));
        store_end_row(store);
    }
}

static void write_pages(TraceBlock *const *blocks, int count, Store *store) {
    for (int i = 0; i < count; i++)
        for (int p = 0; p < trace_block_page_count(blocks[i]); p++) {
            size_t bytes;
            int events;
            const uint8_t *page = trace_block_page(blocks[i], p, &bytes, &events);
            store_begin_row(store, TABLE_page);
            store_put_integer(store, COLUMN_page_events, events);
            store_put_bytes(store, COLUMN_page_bytes, page, bytes);
            store_end_row(store);
        }
}

void trace_write(const Trace *trace, Store *store) {
    int launches = trace->launch_count;
    TraceLaunch *const *launch = trace->launches;
    for (int i = 0; i < launches; i++) write_launch(launch[i], store);
    for (int i = 0; i < launches; i++)
        for (int s = 0; s < launch[i]->symbol_count; s++) write_symbol(i, &launch[i]->symbols[s], store);
    for (int i = 0; i < trace->buffer_count; i++) write_buffer(&trace->buffers[i], store);
    for (int i = 0; i < launches; i++)
        for (int pc = 0; pc < launch[i]->program->code_count; pc++)
            write_counter(i, pc, &launch[i]->counters[pc], store);
    for (int i = 0; i < trace->trap_count; i++) write_trap(&trace->traps[i], store);
    for (int i = 0; i < launches; i++) {
        write_blocks(i, launch[i]->blocks, launch[i]->block_count, true, store);
        write_blocks(i, launch[i]->others, launch[i]->other_count, false, store);
    }
    for (int i = 0; i < launches; i++) {
        write_pages(launch[i]->blocks, launch[i]->block_count, store);
        write_pages(launch[i]->others, launch[i]->other_count, store);
    }
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* The limits of CUDA, and one of redviz: block numbers have 32 bits. */
static void read_geometry(Launch *launch, Store *store) {
    static const int64_t most_blocks[] = {INT_MAX, 65535, 65535}, most_threads[] = {1024, 1024, 64};
    for (int i = 0; i < 3; i++)
        launch->grid[i] = (uint32_t)store_integer(store, COLUMN_launch_grid_x + i, 1, most_blocks[i]);
    for (int i = 0; i < 3; i++)
        launch->block[i] = (uint32_t)store_integer(store, COLUMN_launch_block_x + i, 1, most_threads[i]);
    for (int i = 0; i < 3; i++)
        launch->cluster[i] =
            (uint32_t)store_integer(store, COLUMN_launch_cluster_x + i, 0, LAUNCH_CLUSTER_BLOCKS);
    Error refused = {0};
    if (!store_failed(store) && !launch_check_cluster(launch, &refused))
        store_complain(store, "its clusters: %.100s", refused.message);
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1];
    if (launch->block[0] * launch->block[1] * launch->block[2] > MOST_THREADS || blocks > UINT32_MAX ||
        blocks * launch->grid[2] > UINT32_MAX)
        store_complain(store, "there is no such grid");
}

static void read_launches(Trace *trace, Launch *launches, int count, Store *store) {
    store_begin_table(store, TABLE_launch);
    while (store_next_row(store)) {
        if (trace->launch_count == count) {
            store_complain(store, "it has no entry");
            return;
        }
        Launch *launch = &launches[trace->launch_count];
        if (store_integer(store, COLUMN_launch_instructions, 0, INT_MAX) != launch->program->code_count)
            store_complain(store, "its PTX has %d instructions", launch->program->code_count);
        read_geometry(launch, store);
        launch->dynamic_shared_bytes =
            (uint32_t)store_integer(store, COLUMN_launch_dynamic_shared_bytes, 0, TRACE_WINDOW_LIMIT);
        launch->cooperative = store_flag(store, COLUMN_launch_cooperative);
        TraceLaunch *traced = trace_add_launch(trace, launch);
        traced->name = store_name(store, COLUMN_launch_name, &trace->arena);
        traced->static_shared_bytes =
            (uint32_t)store_integer(store, COLUMN_launch_static_shared_bytes, 0, TRACE_WINDOW_LIMIT);
        traced->dropped = store_word(store, COLUMN_launch_dropped);
    }
    if (!store_failed(store) && trace->launch_count != count)
        store_complain(store, "there are %d entries", count);
}

static void read_symbols(Trace *trace, Store *store) {
    int capacity = 0;
    TraceLaunch *launch = NULL;
    store_begin_table(store, TABLE_symbol);
    for (int before = -1, index; store_next_row(store); before = index) {
        index =
            (int)store_integer(store, COLUMN_symbol_launch, before < 0 ? 0 : before, trace->launch_count - 1);
        launch = trace->launches[index];
        if (launch->symbol_count == MOST_SYMBOLS) store_complain(store, "there are too many");
        TraceSymbol symbol = {.name = store_name(store, COLUMN_symbol_name, &trace->arena)};
        symbol.space = store_flag(store, COLUMN_symbol_shared) ? PTX_SPACE_SHARED : PTX_SPACE_LOCAL;
        symbol.window_offset =
            (uint64_t)store_integer(store, COLUMN_symbol_window_offset, 0, TRACE_WINDOW_LIMIT);
        symbol.bytes = (uint64_t)store_integer(store, COLUMN_symbol_bytes, 0, UINT32_MAX);
        if (store_failed(store)) break;
        int count = launch->symbol_count;
        if (!count) capacity = 0;
        if (count == capacity) { /* in the arena: the last one is contiguous */
            capacity = capacity ? 2 * capacity : 8;
            TraceSymbol *larger = arena_new(&trace->arena, (size_t)capacity * sizeof *larger);
            if (count) memcpy(larger, launch->symbols, (size_t)count * sizeof *larger);
            launch->symbols = larger;
        }
        launch->symbols[launch->symbol_count++] = symbol;
    }
}

static PtxType type_of(const char *text) {
    for (int type = PTX_NO_TYPE + 1; text && type < PTX_TYPE_COUNT; type++)
        if (!strcmp(ptx_type_text((PtxType)type), text)) return (PtxType)type;
    return PTX_NO_TYPE;
}

static void read_buffers(Trace *trace, Store *store) {
    static const int64_t most_bytes = (int64_t)1 << 46;
    store_begin_table(store, TABLE_buffer);
    while (store_next_row(store)) {
        const char *name = store_name(store, COLUMN_buffer_name, &trace->arena);
        uint64_t bytes = (uint64_t)store_integer(store, COLUMN_buffer_bytes, 0, most_bytes);
        const char *type = store_name(store, COLUMN_buffer_type, &trace->arena);
        if (trace->buffer_count == MOST_BUFFERS) store_complain(store, "there are too many");
        if (!store_failed(store)) trace_add_buffer(trace, name, bytes, type_of(type));
    }
}

static void read_counters(Trace *trace, Store *store) {
    store_begin_table(store, TABLE_counter);
    while (store_next_row(store)) {
        TraceLaunch *launch =
            trace->launches[store_integer(store, COLUMN_counter_launch, 0, trace->launch_count - 1)];
        int64_t pc = store_integer(store, COLUMN_counter_pc, 0, launch->program->code_count - 1);
        TraceCounter *counter = &launch->counters[pc];
#define FIELD(name) counter->name = store_word(store, COLUMN_counter_##name);
        COUNTER_FIELDS(FIELD)
#undef FIELD
    }
}

static void read_trap(Trace *trace, Store *store) {
    size_t length;
    const char *kind = store_name(store, COLUMN_trap_kind, &trace->arena);
    Trap trap = {.kind = kind ? trap_kind_find(kind) : TRAP_KIND_COUNT, .buffer = -1};
    if (trap.kind == TRAP_KIND_COUNT) store_complain(store, "there is no such kind");
    trap.launch = (int)store_integer(store, COLUMN_trap_launch, 0, trace->launch_count - 1);
    const TraceLaunch *launch = trace->launches[trap.launch];
    trap.pc = (int)store_integer(store, COLUMN_trap_pc, PTX_NO_PC, launch->program->code_count - 1);
    for (int i = 0; i < 3; i++)
        trap.block[i] = (uint32_t)store_integer(store, COLUMN_trap_block_x + i, 0, launch->grid[i] - 1);
    trap.warp = (int)store_integer(store, COLUMN_trap_warp, -1, MOST_THREADS / WARP_LANES - 1);
    trap.lanes = (uint32_t)store_integer(store, COLUMN_trap_lanes, 0, UINT32_MAX);
    const uint8_t *addresses = store_bytes(store, COLUMN_trap_addresses, &length);
    if (length != WARP_LANES * 8) {
        store_complain(store, "32 addresses are not %zu bytes", length);
        return;
    }
    for (int i = 0; i < WARP_LANES * 8; i++) trap.address[i / 8] |= (uint64_t)addresses[i] << 8 * (i % 8);
    trap.detail = store_name(store, COLUMN_trap_detail, &trace->arena);
    if (!store_failed(store)) trace_add_trap(trace, &trap);
}

/* ---- reading blocks ------------------------------------------------------------------------------------ */

typedef struct BlockRow {
    int launch, events, pages;
    uint32_t number;
    bool shown;
} BlockRow;

typedef struct BlockRows {
    BlockRow *rows;
    int count, capacity;
} BlockRows;

/* Ordered by launch, then shown blocks before others, then in the order of the grid. */
static bool is_after(const BlockRow *row, const BlockRow *before) {
    if (row->launch != before->launch) return row->launch > before->launch;
    if (row->shown != before->shown) return before->shown;
    return row->number > before->number;
}

static void read_block_rows(const Trace *trace, BlockRows *blocks, Store *store) {
    store_begin_table(store, TABLE_block);
    while (store_next_row(store)) {
        BlockRow row = {.launch = (int)store_integer(store, COLUMN_block_launch, 0, trace->launch_count - 1)};
        const uint32_t *grid = trace->launches[row.launch]->grid;
        row.number =
            (uint32_t)store_integer(store, COLUMN_block_number, 0, (int64_t)grid[0] * grid[1] * grid[2] - 1);
        row.shown = store_flag(store, COLUMN_block_shown);
        row.events = (int)store_integer(store, COLUMN_block_events, 0, INT_MAX);
        row.pages = (int)store_integer(store, COLUMN_block_pages, 0, row.events);
        if (blocks->count && !is_after(&row, &blocks->rows[blocks->count - 1]))
            store_complain(store, "it is out of order");
        array_push(blocks->rows, blocks->count, blocks->capacity, row);
    }
}

/* Adds the block to the launch, even if it has errors. */
static void add_block(TraceLaunch *launch, TraceBlock *block, bool shown) {
    if (shown)
        trace_launch_add_block(launch, block);
    else
        trace_launch_add_other(launch, block);
}

static void read_pages(Trace *trace, const BlockRow *row, const EventCheck *check, Store *store) {
    TraceBlock *block = trace_block_new(row->number);
    for (int i = 0; i < row->pages && !store_failed(store); i++) {
        size_t length;
        if (!store_next_row(store)) {
            if (!store_failed(store)) store_complain(store, "more pages should follow");
            break;
        }
        int events = (int)store_integer(store, COLUMN_page_events, 1, INT_MAX);
        const uint8_t *bytes = store_bytes(store, COLUMN_page_bytes, &length);
        if (!store_failed(store) && !trace_block_add_page(block, check, bytes, length, events))
            store_complain(store, "it has impossible events");
    }
    if (!store_failed(store) && trace_block_event_count(block) != row->events)
        store_complain(store, "block %u has %d events and should have %d", row->number,
                       trace_block_event_count(block), row->events);
    add_block(trace->launches[row->launch], block, row->shown);
}

static void read_blocks(Trace *trace, Store *store) {
    BlockRows blocks = {0};
    EventCheck *check = NULL;
    read_block_rows(trace, &blocks, store);
    store_begin_table(store, TABLE_page);
    for (int i = 0, launch = -1; i < blocks.count && !store_failed(store); i++) {
        if (blocks.rows[i].launch != launch) {
            launch = blocks.rows[i].launch;
            event_check_free(check);
            check = event_check_new(trace, trace->launches[launch]);
        }
        read_pages(trace, &blocks.rows[i], check, store);
    }
    if (store_next_row(store)) store_complain(store, "it belongs to no block");
    event_check_free(check);
    free(blocks.rows);
}

void trace_read(Trace *trace, Launch *launches, int count, Store *store) {
    read_launches(trace, launches, count, store);
    if (store_failed(store)) return;
    read_symbols(trace, store);
    read_buffers(trace, store);
    read_counters(trace, store);
    store_begin_table(store, TABLE_trap);
    while (store_next_row(store)) read_trap(trace, store);
    read_blocks(trace, store);
}
