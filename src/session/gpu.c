/* A session's run on a GPU, instrumented (gpu.h). */
#include "session/gpu.h"

#include "trace/block.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PROBE_LIMIT_BYTES = 1 << 20 };

static bool is_variable(const Session *session, const char *name) {
    for (int i = 0; i < session->code.module->variable_count; i++)
        if (!strcmp(session->code.module->variables[i]->name, name)) return true;
    return false;
}

/* The buffers of the emulated trace, in its order, so that both traces number them alike. */
static void list_buffers(GpuCopy *copy) {
    const Session *session = copy->session;
    const Trace *trace = session->run->trace;
    copy->buffers = memory_new((size_t)(trace->buffer_count + 1) * sizeof *copy->buffers);
    copy->base = memory_new((size_t)(trace->buffer_count + 1) * sizeof *copy->base);
    for (int i = 0; i < trace->buffer_count; i++) {
        CaptureBuffer buffer = {.name = trace->buffers[i].name, .bytes = trace->buffers[i].bytes, .index = i};
        trace_add_buffer(copy->trace, buffer.name, buffer.bytes, trace->buffers[i].type);
        if (i < session->run->filled.buffer_count) {
            buffer.host = memory_new(buffer.bytes + 1);
            memcpy(buffer.host, session->run->filled.buffers[i].bytes, buffer.bytes);
            buffer.is_variable = session->run->filled.buffers[i].variable != NULL;
            buffer.captured = session->run->filled.buffers[i].address;
        } else if (is_variable(session, buffer.name)) {
            buffer.is_variable = true;
        } else {
            copy->other =
                i; /* the driver has one too, at an address that it keeps to itself: a heap, a workspace */
            continue;
        }
        copy->buffers[copy->count++] = buffer;
    }
}

void session_gpu_copy_done(GpuCopy *copy) {
    for (int i = 0; i < copy->count; i++) free(copy->buffers[i].host);
    free(copy->buffers);
    free(copy->base);
    if (copy->trace) trace_free(copy->trace);
    *copy = (GpuCopy){0};
}

/* The plan's buffers come first. */
static bool bind_launches(const GpuCopy *copy, Launch *launches, Error *error) {
    const Plan *plan = &copy->session->run->plan;
    uint64_t *addresses = memory_new((size_t)(plan->buffer_count + 1) * sizeof *addresses);
    bool good = true;
    for (int i = 0; i < plan->buffer_count; i++) addresses[i] = copy->buffers[i].address;
    for (int i = 0; good && i < plan->launch_count; i++)
        good = session_bind(copy->session, i, addresses, &launches[i], error);
    free(addresses);
    return good;
}

static bool run(GpuCopy *copy, Cuda *cuda, const CaptureOptions *settings, Error *error) {
    const Session *session = copy->session;
    Launch launches[PLAN_LAUNCHES] = {0};
    Capture *capture =
        capture_open(cuda, (const PtxProgram *const *)session->run->launches.programs,
                     session->run->plan.launch_count, copy->buffers, copy->count, settings, error);
    bool good = capture && bind_launches(copy, launches, error) &&
                capture_run(capture, launches, copy->trace, &copy->tally, error);
    capture_close(capture);
    for (int i = 0; i < PLAN_LAUNCHES; i++) launch_done(&launches[i]);
    return good;
}

static uint32_t largest_block(const Session *session) {
    uint32_t most = 1;
    for (int i = 0; i < session->run->plan.launch_count; i++) {
        uint32_t threads = (uint32_t)launch_volume(session->run->plan.launches[i].block);
        if (threads > most) most = threads;
    }
    return most;
}

static bool capture(GpuCopy *copy, Cuda *cuda, CaptureOptions settings, Error *error) {
    const RunSpec *options = &copy->session->options;
    char path[PATH_MAX], *probe;
    size_t length;
    if (!catalog_path("assets/ptx", "probe.ptx", path, sizeof path, error) ||
        !text_read_file(path, PROBE_LIMIT_BYTES, &probe, &length, error))
        return false;
    uint32_t fault = copy->session->fault_block > 0 ? (uint32_t)copy->session->fault_block : 0;
    settings.first = options->has_trace_blocks ? options->trace_first : fault;
    settings.last = options->has_trace_blocks ? options->trace_last : fault;
    settings.other = copy->other;
    settings.threads = largest_block(copy->session);
    settings.probe = probe;
    bool good = run(copy, cuda, &settings, error);
    free(probe);
    return good;
}

bool session_gpu_copy_capture(GpuCopy *copy, const Session *session, Cuda *cuda,
                              const CaptureOptions *settings, Error *error) {
    *copy = (GpuCopy){.session = session, .trace = trace_new("gpu"), .other = -1};
    list_buffers(copy);
    bool good = capture(copy, cuda, *settings, error);
    for (int i = 0; i < copy->count; i++) copy->base[copy->buffers[i].index] = copy->buffers[i].address;
    return good;
}

/* ---- the GPU of this process ------------------------------------------------------------------------- */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static Cuda *kept; /* opening one takes a quarter of a second */

Cuda *session_gpu_take(Error *error) {
    pthread_mutex_lock(&turn);
    if (!kept) kept = cuda_open(error);
    if (kept && kept->hung)
        error_set(error,
                  "the GPU's driver is still busy with what did not return; restart redviz to use the GPU");
    if (kept && !kept->hung && cuda_use(kept, error)) return kept;
    pthread_mutex_unlock(&turn);
    return NULL;
}

static bool has_faulted;

void session_gpu_give_back(bool failed) {
    has_faulted |= kept->faulted;
    if (failed && !kept->hung) {
        cuda_close(kept);
        kept = NULL;
    }
    pthread_mutex_unlock(&turn);
}

bool session_gpu_is_hung(void) {
    return kept && kept->hung;
}

bool session_gpu_has_faulted(void) {
    return has_faulted;
}

/* ---- the session becomes the captured one ------------------------------------------------------------ */

/* Events of a GPU hold addresses of that machine in two places. Loaded pointers into buffers become what they
 * are in the emulator, so that a block can be replayed. And what lies in memory that the driver keeps to
 * itself (the workspace of a grid barrier, the heap), whose offsets are addresses, is counted from the lowest
 * of them. */
typedef struct SessionAddresses {
    const GpuCopy *copy;
    uint64_t low, high; /* of memory in no known buffer; low UINT64_MAX: none was accessed */
} SessionAddresses;

static bool is_other(const GpuCopy *copy, const TraceEvent *event, int lane) {
    switch (event->kind) {
    case TRACE_GLOBAL_LOAD:
    case TRACE_GLOBAL_STORE:
    case TRACE_GLOBAL_ATOMIC:
        return event->buffer[lane] == copy->other;
    default:
        return false;
    }
}

static void see_addresses(SessionAddresses *addresses, const TraceBlock *block) {
    TraceEvent event;
    for (int i = 0; i < trace_block_event_count(block); i++) {
        trace_block_read(block, i, &event);
        for (uint32_t rest = event.mask; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            if (!is_other(addresses->copy, &event, lane)) continue;
            uint64_t end = event.offset[lane] + (uint64_t)event.width;
            if (event.offset[lane] < addresses->low) addresses->low = event.offset[lane];
            if (end > addresses->high) addresses->high = end;
        }
    }
}

static bool may_be_pointer(const TraceLaunch *launch, const TraceEvent *event) {
    const PtxInstruction *in = launch->program->code[event->pc].instruction;
    return trace_kind_is_access(event->kind) && event->has_result && event->element_bytes == 8 &&
           !ptx_type_is_float(in->types[0]);
}

static bool translate_value(const GpuCopy *copy, uint64_t *value) {
    const Trace *trace = copy->trace;
    for (int i = 0; i < trace->buffer_count; i++) {
        if (!copy->base[i] || *value - copy->base[i] >= trace->buffers[i].bytes) continue;
        *value = *value - copy->base[i] + emulator_buffer_address(copy->session->run->emulator, i);
        return true;
    }
    return false;
}

static bool translate(const SessionAddresses *addresses, const TraceLaunch *launch, TraceEvent *event) {
    bool changed = false, values = may_be_pointer(launch, event);
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        for (int e = 0; values && e < event->element_count; e++)
            changed |= translate_value(addresses->copy, &event->value[e][lane]);
        if (!is_other(addresses->copy, event, lane)) continue;
        event->offset[lane] -= addresses->low;
        changed = true;
    }
    return changed;
}

/* NULL: there is nothing to translate. */
static TraceBlock *translated(const SessionAddresses *addresses, const TraceLaunch *launch,
                              const TraceBlock *block) {
    TraceBlock *to = trace_block_new(trace_block_linear(block));
    TraceEvent event;
    bool changed = false;
    for (int i = 0; i < trace_block_event_count(block); i++) {
        trace_block_read(block, i, &event);
        changed |= translate(addresses, launch, &event);
        trace_block_append(to, &event);
    }
    if (changed) return to;
    trace_block_free(to);
    return NULL;
}

static void translate_addresses(GpuCopy *copy) {
    SessionAddresses addresses = {copy, UINT64_MAX, 0};
    for (int l = 0; l < copy->trace->launch_count; l++)
        for (int i = 0; i < copy->trace->launches[l]->block_count; i++)
            see_addresses(&addresses, copy->trace->launches[l]->blocks[i]);
    addresses.low &= ~(uint64_t)(INSTRUMENT_REGION_ALIGNMENT - 1);
    if (copy->other >= 0 && addresses.high > addresses.low) {
        TraceBuffer *other = &copy->trace->buffers[copy->other];
        if (other->bytes < addresses.high - addresses.low) other->bytes = addresses.high - addresses.low;
    }
    for (int l = 0; l < copy->trace->launch_count; l++) {
        TraceLaunch *launch = copy->trace->launches[l];
        for (int i = 0; i < launch->block_count; i++) {
            TraceBlock *block = translated(&addresses, launch, launch->blocks[i]);
            if (!block) continue;
            trace_block_free(launch->blocks[i]);
            launch->blocks[i] = block;
        }
    }
}

/* What a GPU does not record: the counters of the whole grid, faults, what was printed. */
static void add_what_was_emulated(Trace *to, const Trace *emulated) {
    for (int i = 0; i < to->launch_count; i++) {
        TraceLaunch *launch = to->launches[i];
        launch->name = ptx_readable_name(launch->program->module, launch->program->entry->name);
        if (i >= emulated->launch_count) continue;
        const TraceLaunch *from = emulated->launches[i];
        launch->static_shared_bytes = from->static_shared_bytes;
        memcpy(launch->counters, from->counters,
               (size_t)launch->program->code_count * sizeof *launch->counters);
    }
    for (int i = 0; i < emulated->trap_count; i++) trace_add_trap(to, &emulated->traps[i]);
    text_add_bytes(&to->printed, text_string(&emulated->printed), emulated->printed.length);
}

static void take_over(Session *session, GpuCopy *copy, const char *device) {
    translate_addresses(copy);
    add_what_was_emulated(copy->trace, session->run->trace);
    for (int i = 0; i < session->run->plan.buffer_count; i++)
        memcpy(session->run->plan.buffers[i].bytes, copy->buffers[i].host, copy->buffers[i].bytes);
    trace_free(session->run->trace);
    session->run->trace = copy->trace;
    session->machine.unprobed = copy->tally.unprobed;
    copy->trace = NULL;
    session->machine.device = arena_copy_string(&session->arena, device);
}

bool session_needs_emulator(const Plan *plan) {
    bool needs = plan->module_count > 1;
    for (int i = 1; i < plan->launch_count; i++) needs |= plan->launches[i].write_count > 0;
    return needs;
}

/* The addresses of shared memory on the GPU, which its events hold. */
static void copy_symbols(Arena *arena, TraceLaunch *to, const TraceLaunch *from) {
    to->symbols = arena_new(arena, (size_t)(from->symbol_count + 1) * sizeof *to->symbols);
    to->symbol_count = from->symbol_count;
    for (int i = 0; i < from->symbol_count; i++) {
        to->symbols[i] = from->symbols[i];
        to->symbols[i].name = arena_copy_string(arena, from->symbols[i].name);
    }
}

static void take_blocks(TraceLaunch *to, TraceLaunch *from) {
    TraceLaunch old = *to;
    to->blocks = from->blocks, from->blocks = old.blocks;
    to->block_count = from->block_count, from->block_count = old.block_count;
    to->others = from->others, from->others = old.others;
    to->other_count = from->other_count, from->other_count = old.other_count;
    to->dropped = from->dropped;
}

static void take_memory(Plan *to, Plan *from) {
    for (int i = 0; i < to->buffer_count; i++) {
        uint8_t *old = to->buffers[i].bytes;
        to->buffers[i].bytes = from->buffers[i].bytes;
        from->buffers[i].bytes = old;
    }
}

static void take_machine(Session *to, Session *from) {
    SessionGrid none = to->machine.grid;
    to->machine.device = arena_copy_string(&to->arena, from->machine.device);
    to->machine.unprobed = from->machine.unprobed;
    to->machine.grid = from->machine.grid;
    to->machine.grid.why = arena_copy_string(&to->arena, from->machine.grid.why);
    to->machine.grid_was_read = from->machine.grid_was_read;
    from->machine.grid = none;
}

/* The emulator knows the faults of a kernel that traps in a later block. It shows them unless --backend gpu
 * was given. */
static bool can_take(const Session *whole, const Session *first) {
    return session_is_captured(first) && first->run->trace->launch_count == whole->run->trace->launch_count &&
           !strcmp(first->code.text, whole->code.text) &&
           (whole->options.backend == BACKEND_GPU || !trace_has_fault(whole->run->trace));
}

void session_take_events(Session *whole, Session *first) {
    if (!can_take(whole, first)) return;
    for (int i = 0; i < whole->run->trace->launch_count; i++) {
        copy_symbols(&whole->run->trace->arena, whole->run->trace->launches[i],
                     first->run->trace->launches[i]);
        take_blocks(whole->run->trace->launches[i], first->run->trace->launches[i]);
    }
    for (int i = 0; i < whole->run->trace->buffer_count && i < first->run->trace->buffer_count; i++)
        whole->run->trace->buffers[i].bytes = first->run->trace->buffers[i].bytes;
    take_memory(&whole->run->plan, &first->run->plan);
    whole->run->trace->producer = arena_copy_string(&whole->run->trace->arena, first->run->trace->producer);
    take_machine(whole, first);
    whole->has_result = first->has_result;
    whole->result = first->result;
    if (trace_has_fatal_trap(whole->run->trace)) whole->result.correct = false;
    whole->view_count = 0;
    session_list_blocks(whole);
}

bool session_capture(Session *session, uint32_t *most_blocks, Error *error) {
    *most_blocks = 0;
    Cuda *cuda = session_gpu_take(error);
    if (!cuda) return false;
    GpuCopy copy;
    cuda->cancel = session->options.cancel;
    bool good = session_gpu_copy_capture(&copy, session, cuda, &(CaptureOptions){0}, error);
    cuda->cancel = NULL;
    *most_blocks = copy.tally.most_blocks;
    if (good) take_over(session, &copy, cuda->name);
    session_gpu_copy_done(&copy);
    session_gpu_give_back(!good);
    return good;
}
