/* Source lines of instructions: the place where one mends what they do.
 *
 * An inlined instruction belongs to a chain of frames: its own place, where that function was called, and so
 * on outwards. Its line is that of the innermost frame in a file of the user's: headers of the toolkit and of
 * libraries are skipped outwards (library_files.c). The next frame outwards in such a file is where the
 * function was called.
 *
 * `.loc ... inlined_at` gives one hop; the frame that it names is an earlier `.loc` (the same file, line and
 * column), which may itself have an inlined_at. If a header's function is inlined for several calls, its
 * `.loc` may have several frames around it, and compilers interleave them: all that come before it are
 * candidates, and the latest one is the line. ("Debugging Directives: .loc" in the PTX ISA.) */
#include "ptx/library_files.h"
#include "ptx/link.h"

#include <stdlib.h>
#include <string.h>

typedef struct LinePosition {
    int file, line, column;
} LinePosition;

typedef struct LineCandidates { /* the latest one last; line 0: none */
    LinePosition items[PTX_PLACES];
    int count;
} LineCandidates;

typedef struct LineFrames { /* of a .loc, and of all earlier ones of the same place */
    LineCandidates shown, callers;
} LineFrames;

typedef struct Resolver {
    const PtxProgram *program;
    const PtxFunction *function;
    int own_file; /* the user's although it is a library's; 0: none */
    int *slots;   /* hash table: the first .loc of a place; -1: free */
    size_t mask;
    LineFrames *places; /* [loc] of the first .loc of a place: what all of them so far say */
    LineFrames *frames; /* [loc] */
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

static const char *path_of(const PtxModule *module, int number) {
    for (int i = 0; i < module->file_count; i++)
        if (module->files[i].number == number) return module->files[i].path;
    return NULL;
}

static bool is_users(const Resolver *resolver, int file) {
    const PtxModule *module = resolver->program->module;
    const char *path = path_of(module, file);
    if (file == resolver->own_file) return true;
    return path && !module->has_library_headers && !ptx_is_library_file(path);
}

/* Columns do not count: `line 17 or 17` says nothing. */
static void add_candidate(LineCandidates *candidates, LinePosition place) {
    int kept = 0;
    for (int i = 0; i < candidates->count; i++)
        if (candidates->items[i].file != place.file || candidates->items[i].line != place.line)
            candidates->items[kept++] = candidates->items[i];
    if (kept == PTX_PLACES) memmove(candidates->items, candidates->items + 1, --kept * sizeof place);
    candidates->items[kept++] = place;
    candidates->count = kept;
}

static void add_candidates(LineCandidates *to, const LineCandidates *from) {
    for (int i = 0; i < from->count; i++) add_candidate(to, from->items[i]);
}

/* Fills the frames of one .loc from those before it. */
static void resolve_loc(Resolver *resolver, int index) {
    const PtxLoc *loc = &resolver->function->locs[index];
    LineFrames *frame = &resolver->frames[index];
    LinePosition own = {loc->file, loc->line, loc->column},
                 around = {loc->inlined_file, loc->inlined_line, loc->inlined_column};
    LineFrames outer = {0};
    int named = around.file ? *slot_of(resolver, around) : -1;
    if (named >= 0)
        outer = resolver->places[named];
    else if (around.file && around.line && is_users(resolver, around.file))
        add_candidate(&outer.shown, around);
    if (own.line && is_users(resolver, own.file)) {
        add_candidate(&frame->shown, own);
        frame->callers = outer.shown;
    } else {
        *frame = outer;
    }
    int *slot = slot_of(resolver, own);
    if (*slot < 0) *slot = index;
    add_candidates(&resolver->places[*slot].shown, &frame->shown);
    add_candidates(&resolver->places[*slot].callers, &frame->callers);
}

static void resolver_init(Resolver *resolver, const PtxProgram *program, const PtxFunction *function) {
    size_t count = (size_t)function->loc_count, slots = 16;
    while (slots < count * 2) slots *= 2;
    *resolver = (Resolver){.program = program, .function = function, .mask = slots - 1};
    resolver->frames = memory_new((count + 1) * sizeof *resolver->frames);
    resolver->places = memory_new((count + 1) * sizeof *resolver->places);
    resolver->slots = memory_new(slots * sizeof(int));
}

/* False if no .loc has a frame in a file of the user's. */
static bool resolve(Resolver *resolver) {
    bool any = false;
    memset(resolver->slots, 0xff, (resolver->mask + 1) * sizeof(int));
    memset(resolver->places, 0, (size_t)resolver->function->loc_count * sizeof *resolver->places);
    memset(resolver->frames, 0, (size_t)resolver->function->loc_count * sizeof *resolver->frames);
    for (int i = 0; i < resolver->function->loc_count; i++) {
        resolve_loc(resolver, i);
        any |= resolver->frames[i].shown.count > 0;
    }
    return any;
}

static void resolver_done(Resolver *resolver) {
    free(resolver->frames);
    free(resolver->places);
    free(resolver->slots);
}

/* The file of the function itself: that of the first .loc that is not inlined, else of the outermost
 * frame. */
static int own_file(const PtxFunction *function) {
    int first = 0;
    for (int i = 0; i < function->loc_count; i++) {
        const PtxLoc *loc = &function->locs[i];
        if (loc->line && !loc->inlined_file) return loc->file;
        if (loc->line && !first) first = loc->inlined_file ? loc->inlined_file : loc->file;
    }
    return first;
}

static PtxSourceLine line_at(const Resolver *resolver, LinePosition place) {
    return (PtxSourceLine){path_of(resolver->program->module, place.file), place.line};
}

/* The latest candidate first. */
static int put_places(const Resolver *resolver, const LineCandidates *from, PtxSourceLine *to) {
    for (int i = 0; i < from->count; i++) to[i] = line_at(resolver, from->items[from->count - 1 - i]);
    return from->count;
}

static const PtxPlaces *places_of(Resolver *resolver, Arena *arena, int loc) {
    const LineFrames *frame = &resolver->frames[loc];
    if (frame->shown.count < 2 && !frame->callers.count) return NULL;
    PtxPlaces *places = arena_new(arena, sizeof *places);
    places->line_count = put_places(resolver, &frame->shown, places->lines);
    places->caller_count = put_places(resolver, &frame->callers, places->callers);
    return places;
}

static void put_lines(PtxProgram *program, const PtxProgramFunction *function, Resolver *resolver) {
    PtxSourceLine current = {0};
    const PtxPlaces *places = NULL;
    int last = -1;
    for (int pc = function->begin; pc < function->end; pc++) {
        int loc = program->code[pc].instruction->loc;
        const LineCandidates *shown = loc >= 0 ? &resolver->frames[loc].shown : NULL;
        if (loc != last && shown && shown->count) {
            current = line_at(resolver, shown->items[shown->count - 1]);
            places = places_of(resolver, &program->arena, loc);
            last = loc;
        }
        program->code[pc].line = current;
        program->code[pc].places = places;
        const PtxFused *fused = program->code[pc].instruction->fused;
        const LineCandidates *product =
            fused && fused->product->loc >= 0 ? &resolver->frames[fused->product->loc].shown : NULL;
        if (product && product->count)
            program->code[pc].product = line_at(resolver, product->items[product->count - 1]);
    }
}

void ptx_lines_resolve(PtxProgram *program) {
    int entry_file = 0;
    for (int i = 0; i < program->function_count; i++) {
        const PtxProgramFunction *function = &program->functions[i];
        Resolver resolver;
        resolver_init(&resolver, program, function->function);
        int own = own_file(function->function);
        if (!i) entry_file = own;
        /* A kernel that is a library's own is shown as it is, and so is a function that only calls others. */
        resolver.own_file = entry_file;
        if (!resolve(&resolver)) {
            resolver.own_file = own;
            resolve(&resolver);
        }
        put_lines(program, function, &resolver);
        resolver_done(&resolver);
    }
}
