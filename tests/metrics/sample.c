/* The sample launch of sample.h. */
#include "tests/metrics/sample.h"

#include <stdlib.h>
#include <string.h>

static const char ptx[] = ".version 7.2\n"
                          ".target sm_75\n"
                          ".address_size 64\n"
                          ".visible .entry sample(.param .u64 in)\n"
                          "{\n"
                          "\t.reg .pred %p<2>;\n"
                          "\t.reg .b32 %r<9>;\n"
                          "\t.reg .b64 %rd<3>;\n"
                          "\t.loc 1 10 0\n"
                          "\tld.shared.u32 %r1, [%rd1];\n"
                          "\tst.shared.u32 [%rd1], %r1;\n"
                          "\t.loc 1 11 0\n"
                          "\tld.global.u32 %r2, [%rd2];\n"
                          "\t.loc 1 12 0\n"
                          "\tld.u32 %r3, [%rd2];\n"
                          "\t.loc 1 13 0\n"
                          "\t@%p1 bra DONE;\n"
                          "\t.loc 1 14 0\n"
                          "\tshfl.sync.down.b32 %r4, %r3, 1, 31, -1;\n"
                          "\t.loc 1 15 0\n"
                          "\tbar.sync 0;\n"
                          "\t.loc 1 16 0\n"
                          "\tred.global.add.u32 [%rd2], %r4;\n"
                          "DONE:\n"
                          "\tret;\n"
                          "}\n"
                          ".file 1 \"sample.cu\"\n";

static TraceSymbol symbols[] = {{"sdata", PTX_SPACE_SHARED, 0, 4096},
                                {"tail", PTX_SPACE_SHARED, 4096 + 4, 4096}};

void sample_open(Sample *sample) {
    Error error = {0};
    sample->module = ptx_module_parse(ptx, sizeof ptx - 1, "sample.ptx", &error);
    PtxFunction *entry = sample->module ? ptx_module_find_entry(sample->module, "sample", &error) : NULL;
    sample->program = entry ? ptx_program_link(sample->module, entry, &error) : NULL;
    if (!sample->program || sample->program->code_count != SAMPLE_COUNT) {
        error_print(&error, stderr);
        abort();
    }
    sample->trace = trace_new("emulator");
    trace_add_buffer(sample->trace, "in", 1 << 20, PTX_U32);
    sample->launch = trace_add_launch(sample->trace, &(Launch){.program = sample->program});
    sample->launch->name = "sample";
    sample->launch->symbols = symbols;
    sample->launch->symbol_count = 2;
    for (int i = 0; i < 3; i++) sample->launch->grid[i] = sample->launch->block[i] = 1;
    sample->launch->grid[0] = 4;
    sample->launch->block[0] = 64;
    sample->launch->static_shared_bytes = 8192;
}

void sample_close(Sample *sample) {
    trace_free(sample->trace);
    ptx_program_free(sample->program);
    ptx_module_free(sample->module);
}

TraceEvent sample_access(TraceKind kind, int pc, uint32_t mask, int buffer, uint64_t offset,
                         uint64_t stride) {
    TraceEvent event = {
        .kind = kind, .pc = pc, .mask = mask, .width = 4, .element_bytes = 4, .element_count = 1};
    event.is_load = kind == TRACE_SHARED_LOAD || kind == TRACE_GLOBAL_LOAD;
    for (uint64_t lane = 0; lane < WARP_LANES; lane++) {
        if (!(mask >> lane & 1)) continue;
        event.buffer[lane] = (uint16_t)buffer;
        event.offset[lane] = offset + lane * stride;
    }
    return event;
}

TraceEvent sample_branch(uint32_t mask, uint32_t taken) {
    TraceEvent event = {.kind = TRACE_BRANCH, .pc = SAMPLE_BRANCH, .mask = mask, .taken = taken};
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (mask >> lane & 1) event.value[0][lane] = taken >> lane & 1 ? SAMPLE_EXIT : SAMPLE_BRANCH + 1;
    return event;
}
