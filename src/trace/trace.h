/* Trace: the record of a run by either producer, the emulator or an instrumented GPU.
 *
 * A trace holds for each launch: the program, its geometry, whole-grid counters per instruction, traps, and
 * for the traced blocks the events in order. An *event* is one warp executing one recorded PTX instruction:
 * shared, global, local or constant access (parameters are not recorded), atomic, shuffle,
 * vote/match/activemask/elect, redux, barrier (block-wide, named, bar.warp.sync), conditional branch. Readers
 * of a trace (metrics, panes) use only this header and do not know which producer wrote it.
 *
 * Order: events of a launch are stored block by block. Inside a block they are in the order of a round-robin
 * schedule in which every warp that can run executes one instruction a turn: by (turn, warp). Program order
 * of each warp is kept.
 *
 * Addresses are canonical: (buffer, offset). Shared offsets are relative to a symbol; TraceSymbol has the
 * symbol's place in the block's shared window, which determines the banks. */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include "base/error.h"
#include "base/text.h"
#include "ptx/launch.h"
#include "trace/access.h"
#include "trace/check_tool.h"

typedef enum TraceKind {
    TRACE_NOT_RECORDED, /* instructions of this kind make no events */
#define KIND(id, text, is_access) TRACE_##id,
#include "trace/kinds.def"
#undef KIND
    TRACE_KIND_COUNT
} TraceKind;

const char *trace_kind_text(TraceKind kind); /* "shared_load" */
bool trace_kind_is_access(TraceKind kind);   /* has addresses */

/* The kind that an instruction records, from its text alone. A generic ld, st, atom, red (trace_is_generic)
 * gets its global kind here. A lane's address decides the real space at run time: trace_kind_in_space() names
 * the kind (constant memory through a generic address is global). An execution whose lanes access several
 * spaces makes one event for each (shared, global, local), with disjoint masks. */
TraceKind trace_kind_of(const PtxInstruction *instruction);
bool trace_is_generic(const PtxInstruction *instruction);
TraceKind trace_kind_in_space(TraceKind kind, PtxSpace space); /* GLOBAL_LOAD, SHARED: SHARED_LOAD */
/* An asynchronous copy makes two events when it is issued: trace_kind_of() is what it reads, this is what it
 * will write. It has the counters of a generic instruction. NOT_RECORDED: another instruction. */
TraceKind trace_written_kind_of(const PtxInstruction *instruction);
/* Observers see the range of a bulk copy in pieces of this many bytes: 16, the unit of its size, or 1 where
 * .cp_mask selects single bytes. */
int trace_bulk_piece(const PtxInstruction *instruction);
bool trace_kind_is_shared(TraceKind kind); /* its addresses are in shared memory */
bool trace_kind_is_local(TraceKind kind);
bool trace_kind_is_buffer(TraceKind kind); /* they are in a buffer of the trace: global or constant memory */
bool trace_kind_is_bulk(TraceKind kind);   /* one side of a bulk copy, by one lane */

enum { TRACE_MAX_ELEMENTS = 8 };

/* A decoded event, as readers see it. Lanes outside `mask` hold 0. */
typedef struct TraceEvent {
    TraceKind kind;
    int warp;
    int pc;
    uint32_t mask;       /* lanes that executed it (guard true) */
    uint32_t turn;       /* of the round-robin schedule, from 0 at the block's start */
    uint32_t interval;   /* block-wide barriers that this warp has passed */
    uint32_t occurrence; /* of this pc in this interval, for the thread of the lowest active lane, from 0 */
    int width;           /* accesses: bytes per lane (element_bytes * element_count) */
    int element_bytes;   /* of one value */
    int element_count;   /* 1, 2, 4, 8 */
    bool is_load;        /* accesses: reads memory (also true for atomics) */
    bool has_result;     /* values are present (red and barriers have none) */
    uint16_t buffer[WARP_LANES]; /* index into launch symbols (shared, local) or trace buffers (global) */
    uint64_t offset[WARP_LANES]; /* bytes within that buffer */
    /* Loaded, stored, shuffled in, voted, ...; zero-extended bits. */
    uint64_t value[TRACE_MAX_ELEMENTS][WARP_LANES];
    uint64_t operand[WARP_LANES]; /* atomics and redux, shuffle: the lane's own input; branch: unused */
    /* Shuffle: the lane whose value was taken; the own lane if kept (out of segment); -1: that lane was
     * inactive, the value is undefined. */
    int8_t source[WARP_LANES];
    /* Sync operations: the membermask; barriers: number of the barrier; shared accesses: 0, or 1 + the rank
     * in the cluster of another block, whose memory it is: trace_event_peer(). */
    uint32_t participants;
    uint32_t taken; /* branch: lanes that took it */
} TraceEvent;

/* The rank in its cluster of the block whose shared memory is accessed; -1: not another block's. */
static inline int trace_event_peer(const TraceEvent *event) {
    bool is_shared = event->kind == TRACE_SHARED_LOAD || event->kind == TRACE_SHARED_STORE ||
                     event->kind == TRACE_SHARED_ATOMIC || event->kind == TRACE_MBARRIER ||
                     event->kind == TRACE_SHARED_BULK_WRITE;
    return is_shared ? (int)event->participants - 1 : -1;
}

/* The cost of a shared load, store or atomic of this block, whose lanes have these offsets in its window.
 * `wavefront_of_lane`: NULL, or as in trace/access.h. */
SharedCost trace_shared_cost(const PtxProgram *program, const TraceEvent *event,
                             const uint64_t offsets[WARP_LANES], uint16_t wavefront_of_lane[WARP_LANES]);

enum { TRACE_CLUSTER_BARRIER = 16 }; /* the number of a cluster barrier; a block has 0 to 15 */
static inline bool trace_event_is_cluster_wait(const TraceEvent *event) {
    return event->kind == TRACE_NAMED_BARRIER && event->participants == TRACE_CLUSTER_BARRIER;
}

/* A shared variable, or a frame for all of a thread's local memory. */
typedef struct TraceSymbol {
    const char *name;
    PtxSpace space;
    uint64_t window_offset; /* shared: bytes from the start of the block's window (banks follow from it) */
    uint64_t bytes;
} TraceSymbol;

typedef struct TraceBuffer { /* global memory: arguments, module variables (.global, .const), workspace */
    const char *name;
    uint64_t bytes;
    PtxType type; /* element type for display; NO_TYPE: bytes */
} TraceBuffer;

/* Whole-grid counters of one instruction. Lane sums count threads that executed it (guard true). */
typedef struct TraceCounter {
    uint64_t executions; /* fragments that issued it (also with all guards false) */
    uint64_t lanes;      /* active lanes, summed */
    uint64_t requests;   /* executions with at least one active lane: memory requests, shuffles, ... */
    /* Generic ld, st, atom, red, and cp.async only: executions that accessed shared memory; global (or const)
     * memory. If the instruction names its space, these stay 0 and `requests` has the count. */
    uint64_t shared_requests, global_requests;
    /* Shared loads, stores and atomics, and the shared lanes of generic ones. (Session files of older
     * versions have 0 for atomics.) */
    uint64_t wavefronts, ideal_wavefronts;
    /* Global loads, stores and atomics, and the global lanes of generic ones. */
    uint64_t sectors, ideal_sectors;
    uint64_t divergent; /* branches: executions whose active lanes took different paths */
} TraceCounter;

typedef enum TrapKind {
#define TRAP(id, text, tool) TRAP_##id,
#include "trace/traps.def"
#undef TRAP
    TRAP_KIND_COUNT
} TrapKind;

const char *trap_kind_text(TrapKind kind); /* "out_of_bounds" */
TrapKind trap_kind_find(const char *text); /* TRAP_KIND_COUNT: there is none of this text */
CheckTool trap_kind_tool(TrapKind kind);   /* TRAP_KIND_COUNT: any */
const char *trap_kind_mark(TrapKind kind); /* "TRAP out_of_bounds"; "TRAP" for a trap instruction */
bool trap_kind_is_dropped(TrapKind kind);  /* an access that faults on a GPU, but did not end this run */
bool trap_kind_is_note(TrapKind kind);     /* nothing is known to be wrong with the run */
bool trap_kind_is_fatal(TrapKind kind);    /* false: the run continued */

typedef struct Trap { /* a fault of the kernel under study */
    TrapKind kind;
    int launch, pc; /* pc PTX_NO_PC: no single place (deadlock) */
    uint32_t block[3];
    int warp;
    uint32_t lanes;
    uint64_t address[WARP_LANES];
    PtxSpace space;     /* space of an access out of bounds; PTX_SPACE_GENERIC: another fault */
    int buffer;         /* index in trace->buffers of the buffer in `detail`; -1: none */
    bool is_of_block;   /* INSTRUCTION_BUDGET: that of one block */
    const char *detail; /* one line: "4 bytes past the end of `in` (4000 bytes); ..." */
} Trap;

typedef struct TraceBlock TraceBlock; /* encoded events of one traced block */

typedef struct TraceLaunch {
    const PtxProgram *program; /* borrowed: outlives the trace */
    const char *name;          /* readable entry name */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* blocks of a cluster; 1 x 1 x 1: no clusters */
    uint32_t static_shared_bytes, dynamic_shared_bytes;
    bool cooperative;
    TraceSymbol *symbols; /* shared variables in window order; then "local" */
    int symbol_count;
    TraceCounter *counters; /* [program->code_count], whole grid */
    TraceBlock **blocks;    /* traced blocks, ascending linear block index */
    int block_count;
    /* Blocks kept only for comparison; no metric counts them. */
    TraceBlock **others;
    int other_count;
    uint64_t dropped; /* events that did not fit (GPU buffers) */
    bool outdone;     /* an atomic minimum or maximum lost to what global memory held; emulator only */
} TraceLaunch;

typedef struct Trace {
    const char *producer; /* "emulator", "gpu" */
    TraceLaunch **launches;
    int launch_count;
    TraceBuffer *buffers;
    int buffer_count;
    Trap *traps;
    int trap_count;
    Text printed; /* what the kernel printed (vprintf), in block order: see trace_cut_printed() */
    Arena arena;  /* names, symbols, details */
} Trace;

/* The first megabyte of printed text is kept, the default size of CUDA's own buffer; one more byte shows that
 * there was more. */
enum { TRACE_PRINTED_BYTES = 1 << 20 };
void trace_cut_printed(Text *printed);

Trace *trace_new(const char *producer);
void trace_free(Trace *trace);
/* Copies the program and geometry of the launch, with zero counters. Does not keep `launch`. */
TraceLaunch *trace_add_launch(Trace *trace, const Launch *launch);
int trace_add_buffer(Trace *trace, const char *name, uint64_t bytes, PtxType type);
void trace_add_trap(Trace *trace, const Trap *trap); /* copies detail; keeps the first 64 and ignores more */

/* True if a trap ends the run on a GPU, whether or not it ended here. */
bool trace_has_fault(const Trace *trace);
/* True if a trap ended the run. */
bool trace_has_fatal_trap(const Trace *trace);
/* True if the first fatal trap is an instruction that is not emulated. */
bool trace_is_stopped(const Trace *trace);
/* Warp instructions executed by all launches; lanes that executed atomics on memory. */
uint64_t trace_count_instructions(const Trace *trace);
uint64_t trace_count_atomics(const Trace *trace);

/* Writing. One thread fills a block; blocks may be added in any order and are kept sorted. */
TraceBlock *trace_block_new(uint32_t linear_block);
void trace_block_append(TraceBlock *block, const TraceEvent *event);
void trace_block_drop(TraceBlock *block);                            /* counts an event that is not kept */
void trace_launch_add_block(TraceLaunch *launch, TraceBlock *block); /* takes ownership */
void trace_launch_add_other(TraceLaunch *launch, TraceBlock *block); /* as above, to `others` */
/* Moves the blocks of `from` that `launch` does not have to its others. */
void trace_launch_take_others(TraceLaunch *launch, TraceLaunch *from);

/* Reading. Events are numbered from 0 inside their block. */
uint32_t trace_block_linear(const TraceBlock *block);
int trace_block_event_count(const TraceBlock *block);
/* Memory in use: a million events of grid_stride take 200 MB. */
size_t trace_block_bytes(const TraceBlock *block);
/* In any order; sequential is fastest. */
void trace_block_read(const TraceBlock *block, int event, TraceEvent *out);
/* Without operands, and with values only for branch targets: leaves the rest untouched, and inactive lanes
 * undefined. For counts: much cheaper. */
void trace_block_read_places(const TraceBlock *block, int event, TraceEvent *out);
/* Header fields only (kind, warp, pc, mask, turn, interval, occurrence, taken): cheap. */
void trace_block_read_header(const TraceBlock *block, int event, TraceEvent *out);
/* NULL: not traced. */
const TraceBlock *trace_launch_find_block(const TraceLaunch *launch, uint32_t linear_block);

/* Linear indices: blocks in a cluster of this launch (1: no clusters), the rank of a block in its cluster,
 * and the block with a given rank in the same cluster. */
uint32_t trace_cluster_blocks(const TraceLaunch *launch);
uint32_t trace_cluster_rank(const TraceLaunch *launch, uint32_t linear_block);
uint32_t trace_cluster_member(const TraceLaunch *launch, uint32_t linear_block, uint32_t rank);

/* One event as a line of text, as --events prints it; stable, with canonical addresses. */
void trace_event_print(const Trace *trace, const TraceLaunch *launch, const TraceBlock *block,
                       const TraceEvent *event, Text *out);

#endif
