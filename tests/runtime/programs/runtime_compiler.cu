/* NVRTC: a program that asks it for machine code of the GPU that it finds, as most do. */
#include <cstdio>
#include <cuda.h>
#include <nvrtc.h>
#include <vector>

static const char source[] =
    "enum { sm_40 = 40 };\n"
    "extern \"C\" __global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x + ADDED; }";

int main() {
    nvrtcProgram program;
    size_t bytes = 0;
    const char *options[] = {"-DADDED=sm_40", "--gpu-architecture=sm_90"};
    nvrtcCreateProgram(&program, source, "fill.cu", 0, NULL, NULL);
    int compiled = nvrtcCompileProgram(program, 2, options);
    nvrtcGetCUBINSize(program, &bytes);
    std::vector<char> code(bytes);
    nvrtcGetCUBIN(program, code.data());

    int values[32] = {0};
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction fill;
    CUdeviceptr out;
    void *arguments[] = {&out};
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    cuMemAlloc(&out, sizeof values);
    int loaded = cuModuleLoadData(&module, code.data());
    cuModuleGetFunction(&fill, module, "fill");
    int launched = cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL);
    cuMemcpyDtoH(values, out, sizeof values);
    printf("%d %d %d: %d to %d\n", compiled, loaded, launched, values[0], values[31]);
    return 0;
}
