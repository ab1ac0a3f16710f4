"""Numba: a sum through shared memory, and one by cuda.reduce."""

import numpy as np
from numba import cuda, float32

BLOCK = 128


@cuda.jit
def block_sum(values, sums):
    partial = cuda.shared.array(BLOCK, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    partial[t] = values[i] if i < values.size else 0.0
    cuda.syncthreads()
    stride = BLOCK // 2
    while stride > 0:
        if t < stride:
            partial[t] += partial[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = partial[0]


@cuda.reduce
def add(a, b):
    return a + b


values = np.arange(1000, dtype=np.float32)
on_device = cuda.to_device(values)
blocks = (values.size + BLOCK - 1) // BLOCK
sums = cuda.device_array(blocks, np.float32)
block_sum[blocks, BLOCK](on_device, sums)
assert sums.copy_to_host().sum() == values.sum()
assert add(on_device) == values.sum()
print("PASSED")
