/* cub::DeviceReduce: one call asks for the size of its workspace, the other one reduces. */
#include <cstdio>
#include <cub/device/device_reduce.cuh>
#include <vector>

int main() {
    const int n = 1 << 18;
    std::vector<int> values(n);
    int expected = 0, sum = 0;
    for (int i = 0; i < n; i++) expected += values[i] = i % 5;
    int *d_values, *d_sum;
    void *d_work = nullptr;
    size_t bytes = 0;
    cudaMalloc(&d_values, n * sizeof(int));
    cudaMalloc(&d_sum, sizeof(int));
    cudaMemcpy(d_values, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cub::DeviceReduce::Sum(d_work, bytes, d_values, d_sum, n);
    cudaMalloc(&d_work, bytes);
    cub::DeviceReduce::Sum(d_work, bytes, d_values, d_sum, n);
    cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%s: %d\n", sum == expected ? "PASSED" : "FAILED", sum);
    return sum != expected;
}
