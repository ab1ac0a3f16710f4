/* An entry with clocks (clocks.h):
 *
 *     %redviz_at = &redviz_clocks[warp][0], %redviz_end = &redviz_clocks[warp][CLOCKS_SAMPLES - 1]
 *     %redviz_on = block 0 and first lane of its warp
 *
 * A sample: if %redviz_on and there is room, %redviz_at advances by one. The sample of an exit has its
 * highest bit set. */
#include "instrument/clocks.h"

#include "instrument/entry_probe.h"
#include "trace/trace.h"

#include <stdio.h>

static const uint64_t IS_EXIT = UINT64_C(1) << 63;

/* ---- the text ------------------------------------------------------------------------------------------ */

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

/* `in`: its guard also guards the sample; NULL: no guard. */
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

static void put_begin(Text *out) {
    put_prologue(out);
    put_clock(NULL, false, out);
}

static void put_exit(const PtxInstruction *in, Text *out) {
    put_clock(in, true, out);
}

static void put_after(const PtxInstruction *in, Text *out) {
    if (trace_kind_of(in) == TRACE_BARRIER) put_clock(in, false, out);
}

static const char *why_not_called(const PtxInstruction *in) {
    return trace_kind_of(in) == TRACE_BARRIER ? "has a barrier, so intervals cannot be timed" : NULL;
}

bool instrument_clocks(const PtxProgram *const *programs, int count, Text *out, Error *error) {
    char variable[64];
    snprintf(variable, sizeof variable, ".global .align 8 .b8 " CLOCKS_VARIABLE "[%d];\n", CLOCKS_BYTES);
    EntryProbe probe = {.declarations = variable,
                        .at_begin = put_begin,
                        .before_exit = put_exit,
                        .after = put_after,
                        .why_not_called = why_not_called};
    return entry_probe_print(&probe, programs, count, out, error);
}

/* ---- results -------------------------------------------------------------------------------------- */

int instrument_clock_intervals(const uint64_t *samples, double cycles[CLOCKS_SAMPLES]) {
    uint64_t before = 0; /* start of the interval */
    int count = 0;
    for (int w = 0; w < CLOCKS_WARPS; w++) {
        uint64_t begin = samples[(size_t)w * CLOCKS_SAMPLES];
        if (begin && (!before || begin < before)) before = begin;
    }
    for (; count + 1 < CLOCKS_SAMPLES; count++) {
        uint64_t end = 0;
        for (int w = 0; w < CLOCKS_WARPS; w++) {
            const uint64_t *own = &samples[(size_t)w * CLOCKS_SAMPLES];
            if (own[count] & IS_EXIT) continue; /* the warp has exited; later samples are 0 */
            uint64_t at = own[count + 1] & ~IS_EXIT;
            if (at > end) end = at;
        }
        if (!end) break;
        cycles[count] = (double)(end - before);
        before = end;
    }
    return count;
}
