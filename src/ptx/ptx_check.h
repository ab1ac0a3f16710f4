/* PTX check: decides whether ptxas would take a program's instructions ("Instructions", "Operand Type
 * Checking" and "Operand Size Exceeding Instruction-Type Size" in the PTX ISA 9.0; the forms are the table
 * forms.def).
 *
 * What is checked: names, modifiers and types of instructions; number, kind, type and width of operands; state spaces of named
 * variables; sizes of shared variables. Where it is not certain that ptxas refuses, nothing is refused, and a module of a
 * newer PTX than PTX_NEWEST is not checked. Whether the emulator can execute an instruction is another question
 * (emulator_unsupported). */
#ifndef PTX_PTX_CHECK_H
#define PTX_PTX_CHECK_H

#include "ptx/program.h"

enum { PTX_NEWEST = 900 }; /* 100 * major + minor: the version of the ISA that the tables hold */

/* Checks the entry and every function that it can call. False with `error` (file, line, column, excerpt): the first fault in
 * the order of pcs. */
bool ptx_program_check(const PtxProgram *program, Error *error);

#endif
