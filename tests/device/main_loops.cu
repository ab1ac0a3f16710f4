// The main loops of two kinds of matrix products on Hopper, for verify_loops.sh: one warp copies tiles into a
// ring, two warpgroups multiply them. Both compute a (rows x depth) times b (columns x depth), transposed.
//
//   producer warp    | wait empty[s], copy a, b -> full[s] | ...                 3 stages
//   warpgroup 1, 2   | wait full[s], multiply 64 rows each, release a stage | ...
//
// pipelined_product: f16. A block takes tile after tile of 128 x 64; a group of wgmma stays in flight while the
// stage of the group before it is released; the tile leaves through shared memory and a tensor copy.
// promoted_product: e4m3. Each 128 of the depth are summed in a fresh accumulator, which is then multiplied by
// the scale of its row of a and of this part of b, and added to a sum in float.
//
// Both tiles have rows of 128 bytes: 64 numbers of f16, 128 of e4m3. Blocks have 384 threads.
#include "../../kernels/tiles.cuh"

#include <cuda_fp16.h>

constexpr unsigned stages = 3, tile_rows = 128, tile_columns = 64, row_bytes = 128;
constexpr unsigned a_bytes = tile_rows * row_bytes, b_bytes = tile_columns * row_bytes;
constexpr unsigned scale_bytes = tile_rows * sizeof(float), result_bytes = 64 * 64 * sizeof(__half);

// The ring in dynamic shared memory; behind it the scales of a's rows (e4m3), or the tile that leaves (f16).
__device__ inline unsigned char *tile_of_a(unsigned stage) {
    return shared_tiles() + stage * a_bytes;
}
__device__ inline unsigned char *tile_of_b(unsigned stage) {
    return shared_tiles() + stages * a_bytes + stage * b_bytes;
}
__device__ inline unsigned char *behind_ring() {
    return shared_tiles() + stages * (a_bytes + b_bytes);
}

struct Place {
    unsigned stage = 0, parity = 0;
    __device__ void advance() {
        stage = (stage + 1) % stages;
        parity ^= stage == 0;
    }
};

// 8 consumer warps release a stage.
__device__ inline void init_ring(unsigned long long *full, unsigned long long *empty) {
    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < stages; s++) {
            init_barrier(&full[s], 1);
            init_barrier(&empty[s], 8);
        }
        publish_barriers();
    }
    __syncthreads();
}

__device__ inline void release(unsigned long long *empty) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(empty);
}

// A tile of rows of 128 bytes, swizzled over 128 bytes; `byte` into each row.
__device__ inline unsigned long long descriptor(const unsigned char *tile, unsigned byte) {
    unsigned long long address = (shared_address(tile) + byte) / 16, eight_rows = 8 * row_bytes / 16;
    return address | 1ull << 16 | eight_rows << 32 | 1ull << 62;
}

// d (64 x 64) = a (64 x 32 bytes) times b (64 x 32 bytes) transposed, plus d if `adds`.
#define MULTIPLY(name, shape, turns)                                                                         \
    __device__ inline void name(float(&d)[32], unsigned long long a, unsigned long long b, unsigned adds) {  \
        asm volatile("{ .reg .pred adds;\n"                                                                  \
                     "setp.ne.u32 adds, %34, 0;\n"                                                           \
                     "wgmma.mma_async.sync.aligned." shape " "                                               \
                     "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "               \
                     "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "     \
                     "%32, %33, adds, 1, 1" turns "; }"                                                      \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),   \
                       "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]),            \
                       "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]),         \
                       "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),         \
                       "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]),         \
                       "+f"(d[31])                                                                           \
                     : "l"(a), "l"(b), "r"(adds));                                                           \
    }
MULTIPLY(multiply_halves, "m64n64k16.f32.f16.f16", ", 0, 0")
MULTIPLY(multiply_bytes, "m64n64k32.f32.e4m3.e4m3", "")

template <unsigned groups> __device__ inline void wait_until_in_flight(float (&d)[32]) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
    for (unsigned j = 0; j < 32; j++)
        asm volatile("" : "+f"(d[j])::"memory"); // nothing that uses d moves before the wait
}

// The warpgroup's 64 x 64 to shared memory as halves, swizzled: 8 x 8 at a time, four of them together.
__device__ inline void keep_tile(unsigned char *tile, const float (&d)[32]) {
    unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane % 16;
    for (unsigned j = 0; j < 4; j++) {
        unsigned at = row * row_bytes + j * 32 + lane / 16 * 16, pair[4];
        for (unsigned k = 0; k < 4; k++) {
            __half2 two = __floats2half2_rn(d[j * 8 + k * 2], d[j * 8 + k * 2 + 1]);
            pair[k] = reinterpret_cast<unsigned &>(two);
        }
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         shared_address(tile) + swizzled(at, 0x70)),
                     "r"(pair[0]), "r"(pair[1]), "r"(pair[2]), "r"(pair[3])
                     : "memory");
    }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    pipelined_product(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                      const __grid_constant__ TensorMap out, unsigned rows, unsigned columns,
                      unsigned depth) {
    __shared__ unsigned long long full[stages], empty[stages];
    unsigned warpgroup = threadIdx.x / 128, down = rows / tile_rows, tiles = down * (columns / tile_columns);
    Place place;
    init_ring(full, empty);

    if (warpgroup == 0) { // the producer
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x != 0) return;
        for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x)
            for (unsigned k = 0; k < depth; k += 64) {
                unsigned s = place.stage;
                wait_for_phase(&empty[s], place.parity ^ 1);
                expect_bytes(&full[s], a_bytes + b_bytes);
                copy_box(tile_of_a(s), &a, k, tile % down * tile_rows, &full[s]);
                copy_box(tile_of_b(s), &b, k, tile / down * tile_columns, &full[s]);
                place.advance();
            }
        return;
    }

    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    unsigned char *result = behind_ring() + (warpgroup - 1) * result_bytes;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        float d[32];
        unsigned before = 0;
        for (unsigned k = 0; k < depth; k += 64) {
            unsigned s = place.stage;
            wait_for_phase(&full[s], place.parity);
            const unsigned char *own = tile_of_a(s) + (warpgroup - 1) * 64 * row_bytes;
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            for (unsigned byte = 0; byte < row_bytes; byte += 32)
                multiply_halves(d, descriptor(own, byte), descriptor(tile_of_b(s), byte), k + byte);
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            wait_until_in_flight<1>(d);
            if (k > 0) release(&empty[before]);
            before = s;
            place.advance();
        }
        wait_until_in_flight<0>(d);
        release(&empty[before]);

        bool is_first = threadIdx.x % 128 == 0;
        if (is_first)
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); // the tile before has left
        asm volatile("bar.sync %0, 128;" ::"r"(warpgroup) : "memory");
        keep_tile(result, d);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync %0, 128;" ::"r"(warpgroup) : "memory");
        if (is_first)
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\n"
                         "cp.async.bulk.commit_group;" ::"l"(&out),
                         "r"(tile / down * tile_columns), "r"(tile % down * tile_rows + (warpgroup - 1) * 64),
                         "r"(shared_address(result))
                         : "memory");
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// scales_of_a [depth / 128][rows], scales_of_b [depth / 128]; out [rows][columns]. Block b: tile b.
extern "C" __global__ void __launch_bounds__(384, 1)
    promoted_product(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                     const float *scales_of_a, const float *scales_of_b, float *out, unsigned rows,
                     unsigned columns, unsigned depth) {
    __shared__ unsigned long long full[stages], empty[stages];
    unsigned warpgroup = threadIdx.x / 128, down = rows / tile_rows;
    unsigned row = blockIdx.x % down * tile_rows, column = blockIdx.x / down * tile_columns;
    Place place;
    init_ring(full, empty);

    if (warpgroup == 0) { // the producer
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x != 0) return;
        for (unsigned k = 0; k < depth; k += 128) {
            unsigned s = place.stage;
            wait_for_phase(&empty[s], place.parity ^ 1);
            expect_bytes(&full[s], a_bytes + b_bytes + scale_bytes);
            copy_box(tile_of_a(s), &a, k, row, &full[s]);
            copy_box(tile_of_b(s), &b, k, column, &full[s]);
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                         "[%0], [%1], %2, [%3];" ::"r"(shared_address(behind_ring() + s * scale_bytes)),
                         "l"(scales_of_a + k / 128 * rows + row), "r"(scale_bytes),
                         "r"(shared_address(&full[s]))
                         : "memory");
            place.advance();
        }
        return;
    }

    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    unsigned lane = threadIdx.x % 32;
    unsigned own_row = (warpgroup - 1) * 64 + threadIdx.x / 32 % 4 * 16 + lane / 4;
    float sum[32] = {};
    for (unsigned k = 0; k < depth; k += 128) {
        unsigned s = place.stage;
        float of_b = scales_of_b[k / 128], part[32];
        wait_for_phase(&full[s], place.parity);
        const float *of_a = reinterpret_cast<const float *>(behind_ring() + s * scale_bytes);
        float scale[2] = {of_a[own_row] * of_b, of_a[own_row + 8] * of_b};
        const unsigned char *own = tile_of_a(s) + (warpgroup - 1) * 64 * row_bytes;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (unsigned byte = 0; byte < row_bytes; byte += 32)
            multiply_bytes(part, descriptor(own, byte), descriptor(tile_of_b(s), byte), byte);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        wait_until_in_flight<0>(part);
        release(&empty[s]);
        for (unsigned j = 0; j < 32; j++) sum[j] = fmaf(scale[j / 2 % 2], part[j], sum[j]);
        place.advance();
    }
    for (unsigned j = 0; j < 32; j++)
        out[(row + own_row + j / 2 % 2 * 8) * columns + column + j / 4 * 8 + lane % 4 * 2 + j % 2] = sum[j];
}
