/* Step context: the scene at the view's place, decoded once per frame; the argument of every pane. */
#ifndef TUI_VIEW_STEP_CONTEXT_H
#define TUI_VIEW_STEP_CONTEXT_H

#include "tui/scene/scene.h"
#include "tui/view/view.h"

typedef struct StepContext {
    const Scene *scene;
    const View *view;
    const TraceLaunch *launch;
    const Steps *steps;
    StepIndex *step_index;
    const Step *step;
    const PtxCode *code; /* of the step's instruction */
    int event_number;    /* the event shown: of the selected warp, else the step's first */
    TraceEvent event;
    /* The access that ended the run, if it is of the selected warp and at this step: it left no event, and
     * `event` is made from the trap; else NULL. */
    const Trap *trap;
    /* Shared accesses: */
    uint64_t address[WARP_LANES]; /* in the block's window: banks follow from it */
    SharedCost cost;              /* zero: not known */
    uint16_t wavefront_of_lane[WARP_LANES];
    const struct StepContext *beside; /* the other run of a comparison; NULL: none */
} StepContext;

/* False if there is nothing to show: no traced block, or one without events. */
bool step_context_init(StepContext *context, const Scene *scene, const View *view);

/* The warp's lanes that have a thread. */
uint32_t step_context_existing_lanes(const StepContext *context, int warp);

/* Wavefronts of the access shown; 1 for everything else. */
int step_context_wavefronts(const StepContext *context);

/* "out_of_bounds in line 17, block 3, warp 7, lanes 8-31: ..." */
void step_context_describe_trap(const StepContext *context, const Trap *trap, Text *out);

bool step_context_is_shared(TraceKind kind);

/* Atomics: the most lanes that update one address, which are serialized; and the number of addresses. */
int step_context_collisions(const TraceEvent *event, int *addresses);
/* "lane 3: out, byte 12, operand 5, old value 37": what the lane accesses. */
void step_context_describe_access(const StepContext *context, int lane, const char *place, Text *out);

/* The address that the trapped lane accessed: bytes from the start of the array (a shared symbol, or a
 * buffer) that the step's event accesses. False: unknown, or before the array. */
bool step_context_trap_offset(const StepContext *context, const Trap *trap, int lane, uint64_t *offset);

/* Lanes in words: "lanes 0-31", "lanes 0, 8, 16, 24", "lane 5", "17 lanes". */
void step_context_describe_lanes(uint32_t mask, char *out, size_t bytes);
/* Warps likewise: "warp 3", "warps 1-7"; `warps[i]` set bits of a bitmap of `count`. */
void step_context_describe_warps(const bool *warps, int count, char *out, size_t bytes);

/* One value of the event in the view's format. `bytes_of_value`: its width; 0: the event's. */
void step_context_print_value(const StepContext *context, uint64_t bits, int bytes_of_value, char *out,
                              size_t bytes);
/* One value of this type, in the view's format. */
void step_context_print_typed(const StepContext *context, PtxType type, uint64_t bits, char *out,
                              size_t bytes);
const char *step_context_value_format_name(const StepContext *context);

/* 1048576 as "1,048,576". */
void step_context_print_count(uint64_t count, char *out, size_t bytes);

/* 1048576 as "2^20"; other numbers as above. */
void step_context_print_short(uint64_t count, char *out, size_t bytes); /* "37.0 M" from 10,000 on */
void step_context_print_size(uint64_t n, char *out, size_t bytes);

/* The next step of a source line, cyclically; -1: the line has no step. */
int step_context_next_step_of(const StepContext *context, const char *file, int line);

/* The instruction of this launch is an access of a hazard that was found. */
bool step_context_is_slow_line(const StepContext *context, const char *file, int line);
bool step_context_is_of_hazard(const StepContext *context, int pc);

/* The shared array's name in the source; "shared" if the shown file does not contain the name. */
void step_context_print_symbol(const StepContext *context, int symbol, char *out, size_t bytes);

/* The origin of an input (trace/folds.h): the buffer's name, or "block 3" of the cluster. */
void step_context_print_input(const StepContext *context, int buffer, char *out, size_t bytes);

/* Registers: the registers that an instruction names, and their values in the lanes of a warp. */

enum { MOST_REGISTERS = 16 };

typedef struct Registers {
    const PtxRegister *items[MOST_REGISTERS]; /* the destination first, the guard last, each once */
    int count;
} Registers;

typedef struct RegisterValues {
    uint64_t bits[WARP_LANES];    /* predicates: 0 or 1 */
    uint32_t weight[WARP_LANES];  /* inputs folded into it */
    int32_t producer[WARP_LANES]; /* the event that produced it; -1: none */
} RegisterValues;

void registers_of(const PtxInstruction *instruction, Registers *out);

/* The values of `reg` just after the context's event, in the warp of that event. False if unknown: the block
 * is too long to replay between two frames, or the producer cannot replay. */
bool register_values(const StepContext *context, const PtxRegister *reg, RegisterValues *out);

/* How the kernel uses the register: as a float if it is declared or used as one; as a whole number if an
 * instruction says so or takes it for an address; else as declared. */
PtxType register_type(const StepContext *context, const PtxRegister *reg);
/* A value of this type in the view's format. */
void register_print(const StepContext *context, PtxType type, uint64_t bits, char *out, size_t bytes);

/* The register that the view has chosen for the lanes' values; NULL: the values of the event itself. */
const PtxRegister *register_chosen(const StepContext *context);

#endif
