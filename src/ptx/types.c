/* Types of PTX: their names, sizes and classes (types.def). */
#include "ptx/ptx.h"

static const struct {
    const char *text;
    int bytes;
} types[PTX_TYPE_COUNT] = {
    [PTX_NO_TYPE] = {"", 0},
#define TYPE(id, name, size) [PTX_##id] = {name, size},
#include "ptx/types.def"
#undef TYPE
};

int ptx_type_bytes(PtxType type) {
    return types[type].bytes;
}
const char *ptx_type_text(PtxType type) {
    return types[type].text;
}

/* clang-format off */
bool ptx_type_is_float(PtxType type) {
    switch (type) {
    case PTX_F16: case PTX_F16X2: case PTX_BF16: case PTX_BF16X2: case PTX_TF32: case PTX_F32: case PTX_F32X2: case PTX_F64:
    case PTX_E4M3: case PTX_E5M2: case PTX_E4M3X2: case PTX_E5M2X2: case PTX_E2M1X2: case PTX_E2M3X2: case PTX_E3M2X2:
    case PTX_UE8M0X2: case PTX_E4M3X4: case PTX_E5M2X4: case PTX_E2M1X4: case PTX_E2M3X4: case PTX_E3M2X4: return true;
    default: return false;
    }
}

/* clang-format on */

bool ptx_type_is_signed(PtxType type) {
    return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64 || type == PTX_S16X2;
}
