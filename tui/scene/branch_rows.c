#include "tui/scene/branch_rows.h"

#include "base/language.h"
#include "ptx/opcodes.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- groups -------------------------------------------------------------------------------------------- */

static const PathSplit *split_around(const Paths *paths, const PathSplit *split) {
    return split->parent < 0 ? NULL : &paths->splits[paths->paths[split->parent].split];
}

static bool same_line(const PtxProgram *program, const PathSplit *a, const PathSplit *b) {
    const PtxSourceLine *x = &program->code[a->pc].line, *y = &program->code[b->pc].line;
    return x->line && x->line == y->line && x->file == y->file;
}

static bool jumps_back(const PtxProgram *program, const PathSplit *split) {
    return program->code[split->pc].target >= 0 && program->code[split->pc].target <= split->pc;
}

/* `split` is a further condition of the same statement, in one of the ways of `outer`. */
static bool continues(const Paths *paths, const PtxProgram *program, const PathSplit *outer,
                      const PathSplit *split) {
    return outer && same_line(program, outer, split) && split->pc > outer->pc &&
           !jumps_back(program, split) && split->calls == outer->calls &&
           &paths->splits[paths->paths[split->parent].nested] == split;
}

/* `split` is a round of the loop, and `outer` the one before or the branch that skips the loop. */
static bool is_next_round(const PtxProgram *program, const PathSplit *outer, const PathSplit *split) {
    return outer && same_line(program, outer, split) &&
           (split->pc <= outer->pc || jumps_back(program, split)) && split->join_pc == outer->join_pc &&
           split->calls == outer->calls;
}

/* `shared`: instructions of this statement's conditions that these lanes have executed before the split. */
static void add_rows(const Paths *paths, const PtxProgram *program, const PathSplit *split, uint64_t shared,
                     BranchRows *out) {
    for (int i = 0; i < split->path_count; i++) {
        const Path *path = &paths->paths[split->first_path + i];
        const PathSplit *nested = path->nested < 0 ? NULL : &paths->splits[path->nested];
        if (nested && continues(paths, program, split, nested)) {
            add_rows(paths, program, nested, shared + path->instructions - paths_issued(paths, nested), out);
            continue;
        }
        out->is_counted &= path->is_counted;
        out->rows[out->count++] =
            (BranchRow){.lanes = path->lanes,
                        .path = split->first_path + i,
                        .only_waits = path->target == split->join_pc,
                        .instructions = path->instructions,
                        .alone = shared + path->instructions,
                        .lines = path->after.first ? path->after : path->before,
                        .words = path->target == split->pc + 1 ? BRANCH_FALLS_THROUGH : BRANCH_JUMPS};
    }
}

/* The lanes that have left the loop in earlier rounds wait with those that leave it in this one. */
static void add_left(BranchRows *out, uint32_t left) {
    if (!left) return;
    for (int i = 0; i < out->count; i++)
        if (out->rows[i].only_waits) {
            out->rows[i].lanes |= left;
            return;
        }
    if (out->count < MOST_BRANCH_ROWS)
        out->rows[out->count++] = (BranchRow){.lanes = left, .path = -1, .only_waits = true};
}

void branch_rows_of(const Paths *paths, const PtxProgram *program, int number, BranchRows *out) {
    const PathSplit *split = &paths->splits[number], *outer;
    uint32_t left = 0;
    while (continues(paths, program, outer = split_around(paths, split), split)) split = outer;
    *out = (BranchRows){.split = (int)(split - paths->splits), .is_counted = true};
    add_rows(paths, program, split, 0, out);
    out->issued = paths_issued(paths, split);
    for (; is_next_round(program, outer = split_around(paths, split), split); split = outer)
        for (int i = 0; i < outer->path_count; i++)
            if (outer->first_path + i != split->parent) left |= paths->paths[outer->first_path + i].lanes;
    add_left(out, left);
    if (split->parent < 0) return;
    BranchRows around;
    branch_rows_of(paths, program, paths->paths[split->parent].split, &around);
    out->first_letter = around.first_letter + around.count;
}

static bool is_on(const Paths *paths, int path, int outer) {
    while (path >= 0 && path != outer) path = paths->splits[paths->paths[path].split].parent;
    return path == outer;
}

int branch_rows_find(const Paths *paths, const BranchRows *rows, int path) {
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i].path >= 0 && is_on(paths, path, rows->rows[i].path)) return i;
    for (int i = 0; i < rows->count; i++) /* between two conditions */
        if (rows->rows[i].path >= 0 && is_on(paths, rows->rows[i].path, path)) return i;
    return -1;
}

char branch_letter(const BranchRows *rows, int row) {
    return (char)('A' + (rows->first_letter + row) % 26);
}

/* ---- words --------------------------------------------------------------------------------------------- */

/* Source lines around a branch. */
typedef struct Statement {
    const BranchSource *source;
    const char *file;
    int line; /* of the branch */
} Statement;

/* The text of the line without its comment; "": unknown. */
static void read_line(const Statement *statement, int line, char *out, size_t bytes) {
    const char *text = statement->source->line(statement->source->context, statement->file, line);
    snprintf(out, bytes, "%s", text ? text : "");
    char *comment = strstr(out, "//");
    if (comment) *comment = 0;
}

static const char *find_word(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += length) {
        bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && !(isalnum((unsigned char)at[length]) || at[length] == '_')) return at;
    }
    return NULL;
}

static bool has_word(const Statement *statement, int line, const char *word) {
    char text[512];
    read_line(statement, line, text, sizeof text);
    return find_word(text, word);
}

/* A line from `first` to `last` has the word. */
static bool any_has_word(const Statement *statement, int first, int last, const char *word) {
    for (int line = first; line <= last; line++)
        if (has_word(statement, line, word)) return true;
    return false;
}

/* The label of the case that the path begins in: "case 3", "default". */
static bool find_case(const Statement *statement, int first, char *out, size_t bytes) {
    for (int line = first; line > statement->line; line--) {
        char text[512];
        read_line(statement, line, text, sizeof text);
        const char *label = find_word(text, "case"), *end = label ? strchr(label, ':') : NULL;
        if (!label) label = find_word(text, "default"), end = label ? label + strlen("default") : NULL;
        if (!end) continue;
        snprintf(out, bytes, "%.*s", (int)(end - label), label);
        return true;
    }
    return false;
}

/* Lanes that wait within the statement: the line that they then execute with others; 0: none. */
static int line_of_meeting(const PtxProgram *program, const Paths *paths, const BranchRows *rows,
                           const BranchRow *row) {
    int target = row->only_waits && row->path >= 0 ? paths->paths[row->path].target : PTX_NO_PC;
    bool is_inside = target != PTX_NO_PC && target != paths->splits[rows->split].join_pc;
    return is_inside ? program->code[target].line.line : 0;
}

static void describe_switch(const Statement *statement, const PtxProgram *program, const Paths *paths,
                            BranchRows *rows) {
    for (int i = 0; i < rows->count; i++) {
        BranchRow *row = &rows->rows[i];
        row->shared_line = line_of_meeting(program, paths, rows, row);
        int first = row->lines.first ? row->lines.first : row->shared_line;
        if (find_case(statement, first, row->label, sizeof row->label))
            row->words = BRANCH_CASE;
        else if (row->only_waits)
            row->words = BRANCH_NO_CASE;
    }
}

/* Some code from the branch to the join jumps back to it, or before it. */
static bool is_loop(const PtxProgram *program, const PathSplit *split) {
    if (jumps_back(program, split)) return true;
    for (int pc = split->pc + 1; pc < split->join_pc; pc++)
        if (program->code[pc].target >= 0 && program->code[pc].target <= split->pc) return true;
    return false;
}

static void describe_loop(const PtxProgram *program, const PathSplit *split, BranchRows *rows) {
    bool goes_round = is_loop(program, split);
    for (int i = 0; i < rows->count; i++)
        rows->rows[i].words = rows->rows[i].only_waits ? (goes_round ? BRANCH_DONE : BRANCH_SKIPS)
                                                       : (goes_round ? BRANCH_GOES_ON : BRANCH_ENTERS_LOOP);
}

static bool only_returns(const PtxProgram *program, const Paths *paths, const BranchRow *row) {
    if (row->path < 0) return false;
    const PtxInstruction *first = program->code[paths->paths[row->path].target].instruction;
    return first && (first->opcode == PTX_ret || first->opcode == PTX_exit);
}

/* The first line after the branch that one of the paths executes; 0: none. */
static int first_line_of(const Statement *statement, const BranchRows *rows) {
    int first = 0;
    for (int i = 0; i < rows->count; i++) {
        int line = rows->rows[i].lines.first;
        if (line > statement->line && (!first || line < first)) first = line;
    }
    return first;
}

/* Lanes that wait where the else begins: others come to it by another way, and execute it before. */
static void describe_joined_else(const PtxProgram *program, const PathSplit *split, BranchRows *rows) {
    if (split->join_pc == PTX_NO_PC) return;
    for (int i = 0; i < rows->count; i++)
        for (int k = 0; k < rows->count && rows->rows[i].only_waits; k++)
            if (rows->rows[k].words == BRANCH_ENTERS_ELSE &&
                rows->rows[k].lines.first == program->code[split->join_pc].line.line)
                rows->rows[i].words = BRANCH_ENTERS_ELSE;
}

static void describe_if(const Statement *statement, const PtxProgram *program, const Paths *paths,
                        BranchRows *rows) {
    int body = first_line_of(statement, rows);
    bool returns = any_has_word(statement, statement->line, statement->line + 1, "return");
    for (int i = 0; i < rows->count; i++) {
        BranchRow *row = &rows->rows[i];
        bool has_lines = row->lines.first > statement->line;
        if (returns && only_returns(program, paths, row))
            row->words = BRANCH_RETURNS;
        else if (returns)
            row->words = BRANCH_GOES_ON;
        else if (has_lines && row->lines.first == body)
            row->words = BRANCH_ENTERS_IF;
        else if (has_lines && any_has_word(statement, body, row->lines.first, "else"))
            row->words = BRANCH_ENTERS_ELSE;
        else if (body)
            row->words = BRANCH_SKIPS;
    }
    describe_joined_else(program, &paths->splits[rows->split], rows);
}

/* The only way that has code, of a statement of one line. */
static void describe_short_if(BranchRows *rows) {
    if (rows->count != 2 || rows->rows[0].only_waits == rows->rows[1].only_waits) return;
    for (int i = 0; i < 2; i++)
        rows->rows[i].words = rows->rows[i].only_waits ? BRANCH_SKIPS : BRANCH_ENTERS_IF;
}

void branch_rows_describe(const Paths *paths, const PtxProgram *program, const BranchSource *source,
                          BranchRows *rows) {
    const PathSplit *split = &paths->splits[rows->split];
    const PtxSourceLine *line = &program->code[split->pc].line;
    Statement statement = {source, line->file, line->line};
    if (!line->line || !line->file) return;
    bool loops = has_word(&statement, line->line, "for") || has_word(&statement, line->line, "while");
    if (has_word(&statement, line->line, "switch"))
        describe_switch(&statement, program, paths, rows);
    else if (loops && (!has_word(&statement, line->line, "if") || is_loop(program, split)))
        describe_loop(program, split, rows);
    else if (has_word(&statement, line->line, "if") && first_line_of(&statement, rows))
        describe_if(&statement, program, paths, rows);
    else if (has_word(&statement, line->line, "if"))
        describe_short_if(rows);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *label, *several, *one;
} words[BRANCH_WORDS_COUNT] = {
    [BRANCH_ENTERS_IF] = {"enter", "enter the if", "enters the if"},
    [BRANCH_ENTERS_ELSE] = {"else", "take the else", "takes the else"},
    [BRANCH_GOES_ON] = {"go on", "go on", "goes on"},
    [BRANCH_ENTERS_LOOP] = {"enter", "enter the loop", "enters the loop"},
    [BRANCH_CASE] = {"case", NULL, NULL},
    [BRANCH_NO_CASE] = {"no case", "match no case", "matches no case"},
    [BRANCH_SKIPS] = {"skip", "skip it", "skips it"},
    [BRANCH_DONE] = {"done", "are done", "is done"},
    [BRANCH_RETURNS] = {"return", "return", "returns"},
    [BRANCH_JUMPS] = {"jump", "jump", "jumps"},
    [BRANCH_FALLS_THROUGH] = {"fall through", "fall through", "falls through"},
};

const char *branch_label(const BranchRow *row) {
    return *row->label ? row->label : tr(words[row->words].label);
}

/* "4 lanes enter the if"; after the first: "28 skip it". */
static void print_part(const BranchRow *row, int count, bool is_first, Text *out) {
    const char *lanes = count == 1 ? "" : "s", *does = words[row->words].several, *ending = "";
    if (count == 1) does = words[row->words].one, ending = "s";
    if (*row->label && is_first)
        text_print(out, tr("%d lane%s take%s %s"), count, lanes, ending, row->label);
    else if (*row->label)
        text_print(out, tr("%d take%s %s"), count, ending, row->label);
    else if (is_first)
        text_print(out, tr("%d lane%s %s"), count, lanes, tr(does));
    else
        text_print(out, tr("%d %s"), count, tr(does));
}

void branch_rows_print(const BranchRows *rows, Text *out) {
    bool is_printed[MOST_BRANCH_ROWS] = {false}, is_first = true;
    for (int word = 0; word < BRANCH_WORDS_COUNT; word++)
        for (int i = 0; i < rows->count; i++) {
            uint32_t lanes = 0;
            if (is_printed[i] || (int)rows->rows[i].words != word) continue;
            for (int k = i; k < rows->count; k++) {
                bool same = rows->rows[k].words == rows->rows[i].words &&
                            !strcmp(rows->rows[k].label, rows->rows[i].label);
                if (same) lanes |= rows->rows[k].lanes, is_printed[k] = true;
            }
            if (!is_first) text_add(out, tr(", "));
            print_part(&rows->rows[i], __builtin_popcount(lanes), is_first, out);
            is_first = false;
        }
}
