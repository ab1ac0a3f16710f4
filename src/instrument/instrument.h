/* Instrument: a kernel rewritten to record its own events, and its records decoded into a trace. A machine
 * runs it; the trace is the one that the emulator would have written.
 *
 * instrument() prints a module with the wanted entries and all they call, in which every instruction that a
 * trace records (trace_kind_of()) has a *probe*: a call of a function of kernels/probe.cu, whose PTX is
 * merged in. A place with a probe is a *site*; sites are numbered. The probe appends a *record* to the
 * *region* that the block has in the trace buffer: which site, which warp, the lanes that were active
 * together, and the values of those lanes. Where the block is not traced, nothing is called.
 *
 * The program that is traced is the original one: pcs, names and source lines are those of its PtxProgram,
 * and only the GPU driver sees the instrumented text.
 *
 * Life of a trace buffer: instrument() - load the module - make a buffer of region_bytes for each traced
 * block, all zero - instrument_settings() into the variable INSTRUMENT_VARIABLE - launch - copy the buffer
 * back - instrument_decode() region by region. */
#ifndef INSTRUMENT_INSTRUMENT_H
#define INSTRUMENT_INSTRUMENT_H

#include "trace/trace.h"

/* ---- the text --------------------------------------------------------------------------------------- */

typedef enum InstrumentFieldKind {
    INSTRUMENT_ADDRESS,
    INSTRUMENT_VALUE,   /* `element` of what was loaded, stored, found, shuffled in, voted, ... */
    INSTRUMENT_OPERAND, /* atomics, shuffles, redux, vote, match: the lane's own input; brx: the index */
    INSTRUMENT_CONTROL  /* shuffles: b and c, as instrument_control() packs them */
} InstrumentFieldKind;

typedef struct InstrumentField { /* a column of a record */
    uint8_t kind, element;
    bool wide; /* 8 bytes a lane; else 4 */
} InstrumentField;

enum { INSTRUMENT_FIELDS = 10 };

typedef struct InstrumentSite {
    int function, place; /* index in the module's functions; number of the instruction in it, from 0 */
    const PtxInstruction *instruction;
    TraceKind kind; /* as trace_kind_of() says */
    bool is_behind; /* the probe stands behind the instruction, since it needs its result */
    bool may_spin;  /* lies in a loop that may wait for others: its records are limited */
    bool has_control;
    uint32_t control;                     /* shuffles: b and c, where the text says them */
    uint8_t element_bytes, element_count; /* as in TraceEvent */
    InstrumentField fields[INSTRUMENT_FIELDS];
    int field_count, wide_count, narrow_count;
} InstrumentSite;

/* Variables whose addresses the kernel records: shared, the entry's local ones, and constants (twice: their
 * address among constants, and the generic one). Where the kernel maps addresses to other blocks of its cluster, also where
 * mapa puts a shared one of rank 0: what is above the offset there says how the machine writes ranks. */
typedef struct InstrumentSymbol {
    const PtxVariable *variable;
    bool is_generic;
    bool is_mapped;
} InstrumentSymbol;

typedef struct InstrumentSites {
    const PtxModule *module; /* borrowed */
    InstrumentSite *sites;   /* those that may spin come first */
    int site_count, spin_count;
    InstrumentSymbol *symbols;
    int symbol_count;
    bool *has_variable; /* [variable of the module] it is in the instrumented module, too */
    int unprobed; /* instructions that a trace would record, but that have no probe (asynchronous stores) */
    Arena arena;
} InstrumentSites;

/* Programs are of one module, so that launches of different entries share its variables. `probe`: the text of
 * assets/ptx/probe.ptx. `approximate`: results of .approx instructions are recorded, too, so that another
 * producer's can be compared with them (TRACE_APPROXIMATE). `sites` is filled anew; free with
 * instrument_sites_done(). The programs and the module must outlive it. Fails with `error` where a body does
 * not parse, and on text that cannot be instrumented (32-bit addresses, instrumented before). */
bool instrument(const PtxProgram *const *programs, int program_count, const char *probe, bool approximate,
                Text *out, InstrumentSites *sites, Error *error);
void instrument_sites_done(InstrumentSites *sites);
/* Marks the instructions that lie in a loop that may wait for others: waits[program->code_count]. How often they are
 * executed depends only on scheduling. */
void instrument_find_waiting(const PtxProgram *program, bool *waits);
const PtxOperand *instrument_address(const InstrumentSite *site); /* the memory operand of an access */

/* b: lane, delta or xor mask; c: clamp and segment mask ("shfl.sync"). */
static inline uint32_t instrument_control(uint32_t b, uint32_t c) {
    return (b & 31) | (c & 0x1f1f) << 8;
}

/* ---- the buffer ------------------------------------------------------------------------------------- */

#define INSTRUMENT_VARIABLE                                                                                  \
    "redviz_settings" /* of the instrumented module: .const, INSTRUMENT_SETTINGS bytes */

enum {
    INSTRUMENT_SETTINGS_BYTES = 48,
    INSTRUMENT_SPIN_LIMIT = 256, /* records of one site and warp in a loop that waits; then the latest
                                    replaces the one before it */
    INSTRUMENT_REGION_ALIGNMENT = 256
};

typedef struct InstrumentSettings {
    uint64_t buffer; /* device address, a multiple of INSTRUMENT_REGION_ALIGNMENT; 0: nothing is traced */
    uint64_t region_bytes;  /* a multiple of that too, at least instrument_region_minimum(), below 4 GB */
    uint64_t first, last;   /* traced blocks, linear, inclusive */
    uint32_t block_threads; /* threads of a block of this launch */
    uint32_t spin_limit;    /* 0: INSTRUMENT_SPIN_LIMIT */
} InstrumentSettings;

/* Bytes of a region before its first record, rounded up, and room for a few records. */
uint64_t instrument_region_minimum(const InstrumentSites *sites, uint32_t block_threads);
void instrument_settings(const InstrumentSites *sites, const InstrumentSettings *settings,
                         uint8_t out[INSTRUMENT_SETTINGS_BYTES]);

/* ---- records ---------------------------------------------------------------------------------------- */

typedef struct InstrumentBuffer { /* global memory that the kernel may access */
    uint64_t base, bytes;         /* device address */
    int buffer;                   /* index in the trace */
    const char *variable;         /* name of a module variable; NULL: not one */
    int element_bytes;            /* 0: not known */
} InstrumentBuffer;

typedef struct InstrumentMemory {
    const InstrumentBuffer *buffers;
    int count;
    int other; /* buffer of the trace for addresses outside all of them, whose offset is the address; -1: they
                  are an error */
} InstrumentMemory;

typedef struct InstrumentTally {
    uint64_t records;  /* decoded */
    uint64_t dropped;  /* found no room */
    uint64_t left_out; /* iterations of spin loops: their place was taken by a later one */
} InstrumentTally;

/* Decodes the region of one block, adds the block to `launch` (program, grid and block must be set; its
 * dropped count grows) and fills launch->symbols where they are not yet (names live in `arena`). Turns are
 * those of a schedule in which every warp records one event a turn and waits at barriers. Iterations of spin
 * loops collapse as in the emulator. false with `error`: the region is damaged; nothing was added. */
bool instrument_decode(const InstrumentSites *sites, const InstrumentSettings *settings,
                       const InstrumentMemory *memory, uint32_t block, const uint8_t *region, Arena *arena,
                       TraceLaunch *launch, InstrumentTally *tally, Error *error);

#endif
