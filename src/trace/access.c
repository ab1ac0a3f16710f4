/* Access rules, fast: the emulator applies them to every access of every block.
 *
 * Almost all accesses of real kernels are arithmetic progressions over the lanes (address = base + lane *
 * stride), whose cost has a closed form; that is tried first. Everything else is counted lane by lane,
 * without allocation.
 *
 * A *unit* is what one bank group serves at a time: the word of a narrow access, or the whole element of an
 * aligned 8- or 16-byte access. Its words lie in neighbouring banks and always travel together, so counting
 * units counts words. */
#include "trace/access.h"

static const uint32_t FULL_MASK = 0xffffffffu;

static inline int lowest(uint32_t mask) {
    return __builtin_ctz(mask);
}

/* ---- arithmetic progressions ------------------------------------------------------------------------ */

typedef struct Progression {
    uint64_t first; /* address of the lowest active lane */
    uint64_t last;  /* of the highest active lane */
    int64_t stride; /* bytes from one lane to the next; 0 for a single active lane */
} Progression;

/* Computes `difference` / `gap` if it is whole. Most gaps are powers of two, and a division is slow. */
static inline bool divide(int64_t difference, int gap, int64_t *quotient) {
    if ((gap & (gap - 1)) == 0) {
        *quotient = difference >> __builtin_ctz((unsigned)gap);
        return (difference & (gap - 1)) == 0;
    }
    *quotient = difference / gap;
    return difference % gap == 0;
}

/* -O2 alone does not vectorize the comparison. */
typedef uint64_t LanePair __attribute__((vector_size(16), aligned(8), may_alias));

/* All 32 addresses are base + lane * stride. */
static inline bool is_progression(const uint64_t address[WARP_LANES], uint64_t base, uint64_t stride) {
    LanePair expected = {base, base + stride}, step = {2 * stride, 2 * stride}, wrong = {0, 0};
    for (int lane = 0; lane < WARP_LANES; lane += 2, expected += step)
        wrong |= *(const LanePair *)(const void *)(address + lane) ^ expected;
    return (wrong[0] | wrong[1]) == 0;
}

static bool progression_find(uint32_t mask, const uint64_t address[WARP_LANES], Progression *out) {
    int first = lowest(mask), highest = 31 - __builtin_clz(mask);
    out->first = address[first];
    out->last = address[highest];
    out->stride = 0;
    uint32_t rest = mask & (mask - 1);
    if (!rest) return true;
    int second = lowest(rest);
    if (!divide((int64_t)(address[second] - address[first]), second - first, &out->stride)) return false;
    uint64_t stride = (uint64_t)out->stride, base = out->first - (uint64_t)first * stride;

    /* Inactive lanes usually continue the progression. */
    if (is_progression(address, base, stride)) return true;
    if (mask == FULL_MASK) return false;
    for (rest &= rest - 1; rest; rest &= rest - 1) {
        int lane = lowest(rest);
        if (address[lane] != base + (uint64_t)lane * stride) return false;
    }
    return true;
}

/* ---- shared memory: phases -------------------------------------------------------------------------- */

/* Every active lane's partner (lane ^ distance) is inactive or has the same address. */
static bool pairs_agree(uint32_t mask, const uint64_t offset[WARP_LANES], int distance) {
    uint32_t left = distance == 1 ? 0x55555555u : 0x33333333u; /* the lower lane of each pair */
    for (uint32_t both = mask & (mask >> distance) & left; both; both &= both - 1) {
        int lane = lowest(both);
        if (offset[lane] != offset[lane + distance]) return false;
    }
    return true;
}

/* How lanes are served: in phases of `lanes` consecutive lanes, by `groups` bank groups of `1 << shift`
 * bytes. */
typedef struct Phases {
    int count, lanes, shift, groups;
    bool is_paired;
} Phases;

static Phases phases_of(bool is_load, int width, uint32_t mask, const uint64_t offset[WARP_LANES]) {
    Phases phases = {.count = width > 8 ? 4 : width > 4 ? 2 : 1, .shift = width > 8 ? 4 : width > 4 ? 3 : 2};
    if (phases.count > 1 && is_load && (pairs_agree(mask, offset, 1) || pairs_agree(mask, offset, 2))) {
        phases.count /= 2;
        phases.is_paired = true;
    }
    phases.lanes = WARP_LANES / phases.count;
    phases.groups = BANK_COUNT * BANK_BYTES >> phases.shift;
    return phases;
}

static inline uint32_t phase_mask(const Phases *phases, int phase, uint32_t mask) {
    uint32_t run = phases->lanes == WARP_LANES ? FULL_MASK : (1u << phases->lanes) - 1;
    int first = phase * phases->lanes;
    return first < WARP_LANES ? mask >> first & run : 0;
}

/* ---- shared memory: wavefronts of one phase --------------------------------------------------------- */

/* The most lanes of `mask` that are congruent modulo `period` (a power of two up to 32). */
static int crowded_residue(uint32_t mask, int period) {
    if (period >= 32) return 1;
    if (period == 16) return mask & mask >> 16 ? 2 : 1;
    if (period == 8) { /* eight columns of four bits each: does any column have 4, 3 or 2 */
        uint32_t a = mask & 0xff, b = mask >> 8 & 0xff, c = mask >> 16 & 0xff, d = mask >> 24;
        uint32_t any = a | b | c | d;
        uint32_t two = (a & b) | (c & d) | ((a | b) & (c | d));
        uint32_t three = (a & b & (c | d)) | (c & d & (a | b));
        uint32_t four = a & b & c & d;
        return four ? 4 : three ? 3 : two ? 2 : any ? 1 : 0;
    }
    int most = 0;
    uint32_t every = period == 1 ? 0xffffffffu : period == 2 ? 0x55555555u : 0x11111111u;
    for (int residue = 0; residue < period; residue++) {
        int lanes = __builtin_popcount(mask >> residue & every);
        if (lanes > most) most = lanes;
    }
    return most;
}

/* Units at lane * step (plus a constant) in one phase: two lanes share a bank group if their distance times
 * the step is a multiple of the groups. A step of 0 means one unit; it must not come from a stride shorter
 * than a unit. */
static int strided_wavefronts(const Phases *phases, int64_t step, uint32_t mask) {
    if (step == 0) return 1;
    int shared_factor = 1; /* gcd(step, groups) */
    while (shared_factor < phases->groups && (step & shared_factor) == 0) shared_factor *= 2;
    int period = phases->groups / shared_factor;
    if (period >= phases->lanes) return 1;
    uint32_t full = phases->lanes == WARP_LANES ? FULL_MASK : (1u << phases->lanes) - 1;
    if (mask == full) return phases->lanes / period;
    return crowded_residue(mask, period);
}

/* The most distinct units in one bank group, counted. `shift`, `groups`: of a unit; an access that is not
 * aligned to its width may touch several units. */
static int counted_wavefronts(int shift, int groups, int width, uint32_t mask, const uint64_t *offset) {
    /* The units of one lane lie in different groups: at most one for each lane. */
    uint64_t seen[BANK_COUNT][WARP_LANES];
    uint8_t count[BANK_COUNT] = {0};
    int most = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t begin = offset[lowest(mask)];
        uint64_t end = (begin + (uint64_t)width - 1) >> shift;
        for (uint64_t unit = begin >> shift; unit <= end; unit++) {
            int group = (int)(unit & (uint64_t)(groups - 1)), i = 0, known = count[group];
            while (i < known && seen[group][i] != unit) i++;
            if (i < known) continue;
            seen[group][known] = unit;
            count[group] = (uint8_t)(known + 1);
            if (known + 1 > most) most = known + 1;
        }
    }
    return most;
}

static bool is_aligned(int width, uint32_t mask, const uint64_t offset[WARP_LANES]) {
    uint64_t bits = 0;
    for (; mask; mask &= mask - 1) bits |= offset[lowest(mask)];
    return (bits & (uint64_t)(width - 1)) == 0;
}

/* The cost of one access of at most 16 bytes a lane. */
static SharedCost shared_cost(bool is_load, int width, uint32_t mask, const uint64_t offset[WARP_LANES]) {
    SharedCost cost = {0};
    Phases phases = phases_of(is_load, width, mask, offset);
    cost.phases = phases.count;
    cost.is_paired = phases.is_paired;
    cost.each = 1;

    Progression line;
    bool strided = progression_find(mask, offset, &line);
    uint64_t unit_bits = ((uint64_t)1 << phases.shift) - 1;
    /* Closed form: the stride is a whole number of units and no lane straddles two units. */
    strided = strided && ((uint64_t)line.stride & unit_bits) == 0 &&
              (line.first & unit_bits) + (uint64_t)width <= unit_bits + 1;
    int64_t step = line.stride >> phases.shift;
    int shift = phases.shift, groups = phases.groups;
    if (!strided && width > 4 && !is_aligned(width, mask, offset)) shift = 2, groups = BANK_COUNT;

    for (int phase = 0; phase < phases.count; phase++) {
        uint32_t active = phase_mask(&phases, phase, mask);
        if (!active) continue;
        cost.ideal++;
        cost.wavefronts +=
            strided ? strided_wavefronts(&phases, step, active)
                    : counted_wavefronts(shift, groups, width, active, offset + phase * phases.lanes);
    }
    return cost;
}

SharedCost access_shared_cost(bool is_load, int width, uint32_t mask, const uint64_t offsets[WARP_LANES]) {
    if (!mask) return (SharedCost){0};
    if (width <= 16) return shared_cost(is_load, width, mask, offsets);
    uint64_t second[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++) second[lane] = offsets[lane] + 16;
    SharedCost low = shared_cost(is_load, 16, mask, offsets), high = shared_cost(is_load, 16, mask, second);
    low.wavefronts += high.wavefronts;
    low.ideal += high.ideal;
    low.phases += high.phases;
    return low;
}

/* ---- shared memory: which wavefront serves which lane ----------------------------------------------- */

/* The number of smaller distinct units of this phase in the bank group of `unit`. */
static int rank_of_unit(const Phases *phases, uint32_t active, const uint64_t *offset, uint64_t unit) {
    uint64_t smaller[WARP_LANES];
    int count = 0;
    for (; active; active &= active - 1) {
        uint64_t other = offset[lowest(active)] >> phases->shift;
        if (other >= unit || (other ^ unit) & (uint64_t)(phases->groups - 1)) continue;
        int i = 0;
        while (i < count && smaller[i] != other) i++;
        if (i == count) smaller[count++] = other;
    }
    return count;
}

static void schedule(bool is_load, int width, uint32_t mask, const uint64_t offset[WARP_LANES], int before,
                     uint16_t wavefront_of_lane[WARP_LANES]) {
    Phases phases = phases_of(is_load, width, mask, offset);
    for (int phase = 0; phase < phases.count; phase++) {
        int begin = phase * phases.lanes, most = 0;
        uint32_t active = phase_mask(&phases, phase, mask);
        for (uint32_t rest = active; rest; rest &= rest - 1) {
            int lane = lowest(rest);
            uint64_t unit = offset[begin + lane] >> phases.shift;
            int rank = rank_of_unit(&phases, active, offset + begin, unit);
            wavefront_of_lane[begin + lane] = (uint16_t)(before + rank);
            if (rank + 1 > most) most = rank + 1;
        }
        before += most;
    }
}

SharedCost access_shared_schedule(bool is_load, int width, uint32_t mask, const uint64_t offsets[WARP_LANES],
                                  uint16_t wavefront_of_lane[WARP_LANES]) {
    SharedCost cost = access_shared_cost(is_load, width, mask, offsets);
    for (int lane = 0; lane < WARP_LANES; lane++) wavefront_of_lane[lane] = 0;
    if (width <= 16) {
        schedule(is_load, width, mask, offsets, 0, wavefront_of_lane);
    } else { /* the second half completes a lane */
        uint64_t second[WARP_LANES];
        for (int lane = 0; lane < WARP_LANES; lane++) second[lane] = offsets[lane] + 16;
        schedule(is_load, 16, mask, second, access_shared_cost(is_load, 16, mask, offsets).wavefronts,
                 wavefront_of_lane);
    }
    return cost;
}

/* ---- shared memory: atomics -------------------------------------------------------------------------- */

typedef struct Atomic {
    Phases phases;
    const uint64_t *offset;
    uint16_t *wavefront_of_lane; /* NULL: not asked for */
    SharedCost cost;
} Atomic;

static void serve(Atomic *atomic, int lane, int wavefront) {
    if (atomic->wavefront_of_lane) atomic->wavefront_of_lane[lane] = (uint16_t)wavefront;
}

static inline uint64_t unit_of(const Atomic *atomic, int lane) {
    return atomic->offset[lane] >> atomic->phases.shift;
}

static inline int group_of(const Atomic *atomic, int lane) {
    return (int)(unit_of(atomic, lane) & (uint64_t)(atomic->phases.groups - 1));
}

/* The lanes of `mask` in one phase. */
static inline uint32_t lanes_of_phase(const Atomic *atomic, int phase, uint32_t mask) {
    int first = phase * atomic->phases.lanes;
    return first < WARP_LANES ? phase_mask(&atomic->phases, phase, mask) << first : 0;
}

static int active_phases(const Atomic *atomic, uint32_t mask) {
    int active = 0;
    for (int phase = 0; phase < atomic->phases.count; phase++)
        active += lanes_of_phase(atomic, phase, mask) != 0;
    return active;
}

/* The lanes of a bank one after another; each takes cost.each wavefronts. */
static void take_turns(Atomic *atomic, uint32_t mask) {
    for (int phase = 0; phase < atomic->phases.count; phase++) {
        uint8_t turns[BANK_COUNT] = {0};
        int most = 0;
        for (uint32_t rest = lanes_of_phase(atomic, phase, mask); rest; rest &= rest - 1) {
            int lane = lowest(rest), turn = turns[group_of(atomic, lane)]++;
            serve(atomic, lane, atomic->cost.wavefronts + turn * atomic->cost.each);
            if (turn >= most) most = turn + 1;
        }
        atomic->cost.wavefronts += most * atomic->cost.each;
    }
}

/* The lanes of `among` on the same word as one of the lanes `chosen`. */
static uint32_t on_words_of(const Atomic *atomic, uint32_t chosen, uint32_t among) {
    uint32_t found = 0;
    for (; among; among &= among - 1) {
        int lane = lowest(among);
        for (uint32_t rest = chosen; rest; rest &= rest - 1)
            if (unit_of(atomic, lowest(rest)) == unit_of(atomic, lane)) {
                found |= 1u << lane;
                break;
            }
    }
    return found;
}

/* The lowest lane of each bank, or of each word. */
static uint32_t lowest_lanes(const Atomic *atomic, uint32_t mask, bool of_word) {
    uint32_t chosen = 0, banks = 0;
    for (; mask; mask &= mask - 1) {
        int lane = lowest(mask);
        uint32_t own = 1u << lane, bank = 1u << group_of(atomic, lane);
        if (of_word ? !on_words_of(atomic, chosen, own) : !(banks & bank)) chosen |= own;
        banks |= bank;
    }
    return chosen;
}

static void spin(Atomic *atomic, uint32_t mask) {
    for (; mask; atomic->cost.rounds++) {
        uint32_t changed = 0; /* the lanes that are done in this round */
        for (int phase = 0; phase < atomic->phases.count; phase++) {
            uint32_t lanes = lanes_of_phase(atomic, phase, mask);
            if (!lanes) continue;
            uint32_t done = lowest_lanes(atomic, lanes, false);
            done &= ~on_words_of(atomic, changed, done);
            for (uint32_t rest = done; rest; rest &= rest - 1)
                serve(atomic, lowest(rest), atomic->cost.wavefronts);
            atomic->cost.wavefronts += atomic->cost.each;
            changed |= done;
        }
        mask &= ~changed;
    }
}

static void swap(Atomic *atomic, uint32_t mask) {
    for (; mask; atomic->cost.rounds++) {
        take_turns(atomic, mask);
        mask &= ~lowest_lanes(atomic, mask, true);
    }
}

static uint32_t with_same_offset(const Atomic *atomic, uint32_t chosen, uint32_t among) {
    uint32_t found = 0;
    for (; among; among &= among - 1)
        for (uint32_t rest = chosen; rest; rest &= rest - 1)
            if (atomic->offset[lowest(rest)] == atomic->offset[lowest(among)]) found |= among & -among;
    return found;
}

static void compare_halves(Atomic *atomic, uint32_t mask) {
    for (; mask; atomic->cost.rounds++) {
        take_turns(atomic, mask);
        mask &= ~with_same_offset(atomic, lowest_lanes(atomic, mask, true), mask);
    }
}

static SharedCost counted_cost(int width, uint32_t mask, const uint64_t *offset,
                               uint16_t *wavefront_of_lane) {
    return wavefront_of_lane ? access_shared_schedule(false, width, mask, offset, wavefront_of_lane)
                             : access_shared_cost(false, width, mask, offset);
}

bool access_atomic_counts_lanes(PtxAtomicForm form) {
    return form != PTX_ATOMIC_COUNTED && form != PTX_ATOMIC_COMBINED;
}

SharedCost access_atomic_cost(PtxAtomicForm form, int width, uint32_t mask,
                              const uint64_t offsets[WARP_LANES], uint16_t wavefront_of_lane[WARP_LANES]) {
    Atomic atomic = {phases_of(false, width, mask, offsets), offsets, wavefront_of_lane, {.each = 1}};
    SharedCost *cost = &atomic.cost;
    if (!mask || form == PTX_ATOMIC_UNKNOWN) return (SharedCost){0};
    if (form == PTX_ATOMIC_COUNTED) return counted_cost(width, mask, offsets, wavefront_of_lane);
    if (form == PTX_ATOMIC_SCANNED) form = mask == FULL_MASK ? PTX_ATOMIC_COMBINED : PTX_ATOMIC_LANES;
    if (form >= PTX_ATOMIC_COMPARED) cost->each = 2;
    for (int lane = 0; lane < WARP_LANES; lane++) serve(&atomic, lane, 0);
    cost->phases = atomic.phases.count;
    cost->ideal = active_phases(&atomic, mask) * cost->each;
    switch (form) {
    case PTX_ATOMIC_COMBINED:
        cost->wavefronts = cost->ideal = 1;
        break;
    case PTX_ATOMIC_COMPARED_HALF:
        compare_halves(&atomic, mask);
        break;
    case PTX_ATOMIC_TRIED:
        cost->wavefronts = active_phases(&atomic, mask);
        cost->ideal += cost->wavefronts;
        spin(&atomic, mask);
        break;
    case PTX_ATOMIC_SPUN:
        spin(&atomic, mask);
        break;
    case PTX_ATOMIC_SWAPPED:
        swap(&atomic, mask);
        break;
    default:
        take_turns(&atomic, mask);
        break;
    }
    return *cost;
}

/* ---- global memory: sectors ------------------------------------------------------------------------- */

enum { SECTOR_SHIFT = 5 };

static GlobalCost cost_of(uint64_t sectors, uint64_t distinct_bytes) {
    return (GlobalCost){(int)sectors, (int)((distinct_bytes + SECTOR_BYTES - 1) >> SECTOR_SHIFT)};
}

/* Closed form: consecutive lanes that skip no whole sector. False: not such an access. */
static bool strided_sectors(int width, uint32_t mask, const Progression *line, GlobalCost *out) {
    uint32_t run = mask >> lowest(mask);
    bool contiguous = (run & (run + 1)) == 0;
    uint64_t step = line->stride < 0 ? 0 - (uint64_t)line->stride : (uint64_t)line->stride;
    if (!contiguous && step) return false;
    uint64_t low = line->stride < 0 ? line->last : line->first,
             high = line->stride < 0 ? line->first : line->last;
    uint64_t end = high + (uint64_t)width - 1, lanes = (uint64_t)__builtin_popcount(mask);
    uint64_t bytes = step < (uint64_t)width ? end - low + 1 : lanes * (uint64_t)width;
    if (step <= SECTOR_BYTES) {
        *out = cost_of((end >> SECTOR_SHIFT) - (low >> SECTOR_SHIFT) + 1, bytes);
        return true;
    }
    /* Strides of whole sectors: every lane has the same offset in its sector. */
    uint64_t place = (low | step) & (SECTOR_BYTES - 1);
    if ((step & (SECTOR_BYTES - 1)) == 0 && place + (uint64_t)width <= SECTOR_BYTES) {
        *out = cost_of(lanes, bytes);
        return true;
    }
    return false;
}

/* Ascending addresses: adds what each lane needs beyond the lanes before it. False: they do not ascend. */
static bool ascending_sectors(int width, uint32_t mask, const uint64_t address[WARP_LANES], GlobalCost *out) {
    uint64_t sectors = 0, bytes = 0, next_sector = 0, next_byte = 0, previous = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t begin = address[lowest(mask)], end = begin + (uint64_t)width;
        if (begin < previous || end < begin) return false;
        uint64_t first = begin >> SECTOR_SHIFT, past = ((end - 1) >> SECTOR_SHIFT) + 1;
        sectors += past - (first > next_sector ? first : next_sector);
        bytes += end - (begin > next_byte ? begin : next_byte);
        previous = begin;
        next_byte = end;
        next_sector = past;
    }
    *out = cost_of(sectors, bytes);
    return true;
}

/* Counts the distinct values of address >> shift with a hash set on the stack; 128 bits mark its occupied
 * slots. */
static uint64_t distinct(uint32_t mask, const uint64_t address[WARP_LANES], int shift) {
    enum { PLACES = 128 };
    uint64_t place[PLACES], occupied[PLACES / 64] = {0}, count = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t key = address[lowest(mask)] >> shift;
        unsigned slot = (unsigned)((key * 0x9e3779b97f4a7c15u) >> 57);
        /* cppcheck-suppress uninitvar ; an occupied slot has its key */
        while (occupied[slot / 64] >> slot % 64 & 1 && place[slot] != key) slot = (slot + 1) % PLACES;
        if (occupied[slot / 64] >> slot % 64 & 1) continue;
        occupied[slot / 64] |= (uint64_t)1 << slot % 64;
        place[slot] = key;
        count++;
    }
    return count;
}

static GlobalCost sorted_sectors(int width, uint32_t mask, const uint64_t address[WARP_LANES]) {
    uint64_t sorted[WARP_LANES] = {0}, limit = UINT64_MAX - (uint64_t)width;
    int count = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t value = address[lowest(mask)];
        if (value > limit) value = limit; /* no machine has memory there */
        int i = count++;
        for (; i > 0 && sorted[i - 1] > value; i--) sorted[i] = sorted[i - 1];
        sorted[i] = value;
    }
    GlobalCost cost = {0};
    ascending_sectors(width, count == WARP_LANES ? FULL_MASK : (1u << count) - 1, sorted, &cost);
    return cost;
}

GlobalCost access_global_cost(int width, uint32_t mask, const uint64_t addresses[WARP_LANES]) {
    GlobalCost cost = {0};
    if (!mask) return cost;
    Progression line;
    if (progression_find(mask, addresses, &line) && strided_sectors(width, mask, &line, &cost)) return cost;
    if (ascending_sectors(width, mask, addresses, &cost)) return cost;
    if (!is_aligned(width, mask, addresses)) return sorted_sectors(width, mask, addresses);
    return cost_of(distinct(mask, addresses, SECTOR_SHIFT), distinct(mask, addresses, 0) * (uint64_t)width);
}

int access_global_sectors(int width, uint32_t mask, const uint64_t addresses[WARP_LANES]) {
    return access_global_cost(width, mask, addresses).sectors;
}

int access_global_sectors_ideal(int width, uint32_t mask, const uint64_t addresses[WARP_LANES]) {
    return access_global_cost(width, mask, addresses).ideal;
}
