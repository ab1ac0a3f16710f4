/* Edits of a module's text (rewrite.h). */
#include "findings/rewrite.h"

#include <stdlib.h>
#include <string.h>

void rewrite_begin(Rewrite *rewrite, const PtxModule *module) {
    *rewrite = (Rewrite){.module = module, .line_count = 1};
    for (size_t i = 0; i < module->length; i++) rewrite->line_count += module->text[i] == '\n';
    rewrite->lines = memory_new(((size_t)rewrite->line_count + 1) * sizeof *rewrite->lines);
    int line = 1;
    for (size_t i = 0; i < module->length; i++)
        if (module->text[i] == '\n') rewrite->lines[++line] = i + 1;
}

void rewrite_find(const Rewrite *rewrite, const PtxInstruction *in, size_t *begin, size_t *end) {
    const PtxModule *module = rewrite->module;
    size_t at = in->line > 0 && in->line <= rewrite->line_count ? rewrite->lines[in->line] : 0;
    at += (size_t)(in->column > 0 ? in->column - 1 : 0);
    const char *stop = memchr(module->text + at, ';', module->length - at);
    *end = stop ? (size_t)(stop - module->text) + 1 : module->length;
    while (in->guard.kind != PTX_OPERAND_NONE && at > 0 && module->text[at] != '@') at--;
    *begin = at;
}

void rewrite_replace(Rewrite *rewrite, size_t begin, size_t end, const char *text) {
    RewriteEdit edit = {begin, end, arena_copy_string(&rewrite->arena, text)};
    for (size_t i = 0; i < rewrite->count; i++)
        if (rewrite->edits[i].begin == begin) return; /* launches share programs, programs share functions */
    array_push(rewrite->edits, rewrite->count, rewrite->capacity, edit);
}

static int compare_edits(const void *a, const void *b) {
    const RewriteEdit *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

void rewrite_end(Rewrite *rewrite, Text *out) {
    size_t from = 0;
    if (rewrite->count) qsort(rewrite->edits, rewrite->count, sizeof *rewrite->edits, compare_edits);
    for (size_t i = 0; out && i < rewrite->count; i++) {
        const RewriteEdit *edit = &rewrite->edits[i];
        text_add_bytes(out, rewrite->module->text + from, edit->begin - from);
        text_add(out, edit->text);
        from = edit->end;
    }
    if (out) text_add_bytes(out, rewrite->module->text + from, rewrite->module->length - from);
    free(rewrite->lines);
    free(rewrite->edits);
    arena_done(&rewrite->arena);
    *rewrite = (Rewrite){0};
}
