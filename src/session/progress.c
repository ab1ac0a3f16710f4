#define _POSIX_C_SOURCE 200809L
#include "session/progress.h"

#include "base/clock.h"
#include "base/language.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct ProgressLine {
    const SessionProgress *of;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool is_over;
};

static void print_count(uint64_t count, Text *out) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    for (int i = 0; i < length; i++)
        text_print(out, "%s%c", i && (length - i) % 3 == 0 ? "," : "", digits[i]);
}

static void print_share(const char *format, uint64_t done, uint64_t all, Text *out) {
    Text one = {0}, other = {0};
    print_count(done, &one);
    print_count(all, &other);
    text_print(out, format, text_string(&one), text_string(&other));
    text_done(&one);
    text_done(&other);
}

void progress_follow(ProgressState *state, const SessionProgress *of, double seconds) {
    uint64_t done = of->done, blocks = of->blocks;
    const char *what = of->what;
    bool is_anew = done < state->done || (state->blocks && blocks != state->blocks);
    if (!state->run || what != state->what || !state->blocks) {
        state->run = 1;
        state->run_seconds = 0;
    } else if (is_anew) {
        state->run++;
        state->run_seconds = 0;
    } else {
        state->run_seconds += seconds - state->seconds;
    }
    state->done = done;
    state->blocks = blocks;
    state->what = what;
    state->seconds = seconds;
}

static void print_phase(const ProgressState *state, Text *out) {
    text_print(out, "%s: ", tr(state->what));
    if (state->blocks) {
        print_share(tr("%s of %s, "), state->done, state->blocks, out);
    } else if (state->done) {
        print_count(state->done, out);
        text_add(out, state->done == 1 ? tr(" launch, ") : tr(" launches, "));
    }
    text_print(out, "%.0f s", state->seconds);
}

void progress_print(const ProgressState *state, Text *out) {
    uint64_t done = state->done, blocks = state->blocks;
    if (state->what) {
        print_phase(state, out);
        return;
    }
    if (!blocks) {
        text_print(out, tr("reading and filling: %.0f s"), state->seconds);
        return;
    }
    if (state->run > 1) text_print(out, tr("run %d: "), state->run);
    print_share(blocks == 1 ? tr("%s of %s block") : tr("%s of %s blocks"), done, blocks, out);
    if (done && done < blocks && state->run_seconds >= 1)
        text_print(out, tr(", about %.0f s left"),
                   state->run_seconds / (double)done * (double)(blocks - done));
    if (done == blocks) text_print(out, tr(", examining the result: %.0f s"), state->seconds);
}

static void *show_line(void *context) {
    ProgressLine *progress = context;
    double begin = clock_seconds(), seconds = PROGRESS_AFTER_SECONDS;
    Text line = {0};
    ProgressState state = {0};
    pthread_mutex_lock(&progress->lock);
    while (!progress->is_over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until = clock_later(until, seconds);
        while (!progress->is_over && pthread_cond_timedwait(&progress->over, &progress->lock, &until) == 0)
            continue;
        if (progress->is_over) break;
        seconds = 1;
        text_clear(&line);
        progress_follow(&state, progress->of, clock_seconds() - begin);
        progress_print(&state, &line);
        fprintf(stderr, "\r\033[Kredviz: %s", text_string(&line));
        fflush(stderr);
    }
    if (line.length) fprintf(stderr, "\r\033[K");
    pthread_mutex_unlock(&progress->lock);
    text_done(&line);
    return NULL;
}

ProgressLine *progress_begin(const SessionProgress *of) {
    if (!isatty(STDERR_FILENO)) return NULL;
    ProgressLine *progress = memory_new(sizeof *progress);
    progress->of = of;
    pthread_mutex_init(&progress->lock, NULL);
    pthread_cond_init(&progress->over, NULL);
    if (pthread_create(&progress->thread, NULL, show_line, progress) == 0) return progress;
    free(progress);
    return NULL;
}

void progress_end(ProgressLine *progress) {
    if (!progress) return;
    pthread_mutex_lock(&progress->lock);
    progress->is_over = true;
    pthread_cond_signal(&progress->over);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    pthread_mutex_destroy(&progress->lock);
    pthread_cond_destroy(&progress->over);
    free(progress);
}
