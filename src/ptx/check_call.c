/* Checks a call against its function or prototype ("Control Flow Instructions: call"). */
#include "ptx/checking.h"

/* The signature that the call must follow; NULL: not known. */
static const PtxFunction *signature(const PtxChecker *checker, const PtxOperand *called) {
    const PtxInstruction *in = checker->instruction;
    if (called->kind == PTX_OPERAND_FUNCTION) return called->function;
    const PtxLabel *label = in->operands[in->operand_count - 1].label;
    if (!label) return NULL;
    const PtxStatement *list = &checker->function->statements[label->statement];
    if (list->kind == PTX_STATEMENT_PROTOTYPE) return list->prototype;
    bool has_targets = list->kind == PTX_STATEMENT_TARGETS && list->is_call_targets && list->name_count;
    return has_targets ? list->targets[0].function : NULL;
}

static bool check_list(const PtxOperand *list, int operand, PtxVariable *const *wanted, int count,
                       const char *function, const char *what, PtxFault *fault) {
    int given = list ? list->item_count : 0;
    if (given != count)
        return ptx_fault(fault, list ? operand : -1, -1, "%s has %d %s%s, this call has %d", function, count,
                         what, count == 1 ? "" : "s", given);
    for (int i = 0; i < count; i++) {
        const PtxOperand *item = &list->items[i];
        if (item->kind != PTX_OPERAND_REGISTER || item->reg->vector > 1 || wanted[i]->vector > 1) continue;
        int bytes = ptx_type_bytes(wanted[i]->type), has = ptx_type_bytes(item->reg->type);
        if (bytes >= 4 && wanted[i]->count == 1 && has != bytes)
            return ptx_fault(fault, operand, i, "%s %d of %s has %d bits; %s is .%s", what, i + 1, function,
                             bytes * 8, item->reg->name, ptx_type_text(item->reg->type));
    }
    return true;
}

bool ptx_check_call(const PtxChecker *checker, PtxFault *fault) {
    const PtxInstruction *in = checker->instruction;
    int at = in->operand_count && in->operands[0].kind == PTX_OPERAND_ARGUMENTS;
    if (at >= in->operand_count || in->operands[at].kind == PTX_OPERAND_ARGUMENTS)
        return ptx_fault(fault, -1, -1, "call lacks the function: call (results), function, (arguments)");
    const PtxOperand *called = &in->operands[at];
    const PtxOperand *arguments = at + 1 < in->operand_count ? &in->operands[at + 1] : NULL;
    if (called->kind != PTX_OPERAND_FUNCTION && called->kind != PTX_OPERAND_REGISTER)
        return ptx_fault(fault, at, -1, "call needs the name of a function, or a register with its address");
    int address = checker->program->module->address_bytes;
    if (called->reg && ptx_type_bytes(called->reg->type) != address)
        return ptx_fault(fault, at, -1, "the address of a function has %d bits; %s is .%s", address * 8,
                         called->reg->name, ptx_type_text(called->reg->type));
    if (arguments && arguments->kind != PTX_OPERAND_ARGUMENTS) arguments = NULL;
    const PtxFunction *function = signature(checker, called);
    if (!function) return true;
    const char *name = function->name && *function->name != '_' ? function->name : "the function";
    if (called->kind == PTX_OPERAND_FUNCTION) name = function->name;
    return check_list(at ? &in->operands[0] : NULL, 0, function->results, function->result_count, name,
                      "result", fault) &&
           check_list(arguments, at + 1, function->parameters, function->parameter_count, name, "argument",
                      fault);
}
