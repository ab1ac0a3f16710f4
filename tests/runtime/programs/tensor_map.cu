/* A swizzled tile of a matrix by a tensor copy: its map comes from the driver, as a parameter of the kernel; the
 * tile goes back negated. */
#include <cstdint>
#include <cstdio>
#include <cuda.h>

constexpr int ROWS = 20, COLUMNS = 64, TILE_ROWS = 8, TILE_COLUMNS = 32;

__global__ void negate(const __grid_constant__ CUtensorMap map, int column, int row) {
    __shared__ alignas(1024) float tile[TILE_ROWS * TILE_COLUMNS];
    __shared__ uint64_t full;
    uint32_t to = (uint32_t)__cvta_generic_to_shared(tile), gate = (uint32_t)__cvta_generic_to_shared(&full),
             done = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(gate));
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(gate),
                     "r"((uint32_t)sizeof tile));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                     "l"(&map), "r"(column), "r"(row), "r"(gate)
                     : "memory");
    }
    __syncthreads();
    while (!done)
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(gate)
            : "memory");
    for (int i = threadIdx.x; i < TILE_ROWS * TILE_COLUMNS; i += blockDim.x) tile[i] = -tile[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile(
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
            "r"(column), "r"(row), "r"(to)
            : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main() {
    static float matrix[ROWS][COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) matrix[i / COLUMNS][i % COLUMNS] = i + 1;
    float *d_matrix;
    cudaMalloc(&d_matrix, sizeof matrix);
    cudaMemcpy(d_matrix, matrix, sizeof matrix, cudaMemcpyHostToDevice);
    CUtensorMap map;
    cuuint64_t size[2] = {COLUMNS, ROWS}, stride[1] = {sizeof matrix[0]};
    cuuint32_t box[2] = {TILE_COLUMNS, TILE_ROWS}, step[2] = {1, 1};
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
    int error = (int)((decltype(&cuTensorMapEncodeTiled))entry)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, d_matrix, size, stride, box, step,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    negate<<<1, 64>>>(map, 32, 15); /* three rows lie outside */
    cudaMemcpy(matrix, d_matrix, sizeof matrix, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        bool negated = i / COLUMNS >= 15 && i % COLUMNS >= 32;
        wrong += matrix[i / COLUMNS][i % COLUMNS] != (negated ? -(i + 1) : i + 1);
    }
    printf("%s: %d wrong, error %d\n", wrong ? "FAILED" : "PASSED", wrong, error);
    return wrong;
}
