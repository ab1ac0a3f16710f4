#define _POSIX_C_SOURCE 200809L
#include "sass/cuda_tools.h"

#include "base/language.h"
#include "compile/process.h"
#include "compile/wheels.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static const struct {
    const char *name, *variable, *package;
} tools[] = {
    [TOOL_PTXAS] = {"ptxas", "REDVIZ_PTXAS", "nvidia-cuda-nvcc"},
    [TOOL_NVDISASM] = {"nvdisasm", "REDVIZ_NVDISASM", "nvidia-cuda-nvdisasm"},
};

static bool find_in_toolkits(const char *name, char *path, size_t bytes) {
    char pattern[64];
    glob_t found;
    bool good = false;
    snprintf(pattern, sizeof pattern, "/usr/local/cuda*/bin/%s", name);
    if (!glob(pattern, 0, NULL, &found))
        for (size_t i = 0; !good && i < found.gl_pathc; i++) {
            snprintf(path, bytes, "%s", found.gl_pathv[i]);
            good = access(path, X_OK) == 0;
        }
    globfree(&found);
    return good;
}

static bool find_in_wheels(const char *name, char *path, size_t bytes) {
    char pattern[64];
    snprintf(pattern, sizeof pattern, "*/bin/%s", name); /* cu13/bin, cuda_nvcc/bin */
    return wheels_find(pattern, path, bytes) && access(path, X_OK) == 0;
}

bool cuda_tool_find(CudaTool tool, char *path, size_t bytes, Error *error) {
    const char *name = tools[tool].name, *chosen = getenv(tools[tool].variable);
    const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH")};
    if (chosen && *chosen) {
        snprintf(path, bytes, "%s", chosen);
        return access(path, X_OK) == 0 ||
               error_set(error, "%s=%s is not an executable program", tools[tool].variable, chosen);
    }
    return process_find(name, homes, 2, path, bytes) || find_in_toolkits(name, path, bytes) ||
           find_in_wheels(name, path, bytes) ||
           error_set(error,
                     tr("%s was not found: pip install %s, install the CUDA toolkit, or set %s to its path"),
                     name, tools[tool].package, tools[tool].variable);
}
