#define _XOPEN_SOURCE 700
#include "cli/program_start.h"

#include "base/self.h"
#include "catalog/catalog.h"
#include "compile/cache.h"
#include "runtime/host_call.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_same_file(const char *folder, const char *name, const char *other) {
    char path[2 * PATH_MAX];
    struct stat about, about_other;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (stat(path, &about)) return false;
    snprintf(path, sizeof path, "%s/%s", folder, other);
    return !stat(path, &about_other) && about.st_ino == about_other.st_ino &&
           about.st_dev == about_other.st_dev;
}

/* Makes `link` point to `target`; another process may be doing the same. */
static bool make_link(const char *target, const char *link) {
    char old[2 * PATH_MAX], making[2 * PATH_MAX + 32];
    ssize_t length = readlink(link, old, sizeof old - 1);
    if (length > 0 && (size_t)length == strlen(target) && !memcmp(old, target, (size_t)length)) return true;
    snprintf(making, sizeof making, "%s.%ld", link, (long)getpid());
    if (!symlink(target, making) && !rename(making, link)) return true;
    unlink(making);
    return false;
}

/* A wheel cannot hold symbolic links: an empty file stands for each name of the library. A folder of links is
 * made in the user's cache, since a program may load the library under two names and must get it once. */
static bool link_library(const char *library, char *folder, size_t bytes, Error *error) {
    char name[64], cache[PATH_MAX], target[2 * PATH_MAX], link[2 * PATH_MAX];
    snprintf(name, sizeof name, "cuda-%016" PRIx64, cache_hash(library));
    if (!cache_folder(name, cache, sizeof cache))
        return error_set(error, "no folder for links to redviz's CUDA library: set HOME or XDG_CACHE_HOME");
    DIR *files = opendir(library);
    bool good = files != NULL;
    for (struct dirent *file; good && (file = readdir(files));) {
        if (file->d_name[0] == '.') continue;
        bool is_library = !strncmp(file->d_name, "lib", 3);
        snprintf(target, sizeof target, "%s/%s", library, is_library ? "libredviz_cuda.so" : file->d_name);
        snprintf(link, sizeof link, "%s%s", cache, file->d_name);
        good = make_link(target, link);
        if (!good) error_set(error, "%s: cannot make this link: %s", link, strerror(errno));
    }
    if (files) closedir(files);
    cache[strlen(cache) - 1] = 0;
    snprintf(folder, bytes, "%s", cache);
    return good || (!files && error_set(error, "%s: %s", library, strerror(errno)));
}

/* The folder with the CUDA library: beside the program (a build), else where `make install` puts it. */
static bool find_library(char *folder, size_t bytes, Error *error) {
    static const char *const places[] = {"cuda", "../lib/redviz/cuda"};
    char self[PATH_MAX], real[PATH_MAX];
    char *slash = self_path(self, sizeof self) ? strrchr(self, '/') : NULL;
    if (slash) *slash = 0;
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        snprintf(folder, bytes, "%s/%s", self, places[i]);
        if (is_same_file(folder, "libcudart.so.13", "libredviz_cuda.so")) return true;
        if (is_same_file(folder, "libredviz_cuda.so", "libredviz_cuda.so") && realpath(folder, real))
            return link_library(real, folder, bytes, error);
    }
    return error_set(error, "redviz's CUDA library (cuda/libredviz_cuda.so) is not beside the program; run "
                            "make, or make install");
}

Program *program_start(const Options *options, const char *const *arguments, bool is_quiet, Error *error) {
    char folder[2 * PATH_MAX];
    if (!find_library(folder, sizeof folder, error)) return NULL;
    SessionProgress *progress = options->session.progress;
    if (progress) progress->what = "the program runs";
    bool is_kept = is_quiet || options_draws(options) || options->json;
    ProgramOptions program = {.arguments = arguments,
                              .launches = progress ? &progress->done : NULL,
                              .library = folder,
                              .seconds = options->time_limit,
                              .poisons = options->call != NULL,
                              .keeps_going = options->session.keep_going,
                              .prints_to = is_kept              ? NULL
                                           : options->check_log ? stderr
                                                                : stdout};
    return program_run(&program, error);
}

/* Always false. What the linker says of a program without main. */
static bool explain_no_main(const BuildProgram *build, Error *error) {
    bool lacks_main = error && !build->text &&
                      (strstr(error->message, "undefined reference to `main'") ||
                       strstr(error->message, "undefined symbol: main"));
    const char *file = build->files[0];
    char *source;
    size_t length;
    Text names = {0};
    if (!lacks_main || !text_read_file(file, 64 << 20, &source, &length, NULL)) return false;
    if (call_list_functions(source, &names))
        error_set(error, "%.150s has no main(); --call runs a host function of it: %.200s", file,
                  text_string(&names));
    else
        error_set(error, "%.150s has no main(); without --run, redviz %.150s shows its kernel", file, file);
    text_done(&names);
    free(source);
    return false;
}

bool program_build(const Options *options, BuildProgram *build, char *folder, size_t bytes, Error *error) {
    char library[2 * PATH_MAX], headers[PATH_MAX];
    if (!find_library(library, sizeof library, error) ||
        !catalog_path("assets/include", "program.h", headers, sizeof headers, error))
        return false;
    *strrchr(headers, '/') = 0;
    build->files = (const char *const *)options->run_files;
    build->compiler = options->session.compiler;
    build->flags = options->session.compile_flags;
    build->library = library;
    build->headers = headers;
    return build_program(build, folder, bytes, error) || explain_no_main(build, error);
}
