// lab_latency: how many cycles one access takes when the next one needs its result.
//
//   p = *p --> p = *p --> p = *p --> ...      a chain of `steps` loads, timed by clock64() at both ends
//   |<-- latency -->|
//
//   cycles[0..2]    global memory, L2 cache, L1 cache
//   cycles[3..8]    shared memory: 1, 2, 4, 8, 16 and 32 lanes in a bank
//   cycles[9..10]   shuffle, redux
//   cycles[11..14]  registers: integer multiply-add, float add, float multiply-add, double add
//   cycles[15..18]  atomics: shared memory, each lane its word and all one; global memory, one lane and all
//   cycles[19..24]  a barrier of 1, 2, 4, 8, 16 and 32 warps; 0 where the block has fewer
//
// What it teaches: a warp that waits for each result gets one step per latency: about 700 cycles for global memory, 24
// for shared memory, 26 for a shuffle (H200).
// One block. Its threads link the chain, then sum `in`, which pushes the chain out of the caches if `in` is
// larger than those; then the first warp measures, and for the barriers as many as meet there.
typedef unsigned long long Link; // address of the next one

enum { APART = 528 }; // links lie so many apart, so that no two share a line or a set

// The loads are in assembly so that each stays where it is; .cg bypasses L1.
template <typename Load>
__device__ unsigned long long chase(Link p, unsigned steps, Load load) {
    long long begin = clock64();
    for (unsigned i = 0; i < steps; i++)
        p = load(p);
    if (p == 0) // never: but it waits for the last load
        return 0;
    return clock64() - begin;
}

template <typename Step>
__device__ unsigned long long repeat(unsigned value, unsigned steps, Step step) {
    long long begin = clock64();
#pragma unroll 32
    for (unsigned i = 0; i < steps; i++)
        value = step(value);
    if (value == 0xffffffff) // never, as above
        return 0;
    return clock64() - begin;
}

// Each lane's word holds its own address, so that each access is of the same word.
template <typename Step>
__device__ unsigned long long chase_shared(unsigned *word, unsigned steps, Step step) {
    unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(word));
    __syncwarp(); // the chain before this one has ended in all lanes
    *word = own;
    __syncwarp();
    return repeat(own, steps, step);
}

// So many warps meet at barrier 1; the others do not take part.
__device__ unsigned long long meet(unsigned warps, unsigned steps) {
    __syncthreads();
    if (threadIdx.x >= 32 * warps || blockDim.x < 32 * warps)
        return 0;
    long long begin = clock64();
    for (unsigned i = 0; i < steps; i++)
        asm volatile("barrier.sync 1, %0;" ::"r"(32 * warps) : "memory");
    return clock64() - begin;
}

__global__ void lab_latency(const int *in, Link *chain, unsigned long long *cycles, int *out, unsigned n,
                            unsigned steps) {
    __shared__ unsigned words[32 * 32];
    unsigned tid = threadIdx.x, lane = tid % 32;
    for (unsigned i = tid; i < steps; i += blockDim.x)
        chain[i * APART] = reinterpret_cast<Link>(&chain[(i + 1) % steps * APART]);
    int sum = 0;
#pragma unroll 8
    for (unsigned i = tid; i < n; i += blockDim.x)
        sum += in[i];
    atomicAdd(out, sum);
    __syncthreads();

    auto past_l1 = [](Link p) {
        asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p)::"memory");
        return p;
    };
    auto by_l1 = [](Link p) {
        asm volatile("ld.global.u64 %0, [%0];" : "+l"(p)::"memory");
        return p;
    };
    auto by_atomic = [](Link p) {
        asm volatile("atom.global.add.u64 %0, [%0], 0;" : "+l"(p)::"memory");
        return p;
    };
    auto shared_load = [](unsigned at) {
        asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
        return at;
    };
    auto shared_atomic = [](unsigned at) {
        asm volatile("atom.shared.add.u32 %0, [%0], 0;" : "+r"(at)::"memory");
        return at;
    };
    unsigned next = 0;
    auto keep = [&](unsigned long long took) {
        if (tid == 0)
            cycles[next] = took;
        next++;
    };
    if (tid < 32) {
        Link first = reinterpret_cast<Link>(chain);
        keep(chase(first, steps, past_l1));
        keep(chase(first, steps, past_l1));
        unsigned long long took = chase(first, steps, by_l1);
        if (took)                              // always; but ptxas drops loads that nobody needs
            took = chase(first, steps, by_l1); // now they are in L1
        keep(took);
        for (unsigned apart = 1; apart <= 32; apart *= 2) // as many lanes share a bank
            keep(chase_shared(&words[lane * apart], steps, shared_load));
        keep(repeat(lane, steps, [](unsigned v) { return __shfl_xor_sync(0xffffffff, v, 1); }));
        keep(repeat(lane, steps, [](unsigned v) { return __reduce_max_sync(0xffffffff, v); }));
        keep(repeat(lane, steps, [=](unsigned v) {
            asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(v) : "r"(n), "r"(steps));
            return v;
        }));
        keep(repeat(lane, steps, [=](unsigned v) {
            asm volatile("add.rn.f32 %0, %0, %1;" : "+r"(v) : "r"(n));
            return v;
        }));
        keep(repeat(lane, steps, [=](unsigned v) {
            asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+r"(v) : "r"(n), "r"(steps));
            return v;
        }));
        keep(chase(lane + 1, steps, [=](Link v) {
            asm volatile("add.rn.f64 %0, %0, %1;" : "+l"(v) : "l"(static_cast<Link>(n)));
            return v;
        }));
        keep(chase_shared(&words[lane], steps, shared_atomic));
        keep(chase_shared(&words[0], steps, shared_atomic));
        took = 0;
        if (lane == 0)
            took = chase(first, steps, by_atomic);
        __syncwarp();
        keep(took);
        keep(chase(first, steps, by_atomic));
    }
    for (unsigned warps = 1; warps <= 32; warps *= 2)
        keep(meet(warps, steps));
}
