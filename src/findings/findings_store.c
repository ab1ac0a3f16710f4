/* Findings in a session file. The file is not trusted: see trace/store.h. Sentences are in the language of
 * their session: one saved in English and opened in Chinese shows them in English, beside slow places, which
 * are counted again, in Chinese. */
#include "findings/findings.h"

#include "findings/findings_list.h"
#include "trace/store.h"
#include <stdlib.h>

enum { MOST_STORED = 4096 };

/* The columns of `access` and `other` have the same order; those of `other` start this much later. */
enum { OTHER_SIDE = COLUMN_hazard_other_pc - COLUMN_hazard_access_pc };

static void write_access(const FindingAccess *access, int side, Store *store) {
    store_put_integer(store, COLUMN_hazard_access_pc + side, access->pc);
    store_put_word(store, COLUMN_hazard_access_block + side, access->linear_block);
    store_put_integer(store, COLUMN_hazard_access_warp + side, access->warp);
    store_put_integer(store, COLUMN_hazard_access_lanes + side, access->lanes);
    store_put_integer(store, COLUMN_hazard_access_lane + side, access->lane);
    store_put_integer(store, COLUMN_hazard_access_buffer + side, access->buffer);
    store_put_word(store, COLUMN_hazard_access_offset + side, access->offset);
    store_put_integer(store, COLUMN_hazard_access_has_value + side, access->has_value);
    store_put_word(store, COLUMN_hazard_access_value + side, access->value);
    store_put_integer(store, COLUMN_hazard_access_stores + side, access->is_store);
    store_put_integer(store, COLUMN_hazard_access_atomic + side, access->is_atomic);
    store_put_integer(store, COLUMN_hazard_access_interval + side, access->interval);
    store_put_integer(store, COLUMN_hazard_access_event + side, access->event);
}

static void write_hazard(const Finding *hazard, Store *store) {
    store_begin_row(store, TABLE_hazard);
    store_put_integer(store, COLUMN_hazard_kind, hazard->kind);
    store_put_text(store, COLUMN_hazard_kind_text, hazard->kind_text);
    store_put_integer(store, COLUMN_hazard_launch, hazard->launch);
    store_put_text(store, COLUMN_hazard_space, finding_space_text(hazard->space));
    store_put_word(store, COLUMN_hazard_count, hazard->count);
    store_put_word(store, COLUMN_hazard_blocks, hazard->blocks);
    store_put_text(store, COLUMN_hazard_place, hazard->what);
    store_put_text(store, COLUMN_hazard_sentence, hazard->sentence);
    store_put_text(store, COLUMN_hazard_advice, hazard->advice);
    store_put_word(store, COLUMN_hazard_cost, hazard->cost);
    store_put_word(store, COLUMN_hazard_ideal, hazard->ideal);
    store_put_word(store, COLUMN_hazard_predicted, hazard->predicted);
    write_access(&hazard->access, 0, store);
    write_access(&hazard->other, OTHER_SIDE, store);
    store_end_row(store);
}

void findings_write(const Findings *hazards, Store *store) {
    if (!hazards) return;
    store_begin_row(store, TABLE_watched);
    store_put_integer(store, COLUMN_watched_complete, hazards->is_complete);
    store_end_row(store);
    for (int i = 0; i < hazards->count; i++) write_hazard(&hazards->items[i], store);
}

/* ---- reading ---------------------------------------------------------------------------------------- */

static void read_access(FindingAccess *access, int side, const Trace *trace, const TraceLaunch *launch,
                        PtxSpace space, Store *store) {
    const TraceBlock *block;
    int buffers = space == PTX_SPACE_GLOBAL ? trace->buffer_count : launch->symbol_count;
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    access->pc =
        (int)store_integer(store, COLUMN_hazard_access_pc + side, -1, launch->program->code_count - 1);
    access->linear_block =
        (uint64_t)store_integer(store, COLUMN_hazard_access_block + side, 0, (int64_t)blocks - 1);
    access->warp =
        (int)store_integer(store, COLUMN_hazard_access_warp + side, 0, (int64_t)(threads - 1) / WARP_LANES);
    access->lanes = (uint32_t)store_integer(store, COLUMN_hazard_access_lanes + side, 0, UINT32_MAX);
    access->lane = (int)store_integer(store, COLUMN_hazard_access_lane + side, -1, WARP_LANES - 1);
    access->buffer = (int)store_integer(store, COLUMN_hazard_access_buffer + side, -1, buffers - 1);
    access->offset = store_word(store, COLUMN_hazard_access_offset + side);
    access->has_value = store_flag(store, COLUMN_hazard_access_has_value + side);
    access->value = store_word(store, COLUMN_hazard_access_value + side);
    access->is_store = store_flag(store, COLUMN_hazard_access_stores + side);
    access->is_atomic = store_flag(store, COLUMN_hazard_access_atomic + side);
    access->interval = (uint32_t)store_integer(store, COLUMN_hazard_access_interval + side, 0, UINT32_MAX);
    block = trace_launch_find_block(launch, (uint32_t)access->linear_block);
    access->event = (int)store_integer(store, COLUMN_hazard_access_event + side, -1,
                                       block ? trace_block_event_count(block) - 1 : -1);
    access->block[0] = (uint32_t)(access->linear_block % launch->grid[0]);
    access->block[1] = (uint32_t)(access->linear_block / launch->grid[0] % launch->grid[1]);
    access->block[2] = (uint32_t)(access->linear_block / launch->grid[0] / launch->grid[1]);
    finding_put_line(launch, access);
    finding_put_type(trace, launch, space, access);
}

static PtxSpace read_space(Store *store, Arena *arena) {
    const char *text = store_name(store, COLUMN_hazard_space, arena);
    for (PtxSpace space = PTX_SPACE_GENERIC; text && space <= PTX_SPACE_SHARED; space++) {
        const char *name = finding_space_text(space);
        if (name && !strcmp(text, name)) return space;
    }
    if (text && !store_failed(store)) store_complain(store, "there is no space '%s'", text);
    return PTX_SPACE_GENERIC;
}

/* Finds the kind by its text, since rows may have been added to finding_kinds.def. The texts of traps are
 * faults. */
static FindingKind read_kind(Store *store, const char *text) {
    store_integer(store, COLUMN_hazard_kind, 0, INT32_MAX);
    FindingKind kind = finding_kind_find(text);
    if (kind < FINDING_KIND_COUNT) return kind;
    for (int trap = 0; trap < TRAP_KIND_COUNT; trap++)
        if (!strcmp(text, trap_kind_text((TrapKind)trap))) return FINDING_FAULT;
    store_complain(store, "there is no hazard '%.40s'", text);
    return FINDING_FAULT;
}

static void read_hazard(Findings *list, int *capacity, const Trace *trace, Store *store) {
    Arena *arena = &list->arena;
    const char *text = store_name(store, COLUMN_hazard_kind_text, arena);
    FindingKind kind = read_kind(store, text);
    int index = (int)store_integer(store, COLUMN_hazard_launch, 0, trace->launch_count - 1);
    if (store_failed(store)) return;
    Finding *hazard = findings_add(list, capacity, kind, index);
    hazard->kind_text = text;
    hazard->space = read_space(store, arena);
    hazard->count = store_word(store, COLUMN_hazard_count);
    hazard->blocks = store_word(store, COLUMN_hazard_blocks);
    hazard->what = store_name(store, COLUMN_hazard_place, arena);
    hazard->sentence = store_name(store, COLUMN_hazard_sentence, arena);
    hazard->advice = store_name(store, COLUMN_hazard_advice, arena);
    hazard->cost = store_word(store, COLUMN_hazard_cost);
    hazard->ideal = store_word(store, COLUMN_hazard_ideal);
    hazard->predicted = store_word(store, COLUMN_hazard_predicted);
    read_access(&hazard->access, 0, trace, trace->launches[index], hazard->space, store);
    read_access(&hazard->other, OTHER_SIDE, trace, trace->launches[index], hazard->space, store);
    bool in_order = hazard->severity != SEVERITY_ERROR || list->error_count == list->count - 1;
    list->error_count += hazard->severity == SEVERITY_ERROR;
    if (list->count > MOST_STORED) store_complain(store, "there are too many");
    if (!in_order) store_complain(store, "what is wrong comes after what is slow");
}

Findings *findings_read(const Trace *trace, Store *store) {
    Findings *list = NULL;
    int capacity = 0;
    store_begin_table(store, TABLE_watched);
    if (store_next_row(store)) {
        list = memory_new(sizeof *list);
        list->is_complete = store_flag(store, COLUMN_watched_complete);
        if (store_next_row(store)) store_complain(store, "there are two");
    }
    store_begin_table(store, TABLE_hazard);
    while (store_next_row(store)) {
        if (list)
            read_hazard(list, &capacity, trace, store);
        else
            store_complain(store, "races were not searched for");
    }
    if (list) findings_find_causes(list);
    return list;
}
