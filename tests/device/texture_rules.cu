/* The rules of textures that CUDA's guide leaves open: prints the bits of every result, one line each, so
 * that a run on a GPU and a run on redviz can be compared line by line:
 *
 *     nvcc -arch=sm_90 -cudart shared tests/device/texture_rules.cu -o texture_rules
 *     ./texture_rules >on_a_gpu; build/redviz --report -- ./texture_rules >on_redviz
 *
 * src/emulator/lanes/texture_sample.h says what was measured with it. */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector>

enum { WIDTH = 8, HEIGHT = 4, DEPTH = 4, TEXELS = WIDTH * HEIGHT * DEPTH };
enum Shape { LINE, PLANE, BOX, CUBE, LAYERS, GATHER };
static const char *const SHAPES[] = {"1d", "2d", "3d", "cube", "layered", "gather"};
static const char *const MODES[] = {"wrap", "clamp", "mirror", "border"};

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t error = (call);                                                                          \
        if (error != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorName(error));                   \
    } while (0)

struct Point {
    float x, y, z;
};

/* Four registers of 32 bits each, as the instruction gives them. */
__global__ void fetch(cudaTextureObject_t texture, Shape shape, const Point *points, int count, uint4 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Point p = points[i];
    float4 v = make_float4(0, 0, 0, 0);
    switch (shape) {
    case LINE:
        v = tex1D<float4>(texture, p.x);
        break;
    case PLANE:
        v = tex2D<float4>(texture, p.x, p.y);
        break;
    case BOX:
        v = tex3D<float4>(texture, p.x, p.y, p.z);
        break;
    case CUBE:
        v = texCubemap<float4>(texture, p.x, p.y, p.z);
        break;
    case LAYERS:
        v = tex2DLayered<float4>(texture, p.x, p.y, (int)p.z);
        break;
    case GATHER:
        v = tex2Dgather<float4>(texture, p.x, p.y, 0);
        break;
    }
    out[i] =
        make_uint4(__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z), __float_as_uint(v.w));
}

__global__ void fetch_index(cudaTextureObject_t texture, const int *at, int count, uint4 *out) {
    int i = threadIdx.x;
    if (i >= count) return;
    uint4 v = tex1Dfetch<uint4>(texture, at[i]);
    out[i] = v;
}

struct Format {
    const char *name;
    cudaChannelFormatDesc channels;
    cudaTextureReadMode read;
    bool srgb; /* not filtered: redviz refuses it */
};

static const Format FORMATS[] = {
    {"f32", {32, 0, 0, 0, cudaChannelFormatKindFloat}, cudaReadModeElementType, false},
    {"f32x2", {32, 32, 0, 0, cudaChannelFormatKindFloat}, cudaReadModeElementType, false},
    {"f32x4", {32, 32, 32, 32, cudaChannelFormatKindFloat}, cudaReadModeElementType, false},
    {"f16", {16, 0, 0, 0, cudaChannelFormatKindFloat}, cudaReadModeElementType, false},
    {"f16x4", {16, 16, 16, 16, cudaChannelFormatKindFloat}, cudaReadModeElementType, false},
    {"u8n", {8, 0, 0, 0, cudaChannelFormatKindUnsigned}, cudaReadModeNormalizedFloat, false},
    {"s8n", {8, 0, 0, 0, cudaChannelFormatKindSigned}, cudaReadModeNormalizedFloat, false},
    {"u16n", {16, 0, 0, 0, cudaChannelFormatKindUnsigned}, cudaReadModeNormalizedFloat, false},
    {"s16n", {16, 0, 0, 0, cudaChannelFormatKindSigned}, cudaReadModeNormalizedFloat, false},
    {"u8x4n", {8, 8, 8, 8, cudaChannelFormatKindUnsigned}, cudaReadModeNormalizedFloat, false},
    {"u8x4srgb", {8, 8, 8, 8, cudaChannelFormatKindUnsigned}, cudaReadModeNormalizedFloat, true},
    {"u8", {8, 0, 0, 0, cudaChannelFormatKindUnsigned}, cudaReadModeElementType, false},
    {"s8x2", {8, 8, 0, 0, cudaChannelFormatKindSigned}, cudaReadModeElementType, false},
    {"s16", {16, 0, 0, 0, cudaChannelFormatKindSigned}, cudaReadModeElementType, false},
    {"u32x2", {32, 32, 0, 0, cudaChannelFormatKindUnsigned}, cudaReadModeElementType, false},
};

static size_t texel_bytes(const Format &format) {
    return (size_t)(format.channels.x + format.channels.y + format.channels.z + format.channels.w) / 8;
}

/* Values without a pattern that a wrong rule could share. */
static std::vector<uint8_t> texels(const Format &format, size_t count) {
    size_t bytes = count * texel_bytes(format);
    std::vector<uint8_t> data(bytes);
    uint32_t state = 12345;
    bool is_float = format.channels.f == cudaChannelFormatKindFloat;
    size_t step = is_float ? (size_t)format.channels.x / 8 : 1;
    for (size_t i = 0; i < bytes; i += step) {
        state = state * 1664525u + 1013904223u;
        if (!is_float) {
            data[i] = (uint8_t)(state >> 24);
            continue;
        }
        float value = (float)(int)(state >> 8) / 65536.0f - 100.0f;
        __half half = __float2half(value);
        if (step == 4)
            std::memcpy(&data[i], &value, 4);
        else
            std::memcpy(&data[i], &half, 2);
    }
    return data;
}

static std::vector<Point> points(Shape shape, bool normalized) {
    static const float along[] = {
        0.0f,       0.25f,      0.5f,       0.501f,     0.50195312f, 0.503f,     0.50390625f, 0.51f,
        0.75f,      0.9f,       0.998f,     0.9990234f, 0.99951f,    1.0f,       1.3333333f,  1.5f,
        1.4980469f, 2.7182818f, 3.1415927f, 3.5f,       4.0f,        6.9f,       7.25f,       7.4990234f,
        7.5f,       7.75f,      7.9999995f, 8.0f,       8.0000010f,  8.3f,       8.5f,        9.7f,
        12.345f,    16.0f,      100.3f,     -0.0f,      -0.1f,       -0.5f,      -0.75f,      -1.0f,
        -2.3f,      -8.0f,      -8.25f,     -100.7f,    1e6f,        -1e6f,      1e10f,       -1e10f,
        3e38f,      1e-20f,     INFINITY,   -INFINITY,  NAN,         0.5009766f, 0.5029297f,  2.4990234f,
        2.5009766f, 2.5029297f, 3.25f,      5.6789f};
    std::vector<Point> list;
    float sx = normalized ? 1.0f / WIDTH : 1, sy = normalized ? 1.0f / HEIGHT : 1,
          sz = normalized ? 1.0f / DEPTH : 1;
    if (shape == CUBE) {
        static const float sides[] = {1.0f, -1.0f, 0.3f, -0.7f, 0.0f, 0.999f, -0.2f};
        for (float x : sides)
            for (float y : sides)
                for (float z : sides) list.push_back({x, y, z});
        return list;
    }
    for (float x : along) list.push_back({x * sx, 1.25f * sy, 0.8f * sz});
    if (shape == LINE) return list;
    for (float y : along) list.push_back({2.6f * sx, y * sy, 1.7f * sz});
    static const float few[] = {0.3f, 0.7f, 1.1f, 1.9f, 2.123f, 3.877f, 4.6f};
    for (float x : few)
        for (float y : few) list.push_back({x * sx, y * sy, 1.0f * sz});
    if (shape == LAYERS)
        for (int layer = -2; layer < 7; layer++) list.push_back({2.3f * sx, 1.7f * sy, (float)layer});
    if (shape == BOX) {
        for (float z : along) list.push_back({2.6f * sx, 1.3f * sy, z * sz});
        for (float x : few)
            for (float z : few) list.push_back({x * sx, 1.9f * sy, z * sz});
    }
    return list;
}

static void show(const char *title, const std::vector<Point> &list, const std::vector<uint4> &out) {
    for (size_t i = 0; i < list.size(); i++) {
        uint32_t bits[3];
        std::memcpy(bits, &list[i], sizeof bits);
        std::printf("%s %08x %08x %08x = %08x %08x %08x %08x\n", title, bits[0], bits[1], bits[2], out[i].x,
                    out[i].y, out[i].z, out[i].w);
    }
}

static void run(cudaTextureObject_t texture, Shape shape, bool normalized, const char *title) {
    std::vector<Point> list = points(shape, normalized);
    std::vector<uint4> out(list.size());
    Point *on_device;
    uint4 *results;
    CHECK(cudaMalloc(&on_device, list.size() * sizeof(Point)));
    CHECK(cudaMalloc(&results, out.size() * sizeof(uint4)));
    CHECK(cudaMemcpy(on_device, list.data(), list.size() * sizeof(Point), cudaMemcpyHostToDevice));
    fetch<<<((int)list.size() + 127) / 128, 128>>>(texture, shape, on_device, (int)list.size(), results);
    CHECK(cudaMemcpy(out.data(), results, out.size() * sizeof(uint4), cudaMemcpyDeviceToHost));
    show(title, list, out);
    CHECK(cudaFree(on_device));
    CHECK(cudaFree(results));
}

static cudaArray_t make_array(Shape shape, const Format &format) {
    cudaArray_t array;
    cudaExtent extent =
        make_cudaExtent(WIDTH, shape == LINE ? 0 : HEIGHT, shape == BOX || shape == LAYERS ? DEPTH : 0);
    unsigned flags = shape == LAYERS ? cudaArrayLayered : shape == GATHER ? cudaArrayTextureGather : 0;
    if (shape == CUBE) {
        extent = make_cudaExtent(HEIGHT, HEIGHT, 6);
        flags = cudaArrayCubemap;
    }
    CHECK(cudaMalloc3DArray(&array, &format.channels, extent, flags));
    size_t height = extent.height ? extent.height : 1, depth = extent.depth ? extent.depth : 1;
    std::vector<uint8_t> data = texels(format, extent.width * height * depth);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(data.data(), extent.width * texel_bytes(format), extent.width, height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(extent.width, height, depth);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    return array;
}

static void sample(Shape shape, const Format &format, cudaTextureAddressMode mode, bool linear,
                   bool normalized) {
    bool is_integer =
        format.channels.f != cudaChannelFormatKindFloat && format.read == cudaReadModeElementType;
    if (is_integer && linear) return;
    cudaArray_t array = make_array(shape, format);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    for (int i = 0; i < 3; i++) description.addressMode[i] = mode;
    description.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    description.readMode = format.read;
    description.sRGB = format.srgb;
    description.normalizedCoords = normalized;
    for (int i = 0; i < 4; i++) description.borderColor[i] = 0.25f + (float)i;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, NULL));
    char title[96];
    std::snprintf(title, sizeof title, "%s %s %s %s %s", SHAPES[shape], format.name, MODES[mode],
                  linear ? "linear" : "point", normalized ? "normalized" : "plain");
    run(texture, shape, normalized, title);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
}

/* Fetches of linear memory by index, also outside. */
static void fetch_all(const Format &format) {
    static const int at[] = {0, 1, 5, WIDTH - 1, WIDTH, -1, 1000000, -2000000000};
    enum { COUNT = sizeof at / sizeof *at };
    std::vector<uint8_t> data = texels(format, WIDTH);
    void *memory;
    int *indices;
    uint4 *results, out[COUNT];
    CHECK(cudaMalloc(&memory, data.size()));
    CHECK(cudaMalloc(&indices, sizeof at));
    CHECK(cudaMalloc(&results, sizeof out));
    CHECK(cudaMemcpy(memory, data.data(), data.size(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(indices, at, sizeof at, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = format.channels;
    resource.res.linear.sizeInBytes = data.size();
    cudaTextureDesc description = {};
    description.readMode = format.read;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, NULL));
    fetch_index<<<1, 32>>>(texture, indices, COUNT, results);
    CHECK(cudaMemcpy(out, results, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        std::printf("linear %s %d = %08x %08x %08x %08x\n", format.name, at[i], out[i].x, out[i].y, out[i].z,
                    out[i].w);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFree(memory));
    CHECK(cudaFree(indices));
    CHECK(cudaFree(results));
}

int main() {
    static const cudaTextureAddressMode modes[] = {cudaAddressModeWrap, cudaAddressModeClamp,
                                                   cudaAddressModeMirror, cudaAddressModeBorder};
    for (const Format &format : FORMATS)
        for (int linear = 0; linear < (format.srgb ? 1 : 2); linear++)
            for (cudaTextureAddressMode mode : modes) {
                bool folds = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
                for (int shape = LINE; shape <= BOX; shape++) {
                    sample((Shape)shape, format, mode, linear, true);
                    if (!folds) sample((Shape)shape, format, mode, linear, false);
                }
            }
    for (int f = 0; f < 2; f++)
        for (int linear = 0; linear < 2; linear++) {
            sample(CUBE, FORMATS[f], cudaAddressModeClamp, linear, true);
            sample(CUBE, FORMATS[f], cudaAddressModeWrap, linear, true);
            sample(LAYERS, FORMATS[f], cudaAddressModeClamp, linear, true);
            sample(LAYERS, FORMATS[f], cudaAddressModeBorder, linear, false);
        }
    sample(GATHER, FORMATS[0], cudaAddressModeClamp, false, true);
    sample(GATHER, FORMATS[0], cudaAddressModeWrap, false, true);
    sample(GATHER, FORMATS[0], cudaAddressModeClamp, false, false);
    for (const Format &format : FORMATS)
        if (!format.srgb) fetch_all(format);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
