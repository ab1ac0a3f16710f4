// Each launch leaves its word as it was, and is right: xors that cancel, a flag that nothing clears, a sum of zeros, a largest
// error of zero, a lock that is free again.
//
// ARGS: --run --check
// EXPECT: program exited 0
// NEVER: change nothing
// NEVER: of the program
// EXIT: 0
__global__ void parity(int *word) {
    atomicXor(word, 6);
}

__global__ void all_positive(const int *in, int *flag) {
    atomicAnd(flag, in[threadIdx.x] > 0);
}

__global__ void count_negative(const int *in, int *count) {
    atomicAdd(count, in[threadIdx.x] < 0);
}

__global__ void largest_error(const int *in, const int *wanted, int *error) {
    atomicMax(error, abs(in[threadIdx.x] - wanted[threadIdx.x]));
}

__global__ void lock_and_unlock(int *lock) {
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    atomicExch(lock, 0);
}

int main() {
    int host[64], *in, *words[5];
    for (int i = 0; i < 64; i++) host[i] = i + 1;
    cudaMalloc(&in, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    for (int i = 0; i < 5; i++) {
        int word = i == 1; // the flag
        cudaMalloc(&words[i], sizeof(int));
        cudaMemcpy(words[i], &word, sizeof word, cudaMemcpyHostToDevice);
    }
    parity<<<1, 64>>>(words[0]);
    all_positive<<<1, 64>>>(in, words[1]);
    count_negative<<<1, 64>>>(in, words[2]);
    largest_error<<<1, 64>>>(in, in, words[3]);
    lock_and_unlock<<<4, 32>>>(words[4]);
    cudaDeviceSynchronize();
}
