/* An entry with clocks (clocks.h):
 *
 *     %redviz_at = &redviz_clocks[warp][0], %redviz_end = &redviz_clocks[warp][CLOCKS_SAMPLES - 1]
 *     %redviz_on = block 0 and first lane of its warp
 *
 * A clock: where it is on and there is room, the place moves on by one. That of an exit has its highest bit
 * set. */
#include "instrument/clocks.h"

#include "trace/trace.h"

#include <inttypes.h>
#include <string.h>

static const uint64_t IS_EXIT = UINT64_C(1) << 63;

/* ---- the text --------------------------------------------------------------------------------------------
 */

static void put_prologue(Text *out) {
    text_add(out, "\t.reg .b64 %redviz_at, %redviz_end, %redviz_t;\n"
                  "\t.reg .b32 %redviz_n, %redviz_m;\n\t.reg .pred %redviz_on, %redviz_go, %redviz_not;\n"
                  "\tmov.u32 %redviz_n, %tid.z;\n\tmov.u32 %redviz_m, %ntid.y;\n"
                  "\tmul.lo.u32 %redviz_n, %redviz_n, %redviz_m;\n\tmov.u32 %redviz_m, %tid.y;\n"
                  "\tadd.u32 %redviz_n, %redviz_n, %redviz_m;\n\tmov.u32 %redviz_m, %ntid.x;\n"
                  "\tmul.lo.u32 %redviz_n, %redviz_n, %redviz_m;\n\tmov.u32 %redviz_m, %tid.x;\n"
                  "\tadd.u32 %redviz_n, %redviz_n, %redviz_m;\n"
                  "\tand.b32 %redviz_m, %redviz_n, 31;\n\tsetp.eq.u32 %redviz_on, %redviz_m, 0;\n");
    for (int i = 0; i < 3; i++)
        text_print(out,
                   "\tmov.u32 %%redviz_m, %%ctaid.%c;\n"
                   "\tsetp.eq.and.u32 %%redviz_on, %%redviz_m, 0, %%redviz_on;\n",
                   "xyz"[i]);
    text_print(out,
               "\tshr.u32 %%redviz_n, %%redviz_n, 5;\n\tmul.wide.u32 %%redviz_end, %%redviz_n, %d;\n"
               "\tmov.u64 %%redviz_at, " CLOCKS_VARIABLE ";\n"
               "\tadd.u64 %%redviz_at, %%redviz_at, %%redviz_end;\n"
               "\tadd.u64 %%redviz_end, %%redviz_at, %d;\n",
               CLOCKS_SAMPLES * 8, (CLOCKS_SAMPLES - 1) * 8);
}

static void put_guard(const PtxInstruction *in, Text *out) {
    if (in->guard.kind != PTX_OPERAND_REGISTER) return;
    if (in->guard.negated)
        text_print(out, "\tnot.pred %%redviz_not, %s;\n\tand.pred %%redviz_go, %%redviz_go, %%redviz_not;\n",
                   in->guard.reg->name);
    else
        text_print(out, "\tand.pred %%redviz_go, %%redviz_go, %s;\n", in->guard.reg->name);
}

static void put_clock(const PtxInstruction *in, bool is_exit, Text *out) {
    text_add(out, "\tmov.u64 %redviz_t, %clock64;\n");
    if (is_exit)
        text_add(out, "\tor.b64 %redviz_t, %redviz_t, 0x8000000000000000;\n"
                      "\tsetp.le.and.u64 %redviz_go, %redviz_at, %redviz_end, %redviz_on;\n");
    else
        text_add(out, "\tsetp.lt.and.u64 %redviz_go, %redviz_at, %redviz_end, %redviz_on;\n");
    if (in) put_guard(in, out);
    text_add(out, "\t@%redviz_go st.global.u64 [%redviz_at], %redviz_t;\n"
                  "\t@%redviz_go add.u64 %redviz_at, %redviz_at, 8;\n");
}

static bool begins(const PtxStatement *statement) {
    return statement->kind == PTX_STATEMENT_INSTRUCTION || statement->kind == PTX_STATEMENT_LABEL ||
           statement->kind == PTX_STATEMENT_OPEN;
}

static void print_entry(const PtxItem *item, Text *out) {
    const PtxFunction *function = item->function;
    bool begun = false;
    text_print(out, "\n%s\n{\n", item->text);
    for (int i = 0; i < function->statement_count; i++) {
        const PtxStatement *statement = &function->statements[i];
        const PtxInstruction *in =
            statement->kind == PTX_STATEMENT_INSTRUCTION ? statement->instruction : NULL;
        if (statement->kind == PTX_STATEMENT_LOC) continue;
        if (!begun && begins(statement)) {
            put_prologue(out);
            put_clock(NULL, false, out);
            begun = true;
        }
        if (in && (in->opcode == PTX_ret || in->opcode == PTX_exit)) put_clock(in, true, out);
        ptx_statement_print(function, statement, out);
        if (in && trace_kind_of(in) == TRACE_BARRIER) put_clock(in, false, out);
    }
    text_add(out, "}\n");
}

static bool check_called(const PtxFunction *function, Error *error) {
    for (int i = 0; i < function->statement_count; i++)
        if (function->statements[i].kind == PTX_STATEMENT_INSTRUCTION &&
            trace_kind_of(function->statements[i].instruction) == TRACE_BARRIER)
            return error_set(error, "the called function %s has a barrier, so intervals cannot be timed",
                             function->name);
    return true;
}

static bool is_wanted(const PtxProgram *const *programs, int count, const PtxFunction *function) {
    for (int i = 0; i < count; i++)
        if (ptx_program_function(programs[i], function) >= 0) return true;
    return false;
}

static bool is_directive(const PtxItem *item, const char *name) {
    return item->kind == PTX_ITEM_DIRECTIVE && !strncmp(item->text, name, strlen(name));
}

bool instrument_clocks(const PtxProgram *const *programs, int count, Text *out, Error *error) {
    const PtxModule *module = programs[0]->module;
    for (int i = 0; i < module->item_count; i++) {
        const PtxItem *item = &module->items[i];
        bool is_function = item->kind == PTX_ITEM_FUNCTION && item->function->has_body;
        if (is_function && !is_wanted(programs, count, item->function)) continue;
        if (is_directive(item, ".file") || is_directive(item, ".section")) continue;
        if (is_function && item->is_definition && !item->function->is_entry &&
            !check_called(item->function, error))
            return false;
        if (is_function && item->is_definition && item->function->is_entry)
            print_entry(item, out);
        else
            ptx_item_print(item, out);
        if (is_directive(item, ".address_size"))
            text_print(out, ".global .align 8 .b8 " CLOCKS_VARIABLE "[%d];\n", CLOCKS_BYTES);
    }
    return true;
}

/* ---- what came of it -------------------------------------------------------------------------------------
 */

int instrument_clock_intervals(const uint64_t *samples, double cycles[CLOCKS_SAMPLES]) {
    uint64_t before = 0; /* when the block entered the interval */
    int count = 0;
    for (int w = 0; w < CLOCKS_WARPS; w++) {
        uint64_t begin = samples[(size_t)w * CLOCKS_SAMPLES];
        if (begin && (!before || begin < before)) before = begin;
    }
    for (; count + 1 < CLOCKS_SAMPLES; count++) {
        uint64_t end = 0;
        for (int w = 0; w < CLOCKS_WARPS; w++) {
            const uint64_t *own = &samples[(size_t)w * CLOCKS_SAMPLES];
            if (own[count] & IS_EXIT) continue; /* it is over, and what is behind it is 0 */
            uint64_t at = own[count + 1] & ~IS_EXIT;
            if (at > end) end = at;
        }
        if (!end) break;
        cycles[count] = (double)(end - before);
        before = end;
    }
    return count;
}
