// The sums of rows that rows.py measures in one process: the kernels row_sum and row_sum_vectors, and CUB's segmented sum, behind a C
// interface. All return CUDA error numbers.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -shared -Xcompiler -fPIC -o rows.so tests/device/rows.cu
//
// CUB's sum of segments of one size needs a CCCL newer than CUDA 13.0's: -I.../nvidia/cu13/include/cccl of
// `pip install nvidia-cuda-cccl`. Before that, the segments have offsets.
#include "../../kernels/row_sum.cu"
#include "../../kernels/row_sum_vectors.cu"

#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

extern "C" int row_sum(const float *in, float *out, unsigned rows, unsigned columns, unsigned block,
                       cudaStream_t stream) {
    if (columns <= block)
        row_sum_one_tile<float, Sum><<<rows, block, block * 4, stream>>>(in, out, rows * columns, columns);
    else
        row_sum_several_tiles<float, Sum>
            <<<rows, block, block * 4, stream>>>(in, out, rows * columns, columns);
    return cudaGetLastError();
}

extern "C" int row_sum_vectors(const float *in, float *out, unsigned rows, unsigned columns, unsigned block,
                               bool is_warp, cudaStream_t stream) {
    if (is_warp)
        row_sum_warps<float, Sum>
            <<<(rows + block / 32 - 1) / (block / 32), block, 0, stream>>>(in, out, rows * columns, columns);
    else
        row_sum_blocks<float, Sum><<<rows, block, 0, stream>>>(in, out, rows * columns, columns);
    return cudaGetLastError();
}

struct Offset {
    int columns;
    __host__ __device__ int operator()(int row) const { return row * columns; }
};

// `workspace` NULL: only sets *bytes to the size that it needs.
extern "C" int cub_rows(void *workspace, size_t *bytes, const float *in, float *out, int rows, int columns,
                        cudaStream_t stream) {
#if CCCL_VERSION >= 3001000
    return cub::DeviceSegmentedReduce::Sum(workspace, *bytes, in, out, rows, columns, stream);
#else
    auto begin = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), Offset{columns});
    return cub::DeviceSegmentedReduce::Sum(workspace, *bytes, in, out, rows, begin, begin + 1, stream);
#endif
}

extern "C" int cccl_version() {
    return CCCL_VERSION;
}
