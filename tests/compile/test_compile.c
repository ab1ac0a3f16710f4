/* Paths that nvcc would pass to a shell: the file is compiled, and nothing in its name is executed. */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "compile/compile.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/redviz-test-XXXXXX", headers[PATH_MAX];

static int set_up(void **state) {
    (void)state;
    if (!realpath("assets/include", headers) || !mkdtemp(folder) || chdir(folder)) return -1;
    setenv("XDG_CACHE_HOME", folder, 1);
    return 0;
}

static int tear_down(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Without this compiler, the test is skipped. */
static void need(const char *compiler) {
    Error error = {0};
    Compiled out = {0};
    write_text("plain.cu", "__global__ void nothing() {}\n");
    compile(&(CompileOptions){.path = "plain.cu", .compiler = compiler, .headers = "."}, &out, &error);
    compiled_done(&out);
    if (strstr(error.message, "was not found")) skip_because("%s was not found", compiler);
}

/* FOLDER/NAME, which includes a file beside it and one in the folder above. */
static void compile_one(const char *beside, const char *name, const char *host, const char *compiler) {
    char path[512], header[512], text[512];
    Error error = {0};
    Compiled out = {0};
    mkdir(beside, 0700);
    snprintf(path, sizeof path, "%s/%s", beside, name);
    snprintf(header, sizeof header, "%s/beside.h", beside);
    write_text(header, "#define THREE 3\n");
    snprintf(text, sizeof text, "#include \"beside.h\"\n__global__ void k(int *p) { *p = THREE; }\n%s\n",
             host);
    write_text(path, text);
    bool good = compile(&(CompileOptions){.path = path, .compiler = compiler, .headers = "."}, &out, &error);
    if (access("executed", F_OK) == 0) fail_msg("%s was executed", path);
    if (!good) fail_msg("%s: %s: %s", path, error.file, error.message);
    if (!strstr(out.ptx, path)) fail_msg("%s is not in its line table: %s", path, out.ptx);
    compiled_done(&out);
    write_text(path, "__global__ void k(int *p) {\n    *p = unknown;\n}\n");
    assert_false(
        compile(&(CompileOptions){.path = path, .compiler = compiler, .headers = "."}, &out, &error));
    if (!strstr(error.file, path) || error.line != 2) fail_msg("%s: %s:%d", path, error.file, error.line);
    if (access("executed", F_OK) == 0) fail_msg("%s was executed", path);
    compiled_done(&out);
}

static void a_path_is_not_executed(void **state) {
    (void)state;
    need("nvcc");
    /* Nvcc is called again without it. */
    static const char host[] = "int main() {\n    cudaWhatIsNoMore();\n}";
    compile_one("plain", "a$(touch executed).cu", "", "nvcc");
    compile_one("plain", "a`touch executed`.cu", "", "nvcc");
    compile_one("b$(touch executed)", "a.cu", "", "nvcc");
    compile_one("b$(touch executed)", "c.cu", host, "nvcc");
    compile_one("c`touch executed`", "a; touch executed; '.cu", "", "nvcc");
}

static void other_compilers_take_any_name(void **state) {
    (void)state;
    need("nvrtc");
    write_text("standard.h", "\n");
    compile_one("plain", "d$(touch executed).cu", "", "nvrtc");
}

static void expect_nvrtc(const char *text) {
    Error error = {0};
    Compiled out = {0};
    write_text("headers.cu", text);
    if (!compile(
            &(CompileOptions){
                .path = "headers.cu", .compiler = "nvrtc", .headers = headers, .no_cache = true},
            &out, &error))
        fail_msg("%s:%d: %s", error.file, error.line, error.message);
    compiled_done(&out);
}

/* The types of <cstdint> are those of CUDA's headers, which may declare them, too. */
static void nvrtc_takes_headers_of_cuda(void **state) {
    static const char
        plain[] = "#include <cstdint>\n__global__ void k(int64_t *p) { *p = sizeof(intptr_t); }\n",
        cuda[] = "#include <cstdint>\n#include <cooperative_groups/reduce.h>\n"
                 "__global__ void k(int64_t *p) { *p = cuda::std::numeric_limits<int64_t>::max(); }\n";
    (void)state;
    need("nvrtc");
    expect_nvrtc(plain);
    if (access("/usr/local/cuda/include/cooperative_groups/reduce.h", R_OK))
        skip_because("NVIDIA's headers were not found");
    expect_nvrtc(cuda);
    /* those of a wheel, where there is no toolkit */
    assert_int_equal(system("mkdir -p venv/lib/python3.12/site-packages/nvidia/cu13 && ln -s "
                            "/usr/local/cuda/include venv/lib/python3.12/site-packages/nvidia/cu13/include"),
                     0);
    setenv("CUDA_HOME", "/nowhere", 1);
    setenv("VIRTUAL_ENV", "venv", 1);
    expect_nvrtc(cuda);
    unsetenv("VIRTUAL_ENV");
    unsetenv("CUDA_HOME");
}

static void refuse(const char *path) {
    Error error = {0};
    Compiled out = {0};
    write_text(path, "__global__ void nothing() {}\n");
    assert_false(compile(&(CompileOptions){.path = path, .headers = "."}, &out, &error));
    if (!strstr(error.message, "cannot be compiled")) fail_msg("%s: %s", path, error.message);
    if (access("executed", F_OK) == 0) fail_msg("%s was executed", path);
    compiled_done(&out);
}

static void quotes_and_backslashes_are_refused(void **state) {
    (void)state;
    refuse("a\"; touch executed; \".cu");
    refuse("a\\.cu");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_is_not_executed),
        cmocka_unit_test(other_compilers_take_any_name),
        cmocka_unit_test(nvrtc_takes_headers_of_cuda),
        cmocka_unit_test(quotes_and_backslashes_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
