/* Helpers for tests of the PTX front end: modules from a few lines of text. All of them fail the test with
 * the parser's own message if the text is not accepted. */
#ifndef TESTS_PTX_TEST_H
#define TESTS_PTX_TEST_H

#include "ptx/program.h"

/* Parses the module and all bodies. */
PtxModule *parse_module(const char *text);

/* `body` inside an entry `k` with registers of all kinds (%p %h %r %rd %f %fd, 10 of each), a shared array
 * `tile` of 64 words, a global `table` of 8 doublewords, `pair` (.v2 .f32 register), parameters `n` (.u32)
 * and `in` (.u64), and a function `callee` with one .b32 parameter and result. */
PtxModule *parse_body(const char *body);
/* What parse_body() puts before `body`; its last line is body_line - 1. */
extern const char *const body_prologue;
extern const int body_line;

/* The instructions of entry k, in order. */
const PtxInstruction *instruction_of(const PtxModule *module, int index);

/* print(module) parses to the same IR, and prints as the same text again. */
void check_prints_back(PtxModule *module);

/* The printer's output for `text`; the caller frees it. */
char *printed(const char *text);

PtxProgram *link_entry(PtxModule *module, const char *entry);

/* How to run ptxas; NULL: there is none. */
const char *find_ptxas(void);

/* The error of parsing `text` and all bodies or, if that works, of linking the only entry; fails the test if
 * there is no error. */
void error_of(const char *text, Error *error);

#endif
