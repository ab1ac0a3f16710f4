/* The instructions that the emulator executes: PtxOpcode has these values. */
#ifndef PTX_OPCODES_H
#define PTX_OPCODES_H

enum {
    PTX_OTHER, /* valid syntax, no row in opcodes.def */
#define OPCODE(name, ...) PTX_##name,
#include "ptx/opcodes.def"
#undef OPCODE
    PTX_OPCODE_COUNT
};

#endif
