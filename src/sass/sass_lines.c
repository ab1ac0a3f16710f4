#include "sass/sass_lines.h"

#include <stdlib.h>

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
