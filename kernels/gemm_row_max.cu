// gemm_row_max: the largest product of each row with any of the first rows, on a warpgroup's tensor cores.
//
//   in [rows][64]     block b: its 64 rows        times    64 keys at a time, transposed
//
//                     row  |  scores of 64 x 64, in registers  |  -> largest of each row so far
//                          |  32 a thread, 4 threads a row     |
//
// What it teaches: the reduction inside attention. wgmma multiplies two tiles that lie in shared memory, as
// tensor copies have left them: its descriptors say where, how far 8 rows are from the next 8, and which
// swizzle the copy used. The products never leave the registers: each thread keeps the largest of its 16
// columns for two rows, and two shuffles fold the 4 threads that share a row.
// Blocks are one warpgroup, 128 threads. The matrix has whole rows of 64 elements: n is rounded up.
#include "tiles.cuh"

#include <cuda_fp16.h>

constexpr unsigned width = 64, tile_bytes = 64 * width * sizeof(__half);

// A tile of rows of 128 bytes, swizzled over 128 bytes; `byte` into each row.
__device__ inline unsigned long long descriptor(const unsigned char *tile, unsigned byte) {
    unsigned long long address = (shared_address(tile) + byte) / 16, eight_rows = 8 * 128 / 16;
    return address | 1ull << 16 | eight_rows << 32 | 1ull << 62;
}

// scores (64 x 64) = a (64 x 16) times b (64 x 16) transposed, plus scores unless it is the first.
__device__ inline void multiply(float (&d)[32], unsigned long long a, unsigned long long b, unsigned adds) {
    asm volatile("{ .reg .pred adds;\n"
                 "setp.ne.u32 adds, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, adds, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
                   "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
                   "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
                   "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
                   "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b), "r"(adds));
}

__global__ void gemm_row_max(const __grid_constant__ TensorMap map, float *out, unsigned rows,
                             unsigned keys) {
    __shared__ unsigned long long full;
    unsigned char *own = shared_tiles(), *others = own + tile_bytes;
    unsigned tid = threadIdx.x, lane = tid % 32, first = blockIdx.x * 64, parity = 0;
    float largest[2] = {-__builtin_huge_valf(), -__builtin_huge_valf()}; // of rows r and r + 8

    if (tid == 0) {
        init_barrier(&full, 1);
        publish_barriers();
    }
    __syncthreads();

    for (unsigned key = 0; key < keys; key += 64) {
        if (tid == 0) {
            expect_bytes(&full, key == 0 ? 2 * tile_bytes : tile_bytes);
            if (key == 0)
                copy_box(own, &map, 0, first, &full);
            copy_box(others, &map, 0, key, &full);
        }
        wait_for_phase(&full, parity);
        parity ^= 1;

        float scores[32];
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (unsigned byte = 0; byte < 128; byte += 32) // 16 columns at a time
            multiply(scores, descriptor(own, byte), descriptor(others, byte), byte);
        asm volatile("wgmma.commit_group.sync.aligned;\n"
                     "wgmma.wait_group.sync.aligned 0;" ::
                         : "memory");
        for (unsigned j = 0; j < 32; j++)
            asm volatile("" : "+f"(scores[j])); // no score is read before the wait

        for (unsigned j = 0; j < 32; j++) {
            unsigned column = key + j / 4 * 8 + lane % 4 * 2 + j % 2;
            if (column < keys)
                largest[j / 2 % 2] = fmaxf(largest[j / 2 % 2], scores[j]);
        }
        __syncthreads(); // the tile may be filled again
    }

    for (unsigned half = 0; half < 2; half++) {
        for (unsigned offset = 2; offset > 0; offset /= 2)
            largest[half] = fmaxf(largest[half], __shfl_xor_sync(0xffffffff, largest[half], offset));
        unsigned row = first + tid / 32 * 16 + lane / 4 + half * 8;
        if (lane % 4 == 0 && row < rows)
            out[row] = largest[half];
    }
}
