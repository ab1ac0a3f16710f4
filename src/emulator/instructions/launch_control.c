/* clusterlaunchcontrol: a block asks for one that has not started, to do its work too ("Parallel
 * Synchronization and Communication Instructions: clusterlaunchcontrol.try_cancel",
 * "clusterlaunchcontrol.query_cancel"; sm_100).
 *
 * Not measured. Here every request fails: the PTX ISA allows it, as on a GPU that has room for the whole
 * grid, and so every block runs as it was launched. The answer, opaque in PTX, is 16 bytes of zeros;
 * it arrives as a copy does, with complete_tx of 16 bytes on the mbarrier. query_cancel decodes it: p is
 * false, and the block's number, which PTX leaves undefined then, is 0.
 *
 * A second request after a failed one is undefined in PTX; here it fails, too. */
#include "emulator/instructions/access_execute.h"

#include "base/language.h"
#include "emulator/machine/mbarrier.h"
#include "emulator/machine/observe.h"
#include "ptx/opcodes.h"
#include <string.h>

enum { ANSWER_BYTES = 16 };

typedef struct RequestOp {
    CoreOp core;
    MemoryOp answer, mbarrier; /* addresses */
} RequestOp;

/* ---- try_cancel --------------------------------------------------------------------------------------- */

/* The answer's place in this block; false after a trap. */
static bool find_answer(Block *block, const Warp *warp, const Op *op, int lane, uint64_t *address,
                        uint64_t *mbarrier) {
    const RequestOp *request = op->extra;
    SharedHome home, at;
    *address = shared_window_address(warp, &request->answer, lane);
    *mbarrier = shared_window_address(warp, &request->mbarrier, lane);
    if (!access_find_home(block, warp, op, PTX_SPACE_SHARED, lane, address, &home) ||
        !access_find_home(block, warp, op, PTX_SPACE_SHARED, lane, mbarrier, &at))
        return false;
    uint64_t size = block->grid->program->shared_bytes;
    if (home.block == block && *address % ANSWER_BYTES == 0 && *address + ANSWER_BYTES <= size)
        return mbarrier_lies_with(block, warp, op, lane, home.peer, at.peer);
    Trap *trap =
        raise_trap(block, TRAP_OUT_OF_BOUNDS, warp, op->pc, lane_bit[lane], NULL,
                   tr("the answer of clusterlaunchcontrol has 16 bytes of this block's shared memory, "
                      "at a multiple of 16; this one is at 0x%llx"),
                   (unsigned long long)*address);
    if (trap) trap->space = PTX_SPACE_SHARED;
    return false;
}

static void begin_answer(Block *block, Warp *warp, const Op *op, int lane, uint64_t address,
                         uint64_t mbarrier) {
    AsyncCopy *copy = copies_add(block, warp, lane, op->pc, COPY_ON_MBARRIER, ANSWER_BYTES);
    memset(copies_room(copy), 0, ANSWER_BYTES);
    copy->to = PTX_SPACE_SHARED;
    copy->to_address = address;
    copy->from = PTX_SPACE_GENERIC;
    copy->mbarrier = (uint32_t)mbarrier;
    if (block->observed) {
        ObservedRange written = {block, op->pc, warp->index, lane, copy->to, address, ANSWER_BYTES};
        observe_range(block, &written, copy_bytes(copy));
    }
    copies_begun(block, copy);
    mbarrier_wake(block, block);
}

/* A replay has the recorded values of the loads of the answer. */
static Outcome execute_request(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    for (uint32_t rest = mask; rest && !block->hooks; rest &= rest - 1) {
        uint64_t address, mbarrier;
        int lane = __builtin_ctz(rest);
        if (!find_answer(block, warp, op, lane, &address, &mbarrier)) return OUTCOME_STOP;
        begin_answer(block, warp, op, lane, address, mbarrier);
    }
    return OUTCOME_NEXT;
}

static bool lower_request(Lowering *low, const PtxInstruction *in, Op *op) {
    RequestOp *request = lowering_allocate(low, sizeof *request);
    request->core.execute = execute_request;
    request->answer.space = request->mbarrier.space = in->space;
    op->op_class = OP_MEMORY;
    op->extra = request;
    if (ptx_instruction_has(in, PTX_MOD_MULTICAST_CLUSTER_ALL))
        return lowering_reject(low, op, "not emulated: clusterlaunchcontrol with .multicast::cluster::all");
    if (in->operand_count != 2) return lowering_reject(low, op, "clusterlaunchcontrol: malformed");
    return access_lower_address(low, op, &request->answer, &in->operands[0]) &&
           access_lower_address(low, op, &request->mbarrier, &in->operands[1]);
}

/* ---- query_cancel ------------------------------------------------------------------------------------- */

enum { MOST_RESULTS = 4 };

typedef struct QueryOp {
    MemoryValue results[MOST_RESULTS];
    int count;
} QueryOp;

/* Every answer is a failure. */
OP_FUNCTION(run_query) {
    const QueryOp *query = op->extra;
    for (int i = 0; i < query->count; i++)
        for (uint32_t rest = query->results[i].present ? mask : 0; rest; rest &= rest - 1)
            register_write(warp, query->results[i].place, query->results[i].bytes, __builtin_ctz(rest), 0);
}

static bool lower_query(Lowering *low, const PtxInstruction *in, Op *op) {
    QueryOp *query = lowering_allocate(low, sizeof *query);
    Operand answer;
    uint8_t bytes;
    op->run = run_query;
    op->extra = query;
    if (in->operand_count != 2) return lowering_reject(low, op, "clusterlaunchcontrol: malformed");
    const PtxOperand *d = &in->operands[0];
    bool is_vector = d->kind == PTX_OPERAND_VECTOR;
    query->count = is_vector ? d->item_count : 1;
    if (query->count > MOST_RESULTS) return lowering_reject(low, op, "clusterlaunchcontrol: malformed");
    int expected = ptx_instruction_has(in, PTX_MOD_IS_CANCELED) ? 0 : 4;
    for (int i = 0; i < query->count; i++) {
        MemoryValue *result = &query->results[i];
        if (!lowering_destination(low, op, is_vector ? &d->items[i] : d, &result->place, &result->bytes,
                                  &result->present))
            return false;
        if (result->present && result->bytes != expected)
            return lowering_reject(low, op, "clusterlaunchcontrol: the destination has the wrong size");
    }
    return (lowering_register(low, &in->operands[1], &answer, &bytes) && bytes == ANSWER_BYTES) ||
           lowering_reject(low, op, "clusterlaunchcontrol: the answer is a 128-bit register");
}

OPCODE_LOWER(clusterlaunchcontrol) {
    return ptx_instruction_has(in, PTX_MOD_TRY_CANCEL) ? lower_request(low, in, op)
                                                       : lower_query(low, in, op);
}
