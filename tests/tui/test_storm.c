/* An edit storm: under --watch, files change faster than they can be run: they are truncated, removed,
 * replaced by a folder or by another file with the same name, and keys are pressed. Whatever happened in
 * between, the program finally shows the current file, and quits as usual. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pty.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Two lines of a.cu; `%s`: what the second instruction adds. */
static const char kernel[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                             ".visible .entry pass(.param .u64 in, .param .u64 out)\n{\n"
                             "    .reg .b32 %%r<8>; .reg .b64 %%a<8>;\n"
                             "    .loc 1 2 0\n"
                             "    ld.param.u64 %%a0, [in]; ld.param.u64 %%a1, [out];\n"
                             "    mov.u32 %%r0, %%tid.x; mul.wide.u32 %%a2, %%r0, 4;\n"
                             "    add.u64 %%a0, %%a0, %%a2; add.u64 %%a1, %%a1, %%a2;\n"
                             "    ld.global.u32 %%r3, [%%a0];\n"
                             "    .loc 1 3 0\n"
                             "    add.u32 %%r3, %%r3, %d;\n"
                             "    st.global.u32 [%%a1], %%r3;\n"
                             "    ret;\n}\n.file 1 \"%s/a.cu\"\n";
static const char source[] = "// line 1\nint mine = in[threadIdx.x];\nout[threadIdx.x] = mine + %d;\n";

static char folder[] = "/tmp/redviz_storm_XXXXXX", ptx[96], text_path[96];

static void pause_milliseconds(int milliseconds) {
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The PTX, or its source, that adds `number`. */
static void print_file(bool is_ptx, int number, char *out, size_t bytes) {
    if (is_ptx)
        snprintf(out, bytes, kernel, number, folder);
    else
        snprintf(out, bytes, source, number);
}

static void clear(const char *path) {
    if (unlink(path)) rmdir(path);
}

/* One of the ways in which a file changes. */
static void change(bool is_ptx, int way, int number) {
    const char *path = is_ptx ? ptx : text_path;
    char text[2048], other[128];
    print_file(is_ptx, number, text, sizeof text);
    clear(path);
    switch (way) {
    case 0:
        break; /* removed */
    case 1:
        assert_int_equal(mkdir(path, 0700), 0);
        break;
    case 2: /* one half of it */
        text[strlen(text) / 2] = 0;
        write_text(path, text);
        break;
    case 3:
        write_text(path, "");
        break;
    case 4: /* as many editors save */
        snprintf(other, sizeof other, "%s.new", path);
        write_text(other, text);
        assert_int_equal(rename(other, path), 0);
        break;
    default:
        write_text(path, text);
    }
}

static Pty *start(void) {
    const char *program = getenv("REDVIZ_BIN");
    const char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", NULL};
    const char *const arguments[] = {
        program ? program : "build/redviz", ptx, "--n", "64", "--block", "64", "--watch", NULL};
    Pty *pty = pty_start(arguments, environment, 120, 40);
    pty_wait_for(pty, "redviz  ");
    return pty;
}

static int make_files(void **state) {
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(ptx, sizeof ptx, "%s/a.ptx", folder);
    snprintf(text_path, sizeof text_path, "%s/a.cu", folder);
    return 0;
}

static int remove_files(void **state) {
    (void)state;
    clear(ptx);
    clear(text_path);
    return rmdir(folder);
}

/* A step with a source line, whose text is present in some runs and missing in others. */
static void a_source_that_appears_and_disappears(void **state) {
    (void)state;
    change(true, 5, 1);
    change(false, 0, 1);
    Pty *pty = start();
    pty_wait_for(pty, "ptx  pass");
    pty_type(pty, "l");
    for (int i = 2; i < 6; i++) {
        change(false, i % 2 ? 0 : 5, i);
        change(true, 5, i);
        if (i % 2)
            pty_wait_for(pty, "ptx  pass");
        else
            pty_wait_for(pty, "source  a.cu");
        pty_wait_for(pty, "did not help: the same counts");
        pty_type(pty, "\f\033");
        pty_wait_without(pty, "did not help");
    }
    pty_quit(pty);
}

static void a_storm(void **state) {
    (void)state;
    static const char *const keys[] = {"l", "h", "]", "K\033", "?", "\033", "s", "r",
                                       "t", "u", "i", "i",     " ", "G",    "g"};
    enum { ROUNDS = 60, KEYS = sizeof keys / sizeof *keys };
    unsigned random = 1;
    change(true, 5, 0);
    change(false, 5, 0);
    Pty *pty = start();
    for (int round = 1; round <= ROUNDS; round++) {
        for (int is_ptx = 0; is_ptx < 2; is_ptx++) {
            random = random * 1103515245 + 12345;
            change(is_ptx, (int)(random >> 16) % 6, round);
        }
        pty_type(pty, keys[(random >> 20) % KEYS]);
        pause_milliseconds(round % 4 ? 20 : 150);
        pty_pump(pty);
    }
    pty_type(pty, "\033\033\033\033");
    pty_settle(pty);
    pty_type(pty, "?"); /* once the help has opened and closed, no key is left that would close what comes */
    pty_wait_for(pty, "source line");
    pty_type(pty, "\033");
    pty_wait_without(pty, "source line");
    change(false, 5, ROUNDS + 1);
    change(true, 4, ROUNDS + 1);
    pty_wait_for(pty, "did not help: the same counts");
    pty_wait_without(pty, "not run");
    pty_quit(pty);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_that_appears_and_disappears),
        cmocka_unit_test(a_storm),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
