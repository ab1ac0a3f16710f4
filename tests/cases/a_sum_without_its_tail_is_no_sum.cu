// A block adds two elements per thread where both exist; the last element has no partner and is left out.
//
// ARGS: --args 'in=float[n]:random(0.5,1.5), out=float[1]:zero, n' --n 1025 --grid 3 --block 256
// EXPECT: looks like sum(in[0..1023]), which leaves out 1 of 1,025 elements
// NEVER: : ok
__global__ void sum(const float *in, float *out, int n) {
    __shared__ float all[256];
    int t = threadIdx.x, i = 512 * blockIdx.x + t;
    if (i + 256 >= n) return;
    all[t] = in[i] + in[i + 256];
    for (int s = 128; s > 0; s /= 2) {
        __syncthreads();
        if (t < s) all[t] += all[t + s];
    }
    if (t == 0) atomicAdd(out, all[0]);
}
