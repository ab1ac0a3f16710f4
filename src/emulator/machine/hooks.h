/* Hooks: the callbacks of a replay in the run of a block. Private to the emulator.
 *
 * The machine knows nothing about replays. A block with hooks asks them which fragment runs next, leaves
 * accesses and events to them, and tells them what instructions did to registers. A block without hooks uses
 * its own schedule and memory. */
#ifndef EMULATOR_MACHINE_HOOKS_H
#define EMULATOR_MACHINE_HOOKS_H

#include "emulator/machine/warp.h"

typedef struct Access Access;

typedef struct MetLanes { /* lanes that exchange values from several places of a warp */
    uint32_t lanes;
    uint32_t names[WARP_LANES]; /* the lanes that it exchanges with */
    uint64_t operand[WARP_LANES];
    const Frame *frame[WARP_LANES]; /* where its operand is */
    Operand place[WARP_LANES];
} MetLanes;

typedef struct BlockHooks {
    void *context; /* the first argument of the functions below */
    /* True if the next event of `warp` is this instruction, for some of `lanes`. */
    bool (*expects)(const void *context, const Warp *warp, int pc, uint32_t lanes);
    /* The mask of the warp's next event if it is this instruction; otherwise 0. */
    uint32_t (*next_mask)(const void *context, const Warp *warp, int pc);
    /* Lanes are about to execute `op`, which only affects registers; they have. */
    void (*before_lanes)(void *context, const Warp *warp, const Op *op, uint32_t mask);
    void (*after_lanes)(void *context, const Warp *warp, const Op *op, uint32_t mask);
    /* Makes an access of shared, global or local memory. False: the block stops here. */
    bool (*access)(void *context, const Access *access);
    /* Values have moved between registers and the parameters of the frame. */
    void (*after_parameters)(void *context, const Access *access);
    /* The lanes have exchanged the halves of a register (ptx_matrix_transpose()), or copied it. */
    void (*after_transpose)(void *context, const Frame *frame, Operand place);
    void (*after_copy)(void *context, const Frame *frame, Operand to, Operand from);
    /* Another instruction creates an event. Returns the event to fill in, as recorder_begin() does;
     * end_event() follows. */
    TraceEvent *(*begin_event)(void *context, const Warp *warp, int pc, uint32_t mask);
    void (*end_event)(void *context);
    /* Lanes have exchanged values, and an event for each of their places follows; NULL: these have ended. */
    void (*meet)(void *context, const MetLanes *met);
    /* A frame has been made: sets frame->provenance, which is freed with the frame. */
    void (*begin_frame)(Frame *frame);
    /* Copies the contents of `from` to `to`, a frame of the same function. */
    void (*copy_frame)(const Frame *to, const Frame *from);
    /* A value was passed to or from a function. */
    void (*after_pass)(const Frame *from, const CallValue *source, const Frame *to,
                       const CallValue *destination, uint32_t mask);
} BlockHooks;

#endif
