/* Edited files: an editor that is a script changes them, and others change under --watch. The real program
 * gives the terminal to the editor, and shows the effect of the change. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/text.h"
#include "pty.h"
#include "tui/edit.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
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
    pty_wait_for_row(pty, 0, "pass.ptx  edited ");
    pty_wait_for_row(pty, 0, ", line 11");
    pty_wait_for_row(pty, 1, "excess wavefronts 0 -> 16   result ");
    pty_wait_for(pty, "no conflict");
    pty_wait_for(pty, "2-way conflict!");
    pty_wait_for(pty, "step 2 of 5");
    check_given(desk, 14);
    pty_type(pty, "i");
    pty_wait_for(pty, "before : after");
    pty_wait_for(pty, "8 < 16");
    pty_type(pty, "i");
    pty_wait_without(pty, "before : after");
    make_editor(desk, "sed -i 's/mul.lo.u32 %r1, %r0, 8/mul.lo.u32 %r1, %r0, 16/' \"$2\"");
    pty_type(pty, "$"); /* the first run before stays on the left */
    pty_wait_for_row(pty, 1, "excess wavefronts 0 -> 48");
    pty_wait_for(pty, "no conflict");
    pty_type(pty, "\033");
    pty_wait_without(pty, "before");
    pty_wait_for(pty, "4-way conflict!");
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
    pty_wait_for(pty, "did not help: the same counts");
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
    pty_wait_for(pty, "did not help: the same counts");
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
    pty_wait_for(pty, "2-way conflict!");
    pty_wait_for(pty, "step 2 of 5");
    pty_type(pty, ">");
    pty_wait_for(pty, "step 3 of 5");
    *distance = 'x';
    write_text(desk->file, text);
    pty_wait_for(pty, "not run: pass.ptx");
    *distance = '4';
    write_text(desk->file, text);
    pty_wait_without(pty, "not run");
    pty_wait_for(pty, "did not help: the same counts");
    free(text);
    pty_quit(pty);
}

/* Nobody has chosen vi: how to leave it is said before it takes the terminal, once. */
static void vi_is_explained_first(void **state) {
    const Desk *desk = *state;
    char vi[128], path[128];
    snprintf(vi, sizeof vi, "%s/vi", desk->folder);
    snprintf(path, sizeof path, "PATH=%s", desk->folder); /* without nano */
    make_editor(desk, "echo 'this is vi'");
    assert_int_equal(symlink(desk->editor, vi), 0);
    const char *program = getenv("REDVIZ_BIN");
    const char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", path, NULL};
    const char *const arguments[] = {
        program ? program : "build/redviz", desk->file, "--n", "256", "--block", "256", NULL};
    Pty *pty = pty_start(arguments, environment, 80, 24);
    pty_go_to_first_step(pty, "step 1 of 5");
    pty_type(pty, "e");
    pty_wait_for(pty, "vi: i types, Esc then :wq saves and leaves (or set EDITOR)   Enter: open");
    assert_int_not_equal(access(desk->given, F_OK), 0);
    pty_type(pty, "\r");
    pty_wait_for(pty, "pass.ptx: unchanged");
    check_given(desk, 13);
    unlink(desk->given);
    pty_type(pty, "l");
    pty_wait_without(pty, "unchanged");
    pty_type(pty, "e");
    pty_wait_for(pty, "pass.ptx: unchanged");
    assert_int_equal(access(desk->given, F_OK), 0);
    pty_quit(pty);
    const char *const of_kernel[] = {arguments[0], "--kernel", "strided", "--n", "256", NULL};
    pty = pty_start(of_kernel, environment, 80, 24); /* before a copy is made, in its question */
    pty_wait_for(pty, "strided");
    pty_type(pty, "e");
    pty_wait_for(pty, "edit a copy, ./strided.cu?   vi: i types, Esc :wq leaves   Enter: yes");
    pty_type(pty, "\033");
    pty_wait_without(pty, "edit a copy");
    pty_type(pty, "e");
    pty_wait_for(pty, "copy strided.cu to ./ and edit it?   Enter: yes   Esc: no");
    pty_type(pty, "\033");
    pty_wait_without(pty, "edit it?");
    pty_quit(pty);
    unlink(vi);
}

/* ---- kernels of the catalogue -------------------------------------------------------------------------- */

static Pty *start_there(const Desk *desk, const char *options, const char *shows) {
    static char variable[160], command[PATH_MAX + 256], absolute[PATH_MAX];
    snprintf(variable, sizeof variable, "EDITOR=%s", desk->editor);
    const char *program = getenv("REDVIZ_BIN");
    assert_non_null(realpath(program ? program : "build/redviz", absolute));
    snprintf(command, sizeof command, "cd %s && exec %s %s", desk->folder, absolute, options);
    const char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8",
                                       "PATH=/usr/bin:/bin:/usr/local/cuda/bin", variable, NULL};
    const char *const arguments[] = {"/bin/sh", "-c", command, NULL};
    Pty *pty = pty_start(arguments, environment, 120, 40);
    pty_wait_for(pty, shows);
    return pty;
}

static Pty *start_kernel(const Desk *desk, const char *kernel) {
    char options[128];
    snprintf(options, sizeof options, "--kernel %s --n 256 --backend emulator", kernel);
    return start_there(desk, options, kernel);
}

/* Waits until one of the two is shown; false: there is no compiler here. */
static bool shows_before_no_compiler(Pty *pty, const char *text) {
    for (int i = 0; i < 600 && !pty_shows(pty, text); i++) {
        if (pty_shows(pty, "no CUDA compiler")) return false;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        pty_pump(pty);
    }
    pty_wait_for(pty, text);
    return true;
}

static void a_copy_of_a_kernel_is_edited(void **state) {
    const Desk *desk = *state;
    char copy[128], *text;
    size_t length;
    snprintf(copy, sizeof copy, "%s/strided.cu", desk->folder);
    make_editor(desk,
                "sed -i 's/2 \\* s \\* tid;/tid;/; s/unsigned s = 1; s < blockDim.x; s \\*= 2/"
                "unsigned s = blockDim.x \\/ 2; s > 0; s \\/= 2/; s/index < blockDim.x/index < s/' \"$2\"");
    Pty *pty = start_kernel(desk, "strided");
    pty_type(pty, "e");
    pty_wait_for(pty, "copy strided.cu to ./ and edit it?   Enter: yes   Esc: no");
    pty_type(pty, "\033");
    pty_wait_without(pty, "edit it?");
    assert_int_not_equal(access(copy, F_OK), 0);
    pty_type(pty, "e");
    pty_wait_for(pty, "edit it?");
    pty_type(pty, "\r");
    bool has_compiler = shows_before_no_compiler(pty, "strided.cu  edited ");
    if (has_compiler) {
        pty_wait_for_row(pty, 0, ", line 23");
        pty_wait_for_row(pty, 1, " -> 0   ");
        pty_wait_for_row(pty, 1, "result ok -> ok   time not measured");
        pty_wait_for(pty, "after   strided (edited)");
        assert_true(text_read_file(desk->given, 4096, &text, &length, NULL));
        assert_non_null(strstr(text, "+26 ")); /* the line of the step */
        assert_non_null(strstr(text, "strided.cu"));
        free(text);
        make_editor(desk, "sed -i 's/__syncthreads();/__syncthread();/' \"$2\"");
        pty_type(pty, "e"); /* now a file like any other */
        pty_wait_for(pty, "not run: strided.cu");
        pty_type(pty, "\033");
        pty_wait_without(pty, "not run");
        pty_wait_for(pty, "after   strided (edited)");
    }
    assert_int_equal(access(copy, F_OK), 0);
    pty_quit(pty);
    if (has_compiler) { /* the copy does not compile: the editor opens where the error is */
        make_editor(desk, "sed -i 's/__syncthread();/__syncthreads();/' \"$2\"");
        pty = start_kernel(desk, "strided");
        pty_type(pty, "e");
        pty_wait_for(pty, "./strided.cu is there already: edit it?");
        pty_type(pty, "\r");
        pty_wait_for(pty, "strided.cu  edited ");
        pty_wait_for(pty, "result ok -> ok");
        assert_true(text_read_file(desk->given, 4096, &text, &length, NULL));
        assert_non_null(strstr(text, "+21 "));
        free(text);
        pty_quit(pty);
    }
    unlink(copy);
    if (!has_compiler) skip_because("no CUDA compiler was found");
}

static void triton_kernels_are_not_edited(void **state) {
    const Desk *desk = *state;
    Pty *pty = start_kernel(desk, "triton_sum");
    pty_type(pty, "e");
    pty_wait_for(pty, "triton_sum.py: Triton compiles it");
    pty_quit(pty);
}

/* ---- exercises ----------------------------------------------------------------------------------------- */

/* A lecture goes on where it was when its exercise is left. */
static void a_lecture_opens_its_exercise(void **state) {
    const Desk *desk = *state;
    char file[128];
    snprintf(file, sizeof file, "%s/ptx-redux.ptx", desk->folder);
    make_editor(desk, "sed -i 's/^\\.visible/.visibl/' \"$2\"");
    Pty *pty = start_there(desk, "--lecture shuffles --stop 20", "Enter: solve this exercise");
    pty_type(pty, "\r");
    pty_wait_for(pty, "PTX: one instruction adds up a warp");
    assert_int_equal(access(file, F_OK), 0);
    pty_type(pty, "e");
    pty_wait_for(pty, "not run: ptx-redux.ptx");
    pty_type(pty, "\033");
    pty_wait_without(pty, "not run");
    pty_type(pty, "q");
    pty_wait_for(pty, "ptx-redux: left");
    pty_wait_for(pty, "stop 20 of 21");
    pty_type(pty, "q"); /* closes the ladder, which the stop shows */
    pty_wait_without(pty, "ptx-redux: left");
    pty_quit(pty);
    unlink(file);
}

static void the_menu_opens_an_exercise(void **state) {
    const Desk *desk = *state;
    char file[128];
    snprintf(file, sizeof file, "%s/ptx-barrier.ptx", desk->folder);
    Pty *pty = start_there(desk, "--kernel strided --n 256", "strided");
    pty_type(pty, "K");
    pty_type(pty, "ptx-barrier");
    pty_wait_for(pty, "PTX: a barrier is missing");
    pty_type(pty, "\r");
    pty_wait_for(pty, "Enter again: writes its file here");
    assert_int_not_equal(access(file, F_OK), 0);
    pty_type(pty, "\r");
    pty_wait_for(pty, "stop 1 of 6");
    pty_type(pty, "q");
    pty_wait_for(pty, "ptx-barrier: left");
    pty_wait_without(pty, "stop 1 of 6");
    pty_quit(pty);
    unlink(file);
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
    check_command("ed", "a.cu", (const char *[]){"exec ed \"$@\"", "sh", "a.cu", NULL});
    setenv("PATH", "/nowhere", 1);
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
        DESK_TEST(vi_is_explained_first),
        DESK_TEST(an_editor_that_is_not_there),
        DESK_TEST(an_editor_that_changes_nothing),
        DESK_TEST(an_editor_that_is_interrupted),
        DESK_TEST(lines_that_move_are_followed),
        DESK_TEST(a_broken_file_is_told),
        DESK_TEST(others_change_the_file),
        DESK_TEST(a_copy_of_a_kernel_is_edited),
        DESK_TEST(triton_kernels_are_not_edited),
        cmocka_unit_test_setup_teardown(a_lecture_opens_its_exercise, setup, teardown),
        cmocka_unit_test_setup_teardown(the_menu_opens_an_exercise, setup, teardown),
        cmocka_unit_test(editors_get_the_line_in_their_way),
        DESK_TEST(changes_of_any_kind_are_noticed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
