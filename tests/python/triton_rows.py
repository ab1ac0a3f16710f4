"""Triton without PyTorch: softmax and layer normalization of rows, and a sum.

A tensor is what has data_ptr() and dtype.
"""

import ctypes

import numpy as np
import triton
import triton.language as tl

driver = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    error = getattr(driver, name)(*arguments)
    assert error == 0, "%s returned %d" % (name, error)


class Tensor:
    def __init__(self, array):
        self.array = np.ascontiguousarray(array)
        self.dtype = self.array.dtype.name
        self.address = ctypes.c_uint64()
        triton.runtime.driver.active.get_current_device()
        call("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(self.array.nbytes))
        call("cuMemcpyHtoD_v2", self.address, ctypes.c_void_p(self.array.ctypes.data), ctypes.c_size_t(self.array.nbytes))

    def data_ptr(self):
        return self.address.value

    def numpy(self):
        call("cuMemcpyDtoH_v2", ctypes.c_void_p(self.array.ctypes.data), self.address, ctypes.c_size_t(self.array.nbytes))
        return self.array


@triton.jit
def softmax(result, values, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(values + row * columns + column, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(result + row * columns + column, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def layer_norm(result, values, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(values + row * columns + column, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / columns
    difference = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(difference * difference, axis=0) / columns
    tl.store(result + row * columns + column, difference / tl.sqrt(variance + epsilon), mask=mask)


@triton.jit
def total(result, values, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(values + i, mask=i < n, other=0.0)
    tl.atomic_add(result, tl.sum(x, axis=0))


rows, columns = 4, 100
x = np.random.default_rng(1).random((rows, columns), dtype=np.float32)
values, result, sum_of_all = Tensor(x), Tensor(np.zeros_like(x)), Tensor(np.zeros(1, np.float32))

softmax[(rows,)](result, values, columns, BLOCK=128)
e = np.exp(x - x.max(axis=1, keepdims=True))
assert np.allclose(result.numpy(), e / e.sum(axis=1, keepdims=True), rtol=1e-5)

layer_norm[(rows,)](result, values, columns, 1e-5, BLOCK=128)
expected = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
assert np.allclose(result.numpy(), expected, rtol=1e-4, atol=1e-5)

total[(2,)](sum_of_all, values, rows * columns, BLOCK=256)
assert np.isclose(sum_of_all.numpy()[0], x.sum(), rtol=1e-5)
print("PASSED")
