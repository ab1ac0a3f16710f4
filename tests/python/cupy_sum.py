"""CuPy: sums by CUB and by kernels in C, and an elementwise kernel."""

import cupy

block_sum = cupy.RawKernel(
    r"""
extern "C" __global__ void block_sum(const float *values, float *sums, int n)
{
    __shared__ float partial[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    partial[t] = i < n ? values[i] : 0.0f;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride)
            partial[t] += partial[t + stride];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = partial[0];
}
""",
    "block_sum",
)
squares = cupy.ElementwiseKernel("float32 a", "float32 b", "b = a * a", "squares")

values = cupy.arange(1000, dtype=cupy.float32)
sums = cupy.zeros(8, dtype=cupy.float32)
block_sum((8,), (128,), (values, sums, cupy.int32(values.size)))
assert sums.get().sum() == 499500
assert int(cupy.arange(100).sum()) == 4950
assert squares(values)[30] == 900
assert cupy.arange(12).reshape(3, 4).sum(axis=0).get().tolist() == [12, 15, 18, 21]
print("PASSED")
