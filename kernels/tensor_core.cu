// tensor_core: inputs times ones; a tensor core adds them.
//
//      A: inputs            B: ones           D: sums
//      a0 a1 .. a15         1 1 .. 1          a a .. a        a = a0 + a1 + .. + a15 + what D held before
//      b0 b1 .. b15    *    1 1 .. 1    =     b b .. b
//      ...                  ...               ...
//
// What it teaches: a product with ones adds the rows of a matrix. One mma adds 256 numbers of 16 bits to 16 sums, which it
// holds eight times; of doubles, 32 numbers to 8 sums. Which input stands where in A does not matter to the sum, so each
// lane takes 16 bytes as they lie in memory. The sums are floats: fp16 and bfloat16 numbers are multiplied exactly.
// Blocks are whole warps; out[blockIdx.x] is the block's partial result.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// What a lane holds of A (items elements) and of D (sums; rows of them are of different rows of D).
template <typename T>
struct Tile;

template <>
struct Tile<half> {
    typedef float Sum;
    typedef uint4 Items;
    static const unsigned items = 8, sums = 4;
    static __device__ void add(Sum *d, const Items &a) {
        const unsigned ones = 0x3c003c00; // two halves
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %8}, "
            "{%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(ones));
    }
    static __device__ Sum rows(const Sum *d) { return d[0] + d[2]; }
};

template <>
struct Tile<__nv_bfloat16> {
    typedef float Sum;
    typedef uint4 Items;
    static const unsigned items = 8, sums = 4;
    static __device__ void add(Sum *d, const Items &a) {
        const unsigned ones = 0x3f803f80;
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
            "%8}, "
            "{%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(ones));
    }
    static __device__ Sum rows(const Sum *d) { return d[0] + d[2]; }
};

template <>
struct Tile<double> {
    typedef double Sum;
    typedef double Items;
    static const unsigned items = 1, sums = 2;
    static __device__ void add(Sum *d, const Items &a) {
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(d[0]), "+d"(d[1])
            : "d"(a), "d"(1.0));
    }
    static __device__ Sum rows(const Sum *d) { return d[0]; }
};

template <typename T>
__global__ void tensor_core(const T *in, typename Tile<T>::Sum *out, unsigned n) {
    typedef typename Tile<T>::Sum Sum;
    typedef typename Tile<T>::Items Items;
    const unsigned items = Tile<T>::items, per_warp = 32 * items;
    __shared__ Sum warp_sums[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    Sum d[Tile<T>::sums] = {};

    for (unsigned first = (blockIdx.x * warps + warp) * per_warp; first < n;
         first += gridDim.x * warps * per_warp) {
        unsigned i = first + lane * items;
        Items a;
        if (i + items <= n)
            a = *reinterpret_cast<const Items *>(in + i);
        else // what lies behind the array counts as zeros
            for (unsigned k = 0; k < items; k++)
                reinterpret_cast<T *>(&a)[k] = i + k < n ? in[i + k] : T(0.0f);
        Tile<T>::add(d, a);
    }

    Sum sum = Tile<T>::rows(d); // lane 4 * i holds row i of D, and so do the three behind it
    for (unsigned offset = 4; offset < 32; offset *= 2)
        sum = sum + __shfl_xor_sync(0xffffffff, sum, offset);
    if (lane == 0)
        warp_sums[warp] = sum;
    __syncthreads();

    if (warp == 0) {
        sum = lane < warps ? warp_sums[lane] : Sum(0);
        for (unsigned offset = 16; offset > 0; offset /= 2)
            sum = sum + __shfl_down_sync(0xffffffff, sum, offset);
        if (lane == 0)
            out[blockIdx.x] = sum;
    }
}

template __global__ void tensor_core<half>(const half *, float *, unsigned);
template __global__ void tensor_core<__nv_bfloat16>(const __nv_bfloat16 *, float *, unsigned);
template __global__ void tensor_core<double>(const double *, double *, unsigned);
