/* thrust: a reduction, a transformation and a sort of device vectors. */
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};

int main() {
    const int n = 3000;
    thrust::host_vector<int> values(n);
    long expected = 0;
    for (int i = 0; i < n; i++) {
        values[i] = (i * 7919) % 1009;
        expected += values[i] * values[i];
    }
    thrust::device_vector<int> d_values = values, d_squares(n);
    thrust::transform(d_values.begin(), d_values.end(), d_squares.begin(), Square());
    long sum = thrust::reduce(d_squares.begin(), d_squares.end(), 0L, thrust::plus<long>());
    thrust::sort(d_squares.begin(), d_squares.end());
    thrust::host_vector<int> sorted = d_squares;
    bool good = sum == expected;
    for (int i = 1; i < n; i++) good = good && sorted[i - 1] <= sorted[i];
    printf("%s: %ld\n", good ? "PASSED" : "FAILED", sum);
    return !good;
}
