// A tree over 128 threads, a power of two: an extreme at any element is found, and nothing is said.
//
// ARGS: --args 'in=int[128]:random, out=int[1]:zero' --grid 1 --block 128 --check
// EXPECT: No hazard
// EXPECT: The result is not checked
// NEVER: wrong result
__global__ void place_of_minimum(const int *in, int *out) {
    __shared__ int least[128], place[128];
    int t = threadIdx.x;
    least[t] = in[t];
    place[t] = t;
    for (int s = 64; s > 0; s /= 2) {
        __syncthreads();
        if (t < s && least[t + s] < least[t]) {
            least[t] = least[t + s];
            place[t] = place[t + s];
        }
    }
    if (t == 0) *out = place[0];
}
