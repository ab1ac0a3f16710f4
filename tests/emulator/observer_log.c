#include "observer_log.h"
#include "ptx/opcodes.h"

#include <inttypes.h>

static void launch(void *context, const Trace *trace, int number) {
    ObserverLog *log = context;
    log->launch = trace->launches[number];
    text_print(&log->text, "launch %d\n", number);
}

static void *block(void *context, uint64_t linear) {
    ObserverLog *log = context;
    text_print(&log->text, "block %" PRIu64 "\n", linear);
    return context;
}

static void print_bytes(Text *log, const char *what, const uint8_t *bytes, int count) {
    text_print(log, " %s", what);
    for (int i = 0; i < count; i++) text_print(log, "%02x", bytes[i]);
}

/* The first byte of a lane's access, before the access. */
static void access(void *context, const TraceAccess *access) {
    const TraceLaunch *launch = ((ObserverLog *)context)->launch;
    Text *log = &((ObserverLog *)context)->text;
    bool is_store = launch->program->code[access->pc].instruction->opcode == PTX_st;
    text_print(log, "access pc %d warp %d mask %08x space %d buffer %d%s", access->pc, access->warp,
               (unsigned)access->mask, (int)access->space, access->buffer, access->arrives ? " arrives" : "");
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t offset = trace_access_offset(access, lane);
        uint8_t stored[64] = {0};
        text_print(log, " [%d: %" PRIu64, lane, offset);
        print_bytes(log, "", access->memory + offset, 1);
        if (is_store) access->stored(access, lane, stored);
        if (is_store) print_bytes(log, "to ", stored, 4);
        text_print(log, "]");
    }
    text_print(log, "\n");
}

static void sync(void *context, const TraceSync *sync) {
    Text *log = &((ObserverLog *)context)->text;
    text_print(log, "sync %d pc %d warp %d number %d mask %08x exited %08x blockwide %d", (int)sync->kind,
               sync->pc, sync->warp, sync->number, (unsigned)sync->mask, (unsigned)sync->exited,
               sync->is_blockwide);
    for (int w = 0; w < sync->released_count; w++)
        text_print(log, " [%d %08x %08x]", sync->released[w].pc, (unsigned)sync->released[w].mask,
                   (unsigned)sync->released[w].exited);
    text_print(log, "\n");
}

static void copy(void *context, const TraceCopy *copy) {
    text_print(&((ObserverLog *)context)->text, "copy %d pc %d warp %d lane %d\n", (int)copy->kind, copy->pc,
               copy->warp, copy->lane);
}

static void undefined(void *context, const TraceUndefined *undefined) {
    text_print(&((ObserverLog *)context)->text, "undefined pc %d of %d warp %d lanes %08x use %d\n",
               undefined->pc, undefined->origin, undefined->warp, (unsigned)undefined->lanes,
               (int)undefined->use);
}

static void end(void *context, bool is_stopped) {
    text_print(&((ObserverLog *)context)->text, "end %d\n", is_stopped);
}

TraceObserver observer_log(ObserverLog *log) {
    return (TraceObserver){.context = log,
                           .launch = launch,
                           .block = block,
                           .access = access,
                           .sync = sync,
                           .copy = copy,
                           .undefined = undefined,
                           .end = end};
}
