/* Events as text: one example of each kind, as --events prints it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/block.h"
#include "trace/trace.h"
#include <string.h>

enum { CODE = 4 };
static PtxInstruction instructions[CODE];
static PtxCode code[CODE];
static PtxProgram program = {.code = code, .code_count = CODE};
static Trace *trace;
static TraceLaunch *launch;
static TraceSymbol symbols[] = {{"sdata", PTX_SPACE_SHARED, 0, 1024},
                                {"totals", PTX_SPACE_SHARED, 1024, 128}};

static int open_trace(void **state) {
    (void)state;
    static const PtxType types[CODE] = {PTX_U32, PTX_F32, PTX_S32, PTX_B32};
    for (int pc = 0; pc < CODE; pc++) {
        instructions[pc].types[0] = types[pc];
        code[pc] = (PtxCode){.instruction = &instructions[pc], .line = {"sum.cu", 20 + pc}};
    }
    trace = trace_new("emulator");
    trace_add_buffer(trace, "in", 4096, PTX_S32);
    trace_add_buffer(trace, "out", 64, PTX_S32);
    launch = trace_add_launch(trace, &(Launch){.program = &program});
    launch->symbols = symbols;
    launch->symbol_count = 2;
    return 0;
}

static int close_trace(void **state) {
    (void)state;
    trace_free(trace);
    return 0;
}

static TraceEvent event_of(TraceKind kind, int pc, uint32_t mask) {
    TraceEvent event = {
        .kind = kind, .warp = 1, .turn = 17, .interval = 2, .occurrence = 3, .pc = pc, .mask = mask};
    return event;
}

static TraceEvent access_of(TraceKind kind, int pc, uint32_t mask, uint64_t offset, uint64_t stride) {
    TraceEvent event = event_of(kind, pc, mask);
    event.width = event.element_bytes = 4;
    event.element_count = 1;
    event.has_result = true;
    for (uint64_t lane = 0; lane < WARP_LANES; lane++)
        if (mask >> lane & 1) event.offset[lane] = offset + lane * stride;
    return event;
}

/* The text after the fields that every line begins with. */
static void assert_prints(const TraceEvent *event, const char *expected) {
    TraceBlock *block = trace_block_new(6);
    Text line = {0};
    trace_event_print(trace, launch, block, event, &line);
    static const char begin[] = "block 6  warp 1  turn 17  interval 2  occurrence 3  ";
    assert_memory_equal(text_string(&line), begin, sizeof begin - 1);
    assert_string_equal(text_string(&line) + sizeof begin - 1, expected);
    text_done(&line);
    trace_block_free(block);
}

static void addresses_are_shortened(void **state) {
    (void)state;
    TraceEvent event = access_of(TRACE_SHARED_LOAD, 0, 0xffffffffu, 8, 4);
    for (int lane = 0; lane < WARP_LANES; lane++) event.value[0][lane] = 7;
    assert_prints(&event, "shared_load  pc 0  line 20  mask ffffffff  at sdata+8 stride 4  value 7");
    event = access_of(TRACE_GLOBAL_STORE, 0, 1, 12, 0);
    event.buffer[0] = 1;
    event.value[0][0] = 4096;
    assert_prints(&event, "global_store  pc 0  line 20  mask 00000001  at out+12  value 4096");
    event = access_of(TRACE_SHARED_LOAD, 0, 0x15, 0,
                      4); /* every second lane: the stride is between active lanes */
    event.value[0][2] = 1, event.value[0][4] = 2;
    assert_prints(&event, "shared_load  pc 0  line 20  mask 00000015  at sdata+0 stride 8  value 0,1,2");
    event.offset[4] = 100;
    assert_prints(&event, "shared_load  pc 0  line 20  mask 00000015  at sdata+0,8,100  value 0,1,2");
    event.buffer[4] = 1;
    assert_prints(&event,
                  "shared_load  pc 0  line 20  mask 00000015  at sdata+0,sdata+8,totals+100  value 0,1,2");
    event = access_of(TRACE_GLOBAL_LOAD, 0, 3, 0, 0);
    assert_prints(&event, "global_load  pc 0  line 20  mask 00000003  at in+0  value 0");
}

static void values_take_the_type_of_the_instruction(void **state) {
    (void)state;
    TraceEvent event = access_of(TRACE_GLOBAL_LOAD, 1, 7, 0, 4);
    event.value[0][0] = 0x3f800000u, event.value[0][1] = 0xbdcccccdu, event.value[0][2] = 0x7fc00000u;
    assert_prints(&event, "global_load  pc 1  line 21  mask 00000007  at in+0 stride 4  value 1,-0.1,nan");
    event = access_of(TRACE_GLOBAL_LOAD, 2, 3, 0, 4);
    event.value[0][0] = 0xffffffffu;
    assert_prints(&event, "global_load  pc 2  line 22  mask 00000003  at in+0,4  value -1,0");
    event = access_of(TRACE_GLOBAL_LOAD, 2, 3, 0, 8);
    event.element_count = 2;
    event.width = 8;
    event.value[0][0] = 1, event.value[1][0] = 2, event.value[0][1] = 3, event.value[1][1] = 4;
    assert_prints(&event, "global_load  pc 2  line 22  mask 00000003  at in+0,8  value {1 2},{3 4}");
}

static void halves_are_decimal(void **state) {
    (void)state;
    instructions[3].types[0] = PTX_F16;
    TraceEvent event = access_of(TRACE_GLOBAL_LOAD, 3, 31, 0, 2);
    event.width = event.element_bytes = 2;
    static const uint16_t halves[] = {0x3c00, 0xc100, 0x7bff, 0x0001, 0xfc00}; /* IEEE 754 binary16 */
    for (int lane = 0; lane < 5; lane++) event.value[0][lane] = halves[lane];
    assert_prints(
        &event,
        "global_load  pc 3  line 23  mask 0000001f  at in+0 stride 2  value 1,-2.5,65504,5.9605e-08,-inf");
    instructions[3].types[0] = PTX_BF16;
    event.value[0][0] = 0x3f80, event.value[0][1] = 0x4049, event.mask = 3;
    assert_prints(&event, "global_load  pc 3  line 23  mask 00000003  at in+0,2  value 1,3.141");
    instructions[3].types[0] = PTX_B32;
}

static void halves_that_are_no_number(void **state) {
    (void)state;
    static const uint16_t halves[] = {0x7c00, 0xfc00, 0x7c01, 0xfe00, 0x0000, 0x8000};
    static const uint16_t brains[] = {0x7f80, 0xff80, 0x7f81, 0xffc0, 0x0000, 0x0080};
    instructions[3].types[0] = PTX_F16;
    TraceEvent event = access_of(TRACE_GLOBAL_LOAD, 3, 63, 0, 2);
    event.width = event.element_bytes = 2;
    for (int lane = 0; lane < 6; lane++) event.value[0][lane] = halves[lane];
    assert_prints(&event,
                  "global_load  pc 3  line 23  mask 0000003f  at in+0 stride 2  value inf,-inf,nan,nan,0,-0");
    instructions[3].types[0] = PTX_BF16;
    for (int lane = 0; lane < 6; lane++) event.value[0][lane] = brains[lane];
    assert_prints(&event, "global_load  pc 3  line 23  mask 0000003f  at in+0 stride 2  value "
                          "inf,-inf,nan,nan,0,1.175e-38");
    instructions[3].types[0] = PTX_B32;
}

static void shuffles_say_where_values_come_from(void **state) {
    (void)state;
    TraceEvent event = event_of(TRACE_SHUFFLE, 3, 0xf);
    event.element_bytes = 4, event.element_count = 1, event.has_result = true,
    event.participants = 0xffffffffu;
    for (int lane = 0; lane < 4; lane++) {
        event.operand[lane] = (uint64_t)lane;
        event.source[lane] = (int8_t)(lane + 1);
        event.value[0][lane] = 9;
    }
    assert_prints(&event, "shuffle  pc 3  line 23  mask 0000000f  members ffffffff  from lane+1  "
                          "operand 0x0,0x1,0x2,0x3  value 0x9");
    event.source[3] = 3;
    event.source[2] = -1;
    assert_prints(&event, "shuffle  pc 3  line 23  mask 0000000f  members ffffffff  from 1,2,-,3  "
                          "operand 0x0,0x1,0x2,0x3  value 0x9");
    for (int lane = 0; lane < 4; lane++) event.source[lane] = 0;
    assert_prints(&event, "shuffle  pc 3  line 23  mask 0000000f  members ffffffff  from 0  "
                          "operand 0x0,0x1,0x2,0x3  value 0x9");
}

static void branches_barriers_and_atomics(void **state) {
    (void)state;
    TraceEvent event = event_of(TRACE_BRANCH, 0, 7);
    event.taken = 5;
    event.value[0][0] = event.value[0][2] = 2, event.value[0][1] = 1;
    assert_prints(&event, "branch  pc 0  line 20  mask 00000007  taken 00000005  to 2,1,2");
    event = event_of(TRACE_BARRIER, 0, 0xffffffffu);
    assert_prints(&event, "barrier  pc 0  line 20  mask ffffffff  barrier 0");
    event = event_of(TRACE_WARP_SYNC, 0, 0xffffu);
    event.participants = 0xffffu;
    assert_prints(&event, "warp_sync  pc 0  line 20  mask 0000ffff  members 0000ffff");
    event = access_of(TRACE_GLOBAL_ATOMIC, 2, 3, 0, 0);
    event.has_result = false;
    event.operand[0] = 5, event.operand[1] = 0xfffffffeu;
    assert_prints(&event, "global_atomic  pc 2  line 22  mask 00000003  at in+0  operand 5,-2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_shortened),
        cmocka_unit_test(values_take_the_type_of_the_instruction),
        cmocka_unit_test(halves_are_decimal),
        cmocka_unit_test(halves_that_are_no_number),
        cmocka_unit_test(shuffles_say_where_values_come_from),
        cmocka_unit_test(branches_barriers_and_atomics),
    };
    return cmocka_run_group_tests_name("print", tests, open_trace, close_trace);
}
