/* Forms: the table of forms.def, prepared for comparison with instructions. Private to src/ptx.
 *
 * Names of modifiers are interned in the module's names, so equal names are the same pointer. */
#ifndef PTX_FORMS_H
#define PTX_FORMS_H

#include "ptx/ptx.h"

enum { PTX_FORM_GROUPS = 16, PTX_FORM_OPERANDS = 8 };

typedef struct PtxFormGroup { /* a|b or {a|b} */
    const char **names;       /* [count] interned */
    int count;
    bool is_optional;
    bool is_type;   /* a type, or a suffix used as one (cvt.pack's s4) */
    bool is_layout; /* row or col */
    bool is_name;   /* part of the instruction's name: only such groups come before it */
} PtxFormGroup;

typedef enum PtxFormOperandKind {
    PTX_FORM_TYPED,   /* a register or a constant of `slot` or `type` */
    PTX_FORM_MEMORY,  /* [...] */
    PTX_FORM_NUMBER,  /* an integer constant */
    PTX_FORM_ADDRESS, /* a register with an address */
    PTX_FORM_LABEL,   /* checked when the program is linked */
    PTX_FORM_MOV,
    PTX_FORM_SINK,
    PTX_FORM_ANY /* this operand and all that follow */
} PtxFormOperandKind;

typedef struct PtxFormOperand {
    PtxFormOperandKind kind;
    int slot;     /* index into the instruction's types; -1: `type` */
    PtxType type; /* with slot -1 */
    PtxType pair; /* a|b: the type of b; PTX_NO_TYPE: no pair */
    int count;    /* a#n: n of them in braces; 0: one */
    bool is_written, is_optional, needs_pair;
    bool is_hint; /* present exactly with .L2::cache_hint */
    bool is_doubled, may_be_wider, may_be_vector, may_be_sink, may_be_special, may_be_symbol;
    bool may_be_negated;
    char part; /* what may be selected, as in forms.def: s S h q m n r; 0: nothing */
} PtxFormOperand;

typedef struct PtxForm {
    int until;    /* 100 * major + minor: last version of PTX that has the form; 0: all have it */
    bool is_open; /* allows any other modifiers */
    PtxFormGroup groups[PTX_FORM_GROUPS];
    int group_count;
    PtxFormOperand operands[PTX_FORM_OPERANDS];
    int operand_count; /* including the optional ones */
} PtxForm;

typedef struct PtxNeed { /* a row of targets.def */
    const char *targets;
    int operands; /* only with so many; 0: with any */
    PtxForm form; /* its groups: the modifiers that need these targets */
} PtxNeed;

/* An opcode's forms are read on first use: a kernel has few of the 150 opcodes. */
typedef struct PtxForms PtxForms;

PtxForms *ptx_forms_new(const PtxModule *module);
void ptx_forms_free(PtxForms *forms);
/* [*count], in the order of forms.def; valid until ptx_forms_free(). */
const PtxForm *ptx_forms_of(PtxForms *forms, PtxOpcode opcode, int *count);
/* [*count] The opcode's rows of targets.def that the module's .target does not meet. */
const PtxNeed *ptx_forms_needs(PtxForms *forms, PtxOpcode opcode, int *count);

/* True if it is a PTX instruction without a row in opcodes.def. */
bool ptx_forms_is_parsed(const char *name);
/* The names of all instructions; NULL at index *count. */
const char *const *ptx_forms_names(size_t *count);

#endif
