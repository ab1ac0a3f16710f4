// probe: not a kernel, but the functions that an instrumented kernel calls at each recorded instruction.
//
//   trace buffer:  region of block `first` | region of block `first` + 1 | ...
//   a region:      header | addresses of symbols | slots of spin loops | record | record | ...
//   a record:      site, mask | warp, extra | a column for each 8-byte value | a column for each 4-byte value
//   a column:      the value of each active lane, lowest lane first
//
// The instrumenter puts a call of redviz_record_W_N (W values of 8 bytes, N of 4) behind or before an
// instruction. It passes what redviz_enter gave at the function's begin: 0 where the block is not traced, so
// that the call is jumped over. src/instrument/region.h says the same to the host; the two change together.

typedef unsigned long long u64;
typedef unsigned int u32;

struct Settings { // the host sets it (cuModuleGetGlobal)
    unsigned char *regions;
    u64 region_bytes;
    u64 first, last; // traced blocks
    u32 slots_at;    // bytes from the begin of a region to the slots of spin loops
    u32 records_at;  // ... to the first record
    u32 spin_sites;  // sites below this number lie in loops that may spin
    u32 spin_limit; // records of one of them that are kept; then the latest takes the place of the one before
};

struct Region {
    u64 used;                        // bytes of records, with those that found no room
    u64 lost_at;                     // ~used of the first record that found no room; 0: all fitted
    u64 dropped;                     // records that found no room
    u64 left_out;                    // records of spin loops whose place was taken by a later one
    u64 shared_window, local_window; // generic addresses
    u64 symbols[1];                  // as many as the module has
};

struct Slot { // of a spin site, of the fragment of a warp that this lane leads
    u32 count, mask, at, unused;
};

extern "C" {
__constant__ Settings redviz_settings;
}

static __device__ __forceinline__ u32 lane_of_warp() {
    u32 lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

static __device__ __forceinline__ u32 lanes_below() {
    u32 lanes;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes));
    return lanes;
}

// The region of this block and the number of this warp in one word; 0: the block is not traced.
extern "C" __device__ u64 redviz_enter() {
    const Settings &settings = redviz_settings;
    u64 block = blockIdx.x + (u64)gridDim.x * (blockIdx.y + (u64)gridDim.y * blockIdx.z);
    if (!settings.regions || block < settings.first || block > settings.last)
        return 0;
    u32 warp = (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32;
    return (u64)(settings.regions + (block - settings.first) * settings.region_bytes) | warp;
}

static __device__ __forceinline__ Region *region_of(u64 handle) {
    Region *region = (Region *)(handle & ~(u64)31);
    __builtin_assume(__isGlobal(region));
    return region;
}

// Where shared and local memory lie among generic addresses.
extern "C" __device__ void redviz_windows(u64 handle, u64 shared_window, u64 local_window) {
    region_of(handle)->shared_window = shared_window;
    region_of(handle)->local_window = local_window;
}

extern "C" __device__ void redviz_symbol(u64 handle, u32 index, u64 address) {
    region_of(handle)->symbols[index] = address + 1; // 0: not recorded
}

// The lanes that are at this site together. (ptxas may make one call of two that stand at the begins of the
// two arms of a branch: its lanes then come from different sites.)
static __device__ __forceinline__ u32 lanes_at(u32 site) {
    u32 mask = __activemask();
    if (__all_sync(mask, site == __shfl_sync(mask, site, __ffs(mask) - 1)))
        return mask;
    return __match_any_sync(mask, site);
}

// The place of a record; 0: there is no room. One lane asks.
static __device__ __forceinline__ u32 append(Region *region, u32 bytes) {
    u64 before;
    asm volatile("atom.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(&region->used), "l"((u64)bytes)
                 : "memory");
    u32 records_at = redviz_settings.records_at;
    if (before + bytes <= redviz_settings.region_bytes - records_at)
        return records_at + (u32)before;
    atomicAdd(&region->dropped, (u64)1);
    atomicMax(&region->lost_at, ~before);
    return 0;
}

// The same at a site in a loop that may spin: what would be one record too many takes the place of the one
// before.
extern "C" __device__ __noinline__ u32 redviz_append_in_loop(u64 handle, u32 site, u32 mask, u32 bytes) {
    Region *region = region_of(handle);
    u32 warps = (blockDim.x * blockDim.y * blockDim.z + 31) / 32;
    Slot *slot = (Slot *)((unsigned char *)region + redviz_settings.slots_at);
    slot += (site * warps + ((u32)handle & 31)) * 32 + lane_of_warp();
    if (slot->count >= redviz_settings.spin_limit && slot->mask == mask) {
        atomicAdd(&region->left_out, (u64)1);
        return slot->at;
    }
    u32 at = append(region, bytes);
    if (at) {
        slot->count++;
        slot->mask = mask;
        slot->at = at;
    }
    return at;
}

template <int WIDE, int NARROW>
static __device__ __forceinline__ void record(u64 handle, u32 site, u32 mask, u32 extra, const u64 *wide,
                                              const u32 *narrow) {
    Region *region = region_of(handle);
    u32 active = __popc(mask), rank = __popc(mask & lanes_below()), at = 0;
    if (rank == 0) {
        u32 bytes = 16 + ((8 * WIDE + 4 * NARROW) * active + 7) / 8 * 8;
        if (site < redviz_settings.spin_sites)
            at = redviz_append_in_loop(handle, site, mask, bytes);
        else
            at = append(region, bytes);
    }
    at = __shfl_sync(mask, at, __ffs(mask) - 1);
    if (at) {
        unsigned char *place = (unsigned char *)region + at;
        if (rank == 0) {
            ((u64 *)place)[0] = site | (u64)mask << 32;
            ((u64 *)place)[1] = (handle & 31) | (u64)extra << 32;
        }
        u64 *wide_column = (u64 *)(place + 16) + rank;
#pragma unroll
        for (int i = 0; i < WIDE; i++)
            wide_column[i * active] = wide[i];
        u32 *narrow_column = (u32 *)((u64 *)(place + 16) + WIDE * active) + rank;
#pragma unroll
        for (int i = 0; i < NARROW; i++)
            narrow_column[i * active] = narrow[i];
    }
    __syncwarp(mask);
}

#define RECORD(WIDE, NARROW, PARAMETERS, WIDE_VALUES, NARROW_VALUES)                                         \
    extern "C" __device__ void redviz_record_##WIDE##_##NARROW PARAMETERS {                                  \
        u64 wide[] = WIDE_VALUES;                                                                            \
        u32 narrow[] = NARROW_VALUES;                                                                        \
        record<WIDE, NARROW>(handle, site, lanes_at(site), extra, wide, narrow);                             \
    }
#define LIST(...)                                                                                            \
    { __VA_ARGS__ }
#define HEAD u64 handle, u32 site, u32 extra
#define N1   u32 a
#define N2   N1, u32 b
#define N3   N2, u32 c
#define N4   N3, u32 d
#define N5   N4, u32 e
#define N8   N5, u32 f, u32 g, u32 h
#define N9   N8, u32 i
#define W1   u64 p
#define W2   W1, u64 q
#define W3   W2, u64 r
#define W4   W3, u64 s
#define W5   W4, u64 t

RECORD(0, 0, (HEAD), LIST(0), LIST(0))
RECORD(0, 1, (HEAD, N1), LIST(0), LIST(a))
RECORD(0, 2, (HEAD, N2), LIST(0), LIST(a, b))
RECORD(0, 3, (HEAD, N3), LIST(0), LIST(a, b, c))
RECORD(0, 4, (HEAD, N4), LIST(0), LIST(a, b, c, d))
RECORD(0, 5, (HEAD, N5), LIST(0), LIST(a, b, c, d, e))
RECORD(0, 8, (HEAD, N8), LIST(0), LIST(a, b, c, d, e, f, g, h))
RECORD(0, 9, (HEAD, N9), LIST(0), LIST(a, b, c, d, e, f, g, h, i))
RECORD(1, 0, (HEAD, W1), LIST(p), LIST(0))
RECORD(1, 1, (HEAD, W1, N1), LIST(p), LIST(a))
RECORD(1, 2, (HEAD, W1, N2), LIST(p), LIST(a, b))
RECORD(1, 3, (HEAD, W1, N3), LIST(p), LIST(a, b, c))
RECORD(1, 4, (HEAD, W1, N4), LIST(p), LIST(a, b, c, d))
RECORD(1, 5, (HEAD, W1, N5), LIST(p), LIST(a, b, c, d, e))
RECORD(1, 8, (HEAD, W1, N8), LIST(p), LIST(a, b, c, d, e, f, g, h))
RECORD(1, 9, (HEAD, W1, N9), LIST(p), LIST(a, b, c, d, e, f, g, h, i))
RECORD(2, 0, (HEAD, W2), LIST(p, q), LIST(0))
RECORD(2, 1, (HEAD, W2, N1), LIST(p, q), LIST(a))
RECORD(3, 0, (HEAD, W3), LIST(p, q, r), LIST(0))
RECORD(3, 1, (HEAD, W3, N1), LIST(p, q, r), LIST(a))
RECORD(4, 0, (HEAD, W4), LIST(p, q, r, s), LIST(0))
RECORD(4, 1, (HEAD, W4, N1), LIST(p, q, r, s), LIST(a))
RECORD(5, 0, (HEAD, W5), LIST(p, q, r, s, t), LIST(0))

// A branch: `extra` is the mask of the lanes that take it. redviz_branch_1 (brx) also keeps its index.
extern "C" __device__ void redviz_branch_0(u64 handle, u32 site, u32 taken) {
    u32 mask = lanes_at(site), narrow[] = {0};
    u64 wide[] = {0};
    record<0, 0>(handle, site, mask, __ballot_sync(mask, taken), wide, narrow);
}

extern "C" __device__ void redviz_branch_1(u64 handle, u32 site, u32 taken, u32 index) {
    u32 mask = lanes_at(site), narrow[] = {index};
    u64 wide[] = {0};
    record<0, 1>(handle, site, mask, __ballot_sync(mask, taken), wide, narrow);
}
