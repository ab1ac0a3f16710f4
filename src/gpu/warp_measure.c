#include "gpu/warp_measure.h"

#include "base/memory.h"
#include "gpu/variables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TIMING_SECONDS = 0.05, LONG_SECONDS = 0.05;
static const uint64_t MOST_BYTES = UINT64_C(1) << 29;
enum {
    LEAST_ROOM = 512,
    MOST_ROOM = 1 << 15,
    LEAST_TIMES = 9,
    ROUNDS = 4, /* over all multiprocessors, in search of a block: it may move between runs */
    SHARED_STEP = 1024,
    SHARED_MOST = 256 << 10 /* more than any multiprocessor has */
};

typedef enum Version { PLAIN, UNTRACED, TRACED, VERSIONS } Version;

typedef struct WarpProbe {
    const WarpWork *work;
    Timer *timer;
    Cuda *cuda;
    WaitProbeOptions options;
    WaitSites sites;
    GpuRun run; /* without buffers of its own */
    GpuVariables variables;
    GpuLaunch *plain, *launches; /* [count] of the original module; of that with probes */
    CudaAddress records;         /* a buffer for each launch, one after another */
    int multiprocessor;
} WarpProbe;

/* ---- preparing ----------------------------------------------------------------------------------------- */

/* The dynamic shared memory with which a multiprocessor holds `wanted` blocks. */
static bool limit_residency(const GpuRun *run, GpuLaunch *launch, uint32_t wanted, Error *error) {
    uint32_t own = launch->launch.dynamic_shared_bytes, blocks = 0;
    uint32_t multiprocessors = (uint32_t)run->cuda->multiprocessors;
    Error ignored = {0};
    for (uint32_t bytes = own; bytes <= SHARED_MOST; bytes += SHARED_STEP) {
        launch->launch.dynamic_shared_bytes = bytes;
        if (!gpu_run_prepare(run, launch, &ignored) ||
            !gpu_run_resident_blocks(run, launch, &blocks, &ignored))
            break;
        blocks /= multiprocessors;
        if (blocks == wanted) return true;
        if (blocks && blocks < wanted) break; /* none: with its static memory more than is granted unasked */
    }
    launch->launch.dynamic_shared_bytes = own;
    return error_set(error, "a multiprocessor cannot be made to hold %u block%s of %u threads", wanted,
                     wanted == 1 ? "" : "s", (unsigned)launch_volume(launch->launch.block));
}

static bool prepare(const WarpProbe *probed, const GpuRun *run, GpuLaunch *launch, Error *error) {
    return (probed->work->resident ? limit_residency(run, launch, probed->work->resident, error)
                                   : gpu_run_prepare(run, launch, error)) &&
           gpu_run_check_cooperative(run, launch, error);
}

static void unload(WarpProbe *probed) {
    if (probed->records && !probed->cuda->hung) probed->cuda->table.cuMemFree(probed->records);
    probed->records = 0;
    gpu_variables_done(&probed->variables);
    gpu_run_end(&probed->run);
    probed->run = (GpuRun){.cuda = NULL};
    free(probed->sites.sites);
    probed->sites = (WaitSites){.sites = NULL};
}

/* The module with probes that have room for `room` records a lane. */
static bool load(WarpProbe *probed, uint32_t room, Error *error) {
    const ResidencyWork *run = &probed->work->run;
    Text text = {0};
    probed->options = (WaitProbeOptions){.kinds = probed->work->kinds,
                                         .room = room,
                                         .full_warps = true,
                                         .plain_barrier_clock = probed->work->plain_barrier_clock,
                                         .plain_load_clock = probed->work->plain_load_clock,
                                         .keep_order = probed->work->keep_order};
    probed->options.slots = (uint32_t)(MOST_BYTES / (unsigned)run->count /
                                       (wait_slot_bytes(&probed->options) + WAIT_HEADER_BYTES));
    if (probed->options.slots > WARP_MOST_LINES / (unsigned)run->count)
        probed->options.slots = WARP_MOST_LINES / (unsigned)run->count;
    for (int i = 0; i < run->count; i++)
        probed->options.full_warps &= launch_volume(run->launches[i].launch.block) % 32 == 0;
    bool good = instrument_waits(run->programs, run->count, &probed->options, &text, &probed->sites, error) &&
                gpu_run_begin(&probed->run, probed->cuda, text_string(&text), error) &&
                gpu_variables_keep(&probed->variables, &probed->run, run->programs[0]->module, error) &&
                cuda_allocate(probed->cuda, wait_buffer_bytes(&probed->options) * (uint64_t)run->count,
                              &probed->records, error);
    text_done(&text);
    for (int i = 0; good && i < run->count; i++) {
        probed->launches[i] = run->launches[i];
        probed->launches[i].has_extra = true;
        good = prepare(probed, &probed->run, &probed->launches[i], error);
    }
    return good;
}

/* ---- one run ------------------------------------------------------------------------------------------- */

typedef struct ProbedLaunches {
    WarpProbe *probed;
    Version version;
} ProbedLaunches;

static bool enqueue(void *context, Error *error) {
    const ProbedLaunches *launched = context;
    WarpProbe *probed = launched->probed;
    const ResidencyWork *run = &probed->work->run;
    bool is_plain = launched->version == PLAIN;
    for (int i = 0; i < run->count; i++) {
        GpuLaunch *launch = is_plain ? &probed->plain[i] : &probed->launches[i];
        if (!is_plain)
            launch->extra =
                wait_parameter(probed->records + wait_buffer_bytes(&probed->options) * (uint64_t)i,
                               launched->version == TRACED ? probed->multiprocessor : -1);
        if (!gpu_run_launch(is_plain ? run->plain : &probed->run, launch, error)) return false;
    }
    return true;
}

static bool run_once(WarpProbe *probed, Version version, double *microseconds, Error *error) {
    Cuda *cuda = probed->cuda;
    const ResidencyWork *run = &probed->work->run;
    uint64_t stride = wait_buffer_bytes(&probed->options), front = wait_front_bytes(&probed->options);
    ProbedLaunches launched = {probed, version};
    if (run->restore &&
        (!run->restore(run->context, error) || !gpu_variables_restore(&probed->variables, cuda, error)))
        return false;
    for (int i = 0; version == TRACED && i < run->count; i++)
        if (!CUDA_CALL(cuda, error, cuMemsetD8Async, probed->records + stride * (uint64_t)i, 0, front,
                       cuda->stream))
            return false;
    return time_once(probed->timer, true, enqueue, &launched, "a kernel whose warps are timed", microseconds,
                     error);
}

static bool measure_times(WarpProbe *probed, WarpTimeline *timeline, Error *error) {
    Samples samples[VERSIONS];
    double *const medians[VERSIONS] = {&timeline->plain_us, &timeline->untraced_us, &timeline->traced_us},
                  once;
    for (int i = 0; i < VERSIONS; i++)
        if (!run_once(probed, (Version)i, medians[i], error))
            return false; /* the first one loads the module */
    if (*medians[PLAIN] > LONG_SECONDS * 1e6) return true;
    for (int i = 0; i < VERSIONS; i++) samples_begin(&samples[i], LEAST_TIMES, TIMING_SECONDS);
    while (samples_wanted(&samples[PLAIN]) || samples_wanted(&samples[UNTRACED]) ||
           samples_wanted(&samples[TRACED]))
        for (int i = 0; i < VERSIONS; i++) {
            if (!run_once(probed, (Version)i, &once, error)) return false;
            samples_add(&samples[i], once);
        }
    for (int i = 0; i < VERSIONS; i++) *medians[i] = samples_spread(&samples[i]).median;
    return true;
}

/* ---- records ------------------------------------------------------------------------------------------- */

typedef struct Slots {       /* what was recorded of all launches */
    uint8_t *bytes;          /* their buffers; NULL: not read */
    uint32_t *used;          /* [count] warps with a slot */
    uint64_t warps, dropped; /* warps with a slot; waits without room */
} Slots;

static WaitHeader header_of(const WarpProbe *probed, const Slots *slots, int launch, uint32_t slot) {
    WaitHeader header;
    memcpy(&header,
           slots->bytes + wait_buffer_bytes(&probed->options) * (uint64_t)launch + WAIT_COUNTER_BYTES +
               (size_t)WAIT_HEADER_BYTES * slot,
           sizeof header);
    return header;
}

static const WaitRecord *records_of(const WarpProbe *probed, const Slots *slots, int launch, uint32_t slot,
                                    int lane) {
    return (const WaitRecord *)(slots->bytes + wait_buffer_bytes(&probed->options) * (uint64_t)launch +
                                wait_front_bytes(&probed->options) +
                                wait_slot_bytes(&probed->options) * slot) +
           (size_t)lane * probed->options.room;
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static bool read_launch(const WarpProbe *probed, int launch, Slots *slots, Error *error) {
    const WaitProbeOptions *options = &probed->options;
    uint64_t at = wait_buffer_bytes(options) * (uint64_t)launch, front = wait_front_bytes(options);
    uint32_t wanted;
    if (!CUDA_CALL(probed->cuda, error, cuMemcpyDtoH, slots->bytes + at, probed->records + at, front))
        return false;
    memcpy(&wanted, slots->bytes + at, sizeof wanted);
    slots->used[launch] = least(wanted, options->slots);
    slots->warps += slots->used[launch];
    for (uint32_t i = 0; i < slots->used[launch]; i++) {
        WaitHeader header = header_of(probed, slots, launch, i);
        for (int lane = 0; lane < WAIT_LANES; lane++)
            slots->dropped += header.counts[lane] - least(header.counts[lane], options->room);
    }
    return !slots->used[launch] ||
           CUDA_CALL(probed->cuda, error, cuMemcpyDtoH, slots->bytes + at + front,
                     probed->records + at + front, wait_slot_bytes(options) * slots->used[launch]);
}

static bool read_slots(const WarpProbe *probed, Slots *slots, Error *error) {
    int launches = probed->work->run.count;
    *slots = (Slots){.bytes = memory_new((size_t)(wait_buffer_bytes(&probed->options) * (uint64_t)launches)),
                     .used = memory_new((size_t)launches * sizeof *slots->used + 1)};
    for (int i = 0; i < launches; i++)
        if (!read_launch(probed, i, slots, error)) return false;
    return true;
}

static void slots_done(Slots *slots) {
    free(slots->bytes);
    free(slots->used);
    *slots = (Slots){.bytes = NULL};
}

/* That was asked for. */
static bool has_block(const WarpProbe *probed, const Slots *slots) {
    if (probed->work->block == UINT64_MAX) return slots->warps > 0;
    for (int i = 0; i < probed->work->run.count; i++)
        for (uint32_t k = 0; k < slots->used[i]; k++)
            if (header_of(probed, slots, i, k).block == probed->work->block) return true;
    return false;
}

/* Runs with one multiprocessor after the other until one has the block. The first run has loaded the
 * module. */
static bool find_block(WarpProbe *probed, Slots *slots, Error *error) {
    double microseconds;
    int multiprocessors = probed->cuda->multiprocessors;
    if (!run_once(probed, TRACED, &microseconds, error)) return false;
    for (int i = 0; i < ROUNDS * multiprocessors; i++) {
        if (!run_once(probed, TRACED, &microseconds, error)) return false;
        slots_done(slots);
        if (!read_slots(probed, slots, error)) return false;
        if (has_block(probed, slots)) return true;
        probed->multiprocessor = (probed->multiprocessor + 1) % multiprocessors;
    }
    error_set(error, "no multiprocessor had the block");
    return false;
}

/* Runs with more room as long as waits are dropped. */
static bool record(WarpProbe *probed, Slots *slots, Error *error) {
    for (uint32_t room = LEAST_ROOM;; room *= 4) {
        if (!load(probed, room, error) || !find_block(probed, slots, error)) return false;
        if (!slots->dropped || room >= MOST_ROOM) return true;
        unload(probed);
    }
}

static void take_line(const WarpProbe *probed, const Slots *slots, int launch, uint32_t slot, uint64_t origin,
                      WarpTimeline *timeline, WarpLine *line) {
    WaitHeader header = header_of(probed, slots, launch, slot);
    size_t count = 0;
    for (int lane = 0; lane < WAIT_LANES; lane++) count += least(header.counts[lane], probed->options.room);
    *line = (WarpLine){.launch = launch,
                       .block = header.block,
                       .warp = header.warp,
                       .slot = header.warp_slot,
                       .begin = (uint32_t)(header.start - origin),
                       .end = (uint32_t)(header.end - origin)};
    line->waits = arena_new(&timeline->arena, count * sizeof *line->waits + 1);
    for (int lane = 0; lane < WAIT_LANES; lane++) {
        const WaitRecord *records = records_of(probed, slots, launch, slot, lane);
        for (uint32_t i = 0; i < least(header.counts[lane], probed->options.room); i++) {
            uint32_t duration = records[i].duration & WAIT_LONGEST, site = records[i].duration >> 20;
            uint32_t floor = wait_floors[probed->sites.sites[site].state];
            duration = duration > floor ? duration - floor : 0;
            uint32_t end = records[i].end - (uint32_t)origin;
            line->waits[line->wait_count++] =
                (WarpWait){end > duration ? end - duration : 0, end, (uint16_t)site, (uint8_t)lane};
        }
    }
}

/* The clock when the first warp came. False with `error`: a time since then does not fit a timeline. */
static bool find_origin(const WarpProbe *probed, const Slots *slots, uint64_t *origin, Error *error) {
    uint64_t last = 0;
    *origin = UINT64_MAX;
    for (int i = 0; i < probed->work->run.count; i++)
        for (uint32_t k = 0; k < slots->used[i]; k++) {
            WaitHeader header = header_of(probed, slots, i, k);
            if (header.entered < *origin) *origin = header.entered;
            if (header.end > last) last = header.end;
        }
    return last - *origin <= WARP_MOST_CYCLES ||
           error_set(error, "the run takes more than %d cycles, too long for a timeline", WARP_MOST_CYCLES);
}

static WarpTimeline *take_slots(const WarpProbe *probed, const Slots *slots, uint64_t origin) {
    const ResidencyWork *run = &probed->work->run;
    WarpTimeline *timeline = warp_timeline_new(run->count, probed->sites.count, (int)slots->warps);
    int lines = 0;
    timeline->of.machine = arena_copy_string(&timeline->arena, probed->cuda->name);
    timeline->multiprocessor = (uint32_t)probed->multiprocessor;
    timeline->resident = probed->work->resident;
    timeline->is_order_only = (probed->work->kinds & ~(unsigned)WAIT_DEFAULT_KINDS) != 0;
    timeline->dropped = slots->dropped;
    for (int i = 0; i < run->count; i++)
        for (uint32_t k = 0; k < slots->used[i]; k++)
            take_line(probed, slots, i, k, origin, timeline, &timeline->lines[lines++]);
    memcpy(timeline->sites, probed->sites.sites, (size_t)probed->sites.count * sizeof *timeline->sites);
    for (int i = 0; i < run->count; i++) {
        const Launch *launch = &run->launches[i].launch;
        WarpLaunch *to = &timeline->launches[i];
        to->entry = arena_copy_string(
            &timeline->arena, ptx_readable_name(launch->program->module, launch->program->entry->name));
        memcpy(to->grid, launch->grid, sizeof to->grid);
        memcpy(to->block, launch->block, sizeof to->block);
    }
    warp_timeline_finish(timeline);
    return timeline;
}

/* ---- lives of blocks ----------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    if (!count) return (double)NAN;
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

typedef struct BlockLife {
    uint64_t block, entered, end;
} BlockLife;

static int compare_blocks(const void *a, const void *b) {
    const BlockLife *x = a, *y = b;
    return (x->block > y->block) - (x->block < y->block);
}

/* Cycles from the first to the last of a block's warps, with what the probe does before the kernel's own
 * code. */
static double traced_life(const WarpProbe *probed, const Slots *slots) {
    BlockLife *blocks = memory_new((size_t)slots->warps * sizeof *blocks + 1);
    double *lives = memory_new((size_t)slots->warps * sizeof *lives + 1);
    int warps = 0, count = 0;
    for (int i = 0; i < probed->work->run.count; i++)
        for (uint32_t k = 0; k < slots->used[i]; k++) {
            WaitHeader header = header_of(probed, slots, i, k);
            blocks[warps++] = (BlockLife){(uint64_t)i << 48 | header.block, header.entered, header.end};
        }
    qsort(blocks, (size_t)warps, sizeof *blocks, compare_blocks);
    for (int i = 0; i < warps;) {
        BlockLife whole = blocks[i];
        for (; i < warps && blocks[i].block == whole.block; i++) {
            if (blocks[i].entered < whole.entered) whole.entered = blocks[i].entered;
            if (blocks[i].end > whole.end) whole.end = blocks[i].end;
        }
        lives[count++] = (double)(whole.end - whole.entered);
    }
    double life = median(lives, count);
    free(lives);
    free(blocks);
    return life;
}

static double plain_life(const WarpProbe *probed, Error *error) {
    ResidencyWork run = probed->work->run;
    GridTimeline *grid;
    run.launches = probed->plain;
    run.keeps_cache = true;
    if (!gpu_measure_residency(&run, probed->timer, &grid, error)) return -1;
    uint64_t all = 0;
    int count = 0;
    for (int i = 0; i < grid->launch_count; i++) all += grid->launches[i].block_count;
    double *lives = memory_new((size_t)all * sizeof *lives + 1);
    for (int i = 0; i < grid->launch_count; i++)
        for (uint64_t k = 0; k < grid->launches[i].block_count; k++)
            if (grid->launches[i].blocks[k].multiprocessor == (uint32_t)probed->multiprocessor)
                lives[count++] = grid->launches[i].blocks[k].cycles;
    double life = median(lives, count);
    free(lives);
    grid_timeline_free(grid);
    return life;
}

/* ---- interface ----------------------------------------------------------------------------------------- */

static bool measure(WarpProbe *probed, WarpTimeline **timeline, Error *error) {
    Slots slots = {.bytes = NULL};
    cuda_turn_begin();
    uint64_t origin = 0;
    bool good = record(probed, &slots, error) && find_origin(probed, &slots, &origin, error);
    *timeline = good ? take_slots(probed, &slots, origin) : NULL;
    if (good) (*timeline)->traced_life = traced_life(probed, &slots);
    good = good && measure_times(probed, *timeline, error);
    cuda_turn_end();
    slots_done(&slots);
    if (good) {
        (*timeline)->plain_life = plain_life(probed, error);
        good = !((*timeline)->plain_life < 0);
    }
    if (good) return true;
    warp_timeline_free(*timeline);
    *timeline = NULL;
    return false;
}

bool gpu_measure_warps(const WarpWork *work, Timer *timer, WarpTimeline **timeline, Error *error) {
    size_t count = (size_t)work->run.count + 1;
    WarpProbe probed = {
        .work = work,
        .timer = timer,
        .cuda = timer->cuda,
    };
    *timeline = NULL;
    probed.launches = memory_new(count * sizeof *probed.launches);
    probed.plain = memory_new(count * sizeof *probed.plain);
    memcpy(probed.plain, work->run.launches, (size_t)work->run.count * sizeof *probed.plain);
    bool good = true;
    for (int i = 0; good && work->resident && i < work->run.count; i++)
        good = prepare(&probed, work->run.plain, &probed.plain[i], error);
    good = good && measure(&probed, timeline, error);
    unload(&probed);
    free(probed.launches);
    free(probed.plain);
    return good;
}
