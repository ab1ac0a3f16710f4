/* Gives a shared array another layout in a copy of the PTX (rewrite.h): every access computes its offset in
 * the array, and from that its place.
 *
 *   st.shared.u32 [%r5+4], %r1;      becomes, for 4 unused bytes after every 128:
 *
 *   { add.s32 a, %r5, 4;  mov.u32 b, array;  sub.s32 o, a, b;  setp.lt.u32 p, o, BYTES;
 *     shr.u32 t, o, 7;  shl.b32 t, t, 2;  selp.b32 t, t, 0, p;  add.s32 a, a, t;  st.shared.u32 [a], %r1; }
 *
 * The comparison leaves accesses to other arrays alone; without another array it is left out. */
#include "findings/rewrite.h"

#include "metrics/metrics.h"
#include "ptx/opcodes.h"
#include <string.h>

enum { WIDEST = 16 };
#define NO_LIMIT UINT32_C(0x40000000) /* the dynamic array is the last one */

/* ---- what can be rewritten ----------------------------------------------------------------------------- */

static bool is_access(const PtxInstruction *in) {
    return in->opcode == PTX_ld || in->opcode == PTX_st || in->opcode == PTX_atom || in->opcode == PTX_red;
}

static const PtxOperand *memory_operand(const PtxInstruction *in) {
    const PtxOperand *found = NULL;
    for (int i = 0; i < in->operand_count; i++)
        if (in->operands[i].kind == PTX_OPERAND_MEMORY) found = found ? found : &in->operands[i];
    return found;
}

static bool is_plain(const PtxInstruction *in) {
    return is_access(in) && in->space == PTX_SPACE_SHARED && ptx_asynchronous(in) == PTX_ASYNC_NOT &&
           memory_operand(in);
}

static uint64_t width_of(const PtxInstruction *in) {
    int bytes = in->type_count ? ptx_type_bytes(in->types[0]) : 0;
    return bytes ? (uint64_t)bytes * (uint64_t)(in->vector > 1 ? in->vector : 1) : WIDEST * 2;
}

/* All dynamic arrays begin at one address. */
static bool names_other(const PtxInstruction *in, const PtxVariable *array) {
    const PtxOperand *memory = memory_operand(in);
    const PtxVariable *named = memory ? memory->variable : NULL;
    return named && named != array && (named->bytes || array->bytes);
}

/* Memory that is not shared, whatever the address. */
static bool is_elsewhere(const PtxInstruction *in) {
    return in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_LOCAL || in->space == PTX_SPACE_PARAM ||
           in->space == PTX_SPACE_CONST || in->space == PTX_SPACE_TEX;
}

/* Why this instruction may reach the array in a way that is not rewritten; NULL: it does not. */
static const char *obstacle(const PtxInstruction *in, const PtxVariable *array) {
    bool is_shared = in->space == PTX_SPACE_SHARED || in->space == PTX_SPACE_SHARED_CLUSTER;
    if (in->opcode == PTX_cvta)
        return is_shared && !ptx_instruction_has(in, PTX_MOD_TO) ? "takes a generic address of shared memory"
                                                                 : NULL;
    if (ptx_asynchronous(in) == PTX_ASYNC_COPY || ptx_asynchronous(in) == PTX_ASYNC_BULK_COPY ||
        ptx_asynchronous(in) == PTX_ASYNC_STORE || ptx_asynchronous(in) == PTX_ASYNC_RED)
        return "copies asynchronously";
    if (in->opcode == PTX_mapa || in->space == PTX_SPACE_SHARED_CLUSTER)
        return "accesses shared memory of other blocks";
    if (is_plain(in)) return width_of(in) > WIDEST ? "accesses more than 16 bytes" : NULL;
    if (is_access(in)) return NULL; /* generic addresses come from cvta, which is refused */
    if (ptx_matrix_count(in)) return "accesses whole matrices";
    bool may_access = memory_operand(in) && !is_elsewhere(in) && !names_other(in, array);
    return may_access ? "accesses shared memory in a way that is not rewritten" : NULL;
}

/* ---- the array ----------------------------------------------------------------------------------------- */

static const PtxVariable *find_named(PtxModule *module, const PtxOperand *operand, const char *name) {
    for (int i = 0; i < operand->item_count; i++) {
        const PtxVariable *found = find_named(module, &operand->items[i], name);
        if (found) return found;
    }
    const PtxVariable *variable = operand->variable;
    bool is_named = variable && variable->space == PTX_SPACE_SHARED &&
                    !strcmp(ptx_readable_name(module, variable->name), name);
    return is_named ? variable : NULL;
}

static const PtxVariable *find_array(const Trace *trace, const Finding *finding, const TraceSymbol **symbol,
                                     Error *error) {
    const TraceLaunch *launch = trace->launches[finding->launch];
    const PtxProgram *program = launch->program;
    int number = finding->access.buffer;
    *symbol = number >= 0 && number < launch->symbol_count ? &launch->symbols[number] : NULL;
    for (int pc = 0; *symbol && pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        for (int i = 0; i < in->operand_count; i++) {
            const PtxVariable *found = find_named(program->module, &in->operands[i], (*symbol)->name);
            if (found) return found;
        }
    }
    error_set(error, "line %d: no traced access names the shared array", finding->access.line);
    return NULL;
}

static bool calls(const PtxProgram *program, const PtxFunction *function) {
    return ptx_program_function(program, function) >= 0;
}

/* An array that a function declares has no name in others, which may get its address. */
static bool is_hidden(const PtxProgram *program, int pc, const PtxVariable *array) {
    return array->function && program->functions[program->code[pc].function].function != array->function;
}

typedef struct ArrayUse {
    const PtxVariable *array;
    const TraceSymbol *symbol;
    uint64_t width;
    bool is_alone; /* no other array lies in shared memory */
} ArrayUse;

static bool check_program(const TraceLaunch *launch, ArrayUse *use, Error *error) {
    const PtxProgram *program = launch->program;
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        const char *why = obstacle(in, use->array);
        if (!why && is_plain(in) && is_hidden(program, pc, use->array) && !names_other(in, use->array))
            why = "accesses shared memory in a function that is called";
        if (why) return error_set(error, "line %d %s", metrics_line_of(program, pc).line, why);
        if (is_plain(in) && !names_other(in, use->array) && width_of(in) > use->width)
            use->width = width_of(in);
    }
    for (int i = 0; i < launch->symbol_count; i++)
        if (launch->symbols[i].space == PTX_SPACE_SHARED &&
            launch->symbols[i].window_offset != use->symbol->window_offset)
            use->is_alone = false;
    return true;
}

/* False with `error` if some access cannot be rewritten. */
static bool check_uses(const Trace *trace, const Finding *finding, ArrayUse *use, Error *error) {
    *use = (ArrayUse){.width = 4, .is_alone = true};
    use->array = find_array(trace, finding, &use->symbol, error);
    if (!use->array) return false;
    const PtxModule *module = trace->launches[finding->launch]->program->module;
    for (int i = 0; i < trace->launch_count; i++) {
        const PtxProgram *program = trace->launches[i]->program;
        bool has_it =
            program->module == module && (!use->array->function || calls(program, use->array->function));
        if (has_it && !check_program(trace->launches[i], use, error)) return false;
    }
    if (use->symbol->window_offset % use->width)
        return error_set(error, "`%s` does not begin at a multiple of its widest access, %d bytes",
                         use->symbol->name, (int)use->width);
    return true;
}

bool rewrite_may_access(const Trace *trace, const Finding *finding, const PtxInstruction *in) {
    const TraceSymbol *symbol;
    const PtxVariable *array = find_array(trace, finding, &symbol, NULL);
    return array && is_plain(in) && !names_other(in, array);
}

uint64_t rewrite_width(const Trace *trace, const Finding *finding, Error *error) {
    ArrayUse use;
    return check_uses(trace, finding, &use, error) ? use.width : 0;
}

/* ---- the accesses -------------------------------------------------------------------------------------- */

static int log2_of(uint64_t power) {
    return __builtin_ctzll(power);
}

static void add_base(const PtxOperand *memory, Text *out) {
    if (memory->reg && ptx_type_bytes(memory->reg->type) == 8)
        text_print(out, "cvt.u32.u64 %%redviz_a, %s; ", memory->reg->name);
    else if (memory->reg)
        text_print(out, "mov.b32 %%redviz_a, %s; ", memory->reg->name);
    else
        text_add(out, "mov.u32 %redviz_a, 0; ");
    if (memory->integer) text_print(out, "add.s32 %%redviz_a, %%redviz_a, %d; ", (int)memory->integer);
}

static void add_place(const ArrayUse *use, const SharedLayout *layout, Text *out) {
    uint64_t limit = use->array->bytes ? use->array->bytes : NO_LIMIT;
    text_print(out, "mov.u32 %%redviz_b, %s; sub.s32 %%redviz_o, %%redviz_a, %%redviz_b; ", use->array->name);
    if (!use->is_alone) text_print(out, "setp.lt.u32 %%redviz_p, %%redviz_o, %u; ", (unsigned)limit);
    text_print(out, "shr.u32 %%redviz_t, %%redviz_o, %d; ", log2_of(layout->row));
    if (layout->swizzles)
        text_print(out, "and.b32 %%redviz_t, %%redviz_t, %d; ", (int)(LINE_BYTES / layout->pad) - 1);
    text_print(out, "shl.b32 %%redviz_t, %%redviz_t, %d; ", log2_of(layout->pad));
    if (layout->swizzles) /* the difference that XOR makes */
        text_add(out, "xor.b32 %redviz_t, %redviz_o, %redviz_t; sub.s32 %redviz_t, %redviz_t, %redviz_o; ");
    if (!use->is_alone) text_add(out, "selp.b32 %redviz_t, %redviz_t, 0, %redviz_p; ");
    text_add(out, "add.s32 %redviz_a, %redviz_a, %redviz_t; ");
}

static bool rewrite_access(Rewrite *rewrite, const PtxInstruction *in, const ArrayUse *use,
                           const SharedLayout *layout, Error *error) {
    const PtxOperand *memory = memory_operand(in);
    const char *text = rewrite->module->text;
    size_t begin, end;
    rewrite_find(rewrite, in, &begin, &end);
    const char *open = memchr(text + begin, '[', end - begin);
    const char *close = open ? memchr(open, ']', end - (size_t)(open - text)) : NULL;
    if (!close) return error_set(error, "line %d of the PTX: the address was not found", in->line);
    Text out = {0};
    if (memory->variable) { /* its place is known */
        text_add_bytes(&out, text + begin, (size_t)(open - text) - begin);
        text_print(&out, "[%s+%llu]", use->array->name,
                   (unsigned long long)layout_offset(layout, (uint64_t)memory->integer));
        text_add_bytes(&out, close + 1, end - (size_t)(close + 1 - text));
    } else {
        text_add(&out, "{ .reg .b32 %redviz_a, %redviz_b, %redviz_o, %redviz_t; ");
        if (!use->is_alone) text_add(&out, ".reg .pred %redviz_p; ");
        add_base(memory, &out);
        add_place(use, layout, &out);
        text_add_bytes(&out, text + begin, (size_t)(open - text) - begin);
        text_add(&out, "[%redviz_a]");
        text_add_bytes(&out, close + 1, end - (size_t)(close + 1 - text));
        text_add(&out, " }");
    }
    rewrite_replace(rewrite, begin, end, text_string(&out));
    text_done(&out);
    return true;
}

/* A named place that is not in the array is a fault, before and after. */
static bool is_outside(const PtxInstruction *in, const PtxVariable *array) {
    const PtxOperand *memory = memory_operand(in);
    uint64_t end = array->bytes ? array->bytes : NO_LIMIT;
    return memory->variable && (memory->integer < 0 || (uint64_t)memory->integer >= end);
}

static bool rewrite_program(Rewrite *rewrite, const PtxProgram *program, const ArrayUse *use,
                            const SharedLayout *layout, Error *error) {
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        if (!is_plain(in) || names_other(in, use->array) || is_outside(in, use->array)) continue;
        if (!rewrite_access(rewrite, in, use, layout, error)) return false;
    }
    return true;
}

/* Where the array's own declaration begins and ends, without the ';', from ".shared" on. */
static bool find_declaration(const Rewrite *rewrite, const PtxVariable *array, size_t *begin, size_t *end) {
    const char *text = rewrite->module->text;
    size_t length = strlen(array->name);
    bool has_line = array->line > 0 && array->line <= rewrite->line_count;
    const char *from = text + (has_line ? rewrite->lines[array->line] : 0), *at = from;
    while ((at = strstr(at, array->name)) &&
           (at == text || !strchr(" \t", at[-1]) || !strchr(" \t[;", at[length])))
        at += length;
    const char *stop = at ? strchr(at, ';') : NULL, *start = NULL;
    for (const char *next = from; stop && (next = strstr(next, ".shared")) && next < at; next++) start = next;
    if (!start) return false;
    *begin = (size_t)(start - text);
    *end = (size_t)(stop - text);
    return true;
}

/* Declares as many bytes as the layout takes. */
static bool enlarge(Rewrite *rewrite, const ArrayUse *use, const SharedLayout *layout, Error *error) {
    const PtxVariable *array = use->array;
    size_t begin, end;
    if (!array->bytes) return true;
    if (!find_declaration(rewrite, array, &begin, &end))
        return error_set(error, "line %d of the PTX: the declaration was not found", array->line);
    int alignment = array->alignment > (int)use->width ? array->alignment : (int)use->width;
    rewrite_replace(rewrite, begin, end,
                    arena_print(&rewrite->arena, ".shared .align %d .b8 %s[%llu]", alignment, array->name,
                                (unsigned long long)layout_bytes(layout, array->bytes)));
    return true;
}

bool rewrite_layout(const Trace *trace, const Finding *finding, const SharedLayout *layout, Text *out,
                    uint32_t *more_shared, Error *error) {
    ArrayUse use;
    *more_shared = 0;
    if (!check_uses(trace, finding, &use, error)) return false;
    const PtxModule *module = trace->launches[finding->launch]->program->module;
    Rewrite rewrite;
    rewrite_begin(&rewrite, module);
    bool good = enlarge(&rewrite, &use, layout, error);
    for (int i = 0; good && i < trace->launch_count; i++) {
        const TraceLaunch *launch = trace->launches[i];
        if (launch->program->module != module ||
            (use.array->function && !calls(launch->program, use.array->function)))
            continue;
        good = rewrite_program(&rewrite, launch->program, &use, layout, error);
        uint64_t now = launch->dynamic_shared_bytes, more = layout_bytes(layout, now) - now;
        if (!use.array->bytes && more > *more_shared) *more_shared = (uint32_t)more;
    }
    rewrite_end(&rewrite, good ? out : NULL);
    return good;
}
