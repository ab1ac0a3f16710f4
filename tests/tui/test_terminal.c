/* Terminal: the real program on a pseudo-terminal: keys, play, mouse, resizing at any moment, suspension, and
 * a terminal that is restored however the program ends. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "pty.h"

#include "base/clock.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ncurses takes a terminal's padding and size from these variables; the tests use the terminal's own. */
static const char *const xterm[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=", NULL};

static Pty *start(const char *const environment[], int columns, int rows) {
    const char *program = getenv("REDVIZ_BIN");
    const char *const arguments[] = {
        program ? program : "build/redviz", "--kernel", "strided", "--n", "4096", NULL};
    unsetenv("LINES");
    unsetenv("COLUMNS");
    return pty_start(arguments, environment, columns, rows);
}

/* A recording that cannot be written is an error when the interface closes. */
static void a_recording_that_cannot_be_written_is_an_error(void **state) {
    (void)state;
    const char *program = getenv("REDVIZ_BIN");
    const char *const arguments[] = {program ? program : "build/redviz",
                                     "--kernel",
                                     "strided",
                                     "--n",
                                     "4096",
                                     "--record-cast",
                                     "/dev/full",
                                     NULL};
    int status = 0;
    if (access("/dev/full", W_OK) != 0) skip_because("/dev/full cannot be written to");
    Pty *pty = pty_start(arguments, xterm, 80, 24);
    pty_wait_for(pty, "step ");
    pty_type(pty, "q");
    assert_int_equal(pty_wait_for_report(pty, &status), 'E');
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    pty_wait_for(pty, "could not be written to its end");
    pty_assert_terminal_is_back(pty);
    pty_free(pty);
}

static void steps_forwards_and_backwards_and_quits(void **state) {
    (void)state;
    Pty *pty = start(xterm, 80, 24);
    pty_go_to_first_step(pty, "step 1 of ");
    assert_true(pty->alternate);
    assert_false(pty->cursor);
    assert_non_null(strstr(pty_row(pty, 0), "redviz  strided"));
    assert_non_null(strstr(pty_row(pty, 0), "EMULATED"));
    assert_true(pty_coloured_cells(pty) > 0);
    pty_type(pty, "\033OC"); /* the right arrow, in the mode that ncurses asks for */
    pty_wait_for(pty, "step 2 of ");
    pty_type(pty, "17>");
    pty_wait_for(pty, "step 19 of ");
    pty_type(pty, "<<");
    pty_wait_for(pty, "step 17 of ");
    pty_type(pty, "g3l"); /* beats: the first barrier, at which no thread waits, is not one */
    pty_wait_for(pty, "step 7 of ");
    pty_type(pty, "h\033OD");
    pty_wait_for(pty, "step 2 of ");
    pty_type(pty, "g?");
    pty_wait_for(pty, "Esc closes");
    pty_type(pty, "\033OF\033OF\033[6~"); /* End: past the end; one step back is visible at once */
    pty_wait_for(pty, "the value of the selected lane");
    pty_type(pty, "\033OA");
    pty_wait_without(pty, "the value of the selected lane");
    pty_type(pty, "\033");
    pty_wait_for(pty, "step 1 of ");
    pty_quit(pty);
}

static void follows_every_size_while_playing(void **state) {
    (void)state;
    Pty *pty = start(xterm, 80, 24);
    pty_go_to_first_step(pty, "step 1 of ");
    pty_type(pty, "--"); /* slow, so that the run does not end during the test */
    pty_type(pty, " ");
    pty_wait_for(pty, "playing");
    for (int columns = 40; columns < 200; columns += 7) pty_resize(pty, columns, columns / 3);
    pty_resize(pty, 30, 10);
    pty_wait_for(pty, "redviz needs 60");
    pty_resize(pty, 120, 40);
    pty_wait_for(pty, "\u2518"); /* a box's corner */
    pty_wait_for_row(pty, 39, "q quit");
    pty_type(pty, " ");
    pty_wait_without(pty, "playing");
    pty_quit(pty);
}

static int shown_beat(Pty *pty, int rows) {
    int beat = 0;
    for (int row = 0; row < rows && !beat; row++) {
        const char *found = strstr(pty_row(pty, row), " beat ");
        if (found && sscanf(found, " beat %d of ", &beat) != 1) beat = 0;
    }
    return beat;
}

/* A key ends the motion of values, and what it shows stays as long as any other place: a run that plays is
 * never faster than its speed, one wavefront a second here. */
static void keys_do_not_hasten_a_playing_run(void **state) {
    (void)state;
    enum { ROWS = 24, KEYS = 30 };
    Pty *pty = start(xterm, 80, ROWS);
    pty_go_to_first_step(pty, "step 1 of ");
    pty_type(pty, "--");
    pty_wait_for(pty, "1/4x");
    double began = clock_seconds();
    pty_type(pty, " ");
    pty_wait_for(pty, "playing");
    for (int i = 0; i < KEYS; i++) {
        pty_type(pty, "t");
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* more than a frame of the motion */
        pty_pump(pty);
    }
    pty_type(pty, " ");
    pty_wait_without(pty, "playing");
    pty_settle(pty);
    assert_in_range(shown_beat(pty, ROWS), 1, 1 + (int)(clock_seconds() - began));
    pty_quit(pty);
}

static void the_mouse_seeks_and_steps(void **state) {
    (void)state;
    Pty *pty = start(xterm, 80, 24);
    pty_go_to_first_step(pty, "step 1 of ");
    assert_true(pty->mouse);
    pty_type(pty, "\033[<65;10;10M\033[<65;10;10M"); /* wheel down: by beats */
    pty_wait_for(pty, "step 3 of ");
    pty_type(pty, "\033[<64;10;10M"); /* wheel up */
    pty_wait_for(pty, "step 2 of ");
    pty_type(pty, "\033[<0;30;22M\033[<0;30;22m"); /* the timeline's bars */
    pty_wait_without(pty, "step 2 of ");
    pty_type(pty, "?");
    pty_wait_for(pty, "barrier interval");
    pty_type(pty, "\033[<65;10;10M\033[<65;10;10M\033[<65;10;10M\033[<65;10;10M"); /* the help scrolls */
    pty_wait_without(pty, "barrier interval");
    pty_wait_for(pty, "Esc closes");
    pty_type(pty, "\033[<0;10;1M\033[<0;10;1m"); /* beside it */
    pty_wait_without(pty, "Esc closes");
    pty_quit(pty);
}

static void dragging_scrubs_and_the_footer_takes_clicks(void **state) {
    (void)state;
    Pty *pty = start(xterm, 80, 24);
    pty_go_to_first_step(pty, "step 1 of ");
    pty_type(pty, "\033[<0;2;22M"); /* the first of the timeline's bars */
    pty_wait_for(pty, "step 1 of ");
    pty_type(pty, "\033[<32;30;22M\033[<32;50;9M"); /* dragged, then off the timeline */
    pty_wait_without(pty, "step 1 of ");
    pty_type(pty, "\033[<32;2;9M"); /* back to where it began */
    pty_wait_for(pty, "step 1 of ");
    pty_type(pty,
             "\033[<0;2;9m\033[<0;30;9M\033[<32;60;22M\033[<0;60;22m"); /* does not begin on the timeline */
    pty_settle(pty);
    assert_true(pty_shows(pty, "step 1 of "));
    pty_type(pty, "\033[<0;4;24M\033[<0;4;24m"); /* "→ beat" */
    pty_wait_for(pty, "step 2 of ");
    pty_type(pty, "\032"); /* suspended, and resumed */
    int status;
    assert_int_equal(pty_wait_for_report(pty, &status), 'S');
    assert_false(pty->mouse);
    pty_resume(pty);
    pty_wait_for(pty, "step 2 of "); /* what is typed before is the shell's */
    pty_settle(pty);                 /* and before it asks for the mouse, nobody's */
    pty_type(pty, "\033[<0;2;22M\033[<32;30;22M");
    pty_wait_without(pty, "step 2 of ");
    pty_wait_without(pty, "step 1 of ");
    pty_quit(pty);
}

static void another_kernel_opens_from_the_menu(void **state) {
    (void)state;
    Pty *pty = start(xterm, 120, 40);
    pty_go_to_first_step(pty, "step 1 of ");
    pty_type(pty, "Ksequential\r");
    pty_wait_for(pty, "redviz  sequential");
    pty_go_to_first_step(pty, "step 1 of ");
    pty_type(pty, ">");
    pty_wait_for(pty, "step 2 of ");
    pty_quit(pty);
}

static void suspends_and_resumes(void **state) {
    (void)state;
    int status;
    Pty *pty = start(xterm, 80, 24);
    pty_go_to_first_step(pty, "step 1 of ");
    pty_type(pty, "5g");
    pty_wait_for(pty, "step 5 of ");
    pty_type(pty, "\032"); /* Ctrl-Z */
    assert_int_equal(pty_wait_for_report(pty, &status), 'S');
    pty_assert_terminal_is_back(pty);
    pty_resize(pty, 100, 30); /* while the program does not read */
    pty_resume(pty);
    pty_wait_for_row(pty, 29, "q quit"); /* drawn last */
    assert_true(pty_shows(pty, "step 5 of "));
    assert_true(pty->alternate);
    pty_type(pty, ">");
    pty_wait_for(pty, "step 6 of ");
    pty_quit(pty);
}

/* Otherwise Ctrl-Z between poll() and read() discards the key, and the program waits for the next one before
 * it stops. */
static void assert_reads_do_not_wait(const Pty *pty) {
    struct termios modes;
    assert_int_equal(tcgetattr(pty->slave, &modes), 0);
    for (int i = 0; i < 200 && modes.c_cc[VMIN]; i++) { /* set after the frame is drawn */
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        assert_int_equal(tcgetattr(pty->slave, &modes), 0);
    }
    assert_int_equal(modes.c_cc[VMIN], 0);
    assert_int_equal(modes.c_cc[VTIME], 0);
}

/* curses ignores Ctrl-Z while it draws, if it has its own handler. */
static void suspends_while_it_draws(void **state) {
    (void)state;
    int status;
    Pty *pty = start(xterm, 80, 24);
    pty_go_to_first_step(pty, "step 1 of ");
    for (int i = 0; i < 10; i++) {
        assert_reads_do_not_wait(pty);
        size_t before = pty->received;
        pty_type(pty, i % 2 ? "g" : "G");
        while (pty->received == before) pty_pump(pty);
        pty_type(pty, "\032"); /* the terminal discards unread input */
        assert_int_equal(pty_wait_for_report(pty, &status), 'S');
        pty_resume(pty);
        pty_wait_for(pty, "q quit");
        pty_type(pty, i % 2 ? "g" : "G");
        pty_wait_for(pty, i % 2 ? "step 1 of " : "step 64 of ");
    }
    pty_quit(pty);
}

static void signals_and_crashes_give_the_terminal_back(void **state) {
    (void)state;
    static const int signals[] = {SIGTERM, SIGHUP, SIGINT,  SIGQUIT, SIGSEGV, SIGABRT,   SIGBUS,
                                  SIGFPE,  SIGILL, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU,   SIGPIPE,
                                  SIGTRAP, SIGSYS, SIGPOLL, SIGPROF, SIGPWR,  SIGVTALRM, SIGSTKFLT};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        int status;
        Pty *pty = start(xterm, 80, 24);
        pty_go_to_first_step(pty, "step 1 of ");
        pty_type(pty, " "); /* playing */
        pty_wait_for(pty, "playing");
        kill(pty->program, signals[i]);
        assert_int_equal(pty_wait_for_report(pty, &status), 'E');
        /* A sanitizer's crash handler replaces ours and exits by itself. */
        if (WIFSIGNALED(status)) assert_int_equal(WTERMSIG(status), signals[i]);
        pty_assert_terminal_is_back(pty);
        pty_free(pty);
    }
}

static void control_c_ends_by_interrupt(void **state) {
    (void)state;
    int status;
    Pty *pty = start(xterm, 80, 24);
    pty_go_to_first_step(pty, "step 1 of ");
    pty_type(pty, "\003");
    assert_int_equal(pty_wait_for_report(pty, &status), 'E');
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
    pty_assert_terminal_is_back(pty);
    pty_free(pty);
}

static void every_kind_of_terminal_is_served(void **state) {
    (void)state;
    static const struct {
        const char *environment[6];
        bool coloured, mouse;
    } terminals[] = {
        {{"TERM=xterm", "LC_ALL=C.UTF-8", "NO_COLOR=", NULL}, true, true},
        {{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=", "COLORTERM=truecolor", NULL}, true, true},
        {{"TERM=screen", "LC_ALL=C.UTF-8", "NO_COLOR=", NULL}, true, true},
        {{"TERM=screen-256color", "LC_ALL=C.UTF-8", "NO_COLOR=", NULL}, true, true},
        {{"TERM=tmux-256color", "LC_ALL=C.UTF-8", "NO_COLOR=", NULL}, true, true},
        /* Without libgpm, which ncurses would load for the console's mouse, and which leaks ten bytes. */
        {{"TERM=linux", "LC_ALL=C.UTF-8", "NO_COLOR=", "NCURSES_GPM_TERMS=", NULL}, true, true},
        {{"TERM=vt100", "LC_ALL=C", "NO_COLOR=", NULL}, false, false},
        {{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=1", NULL}, false, true},
    };
    for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++) {
        Pty *pty = start(terminals[i].environment, 80, 24);
        pty_go_to_first_step(pty, "step 1 of ");
        pty_type(pty, "n");
        pty_wait_for(pty, "conflict!");
        pty_settle(pty);
        if (terminals[i].coloured)
            assert_true(pty_coloured_cells(pty) > 0);
        else
            assert_int_equal(pty_coloured_cells(pty), 0);
        assert_int_equal(pty->mouse, terminals[i].mouse);
        assert_int_equal(pty_shows(pty, "\u2500"), strcmp(terminals[i].environment[1], "LC_ALL=C") != 0);
        pty_quit(pty);
    }
}

/* A terminal that takes red, green and blue, like xterm-direct, whose description is rarely installed. */
static void a_terminal_without_a_palette_gets_the_same_colours(void **state) {
    (void)state;
    static const char description[] =
        "redviz-direct|for this test,\n"
        "\tRGB, colors#0x1000000, pairs#0x7fff, initc@, ccc@, use=xterm-256color,\n"
        "\tsetab=\\E[%?%p1%{8}%<%t4%p1%d%e48;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,\n"
        "\tsetaf=\\E[%?%p1%{8}%<%t3%p1%d%e38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,\n";
    char folder[] = "/tmp/redviz-terminal-XXXXXX", command[128], terminfo[64];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "tic -x -o %s -", folder);
    FILE *tic = popen(command, "w");
    assert_true(tic && fputs(description, tic) >= 0 && pclose(tic) == 0);
    snprintf(terminfo, sizeof terminfo, "TERMINFO=%s", folder);
    const char *const environment[] = {"TERM=redviz-direct", terminfo, "LC_ALL=C.UTF-8", "NO_COLOR=", NULL};
    Pty *pty = start(environment, 80, 24);
    pty_go_to_first_step(pty, "step 1 of ");
    assert_true(pty_cells_of_rgb(pty, 0x00, 0x87, 0xff) > 0); /* colour 33: active lanes */
    pty_quit(pty);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void a_terminal_that_cannot_place_its_cursor_is_refused(void **state) {
    (void)state;
    static const char *const names[] = {"TERM=no-such-terminal", "TERM="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const environment[] = {names[i], "LC_ALL=C.UTF-8", NULL};
        int status;
        Pty *pty = start(environment, 160, 24);
        assert_int_equal(pty_wait_for_report(pty, &status), 'E');
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 2);
        assert_non_null(strstr(pty_row(pty, 0), "redviz: "));
        assert_non_null(strstr(pty_row(pty, 0), "--frame"));
        assert_string_equal(pty_row(pty, 1), ""); /* one line */
        assert_true(pty_modes_are_back(pty));
        pty_free(pty);
    }
}

static void a_storm_of_resizes_and_keys_is_survived(void **state) {
    (void)state;
    Pty *pty = start(xterm, 120, 40);
    pty_go_to_first_step(pty, "step 1 of ");
    for (int i = 0; i < 300; i++) {
        if (i % 3 == 0) pty_resize(pty, 60 + i % 141, 16 + i % 45);
        kill(pty->program, SIGWINCH);
        if (i % 5 == 0) pty_type(pty, ">");
        if (i % 25 == 0) pty_type(pty, i % 2 ? "?" : " ");
        pty_pump(pty);
    }
    pty_resize(pty, 80, 24);
    pty_type(pty, "\033");
    pty_wait_without(pty, "Esc closes");
    pty_type(pty, "G"); /* where playing ends: it would leave the first step while we do not look */
    pty_wait_for(pty, "step 64 of ");
    pty_wait_without(pty, "playing");
    pty_type(pty, "g");
    pty_wait_for(pty, "step 1 of ");
    pty_wait_for_row(pty, 23, "q quit");
    pty_quit(pty);
}

/* kill -STOP cannot be caught: the process that stopped us may have changed the terminal, so everything is
 * redrawn. */
static void goes_on_after_an_uncatchable_stop(void **state) {
    (void)state;
    int status;
    Pty *pty = start(xterm, 80, 24);
    pty_go_to_first_step(pty, "step 1 of ");
    kill(pty->program, SIGSTOP);
    assert_int_equal(pty_wait_for_report(pty, &status), 'S');
    pty_forget_screen(pty);
    pty_resume(pty);
    pty_wait_for_row(pty, 0, "redviz  strided");
    pty_wait_for(pty, "step 1 of ");
    pty_type(pty, ">");
    pty_wait_for(pty, "step 2 of ");
    pty_quit(pty);
}

static void ends_when_its_terminal_is_gone(void **state) {
    (void)state;
    int status;
    Pty *pty = start(xterm, 80, 24);
    pty_go_to_first_step(pty, "step 1 of ");
    pty_type(pty, " ");
    pty_hang_up(pty);
    assert_int_equal(pty_wait_for_report(pty, &status), 'E');
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGHUP);
    pty_free(pty);
}

static int by_size(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

static void a_step_sends_only_what_changed(void **state) {
    (void)state;
    enum { STEPS = 40, MOST_BYTES = 8 << 10 };
    size_t sent[STEPS];
    char expected[32];
    Pty *pty = start(xterm, 200, 60);
    pty_go_to_first_step(pty, "step 1 of ");
    pty_settle(pty);
    for (int i = 0; i < STEPS; i++) {
        size_t before = pty->received;
        pty_type(pty, ">");
        snprintf(expected, sizeof expected, "step %d of ", i + 2);
        pty_wait_for(pty, expected);
        sent[i] = pty->received - before;
    }
    qsort(sent, STEPS, sizeof *sent, by_size);
    assert_in_range(sent[STEPS / 2], 1, MOST_BYTES);
    pty_quit(pty);
}

static void waiting_takes_no_time(void **state) {
    (void)state;
    Pty *pty = start(xterm, 120, 40);
    pty_go_to_first_step(pty, "step 1 of ");
    pty_type(pty, "5>");
    pty_wait_for(pty, "step 6 of ");
    /* On a busy machine it may still be drawing when the first second begins. */
    bool idle = false;
    for (int i = 0; i < 10 && !idle; i++) {
        long before = pty_cpu_ticks(pty);
        struct timespec second = {.tv_sec = 1};
        nanosleep(&second, NULL);
        idle = pty_cpu_ticks(pty) == before;
    }
    assert_true(idle);
    pty_quit(pty);
}

/* ---- what takes long to open --------------------------------------------------------------------------- */

/* A compiler that does not come to an end, in a folder of its own. */
static void make_endless_compiler(char *folder) {
    char path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/nvcc", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("#!/bin/sh\nexec sleep 60\n", file);
    assert_false(fclose(file) || chmod(path, 0700));
    snprintf(path, sizeof path, "%s/sum.cu", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("__global__ void sum(int *out) { out[0] = 1; }\n", file);
    assert_int_equal(fclose(file), 0);
}

static Pty *open_long(const char *folder) {
    static char path[64], search[96], cache[96];
    const char *program = getenv("REDVIZ_BIN");
    snprintf(path, sizeof path, "%s/sum.cu", folder);
    snprintf(search, sizeof search, "PATH=%s:/usr/bin:/bin", folder);
    snprintf(cache, sizeof cache, "XDG_CACHE_HOME=%s", folder);
    const char *const arguments[] = {program ? program : "build/redviz", path, "--compiler", "nvcc", NULL};
    const char *const environment[] = {
        xterm[0], xterm[1], xterm[2], "CUDA_HOME=", "CUDA_PATH=", search, cache, NULL};
    Pty *pty = pty_start(arguments, environment, 80, 24);
    pty_wait_for(pty, "opening ");
    pty_wait_for(pty, "compiling: 1 s");
    pty_wait_for(pty, "Esc gives it up");
    return pty;
}

static void remove_folder(const char *folder) {
    static const char *const names[] = {"/nvcc", "/sum.cu"};
    char path[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s%s", folder, names[i]);
        remove(path);
    }
    remove(folder);
}

static void what_takes_long_says_so_and_can_be_given_up(void **state) {
    (void)state;
    char folder[] = "/tmp/redviz-endless-XXXXXX";
    int status;
    make_endless_compiler(folder);
    Pty *pty = open_long(folder);
    pty_resize(pty, 60, 20);
    pty_wait_for(pty, "compiling: 2 s");
    pty_type(pty, "\033");
    assert_int_equal(pty_wait_for_report(pty, &status), 'E');
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pty_assert_terminal_is_back(pty);
    pty_free(pty);
    pty = open_long(folder);
    kill(pty->program, SIGTERM);
    assert_int_equal(pty_wait_for_report(pty, &status), 'E');
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    pty_assert_terminal_is_back(pty);
    pty_free(pty);
    remove_folder(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_that_cannot_be_written_is_an_error),
        cmocka_unit_test(steps_forwards_and_backwards_and_quits),
        cmocka_unit_test(follows_every_size_while_playing),
        cmocka_unit_test(keys_do_not_hasten_a_playing_run),
        cmocka_unit_test(the_mouse_seeks_and_steps),
        cmocka_unit_test(dragging_scrubs_and_the_footer_takes_clicks),
        cmocka_unit_test(another_kernel_opens_from_the_menu),
        cmocka_unit_test(suspends_and_resumes),
        cmocka_unit_test(suspends_while_it_draws),
        cmocka_unit_test(signals_and_crashes_give_the_terminal_back),
        cmocka_unit_test(control_c_ends_by_interrupt),
        cmocka_unit_test(every_kind_of_terminal_is_served),
        cmocka_unit_test(a_terminal_without_a_palette_gets_the_same_colours),
        cmocka_unit_test(a_terminal_that_cannot_place_its_cursor_is_refused),
        cmocka_unit_test(a_storm_of_resizes_and_keys_is_survived),
        cmocka_unit_test(goes_on_after_an_uncatchable_stop),
        cmocka_unit_test(ends_when_its_terminal_is_gone),
        cmocka_unit_test(a_step_sends_only_what_changed),
        cmocka_unit_test(waiting_takes_no_time),
        cmocka_unit_test(what_takes_long_says_so_and_can_be_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
