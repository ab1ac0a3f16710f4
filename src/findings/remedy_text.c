/* Puts a remedy into words, and inserts it into a copy of the PTX (remedy.h). */
#include "findings/remedy.h"

#include "metrics/metrics.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places in the source ------------------------------------------------------------------------------ */

typedef enum PlaceKind {
    PLACE_AFTER,
    PLACE_BEFORE,
    PLACE_STORE,
    PLACE_LOAD,
    PLACE_ATOMIC,
    PLACE_COUNT
} PlaceKind;

static int line_at(const PtxProgram *program, int pc) {
    return pc >= 0 && pc < program->code_count ? metrics_line_of(program, pc).line : 0;
}

static bool is_source_ptx(const PtxProgram *program, int pc) {
    const char *file = metrics_line_of(program, pc).file;
    return file && program->module->file && !strcmp(file, program->module->file);
}

static bool is_write(const PtxInstruction *in) {
    return in->opcode == PTX_st || in->opcode == PTX_red || in->opcode == PTX_atom;
}

typedef struct SourceLines { /* of the source file */
    FindingSource of;
    void *context;
} SourceLines;

/* Columns before the text of the line; -1: not known. */
static int indentation(const SourceLines *lines, const char *file, int line, bool *is_brace) {
    const char *text = lines->of && file ? lines->of(lines->context, file, line) : NULL;
    if (!text) return -1;
    size_t blanks = strspn(text, " \t");
    *is_brace = text[blanks] == '}' && !text[blanks + 1 + strspn(text + blanks + 1, " \t\r\n")];
    return (int)blanks;
}

static bool begins_loop(const SourceLines *lines, const char *file, int line) {
    const char *text = lines->of && file ? lines->of(lines->context, file, line) : NULL;
    if (text) text += strspn(text, " \t");
    return text && (!strncmp(text, "for", 3) || !strncmp(text, "while", 5) || !strncmp(text, "do", 2));
}

/* The line of the last brace that closes a branch after `line`, before the code of line `next`. */
static int end_of_branches(const char *file, int line, int next, const SourceLines *lines) {
    bool is_brace = false;
    int least = indentation(lines, file, next, &is_brace);
    if (next < line && begins_loop(lines, file, next)) least++; /* the loop continues and is still open */
    for (int at = line + 1; at != next; at++) {
        int columns = indentation(lines, file, at, &is_brace);
        if (columns < least || !is_brace) break;
        line = at;
    }
    return line;
}

/* Between two lines: after the first. Within a line: before the second of the two accesses. */
static PlaceKind place_of(const Remedy *remedy, const RemedyPoint *point, const SourceLines *lines,
                          int *line) {
    const PtxProgram *program = remedy->launch->program;
    const PtxInstruction *in = program->code[point->pc].instruction;
    int own = line_at(program, point->pc), before = line_at(program, point->pc - 1);
    *line = own;
    if (point->kind == REMEDY_FENCE && is_write(in)) return PLACE_BEFORE;
    if (!before || point->pc == program->functions[program->code[point->pc].function].begin)
        return PLACE_BEFORE;
    if (before == own && !program->code[point->pc].block_begin) {
        if (in->opcode == PTX_st) return PLACE_STORE;
        if (in->opcode == PTX_ld) return PLACE_LOAD;
        if (is_write(in)) return PLACE_ATOMIC;
        return PLACE_BEFORE;
    }
    const PtxCode *last = &program->code[point->pc - 1];
    /* After a loop. */
    if (last->instruction->opcode == PTX_bra && last->target < point->pc) return PLACE_BEFORE;
    *line = before;
    if (program->code[point->pc].block_begin)
        *line = end_of_branches(metrics_line_of(program, point->pc).file, before, own, lines);
    return PLACE_AFTER;
}

static int compare_lines(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* "29", "29 and 31", "29 to 33, 40" */
static void add_lines(int *lines, int count, Text *out) {
    int kept = 0;
    qsort(lines, (size_t)count, sizeof *lines, compare_lines);
    for (int i = 0; i < count; i++)
        if (!kept || lines[i] != lines[kept - 1]) lines[kept++] = lines[i];
    for (int i = 0; i < kept;) {
        int last = i;
        while (last + 1 < kept && lines[last + 1] == lines[last] + 1) last++;
        if (last == i + 1) last = i;
        if (i) text_add(out, last + 1 == kept ? " and " : ", ");
        text_print(out, "%d", lines[i]);
        if (last > i) text_print(out, " to %d", lines[last]);
        i = last + 1;
    }
}

static const char *name_of(const RemedyPoint *point, bool in_ptx, char *room, size_t bytes) {
    static const char *const ptx[] = {"bar.warp.sync 0xffffffff", "bar.sync 0", "membar.gl"};
    static const char *const cuda[] = {"__syncwarp()", "__syncthreads()", "__threadfence()"};
    if (point->kind != REMEDY_WARP_BARRIER || point->lanes == UINT32_MAX)
        return in_ptx ? ptx[point->kind] : cuda[point->kind];
    snprintf(room, bytes, in_ptx ? "bar.warp.sync 0x%x" : "__syncwarp(0x%x)", point->lanes);
    return room;
}

/* Adds the places of all points that insert the same as the point `first`. */
static void add_places(const Remedy *remedy, int first, const SourceLines *source, bool *done, Text *out) {
    static const char *const one[] = {"after line ", "before line ", "before the store of line ",
                                      "before the load of line ", "before the atomic of line "};
    static const char *const several[] = {"after lines ", "before lines ", "before the stores of lines ",
                                          "before the loads of lines ", "before the atomics of lines "};
    int lines[PLACE_COUNT][REMEDY_MOST_POINTS], counts[PLACE_COUNT] = {0}, kinds = 0, printed = 0;
    for (int i = first; i < remedy->count; i++) {
        const RemedyPoint *a = &remedy->points[first], *b = &remedy->points[i];
        if (a->kind != b->kind || a->lanes != b->lanes) continue;
        int line;
        PlaceKind place = place_of(remedy, b, source, &line);
        bool is_new = true;
        for (int k = 0; k < counts[place]; k++) is_new &= lines[place][k] != line;
        if (is_new) lines[place][counts[place]++] = line;
        done[i] = true;
    }
    for (int p = 0; p < PLACE_COUNT; p++) kinds += counts[p] > 0;
    for (int p = 0; p < PLACE_COUNT; p++) {
        if (!counts[p]) continue;
        if (printed++) text_add(out, printed == kinds ? " and " : ", ");
        text_add(out, counts[p] == 1 ? one[p] : several[p]);
        add_lines(lines[p], counts[p], out);
    }
}

void remedy_print(const Remedy *remedy, FindingSource source, void *context, Text *out) {
    const SourceLines lines = {source, context};
    bool done[REMEDY_MOST_POINTS] = {0};
    bool in_ptx = is_source_ptx(remedy->launch->program, remedy->points[0].pc);
    char room[40];
    for (int i = 0; i < remedy->count; i++) {
        if (done[i]) continue;
        text_print(out, "%s%s ", i ? ", and " : "insert ",
                   name_of(&remedy->points[i], in_ptx, room, sizeof room));
        add_places(remedy, i, &lines, done, out);
    }
}

/* ---- in a copy of the PTX ------------------------------------------------------------------------------ */

/* Where the instruction begins in the text, including its guard. */
static size_t place_in_text(const PtxModule *module, const PtxInstruction *in) {
    const char *at = module->text;
    for (int line = 1; line < in->line; line++) {
        const char *end = memchr(at, '\n', module->length - (size_t)(at - module->text));
        if (!end) return module->length;
        at = end + 1;
    }
    size_t place = (size_t)(at - module->text) + (size_t)(in->column > 0 ? in->column - 1 : 0);
    while (in->guard.kind != PTX_OPERAND_NONE && place > 0 && module->text[place] != '@') place--;
    return place;
}

void remedy_apply(const Remedy *remedy, Text *out) {
    const PtxProgram *program = remedy->launch->program;
    const PtxModule *module = program->module;
    size_t places[REMEDY_MOST_POINTS], from = 0;
    bool done[REMEDY_MOST_POINTS] = {0};
    for (int i = 0; i < remedy->count; i++)
        places[i] = place_in_text(module, program->code[remedy->points[i].pc].instruction);
    for (int n = 0; n < remedy->count; n++) {
        int next = 0; /* functions may be linked in another order than the text has */
        while (done[next]) next++;
        for (int i = next + 1; i < remedy->count; i++)
            if (!done[i] && places[i] < places[next]) next = i;
        char room[40];
        done[next] = true;
        text_add_bytes(out, module->text + from, places[next] - from);
        text_print(out, "%s; ", name_of(&remedy->points[next], true, room, sizeof room));
        from = places[next];
    }
    text_add_bytes(out, module->text + from, module->length - from);
}
