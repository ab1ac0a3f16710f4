/* Edited files: an editor that is a script changes them, and others change under --watch. The real program
 * gives the terminal to the editor, and shows the effect of the change. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "pty.h"
#include "tui/edit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each thread stores its element to shared memory, 4 bytes apart, and loads it again. */
static const char kernel[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                             ".visible .entry pass(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
                             "    .reg .b32 %r<8>; .reg .b64 %a<8>;\n"
                             "    .shared .align 4 .b8 words[8192];\n"
                             "    ld.param.u64 %a0, [in]; ld.param.u64 %a1, [out];\n"
                             "    mov.u32 %r0, %tid.x; mul.wide.u32 %a2, %r0, 4;\n"
                             "    add.u64 %a0, %a0, %a2; add.u64 %a1, %a1, %a2;\n"
                             "    mul.lo.u32 %r1, %r0, 4;\n" /* line 11 */
                             "    mov.u32 %r2, words; add.u32 %r2, %r2, %r1;\n"
                             "    ld.global.u32 %r3, [%a0];\n"
                             "    st.shared.u32 [%r2], %r3;\n" /* line 14 */
                             "    bar.sync 0;\n"
                             "    ld.shared.u32 %r4, [%r2];\n"
                             "    st.global.u32 [%a1], %r4;\n"
                             "    ret;\n}\n";

typedef struct Desk { /* a folder with the file, the editor, and the editor's arguments */
    char folder[64], file[96], editor[96], given[96];
} Desk;

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int setup(void **state) {
    Desk *desk = calloc(1, sizeof *desk);
    strcpy(desk->folder, "/tmp/redviz_edit_XXXXXX");
    assert_non_null(mkdtemp(desk->folder));
    snprintf(desk->file, sizeof desk->file, "%s/pass.ptx", desk->folder);
    snprintf(desk->editor, sizeof desk->editor, "%s/editor", desk->folder);
    snprintf(desk->given, sizeof desk->given, "%s/given", desk->folder);
    write_text(desk->file, kernel);
    *state = desk;
    return 0;
}

static int teardown(void **state) {
    Desk *desk = *state;
    unlink(desk->file);
    unlink(desk->editor);
    unlink(desk->given);
    rmdir(desk->folder);
    free(desk);
    return 0;
}

/* An editor that runs this command on the file "$2". */
static void make_editor(const Desk *desk, const char *does) {
    char text[512];
    snprintf(text, sizeof text, "#!/bin/sh\necho \"$1 $2\" > %s\n%s\n", desk->given, does);
    write_text(desk->editor, text);
    chmod(desk->editor, 0755);
}

static Pty *start(const Desk *desk, const char *editor, const char *option) {
    static char variable[160];
    snprintf(variable, sizeof variable, "EDITOR=%s", editor);
    const char *program = getenv("REDVIZ_BIN");
    const char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin",
                                       variable, NULL};
    const char *const arguments[] = {
        program ? program : "build/redviz", desk->file, "--n", "256", "--block", "256", option, NULL};
    Pty *pty = pty_start(arguments, environment, 120, 40);
    pty_go_to_first_step(pty, "step 1 of 5");
    return pty;
}

static void check_given(const Desk *desk, int line) {
    char expected[128], *text;
    size_t length;
    snprintf(expected, sizeof expected, "+%d %s\n", line, desk->file);
    assert_true(text_read_file(desk->given, 4096, &text, &length, NULL));
    assert_string_equal(text, expected);
    free(text);
}

static void the_change_is_shown_at_the_same_place(void **state) {
    const Desk *desk = *state;
    make_editor(desk,
                "echo 'this is the editor'; sed -i 's/%r0, 4;$/%r0, 8;/; s/%a2, %r0, 8/%a2, %r0, 4/' \"$2\"");
    Pty *pty = start(desk, desk->editor, NULL);
    pty_type(pty, ">");
    pty_wait_for(pty, "wavefront 1 of 1");
    pty_type(pty, "$");
    pty_wait_for(pty, "re-run: excess");
    pty_wait_for(pty, "wavefront 1 of 2");
    pty_wait_for(pty, "step 2 of 5");
    check_given(desk, 14);
    pty_type(pty, "i");
    pty_wait_for(pty, "before : now");
    pty_wait_for(pty, "8 < 16");
    pty_type(pty, "i");
    pty_wait_without(pty, "before : now");
    pty_quit(pty);
}

static void an_editor_that_is_not_there(void **state) {
    const Desk *desk = *state;
    Pty *pty = start(desk, "no_such_editor", NULL);
    pty_type(pty, "$");
    pty_wait_for(pty, "no_such_editor: cannot be run");
    pty_type(pty, ">");
    pty_wait_for(pty, "step 2 of 5");
    pty_quit(pty);
}

static void an_editor_that_changes_nothing(void **state) {
    const Desk *desk = *state;
    make_editor(desk, "stty raw -echo; exit 1"); /* and leaves the terminal in raw mode */
    Pty *pty = start(desk, desk->editor, NULL);
    pty_type(pty, "$");
    pty_wait_for(pty, "exited with an error");
    make_editor(desk, "");
    pty_type(pty, "$");
    pty_wait_for(pty, "pass.ptx: unchanged");
    pty_type(pty, "2>");
    pty_wait_for(pty, "step 3 of 5");
    pty_quit(pty);
}

/* The editor is killed while it has the terminal: the program continues. */
static void an_editor_that_is_interrupted(void **state) {
    const Desk *desk = *state;
    make_editor(desk, "kill -INT $$; sleep 100");
    Pty *pty = start(desk, desk->editor, NULL);
    pty_type(pty, "$");
    pty_wait_for(pty, "exited with an error");
    pty_type(pty, ">");
    pty_wait_for(pty, "step 2 of 5");
    pty_quit(pty);
}

/* The current line now has another number. */
static void lines_that_move_are_followed(void **state) {
    const Desk *desk = *state;
    make_editor(desk, "sed -i '3a // one more line\\n// and another' \"$2\"");
    Pty *pty = start(desk, desk->editor, NULL);
    pty_type(pty, "3>$");
    pty_wait_for(pty, "re-run: every metric is the same");
    pty_wait_for(pty, "step 4 of 5");
    check_given(desk, 16);
    make_editor(desk, "");
    pty_type(pty, "$");
    pty_wait_for(pty, "unchanged");
    check_given(desk, 18);
    pty_wait_for(pty, "step 4 of 5");
    pty_quit(pty);
}

/* The error is shown with its line, the run before stays, and the editor opens at that line. */
static void a_broken_file_is_told(void **state) {
    const Desk *desk = *state;
    make_editor(desk, "sed -i '13s/a0]/a0/' \"$2\"");
    Pty *pty = start(desk, desk->editor, NULL);
    pty_type(pty, "$");
    pty_wait_for(pty, "not run: pass.ptx");
    pty_wait_for(pty, "ld.global.u32 %r3, [%a0;");
    pty_type(pty, "\033");
    pty_wait_without(pty, "not run");
    pty_wait_for(pty, "step 1 of 5");
    make_editor(desk, "sed -i '13s/a0/a0]/' \"$2\"");
    pty_type(pty, "$");
    pty_wait_for(pty, "re-run: every metric is the same");
    check_given(desk, 13);
    pty_quit(pty);
}

static void others_change_the_file(void **state) {
    const Desk *desk = *state;
    char path[128], *text;
    size_t length;
    Pty *pty = start(desk, "false", "--watch");
    pty_type(pty, ">");
    pty_wait_for(pty, "wavefront 1 of 1");
    assert_true(text_read_file(desk->file, 4096, &text, &length, NULL));
    char *distance = strstr(strstr(text, "mul.lo"), "4;");
    *distance = '8';
    snprintf(path, sizeof path, "%s.new", desk->file); /* as many editors save */
    write_text(path, text);
    assert_int_equal(rename(path, desk->file), 0);
    pty_wait_for(pty, "wavefront 1 of 2");
    pty_wait_for(pty, "step 2 of 5");
    pty_type(pty, ">");
    pty_wait_for(pty, "step 3 of 5");
    *distance = 'x';
    write_text(desk->file, text);
    pty_wait_for(pty, "not run: pass.ptx");
    *distance = '4';
    write_text(desk->file, text);
    pty_wait_without(pty, "not run");
    pty_wait_for(pty, "re-run: excess");
    free(text);
    pty_quit(pty);
}

static void kernels_of_the_catalogue_are_not_edited(void **state) {
    (void)state;
    static const char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "EDITOR=false", NULL};
    const char *program = getenv("REDVIZ_BIN");
    const char *const arguments[] = {
        program ? program : "build/redviz", "--kernel", "strided", "--n", "256", NULL};
    Pty *pty = pty_start(arguments, environment, 80, 24);
    pty_go_to_first_step(pty, "step 1 of ");
    pty_type(pty, "$");
    pty_wait_for(pty, "nothing to edit");
    pty_quit(pty);
}

/* ---- the editor's arguments ---------------------------------------------------------------------------- */

static void check_command(const char *editor, const char *file, const char *const expected[]) {
    setenv("EDITOR", editor, 1);
    char **command = edit_command((EditPlace){file, 7});
    int i = 0;
    assert_string_equal(command[0], "/bin/sh");
    for (; expected[i]; i++) assert_string_equal(command[2 + i], expected[i]);
    assert_null(command[2 + i]);
    free(command);
}

static void editors_get_the_line_in_their_way(void **state) {
    (void)state;
    unsetenv("VISUAL");
    check_command("nano -w", "a.cu", (const char *[]){"exec nano -w \"$@\"", "sh", "+7", "a.cu", NULL});
    check_command("/usr/bin/code -w", "a b.cu",
                  (const char *[]){"exec /usr/bin/code -w \"$@\"", "sh", "--goto", "a b.cu:7", NULL});
    check_command("hx", "a.cu", (const char *[]){"exec hx \"$@\"", "sh", "a.cu:7", NULL});
    check_command("vim", "-rf.cu", (const char *[]){"exec vim \"$@\"", "sh", "+7", "./-rf.cu", NULL});
    check_command("", "$(x).cu", (const char *[]){"exec vi \"$@\"", "sh", "+7", "$(x).cu", NULL});
    setenv("VISUAL", "emacs", 1);
    check_command("vim", "a.cu", (const char *[]){"exec emacs \"$@\"", "sh", "+7", "a.cu", NULL});
    unsetenv("VISUAL");
}

static void changes_of_any_kind_are_noticed_once(void **state) {
    const Desk *desk = *state;
    const char *const files[] = {desk->file, desk->given}; /* the second does not exist */
    FileWatch *watch = file_watch_new(files, 2);
    assert_false(file_watch_changed(watch));
    write_text(desk->file, "shorter");
    FileWatch *later = file_watch_new(files, 2);
    assert_false(file_watch_changed(later));
    file_watch_follow(later, watch); /* which has not seen it yet */
    assert_true(file_watch_changed(later));
    assert_true(file_watch_changed(watch));
    assert_false(file_watch_changed(watch));
    write_text(desk->given, "");
    assert_true(file_watch_changed(watch));
    unlink(desk->given);
    assert_true(file_watch_changed(watch));
    assert_false(file_watch_changed(watch));
    file_watch_free(watch);
    file_watch_free(later);
}

int main(void) {
#define DESK_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        DESK_TEST(the_change_is_shown_at_the_same_place),
        DESK_TEST(an_editor_that_is_not_there),
        DESK_TEST(an_editor_that_changes_nothing),
        DESK_TEST(an_editor_that_is_interrupted),
        DESK_TEST(lines_that_move_are_followed),
        DESK_TEST(a_broken_file_is_told),
        DESK_TEST(others_change_the_file),
        cmocka_unit_test(kernels_of_the_catalogue_are_not_edited),
        cmocka_unit_test(editors_get_the_line_in_their_way),
        DESK_TEST(changes_of_any_kind_are_noticed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
