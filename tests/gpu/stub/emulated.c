/* The memory, modules and launches of the stub driver, by the emulator: a "GPU" for tests of capture, on any
 * machine. Its memory is at other addresses than that of the emulator's own runs.
 *
 * $STUB_SCHEDULE: the order in which its warps and blocks take turns. A kernel that never ends leaves the
 * stream busy for ever, as on a GPU; after a fault of the kernel, calls return CUDA_ERROR_ILLEGAL_ADDRESS.
 *
 * $STUB_CAPTURES names a file that gets a byte for each module with probes that is loaded. */
#define _POSIX_C_SOURCE 200809L
#include "cuda_stub.h"

#include "gpu/driver.h"
#include "emulator/emulator.h"

#include <pthread.h>
#include <stdio.h>

enum { BUSY = 600, NOT_FOUND = 500, INVALID_PTX = 218, ILLEGAL_ADDRESS = 700, APART_BYTES = 1 << 20 };

typedef struct Module {
    struct Module *next; /* list of all modules; freed with the library */
    PtxModule *module;
    PtxProgram *begin; /* an empty entry, whose launch places the variables */
    Trace *trace;
} Module;

typedef struct Function {
    struct Function *next;
    Module *of;
    PtxProgram *program;
} Function;

typedef struct Place {
    uint64_t address, bytes;
    uint8_t *host;
    bool is_ours; /* allocated here, not a variable of a module */
} Place;

static Emulator *emulator;
static Module *modules;
static Function *functions;
static void *apart;
static Place places[65536];
static int place_count;
static Result status;

/* Threads take turns, as with the driver of a GPU. A call holds the lock to its end. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void unlock(pthread_mutex_t **held) {
    pthread_mutex_unlock(*held);
}

#define HOLD_THE_LOCK                                                                                        \
    __attribute__((cleanup(unlock))) pthread_mutex_t *held = &lock;                                          \
    pthread_mutex_lock(held)

static void begin(void) {
    if (emulator) return;
    const char *schedule = getenv("STUB_SCHEDULE");
    EmulatorOptions options = {.threads = 1,
                               .trace_first = 1,
                               .schedule = schedule ? strtoull(schedule, NULL, 0) : 0,
                               .instruction_budget = 50000000};
    emulator = emulator_new(&options);
    apart = calloc(1, APART_BYTES);
    emulator_add_buffer(emulator, "apart", apart, APART_BYTES, PTX_B8);
}

__attribute__((destructor)) static void end(void) {
    emulator_free(emulator);
    for (int i = 0; i < place_count; i++)
        if (places[i].is_ours) free(places[i].host);
    for (Function *function = functions, *next; function; function = next) {
        next = function->next;
        ptx_program_free(function->program);
        free(function);
    }
    for (Module *module = modules, *next; module; module = next) {
        next = module->next;
        ptx_program_free(module->begin);
        trace_free(module->trace);
        ptx_module_free(module->module);
        free(module);
    }
    free(apart);
}

static void keep_place(int buffer, uint64_t bytes, bool is_ours) {
    if (place_count == sizeof places / sizeof *places) abort();
    places[place_count++] = (Place){emulator_buffer_address(emulator, buffer), bytes,
                                    emulator_buffer_bytes(emulator, buffer), is_ours};
}

static uint8_t *host_of(uint64_t address, uint64_t bytes) {
    for (int i = 0; i < place_count; i++)
        if (address - places[i].address < places[i].bytes &&
            bytes <= places[i].bytes - (address - places[i].address))
            return places[i].host + (address - places[i].address);
    abort(); /* an error of the driver's user */
}

ENTRY(cuMemAlloc_v2, uint64_t *address, size_t bytes);
ENTRY(cuMemAlloc_v2, uint64_t *address, size_t bytes) {
    HOLD_THE_LOCK;
    Result result = outcome("cuMemAlloc_v2");
    if (result) return result;
    begin();
    int buffer = emulator_add_buffer(emulator, "memory", calloc(1, bytes), bytes, PTX_B8);
    keep_place(buffer, bytes, true);
    *address = emulator_buffer_address(emulator, buffer);
    return 0;
}

ENTRY(cuMemFree_v2, uint64_t address);
ENTRY(cuMemFree_v2, uint64_t address) { /* the emulator keeps the memory */
    HOLD_THE_LOCK;
    host_of(address, 1);
    return outcome("cuMemFree_v2");
}

ENTRY(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t bytes);
ENTRY(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t bytes) {
    HOLD_THE_LOCK;
    if (bytes) memcpy(host_of(to, bytes), from, bytes);
    return outcome("cuMemcpyHtoD_v2");
}

ENTRY(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t bytes);
ENTRY(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t bytes) {
    HOLD_THE_LOCK;
    if (bytes) memcpy(to, host_of(from, bytes), bytes);
    return status ? status : outcome("cuMemcpyDtoH_v2");
}

ENTRY(cuMemcpyDtoDAsync_v2, uint64_t to, uint64_t from, size_t bytes, void *stream);
ENTRY(cuMemcpyDtoDAsync_v2, uint64_t to, uint64_t from, size_t bytes, void *stream) {
    HOLD_THE_LOCK;
    (void)stream;
    if (bytes) memcpy(host_of(to, bytes), host_of(from, bytes), bytes);
    return outcome("cuMemcpyDtoDAsync_v2");
}

ENTRY(cuMemsetD8Async, uint64_t to, unsigned char value, size_t bytes, void *stream);
ENTRY(cuMemsetD8Async, uint64_t to, unsigned char value, size_t bytes, void *stream) {
    HOLD_THE_LOCK;
    (void)stream;
    if (bytes) memset(host_of(to, bytes), value, bytes);
    return outcome("cuMemsetD8Async");
}

ENTRY(cuStreamQuery, void *stream);
ENTRY(cuStreamQuery, void *stream) {
    HOLD_THE_LOCK;
    (void)stream;
    return getenv("STUB_BUSY") ? BUSY : status ? status : outcome("cuStreamQuery");
}

/* ---- shared memory: variables begin at 0x400, as on sm_90 ---------------------------------------------- */

enum { FIRST_SHARED = 1024, MOST_SYMBOLS = 64 };

typedef struct Symbols {
    TraceSymbol symbols[MOST_SYMBOLS];
    const PtxVariable *variables[MOST_SYMBOLS];
    int count;
} Symbols;

static void add_variables(Symbols *symbols, const PtxOperand *operand) {
    for (int i = 0; i < operand->item_count; i++) add_variables(symbols, &operand->items[i]);
    const PtxVariable *variable = operand->variable;
    if (!variable || variable->space != PTX_SPACE_SHARED) return;
    for (int i = 0; i < symbols->count; i++)
        if (symbols->variables[i] == variable) return;
    if (symbols->count == MOST_SYMBOLS) abort();
    symbols->variables[symbols->count++] = variable;
}

/* Static variables one after another, then the dynamic ones, which all begin at the same address. */
static void place_symbols(Symbols *symbols, PtxModule *module) {
    uint64_t at = FIRST_SHARED;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < symbols->count; i++) {
            const PtxVariable *variable = symbols->variables[i];
            uint64_t alignment = variable->alignment > 16 ? (uint64_t)variable->alignment : 16;
            if ((variable->bytes == 0) != (pass == 1)) continue;
            at = (at + alignment - 1) / alignment * alignment;
            symbols->symbols[i] = (TraceSymbol){.name = ptx_readable_name(module, variable->name),
                                                .space = PTX_SPACE_SHARED,
                                                .window_offset = at,
                                                .bytes = variable->bytes};
            at += variable->bytes;
        }
}

static void find_symbols(Symbols *symbols, const PtxProgram *program) {
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        for (int i = 0; i < in->operand_count; i++) add_variables(symbols, &in->operands[i]);
    }
    place_symbols(symbols, program->module);
}

/* ---- modules ------------------------------------------------------------------------------------------- */

static uint32_t cluster[3]; /* of the next launch; 0: not given */

static Result run(Function *function, const uint32_t *grid, const uint32_t *block, uint32_t shared,
                  bool cooperative, void **parameters, Trace *trace) {
    uint8_t bytes[4096] = {0};
    Error error = {0};
    Launch launch = {.program = function->program,
                     .grid = {grid[0], grid[1], grid[2]},
                     .block = {block[0], block[1], block[2]},
                     .cluster = {cluster[0], cluster[1], cluster[2]},
                     .dynamic_shared_bytes = shared,
                     .cooperative = cooperative,
                     .parameters = bytes};
    Symbols symbols = {.count = 0};
    find_symbols(&symbols, function->program);
    TraceLaunch places = {.symbols = symbols.symbols, .symbol_count = symbols.count};
    emulator_place_shared_as(emulator, &places);
    const PtxFunction *entry = function->program->entry;
    for (int i = 0; i < entry->parameter_count; i++) {
        const PtxVariable *parameter = entry->parameters[i];
        memcpy(bytes + launch_parameter_offset(parameter, &launch.parameter_bytes), parameters[i],
               (size_t)parameter->bytes);
    }
    if (!emulator_run(emulator, &launch, trace, &error)) {
        fprintf(stderr, "stub: %s\n", error.message);
        return 1;
    }
    for (int i = 0; i < trace->trap_count; i++) {
        TrapKind kind = trace->traps[i].kind;
        if (!trap_kind_is_fatal(kind)) continue;
        bool hangs = kind == TRAP_INSTRUCTION_BUDGET || kind == TRAP_DEADLOCK;
        status = hangs ? BUSY : ILLEGAL_ADDRESS;
    }
    return 0;
}

static void note_capture(const char *image) {
    const char *path = strstr(image, "redviz_settings") ? getenv("STUB_CAPTURES") : NULL;
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fputc('c', file);
    fclose(file);
}

ENTRY(cuModuleLoadDataEx, Module **out, const void *image, unsigned count, int *options, void **values);
ENTRY(cuModuleLoadDataEx, Module **out, const void *image, unsigned count, int *options, void **values) {
    HOLD_THE_LOCK;
    static const uint32_t one[3] = {1, 1, 1};
    say_loaded(image, count, options, values);
    Result result = outcome("cuModuleLoadDataEx");
    if (result) return result;
    begin();
    note_capture(image);
    Error error = {0};
    Text text = {0};
    text_add(&text, image);
    text_add(&text, "\n.visible .entry stub_begin()\n{\n\tret;\n}\n");
    Module *module = calloc(1, sizeof *module);
    module->next = modules;
    modules = module;
    module->module = ptx_module_parse(text_string(&text), text.length, "stub", &error);
    text_done(&text);
    if (!module->module) return INVALID_PTX;
    module->begin = ptx_program_link(module->module, ptx_module_find(module->module, "stub_begin"), &error);
    if (!module->begin) return INVALID_PTX;
    module->trace = trace_new("gpu");
    Function function = {NULL, module, module->begin};
    *out = module;
    return run(&function, one, one, 0, false, NULL, module->trace);
}

ENTRY(cuModuleUnload, Module *module);
ENTRY(cuModuleUnload, Module *module) { /* the emulator still uses its variables */
    HOLD_THE_LOCK;
    (void)module;
    return outcome("cuModuleUnload");
}

ENTRY(cuModuleGetFunction, Function **out, Module *module, const char *name);
ENTRY(cuModuleGetFunction, Function **out, Module *module, const char *name) {
    HOLD_THE_LOCK;
    Error error = {0};
    Result result = outcome("cuModuleGetFunction");
    if (result) return result;
    PtxFunction *entry = ptx_module_find(module->module, name);
    PtxProgram *program = entry ? ptx_program_link(module->module, entry, &error) : NULL;
    if (!program) return NOT_FOUND;
    *out = calloc(1, sizeof **out);
    **out = (Function){functions, module, program};
    functions = *out;
    return 0;
}

ENTRY(cuModuleGetGlobal_v2, uint64_t *address, size_t *bytes, Module *module, const char *name);
ENTRY(cuModuleGetGlobal_v2, uint64_t *address, size_t *bytes, Module *module, const char *name) {
    HOLD_THE_LOCK;
    for (int i = module->trace->buffer_count - 1; i >= 0; i--) {
        if (strcmp(module->trace->buffers[i].name, name) != 0) continue;
        *address = emulator_buffer_address(emulator, i);
        *bytes = module->trace->buffers[i].bytes;
        keep_place(i, *bytes, false);
        return outcome("cuModuleGetGlobal_v2");
    }
    return NOT_FOUND;
}

/* ---- launches ------------------------------------------------------------------------------------------ */

static Result launch(Function *function, const uint32_t *grid, const uint32_t *block, uint32_t shared,
                     bool cooperative, void **parameters) {
    Trace *trace = trace_new("gpu");
    say_launched(function->program->entry->name);
    Result result = status ? status : run(function, grid, block, shared, cooperative, parameters, trace);
    trace_free(trace);
    return result;
}

ENTRY(cuLaunchKernel, Function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
      unsigned bz, unsigned shared, void *stream, void **parameters, void **extra);
ENTRY(cuLaunchKernel, Function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
      unsigned bz, unsigned shared, void *stream, void **parameters, void **extra) {
    HOLD_THE_LOCK;
    (void)stream, (void)extra;
    Result result = outcome("cuLaunchKernel");
    return result ? result
                  : launch(f, (uint32_t[]){gx, gy, gz}, (uint32_t[]){bx, by, bz}, shared, false, parameters);
}

ENTRY(cuLaunchKernelEx, const CudaLaunchConfig *config, Function *f, void **parameters, void **extra);
ENTRY(cuLaunchKernelEx, const CudaLaunchConfig *config, Function *f, void **parameters, void **extra) {
    HOLD_THE_LOCK;
    (void)extra;
    bool cooperative = false;
    for (unsigned i = 0; i < config->attribute_count;
         i++) { /* CUlaunchAttributeID: 4 cluster, 2 cooperative */
        if (config->attributes[i].id == 4)
            memcpy(cluster, config->attributes[i].value.cluster, sizeof cluster);
        else if (config->attributes[i].id == 2)
            cooperative = true;
    }
    Result result = outcome("cuLaunchKernelEx");
    if (!result)
        result = launch(f, config->grid, config->block, config->shared_bytes, cooperative, parameters);
    memset(cluster, 0, sizeof cluster);
    return result;
}

ENTRY(cuLaunchCooperativeKernel, Function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
      unsigned bz, unsigned shared, void *stream, void **parameters);
ENTRY(cuLaunchCooperativeKernel, Function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
      unsigned bz, unsigned shared, void *stream, void **parameters) {
    HOLD_THE_LOCK;
    (void)stream;
    return launch(f, (uint32_t[]){gx, gy, gz}, (uint32_t[]){bx, by, bz}, shared, true, parameters);
}
