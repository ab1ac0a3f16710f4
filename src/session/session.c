#define _POSIX_C_SOURCE 200809L
#include "session/state.h"

#include "catalog/guess.h"
#include "catalog/occupancy.h"
#include "compile/compile.h"
#include "session/file.h"
#include "session/gpu.h"
#include "session/hazards.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_BLOCK = 256,
    USER_BLOCK_BUDGET = 1 << 22, /* warp instructions */
    USER_WARPS = 1 << 25         /* of a launch: a thread each for 2^30 elements */
};

/* ---- opening ---------------------------------------------------------------------------------------- */

static void keep_files(Session *session, char *const *files, int count) {
    session->files = arena_new(&session->arena, (size_t)count * sizeof *session->files);
    for (int i = 0; i < count; i++)
        session->files[session->file_count++] = arena_copy_text(&session->arena, files[i], strlen(files[i]));
}

static bool compile_file(Session *session, Error *error) {
    const SessionOptions *options = &session->options;
    char headers[PATH_MAX];
    if (!catalog_path("assets/include", "clang.h", headers, sizeof headers, error)) return false;
    *strrchr(headers, '/') = 0;
    CompileOptions wanted = {.path = options->file,
                             .instance =
                                 options->entry && strchr(options->entry, '<') ? options->entry : NULL,
                             .compiler = options->compiler,
                             .flags = options->compile_flags,
                             .headers = headers,
                             .cancel = options->cancel};
    Compiled compiled;
    bool good = compile(&wanted, &compiled, error);
    session->ptx_text = compiled.ptx;
    session->compiler = compiled.compiler;
    compiled.ptx = NULL;
    keep_files(session, compiled.files, compiled.file_count);
    compiled_done(&compiled);
    snprintf(session->ptx_path, sizeof session->ptx_path, "%s (as PTX)", options->file);
    return good;
}

static bool is_cuda_source(const char *file) {
    const char *dot = strrchr(file, '.');
    return dot && !strcmp(dot, ".cu");
}

static bool load_module(Session *session, Error *error) {
    size_t length;
    const char *file = session->options.file;
    if (file) session->sources.ptx_path = session->options.file;
    if (file && is_cuda_source(file)) {
        if (!compile_file(session, error)) return false;
        length = strlen(session->ptx_text);
        session->module = ptx_module_parse(session->ptx_text, length, session->ptx_path, error);
        return session->module != NULL;
    }
    if (session->options.kernel) {
        char name[128];
        snprintf(name, sizeof name, "%.*s.ptx", (int)strcspn(session->row->source, "."),
                 session->row->source);
        if (!catalog_path("assets/ptx", name, session->ptx_path, sizeof session->ptx_path, error))
            return false;
    } else {
        snprintf(session->ptx_path, sizeof session->ptx_path, "%s", file);
        keep_files(session, (char *const[]){session->ptx_path}, 1);
    }
    if (!text_read_file(session->ptx_path, PTX_LIMIT_BYTES, &session->ptx_text, &length, error)) return false;
    session->module = ptx_module_parse(session->ptx_text, length, session->ptx_path, error);
    return session->module != NULL;
}

static bool plan_catalogue_kernel(Session *session, Error *error) {
    session->row = catalog_find(session->options.kernel, error);
    return session->row && catalog_resolve(session->row, &session->options.catalog, &session->run, error) &&
           load_module(session, error) && session->row->plan(&session->run, &session->plan, error);
}

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
    PtxFunction *entry = ptx_module_find_entry(session->module, options->entry, error);
    if (entry || !options->entry || !strchr(options->entry, '<') || !is_cuda_source(options->file))
        return entry;
    size_t bare = strcspn(options->entry, "<");
    Error ignored = {0};
    entry = ptx_module_find_entry(session->module, arena_copy_text(&session->arena, options->entry, bare),
                                  &ignored);
    if (entry && error) *error = (Error){0};
    return entry;
}

/* A kernel that is in no catalogue: what the options do not say is guessed, and said (session_guess). */
static bool plan_user_kernel(Session *session, Error *error) {
    enum { USUAL_SHARED = 48 << 10 };
    SessionOptions *options = &session->options;
    if (!load_module(session, error)) return false;
    PtxFunction *entry = find_user_entry(session, error);
    if (!entry || !ptx_function_parse(session->module, entry, error)) return false;
    KernelShape shape = guess_shape(session->module, entry);
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
    if (guess.length) session->guess = arena_copy_text(&session->arena, guess.data + 1, guess.length - 1);
    session->arguments = arena_copy_text(&session->arena, text_string(&args), args.length);
    if (options->args) session->arguments = options->args;
    text_done(&guess);
    text_done(&args);
    return good;
}

bool session_link(Session *session, int index, const char *name, Error *error) {
    PtxFunction *entry = ptx_module_find_entry(session->module, name, error);
    if (!entry) return false;
    for (int i = 0; i < index; i++)
        if (session->programs[i]->entry == entry) session->programs[index] = session->programs[i];
    if (!session->programs[index]) session->programs[index] = ptx_program_link(session->module, entry, error);
    return session->programs[index] != NULL;
}

static bool is_fatal(const Trap *trap) {
    return trap->kind != TRAP_UNINITIALIZED;
}

bool session_has_fatal_trap(const Trace *trace) {
    for (int i = 0; i < trace->trap_count; i++)
        if (is_fatal(&trace->traps[i])) return true;
    return false;
}

bool session_bind(const Session *session, int index, const uint64_t *addresses, Launch *bound, Error *error) {
    return plan_bind_launch(&session->plan.launches[index], session->programs[index], addresses, bound,
                            error);
}

bool session_bind_emulated(const Session *session, int index, const Emulator *emulator, Launch *bound,
                           Error *error) {
    int count = session->plan.buffer_count;
    uint64_t *addresses = memory_new((size_t)(count + 1) * sizeof *addresses);
    for (int i = 0; i < count; i++) addresses[i] = emulator_buffer_address(emulator, i);
    bool good = session_bind(session, index, addresses, bound, error);
    free(addresses);
    return good;
}

static bool run_launch(Session *session, int index, Error *error) {
    Launch *launch = &session->launches[index];
    return session_bind_emulated(session, index, session->emulator, launch, error) &&
           emulator_run(session->emulator, launch, session->trace, error);
}

/* A first look is worth it where the blocks after the traced ones would be waited for. */
static bool wants_first_look(const Session *session) {
    enum { NOT_WAITED_FOR = 1 << 18 }; /* threads, or elements where a thread takes several */
    const SessionOptions *options = &session->options;
    const PlanLaunch *first = &session->plan.launches[0];
    uint64_t blocks = launch_volume(first->grid),
             shown = options->has_trace_blocks ? options->trace_last + UINT64_C(1) : 1;
    uint64_t work = blocks * launch_volume(first->block),
             n = session->row ? session->run.n : options->catalog.n;
    if (work < n) work = n;
    return options->first_look && blocks > shown && work / blocks * (blocks - shown) >= NOT_WAITED_FOR;
}

/* Blocks past the end are fine as long as some launch has the first. */
static bool check_traced_blocks(const Session *session, Error *error) {
    const SessionOptions *options = &session->options;
    uint64_t most = 0;
    for (int i = 0; i < session->plan.launch_count; i++) {
        uint64_t blocks = launch_volume(session->plan.launches[i].grid);
        if (blocks > most) most = blocks;
    }
    if (!options->has_trace_blocks || options->trace_first < most) return true;
    return error_set(error, "--trace-blocks %u: the grid has %llu blocks, 0 to %llu", options->trace_first,
                     (unsigned long long)most, (unsigned long long)most - 1);
}

static bool execute(Session *session, Error *error) {
    if (!check_traced_blocks(session, error)) return false;
    const SessionOptions *options = &session->options;
    EmulatorOptions settings = {
        .threads = options->threads,
        .seed = options->catalog.seed,
        .schedule = options->schedule,
        .trace_first = options->has_trace_blocks ? options->trace_first : 0,
        .trace_last = options->has_trace_blocks ? options->trace_last : 0,
        .first_look = wants_first_look(session),
        .instruction_budget = options->instruction_budget,
        /* A kernel of anybody's may be an endless loop: that is told before anybody loses patience. */
        .block_budget = session->row || options->instruction_budget ? 0 : USER_BLOCK_BUDGET,
        .blocks_done = &session->blocks_done,
        .multiprocessors = options->catalog.multiprocessors,
        .observer = session_observer(session),
        .cancel = options->cancel,
    };
    Plan *plan = &session->plan;
    session->emulator = emulator_new(&settings);
    session->trace = trace_new("emulator");
    for (int i = 0; i < plan->buffer_count; i++) {
        const PlanBuffer *buffer = &plan->buffers[i];
        emulator_add_buffer(session->emulator, buffer->name, buffer->bytes,
                            buffer->count * (uint64_t)ptx_type_bytes(buffer->type), buffer->type);
    }
    session->launch_count = plan->launch_count;
    session->programs = arena_new(&session->arena, (size_t)plan->launch_count * sizeof *session->programs);
    session->launches = arena_new(&session->arena, (size_t)plan->launch_count * sizeof *session->launches);
    for (int i = 0; i < plan->launch_count; i++)
        if (!session_link(session, i, plan->launches[i].entry, error)) return false;
    uint64_t blocks = 0;
    for (int i = 0; i < plan->launch_count && !session_has_fatal_trap(session->trace) && !session->is_partial;
         i++) {
        if (!run_launch(session, i, error)) return false;
        blocks += launch_volume(plan->launches[i].grid);
        session->is_partial = session->blocks_done < blocks && !session_has_fatal_trap(session->trace);
    }
    return true;
}

/* The reference needs the inputs as they were; a kernel may have changed them. */
static void keep_inputs(Session *session) {
    session->filled = session->plan;
    session->filled.arena = (Arena){0};
    size_t count = (size_t)session->plan.buffer_count;
    session->filled.buffers = memory_new((count + 1) * sizeof(PlanBuffer));
    for (size_t i = 0; i < count; i++) {
        PlanBuffer *copy = &session->filled.buffers[i];
        *copy = session->plan.buffers[i];
        size_t bytes = copy->count * (size_t)ptx_type_bytes(copy->type);
        copy->bytes = memory_new(bytes);
        memcpy(copy->bytes, session->plan.buffers[i].bytes, bytes);
    }
}

static void drop_inputs(Session *session) {
    for (int i = 0; i < session->filled.buffer_count; i++) free(session->filled.buffers[i].bytes);
    free(session->filled.buffers);
    session->filled = (Plan){0};
}

static void find_occupancy(Session *session) {
    size_t count = (size_t)session->plan.launch_count;
    session->registers = arena_new(&session->arena, count * sizeof *session->registers);
    session->occupancy = arena_new(&session->arena, count * sizeof *session->occupancy);
    for (int i = 0; i < session->plan.launch_count; i++) {
        session->registers[i] = -1;
        session->occupancy[i] = -1;
        if (!session->row || i >= session->trace->launch_count) continue;
        const TraceLaunch *launch = session->trace->launches[i];
        session->registers[i] = occupancy_registers(session->programs[i]->entry->name, OCCUPANCY_H200);
        if (session->registers[i] < 0) continue;
        session->occupancy[i] =
            occupancy_theoretical(OCCUPANCY_H200, (uint32_t)session->registers[i],
                                  launch->static_shared_bytes + launch->dynamic_shared_bytes,
                                  (uint32_t)launch_volume(launch->block));
    }
}

void session_list_blocks(Session *session) {
    int count = 0;
    for (int i = 0; i < session->trace->launch_count; i++) count += session->trace->launches[i]->block_count;
    session->views = arena_new(&session->arena, (size_t)count * sizeof *session->views);
    for (int i = 0; i < session->trace->launch_count; i++)
        for (int j = 0; j < session->trace->launches[i]->block_count; j++)
            session->views[session->view_count++].shown =
                (SessionBlock){.launch = i, .block = session->trace->launches[i]->blocks[j]};
}

static void name_run(Session *session) {
    session->name = session->row ? session->row->id : session->trace->launches[0]->name;
    session->n = session->row ? session->run.n : session->options.catalog.n;
    session->dtype = session->row ? plan_type_name(session->run.dtype) : NULL;
    session->op = session->row ? session->run.op : NULL;
}

static const char *copy_text(Arena *arena, const char *text) {
    return text ? arena_copy_text(arena, text, strlen(text)) : NULL;
}

SessionOptions session_options_copy(const SessionOptions *options, Arena *arena) {
    SessionOptions copy = *options;
    copy.saved = copy_text(arena, options->saved);
    copy.kernel = copy_text(arena, options->kernel);
    copy.file = copy_text(arena, options->file);
    copy.entry = copy_text(arena, options->entry);
    copy.args = copy_text(arena, options->args);
    copy.compiler = copy_text(arena, options->compiler);
    copy.compile_flags = copy_text(arena, options->compile_flags);
    copy.catalog.op = copy_text(arena, options->catalog.op);
    copy.catalog.fill_path = copy_text(arena, options->catalog.fill_path);
    for (int i = 0; i < copy.catalog.parameter_count; i++)
        copy.catalog.parameters[i] = copy_text(arena, options->catalog.parameters[i]);
    return copy;
}

void session_options_for_kernel(SessionOptions *options, const char *kernel) {
    const CatalogRow *row = catalog_find(kernel, NULL);
    bool is_other = !options->kernel || row != catalog_find(options->kernel, NULL);
    options->kernel = kernel;
    options->saved = options->file = options->entry = options->args = NULL;
    if (!row || !is_other) return; /* session_open() says that there is no such kernel */
    CatalogOptions *catalog = &options->catalog;
    CatalogRun run;
    catalog->parameter_count = 0;
    if (!row->has_free_grid) catalog->grid = 0;
    if (!catalog_resolve(row, &(CatalogOptions){.block = catalog->block}, &run, NULL)) catalog->block = 0;
    if (!catalog_resolve(row, &(CatalogOptions){.dtype = catalog->dtype}, &run, NULL))
        catalog->dtype = PTX_NO_TYPE;
    if (!catalog_resolve(row, &(CatalogOptions){.op = catalog->op}, &run, NULL)) catalog->op = NULL;
}

/* A file may say anything: that it names other files is no reason to open them. */
static bool check_origin(const SessionOptions *options, Error *error) {
    if (!options->is_from_file || (options->kernel && options->catalog.fill != FILL_FILE)) return true;
    return error_set(error, "a saved session holds this one run; for another, open %s with its settings",
                     options->file ? options->file : "the kernel");
}

bool session_has_grid(const Session *session) {
    return session->options.catalog.grid || session->options.grid[0];
}

SessionOptions session_options_of_grid(const Session *session, uint32_t blocks) {
    SessionOptions options = session->options;
    options.catalog.grid = session->row ? blocks : 0;
    options.grid[0] = session->row ? 0 : blocks;
    return options;
}

/* The same run with as many blocks as the GPU holds at once. */
static Session *open_smaller(Session *session, uint32_t blocks, Error *error) {
    SessionOptions options = session_options_of_grid(session, blocks);
    Session *smaller = session_open(&options, error);
    session_free(session);
    return smaller;
}

/* A kernel that has trapped is shown where its faults are known, unless the GPU is asked for. */
static bool capture_events(Session *session, uint32_t *most_blocks, Error *error) {
    *most_blocks = 0;
    bool is_asked_for = session->options.backend == BACKEND_GPU;
    if (!is_asked_for && session_has_fatal_trap(session->trace)) return false;
    return session_capture(session, most_blocks, error);
}

Session *session_open(const SessionOptions *options, Error *error) {
    if (options->saved) return session_load(options, error);
    if (!check_origin(options, error)) return NULL;
    Session *session = memory_new(sizeof *session);
    session->options = session_options_copy(options, &session->arena);
    session->options.is_from_file = false;
    options = &session->options;
    bool good = options->kernel ? plan_catalogue_kernel(session, error) : plan_user_kernel(session, error);
    session->plan.cancel = options->cancel;
    good = good && plan_fill(&session->plan, options->catalog.seed, error);
    if (good && (session->row || options->keep_inputs || options->counters == COUNTERS_ASKED ||
                 options->backend != BACKEND_EMULATOR))
        keep_inputs(session);
    if (!good || !execute(session, error)) {
        session_free(session);
        return NULL;
    }
    if (options->backend != BACKEND_EMULATOR) {
        uint32_t most_blocks;
        Error reason = {0};
        bool captured = capture_events(session, &most_blocks, &reason);
        if (!captured && most_blocks && !session_has_grid(session))
            return open_smaller(session, most_blocks, error);
        if (!captured && options->backend == BACKEND_GPU) {
            error_set(error, "--backend gpu: %s", reason.message);
            session_free(session);
            return NULL;
        }
    }
    if (session->row && !session->is_partial) {
        session->has_result = true;
        session->row->check(&session->run, &session->filled, &session->plan, &session->result);
        if (session_has_fatal_trap(session->trace)) session->result.correct = false;
    }
    if (options->counters == COUNTERS_ASKED || (options->counters && session->device)) session_count(session);
    if (!options->keep_inputs) drop_inputs(session);
    find_occupancy(session);
    session_list_blocks(session);
    name_run(session);
    return session;
}

void session_free(Session *session) {
    if (!session) return;
    for (int i = 0; i < session->view_count; i++) {
        replay_free(session->views[i].replay);
        folds_free(session->views[i].folds);
        steps_free(session->views[i].shown.steps);
    }
    trace_free(session->trace);
    emulator_free(session->emulator);
    for (int i = 0; i < session->launch_count; i++) {
        bool is_shared = false;
        for (int j = 0; j < i; j++) is_shared |= session->programs[j] == session->programs[i];
        if (!is_shared) ptx_program_free(session->programs[i]);
    }
    for (int i = 0; i < session->launch_count; i++) launch_done(&session->launches[i]);
    measured_done(&session->measured);
    hazards_free(session->hazards);
    race_detector_free(session->detector);
    sources_done(&session->sources);
    drop_inputs(session);
    plan_free(&session->plan);
    ptx_module_free(session->module);
    free(session->ptx_text);
    arena_done(&session->arena);
    free(session);
}

/* ---- what it holds ---------------------------------------------------------------------------------- */

const SessionOptions *session_options(const Session *session) {
    return &session->options;
}
const CatalogRow *session_row(const Session *session) {
    return session->row;
}
const CatalogRun *session_run(const Session *session) {
    return session->row ? &session->run : NULL;
}
const Trace *session_trace(const Session *session) {
    return session->trace;
}
const CatalogResult *session_result(const Session *session) {
    return session->has_result ? &session->result : NULL;
}
bool session_is_partial(const Session *session) {
    return session->is_partial;
}
bool session_is_captured(const Session *session) {
    return !strcmp(session->trace->producer, "gpu");
}

uint64_t session_dropped_events(const Session *session) {
    uint64_t dropped = 0;
    for (int i = 0; i < session->trace->launch_count; i++) dropped += session->trace->launches[i]->dropped;
    return dropped;
}

const char *session_backend(const Session *session) {
    Session *cache = (Session *)(uintptr_t)session; /* logically const: printed at the first question */
    if (!session_is_captured(session)) return "EMULATED";
    if (session->level) return session->level;
    const char *device = session->device ? session->device : "GPU", *maker = "NVIDIA ";
    if (!strncmp(device, maker, strlen(maker))) device += strlen(maker);
    Text level = {0};
    text_print(&level, session_is_from_file(session) ? "RECORDED %s" : "%s LIVE", device);
    if (session_dropped_events(session))
        text_print(&level, ", %llu EVENTS LOST", (unsigned long long)session_dropped_events(session));
    cache->level = arena_copy_text(&cache->arena, text_string(&level), level.length);
    text_done(&level);
    return cache->level;
}
uint64_t session_n(const Session *session) {
    return session->n;
}
const char *const *session_files(const Session *session, int *count) {
    *count = session->file_count;
    return session->files;
}

const char *session_guess(const Session *session) {
    return session->guess;
}

const char *session_arguments(const Session *session) {
    return session->arguments;
}

const char *session_compiler(const Session *session) {
    return session->compiler;
}

bool session_is_from_file(const Session *session) {
    return session->options.is_from_file;
}
const char *session_recorded(const Session *session) {
    return session->saved;
}
Measurements *session_measured(const Session *session) {
    return &((Session *)(uintptr_t)session)->measured; /* whoever measures adds to it */
}

const char *session_name(const Session *session) {
    return session->name;
}

bool session_failed(const Session *session) {
    return session_has_fatal_trap(session->trace) || (session->has_result && !session->result.correct);
}

int session_block_count(const Session *session) {
    return session->view_count;
}

/* Steps are made when a view is first looked at: a report needs none. */
const SessionBlock *session_block(const Session *session, int index) {
    if (index < 0 || index >= session->view_count) return NULL;
    SessionBlock *view = &session->views[index].shown;
    if (!view->steps) view->steps = steps_build(session->trace->launches[view->launch], view->block);
    return view;
}

/* ---- source text ------------------------------------------------------------------------------------ */

/* Logically const: text is read at the first question. */
static Sources *sources_of(const Session *session) {
    return &((Session *)(uintptr_t)session)->sources;
}

int session_source_line_count(const Session *session, const char *file) {
    return sources_line_count(sources_of(session), file);
}

const char *session_source_line(const Session *session, const char *file, int line) {
    return sources_line(sources_of(session), file, line);
}

const char *session_ptx_line(const Session *session, int launch, int pc) {
    Session *cache = (Session *)(uintptr_t)session; /* logically const: printed at the first question */
    const PtxProgram *program = session->trace->launches[launch]->program;
    if (pc < 0 || pc >= program->code_count) return NULL;
    if (!cache->ptx_lines)
        cache->ptx_lines =
            arena_new(&cache->arena, (size_t)session->trace->launch_count * sizeof *cache->ptx_lines);
    const char ***lines = &cache->ptx_lines[launch];
    if (!*lines) *lines = arena_new(&cache->arena, (size_t)program->code_count * sizeof **lines);
    if ((*lines)[pc]) return (*lines)[pc];
    Text text = {0};
    ptx_instruction_print(program->code[pc].instruction, &text);
    (*lines)[pc] = arena_copy_text(&cache->arena, text_string(&text), text.length);
    text_done(&text);
    return (*lines)[pc];
}
