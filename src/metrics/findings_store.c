/* Findings in a session file. What is read is not trusted: see trace/store.h. */
#include "metrics/findings.h"

#include "metrics/findings_list.h"
#include "trace/store.h"
#include <stdlib.h>

enum { MOST_STORED = 4096 };

static void write_access(const FindingAccess *access, Store *store) {
    store_put_integer(store, access->pc);
    store_put_word(store, access->linear_block);
    store_put_integer(store, access->warp);
    store_put_integer(store, access->lanes);
    store_put_integer(store, access->lane);
    store_put_integer(store, access->buffer);
    store_put_word(store, access->offset);
    store_put_integer(store, access->has_value);
    store_put_word(store, access->value);
    store_put_integer(store, access->is_store);
    store_put_integer(store, access->is_atomic);
    store_put_integer(store, access->interval);
    store_put_integer(store, access->event);
}

static void write_hazard(const Finding *hazard, Store *store) {
    store_begin_row(store, "hazard");
    store_put_integer(store, hazard->kind);
    store_put_text(store, hazard->kind_text);
    store_put_integer(store, hazard->launch);
    store_put_text(store, finding_space_text(hazard->space));
    store_put_word(store, hazard->count);
    store_put_word(store, hazard->blocks);
    store_put_text(store, hazard->what);
    store_put_text(store, hazard->sentence);
    store_put_text(store, hazard->advice);
    store_put_word(store, hazard->cost);
    store_put_word(store, hazard->ideal);
    store_put_word(store, hazard->predicted);
    write_access(&hazard->access, store);
    write_access(&hazard->other, store);
    store_end_row(store);
}

void findings_write(const Findings *hazards, Store *store) {
    if (!hazards) return;
    store_begin_row(store, "watched");
    store_put_integer(store, hazards->is_complete);
    store_end_row(store);
    for (int i = 0; i < hazards->count; i++) write_hazard(&hazards->items[i], store);
}

/* ---- reading ---------------------------------------------------------------------------------------- */

static void read_access(FindingAccess *access, const Trace *trace, const TraceLaunch *launch, PtxSpace space,
                        Store *store) {
    const TraceBlock *block;
    int buffers = space == PTX_SPACE_GLOBAL ? trace->buffer_count : launch->symbol_count;
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    access->pc = (int)store_integer(store, -1, launch->program->code_count - 1);
    access->linear_block = (uint64_t)store_integer(store, 0, (int64_t)blocks - 1);
    access->warp = (int)store_integer(store, 0, (int64_t)(threads - 1) / WARP_LANES);
    access->lanes = (uint32_t)store_integer(store, 0, UINT32_MAX);
    access->lane = (int)store_integer(store, -1, WARP_LANES - 1);
    access->buffer = (int)store_integer(store, -1, buffers - 1);
    access->offset = store_word(store);
    access->has_value = store_flag(store);
    access->value = store_word(store);
    access->is_store = store_flag(store);
    access->is_atomic = store_flag(store);
    access->interval = (uint32_t)store_integer(store, 0, UINT32_MAX);
    block = trace_launch_find_block(launch, (uint32_t)access->linear_block);
    access->event = (int)store_integer(store, -1, block ? trace_block_event_count(block) - 1 : -1);
    access->block[0] = (uint32_t)(access->linear_block % launch->grid[0]);
    access->block[1] = (uint32_t)(access->linear_block / launch->grid[0] % launch->grid[1]);
    access->block[2] = (uint32_t)(access->linear_block / launch->grid[0] / launch->grid[1]);
    finding_put_line(launch, access);
}

static PtxSpace read_space(Store *store, Arena *arena) {
    const char *text = store_name(store, arena);
    for (PtxSpace space = PTX_SPACE_GENERIC; text && space <= PTX_SPACE_SHARED; space++) {
        const char *name = finding_space_text(space);
        if (name && !strcmp(text, name)) return space;
    }
    if (text && !store_failed(store)) store_complain(store, "there is no space '%s'", text);
    return PTX_SPACE_GENERIC;
}

static const char *read_text(Store *store, Arena *arena) {
    const char *text = store_name(store, arena);
    if (!text && !store_failed(store)) store_complain(store, "a text is missing");
    return text ? text : "";
}

static void read_hazard(Findings *list, int *capacity, const Trace *trace, Store *store) {
    Arena *arena = &list->arena;
    FindingKind kind = (FindingKind)store_integer(store, 0, FINDING_KIND_COUNT - 1);
    const char *text = read_text(store, arena);
    int index = (int)store_integer(store, 0, trace->launch_count - 1);
    if (store_failed(store)) return;
    Finding *hazard = findings_add(list, capacity, kind, index);
    hazard->kind_text = text;
    hazard->space = read_space(store, arena);
    hazard->count = store_word(store);
    hazard->blocks = store_word(store);
    hazard->what = store_name(store, arena);
    hazard->sentence = read_text(store, arena);
    hazard->advice = store_name(store, arena);
    hazard->cost = store_word(store);
    hazard->ideal = store_word(store);
    hazard->predicted = store_word(store);
    read_access(&hazard->access, trace, trace->launches[index], hazard->space, store);
    read_access(&hazard->other, trace, trace->launches[index], hazard->space, store);
    bool in_order = hazard->severity != SEVERITY_ERROR || list->error_count == list->count - 1;
    list->error_count += hazard->severity == SEVERITY_ERROR;
    if (list->count > MOST_STORED) store_complain(store, "there are too many");
    if (!in_order) store_complain(store, "what is wrong comes after what is slow");
}

Findings *findings_read(const Trace *trace, Store *store) {
    Findings *list = NULL;
    int capacity = 0;
    store_begin_table(store, "watched");
    if (store_next_row(store)) {
        list = memory_new(sizeof *list);
        list->is_complete = store_flag(store);
        if (store_next_row(store)) store_complain(store, "there are two");
    }
    store_begin_table(store, "hazard");
    while (store_next_row(store)) {
        if (list)
            read_hazard(list, &capacity, trace, store);
        else
            store_complain(store, "there was no search");
    }
    return list;
}
