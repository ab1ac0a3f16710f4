/* Names: every identifier of a module once, with its meaning in the open scopes. Private to src/ptx.
 *
 * A PtxName is interned: equal identifiers are the same pointer. Its meanings form a stack, innermost scope
 * on top; closing a scope pops what the scope declared. Registers declared as a range (.reg .b32 %r<100>) are
 * one entry under their prefix and become registers on first use. */
#ifndef PTX_NAMES_H
#define PTX_NAMES_H

#include "ptx/ptx.h"

typedef enum PtxMeaningKind {
    PTX_MEANS_REGISTER,
    PTX_MEANS_RANGE, /* registers: prefix and count */
    PTX_MEANS_VARIABLE,
    PTX_MEANS_FUNCTION,
    PTX_MEANS_LABEL
} PtxMeaningKind;

typedef struct PtxName PtxName;

typedef struct PtxMeaning PtxMeaning;
struct PtxMeaning {
    PtxMeaningKind kind;
    int depth; /* of the scope: 0 module, 1 function, 2.. nested */
    PtxName *name;
    PtxMeaning *outer; /* the same name in an enclosing scope */
    PtxMeaning *next;  /* declared in the same scope */
    PtxRegister *reg;
    PtxVariable *variable;
    PtxFunction *function;
    PtxLabel *label;
    PtxType type; /* of a range */
    int vector;
    uint32_t count;
};

struct PtxName {
    const char *text;
    uint32_t length;
    uint64_t hash;
    PtxMeaning *top;          /* registers, variables, functions */
    PtxMeaning *labels;       /* labels have a separate name space */
    PtxMeaning *ranges;       /* this name as a prefix */
    PtxOpcode opcode;         /* rows of opcodes.def */
    PtxModifierKind modifier; /* rows of modifiers.def; PTX_MOD_TYPE: of types.def; else PTX_MOD_OTHER */
    PtxType type;
    bool is_special;      /* %tid: "Special Registers" */
    const char *readable; /* demangled; NULL: not computed yet */
};

typedef struct PtxNames PtxNames;

PtxNames *ptx_names_new(Arena *arena); /* contains all tables; free with ptx_names_free() */
void ptx_names_free(PtxNames *names);
PtxName *ptx_names_get(PtxNames *names, const char *text, size_t length);
PtxName *ptx_names_find(const PtxNames *names, const char *text, size_t length); /* NULL: not interned */

/* Scopes. Module scope (depth 0) is always open. */
int ptx_names_depth(const PtxNames *names);
void ptx_names_open(PtxNames *names);
void ptx_names_close(PtxNames *names);

/* Declares `name` in the innermost scope. NULL: already declared there, in the same name space. */
PtxMeaning *ptx_names_declare(PtxNames *names, PtxName *name, PtxMeaningKind kind);
PtxMeaning *ptx_names_label(const PtxName *name, int depth); /* label of exactly that scope; NULL: none */

/* The innermost meaning of `name` as an operand (not a label), or NULL. If that is a member of a range,
 * `*member` is the meaning of the range; the caller makes the register and calls
 * ptx_names_declare_member(). */
PtxMeaning *ptx_names_lookup(PtxNames *names, PtxName *name, PtxMeaning **member);
PtxMeaning *ptx_names_declare_member(PtxNames *names, PtxName *name, const PtxMeaning *range);

#endif
