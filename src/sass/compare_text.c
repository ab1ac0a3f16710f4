/* Puts differences into sentences (compare.h). */
#include "sass/compare.h"

#include <string.h>

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
