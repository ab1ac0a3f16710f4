/* Build clang: compiles a program without the CUDA toolkit.
 *
 * Each file is compiled twice, with redviz's own declarations (assets/include/program.h): for the device to
 * PTX, which is packed as a fat binary, and for the host with that inside. clang's own code for launches and
 * registrations calls the functions of a CUDA runtime, which redviz's library has. */
#define _POSIX_C_SOURCE 200809L
#include "base/text.h"
#include "compile/builder.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARCHITECTURE = 80, PTX_LIMIT = 256 << 20 };

/* Headers of the toolkit that program.h stands for. */
static const char *const covered[] = {
    "cuda_runtime.h",     "cuda_runtime_api.h",  "device_launch_parameters.h",
    "driver_types.h",     "vector_types.h",      "vector_functions.h",
    "host_defines.h",     "builtin_types.h",     "device_functions.h",
    "sm_30_intrinsics.h", "cuda_profiler_api.h", "device_types.h"};

static bool write_file(const char *path, const void *head, size_t head_bytes, const void *rest,
                       size_t rest_bytes, Error *error) {
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(head, 1, head_bytes, file) == head_bytes &&
                fwrite(rest, 1, rest_bytes, file) == rest_bytes;
    if (file) good &= !fclose(file);
    return good || error_set(error, "%s: %s", path, strerror(errno));
}

static bool write_headers(const ProgramBuild *build, Error *error) {
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof covered / sizeof *covered; i++) {
        snprintf(path, sizeof path, "%s/%s", build->folder, covered[i]);
        if (!write_file(path, "", 0, "", 0, error)) return false;
    }
    return true;
}

/* The number in "--cuda-gpu-arch=sm_86", "-arch=sm_86", "arch=compute_86"; 0: none. */
static int architecture_in(const char *flag) {
    const char *name = strstr(flag, "sm_");
    const char *number = name ? name + 3 : strstr(flag, "compute_") ? strstr(flag, "compute_") + 8 : NULL;
    return strstr(flag, "arch") && number ? atoi(number) : 0;
}

/* nvcc's ways to name the architecture, which clang does not know. */
static bool is_of_nvcc(const char *flag) {
    return !strncmp(flag, "-arch", 5) || !strncmp(flag, "arch=", 5) || !strncmp(flag, "-gencode", 8) ||
           !strncmp(flag, "--gpu-arch", 10) || !strncmp(flag, "--cuda-gpu-arch", 15);
}

static int add_flags(const ProgramBuild *build, const char **arguments, int count) {
    for (int i = 0; i < build->flag_count; i++)
        if (!is_of_nvcc(build->flags[i])) arguments[count++] = build->flags[i];
    return count;
}

static int architecture_of(const ProgramBuild *build) {
    int found = 0;
    for (int i = 0; i < build->flag_count && !found; i++)
        if (is_of_nvcc(build->flags[i])) found = architecture_in(build->flags[i]);
    return found ? found : ARCHITECTURE;
}

/* Compiles one side of a file. */
static bool compile(const ProgramBuild *build, const char *file, const char *const *side, const char *output,
                    Error *error) {
    char header[PATH_MAX], folder[PATH_MAX], architecture[48];
    const char *arguments[2 * MOST_WORDS];
    int count = 0;
    snprintf(header, sizeof header, "%s/program.h", build->options->headers);
    snprintf(folder, sizeof folder, "-I%s", build->folder);
    snprintf(architecture, sizeof architecture, "--cuda-gpu-arch=sm_%d", architecture_of(build));
    /* Without a toolkit, clang would take the launch of CUDA 9, which no runtime has any longer. */
    const char *const fixed[] = {build->compiler,
                                 "--driver-mode=g++",
                                 "-x",
                                 "cuda",
                                 "--cuda-path=/nonexistent",
                                 "-nocudainc",
                                 "-nocudalib",
                                 "-Xclang",
                                 "-target-sdk-version=11.0",
                                 "-std=c++17",
                                 "-O2",
                                 "-w",
                                 "-fno-color-diagnostics",
                                 "-include",
                                 header,
                                 folder,
                                 architecture,
                                 "-o",
                                 output};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) arguments[count++] = fixed[i];
    for (int i = 0; side[i]; i++) arguments[count++] = side[i];
    count = add_flags(build, arguments, count);
    arguments[count++] = file;
    arguments[count] = NULL;
    return build_run(build, arguments, "clang", error);
}

static void put(uint8_t *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> 8 * i);
}

/* A fat binary with one entry, as src/runtime/fatbin.h describes it. */
static bool pack(const ProgramBuild *build, const char *ptx, const char *output, Error *error) {
    enum { HEAD = 16, ENTRY = 64 };
    uint8_t head[HEAD + ENTRY] = {0};
    char *text;
    size_t length;
    if (!text_read_file(ptx, PTX_LIMIT, &text, &length, error)) return false;
    put(head, 0xBA55ED50, 4), put(head + 4, 1, 2), put(head + 6, HEAD, 2),
        put(head + 8, ENTRY + length + 1, 8);
    uint8_t *entry = head + HEAD;
    put(entry, 1, 2), put(entry + 2, 0x101, 2), put(entry + 4, ENTRY, 4), put(entry + 8, length + 1, 8);
    put(entry + 28, (uint64_t)architecture_of(build), 4), put(entry + 56, length + 1, 8);
    bool good = write_file(output, head, sizeof head, text, length + 1, error);
    free(text);
    return good;
}

static bool compile_file(const ProgramBuild *build, int index, Error *error) {
    char ptx[PATH_MAX], fatbin[PATH_MAX], object[PATH_MAX];
    snprintf(ptx, sizeof ptx, "%s/%d.ptx", build->folder, index);
    snprintf(fatbin, sizeof fatbin, "%s/%d.fatbin", build->folder, index);
    snprintf(object, sizeof object, "%s/%d.o", build->folder, index);
    /* clang takes its PTX version from a toolkit: 7.0 is the first for sm_80 */
    const char *const device[] = {"--cuda-device-only",
                                  "-S",
                                  "-gline-tables-only",
                                  "-Xclang",
                                  "-target-feature",
                                  "-Xclang",
                                  "+ptx70",
                                  NULL};
    const char *const host[] = {"--cuda-host-only",         "-c",      "-g",   "-Xclang",
                                "-fcuda-include-gpubinary", "-Xclang", fatbin, NULL};
    return compile(build, build->files[index], device, ptx, error) && pack(build, ptx, fatbin, error) &&
           compile(build, build->files[index], host, object, error);
}

static bool link_all(const ProgramBuild *build, int files, Error *error) {
    char output[PATH_MAX], library[PATH_MAX];
    const char *arguments[2 * MOST_WORDS];
    int count = 0;
    Text objects = {0};
    snprintf(output, sizeof output, "%s/program", build->folder);
    snprintf(library, sizeof library, "-L%s", build->options->library);
    for (int i = 0; i < files; i++) text_print(&objects, "%s/%d.o\n", build->folder, i);
    const char *const fixed[] = {build->compiler, "--driver-mode=g++", "-o", output};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) arguments[count++] = fixed[i];
    for (char *name = strtok(objects.data, "\n"); name; name = strtok(NULL, "\n")) arguments[count++] = name;
    count = add_flags(build, arguments, count);
    arguments[count++] = library, arguments[count++] = "-l:libcudart.so.13", arguments[count++] = "-pthread";
    arguments[count] = NULL;
    bool good = build_run(build, arguments, "clang", error);
    text_done(&objects);
    return good;
}

bool build_with_clang(const ProgramBuild *build, Error *error) {
    int files = 0;
    bool good = write_headers(build, error);
    for (; good && build->files[files]; files++) {
        if (files == MOST_WORDS / 2) return error_set(error, "more than %d files", files);
        good = compile_file(build, files, error);
    }
    return good && link_all(build, files, error);
}
