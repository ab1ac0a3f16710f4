/* Puts a remedy into words, and inserts it into a copy of the PTX (remedy.h). */
#include "findings/remedy.h"

#include "metrics/metrics.h"
#include "ptx/opcodes.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the instruction begins in the module's text, including its guard. Private to src/findings. */
static size_t remedy_place_in_text(const PtxModule *module, const PtxInstruction *in) {
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

/* ---- remedies for waits that leave too many groups of asynchronous copies in flight -------------------- */

static bool is_wait(const PtxInstruction *in, int *groups) {
    if (ptx_asynchronous(in) != PTX_ASYNC_WAIT || !in->operand_count ||
        in->operands[0].kind != PTX_OPERAND_INTEGER)
        return false;
    *groups = in->operands[0].integer <= 64 ? (int)in->operands[0].integer : 0;
    return *groups > 0;
}

static bool is_same(const RemedyWait *wait, PtxSourceLine line, int groups) {
    return wait->line.line == line.line && wait->line.file == line.file && wait->groups == groups;
}

int remedy_find_waits(const TraceLaunch *launch, RemedyWait waits[REMEDY_WAITS]) {
    int count = 0, groups;
    for (int pc = 0; pc < launch->program->code_count; pc++) {
        PtxSourceLine line = metrics_line_of(launch->program, pc);
        if (!is_wait(launch->program->code[pc].instruction, &groups)) continue;
        bool is_new = count < REMEDY_WAITS;
        for (int i = 0; i < count; i++) is_new &= !is_same(&waits[i], line, groups);
        if (is_new) waits[count++] = (RemedyWait){launch, line, groups};
    }
    return count;
}

void remedy_apply_wait(const RemedyWait *wait, int groups, Text *out) {
    const PtxProgram *program = wait->launch->program;
    char *text = memory_copy_text(program->module->text);
    int own;
    for (int pc = 0; pc < program->code_count; pc++) { /* a smaller number has no more digits */
        const PtxInstruction *in = program->code[pc].instruction;
        if (!is_wait(in, &own) || !is_same(wait, metrics_line_of(program, pc), own)) continue;
        char *at = strstr(text + remedy_place_in_text(program->module, in), "wait_group");
        if (at) at += strcspn(at, "0123456789;");
        if (!at || !isdigit((unsigned char)*at)) continue;
        size_t digits = strspn(at, "0123456789");
        char number[16];
        snprintf(number, sizeof number, "%*d", (int)digits, groups);
        memcpy(at, number, digits);
    }
    text_add(out, text);
    free(text);
}

/* The only place of the number in the line; NULL: there is none, or there are several. */
static const char *find_number(const char *line, size_t length, int number, size_t *digits) {
    const char *found = NULL;
    for (size_t i = 0; i < length; i++) {
        bool begins = isdigit((unsigned char)line[i]) &&
                      (!i || (!isalnum((unsigned char)line[i - 1]) && line[i - 1] != '_'));
        if (!begins || atoi(line + i) != number) continue;
        if (found) return NULL;
        found = line + i;
        *digits = strspn(found, "0123456789");
    }
    return found;
}

bool remedy_apply_wait_to_source(const RemedyWait *wait, int groups, const char *text, Text *out) {
    const char *at = text;
    for (int line = 1; line < wait->line.line && *at; line++)
        at += strcspn(at, "\n") + (strchr(at, '\n') != NULL);
    size_t digits = 0;
    const char *number = find_number(at, strcspn(at, "\n"), wait->groups, &digits);
    if (!number) return false;
    text_add_bytes(out, text, (size_t)(number - text));
    text_print(out, "%d", groups);
    text_add(out, number + digits);
    return true;
}

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

/* (The module of a program that runs has the name of its source.) */
static bool is_source_ptx(const PtxProgram *program, int pc) {
    const char *file = metrics_line_of(program, pc).file;
    return file && program->module->file && !text_is_cuda_source(file) &&
           !strcmp(file, program->module->file);
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

/* " of sum.cuh", if it is not the kernel's own file */
static void add_file(const PtxProgram *program, const char *file, Text *out) {
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (metrics_is_elsewhere(program, file)) text_print(out, " of %s", slash ? slash + 1 : file);
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
        add_file(remedy->launch->program, metrics_line_of(remedy->launch->program, remedy->points[i].pc).file,
                 out);
    }
}

/* ---- in a copy of the source --------------------------------------------------------------------------- */

typedef struct SourcePlaces { /* where one statement may go: after these lines, in the order to try them */
    int after[REMEDY_CHOICES];
    int count;
} SourcePlaces;

static void add_after(SourcePlaces *places, int line) {
    for (int i = 0; i < places->count; i++)
        if (places->after[i] == line) return;
    if (line >= 0 && places->count < REMEDY_CHOICES) places->after[places->count++] = line;
}

static int compare_places(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* Before the calls of the inlined function that the point is in. */
static void add_before_calls(SourcePlaces *places, const PtxPlaces *of, const char *file) {
    for (int i = 0; of && i < of->caller_count; i++)
        if (of->callers[i].file && !strcmp(of->callers[i].file, file))
            add_after(places, of->callers[i].line - 1);
}

/* After the lines of the code before the point, in their order in the file; before the code behind it; after
 * the calls of the function. */
static void find_places(const Remedy *remedy, const RemedyPoint *point, const char *file,
                        const SourceLines *lines, SourcePlaces *places) {
    const PtxProgram *program = remedy->launch->program;
    const PtxPlaces *before = point->pc ? program->code[point->pc - 1].places : NULL;
    int line;
    PlaceKind kind = place_of(remedy, point, lines, &line);
    if (kind != PLACE_AFTER && kind != PLACE_BEFORE) return;
    if (!strcmp(metrics_line_of(program, point->pc).file, file))
        add_after(places, kind == PLACE_AFTER ? line : line - 1);
    for (int i = 0; before && i < before->line_count; i++)
        if (before->lines[i].file && !strcmp(before->lines[i].file, file))
            add_after(places, before->lines[i].line);
    qsort(places->after, (size_t)places->count, sizeof *places->after, compare_places);
    add_before_calls(places, program->code[point->pc].places, file);
    if (!strcmp(metrics_line_of(program, point->pc).file, file))
        add_after(places, line_at(program, point->pc) - 1);
    for (int i = 0; before && i < before->caller_count; i++)
        if (before->callers[i].file && !strcmp(before->callers[i].file, file))
            add_after(places, before->callers[i].line);
}

/* The last character of code in the line is one that ends a statement or a block, or there is no code. */
static bool ends_statement(const char *line, size_t length) {
    for (size_t i = 0; i + 1 < length; i++)
        if (line[i] == '/' && line[i + 1] == '/') length = i;
    while (length && strchr(" \t\r", line[length - 1])) length--;
    return !length || strchr(";{}", line[length - 1]);
}

/* The first line from `after` on that ends a statement, and whose next line is no directive (#pragma). */
static int end_of_statement(const char *text, int after) {
    int line = 1;
    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *next = text + length + (text[length] == '\n');
        if (line >= after && ends_statement(text, length) && next[strspn(next, " \t")] != '#') return line;
        text = next;
        line++;
    }
    return after;
}

typedef struct SourceInsertion {
    int after;
    const RemedyPoint *point;
} SourceInsertion;

static int compare_insertions(const void *a, const void *b) {
    return ((const SourceInsertion *)a)->after - ((const SourceInsertion *)b)->after;
}

/* At the beginning of the next lines, so that comments at the ends of lines stay what they are. */
static void insert(const char *text, SourceInsertion *all, int count, Text *out) {
    char room[40];
    int line = 1, next = 0;
    qsort(all, (size_t)count, sizeof *all, compare_insertions);
    while (*text) {
        for (; next < count && all[next].after < line; next++)
            if (!next || all[next].after != all[next - 1].after)
                text_print(out, "%s; ", name_of(all[next].point, false, room, sizeof room));
        size_t length = strcspn(text, "\n");
        length += text[length] == '\n';
        text_add_bytes(out, text, length);
        text += length;
        line++;
    }
}

bool remedy_apply_to_source(const Remedy *remedy, const char *file, const char *text, int choice, Text *out,
                            Text *words) {
    SourceInsertion all[REMEDY_MOST_POINTS];
    int after[REMEDY_MOST_POINTS] = {0};
    const SourceLines none = {0};
    char room[40];
    if (!remedy->count || is_source_ptx(remedy->launch->program, remedy->points[0].pc)) return false;
    bool is_new = choice == 0; /* one point has a choice of this number */
    for (int i = 0; i < remedy->count; i++) {
        SourcePlaces places = {.count = 0};
        const RemedyPoint *a = &remedy->points[0], *b = &remedy->points[i];
        find_places(remedy, b, file, &none, &places);
        if (!places.count || a->kind != b->kind || a->lanes != b->lanes) return false;
        is_new |= choice < places.count;
        int line = places.after[choice < places.count ? choice : places.count - 1];
        after[i] = end_of_statement(text, line);
        all[i] = (SourceInsertion){after[i], b};
    }
    if (!is_new) return false;
    insert(text, all, remedy->count, out);
    bool are_several = false;
    for (int i = 1; i < remedy->count; i++) are_several |= after[i] != after[0];
    text_print(words, "insert %s after line%s ", name_of(&remedy->points[0], false, room, sizeof room),
               are_several ? "s" : "");
    add_lines(after, remedy->count, words);
    add_file(remedy->launch->program, file, words);
    return true;
}

/* After the first statement, after what closes behind it, and before the second one. */
static void places_between(const char *text, int first, int last, SourcePlaces *places) {
    int line = 1, start = end_of_statement(text, first);
    add_after(places, start < last ? start : -1);
    while (*text && line < last) {
        size_t length = strcspn(text, "\n"), blanks = strspn(text, " \t");
        if (line > start && text[blanks] == '}' && ends_statement(text, length)) add_after(places, line);
        text += length + (text[length] == '\n');
        line++;
    }
    add_after(places, last - 1 > start ? last - 1 : -1);
}

bool remedy_insert_between(const Finding *race, const char *file, const char *text, int choice, Text *out,
                           Text *words) {
    const FindingAccess *a = &race->access, *b = &race->other;
    if (remedy_class(race) != REMEDY_BY_BARRIER || !a->file || !b->file || strcmp(a->file, file) != 0 ||
        strcmp(b->file, file) != 0 || a->line == b->line)
        return false;
    SourcePlaces places = {.count = 0};
    places_between(text, a->line < b->line ? a->line : b->line, a->line < b->line ? b->line : a->line,
                   &places);
    if (choice >= places.count) return false;
    const RemedyPoint point = {
        PTX_NO_PC, race->kind == FINDING_WARP_RACE ? REMEDY_WARP_BARRIER : REMEDY_BLOCK_BARRIER, UINT32_MAX};
    SourceInsertion one = {places.after[choice], &point};
    char room[40];
    insert(text, &one, 1, out);
    text_print(words, "insert %s after line %d", name_of(&point, false, room, sizeof room), one.after);
    const char *slash = strrchr(file, '/');
    if (a->is_elsewhere) text_print(words, " of %s", slash ? slash + 1 : file);
    return true;
}

/* ---- in a copy of the PTX ------------------------------------------------------------------------------ */

void remedy_apply(const Remedy *remedy, Text *out) {
    const PtxProgram *program = remedy->launch->program;
    const PtxModule *module = program->module;
    size_t places[REMEDY_MOST_POINTS], from = 0;
    bool done[REMEDY_MOST_POINTS] = {0};
    for (int i = 0; i < remedy->count; i++)
        places[i] = remedy_place_in_text(module, program->code[remedy->points[i].pc].instruction);
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
