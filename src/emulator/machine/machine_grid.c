/* Runs a grid from its first block to its last (grid.h).
 *
 * Blocks run one after another, each to its end. If blocks of a launch may communicate, a block that only
 * spins lets later ones run, up to the number that a GPU keeps resident; in a cooperative launch all blocks
 * are resident.
 *
 * The blocks of a cluster are all resident: they start together and take turns.
 *
 * Other schedules start blocks in another order, and let them take turns of any length (other_orders.h).
 *
 * If clusters cannot communicate (a block without a cluster counts as one), each host thread takes a share of
 * consecutive clusters and notes which words it reads and writes. If one share touched a word that another
 * wrote, anything went wrong, or the observer cannot merge what it saw, memory is restored and the grid runs
 * again on one thread. So the result is always that of one thread. */
#include "emulator/machine/grid.h"

#include "base/language.h"
#include "emulator/machine/holds.h"
#include "emulator/machine/machine_cluster.h"
#include "emulator/machine/mbarrier.h"
#include "emulator/machine/observe.h"
#include "emulator/machine/other_orders.h"
#include "emulator/machine/recorder.h"
#include "emulator/machine/saved_pages.h"
#include "emulator/machine/tape_door.h"
#include "emulator/machine/writers.h"

#include "trace/block.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    POLL = 1 << 22,    /* warp instructions between checks of `cancel` */
    SLICE = 1 << 18,   /* of a block, if others may wait for it */
    FEW_BLOCKS = 16,   /* that take turns even though they do not communicate */
    IN_VAIN = 1 << 21, /* instructions during which all blocks rest and nothing changes: they wait for ever */
    IN_VAIN_HELD = 1 << 15, /* the same until a hold is given up */
    FEW_WARPS = 512
};

typedef struct Share { /* one host thread's share of the grid's clusters */
    Grid *grid;
    Worker *worker;
    uint64_t first, end;
    uint64_t count;         /* clusters of the grid, which start in the order of the schedule */
    uint64_t round;         /* of the turns of the resident blocks */
    uint64_t most_resident; /* blocks */
    uint64_t executed;      /* warp instructions so far, of ended and resident blocks */
    uint64_t finished_at;   /* `executed` when a block last ended */
    bool cancelled;
    TraceLaunch blocks; /* its traced blocks */
    pthread_t thread;
} Share;

static bool is_cancelled(const Grid *grid) {
    return grid->cancel && *grid->cancel;
}

/* ---- one share, on one thread ----------------------------------------------------------------------- */

typedef struct Residents {
    Block **blocks; /* in the order in which they started */
    int count, capacity;
    Block **idle; /* ended; ready for reuse */
    int idle_count, idle_capacity;
} Residents;

typedef struct Progress { /* of blocks that wait for each other */
    /* the worker's change count, and the instructions executed when it was first seen */
    uint64_t changes, since;
    bool all_rest; /* in this round */
    bool all_wait; /* for other blocks of their clusters */
} Progress;

/* Starts the blocks of the next cluster; other schedules choose another cluster. */
static void start_next(Share *share, Residents *residents) {
    const Grid *grid = share->grid;
    Cluster *cluster = memory_new(sizeof *cluster);
    uint64_t next = order_of_clusters(grid->schedule, share->first, share->count);
    for (uint32_t i = 0; i < grid->cluster_blocks; i++) {
        uint32_t rank = (uint32_t)((i + grid->schedule) % grid->cluster_blocks);
        Block *block =
            residents->idle_count ? residents->idle[--residents->idle_count] : block_new(share->grid);
        array_push(residents->blocks, residents->count, residents->capacity, block);
        block_start(block, share->worker, cluster_block(grid, next, rank));
        cluster_join(cluster, block);
        tape_begin(block, share->end - share->first - 1);
    }
    share->first++;
}

/* Plays the next block from a tape. False: it must run. */
static bool play_next(Share *share) {
    const Grid *grid = share->grid;
    const Tape *tape = share->worker->tape;
    if (!tape) return false;
    uint64_t executed = grid->tapes->executed(tape);
    if (executed >= grid->budget - share->executed || !tape_play(share->worker, share->first)) return false;
    uint64_t ended_at = block_started_at(share->first) + grid->tapes->now(tape);
    if (ended_at > share->worker->latest) share->worker->latest = ended_at;
    share->worker->executed += executed;
    share->worker->repeated_blocks++;
    share->executed += executed;
    share->finished_at = share->executed;
    share->first++;
    if (grid->blocks_done) atomic_fetch_add_explicit(grid->blocks_done, 1, memory_order_relaxed);
    return true;
}

static void finish(Share *share, Residents *residents, int index) {
    Block *block = residents->blocks[index];
    share->worker->executed += block->executed;
    uint64_t ended_at = block->started_at + block->now;
    if (ended_at > share->worker->latest) share->worker->latest = ended_at;
    if (block->recorder) recorder_finish(block->recorder, &share->blocks);
    block->recorder = NULL;
    tape_end(block);
    copies_end(block);
    observe_end(block);
    cluster_leave(block);
    residents->count--;
    memmove(&residents->blocks[index], &residents->blocks[index + 1],
            (size_t)(residents->count - index) * sizeof *residents->blocks);
    array_push(residents->idle, residents->idle_count, residents->idle_capacity, block);
}

/* If blocks take turns, the one that loops for ever is unknown: the budget limits what they all have executed
 * since one of them last ended. */
static bool is_beyond_budget(const Share *share, const Block *block, int residents, uint64_t *budget) {
    enum { FAIR = 1 << 14 };
    const Grid *grid = share->grid;
    *budget = grid->budget;
    if (share->executed >= grid->budget) return true;
    if (!grid->block_budget) return false;
    *budget = grid->block_budget + (grid->blocks_communicate ? (uint64_t)residents * FAIR : 0);
    return (grid->blocks_communicate ? share->executed - share->finished_at : block->executed) >= *budget;
}

/* In short turns no block seems to rest, so some turns are long if blocks may wait for each other. */
static bool is_long_round(const Share *share) {
    enum { SHORT_ROUNDS = 15 };
    const Grid *grid = share->grid;
    return !order_interleaves(grid->schedule) ||
           (grid->blocks_communicate && share->round % (SHORT_ROUNDS + 1) == SHORT_ROUNDS);
}

/* Runs a block until it ends or must stop; if other blocks may be resident, also until it rests (it seems to
 * wait for another block) or has used its slice. */
static SliceEnd run_block(Share *share, Block *block, int residents) {
    const Grid *grid = share->grid;
    uint64_t slice = is_long_round(share) ? 0 : order_slice(grid->schedule, share->round, block->linear),
             budget;
    bool takes_turns = grid->blocks_communicate || slice;
    if (!slice) slice = grid->blocks_communicate ? SLICE : POLL;
    if (grid->writers) share->worker->footprint = writers_footprint(grid->writers, block->linear);
    for (;;) {
        if (is_beyond_budget(share, block, residents, &budget)) {
            bool is_of_block = budget != grid->budget;
            Trap *trap = raise_trap(
                block, TRAP_INSTRUCTION_BUDGET, NULL, PTX_NO_PC, 0, NULL,
                is_of_block ? tr("more than %llu warp instructions before a block ended; an endless loop? "
                                 "--max-instructions allows more")
                            : tr("more than %llu warp instructions; an endless loop? --max-instructions "
                                 "allows more"),
                (unsigned long long)budget);
            if (trap) trap->is_of_block = is_of_block;
            return SLICE_STOPPED;
        }
        uint64_t before = block->executed, left = grid->budget - share->executed;
        SliceEnd end = block_run(block, left < slice ? left : slice);
        share->executed += block->executed - before;
        if (end == SLICE_DONE) share->finished_at = share->executed;
        if (end == SLICE_DONE || end == SLICE_STOPPED) return end;
        if (is_cancelled(grid)) {
            share->cancelled = true;
            return SLICE_STOPPED;
        }
        if (takes_turns || end == SLICE_WAITS || holds_released(block)) return end;
    }
}

/* Called after every resident block has had its turn: true if all of them have rested for so long without a
 * change that they wait for ever. */
static bool waits_in_vain(const Share *share, const Residents *residents, Progress *progress) {
    uint64_t executed = share->executed, changes = share->worker->changes;
    if (progress->changes != changes || !progress->all_rest) {
        *progress = (Progress){changes, executed, true, true};
        return false;
    }
    if (executed - progress->since < (share->grid->holds ? IN_VAIN_HELD : IN_VAIN)) return false;
    if (holds_give_up(share->grid->holds)) {
        progress->since = executed;
        return false;
    }
    raise_spinning_blocks(residents->blocks, residents->count,
                          (share->end - share->first) * share->grid->cluster_blocks);
    return true;
}

/* Gives a resident a turn, and ends it if it is done. */
static SliceEnd run_resident(Share *share, Residents *residents, int index, Progress *progress) {
    SliceEnd end = run_block(share, residents->blocks[index], residents->count);
    progress->all_rest &= end == SLICE_RESTS || end == SLICE_WAITS;
    progress->all_wait &= end == SLICE_WAITS;
    if (end != SLICE_DONE) return end;
    finish(share, residents, index);
    if (share->grid->blocks_done)
        atomic_fetch_add_explicit(share->grid->blocks_done, 1, memory_order_relaxed);
    return end;
}

static int index_of(const Residents *residents, const Block *block) {
    for (int i = 0; i < residents->count; i++)
        if (residents->blocks[i] == block) return i;
    return residents->count;
}

/* Gives each resident from `first` on a turn. True: the share stopped. What another block has waited for
 * makes it go on at once, before the one that ran. */
static bool run_round(Share *share, Residents *residents, int first, Progress *progress) {
    for (int i = first; i < residents->count;) {
        Block *block = residents->blocks[i], *released = NULL;
        SliceEnd end = run_resident(share, residents, i, progress);
        for (Block *next; end != SLICE_STOPPED && (next = holds_released(block)) != NULL;) {
            int index = index_of(residents, released = next);
            holds_go_on(released);
            end = run_resident(share, residents, index, progress);
            i -= end == SLICE_DONE && index < i;
        }
        if (end == SLICE_STOPPED || is_cancelled(share->grid)) return true;
        bool is_done = i >= residents->count || residents->blocks[i] != block;
        i += !is_done && !released;
    }
    return false;
}

/* Ends a wait for an mbarrier with its phase incomplete, as a GPU does after a time limit. */
static bool any_gives_up(const Residents *residents) {
    bool any = false;
    for (int i = 0; i < residents->count; i++) any |= mbarrier_give_up(residents->blocks[i]);
    return any;
}

static void run_share(Share *share) {
    const Grid *grid = share->grid;
    Residents residents = {0};
    Progress progress = {.all_rest = false};
    uint64_t unit = grid->cluster_blocks;
    bool stopped = false;
    while (!stopped && (residents.count || share->first < share->end)) {
        /* New blocks first: waiting ones may wait for them. */
        while (!stopped && share->first < share->end &&
               (uint64_t)residents.count + unit <= share->most_resident) {
            int first = residents.count;
            if (play_next(share)) {
                stopped = is_cancelled(grid);
                continue;
            }
            start_next(share, &residents);
            if (!order_interleaves(grid->schedule)) stopped = run_round(share, &residents, first, &progress);
        }
        uint64_t before = share->executed;
        bool is_long = is_long_round(share), rested = progress.all_rest;
        progress.all_wait = true;
        stopped = stopped || run_round(share, &residents, 0, &progress);
        if (stopped || !residents.count) continue;
        share->round++;
        if (!is_long) progress.all_rest = rested;
        bool is_stuck = progress.all_wait && share->executed == before && !holds_give_up(grid->holds) &&
                        !any_gives_up(&residents);
        if (is_stuck) block_raise_stuck(residents.blocks[0]);
        stopped = is_stuck || (is_long && waits_in_vain(share, &residents, &progress));
    }
    share->cancelled |= is_cancelled(share->grid);
    while (residents.count) { /* stopped: recorded events stay */
        block_count_rest(residents.blocks[residents.count - 1]);
        finish(share, &residents, residents.count - 1);
    }
    tape_done(share->worker);
    for (int i = 0; i < residents.idle_count; i++) block_free(residents.idle[i]);
    free(residents.idle);
    free(residents.blocks);
}

/* ---- several shares --------------------------------------------------------------------------------- */

static void *run_thread(void *share) {
    run_share(share);
    return NULL;
}

static void drop_blocks(TraceLaunch *launch) {
    for (int i = 0; i < launch->block_count; i++) trace_block_free(launch->blocks[i]);
    free(launch->blocks);
    *launch = (TraceLaunch){0};
}

uint8_t **grid_save_memory(const Memory *memory) {
    uint8_t **copies = memory_new((size_t)memory->count * sizeof *copies);
    for (int i = 0; i < memory->count; i++) {
        const Region *region = &memory->regions[i];
        if (region->read_only || !region->bytes) continue;
        copies[i] = memory_new(region->bytes);
        memcpy(copies[i], region->host, region->bytes);
    }
    return copies;
}

void grid_restore_memory(Memory *memory, uint8_t *const *copies) {
    for (int i = 0; i < memory->count; i++)
        if (copies[i]) memcpy(memory->regions[i].host, copies[i], memory->regions[i].bytes);
}

void grid_drop_memory(const Memory *memory, uint8_t **copies) {
    for (int i = 0; i < memory->count; i++) free(copies[i]);
    free(copies);
}

static bool shares_agree(Share *shares, int count) {
    Footprint *footprints[64];
    for (int i = 0; i < count; i++) {
        if (shares[i].worker->stopped || shares[i].cancelled) return false;
        footprints[i] = shares[i].worker->footprint;
    }
    return !footprint_conflicts(footprints, count);
}

static void merge(Share *into, Share *from) {
    worker_merge(into->worker, from->worker);
    for (int i = 0; i < from->blocks.block_count; i++)
        trace_launch_add_block(&into->blocks, from->blocks.blocks[i]);
    free(from->blocks.blocks);
    from->blocks = (TraceLaunch){0};
    into->cancelled |= from->cancelled;
}

/* False: the observations of the threads are dropped, as with `keep` false. */
static bool join_observers(const TraceObserver *observer, const Share *shares, int count, bool keep) {
    void *parts[64];
    for (int i = 0; i < count; i++) parts[i] = shares[i].worker->observed_by;
    return observer->join(observer->context, parts, count, keep) && keep;
}

/* A bit per word of the page, of what all shares read or wrote. True: one is set. */
static bool words_of_page(const Share *shares, int count, uint64_t first_word, uint64_t words, bool written,
                          uint64_t bits[EMULATOR_PAGE_BYTES / 4 / 64]) {
    uint64_t any = 0;
    for (uint64_t i = 0; i < (words + 63) / 64; i++) {
        bits[i] = 0;
        for (int s = 0; s < count; s++) {
            const Footprint *footprint = shares[s].worker->footprint;
            bits[i] |= (written ? footprint->written : footprint->read)[first_word / 64 + i];
        }
        any |= bits[i];
    }
    return any;
}

static void show_touched(const Grid *grid, const Share *shares, int count, const SavedPages *saved) {
    enum { WORDS = EMULATOR_PAGE_BYTES / 4 };
    for (int r = 0; r < grid->memory->count; r++) {
        const Region *region = &grid->memory->regions[r];
        for (uint64_t at = 0; at < region->bytes; at += EMULATOR_PAGE_BYTES) {
            uint64_t left = region->bytes - at,
                     bytes = left < EMULATOR_PAGE_BYTES ? left : EMULATOR_PAGE_BYTES;
            uint64_t written[WORDS / 64] = {0}, read[WORDS / 64];
            uint64_t first = region->first_word + at / 4, words = (bytes + 3) / 4;
            bool is_written = words_of_page(shares, count, first, words, true, written);
            bool is_read = words_of_page(shares, count, first, words, false, read);
            if (!is_written && !is_read) continue;
            EmulatorPage page = {.address = region->base + at,
                                 .bytes = (uint32_t)bytes,
                                 .now = region->host + at,
                                 .before = is_written ? saved_page(saved, r, at / EMULATOR_PAGE_BYTES) : NULL,
                                 .written = is_written ? written : NULL,
                                 .read = is_read ? read : NULL};
            grid->touched(grid->touched_context, &page);
        }
    }
}

/* One thread runs the grid. */
static void run_alone(Share *whole) {
    Grid *grid = whole->grid;
    if (!grid->touched || grid->writers) {
        run_share(whole);
        return;
    }
    SavedPages *saved = saved_pages_new(grid->memory);
    whole->worker->footprint = footprint_new(grid->memory);
    whole->worker->footprint->saved = saved;
    run_share(whole);
    show_touched(grid, whole, 1, saved);
    saved_pages_free(saved);
}

/* False: nothing has happened, and the grid must run on one thread. */
static bool run_parallel(Share *whole, int threads) {
    Share shares[64] = {0};
    if (threads > 64) threads = 64;
    if ((uint64_t)threads > whole->end) threads = (int)whole->end;
    Grid *grid = whole->grid;
    SavedPages *saved = saved_pages_new(grid->memory);
    uint64_t done = grid->blocks_done ? *grid->blocks_done : 0;
    for (int i = 0; i < threads; i++) {
        shares[i] = (Share){.grid = grid, .worker = worker_new(grid), .most_resident = whole->most_resident};
        shares[i].first = whole->end * (uint64_t)i / (uint64_t)threads;
        shares[i].end = whole->end * (uint64_t)(i + 1) / (uint64_t)threads;
        shares[i].worker->footprint = footprint_new(grid->memory);
        shares[i].worker->footprint->saved = saved;
        if (grid->observer)
            shares[i].worker->observed_by = grid->observer->split(grid->observer->context, threads);
    }
    int started = 1; /* this thread has a share too */
    while (started < threads && !pthread_create(&shares[started].thread, NULL, run_thread, &shares[started]))
        started++;
    run_share(&shares[0]);
    for (int i = 1; i < started; i++) pthread_join(shares[i].thread, NULL);
    bool good = started == threads && shares_agree(shares, threads);
    if (grid->observer) good = join_observers(grid->observer, shares, threads, good);
    if (!good) saved_pages_restore(saved);
    if (good && grid->touched) show_touched(grid, shares, threads, saved);
    saved_pages_free(saved);
    if (!good && grid->blocks_done) *grid->blocks_done = done;
    for (int i = 0; i < threads; i++) {
        if (good) merge(whole, &shares[i]);
        drop_blocks(&shares[i].blocks);
        worker_free(shares[i].worker);
    }
    return good;
}

void grid_init(Grid *grid, const Launch *launch, const LoweredProgram *program, Memory *memory) {
    *grid = (Grid){
        .memory = memory, .launch = launch, .program = program, .multiprocessors = DEFAULT_MULTIPROCESSORS};
    memcpy(grid->grid, launch->grid, sizeof grid->grid);
    memcpy(grid->block, launch->block, sizeof grid->block);
    grid->threads_per_block = launch->block[0] * launch->block[1] * launch->block[2];
    grid->warps_per_block = (int)((grid->threads_per_block + WARP_LANES - 1) / WARP_LANES);
    grid->block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    launch_cluster(launch, grid->cluster);
    grid->cluster_blocks = launch_cluster_blocks(launch);
    grid->trace_first = 1; /* none */
}

/* ---- the grid --------------------------------------------------------------------------------------- */

static void publish(Share *share, Trace *trace) {
    Worker *worker = share->worker;
    worker_finish(worker);
    share->grid->latest = worker->latest;
    share->grid->repeated_blocks = worker->repeated_blocks;
    share->grid->trace->outdone = worker->outdone;
    for (int i = 0; i < share->blocks.block_count; i++)
        trace_launch_add_block(share->grid->trace, share->blocks.blocks[i]);
    free(share->blocks.blocks);
    for (int i = 0; i < worker->trap_count; i++) trace_add_trap(trace, &worker->traps[i]);
    if (worker->printed.length) text_add_bytes(&trace->printed, worker->printed.data, worker->printed.length);
    trace_cut_printed(&trace->printed);
}

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", 9.0. Registers, which PTX
 * does not tell, may allow fewer. */
static uint64_t blocks_per_multiprocessor(const Grid *grid) {
    enum { BLOCKS = 32, WARPS = 64, SHARED_BYTES = 228 << 10, RESERVED_BYTES = 1 << 10 };
    uint64_t by_warps = WARPS / (uint64_t)grid->warps_per_block,
             by_shared = SHARED_BYTES / (grid->program->shared_bytes + RESERVED_BYTES),
             blocks = by_warps < by_shared ? by_warps : by_shared;
    return blocks > BLOCKS ? BLOCKS : blocks ? blocks : 1;
}

static bool fits(Share *share, uint64_t memory_limit) {
    Grid *grid = share->grid;
    uint64_t each = block_bytes(grid), room = memory_limit / each, least = grid->cluster_blocks;
    uint64_t most = grid->multiprocessors * blocks_per_multiprocessor(grid);
    if (grid->launch->cooperative) least = most = grid->block_count;
    if (order_interleaves(grid->schedule) && !grid->clusters_communicate) most = FEW_BLOCKS * least;
    bool takes_turns = grid->clusters_communicate || order_interleaves(grid->schedule) || grid->holds;
    if (!takes_turns || most < least) most = least;
    share->most_resident = most < room ? most : room;
    if (room >= least) return true;
    Block nowhere = {.grid = grid, .worker = share->worker};
    raise_trap(&nowhere, TRAP_TOO_LARGE, NULL, PTX_NO_PC, 0, NULL,
               "%llu resident block%s need%s %llu MB of this machine's memory; use a smaller grid, block or "
               "local array",
               (unsigned long long)least, least == 1 ? "" : "s", least == 1 ? "s" : "",
               (unsigned long long)(each * least >> 20));
    return false;
}

/* One thread runs clusters in order: those up to the last traced block see the same as in the whole run. */
static void look_first(Share *whole) {
    const Grid *grid = whole->grid;
    if (grid->cluster[1] > 1 || grid->cluster[2] > 1) return; /* its blocks are not consecutive */
    uint64_t last = grid->trace_last / grid->cluster_blocks;
    if (last + 1 < whole->end) whole->end = last + 1;
}

bool grid_run(Grid *grid, int threads, uint64_t memory_limit, Trace *trace, Error *error) {
    grid->clusters_communicate = grid->program->lets_blocks_communicate || grid->launch->cooperative;
    grid->blocks_communicate = grid->clusters_communicate || grid->cluster_blocks > 1;
    Share whole = {.grid = grid, .worker = worker_new(grid), .end = cluster_count(grid)};
    whole.count = whole.end;
    if (fits(&whole, memory_limit)) {
        if (grid->first_look && !grid->clusters_communicate && !grid->schedule) look_first(&whole);
        uint64_t warps = whole.end * grid->cluster_blocks * (uint64_t)grid->warps_per_block;
        bool worth_it = warps >= FEW_WARPS && whole.end > 1;
        bool is_whole = grid->observer && !grid->observer->split;
        bool alone = threads < 2 || grid->schedule || grid->shadow || grid->holds ||
                     grid->memory->has_marks || grid->writers || is_whole || grid->clusters_communicate ||
                     !worth_it;
        if (alone || !run_parallel(&whole, threads)) run_alone(&whole);
    }
    if (grid->writers) whole.worker->footprint = NULL;
    publish(&whole, trace);
    worker_free(whole.worker);
    return whole.cancelled ? error_set(error, "cancelled") : true;
}
