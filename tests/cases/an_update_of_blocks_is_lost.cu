// Blocks add to one element without an atomic. In the order of the run each block finds what the one before it stored; an
// update is lost if one is held between its load and its store.
// ARGS: --check=json
// EXIT: 1
// EXPECT: "kind":"global_race"
// EXPECT: "order":{"sentence":"Loses if block 0 is held before its store in line 10 until block 1 has passed its load in line 10: total[0] is
// EXPECT: "holds":[{"launch":0,
// EXPECT: "no_order":null
__global__ void count(const int *in, int *total) {
    if (threadIdx.x == 0) *total += in[blockIdx.x];
}

int main() {
    int *in, *total;
    cudaMalloc(&in, 4 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    count<<<4, 32>>>(in, total);
    cudaDeviceSynchronize();
}
