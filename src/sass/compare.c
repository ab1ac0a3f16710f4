/* Finds the reasons for differences, one PTX instruction after another (compare.h). */
#include "sass/compare.h"

#include "ptx/opcodes.h"
#include "sass/owners.h"

#include <stdlib.h>
#include <string.h>

/* The fewest machine instructions of one PTX instruction that are reported as expanded, and how many of them
 * must differ. */
enum { EXPANDED_FROM = 6, EXPANDED_NAMES = 4 };

typedef struct Comparer {
    SassComparison *result;
    const PtxProgram *program;
    const SassKernel *kernel;
    int *blocks;   /* [kernel->count] */
    bool *covered; /* [program->code_count]: merged into another access */
    bool *claimed; /* [kernel->count]: a branch that implements a branch of another line */
} Comparer;

static const PtxInstruction *ptx_at(const Comparer *c, int pc) {
    return c->program->code[pc].instruction;
}

static const char *text_at(const Comparer *c, int index) {
    return c->kernel->instructions[index].text;
}

static void add(Comparer *c, SassReason reason, int pc, int sass_count, int times, int instruction) {
    SassDifference difference = {.reason = reason,
                                 .class = pc == PTX_NO_PC ? SASS_OTHER : sass_class_of_ptx(ptx_at(c, pc)),
                                 .pc = pc,
                                 .ptx_count = reason == SASS_MERGED ? times : 1,
                                 .sass_count = sass_count,
                                 .times = times,
                                 .instruction = instruction};
    array_push(c->result->differences, c->result->count, c->result->capacity, difference);
}

/* ---- loops --------------------------------------------------------------------------------------------- */

/* The innermost PTX loop around the instruction: the pc of its backward branch; PTX_NO_PC: none. */
static int loop_of(const Comparer *c, int pc) {
    int found = PTX_NO_PC, span = 0;
    for (int at = pc; at < c->program->code_count; at++) {
        int target = c->program->code[at].target;
        if (ptx_at(c, at)->opcode != PTX_bra || target == PTX_NO_PC || target > pc) continue;
        if (found != PTX_NO_PC && at - target >= span) continue;
        found = at;
        span = at - target;
    }
    return found;
}

/* The most copies in one basic block. */
static int copies_in_a_row(const Comparer *c, int pc, SassClass class) {
    int most = 0;
    for (int i = 0; i < c->kernel->count; i++) {
        int count = 0;
        if (c->result->owner[i] != pc) continue;
        for (int k = i; k < c->kernel->count && c->blocks[k] == c->blocks[i]; k++)
            count += c->result->owner[k] == pc && sass_class_of_text(text_at(c, k)) == class;
        if (count > most) most = count;
    }
    return most;
}

/* ---- accesses ------------------------------------------------------------------------------------------ */

static int ptx_bytes(const PtxInstruction *in) {
    int bytes = ptx_type_bytes(in->types[0]);
    return bytes * (in->vector > 1 ? in->vector : 1);
}

static bool has_copies(const Comparer *c, int pc, SassClass class) {
    return sass_count_owned(c->result, pc, class, NULL) > 0;
}

/* Neighbours of the same class without a machine instruction of their own. */
static int cover(const Comparer *c, int pc, SassClass class, int most) {
    int covered = 0;
    const PtxSourceLine *line = &c->program->code[pc].line;
    for (int at = 0; at < c->program->code_count && covered < most; at++) {
        const PtxSourceLine *other = &c->program->code[at].line;
        if (at == pc || c->covered[at] || sass_class_of_ptx(ptx_at(c, at)) != class ||
            has_copies(c, at, class) || other->line != line->line ||
            ptx_bytes(ptx_at(c, at)) != ptx_bytes(ptx_at(c, pc)))
            continue;
        c->covered[at] = true;
        covered++;
    }
    return covered;
}

/* The widest machine instruction of the class for a pc; -1: none. */
static int widest(const Comparer *c, int pc, SassClass class) {
    int found = -1;
    for (int i = 0; i < c->kernel->count; i++)
        if (c->result->owner[i] == pc && sass_class_of_text(text_at(c, i)) == class &&
            (found < 0 || sass_bytes(text_at(c, i)) > sass_bytes(text_at(c, found))))
            found = i;
    return found;
}

/* Runs first, so that merged accesses do not look removed. In a loop they may belong to later iterations. */
static void find_merged(Comparer *c) {
    for (int pc = 0; pc < c->program->code_count; pc++) {
        SassClass class = sass_class_of_ptx(ptx_at(c, pc));
        int own = ptx_bytes(ptx_at(c, pc));
        if (!sass_is_access(class) || class == SASS_SHARED_ATOMIC || class == SASS_GLOBAL_ATOMIC || own < 1)
            continue;
        int shown = widest(c, pc, class), times = shown < 0 ? 0 : sass_bytes(text_at(c, shown)) / own;
        if (times < 2) continue;
        int covered = cover(c, pc, class, times - 1);
        if (covered)
            add(c, SASS_MERGED, pc, 1, covered + 1, shown);
        else if (loop_of(c, pc) != PTX_NO_PC)
            add(c, SASS_MERGED, pc, 1, times, shown);
    }
}

/* A predicated EXIT of later PTX code comes before it, and control falls through from there. */
static bool is_behind_exit(const Comparer *c, int pc, int index) {
    bool found = false;
    for (int i = 0; i < index; i++) {
        SassClass class = sass_class_of_text(text_at(c, i));
        int owner = c->result->owner[i];
        if (class == SASS_JUMP || (class == SASS_EXIT && !sass_is_guarded(text_at(c, i))))
            found = false;
        else if (class == SASS_EXIT && owner > pc && ptx_at(c, owner)->opcode != PTX_ret &&
                 ptx_at(c, owner)->opcode != PTX_exit)
            found = true;
    }
    return found;
}

static bool is_out_of_loop(const Comparer *c, int pc, int index) {
    int loop = loop_of(c, pc);
    return loop != PTX_NO_PC && !sass_is_in_loop(c->kernel, index) && has_copies(c, loop, SASS_BRANCH);
}

static void look_at_several(Comparer *c, int pc, SassClass class, int copies, int first) {
    int bytes = ptx_bytes(ptx_at(c, pc)), in_a_row = copies_in_a_row(c, pc, class);
    bool is_split =
        sass_is_access(class) && in_a_row > 1 && in_a_row * sass_bytes(text_at(c, first)) == bytes;
    if (is_split)
        add(c, SASS_SPLIT, pc, copies, in_a_row, first);
    else if (in_a_row > 1 && loop_of(c, pc) != PTX_NO_PC)
        add(c, SASS_UNROLLED, pc, copies, in_a_row, first);
    else
        add(c, SASS_COPIED, pc, copies, copies, first);
}

static void look_at_counted(Comparer *c, int pc, SassClass class) {
    int first, copies = sass_count_owned(c->result, pc, class, &first);
    if (c->covered[pc]) return;
    if (!copies)
        add(c, SASS_REMOVED, pc, 0, 0, -1);
    else if (copies > 1)
        look_at_several(c, pc, class, copies, first);
    else if (is_behind_exit(c, pc, first))
        add(c, SASS_MOVED_BEHIND_EXIT, pc, 1, 1, first);
    else if (is_out_of_loop(c, pc, first))
        add(c, SASS_MOVED_OUT, pc, 1, 1, first);
}

/* REDUX combines a warp's values, or VOTE counts them, and the predicate elects one lane. */
static void look_at_atomic(Comparer *c, int pc, SassClass class) {
    int all, redux, vote, first;
    int copies = sass_count_owned(c->result, pc, class, &first);
    redux = sass_count_owned(c->result, pc, SASS_REDUX, NULL);
    vote = sass_count_owned(c->result, pc, SASS_VOTE, NULL);
    all = sass_count_owned(c->result, pc, SASS_CLASSES, NULL);
    if (copies && (redux || vote) && sass_is_guarded(text_at(c, first)))
        add(c, SASS_WARP_REDUCTION, pc, all, 1, first);
    else if (copies && all >= EXPANDED_FROM)
        add(c, SASS_EXPANDED, pc, all, 1, first);
    else
        look_at_counted(c, pc, class);
}

/* ---- branches ------------------------------------------------------------------------------------------ */

/* Counts the instructions between a branch and its target, and how many of them are guarded. `*shown` is an
 * access, if there is one. */
static int count_guarded(const Comparer *c, int pc, int target, int *owned, int *shown) {
    int guarded = 0;
    *owned = 0;
    *shown = -1;
    for (int i = 0; i < c->kernel->count; i++) {
        SassClass class = sass_class_of_text(text_at(c, i));
        if (c->result->owner[i] <= pc || c->result->owner[i] >= target) continue;
        ++*owned;
        if (!sass_is_guarded(text_at(c, i)) || class == SASS_BRANCH) continue;
        guarded++;
        if (*shown < 0 || (sass_is_access(class) && !sass_is_access(sass_class_of_text(text_at(c, *shown)))))
            *shown = i;
    }
    return guarded;
}

/* ptxas may note another PTX line for a branch: claims the first machine branch that belongs to no PTX
 * branch. */
static bool claim(Comparer *c) {
    for (int i = 0; i < c->kernel->count; i++) {
        int owner = c->result->owner[i], length;
        if (c->claimed[i] || sass_class_of_text(text_at(c, i)) != SASS_BRANCH || owner == PTX_NO_PC ||
            sass_class_of_ptx(ptx_at(c, owner)) == SASS_BRANCH ||
            !strcmp(sass_mnemonic(text_at(c, i), &length), "BRA.DIV"))
            continue;
        c->claimed[i] = true;
        return true;
    }
    return false;
}

static void look_at_branch(Comparer *c, int pc) {
    int first, owned, shown, target = c->program->code[pc].target;
    int copies = sass_count_owned(c->result, pc, SASS_BRANCH, &first);
    if (copies > 1) add(c, SASS_COPIED, pc, copies, copies, first);
    if (copies) return;
    if (sass_count_owned(c->result, pc, SASS_EXIT, &first)) {
        add(c, SASS_EXITED, pc, 1, 1, first);
        return;
    }
    int guarded = count_guarded(c, pc, target, &owned, &shown);
    if (target != PTX_NO_PC && target <= pc)
        add(c, SASS_UNROLLED, pc, 0, 0, -1);
    else if (guarded)
        add(c, SASS_PREDICATED, pc, guarded, 0, shown);
    else if (c->result->has_ptx_lines && !claim(c))
        add(c, owned ? SASS_SELECTED : SASS_REMOVED, pc, owned, 0, -1);
}

/* Branches of other instructions: of an expanded division, or for divergent warps. */
static void find_added(Comparer *c) {
    for (int i = 0; i < c->kernel->count; i++) {
        int owner = c->result->owner[i];
        if (owner == PTX_NO_PC || c->claimed[i] || sass_class_of_text(text_at(c, i)) != SASS_BRANCH ||
            sass_class_of_ptx(ptx_at(c, owner)) == SASS_BRANCH)
            continue;
        add(c, SASS_ADDED, owner, 1, 1, i);
        c->result->differences[c->result->count - 1].class = SASS_BRANCH;
        c->result->differences[c->result->count - 1].ptx_count = 0;
    }
}

/* ---- the rest ------------------------------------------------------------------------------------------ */

static bool has_same_stem(const char *a, const char *b) {
    int length;
    size_t stem;
    a = sass_mnemonic(a, &length);
    b = sass_mnemonic(b, &length);
    stem = strcspn(a, ". ");
    return stem == strcspn(b, ". ") && !memcmp(a, b, stem);
}

/* Counts the different machine instructions of a pc. `*copies`: the count of the rarest one, which is the
 * number of copies of the whole if its loop is unrolled. */
static int count_names(const Comparer *c, int pc, int *copies) {
    int names = 0;
    *copies = c->kernel->count;
    for (int i = 0; i < c->kernel->count; i++) {
        int same = 0;
        bool is_first = c->result->owner[i] == pc;
        for (int k = 0; is_first && k < c->kernel->count; k++) {
            if (c->result->owner[k] != pc || !has_same_stem(text_at(c, i), text_at(c, k))) continue;
            is_first = k >= i;
            same++;
        }
        if (!is_first) continue;
        names++;
        if (same < *copies) *copies = same;
    }
    return names;
}

/* Control, and integer arithmetic that every machine has: large numbers of these come from unrolling. */
static bool is_simple(const PtxInstruction *in) {
    static const PtxOpcode simple[] = {PTX_bra, PTX_ret,  PTX_exit, PTX_call, PTX_bar, PTX_ld,
                                       PTX_mov, PTX_cvta, PTX_setp, PTX_selp, PTX_add, PTX_sub,
                                       PTX_min, PTX_max,  PTX_and,  PTX_or,   PTX_xor, PTX_not,
                                       PTX_shl, PTX_shr,  PTX_mad,  PTX_mul};
    bool is_float = in->type_count && ptx_type_is_float(in->types[0]);
    bool is_simple = false;
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++) is_simple |= in->opcode == simple[i];
    return is_simple &&
           (!is_float || in->opcode == PTX_mov || in->opcode == PTX_setp || in->opcode == PTX_ld);
}

static void look_at_other(Comparer *c, int pc) {
    int first, copies, all = sass_count_owned(c->result, pc, SASS_CLASSES, &first);
    if (is_simple(ptx_at(c, pc)) || all < EXPANDED_FROM || count_names(c, pc, &copies) < EXPANDED_NAMES)
        return;
    if (all / copies >= EXPANDED_FROM) add(c, SASS_EXPANDED, pc, all / copies, 1, first);
}

static bool has_local_memory(const PtxProgram *program) {
    for (int pc = 0; pc < program->code_count; pc++)
        if (program->code[pc].instruction->space == PTX_SPACE_LOCAL) return true;
    return false;
}

static void find_spilled(Comparer *c) {
    int count = 0, first = -1;
    for (int i = 0; i < c->kernel->count; i++) {
        SassClass class = sass_class_of_text(text_at(c, i));
        if (class != SASS_LOCAL_LOAD && class != SASS_LOCAL_STORE) continue;
        if (!count++) first = i;
    }
    if (count && !has_local_memory(c->program)) add(c, SASS_SPILLED, PTX_NO_PC, count, 0, first);
}

static void look_at(Comparer *c, int pc) {
    SassClass class = sass_class_of_ptx(ptx_at(c, pc));
    if (class == SASS_BRANCH)
        look_at_branch(c, pc);
    else if (class == SASS_SHARED_ATOMIC || class == SASS_GLOBAL_ATOMIC)
        look_at_atomic(c, pc, class);
    else if (class != SASS_OTHER && class != SASS_JUMP)
        look_at_counted(c, pc, class);
    else
        look_at_other(c, pc);
}

static int by_line(const Comparer *c, const SassDifference *x, const SassDifference *y) {
    PtxSourceLine a = sass_difference_line(c->result, x), b = sass_difference_line(c->result, y);
    if (!a.file || !b.file) return !!a.file - !!b.file;
    int files = strcmp(a.file, b.file);
    return files ? files : (a.line > b.line) - (a.line < b.line);
}

/* True if one sentence can describe both differences. */
static bool is_like(const Comparer *c, const SassDifference *x, const SassDifference *y) {
    bool is_each_its_own = x->reason == SASS_EXPANDED || x->reason == SASS_MERGED ||
                           x->reason == SASS_SPLIT || x->reason == SASS_WARP_REDUCTION;
    return x->reason == y->reason && x->class == y->class && !is_each_its_own && !by_line(c, x, y) &&
           (x->reason != SASS_UNROLLED || (x->times == y->times && !x->sass_count == !y->sass_count));
}

/* Sorts by line and merges similar differences of a line. */
static void put_in_order(Comparer *c) {
    SassDifference *all = c->result->differences;
    int count = c->result->count, kept = 0;
    for (int i = 1; i < count; i++) /* stable; there are few */
        for (int k = i; k > 0 && by_line(c, &all[k - 1], &all[k]) > 0; k--) {
            SassDifference other = all[k];
            all[k] = all[k - 1];
            all[k - 1] = other;
        }
    for (int i = 0; i < count; i++) {
        int like = kept - 1;
        while (like >= 0 && !is_like(c, &all[like], &all[i])) like--;
        if (like < 0) {
            all[kept++] = all[i];
            continue;
        }
        all[like].ptx_count += all[i].ptx_count;
        all[like].sass_count += all[i].sass_count;
    }
    c->result->count = kept;
}

void sass_compare(const PtxProgram *program, const SassKernel *kernel, SassComparison *comparison) {
    *comparison = (SassComparison){.program = program, .kernel = kernel};
    sass_find_owners(comparison);
    Comparer c = {.result = comparison, .program = program, .kernel = kernel};
    c.blocks = sass_blocks(kernel);
    c.covered = memory_new((size_t)(program->code_count + 1) * sizeof *c.covered);
    c.claimed = memory_new((size_t)(kernel->count + 1) * sizeof *c.claimed);
    find_spilled(&c);
    find_merged(&c);
    for (int pc = 0; pc < program->code_count; pc++) look_at(&c, pc);
    find_added(&c);
    put_in_order(&c);
    free(c.blocks);
    free(c.covered);
    free(c.claimed);
}

void sass_comparison_done(SassComparison *comparison) {
    free(comparison->owner);
    free(comparison->differences);
    *comparison = (SassComparison){.count = 0};
}

bool sass_take_ptx_lines(SassKernel *kernel, const PtxProgram *copy, const PtxProgram *program) {
    SassComparison lines = {.program = copy, .kernel = kernel};
    lines.owner = memory_new((size_t)(kernel->count + 1) * sizeof *lines.owner);
    kernel->has_ptx_lines = copy->code_count == program->code_count && sass_own_by_ptx_line(&lines);
    for (int i = 0; i < kernel->count; i++) {
        SassInstruction *in = &kernel->instructions[i];
        int pc = kernel->has_ptx_lines ? lines.owner[i] : PTX_NO_PC;
        in->ptx_line = pc == PTX_NO_PC ? 0 : program->code[pc].instruction->line;
        if (in->place < 0 && in->ptx_line && program->module->file)
            in->place = sass_place(kernel, program->module->file, in->ptx_line, -1);
    }
    free(lines.owner);
    return kernel->has_ptx_lines;
}

bool sass_take_printed_lines(SassKernel *kernel, const char *text, const PtxProgram *program) {
    PtxModule *module = ptx_module_parse(text, strlen(text), "printed.ptx", NULL);
    PtxFunction *entry = module ? ptx_module_find_entry(module, program->entry->name, NULL) : NULL;
    PtxProgram *copy = entry ? ptx_program_link(module, entry, NULL) : NULL;
    bool good = copy && sass_take_ptx_lines(kernel, copy, program);
    ptx_program_free(copy);
    ptx_module_free(module);
    return good;
}

/* ---- puts differences into sentences ------------------------------------------------------------------- */

PtxSourceLine sass_difference_line(const SassComparison *comparison, const SassDifference *difference) {
    const PtxProgram *program = comparison->program;
    if (difference->pc == PTX_NO_PC) return (PtxSourceLine){.file = NULL};
    const PtxCode *code = &program->code[difference->pc];
    if (code->line.file && code->line.line) return code->line;
    return (PtxSourceLine){program->module ? program->module->file : NULL, code->instruction->line};
}

/* "cp.async.cg", "mbarrier.try_wait.parity": up to the state space. */
static void add_modifiers(const PtxInstruction *in, Text *out) {
    for (int i = 0; i < in->modifier_count; i++) {
        const char *text = in->modifiers[i].text;
        bool is_space = !strncmp(text, "shared", 6) || !strncmp(text, "global", 6);
        if (is_space || in->modifiers[i].kind == PTX_MOD_TYPE) return;
        text_print(out, ".%s", text);
    }
}

/* "ld.shared.u32" */
static void add_ptx_name(const PtxInstruction *in, Text *out) {
    static const char *const spaces[] = {[PTX_SPACE_SHARED] = ".shared", [PTX_SPACE_GLOBAL] = ".global"};
    SassClass class = sass_class_of_ptx(in);
    text_add(out, in->name);
    if (class >= SASS_BARRIER) {
        add_modifiers(in, out);
        return;
    }
    if ((size_t)in->space < sizeof spaces / sizeof *spaces && spaces[in->space])
        text_add(out, spaces[in->space]);
    if (in->type_count) text_print(out, ".%s", ptx_type_text(in->types[0]));
}

typedef struct SentenceParts { /* of a sentence */
    const SassDifference *d;
    const char *ptx;   /* "ld.shared.u32" */
    const char *shown; /* "LDS.128" */
    int shown_length, bytes;
    Text *out;
} SentenceParts;

static void add_branch(const SentenceParts *w) {
    const SassDifference *d = w->d;
    const char *predicates = d->sass_count == 1 ? "" : "s";
    if (d->ptx_count == 1)
        text_add(w->out, "the branch ");
    else
        text_print(w->out, "%d branches ", d->ptx_count);
    if (d->reason == SASS_EXITED)
        text_add(w->out, d->ptx_count == 1 ? "became a predicated EXIT" : "became predicated EXITs");
    else if (d->reason == SASS_PREDICATED)
        text_print(w->out, "%s gone: %d instruction%s predicated (%.*s)", d->ptx_count == 1 ? "is" : "are",
                   d->sass_count, d->sass_count == 1 ? " is" : "s are", w->shown_length, w->shown);
    else
        text_print(w->out, "%s gone: what %s skip%s (%d instruction%s) is always computed",
                   d->ptx_count == 1 ? "is" : "are", d->ptx_count == 1 ? "it" : "they",
                   d->ptx_count == 1 ? "s" : "", d->sass_count, predicates);
}

static void add_unrolled(const SentenceParts *w) {
    if (!w->d->sass_count)
        text_add(w->out, "the loop is unrolled completely: its branch is gone");
    else
        text_print(w->out, "the loop is unrolled x%d: %d %s became %d (%.*s)", w->d->times, w->d->ptx_count,
                   w->ptx, w->d->sass_count, w->shown_length, w->shown);
}

static void add_others(const SentenceParts *w) {
    const SassDifference *d = w->d;
    bool is_one = d->ptx_count == 1;
    switch (d->reason) {
    case SASS_MERGED:
        text_print(w->out, "%d %s became one of %d bytes (%.*s)", d->ptx_count, w->ptx, w->bytes,
                   w->shown_length, w->shown);
        break;
    case SASS_SPLIT:
        text_print(w->out, "%s became %d of %d bytes (%.*s)", w->ptx, d->times, w->bytes, w->shown_length,
                   w->shown);
        break;
    case SASS_COPIED:
        text_print(w->out, "%d %s became %d, on several paths (%.*s)", d->ptx_count, w->ptx, d->sass_count,
                   w->shown_length, w->shown);
        break;
    case SASS_EXPANDED:
        text_print(w->out, "%s became %d SASS instructions", w->ptx, d->sass_count);
        break;
    case SASS_REMOVED:
        if (is_one)
            text_print(w->out, "%s is removed", w->ptx);
        else
            text_print(w->out, "%d %s are removed", d->ptx_count, w->ptx);
        break;
    case SASS_MOVED_BEHIND_EXIT:
        text_print(w->out, "%s moved after an EXIT: threads that have exited do not execute it", w->ptx);
        break;
    case SASS_MOVED_OUT:
        text_print(w->out, "%s moved out of its loop", w->ptx);
        break;
    case SASS_SPILLED:
        text_print(w->out, "registers are spilled: %d accesses of local memory that PTX does not have (%.*s)",
                   d->sass_count, w->shown_length, w->shown);
        break;
    case SASS_WARP_REDUCTION:
        text_print(w->out,
                   "%s: each warp combines its values first (%d instructions), and one lane does it (%.*s)",
                   w->ptx, d->sass_count, w->shown_length, w->shown);
        break;
    case SASS_ADDED:
        text_print(w->out, "%d branch%s that PTX does not have (%.*s)", d->sass_count,
                   d->sass_count == 1 ? "" : "es", w->shown_length, w->shown);
        break;
    default:
        break;
    }
}

void sass_difference_print(const SassComparison *comparison, const SassDifference *d, Text *out) {
    Text name = {0};
    SentenceParts words = {.d = d, .shown = "", .out = out};
    if (d->instruction >= 0) {
        const char *text = comparison->kernel->instructions[d->instruction].text;
        words.shown = sass_mnemonic(text, &words.shown_length);
        words.bytes = sass_bytes(text);
    }
    if (d->pc != PTX_NO_PC) add_ptx_name(comparison->program->code[d->pc].instruction, &name);
    words.ptx = text_string(&name);
    if (d->reason == SASS_PREDICATED || d->reason == SASS_SELECTED || d->reason == SASS_EXITED)
        add_branch(&words);
    else if (d->reason == SASS_UNROLLED)
        add_unrolled(&words);
    else
        add_others(&words);
    text_done(&name);
}
