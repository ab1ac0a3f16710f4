/* How much of global memory the busiest thread of a run loads: whether threads share the work (ask.h). */
#include "ask/ask.h"
#include "trace/observer.h"

#include <stdlib.h>

typedef struct LoadedBytes {
    const Trace *trace;
    int launch;
    uint64_t most;
} LoadedBytes;

typedef struct LoadingBlock {
    LoadedBytes *of;
    uint64_t *bytes; /* [threads], in whole warps */
} LoadingBlock;

static size_t lanes_of(const LoadedBytes *of) {
    const uint32_t *block = of->trace->launches[of->launch]->block;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    return (size_t)((threads + WARP_LANES - 1) / WARP_LANES * WARP_LANES);
}

static void begin_launch(void *context, const Trace *trace, int launch) {
    LoadedBytes *of = context;
    of->trace = trace;
    of->launch = launch;
}

static void *begin_block(void *context, uint64_t linear) {
    LoadingBlock *block = memory_new(sizeof *block);
    (void)linear;
    *block = (LoadingBlock){context, memory_new(lanes_of(context) * sizeof(uint64_t))};
    return block;
}

static void end_block(void *context, bool is_stopped) {
    LoadingBlock *block = context;
    (void)is_stopped;
    free(block->bytes);
    free(block);
}

static void see_access(void *context, const TraceAccess *access) {
    LoadingBlock *block = context;
    LoadedBytes *of = block->of;
    const PtxInstruction *in = of->trace->launches[of->launch]->program->code[access->pc].instruction;
    if (access->space != PTX_SPACE_GLOBAL || trace_kind_of(in) != TRACE_GLOBAL_LOAD || !in->type_count)
        return;
    uint64_t width = (uint64_t)ptx_type_bytes(in->types[0]) * (in->vector > 1 ? (uint64_t)in->vector : 1);
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint64_t *bytes = &block->bytes[access->warp * WARP_LANES + __builtin_ctz(rest)];
        *bytes += width;
        if (*bytes > of->most) of->most = *bytes;
    }
}

static void ignore_sync(void *context, const TraceSync *sync) {
    (void)context, (void)sync;
}

static void ignore_copy(void *context, const TraceCopy *copy) {
    (void)context, (void)copy;
}

static void ignore_undefined(void *context, const TraceUndefined *undefined) {
    (void)context, (void)undefined;
}

bool ask_thread_bytes(const Session *session, uint64_t *bytes) {
    LoadedBytes of = {0};
    TraceObserver observer = {.context = &of,
                              .launch = begin_launch,
                              .block = begin_block,
                              .access = see_access,
                              .sync = ignore_sync,
                              .copy = ignore_copy,
                              .undefined = ignore_undefined,
                              .end = end_block};
    Session *again = session_is_from_file(session)
                         ? NULL
                         : session_vary(session, &(RunChange){.observer = &observer}, NULL);
    session_free(again);
    *bytes = of.most;
    return again;
}
