/* What the interface costs on this machine: prints figures, asserts nothing (`make bench`).
 *
 *   frames   CPU time of one frame, over every step and wavefront of a run
 *   seek     CPU time from a key to the frame, anywhere in a trace of a million events; memory of that
 * process */
#define _POSIX_C_SOURCE 200809L

#include "base/memory.h"
#include "tui/frame.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { COLUMNS = 200, ROWS = 60, SEEKS = 400 };

static double cpu_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static Session *open_session(const char *kernel, uint64_t n, uint32_t grid) {
    Error error = {0};
    SessionOptions options = {.kernel = kernel, .catalog = {.n = n, .grid = grid}};
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
    printf("  median %.3f ms   99%% %.3f ms   most %.3f ms\n", times[count / 2], times[count * 99 / 100],
           times[count - 1]);
}

static double time_frame(const Scene *scene, const View *view, Canvas *canvas) {
    double start = cpu_milliseconds();
    frame_draw(scene, view, canvas);
    return cpu_milliseconds() - start;
}

static void bench_frames(const char *kernel) {
    Session *session = open_session(kernel, 1 << 20, 0);
    Scene *scene = scene_new(session);
    Canvas *canvas = canvas_new(COLUMNS, ROWS, false);
    View view;
    double *times = NULL;
    int count = 0, capacity = 0;
    view_init(&view, scene);
    do array_push(times, count, capacity, time_frame(scene, &view, canvas));
    while (view_next_wavefront(&view, scene));
    printf("  %-20s %5d frames of %dx%d", kernel, count, COLUMNS, ROWS);
    print_times(times, count);
    free(times);
    canvas_free(canvas);
    scene_free(scene);
    session_free(session);
}

static void press(View *view, const Scene *scene, const char *script) {
    Key key;
    while (*script && keys_read(&script, &key, NULL)) view_press(view, scene, key);
}

/* One key after another at places all over the run: go to a step, step, line, interval, jumps that find
 * nothing. */
static void bench_seek(void) {
    static const char *const keys[] = {"l", "h", "j", "k", "]", "[", "n", "N",
                                       "d", "D", ".", ",", "w", "g", "G", "c"};
    enum { KEY_COUNT = sizeof keys / sizeof *keys };
    double start = cpu_milliseconds();
    Session *session = open_session("grid_stride", (uint64_t)1 << 24, 1);
    Scene *scene = scene_new(session);
    Canvas *canvas = canvas_new(COLUMNS, ROWS, false);
    View view;
    view_init(&view, scene);
    int steps = scene->views[0].steps->step_count;
    printf("  grid_stride: %d events, %d steps; opened in %.0f ms\n",
           trace_block_event_count(scene->views[0].block), steps, cpu_milliseconds() - start);
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

int main(void) {
    static const char *const kernels[] = {"interleaved", "strided", "shuffle", "vectorized_shared"};
    printf("frames\n");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) bench_frames(kernels[i]);
    printf("seek\n");
    bench_seek();
    return 0;
}
