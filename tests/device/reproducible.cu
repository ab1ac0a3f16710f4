// Compares the bits of the kernel reproducible over 1,000 launch shapes, then its time with that of CUB's sums.
//
//   nvcc -std=c++17 -O3 -arch=native -o reproducible tests/device/reproducible.cu && ./reproducible
//
// -arch=sm_90 compiles it elsewhere for an H100 or H200. CUB's sum that gives the same bits on every GPU, as
// kind "gpu_to_gpu", needs a CCCL newer than CUDA 13.0's: `pip install nvidia-cuda-cccl` brings one, and
// -I.../nvidia/cu13/include/cccl before the others takes it. One run takes about a minute and 3 GiB of the GPU's
// memory. Exit 1 if any bits differ.
//
// Times: calls are recorded into CUDA graphs, so that the host takes no part. Each reads a part of the input that
// the calls before it have not left in the cache, where the input is larger than the cache. A line gives
// the median of the samples, and in brackets the 10th and 90th of 100; the samples of all kinds alternate.
#include "../../kernels/reproducible.cu"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/device/device_reduce.cuh>
#include <string>
#include <vector>
#if CCCL_VERSION >= 3002000
#include <cuda/__execution/determinism.h>
#include <cuda/__execution/require.h>
#include <cuda/stream_ref>
#endif

static void check(cudaError_t result, int line) {
    if (result == cudaSuccess) return;
    fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(result));
    exit(2);
}
#define CHECK(call) check(call, __LINE__)

static const size_t MOST = size_t(1) << 28; // elements
static cudaStream_t stream;
static void *workspace;
static size_t workspace_bytes;
static int multiprocessors;
static bool failed;

static unsigned long long state = 1;
static unsigned long long random_bits() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state * 0x2545f4914f6cdd1dull;
}

// In -1 .. 1, of all bits that the type has.
static void set(float &x) {
    x = (float)(random_bits() >> 40) * 0x1p-23f - 1;
}
static void set(double &x) {
    x = (double)(random_bits() >> 11) * 0x1p-52 - 1;
}

// The sum of such numbers, rounded once.
static float exact(const std::vector<float> &values) {
    long long sum = 0;
    for (float x : values) sum += (long long)(x * 0x1p24f);
    return (float)sum * 0x1p-24f;
}
static double exact(const std::vector<double> &values) {
    __int128 sum = 0;
    for (double x : values) sum += (__int128)(x * 0x1p53);
    return (double)sum * 0x1p-53;
}

template <typename T> static const char *name();
template <> const char *name<float>() {
    return "float";
}
template <> const char *name<double>() {
    return "double";
}

// ---- bits ----

template <typename T> static T sum_of(const T *in, unsigned n, unsigned grid, unsigned block, T *out) {
    T result;
    reproducible<T><<<grid, block, 0, stream>>>(in, out, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(&result, out, sizeof result, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    return result;
}

// Every third shape sees the input in another order.
template <typename T>
static void compare(const char *input, std::vector<T> values, const T *known, T *in, T *out) {
    const int shapes = 1000;
    unsigned n = values.size();
    T first = 0;
    int others = 0;
    for (int s = 0; s < shapes; s++) {
        if (s % 3 == 0) {
            for (size_t i = values.size(); s > 0 && i > 1; i--)
                std::swap(values[i - 1], values[random_bits() % i]);
            CHECK(cudaMemcpy(in, values.data(), n * sizeof(T), cudaMemcpyHostToDevice));
        }
        unsigned grid = 1 + random_bits() % (s % 2 ? LETTERS : 64), block = 32 * (1 + random_bits() % 16);
        T sum = sum_of(in, n, grid, block, out);
        if (s == 0) first = known ? *known : sum;
        others += memcmp(&sum, &first, sizeof sum) != 0;
    }
    printf("%-6s %-22s %8u elements, %d shapes: %a, %d differ\n", name<T>(), input, n, shapes, (double)first,
           others);
    failed = failed || others;
}

template <typename T> static void compare_inputs(T *in, T *out) {
    std::vector<T> uniform(100003), wide(100003), any(10007);
    for (T &x : uniform) set(x);
    for (size_t i = 0; i < wide.size(); i++) {
        set(wide[i]);
        if (i % 64 == 0) wide[i] *= ldexp(1.0, -(int)(random_bits() % 90));
    }
    for (T &x : any) do {
            unsigned long long bits = random_bits();
            memcpy(&x, &bits, sizeof x);
        } while (!(x - x == 0) || std::abs(x) > (sizeof(T) == 4 ? 1e30 : 1e300));
    T known = exact(uniform);
    compare("uniform", uniform, &known, in, out);
    compare<T>("uniform, 1 in 64 small", wide, nullptr, in, out);
    compare<T>("any exponents", any, nullptr, in, out);
}

// ---- times ----

template <typename T> struct Kind {
    std::string name;
    unsigned grid, block; // of reproducible; grid 0: CUB
    bool same_bits;       // CUB's gpu_to_gpu
    std::vector<double> samples;
    cudaGraphExec_t graph;
};

template <typename T> static void enqueue(const Kind<T> &kind, const T *in, T *out, unsigned n) {
    if (kind.grid) {
        // no more blocks than have something to load
        unsigned needed =
            std::max(1u, (n / unsigned(16 / sizeof(T)) + kind.block * LOADS - 1) / (kind.block * LOADS));
        reproducible<T><<<std::min(kind.grid, needed), kind.block, 0, stream>>>(in, out, n);
        CHECK(cudaGetLastError());
        return;
    }
    if (kind.same_bits) {
#if CCCL_VERSION >= 3002000
        namespace execution = cuda::execution;
        auto how = cuda::std::execution::env{execution::require(execution::determinism::gpu_to_gpu),
                                             cuda::stream_ref{stream}};
        CHECK(cub::DeviceReduce::Reduce(in, out, n, cuda::std::plus<T>{}, T(0), how));
#endif
        return;
    }
    CHECK(cub::DeviceReduce::Sum(workspace, workspace_bytes, in, out, n, stream));
}

template <typename T> static double percentile(const std::vector<double> &sorted, double share) {
    return sorted[size_t(share * (sorted.size() - 1) + 0.5)];
}

// Microseconds of a call, sampled for each of the kinds in turn.
template <typename T> static void time_kinds(std::vector<Kind<T>> &kinds, const T *in, T *out, size_t n) {
    const size_t places = MOST / n, calls = std::min<size_t>(64, std::max<size_t>(4, places));
    const int samples = n >= MOST / 4 ? 51 : 101;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (Kind<T> &kind : kinds) {
        cudaGraph_t graph;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (size_t c = 0; c < calls; c++)
            enqueue(kind, in + c * (places / calls ? places / calls : 1) % places * n, out, n);
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&kind.graph, graph, 0));
        CHECK(cudaGraphDestroy(graph));
        kind.samples.clear();
    }
    for (int s = -3; s < samples; s++)
        for (Kind<T> &kind : kinds) {
            float milliseconds;
            CHECK(cudaEventRecord(begin, stream));
            CHECK(cudaGraphLaunch(kind.graph, stream));
            CHECK(cudaEventRecord(end, stream));
            CHECK(cudaEventSynchronize(end));
            CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
            if (s >= 0) kind.samples.push_back(milliseconds * 1000 / calls);
        }
    for (Kind<T> &kind : kinds) {
        CHECK(cudaGraphExecDestroy(kind.graph));
        std::sort(kind.samples.begin(), kind.samples.end());
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
}

template <typename T>
static void print_times(const char *input, std::vector<Kind<T>> &kinds, const T *in, T *out, size_t n) {
    time_kinds(kinds, in, out, n);
    double cub = percentile<T>(kinds[0].samples, 0.5);
    for (const Kind<T> &kind : kinds) {
        double median = percentile<T>(kind.samples, 0.5);
        printf("%-6s 2^%-2d %-10s %-28s %9.2f us (%.2f .. %.2f)  %7.1f GB/s  %5.1f %% of CUB's speed\n",
               name<T>(), (int)(log2((double)n) + 0.5), input, kind.name.c_str(), median,
               percentile<T>(kind.samples, 0.1), percentile<T>(kind.samples, 0.9),
               n * sizeof(T) / median / 1000, 100 * cub / median);
    }
}

template <typename T> static Kind<T> ours(unsigned block, unsigned per_multiprocessor) {
    unsigned grid = std::min(per_multiprocessor * multiprocessors, LETTERS);
    return {"reproducible " + std::to_string(grid) + " x " + std::to_string(block),
            grid,
            block,
            false,
            {},
            nullptr};
}

// A million random numbers, again and again; from `wide` on, each thousandth far smaller than the others.
template <typename T> static void fill(T *in, bool wide) {
    std::vector<T> values(size_t(1) << 20);
    for (size_t i = 0; i < values.size(); i++) {
        set(values[i]);
        if (wide && i % 1000 == 0) values[i] *= ldexp(1.0, -(int)(random_bits() % 90));
    }
    for (size_t at = 0; at < MOST; at += values.size())
        CHECK(cudaMemcpy(in + at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
}

template <typename T> static void time_type(T *in, T *out) {
    std::vector<Kind<T>> kinds = {{"cub::DeviceReduce::Sum", 0, 0, false, {}, nullptr}, ours<T>(512, 2)};
    std::vector<Kind<T>> shapes = {kinds[0]};
#if CCCL_VERSION >= 3002000
    kinds.push_back({"CUB, gpu_to_gpu", 0, 0, true, {}, nullptr});
#endif
    fill(in, false);
    for (int power = 20; power <= 28; power += 2) print_times("uniform", kinds, in, out, size_t(1) << power);
    static const unsigned blocks[] = {128, 256, 512};
    for (unsigned block : blocks)
        for (unsigned threads = 512; threads <= 2048; threads += 256)
            if (threads % block == 0 && threads / block * multiprocessors <= LETTERS)
                shapes.push_back(ours<T>(block, threads / block));
    print_times("uniform", shapes, in, out, size_t(1) << 24);
    print_times("uniform", shapes, in, out, size_t(1) << 26);
    fill(in, true);
    print_times("wide", kinds, in, out, size_t(1) << 24);
}

template <typename T> static void run(void *memory) {
    T *in = static_cast<T *>(memory), *out;
    CHECK(cudaMalloc(&out, sizeof *out));
    workspace = nullptr;
    CHECK(cub::DeviceReduce::Sum(workspace, workspace_bytes, in, out, unsigned(MOST), stream));
    CHECK(cudaMalloc(&workspace, workspace_bytes));
    compare_inputs(in, out);
    time_type(in, out);
    CHECK(cudaFree(workspace));
    CHECK(cudaFree(out));
}

int main() {
    cudaDeviceProp device;
    void *memory;
    CHECK(cudaGetDeviceProperties(&device, 0));
    multiprocessors = device.multiProcessorCount;
    printf("%s, %d multiprocessors, CCCL %d\n", device.name, multiprocessors, CCCL_VERSION);
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&memory, MOST * sizeof(double)));
    run<float>(memory);
    run<double>(memory);
    printf(failed ? "some bits differ\n" : "all bits agree\n");
    return failed;
}
