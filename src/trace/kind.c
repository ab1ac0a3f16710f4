/* The kind of event that an instruction records, and the names of kinds and traps. */
#include "ptx/opcodes.h"
#include "trace/trace.h"

#include <string.h>

static const struct Kind {
    const char *text;
    bool is_access;
} kinds[TRACE_KIND_COUNT] = {
    [TRACE_NOT_RECORDED] = {"not_recorded", false},
#define KIND(id, text, is_access) [TRACE_##id] = {text, is_access},
#include "trace/kinds.def"
#undef KIND
};

static const char *const trap_texts[TRAP_KIND_COUNT] = {
#define TRAP(id, text, tool) [TRAP_##id] = text,
#include "trace/traps.def"
#undef TRAP
};

const char *trace_kind_text(TraceKind kind) {
    return kinds[kind].text;
}
bool trace_kind_is_access(TraceKind kind) {
    return kinds[kind].is_access;
}
const char *trap_kind_mark(TrapKind kind) {
    static const char *const marks[] = {
#define TRAP(id, text, tool) "TRAP " text,
#include "trace/traps.def"
#undef TRAP
    };
    return kind == TRAP_TRAP_INSTRUCTION ? "TRAP" : marks[kind];
}

CheckTool trap_kind_tool(TrapKind kind) {
    static const CheckTool tools[TRAP_KIND_COUNT + 1] = {
#define TRAP(id, text, tool) TOOL_##tool,
#include "trace/traps.def"
#undef TRAP
        TOOL_ANY};
    return tools[kind];
}

const char *trap_kind_text(TrapKind kind) {
    return trap_texts[kind];
}

TrapKind trap_kind_find(const char *text) {
    int kind = 0;
    while (kind < TRAP_KIND_COUNT && strcmp(trap_texts[kind], text) != 0) kind++;
    return (TrapKind)kind;
}

bool trap_kind_is_dropped(TrapKind kind) {
    return kind == TRAP_READ_OUTSIDE || kind == TRAP_WRITE_OUTSIDE;
}

bool trap_kind_is_note(TrapKind kind) {
    return kind == TRAP_OVERWRITTEN_PADDING;
}

bool trap_kind_is_fatal(TrapKind kind) {
    return kind != TRAP_UNINITIALIZED && kind != TRAP_UNWRITTEN_REGISTER && kind != TRAP_UNWRITTEN &&
           kind != TRAP_LANE_OUTSIDE_MASK && kind != TRAP_HEAP_OVERRUN && kind != TRAP_USE_AFTER_FREE &&
           kind != TRAP_ARRAY_OVERRUN && !trap_kind_is_note(kind) && !trap_kind_is_dropped(kind);
}

typedef enum Direction { LOAD, STORE, ATOMIC } Direction;

static TraceKind kind_of_access(Direction direction, PtxSpace space) {
    switch (space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        return (TraceKind[]){TRACE_SHARED_LOAD, TRACE_SHARED_STORE, TRACE_SHARED_ATOMIC}[direction];
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_GENERIC:
        return (TraceKind[]){TRACE_GLOBAL_LOAD, TRACE_GLOBAL_STORE, TRACE_GLOBAL_ATOMIC}[direction];
    case PTX_SPACE_LOCAL:
        return (TraceKind[]){TRACE_LOCAL_LOAD, TRACE_LOCAL_STORE, TRACE_NOT_RECORDED}[direction];
    case PTX_SPACE_CONST:
        return direction == LOAD ? TRACE_CONSTANT_LOAD : TRACE_NOT_RECORDED;
    case PTX_SPACE_REG:
    case PTX_SPACE_PARAM:
    case PTX_SPACE_TEX:
        break;
    }
    return TRACE_NOT_RECORDED;
}

/* bar.sync a{, b}; bar.arrive a, b; bar.red d, a{, b}, p: b is the number of threads that take part. */
static TraceKind kind_of_barrier(const PtxInstruction *in) {
    if (ptx_instruction_has(in, PTX_MOD_WARP)) return TRACE_WARP_SYNC;
    /* Nothing waits there. */
    if (ptx_instruction_has(in, PTX_MOD_CLUSTER) && ptx_instruction_has(in, PTX_MOD_ARRIVE))
        return TRACE_NOT_RECORDED;
    if (ptx_instruction_has(in, PTX_MOD_ARRIVE) || ptx_instruction_has(in, PTX_MOD_CLUSTER))
        return TRACE_NAMED_BARRIER;
    int without_count = ptx_instruction_has(in, PTX_MOD_RED) ? 3 : 1;
    return in->operand_count > without_count ? TRACE_NAMED_BARRIER : TRACE_BARRIER;
}

/* True if a bulk copy reads global memory: its second space is the source, the first that of the
 * instruction. */
static bool reads_global(const PtxInstruction *in) {
    return in->space != PTX_SPACE_GLOBAL && ptx_instruction_has(in, PTX_MOD_GLOBAL);
}

static TraceKind kind_of_copy(const PtxInstruction *in) {
    switch (ptx_asynchronous(in)) {
    case PTX_ASYNC_COPY:
        return TRACE_GLOBAL_LOAD;
    case PTX_ASYNC_COMMIT:
    case PTX_ASYNC_WAIT:
    case PTX_ASYNC_WAIT_ALL:
    case PTX_ASYNC_BULK_COMMIT:
    case PTX_ASYNC_BULK_WAIT:
        return TRACE_ASYNC_GROUP;
    case PTX_ASYNC_ARRIVE:
        return TRACE_MBARRIER;
    case PTX_ASYNC_BULK_COPY:
    case PTX_ASYNC_BULK_REDUCE:
        return reads_global(in) ? TRACE_GLOBAL_BULK_READ : TRACE_SHARED_BULK_READ;
    default:
        return TRACE_NOT_RECORDED;
    }
}

TraceKind trace_written_kind_of(const PtxInstruction *instruction) {
    switch (ptx_asynchronous(instruction)) {
    case PTX_ASYNC_COPY:
        return TRACE_SHARED_STORE;
    case PTX_ASYNC_BULK_COPY:
    case PTX_ASYNC_BULK_REDUCE:
        return instruction->space == PTX_SPACE_GLOBAL ? TRACE_GLOBAL_BULK_WRITE : TRACE_SHARED_BULK_WRITE;
    default:
        return TRACE_NOT_RECORDED;
    }
}

int trace_bulk_piece(const PtxInstruction *instruction) {
    return ptx_instruction_has(instruction, PTX_MOD_CP_MASK) ? 1 : 16;
}

bool trace_kind_is_shared(TraceKind kind) {
    switch (kind) {
    case TRACE_SHARED_LOAD:
    case TRACE_SHARED_STORE:
    case TRACE_SHARED_ATOMIC:
    case TRACE_MBARRIER:
    case TRACE_SHARED_BULK_READ:
    case TRACE_SHARED_BULK_WRITE:
        return true;
    default:
        return false;
    }
}

bool trace_kind_is_local(TraceKind kind) {
    return kind == TRACE_LOCAL_LOAD || kind == TRACE_LOCAL_STORE;
}

bool trace_kind_is_buffer(TraceKind kind) {
    return trace_kind_is_access(kind) && !trace_kind_is_shared(kind) && !trace_kind_is_local(kind);
}

bool trace_kind_is_bulk(TraceKind kind) {
    return kind >= TRACE_GLOBAL_BULK_READ && kind <= TRACE_SHARED_BULK_WRITE;
}

/* ---- the column "event" of ptx/opcodes.def ---------------------------------------------------------- */

static TraceKind kind_of_load(const PtxInstruction *in) {
    return kind_of_access(LOAD, in->space);
}

static TraceKind kind_of_store(const PtxInstruction *in) {
    return kind_of_access(STORE, in->space);
}

static TraceKind kind_of_atomic(const PtxInstruction *in) {
    return kind_of_access(ATOMIC, in->space);
}

static TraceKind kind_of_wmma(const PtxInstruction *in) {
    if (ptx_instruction_has(in, PTX_MOD_MMA)) return TRACE_MATRIX;
    return kind_of_access(ptx_instruction_has(in, PTX_MOD_STORE) ? STORE : LOAD, in->space);
}

static TraceKind kind_of_wgmma(const PtxInstruction *in) {
    bool is_group =
        ptx_instruction_has(in, PTX_MOD_COMMIT_GROUP) || ptx_instruction_has(in, PTX_MOD_WAIT_GROUP);
    return ptx_instruction_has(in, PTX_MOD_MMA_ASYNC) ? TRACE_MATRIX
           : is_group                                 ? TRACE_ASYNC_GROUP
                                                      : TRACE_NOT_RECORDED;
}

static TraceKind kind_of_mbarrier(const PtxInstruction *in) {
    return ptx_instruction_has(in, PTX_MOD_PENDING_COUNT) ? TRACE_NOT_RECORDED : TRACE_MBARRIER;
}

static TraceKind kind_of_bra(const PtxInstruction *in) {
    return in->guard.kind == PTX_OPERAND_NONE ? TRACE_NOT_RECORDED : TRACE_BRANCH;
}

/* One kind for every instruction of the opcode. */
#define ALWAYS(name, kind)                                                                                   \
    static TraceKind kind_of_##name(const PtxInstruction *in) {                                              \
        (void)in;                                                                                            \
        return kind;                                                                                         \
    }
ALWAYS(matrix, TRACE_MATRIX)
ALWAYS(texture, TRACE_TEXTURE)
ALWAYS(shuffle, TRACE_SHUFFLE)
ALWAYS(vote, TRACE_VOTE)
ALWAYS(redux, TRACE_REDUX)
ALWAYS(branch, TRACE_BRANCH)
#undef ALWAYS

TraceKind trace_kind_of(const PtxInstruction *instruction) {
    static TraceKind (*const kind_of[PTX_OPCODE_COUNT])(const PtxInstruction *) = {
#define OPCODE(...)
#define RECORDED(name, section, syntax, meaning, event, ...) [PTX_##name] = kind_of_##event,
#include "ptx/opcodes.def"
#undef OPCODE
    };
    return kind_of[instruction->opcode] ? kind_of[instruction->opcode](instruction) : TRACE_NOT_RECORDED;
}

bool trace_is_generic(const PtxInstruction *instruction) {
    if (instruction->space != PTX_SPACE_GENERIC || instruction->opcode == PTX_cp) return false;
    TraceKind kind = trace_kind_of(instruction);
    return kind == TRACE_GLOBAL_LOAD || kind == TRACE_GLOBAL_STORE || kind == TRACE_GLOBAL_ATOMIC;
}

TraceKind trace_kind_in_space(TraceKind kind, PtxSpace space) {
    /* A generic load from constant memory counts as global. */
    PtxSpace reached = space == PTX_SPACE_CONST ? PTX_SPACE_GLOBAL : space;
    switch (kind) {
    case TRACE_SHARED_LOAD:
    case TRACE_GLOBAL_LOAD:
    case TRACE_LOCAL_LOAD:
        return kind_of_access(LOAD, reached);
    case TRACE_SHARED_STORE:
    case TRACE_GLOBAL_STORE:
    case TRACE_LOCAL_STORE:
        return kind_of_access(STORE, reached);
    case TRACE_SHARED_ATOMIC:
    case TRACE_GLOBAL_ATOMIC:
        return kind_of_access(ATOMIC, reached);
    default:
        return kind;
    }
}
