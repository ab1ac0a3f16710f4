/* Values on their way while a run plays, and a slow terminal that is not sent more than it can show. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/session.h"
#include "tui/draw/output_queue.h"
#include "tui/motion.h"
#include "tui/panes/pane.h"
#include "tui/scene/beats.h"
#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* ---- frames ---------------------------------------------------------------------------------------------- */

static void at_most_ten_frames_a_second(void **state) {
    (void)state;
    for (int part = 1; part < 256; part *= 2) {
        double seconds = 1.0 / part;
        int frames = motion_frames(seconds);
        assert_true(frames >= 1 && (frames == 1 || frames / seconds <= 10));
    }
    assert_int_equal(motion_frames(1), 10);
    assert_true(motion_phase(0, 1, 0, 2) == 0.5 && motion_phase(0, 1, 1, 2) == 1);
    assert_true(motion_phase(1, 4, 0, 2) == 0.375 && motion_phase(3, 4, 1, 2) == 1);
}

/* ---- panes ----------------------------------------------------------------------------------------------- */

typedef struct Opened {
    Session *session;
    Scene *scene;
    View view;
} Opened;

static Opened open_kernel(const char *kernel) {
    SessionOptions options = {.kernel = kernel, .backend = BACKEND_EMULATOR};
    Error error = {0};
    Opened opened = {0};
    options.catalog.n = 1024;
    opened.session = session_open(&options, &error);
    if (!opened.session) fail_msg("%s: %s", kernel, error.message);
    opened.scene = scene_new(opened.session);
    view_init(&opened.view);
    return opened;
}

static void close_kernel(Opened *opened) {
    scene_free(opened->scene);
    session_free(opened->session);
}

/* The caller frees. */
static char *draw_pane(const Opened *opened, const Pane *pane, const View *view) {
    enum { COLUMNS = 120, ROWS = 20 };
    StepContext context;
    Text text = {0};
    Canvas *canvas = canvas_new(COLUMNS, ROWS, false);
    if (!step_context_init(&context, opened->scene, view)) fail_msg("no step");
    canvas_clear(canvas);
    pane->draw(&context, canvas, (Rectangle){0, 0, COLUMNS, ROWS});
    canvas_to_text(canvas, &text);
    canvas_free(canvas);
    char *copy = strdup(text_string(&text));
    text_done(&text);
    return copy;
}

/* A digit between two ends of a bracket. */
static bool has_value_in_bracket(const char *text) {
    const char *bracket = strstr(text, "├"), *end = bracket ? strchr(bracket, '\n') : NULL;
    for (; bracket && bracket < end; bracket++)
        if (isdigit((unsigned char)*bracket)) return true;
    return false;
}

static void check_still(const Opened *opened, const Pane *pane, const char *still) {
    View view = opened->view;
    view.transient.playing = true;
    char *arrived = draw_pane(opened, pane, &view);
    assert_string_equal(arrived, still);
    view.transient.phase = 0.5;
    view.display.still = true;
    char *off = draw_pane(opened, pane, &view);
    assert_string_equal(off, still);
    free(arrived), free(off);
}

/* At every beat: what arrives is drawn as ever; half-way, some values are between their boxes. */
static void values_travel_along_their_arrows(void **state) {
    (void)state;
    Opened opened = open_kernel("interleaved");
    const Beats *beats = scene_beats(opened.scene, 0);
    int moving = 0, in_brackets = 0;
    for (int beat = 0; beat < beats->count; beat++) {
        view_go_to_step(&opened.view, opened.scene, beats->step[beat]);
        char *still = draw_pane(&opened, &pane_reduction, &opened.view);
        View half = opened.view;
        half.transient.playing = true;
        half.transient.phase = 0.5;
        char *moves = draw_pane(&opened, &pane_reduction, &half);
        check_still(&opened, &pane_reduction, still);
        assert_false(has_value_in_bracket(still));
        moving += strcmp(still, moves) != 0;
        in_brackets += has_value_in_bracket(moves);
        free(still), free(moves);
    }
    assert_true(moving > 8 && in_brackets >= 3);
    close_kernel(&opened);
}

static int arrived_warps(const Opened *opened, double phase) {
    View view = opened->view;
    int arrived = -1;
    view.transient.playing = true;
    view.transient.phase = phase;
    char *text = draw_pane(opened, &pane_barrier, &view);
    sscanf(text, "%d of", &arrived);
    free(text);
    return arrived;
}

static void a_barrier_fills_up(void **state) {
    (void)state;
    Opened opened = open_kernel("interleaved");
    const StepIndex *index = scene_step_index(opened.scene, 0);
    int step = 0;
    while (index->step[step].kind != TRACE_BARRIER) step++;
    view_go_to_step(&opened.view, opened.scene, step);
    int all = arrived_warps(&opened, 1), half = arrived_warps(&opened, 0.5),
        few = arrived_warps(&opened, 0.1);
    assert_true(few >= 0 && few < half && half < all);
    char *still = draw_pane(&opened, &pane_barrier, &opened.view);
    check_still(&opened, &pane_barrier, still);
    free(still);
    close_kernel(&opened);
}

/* ---- how long a terminal needs ----------------------------------------------------------------------------- */

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

/* A system that queues 20,000 bytes, a terminal that takes 1,000 a second, and frames of 500 bytes ten times a second: once
 * the rate is known, each frame finds the queue empty. */
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

/* ---- a terminal at 9600 baud ------------------------------------------------------------------------------- */

typedef struct Slow {
    int master;
    pid_t program;
    char *seen;
    size_t length;
} Slow;

static Slow start_at_9600(void) {
    const char *set = getenv("REDVIZ_BIN"), *program = set ? set : "build/redviz";
    Slow slow = {.master = posix_openpt(O_RDWR | O_NOCTTY), .seen = calloc(1, 1 << 20)};
    struct winsize size = {.ws_col = 80, .ws_row = 24};
    struct termios modes;
    assert_true(slow.master >= 0 && !grantpt(slow.master) && !unlockpt(slow.master));
    int slave = open(ptsname(slow.master), O_RDWR | O_NOCTTY);
    ioctl(slave, TIOCSWINSZ, &size);
    tcgetattr(slave, &modes);
    cfsetospeed(&modes, B9600);
    tcsetattr(slave, TCSANOW, &modes);
    slow.program = fork();
    if (slow.program == 0) {
        setsid();
        ioctl(slave, TIOCSCTTY, 0);
        for (int fd = 0; fd < 3; fd++) dup2(slave, fd);
        putenv((char[]){"TERM=xterm-256color"});
        execl(program, program, "--kernel", "interleaved", "--n", "1024", (char *)NULL);
        _exit(127);
    }
    close(slave);
    return slow;
}

/* Takes 960 bytes a second for a while. */
static void show(Slow *slow, double seconds) {
    enum { EACH = 48 };
    for (int i = 0; i < (int)(seconds * 960 / EACH); i++) {
        struct pollfd file = {.fd = slow->master, .events = POLLIN};
        nanosleep(&(struct timespec){.tv_nsec = 1000000000L / 960 * EACH}, NULL);
        if (poll(&file, 1, 0) <= 0) continue;
        ssize_t count = read(slow->master, slow->seen + slow->length, EACH);
        if (count > 0) slow->length += (size_t)count;
    }
}

static void type_key(const Slow *slow, char key) {
    assert_int_equal(write(slow->master, &key, 1), 1);
}

static size_t bytes_until(Slow *slow, const char *text) {
    size_t from = slow->length;
    for (int i = 0; i < 60 && !strstr(slow->seen + from, text); i++) show(slow, 1);
    const char *found = strstr(slow->seen + from, text);
    if (!found) fail_msg("the terminal never showed \"%s\"", text);
    return (size_t)(found - slow->seen) - from;
}

/* Between a key and its answer lie at most the rest of one frame and the answer's own, however long the run has played: no
 * queue has grown. (A frame of play has about 600 bytes, the help 2,000; in ten seconds play makes 80 frames.) */
static void a_slow_terminal_answers(void **state) {
    (void)state;
    Slow slow = start_at_9600();
    bytes_until(&slow, "quit");
    show(&slow, 3);
    type_key(&slow, ' ');
    size_t before = slow.length;
    show(&slow, 10);
    assert_true(slow.length - before > 2000); /* it plays */
    type_key(&slow, '?');
    assert_true(bytes_until(&slow, "source line") < 4500);
    kill(slow.program, SIGTERM);
    show(&slow, 1);
    close(slow.master);
    waitpid(slow.program, NULL, 0);
    free(slow.seen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_most_ten_frames_a_second),
        cmocka_unit_test(values_travel_along_their_arrows),
        cmocka_unit_test(a_barrier_fills_up),
        cmocka_unit_test(a_declared_rate_is_waited_for),
        cmocka_unit_test(an_undeclared_rate_is_learned),
        cmocka_unit_test(a_slow_terminal_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
