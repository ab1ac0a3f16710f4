/* The whole instruction set: every instruction of the PTX ISA 9.0 parses and prints back, and executing one
 * that the emulator does not implement traps and names it. The lines are in isa.def. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emulator/emulator.h"
#include "ptx/opcodes.h"
#include "tests/ptx/ptx_test.h"
#include <stdlib.h>

static const char declarations[] =
    ".address_size 64\n"
    ".global .align 128 .b8 table[4096];\n"
    ".const .b16 constant;\n"
    ".global .texref texture;\n"
    ".global .surfref surface;\n"
    ".func (.param .b32 result) callee(.param .b32 x) { ret; }\n"
    ".entry k(.param .align 64 .b8 map[128]) {\n"
    ".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .b128 %q<4>;\n"
    ".reg .f32 %f<20>; .reg .f64 %fd<10>;\n"
    ".shared .align 128 .b8 tile[4096]; .shared .b64 bar; .local .align 8 .b8 stack[64];\n";

typedef struct Line {
    const char *opcode, *text;
    int target;
    bool is_executed;
} Line;

static const Line lines[] = {
#define EXECUTED(opcode, target, text) {#opcode, text, target, true},
#define PARSED(opcode, target, text)   {#opcode, text, target, false},
#include "tests/ptx/isa.def"
#undef EXECUTED
#undef PARSED
};
enum { LINES = sizeof lines / sizeof *lines };

static PtxModule *parse_line(int target, const char *text) {
    Text whole = {0};
    text_print(&whole, ".version 9.0\n.target sm_%d%s\n%s%s\nret;\n}\n", target, target >= 90 ? "a" : "",
               declarations, text);
    PtxModule *module = parse_module(text_string(&whole));
    text_done(&whole);
    return module;
}

static int instructions_named(const PtxModule *module, const char *name, bool is_executed) {
    const PtxFunction *function = ptx_module_find(module, "k");
    int count = 0;
    for (int i = 0; i < function->statement_count; i++) {
        const PtxInstruction *instruction = function->statements[i].instruction;
        if (!instruction || strcmp(instruction->name, name) != 0) continue;
        if ((instruction->opcode != PTX_OTHER) != is_executed)
            fail_msg("%s: its line in isa.def must be %s", name, is_executed ? "PARSED" : "EXECUTED");
        count++;
    }
    return count;
}

static void every_instruction_parses_and_prints_back(void **state) {
    (void)state;
    for (int i = 0; i < LINES; i++) {
        PtxModule *module = parse_line(lines[i].target, lines[i].text);
        if (!instructions_named(module, lines[i].opcode, lines[i].is_executed))
            fail_msg("no %s in: %s", lines[i].opcode, lines[i].text);
        check_prints_back(module);
        PtxProgram *program = link_entry(module, "k");
        assert_true(program->code_count > 1);
        ptx_program_free(program);
        ptx_module_free(module);
    }
}

static void every_row_of_the_opcodes_has_a_line(void **state) {
    (void)state;
    static const char *const opcodes[] = {
#define OPCODE(name, ...) #name,
#include "ptx/opcodes.def"
#undef OPCODE
    };
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        bool found = false;
        for (int k = 0; k < LINES; k++) found |= lines[k].is_executed && !strcmp(lines[k].opcode, opcodes[i]);
        if (!found) fail_msg("%s has no EXECUTED line in isa.def", opcodes[i]);
    }
}

/* A modifier without a row is never ignored: the emulator refuses it. So the instructions that it executes
 * have rows for all modifiers but those of pairs of blocks, cvt.pack's small types, and matrices with fewer
 * bits. */
static void modifiers_of_executed_instructions_have_rows(void **state) {
    (void)state;
    static const char *const others[] = {"swizzle_atomicity",
                                         "cvt",
                                         "mask",
                                         "s4",
                                         "cta_group::1",
                                         "m16n16",
                                         "b8x16",
                                         "m8n8k32",
                                         "m8n8k128",
                                         "m16n8k64",
                                         "b1",
                                         "u4",
                                         "sp",
                                         "kind::f8f6f4",
                                         "kind::mxf4",
                                         "block_scale",
                                         "scale_vec::2X",
                                         "e2m1",
                                         "ue8m0",
                                         "b6x16_p32",
                                         "fence",
                                         "m64n8k16",
                                         "m64n8k32",
                                         "m64n8k64"};
    for (int i = 0; i < LINES; i++) {
        PtxModule *module = parse_line(lines[i].target, lines[i].text);
        const PtxFunction *function = ptx_module_find(module, "k");
        for (int k = 0; k < function->statement_count; k++) {
            const PtxInstruction *instruction = function->statements[k].instruction;
            for (int m = 0;
                 instruction && instruction->opcode != PTX_OTHER && m < instruction->modifier_count; m++) {
                bool known = instruction->modifiers[m].kind != PTX_MOD_OTHER;
                for (size_t o = 0; o < sizeof others / sizeof *others; o++)
                    known |= !strcmp(instruction->modifiers[m].text, others[o]);
                if (!known)
                    fail_msg("%s: .%s has no row in modifiers.def", instruction->name,
                             instruction->modifiers[m].text);
            }
        }
        ptx_module_free(module);
    }
}

/* The detail of the first trap of one thread that executes `text`; NULL: no trap. The caller frees it. */
static char *trap_of(int target, const char *text) {
    Error error = {0};
    PtxModule *module = parse_line(target, text);
    PtxProgram *program = link_entry(module, "k");
    EmulatorOptions options = {.threads = 1, .trace_first = 1, .trace_last = 0, .instruction_budget = 1000};
    Emulator *emulator = emulator_new(&options);
    static uint8_t map[128];
    Launch launch = {.program = program,
                     .grid = {1, 1, 1},
                     .block = {1, 1, 1},
                     .parameters = map,
                     .parameter_bytes = sizeof map};
    Trace *trace = trace_new("emulator");
    if (!emulator_run(emulator, &launch, trace, &error)) fail_msg("%s: %s", text, error.message);
    char *detail =
        trace->trap_count ? memory_copy_text(trace->traps[0].detail ? trace->traps[0].detail : "") : NULL;
    trace_free(trace);
    emulator_free(emulator);
    ptx_program_free(program);
    ptx_module_free(module);
    return detail;
}

static void what_is_not_emulated_traps_by_name(void **state) {
    (void)state;
    for (int i = 0; i < LINES; i++) {
        if (lines[i].is_executed) continue;
        PtxModule *module = parse_line(lines[i].target, lines[i].text);
        int count = instructions_named(module, lines[i].opcode, false);
        for (int k = 0; k < count; k++) { /* each instruction of the line alone */
            Text text = {0}, expected = {0};
            ptx_instruction_print(instruction_of(module, k), &text);
            text_print(&expected, "not emulated: %s", text_string(&text));
            char *detail = trap_of(lines[i].target, text_string(&text));
            if (!detail) fail_msg("%s does not trap", text_string(&text));
            assert_string_equal(detail, text_string(&expected));
            free(detail);
            text_done(&text);
            text_done(&expected);
        }
        ptx_module_free(module);
    }
}

/* With any operands, executed instructions end, with or without a trap. Here all registers are zero or
 * undefined. */
static void executed_instructions_end(void **state) {
    (void)state;
    for (int i = 0; i < LINES; i++)
        if (lines[i].is_executed) free(trap_of(lines[i].target, lines[i].text));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_instruction_parses_and_prints_back),
                                       cmocka_unit_test(every_row_of_the_opcodes_has_a_line),
                                       cmocka_unit_test(modifiers_of_executed_instructions_have_rows),
                                       cmocka_unit_test(what_is_not_emulated_traps_by_name),
                                       cmocka_unit_test(executed_instructions_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
