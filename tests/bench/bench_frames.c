/* The cost of the interface on this machine: prints figures, asserts nothing (`make bench`).
 *
 *   frames    CPU time of one frame, over every step and wavefront of a run
 *   seek      CPU time from a key to the frame, anywhere in a trace of a million events; its memory
 *   terminal  the program on a pseudo-terminal: from its start to the first frame, bytes it sends for a step,
 *             CPU time it takes while no key is pressed */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include "base/memory.h"
#include "tests/bench/terminal.h"
#include "tui/frame.h"
#include "tui/input.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COLUMNS = 200, ROWS = 60, SEEKS = 400, STARTS = 9, PATIENCE_MILLISECONDS = 60, IDLE_SECONDS = 2 };

static double milliseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static double cpu_milliseconds(void) {
    return milliseconds(CLOCK_PROCESS_CPUTIME_ID);
}

static Session *open_session(const char *kernel, uint64_t n, uint32_t grid) {
    Error error = {0};
    RunSpec options = {.kernel = kernel, .catalog = {.n = n, .grid = grid}};
    Session *session = session_open(&options, &error);
    if (session) return session;
    error_print(&error, stderr);
    exit(1);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print_times(double *times, int count) {
    qsort(times, (size_t)count, sizeof *times, by_value);
    printf(" median %.3f ms   99%% %.3f ms   most %.3f ms\n", times[count / 2], times[count * 99 / 100],
           times[count - 1]);
}

static double time_frame(const Scene *scene, const View *view, Canvas *canvas) {
    double start = cpu_milliseconds();
    frame_draw(scene, view, canvas);
    return cpu_milliseconds() - start;
}

static void bench_frames(const char *kernel, ShownPicture picture) {
    static const char *const names[SHOWN_PICTURE_COUNT] = {
        [SHOW_REDUCTION] = "reduction", [SHOW_INSTRUCTION] = "step", [SHOW_RESULT_TREE] = "tree"};
    Session *session = open_session(kernel, 1 << 20, 0);
    Scene *scene = scene_new(session);
    Canvas *canvas = canvas_new(COLUMNS, ROWS, false);
    View view;
    int count = 0, capacity = 1024;
    double *times = memory_new((size_t)capacity * sizeof *times);
    view_init(&view);
    view.display.picture = picture;
    for (bool more = true; more; more = view_next_wavefront(&view, scene))
        array_push(times, count, capacity, time_frame(scene, &view, canvas));
    printf("  %-18s%-10s %5d frames of %dx%d", kernel, names[picture], count, COLUMNS, ROWS);
    print_times(times, count);
    free(times);
    canvas_free(canvas);
    scene_free(scene);
    session_free(session);
}

static void press(View *view, const Scene *scene, const char *script) {
    Key key;
    while (*script && keys_read(&script, &key, NULL)) input_press(view, scene, keys_decode(key));
}

/* One key after another at places throughout the run: go to a step, beat, step, line, level, jumps that find
 * nothing. */
static void bench_seek(void) {
    static const char *const keys[] = {"l", "h", ">", "<Less>", "j", "k", "]", "[", "n", "N", "d",
                                       "D", "b", "B", "e",      "E", ".", ",", "w", "g", "G"};
    enum { KEY_COUNT = sizeof keys / sizeof *keys };
    double start = cpu_milliseconds();
    Session *session = open_session("grid_stride", (uint64_t)1 << 24, 1);
    Scene *scene = scene_new(session);
    Canvas *canvas = canvas_new(COLUMNS, ROWS, false);
    View view;
    view_init(&view);
    int steps = scene->traced.blocks[0].steps->step_count;
    printf("  grid_stride: %d events, %d steps; opened in %.0f ms\n",
           trace_block_event_count(scene->traced.blocks[0].block), steps, cpu_milliseconds() - start);
    printf("  first frame %.0f ms\n", time_frame(scene, &view, canvas));
    double times[SEEKS];
    for (int key = 0; key < KEY_COUNT; key++) {
        for (int i = 0; i < SEEKS; i++) {
            view_go_to_step(&view, scene, (int)((int64_t)i * 7919 % steps));
            start = cpu_milliseconds();
            press(&view, scene, keys[key]);
            frame_draw(scene, &view, canvas);
            times[i] = cpu_milliseconds() - start;
        }
        printf("  %-6s", keys[key]);
        print_times(times, SEEKS);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("  memory: %ld MB\n", usage.ru_maxrss / 1024);
    canvas_free(canvas);
    scene_free(scene);
    session_free(session);
}

static SessionWarps made; /* what the scene below returns */

static const SessionWarps *answer_made(void *context) {
    (void)context;
    return &made;
}

/* Warps in time, with 256 warps of 100 waits, at every step of a run. */
static void bench_warps(void) {
    enum { WARPS = 256, WAITS = 100, PER_BLOCK = 8 };
    Session *session = open_session("sequential", 1 << 20, 0);
    Scene *scene = scene_new(session);
    Canvas *canvas = canvas_new(COLUMNS, ROWS, false);
    WarpTimeline *timeline = warp_timeline_new(1, 1, WARPS);
    View view;
    int count = 0, capacity = 1024;
    double *times = memory_new((size_t)capacity * sizeof *times);
    timeline->of.kernel = timeline->of.dtype = timeline->of.op = timeline->of.machine = timeline->of.driver =
        timeline->of.measured = "";
    timeline->sites[0] = (WarpSite){.state = WARP_WAITS_BARRIER, .pc = 30, .load = -1, .line = 29};
    for (uint32_t i = 0; i < WARPS; i++) {
        WarpLine *line = &timeline->lines[i];
        *line = (WarpLine){.block = i / PER_BLOCK, .warp = i % PER_BLOCK, .slot = i, .end = WAITS * 100};
        line->waits = arena_new(&timeline->arena, WAITS * sizeof *line->waits);
        line->wait_count = WAITS;
        for (uint32_t k = 0; k < WAITS; k++)
            line->waits[k] = (WarpWait){k * 100 + i % 50, k * 100 + 90, 0, 0};
    }
    warp_timeline_finish(timeline);
    made = (SessionWarps){.timelines = &timeline, .count = 1};
    scene->questions.warps = answer_made;
    view_init(&view);
    view.display.picture = SHOW_WARPS;
    view.display.zoomed = true;
    do array_push(times, count, capacity, time_frame(scene, &view, canvas));
    while (view_next_wavefront(&view, scene));
    printf("  %d warps of %d waits %5d frames of %dx%d", WARPS, WAITS, count, COLUMNS, ROWS);
    print_times(times, count);
    free(times);
    warp_timeline_free(timeline);
    canvas_free(canvas);
    scene_free(scene);
    session_free(session);
}

/* The tree of the largest block that can be replayed, at places throughout the run. */
static void bench_tree(void) {
    Session *session = open_session("grid_stride", 1 << 20, 1);
    Scene *scene = scene_new(session);
    Canvas *canvas = canvas_new(COLUMNS, ROWS, false);
    View view;
    double times[SEEKS];
    view_init(&view);
    int steps = scene->traced.blocks[0].steps->step_count;
    for (int tree = SHOW_LANE_TREE; tree < SHOWN_PICTURE_COUNT; tree++) {
        view.display.picture = (ShownPicture)tree;
        printf("  tree of %d events: first %.0f ms", trace_block_event_count(scene->traced.blocks[0].block),
               time_frame(scene, &view, canvas));
        for (int i = 0; i < SEEKS; i++) {
            view_go_to_step(&view, scene, (int)((int64_t)i * 7919 % steps));
            times[i] = time_frame(scene, &view, canvas);
        }
        print_times(times, SEEKS);
    }
    canvas_free(canvas);
    scene_free(scene);
    session_free(session);
}

/* ---- on a pseudo-terminal ------------------------------------------------------------------------------ */

/* Bytes that arrive until none arrive for a moment; waits at most `patience` milliseconds for the first. 0:
 * the end. */
static size_t receive(const Terminal *terminal, int patience) {
    static char bytes[65536];
    size_t sum = 0;
    struct pollfd file = {.fd = terminal->master, .events = POLLIN};
    while (poll(&file, 1, sum ? PATIENCE_MILLISECONDS : patience) > 0) {
        ssize_t count = read(terminal->master, bytes, sizeof bytes);
        if (count <= 0) break;
        sum += (size_t)count;
    }
    return sum;
}

/* Reads until the timeline of the first frame, near its end, arrives. */
static void receive_frame(const Terminal *terminal) {
    char bytes[1 << 17];
    size_t sum = 0;
    for (ssize_t count; sum + 1 < sizeof bytes; sum += (size_t)count) {
        count = read(terminal->master, bytes + sum, sizeof bytes - 1 - sum);
        if (count <= 0) break;
        bytes[sum + (size_t)count] = 0;
        if (strstr(bytes, "beat ")) return;
    }
    fprintf(stderr, "the program shows no first step\n");
    exit(1);
}

static size_t type_key(const Terminal *terminal, char key) {
    return write(terminal->master, &key, 1) == 1 ? receive(terminal, 1000) : 0;
}

/* Returns the milliseconds of CPU time that it took. */
static double stop_program(Terminal *terminal) {
    struct rusage usage = {0};
    type_key(terminal, 'q');
    close(terminal->master);
    wait4(terminal->program, NULL, 0, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-3;
}

/* CPU time that the program has used, in clock ticks; -1 if the system does not report it. */
static long cpu_ticks(pid_t program) {
    char path[64], text[1024] = "";
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)program);
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    const char *end = length ? strrchr(text, ')') : NULL;
    return end && sscanf(end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) == 2
               ? (long)(user + system)
               : -1;
}

static void bench_start(const char *kernel) {
    double times[STARTS], cpu[STARTS];
    for (int i = 0; i < STARTS; i++) {
        double start = milliseconds(CLOCK_MONOTONIC);
        Terminal terminal = terminal_start(kernel, "", true, COLUMNS, ROWS);
        receive_frame(&terminal);
        times[i] = milliseconds(CLOCK_MONOTONIC) - start;
        cpu[i] = stop_program(&terminal);
    }
    printf("  %-18s from start to the first frame:         ", kernel);
    print_times(times, STARTS);
    printf("  %-18s CPU time of start, first frame and end:", kernel);
    print_times(cpu, STARTS);
}

/* Every beat from where the run opens, forwards; then nothing. */
static void bench_steps(const char *kernel) {
    double bytes[512];
    int count = 0;
    Terminal terminal = terminal_start(kernel, "", true, COLUMNS, ROWS);
    size_t first = receive(&terminal, 10000);
    for (size_t got; count < 512 && (got = type_key(&terminal, 'l')) > 0;) bytes[count++] = (double)got;
    if (count < 2) {
        fprintf(stderr, "  %s: the program shows nothing here\n", kernel);
        exit(1);
    }
    qsort(bytes, (size_t)count, sizeof *bytes, by_value);
    printf("  %-18s %d beats: first frame %zu bytes; a beat: median %.0f bytes   99%% %.0f   most %.0f\n",
           kernel, count, first, bytes[count / 2], bytes[count * 99 / 100], bytes[count - 1]);
    long before = cpu_ticks(terminal.program);
    sleep(IDLE_SECONDS);
    long after = cpu_ticks(terminal.program);
    if (before >= 0)
        printf("  %-18s idle for %d s: %.0f ms of CPU time\n", kernel, IDLE_SECONDS,
               (double)(after - before) * 1e3 / (double)sysconf(_SC_CLK_TCK));
    stop_program(&terminal);
}

int main(void) {
    static const char *const kernels[] = {"interleaved", "strided", "shuffle", "vectorized_shared"};
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("frames\n");
    static const ShownPicture pictures[] = {SHOW_REDUCTION, SHOW_INSTRUCTION, SHOW_RESULT_TREE};
    for (size_t p = 0; p < sizeof pictures / sizeof *pictures; p++)
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) bench_frames(kernels[i], pictures[p]);
    bench_warps();
    printf("seek\n");
    bench_seek();
    bench_tree();
    printf("terminal\n");
    bench_start("interleaved");
    bench_start("grid_stride");
    bench_steps("strided");
    return 0;
}
