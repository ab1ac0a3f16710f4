/* Small kernels for tests of the emulator's core (core.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include <inttypes.h>
#include <stdlib.h>

static const char header[] = ".version 8.0\n.target sm_90\n.address_size 64\n";
static const char prologue[] =
    ".visible .entry kernel(.param .u64 kernel_out)\n{\n"
    ".reg .pred %p<16>;\n.reg .b16 %h<16>;\n.reg .b32 %r<64>;\n.reg .f32 %f<16>;\n"
    ".reg .b64 %q<32>;\n.reg .f64 %d<16>;\n.reg .b32 %t, %i, %w, %n;\n.reg .b64 %out, %base;\n"
    "ld.param.u64 %base, [kernel_out];\n"
    "mov.u32 %t, %tid.y;\nmov.u32 %n, %ntid.x;\nmov.u32 %i, %tid.x;\nmad.lo.u32 %t, %t, %n, %i;\n"
    "shr.u32 %w, %t, 5;\n"
    "mov.u32 %i, %ntid.y;\nmul.lo.u32 %n, %n, %i;\nmov.u32 %i, %ctaid.x;\n"
    "mad.lo.u32 %i, %i, %n, %t;\nmad.wide.u32 %out, %i, 4, %base;\n";

static void write_module(const CoreKernel *kernel, Text *out) {
    bool whole = !kernel->body;
    if (!whole || !strstr(kernel->module, ".version")) text_add(out, header);
    if (kernel->module) text_add(out, kernel->module);
    if (whole) return;
    text_add(out, "\n");
    text_add(out, prologue);
    text_add(out, kernel->body);
    text_add(out, "\nret;\n}\n");
}

static void parse(const CoreKernel *kernel, CoreRun *run) {
    Text text = {0};
    write_module(kernel, &text);
    run->module = ptx_module_parse(text_string(&text), text.length, "core.ptx", &run->error);
    PtxFunction *entry = run->module ? ptx_module_find_entry(run->module, "kernel", &run->error) : NULL;
    run->program = entry ? ptx_program_link(run->module, entry, &run->error) : NULL;
    if (!run->program) {
        error_print(&run->error, stderr);
        fail_msg("the kernel does not parse: %s\n%s", run->error.message, text_string(&text));
    }
    text_done(&text);
}

static uint32_t or_one(uint32_t value) {
    return value ? value : 1;
}

CoreRun core_run(CoreKernel kernel) {
    CoreRun run = {0};
    parse(&kernel, &run);
    Launch launch = {.program = run.program,
                     .grid = {or_one(kernel.grid), or_one(kernel.grid_y), 1},
                     .block = {kernel.block ? kernel.block : 32, or_one(kernel.block_y), 1},
                     .cluster = {kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]},
                     .dynamic_shared_bytes = kernel.shared_bytes,
                     .cooperative = kernel.cooperative};
    uint64_t threads = (uint64_t)launch.grid[0] * launch.grid[1] * launch.block[0] * launch.block[1];
    run.words = kernel.words ? kernel.words : threads;
    run.out = memory_new(run.words * sizeof *run.out);
    if (kernel.in) memcpy(run.out, kernel.in, run.words * sizeof *run.out);
    EmulatorOptions options = kernel.options;
    if (!options.threads) options.threads = 1;
    options.trace_first = kernel.untraced ? 1 : 0;
    options.trace_last = kernel.untraced ? 0 : UINT32_MAX;
    run.emulator = emulator_new(&options);
    int buffer = emulator_add_buffer(run.emulator, "out", run.out, run.words * sizeof *run.out, PTX_U32);
    uint64_t address = emulator_buffer_address(run.emulator, buffer);
    launch.parameters = (uint8_t *)&address;
    launch.parameter_bytes = sizeof address;
    run.trace = trace_new("emulator");
    run.done = emulator_run(run.emulator, &launch, run.trace, &run.error);
    run.launch = run.trace->launch_count ? run.trace->launches[0] : NULL;
    return run;
}

void core_done(CoreRun *run) {
    trace_free(run->trace);
    emulator_free(run->emulator);
    ptx_program_free(run->program);
    ptx_module_free(run->module);
    free(run->out);
    *run = (CoreRun){0};
}

CoreRun core_run_well(CoreKernel kernel) {
    CoreRun run = core_run(kernel);
    if (!run.done) fail_msg("error: %s", run.error.message);
    if (run.trace->trap_count)
        fail_msg("trap: %s: %s", trap_kind_text(run.trace->traps[0].kind), run.trace->traps[0].detail);
    return run;
}

Trap core_run_trap(CoreKernel kernel, TrapKind kind, const char *part) {
    CoreRun run = core_run(kernel);
    if (!run.done) fail_msg("error: %s", run.error.message);
    if (run.trace->trap_count != 1)
        fail_msg("%d traps, expected one: %s", run.trace->trap_count, trap_kind_text(kind));
    Trap trap = run.trace->traps[0];
    if (trap.kind != kind)
        fail_msg("trap %s, expected %s: %s", trap_kind_text(trap.kind), trap_kind_text(kind), trap.detail);
    if (!strstr(trap.detail, part)) fail_msg("'%s' is not in '%s'", part, trap.detail);
    trap.detail = NULL;
    core_done(&run);
    return trap;
}

void core_check(const CoreRun *run, const uint32_t *expected, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        if (run->out[i] != expected[i])
            fail_msg("word %" PRIu64 " is %" PRIu32 " (0x%" PRIx32 "), expected %" PRIu32 " (0x%" PRIx32 ")",
                     i, run->out[i], run->out[i], expected[i], expected[i]);
}

void core_expect(CoreKernel kernel, const uint32_t *expected, uint64_t count) {
    CoreRun run = core_run_well(kernel);
    core_check(&run, expected, count);
    core_done(&run);
}

int core_pc(const CoreRun *run, const char *text, int index) {
    for (int pc = 0; pc < run->program->code_count; pc++) {
        Text printed = {0};
        ptx_instruction_print(run->program->code[pc].instruction, &printed);
        const char *at = text_string(&printed);
        if (*at == '@') at = strchr(at, ' ') + 1;
        bool same = !strncmp(at, text, strlen(text)) && !index--;
        text_done(&printed);
        if (same) return pc;
    }
    fail_msg("there is no such instruction: %s", text);
    return PTX_NO_PC;
}

const TraceCounter *core_counter(const CoreRun *run, const char *text, int index) {
    return &run->launch->counters[core_pc(run, text, index)];
}

static const TraceBlock *block_of(const CoreRun *run, uint32_t block) {
    const TraceBlock *found = trace_launch_find_block(run->launch, block);
    if (!found) fail_msg("block %" PRIu32 " is not traced", block);
    return found;
}

int core_event_count(const CoreRun *run, uint32_t block) {
    return trace_block_event_count(block_of(run, block));
}

void core_event(const CoreRun *run, uint32_t block, int event, TraceEvent *out) {
    trace_block_read(block_of(run, block), event, out);
}

int core_masks(const CoreRun *run, uint32_t block, int pc, uint32_t *masks, int most) {
    int found = 0;
    for (int i = 0; i < core_event_count(run, block); i++) {
        TraceEvent event;
        core_event(run, block, i, &event);
        if (event.pc != pc) continue;
        if (found < most) masks[found] = event.mask;
        found++;
    }
    return found;
}

static void print_counter(int pc, const TraceCounter *counter, Text *out) {
    text_print(out, "%d:", pc);
    const uint64_t values[] = {counter->executions,       counter->lanes,           counter->requests,
                               counter->shared_requests,  counter->global_requests, counter->wavefronts,
                               counter->ideal_wavefronts, counter->sectors,         counter->ideal_sectors,
                               counter->divergent};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) text_print(out, " %" PRIu64, values[i]);
    text_add(out, "\n");
}

void core_print(const CoreRun *run, Text *out) {
    for (int b = 0; b < run->launch->block_count; b++) {
        const TraceBlock *block = run->launch->blocks[b];
        text_print(out, "block %" PRIu32 "\n", trace_block_linear(block));
        for (int i = 0; i < trace_block_event_count(block); i++) {
            TraceEvent event;
            trace_block_read(block, i, &event);
            trace_event_print(run->trace, run->launch, block, &event, out);
            text_add(out, "\n");
        }
    }
    for (int pc = 0; pc < run->program->code_count; pc++) print_counter(pc, &run->launch->counters[pc], out);
    for (int i = 0; i < run->trace->trap_count; i++) {
        const Trap *trap = &run->trace->traps[i];
        text_print(out, "%s pc %d block %" PRIu32 " warp %d lanes %" PRIx32 ": %s\n",
                   trap_kind_text(trap->kind), trap->pc, trap->block[0], trap->warp, trap->lanes,
                   trap->detail);
    }
    text_print(out, "%s\n", text_string(&run->trace->printed));
    for (uint64_t i = 0; i < run->words; i++) text_print(out, "%" PRIu32 " ", run->out[i]);
}

char *core_text_of(CoreKernel kernel, uint64_t *repeated) {
    CoreRun run = core_run(kernel);
    if (!run.done || !run.launch) fail_msg("error: %s", run.error.message);
    Text text = {0};
    core_print(&run, &text);
    if (repeated) *repeated = emulator_repeated_blocks(run.emulator);
    core_done(&run);
    return text.data;
}

void core_add_instruction(const CoreRun *run, int pc, Text *out) {
    Text printed = {0};
    ptx_instruction_print(run->program->code[pc].instruction, &printed);
    text_add_bytes(out, text_string(&printed), strcspn(text_string(&printed), ";\n"));
    text_done(&printed);
}

void core_add_name(const CoreRun *run, int pc, Text *out) {
    Text printed = {0};
    if (pc == PTX_NO_PC)
        text_add(&printed, "-");
    else
        core_add_instruction(run, pc, &printed);
    const char *from = text_string(&printed);
    if (*from == '@') from = strchr(from, ' ') + 1;
    text_add_bytes(out, from, strcspn(from, " "));
    text_done(&printed);
}
