/* Chooses a compiler, prepares its input, and uses the cache. */
#define _XOPEN_SOURCE 700
#include "compile/compile.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "compile/device_code.h"
#include "compile/header_search.h"
#include "compile/process.h"
#include "compile/cache.h"
#include "compile/unit.h"
#include "compile/wheels.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LIMIT_BYTES = 16 << 20, MOST_FILES = 256 };

static const Compiler *const compilers[] = {&compiler_nvcc, &compiler_nvrtc, &compiler_clang};
enum { COMPILERS = sizeof compilers / sizeof *compilers };

/* ---- the unit ------------------------------------------------------------------------------------------ */

bool unit_has_architecture(const Unit *unit) {
    for (int i = 0; i < unit->flag_count; i++)
        if (strncmp(unit->flags[i], "-arch", 5) == 0 || strncmp(unit->flags[i], "--gpu-arch", 10) == 0 ||
            strncmp(unit->flags[i], "-gencode", 8) == 0 ||
            strncmp(unit->flags[i], "--cuda-gpu-arch", 15) == 0)
            return true;
    return false;
}

int unit_architecture(const Unit *unit, int usual) {
    return unit->options->architecture ? unit->options->architecture : usual;
}

bool unit_needs_clusters(const Unit *unit) {
    for (int i = 0; i < unit->file_count; i++)
        if (strstr(unit->files[i].text, "__cluster_dims__") || strstr(unit->files[i].text, "this_cluster("))
            return true;
    return false;
}

const char *unit_find_toolkit_header(const Unit *unit) {
    static const char *const names[] = {"cooperative_groups",
                                        "cuda_fp",
                                        "cuda_bf16",
                                        "cuda/",
                                        "nv/",
                                        "cub/",
                                        "thrust/",
                                        "cutlass/",
                                        "cute/",
                                        "curand",
                                        "mma.h",
                                        "cuda_pipeline",
                                        "cuda_awbarrier",
                                        "cuComplex"};
    for (int i = 0; i < unit->system_count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (strncmp(unit->system[i], names[k], strlen(names[k])) == 0) return unit->system[i];
    return NULL;
}

/* Names come from #include lines: files outside the folder are not made. */
static bool is_inside(const char *name) {
    return *name != '/' && !strstr(name, "..");
}

static bool make_folders(char *path, size_t root) {
    for (char *slash = path + root + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return true;
}

bool unit_write(const Unit *unit, const char *name, const char *text, char *path, size_t path_bytes,
                Error *error) {
    int length = snprintf(path, path_bytes, "%s/%s", unit->folder, name);
    if (!is_inside(name)) return true;
    if (length < 0 || (size_t)length >= path_bytes) return error_set(error, "%s: the name is too long", name);
    FILE *file = make_folders(path, strlen(unit->folder)) ? fopen(path, "w") : NULL;
    bool good = file && fputs(text, file) >= 0;
    if (file && fclose(file)) good = false;
    return good || error_set(error, "%s: %s", path, strerror(errno));
}

bool unit_take_output(const char *path, Text *ptx, Error *error) {
    char *text;
    size_t length;
    if (!text_read_file(path, COMPILE_PTX_LIMIT, &text, &length, error)) return false;
    text_add_bytes(ptx, text, length);
    free(text);
    return true;
}

typedef struct Search { /* for the files that a file includes */
    Unit *unit;
    int from; /* the including file */
} Search;

static void add_file(Unit *unit, const char *name, const char *path) {
    char whole[PATH_MAX], *text;
    size_t length;
    if (unit->file_count == MOST_FILES || !realpath(path, whole)) return;
    for (int i = 0; i < unit->file_count; i++)
        if (!strcmp(unit->files[i].path, whole)) return;
    const char *changed = unit->options->changed_path;
    if (changed && !strcmp(changed, whole))
        text = memory_copy_text(unit->options->changed_text);
    else if (!text_read_file(whole, FILE_LIMIT_BYTES, &text, &length, NULL))
        return;
    UnitFile file = {memory_copy_text(name), memory_copy_text(whole), text};
    array_push(unit->files, unit->file_count, unit->file_capacity, file);
}

bool unit_find_header(const Unit *unit, const char *name, char whole[PATH_MAX]) {
    return header_find(unit->files[0].path, name, whole) ||
           header_find_in_project(unit->files[0].path, name, whole);
}

/* Searches where compilers do: first beside the including file, then above the source. */
static void visit_quoted(void *context, const char *name, size_t length) {
    const Search *search = context;
    const char *from = search->unit->files[search->from].path;
    char path[PATH_MAX * 2], *copy = memory_copy_text(name);
    copy[length] = 0;
    snprintf(path, sizeof path, "%.*s%s", *copy == '/' ? 0 : (int)(strrchr(from, '/') + 1 - from), from,
             copy);
    char above[PATH_MAX];
    if (access(path, R_OK) != 0 && unit_find_header(search->unit, copy, above))
        snprintf(path, sizeof path, "%s", above);
    const char *include = search->unit->options->include;
    if (include && access(path, R_OK) != 0) snprintf(path, sizeof path, "%s/%s", include, copy);
    add_file(search->unit, copy, path);
    free(copy);
}

static void visit_system(void *context, const char *name, size_t length) {
    Unit *unit = ((const Search *)context)->unit;
    char *copy = memory_copy_text(name);
    copy[length] = 0;
    for (int i = 0; i < unit->system_count; i++)
        if (!strcmp(unit->system[i], copy)) {
            free(copy);
            return;
        }
    array_push(unit->system, unit->system_count, unit->system_capacity, copy);
}

static void split_flags(Unit *unit) {
    const char *at = unit->options->flags ? unit->options->flags : "";
    for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
        char *flag = memory_copy_text(at);
        at += strcspn(at, " ");
        flag[strcspn(flag, " ")] = 0;
        array_push(unit->flags, unit->flag_count, unit->flag_capacity, flag);
    }
}

/* Compilers get the name in #include or #line, and repeat it in messages and line tables. */
static bool is_nameable(const char *path) {
    return !strpbrk(path, "\"\\\n");
}

static bool find_path(const CompileOptions *options, char whole[PATH_MAX]) {
    char folder[PATH_MAX];
    if (realpath(options->path, whole)) return true;
    if (!options->text) return false;
    return realpath(".", folder) && snprintf(whole, PATH_MAX, "%s/%s", folder, options->path) < PATH_MAX;
}

static bool unit_read(Unit *unit, const CompileOptions *options, Error *error) {
    char whole[PATH_MAX], *text;
    size_t length;
    unit->options = options;
    if (options->text) {
        text = memory_copy_text(options->text);
        length = strlen(text);
    } else if (!text_read_file(options->path, FILE_LIMIT_BYTES, &text, &length, error)) {
        return false;
    }
    bool good = find_path(options, whole) && is_nameable(whole);
    UnitFile file = {memory_copy_text(options->path), memory_copy_text(whole), text};
    array_push(unit->files, unit->file_count, unit->file_capacity, file);
    if (!good)
        return error_set(error, "%s: a path with \" or \\ cannot be compiled: no #include can name it",
                         options->path);
    if (strlen(text) != length) return error_set_at(error, options->path, 0, 0, "this is not text");
    for (int i = 0; i < unit->file_count; i++) {
        Search search = {unit, i};
        device_code_includes(unit->files[i].text, true, visit_quoted, &search);
        device_code_includes(unit->files[i].text, false, visit_system, &search);
    }
    split_flags(unit);
    return true;
}

static void free_texts(char **items, int count) {
    for (int i = 0; i < count; i++) free(items[i]);
    free(items);
}

static void unit_done(Unit *unit) {
    for (int i = 0; i < unit->file_count; i++) {
        free(unit->files[i].name);
        free(unit->files[i].path);
        free(unit->files[i].text);
    }
    free(unit->files);
    free_texts(unit->system, unit->system_count);
    free_texts(unit->flags, unit->flag_count);
}

/* ---- the folder for temporary files -------------------------------------------------------------------- */

static bool make_folder(Unit *unit, Error *error) {
    snprintf(unit->folder, sizeof unit->folder, "%s/redviz-XXXXXX", process_temporary_folder());
    return mkdtemp(unit->folder) || error_set(error, "%s: %s", unit->folder, strerror(errno));
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *walk) {
    (void)about, (void)kind, (void)walk;
    return remove(path);
}

/* ---- compiling ----------------------------------------------------------------------------------------- */

static const Compiler *choose(const char *name, char *identity, size_t bytes, Error *error) {
    bool is_known = !name;
    for (int i = 0; i < COMPILERS; i++) {
        is_known |= name && !strcmp(name, compilers[i]->name);
        if ((!name || !strcmp(name, compilers[i]->name)) && compilers[i]->find(identity, bytes))
            return compilers[i];
    }
    if (!is_known)
        error_set(error, "--compiler: '%.60s' is not nvcc, nvrtc or clang", name);
    else if (name)
        error_set(error, "--compiler: %s was not found", name);
    else
        error_set(error, "there is no CUDA compiler: %s",
                  wheels_have_program() ? "pip install 'redviz[cuda]', or apt-get install clang"
                                        : "apt-get install clang, or pip install nvidia-cuda-nvrtc");
    return NULL;
}

/* Everything that determines the PTX. */
static void make_key(const Unit *unit, const char *identity, const char *headers, Text *key) {
    const CompileOptions *options = unit->options;
    text_print(key, "%s\n%s\n%s\n%s\n%d\n", identity, headers, options->flags ? options->flags : "",
               options->instance ? options->instance : "", options->architecture);
    const char *appended = getenv("NVCC_APPEND_FLAGS"), *prepended = getenv("NVCC_PREPEND_FLAGS");
    text_print(key, "%s\n%s\n", appended ? appended : "", prepended ? prepended : "");
    for (int i = 0; i < unit->file_count; i++)
        text_print(key, "%s %zu\n%s\n", unit->files[i].path, strlen(unit->files[i].text),
                   unit->files[i].text);
}

static void list_files(const Unit *unit, Compiled *out) {
    if (unit->file_count) out->text = memory_copy_text(unit->files[0].text);
    for (int i = 0; i < unit->file_count; i++)
        array_push(out->files, out->file_count, out->file_capacity, memory_copy_text(unit->files[i].path));
}

/* A file with only kernel templates compiles to PTX without kernels. */
static bool check_kernels(const Unit *unit, const Text *ptx, bool *has_templates_alone, Error *error) {
    Text templates = {0};
    if (strstr(text_string(ptx), ".entry")) return true;
    for (int i = 0; i < unit->file_count; i++) device_code_templates(unit->files[i].text, &templates);
    *has_templates_alone = templates.length > 0;
    if (templates.length)
        error_set_at(error, unit->options->path, 0, 0,
                     "all kernels of this file are templates: name an instance with --entry "
                     "'NAME<ARGUMENTS>'; there are %.300s",
                     text_string(&templates));
    else
        error_set_at(error, unit->options->path, 0, 0, "no kernel in this file");
    text_done(&templates);
    return false;
}

/* A signal leaves neither files nor processes behind. NVRTC makes none, and cannot be stopped. */
static bool compile_in_folder(Unit *unit, const Compiler *compiler, Text *ptx, Error *error) {
    if (!compiler->needs_folder) return compiler->run(unit, ptx, error);
    interrupt_hold();
    bool is_made = make_folder(unit, error), good = is_made && compiler->run(unit, ptx, error);
    if (is_made) nftw(unit->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    interrupt_release();
    return good;
}

static bool compile_unit(Unit *unit, const Compiler *compiler, Text *ptx, bool *has_templates_alone,
                         Error *error) {
    for (int i = 0; compiler != &compiler_nvcc && i < unit->file_count; i++)
        device_code_keep(unit->files[i].text);
    return compile_in_folder(unit, compiler, ptx, error) &&
           check_kernels(unit, ptx, has_templates_alone, error);
}

bool compile(const CompileOptions *options, Compiled *out, Error *error) {
    char identity[PATH_MAX + 64], headers[PATH_MAX + 64] = "", path[PATH_MAX + 16];
    Unit unit = {0};
    Text key = {0}, ptx = {0};
    *out = (Compiled){0};
    if (options->cancel && *options->cancel) return error_set(error, "given up");
    bool good = unit_read(&unit, options, error);
    list_files(&unit, out);
    const Compiler *compiler = good ? choose(options->compiler, identity, sizeof identity, error) : NULL;
    if (compiler) {
        snprintf(path, sizeof path, "%s/clang.h", options->headers);
        process_identify(path, headers, sizeof headers);
        make_key(&unit, identity, headers, &key);
        out->compiler = compiler->name;
        out->is_cached = !options->no_cache && cache_find(text_string(&key), &ptx);
    }
    good =
        compiler && (out->is_cached || compile_unit(&unit, compiler, &ptx, &out->has_templates_alone, error));
    if (good && !out->is_cached && !options->no_cache) cache_keep(text_string(&key), text_string(&ptx));
    if (good) {
        out->length = ptx.length;
        out->ptx = ptx.data;
    } else {
        text_done(&ptx);
    }
    text_done(&key);
    unit_done(&unit);
    return good;
}

void compiled_done(Compiled *compiled) {
    free(compiled->ptx);
    free(compiled->text);
    free_texts(compiled->files, compiled->file_count);
    *compiled = (Compiled){0};
}
