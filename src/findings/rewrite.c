/* Edits of a module's text (rewrite.h). */
#include "findings/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/opcodes.h"

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

/* ---- replaces remainders by a bitwise and, in a copy of the PTX ---------------------------------------- */

static bool may_be_and(const PtxInstruction *in) {
    PtxType type = in->type_count ? in->types[0] : PTX_NO_TYPE;
    return in->opcode == PTX_rem && in->guard.kind == PTX_OPERAND_NONE && in->operand_count == 3 &&
           (type == PTX_U32 || type == PTX_S32 || type == PTX_U64 || type == PTX_S64);
}

/* "%r1" of ", %r1, ": the operand from `at` to the next comma or semicolon, in the arena. */
static const char *next_operand(Rewrite *rewrite, const char **at) {
    *at += strspn(*at, " \t,");
    size_t length = strcspn(*at, ",; \t");
    const char *operand = arena_copy_text(&rewrite->arena, *at, length);
    *at += length;
    return operand;
}

static void replace_one(Rewrite *rewrite, const PtxInstruction *in, bool checks) {
    size_t begin, end;
    rewrite_find(rewrite, in, &begin, &end);
    const char *text = rewrite->module->text + begin, *at = text + strcspn(text, " \t");
    const char *to = next_operand(rewrite, &at), *a = next_operand(rewrite, &at),
               *b = next_operand(rewrite, &at);
    PtxType type = in->types[0];
    int bits = 8 * ptx_type_bytes(type);
    Text out = {0};
    text_print(&out, "{ .reg .b%d %%redviz_m; ", bits);
    if (checks) {
        text_print(&out, ".reg .b32 %%redviz_c; .reg .pred %%redviz_p; mov.b%d %%redviz_m, %s; ", bits, b);
        text_print(&out, "popc.b%d %%redviz_c, %%redviz_m; setp.ne.u32 %%redviz_p, %%redviz_c, 1; ", bits);
        text_add(&out, "@%redviz_p trap; ");
        if (ptx_type_is_signed(type)) {
            text_print(&out, "setp.lt.s%d %%redviz_p, %%redviz_m, 0; @%%redviz_p trap; ", bits);
            text_print(&out, "mov.b%d %%redviz_m, %s; ", bits, a);
            text_print(&out, "setp.lt.s%d %%redviz_p, %%redviz_m, 0; @%%redviz_p trap; ", bits);
        }
        text_add_bytes(&out, text, end - begin);
        text_add(&out, " }");
    } else {
        text_print(&out, "add.s%d %%redviz_m, %s, -1; and.b%d %s, %s, %%redviz_m; }", bits, b, bits, to, a);
    }
    rewrite_replace(rewrite, begin, end, text_string(&out));
    text_done(&out);
}

bool rewrite_remainders(const Trace *trace, const Finding *finding, bool checks, Text *out, Error *error) {
    const PtxModule *module = trace->launches[finding->launch]->program->module;
    Rewrite rewrite;
    rewrite_begin(&rewrite, module);
    for (int l = 0; l < trace->launch_count; l++) {
        const TraceLaunch *launch = trace->launches[l];
        for (int pc = 0; launch->program->module == module && pc < launch->program->code_count; pc++) {
            const PtxInstruction *in = launch->program->code[pc].instruction;
            if (may_be_and(in) && finding_is_on_line(finding, launch, pc)) replace_one(&rewrite, in, checks);
        }
    }
    bool good = rewrite.count > 0;
    if (!good) error_set(error, "line %d has no %% that could be an &", finding->access.line);
    rewrite_end(&rewrite, good ? out : NULL);
    return good;
}

int rewrite_count_remainders(const Trace *trace, const Finding *finding) {
    const TraceLaunch *launch = trace->launches[finding->launch];
    int count = 0;
    for (int pc = 0; pc < launch->program->code_count; pc++)
        count += may_be_and(launch->program->code[pc].instruction) && finding_is_on_line(finding, launch, pc);
    return count;
}
