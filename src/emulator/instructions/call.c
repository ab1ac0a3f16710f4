/* call and ret: frames, arguments and results, and the functions of CUDA's runtime.
 *
 * A frame holds a function's registers, its .param variables (its own parameters and those it passes on) and
 * its part of local memory. Lanes that enter together reconverge at the return. */
#include "emulator/machine/machine_access.h"

#include "base/language.h"
#include "emulator/instructions/print.h"
#include "emulator/instructions/instruction_set.h"
#include "emulator/machine/local_memory.h"
#include "emulator/machine/call_values.h"
#include "emulator/machine/undefined.h"

#include <stdlib.h>

#include <inttypes.h>

enum { MAX_DEPTH = 2048, MAX_FRAME_BYTES = 256 << 20 };

typedef struct CallOp {
    CoreOp core;
    int target; /* index of the function in the program; -1: through `address` */
    Operand address;
    PtxExternal external;
    CallValue *arguments, *results; /* on the caller's side */
    int argument_count, result_count;
} CallOp;

/* ---- arguments ---- */

static uint64_t argument(const Warp *warp, const CallOp *call, int index, int lane) {
    uint64_t value = 0;
    if (index < call->argument_count)
        call_value_read(warp, warp->fragments[warp->current].frame, &call->arguments[index], lane, &value,
                        sizeof value);
    return value;
}

static void set_result(const Warp *warp, const CallOp *call, int lane, uint64_t value) {
    if (call->result_count)
        call_value_write(warp->fragments[warp->current].frame, &call->results[0], lane, &value, sizeof value);
}

/* ---- functions of CUDA's runtime -------------------------------------------------------------------- */

static Outcome call_assert(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const CallOp *call = op->extra;
    int lane = __builtin_ctz(mask);
    Text text = {0};
    print_string(warp, lane, argument(warp, call, 1, lane), 200, &text);
    text_print(&text, ":%" PRIu32 ": ", (uint32_t)argument(warp, call, 2, lane));
    print_string(warp, lane, argument(warp, call, 3, lane), 200, &text);
    text_add(&text, tr(": assertion `"));
    print_string(warp, lane, argument(warp, call, 0, lane), 200, &text);
    text_print(&text, tr("` failed (thread %d of the block)"), warp->index * WARP_LANES + lane);
    raise_trap(block, TRAP_ASSERTION, warp, op->pc, mask, NULL, "%s", text_string(&text));
    text_done(&text);
    return OUTCOME_STOP;
}

/* Only counts the arguments once the printed text is full. */
static int call_printf(Worker *worker, Warp *warp, int lane, uint64_t format, uint64_t arguments) {
    bool is_full = worker->printed.length > TRACE_PRINTED_BYTES;
    int count = print_format(warp, lane, format, arguments, is_full ? NULL : &worker->printed);
    trace_cut_printed(&worker->printed);
    return count;
}

static bool free_on_heap(Block *block, const Warp *warp, const Op *op, int lane, uint64_t address) {
    HeapFree done = heap_free(block->grid->memory, address);
    if (done == HEAP_FREE_AGAIN)
        raise_trap(block, TRAP_DOUBLE_FREE, warp, op->pc, lane_bit[lane], NULL,
                   tr("free of 0x%llx, which has already been freed"), (unsigned long long)address);
    if (done == HEAP_FREE_UNKNOWN)
        raise_trap(block, TRAP_OUT_OF_BOUNDS, warp, op->pc, lane_bit[lane], NULL,
                   tr("free of 0x%llx, which malloc did not return"), (unsigned long long)address);
    return done == HEAP_FREE_DONE;
}

static Outcome call_external(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const CallOp *call = op->extra;
    Memory *memory = block->grid->memory;
    if (call->external == PTX_EXTERNAL_ASSERT)
        return block->hooks ? OUTCOME_STOP : call_assert(block, warp, op, mask);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t first = argument(warp, call, 0, lane);
        switch (call->external) {
        case PTX_EXTERNAL_PRINTF:
            if (block->hooks) break; /* printed when it was recorded */
            set_result(
                warp, call, lane,
                (uint64_t)call_printf(block->worker, warp, lane, first, argument(warp, call, 1, lane)));
            break;
        case PTX_EXTERNAL_MALLOC:
            set_result(warp, call, lane, heap_allocate(memory, first, op->pc));
            break;
        case PTX_EXTERNAL_FREE:
            if (!free_on_heap(block, warp, op, lane, first)) return OUTCOME_STOP;
            break;
        case PTX_EXTERNAL_ASSERT:
        case PTX_EXTERNAL_NONE:
            break;
        }
    }
    return OUTCOME_NEXT;
}

/* ---- call and ret ----------------------------------------------------------------------------------- */

static Frame *new_frame(Block *block, Warp *warp, const Op *op, const FunctionLayout *layout, uint32_t mask) {
    const Frame *caller = warp_fragment(warp)->frame;
    uint64_t bytes = frame_bytes(layout);
    if (caller->depth + 1 >= MAX_DEPTH || block->frame_bytes + bytes > MAX_FRAME_BYTES) {
        raise_trap(block, TRAP_STACK_OVERFLOW, warp, op->pc, mask, NULL, "calls are nested %" PRIu32 " deep",
                   caller->depth + 1);
        return NULL;
    }
    if (!local_reserve(block, warp, (uint64_t)caller->local_top + layout->local_bytes)) return NULL;
    Frame *frame = frame_new(layout);
    if (block->hooks) block->hooks->begin_frame(frame);
    const CallOp *call = op->extra;
    frame->call = op;
    frame->results = call->results;
    frame->result_count = call->result_count;
    frame->local_base = caller->local_top;
    frame->local_top = caller->local_top + layout->local_bytes;
    frame->depth = caller->depth + 1;
    block->frame_bytes += bytes;
    frame_fill_slots(warp, frame);
    if (block->observed) undefined_begin_frame(warp, frame);
    return frame;
}

static int function_at(const LoweredProgram *lowered, uint64_t address) {
    uint64_t index = (address - FUNCTION_BASE) / FUNCTION_STRIDE;
    const PtxProgram *program = lowered->program;
    if (address < FUNCTION_BASE || (address - FUNCTION_BASE) % FUNCTION_STRIDE ||
        index >= (uint64_t)program->module->function_count)
        return -1;
    for (int f = 0; f < program->function_count; f++)
        if (program->functions[f].function == program->module->functions[index] &&
            !program->functions[f].function->is_entry)
            return f;
    return -1;
}

/* The lanes of `mask` with the same call target as its lowest lane. */
static uint32_t same_target(const Warp *warp, const CallOp *call, uint32_t mask, uint64_t *address) {
    const uint64_t *targets = operand_at(warp, call->address);
    uint32_t lanes = 0;
    *address = targets[__builtin_ctz(mask)];
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (targets[__builtin_ctz(rest)] == *address) lanes |= rest & (0 - rest);
    return lanes;
}

static Outcome bad_call(Block *block, const Warp *warp, const Op *op, uint32_t mask, uint64_t address) {
    raise_trap(block, TRAP_BAD_CALL, warp, op->pc, mask, NULL,
               "call of 0x%" PRIx64 ", which is not a function of this program", address);
    return OUTCOME_STOP;
}

static Outcome execute_call(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const CallOp *call = op->extra;
    const LoweredProgram *lowered = block->grid->program;
    if (call->external != PTX_EXTERNAL_NONE) return call_external(block, warp, op, mask);
    int target = call->target;
    if (target < 0) {
        uint64_t address;
        uint32_t lanes = same_target(warp, call, mask, &address);
        Fragment *fragment = warp_fragment(warp);
        if (lanes != fragment->mask) { /* different functions, one after another */
            count_segment(block->worker, fragment, op->pc);
            uint32_t masks[3] = {lanes, mask & ~lanes, fragment->mask & ~mask};
            int targets[3] = {op->pc, op->pc, op->pc + 1};
            warp_scatter(warp, 3, masks, targets, op->pc + 1);
            return OUTCOME_MOVED;
        }
        target = function_at(lowered, address);
        if (target < 0) return bad_call(block, warp, op, mask, address);
        const PtxFunction *function = lowered->functions[target].function;
        if (function->parameter_count != call->argument_count || function->result_count < call->result_count)
            return bad_call(block, warp, op, mask, address);
    }
    const FunctionLayout *layout = &lowered->functions[target];
    Frame *frame = new_frame(block, warp, op, layout, mask);
    if (!frame) return OUTCOME_STOP;
    Fragment *caller = warp_fragment(warp);
    call_values_pass(warp, mask, caller->frame, call->arguments, frame, layout->arguments,
                     call->argument_count);
    count_segment(block->worker, caller, op->pc + 1);
    warp_enter(warp, mask, frame);
    return OUTCOME_MOVED;
}

static Outcome execute_ret(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    Fragment *fragment = warp_fragment(warp);
    const Frame *frame = fragment->frame;
    count_segment(block->worker, fragment, op->pc + 1);
    call_values_return(warp, frame, mask);
    uint32_t live = warp->live;
    warp_return(warp, mask);
    if (warp->live != live) barrier_after_exit(block, warp, mask);
    return OUTCOME_MOVED;
}

OPCODE_LOWER(ret) {
    (void)in;
    CoreOp *core = lowering_allocate(low, sizeof *core);
    core->execute = execute_ret;
    core->form = CORE_NO_VALUE;
    op->op_class = OP_CONTROL;
    op->extra = core;
    return true;
}

/* ---- lowering --------------------------------------------------------------------------------------- */

/* `value` is in a register whose components have `bytes` bytes each; component -1: all of them. */
static void set_register(CallValue *value, const PtxRegister *reg, int component, uint8_t bytes) {
    int parts = component < 0 && reg && reg->vector > 1 ? reg->vector : 1;
    value->part_bytes = bytes > 8 ? 8 : bytes;
    value->bytes = (uint32_t)(bytes * parts);
    value->present = bytes != 0;
}

static CallValue interface_value(Lowering *low, const PtxVariable *variable) {
    CallValue value = {.in_memory = true, .bytes = (uint32_t)variable->bytes, .present = true};
    if (variable->space != PTX_SPACE_REG) {
        value.offset = lowering_parameter_place(low, variable);
        return value;
    }
    const PtxFunction *function = low->layout->function;
    value.in_memory = false;
    value.present = false;
    for (int i = 0; i < function->register_count; i++) {
        PtxOperand operand = {.kind = PTX_OPERAND_REGISTER, .reg = function->registers[i], .component = -1};
        uint8_t bytes;
        if (strcmp(function->registers[i]->name, variable->name) != 0 ||
            !lowering_register(low, &operand, &value.place, &bytes))
            continue;
        set_register(&value, function->registers[i], -1, bytes);
        low->layout->has_pinned = true;
        break; /* registers of inner scopes, which may share its name, come later */
    }
    return value;
}

void call_lower_interface(Lowering *low) {
    FunctionLayout *layout = low->layout;
    const PtxFunction *function = layout->function;
    if (function->is_entry) return;
    layout->arguments = lowering_allocate(low, (size_t)function->parameter_count * sizeof(CallValue));
    layout->results = lowering_allocate(low, (size_t)function->result_count * sizeof(CallValue));
    for (int i = 0; i < function->parameter_count; i++)
        layout->arguments[i] = interface_value(low, function->parameters[i]);
    for (int i = 0; i < function->result_count; i++)
        layout->results[i] = interface_value(low, function->results[i]);
}

static bool caller_value(Lowering *low, Op *op, const PtxOperand *operand, PtxType type, bool result,
                         CallValue *out) {
    *out = (CallValue){.present = true};
    if (operand->kind == PTX_OPERAND_SINK && result) {
        out->present = false;
        return true;
    }
    if (operand->kind == PTX_OPERAND_VARIABLE && operand->variable->space == PTX_SPACE_PARAM) {
        out->in_memory = true;
        out->bytes = (uint32_t)operand->variable->bytes;
        out->offset = lowering_parameter_place(low, operand->variable);
        return true;
    }
    uint8_t bytes;
    if (operand->kind == PTX_OPERAND_REGISTER) {
        if (!lowering_register(low, operand, &out->place, &bytes))
            return lowering_reject(low, op, "call: malformed operand");
    } else if (result) {
        return lowering_reject(low, op, "call: a result must be a register or a .param variable");
    } else if (!lowering_value(low, op, operand, type, &out->place, &bytes)) {
        return false;
    }
    if (!bytes) return lowering_reject(low, op, "call: predicates cannot be passed");
    set_register(out, operand->kind == PTX_OPERAND_REGISTER ? operand->reg : NULL, operand->component, bytes);
    return true;
}

static bool caller_values(Lowering *low, Op *op, const PtxOperand *list, PtxVariable **types, int type_count,
                          bool result, CallValue **out, int *count) {
    int items = list ? list->item_count : 0;
    *out = lowering_allocate(low, (size_t)items * sizeof **out);
    *count = items;
    for (int i = 0; i < items; i++) {
        PtxType type = i < type_count && types[i]->bytes <= 8 ? types[i]->type : PTX_B32;
        if (!caller_value(low, op, &list->items[i], type, result, &(*out)[i])) return false;
    }
    return true;
}

static bool find_target(Lowering *low, Op *op, const PtxOperand *operand, CallOp *call) {
    const PtxProgram *program = low->lowered->program;
    call->target = -1;
    if (operand->kind == PTX_OPERAND_REGISTER) {
        uint8_t bytes;
        if (!lowering_register(low, operand, &call->address, &bytes) || bytes != 8)
            return lowering_reject(low, op, "call: the function's address must be in a 64-bit register");
        return true;
    }
    const char *name = operand->function ? operand->function->name : operand->name ? operand->name : "?";
    for (int f = 0; f < program->function_count; f++)
        if (operand->function && program->functions[f].function == operand->function) call->target = f;
    if (call->target >= 0) return true;
    call->external = ptx_external_find(name);
    if (call->external == PTX_EXTERNAL_NONE)
        return lowering_reject(low, op, "not emulated: call of %s, which has no body", name);
    if (call->external == PTX_EXTERNAL_MALLOC || call->external == PTX_EXTERNAL_FREE) {
        low->lowered->lets_blocks_communicate = true;
        low->lowered->uses_heap = true;
    }
    return true;
}

OPCODE_LOWER(call) {
    CallOp *call = lowering_allocate(low, sizeof *call);
    call->core.execute = execute_call;
    op->op_class = OP_CONTROL;
    op->extra = call;
    int at = 0;
    const PtxOperand *results = NULL, *arguments = NULL;
    if (at < in->operand_count && in->operands[at].kind == PTX_OPERAND_ARGUMENTS)
        results = &in->operands[at++];
    if (at >= in->operand_count) return lowering_reject(low, op, "call: malformed");
    const PtxOperand *target = &in->operands[at++];
    if (at < in->operand_count && in->operands[at].kind == PTX_OPERAND_ARGUMENTS)
        arguments = &in->operands[at++];
    if (!find_target(low, op, target, call)) return false;
    const PtxFunction *function = target->function;
    if (!caller_values(low, op, results, function ? function->results : NULL,
                       function ? function->result_count : 0, true, &call->results, &call->result_count) ||
        !caller_values(low, op, arguments, function ? function->parameters : NULL,
                       function ? function->parameter_count : 0, false, &call->arguments,
                       &call->argument_count))
        return false;
    if (call->target < 0 || !function) return true;
    if (function->parameter_count != call->argument_count || function->result_count < call->result_count)
        return lowering_reject(low, op, "call of %s with %d arguments; it takes %d", function->name,
                               call->argument_count, function->parameter_count);
    return true;
}
