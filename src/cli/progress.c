#define _POSIX_C_SOURCE 200809L
#include "cli/progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
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
    text_print(out, "%s: ", state->what);
    if (state->blocks) {
        print_count(state->done, out);
        text_add(out, " of ");
        print_count(state->blocks, out);
        text_add(out, ", ");
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
        text_print(out, "compiling, reading, filling: %.0f s", state->seconds);
        return;
    }
    if (state->run > 1) text_print(out, "run %d: ", state->run);
    print_count(done, out);
    text_add(out, " of ");
    print_count(blocks, out);
    text_print(out, " block%s", blocks == 1 ? "" : "s");
    if (done && done < blocks && state->run_seconds >= 1)
        text_print(out, ", about %.0f s left", state->run_seconds / (double)done * (double)(blocks - done));
    if (done == blocks) text_print(out, ", examining the result: %.0f s", state->seconds);
}

static void *tell(void *context) {
    ProgressLine *progress = context;
    struct timespec begin, next;
    clock_gettime(CLOCK_REALTIME, &begin);
    next = begin;
    Text line = {0};
    ProgressState state = {0};
    pthread_mutex_lock(&progress->lock);
    while (!progress->is_over) {
        next.tv_sec++;
        while (!progress->is_over && pthread_cond_timedwait(&progress->over, &progress->lock, &next) == 0)
            continue;
        if (progress->is_over) break;
        text_clear(&line);
        progress_follow(&state, progress->of, (double)(next.tv_sec - begin.tv_sec));
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
    if (pthread_create(&progress->thread, NULL, tell, progress) == 0) return progress;
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
