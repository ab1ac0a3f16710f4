/* Order: moves the checks of global addresses into separate entries before the accesses. The lookup of an
 * address becomes part of its check. On the tape of an observed block, all checks and their inputs precede
 * everything that the observer sees (tape.h). */
#include "emulator/tape/tape.h"

#include <stdlib.h>

static void add(Tape *tape, TapeEntry *entry) {
    array_push(tape->entries, tape->entry_count, tape->entry_capacity, entry);
}

/* Moves the address operand from the access to the check. */
static void add_address(Tape *tape, TapeEntry *access) {
    TapeEntry *address = arena_copy(&tape->arena, access, sizeof *access);
    address->kind = TAPE_ADDRESS;
    address->op = arena_copy(&tape->arena, access->op, sizeof *access->op);
    address->reference_count = 0;
    int kept = 0;
    for (int r = 0; r < access->reference_count; r++) {
        TapeReference reference = access->references[r];
        if (reference.operand == &access->memory->base)
            address->references[address->reference_count++] = reference;
        else
            access->references[kept++] = reference;
    }
    access->reference_count = kept;
    add(tape, address);
}

static void split_accesses(Tape *tape) {
    TapeEntry **entries = tape->entries;
    int count = tape->entry_count;
    tape->entries = NULL;
    tape->entry_count = tape->entry_capacity = 0;
    for (int e = 0; e < count; e++) {
        if (entries[e]->kind == TAPE_GLOBAL) add_address(tape, entries[e]);
        add(tape, entries[e]);
    }
    free(entries);
}

/* ---- observed tapes --------------------------------------------------------------------------------- */

typedef struct LateValue {
    bool is_made; /* a late entry produces it */
    bool is_read; /* a late entry reads it */
} LateValue;

/* True if the entry would see other values before the late entries than in its place: a late entry produces
 * an input, or reads the value that the result replaces. */
static bool has_to_stay(const TapeEntry *entry, const LateValue *values) {
    if (entry->kind == TAPE_SHARED || entry->kind == TAPE_GLOBAL || entry->kind == TAPE_SYNC) return true;
    for (int r = 0; r < entry->reference_count; r++) {
        const TapeReference *reference = &entry->references[r];
        int read = reference->is_result ? reference->before : reference->value;
        if (read != NO_VALUE && values[read].is_made) return true;
        if (read != NO_VALUE && reference->is_result && values[read].is_read) return true;
    }
    return false;
}

static void become_late(TapeEntry *entry, LateValue *values) {
    entry->is_late = true;
    for (int r = 0; r < entry->reference_count; r++) {
        const TapeReference *reference = &entry->references[r];
        int read = reference->is_result ? reference->before : reference->value;
        if (read != NO_VALUE) values[read].is_read = true;
        if (reference->is_result) values[reference->value].is_made = true;
    }
}

static void find_late(const Tape *tape, LateValue *values) {
    for (bool more = true; more;) {
        more = false;
        for (int e = 0; e < tape->entry_count; e++) {
            TapeEntry *entry = tape->entries[e];
            if (entry->is_late || !has_to_stay(entry, values)) continue;
            become_late(entry, values);
            more = true;
        }
    }
}

static bool late_entries_check(const Tape *tape) {
    for (int e = 0; e < tape->entry_count; e++) {
        const TapeEntry *entry = tape->entries[e];
        if (entry->is_late && tape_is_check(entry)) return true;
    }
    return false;
}

static void move_late_entries_back(Tape *tape) {
    TapeEntry **late = memory_new((size_t)tape->entry_count * sizeof *late);
    int early = 0, count = 0;
    for (int e = 0; e < tape->entry_count; e++) {
        if (tape->entries[e]->is_late)
            late[count++] = tape->entries[e];
        else
            tape->entries[early++] = tape->entries[e];
    }
    if (count) memcpy(tape->entries + early, late, (size_t)count * sizeof *late);
    free(late);
}

bool tape_order(Tape *tape) {
    split_accesses(tape);
    if (!tape->is_observed) return true;
    LateValue *values = memory_new(((size_t)tape->value_count + 1) * sizeof *values);
    find_late(tape, values);
    free(values);
    if (late_entries_check(tape)) return false;
    move_late_entries_back(tape);
    return true;
}
