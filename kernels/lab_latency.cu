// lab_latency: how many cycles one access takes when the next one needs its result.
//
//   p = *p --> p = *p --> p = *p --> ...      a chain of `steps` loads, timed by clock64() at both ends
//   |<-- latency -->|
//
//   cycles[0]  global memory     cycles[3]  shared memory                       cycles[5]  shuffle
//   cycles[1]  L2 cache          cycles[4]  shared memory, 32 lanes one bank    cycles[6]  redux
//   cycles[2]  L1 cache                                                         cycles[7]  __syncthreads
//
// What it teaches: a warp that waits for each result gets one step per latency; what hides it is other warps,
// or several independent chains in one thread.
// One block. Its threads link the chain, then sum `in`, which pushes the chain out of the caches if `in` is
// larger than those; then the first warp measures, and all of them the barrier.
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

// Each lane's word holds its own address, so that each load is of the same word.
__device__ unsigned long long chase_shared(unsigned *word, unsigned steps) {
    unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(word));
    *word = own;
    __syncwarp();
    return repeat(own, steps, [](unsigned at) {
        asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
        return at;
    });
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
    unsigned long long took[7] = {};
    if (tid < 32) {
        Link first = reinterpret_cast<Link>(chain);
        took[0] = chase(first, steps, past_l1);
        took[1] = chase(first, steps, past_l1);
        took[2] = chase(first, steps, by_l1);
        if (took[2])                              // always; but ptxas drops loads that nobody needs
            took[2] = chase(first, steps, by_l1); // now they are in L1
        took[3] = chase_shared(&words[lane], steps);
        took[4] = chase_shared(&words[lane * 32], steps);
        took[5] = repeat(lane, steps, [](unsigned v) { return __shfl_xor_sync(0xffffffff, v, 1); });
        took[6] = repeat(lane, steps, [](unsigned v) { return __reduce_max_sync(0xffffffff, v); });
    }
    __syncthreads();
    long long begin = clock64();
    for (unsigned i = 0; i < steps; i++)
        __syncthreads();
    unsigned long long barriers = clock64() - begin;
    if (tid == 0) {
        for (int i = 0; i < 7; i++)
            cycles[i] = took[i];
        cycles[7] = barriers;
    }
}
