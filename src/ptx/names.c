/* Names: an intern table that includes the rows of the three tables, and a stack of scopes. */
#include "ptx/names.h"

#include "ptx/opcodes.h"

#include <stdlib.h>
#include <string.h>

enum { MAXIMUM_SCOPES = 256 };

struct PtxNames {
    PtxName **slots; /* open addressing, a power of two */
    size_t capacity, count;
    PtxMeaning *scopes[MAXIMUM_SCOPES + 2]; /* what each open scope declared */
    int depth;
    Arena *arena;
};

static uint64_t hash_of(const char *text, size_t length) {
    uint64_t hash = 0x9e3779b97f4a7c15u ^ length;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 29;
    }
    return hash;
}

static PtxName **slot_of(const PtxNames *names, const char *text, size_t length, uint64_t hash) {
    size_t mask = names->capacity - 1, i = hash & mask;
    for (;; i = (i + 1) & mask) {
        PtxName *name = names->slots[i];
        if (!name || (name->hash == hash && name->length == length && !memcmp(name->text, text, length)))
            return &names->slots[i];
    }
}

static void grow(PtxNames *names) {
    PtxName **old = names->slots;
    size_t old_capacity = names->capacity;
    names->capacity *= 2;
    names->slots = memory_new(names->capacity * sizeof *names->slots);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i]) *slot_of(names, old[i]->text, old[i]->length, old[i]->hash) = old[i];
    free(old);
}

PtxName *ptx_names_find(const PtxNames *names, const char *text, size_t length) {
    return *slot_of(names, text, length, hash_of(text, length));
}

PtxName *ptx_names_get(PtxNames *names, const char *text, size_t length) {
    uint64_t hash = hash_of(text, length);
    PtxName **slot = slot_of(names, text, length, hash);
    PtxName *found = *slot;
    if (found) return found;
    PtxName *name = arena_new(names->arena, sizeof *name);
    name->text = arena_copy_text(names->arena, text, length);
    name->length = (uint32_t)length;
    name->hash = hash;
    name->modifier = PTX_MOD_OTHER;
    *slot = name;
    if (++names->count * 2 > names->capacity) grow(names);
    return name;
}

static PtxName *get_text(PtxNames *names, const char *text) {
    return ptx_names_get(names, text, strlen(text));
}

static const char *const special_names[] = {
/* "Special Registers" in the PTX ISA */
#define SPECIAL(text) text,
#include "ptx/specials.def"
#undef SPECIAL
};

PtxNames *ptx_names_new(Arena *arena) {
    PtxNames *names = memory_new(sizeof *names);
    names->arena = arena;
    names->capacity = 2048;
    names->slots = memory_new(names->capacity * sizeof *names->slots);
#define OPCODE(name, ...) get_text(names, #name)->opcode = PTX_##name;
#include "ptx/opcodes.def"
#undef OPCODE
#define MODIFIER(id, text) get_text(names, text)->modifier = PTX_MOD_##id;
#include "ptx/modifiers.def"
#undef MODIFIER
#define TYPE(id, name, bytes)                                                                                \
    get_text(names, name)->type = PTX_##id, get_text(names, name)->modifier = PTX_MOD_TYPE;
#include "ptx/types.def"
#undef TYPE
    for (size_t i = 0; i < sizeof special_names / sizeof *special_names; i++)
        get_text(names, special_names[i])->is_special = true;
    return names;
}

void ptx_names_free(PtxNames *names) {
    if (!names) return;
    free(names->slots);
    free(names);
}

int ptx_names_depth(const PtxNames *names) {
    return names->depth;
}

void ptx_names_open(PtxNames *names) {
    names->scopes[++names->depth] = NULL;
}

static PtxMeaning **stack_of(PtxMeaning *meaning) {
    PtxName *name = meaning->name;
    return meaning->kind == PTX_MEANS_LABEL   ? &name->labels
           : meaning->kind == PTX_MEANS_RANGE ? &name->ranges
                                              : &name->top;
}

void ptx_names_close(PtxNames *names) {
    for (PtxMeaning *meaning = names->scopes[names->depth]; meaning; meaning = meaning->next)
        *stack_of(meaning) = meaning->outer;
    names->scopes[names->depth--] = NULL;
}

static PtxMeaning *push(PtxNames *names, PtxName *name, PtxMeaningKind kind, int depth) {
    PtxMeaning *meaning = arena_new(names->arena, sizeof *meaning);
    meaning->kind = kind;
    meaning->name = name;
    meaning->depth = depth;
    PtxMeaning **stack = stack_of(meaning);
    meaning->outer = *stack;
    *stack = meaning;
    meaning->next = names->scopes[depth];
    names->scopes[depth] = meaning;
    return meaning;
}

PtxMeaning *ptx_names_declare(PtxNames *names, PtxName *name, PtxMeaningKind kind) {
    PtxMeaning *before = kind == PTX_MEANS_LABEL   ? name->labels
                         : kind == PTX_MEANS_RANGE ? name->ranges
                                                   : name->top;
    if (before && before->depth == names->depth) return NULL;
    return push(names, name, kind, names->depth);
}

PtxMeaning *ptx_names_label(const PtxName *name, int depth) {
    return name->labels && name->labels->depth == depth ? name->labels : NULL;
}

/* The range that `name` belongs to: prefix and digits without leading zeros, below its count. */
static PtxMeaning *range_of(PtxNames *names, const PtxName *name) {
    size_t digits = 0;
    while (digits < name->length && name->text[name->length - digits - 1] >= '0' &&
           name->text[name->length - digits - 1] <= '9')
        digits++;
    PtxMeaning *best = NULL;
    /* The prefix may itself end in digits ("%r1<4>" declares %r10 to %r13): try every split of up to 10
     * digits. */
    for (size_t tail = 1; tail <= digits && tail <= 10 && tail < name->length; tail++) {
        const char *number = name->text + name->length - tail;
        if (number[0] == '0' && tail > 1) continue;
        PtxName *prefix = ptx_names_find(names, name->text, name->length - tail);
        if (!prefix) continue;
        uint64_t index = strtoull(number, NULL, 10);
        for (PtxMeaning *range = prefix->ranges; range; range = range->outer) {
            if (index >= range->count) continue;
            if (!best || range->depth > best->depth) best = range;
            break;
        }
    }
    return best;
}

PtxMeaning *ptx_names_lookup(PtxNames *names, PtxName *name, PtxMeaning **member) {
    *member = NULL;
    if (name->top && name->top->depth == names->depth) return name->top;
    PtxMeaning *range = range_of(names, name);
    if (range && (!name->top || range->depth > name->top->depth)) {
        *member = range;
        return NULL;
    }
    return name->top;
}

PtxMeaning *ptx_names_declare_member(PtxNames *names, PtxName *name, const PtxMeaning *range) {
    return push(names, name, PTX_MEANS_REGISTER, range->depth);
}
