// lab_wavefronts: how many cycles a load from shared memory takes, by its wavefronts.
//
//   ways = 3    lane   0   1   2   3   4  ...  31
//               bank   0   0   0   3   4  ...  31     three words of bank 0: 3 wavefronts
//
//   cycles[0..31]   1 to 32 wavefronts, each load waits for the one before
//   cycles[32..63]  1 to 32 wavefronts, eight loads in flight: cycles per load
//
// What it teaches: a warp needs as many wavefronts as words that its lanes want of one bank.
// One block. Its threads sum `in`; then the first warp measures.
enum { IN_FLIGHT = 8 };

__global__ void lab_wavefronts(const int *in, unsigned long long *cycles, int *out, unsigned n,
                               unsigned steps) {
    __shared__ unsigned words[32 * 32];
    unsigned tid = threadIdx.x, lane = tid % 32;
    int sum = 0;
#pragma unroll 8
    for (unsigned i = tid; i < n; i += blockDim.x)
        sum += in[i];
    atomicAdd(out, sum);
    if (tid >= 32)
        return;

    for (unsigned ways = 1; ways <= 32; ways++) {
        unsigned *word = &words[lane < ways ? lane * 32 : lane];
        unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(word));
        __syncwarp(); // the loads before these have ended in all lanes
        *word = own;  // it holds its own address, so that each load is of the same word
        __syncwarp();

        unsigned at = own;
        long long begin = clock64();
#pragma unroll 32
        for (unsigned i = 0; i < steps; i++)
            asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
        if (at == 0xffffffff) // never: but it waits for the last load
            return;
        long long end = clock64();
        if (tid == 0)
            cycles[ways - 1] = end - begin;

        unsigned all = 0;
        begin = clock64();
        for (unsigned i = 0; i < steps; i++) {
            unsigned got[IN_FLIGHT];
#pragma unroll
            for (unsigned j = 0; j < IN_FLIGHT; j++)
                // volatile: ptxas would load a word once
                asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(got[j]) : "r"(own) : "memory");
#pragma unroll
            for (unsigned j = 0; j < IN_FLIGHT; j++)
                all |= got[j];
        }
        if (all == 0xffffffff) // never, as above
            return;
        end = clock64();
        if (tid == 0)
            cycles[32 + ways - 1] = (end - begin) / IN_FLIGHT;
    }
}
