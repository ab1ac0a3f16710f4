/* Declarations for clang-tidy: a failing assertion and skip() end their test. scripts/lint.sh includes it
 * first, since cmocka does not say so. */
#ifndef TESTS_CMOCKA_FAIL_H
#define TESTS_CMOCKA_FAIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void _fail(const char *file, int line) __attribute__((analyzer_noreturn)); /* NOLINT: cmocka.h has it, too */
void _skip(const char *file, int line) __attribute__((analyzer_noreturn)); /* NOLINT: cmocka.h has it, too */

#endif
