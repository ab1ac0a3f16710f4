/* Code that all lane handlers share: the choice of the level, and the checks of lowering. */
#include "emulator/lanes/lanes.h"
#include <limits.h>
#include <stdarg.h>

static int level_limit = INT_MAX;

static int machine_level(void) {
#if LANES_HAVE_LEVELS
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
        return 0;
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq")
               ? 2
               : 1;
#else
    return 0;
#endif
}

int lanes_level(void) {
    int level = machine_level();
    return level < level_limit ? level : level_limit;
}

void lanes_limit_level(int limit) {
    level_limit = limit < 0 ? 0 : limit;
}

PtxType lanes_type(const PtxInstruction *in, int index) {
    return index < in->type_count ? in->types[index] : PTX_NO_TYPE;
}

PtxModifierKind lanes_rounding(const PtxInstruction *in) {
    for (int i = 0; i < in->modifier_count; i++) switch (in->modifiers[i].kind) {
        case PTX_MOD_RN:
        case PTX_MOD_RZ:
        case PTX_MOD_RM:
        case PTX_MOD_RP:
        case PTX_MOD_RNA:
        case PTX_MOD_RS:
        case PTX_MOD_RNI:
        case PTX_MOD_RZI:
        case PTX_MOD_RMI:
        case PTX_MOD_RPI:
            return in->modifiers[i].kind;
        default:
            break;
        }
    return PTX_MODIFIER_NONE;
}

static bool is_own_type(const PtxInstruction *in, const char *text) {
    for (int i = 0; i < in->type_count; i++)
        if (in->types[i] != PTX_NO_TYPE && strcmp(ptx_type_text(in->types[i]), text) == 0) return true;
    return false;
}

bool lanes_accept(Lowering *low, const PtxInstruction *in, Op *op, ...) {
    for (int i = 0; i < in->modifier_count; i++) {
        const PtxModifier *modifier = &in->modifiers[i];
        bool known = is_own_type(in, modifier->text);
        va_list list;
        va_start(list, op);
        for (int kind; !known && (kind = va_arg(list, int)) != PTX_MODIFIER_NONE;)
            known = (int)modifier->kind == kind;
        va_end(list);
        if (!known) return lowering_reject(low, op, "%s with .%s is not emulated", in->name, modifier->text);
    }
    return true;
}

bool lanes_expect_operands(Lowering *low, const PtxInstruction *in, Op *op, int minimum, int maximum) {
    if (in->operand_count >= minimum && in->operand_count <= maximum) return true;
    return lowering_reject(low, op, "%s takes %d%s operands, not %d", in->name, minimum,
                           minimum < maximum ? " or more" : "", in->operand_count);
}

int lanes_minus(const PtxInstruction *in, int product, int addend) {
    if (!in->fused) return 0;
    bool minus = in->operands[1].negated != in->operands[2].negated;
    return (minus ? product : 0) | (in->operands[3].negated ? addend : 0);
}

bool lanes_use(Lowering *low, const PtxInstruction *in, Op *op, const LaneHandler *handler,
               OpWeight provenance) {
    if (!handler)
        return lowering_reject(low, op, "%s has no form for type .%s", in->name,
                               ptx_type_text(lanes_type(in, 0)));
    op->run = handler->at[lanes_level()];
    op->op_class = OP_LANES;
    op->provenance = provenance;
    return true;
}

bool lanes_operands(Lowering *low, const PtxInstruction *in, Op *op, PtxType destination, int source_count,
                    const PtxType *types) {
    if (!lanes_expect_operands(low, in, op, source_count + 1, source_count + 1)) return false;
    bool present;
    if (!lowering_destination(low, op, &in->operands[0], &op->d, &op->d_bytes, &present)) return false;
    if (!present) return lowering_reject(low, op, "%s has no destination", in->name);
    if (op->d_bytes != ptx_type_bytes(destination))
        return lowering_reject(low, op, "%s writes %d bytes, but its destination has %d", in->name,
                               ptx_type_bytes(destination), op->d_bytes);
    op->has_d = true;
    for (int i = 0; i < source_count; i++) {
        if (!lowering_source(low, op, i + 1, types[i], &op->s[i])) return false;
        if (op->s_bytes[i] != ptx_type_bytes(types[i]))
            return lowering_reject(low, op, "%s reads %d bytes, operand %d has %d", in->name,
                                   ptx_type_bytes(types[i]), i + 2, op->s_bytes[i]);
    }
    op->source_count = source_count;
    return true;
}

bool lanes_simple(Lowering *low, const PtxInstruction *in, Op *op, PtxType type, int source_count,
                  const LaneHandler *handler, OpWeight provenance) {
    PtxType types[OP_SOURCES];
    for (int i = 0; i < OP_SOURCES; i++) types[i] = type;
    return lanes_use(low, in, op, handler, provenance) &&
           lanes_operands(low, in, op, type, source_count, types);
}
