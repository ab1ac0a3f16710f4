/* The library nvJitLink: two PTX texts become one module; what cannot be linked is in its error log. */
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <nvJitLink.h>
#include <vector>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static const char caller[] = HEAD R"(
.extern .func (.param .b32 result) answer ();
.visible .entry ask(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    .param .b32 a;
    ld.param.u64 %rd1, [out];
    call.uni (a), answer;
    ld.param.b32 %r1, [a];
    st.global.u32 [%rd1], %r1;
    ret;
}
)";
static const char callee[] = HEAD ".visible .func (.param .b32 r) answer () { st.param.b32 [r], 42; ret; }\n";

static int link_texts(std::vector<const char *> texts, std::vector<char> *image) {
    nvJitLinkHandle linker;
    const char *options[] = {"-arch=sm_90"};
    size_t bytes;
    nvJitLinkCreate(&linker, 1, options);
    for (const char *text : texts) nvJitLinkAddData(linker, NVJITLINK_INPUT_PTX, text, strlen(text), "part");
    int result = nvJitLinkComplete(linker);
    nvJitLinkGetErrorLogSize(linker, &bytes);
    std::vector<char> log(bytes);
    nvJitLinkGetErrorLog(linker, log.data());
    printf("%d %s\n", result, log.data());
    if (nvJitLinkGetLinkedCubinSize(linker, &bytes) == NVJITLINK_SUCCESS) {
        image->resize(bytes);
        nvJitLinkGetLinkedCubin(linker, image->data());
    }
    nvJitLinkDestroy(&linker);
    return result;
}

int main() {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction ask;
    CUdeviceptr out;
    int answer = 0;
    std::vector<char> image;
    nvJitLinkHandle none;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    printf("no architecture: %d\n", nvJitLinkCreate(&none, 0, nullptr));
    link_texts({caller}, &image);
    if (link_texts({caller, callee}, &image)) return 1;
    cuModuleLoadData(&module, image.data());
    cuModuleGetFunction(&ask, module, "ask");
    cuMemAlloc(&out, sizeof answer);
    void *arguments[] = {&out};
    cuLaunchKernel(ask, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
    cuMemcpyDtoH(&answer, out, sizeof answer);
    printf("answer %d\n", answer);
    return 0;
}
