#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/opcodes.h"
#include "twin.h"
#include "trace/producer_rules.h"

#include <inttypes.h>
#include <stdlib.h>

char *twin_probe(void) {
    char *text;
    size_t length;
    Error error = {0};
    if (!text_read_file("assets/ptx/probe.ptx", 1 << 24, &text, &length, &error))
        fail_msg("%s", error.message);
    return text;
}

/* ---- running ------------------------------------------------------------------------------------------- */

Launch twin_bind(const Emulator *emulator, const PlanLaunch *planned, const PtxProgram *program,
                 const char *what) {
    enum { MOST_BUFFERS = 64 };
    uint64_t addresses[MOST_BUFFERS] = {0};
    Error error = {0};
    Launch launch;
    bool used[MOST_BUFFERS] = {false};
    for (int i = 0; i < planned->argument_count; i++) plan_mark_buffers(planned, i, used);
    for (int i = 0; i < MOST_BUFFERS; i++)
        if (used[i]) addresses[i] = emulator_buffer_address(emulator, i);
    if (!plan_bind_launch(planned, program, addresses, &launch, &error))
        fail_msg("%s: %s", what, error.message);
    return launch;
}

static Emulator *new_emulator(const Plan *plan, const TwinOptions *options, bool traced) {
    EmulatorOptions settings = {.threads = 1,
                                .trace_first = traced ? (uint32_t)options->first : 1,
                                .trace_last = traced ? (uint32_t)options->last : 0,
                                .schedule = traced ? 0 : options->schedule,
                                .instruction_budget = options->budget};
    Emulator *emulator = emulator_new(&settings);
    for (int i = 0; i < plan->buffer_count; i++) {
        const PlanBuffer *buffer = &plan->buffers[i];
        emulator_add_buffer(emulator, buffer->name, buffer->bytes,
                            buffer->count * (uint64_t)ptx_type_bytes(buffer->type), buffer->type);
    }
    return emulator;
}

static void launch(Emulator *emulator, const PlanLaunch *planned, const PtxProgram *program, Trace *trace,
                   const char *what) {
    Error error = {0};
    Launch bound = twin_bind(emulator, planned, program, what);
    if (!emulator_run(emulator, &bound, trace, &error)) fail_msg("%s: %s", what, error.message);
    if (trace->trap_count)
        fail_msg("%s: %s: pc %d: %s", what, trap_kind_text(trace->traps[0].kind), trace->traps[0].pc,
                 trace->traps[0].detail);
    launch_done(&bound);
}

/* ".. redviz_settings[48];" gets an initial value, since the emulator has no cuModuleGetGlobal. */
static void set(Text *text, const uint8_t settings[INSTRUMENT_SETTINGS_BYTES]) {
    const char *name = strstr(text_string(text), INSTRUMENT_VARIABLE "[48];");
    if (!name) fail_msg("there is no " INSTRUMENT_VARIABLE);
    size_t until = (size_t)(name - text_string(text)) + strlen(INSTRUMENT_VARIABLE "[48]");
    Text out = {0};
    text_add_bytes(&out, text_string(text), until);
    for (int i = 0; i < INSTRUMENT_SETTINGS_BYTES; i++)
        text_print(&out, "%s%d", i ? ", " : " = {", settings[i]);
    text_add(&out, "}");
    text_add(&out, text_string(text) + until);
    text_done(text);
    *text = out;
}

static int buffer_of_name(const Trace *trace, const char *name) {
    for (int i = 0; i < trace->buffer_count; i++)
        if (!strcmp(trace->buffers[i].name, name)) return i;
    return -1;
}

/* The buffers of an emulator, with the numbers of the original run. */
static InstrumentBuffer *list_buffers(Twin *twin, const Emulator *emulator, const Trace *trace, int *count) {
    InstrumentBuffer *buffers = arena_new(&twin->arena, ((size_t)trace->buffer_count + 1) * sizeof *buffers);
    *count = 0;
    for (int i = 0; i < trace->buffer_count; i++) {
        int buffer = buffer_of_name(twin->original, trace->buffers[i].name);
        if (buffer < 0) continue;
        buffers[(*count)++] =
            (InstrumentBuffer){emulator_buffer_address(emulator, i), trace->buffers[i].bytes, buffer,
                               trace->buffers[i].name, ptx_type_bytes(trace->buffers[i].type)};
    }
    return buffers;
}

/* The tensor maps among the parameters. */
static const InstrumentTensor *list_tensors(Twin *twin, const Launch *bound, int *count) {
    const PtxFunction *entry = bound->program->entry;
    InstrumentTensor *tensors =
        arena_new(&twin->arena, ((size_t)entry->parameter_count + 1) * sizeof *tensors);
    size_t end = 0;
    *count = 0;
    for (int i = 0; i < entry->parameter_count; i++) {
        const uint8_t *bytes = bound->parameters + launch_parameter_offset(entry->parameters[i], &end);
        bool is_map =
            entry->parameters[i]->bytes == TENSOR_MAP_BYTES && tensor_map_decode(bytes, &tensors[*count].map);
        if (is_map) tensors[(*count)++].digest = instrument_tensor_digest(bytes);
    }
    return tensors;
}

static void decode(Twin *twin, int index, const PlanLaunch *planned, const Trace *probed) {
    Error error = {0};
    InstrumentMemory memory = {.other = -1};
    memory.buffers = list_buffers(twin, twin->emulators[1], probed, &memory.count);
    twin->memory[1] = memory;
    twin->memory[0].buffers = list_buffers(twin, twin->emulators[0], twin->original, &twin->memory[0].count);
    Launch bound = twin_bind(twin->emulators[1], planned, twin->programs[index], "decoding");
    memory.tensors = list_tensors(twin, &bound, &memory.tensor_count);
    TraceLaunch *out = trace_add_launch(twin->decoded, &bound);
    launch_done(&bound);
    uint64_t blocks = launch_volume(planned->grid);
    for (uint64_t b = twin->settings.first; b <= twin->settings.last && b < blocks; b++)
        if (!instrument_decode(&twin->sites, &twin->settings, &memory, (uint32_t)b,
                               twin->regions + (b - twin->settings.first) * twin->settings.region_bytes,
                               &twin->decoded->arena, out, &twin->tally, &error))
            fail_msg("%s", error.message);
}

typedef struct Probed { /* kept by an emulator until its end */
    PtxModule *module;
    PtxProgram *program;
} Probed;

static Probed instrument_launch(Twin *twin, int index, const PlanLaunch *planned,
                                const TwinOptions *options) {
    Error error = {0};
    const PtxProgram *program = twin->programs[index];
    char *probe = twin_probe();
    text_clear(&twin->text);
    instrument_sites_done(&twin->sites);
    if (!instrument(&program, 1, probe, false, &twin->text, &twin->sites, &error))
        fail_msg("%s: %s", options->what, error.message);
    free(probe);
    uint32_t threads = (uint32_t)launch_volume(planned->block);
    uint64_t blocks = launch_volume(planned->grid);
    uint64_t traced = options->first >= blocks ? 0 : options->last < blocks ? options->last : blocks - 1;
    traced = options->first >= blocks ? 0 : traced - options->first + 1;
    uint64_t bytes = options->region_bytes ? options->region_bytes
                                           : instrument_region_minimum(&twin->sites, threads) + (4 << 20);
    twin->regions = arena_new(&twin->arena, traced * bytes + 1);
    char name[32];
    snprintf(name, sizeof name, "redviz regions %d", index);
    int buffer = emulator_add_buffer(twin->emulators[1], name, twin->regions, traced * bytes + 1, PTX_B8);
    twin->settings = (InstrumentSettings){.buffer = emulator_buffer_address(twin->emulators[1], buffer),
                                          .region_bytes = bytes,
                                          .first = options->first,
                                          .last = options->last,
                                          .block_threads = threads,
                                          .spin_limit = options->spin_limit};
    uint8_t settings[INSTRUMENT_SETTINGS_BYTES];
    instrument_settings(&twin->sites, &twin->settings, settings);
    set(&twin->text, settings);
    Probed probed = {
        .module = ptx_module_parse(text_string(&twin->text), twin->text.length, "instrumented.ptx", &error)};
    PtxFunction *entry = probed.module ? ptx_module_find(probed.module, program->entry->name) : NULL;
    probed.program = entry ? ptx_program_link(probed.module, entry, &error) : NULL;
    if (!probed.program) fail_msg("%s: %d: %s", options->what, error.line, error.message);
    return probed;
}

static void link_launch(Twin *twin, const Plan *plan, int index) {
    Error error = {0};
    PtxFunction *entry = ptx_module_find_entry(twin->module, plan->launches[index].entry, &error);
    for (int i = 0; i < index && entry; i++)
        if (twin->programs[i]->entry == entry) twin->programs[index] = twin->programs[i];
    if (entry && !twin->programs[index])
        twin->programs[index] = ptx_program_link(twin->module, entry, &error);
    if (!twin->programs[index]) fail_msg("%s", error.message);
}

Twin twin_run(PtxModule *module, Plan *plain, Plan *probed, const TwinOptions *options) {
    Twin twin = {.module = module, .original = trace_new("emulator"), .decoded = trace_new("gpu")};
    Trace *unused = trace_new("emulator");
    twin.emulators[0] = new_emulator(plain, options, true);
    twin.emulators[1] = new_emulator(probed, options, false);
    Probed made[PLAN_LAUNCHES];
    for (int i = 0; i < plain->launch_count; i++) {
        link_launch(&twin, plain, i);
        made[i] = instrument_launch(&twin, i, &probed->launches[i], options);
        launch(twin.emulators[0], &plain->launches[i], twin.programs[i], twin.original, options->what);
        launch(twin.emulators[1], &probed->launches[i], made[i].program, unused, options->what);
        decode(&twin, i, &probed->launches[i], unused);
    }
    trace_free(unused);
    for (int i = 0; i < plain->launch_count; i++) {
        ptx_program_free(made[i].program);
        ptx_module_free(made[i].module);
    }
    return twin;
}

static PtxModule *read_module(const CatalogRow *row) {
    Error error = {0};
    PtxModule *module = catalog_module(row, &error);
    if (!module) fail_msg("%s", error.message);
    return module;
}

Twin twin_run_kernel(const CatalogRow *row, CatalogOptions kernel, Plan plans[2],
                     const TwinOptions *options) {
    Error error = {0};
    CatalogRun run;
    kernel.has_fill = kernel.whole_numbers = true; /* sums are exact in any order */
    kernel.fill = FILL_RANDOM;
    if (!catalog_resolve(row, &kernel, &run, &error)) fail_msg("%s", error.message);
    for (int i = 0; i < 2; i++) {
        plans[i] = (Plan){0};
        if (!catalog_plan(&run, &plans[i], &error) || !plan_fill(&plans[i], 7, &error))
            fail_msg("%s: %s", row->id, error.message);
    }
    return twin_run(read_module(row), &plans[0], &plans[1], options);
}

void twin_done(Twin *twin) {
    trace_free(twin->original);
    trace_free(twin->decoded);
    emulator_free(twin->emulators[0]);
    emulator_free(twin->emulators[1]);
    for (int i = 0; i < PLAN_LAUNCHES; i++) {
        bool is_shared = false;
        for (int j = 0; j < i; j++) is_shared |= twin->programs[j] == twin->programs[i];
        if (!is_shared) ptx_program_free(twin->programs[i]);
    }
    ptx_module_free(twin->module);
    instrument_sites_done(&twin->sites);
    text_done(&twin->text);
    arena_done(&twin->arena);
    *twin = (Twin){0};
}

/* ---- comparing ----------------------------------------------------------------------------------------- */

void twin_expect_same_results(const Plan *plain, const Plan *probed, const char *what) {
    for (int i = 0; i < plain->buffer_count; i++) {
        size_t bytes = plain->buffers[i].count * (size_t)ptx_type_bytes(plain->buffers[i].type);
        if (memcmp(plain->buffers[i].bytes, probed->buffers[i].bytes, bytes) != 0)
            fail_msg("%s: the probes changed the result in %s", what, plain->buffers[i].name);
    }
}

/* ---- the events of each thread ---- */

enum { MOST_THREADS = 1024, LONGEST_LOOP = 8 };

typedef struct Item { /* an event, as one thread sees it */
    int event, pc;
    uint32_t mask;
    uint64_t place; /* the address, and of atomics what was found */
    bool is_quiet, watches;
} Item;

typedef struct Threads {
    Item *items[MOST_THREADS];
    int count[MOST_THREADS], capacity[MOST_THREADS];
} Threads;

static bool is_round(const Item *items, int count, int period) {
    bool watches = false;
    for (int i = count - period; i < count; i++) {
        const Item *late = &items[i], *early = &items[i - period];
        if (late->pc != early->pc || late->mask != early->mask || late->place != early->place) return false;
        if (!late->is_quiet || !early->is_quiet) return false;
        watches |= late->watches;
    }
    return watches;
}

/* The number of iterations of a waiting loop does not matter: the last iteration is kept. (A producer
 * collapses iterations with no other event of the warp in between.) */
static void collapse(Item *items, int *count) {
    for (int period = 1; period <= LONGEST_LOOP && 2 * period <= *count; period++) {
        if (!is_round(items, *count, period)) continue;
        memmove(&items[*count - 2 * period], &items[*count - period], (size_t)period * sizeof *items);
        *count -= period;
        return;
    }
}

static Threads *events_by_thread(const TraceLaunch *launch, const TraceBlock *block) {
    Threads *threads = memory_new(sizeof *threads);
    TraceEvent event;
    for (int i = 0; i < trace_block_event_count(block); i++) {
        trace_block_read(block, i, &event);
        const PtxInstruction *in = launch->program->code[event.pc].instruction;
        bool is_load = in->opcode == PTX_ld || in->opcode == PTX_atom;
        for (uint32_t rest = event.mask; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest), t = event.warp * WARP_LANES + lane;
            Item item = {i,
                         event.pc,
                         event.mask,
                         event.offset[lane] ^ (uint64_t)event.buffer[lane] << 48,
                         event.kind == TRACE_BRANCH || is_load,
                         trace_watches(in)};
            if (in->opcode == PTX_atom) item.place += event.value[0][lane] * 31;
            array_push(threads->items[t], threads->count[t], threads->capacity[t], item);
            collapse(threads->items[t], &threads->count[t]);
        }
    }
    return threads;
}

static void threads_free(Threads *threads) {
    for (int t = 0; t < MOST_THREADS; t++) free(threads->items[t]);
    free(threads);
}

int twin_thread_events(const TraceLaunch *launch, uint32_t block, int thread, int *pcs, int most) {
    const TraceBlock *found = trace_launch_find_block(launch, block);
    int count = 0;
    TraceEvent event;
    for (int i = 0; found && i < trace_block_event_count(found); i++) {
        trace_block_read_header(found, i, &event);
        if (event.warp != thread / WARP_LANES || !(event.mask >> thread % WARP_LANES & 1)) continue;
        if (count < most) pcs[count] = event.pc;
        count++;
    }
    return count;
}

static bool may_spin(const Twin *twin, int pc) {
    for (int i = 0; i < twin->sites.spin_count; i++)
        if (twin->sites.sites[i].place == pc) return true;
    return false;
}

/* Pointers are equal if they point to the same place. */
static bool same_value(const Twin *twin, uint64_t x, uint64_t y) {
    if (x == y) return true;
    for (int i = 0; i < twin->memory[0].count; i++)
        for (int k = 0; k < twin->memory[1].count; k++) {
            const InstrumentBuffer *a = &twin->memory[0].buffers[i], *b = &twin->memory[1].buffers[k];
            if (a->buffer == b->buffer && x - a->base < a->bytes && x - a->base == y - b->base) return true;
        }
    return false;
}

/* Whether both are the same for `lane`. Symbols are numbered by each producer; buffers are given. */
static bool same_event(const Twin *twin, int launch, const TraceEvent *x, const TraceEvent *y, int lane) {
    const TraceLaunch *a = twin->original->launches[launch], *b = twin->decoded->launches[launch];
    if (x->kind != y->kind || x->pc != y->pc || (x->taken ^ y->taken) >> lane & 1) return false;
    if (!twin->sites.spin_count && (x->mask != y->mask || x->taken != y->taken)) return false;
    if (x->participants != y->participants || x->interval != y->interval || x->width != y->width)
        return false;
    if (x->element_bytes != y->element_bytes) return false;
    if (x->occurrence != y->occurrence && !may_spin(twin, x->pc)) return false;
    if (x->element_count != y->element_count || x->is_load != y->is_load) return false;
    if (x->has_result != y->has_result || x->source[lane] != y->source[lane]) return false;
    bool in_symbols = trace_kind_is_shared(x->kind) || trace_kind_is_local(x->kind);
    if (x->offset[lane] != y->offset[lane]) return false;
    if (!in_symbols && x->buffer[lane] != y->buffer[lane]) return false;
    if (in_symbols && strcmp(a->symbols[x->buffer[lane]].name, b->symbols[y->buffer[lane]].name) != 0)
        return false;
    if (trace_watches(a->program->code[x->pc].instruction)) return true;
    if (x->operand[lane] != y->operand[lane]) return false;
    for (int e = 0; e < TRACE_MAX_ELEMENTS; e++)
        if (!same_value(twin, x->value[e][lane], y->value[e][lane])) return false;
    return true;
}

static void fail_at(const Twin *twin, int launch, const TraceBlock *a, const TraceEvent *x,
                    const TraceBlock *b, const TraceEvent *y, const char *what) {
    Text text = {0};
    if (x) trace_event_print(twin->original, twin->original->launches[launch], a, x, &text);
    text_add(&text, "\n   decoded: ");
    if (y) trace_event_print(twin->original, twin->decoded->launches[launch], b, y, &text);
    fail_msg("%s: emulator: %s", what, text_string(&text));
}

static uint64_t compare_block(const Twin *twin, int launch, const TraceBlock *a, const TraceBlock *b,
                              const char *what) {
    Threads *x = events_by_thread(twin->original->launches[launch], a);
    Threads *y = events_by_thread(twin->decoded->launches[launch], b);
    uint64_t compared = 0;
    TraceEvent first, second;
    for (int t = 0; t < MOST_THREADS; t++) {
        for (int i = 0; i < x->count[t] || i < y->count[t]; i++, compared++) {
            bool here = i < x->count[t], there = i < y->count[t];
            if (here) trace_block_read(a, x->items[t][i].event, &first);
            if (there) trace_block_read(b, y->items[t][i].event, &second);
            if (here && there && same_event(twin, launch, &first, &second, t % WARP_LANES)) continue;
            print_error("thread %d, its event %d\n", t, i);
            fail_at(twin, launch, a, here ? &first : NULL, b, there ? &second : NULL, what);
        }
    }
    threads_free(x);
    threads_free(y);
    return compared;
}

/* Turns increase, with at most one event per warp in each; events of a later interval come later. */
static void check_order(const TraceBlock *block, const char *what) {
    int64_t last[WARP_LANES], turn = 0, end_of_interval = -1, latest = -1;
    uint32_t interval = 0;
    for (int w = 0; w < WARP_LANES; w++) last[w] = -1;
    for (int i = 0; i < trace_block_event_count(block); i++) {
        TraceEvent event;
        trace_block_read_header(block, i, &event);
        if (event.turn < turn || (int64_t)event.turn <= last[event.warp])
            fail_msg("%s: event %d is out of order", what, i);
        if (event.interval > interval) {
            end_of_interval = latest;
            interval = event.interval;
        }
        if (event.interval == interval && (int64_t)event.turn <= end_of_interval)
            fail_msg("%s: event %d is before the barrier that it has passed", what, i);
        if (event.turn > latest) latest = event.turn;
        turn = event.turn;
        last[event.warp] = event.turn;
    }
}

uint64_t twin_expect_same_events(const Twin *twin, const char *what) {
    uint64_t compared = 0;
    assert_int_equal(twin->original->launch_count, twin->decoded->launch_count);
    for (int i = 0; i < twin->original->launch_count; i++) {
        const TraceLaunch *a = twin->original->launches[i], *b = twin->decoded->launches[i];
        if (a->block_count != b->block_count)
            fail_msg("%s: %d blocks, decoded %d", what, a->block_count, b->block_count);
        for (int k = 0; k < a->block_count; k++) {
            assert_int_equal(trace_block_linear(a->blocks[k]), trace_block_linear(b->blocks[k]));
            check_order(b->blocks[k], what);
            compared += compare_block(twin, i, a->blocks[k], b->blocks[k], what);
        }
    }
    return compared;
}
