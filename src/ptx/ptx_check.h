/* PTX check: decides whether ptxas would accept a program's instructions.
 *
 * Sources: "Instructions", "Operand Type Checking" and "Operand Size Exceeding Instruction-Type Size" in the
 * PTX ISA 9.0; forms.def is the table of forms. Checked are names, modifiers and types of instructions;
 * number, kind, type and width of operands; state spaces of named variables; sizes of shared variables. If it
 * is not certain that ptxas rejects something, it is accepted, and a module of a newer PTX than PTX_NEWEST is
 * not checked. emulator_unsupported decides whether the emulator can execute an instruction. */
#ifndef PTX_PTX_CHECK_H
#define PTX_PTX_CHECK_H

#include "ptx/program.h"

enum { PTX_NEWEST = 900 }; /* 100 * major + minor: the version of the ISA in the tables */

/* Checks the entry and every function that it can call. False with `error` (file, line, column, excerpt): the
 * first fault in the order of pcs. */
bool ptx_program_check(const PtxProgram *program, Error *error);

#endif
