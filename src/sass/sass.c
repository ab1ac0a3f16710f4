#include "sass/sass.h"

#include "ptx/library_files.h"

#include <stdlib.h>

static void sass_sums_add(SassSums *sums, const SassSums *more) {
    sums->executed += more->executed;
    sums->threads += more->threads;
    sums->acting += more->acting;
    for (int i = 0; i < SASS_STALLS; i++) sums->samples[i] += more->samples[i];
    sums->all_samples += more->all_samples;
}

/* ---- the machine code by source line ------------------------------------------------------------------- */

static SassLine line_of(const SassKernel *kernel, const SassInstruction *instruction) {
    int place = sass_own_place(kernel, instruction->place);
    if (place < 0) return (SassLine){.file = NULL};
    return (SassLine){.file = kernel->places[place].file, .line = kernel->places[place].line};
}

static int compare(const void *a, const void *b) {
    const SassLine *x = a, *y = b;
    if (!x->file || !y->file) return !x->file - !y->file;
    int files = x->file == y->file ? 0 : strcmp(x->file, y->file);
    return files ? files : (x->line > y->line) - (x->line < y->line);
}

bool sass_is_on_line(const SassKernel *kernel, const SassInstruction *instruction, const SassLine *line) {
    SassLine own = line_of(kernel, instruction);
    return !compare(&own, line);
}

SassLine *sass_by_line(const SassKernel *kernel, int *count) {
    SassLine *lines = memory_new((size_t)(kernel->count + 1) * sizeof *lines);
    for (int i = 0; i < kernel->count; i++) {
        lines[i] = line_of(kernel, &kernel->instructions[i]);
        lines[i].instruction_count = 1;
        sass_add_up(&lines[i].sums, &kernel->instructions[i]);
    }
    qsort(lines, (size_t)kernel->count, sizeof *lines, compare);
    *count = 0;
    for (int i = 0; i < kernel->count; i++) {
        SassLine *last = *count ? &lines[*count - 1] : NULL;
        if (!last || compare(last, &lines[i]) != 0) {
            lines[(*count)++] = lines[i];
            continue;
        }
        last->instruction_count++;
        sass_sums_add(&last->sums, &lines[i].sums);
    }
    return lines;
}

/* ---- runs of machine code ------------------------------------------------------------------------------ */

const SassStallRow sass_stalls[SASS_STALLS] = {
#define STALL(name, tool_name, words, meaning) {tool_name, words, meaning},
#include "sass/stalls.def"
#undef STALL
};

void sass_kernel_done(SassKernel *kernel) {
    free(kernel->instructions);
    free(kernel->places);
    arena_done(&kernel->arena);
    *kernel = (SassKernel){.count = 0};
}

void sass_forget_measured(SassKernel *kernel) {
    kernel->counted = kernel->sampled = (SassMeasured){.n = 0};
    for (int i = 0; i < kernel->count; i++) {
        SassInstruction *at = &kernel->instructions[i];
        *at = (SassInstruction){at->offset, at->place, at->ptx_line, at->label, at->text, .executed = 0};
    }
}

int sass_place(SassKernel *kernel, const char *file, int line, int inlined_at) {
    const char *known = NULL;
    for (int i = 0; i < kernel->place_count; i++) {
        const SassPlace *place = &kernel->places[i];
        if (strcmp(place->file, file) != 0) continue;
        if (place->line == line && place->inlined_at == inlined_at) return i;
        known = place->file;
    }
    SassPlace place = {known ? known : arena_copy_string(&kernel->arena, file), line, inlined_at};
    array_push(kernel->places, kernel->place_count, kernel->place_capacity, place);
    return kernel->place_count - 1;
}

SassInstruction *sass_add_instruction(SassKernel *kernel, SassInstruction instruction) {
    array_push(kernel->instructions, kernel->count, kernel->capacity, instruction);
    return &kernel->instructions[kernel->count - 1];
}

int sass_own_place(const SassKernel *kernel, int place) {
    int outermost = place;
    while (outermost >= 0 && kernel->places[outermost].inlined_at >= 0)
        outermost = kernel->places[outermost].inlined_at;
    for (int at = place; at >= 0; at = kernel->places[at].inlined_at) {
        const char *file = kernel->places[at].file;
        bool is_users =
            kernel->places[at].line > 0 &&
            (kernel->kernel ? !strcmp(file, kernel->places[outermost].file) : !ptx_is_library_file(file));
        if (is_users) return at;
    }
    return outermost;
}

int sass_at(const SassKernel *kernel, uint32_t offset) {
    int low = 0, high = kernel->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (kernel->instructions[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < kernel->count && kernel->instructions[low].offset == offset ? low : -1;
}

void sass_kernel_copy(SassKernel *to, const SassKernel *from) {
    *to = *from;
    to->arena = (Arena){0};
    to->instructions = NULL;
    to->places = NULL;
    to->count = to->capacity = to->place_count = to->place_capacity = 0;
    to->entry = arena_copy_string(&to->arena, from->entry);
    to->machine = arena_copy_string(&to->arena, from->machine);
    to->driver = arena_copy_string(&to->arena, from->driver);
    to->assembler = arena_copy_string(&to->arena, from->assembler);
    to->architecture = arena_copy_string(&to->arena, from->architecture);
    to->measured = arena_copy_string(&to->arena, from->measured);
    to->kernel = arena_copy_string(&to->arena, from->kernel);
    to->dtype = arena_copy_string(&to->arena, from->dtype);
    to->op = arena_copy_string(&to->arena, from->op);
    for (int i = 0; i < from->place_count; i++) {
        SassPlace place = from->places[i];
        place.file = arena_copy_string(&to->arena, place.file);
        array_push(to->places, to->place_count, to->place_capacity, place);
    }
    for (int i = 0; i < from->count; i++) {
        SassInstruction *copy = sass_add_instruction(to, from->instructions[i]);
        copy->text = arena_copy_string(&to->arena, copy->text);
        copy->label = arena_copy_string(&to->arena, copy->label);
    }
}

void sass_add_up(SassSums *sums, const SassInstruction *instruction) {
    sums->executed += instruction->executed;
    sums->threads += instruction->threads;
    sums->acting += instruction->acting;
    for (int i = 0; i < SASS_STALLS; i++) {
        sums->samples[i] += instruction->samples[i];
        sums->all_samples += instruction->samples[i];
    }
}

SassSums sass_sums(const SassKernel *kernel) {
    SassSums sums = {.executed = 0};
    for (int i = 0; i < kernel->count; i++) sass_add_up(&sums, &kernel->instructions[i]);
    return sums;
}

SassStall sass_top_stall(const uint64_t samples[SASS_STALLS]) {
    SassStall top = samples[SASS_STALL_selected] ? SASS_STALL_selected : SASS_STALLS;
    for (SassStall i = 0; i < SASS_STALLS; i++)
        if (i != SASS_STALL_selected && samples[i] &&
            (top == SASS_STALL_selected || top == SASS_STALLS || samples[i] > samples[top]))
            top = i;
    return top;
}

SassStall sass_stall_find(const char *tool_name) {
    for (SassStall i = 0; i < SASS_STALLS; i++)
        if (!strcmp(sass_stalls[i].tool_name, tool_name)) return i;
    return SASS_STALLS;
}
