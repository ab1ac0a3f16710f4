/* A product of two 16 x 16 matrices by one warp (wmma). */
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void multiply(const half *a, const half *b, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main() {
    half a[256], b[256], *d_a, *d_b;
    float c[256], *d_c;
    for (int i = 0; i < 256; i++) {
        a[i] = __float2half(i % 5);
        b[i] = __float2half(i % 3);
    }
    cudaMalloc(&d_a, sizeof a);
    cudaMalloc(&d_b, sizeof b);
    cudaMalloc(&d_c, sizeof c);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, sizeof b, cudaMemcpyHostToDevice);
    multiply<<<1, 32>>>(d_a, d_b, d_c);
    cudaMemcpy(c, d_c, sizeof c, cudaMemcpyDeviceToHost);
    bool good = true;
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 16; column++) {
            float expected = 0;
            for (int k = 0; k < 16; k++) expected += (row * 16 + k) % 5 * ((k * 16 + column) % 3);
            good = good && c[row * 16 + column] == expected;
        }
    printf("%s: %g\n", good ? "PASSED" : "FAILED", c[0]);
    return !good;
}
