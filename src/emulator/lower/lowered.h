/* Lowered program: a PtxProgram prepared for one launch. Private to the emulator.
 *
 * Every register, temporary and special register of a function has a *slot* in the register file of its call
 * frames (op.h says how a slot is laid out); literals, addresses and entry parameters are slots of one pool
 * of constants. */
#ifndef EMULATOR_LOWER_LOWERED_H
#define EMULATOR_LOWER_LOWERED_H

#include "emulator/lower/op.h"
#include "ptx/launch.h"
#include "trace/trace.h"

enum { RESERVED_SHARED_BYTES = 1024 }; /* per block, on sm_80 and later */

/* How the scheduler treats an instruction. LANES to BRANCH affect only their own warp, so a warp may run
 * ahead of the others through them; an ORDERED instruction waits for its turn. */
typedef enum StepKind { STEP_LANES, STEP_NO_EFFECT, STEP_JUMP, STEP_BRANCH, STEP_ORDERED } StepKind;

typedef struct FrameSlot { /* a special register or address that a new frame fills in */
    int special; /* row of lower_specials.def; -1: `local_offset` bytes into the frame's local memory */
    uint32_t local_offset;
    uint32_t offset; /* in the frame's registers */
    uint8_t bytes;   /* 4 or 8 (2: low half) */
} FrameSlot;

typedef struct ParameterPlace { /* a .param or .local variable of a function */
    const PtxVariable *variable;
    uint32_t offset;
} ParameterPlace;

typedef struct CallValue { /* an argument or result, on the caller's or the callee's side */
    bool in_memory;        /* in a .param variable: `offset` in the frame's parameters; else in a register */
    uint32_t offset, bytes;
    Operand place;
    uint8_t part_bytes; /* of a register: its components, and the halves of 128 bits, are contiguous */
    bool present;
} CallValue;

/* The register that holds the value from byte `at`. */
static inline Operand call_value_part(const CallValue *value, uint32_t at) {
    uint32_t part = value->part_bytes ? at / value->part_bytes : 0;
    return (Operand){value->place.offset + part * value->part_bytes * WARP_LANES, value->place.constant};
}

typedef struct ClearedSlot {
    uint32_t offset, bytes;
    int lane_bytes; /* of a component; 0: a predicate, or CC.CF */
} ClearedSlot;

typedef struct FunctionLayout {
    const PtxFunction *function;
    int begin, end; /* its pcs */
    uint32_t register_bytes;
    uint32_t *register_offset; /* [register index]; UINT32_MAX: unused */
    uint32_t carry_offset;     /* CC.CF; UINT32_MAX: unused */
    bool has_pinned;           /* registers pass values (.reg parameters): no register shares a slot */
    /* registers share slots (register_slots.c): only `cleared` must start as 0 */
    bool shares_slots;
    ClearedSlot *cleared;
    int cleared_count, cleared_capacity;
    FrameSlot *slots;
    int slot_count, slot_capacity;
    ParameterPlace *parameters; /* .param variables: bytes per lane in the frame's parameter area */
    int parameter_count, parameter_capacity;
    uint32_t parameter_bytes;
    ParameterPlace *locals;
    int local_count, local_capacity;
    uint32_t local_bytes;           /* a multiple of 16 */
    CallValue *arguments, *results; /* [parameter_count], [result_count] of the function; arena */
} FunctionLayout;

typedef struct SharedPlace {
    const PtxVariable *variable; /* NULL: reserved by the system */
    const char *name;
    uint32_t offset, bytes;
} SharedPlace;

typedef struct LoweredProgram {
    const PtxProgram *program;
    Op *ops; /* [op_count] */
    int op_count;
    uint8_t *step; /* [op_count] StepKind */
    /* [op_count] end of the straight run of LANES and NO_EFFECT from here; no join inside */
    int32_t *run_end;
    bool *recorded;     /* [op_count] records events */
    uint8_t *constants; /* 64-byte aligned */
    size_t constant_bytes, constant_capacity;
    FunctionLayout *functions; /* as program->functions */
    SharedPlace *shared;       /* in window order; the dynamic part last */
    int shared_count, shared_capacity;
    int *arrays; /* [op_count] index in `shared` of the only array that the op accesses; -1: unknown */
    /* [op_count] the same for global memory: the region of the only parameter that the address depends on */
    int *buffers;
    int32_t *products; /* [op_count + 1] index products before each op; or NULL */
    /* without and with the dynamic part; shared_bytes includes the reserved part */
    uint32_t static_shared_bytes, shared_bytes;
    uint32_t reserved_shared_bytes; /* at the start of the window, if the program uses it */
    bool lets_blocks_communicate;   /* blocks may observe each other: atomics, fences, ordered accesses */
    bool uses_heap;                 /* malloc, free */
    bool may_fall_off; /* a function does not end in ret, exit, trap or bra: falling off its end is a ret */
    Arena arena;
} LoweredProgram;

/* What an operand needs before its instruction runs. */
typedef enum PreludeKind { PRELUDE_NOT, PRELUDE_SPECIAL } PreludeKind;
typedef struct Prelude {
    PreludeKind kind;
    Operand from, to;
    int special;
    uint8_t bytes;
    const struct Prelude *next;
} Prelude;

/* What the instruction set supplies to lowering: how to lower each opcode, and how to execute instructions
 * that use more than the registers of their lanes. */
typedef struct InstructionSet {
    bool (*const *lower)(Lowering *low, const PtxInstruction *in, Op *op); /* of each opcode */
    /* fills in arguments and results of the current layout */
    void (*lower_call_interface)(Lowering *low);
    /* turns an Op of class OP_LANES into one that records its result */
    void (*lower_recorded_result)(Lowering *low, Op *op);
    void (*lower_trap)(Lowering *low, Op *op); /* makes an Op of class OP_TRAP executable */
    OpFunction run_after_preludes; /* runs the preludes of the Op, then the Op that op->extra points to */
} InstructionSet;

typedef uint64_t (*AddressOf)(void *context, const PtxVariable *variable);

typedef struct LoweringOptions {
    bool shares_registers;        /* registers may share slots; otherwise every register keeps its value */
    bool records_approximate;     /* results that PTX does not define bit by bit are events too */
    const TraceLaunch *shared_as; /* places shared variables as this launch does; NULL: one after another */
} LoweringOptions;

/* Lowers for this launch with the handlers of `instructions`. `address_of` gives the address of .global and
 * .const variables. NULL with `error` if the launch does not fit the program (wrong parameter size, too much
 * shared memory). */
LoweredProgram *lowered_new(const Launch *launch, const InstructionSet *instructions,
                            const LoweringOptions *options, AddressOf address_of, void *context,
                            Error *error);
/* Fills in `arrays` and `buffers` (array_bases.c). `region_at`: the region that contains an address, or
 * -1. */
typedef int (*RegionAt)(void *context, uint64_t address);
void lowered_find_arrays(LoweredProgram *lowered, const Launch *launch, RegionAt region_at, void *context);
void lowered_free(LoweredProgram *lowered);
/* Appends every instruction with its slots, function by function. */
void lowered_print(const LoweredProgram *lowered, Text *out);

/* ---- for lower_NAME ---- */

typedef struct Mention { /* of a register by an instruction; ordered by pc */
    int pc, reg;
    bool defines; /* every lane that executes it writes the whole register and does not read it */
} Mention;

enum { REGISTER_SLOT_ALIGNMENT = 64 };
int register_type_bytes(PtxType type);           /* of one value in a register file; 0: a predicate */
int register_lane_bytes(const PtxRegister *reg); /* of one value; 0: a predicate, a bit a lane */
uint32_t register_slot_bytes(const PtxRegister *reg);
/* Assigns slots to the registers of a function, based on the mentions in its instructions. False: nothing
 * changed, every register keeps its own slot. */
bool register_slots_allocate(LoweredProgram *lowered, int function, const Mention *mentions,
                             int mention_count);

struct Lowering {
    LoweredProgram *lowered;
    const Launch *launch;
    const InstructionSet *instructions;
    const LoweringOptions *options;
    FunctionLayout *layout; /* of the function being lowered */
    const PtxInstruction *instruction;
    int pc;
    AddressOf address_of;
    void *context;
    Mention *mentions; /* of the function being lowered */
    int mention_count, mention_capacity;
    struct ConstantEntry *constants; /* by value */
    int constant_count, constant_capacity;
    int *constant_table; /* open hash table of indices + 1 */
    int constant_table_size;
};

Operand lowering_constant(Lowering *low, uint64_t bits, int bytes);
/* Call when all constants are known: moves them to aligned memory. */
void lowering_align_constants(LoweredProgram *lowered);
/* a new slot in the current function; 0: predicate */
Operand lowering_temporary(Lowering *low, int bytes);
/* The slot and width of an operand of kind REGISTER; false for any other operand. */
bool lowering_register(Lowering *low, const PtxOperand *operand, Operand *out, uint8_t *bytes);
uint32_t lowering_parameter_place(Lowering *low, const PtxVariable *variable);
typedef enum SpecialLifetime { SPECIAL_OF_WARP, SPECIAL_OF_BLOCK, SPECIAL_OF_ANEW } SpecialLifetime;
SpecialLifetime special_lifetime(int special);

#endif
