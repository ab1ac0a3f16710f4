/* mbarrier.* and cp.async.mbarrier.arrive: the operations of lanes on an mbarrier (machine/mbarrier.h). The
 * lanes of a warp execute in lane order.
 *
 * A wait for a phase (test_wait, try_wait) ends when the phase is complete: until then its lanes let others
 * run. If nothing else can run, the wait ends with the phase incomplete, a number of times; then the block is
 * in a deadlock. So a loop around a wait runs once, since every trace leaves out spinning
 * (trace/producer_rules.h). */
#include "emulator/machine/mbarrier.h"

#include "emulator/instructions/access_execute.h"
#include "emulator/instructions/copy_async.h"
#include "emulator/machine/machine_cluster.h"
#include "ptx/opcodes.h"
#include "trace/producer_rules.h"

#include <inttypes.h>

typedef enum MbarrierAction {
    MB_INIT,
    MB_INVAL,
    MB_ARRIVE,
    MB_COPIES,
    MB_EXPECT,
    MB_COMPLETE,
    MB_WAIT
} MbarrierAction;

typedef struct MbarrierOp {
    MemoryOp memory; /* values[0]: the result */
    MbarrierAction action;
    bool has_operand, expects, drops, no_complete, by_parity, noinc;
    Operand operand; /* count, bytes, parity: 4 bytes; state: 8 */
    uint8_t operand_bytes;
} MbarrierOp;

static int64_t operand_of(const MbarrierOp *op, const Warp *warp, int lane) {
    return op->has_operand ? (int64_t)register_read(warp, op->operand, op->operand_bytes, lane) : 1;
}

static bool fault(const Access *access, int lane, const char *format, int64_t number) {
    Text text = {0};
    text_print(&text, format, number);
    if (access->peer >= 0) text_print(&text, " (an mbarrier of block %d of the cluster)", access->peer);
    raise_trap(access->block, TRAP_MBARRIER, access->warp, access->op->pc, lane_bit[lane], access->address,
               "%s", text_string(&text));
    text_done(&text);
    return false;
}

/* The block that holds the mbarrier; NULL: another block, and this one runs without its cluster. */
static Block *home_of(const Access *access) {
    return access->peer < 0 ? access->block : cluster_member(access->block, (uint32_t)access->peer);
}

/* ---- one lane; false after a trap ------------------------------------------------------------------- */

static bool init(const Access *access, int lane, int64_t count) {
    if (count < 1 || count > MBARRIER_MOST)
        return fault(access, lane, "mbarrier.init with a count of %" PRId64 "; it takes 1 to 1048575", count);
    mbarrier_write(access->block, access->address[lane], (Mbarrier){.pending = count, .expected = count},
                   access->block);
    return true;
}

static bool in_range(const Access *access, int lane, int64_t bytes) {
    return (bytes <= MBARRIER_MOST && bytes >= -MBARRIER_MOST) ||
           fault(access, lane, "the mbarrier would expect %" PRId64 " bytes; the limit is 1048575", bytes);
}

/* Arrives, after adding expected bytes. */
static bool arrive(const Access *access, int lane, int64_t count, int64_t bytes) {
    const MbarrierOp *op = access->op->extra;
    uint64_t place = access->address[lane];
    Block *home = home_of(access);
    mbarrier_settle(home, place, access->warp, lane);
    if (count > mbarrier_read(home, place).pending) mbarrier_complete_alone(home, place, access->warp, lane);
    Mbarrier mbarrier = mbarrier_read(home, place);
    mbarrier.bytes += bytes;
    if (!in_range(access, lane, mbarrier.bytes)) return false;
    if (count > mbarrier.pending || count < 1)
        return fault(
            access, lane,
            count < 1 ? "mbarrier.arrive with a count of %" PRId64
                      : "more arrivals than the mbarrier expects: %" PRId64
                        " are pending in this phase; compare mbarrier.init's count with the arriving threads",
            count < 1 ? count : mbarrier.pending);
    mbarrier.pending -= count;
    if (op->drops) mbarrier.expected -= count;
    bool completes = !mbarrier.pending && !mbarrier.bytes;
    if (completes && op->no_complete)
        return fault(access, lane,
                     "mbarrier.arrive.noComplete with a count of %" PRId64 " completes the phase", count);
    if (completes) mbarrier_flip(&mbarrier);
    mbarrier_write(home, place, mbarrier, access->block);
    return true;
}

static bool add_bytes(const Access *access, int lane, int64_t bytes) {
    uint64_t place = access->address[lane];
    Block *home = home_of(access);
    mbarrier_settle(home, place, access->warp, lane);
    Mbarrier mbarrier = mbarrier_read(home, place);
    mbarrier.bytes += bytes;
    if (!in_range(access, lane, mbarrier.bytes)) return false;
    if (!mbarrier.pending && !mbarrier.bytes) mbarrier_flip(&mbarrier);
    mbarrier_write(home, place, mbarrier, access->block);
    return true;
}

/* The mbarrier arrival follows once the lane's copies have arrived. */
static bool follow_copies(const Access *access, int lane) {
    const MbarrierOp *op = access->op->extra;
    uint64_t place = access->address[lane];
    Mbarrier mbarrier = mbarrier_read(access->block, place);
    if (!op->noinc && ++mbarrier.pending > MBARRIER_MOST)
        return fault(access, lane, "%" PRId64 " arrivals are pending; the limit is 1048575",
                     mbarrier.pending);
    mbarrier_write(access->block, place, mbarrier, access->block);
    copies_follow(access->block, access->warp, lane, access->op->pc, (uint32_t)place);
    return true;
}

static void invalidate(const Access *access, int lane) {
    for (uint64_t at = access->address[lane]; at < access->address[lane] + MBARRIER_BYTES; at++)
        access->block->shared_written[at / 64] &= ~(UINT64_C(1) << at % 64);
}

/* True if the phase that the lane waits for is complete. */
static bool is_complete(const Block *block, const MbarrierOp *op, const Warp *warp, uint64_t place,
                        int lane) {
    int64_t operand = operand_of(op, warp, lane);
    int awaited = op->by_parity ? (int)(operand & 1) : (int)((uint64_t)operand >> 63);
    return mbarrier_read(block, place).phase != awaited;
}

static bool apply(const Access *access, int lane) {
    const MbarrierOp *op = access->op->extra;
    int64_t operand = operand_of(op, access->warp, lane);
    if (!home_of(access)) return true;
    switch (op->action) {
    case MB_INIT:
        return init(access, lane, operand);
    case MB_INVAL:
        invalidate(access, lane);
        return true;
    case MB_ARRIVE:
        return arrive(access, lane, op->expects ? 1 : operand, op->expects ? operand : 0);
    case MB_COPIES:
        return follow_copies(access, lane);
    case MB_EXPECT:
        return add_bytes(access, lane, operand);
    case MB_COMPLETE:
        return add_bytes(access, lane, -operand);
    case MB_WAIT:
        break;
    }
    return true;
}

/* ---- a warp ----------------------------------------------------------------------------------------- */

/* Threads can only arrive at another block's mbarrier and add expected bytes; all other operations need their
 * own block's. */
static bool is_possible_there(const Access *access) {
    const MbarrierOp *op = access->op->extra;
    int lane = __builtin_ctz(access->mask);
    switch (op->action) {
    case MB_WAIT:
        return fault(access, lane, "a thread can only wait for an mbarrier of its own block", 0);
    case MB_INIT:
    case MB_INVAL:
    case MB_COPIES:
        return fault(access, lane, "this operation requires an mbarrier of the thread's own block", 0);
    case MB_ARRIVE:
        if (op->memory.values[0].present)
            return fault(access, lane,
                         "an arrival in another block returns no state: its destination must be `_`", 0);
        return !op->no_complete ||
               fault(access, lane, ".noComplete requires an mbarrier of the thread's own block", 0);
    case MB_EXPECT:
    case MB_COMPLETE:
        break;
    }
    return true;
}

static void move_mbarrier(Access *access) {
    const MbarrierOp *op = access->op->extra;
    const MemoryValue *result = &op->memory.values[0];
    uint64_t operand[WARP_LANES] = {0};
    if (access->space != PTX_SPACE_SHARED) {
        fault(access, __builtin_ctz(access->mask),
              "an mbarrier must lie in shared memory, but this address does not", 0);
        return;
    }
    if (access->peer >= 0 && !is_possible_there(access)) return;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        bool waits = op->action == MB_WAIT;
        uint64_t state = bytes_read(access->bytes + access->address[lane], MBARRIER_BYTES);
        if (waits) state = is_complete(access->block, op, access->warp, access->address[lane], lane);
        /* a state is opaque: its bits are not part of the trace */
        if (op->has_operand && op->operand_bytes == 4)
            operand[lane] = (uint64_t)operand_of(op, access->warp, lane);
        if (!apply(access, lane)) return;
        if (op->action != MB_INIT && result->present)
            register_write(access->warp, result->place, result->bytes, lane, state);
    }
    access_record(access, op->memory.values, op->action == MB_WAIT, operand, op->action != MB_WAIT);
}

static Outcome execute_mbarrier(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    Outcome outcome = access_execute(block, warp, op, mask, move_mbarrier);
    return block->worker->stopped ? OUTCOME_STOP : outcome;
}

/* Finds the lane's mbarrier in the window; false if it lies elsewhere. */
static bool place_of(const Block *block, const Warp *warp, const MemoryOp *memory, int lane,
                     uint64_t *place) {
    *place = access_lane_address(warp, memory, lane);
    if (memory->space == PTX_SPACE_GENERIC) *place -= SHARED_WINDOW;
    if (*place >> CLUSTER_RANK_SHIFT == block->rank + 1) *place &= CLUSTER_OFFSET;
    return *place % MBARRIER_BYTES == 0 && *place + MBARRIER_BYTES <= block->grid->program->shared_bytes;
}

/* Lets copies arrive if they complete the phase that a lane waits for; returns the lanes whose phase is
 * complete. */
static uint32_t complete_lanes(Block *block, Warp *warp, const MbarrierOp *op, uint32_t mask,
                               uint64_t *place) {
    uint32_t complete = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (!place_of(block, warp, &op->memory, lane, place)) return mask; /* the execution traps */
        if (!is_complete(block, op, warp, *place, lane)) mbarrier_settle(block, *place, warp, lane);
        if (is_complete(block, op, warp, *place, lane)) complete |= lane_bit[lane];
    }
    return complete;
}

/* An incomplete phase orders nothing. */
static Outcome execute_incomplete(Block *block, Warp *warp, const Op *op, uint32_t lanes) {
    void *observed = block->observed;
    block->observed = NULL;
    Outcome outcome = access_execute(block, warp, op, lanes, move_mbarrier);
    block->observed = observed;
    return outcome;
}

/* In other orders than the first one, the first wait of a warp at an instruction gives up at once if no
 * lane's phase is complete: test_wait does not wait at all, and try_wait only for a time that nobody states
 * ("mbarrier.test_wait, mbarrier.try_wait"). A program that does not repeat it then goes on too early. */
static bool gives_up_first(const Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const MbarrierOp *wait = op->extra;
    uint64_t place, bit = UINT64_C(1) << op->pc % 64;
    if (!block->grid->schedule || warp->failed_waits & bit) return false;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (!place_of(block, warp, &wait->memory, lane, &place)) return false; /* the execution traps */
        if (is_complete(block, wait, warp, place, lane)) return false;
    }
    warp->failed_waits |= bit;
    return true;
}

static Outcome execute_wait(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    if (block->hooks) return access_execute(block, warp, op, mask, move_mbarrier);
    if (gives_up_first(block, warp, op, mask)) return execute_incomplete(block, warp, op, mask);
    Fragment *fragment = warp_fragment(warp);
    uint64_t place = 0;
    uint32_t complete = complete_lanes(block, warp, op->extra, mask, &place);
    if (!complete && !fragment->gives_up) {
        fragment->state = FRAGMENT_AT_MBARRIER;
        fragment->active = mask;
        fragment->awaited = (uint32_t)place;
        return OUTCOME_WAIT;
    }
    fragment->gives_up = false;
    if (!complete) mbarrier_complete_alone(block, place, warp, __builtin_ctz(mask));
    Outcome outcome = complete ? access_execute(block, warp, op, complete, move_mbarrier) : OUTCOME_NEXT;
    if (block->worker->stopped) return OUTCOME_STOP;
    if (outcome != OUTCOME_NEXT || complete == mask) return outcome;
    return execute_incomplete(block, warp, op, mask & ~complete);
}

/* ---- lowering --------------------------------------------------------------------------------------- */

static bool has(const PtxInstruction *in, PtxModifierKind kind) {
    return ptx_instruction_has(in, kind);
}

static MbarrierAction action_of(const PtxInstruction *in) {
    return in->opcode == PTX_cp                                      ? MB_COPIES
           : has(in, PTX_MOD_INIT)                                   ? MB_INIT
           : has(in, PTX_MOD_INVAL)                                  ? MB_INVAL
           : has(in, PTX_MOD_TEST_WAIT) || has(in, PTX_MOD_TRY_WAIT) ? MB_WAIT
           : has(in, PTX_MOD_ARRIVE) || has(in, PTX_MOD_ARRIVE_DROP) ? MB_ARRIVE
           : has(in, PTX_MOD_EXPECT_TX)                              ? MB_EXPECT
                                                                     : MB_COMPLETE;
}

static bool set_operand(Lowering *low, const PtxInstruction *in, Op *op, MbarrierOp *mbarrier, int index) {
    mbarrier->has_operand = index < in->operand_count;
    bool optional = mbarrier->action == MB_ARRIVE && !mbarrier->expects && !mbarrier->no_complete;
    if (!mbarrier->has_operand)
        return optional || lowering_reject(low, op, "mbarrier: an operand is missing");
    PtxType type = mbarrier->action == MB_WAIT && !mbarrier->by_parity ? PTX_B64 : PTX_U32;
    if (!lowering_value(low, op, &in->operands[index], type, &mbarrier->operand, &mbarrier->operand_bytes))
        return false;
    return mbarrier->operand_bytes == ptx_type_bytes(type) ||
           lowering_reject(low, op, "mbarrier: an operand has the wrong size");
}

static bool set_result(Lowering *low, const PtxInstruction *in, Op *op, MbarrierOp *mbarrier) {
    MemoryValue *value = &mbarrier->memory.values[0];
    if (!lowering_destination(low, op, &in->operands[0], &value->place, &value->bytes, &value->present))
        return false;
    int bytes = mbarrier->action == MB_WAIT ? 0 : MBARRIER_BYTES;
    return !value->present || value->bytes == bytes ||
           lowering_reject(low, op, "mbarrier: the destination has the wrong size");
}

static bool lower_object(Lowering *low, const PtxInstruction *in, Op *op) {
    MbarrierOp *mbarrier = lowering_allocate(low, sizeof *mbarrier);
    MemoryOp *memory = &mbarrier->memory;
    mbarrier->action = action_of(in);
    mbarrier->expects = has(in, PTX_MOD_EXPECT_TX);
    mbarrier->drops = has(in, PTX_MOD_ARRIVE_DROP);
    mbarrier->no_complete = has(in, PTX_MOD_NO_COMPLETE);
    mbarrier->by_parity = has(in, PTX_MOD_PARITY);
    mbarrier->noinc = has(in, PTX_MOD_NOINC);
    bool gives = mbarrier->action == MB_WAIT || mbarrier->action == MB_ARRIVE;
    bool takes = mbarrier->action != MB_INVAL && mbarrier->action != MB_COPIES;
    int place = gives ? 1 : 0, most = place + 1 + (takes ? 1 : 0) + (has(in, PTX_MOD_TRY_WAIT) ? 1 : 0);
    if (in->operand_count <= place || in->operand_count > most ||
        in->operands[place].kind != PTX_OPERAND_MEMORY)
        return lowering_reject(low, op, "%s: malformed", in->name);
    memory->core.execute = mbarrier->action == MB_WAIT ? execute_wait : execute_mbarrier;
    memory->space = in->space;
    memory->kind = TRACE_MBARRIER;
    memory->type = PTX_B64;
    memory->is_store = mbarrier->action == MB_INIT;
    memory->is_load = !memory->is_store;
    memory->ordered = true;
    memory->element_bytes = memory->width = MBARRIER_BYTES;
    memory->count = 1;
    op->op_class = OP_MEMORY;
    op->extra = mbarrier;
    if (in->space != PTX_SPACE_GENERIC && in->space != PTX_SPACE_SHARED &&
        in->space != PTX_SPACE_SHARED_CLUSTER)
        return lowering_reject(low, op, "an mbarrier must lie in shared memory");
    if (!access_lower_address(low, op, memory, &in->operands[place])) return false;
    if (gives && !set_result(low, in, op, mbarrier)) return false;
    return !takes || set_operand(low, in, op, mbarrier, place + 1);
}

bool mbarrier_lower_copies(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_object(low, in, op);
}

/* The arrivals that were pending when the state was read. */
OP_FUNCTION(run_pending_count) {
    uint32_t *d = operand_at(warp, op->d);
    const uint64_t *state = operand_at(warp, op->s[0]);
    for (int l = 0; l < WARP_LANES; l++)
        if (mask & lane_bit[l]) d[l] = (uint32_t)(state[l] & MBARRIER_MOST);
}

static bool lower_pending_count(Lowering *low, const PtxInstruction *in, Op *op) {
    op->op_class = OP_LANES;
    op->run = run_pending_count;
    op->provenance = WEIGHT_NONE;
    op->source_count = 1;
    if (in->operand_count != 2) return lowering_reject(low, op, "mbarrier: malformed");
    if (!lowering_destination(low, op, &in->operands[0], &op->d, &op->d_bytes, &op->has_d)) return false;
    if (!op->has_d || op->d_bytes != 4)
        return lowering_reject(low, op, "mbarrier.pending_count takes a 32-bit destination");
    return lowering_value(low, op, &in->operands[1], PTX_B64, &op->s[0], &op->s_bytes[0]);
}

OPCODE_LOWER(mbarrier) {
    return has(in, PTX_MOD_PENDING_COUNT) ? lower_pending_count(low, in, op) : lower_object(low, in, op);
}
