"""PyCUDA: a sum by a kernel in C, and one by gpuarray."""

import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void block_sum(const float *values, float *sums, int n)
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
""")
block_sum = module.get_function("block_sum")

values = np.arange(1000, dtype=np.float32)
sums = np.zeros(8, np.float32)
block_sum(cuda.In(values), cuda.Out(sums), np.int32(values.size), block=(128, 1, 1), grid=(sums.size, 1))
assert sums.sum() == values.sum()
assert gpuarray.sum(gpuarray.to_gpu(values)).get() == values.sum()
print("PASSED")
