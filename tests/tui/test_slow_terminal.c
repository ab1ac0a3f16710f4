/* A slow terminal gets no more than it can show: its line declares a speed, or the terminal reports what it
 * has shown, or neither; and its reports are never taken for keys. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/tui/far_terminal.h"
#include "tui/draw/tty_output.h"
#include "tui/draw/status_report.h"
#include <stdlib.h>
#include <string.h>
#include <termios.h>

/* ---- how long a terminal needs ------------------------------------------------------------------------- */

static void a_declared_rate_is_waited_for(void **state) {
    (void)state;
    OutputQueue queue;
    output_queue_init(&queue, 38400); /* a pseudo-terminal's */
    output_queue_wrote(&queue, 100000, false, 1);
    assert_true(output_queue_seconds(&queue, 1) == 0);
    output_queue_init(&queue, 9600);
    output_queue_wrote(&queue, 960, false, 10);
    assert_true(output_queue_seconds(&queue, 10) >= 1 && output_queue_seconds(&queue, 10) < 1.5);
    assert_true(output_queue_seconds(&queue, 11.5) == 0);
    output_queue_wrote(&queue, 960, false, 20);
    output_queue_wrote(&queue, 960, false, 20);
    assert_true(output_queue_seconds(&queue, 20) >= 2 && output_queue_seconds(&queue, 20) < 3);
}

/* A system that queues 20,000 bytes, a terminal that takes 1,000 a second, and frames of 500 bytes ten times
 * a second: once the rate is known, each frame finds the queue empty. */
static void an_undeclared_rate_is_learned(void **state) {
    (void)state;
    enum { CAPACITY = 20000, RATE = 1000, FRAME = 500, CHUNK = 2000 };
    OutputQueue queue;
    double held = 0, rest = 0, most_late = 0;
    int late_frames = 0;
    output_queue_init(&queue, 0);
    for (int tick = 0; tick < 3000; tick++) {
        double now = 1 + tick * 0.1;
        held = held > RATE * 0.1 ? held - RATE * 0.1 : 0;
        bool has_room = rest ? held + CHUNK <= CAPACITY : true;
        if (!rest && output_queue_seconds(&queue, now) == 0) {
            if (tick > 1500 && ++late_frames && held > most_late) most_late = held;
            rest = FRAME;
        }
        if (!rest || !has_room) continue;
        double taken = held + rest <= CAPACITY ? rest : CAPACITY - held;
        output_queue_wrote(&queue, (size_t)taken, taken < rest, now);
        held += taken;
        rest -= taken;
    }
    assert_true(late_frames > 20);
    assert_true(most_late <= FRAME);
}

/* ---- the terminal's status ----------------------------------------------------------------------------- */

static void many_bytes_are_asked_about(void **state) {
    (void)state;
    StatusReport report = {0};
    status_report_sent(&report, 100);
    assert_false(status_report_asks(&report, 1));
    assert_true(status_report_seconds(&report, 1) == 0);
    status_report_sent(&report, 1000);
    assert_true(status_report_asks(&report, 1));
    status_report_sent(&report, 1000);
    assert_false(status_report_asks(&report, 1.5)); /* one question at a time */
    assert_true(status_report_seconds(&report, 1.5) > 0);
    status_report_answered(&report, 1.75);
    assert_true(status_report_seconds(&report, 1.75) == 0);
    assert_true(status_report_asks(&report, 1.75));     /* bytes sent since then */
    assert_true(status_report_seconds(&report, 4) > 0); /* longer than the last answer took */
    assert_true(status_report_seconds(&report, 20) == 0);
    assert_false(status_report_asks(&report, 20)); /* it may still be on its way */
}

static void a_silent_terminal_is_asked_once(void **state) {
    (void)state;
    StatusReport report = {0};
    status_report_sent(&report, 5000);
    assert_true(status_report_asks(&report, 10));
    assert_true(status_report_seconds(&report, 10) <= 1 && status_report_seconds(&report, 11) == 0);
    assert_true(status_report_farewell(&report, 12) > 0 && status_report_farewell(&report, 12) < 0.5);
    for (int second = 11; second < 1000; second++) {
        status_report_sent(&report, 5000);
        assert_false(status_report_asks(&report, second));
        assert_true(status_report_seconds(&report, second) == 0);
    }
    assert_true(status_report_farewell(&report, 1000) == 0);
    status_report_answered(&report, 1001); /* very late: trusted from now on */
    assert_true(status_report_asks(&report, 1001));
}

static void ask(StatusReport *report, double now) {
    status_report_sent(report, 1000);
    assert_true(status_report_asks(report, now));
}

/* The keys that these characters give; '.' is a pause of 50 ms, '~' one of 5 s, and '!' another question. A
 * question is open before them. */
static void check_keys(const char *typed, const char *expected, bool is_answered) {
    StatusReport report = {0};
    char got[64] = "";
    double now = 1;
    ask(&report, now);
    for (const char *at = typed;; at++) {
        unsigned keys[STATUS_MOST_HELD];
        int count = 0;
        if (*at == '.' || *at == '~')
            now += *at == '.' ? 0.05 : 5;
        else if (*at == '!')
            ask(&report, now);
        else if (*at)
            count = status_report_take(&report, (unsigned char)*at, now, keys);
        assert_true(count <= STATUS_MOST_HELD);
        for (int i = 0; i < count; i++) strncat(got, (char[]){(char)keys[i]}, 1);
        count = status_report_release(&report, !*at, now, keys);
        for (int i = 0; i < count; i++) strncat(got, (char[]){(char)keys[i]}, 1);
        if (!*at) break;
    }
    assert_string_equal(got, expected);
    assert_int_equal(report.is_open, !is_answered);
    assert_true(status_report_held_seconds(&report, now) < 0);
}

static void an_answer_is_never_keys(void **state) {
    (void)state;
    check_keys("\033[0n", "", true);
    check_keys("\033.[.0.n", "", true);
    check_keys("x\033[0nyz", "xyz", true);
    check_keys("\033\033[0n", "\033", true); /* Esc, and an answer */
    check_keys("\033[0\033[0n", "\033[0", true);
    check_keys("\033[0n\033[0n", "\033[0n", true); /* no question is open: curses knows it as a whole */
    check_keys("\033~[0n", "\033", true); /* too late for the first character, and the rest is not a key */
    check_keys("\033~[.0~n", "\033[0", true);
    check_keys("\033.[.x.0.y.n", "xy", true); /* typed between its pieces */
    check_keys("\033[A", "\033[A", false);
    check_keys("\033x", "\033x", false);
    check_keys("\033[0m", "\033[0m", false);
    check_keys("\033", "\033", false);
    check_keys("[0n", "[0n", false);
}

/* Curses passes on the characters of an answer, and a key between them, at the same time. */
static void a_key_within_an_answer_is_the_only_key(void **state) {
    (void)state;
    check_keys("\033[0n!\033[0xn", "x", true);
    check_keys("\033[0n!\033[x0yn", "xy", true);
    check_keys("\033[0n!\033x[0n", "\033x", true); /* Esc may have been typed */
    check_keys("\033[0n!\033x[y0n", "\033xy", true);
    check_keys("\033[0n!\033xy", "\033xy", false);
    check_keys("\033[0n!\033\033[0n", "\033", true);
}

/* ---- the program --------------------------------------------------------------------------------------- */

enum { FRAME_BYTES = 2000, HELP_BYTES = 3000 }; /* at 80x24, at the most; asserted below */

/* `keys` such as "+++": play at 32 wavefronts a second. */
static void start(FarTerminal *terminal, unsigned bits, const char *keys) {
    const char *set = getenv("REDVIZ_BIN"), *program = set ? set : "build/redviz";
    const char *const arguments[] = {program, "--kernel", "interleaved", "--n", "1024", "--keys", keys, NULL};
    assert_true(far_terminal_start(terminal, "xterm-256color", bits, arguments));
}

/* The seconds until the program has exited. */
static double quit(FarTerminal *terminal) {
    int unread;
    far_terminal_type(terminal, "q");
    double seconds = far_terminal_show(terminal, 10, 0, "\033[?1049l");
    int status = far_terminal_end(terminal, &unread);
    assert_int_equal(status, 0); /* as waitpid() returns it: 9 is the end of far_terminal_end()'s patience */
    assert_int_equal(unread, 0);
    return seconds;
}

/* Plays for a while, and asks for help: between the key and its answer are at most the rest of one frame and
 * the answer itself, however long the run has played. Play at 32 and 64 wavefronts a second makes more than
 * 16,000 bytes. */
static void check_help_comes_soon(FarTerminal *terminal) {
    far_terminal_show(terminal, 10, 0, "1002h"); /* the end of the first frame */
    far_terminal_type(terminal, " ");
    terminal->most_held = 0;
    size_t before = terminal->shown;
    far_terminal_show(terminal, 1, 0, NULL);
    for (int i = 0; i < 100 && terminal->shown - before <= 1000; i++)
        far_terminal_show(terminal, 0.1, 0, NULL); /* on a busy machine */
    assert_true(terminal->shown - before > 1000);  /* it plays */
    before = terminal->shown;
    far_terminal_type(terminal, "?");
    far_terminal_show(terminal, 10, terminal->taken, "source line");
    assert_in_range(terminal->shown - before, 1, FRAME_BYTES + HELP_BYTES);
    assert_in_range(terminal->most_held, 0, FRAME_BYTES + HELP_BYTES);
    far_terminal_type(terminal, "q"); /* closes the help */
}

static void a_declared_speed_is_kept(void **state) {
    (void)state;
    FarTerminal terminal = {.rate = 1920};
    start(&terminal, B19200, "+++");
    check_help_comes_soon(&terminal);
    quit(&terminal);
}

/* The system takes everything at once and declares nothing: only the terminal knows. */
static void a_far_terminal_that_answers_is_waited_for(void **state) {
    (void)state;
    FarTerminal terminal = {.rate = 8000, .takes_at_once = true, .answers = true};
    start(&terminal, 0, "++++");
    check_help_comes_soon(&terminal);
    assert_true(terminal.questions >= 3);
    quit(&terminal);
    FarTerminal late = {.rate = 8000, .takes_at_once = true, .answers = true, .delay = 0.05, .pause = 0.015};
    start(&late, 0, "++++");
    check_help_comes_soon(&late);
    quit(&late);
}

/* The key asks for help, whichever characters of an answer have arrived before it, and nothing is typed into
 * the help. */
static void a_key_is_typed_within_an_answer(void **state) {
    (void)state;
    for (size_t sent = 1; sent < strlen(STATUS_ANSWER); sent++) {
        FarTerminal terminal = {
            .rate = 8000, .takes_at_once = true, .answers = true, .delay = 0.05, .pause = 0.015};
        start(&terminal, 0, "++++");
        far_terminal_show(&terminal, 10, 0, "1002h");
        far_terminal_type(&terminal, " ");
        size_t wanted = strlen(STATUS_ANSWER) + sent; /* of the second answer */
        for (int i = 0; i < 5000 && terminal.answered < wanted; i++)
            far_terminal_show(&terminal, 0.001, 0, NULL);
        assert_int_equal(terminal.answered, wanted);
        far_terminal_type(&terminal, "?");
        far_terminal_show(&terminal, 10, terminal.taken, "source line");
        far_terminal_type(&terminal, "q"); /* closes the help */
        quit(&terminal);
    }
}

/* It goes on playing, and quits at once. */
static void a_terminal_that_never_answers_is_as_any_other(void **state) {
    (void)state;
    FarTerminal terminal = {.rate = 1e6, .takes_at_once = true};
    start(&terminal, 0, "");
    far_terminal_show(&terminal, 10, 0, "1002h");
    far_terminal_type(&terminal, " ");
    far_terminal_show(&terminal, 1, 0, NULL); /* the program waited for it once */
    size_t before = terminal.shown;
    far_terminal_show(&terminal, 0.5, 0, NULL);
    assert_true(terminal.shown - before > 5 * 100); /* ten frames a second are five here, at the least */
    assert_int_equal(terminal.questions, 1);
    assert_true(quit(&terminal) < 2);
}

/* No part of an answer is a key: the screen stays unchanged, although each of its characters alone would draw
 * something. */
static void answers_draw_nothing(void **state) {
    (void)state;
    static const struct { double delay, pause; } late[] = {{0.3, 0}, {0.3, 0.08}};
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        FarTerminal terminal = {.rate = 1e6,
                                .takes_at_once = true,
                                .answers = true,
                                .delay = late[i].delay,
                                .pause = late[i].pause};
        start(&terminal, 0, "");
        far_terminal_show(&terminal, 10, 0, "\033[5n");
        size_t before = terminal.taken;
        far_terminal_show(&terminal, 0.8, 0, NULL);
        assert_int_equal(terminal.answered, 4);
        assert_int_equal(terminal.taken, before);
        quit(&terminal);
    }
}

/* The answer to the last question arrives after the key that quits: the shell does not receive it. */
static void a_late_answer_is_not_left_to_the_shell(void **state) {
    (void)state;
    FarTerminal terminal = {.rate = 1e6, .takes_at_once = true, .answers = true};
    start(&terminal, 0, "");
    far_terminal_show(&terminal, 10, 0, "\033[5n");
    far_terminal_show(&terminal, 0.2, 0, NULL);
    terminal.delay = 0.4;
    size_t questions = terminal.questions;
    far_terminal_type(&terminal, "?");
    for (int i = 0; i < 500 && terminal.questions == questions; i++)
        far_terminal_show(&terminal, 0.01, 0, NULL);
    assert_int_equal(terminal.questions, questions + 1);
    assert_int_equal(terminal.answered, 4 * questions);
    far_terminal_type(&terminal, "q");
    quit(&terminal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_declared_rate_is_waited_for),
        cmocka_unit_test(an_undeclared_rate_is_learned),
        cmocka_unit_test(many_bytes_are_asked_about),
        cmocka_unit_test(a_silent_terminal_is_asked_once),
        cmocka_unit_test(an_answer_is_never_keys),
        cmocka_unit_test(a_key_within_an_answer_is_the_only_key),
        cmocka_unit_test(a_declared_speed_is_kept),
        cmocka_unit_test(a_far_terminal_that_answers_is_waited_for),
        cmocka_unit_test(a_key_is_typed_within_an_answer),
        cmocka_unit_test(a_terminal_that_never_answers_is_as_any_other),
        cmocka_unit_test(answers_draw_nothing),
        cmocka_unit_test(a_late_answer_is_not_left_to_the_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
