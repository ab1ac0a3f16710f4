/* Programs of the driver that end in every way: `ends WHAT`; their PTX needs no compiler of CUDA. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int cuInit(unsigned flags);
int cuDeviceGet(int *device, int number);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemsetD32_v2(uint64_t to, unsigned value, size_t count);
int cuCtxSynchronize(void);
int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data);
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **parameters,
                   void **extra);

static const char ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry add(.param .u64 values, .param .u32 by) {\n"
    ".reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [values]; ld.param.u32 %r1, [by]; mov.u32 %r2, %tid.x;\n"
    "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n"
    "ld.global.u32 %r3, [%rd3]; add.u32 %r3, %r3, %r1; st.global.u32 [%rd3], %r3; ret;\n}\n"
    ".visible .entry spin(.param .u64 values) {\n"
    ".reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [values];\n"
    "again: ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; bra again;\n}\n";

static void *add, *spin;
static uint64_t values;

static void check(int error, const char *what) {
    if (!error) return;
    printf("FAILED: %s: %d\n", what, error);
    exit(3);
}

static int begin(void) {
    void *context, *module;
    int device, error = cuInit(0);
    if (error) return error;
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
    check(cuModuleGetFunction(&add, module, "add"), "cuModuleGetFunction");
    check(cuModuleGetFunction(&spin, module, "spin"), "cuModuleGetFunction");
    check(cuMemAlloc_v2(&values, 32 * sizeof(int)), "cuMemAlloc");
    check(cuMemsetD32_v2(values, 0, 32), "cuMemsetD32");
    return 0;
}

static void launch_add(uint64_t to, unsigned by) {
    void *parameters[] = {&to, &by};
    check(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL), "cuLaunchKernel");
}

static void launch_spin(void) {
    void *parameters[] = {&values};
    check(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), "cuLaunchKernel");
}

/* Each of the 32 values must be this. */
static void expect(uint64_t at, int value) {
    int out[32] = {0};
    check(cuMemcpyDtoH_v2(out, at, sizeof out), "cuMemcpyDtoH");
    for (int i = 0; i < 32; i++)
        if (out[i] != value) {
            printf("FAILED: value %d is %d, not %d\n", i, out[i], value);
            exit(4);
        }
    printf("PASSED: %d\n", value);
}

static void sum(void) {
    begin();
    for (unsigned i = 1; i <= 4; i++) launch_add(values, i);
    expect(values, 10);
}

static void many(int count) {
    begin();
    for (int i = 0; i < count; i++) launch_add(values, 1);
    expect(values, count);
}

/* 100 launches repeat the first one, of memory that is set back each time. */
static void same(void) {
    begin();
    for (int i = 0; i < 100; i++) {
        check(cuMemsetD32_v2(values, 5, 32), "cuMemsetD32");
        launch_add(values, 2);
    }
    expect(values, 7);
}

static void large(void) {
    const size_t bytes = (size_t)2 << 30;
    uint64_t address;
    begin();
    launch_add(values, 1);
    check(cuMemAlloc_v2(&address, bytes), "cuMemAlloc");
    check(cuMemsetD32_v2(address + bytes - 128, 40, 32), "cuMemsetD32");
    launch_add(address + bytes - 128, 2);
    expect(address + bytes - 128, 42);
    check(cuMemFree_v2(address), "cuMemFree");
}

static void report_child(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* Both use CUDA, each on a device of its own. */
static void fork_before(void) {
    fflush(stdout);
    pid_t child = fork();
    begin();
    launch_add(values, child ? 1 : 2);
    expect(values, child ? 1 : 2);
    if (child) report_child(child);
}

/* The copy cannot use CUDA; the program can. */
static void fork_after(void) {
    begin();
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        uint64_t address;
        _exit(cuMemAlloc_v2(&address, 64));
    }
    report_child(child);
    launch_add(values, 3);
    expect(values, 3);
}

static void *add_many(void *context) {
    uint64_t own;
    (void)context;
    check(cuMemAlloc_v2(&own, 32 * sizeof(int)), "cuMemAlloc");
    check(cuMemsetD32_v2(own, 0, 32), "cuMemsetD32");
    for (int i = 0; i < 50; i++) {
        launch_add(own, 1);
        if (i % 10 == 0) check(cuCtxSynchronize(), "cuCtxSynchronize");
    }
    expect(own, 50);
    return NULL;
}

static void threads(void) {
    pthread_t list[4];
    begin();
    for (int i = 0; i < 4; i++) pthread_create(&list[i], NULL, add_many, NULL);
    for (int i = 0; i < 4; i++) pthread_join(list[i], NULL);
}

static void leave(void *data) {
    printf("leaving\n");
    exit(*(int *)data);
}

static void exit_in_callback(void) {
    int status = 6;
    begin();
    launch_add(values, 1);
    check(cuLaunchHostFunc(NULL, leave, &status), "cuLaunchHostFunc");
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    printf("FAILED: it goes on\n");
}

/* Kills itself while its kernel is executed. */
static void killed(void) {
    begin();
    launch_spin();
    usleep(200000);
    kill(getpid(), SIGKILL);
}

/* A child that outlives it. */
static void leave_child(void) {
    begin();
    launch_add(values, 1);
    fflush(stdout);
    if (!fork())
        for (;;) pause();
    expect(values, 1);
}

/* Its parent stands still; its own children it may stop as ever. */
static void attack(void) {
    ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
    kill(getppid(), SIGSTOP);
    pid_t child = fork();
    if (!child)
        for (;;) pause();
    bool may = !kill(child, SIGKILL) && waitpid(child, NULL, 0) == child;
    begin();
    launch_add(values, 1);
    expect(values, may);
}

static void spin_for_ever(void) {
    begin();
    launch_spin();
    printf("spinning\n");
    check(cuCtxSynchronize(), "cuCtxSynchronize");
}

static void wait_for_ever(void) {
    begin();
    launch_add(values, 1);
    expect(values, 1);
    for (;;) pause();
}

/* One block of 32 threads executes this. */
static void launch_code(const char *code) {
    char text[512];
    void *module, *kernel;
    begin();
    snprintf(text, sizeof text,
             ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k() {\n%s\n}\n", code);
    check(cuModuleLoadData(&module, text), "cuModuleLoadData");
    check(cuModuleGetFunction(&kernel, module, "k"), "cuModuleGetFunction");
    check(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
}

static void trap_unseen(void) {
    launch_code("trap;");
    cuCtxSynchronize(); /* the error is not looked at */
}

static void hang_unseen(void) {
    launch_code("bar.sync 1, 64; ret;");
    cuCtxSynchronize();
}

static void crash(void) {
    begin();
    launch_add(values, 1);
    raise(SIGSEGV);
}

static void many_memories(void) {
    uint64_t address = 0;
    begin();
    for (int i = 0; i < 120000; i++) check(cuMemAlloc_v2(&address, 128), "cuMemAlloc");
    check(cuMemsetD32_v2(address, 4, 32), "cuMemsetD32");
    launch_add(address, 1);
    expect(address, 5);
}

int cuLinkCreate(unsigned count, int *options, void **values, void **linker);
int cuLinkAddData(void *linker, int type, const void *data, size_t bytes, const char *name, unsigned count,
                  int *options, void **values);

/* Asks for what redviz does not have. */
static void link_machine_code(void) {
    enum { LIBRARY = 4 };
    void *linker;
    begin();
    check(cuLinkCreate(0, NULL, NULL, &linker), "cuLinkCreate");
    cuLinkAddData(linker, LIBRARY, "!<arch>\n", 8, "lib", 0, NULL, NULL);
}

static void launch_nothing(void) {
    begin();
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        {"sum", sum},
        {"same", same},
        {"large", large},
        {"fork_before", fork_before},
        {"fork_after", fork_after},
        {"threads", threads},
        {"exit_in_callback", exit_in_callback},
        {"killed", killed},
        {"leave_child", leave_child},
        {"attack", attack},
        {"spin", spin_for_ever},
        {"wait", wait_for_ever},
        {"trap", trap_unseen},
        {"hang", hang_unseen},
        {"crash", crash},
        {"nothing", launch_nothing},
        {"memories", many_memories},
        {"link", link_machine_code},
    };
    const char *name = argc > 1 ? argv[1] : "sum";
    if (!strcmp(name, "many")) many(10000);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(name, ways[i].name)) ways[i].run();
    if (!strcmp(name, "abort")) begin(), launch_add(values, 1), abort();
    if (!strcmp(name, "leave_at_once")) begin(), launch_add(values, 1), _exit(9);
    return 0;
}
