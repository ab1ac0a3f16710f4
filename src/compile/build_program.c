#define _XOPEN_SOURCE 700
#include "compile/build_program.h"

#include "base/memory.h"
#include "base/text.h"
#include "compile/builder.h"
#include "compile/process.h"
#include "compile/wheels.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { NEWEST_ARCHITECTURE = 90 };

static bool has_architecture(const char *flags) {
    return flags &&
           (strstr(flags, "-arch") || strstr(flags, "-gencode") || strstr(flags, "--gpu-architecture"));
}

/* Splits at blanks; the words point into `copy`. */
static int split(char *copy, const char **words, int most) {
    int count = 0;
    for (char *word = strtok(copy, " \t\n"); word && count < most; word = strtok(NULL, " \t\n"))
        words[count++] = word;
    return count;
}

/* A #line before main() names its file: nvcc 13 gives lines behind some templates the name of a file of its
 * own, and also where #line has the very name that it knows, hence the dot. */
static bool write_text(const char *folder, const char *path, const BuildProgram *options, Error *error) {
    FILE *file = fopen(path, "w");
    int line = 2;
    for (const char *at = options->text; *at; at++) line += *at == '\n';
    bool good = file && fprintf(file, "%s#line %d \"%s/./main.cu\"\n%s", options->text, line, folder,
                                options->main_text) > 0;
    if (file) good &= !fclose(file);
    return good || error_set(error, "%s: %s", path, strerror(errno));
}

static const char no_compiler[] =
    "no compiler for its host code: install clang, or nvcc by `pip install nvidia-cuda-nvcc nvidia-cuda-crt "
    "nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-cccl`, or the CUDA toolkit";

static bool with_nvcc(const ProgramBuild *build, Error *error) {
    char output[PATH_MAX], architecture[64], library[PATH_MAX + 2];
    const char *arguments[2 * MOST_WORDS];
    int count = 0;
    /* -O2 inlines the templates of cuda_runtime.h, so that a call of cudaMalloc() stands in the user's
     * line. */
    snprintf(output, sizeof output, "%s/program", build->folder);
    snprintf(library, sizeof library, "-L%s", build->options->library);
    snprintf(architecture, sizeof architecture, "arch=compute_%d,code=compute_%d", NEWEST_ARCHITECTURE,
             NEWEST_ARCHITECTURE);
    const char *const fixed[] = {build->compiler,
                                 "-cudart",
                                 build->is_wheel ? "none" : "shared",
                                 "-lineinfo",
                                 "-O2",
                                 "-Xcompiler",
                                 "-g",
                                 "-w",
                                 "--no-compress",
                                 "-o",
                                 output};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) arguments[count++] = fixed[i];
    if (!has_architecture(build->options->flags))
        arguments[count++] = "-gencode", arguments[count++] = architecture;
    for (int i = 0; build->files[i] && count < MOST_WORDS; i++) arguments[count++] = build->files[i];
    for (int i = 0; i < build->flag_count; i++) arguments[count++] = build->flags[i];
    /* The wheels lack the name libcudart.so. */
    if (build->is_wheel) arguments[count++] = library, arguments[count++] = "-l:libcudart.so.13";
    arguments[count] = NULL;
    return build_run(build, arguments, "nvcc", error);
}

static bool may_be(const ProgramBuild *build, const char *compiler) {
    return !build->options->compiler || !strcmp(build->options->compiler, compiler);
}

static bool find_compiler(ProgramBuild *build, Error *error) {
    char *path = build->compiler;
    const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH")};
    if (may_be(build, "nvcc") && process_find("nvcc", homes, 2, path, PATH_MAX)) return true;
    build->is_wheel = may_be(build, "nvcc") && wheels_find("cu13/bin/nvcc", path, PATH_MAX);
    if (build->is_wheel) return true;
    build->is_clang = may_be(build, "clang") && process_find("clang", NULL, 0, path, PATH_MAX);
    if (build->is_clang) return true;
    const char *wanted = build->options->compiler;
    if (wanted && strcmp(wanted, "nvcc") != 0 && strcmp(wanted, "clang") != 0)
        return error_set(error, "--compiler %s has no part for host code: programs need nvcc or clang",
                         wanted);
    return error_set(error, "%s: %s", build->options->files[0], no_compiler);
}

bool build_program(const BuildProgram *options, char *folder, size_t bytes, Error *error) {
    for (int i = 0; options->files[i]; i++)
        if (access(options->files[i], R_OK))
            return error_set_at(error, options->files[i], 0, 0, "cannot open: %s", strerror(errno));
    char main_file[PATH_MAX], *flags;
    const char *const only_main[] = {main_file, NULL};
    ProgramBuild build = {
        .options = options, .folder = folder, .files = options->text ? only_main : options->files};
    if (!find_compiler(&build, error)) return false;
    snprintf(folder, bytes, "%s/redviz-XXXXXX", process_temporary_folder());
    if (!mkdtemp(folder)) return error_set(error, "%s: %s", folder, strerror(errno));
    flags = memory_copy_text(options->flags ? options->flags : "");
    build.flag_count = split(flags, build.flags, MOST_WORDS / 2);
    snprintf(main_file, sizeof main_file, "%s/main.cu", folder);
    bool good = (!options->text || write_text(folder, main_file, options, error)) &&
                (build.is_clang ? build_with_clang(&build, error) : with_nvcc(&build, error));
    free(flags);
    if (!good) build_program_remove(folder);
    return good;
}

void build_program_remove(const char *folder) {
    char path[2 * PATH_MAX];
    DIR *listed = opendir(folder);
    for (struct dirent *entry; listed && (entry = readdir(listed));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (listed) closedir(listed);
    rmdir(folder);
}
