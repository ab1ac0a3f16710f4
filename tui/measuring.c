#define _POSIX_C_SOURCE 200809L

#include "measuring.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double REST_SECONDS = 2, END_SECONDS = 0.5;

typedef struct Job { /* copies a wish */
    MeasuringWish wish;
    Arena arena;
} Job;

struct Measuring {
    MeasureFunction *gpu, *cpu;
    void (*wake)(void);
    pthread_t thread;
    atomic_bool cancel;
    /* Guarded by the lock: */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Job *wanted; /* NULL: rest */
    bool is_changed, is_ending, has_ended;
    bool is_other;      /* the intervals already taken are of an earlier wish */
    Measurements found; /* not taken yet */
    char kernel[64];    /* the kernel being measured; "": none */
    char failure[256];
    bool is_news;
    /* Used by the thread alone: */
    bool gpu_is_there, gpu_failed;
    const char *kept_kernel; /* timed with its own settings, so the ladder's default does not apply */
};

/* ---- wishes -------------------------------------------------------------------------------------------- */

/* A run of unknown type is compared with sums of int. */
MeasuringWish measuring_wish(const Scene *scene) {
    Times times;
    MeasuringWish wish = {
        .of = {.kernel = scene->identity.row && !scene->identity.is_edited ? scene->identity.row->id : NULL}};
    CatalogOptions *options = &wish.of.catalog;
    times_gather(&times, scene);
    wish.cpu_n = times.n;
    if (scene->identity.row && scene->identity.options) *options = scene->identity.options->catalog;
    options->n = scene->identity.n;
    options->dtype = scene->identity.type == PTX_NO_TYPE ? PTX_S32 : scene->identity.type;
    options->op = *scene->identity.op ? scene->identity.op : "sum";
    return wish;
}

MeasuringWish measuring_ladder_wish(const Scene *scene, const View *view) {
    const ViewLadder *shown = &view->display.ladder;
    bool latencies = view->transient.overlay == OVERLAY_LATENCY;
    MeasuringWish wish = {.of.catalog.op = *scene->identity.op ? scene->identity.op : "sum"};
    if (!plan_type_parse(shown->dtype, &wish.of.catalog.dtype)) wish.of.catalog.dtype = PTX_S32;
    for (int i = 0; i < catalog_count() && latencies; i++)
        if (catalog_row(i)->latencies) wish = (MeasuringWish){.of.kernel = catalog_row(i)->id};
    wish.cpu_n = shown->n;
    return wish;
}

static Job *job_new(const MeasuringWish *wish) {
    Job *job = memory_new(sizeof *job);
    CatalogOptions *options = &job->wish.of.catalog;
    job->wish = *wish;
    job->wish.of.kernel = arena_copy_string(&job->arena, wish->of.kernel);
    options->op = arena_copy_string(&job->arena, options->op);
    options->fill_path = NULL;
    for (int i = 0; i < options->parameter_count; i++)
        options->parameters[i] = arena_copy_string(&job->arena, options->parameters[i]);
    return job;
}

static void job_free(Job *job) {
    if (!job) return;
    arena_done(&job->arena);
    free(job);
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_wish(const MeasuringWish *a, const MeasuringWish *b) {
    const CatalogOptions *x = &a->of.catalog, *y = &b->of.catalog;
    if (x->n != y->n || x->block != y->block || x->grid != y->grid || x->dtype != y->dtype ||
        a->cpu_n != b->cpu_n || a->once != b->once || !same_text(x->op, y->op) ||
        !same_text(a->of.kernel, b->of.kernel) || x->parameter_count != y->parameter_count)
        return false;
    for (int i = 0; i < x->parameter_count; i++)
        if (!same_text(x->parameters[i], y->parameters[i])) return false;
    return true;
}

/* ---- results, in the thread
 * ------------------------------------------------------------------------------ */

static void announce(Measuring *measuring) {
    measuring->is_news = true;
    pthread_mutex_unlock(&measuring->lock);
    measuring->wake();
}

static void see_machine(void *context, const BenchMachine *machine) {
    Measuring *measuring = context;
    (void)machine;
    measuring->gpu_is_there = true;
}

static void see_cell(void *context, const char *kernel, uint64_t n) {
    Measuring *measuring = context;
    (void)n;
    pthread_mutex_lock(&measuring->lock);
    snprintf(measuring->kernel, sizeof measuring->kernel, "%s", kernel);
    announce(measuring);
}

static void see_timing(void *context, const Timing *timing) {
    Measuring *measuring = context;
    if (same_text(measuring->kept_kernel, timing->kernel)) return;
    pthread_mutex_lock(&measuring->lock);
    measured_put_timing(&measuring->found, timing);
    announce(measuring);
}

static void see_value(void *context, const BenchValue *value) {
    Measuring *measuring = context;
    pthread_mutex_lock(&measuring->lock);
    measured_put_value(&measuring->found, value);
    announce(measuring);
}

static void see_interval(void *context, const BenchValue *of, const IntervalTime *time) {
    Measuring *measuring = context;
    (void)of;
    pthread_mutex_lock(&measuring->lock);
    if (!measuring->cancel) measured_put_interval(&measuring->found, time);
    announce(measuring);
}

/* ---- the thread
 * ------------------------------------------------------------------------------------------ */

static bool run(Measuring *measuring, MeasureFunction *measure, BenchOptions options, Error *error) {
    BenchSink sink = {.context = measuring,
                      .machine = measure == measuring->gpu ? see_machine : NULL,
                      .cell = see_cell,
                      .timing = see_timing,
                      .value = see_value,
                      .interval = see_interval};
    options.cancel = &measuring->cancel;
    return measuring->cancel || measure(&options, &sink, error) || measuring->cancel;
}

static void run_gpu(Measuring *measuring, const BenchOptions *options) {
    Error error = {0};
    const CatalogRow *row = options->kernel ? catalog_find(options->kernel, NULL) : NULL;
    BenchOptions ladder = *options, own = *options;
    own.intervals = true;
    bool good = !row || row->group == CATALOG_BUG || run(measuring, measuring->gpu, own, &error);
    ladder.kernel = NULL;
    ladder.catalog.parameter_count = 0;
    ladder.catalog.grid = 0;
    bool is_special = row && (options->catalog.parameter_count || options->catalog.grid);
    measuring->kept_kernel = is_special ? row->id : NULL;
    good = good && run(measuring, measuring->gpu, ladder, &error);
    measuring->kept_kernel = NULL;
    if (good) return;
    measuring->gpu_failed = true;
    pthread_mutex_lock(&measuring->lock);
    snprintf(measuring->failure, sizeof measuring->failure, "%.255s", error.message);
    announce(measuring);
}

static void measure_once(Measuring *measuring, const MeasuringWish *wish) {
    Error error = {0};
    BenchOptions cpu = {.catalog = wish->of.catalog};
    cpu.catalog.n = wish->cpu_n;
    cpu.catalog.parameter_count = 0;
    if (!measuring->gpu_failed) run_gpu(measuring, &wish->of);
    if (measuring->cpu && wish->cpu_n) run(measuring, measuring->cpu, cpu, &error);
    pthread_mutex_lock(&measuring->lock);
    measuring->kernel[0] = 0;
    announce(measuring);
}

static struct timespec seconds_from_now(clockid_t clock, double seconds) {
    struct timespec time;
    clock_gettime(clock, &time);
    return clock_later(time, seconds);
}

/* With the lock held, waits until something else is wanted or the pause is over. NULL: the thread must
 * end. */
static Job *next_job(Measuring *measuring, bool has_measured) {
    struct timespec until = seconds_from_now(CLOCK_MONOTONIC, REST_SECONDS);
    bool rested = !has_measured;
    while (!measuring->is_ending && !(measuring->wanted && (measuring->is_changed || rested))) {
        if (measuring->wanted && !measuring->wanted->wish.once)
            rested = pthread_cond_timedwait(&measuring->changed, &measuring->lock, &until) != 0;
        else
            pthread_cond_wait(&measuring->changed, &measuring->lock);
    }
    measuring->is_changed = false;
    measuring->cancel = measuring->is_ending;
    return measuring->is_ending ? NULL : job_new(&measuring->wanted->wish);
}

static void *work(void *context) {
    Measuring *measuring = context;
    Job *job;
    pthread_mutex_lock(&measuring->lock);
    for (bool has_measured = false; (job = next_job(measuring, has_measured)); has_measured = true) {
        pthread_mutex_unlock(&measuring->lock);
        measure_once(measuring, &job->wish);
        job_free(job);
        pthread_mutex_lock(&measuring->lock);
    }
    measuring->has_ended = true;
    pthread_cond_broadcast(&measuring->changed);
    pthread_mutex_unlock(&measuring->lock);
    return NULL;
}

/* ---- called by the interface
 * ----------------------------------------------------------------------------- */

static void measuring_free(Measuring *measuring) {
    pthread_mutex_destroy(&measuring->lock);
    pthread_cond_destroy(&measuring->changed);
    job_free(measuring->wanted);
    measured_done(&measuring->found);
    free(measuring);
}

Measuring *measuring_new(MeasureFunction *gpu, MeasureFunction *cpu, void (*wake)(void)) {
    Measuring *measuring = memory_new(sizeof *measuring);
    pthread_condattr_t monotonic;
    measuring->gpu = gpu;
    measuring->cpu = cpu;
    measuring->wake = wake;
    pthread_mutex_init(&measuring->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&measuring->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!pthread_create(&measuring->thread, NULL, work, measuring)) return measuring;
    measuring_free(measuring);
    return NULL;
}

void measuring_want(Measuring *measuring, const MeasuringWish *wish) {
    pthread_mutex_lock(&measuring->lock);
    bool is_same = measuring->wanted && wish && same_wish(&measuring->wanted->wish, wish);
    if (!is_same && (measuring->wanted || wish)) {
        job_free(measuring->wanted);
        measuring->wanted = wish ? job_new(wish) : NULL;
        measuring->is_changed = true;
        measuring->is_other = true;
        measuring->cancel = true;
        measuring->found.interval_count = 0;
        pthread_cond_broadcast(&measuring->changed);
    }
    pthread_mutex_unlock(&measuring->lock);
}

bool measuring_take(Measuring *measuring, Measurements *live, SceneTimings *status) {
    pthread_mutex_lock(&measuring->lock);
    bool is_news = measuring->is_news;
    for (int i = 0; i < measuring->found.timing_count; i++)
        measured_put_timing(live, &measuring->found.timings[i]);
    for (int i = 0; i < measuring->found.value_count; i++)
        measured_put_value(live, &measuring->found.values[i]);
    if (measuring->is_other) live->interval_count = 0;
    for (int i = 0; i < measuring->found.interval_count; i++)
        measured_put_interval(live, &measuring->found.intervals[i]);
    measured_done(&measuring->found);
    measuring->is_news = measuring->is_other = false;
    snprintf(status->measuring, sizeof status->measuring, "%s", measuring->kernel);
    snprintf(status->failure, sizeof status->failure, "%s", measuring->failure);
    pthread_mutex_unlock(&measuring->lock);
    return is_news;
}

bool measuring_end(Measuring *measuring) {
    struct timespec until = seconds_from_now(CLOCK_MONOTONIC, END_SECONDS);
    int late = 0;
    pthread_mutex_lock(&measuring->lock);
    measuring->is_ending = true;
    measuring->cancel = true;
    pthread_cond_broadcast(&measuring->changed);
    while (!measuring->has_ended && !late)
        late = pthread_cond_timedwait(&measuring->changed, &measuring->lock, &until);
    bool has_ended = measuring->has_ended;
    pthread_mutex_unlock(&measuring->lock);
    if (!has_ended) return false;
    pthread_join(measuring->thread, NULL);
    if (measuring->gpu_is_there && measuring->gpu_failed) return false;
    measuring_free(measuring);
    return true;
}
