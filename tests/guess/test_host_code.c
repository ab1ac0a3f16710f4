/* Launches in the host's part of a file. */
#include "guess/host_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The first launch of `text` has this grid, block and, of its argument 0, so many bytes; 0: not known. */
static void expect(const char *text, uint32_t grid, uint32_t block, int64_t bytes) {
    HostCode *code = host_code_read(text);
    if (!host_code_launch_count(code)) fail_msg("no launch in: %s", text);
    const HostLaunch *launch = host_code_launch(code, 0);
    uint32_t size[3] = {0};
    uint32_t read_grid =
        host_code_evaluate_size(code, launch, launch->grid, size) ? size[0] * size[1] * size[2] : 0;
    uint32_t read_block =
        host_code_evaluate_size(code, launch, launch->block, size) ? size[0] * size[1] * size[2] : 0;
    HostPointer pointer = host_code_pointer(code, launch, 0);
    int64_t read_bytes = pointer.bytes.is_known ? pointer.bytes.integer : 0;
    if (read_grid != grid || read_block != block || read_bytes != bytes)
        fail_msg("<<<%u, %u>>>, %lld bytes in: %s", read_grid, read_block, (long long)read_bytes, text);
    host_code_free(code);
}

static void sizes_are_followed_to_their_definition(void **state) {
    (void)state;
    expect("void f() { k<<<4, 256>>>(p); }", 4, 256, 0);
    expect("#define N (1 << 20)\n#define B 128\nvoid f() { int *p; cudaMalloc(&p, N * sizeof(int)); k<<<N / "
           "B, B>>>(p); }",
           8192, 128, 4 << 20);
    expect("const int n = 1'000;\nvoid f() { const int b = 64; int g = (n + b - 1) / b;\n"
           "float *d; cudaMalloc((void **)&d, sizeof(float) * n); k<<<g, b>>>(d, n); }",
           16, 64, 4000);
    expect("void f() { dim3 block(16, 16); dim3 grid{4, 2, 1}; k<<<grid, block>>>(p); }", 8, 256, 0);
    expect("void f() { dim3 block = dim3(32, 4); k<<<dim3(7), block, 0, s>>>(p); }", 7, 128, 0);
    expect(
        "void f() { int n = 1000; dim3 block = {64, 1, 1}; dim3 grid{(n + block.x - 1) / block.x}; int *d;\n"
        "cudaMalloc(&d, 4 * grid.x); k<<<grid, block>>>(d); }",
        16, 64, 64);
    expect("enum { B = 32 }; void f() { int n = 100; k<<<(int)ceil((double)n / 32), min(n, 64)>>>(p); }", 4,
           64, 0);
    expect("int up(int a, int b) { return (a + b - 1) / b; }\n#define HALF(x) ((x) / 2)\n"
           "void f() { int n = 100; k<<<up(n, 32), HALF(64)>>>(p); }",
           4, 32, 0);
    expect("void f() { int n = 96; for (int i = n; i > 1; i = i / 2) k<<<i / 32, 32>>>(p); }", 3, 32, 0);
    expect("void f() { int n = 64; k << <n / 32, 32 >> > (p); }", 2, 32, 0);
    expect("void f() { k<float> <<< 3, 32>> >(p); }", 3, 32, 0);
    expect("void f() { int m; cudaDeviceGetAttribute(&m, cudaDevAttrMultiProcessorCount, 0); k<<<2 * m, "
           "32>>>(p); }",
           264, 32, 0);
    expect("void f() { int n = 640; k<<<std::min(n / 32, p.maxGridSize[0]), min(limit(), 32)>>>(p); }", 20,
           32, 0);
    expect("void f() { int n = 1e3, b = 32; k<<<(n + b - 1) / b, b>>>(p); }", 32, 32, 0);
    expect("int main(int c, char **v) { int b = c > 1 ? atoi(v[1]) : 128; k<<<9, b>>>(p); }", 9, 128, 0);
    expect("int main(int c, char **v) { int b = c > 1 ? atoi(v[1]) : 0; k<<<9, b>>>(p); }", 9, 0, 0);
    expect("int main(int c, char **v) { int b = 128; if (c > 1) b = atoi(v[1]); k<<<9, b>>>(p); }", 9, 128,
           0);
    expect("int n{64}; void f() { int *d; cudaMalloc(reinterpret_cast<void **>(&d), 4 * ::n); k<<<::n / 32, "
           "32>>>(d); }",
           2, 32, 256);
    expect("void f() { int n = 64, *d; cudaMalloc((void **)(&d), 4 * n); k<<<1, 32>>>(d); }", 1, 32, 256);
    expect("void f() { int h[] = {3, 1, 4, 1}; int n = sizeof(h) / sizeof(h[0]), *d;\n"
           "cudaMalloc(&d, sizeof(h)); k<<<1, n / 2>>>(d, n); }",
           1, 2, 16);
    expect("void f() { std::vector<int> v{3, 1, 4}; int *d; cudaMalloc(&d, v.size() * 4); k<<<1, 32>>>(d); }",
           1, 32, 12);
    expect("void f() { int n = 100; int *a; cudaMalloc(&a, n * 4); k<<<div_up(n, 32), 32>>>(on ? h : a); }",
           4, 32, 400);
    expect("typedef unsigned long long ull;\nvoid f(size_t x, ull y) {} void g() { ull *d; cudaMalloc(&d, 2 "
           "* sizeof(ull)); "
           "k<<<1, 32>>>(d); }",
           1, 32, 16);
    expect("void run(const float *in) { float *p = const_cast<float *>(in); k<<<1, 32>>>(p); }\n"
           "int main() { float *d; cudaMalloc(&d, 256); run(d); }",
           1, 32, 256);
    /* What is added on the way, where the condition holds. */
    expect("void f() { int n = 4099, b = n / 512; if (n % 512) { b++; } k<<<b, 32>>>(p); }", 9, 32, 0);
    expect("void f() { int n = 4096, b = n / 512; if (n % 512) ++b; k<<<b, 32>>>(p); }", 8, 32, 0);
    expect("void f() { int b = 8; if (b > 4)\n b += b / 2; b--; k<<<b, 32>>>(p); }", 11, 32, 0);
    expect("void f() { int b = 8; for (int i = 0; i < 3; i++) b++; while (g()) { b++; } k<<<b, 32>>>(p); }",
           8, 32, 0);
    expect("void f() { int b = 8; g(b++); if (h) { if (i) b++; } k<<<b, 32>>>(p); }", 8, 32, 0);
    /* A function of another file gives a size that is 0 before. */
    expect("void f(int n) { int b = 0, t = 0; sizes(n, 64, b, t); k<<<b, t>>>(p); }", 0, 0, 0);
    /* A template's type is not that of the parameter before it. */
    expect(
        "template <class T> void f(int n, T &x) { T *d; cudaMalloc(&d, 16 * sizeof(T)); k<<<1, 32>>>(d); }\n"
        "void g() { double y; f<double>(3, y); }",
        1, 32, 128);
    /* What stands in comments, strings and #if 0 is no launch. */
    expect("// k<<<1, 1>>>(p)\nchar *s = \"k<<<2, 2>>>(p)\";\n#if 0\nvoid g() { k<<<3, 3>>>(p); }\n#endif\n"
           "void f() { k<<<5, 32>>>(p); }",
           5, 32, 0);
}

static void parameters_are_those_of_the_first_call(void **state) {
    (void)state;
    expect("void run(int *d, int n, int b) { k<<<n / b, b>>>(d, n); }\n"
           "int main() { int *d; const int n = 512; cudaMalloc(&d, n * sizeof *d); run(d, n, 64); }",
           8, 64, 2048);
    expect("template <int B> void run(float *d) { k<B><<<2, B>>>(d); }\nint main() { run<96>(p); }", 2, 96,
           0);
    /* sizeof of a type that the call's argument says, else a float's */
    expect(
        "template <class T> void run(const T *h, int n) { T *d; cudaMalloc(&d, n * sizeof(T)); k<<<n / 32, "
        "32>>>(d); }\nint main() { double h[64]; run(h, 64); }",
        2, 32, 512);
    expect("template <typename T> void run(T *h) { T *d; cudaMalloc(&d, 64 * sizeof(T)); k<<<2, 32>>>(d); }\n"
           "template void run(float *h);",
           2, 32, 256);
    expect("void f() { thrust::device_vector<double> v(100); k<<<1, "
           "100>>>(thrust::raw_pointer_cast(v.data())); }",
           1, 100, 800);
    expect("int *a;\nvoid f() { k<<<1, 32>>>(a); }\nint main() { cudaMallocManaged(&a, 64); f(); }", 1, 32,
           64);
}

static void what_cannot_be_followed_is_free(void **state) {
    (void)state;
    HostCode *code = host_code_read("void solve(const float *in, float *out, int N) { int b = 256; k<<<(N + "
                                    "b - 1) / b, b>>>(in, out, N); }");
    const HostLaunch *launch = host_code_launch(code, 0);
    uint32_t size[3];
    assert_false(host_code_evaluate_size(code, launch, launch->grid, size));
    assert_int_equal(host_code_free_sizes(code, launch), 1);
    host_code_set_n(code, 1000);
    assert_true(host_code_evaluate_size(code, launch, launch->grid, size));
    assert_int_equal(size[0], 4);
    HostNumber n = host_code_evaluate(code, launch, launch->items[2]);
    assert_true(n.is_known && n.is_free);
    assert_int_equal(n.integer, 1000);
    assert_int_equal(launch->line, 1);
    host_code_free(code);
    code = host_code_read("void f(int rows, int columns) { k<<<rows, 32>>>(p, rows, columns); }");
    assert_int_equal(host_code_free_sizes(code, host_code_launch(code, 0)), 2);
    host_code_free(code);
}

/* A grid that another function is given says nothing; one of n does. */
static void sizes_that_nothing_else_has_are_not_known(void **state) {
    (void)state;
    HostCode *code = host_code_read("void run(int *d, int n, int blocks, int b) { k<<<blocks, b>>>(d, n); "
                                    "k<<<(n + 31) / 32, 32>>>(d, n); }");
    host_code_set_n(code, 1024);
    const HostLaunch *first = host_code_launch(code, 0), *second = host_code_launch(code, 1);
    assert_false(host_code_knows_size(code, first, first->grid));
    assert_int_equal(host_code_free_sizes(code, first), 1);
    assert_true(host_code_knows_size(code, second, second->grid));
    assert_true(host_code_decides_grid(code, second, second->items[1]));
    assert_false(host_code_decides_grid(code, first, first->items[1]));
    host_code_free(code);
}

static void another_n_changes_the_number_that_it_follows_from(void **state) {
    (void)state;
    HostCode *code =
        host_code_read("#define N 4096\nint main() { float *d; size_t bytes = N * sizeof(float);\n"
                       "cudaMalloc(&d, bytes); k<<<N / 256, 256>>>(d, N); }");
    const HostLaunch *launch = host_code_launch(code, 0);
    uint32_t size[3];
    assert_true(host_code_resize(code, launch, 0, 4 * 512, false));
    assert_true(host_code_evaluate_size(code, launch, launch->grid, size));
    assert_int_equal(size[0], 2);
    assert_int_equal(host_code_evaluate(code, launch, launch->items[1]).integer, 512);
    host_code_free(code);
    /* What a command line may change has its usual value. */
    code =
        host_code_read("int main(int c, char **v) { int n = 1 << 28; if (c > 1) n = atoi(v[1]); float *d;\n"
                       "cudaMalloc(&d, n * sizeof(float)); k<<<n / 256, 256>>>(d, n); }");
    launch = host_code_launch(code, 0);
    assert_true(host_code_resize(code, launch, 0, 4 << 20, false));
    assert_int_equal(host_code_evaluate(code, launch, launch->items[1]).integer, 1 << 20);
    host_code_free(code);
}

static void instances_and_pointers_are_told_apart(void **state) {
    (void)state;
    HostCode *code = host_code_read(
        "template <typename T> void run(T *a, T *b) { k<T, 32 * 8><<<1, 256>>>(a, a, b); }\n"
        "int main() { float *x, *y; cudaMalloc(&x, 8); cudaMalloc(&y, 4); run<float>(x, y); }");
    const HostLaunch *launch = host_code_launch(code, 0);
    assert_string_equal(launch->kernel, "k");
    assert_string_equal(launch->arguments, "float, 256");
    assert_int_equal(host_code_pointer(code, launch, 0).identity,
                     host_code_pointer(code, launch, 1).identity);
    assert_int_not_equal(host_code_pointer(code, launch, 0).identity,
                         host_code_pointer(code, launch, 2).identity);
    assert_int_equal(host_code_pointer(code, launch, 2).bytes.integer, 4);
    host_code_free(code);
    code = host_code_read(
        "__global__ void __launch_bounds__(2 * 64) k(int *p) {}\nvoid f() { void *args[] = {&p, &n};\n"
        "cudaLaunchCooperativeKernel((void *)k<int>, grid, 64, args, 128); }");
    launch = host_code_launch(code, 0);
    assert_string_equal(launch->kernel, "k");
    assert_int_equal(launch->item_count, 2);
    assert_string_equal(launch->shared, "128");
    assert_int_equal(host_code_launch_bound(code, "k"), 128);
    host_code_free(code);
}

static void launches_by_calls_are_read(void **state) {
    (void)state;
    expect("void f() { void *args[] = {&d}; cudaLaunchKernel((void *)k, dim3(6), dim3(64), args, 0, s); }", 6,
           64, 0);
    static const char *const configurations[] = {
        ("cudaLaunchConfig_t c = {0}; c.gridDim = n / 8; c.blockDim = dim3(32, 2); c.dynamicSmemBytes = n * "
         "4;"),
        "cudaLaunchConfig_t c = {n / 8, dim3(32, 2), n * 4, 0};",
        "cudaLaunchConfig_t c{.gridDim = n / 8, .blockDim = dim3(32, 2), .dynamicSmemBytes = n * 4};"};
    for (size_t i = 0; i < sizeof configurations / sizeof *configurations; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "int main() { int n = 128; float *d; cudaMalloc(&d, n * 4); %s cudaLaunchKernelEx(&c, "
                 "sum<float, 8>, d, n); }",
                 configurations[i]);
        expect(text, 16, 64, 512);
        HostCode *code = host_code_read(text);
        const HostLaunch *launch = host_code_launch(code, 0);
        assert_string_equal(launch->kernel, "sum");
        assert_string_equal(launch->arguments, "float, 8");
        assert_int_equal(launch->item_count, 2);
        assert_int_equal(host_code_evaluate(code, launch, launch->shared).integer, 512);
        host_code_free(code);
    }
}

static void a_pointer_into_a_buffer_is_another_one(void **state) {
    (void)state;
    HostCode *code = host_code_read(
        "void f() { float *a; cudaMalloc(&a, 4 * 65); k<<<1, 64>>>(a, &a[64], a + 64, &a[0]); }");
    const HostLaunch *launch = host_code_launch(code, 0);
    size_t first = host_code_pointer(code, launch, 0).identity;
    assert_int_not_equal(first, host_code_pointer(code, launch, 1).identity);
    assert_int_not_equal(first, host_code_pointer(code, launch, 2).identity);
    assert_int_equal(first, host_code_pointer(code, launch, 3).identity);
    assert_false(host_code_pointer(code, launch, 1).bytes.is_known);
    host_code_free(code);
}

/* What kernels are compiled with cannot be changed by changing the launch. */
static void numbers_in_kernels_stay_as_they_are(void **state) {
    (void)state;
    static const char *const texts[] = {
        "#define N 4096\n__global__ void k(float *d) { if (threadIdx.x < N) d[0] = 1; }\n"
        "int main() { float *d; cudaMalloc(&d, N * 4); k<<<N / 256, 256>>>(d); }",
        "#define N 4096\n#define HALF (N / 2)\n__global__ void k(float *d) { d[HALF] = 1; }\n"
        "int main() { float *d; cudaMalloc(&d, N * 4); k<<<N / 256, 256>>>(d); }",
        "template <int C> __global__ void k(float *d) { d[C] = 1; }\n"
        "int main() { const int n = 4096; constexpr int each = n / 64; float *d; cudaMalloc(&d, n * 4);\n"
        "k<each><<<64, 32>>>(d); }"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        HostCode *code = host_code_read(texts[i]);
        if (host_code_resize(code, host_code_launch(code, 0), 0, 1024, false)) fail_msg("%s", texts[i]);
        host_code_free(code);
    }
}

static void sizes_and_instances_are_guessed_by_names(void **state) {
    (void)state;
    uint64_t sizes[4];
    HostCode *code =
        host_code_read("#define NUM_BLOCKS 64\n#define BLOCK_SIZE 128\nconst int kThreads = 512, n = 96;\n"
                       "namespace a { int x; } namespace b::c { namespace {\n"
                       "template <typename T, int BLOCK, int EACH, bool IS_POWER, int W = 8, int kWarpSize>\n"
                       "__global__ void sum(T *p) { int block = 1 << 20; } } }");
    assert_int_equal(host_code_block_sizes(code, sizes, 4), 2);
    assert_int_equal(sizes[0], 128);
    assert_int_equal(sizes[1], 512);
    Text instance = {0};
    assert_true(host_code_guess_instance(code, &instance));
    assert_string_equal(text_string(&instance), "b::c::sum<float, 256, 4, true, 8, 32>");
    text_done(&instance);
    host_code_free(code);
}

/* In a straight line: in the same braces, under no condition; what the host writes between them is not the
 * kernel's. */
static void launches_follow_each_other(void **state) {
    (void)state;
    HostCode *code = host_code_read("int main() { a<<<1, 2>>>(p);\n b<int, 3><<<1, 2>>>(p); if (x) c<<<1, "
                                    "2>>>(p); if (x) { d<<<1, 2>>>(p); }\n"
                                    "cudaMemcpy(q, h, 8, cudaMemcpyHostToDevice); ns::e<<<1, 2>>>(p, q); }\n"
                                    "void f() { g<<<1, 2>>>(p); }");
    static const bool follows[] = {false, true, false, false, true, false};
    assert_int_equal(host_code_launch_count(code), 6);
    const HostLaunch *first = host_code_launch(code, 0), *last = host_code_launch(code, 4);
    for (int i = 0; i < 6; i++)
        assert_int_equal(host_code_follows(code, first, host_code_launch(code, i)), follows[i]);
    assert_true(host_code_follows(code, host_code_launch(code, 3), host_code_launch(code, 3)) == false);
    assert_true(host_code_overwrites(code, first->at, last->at, "q"));
    assert_false(host_code_overwrites(code, first->at, last->at, "p"));
    assert_false(host_code_overwrites(code, first->at, host_code_launch(code, 3)->at, "q"));
    host_code_free(code);
}

/* A condition that is known to hold is none; one that is known not to, or not known, is. */
static void conditions_that_hold_are_passed(void **state) {
    (void)state;
    HostCode *code =
        host_code_read("int main() { int n = 4096, b = 256; int blocks = n / b; a<<<blocks, b>>>(p);\n"
                       "if (blocks > 1) { c<<<1, b>>>(p); if (n == 4096) { d<<<1, b>>>(p); } }\n"
                       "if (blocks > 16) { e<<<1, b>>>(p); } if (blocks > 1) f<<<1, b>>>(p);\n"
                       "while (n > 1) { g<<<1, b>>>(p); } else { h<<<1, b>>>(p); } k<<<1, b>>>(p); }");
    static const char names[] = "acdefghk";
    static const bool follows[] = {false, true, true, false, true, false, false, true};
    assert_int_equal(host_code_launch_count(code), 8);
    for (int i = 0; i < 8; i++)
        if (host_code_follows(code, host_code_launch(code, 0), host_code_launch(code, i)) != follows[i])
            fail_msg("%c follows: %d", names[i], !follows[i]);
    host_code_free(code);
}

/* Buffers of structures and of arrays of pointers, elements of arrays, loops over a list, several sizes in
 * one declaration. */
static void elements_and_members_are_followed(void **state) {
    (void)state;
    expect("void f() { float *d[4]; for (int i = 0; i < 4; i++) cudaMalloc((void **)&d[i], 1024); k<<<2, "
           "32>>>(d[i]); }",
           2, 32, 1024);
    expect("void f(size_t n, size_t each) { std::vector<int *> d(8); std::vector<int> sizes(8); size_t now = "
           "std::min(each, n - i * each); sizes[i] = now / 32; cudaMalloc(&d[i], now * sizeof(int)); "
           "k<<<sizes[i], "
           "32>>>(d[i]); }\nint main() { size_t all[] = {256, 512}; for (size_t each : all) f(4096, each); }",
           8, 32, 1024);
    expect("void f() { Buffers b; cudaMalloc(&b.in, 640); k<<<1, 32>>>(b.in); }", 1, 32, 640);
    expect("void f(Buffers *b) { cudaMalloc((void **)&b->in, 640); k<<<1, 32>>>(b->in); }", 1, 32, 640);
    expect("void f() { int sizes[] = {64, 128}; int *d; cudaMalloc(&d, sizes[1] * 4); k<<<sizes[0], "
           "sizes[1]>>>(d); }",
           64, 128, 512);
    expect("void f() { for (int b : {64, 128}) k<<<3, b>>>(p); }", 3, 64, 0);
    expect("void f() { int n = 1000; dim3 grid((n + 255) / 256, 1, 1), block(256, 1, 1); k<<<grid, "
           "block>>>(p); }",
           4, 256, 0);
    expect("void f() { int *d[2]; cudaMalloc(&d, 640); k<<<1, 32>>>(d[1]); }", 1, 32,
           0); /* it points into one buffer */
}

/* What a condition changes is not what a value is, unless it had none before; of several allocations the last
 * before the launch. */
static void certain_values_come_first(void **state) {
    (void)state;
    expect(
        "void f(int kind) { int bytes = 256 * 4; if (kind == 7) { bytes = 32; } k<<<bytes / 4, 64>>>(p); }",
        256, 64, 0);
    expect("void f(int kind) { int b = 0; if (kind == 7) { b = 32; } k<<<4, b>>>(p); }", 4, 32, 0);
    /* What a function gives it, or a loop makes of it, is not known. */
    expect("void ask(int *p, int &n) { }\nvoid f() { int n = 0; ask(p, n); k<<<n, 32>>>(p); }", 0, 32, 0);
    expect("void f() { int n = 0; show(n); k<<<n + 1, 32>>>(p); }", 1, 32, 0);
    expect("void f() { int kind = -1; find(7, &kind); k<<<4, kind>>>(p); }", 4, 0, 0);
    expect("void f() { int n = 1; for (int i = 0; i < 4; i++) n *= sides[i]; k<<<n, 32>>>(p); }", 0, 32, 0);
    expect("void f() { int n = 64; show(n); ask(&n); for (int s = 2; s < n; s *= 2) k<<<n, s>>>(p); }", 64, 2,
           0);
    expect("void f() { int b = 8; { b = 16; k<<<4, b>>>(p); } }", 4, 16, 0);
    expect("void f() { int n = 64; int *d; cudaMalloc(&d, n * 4); k<<<2, n>>>(d); cudaFree(d); n = 8; "
           "cudaMalloc(&d, n * 4); "
           "k<<<1, n>>>(d); }",
           2, 64, 256);
}

static void instances_are_completed(void **state) {
    (void)state;
    static const struct {
        const char *text, *instance;
    } cases[] = {
        {"template <int N, class T> __global__ void k(T *p) { } void f() { k<64><<<1, 2>>>(p); }",
         "k<64, float>"},
        {"template <class T> __global__ void k(T *p) { } void f() { k<<<1, 2>>>(p); }", "k<float>"},
        {"template <class T, int N> __global__ void k(T *p) { } void f() { k<int, 7><<<1, 2>>>(p); }",
         "k<int, 7>"},
        {"namespace a { template <class T> __global__ void k(T *p) { }\nvoid f() { k<<<1, 2>>>(p); } }",
         "a::k<float>"},
        {"__global__ void k(int *p) { } void f() { k<<<1, 2>>>(p); }", NULL},
        /* As the arguments are declared: variables, parameters, vectors, casts, objects that are made for the
         * call. */
        {"template <class T> __global__ void k(const T *p, T *q) { } void f() { float *p; int n, *a, *b; "
         "k<<<1, 2>>>(a, b); }",
         "k<int>"},
        {"template <class T> __global__ void k(T *p) { } void f(int n, const unsigned int *a) { k<<<1, "
         "2>>>(a); }",
         "k<unsigned int>"},
        {"template <class T> __global__ void k(T *p, int n) { }\n"
         "void f() { thrust::device_vector<double> v(9); k<<<1, 2>>>(thrust::raw_pointer_cast(v.data()), 9); "
         "}",
         "k<double>"},
        {"template <class T> __global__ void k(T *p) { } void f(void *a) { k<<<1, 2>>>((short *)a); }",
         "k<short>"},
        {"template <class T, class Op> __global__ void k(T *p, Op op) { *p = op(*p, *p); }\n"
         "template <class T> void run(T *p) { k<<<1, 2>>>(p, Sum<T>()); } void f(long *a) { run(a); }",
         "k<long, Sum<long>>"},
        {"template <class T, class Op> __global__ void k(T *p, Op op) { *p = op(*p, *p); }\n"
         "void f(long *a) { k<<<1, 2>>>(a, Max{}); }",
         "k<long, Max>"},
        {"template <class T, class Op> __global__ void k(T *p, Op op) { *p = op(*p, *p); }\n"
         "template <class T> void run(T *a) { Max m; k<<<1, 2>>>(a, m); } void f(long *b) { run(b); }",
         "k<long, Max>"},
        /* What is called is no number, and a lambda has no name. */
        {"template <class Op> __global__ void k(int *p, Op op) { *p = op(*p); } void f(int *a) {\n"
         "k<<<1, 2>>>(a, [] __device__(int i) { return i; }); }",
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        HostCode *code = host_code_read(cases[i].text);
        Text instance = {0};
        bool found = host_code_complete_instance(code, host_code_launch(code, 0), &instance);
        assert_int_equal(found, cases[i].instance != NULL);
        if (found) assert_string_equal(text_string(&instance), cases[i].instance);
        text_done(&instance);
        host_code_free(code);
    }
}

static void parameters_have_names(void **state) {
    (void)state;
    Arena arena = {0};
    HostCode *code = host_code_read(
        "void k(int x);\n__global__ void __launch_bounds__(256) k(const float *__restrict__ in, "
        "unsigned int n = 7, float (&a)[4]) { }\n__global__ void k(int b, int) { }");
    assert_string_equal(host_code_parameter_name(code, "k", 0, 3, &arena), "in");
    assert_string_equal(host_code_parameter_name(code, "k", 1, 3, &arena), "n");
    assert_string_equal(host_code_parameter_name(code, "k", 0, 2, &arena), "b");
    assert_int_equal(host_code_default(code, "k", 1, 3).integer, 7);
    assert_false(host_code_default(code, "k", 0, 3).is_known);
    assert_false(host_code_default(code, "other", 0, 3).is_known);
    assert_null(host_code_parameter_name(code, "k", 0, 1, &arena)); /* no kernel of one parameter */
    assert_null(host_code_parameter_name(code, "other", 0, 3, &arena));
    arena_done(&arena);
    host_code_free(code);
}

/* Names that refer to each other, brackets that nothing closes, texts of any length: an answer, and soon. */
typedef struct Rounds { /* what the visited launches are given: "<<<4>>> d d 2; " */
    HostCode *code;
    Text text;
    size_t buffers[4]; /* identities, by order */
    int buffer_count, most;
} Rounds;

static bool note_round(void *context, const HostLaunch *launch) {
    Rounds *rounds = context;
    uint32_t grid[3] = {0};
    host_code_evaluate_size(rounds->code, launch, launch->grid, grid);
    text_print(&rounds->text, "<<<%u>>>", grid[0]);
    for (int i = 0; i < launch->item_count; i++) {
        HostPointer pointer = host_code_pointer(rounds->code, launch, i);
        int k = 0;
        while (k < rounds->buffer_count && rounds->buffers[k] != pointer.identity) k++;
        if (k == rounds->buffer_count && k < 4 && pointer.bytes.is_known)
            rounds->buffers[rounds->buffer_count++] = pointer.identity;
        if (pointer.bytes.is_known)
            text_print(&rounds->text, " %c", 'a' + k);
        else
            text_print(&rounds->text, " %d",
                       (int)host_code_evaluate(rounds->code, launch, launch->items[i]).integer);
    }
    text_add(&rounds->text, "; ");
    return rounds->most-- > 0;
}

static void any_text_is_read(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "<<<",
        "k<<<",
        "k<<<>>>",
        "k<<<1>>>(",
        "void f() { k<<<a, b>>>(c); int a = b; int b = a; }",
        "#define A B\n#define B A\nvoid f() { k<<<A, B>>>(A); }",
        "void f() { int a = a; k<<<a, a>>>(a); }",
        "#define F(x) F(x)\nvoid f() { k<<<F(1), F(F(2))>>>(F(3)); }",
        "int up(int a) { return up(a); } void f() { k<<<up(1), 1>>>(p); }",
        "{{{{((((",
        "}}}}))))",
        "/*",
        "\"",
        "'",
        "#if 0\n#if 1\n",
        "void f(int n) { g(n); } void g(int n) { f(n); k<<<n, n>>>(n); }",
        "void f() { k<<<1 << 99, 1 / 0>>>(-9223372036854775808 / -1); }",
        "void f() { k<x<y><<<1, 1>>>(p); }",
        "< < < > > > << < >> >",
        "void f() { cudaLaunchKernelEx(&c, k, p); }",
        "void f() { c = {; cudaLaunchKernelEx(&c, (k<1), p); }",
        "void f() { c.gridDim = ; cudaLaunchKernelEx(&c, ((k)), &p[, p +); }",
        "void f() { for (;;) { if { k<<<1, 1>>>(p); } }",
        "void f() { for (int i = ; i < ; ) k<<<i, 1>>>(p) }",
        "void f() { while () { = ; swap(; a++ ++; <<= 3; k<<<1, 1>>>(p); if (1",
        "void f() { do { k<<<1, 1>>>(p); } while",
        "void f() { while (1) { int a; swap(a, a); a = a; *p = 1; k<<<a, a>>>(a); } }",
        ("template <class T, class U> __global__ void k(T *p, U u) {}\n"
         "template <class T> void f(T *p) { f(p); k<<<1, 1>>>(p, U<T>{}, &, (, <); }"),
        "template <> __global__ void k(int *p) {}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        HostCode *code = host_code_read(texts[i]);
        for (int k = 0; k < host_code_launch_count(code); k++) {
            const HostLaunch *launch = host_code_launch(code, k);
            uint32_t size[3];
            host_code_set_n(code, 1 << 20);
            host_code_evaluate_size(code, launch, launch->grid, size);
            host_code_evaluate_size(code, launch, launch->block, size);
            host_code_free_sizes(code, launch);
            for (int m = 0; m < launch->item_count; m++) host_code_pointer(code, launch, m);
            Rounds rounds = {.code = code, .most = 100};
            host_code_repeat(code, launch, note_round, &rounds);
            host_code_forget_loop(code);
            text_clear(&rounds.text);
            host_code_complete_instance(code, launch, &rounds.text);
            text_done(&rounds.text);
        }
        uint64_t sizes[4];
        Text instance = {0};
        host_code_block_sizes(code, sizes, 4);
        host_code_guess_instance(code, &instance);
        text_done(&instance);
        host_code_free(code);
    }
}

static void enumerators_are_spelled_as_values(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"red<int, Op::kMax>", "red<int, 1>"},
                                          {"red<int,kLast>", "red<int,8>"},
                                          {"a::red<A::One, B::One>", "a::red<0, 3>"},
                                          {"red<float, 7u>(Op::kMax)", "red<float, 7u>(Op::kMax)"},
                                          {"red<Op>", "red<Op>"},
                                          {"red<Op::kNone>", "red<Op::kNone>"},
                                          {"kMax", "kMax"},
                                          {"<", "<"},
                                          {"", ""}};
    HostCode *code =
        host_code_read("enum class Op : int { kSum, kMax };\nenum { kFirst = 1 << 2, kNext = 7, kLast };\n"
                       "enum struct A { One }; enum B { Zero = 2, One }; enum Later; int enumerate;\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Text out = {0};
        host_code_spell(code, rows[i][0], &out);
        assert_string_equal(text_string(&out), rows[i][1]);
        text_done(&out);
    }
    host_code_free(code);
    code = host_code_read("enum { a"); /* ends in the middle */
    Text out = {0};
    host_code_spell(code, "k<a, b>", &out);
    text_done(&out);
    host_code_free(code);
}

/* The first launch of the text is in a loop with these rounds; NULL: it is in none that is understood. */
static void expect_rounds(const char *body, const char *wanted) {
    char file[1024];
    snprintf(file, sizeof file,
             "int main() { int n = 1000, *x, *y; cudaMalloc(&x, n * 4); cudaMalloc(&y, n * 4); %s }", body);
    Rounds rounds = {.code = host_code_read(file), .most = 32};
    bool good = host_code_repeat(rounds.code, host_code_launch(rounds.code, 0), note_round, &rounds);
    if (good != (wanted != NULL)) fail_msg("%s: %s", body, text_string(&rounds.text));
    if (wanted) assert_string_equal(text_string(&rounds.text), wanted);
    host_code_forget_loop(rounds.code);
    text_done(&rounds.text);
    host_code_free(rounds.code);
}

static void loops_are_executed(void **state) {
    (void)state;
    expect_rounds("for (int d = 1; d < n; d *= 8) { k<<<2, 32>>>(x, y, d); std::swap(x, y); }",
                  "<<<2>>> a b 1; <<<2>>> b a 8; <<<2>>> a b 64; <<<2>>> b a 512; ");
    expect_rounds("int m = n; while (m > 1) { int b = (m + 31) / 32; k<<<b, 32>>>(x, m); m = b; }",
                  "<<<32>>> a 1000; <<<1>>> a 32; ");
    expect_rounds("int m = n, *in = x, *out = y; do { int b = (m + 31) / 32; k<<<b, 32>>>(in, out, m);\n"
                  "int *t = in; in = out; out = t; m = b; } while (m > 1);",
                  "<<<32>>> a b 1000; <<<1>>> b a 32; ");
    expect_rounds("for (int s = n / 2; s > 100; s >>= 1) k<<<1, 32>>>(x, s);",
                  "<<<1>>> a 500; <<<1>>> a 250; <<<1>>> a 125; ");
    expect_rounds("int m = 5; while (true) { k<<<1, m>>>(x, m); if (m <= 1) break; else m--; m -= 1; }",
                  "<<<1>>> a 5; <<<1>>> a 3; <<<1>>> a 1; ");
    /* What stands before the loop was computed before it. */
    expect_rounds("int m = 64, b = m / 32; for (; m > 16; m /= 2) k<<<b, 32>>>(x, m);",
                  "<<<2>>> a 64; <<<2>>> a 32; ");
    static const char *const others[] = {
        "k<<<1, 32>>>(x);",
        "while (more()) k<<<1, 32>>>(x);",
        "while (n > 1) k<<<1, 32>>>(x, n);",
        "for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) k<<<1, 32>>>(x, i, j);",
        ("for (int i = 0; i < 4; i++) { k<<<1, 32>>>(x, y, i); cudaMemcpy(x, y, 4, "
         "cudaMemcpyDeviceToDevice); "
         "}"),
        "for (int i = 0; i < 4; i++) { if (n > f()) i += 2; k<<<1, 32>>>(x, y, i); }",
        "for (int i = 0; i < 4; i++) { k<<<1, 32>>>(x, y, i); std::swap(x, z); }",
        "for (int i = 0; i < 4; i++) { k<<<1, 32>>>(x, y, i); if (i > 1) return 0; }"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) expect_rounds(others[i], NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enumerators_are_spelled_as_values),
        cmocka_unit_test(sizes_are_followed_to_their_definition),
        cmocka_unit_test(parameters_are_those_of_the_first_call),
        cmocka_unit_test(what_cannot_be_followed_is_free),
        cmocka_unit_test(sizes_that_nothing_else_has_are_not_known),
        cmocka_unit_test(launches_follow_each_other),
        cmocka_unit_test(conditions_that_hold_are_passed),
        cmocka_unit_test(elements_and_members_are_followed),
        cmocka_unit_test(certain_values_come_first),
        cmocka_unit_test(instances_are_completed),
        cmocka_unit_test(parameters_have_names),
        cmocka_unit_test(another_n_changes_the_number_that_it_follows_from),
        cmocka_unit_test(instances_and_pointers_are_told_apart),
        cmocka_unit_test(launches_by_calls_are_read),
        cmocka_unit_test(a_pointer_into_a_buffer_is_another_one),
        cmocka_unit_test(numbers_in_kernels_stay_as_they_are),
        cmocka_unit_test(sizes_and_instances_are_guessed_by_names),
        cmocka_unit_test(any_text_is_read),
        cmocka_unit_test(loops_are_executed),
    };
    return cmocka_run_group_tests_name("host code", tests, NULL, NULL);
}
