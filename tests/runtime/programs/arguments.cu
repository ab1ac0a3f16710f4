/* Multiplies its first argument by a number of the compiler's command line, and prints its second argument. */
#include <cstdio>
#include <cstdlib>

__global__ void scale(int *value) {
    *value *= FACTOR;
}
int main(int argc, char **argv) {
    int *d_value, value = argc > 1 ? atoi(argv[1]) : 0;
    cudaMalloc(&d_value, sizeof(int));
    cudaMemcpy(d_value, &value, sizeof value, cudaMemcpyHostToDevice);
    scale<<<1, 1>>>(d_value);
    cudaMemcpy(&value, d_value, sizeof value, cudaMemcpyDeviceToHost);
    printf("%d '%s'\n", value, argc > 2 ? argv[2] : "");
}
