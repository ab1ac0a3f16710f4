/* Measures waits of known length on this GPU, with right and with wrong probes.
 * Each rule of instrument/wait_probe.h avoids one of these. `make device` builds it; run it in the root of
 * the project.
 *
 * Ends with "N as they should be, N not"; exit 1 if one is not. */
#include "gpu/warp_measure.h"
#include "session/gpu.h"
#include "session/plain_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Kernel {
    const char *entry, *args;
    int grid, block;
} Kernel;

static const Kernel late_warp = {"late_warp", "in=int[256]:iota, out=int[256]", 1, 256};
static const Kernel chase = {"chase", "next=int[65536]:permutation, out=int[32], steps=2000", 1, 32};
static const Kernel eight_loads = {"eight_loads", "in=float[17301504]:random, out=float[67584], n=17301504",
                                   264, 256};

/* NULL with `error`. */
static WarpTimeline *measure(const Kernel *kernel, WarpWork work, Error *error) {
    RunSpec options = {.file = "tests/device/wait_kernels.cu",
                       .entry = kernel->entry,
                       .args = kernel->args,
                       .grid = {(uint32_t)kernel->grid},
                       .block = {(uint32_t)kernel->block},
                       .keep_inputs = true};
    Session *session = session_open(&options, error);
    Cuda *cuda = session ? session_gpu_take(error) : NULL;
    WarpTimeline *timeline = NULL;
    PlainRun plain = {0};
    Timer timer = {0};
    if (cuda && plain_run_open(&plain, session, cuda, false, error) && timer_new(&timer, cuda, error)) {
        work.run = (ResidencyWork){.plain = &plain.run,
                                   .launches = plain.launches,
                                   .programs = (const PtxProgram *const *)session->run->launches.programs,
                                   .count = session->run->launches.count,
                                   .restore = plain_run_restore,
                                   .context = &plain};
        work.kinds = WAIT_DEFAULT_KINDS;
        work.block = UINT64_MAX;
        gpu_measure_warps(&work, &timer, &timeline, error);
    }
    timer_free(&timer);
    plain_run_done(&plain);
    if (cuda) session_gpu_give_back(!timeline);
    session_free(session);
    return timeline;
}

/* The median length of waits of this kind, of all warps but the first. */
static double median_wait(const WarpTimeline *timeline, WarpActivity kind) {
    uint32_t lengths[1 << 14];
    int count = 0;
    for (int i = 0; i < timeline->line_count; i++)
        for (int k = 0; k < timeline->lines[i].wait_count && count < 1 << 14; k++) {
            const WarpWait *wait = &timeline->lines[i].waits[k];
            if (timeline->sites[wait->site].state != kind ||
                (timeline->lines[i].warp == 0 && kind == WARP_WAITS_BARRIER))
                continue;
            int at = count++;
            for (; at && lengths[at - 1] > wait->end - wait->begin; at--) lengths[at] = lengths[at - 1];
            lengths[at] = wait->end - wait->begin;
        }
    return count ? (double)lengths[count / 2] : -1;
}

static double longest_barrier(const WarpTimeline *timeline) {
    return median_wait(timeline, WARP_WAITS_BARRIER);
}

static double median_load(const WarpTimeline *timeline) {
    return median_wait(timeline, WARP_WAITS_GLOBAL);
}

static double slowdown(const WarpTimeline *timeline) {
    return timeline->traced_life / timeline->plain_life;
}

static int failed, passed;

static void check(const char *what, const Kernel *kernel, WarpWork work,
                  double (*figure)(const WarpTimeline *), double least, double most) {
    Error error = {0};
    WarpTimeline *timeline = measure(kernel, work, &error);
    double found = timeline ? figure(timeline) : -1;
    bool good = timeline && found >= least && found <= most;
    printf("%-58s %10.2f  (%g to %g)  %s%s\n", what, found, least, most, good ? "as it should be" : "NOT ",
           error.message);
    if (timeline)
        printf("    plain %.2f us, untraced %.2f, traced %.2f; a block lives %.0f cycles, traced %.0f; %llu "
               "dropped\n",
               timeline->plain_us, timeline->untraced_us, timeline->traced_us, timeline->plain_life,
               timeline->traced_life, (unsigned long long)timeline->dropped);
    fflush(stdout);
    good ? passed++ : failed++;
    warp_timeline_free(timeline);
}

int main(void) {
    WarpWork right = {.kinds = 0};
    check("barrier, a warp 3,000 cycles late", &late_warp, right, longest_barrier, 2500, 3600);
    check("  the same with a clock right behind the barrier", &late_warp,
          (WarpWork){.plain_barrier_clock = true}, longest_barrier, 0, 200);
    check("pointer chase, cycles of a load", &chase, right, median_load, 150, 1200);
    check("  the same with a clock that needs no value", &chase, (WarpWork){.plain_load_clock = true},
          median_load, 0, 60);
    check("eight loads at a time: a traced block lives longer", &eight_loads, right, slowdown, 0.8, 1.6);
    check("  the same with a clock between them", &eight_loads, (WarpWork){.keep_order = true}, slowdown, 1.6,
          20);
    printf("%d as they should be, %d not\n", passed, failed);
    return failed > 0;
}
