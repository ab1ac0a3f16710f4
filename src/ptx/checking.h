/* Checking: the declarations that the files of the checker share. Private to src/ptx. */
#ifndef PTX_CHECKING_H
#define PTX_CHECKING_H

#include "ptx/forms.h"
#include "ptx/program.h"

typedef struct PtxFault { /* an error of an instruction */
    int operand;          /* from 0; -1: the instruction as a whole */
    int item;             /* in its braces or its pair; -1: the whole operand */
    char text[320];
} PtxFault;

typedef struct PtxChecker {
    const PtxProgram *program;
    PtxForms *forms;
    const PtxFunction *function; /* of the instruction */
    const PtxInstruction *instruction;
    PtxSourceLine source; /* line of the instruction; 0: not known */
    char name[160];       /* the instruction with all its suffixes */
    Error *error;
} PtxChecker;

/* check_operands.c: true if the operands fit the form. */
bool ptx_check_operands(const PtxChecker *checker, const PtxForm *form, PtxFault *fault);
/* Checks arguments and results of a call. */
bool ptx_check_call(const PtxChecker *checker, PtxFault *fault);

/* Fills `fault` and returns false. */
bool ptx_fault(PtxFault *fault, int operand, int item, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
