/* Source lines of instructions, as a student should see them highlighted.
 *
 * An inlined instruction belongs to a chain of frames: its own place, where that function was called, and so
 * on outwards. `.loc ... inlined_at` gives one hop; the frame that it names is an earlier `.loc` (the same
 * file, line and column), which may itself have an inlined_at. The line shown is that of the outermost frame
 * in the entry's own file: a line that the student wrote, not the inside of a header. ("Debugging Directives:
 * .loc" in the PTX ISA.) */
#include "ptx/link.h"

#include <stdlib.h>

typedef struct LinePosition {
    int file, line, column;
} LinePosition;

typedef struct Resolver {
    const PtxFunction *function;
    int *outer; /* [loc] the .loc of the frame around it; -1: none */
    int *slots; /* hash table: latest .loc of a place; -1: free */
    size_t mask;
    int *lines; /* [loc] the line to show; 0: none */
} Resolver;

static int *slot_of(const Resolver *resolver, LinePosition place) {
    uint64_t hash = (uint64_t)(uint32_t)place.line * 0x9e3779b97f4a7c15u ^
                    (uint64_t)(uint32_t)place.column * 0xff51afd7ed558ccdu ^
                    (uint64_t)(uint32_t)place.file << 7;
    hash ^= hash >> 31;
    for (size_t i = hash & resolver->mask;; i = (i + 1) & resolver->mask) {
        int loc = resolver->slots[i];
        const PtxLoc *found = loc < 0 ? NULL : &resolver->function->locs[loc];
        if (!found ||
            (found->file == place.file && found->line == place.line && found->column == place.column))
            return &resolver->slots[i];
    }
}

static void resolver_init(Resolver *resolver, const PtxFunction *function) {
    size_t count = (size_t)function->loc_count, slots = 16;
    while (slots < count * 2) slots *= 2;
    *resolver = (Resolver){.function = function, .mask = slots - 1};
    resolver->outer = memory_new(count * sizeof(int));
    resolver->lines = memory_new(count * sizeof(int));
    resolver->slots = memory_new(slots * sizeof(int));
    for (size_t i = 0; i < slots; i++) resolver->slots[i] = -1;
    for (int i = 0; i < function->loc_count; i++) {
        const PtxLoc *loc = &function->locs[i];
        resolver->outer[i] = loc->inlined_file
                                 ? *slot_of(resolver, (LinePosition){loc->inlined_file, loc->inlined_line,
                                                                     loc->inlined_column})
                                 : -1;
        *slot_of(resolver, (LinePosition){loc->file, loc->line, loc->column}) = i;
    }
}

static void resolver_done(Resolver *resolver) {
    free(resolver->outer);
    free(resolver->lines);
    free(resolver->slots);
}

/* File of the outermost frame of the first .loc with a line; prefers one that is not inlined. */
static int own_file(const Resolver *resolver) {
    int first = 0;
    for (int i = 0; i < resolver->function->loc_count; i++) {
        const PtxLoc *loc = &resolver->function->locs[i];
        if (loc->line && !loc->inlined_file) return loc->file;
        if (loc->line && !first) {
            while (resolver->outer[loc - resolver->function->locs] >= 0)
                loc = &resolver->function->locs[resolver->outer[loc - resolver->function->locs]];
            first = loc->inlined_file ? loc->inlined_file : loc->file;
        }
    }
    return first;
}

/* Fills `lines` for frames in `file`; false if no .loc has one. An outer .loc comes before the inner one. */
static bool lines_in(Resolver *resolver, int file) {
    bool any = false;
    for (int i = 0; i < resolver->function->loc_count; i++) {
        const PtxLoc *loc = &resolver->function->locs[i];
        int outer = resolver->outer[i], line = 0;
        if (outer >= 0)
            line = resolver->lines[outer];
        else if (loc->inlined_file == file)
            line = loc->inlined_line;
        if (!line && loc->file == file) line = loc->line;
        resolver->lines[i] = line;
        any |= line > 0;
    }
    return any;
}

static const char *path_of(const PtxModule *module, int number) {
    for (int i = 0; i < module->file_count; i++)
        if (module->files[i].number == number) return module->files[i].path;
    return NULL;
}

void ptx_lines_resolve(PtxProgram *program) {
    int entry_file = 0;
    for (int i = 0; i < program->function_count; i++) {
        const PtxProgramFunction *function = &program->functions[i];
        Resolver resolver;
        resolver_init(&resolver, function->function);
        int file = i ? entry_file : own_file(&resolver);
        if (!i) entry_file = file;
        /* A function from a header. */
        if (!lines_in(&resolver, file)) lines_in(&resolver, file = own_file(&resolver));
        PtxSourceLine current = {.file = path_of(program->module, file)};
        if (!file) current.file = NULL;
        for (int pc = function->begin; pc < function->end; pc++) {
            int loc = program->code[pc].instruction->loc;
            if (loc >= 0 && resolver.lines[loc]) current.line = resolver.lines[loc];
            program->code[pc].line = current.line ? current : (PtxSourceLine){0};
        }
        resolver_done(&resolver);
    }
}
