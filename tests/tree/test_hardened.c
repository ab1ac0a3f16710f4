/* The program as built by default: stack protectors, checked calls of the C library, read-only
 * relocations. */
#include "tests/cli/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"

#include <string.h>

/* The sanitizers replace all of these. */
static void need_hardening(void) {
    Outcome tool = program_shell("command -v readelf && ! readelf -sW @ | grep -q __asan_init");
    int status = tool.status;
    program_outcome_done(&tool);
    if (status) skip_because("readelf was not found, or the sanitizers replace what hardens");
}

static void relocations_are_read_only(void **state) {
    (void)state;
    need_hardening();
    Outcome headers = program_shell("readelf -hldW @");
    program_assert_contains(headers.out, "GNU_RELRO");
    program_assert_contains(headers.out, "BIND_NOW");
    program_assert_contains(headers.out, "DYN (");
    if (strstr(headers.out, "GNU_STACK ") && strstr(headers.out, " RWE "))
        fail_msg("the stack is executable");
    program_outcome_done(&headers);
}

static void calls_and_stacks_are_checked(void **state) {
    (void)state;
    need_hardening();
    Outcome symbols = program_shell("readelf -sW @");
    program_assert_contains(symbols.out, "__stack_chk_fail");
    program_assert_contains(symbols.out, "__snprintf_chk");
    program_outcome_done(&symbols);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relocations_are_read_only),
        cmocka_unit_test(calls_and_stacks_are_checked),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
