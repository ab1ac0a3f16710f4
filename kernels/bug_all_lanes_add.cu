// bug_all_lanes_add: WRONG ON PURPOSE. After the shuffles every lane adds what it holds to the total.
//
//   four lanes that hold a b c d:   after delta 2    a+c        b+d      2c     2d
//                                   after delta 1    a+b+c+d    b+d+2c   2c+2d  4d
//                                                    ^ the sum  ^ leftovers: lanes that ran out of partners
//
// What it teaches: __shfl_down_sync leaves the sum in lane 0 only. A lane whose source is outside the warp
// gets its own value back, so the other lanes hold partial sums.
#include "operations.cuh"

template <typename T>
__global__ void bug_all_lanes_add(const T *in, T *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    T sum = i < n ? in[i] : T(0);
    for (unsigned delta = 16; delta > 0; delta /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, delta);

    atomicAdd(out, sum); // BUG: no if (threadIdx.x % 32 == 0)
}

template __global__ void bug_all_lanes_add<int>(const int *, int *, unsigned);
template __global__ void bug_all_lanes_add<float>(const float *, float *, unsigned);
template __global__ void bug_all_lanes_add<double>(const double *, double *, unsigned);
