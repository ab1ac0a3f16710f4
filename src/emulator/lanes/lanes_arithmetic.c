/* Opcodes that integers, floats and halves share: dispatch by type. */
#include "emulator/lanes/lanes.h"

static bool is_half(PtxType type) {
    return type == PTX_F16 || type == PTX_F16X2 || type == PTX_BF16 || type == PTX_BF16X2;
}

static bool by_family(Lowering *low, const PtxInstruction *in, Op *op, LaneLowering *integer,
                      LaneLowering *real, LaneLowering *half) {
    PtxType type = lanes_type(in, 0);
    if (type == PTX_NO_TYPE) return lowering_reject(low, op, "%s: this type is not emulated", in->name);
    LaneLowering *family = is_half(type) ? half : ptx_type_is_float(type) ? real : integer;
    return family ? family(low, in, op)
                  : lowering_reject(low, op, "%s has no form for type .%s", in->name, ptx_type_text(type));
}

#define LOWER(NAME, INTEGER, REAL, HALF)                                                                     \
    OPCODE_LOWER(NAME) {                                                                                     \
        return by_family(low, in, op, INTEGER, REAL, HALF);                                                  \
    }
LOWER(add, lanes_lower_integer_add, lanes_lower_float_add, lanes_lower_half_add)
LOWER(sub, lanes_lower_integer_sub, lanes_lower_float_sub, lanes_lower_half_sub)
LOWER(mul, lanes_lower_integer_mul, lanes_lower_float_mul, lanes_lower_half_mul)
LOWER(mad, lanes_lower_integer_mad, lanes_lower_float_fma, NULL)
LOWER(fma, NULL, lanes_lower_float_fma, lanes_lower_half_fma)
LOWER(div, lanes_lower_integer_div, lanes_lower_float_div, NULL)
LOWER(abs, lanes_lower_integer_abs, lanes_lower_float_abs, lanes_lower_half_abs)
LOWER(neg, lanes_lower_integer_neg, lanes_lower_float_neg, lanes_lower_half_neg)
LOWER(min, lanes_lower_integer_min, lanes_lower_float_min, lanes_lower_half_min)
LOWER(max, lanes_lower_integer_max, lanes_lower_float_max, lanes_lower_half_max)
