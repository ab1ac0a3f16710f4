/* The answer to a changed setting on this machine: prints figures, asserts nothing (`make bench`).
 *
 * From the key to the frame: the run as the interface opens it, its scene, the place kept, a frame of
 * 120x40. */
#define _POSIX_C_SOURCE 200809L

#include "tui/frame.h"
#include "tui/view/view.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static Session *open_session(const RunSpec *options) {
    Error error = {0};
    Session *session = session_open(options, &error);
    if (session) return session;
    error_print(&error, stderr);
    exit(1);
}

/* The longest answer to a step of any setting, there and back. */
static double longest_answer(const char *kernel) {
    RunSpec options = {.kernel = kernel, .catalog = {.n = 4096, .prefers_digits = true}};
    options.first_look = true;
    Session *session = open_session(&options);
    Scene *scene = scene_new(session);
    double longest = 0;
    View view;
    view_init(&view);
    view_open(&view, scene);
    settings_init(&view.transient.settings, scene);
    for (int i = 0; i < settings_count(&view.transient.settings); i++)
        for (int back = 0; back < 2; back++) {
            Arena arena = {0};
            double start = seconds();
            view.transient.settings.choice = i;
            settings_press(&view.transient.settings, back ? SPECIAL_LEFT : SPECIAL_RIGHT);
            options = settings_options(&view.transient.settings, session_spec(session), &arena);
            options.first_look = true;
            Session *next = open_session(&options);
            Scene *shown = scene_new(next);
            keep_place(&view, scene, shown);
            Canvas *canvas = canvas_new(120, 40, false);
            frame_draw(shown, &view, canvas);
            double answer = seconds() - start;
            if (answer > longest) longest = answer;
            canvas_free(canvas);
            scene_free(scene);
            session_free(session);
            arena_done(&arena);
            scene = shown;
            session = next;
        }
    scene_free(scene);
    session_free(session);
    return longest;
}

int main(void) {
    static const char *const kernels[] = {
        "interleaved",     "strided",     "shuffle", "vectorized_shuffle",
        "lab_bank_stride", "grid_stride", "cluster", "lab_divergent_branch"};
    printf("settings, n = 4096: the longest answer to a changed value\n");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        printf("  %-22s %6.1f ms\n", kernels[i], longest_answer(kernels[i]) * 1e3);
    return 0;
}
