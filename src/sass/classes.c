/* Instruction names are those of CUDA Binary Utilities, "Instruction Set Reference" (Hopper). */
#include "sass/classes.h"

#include "ptx/opcodes.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *name; /* up to the first dot */
    SassClass class;
} names[] = {
    {"BRA", SASS_BRANCH},
    {"BRX", SASS_BRANCH},
    {"BRXU", SASS_BRANCH},
    {"EXIT", SASS_EXIT},
    {"LDS", SASS_SHARED_LOAD},
    {"LDSM", SASS_SHARED_LOAD},
    {"STS", SASS_SHARED_STORE},
    {"STSM", SASS_SHARED_STORE},
    {"ATOMS", SASS_SHARED_ATOMIC},
    {"LDG", SASS_GLOBAL_LOAD},
    {"LD", SASS_GLOBAL_LOAD},
    {"STG", SASS_GLOBAL_STORE},
    {"ST", SASS_GLOBAL_STORE},
    {"ATOM", SASS_GLOBAL_ATOMIC},
    {"ATOMG", SASS_GLOBAL_ATOMIC},
    {"RED", SASS_GLOBAL_ATOMIC},
    {"REDG", SASS_GLOBAL_ATOMIC},
    {"LDL", SASS_LOCAL_LOAD},
    {"STL", SASS_LOCAL_STORE},
    {"SHFL", SASS_SHUFFLE},
    {"VOTE", SASS_VOTE},
    {"VOTEU", SASS_VOTE},
    {"MATCH", SASS_VOTE},
    {"REDUX", SASS_REDUX},
    {"BAR", SASS_BARRIER},
    {"CREDUX", SASS_REDUX},
    {"UCGABAR_ARV", SASS_CLUSTER_ARRIVE},
    {"UCGABAR_WAIT", SASS_CLUSTER_WAIT},
    {"LDGSTS", SASS_ASYNC_COPY},
    {"UBLKCP", SASS_BULK_COPY},
    {"UBLKRED", SASS_BULK_COPY},
    {"SYNCS", SASS_MBARRIER},
};

bool sass_is_access(SassClass class) {
    return class >= SASS_SHARED_LOAD && class <= SASS_LOCAL_STORE;
}

bool sass_is_guarded(const char *text) {
    return *text == '@';
}

const char *sass_mnemonic(const char *text, int *length) {
    if (*text == '@') text += strcspn(text, " ");
    text += strspn(text, " ");
    *length = (int)strcspn(text, " ");
    return text;
}

/* "BRA .L_x_1" always jumps; "@P0 BRA", "BRA.DIV UR4, ..." and "BRA.U UP0, ..." are conditional. */
static bool is_jump(const char *text, const char *name, int length) {
    return !sass_is_guarded(text) && length == 3 && !memcmp(name, "BRA", 3) && !strchr(name, ',');
}

SassClass sass_class_of_text(const char *text) {
    int length;
    const char *name = sass_mnemonic(text, &length);
    size_t stem = strcspn(name, ". ");
    if (is_jump(text, name, length)) return SASS_JUMP;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == stem && !memcmp(names[i].name, name, stem)) return names[i].class;
    return SASS_OTHER;
}

int sass_bytes(const char *text) {
    static const struct {
        const char *suffix;
        int bytes;
    } widths[] = {{".128", 16}, {".64", 8}, {".U8", 1}, {".S8", 1}, {".U16", 2}, {".S16", 2}, {".256", 32}};
    int length;
    const char *name = sass_mnemonic(text, &length);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const char *found = strstr(name, widths[i].suffix);
        size_t end = strlen(widths[i].suffix);
        if (found && found + end <= name + length && !isalnum((unsigned char)found[end]))
            return widths[i].bytes;
    }
    return 4;
}

/* ---- the column "machine_code" of ptx/opcodes.def --------------------------------------------------- */

static SassClass in_space(PtxSpace space, SassClass shared, SassClass global, SassClass local) {
    switch (space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        return shared;
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_GENERIC:
        return global;
    case PTX_SPACE_LOCAL:
        return local;
    default:
        return SASS_OTHER;
    }
}

static SassClass class_of_copy(const PtxInstruction *in) {
    switch (ptx_asynchronous(in)) {
    case PTX_ASYNC_COPY:
        return SASS_ASYNC_COPY;
    case PTX_ASYNC_BULK_COPY:
    case PTX_ASYNC_BULK_REDUCE:
        return SASS_BULK_COPY;
    default:
        return SASS_OTHER;
    }
}

static SassClass class_of_barrier(const PtxInstruction *in) {
    if (ptx_instruction_has(in, PTX_MOD_WARP)) return SASS_OTHER;
    if (!ptx_instruction_has(in, PTX_MOD_CLUSTER)) return SASS_BARRIER;
    return ptx_instruction_has(in, PTX_MOD_WAIT) ? SASS_CLUSTER_WAIT : SASS_CLUSTER_ARRIVE;
}

static SassClass class_of_load(const PtxInstruction *in) {
    return in_space(in->space, SASS_SHARED_LOAD, SASS_GLOBAL_LOAD, SASS_LOCAL_LOAD);
}

static SassClass class_of_store(const PtxInstruction *in) {
    return in_space(in->space, SASS_SHARED_STORE, SASS_GLOBAL_STORE, SASS_LOCAL_STORE);
}

static SassClass class_of_atomic(const PtxInstruction *in) {
    return in_space(in->space, SASS_SHARED_ATOMIC, SASS_GLOBAL_ATOMIC, SASS_OTHER);
}

static SassClass class_of_wmma(const PtxInstruction *in) {
    if (ptx_instruction_has(in, PTX_MOD_MMA)) return SASS_OTHER;
    return ptx_instruction_stores(in) ? in_space(in->space, SASS_SHARED_STORE, SASS_GLOBAL_STORE, SASS_OTHER)
                                      : in_space(in->space, SASS_SHARED_LOAD, SASS_GLOBAL_LOAD, SASS_OTHER);
}

static SassClass class_of_bra(const PtxInstruction *in) {
    return in->guard.kind == PTX_OPERAND_NONE ? SASS_JUMP : SASS_BRANCH;
}

static SassClass class_of_mbarrier(const PtxInstruction *in) {
    return ptx_instruction_has(in, PTX_MOD_PENDING_COUNT) ? SASS_OTHER : SASS_MBARRIER;
}

/* One class for every instruction of the opcode. */
#define ALWAYS(name, class)                                                                                  \
    static SassClass class_of_##name(const PtxInstruction *in) {                                             \
        (void)in;                                                                                            \
        return class;                                                                                        \
    }
ALWAYS(shared_load, SASS_SHARED_LOAD)
ALWAYS(shared_store, SASS_SHARED_STORE)
ALWAYS(branch, SASS_BRANCH)
ALWAYS(shuffle, SASS_SHUFFLE)
ALWAYS(vote, SASS_VOTE)
ALWAYS(redux, SASS_REDUX)
ALWAYS(other, SASS_OTHER)
#undef ALWAYS

SassClass sass_class_of_ptx(const PtxInstruction *in) {
    static SassClass (*const class_of[PTX_OPCODE_COUNT])(const PtxInstruction *) = {
#define OPCODE(...)
#define RECORDED(name, section, syntax, meaning, event, probe, machine_code, ...)                            \
    [PTX_##name] = class_of_##machine_code,
#include "ptx/opcodes.def"
#undef OPCODE
    };
    if (ptx_asynchronous(in) != PTX_ASYNC_NOT) return class_of_copy(in); /* also st.async and red.async */
    return class_of[in->opcode] ? class_of[in->opcode](in) : SASS_OTHER;
}
