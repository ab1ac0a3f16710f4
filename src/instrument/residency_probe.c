/* The text of an entry that records its residency (residency.h):
 *
 *     %redviz_at = &records[linear index of the block]
 *
 * The probe adds only registers: shared memory and barriers do not change. */
#include "instrument/residency_probe.h"

#include "instrument/entry_probe.h"
#include "ptx/opcodes.h"

#include <string.h>

enum { RECORD_SHIFT = 5, END = 8, CLOCK = 16, END_CLOCK = 24, CLOCK_BITS = 48 };
_Static_assert(sizeof(ResidencyRecord) == 1 << RECORD_SHIFT, "");
#define PARAMETER "redviz_residency"

/* The block's record; ctaid.x + nctaid.x * (ctaid.y + nctaid.y * ctaid.z) fits 64 bits. */
static void put_address(Text *out) {
    text_add(out, "\t.reg .b64 %redviz_at, %redviz_t, %redviz_u;\n"
                  "\t.reg .b32 %redviz_n, %redviz_m;\n\t.reg .pred %redviz_go, %redviz_not;\n"
                  "\tmov.u32 %redviz_n, %ctaid.z;\n\tmov.u32 %redviz_m, %nctaid.y;\n"
                  "\tmul.wide.u32 %redviz_at, %redviz_n, %redviz_m;\n\tmov.u32 %redviz_m, %ctaid.y;\n"
                  "\tcvt.u64.u32 %redviz_t, %redviz_m;\n\tadd.u64 %redviz_at, %redviz_at, %redviz_t;\n"
                  "\tmov.u32 %redviz_m, %nctaid.x;\n\tcvt.u64.u32 %redviz_t, %redviz_m;\n"
                  "\tmul.lo.u64 %redviz_at, %redviz_at, %redviz_t;\n\tmov.u32 %redviz_m, %ctaid.x;\n"
                  "\tcvt.u64.u32 %redviz_t, %redviz_m;\n\tadd.u64 %redviz_at, %redviz_at, %redviz_t;\n");
    text_print(out, "\tshl.b64 %%redviz_at, %%redviz_at, %d;\n", RECORD_SHIFT);
    text_add(out, "\tld.param.u64 %redviz_t, [" PARAMETER "];\n"
                  "\tcvta.to.global.u64 %redviz_t, %redviz_t;\n"
                  "\tadd.u64 %redviz_at, %redviz_at, %redviz_t;\n");
}

static void put_start(Text *out) {
    text_add(out, "\tmov.u32 %redviz_n, %tid.x;\n\tmov.u32 %redviz_m, %tid.y;\n"
                  "\tor.b32 %redviz_n, %redviz_n, %redviz_m;\n\tmov.u32 %redviz_m, %tid.z;\n"
                  "\tor.b32 %redviz_n, %redviz_n, %redviz_m;\n\tsetp.eq.u32 %redviz_go, %redviz_n, 0;\n"
                  "\tmov.u32 %redviz_n, %smid;\n\tadd.u32 %redviz_n, %redviz_n, 1;\n"
                  "\tcvt.u64.u32 %redviz_u, %redviz_n;\n");
    text_print(out, "\tshl.b64 %%redviz_u, %%redviz_u, %d;\n", CLOCK_BITS);
    text_add(out, "\tmov.u64 %redviz_t, %clock64;\n");
    text_print(out, "\tand.b64 %%redviz_t, %%redviz_t, 0x%llx;\n", (1ull << CLOCK_BITS) - 1);
    text_print(out,
               "\tor.b64 %%redviz_u, %%redviz_u, %%redviz_t;\n"
               "\tmov.u64 %%redviz_t, %%globaltimer;\n"
               "\t@%%redviz_go st.global.u64 [%%redviz_at], %%redviz_t;\n"
               "\t@%%redviz_go st.global.u64 [%%redviz_at+%d], %%redviz_u;\n",
               CLOCK);
}

static void put_begin(Text *out) {
    put_address(out);
    put_start(out);
}

/* activemask counts the lanes whose guard is true. `in`: the exit; NULL: the end of the text. */
static void put_end(const PtxInstruction *in, Text *out) {
    bool has_guard = in && in->guard.kind == PTX_OPERAND_REGISTER;
    char guard[256] = "";
    if (has_guard)
        snprintf(guard, sizeof guard, "@%s%.200s ", in->guard.negated ? "!" : "", in->guard.reg->name);
    text_print(out, "\tmov.u32 %%redviz_n, 0;\n\t%sactivemask.b32 %%redviz_n;\n", guard);
    text_add(out, "\tmov.u32 %redviz_m, %lanemask_le;\n\tand.b32 %redviz_n, %redviz_n, %redviz_m;\n"
                  "\tmov.u32 %redviz_m, %lanemask_eq;\n"
                  "\tsetp.eq.u32 %redviz_go, %redviz_n, %redviz_m;\n");
    text_print(out,
               "\tmov.u64 %%redviz_u, %%clock64;\n\tmov.u64 %%redviz_t, %%globaltimer;\n"
               "\t@%%redviz_go red.global.max.u64 [%%redviz_at+%d], %%redviz_t;\n"
               "\t@%%redviz_go red.global.max.u64 [%%redviz_at+%d], %%redviz_u;\n",
               END, END_CLOCK);
}

static bool print_header(const PtxItem *item, Text *out, Error *error) {
    return entry_probe_add_parameter(item, PARAMETER, out, error);
}

static const char *why_not_called(const PtxInstruction *in) {
    return in->opcode == PTX_exit ? "exits, which the probe would not see" : NULL;
}

bool instrument_residency(const PtxProgram *const *programs, int count, Text *out, Error *error) {
    static const EntryProbe probe = {.print_header = print_header,
                                     .at_begin = put_begin,
                                     .before_exit = put_end,
                                     .why_not_called = why_not_called};
    if (programs[0]->module->address_bytes != 8)
        return error_set(error, "PTX with 32-bit addresses cannot have a probe; compile it for 64 bits");
    return entry_probe_print(&probe, programs, count, out, error);
}

/* ---- records ------------------------------------------------------------------------------------------- */

uint32_t residency_cycles(const ResidencyRecord *record) {
    return (uint32_t)((record->end_clock - record->clock) & ((UINT64_C(1) << CLOCK_BITS) - 1));
}

uint32_t residency_multiprocessor(const ResidencyRecord *record) {
    return (uint32_t)(record->clock >> CLOCK_BITS) - 1;
}
