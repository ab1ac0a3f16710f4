/* CUB and thrust behind a C interface (peers.h): the only CUDA C++ here that is not a kernel of the
 * catalogue. They belong to the toolkit (CCCL), which redviz itself does not need. */
#include "gpu/peers.h"

#include <cstdio>
#include <cub/device/device_reduce.cuh>
#include <cuda_fp16.h>
#include <cuda/std/limits>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/reduce.h>
#if CCCL_VERSION >= 3002000
#include <cuda/__execution/determinism.h>
#include <cuda/__execution/require.h>
#include <cuda/stream_ref>
#endif

template <typename T>
static int cub_reduce(void *workspace, size_t *bytes, const void *in, void *out, long long count, PeersOp op,
                      cudaStream_t stream) {
    const T *from = static_cast<const T *>(in);
    T *to = static_cast<T *>(out);
    switch (op) {
    case PEERS_SUM:
        return cub::DeviceReduce::Sum(workspace, *bytes, from, to, count, stream);
    case PEERS_MIN:
        return cub::DeviceReduce::Min(workspace, *bytes, from, to, count, stream);
    case PEERS_MAX:
        return cub::DeviceReduce::Max(workspace, *bytes, from, to, count, stream);
    default:
        return cub::DeviceReduce::ArgMax(workspace, *bytes, from, to, static_cast<long long *>(out) + 1, count,
                                         stream);
    }
}

template <typename T>
static int sum_same_bits(const void *in, void *out, long long count, cudaStream_t stream) {
#if CCCL_VERSION >= 3002000
    namespace execution = cuda::execution;
    auto how = cuda::std::execution::env{execution::require(execution::determinism::gpu_to_gpu),
                                         cuda::stream_ref{stream}};
    return cub::DeviceReduce::Reduce(static_cast<const T *>(in), static_cast<T *>(out), count,
                                     cuda::std::plus<T>{}, T(0), how);
#else
    return PEERS_LACKS;
#endif
}

template <typename T>
static int thrust_reduce(const void *in, void *out, long long count, PeersOp op, cudaStream_t stream) {
    using Limits = cuda::std::numeric_limits<T>;
    thrust::device_ptr<const T> from(static_cast<const T *>(in));
    auto policy = thrust::cuda::par.on(stream);
    T result;
    try {
        switch (op) {
        case PEERS_SUM:
            result = thrust::reduce(policy, from, from + count, T(0));
            break;
        case PEERS_MIN:
            result = thrust::reduce(policy, from, from + count, Limits::max(), cuda::minimum<T>());
            break;
        case PEERS_MAX:
            result = thrust::reduce(policy, from, from + count, Limits::lowest(), cuda::maximum<T>());
            break;
        default:
            static_cast<long long *>(out)[1] = thrust::max_element(policy, from, from + count) - from;
            return cudaSuccess;
        }
    } catch (const thrust::system_error &error) {
        return error.code().value();
    }
    *static_cast<T *>(out) = result;
    return cudaSuccess;
}

extern "C" int peers_version(void) {
    return PEERS_VERSION;
}

extern "C" const char *peers_name(void) {
    static char name[32];
    snprintf(name, sizeof name, "CCCL %d.%d", CCCL_MAJOR_VERSION, CCCL_MINOR_VERSION);
    return name;
}

extern "C" const char *peers_error_text(int result) {
    return cudaGetErrorString(static_cast<cudaError_t>(result));
}

extern "C" int peers_cub(void *workspace, size_t *bytes, const void *in, void *out, long long count,
                         PeersType type, PeersOp op, void *stream) {
    cudaStream_t on = static_cast<cudaStream_t>(stream);
    switch (type) {
    case PEERS_INT:
        return cub_reduce<int>(workspace, bytes, in, out, count, op, on);
    case PEERS_FLOAT:
        return cub_reduce<float>(workspace, bytes, in, out, count, op, on);
    case PEERS_HALF:
        return cub_reduce<__half>(workspace, bytes, in, out, count, op, on);
    default:
        return cub_reduce<double>(workspace, bytes, in, out, count, op, on);
    }
}

extern "C" int peers_cub_same_bits(const void *in, void *out, long long count, PeersType type, void *stream) {
    cudaStream_t on = static_cast<cudaStream_t>(stream);
    switch (type) {
    case PEERS_FLOAT:
        return sum_same_bits<float>(in, out, count, on);
    case PEERS_DOUBLE:
        return sum_same_bits<double>(in, out, count, on);
    default:
        return PEERS_LACKS;
    }
}

extern "C" int peers_thrust(const void *in, void *out, long long count, PeersType type, PeersOp op,
                            void *stream) {
    cudaStream_t on = static_cast<cudaStream_t>(stream);
    switch (type) {
    case PEERS_INT:
        return thrust_reduce<int>(in, out, count, op, on);
    case PEERS_FLOAT:
        return thrust_reduce<float>(in, out, count, op, on);
    case PEERS_HALF:
        return thrust_reduce<__half>(in, out, count, op, on);
    default:
        return thrust_reduce<double>(in, out, count, op, on);
    }
}
