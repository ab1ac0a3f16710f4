/* Help for tests of the PTX front end: a module from a few lines of text. */
#ifndef TESTS_PTX_TEST_H
#define TESTS_PTX_TEST_H

#include "ptx/program.h"

/* Parses the module and all bodies; fails the test with the parser's message where that does not work. */
PtxModule *parse_module(const char *text);

/* `body` inside of an entry `k` with registers of all kinds (%p %h %r %rd %f %fd, 10 of each), a shared array `tile` of 64
 * words, a global `table` of 8 doublewords, `pair` (.v2 .f32 register) and parameters `n` (.u32) and `in` (.u64). */
PtxModule *parse_body(const char *body);
extern const char *const body_prologue; /* what parse_body() puts before `body`; its last line is body_line - 1 */
extern const int body_line;

/* The instructions of entry k, in order. */
const PtxInstruction *instruction_of(const PtxModule *module, int index);

#endif
