/* PTX: the intermediate representation (IR) of a module, its parser and its printer.
 *
 * The IR keeps everything that the text says, in order, so that print(parse(x)) parses to the same IR, and
 * the instrumenter can insert statements and print the result. It does not define execution: `PtxProgram`
 * (program.h) links an entry and what it calls into one array of instructions.
 *
 * Opcodes are rows of opcodes.def. A modifier follows a dot in an opcode ("add.rn.ftz.f32": rn, ftz, f32);
 * well-known ones are rows of modifiers.def, others keep only their text. An opcode or modifier in neither
 * table still parses (PTX_OTHER): executing it traps, naming it.
 *
 * Everything a module owns lives in its arena; pointers in the IR stay valid until ptx_module_free(). Sources
 * of rules: PTX ISA 9.0, named by section title. */
#ifndef PTX_PTX_H
#define PTX_PTX_H

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include <stdint.h>

/* PTX_add, ... of opcodes.h, which only those include that name one */
typedef uint16_t PtxOpcode;

typedef enum PtxModifierKind {
    PTX_MODIFIER_NONE, /* ends lists */
#define MODIFIER(id, text) PTX_MOD_##id,
#include "ptx/modifiers.def"
#undef MODIFIER
    PTX_MOD_TYPE, /* a row of types.def: see PtxInstruction.types */
    PTX_MOD_OTHER /* no row: text only */
} PtxModifierKind;

/* Fundamental and packed types ("Types" in the PTX ISA). */
typedef enum PtxType {
    PTX_NO_TYPE,
#define TYPE(id, text, bytes) PTX_##id,
#include "ptx/types.def"
#undef TYPE
    PTX_TYPE_COUNT
} PtxType;

/* State space; GENERIC if none is written. */
typedef enum PtxSpace {
    PTX_SPACE_GENERIC,
    PTX_SPACE_REG,
    PTX_SPACE_CONST,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,  /* entry parameters, and function parameters inside functions */
    PTX_SPACE_SHARED, /* .shared and .shared::cta */
    PTX_SPACE_SHARED_CLUSTER,
    PTX_SPACE_TEX
} PtxSpace;

typedef struct PtxFunction PtxFunction;

typedef struct PtxRegister {
    const char *name; /* with its %, as written */
    PtxType type;     /* as declared; float registers may be declared .b32: take types from opcodes */
    int vector;       /* 1, 2, 4: elements of a vector register (.reg .v4 .f32) */
    int index;        /* dense within its function, in order of first declaration or use */
} PtxRegister;

typedef struct PtxVariable {
    const char *name;      /* "_" in prototypes */
    PtxFunction *function; /* NULL: module scope */
    int index;             /* place in module->variables (module scope only) */
    PtxSpace space;
    PtxType type;
    int vector;     /* 1, 2, 4 */
    int alignment;  /* bytes; as written, or natural */
    uint64_t count; /* elements (product of the dimensions, vectors count once); 1 for scalars */
    uint64_t bytes; /* whole size; 0: unsized array (.extern .shared x[]) */
    bool is_extern, is_visible, is_weak, is_common;
    const uint8_t *initial; /* `bytes` bytes, or NULL; addresses in initialisers are in `relocations` */
    struct PtxRelocation *relocations;
    int relocation_count;
    const char *text; /* the declaration as printed, without the trailing ';' */
    int line;
} PtxVariable;

typedef struct PtxRelocation { /* an initial value that holds the address of a variable or function */
    uint64_t offset;           /* into the variable's bytes */
    int bytes;                 /* 4 or 8; 1 for one byte of the address, 0xFF00(symbol) */
    int shift;                 /* of that byte: bits 8 .. 15 are shift 8; else 0 */
    const char *symbol;
    int64_t addend;
    bool generic; /* generic(symbol) */
} PtxRelocation;

typedef struct PtxLabel {
    const char *name;
    int statement; /* index in the function's statements; -1 until seen */
} PtxLabel;

typedef enum PtxOperandKind {
    PTX_OPERAND_NONE,
    PTX_OPERAND_REGISTER,  /* r[.x]; `negated` for !p */
    PTX_OPERAND_SPECIAL,   /* %tid.x, %laneid, %envreg3, ...: name in `name`, e.g. "%tid.x" */
    PTX_OPERAND_INTEGER,   /* `integer`: 64 bits, two's complement; above 2^63 they wrap. WARP_SZ is 32 */
    PTX_OPERAND_FLOAT,     /* `number`; 0f.../0d...: exact bits in `float_bits`, `float_bytes` 4 or 8 */
    PTX_OPERAND_VARIABLE,  /* address of a variable (+ `integer`) as a value */
    PTX_OPERAND_FUNCTION,  /* a function's name: call target, or its address */
    PTX_OPERAND_LABEL,     /* branch target, or the name of a list of targets or of a prototype */
    PTX_OPERAND_MEMORY,    /* [base + integer]: base is `reg` or `variable` or neither ([16]) */
    PTX_OPERAND_VECTOR,    /* {a, b, ...}: `items` */
    PTX_OPERAND_PAIR,      /* d|p: `items`[0] d, `items`[1] p */
    PTX_OPERAND_ARGUMENTS, /* (a, b, ...) of a call: `items` */
    PTX_OPERAND_SINK,      /* _ */
    PTX_OPERAND_OTHER      /* syntax only of unemulated instructions: [a, {b,c}], {..}@.., text in `name` */
} PtxOperandKind;

typedef struct PtxOperand PtxOperand;
struct PtxOperand {
    PtxOperandKind kind;
    bool negated; /* !p of a predicate, -r of vmad and of fused instructions; -x is folded into literals */
    int8_t component; /* r.x .y .z .w (also .r .g .b .a): 0..3; -1: none */
    uint8_t float_bytes;
    PtxRegister *reg;
    PtxVariable *variable;
    PtxFunction *function;
    PtxLabel *label;
    const char *selector; /* part of a video operand, without the dot: "b0", "h10"; else NULL */
    const char *name;     /* spelling of specials, literals, functions, labels, others */
    int64_t integer;
    double number;
    uint64_t float_bits;
    PtxOperand *items;
    int item_count;
};

typedef struct PtxModifier {
    PtxModifierKind kind;
    const char *text; /* without the dot; a name with "::" is one modifier ("shared::cta", "L2::128B") */
} PtxModifier;

typedef struct PtxFused PtxFused;

typedef struct PtxInstruction {
    PtxOpcode opcode;
    const char *name;       /* the opcode's text up to the first dot */
    PtxModifier *modifiers; /* in source order */
    int modifier_count;
    /* Decoded from the modifiers for convenience: */
    PtxType types[4]; /* the type modifiers in order (cvt.rzi.s32.f32: S32, F32); unused: NO_TYPE */
    int type_count;
    PtxSpace space;       /* first state-space modifier; else GENERIC */
    int vector;           /* .v2 .v4 .v8; else 1 */
    PtxOperand guard;     /* kind REGISTER (a predicate, maybe negated) or NONE */
    PtxOperand *operands; /* in source order, destination first */
    int operand_count;
    int line, column;      /* place in the PTX text */
    int loc;               /* index into function->locs of the .loc in force; -1: none */
    bool is_kept_apart;    /* its statement is printed with .rn, or ptxas would fuse it, too (contract.h) */
    const PtxFused *fused; /* an fma that the text does not have (contract.h); else NULL */
} PtxInstruction;

/* What an fma was made of. Its operands may be `negated`, which PTX does not allow in the text: the printer
 * writes neg before it. */
struct PtxFused {
    const PtxInstruction *product; /* the mul */
    const PtxInstruction *sum;     /* the add or sub, whose place, guard and result the fma has */
};

/* A .loc directive: "Debugging Directives: .loc". */
typedef struct PtxLoc {
    int file, line, column;    /* file: the number of a .file directive; line 0: compiler-generated */
    const char *function_name; /* label in .debug_str (+ addend), or NULL: not inlined */
    int function_name_addend;
    int inlined_file, inlined_line, inlined_column; /* `inlined_at`; 0: none. One hop only. */
} PtxLoc;

typedef enum PtxStatementKind {
    PTX_STATEMENT_INSTRUCTION, /* `instruction` */
    PTX_STATEMENT_LABEL,       /* `label` */
    PTX_STATEMENT_LOC,         /* `index` into function->locs */
    PTX_STATEMENT_REGISTERS,   /* .reg: printed from `text` */
    PTX_STATEMENT_VARIABLE,    /* .shared/.local/.param/... inside a function: `variable` */
    PTX_STATEMENT_OPEN,        /* { */
    PTX_STATEMENT_CLOSE,       /* } */
    PTX_STATEMENT_TARGETS,     /* label: .branchtargets a, b; or .calltargets f, g; `label`, `names` */
    PTX_STATEMENT_PROTOTYPE,   /* label: .callprototype ...: `label`, `text`, `prototype` */
    PTX_STATEMENT_OTHER        /* .pragma and anything else kept as `text` */
} PtxStatementKind;

typedef struct PtxStatement {
    PtxStatementKind kind;
    int index;
    PtxInstruction *instruction;
    PtxLabel *label;
    PtxVariable *variable;
    PtxFunction *prototype; /* parameters and results of a .callprototype, no body */
    const char *text;
    const char **names;
    PtxOperand *targets; /* [name_count] the same, resolved: kind LABEL or FUNCTION */
    int name_count;
    bool is_call_targets;
} PtxStatement;

struct PtxFunction {
    const char *name;
    int index; /* place in module->functions */
    bool is_entry, is_extern, is_visible, is_weak, has_body;
    PtxVariable **parameters; /* space PARAM (or REG) */
    int parameter_count;
    PtxVariable **results; /* of a .func */
    int result_count;
    uint32_t required_threads[3]; /* .reqntid; 0: not given */
    uint32_t maximum_threads[3];  /* .maxntid; 0: not given */
    uint32_t required_cluster[3]; /* .reqnctapercluster, in blocks; 0: not given */
    uint32_t maximum_cluster;     /* .maxclusterrank: blocks of a cluster; 0: not given */
    bool needs_cluster;       /* .explicitcluster: .reqnctapercluster or the launch sets the cluster size */
    bool blocks_are_clusters; /* .blocksareclusters: the launch's grid counts clusters */
    bool is_noreturn;         /* .noreturn: a call of it does not return */
    PtxFunction *alias_of;    /* .alias: this declaration stands for that function; else NULL */
    const char *directives;   /* all performance directives as printed back */
    /* The body. ptx_function_parse() fills it on first use. */
    bool is_parsed;
    bool is_contracted; /* ptx_contract() has seen the statements */
    PtxStatement *statements;
    int statement_count;
    PtxRegister **registers;
    int register_count;
    PtxLoc *locs;
    int loc_count;
    size_t body_begin, body_end; /* byte range of "{...}" in the module's text */
    int line;                    /* of the declaration, in the PTX text */
    int body_line;               /* of the opening brace; and the start of that line */
    size_t body_line_begin;
};

typedef enum PtxItemKind {
    PTX_ITEM_DIRECTIVE, /* .version, .target, .file, .section, .alias, ...: `text` */
    PTX_ITEM_VARIABLE,  /* `text`, printed with ';' */
    PTX_ITEM_FUNCTION   /* declaration or definition: `text` is the header */
} PtxItemKind;

typedef struct PtxItem {
    PtxItemKind kind;
    const char *text;
    PtxVariable *variable; /* PTX_ITEM_VARIABLE */
    PtxFunction *function;
    bool is_definition;
} PtxItem;

typedef struct PtxSourceFile {
    int number;       /* of the .file directive */
    const char *path; /* as written */
} PtxSourceFile;

typedef struct PtxModule {
    const char *file; /* name used in error messages */
    const char *text; /* the module's own copy */
    size_t length;
    int version_major, version_minor;
    const char *target; /* "sm_75" (first of a list); options such as "texmode_unified" are in `header` */
    /* Instructions that the target lacks are refused. Not so at first: the target of a compiler's PTX is
     * often one that nobody chose. */
    bool is_target_checked;
    int address_bytes; /* 4 or 8 */
    PtxSourceFile *files;
    int file_count;
    bool keeps_products;      /* --fmad=false: products and additions are not fused (contract.h) */
    bool has_library_headers; /* all files but the entry's own are a library's, whatever their names */
    PtxFunction **functions;  /* declarations merged with their definition */
    int function_count;
    PtxVariable **variables; /* module scope */
    int variable_count;
    PtxItem *items; /* everything at module scope, in order, for the printer */
    int item_count;
    Arena arena;
    struct PtxNames *names; /* the parser's symbol tables */
} PtxModule;

/* Reads a module: headers, variables, declarations and the extent of every body; bodies are parsed on demand.
 * Returns NULL with `error` (file, line, column, excerpt) on malformed text. Copies `text`. */
PtxModule *ptx_module_parse(const char *text, size_t length, const char *file, Error *error);
void ptx_module_free(PtxModule *module);

/* Parses the function's body on the first call. */
bool ptx_function_parse(PtxModule *module, PtxFunction *function, Error *error);
bool ptx_module_parse_all(PtxModule *module, Error *error);

/* Finds a function (entry or not) by exact name; NULL: none. */
PtxFunction *ptx_module_find(const PtxModule *module, const char *name);

/* Finds an entry by exact name, else by readable name: "sum" matches _Z3sumPKiPij, "sum<float,256>" matches
 * the instantiation (template arguments compared as written in C++, spaces ignored). NULL with `error` if
 * none or several match; the message lists the candidates. `name` NULL: the only entry. */
PtxFunction *ptx_module_find_entry(const PtxModule *module, const char *name, Error *error);

/* Readable form of a mangled (Itanium C++) function name: "sum<float,256>"; the name itself if it is not
 * mangled. */
const char *ptx_readable_name(PtxModule *module, const char *name);

/* Adds the types of the function's parameters from its mangled C++ name, one per line: "const float*". False:
 * the name has none, or is not understood. */
bool ptx_readable_parameters(const char *name, Text *out);

/* Prints the module (parses all bodies first). */
bool ptx_module_print(PtxModule *module, Text *out, Error *error);
/* The parts of a module, for callers that insert text between them. Definitions: the body must have been
 * parsed. */
void ptx_item_print(const PtxItem *item, Text *out);
/* True if it is the directive of this name, such as ".target". */
bool ptx_item_is_directive(const PtxItem *item, const char *name);
void ptx_statement_print(const PtxFunction *function, const PtxStatement *statement, Text *out);
/* One line, no newline, ends in ';'. */
void ptx_instruction_print(const PtxInstruction *instruction, Text *out);

int ptx_type_bytes(PtxType type);        /* 0 for .pred */
const char *ptx_type_text(PtxType type); /* "u32" */
bool ptx_type_is_float(PtxType type);
/* The type in which a float of this type is computed: f16, bf16, f32 (tf32, too) or f64, of a pair that of
 * its halves; NO_TYPE: another. */
PtxType ptx_type_computed(PtxType type);
bool ptx_type_is_signed(PtxType type);
bool ptx_instruction_has(const PtxInstruction *instruction, PtxModifierKind kind);
/* Volatile, or with an order of the memory consistency model (relaxed, acquire, release, acq_rel, sc, mmio):
 * other threads may watch what it writes, or write what it reads. */
bool ptx_instruction_is_ordered(const PtxInstruction *instruction);
/* The part of an instruction in asynchronous copies ("Data Movement and Conversion Instructions: Asynchronous
 * copy"). */
typedef enum PtxAsync {
    PTX_ASYNC_NOT,
    PTX_ASYNC_COPY,     /* cp.async: 4, 8 or 16 bytes of each lane, from global to shared memory */
    PTX_ASYNC_COMMIT,   /* cp.async.commit_group */
    PTX_ASYNC_WAIT,     /* cp.async.wait_group */
    PTX_ASYNC_WAIT_ALL, /* cp.async.wait_all */
    PTX_ASYNC_ARRIVE,   /* cp.async.mbarrier.arrive */
    PTX_ASYNC_BULK_COPY,
    PTX_ASYNC_BULK_REDUCE,
    PTX_ASYNC_BULK_PREFETCH,
    PTX_ASYNC_BULK_COMMIT,
    PTX_ASYNC_BULK_WAIT,
    PTX_ASYNC_STORE, /* st.async that completes on an mbarrier */
    PTX_ASYNC_RED    /* red.async */
} PtxAsync;
PtxAsync ptx_asynchronous(const PtxInstruction *instruction);

/* Only writes memory: st, stmatrix, sust, wmma.store. */
bool ptx_instruction_stores(const PtxInstruction *instruction);
/* ldmatrix, stmatrix: number of matrices; 0: another instruction. */
int ptx_matrix_count(const PtxInstruction *instruction);

#endif
