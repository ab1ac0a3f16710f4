// Two reductions of CUB share their storage: the barrier belongs between the calls. nvcc interleaves the lines
// of inlined calls, so that both are named; the copy of the source shows after which one a barrier helps.
// ARGS: --check --compiler nvcc
// EXIT: 1
// EXPECT: insert __syncthreads() after line 17
// EXPECT: line 17 or 18: warp
// EXPECT: Proved in a copy of the source
// NEVER: insert __syncthreads() after line 18
#include <cub/cub.cuh>

__global__ void spans(const int *in, int *out) {
    typedef cub::BlockReduce<int, 64> Reduce;
    __shared__ typename Reduce::TempStorage scratch;
    int v = in[blockIdx.x * 64 + threadIdx.x];
    int low, high;

    low = Reduce(scratch).Reduce(v, [](int a, int b) { return a < b ? a : b; });
    high = Reduce(scratch).Reduce(v, [](int a, int b) { return a < b ? b : a; });
    if (threadIdx.x == 0) out[blockIdx.x] = high - low;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 8 * 64 * sizeof(int));
    cudaMalloc(&out, 8 * sizeof(int));
    spans<<<8, 64>>>(in, out);
    cudaDeviceSynchronize();
}

// NEEDS: nvcc
