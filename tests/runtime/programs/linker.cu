/* The driver's linker: PTX texts, given as they are and within a fat binary, become one module; or the files
 * that are its arguments, one of which is of more_parts.cu. */
#include <cstdio>
#include <cstring>
#include <cuda.h>

#define HEAD(version) ".version " version "\n.target sm_80\n.address_size 64\n"

/* Each part has a private `table` and `helper` of its own, and all have the weak `limit`. */
static const char caller[] = HEAD("7.0") R"(
.extern .func (.param .b32 result) twice (.param .b32 x);
.extern .global .align 4 .u32 calls;
.global .align 4 .u32 table[2] = {10, 20};
.const .align 4 .u32 factors[4] = {1, 2, 3, 4};
.weak .func (.param .b32 result) limit () { st.param.b32 [result], 7; ret; }
.func (.param .b32 result) helper (.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    add.u32 %r2, %r1, 100;
    st.param.b32 [result], %r2;
    ret;
}
.visible .entry apply(.param .u64 out)
{
    .local .align 8 .b8 depot[24];
    .reg .b32 %r<12>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    {
    .param .b32 a;
    .param .b32 b;
    st.param.b32 [a], 21;
    call.uni (b), twice, (a);
    ld.param.b32 %r1, [b];
    }
    {
    .param .b32 a;
    .param .b32 b;
    st.param.b32 [a], %r1;
    call.uni (b), helper, (a);
    ld.param.b32 %r2, [b];
    }
    {
    .param .b32 b;
    call.uni (b), limit;
    ld.param.b32 %r3, [b];
    }
    ld.global.u32 %r4, [table+4];
    ld.const.u32 %r5, [factors+8];
    ld.global.u32 %r6, [calls];
    mul.lo.u32 %r4, %r4, %r5;
    st.local.u32 [depot], %r4;
    ld.local.u32 %r7, [depot];
    st.global.u32 [%rd1], %r2;
    st.global.u32 [%rd1+4], %r3;
    st.global.u32 [%rd1+8], %r7;
    st.global.u32 [%rd1+12], %r6;
    ret;
}
)";
static const char callee[] = HEAD("8.0") R"(
.visible .global .align 4 .u32 calls;
.global .align 4 .u32 table[2] = {1, 2};
.weak .func (.param .b32 result) limit () { st.param.b32 [result], 7; ret; }
.func (.param .b32 result) helper (.param .b32 x)
{
    .reg .b32 %r<4>;
    ld.param.b32 %r1, [x];
    ld.global.u32 %r2, [table+4];
    mul.lo.u32 %r3, %r1, %r2;
    st.param.b32 [result], %r3;
    ret;
}
.visible .func (.param .b32 result) twice (.param .b32 y)
{
    .reg .b32 %r<3>;
    .param .b32 a;
    .param .b32 b;
    atom.global.add.u32 %r1, [calls], 1;
    ld.param.b32 %r2, [y];
    st.param.b32 [a], %r2;
    call.uni (b), helper, (a);
    ld.param.b32 %r1, [b];
    st.param.b32 [result], %r1;
    ret;
}
)";
static const char unlike[] = HEAD(
    "8.0") ".visible .func (.param .b64 result) twice (.param .b32 y) { st.param.b64 [result], 0; ret; }\n";
/* Numba's cg.this_grid().sync(), which libcudadevrt defines: each block then adds what both have written. */
static const char grid[] = HEAD("8.0") R"(
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle (.param .b32 scope);
.extern .func (.param .b32 status) cudaCGSynchronize (.param .b64 handle, .param .b32 flags);
.visible .entry meet(.param .u64 out)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .param .b32 a;
    .param .b64 b;
    .param .b32 c;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    add.u32 %r2, %r1, 1;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    st.param.b32 [a], 1;
    call.uni (b), cudaCGGetIntrinsicHandle, (a);
    ld.param.b64 %rd4, [b];
    st.param.b64 [b], %rd4;
    st.param.b32 [a], 0;
    call.uni (c), cudaCGSynchronize, (b, a);
    ld.global.u32 %r4, [%rd1];
    ld.global.u32 %r5, [%rd1+4];
    add.u32 %r6, %r4, %r5;
    st.global.u32 [%rd3+8], %r6;
    ret;
}
)";
static const char launches[] = HEAD("8.0") R"(
.extern .func (.param .b64 buffer) __cudaCDP2GetParameterBufferV2 (.param .b64 function);
.visible .entry parent()
{
    .param .b64 a;
    .param .b64 b;
    st.param.b64 [a], 0;
    call.uni (b), __cudaCDP2GetParameterBufferV2, (a);
    ret;
}
)";
static const char wrong[] = HEAD("8.0") ".visible .entry f() { sum.u32 1; ret }\n";

static char errors[256], info[64];
static CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                 CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
static void *values[4];

static CUlinkState new_linker() {
    CUlinkState linker;
    values[0] = errors, values[1] = (void *)sizeof errors, values[2] = info, values[3] = (void *)sizeof info;
    memset(errors, '#', sizeof errors);
    cuLinkCreate(4, options, values, &linker);
    return linker;
}

static CUresult add(CUlinkState linker, const char *text) {
    return cuLinkAddData(linker, CU_JIT_INPUT_PTX, (void *)text, strlen(text) + 1, "part", 0, nullptr,
                         nullptr);
}

/* A fat binary with the text, not compressed. */
static CUresult add_packed(CUlinkState linker, const char *text) {
    static unsigned char bytes[8192];
    unsigned long long size = strlen(text) + 1, all = size + 64;
    unsigned head = 64, magic = 0xBA55ED50, architecture = 80;
    unsigned short kind = 1, version = 1, head_bytes = 16;
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, &magic, 4), memcpy(bytes + 4, &version, 2), memcpy(bytes + 6, &head_bytes, 2);
    memcpy(bytes + 8, &all, 8);
    memcpy(bytes + 16, &kind, 2), memcpy(bytes + 20, &head, 4), memcpy(bytes + 24, &size, 8);
    memcpy(bytes + 44, &architecture, 4);
    memcpy(bytes + 80, text, size);
    return cuLinkAddData(linker, CU_JIT_INPUT_FATBINARY, bytes, all + 16, "part", 0, nullptr, nullptr);
}

static void show(const char *what, CUresult error) {
    if (!values[1]) errors[0] = 0;
    printf("%s: %d %s", what, error, *errors ? errors : "\n");
}

static int link_files(int count, char **files) {
    CUmodule module;
    CUfunction add_to;
    CUdeviceptr out;
    void *image;
    size_t bytes;
    int result = 0;
    CUlinkState linker = new_linker();
    for (int i = 0; i < count; i++)
        show("file", cuLinkAddFile(linker, CU_JIT_INPUT_OBJECT, files[i], 0, nullptr, nullptr));
    if (cuLinkComplete(linker, &image, &bytes) != CUDA_SUCCESS) return 1;
    cuModuleLoadData(&module, image);
    cuLinkDestroy(linker);
    cuModuleGetFunction(&add_to, module, "_Z6add_toPi");
    cuMemAlloc(&out, sizeof result);
    void *arguments[] = {&out};
    cuLaunchKernel(add_to, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
    cuMemcpyDtoH(&result, out, sizeof result);
    printf("add_to: %d\n", result);
    return 0;
}

/* The linked kernel of `grid`, by two blocks; and the context of a stream, which has no green one. */
static void show_grid() {
    CUmodule module;
    CUfunction meet;
    CUdeviceptr out;
    CUcontext current, context = nullptr;
    CUgreenCtx green = (CUgreenCtx)&green;
    void *image;
    size_t bytes;
    int sums[4] = {0};
    CUlinkState linker = new_linker();
    show("grid", add(linker, grid));
    show("complete", cuLinkComplete(linker, &image, &bytes));
    cuModuleLoadData(&module, image);
    cuLinkDestroy(linker);
    cuModuleGetFunction(&meet, module, "meet");
    cuMemAlloc(&out, sizeof sums);
    void *arguments[] = {&out};
    cuLaunchCooperativeKernel(meet, 2, 1, 1, 32, 1, 1, 0, nullptr, arguments);
    cuMemcpyDtoH(sums, out, sizeof sums);
    cuCtxGetCurrent(&current);
    CUresult error = cuStreamGetCtx_v2(nullptr, &context, &green);
    printf("grid: %d %d; stream: %d %d %d\n", sums[2], sums[3], error, context == current, green == nullptr);
}

int main(int argument_count, char **files) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction apply;
    CUdeviceptr out;
    void *image;
    size_t bytes;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    if (argument_count > 1) return link_files(argument_count - 1, files + 1);

    CUlinkState linker = new_linker();
    show("unlike", add(linker, caller) == CUDA_SUCCESS ? add(linker, unlike) : CUDA_SUCCESS);
    show("undefined", cuLinkComplete(linker, &image, &bytes));
    cuLinkDestroy(linker);
    linker = new_linker();
    add(linker, launches);
    show("launches", cuLinkComplete(linker, &image, &bytes));
    cuLinkDestroy(linker);
    linker = new_linker();
    show("wrong", add(linker, wrong));
    cuLinkDestroy(linker);
    linker = new_linker();
    show("lto",
         cuLinkAddData(linker, CU_JIT_INPUT_NVVM, (void *)wrong, sizeof wrong, "part", 0, nullptr, nullptr));
    cuLinkDestroy(linker);
    printf("last error of the runtime: %d\n", cudaGetLastError());

    linker = new_linker();
    show("good", add(linker, caller) == CUDA_SUCCESS ? add_packed(linker, callee) : CUDA_ERROR_UNKNOWN);
    show("complete", cuLinkComplete(linker, &image, &bytes));
    cuModuleLoadDataEx(&module, image, 4, options, values);
    cuLinkDestroy(linker);
    cuModuleGetFunction(&apply, module, "apply");
    int local = 0, constant = 0, values_out[4];
    cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, apply);
    cuFuncGetAttribute(&constant, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, apply);
    cuMemAlloc(&out, sizeof values_out);
    void *arguments[] = {&out};
    cuLaunchKernel(apply, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
    cuMemcpyDtoH(values_out, out, sizeof values_out);
    printf("local %d, constant %d: %d %d %d %d\n", local, constant, values_out[0], values_out[1],
           values_out[2], values_out[3]);
    show_grid();
    return 0;
}
