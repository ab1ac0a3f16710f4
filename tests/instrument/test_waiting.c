/* Loops that may wait for other threads: their executions cannot be predicted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "instrument/instrument.h"
#include "tests/ptx/ptx_test.h"
#include <stdlib.h>

static const struct {
    const char *loop;
    bool may_wait;
} cases[] = {
    {"atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0;", true},
    {"ld.volatile.global.u32 %r1, [%rd1]; setp.ne.u32 %p1, %r1, 0;", true},
    {"ld.global.u32 %r1, [%rd1]; setp.ne.u32 %p1, %r1, 0;", false},
    /* a histogram: the atomics are its work */
    {"atom.shared.add.u32 %r1, [s], 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 9;", false},
    {"red.shared.add.u32 [s], 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 9;", false},
    {"atom.global.exch.b32 %r1, [%rd1], 1; add.u32 %r3, %r1, 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, "
     "9;",
     false},
};

static void loops_that_may_wait(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text text = {0};
        text_print(&text,
                   ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                   ".shared .u32 s;\n.reg .b32 %%r<4>; .reg .b64 %%rd<2>; .reg .pred %%p<2>;\n"
                   "ld.param.u64 %%rd1, [p]; mov.u32 %%r2, 0;\nAGAIN: %s @%%p1 bra AGAIN;\nret; }\n",
                   cases[i].loop);
        PtxModule *module = parse_module(text_string(&text));
        PtxProgram *program = link_entry(module, "k");
        bool *waits = memory_new((size_t)program->code_count * sizeof *waits), any = false;
        instrument_find_waiting(program, waits);
        for (int pc = 0; pc < program->code_count; pc++) any |= waits[pc];
        if (any != cases[i].may_wait) fail_msg("%s", cases[i].loop);
        free(waits);
        ptx_program_free(program);
        ptx_module_free(module);
        text_done(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_that_may_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
