/* Code: the PTX of the kernel that the options name: of the catalogue, of a file, or compiled. */
#define _XOPEN_SOURCE 700

#include "session/state.h"

#include "compile/compile.h"
#include "runtime/executable.h"
#include "runtime/user_program.h"
#include <stdlib.h>
#include <string.h>

GuessRequest session_guess_request(const Session *session) {
    const RunSpec *options = &session->options;
    const CatalogOptions *inputs = &options->catalog;
    GuessRequest request = {.file = options->file,
                            .module = session->code.module,
                            .entry = options->entry,
                            .args = options->args,
                            .launches = options->launches,
                            .expect = options->expect,
                            .n = inputs->n,
                            .seed = inputs->seed,
                            .fill = inputs->fill,
                            .has_fill = inputs->has_fill,
                            .fill_path = inputs->fill_path,
                            .shared_bytes = options->shared_bytes,
                            .has_shared = options->has_shared,
                            .cooperative = options->cooperative,
                            .has_budget = options->instruction_budget != 0};
    memcpy(request.grid, options->grid, sizeof request.grid);
    memcpy(request.block, options->block, sizeof request.block);
    memcpy(request.cluster, options->cluster, sizeof request.cluster);
    return request;
}

/* ---- the PTX ------------------------------------------------------------------------------------------- */

/* All but headers below `shipped`, which are not the user's. */
static void keep_files(Session *session, char *const *files, int count, const char *shipped) {
    size_t length = strlen(shipped);
    session->code.files = arena_new(&session->arena, (size_t)count * sizeof *session->code.files);
    for (int i = 0; i < count; i++)
        if (!i || !length || strncmp(files[i], shipped, length) != 0)
            session->code.files[session->code.file_count++] = arena_copy_string(&session->arena, files[i]);
}

/* Compiles the instance that the host code launches first, which the device code alone does not contain. */
static void compile_launched(Session *session, CompileOptions *options, Compiled *compiled) {
    GuessRequest request = session_guess_request(session);
    const char *instance = guess_instance(&request, &session->arena);
    size_t length = instance ? strcspn(instance, "<") : 0;
    for (const char *at = compiled->ptx; length && (at = strstr(at, ".entry ")); at++) {
        size_t name = strcspn(at + 7, "(\n");
        for (size_t i = 0; i + length <= name; i++)
            if (!memcmp(at + 7 + i, instance, length)) return;
    }
    CompileOptions with_instance = *options;
    Compiled other;
    with_instance.instance = instance;
    if (!length) return;
    bool good = compile(&with_instance, &other, NULL);
    Compiled replaced = good ? *compiled : other;
    if (good) *compiled = other, *options = with_instance;
    compiled_done(&replaced);
}

/* The requested instance of a template: that of --entry, or of the first launch in --launch. */
static const char *instance_of(Session *session) {
    const char *entry = session->options.entry, *launches = session->options.launches;
    if (launches) {
        const char *end = strstr(launches, "<<<");
        entry = end ? arena_copy_text(&session->arena, launches, (size_t)(end - launches)) : NULL;
    }
    return entry && strchr(entry, '<') ? entry : NULL;
}

static bool has_entry(const Compiled *compiled, const char *name) {
    PtxModule *module = ptx_module_parse(compiled->ptx, compiled->length, "", NULL);
    bool has = module && ptx_module_find_entry(module, name, NULL);
    ptx_module_free(module);
    return has;
}

/* The file may itself make an instance whose name no compiler accepts as it is spelled. */
static bool compile_own_instances(CompileOptions *options, Compiled *compiled) {
    CompileOptions own = *options;
    Compiled other;
    own.instance = NULL;
    bool good = compile(&own, &other, NULL) && has_entry(&other, options->instance);
    Compiled replaced = good ? *compiled : other;
    if (good) *compiled = other, *options = own;
    compiled_done(&replaced);
    return good;
}

/* An error without a place in the file may be the compiler's own problem (no host compiler, a broken
 * toolkit). The next compiler is tried, and the report says so. */
static bool compile_otherwise(Session *session, CompileOptions *wanted, Compiled *compiled,
                              const Error *first) {
    static const char *const others[] = {"nvrtc", "clang"};
    const char *refusing = compiled->compiler;
    bool has_place = first->line > 0; /* the other compilers would refuse it, too */
    if (wanted->compiler || !refusing || has_place) return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        Compiled other;
        if (!strcmp(others[i], refusing)) continue;
        wanted->compiler = others[i];
        bool good = compile(wanted, &other, NULL);
        Compiled replaced = good ? *compiled : other;
        if (good) *compiled = other;
        compiled_done(&replaced);
        if (good)
            session->code.refusal =
                arena_print(&session->arena, "%s, since %s failed: %s", others[i], refusing, first->message);
        if (good) return true;
    }
    return false;
}

/* The folder of the catalogue's sources, links followed. */
static bool find_kernels(char folder[PATH_MAX], Error *error) {
    char path[PATH_MAX];
    if (!catalog_path("kernels", "operations.cuh", path, sizeof path, error)) return false;
    if (!realpath(path, folder)) return error_set(error, "%s: cannot be found", path);
    *strrchr(folder, '/') = 0;
    return true;
}

/* What the kernel's own PTX was compiled for: the same source then gives the same code. */
static int shipped_architecture(const CatalogRow *row) {
    char path[PATH_MAX], *text;
    size_t length;
    if (!catalog_ptx_path(row, path, sizeof path, NULL) ||
        !text_read_file(path, PTX_LIMIT_BYTES, &text, &length, NULL))
        return 0;
    const char *target = strstr(text, ".target sm_");
    int architecture = target ? atoi(target + strlen(".target sm_")) : 0;
    free(text);
    return architecture;
}

/* What `cuobjdump -ptx` prints has a head before the PTX, and may have other PTX behind it: both become
 * blanks, so that lines keep their numbers. */
static void drop_heads(char *text) {
    static const char mark[] = "Fatbin ";
    char *begin = text + strspn(text, " \t\r\n"), *version = strstr(begin, ".version");
    if (strncmp(begin, mark, strlen(mark)) != 0 || !version) return;
    char *end = strstr(version, mark);
    for (char *at = begin; at < version; at++)
        if (*at != '\n') *at = ' ';
    for (char *at = end; at && *at; at++)
        if (*at != '\n') *at = ' ';
}

/* NULL: nothing, or the run itself. */
static void show_progress(const Session *session, const char *what) {
    if (session->options.progress) session->options.progress->what = what;
}

static bool compile_file(Session *session, Error *error) {
    const RunSpec *options = &session->options;
    char headers[PATH_MAX];
    if (!catalog_path("assets/include", "clang.h", headers, sizeof headers, error)) return false;
    *strrchr(headers, '/') = 0;
    CompileOptions wanted = {.path = options->source ? options->source : options->file,
                             .text = options->text,
                             .instance = instance_of(session),
                             .compiler = options->compiler,
                             .flags = options->compile_flags,
                             .no_cache = options->no_cache,
                             .headers = headers,
                             .cancel = options->cancel};
    char kernels[PATH_MAX] = "";
    if (options->source) {
        if (!find_kernels(kernels, error)) return false;
        wanted.include = kernels;
        wanted.architecture = shipped_architecture(session->kernel.row);
    }
    Compiled compiled;
    Error first = {0};
    show_progress(session, "compiling");
    bool good = compile(&wanted, &compiled, &first);
    if (good && options->file && !options->entry && !options->launches)
        compile_launched(session, &wanted, &compiled);
    if (!good && options->file && !options->entry && compiled.has_templates_alone) {
        GuessRequest request = session_guess_request(session);
        wanted.instance = guess_instance(&request, &session->arena);
        if (wanted.instance)
            compiled_done(&compiled);
        else
            guess_refuse(&request, &first);
        good = wanted.instance && compile(&wanted, &compiled, NULL);
    }
    if (!good && wanted.instance) good = compile_own_instances(&wanted, &compiled);
    if (!good) good = compile_otherwise(session, &wanted, &compiled, &first);
    show_progress(session, NULL);
    if (!good && options->source && compiled.has_templates_alone)
        error_set_at(&first, options->source, 0, 0,
                     "it makes no instance of a kernel: keep those at the end of kernels/%s",
                     session->kernel.row->source);
    if (!good && error) *error = first;
    session->code.text = compiled.ptx;
    session->code.compiler = compiled.compiler;
    compiled.ptx = NULL;
    int piped = options->text ? 1 : 0; /* no file, but a source */
    if (piped && compiled.file_count) sources_add(&session->sources, compiled.files[0], options->text);
    if (!piped && good) sources_add(&session->sources, compiled.files[0], compiled.text);
    session->code.source = arena_copy_string(&session->arena, compiled.text);
    wanted.path = arena_copy_string(&session->arena, wanted.path);
    wanted.headers = arena_copy_string(&session->arena, headers);
    if (wanted.include) wanted.include = arena_copy_string(&session->arena, kernels);
    wanted.compiler = compiled.compiler;
    session->code.compiled_with = wanted;
    if (compiled.file_count)
        keep_files(session, compiled.files + piped, compiled.file_count - piped, kernels);
    compiled_done(&compiled);
    snprintf(session->code.path, sizeof session->code.path, "%s (as PTX)", wanted.path);
    return good;
}

/* The device code alone has no instance of a template that only the host code names. */
static bool has_entries(const Session *session, const char *ptx) {
    for (int i = 0; i < session->run->launches.count; i++)
        if (!strstr(ptx, session->run->launches.programs[i]->entry->name)) return false;
    return true;
}

char *session_compile_changed(const Session *session, const char *file, const char *text) {
    CompileOptions options = session->code.compiled_with;
    Compiled compiled;
    bool is_header = strcmp(file, session->code.files[0]) != 0;
    options.text = is_header ? session->code.source : text;
    if (is_header) options.changed_path = file, options.changed_text = text;
    options.no_cache = true; /* it is compiled once */
    char *ptx = compile(&options, &compiled, NULL) ? compiled.ptx : NULL;
    compiled.ptx = NULL;
    compiled_done(&compiled);
    if (ptx && session->options.program && !has_entries(session, ptx)) {
        free(ptx);
        return NULL;
    }
    return ptx;
}

void session_find_source(Session *session) {
    const Program *program = session->options.program;
    SessionCode *code = &session->code;
    char headers[PATH_MAX], path[PATH_MAX], *text;
    size_t length;
    if (!program || !program->source || code->source || !realpath(program->source, path) ||
        !catalog_path("assets/include", "clang.h", headers, sizeof headers, NULL) ||
        !text_read_file(path, PTX_LIMIT_BYTES, &text, &length, NULL))
        return;
    *strrchr(headers, '/') = 0;
    code->source = arena_copy_text(&session->arena, text, length);
    code->compiled_with = (CompileOptions){.path = arena_copy_string(&session->arena, path),
                                           .compiler = session->options.compiler,
                                           .flags = session->options.compile_flags,
                                           .headers = arena_copy_string(&session->arena, headers),
                                           .cancel = session->options.cancel};
    code->file_count = 0;
    keep_files(session, (char *const[]){path}, 1, "");
    free(text);
}

/* A program or a library: the PTX within it takes its place. */
static bool take_executable(Session *session, size_t *length, Error *error) {
    Text ptx = {0};
    const char *entry = session->options.entry;
    char bare[256] = "";
    if (entry) snprintf(bare, sizeof bare, "%.*s", (int)strcspn(entry, "<("), entry);
    bool good = executable_find_ptx(session->code.text, *length, entry ? bare : NULL, &ptx, error);
    if (good) {
        free(session->code.text);
        session->code.text = memory_copy_text(text_string(&ptx));
        *length = ptx.length;
    } else if (error) {
        snprintf(error->file, sizeof error->file, "%.255s", session->code.path);
    }
    text_done(&ptx);
    return good;
}

static bool load_module(Session *session, Error *error) {
    size_t length;
    const char *file = session->options.file;
    if (session->options.kernel) session->kernel.row = catalog_find(session->options.kernel, error);
    if (session->options.kernel && !session->kernel.row) return false;
    if (session->options.source && !session->kernel.row)
        return error_set(error, "--source is for kernels of the catalogue: a file is edited itself");
    if (session->options.source && !text_ends_with(session->kernel.row->source, ".cu"))
        return error_set(error,
                         "--source: %s is written in Triton (kernels/%s): its PTX comes from Triton's "
                         "compiler, not from a .cu file",
                         session->kernel.row->id, session->kernel.row->source);
    session->code.is_edited |= session->options.source != NULL;
    if (file || session->options.source) session->sources.path = file ? file : session->options.source;
    session->sources.folder = session->options.sources;
    session->sources.is_piped = session->options.text && !(file && text_is_cuda_source(file));
    if (session->options.ptx) {
        session->code.text = memory_copy_text(session->options.ptx);
        if (session->options.kernel)
            (void)catalog_ptx_path(session->kernel.row, session->code.path, sizeof session->code.path, NULL);
        else
            snprintf(session->code.path, sizeof session->code.path,
                     file && text_is_cuda_source(file) ? "%s (as PTX)" : "%s",
                     file ? file : "the plan's PTX");
        if (file && !session->options.text) keep_files(session, (char *const[]){(char *)file}, 1, "");
        length = strlen(session->code.text);
        session->code.module = ptx_module_parse(session->code.text, length, session->code.path, error);
        return session->code.module != NULL;
    }
    if (session->options.source || (file && text_is_cuda_source(file))) {
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
        if (!session->options.text) keep_files(session, (char *const[]){session->code.path}, 1, "");
    }
    if (session->options.text && !session->options.kernel) {
        session->code.text = memory_copy_text(session->options.text);
        length = strlen(session->code.text);
    } else if (!text_read_file(session->code.path, PTX_LIMIT_BYTES, &session->code.text, &length, error))
        return false;
    if (executable_is(session->code.text, length) && !take_executable(session, &length, error)) return false;
    drop_heads(session->code.text);
    session->code.module = ptx_module_parse(session->code.text, length, session->code.path, error);
    return session->code.module != NULL;
}

/* True if the flags have the word. */
static bool has_flag(const char *flags, const char *word) {
    size_t length = strlen(word);
    for (const char *at = flags; at && (at = strstr(at, word)); at += length) {
        bool begins = at == flags || at[-1] == ' ' || at[-1] == '-' || at[-1] == ',';
        if (begins && (!at[length] || at[length] == ' ' || at[length] == ',')) return true;
    }
    return false;
}

/* Flags of nvcc and ptxas, also for a file that is PTX already; the last is clang's. */
bool session_keeps_products(const Session *session) {
    static const char *const words[] = {"-fmad=false", "-fmad false", "-G", "-device-debug",
                                        "-ffp-contract=off"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_flag(session->options.compile_flags, words[i])) return true;
    return false;
}

bool session_load_module(Session *session, Error *error) {
    if (!load_module(session, error)) return false;
    session->code.module->keeps_products = session_keeps_products(session);
    session->code.module->has_library_headers = session->kernel.row != NULL;
    session->code.module->is_target_checked =
        !session->options.kernel && session->options.file && !text_is_cuda_source(session->options.file);
    return true;
}

bool session_parse_others(Session *session, const Plan *plan, Error *error) {
    SessionCode *code = &session->code;
    code->others = arena_new(&session->arena, (size_t)plan->module_count * sizeof *code->others);
    for (int i = 1; i < plan->module_count; i++) {
        const PlanModule *other = &plan->modules[i];
        PtxModule *module = ptx_module_parse(other->ptx, strlen(other->ptx), other->name, error);
        if (!module) return false;
        module->keeps_products = code->module->keeps_products;
        code->others[code->other_count++] = module;
    }
    return true;
}

bool session_list_entries(const RunSpec *options, bool json, Text *out, Error *error) {
    Session *session = session_new(options);
    bool good = session_load_module(session, error);
    GuessRequest request = session_guess_request(session);
    if (options->text) request.file = NULL; /* there is no file whose host code could be read */
    if (good) guess_list_entries(&request, json, out);
    session_free(session);
    return good;
}
