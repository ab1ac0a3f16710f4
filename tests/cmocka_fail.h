/* For clang-tidy, which scripts/lint.sh lets include it first: cmocka does not say that a test ends where it fails. */
#ifndef TESTS_CMOCKA_FAIL_H
#define TESTS_CMOCKA_FAIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void _fail(const char *file, int line) __attribute__((analyzer_noreturn)); /* NOLINT: cmocka.h has it, too */

#endif
