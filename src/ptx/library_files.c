#include "ptx/library_files.h"

#include <stddef.h>
#include <string.h>

/* Folders, or beginnings of their names, that come after a slash or begin the path. */
static const char *const folders[] = {"usr/include/",
                                      "usr/lib/",
                                      "usr/local/cuda",
                                      "opt/cuda",
                                      "targets/x86_64-linux/include/",
                                      "targets/sbsa-linux/include/",
                                      "cccl/",
                                      "cub/",
                                      "thrust/",
                                      "libcudacxx/",
                                      "cuda/std/",
                                      "cuda/__",
                                      "cooperative_groups",
                                      "cutlass/",
                                      "cute/",
                                      "include/c++/",
                                      "include/cuda",
                                      "include/crt/",
                                      "include/nv/",
                                      "site-packages/",
                                      "dist-packages/"};

static bool begins_with_folder(const char *path) {
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!strncmp(path, folders[i], strlen(folders[i]))) return true;
    return false;
}

const char *ptx_library_file_end(const char *path) {
    for (const char *at = path + strlen(path); at > path; at--)
        if (at[-1] == '/' && begins_with_folder(at)) return at;
    return begins_with_folder(path) ? path : NULL;
}

bool ptx_is_library_file(const char *path) {
    return ptx_library_file_end(path) != NULL;
}
