#include "gpu/ceilings.h"

#include "gpu/run.h"

#include <string.h>

typedef struct Launched {
    const GpuRun *run;
    const GpuLaunch *launch;
} Launched;

static bool launch_once(void *context, int set, Error *error) {
    const Launched *launched = context;
    (void)set;
    return gpu_run_launch(launched->run, launched->launch, error);
}

/* Each thread moves its share of `bytes`, 16 bytes at a time. read_all stores nothing (except in a case that
 * the compiler cannot exclude); copy_all stores what it reads. */
#define CEILING_KERNEL(NAME, STORE, LAST)                                                                    \
    ".visible .entry " NAME "(.param .u64 in, .param .u64 out, .param .u64 bytes)\n{\n"                      \
    "\t.reg .pred %p; .reg .b32 %r<12>; .reg .b64 %a<8>;\n"                                                  \
    "\tld.param.u64 %a0, [in]; ld.param.u64 %a1, [out]; mov.u64 %a5, %a1;\n"                                 \
    "\tmov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r0, %r0, %r1, %r2;\n"   \
    "\tmov.u32 %r2, %nctaid.x; mul.lo.u32 %r1, %r1, %r2;\n"                                                  \
    "\tmul.wide.u32 %a2, %r0, 16; mul.wide.u32 %a3, %r1, 16;\n"                                              \
    "\tld.param.u64 %a4, [bytes]; add.u64 %a4, %a0, %a4; add.u64 %a0, %a0, %a2; add.u64 %a1, %a1, %a2; "     \
    "mov.u32 %r3, 0;\n"                                                                                      \
    "\tsetp.ge.u64 %p, %a0, %a4; @%p ret;\n"                                                                 \
    "AGAIN:\n"                                                                                               \
    "\tld.global.nc.v4.u32 {%r4, %r5, %r6, %r7}, [%a0];\n" STORE                                             \
    "\tadd.u64 %a0, %a0, %a3; add.u64 %a1, %a1, %a3; setp.lt.u64 %p, %a0, %a4; @%p bra AGAIN;\n" LAST        \
    "\tret;\n}\n"
enum { MOST_BYTES = 1 << 30 };
static const char ceiling_kernels[] = ".version 7.0\n.target sm_70\n.address_size 64\n" CEILING_KERNEL(
    "read_all",
    "\txor.b32 %r4, %r4, %r5; xor.b32 %r6, %r6, %r7; xor.b32 %r4, %r4, %r6; xor.b32 %r3, %r3, %r4;\n",
    "\tsetp.eq.u32 %p, %r3, 305419896; @%p st.global.u32 [%a5], %r3;\n")
    CEILING_KERNEL("copy_all", "\tst.global.v4.u32 [%a1], {%r4, %r5, %r6, %r7};\n", "");

/* The bandwidth in GB/s of a kernel that reads `bytes`. */
static bool measure_kernel(Timer *timer, GpuRun *run, PtxModule *module, const char *name, size_t bytes,
                           double seconds, double *speed, Error *error) {
    enum { BLOCKS_PER_MULTIPROCESSOR = 8, THREADS = 256, REPETITIONS = 4 };
    uint64_t parameters[3] = {run->buffers[0].address, run->buffers[1].address, bytes};
    PtxFunction *entry = ptx_module_find_entry(module, name, error);
    PtxProgram *program = entry ? ptx_program_link(module, entry, error) : NULL;
    GpuLaunch launch = {
        .launch = {.program = program,
                   .grid = {(uint32_t)run->cuda->multiprocessors * BLOCKS_PER_MULTIPROCESSOR, 1, 1},
                   .block = {THREADS, 1, 1},
                   .parameters = (uint8_t *)parameters,
                   .parameter_bytes = sizeof parameters}};
    Launched launched = {run, &launch};
    TimingPlan plan = {launch_once, &launched, 1, REPETITIONS, seconds};
    Spread microseconds;
    bool good = program && gpu_run_prepare(run, &launch, error) &&
                time_graph(timer, &plan, false, &microseconds, error);
    if (good) *speed = (double)bytes / microseconds.median * 1e-3;
    ptx_program_free(program);
    return good;
}

bool gpu_measure_ceilings(Timer *timer, double seconds, Ceilings *ceilings, Error *error) {
    Cuda *cuda = timer->cuda;
    PtxModule *module = ptx_module_parse(ceiling_kernels, strlen(ceiling_kernels), "ceilings", error);
    GpuRun run = {0};
    size_t bytes = cuda_measured_bytes(cuda, MOST_BYTES);
    double copied = 0;
    *ceilings = (Ceilings){.nominal = 2.0 * cuda->memory_clock_khz * 1e3 * cuda->bus_bits / 8 * 1e-9};
    bool good = module && gpu_run_begin(&run, cuda, ceiling_kernels, error) &&
                gpu_run_add_buffer(&run, NULL, bytes, error) >= 0 &&
                gpu_run_add_buffer(&run, NULL, bytes, error) >= 0 && gpu_run_upload(&run, error) &&
                measure_kernel(timer, &run, module, "read_all", bytes, seconds, &ceilings->read, error) &&
                measure_kernel(timer, &run, module, "copy_all", bytes, seconds, &copied, error);
    ceilings->copy = 2 * copied;
    gpu_run_end(&run);
    ptx_module_free(module);
    return good;
}
