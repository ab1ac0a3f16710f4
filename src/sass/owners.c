#include "sass/owners.h"

#include <stdlib.h>

/* ---- by PTX line --------------------------------------------------------------------------------------- */

static int last_line(const PtxProgram *program) {
    int last = 0;
    for (int pc = 0; pc < program->code_count; pc++)
        if (program->code[pc].instruction->line > last) last = program->code[pc].instruction->line;
    return last;
}

/* [line] the first pc on it; *count: number of lines. The caller frees it. */
static int *pcs_by_line(const PtxProgram *program, int *count) {
    *count = last_line(program) + 1;
    int *pcs = memory_new((size_t)*count * sizeof *pcs);
    for (int i = 0; i < *count; i++) pcs[i] = PTX_NO_PC;
    for (int pc = program->code_count - 1; pc >= 0; pc--) {
        int line = program->code[pc].instruction->line;
        if (line > 0) pcs[line] = pc;
    }
    return pcs;
}

bool sass_own_by_ptx_line(SassComparison *comparison) {
    const SassKernel *kernel = comparison->kernel;
    int count;
    bool is_known = false;
    int *pcs = pcs_by_line(comparison->program, &count);
    for (int i = 0; i < kernel->count; i++) {
        int line = kernel->instructions[i].ptx_line;
        comparison->owner[i] = line > 0 && line < count ? pcs[line] : PTX_NO_PC;
        is_known |= comparison->owner[i] != PTX_NO_PC;
    }
    free(pcs);
    return is_known;
}

/* ---- by source line and class -------------------------------------------------------------------------- */

static bool is_on_line(const PtxSourceLine *line, const SassPlace *place) {
    return line->file && line->line == place->line && !strcmp(line->file, place->file);
}

/* The k-th PTX instruction of the class on the line, k modulo their number; PTX_NO_PC: none. */
static int nth_of_line(const PtxProgram *program, const SassPlace *place, SassClass class, int k) {
    int found = 0;
    for (int round = 0; round < 2; round++) {
        if (round && !found) break;
        int left = round ? k % found : -1;
        for (int pc = 0; pc < program->code_count; pc++) {
            if (!is_on_line(&program->code[pc].line, place) ||
                sass_class_of_ptx(program->code[pc].instruction) != class)
                continue;
            if (round && left-- == 0) return pc;
            if (!round) found++;
        }
    }
    return PTX_NO_PC;
}

static void own_by_source_line(SassComparison *comparison) {
    const SassKernel *kernel = comparison->kernel;
    for (int i = 0; i < kernel->count; i++) {
        SassClass class = sass_class_of_text(kernel->instructions[i].text);
        int place = sass_own_place(kernel, kernel->instructions[i].place), before = 0;
        if (place < 0 || class == SASS_OTHER || class == SASS_JUMP) continue;
        if (class == SASS_EXIT && sass_is_guarded(kernel->instructions[i].text)) class = SASS_BRANCH;
        for (int k = 0; k < i; k++)
            before += sass_own_place(kernel, kernel->instructions[k].place) == place &&
                      sass_class_of_text(kernel->instructions[k].text) == class;
        comparison->owner[i] = nth_of_line(comparison->program, &kernel->places[place], class, before);
    }
}

void sass_find_owners(SassComparison *comparison) {
    comparison->owner = memory_new((size_t)(comparison->kernel->count + 1) * sizeof *comparison->owner);
    comparison->has_ptx_lines = comparison->kernel->has_ptx_lines && sass_own_by_ptx_line(comparison);
    if (!comparison->has_ptx_lines) own_by_source_line(comparison);
}

/* ---- questions ----------------------------------------------------------------------------------------- */

int sass_count_owned(const SassComparison *comparison, int pc, SassClass class, int *first) {
    int count = 0;
    if (first) *first = -1;
    for (int i = 0; i < comparison->kernel->count; i++) {
        if (comparison->owner[i] != pc) continue;
        if (class != SASS_CLASSES && sass_class_of_text(comparison->kernel->instructions[i].text) != class)
            continue;
        if (first && !count) *first = i;
        count++;
    }
    return count;
}

static bool is_branch(const SassInstruction *in) {
    SassClass class = sass_class_of_text(in->text);
    return class == SASS_BRANCH || class == SASS_JUMP;
}

int *sass_blocks(const SassKernel *kernel) {
    int *blocks = memory_new((size_t)(kernel->count + 1) * sizeof *blocks), block = 0;
    for (int i = 0; i < kernel->count; i++) {
        bool is_behind_branch = i && is_branch(&kernel->instructions[i - 1]);
        if (kernel->instructions[i].label || is_behind_branch) block++;
        blocks[i] = block;
    }
    return blocks;
}

/* The target of a branch: its last operand is the label. -1: not known. */
static int target_of(const SassKernel *kernel, int index) {
    const char *label = strrchr(kernel->instructions[index].text, ' ');
    for (int i = 0; label && i < kernel->count; i++)
        if (kernel->instructions[i].label && !strcmp(kernel->instructions[i].label, label + 1)) return i;
    return -1;
}

bool sass_is_in_loop(const SassKernel *kernel, int index) {
    for (int i = index; i < kernel->count; i++) {
        if (!is_branch(&kernel->instructions[i])) continue;
        int target = target_of(kernel, i);
        if (target >= 0 && target <= index) return true;
    }
    return false;
}
