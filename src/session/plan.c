#define _POSIX_C_SOURCE 200809L
/* Finds the kernel that the options name and plans its run: the PTX (of the catalogue, a file, or
 * compiled), buffers and launches. What the options do not say of a kernel that is in no catalogue is
 * guessed. */
#include "session/state.h"

#include "catalog/guess.h"
#include "compile/compile.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_BLOCK = 256,
    USER_WARPS = 1 << 25 /* of a launch: a thread each for 2^30 elements */
};

/* ---- the PTX -------------------------------------------------------------------------------------------- */

static void keep_files(Session *session, char *const *files, int count) {
    session->code.files = arena_new(&session->arena, (size_t)count * sizeof *session->code.files);
    for (int i = 0; i < count; i++)
        session->code.files[session->code.file_count++] = arena_copy_string(&session->arena, files[i]);
}

static bool compile_file(Session *session, Error *error) {
    const SessionOptions *options = &session->options;
    char headers[PATH_MAX];
    if (!catalog_path("assets/include", "clang.h", headers, sizeof headers, error)) return false;
    *strrchr(headers, '/') = 0;
    CompileOptions wanted = {.path = options->file,
                             .text = options->text,
                             .instance =
                                 options->entry && strchr(options->entry, '<') ? options->entry : NULL,
                             .compiler = options->compiler,
                             .flags = options->compile_flags,
                             .no_cache = options->no_cache,
                             .headers = headers,
                             .cancel = options->cancel};
    Compiled compiled;
    bool good = compile(&wanted, &compiled, error);
    session->code.text = compiled.ptx;
    session->code.compiler = compiled.compiler;
    compiled.ptx = NULL;
    int piped = options->text ? 1 : 0; /* no file, but a source */
    if (piped && compiled.file_count) sources_add(&session->sources, compiled.files[0], options->text);
    keep_files(session, compiled.files + piped, compiled.file_count - piped);
    compiled_done(&compiled);
    snprintf(session->code.path, sizeof session->code.path, "%s (as PTX)", options->file);
    return good;
}

static bool is_cuda_source(const char *file) {
    const char *dot = strrchr(file, '.');
    return dot && !strcmp(dot, ".cu");
}

static bool load_module(Session *session, Error *error) {
    size_t length;
    const char *file = session->options.file;
    if (file) session->sources.path = file;
    session->sources.folder = session->options.sources;
    session->sources.is_piped = session->options.text && !is_cuda_source(file);
    if (file && is_cuda_source(file)) {
        if (!compile_file(session, error)) return false;
        length = strlen(session->code.text);
        session->code.module = ptx_module_parse(session->code.text, length, session->code.path, error);
        return session->code.module != NULL;
    }
    if (session->options.kernel) {
        if (!catalog_ptx_path(session->kernel.row, session->code.path, sizeof session->code.path, error))
            return false;
    } else {
        snprintf(session->code.path, sizeof session->code.path, "%s", file);
        if (!session->options.text) keep_files(session, (char *const[]){session->code.path}, 1);
    }
    if (session->options.text && !session->options.kernel) {
        session->code.text = memory_copy_text(session->options.text);
        length = strlen(session->code.text);
    } else if (!text_read_file(session->code.path, PTX_LIMIT_BYTES, &session->code.text, &length, error))
        return false;
    session->code.module = ptx_module_parse(session->code.text, length, session->code.path, error);
    return session->code.module != NULL;
}

static bool plan_catalogue_kernel(Session *session, Error *error) {
    session->kernel.row = catalog_find(session->options.kernel, error);
    return session->kernel.row &&
           catalog_resolve(session->kernel.row, &session->options.catalog, &session->kernel.run, error) &&
           load_module(session, error) &&
           session->kernel.row->plan(&session->kernel.run, &session->plan, error);
}

/* ---- a kernel that is in no catalogue --------------------------------------------------------------------- */

static const char *fill_text(Session *session) {
    const CatalogOptions *catalog = &session->options.catalog;
    if (!catalog->has_fill) return "random";
    if (catalog->fill != FILL_FILE) return plan_fill_name(catalog->fill);
    return arena_print(&session->arena, "file:%s", catalog->fill_path);
}

/* Threads: as asked, as the PTX wants them, else 256 in as many dimensions as the kernel looks at. */
static bool choose_block(Session *session, const PtxFunction *entry, int dimensions, uint32_t block[3],
                         Error *error) {
    static const uint32_t usual[][3] = {{DEFAULT_BLOCK, 1, 1}, {16, 16, 1}, {8, 8, 4}};
    const SessionOptions *options = &session->options;
    const uint32_t *required = entry->required_threads;
    uint64_t most = launch_volume(entry->maximum_threads);
    for (int i = 0; i < 3; i++) {
        block[i] = options->block[i]   ? options->block[i]
                   : required[0]       ? required[i] + !required[i]
                   : options->block[0] ? 1
                                       : usual[dimensions - 1][i];
        if (required[i] && block[i] != required[i])
            return error_set(error, "--block: %s requires %ux%ux%u threads (.reqntid)", entry->name,
                             required[0], required[1], required[2]);
    }
    while (!options->block[0] && !required[0] && most && launch_volume(block) > most)
        for (int i = 0; i < 3; i++) /* halves the largest: all are powers of two */
            if (block[i] >= block[0] && block[i] >= block[1] && block[i] >= block[2]) {
                block[i] /= 2;
                break;
            }
    return true;
}

/* Blocks: as asked, else one thread an element. */
static bool choose_grid(const SessionOptions *options, int dimensions, uint64_t side, PlanLaunch *launch,
                        Error *error) {
    static const uint32_t limits[3] = {INT_MAX, 65535, 65535};
    for (int i = 0; i < 3; i++) {
        uint64_t blocks = i < dimensions ? (side + launch->block[i] - 1) / launch->block[i] : 1;
        if (options->grid[0]) blocks = options->grid[i] ? options->grid[i] : 1;
        if (blocks > limits[i])
            return error_set(error, "--grid: %" PRIu64 " blocks are too many; give --grid or a smaller --n",
                             blocks);
        launch->grid[i] = (uint32_t)blocks;
    }
    uint64_t warps = (launch_volume(launch->block) + 31) / 32;
    if (options->instruction_budget || launch_volume(launch->grid) <= USER_WARPS / warps) return true;
    return error_set(
        error,
        "--grid: %" PRIu64 " blocks of %" PRIu64 " threads would take very long to emulate; use a "
        "smaller --grid or --n, or --max-instructions N to run up to N warp instructions of them",
        launch_volume(launch->grid), launch_volume(launch->block));
}

static void print_size(const char *option, const uint32_t size[3], Text *out) {
    int count = size[2] != 1 ? 3 : size[1] != 1 ? 2 : 1;
    text_print(out, " --%s %u", option, size[0]);
    for (int i = 1; i < count; i++) text_print(out, ",%u", size[i]);
}

/* As it was asked for. An instance that the compiler has just made may have another name: arguments that are
 * enumerators, aliases or sums are spelled as their values there. It is the only one of its template then. */
static PtxFunction *find_user_entry(Session *session, Error *error) {
    const SessionOptions *options = &session->options;
    PtxFunction *entry = ptx_module_find_entry(session->code.module, options->entry, error);
    if (entry || !options->entry || !strchr(options->entry, '<') || !is_cuda_source(options->file))
        return entry;
    size_t bare = strcspn(options->entry, "<");
    Error ignored = {0};
    entry = ptx_module_find_entry(session->code.module,
                                  arena_copy_text(&session->arena, options->entry, bare), &ignored);
    if (entry && error) *error = (Error){0};
    return entry;
}

/* A kernel that is in no catalogue: what the options do not say is guessed, and said (session_guess). */
static bool plan_user_kernel(Session *session, Error *error) {
    enum { USUAL_SHARED = 48 << 10 };
    SessionOptions *options = &session->options;
    if (!load_module(session, error)) return false;
    PtxFunction *entry = find_user_entry(session, error);
    if (!entry || !ptx_function_parse(session->code.module, entry, error)) return false;
    KernelShape shape = guess_shape(session->code.module, entry);
    PlanLaunch *launch = plan_add_launch(&session->plan, entry->name);
    Text guess = {0}, args = {0};
    bool guesses_shared =
        shape.has_dynamic_shared && !options->has_shared && shape.static_shared < USUAL_SHARED;
    if (!options->catalog.n) options->catalog.n = 1 << 20;
    uint64_t n = options->catalog.n, side = guess_side(n, shape.dimensions);
    launch->cooperative = options->cooperative;
    launch->dynamic_shared_bytes =
        guesses_shared ? USUAL_SHARED - (uint32_t)shape.static_shared : options->shared_bytes;
    if (guesses_shared) guess_shared_beside(options->file, &launch->dynamic_shared_bytes);
    bool good = choose_block(session, entry, shape.dimensions, launch->block, error) &&
                choose_grid(options, shape.dimensions, side, launch, error);
    if (good) {
        PlanVariables variables = {n, launch_volume(launch->block), launch_volume(launch->grid)};
        guess_arguments(entry, n, side, fill_text(session), &args);
        good = plan_parse_arguments(&session->plan, launch, entry,
                                    options->args ? options->args : text_string(&args), &variables, error);
    }
    if (!options->args && entry->parameter_count) text_print(&guess, " --args '%s'", text_string(&args));
    if (!options->block[0] && !entry->required_threads[0]) print_size("block", launch->block, &guess);
    if (!options->grid[0]) print_size("grid", launch->grid, &guess);
    if (guesses_shared) text_print(&guess, " --shared %u", launch->dynamic_shared_bytes);
    if (guess.length)
        session->kernel.guess = arena_copy_text(&session->arena, guess.data + 1, guess.length - 1);
    session->kernel.arguments = arena_copy_text(&session->arena, text_string(&args), args.length);
    if (options->args) session->kernel.arguments = options->args;
    text_done(&guess);
    text_done(&args);
    return good;
}

bool session_plan(Session *session, Error *error) {
    return session->options.kernel ? plan_catalogue_kernel(session, error) : plan_user_kernel(session, error);
}
