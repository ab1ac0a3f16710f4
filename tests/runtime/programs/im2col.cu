/* A 3x3 filter's view of two images by tensor copies in im2col mode: each copy brings one offset of the filter
 * for 24 pixels, with zeros for the padding. The map comes from the driver, which refuses one without pixels. */
#include <cstdint>
#include <cstdio>
#include <cuda.h>

constexpr int IMAGES = 2, HEIGHT = 4, WIDTH = 5, CHANNELS = 4, PIXELS = 24, FILTER = 3;

__global__ void gather(const __grid_constant__ CUtensorMap map, float *out) {
    __shared__ alignas(128) float tile[PIXELS * CHANNELS];
    __shared__ uint64_t full;
    uint32_t to = (uint32_t)__cvta_generic_to_shared(tile), gate = (uint32_t)__cvta_generic_to_shared(&full),
             done = 0;
    if (threadIdx.x == 0) {
        uint16_t right = blockIdx.x % FILTER, down = blockIdx.x / FILTER;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(gate));
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(gate),
                     "r"((uint32_t)sizeof tile));
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3, %3, %2}], [%4], {%5, %6};" ::"r"(to),
                     "l"(&map), "r"(0), "r"(-1), "r"(gate), "h"(right), "h"(down)
                     : "memory");
    }
    __syncthreads();
    while (!done)
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(gate)
            : "memory");
    for (int i = threadIdx.x; i < PIXELS * CHANNELS; i += blockDim.x)
        out[blockIdx.x * PIXELS * CHANNELS + i] = tile[i];
}

int main() {
    static float image[IMAGES][HEIGHT][WIDTH][CHANNELS], out[FILTER * FILTER][PIXELS][CHANNELS];
    for (int i = 0; i < IMAGES * HEIGHT * WIDTH * CHANNELS; i++) (&image[0][0][0][0])[i] = i + 1;
    float *d_image, *d_out;
    cudaMalloc(&d_image, sizeof image);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_image, image, sizeof image, cudaMemcpyHostToDevice);
    CUtensorMap map;
    cuuint64_t size[4] = {CHANNELS, WIDTH, HEIGHT, IMAGES},
               stride[3] = {sizeof image[0][0][0], sizeof image[0][0], sizeof image[0]};
    cuuint32_t step[4] = {1, 1, 1, 1};
    int lower[2] = {-1, -1}, upper[2] = {-1, -1};
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &entry, 12000, cudaEnableDefault, &found);
    int errors[2];
    for (int i = 0; i < 2; i++)
        errors[i] = (int)((decltype(&cuTensorMapEncodeIm2col))entry)(
            &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, d_image, size, stride, lower, upper, CHANNELS,
            i == 0 ? 0 : PIXELS, step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
            CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    gather<<<FILTER * FILTER, 32>>>(map, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < FILTER * FILTER * PIXELS * CHANNELS; i++) {
        int channel = i % CHANNELS, pixel = i / CHANNELS % PIXELS, tap = i / CHANNELS / PIXELS;
        int w = pixel % WIDTH - 1 + tap % FILTER, h = pixel / WIDTH % HEIGHT - 1 + tap / FILTER;
        bool inside = w >= 0 && w < WIDTH && h >= 0 && h < HEIGHT;
        float expected = inside ? image[pixel / WIDTH / HEIGHT][h][w][channel] : 0;
        wrong += out[tap][pixel][channel] != expected;
    }
    printf("%s: %d wrong, errors %d %d\n", wrong ? "FAILED" : "PASSED", wrong, errors[0], errors[1]);
    return wrong;
}
