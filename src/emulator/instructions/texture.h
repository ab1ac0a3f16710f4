/* Texture: the registers of tex, tld4, suld, sust, txq and suq, for replays. Private to the emulator. */
#ifndef EMULATOR_INSTRUCTIONS_TEXTURE_H
#define EMULATOR_INSTRUCTIONS_TEXTURE_H

#include "emulator/lanes/texture_sample.h"
#include "emulator/machine/machine_access.h"

enum { TEXTURE_VALUES = 4 };

typedef struct TextureOp {
    CoreOp core;
    Operand handle; /* 64 bits */
    Operand at[3], layer;
    int coordinates;
    PtxModifierKind query; /* txq, suq: what is asked for; PTX_MODIFIER_NONE: another instruction */
    bool is_store;
    PtxModifierKind outside; /* suld, sust: .trap, .clamp or .zero */
    TextureFetch fetch;      /* the form; coordinates are set by lane */
    int count;               /* of values */
    uint8_t element_bytes;   /* of a value: 4 in tex */
    MemoryValue values[TEXTURE_VALUES];
} TextureOp;

#endif
