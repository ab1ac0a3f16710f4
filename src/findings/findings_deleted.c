/* Stores that the compiler removed: the PTX lacks them, so they cannot be checked for races. */
#include "base/language.h"
#include "findings/findings_sentences.h"
#include "ptx/opcodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 64, MOST_LINES = 4096 };

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static const char *skip_blanks(const char *c) {
    return c + strspn(c, " \t");
}

/* The text after the bracket that closes the one at `c`, of either kind; NULL: not on this line. */
static const char *behind_bracket(const char *c) {
    int depth = 0;
    for (; *c; c++) {
        depth += (*c == '[' || *c == '(') - (*c == ']' || *c == ')');
        if (!depth) return c + 1;
    }
    return NULL;
}

/* Reads NAME, or the last name of a cast, "((unsigned *)NAME)". Returns the text after it, or NULL. */
static const char *read_target(const char *c, char *name) {
    const char *begin = c, *end;
    if (*c == '(') {
        c = behind_bracket(c);
        if (!c) return NULL;
        end = begin = c - 1;
        while (begin[-1] != '(' && is_name(begin[-1])) begin--;
    } else {
        while (is_name(*c)) c++;
        end = c;
    }
    if (begin == end || end - begin >= NAME_BYTES) return NULL;
    snprintf(name, NAME_BYTES, "%.*s", (int)(end - begin), begin);
    return c;
}

/* The line is a statement "NAME[...] = ...", "NAME = ..." or similar; sets `name`. */
static bool is_store(const char *line, char *name) {
    const char *c = read_target(skip_blanks(line), name);
    while (c && *c == '[') c = behind_bracket(c);
    if (!c) return false;
    c = skip_blanks(c);
    if (*c == '=') return c[1] != '=';
    if (!strncmp(c, "++", 2) || !strncmp(c, "--", 2)) return true;
    if (!strncmp(c, "<<=", 3) || !strncmp(c, ">>=", 3)) return true;
    return *c && strchr("+-*/&|^%", *c) && c[1] == '=';
}

/* An earlier line declares it in shared memory or, if its elements are stored, as a pointer. An array of one
 * thread is kept in registers. */
static bool is_in_memory(const FindingsBuilder *builder, const char *file, int line, const char *name,
                         bool has_elements) {
    size_t length = strlen(name);
    for (int at = line - 1; at > 0; at--) {
        const char *text = builder->names.source(builder->names.context, file, at);
        const char *shared = text ? strstr(text, "__shared__") : NULL;
        for (const char *c = text; c && (c = strstr(c, name)); c += length) {
            if ((c > text && is_name(c[-1])) || is_name(c[length])) continue;
            const char *before = c, *comment = strstr(text, "//");
            if (comment && comment < c) break;
            while (before > text && before[-1] == ' ') before--;
            bool is_declared = before > text && (is_name(before[-1]) || before[-1] == ',');
            if (shared && shared < c && (c[length] == '[' || (!has_elements && is_declared))) return true;
            if (has_elements && before > text && (before[-1] == '*' || before[-1] == '_')) return true;
        }
    }
    return false;
}

typedef struct LineUse {
    bool has_code, stores;
    bool begins_in_comment; /* or is left out by #if 0 */
    int function;           /* the number of the outermost braces that it is in, from 1; 0: none */
} LineUse;

/* The code of a line, without comments and literals; `in_comment`: whether it begins, and then ends, in a
 * comment. */
static void copy_code(const char *text, bool *in_comment, char *out, size_t room) {
    size_t count = 0;
    for (const char *c = text; *c && *c != '\n' && count + 1 < room; c++) {
        if (*in_comment) {
            if (c[0] == '*' && c[1] == '/') *in_comment = false, c++;
        } else if (c[0] == '/' && c[1] == '*') {
            *in_comment = true, c++;
        } else if (c[0] == '/' && c[1] == '/') {
            break;
        } else if (*c == '"') {
            while (c[1] && c[1] != '"' && c[1] != '\n') c += c[1] == '\\' && c[2] ? 2 : 1;
            if (c[1] == '"') c++;
        } else {
            out[count++] = *c;
        }
    }
    out[count] = 0;
}

/* Finds what is a comment, and the functions, on the lines up to `last`. */
static void read_text(const FindingsBuilder *builder, const char *file, int last, LineUse *lines) {
    bool in_comment = false;
    int depth = 0, functions = 0, off = 0; /* off: conditions within an #if 0 */
    for (int at = 1; at <= last; at++) {
        char code[1024];
        const char *text = builder->names.source(builder->names.context, file, at);
        lines[at].begins_in_comment = in_comment || off > 0;
        lines[at].function = depth ? functions : 0;
        if (!text) continue;
        copy_code(text, &in_comment, code, sizeof code);
        const char *word = skip_blanks(code);
        if (*word == '#') {
            word = skip_blanks(word + 1);
            bool is_off = !strncmp(word, "if 0", 4) && !is_name(word[4]);
            if (off ? !strncmp(word, "if", 2) : is_off)
                off++;
            else if (off && (!strncmp(word, "endif", 5) || (off == 1 && !strncmp(word, "el", 2))))
                off--;
            continue;
        }
        for (const char *c = code; *c && !off; c++) {
            if (*c == '{' && !depth++) lines[at].function = ++functions;
            if (*c == '}' && depth) depth--;
        }
    }
}

/* The function of the line has code, or the line is in none. */
static bool is_in_program(const LineUse *lines, int last, int line) {
    for (int at = 1; at <= last; at++)
        if (lines[at].function == lines[line].function && lines[at].has_code) return true;
    return !lines[line].function;
}

/* What the instructions of the program do on each line of the file. */
static LineUse *lines_of(const PtxProgram *program, const char *file, int *first, int *last) {
    LineUse *lines = memory_new((MOST_LINES + 1) * sizeof *lines);
    *first = MOST_LINES;
    *last = 0;
    for (int pc = 0; pc < program->code_count; pc++) {
        PtxSourceLine at = program->code[pc].line;
        const PtxInstruction *in = program->code[pc].instruction;
        if (at.line < 1 || at.line > MOST_LINES || !at.file || strcmp(at.file, file) != 0) continue;
        lines[at.line].has_code = true;
        lines[at.line].stores |= in->opcode != PTX_ld && trace_kind_of(in) != TRACE_NOT_RECORDED &&
                                 trace_kind_of(in) != TRACE_BRANCH;
        lines[at.line].stores |= in->opcode == PTX_call || ptx_asynchronous(in) != PTX_ASYNC_NOT;
        if (at.line < *first) *first = at.line;
        if (at.line > *last) *last = at.line;
    }
    return lines;
}

static void add_note(FindingsBuilder *builder, int launch, const char *file, int line, int more,
                     bool has_code) {
    Finding *finding = findings_add(builder->list, &builder->capacity, FINDING_DELETED_STORE, launch);
    Text text = {0};
    finding->count = 1;
    finding->access.file = file;
    finding->access.line = line;
    text_print(&text, more ? tr("lines %d to %d: ") : tr("line %d: "), line, line + more);
    text_add(&text,
             has_code ? tr("no store is left in the PTX: ") : tr("no memory access is left in the PTX: "));
    text_print(&text, tr("the compiler has removed the store%s, or keeps the value%s in registers"),
               more ? "s" : "", more ? "s" : "");
    finding->advice = tr("--compile-flags -G keeps every access");
    finding->sentence = findings_finish_sentence(builder->list, &text);
}

/* The line is in a branch that is never taken, as in a template: its condition has no code left. */
static bool is_never_reached(const FindingsBuilder *builder, const LineUse *lines, const char *file,
                             int line) {
    const char *text = builder->names.source(builder->names.context, file, line);
    size_t blanks = text ? strspn(text, " \t") : 0;
    for (int at = line - 1; at > 0 && blanks; at--) {
        text = builder->names.source(builder->names.context, file, at);
        if (!text || strspn(text, " \t") >= blanks) continue;
        const char *c = skip_blanks(text);
        if (*c == '{' || !*c || *c == '/' || *c == '#') continue;
        return !lines[at].has_code && (!strncmp(c, "if", 2) || !strncmp(c, "}", 1) || !strncmp(c, "else", 4));
    }
    return false;
}

static bool is_deleted(const FindingsBuilder *builder, const LineUse *lines, const char *file, int line) {
    char name[NAME_BYTES], text[1024];
    const char *whole = builder->names.source(builder->names.context, file, line);
    bool in_comment = false;
    if (!whole || lines[line].stores || lines[line].begins_in_comment) return false;
    copy_code(whole, &in_comment, text, sizeof text);
    if (!is_store(text, name)) return false;
    const char *behind = read_target(skip_blanks(text), name);
    bool has_elements = behind && *behind == '[';
    return is_in_memory(builder, file, line, name, has_elements) &&
           (lines[line].has_code || !is_never_reached(builder, lines, file, line));
}

/* The first line of the kernel that has code on this line. A kernel whose stores were all removed has code
 * only at its end. */
static int first_line_of(const FindingsBuilder *builder, const char *file, int line) {
    for (int at = line; at > 0; at--) {
        const char *text = builder->names.source(builder->names.context, file, at);
        const char *kernel = text ? strstr(text, "__global__") : NULL;
        if (kernel) return at;
        if (text && *text == '}' && at < line) break; /* end of the previous function */
    }
    return line;
}

/* The source of its first instruction that has a line; NULL: none has one. (The module of a program that runs
 * has the name of its source, too.) */
static const char *source_of(const PtxProgram *program) {
    for (int pc = 0; pc < program->code_count; pc++)
        if (program->code[pc].line.file && program->code[pc].line.line > 0)
            return program->code[pc].line.file;
    return NULL;
}

static void add_of_launch(FindingsBuilder *builder, int launch) {
    const PtxProgram *program = builder->trace->launches[launch]->program;
    const char *file = source_of(program);
    if (!file) return;
    int first, last;
    LineUse *lines = lines_of(program, file, &first, &last);
    if (last) first = first_line_of(builder, file, first);
    read_text(builder, file, last, lines);
    for (int line = first; line <= last; line++) {
        if (!is_in_program(lines, last, line)) continue;
        if (!is_deleted(builder, lines, file, line)) continue;
        int more = 0;
        while (line + more < last && is_deleted(builder, lines, file, line + more + 1) &&
               lines[line + more + 1].has_code == lines[line].has_code)
            more++;
        add_note(builder, launch, file, line, more, lines[line].has_code);
        line += more;
    }
    free(lines);
}

void findings_note_deleted(Findings *list, const Trace *trace, FindingSource source, void *context) {
    FindingsBuilder builder = {
        .list = list, .capacity = list->count, .trace = trace, .names = {source, context}};
    for (int i = 0; i < trace->launch_count; i++) {
        bool is_new = true; /* launches of one entry share a program */
        for (int k = 0; k < i; k++) is_new &= trace->launches[k]->program != trace->launches[i]->program;
        if (is_new) add_of_launch(&builder, i);
    }
    findings_end(&builder);
}
