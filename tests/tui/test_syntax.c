/* Colours of source lines: which bytes are keywords, intrinsics and comments; no colours if there are
 * none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/draw/theme.h"
#include "tui/panes/syntax.h"
#include <stdio.h>
#include <string.h>

/* `signs`: one for each byte, 'k', 'i', 'c', or '.' for plain text. */
static void check(Syntax *syntax, const char *line, const char *signs) {
    uint8_t roles[128];
    char found[128] = "";
    assert_int_equal(strlen(line), strlen(signs));
    syntax_line(syntax, line, roles);
    for (size_t i = 0; line[i]; i++)
        found[i] = roles[i] == ROLE_KEYWORD     ? 'k'
                   : roles[i] == ROLE_INTRINSIC ? 'i'
                   : roles[i] == ROLE_COMMENT   ? 'c'
                                                : '.';
    if (strcmp(found, signs) != 0) fail_msg("%s\n%s, not\n%s", line, found, signs);
}

static void words_have_roles(void **state) {
    (void)state;
    Syntax syntax = {0};
    check(&syntax, "for (int s = 1; s < 9; s *= 2)", "kkk..kkk......................");
    check(&syntax, "__syncthreads(); // all wait", "iiiiiiiiiiiii....ccccccccccc");
    check(&syntax, "form = integer;", "...............");
    check(&syntax, "if (threadIdx.x) x = \"if // no\";", "kk..iiiiiiiii...................");
}

static void a_comment_goes_over_lines(void **state) {
    (void)state;
    Syntax syntax = {0};
    check(&syntax, "a /* for", "..cccccc");
    check(&syntax, "int x", "ccccc");
    syntax_line(&syntax, "no line of the screen", NULL);
    check(&syntax, "end */ int", "cccccc.kkk");
    Syntax python = {.is_python = syntax_is_python("kernels/row_sum.py")};
    assert_true(python.is_python && !syntax_is_python("kernels/strided.cu"));
    check(&python, "return x  # if", "kkkkkk....cccc");
}

/* Neither in the theme without colours nor on a terminal without colours: plain text. */
static void without_colours_all_source_is_plain(void **state) {
    (void)state;
    static const Role roles[] = {ROLE_KEYWORD, ROLE_INTRINSIC, ROLE_COMMENT};
    Theme mono;
    assert_true(theme_find("mono", &mono));
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        for (int colours = 0; colours <= 256; colours += 256) {
            Look look = theme_look(colours ? mono : THEME_TERMINAL, roles[i], colours);
            assert_true(look.colour < 0 && !look.bold && !look.underline && !look.reverse);
        }
    assert_true(theme_look(THEME_TERMINAL, ROLE_KEYWORD, 256).colour >= 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_have_roles),
        cmocka_unit_test(a_comment_goes_over_lines),
        cmocka_unit_test(without_colours_all_source_is_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
