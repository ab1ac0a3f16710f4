/* Placement: removes unneeded lanes and entries, and places values in tape registers (tape.h). */
#include "emulator/tape/tape.h"

#include <stdlib.h>

#define UNPLACED UINT32_MAX

enum { MARGIN = 128, FEW_LANES = 4, MOST_REGISTER_BYTES = 1 << 20 };

/* ---- needs ------------------------------------------------------------------------------------------ */

static uint32_t needed_results(const Tape *tape, const TapeEntry *entry, int w) {
    uint32_t needed = 0;
    for (int r = 0; r < entry->reference_count; r++)
        if (entry->references[r].is_result)
            needed |= tape->values[entry->references[r].value]->need[entry->warps[w]] & entry->masks[w];
    return needed;
}

static uint32_t shuffled(const TapeDetail *detail, uint32_t lanes) {
    uint32_t sources = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int from = detail->from[__builtin_ctz(rest)];
        if (from < WARP_LANES) sources |= lane_bit[from];
    }
    return sources;
}

/* The lanes of its sources that the entry reads; 0: its results are not needed. */
static uint32_t reads(const Tape *tape, const TapeEntry *entry, int w) {
    uint32_t needed = needed_results(tape, entry, w), mask = entry->masks[w];
    switch (entry->kind) {
    case TAPE_LANES:
    case TAPE_MERGE:
        return needed;
    case TAPE_SHUFFLE:
        return shuffled(&entry->details[w], needed);
    case TAPE_EXCHANGE:
        return needed ? mask : 0;
    case TAPE_SHARED:
        return needed || entry->memory->is_store || tape->is_observed ? mask : 0;
    case TAPE_GUARD:
    case TAPE_PRODUCT:
    case TAPE_ADDRESS:
    case TAPE_GLOBAL:
    case TAPE_SYNC:
        break;
    }
    return mask;
}

static bool is_needed(const Tape *tape, const TapeEntry *entry, int w) {
    return entry->kind == TAPE_SHUFFLE ? needed_results(tape, entry, w) != 0 : reads(tape, entry, w) != 0;
}

static void find_needs(Tape *tape) {
    for (int e = tape->entry_count - 1; e >= 0; e--) {
        TapeEntry *entry = tape->entries[e];
        for (int w = 0; w < entry->count; w++) {
            int warp = entry->warps[w];
            uint32_t lanes = reads(tape, entry, w);
            entry->details[w].is_needed = is_needed(tape, entry, w);
            for (int r = 0; r < entry->reference_count; r++) {
                const TapeReference *reference = &entry->references[r];
                if (!reference->is_result)
                    tape->values[reference->value]->need[warp] |= lanes;
                else if (reference->before != NO_VALUE)
                    tape->values[reference->before]->need[warp] |=
                        tape->values[reference->value]->need[warp] & ~entry->masks[w];
            }
        }
    }
}

/* ---- homes ------------------------------------------------------------------------------------------ */

/* True if another entry reads a lane of this result that the entry does not write. */
static bool is_changed(const Tape *tape, const TapeEntry *entry, const TapeReference *result) {
    if (!result->is_result || result->before == NO_VALUE) return false;
    for (int w = 0; w < entry->count; w++)
        if (tape->values[result->value]->need[entry->warps[w]] & ~entry->masks[w]) return true;
    return false;
}

/* True if no old results of the warps must stay: lanes outside the masks may be written too. */
static bool is_free(const Tape *tape, const TapeEntry *entry) {
    for (int r = 0; r < entry->reference_count; r++)
        if (is_changed(tape, entry, &entry->references[r])) return false;
    return true;
}

static void use(Tape *tape, int value, int entry) {
    TapeValue *home = tape->values[tape->values[value]->home];
    if (home->last < entry) home->last = entry;
}

static bool is_dropped(const TapeEntry *entry) {
    for (int w = 0; w < entry->count; w++)
        if (entry->details[w].is_needed) return false;
    return true;
}

static void find_homes(Tape *tape) {
    for (int e = 0; e < tape->entry_count; e++) {
        const TapeEntry *entry = tape->entries[e];
        for (int r = 0; r < entry->reference_count; r++) {
            const TapeReference *reference = &entry->references[r];
            TapeValue *value = tape->values[reference->value];
            if (is_changed(tape, entry, reference)) value->home = tape->values[reference->before]->home;
            if (!is_dropped(entry) || is_changed(tape, entry, reference)) use(tape, reference->value, e);
        }
    }
}

/* ---- locations --------------------------------------------------------------------------------------- */

typedef struct Places {
    uint32_t *free[3]; /* of 64, 128 and 256 bytes */
    int count[3], capacity[3];
    uint32_t end;
} Places;

static int size_class(uint32_t bytes) {
    return bytes <= 64 ? 0 : bytes <= 128 ? 1 : 2;
}

static uint32_t take_place(Places *places, uint32_t bytes) {
    int class = size_class(bytes);
    if (places->count[class]) return places->free[class][--places->count[class]];
    uint32_t offset = places->end;
    places->end += UINT32_C(64) << class;
    return offset;
}

static void place_value(Tape *tape, Places *places, int value) {
    TapeValue *home = tape->values[tape->values[value]->home];
    if (home->offset == UNPLACED) home->offset = take_place(places, home->bytes);
}

static void leave_place(Tape *tape, Places *places, int value, int entry) {
    TapeValue *home = tape->values[tape->values[value]->home];
    if (home->is_kept || home->special >= 0 || home->last != entry || home->offset == UNPLACED) return;
    home->last = -1;
    int class = size_class(home->bytes);
    array_push(places->free[class], places->count[class], places->capacity[class], home->offset);
}

static bool is_wide(const Tape *tape) {
    for (int v = 0; v < tape->value_count; v++)
        if (tape->values[v]->bytes > 256) return true;
    return false;
}

/* Kept and special values stay in place; each other value has a location from the entry that produces it to
 * the last one that reads it. */
static void find_places(Tape *tape) {
    Places places = {.end = MARGIN};
    for (int v = 0; v < tape->value_count; v++) {
        TapeValue *value = tape->values[v];
        bool is_read = false;
        for (int w = 0; w < MAX_WARPS; w++) is_read |= value->need[w] != 0;
        value->offset = UNPLACED;
        if ((value->is_kept || value->special >= 0) && is_read) place_value(tape, &places, v);
    }
    for (int e = 0; e < tape->entry_count; e++) {
        const TapeEntry *entry = tape->entries[e];
        for (int r = 0; r < entry->reference_count; r++)
            if (!is_dropped(entry) || is_changed(tape, entry, &entry->references[r]))
                place_value(tape, &places, entry->references[r].value);
        for (int r = 0; r < entry->reference_count; r++)
            leave_place(tape, &places, entry->references[r].value, e);
    }
    for (int c = 0; c < 3; c++) free(places.free[c]);
    tape->register_stride = places.end + MARGIN + 64 * 3; /* spread over the cache sets */
}

/* ---- steps ------------------------------------------------------------------------------------------ */

static void add_step(Tape *tape, int *capacity, const Op *op, int count, const uint8_t *warps,
                     const uint32_t *masks) {
    Warp **at = arena_new(&tape->arena, (size_t)count * sizeof *at);
    for (int w = 0; w < count; w++) at[w] = (Warp *)(void *)&tape->bases[warps[w]];
    TapeStep step = {op->run, op, at, masks, count};
    array_push(tape->steps, tape->step_count, *capacity, step);
}

static void drop_warps(TapeEntry *entry) {
    int kept = 0;
    for (int w = 0; w < entry->count; w++) {
        if (!entry->details[w].is_needed) continue;
        entry->warps[kept] = entry->warps[w];
        entry->masks[kept] = entry->masks[w];
        entry->details[kept++] = entry->details[w];
    }
    entry->count = kept;
}

/* If all needed lanes read at the same distance, lane 0 determines it. */
static void find_shift(const Tape *tape, const TapeEntry *entry, int w, TapeDetail *detail) {
    uint32_t needed = needed_results(tape, entry, w);
    int first = __builtin_ctz(needed), shift = detail->from[first] - first;
    detail->is_whole = true;
    for (uint32_t rest = needed; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        detail->is_whole &= detail->from[lane] < WARP_LANES && detail->from[lane] - lane == shift;
    }
    detail->stride = shift;
}

/* The entry may write its results in all lanes. */
static void widen(const Tape *tape, TapeEntry *entry) {
    for (int w = 0; w < entry->count; w++) {
        TapeDetail *detail = &entry->details[w];
        if (entry->kind == TAPE_SHUFFLE) find_shift(tape, entry, w, detail);
        if (entry->kind == TAPE_SHARED) detail->is_whole = detail->is_movable && entry->memory->is_load;
        if (entry->kind == TAPE_SHUFFLE || ((entry->kind == TAPE_LANES || entry->kind == TAPE_MERGE) &&
                                            lane_count(entry->masks[w]) >= FEW_LANES))
            entry->masks[w] = ALL_LANES;
    }
}

static void mark_last(Tape *tape) {
    for (int e = tape->entry_count - 1; e >= 0; e--) {
        TapeEntry *entry = tape->entries[e];
        entry->is_last = true;
        if (tape_is_check(entry)) return;
    }
}

static void make_steps(Tape *tape) {
    int capacity = 0;
    mark_last(tape);
    for (int e = 0; e < tape->entry_count; e++) {
        TapeEntry *entry = tape->entries[e];
        if (is_dropped(entry)) continue;
        if (!entry->is_late) tape->late = tape->step_count + 1;
        for (int r = 0; r < entry->reference_count; r++) {
            const TapeValue *value = tape->values[entry->references[r].value];
            *entry->references[r].operand = (Operand){tape->values[value->home]->offset, false};
        }
        bool free = is_free(tape, entry);
        drop_warps(entry);
        if (free) widen(tape, entry);
        if (entry->kind == TAPE_MERGE)
            entry->op->number[0] = (int32_t)tape->values[entry->references[0].value]->bytes;
        tape_set_run(entry);
        add_step(tape, &capacity, entry->op, entry->count, entry->warps, entry->masks);
    }
}

/* A shuffle of whole lines may read the registers around them, in lanes that are not needed. */
static void fill_registers(Tape *tape) {
    enum { MARGIN = WARP_LANES * 4 };
    size_t warps = (size_t)tape->grid->warps_per_block;
    tape->registers = memory_new_aligned(MARGIN + warps * tape->register_stride + MARGIN);
    for (size_t w = 0; w < warps; w++) {
        tape->bases[w].at[IN_REGISTERS] = tape->registers + MARGIN + w * tape->register_stride;
        tape->bases[w].at[IN_CONSTANTS] = tape->grid->program->constants;
    }
    for (int v = 0; v < tape->value_count; v++) {
        const TapeValue *value = tape->values[v];
        if (value->offset == UNPLACED) continue;
        if (value->special >= 0)
            tape->specials[tape->special_count++] =
                (TapeSpecial){value->special, value->offset, value->bytes};
        for (size_t w = 0; value->is_kept && w < warps; w++)
            memcpy(tape->bases[w].at[IN_REGISTERS] + value->offset, value->data + w * value->bytes,
                   value->bytes);
    }
}

bool tape_place(Tape *tape) {
    if (is_wide(tape)) return false;
    find_needs(tape);
    find_homes(tape);
    find_places(tape);
    if (tape->register_stride > MOST_REGISTER_BYTES) return false;
    tape->specials = arena_new(&tape->arena, (size_t)(tape->value_count + 1) * sizeof *tape->specials);
    fill_registers(tape);
    make_steps(tape);
    return true;
}
