/* The output of --generate: a manual page without warnings, and completions that load and answer in each
 * shell. A missing shell or formatter is skipped. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/version.h"
#include "tests/cli/json_reader.h"
#include "tests/cli/program.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(const char *tool) {
    Outcome found = program_shell("command -v %s", tool);
    int status = found.status;
    program_outcome_done(&found);
    if (status != 0) skip_because("%s was not found", tool);
}

static void test_one_version(void **state) {
    (void)state;
    char *version = program_output(0, "@ --version"),
         *make = program_output(0, "env -u MAKEFLAGS make -s version"),
         *man = program_output(0, "@ --generate man"), *saved;
    program_assert_contains(version, "redviz " REDVIZ_VERSION "\n");
    assert_string_equal(make, REDVIZ_VERSION "\n");
    program_assert_contains(man, "\"redviz " REDVIZ_VERSION "\"");
    saved = program_output(0,
                           "@ --kernel interleaved --n 64 --block 64 --save %s/v.redviz --report >/dev/null; "
                           "grep -c '" REDVIZ_VERSION "' %s/v.redviz",
                           program_folder(), program_folder());
    assert_true(atoi(saved) > 0);
    free(version), free(make), free(man), free(saved);
}

/* The page contains every option and every key. */
static void test_manual_is_complete(void **state) {
    (void)state;
    char *man = program_output(0, "@ --generate man"), *help = program_output(0, "@ --help"),
         *keys = program_output(0, "@ --help-keys");
    int options = 0, actions = 0, listed = 0;
    for (const char *at = help; (at = strstr(at, "\n  --")); at += 5, options++) {
        char name[64], entry[96];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 5, " [\n"), at + 5);
        snprintf(entry, sizeof entry, "\\fB\\-\\-");
        for (const char *c = name; *c; c++)
            snprintf(entry + strlen(entry), sizeof entry - strlen(entry), *c == '-' ? "\\-" : "%c", *c);
        program_assert_contains(man, entry);
    }
    assert_true(options > 40);
    for (const char *at = keys; *at; at += strcspn(at, "\n") + 1) actions += !strncmp(at, "| `", 3);
    const char *from = strstr(man, ".SH KEYS"), *to = strstr(man, ".SH LIMITS");
    assert_true(from && to && from < to);
    for (const char *at = from; (at = strstr(at, "\n.TP\n")) && at < to; at += 4) listed++;
    assert_int_equal(listed, actions);
    free(man), free(help), free(keys);
}

static void test_manual_has_no_warning(void **state) {
    (void)state;
    need("groff");
    char *groff = program_output(
        0, "@ --generate man >%s/redviz.1 && groff -ww -man -Tutf8 %s/redviz.1 2>&1 >/dev/null",
        program_folder(), program_folder());
    assert_string_equal(groff, "");
    free(groff);
    char *man =
        program_output(0,
                       "! command -v man >/dev/null || MANWIDTH=80 man --warnings=all -l %s/redviz.1 2>&1 "
                       ">%s/page",
                       program_folder(), program_folder());
    assert_string_equal(man, "");
    free(man);
}

static void test_manual_under_mandoc(void **state) {
    (void)state;
    need("mandoc");
    char *lint = program_output(0, "@ --generate man >%s/redviz.1 && mandoc -T lint %s/redviz.1",
                                program_folder(), program_folder());
    assert_string_equal(lint, "");
    free(lint);
}

/* ---- completions --------------------------------------------------------------------------------------- */

static void test_bash(void **state) {
    (void)state;
    need("bash");
    static const struct {
        const char *words, *offered;
    } cases[] = {{"--kernel interl", "interleaved interleaved_bitmask"},
                 {"--kernel = scaled", "scaled_half"},
                 {"--report = j", "json"},
                 {"--report =", "text json"},
                 {"--backend ''", "auto emulator gpu"},
                 {"--dtype d", "double"},
                 {"--compare stri", "strided"},
                 {"--time", "--time-limit --timeline --timeline-sites"},
                 {"--source tests/cli/bro", "tests/cli/broken.ptx"},
                 {"tests/cli/sc", "tests/cli/scale.ptx"},
                 {"--n ''", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *offered = program_output(0,
                                       "@ --generate bash >%s/redviz.bash && bash --norc -c 'source "
                                       "%s/redviz.bash && complete -p redviz "
                                       ">/dev/null && COMP_WORDS=(redviz '\"%s\"') && "
                                       "COMP_CWORD=$((${#COMP_WORDS[*]} - 1)) && _redviz && "
                                       "echo \"${COMPREPLY[*]}\"'",
                                       program_folder(), program_folder(), cases[i].words);
        offered[strcspn(offered, "\n")] = 0;
        if (strcmp(offered, cases[i].offered) != 0) fail_msg("redviz %s: %s", cases[i].words, offered);
        free(offered);
    }
}

static void test_zsh(void **state) {
    (void)state;
    need("zsh");
    static const char *const cases[][2] = {{"redviz --kernel scaled_", "redviz --kernel scaled_half "},
                                           {"redviz --report=j", "redviz --report=json "},
                                           {"redviz --trace-b", "redviz --trace-blocks "},
                                           {"redviz --kernel=lab_la", "redviz --kernel=lab_latency "},
                                           {"redviz tests/cli/bro", "redviz tests/cli/broken.ptx "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *line = program_output(0,
                                    "mkdir -p %s/zsh && @ --generate zsh >%s/zsh/_redviz && "
                                    "timeout 60 zsh -f tests/cli/complete.zsh %s/zsh '%s'",
                                    program_folder(), program_folder(), program_folder(), cases[i][0]);
        char expected[128];
        snprintf(expected, sizeof expected, "<%s>\n", cases[i][1]);
        assert_string_equal(line, expected);
        free(line);
    }
}

static void test_fish(void **state) {
    (void)state;
    need("fish");
    static const char *const cases[][2] = {{"redviz --kernel interl", "interleaved,interleaved_bitmask,"},
                                           {"redviz --report=j", "--report=json,"},
                                           {"redviz --until-u", "--until-unsupported,"},
                                           {"redviz --theme=d", "--theme=dark,"},
                                           {"redviz --source tests/cli/bro", "tests/cli/broken.ptx,"},
                                           {"redviz --n ", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *offered =
            program_output(0,
                           "@ --generate fish >%s/redviz.fish && HOME=%s fish --no-config -c 'source "
                           "%s/redviz.fish; complete -C \"%s\"' | cut -f 1 | sort | tr '\\n' ,",
                           program_folder(), program_folder(), program_folder(), cases[i][0]);
        if (strcmp(offered, cases[i][1]) != 0) fail_msg("%s: %s", cases[i][0], offered);
        free(offered);
    }
}

/* Every kernel of the catalogue is offered. */
static void test_every_kernel(void **state) {
    (void)state;
    static const char *const shells[] = {"bash", "zsh", "fish"};
    char *list = program_output(0, "@ --list=json");
    for (size_t s = 0; s < 3; s++) {
        char *script = program_output(0, "@ --generate %s", shells[s]);
        for (int i = 0; i < json_array_count(list); i++) {
            char path[32], kernel[64];
            snprintf(path, sizeof path, "%d.id", i);
            sscanf(json_at(list, path), "\"%63[a-z_0-9]", kernel);
            program_assert_contains(strstr(script, "interleaved"), kernel);
        }
        free(script);
    }
    free(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_version),
        cmocka_unit_test(test_manual_is_complete),
        cmocka_unit_test(test_manual_has_no_warning),
        cmocka_unit_test(test_manual_under_mandoc),
        cmocka_unit_test(test_bash),
        cmocka_unit_test(test_zsh),
        cmocka_unit_test(test_fish),
        cmocka_unit_test(test_every_kernel),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
