/* Files from elsewhere, and the files that a PTX file may open on this machine. */
#define _XOPEN_SOURCE 700
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kernel[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                             ".visible .entry k(.param .u64 out)\n{\n"
                             "    .reg .b32 %%r<2>; .reg .b64 %%a<2>;\n"
                             "    .loc 1 2 0\n"
                             "    ld.param.u64 %%a0, [out];\n"
                             "    st.global.u32 [%%a0], 7;\n"
                             "    ret;\n}\n"
                             ".file 1 \"%s\"\n";

static void make_folder(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", program_folder(), name);
    assert_true(mkdir(path, 0700) == 0 || access(path, F_OK) == 0);
}

/* own/foreign.ptx, whose line table names this file. */
static void write_kernel(const char *source) {
    char text[2048];
    make_folder("own");
    make_folder("elsewhere");
    program_write_file("elsewhere/secret.cu", "first\n__secret__\n");
    snprintf(text, sizeof text, kernel, source);
    program_write_file("own/foreign.ptx", text);
}

/* Its second line is in both the report and the saved file, or in neither. */
static void check(const char *options, bool is_opened, bool is_named) {
    const char *folder = program_folder();
    Outcome run = program_shell("timeout 20 @ %s/own/foreign.ptx --n 32 --grid 1 --block 32 %s --backend "
                                "emulator --report --save %s/saved.redviz "
                                "&& grep -c __secret__ %s/saved.redviz",
                                folder, options, folder, folder);
    if (is_opened != !!strstr(run.out, "__secret__")) fail_msg("%s: %s %s", options, run.out, run.err);
    if (is_named != !!strstr(run.out, "not opened: ")) fail_msg("%s: %s %s", options, run.out, run.err);
    assert_int_equal(run.status, is_opened ? 0 : 1); /* grep's */
    program_outcome_done(&run);
}

static void sources_elsewhere_are_opened_on_request_only(void **state) {
    (void)state;
    char path[512], options[512];
    const char *folder = program_folder();
    snprintf(path, sizeof path, "%s/elsewhere/secret.cu", folder);
    snprintf(options, sizeof options, "--sources %s/elsewhere", folder);
    write_kernel(path);
    check("", false, true);
    check(options, true, false);
    check("--sources /usr", false, true);
    write_kernel("../elsewhere/secret.cu");
    check("", false, true);
    check(options, true, false);
    write_kernel("/of/another/machine/secret.cu");
    check("", false, false);
    check(options, true, false);
    Outcome run = program_shell("@ %s/own/foreign.ptx --sources %s/nowhere --report", folder, folder);
    assert_int_equal(run.status, 2);
    program_assert_contains(run.err, "nowhere' is not a folder");
    program_outcome_done(&run);
}

/* A link beside the kernel leads where its author chose. */
static void links_are_followed_before_it_is_decided(void **state) {
    (void)state;
    char from[512], to[512];
    write_kernel("linked.cu");
    snprintf(to, sizeof to, "%s/elsewhere/secret.cu", program_folder());
    snprintf(from, sizeof from, "%s/own/linked.cu", program_folder());
    unlink(from);
    assert_int_equal(symlink(to, from), 0);
    check("", false, true);
    unlink(from);
}

static void sources_beside_the_kernel_are_opened(void **state) {
    (void)state;
    make_folder("own");
    make_folder("own/sub");
    program_write_file("own/sub/mine.cu", "first\n__secret__\n");
    write_kernel("sub/mine.cu");
    check("", true, false);
    program_write_file("own/mine.cu", "first\n__secret__\n");
    write_kernel("/home/of/its/author/mine.cu");
    check("", true, false);
    write_kernel("kernels/interleaved.cu"); /* ours */
    Outcome run = program_shell("@ %s/own/foreign.ptx --n 32 --report", program_folder());
    program_assert_contains(run.out, "    2  //");
    program_outcome_done(&run);
}

/* It has no writer: opening it would block for ever. */
static void a_fifo_is_not_waited_for(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s/own/pipe.cu", program_folder());
    write_kernel("pipe.cu");
    assert_int_equal(mkfifo(path, 0600), 0);
    check("", false, false);
    unlink(path);
    /* Triton's metadata beside its PTX, read if shared memory has no size */
    snprintf(path, sizeof path, "%s/own/shared.json", program_folder());
    assert_int_equal(mkfifo(path, 0600), 0);
    program_write_file(
        "own/shared.ptx",
        ".version 7.0\n.target sm_70\n.address_size 64\n.extern .shared .align 4 .b8 dynamic[];\n"
        ".visible .entry k()\n{\n    .reg .b32 %r<2>;\n    mov.u32 %r0, dynamic;\n"
        "    st.shared.u32 [%r0], 1;\n    ret;\n}\n");
    free(program_output(0, "timeout 20 @ %s/own/shared.ptx --n 32 --report", program_folder()));
    Outcome run = program_shell("timeout 20 @ %s/own/foreign.ptx --n 32 --args out=int[n]:file:%s --report",
                                program_folder(), path);
    assert_int_equal(run.status, 2);
    program_assert_contains(run.err, "not a regular file");
    program_outcome_done(&run);
    unlink(path);
}

/* Escape, CSI as one character and as one byte, a directional override, half a character. */
#define STEERING "\\033[31m\\302\\23331m\\23331m\\342\\200\\256\\303"

static void expect_no_steering(const char *text) {
    bool is_json = *text == '{'; /* its strings are data, unchanged */
    for (const char *at = text; *at; at++) {
        unsigned char here = (unsigned char)at[0], next = (unsigned char)at[1];
        bool is_alone = here >= 0x80 && here < 0xc0 && (at == text || !((unsigned char)at[-1] & 0x80));
        if (here == 0x1b || is_alone || (here == 0xc2 && next < 0xa0) ||
            (!is_json && !strncmp(at, "\342\200\256", 3)))
            fail_msg("it reaches the terminal: %s", text);
    }
}

/* Names, sources and messages are printed as text, and never control the terminal. */
static void names_do_not_steer_the_terminal(void **state) {
    (void)state;
    static const char *const commands[] = {
        "@ \"$PWD/none$S.ptx\" --report",                              /* a file that is not there */
        "cp broken.ptx \"broken$S.ptx\"; @ \"broken$S.ptx\" --report", /* one that does not parse */
        "@ \"none$S.redviz\" --report",                                /* a session */
        "@ foreign.ptx --entry \"k$S\" --report",                      /* an entry */
        "@ foreign.ptx --args \"in$S\" --report",                      /* arguments */
        "@ --kernel \"$S\" --report; @ --kernel shuffle --param \"$S=1\" --report",
        "@-record --access \"none$S.csv\"; echo \"$S\" >a.csv; @-record --access a.csv",
        "@ --lecture \"none$S\"; @ \"--none$S\"; @ \"$S\"",
        "@ foreign.ptx --n 32 --report",
        "@ foreign.ptx --n 32 --report=json",
        "@ foreign.ptx --n 32 --check",
        "@ foreign.ptx --n 32 --frame",
        "@ broken.ptx --report"};
    const char *program = getenv("REDVIZ_BIN");
    char place[4096];
    assert_non_null(realpath(program ? program : "build/redviz", place));
    write_kernel("mine.cu");
    Outcome made =
        program_shell("cd %s/own && S=$(printf '" STEERING "') && sed \"s/mine/mine$S/\" -i foreign.ptx && "
                      "printf 'x\\n' >\"mine$S.cu\" && echo \"  y $S\" >>\"mine$S.cu\" && "
                      "sed \"s/ret;/bad $S/\" foreign.ptx >broken.ptx",
                      program_folder());
    assert_int_equal(made.status, 0);
    program_outcome_done(&made);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        Text command = {0};
        for (const char *at = commands[i]; *at; at++) {
            if (*at == '@')
                text_add(&command, place);
            else
                text_add_bytes(&command, at, 1);
        }
        Outcome run = program_shell("cd %s/own && S=$(printf '" STEERING "') && { %s; }", program_folder(),
                                    text_string(&command));
        assert_true(*run.out || *run.err);
        expect_no_steering(run.out);
        expect_no_steering(run.err);
        program_outcome_done(&run);
        text_done(&command);
    }
}

/* A lecture must not set options that only its reader may give. */
static void a_lecture_names_neither_folders_nor_flags(void **state) {
    (void)state;
    static const char *const options[] = {"--sources /etc", "--compile-flags=-v"};
    for (int i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "# A title\n\n```lecture\nlanguage: en\nminutes: 1\nneeds: no "
                 "GPU\n```\n\n```redviz\nown/foreign.ptx %s\n```\n\nText.\n",
                 options[i]);
        write_kernel("mine.cu");
        program_write_file("lecture.md", text);
        Outcome run = program_shell("@ --lecture %s/lecture.md --frame", program_folder());
        assert_int_equal(run.status, 2);
        program_assert_contains(run.err, "are for the reader");
        program_outcome_done(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_elsewhere_are_opened_on_request_only),
        cmocka_unit_test(links_are_followed_before_it_is_decided),
        cmocka_unit_test(sources_beside_the_kernel_are_opened),
        cmocka_unit_test(a_fifo_is_not_waited_for),
        cmocka_unit_test(names_do_not_steer_the_terminal),
        cmocka_unit_test(a_lecture_names_neither_folders_nor_flags),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
