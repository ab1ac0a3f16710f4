/* The places of machine addresses: symbols, buffers and offsets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "instrument/locate.h"
#include <stdlib.h>
#include <string.h>

enum { SHARED_WINDOW = 0x1000000, LOCAL_WINDOW = 0x5000000, SYMBOLS = 8 };

typedef struct Machine {
    PtxModule *module;
    PtxProgram *program, *other; /* for the launched entry; for the module's other entry */
    Trace *trace;
    TraceLaunch *launch;
    Locator locator;
} Machine;

typedef struct Placed { /* a variable and its address on the machine */
    const char *name;
    uint64_t address;
    bool is_generic;
} Placed;

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".shared .align 16 .b8 empty[0];\n.shared .align 16 .b8 after[16];\n.shared .align 16 .b8 before[16];\n"
    ".const .align 4 .b8 table[64];\n.const .align 4 .b8 unbound[64];\n"
    ".visible .entry other() {\n.reg .b64 %rd<2>;\n.local .align 4 .b8 foreign[4];\nmov.u64 %rd1, "
    "foreign;\nret;\n}\n"
    ".visible .entry kernel(.param .u64 out)\n{\n.reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
    ".local .align 4 .b8 small[5];\n.local .align 64 .b8 large[64];\n"
    "mov.u32 %r0, SPECIAL;\nmov.u64 %rd0, small;\nmov.u64 %rd1, large;\nret;\n}\n";

static const PtxVariable *find(const PtxModule *module, const char *name) {
    for (int i = 0; i < module->variable_count; i++)
        if (!strcmp(module->variables[i]->name, name)) return module->variables[i];
    for (int f = 0; f < module->function_count; f++)
        for (int s = 0; s < module->functions[f]->statement_count; s++) {
            const PtxVariable *variable = module->functions[f]->statements[s].variable;
            if (variable && !strcmp(variable->name, name)) return variable;
        }
    fail_msg("there is no %s", name);
    return NULL;
}

static Machine place(const char *special, const InstrumentMemory *memory, const Placed *placed, int count) {
    Machine machine = {.trace = trace_new("gpu")};
    Error error = {0};
    Text whole = {0};
    const char *at = strstr(text, "SPECIAL");
    text_add_bytes(&whole, text, (size_t)(at - text));
    text_add(&whole, special);
    text_add(&whole, at + strlen("SPECIAL"));
    machine.module = ptx_module_parse(text_string(&whole), whole.length, "locate.ptx", &error);
    PtxFunction *entry = machine.module ? ptx_module_find_entry(machine.module, "kernel", &error) : NULL;
    machine.program = entry ? ptx_program_link(machine.module, entry, &error) : NULL;
    PtxFunction *other = machine.module ? ptx_module_find_entry(machine.module, "other", &error) : NULL;
    machine.other = other ? ptx_program_link(machine.module, other, &error) : NULL;
    if (!machine.program || !machine.other) fail_msg("%d: %s", error.line, error.message);
    text_done(&whole);
    machine.launch = trace_add_launch(machine.trace, &(Launch){.program = machine.program});
    InstrumentSymbol symbols[SYMBOLS];
    uint8_t region[REGION_SYMBOLS + 8 * SYMBOLS] = {0};
    uint64_t windows[] = {SHARED_WINDOW, LOCAL_WINDOW};
    memcpy(region + REGION_SHARED_WINDOW, windows, sizeof windows);
    for (int i = 0; i < count; i++) {
        symbols[i] = (InstrumentSymbol){.variable = find(machine.module, placed[i].name),
                                        .is_generic = placed[i].is_generic};
        uint64_t kept = placed[i].address + 1;
        memcpy(region + REGION_SYMBOLS + 8 * i, &kept, sizeof kept);
    }
    InstrumentSites sites = {.module = machine.module, .symbols = symbols, .symbol_count = count};
    locator_init(&machine.locator, &sites, memory, machine.launch, 0, region);
    locator_name_symbols(&machine.locator, &machine.trace->arena, machine.launch);
    return machine;
}

static void machine_done(Machine *machine) {
    locator_done(&machine->locator);
    trace_free(machine->trace);
    ptx_program_free(machine->program);
    ptx_program_free(machine->other);
    ptx_module_free(machine->module);
}

/* An address of `space` is at `offset` of a buffer (global) or of a symbol of that name. */
static void expect(const Machine *machine, PtxSpace space, uint64_t address, const char *symbol, int buffer,
                   uint64_t offset) {
    Location found;
    assert_true(locate(&machine->locator, space, address, &found));
    if (symbol) {
        assert_int_not_equal(found.space, PTX_SPACE_GLOBAL);
        assert_true(found.buffer < machine->launch->symbol_count);
        assert_string_equal(machine->launch->symbols[found.buffer].name, symbol);
        assert_int_equal(machine->launch->symbols[found.buffer].space, found.space);
    } else {
        assert_int_equal(found.space, PTX_SPACE_GLOBAL);
        assert_int_equal(found.buffer, buffer);
    }
    assert_int_equal(found.offset, offset);
}

static const InstrumentMemory nothing = {.other = -1};

/* In a cluster, addresses contain the block's rank above the offset, including those of the own block. */
static void test_other_blocks(void **state) {
    (void)state;
    static const Placed placed[] = {{"before", 0x2000400, 0}, {"after", 0x2000410, 0}};
    static const struct {
        PtxSpace space;
        uint64_t address;
        uint64_t offset;
        int peer;
    } rows[] = {{PTX_SPACE_SHARED, 0x2000404, 4, -1},
                {PTX_SPACE_SHARED_CLUSTER, 0x2000404, 4, -1},
                {PTX_SPACE_SHARED_CLUSTER, 0x404, 4, 0},
                {PTX_SPACE_SHARED_CLUSTER, 0x3000408, 8, 3},
                {PTX_SPACE_GENERIC, SHARED_WINDOW + 0x1000404, 4, 1},
                {PTX_SPACE_GENERIC, SHARED_WINDOW + 0x2000404, 4, -1}};
    Machine machine = place("%tid.x", &nothing, placed, 2);
    assert_int_equal(machine.launch->symbols[0].window_offset, 0x400);
    machine.locator.has_peers = true;
    machine.locator.rank = 2;
    machine.locator.cluster_blocks = 4;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Location at;
        assert_true(locate(&machine.locator, rows[i].space, rows[i].address, &at));
        assert_int_equal(at.space, PTX_SPACE_SHARED);
        assert_string_equal(machine.launch->symbols[at.buffer].name, "before");
        assert_int_equal(at.offset, rows[i].offset);
        assert_int_equal(at.peer, rows[i].peer);
    }
    machine.locator.has_peers = false; /* no instruction names other blocks; its own addresses have a rank */
    Location own;
    assert_true(locate(&machine.locator, PTX_SPACE_SHARED, 0x2000404, &own));
    assert_string_equal(machine.launch->symbols[own.buffer].name, "before");
    assert_true(own.offset == 4 && own.peer == -1);
    assert_true(locate(&machine.locator, PTX_SPACE_GENERIC, SHARED_WINDOW + 0x2000404, &own));
    assert_true(own.space == PTX_SPACE_SHARED && own.offset == 4 && own.peer == -1);
    machine_done(&machine);
}

static void test_shared_variables(void **state) {
    (void)state;
    static const Placed placed[] = {{"after", 0x410, 0}, {"empty", 0x410, 0}, {"before", 0x400, 0}};
    Machine machine = place("%tid.x", &nothing, placed, 3);
    assert_int_equal(machine.launch->symbol_count, 4);
    assert_int_equal(machine.launch->symbols[0].window_offset, 0x400);
    assert_int_equal(machine.launch->symbols[0].bytes, 16);
    expect(&machine, PTX_SPACE_SHARED, 0x400, "before", 0, 0);
    expect(&machine, PTX_SPACE_SHARED, 0x40f, "before", 0, 15);
    expect(&machine, PTX_SPACE_SHARED, 0x410, "after", 0, 0); /* the empty one begins there, too */
    expect(&machine, PTX_SPACE_SHARED_CLUSTER, 0x41c, "after", 0, 12);
    expect(&machine, PTX_SPACE_SHARED, 0x430, "after", 0, 0x20); /* after all of them */
    expect(&machine, PTX_SPACE_GENERIC, SHARED_WINDOW + 0x404, "before", 0, 4);
    machine_done(&machine);
}

/* A region of a block that did not record a variable's address has 0 there. */
static void test_variables_that_are_not_recorded(void **state) {
    (void)state;
    static const Placed placed[] = {{"before", UINT64_MAX, 0}, {"after", 0x440, 0}};
    Machine machine = place("%tid.x", &nothing, placed, 2);
    assert_int_equal(machine.launch->symbol_count, 2);
    expect(&machine, PTX_SPACE_SHARED, 0x444, "after", 0, 4);
    machine_done(&machine);
    machine = place("%tid.x", &nothing, placed, 0); /* shared memory without a name, from its begin */
    assert_int_equal(machine.launch->symbol_count, 2);
    expect(&machine, PTX_SPACE_SHARED, 0x444, "shared", 0, 0x444);
    expect(&machine, PTX_SPACE_LOCAL, 0x20, "local", 0, 0x20);
    machine_done(&machine);
}

static void test_reserved_memory(void **state) {
    (void)state;
    static const Placed placed[] = {{"after", 0x400, 0}};
    Machine machine = place("%reserved_smem_offset_begin", &nothing, placed, 1);
    assert_int_equal(machine.launch->symbol_count, 3);
    expect(&machine, PTX_SPACE_SHARED, 0x3ff, "reserved", 0, 0x3ff);
    expect(&machine, PTX_SPACE_SHARED, 0x400, "after", 0, 0);
    machine_done(&machine);
    machine = place("%tid.x", &nothing, placed, 1);
    assert_int_equal(machine.launch->symbol_count, 2);
    machine_done(&machine);
}

/* A frame has the entry's variables one after another, each aligned; the machine may place them
 * differently. */
static void test_local_frames(void **state) {
    (void)state;
    static const Placed placed[] = {{"small", 0x900, 0}, {"large", 0x200, 0}, {"foreign", 0x600, 0}};
    Machine machine = place("%tid.x", &nothing, placed, 3);
    expect(&machine, PTX_SPACE_LOCAL, 0x904, "local", 0, 4);
    expect(&machine, PTX_SPACE_LOCAL, 0x200, "local", 0, 64);
    expect(&machine, PTX_SPACE_LOCAL, 0x23f, "local", 0, 127);
    expect(&machine, PTX_SPACE_LOCAL, 0x240, "local", 0, 0x240); /* in no variable of the entry */
    expect(&machine, PTX_SPACE_LOCAL, 0x905, "local", 0, 0x905);
    expect(&machine, PTX_SPACE_LOCAL, 0x600, "local", 0, 0x600);
    expect(&machine, PTX_SPACE_GENERIC, LOCAL_WINDOW + 0x201, "local", 0, 65);
    const TraceSymbol *local = &machine.launch->symbols[machine.launch->symbol_count - 1];
    assert_int_equal(local->space, PTX_SPACE_LOCAL);
    assert_int_equal(local->bytes, 128);
    machine_done(&machine);
}

static void test_global_memory(void **state) {
    (void)state;
    static const InstrumentBuffer buffers[] = {{0x7000, 256, 3, NULL, 4}, {0x7100, 64, 1, "table", 4}};
    InstrumentMemory memory = {.buffers = buffers, .count = 2, .other = -1};
    static const Placed placed[] = {
        {"table", 0x40, false}, {"table", 0x7100, true}, {"unbound", 0x80, false}};
    Machine machine = place("%tid.x", &memory, placed, 3);
    expect(&machine, PTX_SPACE_GLOBAL, 0x7000, NULL, 3, 0);
    expect(&machine, PTX_SPACE_GLOBAL, 0x70ff, NULL, 3, 255);
    expect(&machine, PTX_SPACE_GLOBAL, 0x7100, NULL, 1, 0);
    expect(&machine, PTX_SPACE_CONST, 0x40, NULL, 1, 0);
    expect(&machine, PTX_SPACE_CONST, 0x7f, NULL, 1, 63);
    expect(&machine, PTX_SPACE_GENERIC, 0x713f, NULL, 1, 63);
    Location found;
    assert_false(locate(&machine.locator, PTX_SPACE_CONST, 0x80, &found)); /* a variable without a buffer */
    assert_false(locate(&machine.locator, PTX_SPACE_GLOBAL, 0x6fff, &found));
    assert_false(locate(&machine.locator, PTX_SPACE_GLOBAL, 0x7140, &found));
    assert_false(locate(&machine.locator, PTX_SPACE_GENERIC, SHARED_WINDOW - 1, &found));
    assert_false(locate(&machine.locator, PTX_SPACE_GENERIC, SHARED_WINDOW + (1 << 24), &found));
    machine_done(&machine);
    memory.other = 7;
    machine = place("%tid.x", &memory, placed, 3);
    expect(&machine, PTX_SPACE_GLOBAL, 0x7140, NULL, 7, 0x7140);
    expect(&machine, PTX_SPACE_CONST, 0x80, NULL, 7, 0);
    machine_done(&machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_variables),
        cmocka_unit_test(test_other_blocks),
        cmocka_unit_test(test_variables_that_are_not_recorded),
        cmocka_unit_test(test_reserved_memory),
        cmocka_unit_test(test_local_frames),
        cmocka_unit_test(test_global_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
