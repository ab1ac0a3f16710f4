/* Instrument: rewrites a kernel to record its own events, and decodes them into a trace. A GPU runs the
 * kernel; the trace is the one that the emulator would write.
 *
 * instrument() prints a module with the wanted entries and everything they call. Every instruction that a
 * trace records (trace_kind_of()) has a *probe*: a call of a function of kernels/probe.cu, whose PTX is
 * merged in. A place with a probe is a *site*; sites are numbered. The probe appends a *record* to the
 * block's *region* of the trace buffer: the site, the warp, the lanes that were active together, and their
 * values. A block that is not traced makes no calls.
 *
 * The trace describes the original program: pcs, names and source lines are those of its PtxProgram. Only the
 * GPU driver sees the instrumented text.
 *
 * Life of a trace buffer: instrument() - load the module - allocate region_bytes for each traced block, all
 * zero - instrument_settings() into the variable INSTRUMENT_VARIABLE - launch - copy the buffer back -
 * instrument_decode() region by region. */
#ifndef INSTRUMENT_INSTRUMENT_H
#define INSTRUMENT_INSTRUMENT_H

#include "base/tensor_map.h"
#include "trace/trace.h"

/* ---- the text --------------------------------------------------------------------------------------- */

typedef enum InstrumentFieldKind {
    INSTRUMENT_ADDRESS,
    INSTRUMENT_VALUE,   /* `element` of the value loaded, stored, found, shuffled, voted, ... */
    INSTRUMENT_OPERAND, /* atomics, shuffles, redux, vote, match: the lane's own input; brx: the index */
    INSTRUMENT_CONTROL  /* shuffles: b and c, packed by instrument_control() */
} InstrumentFieldKind;

typedef struct InstrumentField { /* a column of a record */
    uint8_t kind, element;
    bool wide; /* 8 bytes per lane; otherwise 4 */
} InstrumentField;

enum { INSTRUMENT_FIELDS = 10 };

typedef struct InstrumentSite {
    int function, place; /* index in the module's functions; index of the instruction in the function */
    const PtxInstruction *instruction;
    TraceKind kind; /* from trace_kind_of() */
    bool is_behind; /* the probe follows the instruction, because it needs its result */
    bool may_spin;  /* in a loop that may wait for others: its records are limited */
    bool has_control;
    uint32_t control;                     /* shuffles: b and c, if the text determines them */
    uint8_t element_bytes, element_count; /* as in TraceEvent */
    uint8_t group_registers;              /* wgmma: registers of D, in as many records as they need */
    InstrumentField fields[INSTRUMENT_FIELDS];
    int field_count, wide_count, narrow_count;
} InstrumentSite;

/* Variables whose addresses the kernel records: shared, the entry's local ones, and constants (twice: their
 * address among constants, and the generic one). If an instruction is of clusters, also the result of mapa
 * for a shared variable of rank 0: the bits above the offset show how the machine encodes ranks. */
typedef struct InstrumentSymbol {
    const PtxVariable *variable;
    bool is_generic;
    bool is_mapped;
} InstrumentSymbol;

typedef struct InstrumentSites {
    const PtxModule *module; /* borrowed */
    InstrumentSite *sites;   /* sites that may spin come first */
    int site_count, spin_count;
    InstrumentSymbol *symbols;
    int symbol_count;
    bool *has_variable; /* [variable of the module] present in the instrumented module */
    int unprobed;       /* recorded in a trace, but without a probe */
    Arena arena;
} InstrumentSites;

/* The programs belong to one module, so that launches of different entries share its variables. `probe`: the
 * text of assets/ptx/probe.ptx. `approximate`: also records results of .approx instructions, to compare them
 * with another producer's (TRACE_APPROXIMATE). Overwrites `sites`; free them with instrument_sites_done().
 * The programs and the module must outlive them. Fails with `error` if a body does not parse, or if the text
 * cannot be instrumented (32-bit addresses, already instrumented). */
bool instrument(const PtxProgram *const *programs, int program_count, const char *probe, bool approximate,
                Text *out, InstrumentSites *sites, Error *error);
void instrument_sites_done(InstrumentSites *sites);
/* Marks the instructions in loops that may wait for others: waits[program->code_count]. Only scheduling
 * decides how often they execute. */
void instrument_find_waiting(const PtxProgram *program, bool *waits);

/* b: lane, delta or xor mask; c: clamp and segment mask ("shfl.sync"). */
static inline uint32_t instrument_control(uint32_t b, uint32_t c) {
    return (b & 31) | (c & 0x1f1f) << 8;
}

/* ---- the buffer ------------------------------------------------------------------------------------- */

#define INSTRUMENT_VARIABLE                                                                                  \
    "redviz_settings" /* in the instrumented module: .const, INSTRUMENT_SETTINGS bytes */

enum {
    INSTRUMENT_SETTINGS_BYTES = 48,
    /* records per site and warp in a waiting loop; then the latest one replaces the previous one */
    INSTRUMENT_SPIN_LIMIT = 256,
    INSTRUMENT_REGION_ALIGNMENT = 256
};

typedef struct InstrumentSettings {
    uint64_t buffer; /* device address, a multiple of INSTRUMENT_REGION_ALIGNMENT; 0: nothing is traced */
    uint64_t region_bytes;  /* also such a multiple, at least instrument_region_minimum(), below 4 GB */
    uint64_t first, last;   /* traced blocks, linear, inclusive */
    uint32_t block_threads; /* threads of a block of this launch */
    uint32_t spin_limit;    /* 0: INSTRUMENT_SPIN_LIMIT */
} InstrumentSettings;

/* Bytes of a region before its first record, rounded up, plus room for a few records. */
uint64_t instrument_region_minimum(const InstrumentSites *sites, uint32_t block_threads);
void instrument_settings(const InstrumentSites *sites, const InstrumentSettings *settings,
                         uint8_t out[INSTRUMENT_SETTINGS_BYTES]);

/* ---- records ---------------------------------------------------------------------------------------- */

typedef struct InstrumentBuffer { /* global memory that the kernel may access */
    uint64_t base, bytes;         /* device address */
    int buffer;                   /* index in the trace */
    const char *variable;         /* name of a module variable; NULL: not one */
    int element_bytes;            /* 0: unknown */
} InstrumentBuffer;

typedef struct InstrumentTensor { /* a tensor map that the kernel may use */
    uint64_t digest; /* of its 128 bytes as the kernel finds them, in the encoding of its machine */
    TensorMap map;   /* `address`: on the device */
} InstrumentTensor;

uint64_t instrument_tensor_digest(const uint8_t bytes[TENSOR_MAP_BYTES]);

typedef struct InstrumentMemory {
    const InstrumentBuffer *buffers;
    int count;
    const InstrumentTensor *tensors;
    int tensor_count;
    /* buffer of the trace for addresses outside all buffers, whose offset is the address; -1: such an address
     * is an error */
    int other;
} InstrumentMemory;

typedef struct InstrumentTally {
    uint64_t records;  /* decoded */
    uint64_t dropped;  /* for lack of room */
    uint64_t left_out; /* iterations of spin loops that later ones replaced */
} InstrumentTally;

/* Decodes the region of one block, adds the block to `launch` (program, grid and block must be set; adds to
 * its dropped count) and fills in launch->symbols if empty (names live in `arena`). Turns are those of a
 * schedule in which every warp records one event per turn and waits at barriers. Iterations of spin loops
 * collapse as in the emulator. False with `error`: the region is damaged; nothing was added. */
bool instrument_decode(const InstrumentSites *sites, const InstrumentSettings *settings,
                       const InstrumentMemory *memory, uint32_t block, const uint8_t *region, Arena *arena,
                       TraceLaunch *launch, InstrumentTally *tally, Error *error);

#endif
