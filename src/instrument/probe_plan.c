/* Decides what each instruction records (probe_plan.h). */
#include "instrument/probe_plan.h"

#include "instrument/probe_copies.h"
#include "instrument/probe_tensor.h"

#include "base/memory.h"
#include "ptx/approximate.h"
#include "ptx/matrix.h"
#include "ptx/opcodes.h"
#include "trace/producer_rules.h"
#include <stdlib.h>

/* ---- destinations ------------------------------------------------------------------------------------ */

static bool mentions(const PtxOperand *operand, const PtxRegister *reg) {
    if (operand->kind == PTX_OPERAND_REGISTER && operand->reg == reg) return true;
    for (int i = 0; i < operand->item_count; i++)
        if (mentions(&operand->items[i], reg)) return true;
    return false;
}

typedef struct Probe { /* of the opcodes that name it in ptx/opcodes.def */
    /* Fills in the properties of the instruction, whose kind is known; false: it gets no probe. */
    bool (*plan)(const PtxInstruction *in, const Constants *constants, InstrumentSite *site);
    /* True if the first operand is written. NULL: always. */
    bool (*has_destination)(const PtxInstruction *in);
    /* The operand of a field INSTRUMENT_OPERAND. NULL: the second operand. */
    const PtxOperand *(*operand)(const PtxInstruction *in);
    /* The `extra` of a record: an operand, or NULL and `*constant`. A NULL pointer: unused. */
    const PtxOperand *(*extra)(const InstrumentSite *site, uint32_t *constant);
} Probe;

static const Probe *probe_of(const PtxInstruction *in); /* NULL: no trace has such an event */

bool probe_plan_writes_first(const PtxInstruction *in) {
    const Probe *probe = probe_of(in);
    bool reads_first = in->opcode == PTX_nanosleep || in->opcode == PTX_stackrestore;
    return in->operand_count > 0 && !reads_first &&
           (!probe || !probe->has_destination || probe->has_destination(in));
}

bool probe_plan_writes(const PtxInstruction *instruction, const PtxRegister *reg) {
    return probe_plan_writes_first(instruction) && mentions(&instruction->operands[0], reg);
}

/* ---- constants in registers ------------------------------------------------------------------------- */

enum { NEVER, ONCE, OFTEN };

static void note_write(const PtxInstruction *in, const PtxOperand *operand, Constants *constants) {
    for (int i = 0; i < operand->item_count; i++) note_write(in, &operand->items[i], constants);
    if (operand->kind != PTX_OPERAND_REGISTER) return;
    int index = operand->reg->index;
    bool plain = in->opcode == PTX_mov && in->guard.kind == PTX_OPERAND_NONE && operand->component < 0 &&
                 operand == &in->operands[0] && in->operand_count == 2 &&
                 in->operands[1].kind == PTX_OPERAND_INTEGER;
    constants->writes[index] = plain && constants->writes[index] == NEVER ? ONCE : OFTEN;
    if (plain) constants->value[index] = (uint32_t)in->operands[1].integer;
}

Constants constants_find(const PtxFunction *function) {
    size_t count = (size_t)function->register_count;
    Constants constants = {memory_new(count + 1), memory_new((count + 1) * sizeof(uint32_t))};
    for (int i = 0; i < function->statement_count; i++) {
        const PtxInstruction *in = function->statements[i].instruction;
        if (function->statements[i].kind != PTX_STATEMENT_INSTRUCTION || !probe_plan_writes_first(in))
            continue;
        note_write(in, &in->operands[0], &constants);
    }
    return constants;
}

void constants_done(Constants *constants) {
    free(constants->writes);
    free(constants->value);
}

static bool is_constant(const PtxOperand *operand, const Constants *constants, uint32_t *value) {
    if (operand->kind == PTX_OPERAND_INTEGER) {
        *value = (uint32_t)operand->integer;
        return true;
    }
    if (operand->kind != PTX_OPERAND_REGISTER || operand->component >= 0) return false;
    *value = constants->value[operand->reg->index];
    return constants->writes[operand->reg->index] == ONCE;
}

/* ---- fields ----------------------------------------------------------------------------------------- */

static bool is_atomic(const PtxInstruction *in) {
    return in->opcode == PTX_atom || in->opcode == PTX_red;
}

static int address_index(const PtxInstruction *in) {
    return ptx_instruction_stores(in) || in->opcode == PTX_red ? 0 : 1;
}

/* Addresses of these spaces fit into 32 bits. */
static bool is_small_space(PtxSpace space) {
    return space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CLUSTER || space == PTX_SPACE_LOCAL;
}

/* Records the address of a row, and the lane's part of each matrix; partial_events.c creates an access per
 * matrix (see src/emulator/instructions/run_matrix.c). */
static bool plan_matrices(const PtxInstruction *in, InstrumentSite *site) {
    if (!ptx_instruction_has(in, PTX_MOD_M8N8) || in->types[0] != PTX_B16) return false;
    site->element_bytes = 4;
    site->element_count = 1;
    site->is_behind = !ptx_instruction_stores(in);
    probe_plan_add_field(site, INSTRUMENT_ADDRESS, 0, !is_small_space(in->space));
    for (int m = 0; m < ptx_matrix_count(in); m++) probe_plan_add_field(site, INSTRUMENT_VALUE, m, false);
    return true;
}

/* wmma.load, wmma.store: record the address of the matrix and the lane's registers; the row stride is the
 * record's extra. One access per piece (ptx/matrix.h). */
static bool plan_fragment(const PtxInstruction *in, InstrumentSite *site) {
    PtxMatrixAccess access;
    if (!ptx_matrix_access(in, &access)) return false;
    site->element_bytes = (uint8_t)(access.bytes / access.registers_of_piece);
    site->element_count = (uint8_t)access.registers_of_piece;
    site->is_behind = !access.is_store;
    probe_plan_add_field(site, INSTRUMENT_ADDRESS, 0, !is_small_space(in->space));
    for (int r = 0; r < access.fragment.distinct; r++)
        probe_plan_add_field(site, INSTRUMENT_VALUE, r, access.fragment.register_bytes == 8);
    return true;
}

/* mma, wmma.mma, movmatrix: the lane's registers of D. */
static bool plan_product(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    (void)constants;
    PtxProduct product = {.d = ptx_matrix_block()};
    if (in->opcode != PTX_movmatrix && !ptx_product(in, &product)) return false;
    site->element_bytes = (uint8_t)product.d.register_bytes;
    site->element_count = (uint8_t)product.d.registers;
    site->is_behind = true;
    for (int r = 0; r < product.d.registers; r++)
        probe_plan_add_field(site, INSTRUMENT_VALUE, r, product.d.register_bytes == 8);
    return true;
}

static bool plan_access(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    (void)constants;
    int at = address_index(in);
    if (!in->type_count || in->operand_count <= at || in->operand_count < 2) return false;
    if (in->operands[at].kind != PTX_OPERAND_MEMORY) return false;
    bool is_async = ptx_instruction_has(in, PTX_MOD_ASYNC);
    if (ptx_instruction_has(in, PTX_MOD_BULK)) return false;
    if (is_async && !ptx_instruction_has(in, PTX_MOD_COMPLETE_TX_BYTES)) return false;
    if (ptx_matrix_count(in)) return plan_matrices(in, site);
    if (in->opcode == PTX_wmma) return plan_fragment(in, site);
    int bytes = ptx_type_bytes(in->types[0]), count = in->vector > 1 ? in->vector : 1;
    if (bytes == 16) bytes = 8, count *= 2;
    if ((bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) || bytes * count > 32) return false;
    site->element_bytes = (uint8_t)bytes;
    site->element_count = (uint8_t)count;
    site->is_behind = !ptx_instruction_stores(in) && in->opcode != PTX_red;
    probe_plan_add_field(site, INSTRUMENT_ADDRESS, 0, !is_small_space(in->space));
    for (int e = 0; in->opcode != PTX_red && e < count; e++)
        probe_plan_add_field(site, INSTRUMENT_VALUE, e, bytes == 8);
    if (is_atomic(in)) probe_plan_add_field(site, INSTRUMENT_OPERAND, 0, bytes == 8);
    return true;
}

static bool plan_wmma(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    return (site->kind == TRACE_MATRIX ? plan_product : plan_access)(in, constants, site);
}

/* Records the result in every lane. */
static void plan_warp_result(InstrumentSite *site) {
    site->is_behind = true;
    site->element_bytes = 4;
    site->element_count = 1;
    probe_plan_add_field(site, INSTRUMENT_VALUE, 0, false);
}

static bool plan_shuffle(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    if (in->operand_count < 4) return false;
    probe_plan_add_field(site, INSTRUMENT_OPERAND, 0, false);
    plan_warp_result(site);
    uint32_t b, c;
    site->has_control =
        is_constant(&in->operands[2], constants, &b) && is_constant(&in->operands[3], constants, &c);
    if (site->has_control)
        site->control = instrument_control(b, c);
    else
        probe_plan_add_field(site, INSTRUMENT_CONTROL, 0, false);
    return true;
}

static bool plan_vote(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    (void)constants;
    if (in->operand_count < 2) return false;
    probe_plan_add_field(site, INSTRUMENT_OPERAND, 0,
                         in->opcode == PTX_match && ptx_type_bytes(in->types[0]) == 8);
    plan_warp_result(site);
    return true;
}

/* elect and activemask take no value. */
static bool plan_mask(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    (void)constants;
    plan_warp_result(site);
    return in->operand_count > 0;
}

/* The index of the mbarrier operand: after the destination, if any. */
static int mbarrier_index(const PtxInstruction *in) {
    return in->operand_count && in->operands[0].kind != PTX_OPERAND_MEMORY ? 1 : 0;
}

static bool is_mbarrier_wait(const PtxInstruction *in) {
    return in->opcode == PTX_mbarrier && trace_watches(in);
}

/* A state is opaque: neither the result of an arrival nor the operand of a wait is recorded. */
static const PtxOperand *operand_of_mbarrier(const PtxInstruction *in) {
    int index = mbarrier_index(in) + 1;
    if (in->opcode != PTX_mbarrier || index >= in->operand_count) return NULL;
    return is_mbarrier_wait(in) && !ptx_instruction_has(in, PTX_MOD_PARITY) ? NULL : &in->operands[index];
}

static bool plan_mbarrier(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    (void)constants;
    int place = mbarrier_index(in);
    if (in->operand_count <= place || in->operands[place].kind != PTX_OPERAND_MEMORY) return false;
    site->element_bytes = 8;
    site->element_count = 1;
    site->is_behind = is_mbarrier_wait(in);
    probe_plan_add_field(site, INSTRUMENT_ADDRESS, 0, !is_small_space(in->space));
    if (operand_of_mbarrier(in)) probe_plan_add_field(site, INSTRUMENT_OPERAND, 0, false);
    if (site->is_behind) probe_plan_add_field(site, INSTRUMENT_VALUE, 0, false);
    return true;
}

static bool plan_copy(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    if (trace_written_kind_of(in) != TRACE_NOT_RECORDED) return copies_plan(in, site);
    return site->kind == TRACE_ASYNC_GROUP || plan_mbarrier(in, constants, site);
}

/* The registers of D, 8 in a record, whose extra is the number of the first one (emit.c). */
static bool plan_wgmma(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    (void)constants;
    PtxWarpgroupProduct group;
    if (site->kind == TRACE_ASYNC_GROUP) return true;
    if (!ptx_warpgroup_product(in, &group)) return false;
    site->element_bytes = (uint8_t)group.product.d.register_bytes;
    site->element_count = (uint8_t)trace_warpgroup_registers(group.product.d.registers, 0);
    site->group_registers = (uint8_t)group.product.d.registers;
    site->is_behind = true;
    for (int r = 0; r < site->element_count; r++) probe_plan_add_field(site, INSTRUMENT_VALUE, r, false);
    return true;
}

static bool plan_barrier(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    (void)constants;
    site->is_behind = site->kind == TRACE_WARP_SYNC;
    if (site->is_behind) return in->operand_count == 1;
    if (ptx_instruction_has(in, PTX_MOD_RED)) probe_plan_add_field(site, INSTRUMENT_OPERAND, 0, false);
    return ptx_instruction_has(in, PTX_MOD_CLUSTER) || in->operand_count > 0;
}

static bool plan_bra(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    (void)in, (void)constants, (void)site;
    return true;
}

static bool plan_brx(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    (void)in, (void)constants;
    probe_plan_add_field(site, INSTRUMENT_OPERAND, 0, false);
    return true;
}

/* Not recorded on a GPU. */
static bool plan_texture(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    (void)in, (void)constants, (void)site;
    return false;
}

bool probe_plan_site(const PtxInstruction *in, const Constants *constants, InstrumentSite *site) {
    *site = (InstrumentSite){.instruction = in, .kind = trace_kind_of(in)};
    return site->kind != TRACE_NOT_RECORDED && probe_of(in)->plan(in, constants, site);
}

bool probe_plan_approximate_site(const PtxInstruction *in, InstrumentSite *site) {
    if (!ptx_is_approximate(in) && !ptx_reads_machine(in)) return false;
    *site = (InstrumentSite){.instruction = in, .kind = TRACE_APPROXIMATE, .is_behind = true};
    site->element_bytes = (uint8_t)ptx_type_bytes(in->types[0]);
    site->element_count = 1;
    probe_plan_add_field(site, INSTRUMENT_VALUE, 0, site->element_bytes == 8);
    return true;
}

bool probe_plan_is_missed(const PtxInstruction *in) {
    return trace_kind_of(in) != TRACE_NOT_RECORDED;
}

/* ---- operands --------------------------------------------------------------------------------------- */

/* The memory operand of an access. */
static const PtxOperand *address_of(const InstrumentSite *site) {
    if (site->kind == TRACE_MBARRIER) return &site->instruction->operands[mbarrier_index(site->instruction)];
    return &site->instruction->operands[address_index(site->instruction)];
}

/* Element e of {a, b}, of a vector register or of a 128-bit register (two elements each), or the operand
 * itself. */
static const PtxOperand *element_of(const PtxInstruction *in, const PtxOperand *operand, int element,
                                    PtxOperand *component) {
    bool halves = in->type_count && ptx_type_bytes(in->types[0]) == 16;
    int item = halves ? element / 2 : element;
    if (operand->kind == PTX_OPERAND_VECTOR) return item < operand->item_count ? &operand->items[item] : NULL;
    if (in->vector <= 1 || operand->kind != PTX_OPERAND_REGISTER) return operand;
    *component = *operand;
    component->component = (int8_t)item;
    return component;
}

static const PtxOperand *operand_field(const InstrumentSite *site, PtxOperand *component) {
    const PtxInstruction *in = site->instruction;
    const Probe *probe = probe_of(in);
    const PtxOperand *operand = probe->operand ? probe->operand(in) : &in->operands[1];
    return operand ? element_of(in, operand, 0, component) : NULL;
}

const PtxOperand *probe_plan_operand(const InstrumentSite *site, const InstrumentField *field,
                                     PtxOperand *component) {
    const PtxInstruction *in = site->instruction;
    switch ((InstrumentFieldKind)field->kind) {
    case INSTRUMENT_ADDRESS: /* of a copy: the source, then the destination */
        if (tensor_copy_is_site(site)) return tensor_copy_address(site);
        if (in->opcode == PTX_cp && site->kind != TRACE_MBARRIER)
            return &in->operands[field->element ? 0 : 1];
        return address_of(site);
    case INSTRUMENT_OPERAND:
        return tensor_copy_is_site(site) ? tensor_copy_operand(site, field->element)
                                         : operand_field(site, component);
    case INSTRUMENT_CONTROL:
        return NULL;
    case INSTRUMENT_VALUE:
        break;
    }
    if (ptx_instruction_stores(in)) return element_of(in, &in->operands[1], field->element, component);
    const PtxOperand *d = &in->operands[0];
    if (d->kind == PTX_OPERAND_PAIR) return &d->items[0];
    return trace_kind_is_access(site->kind) || site->kind == TRACE_MATRIX
               ? element_of(in, d, field->element, component)
               : d;
}

/* For a stride that is not in a register. */
static uint32_t fragment_stride(const PtxInstruction *in) {
    PtxMatrixAccess access;
    if (in->operand_count > 2) return (uint32_t)in->operands[2].integer;
    return ptx_matrix_access(in, &access) ? (uint32_t)access.default_stride : 0;
}

const PtxOperand *probe_plan_extra(const InstrumentSite *site, uint32_t *constant) {
    const Probe *probe = probe_of(site->instruction);
    *constant = 0;
    return probe && probe->extra ? probe->extra(site, constant) : NULL;
}

/* ---- the column "probe" of ptx/opcodes.def ---------------------------------------------------------- */

static bool writes_none(const PtxInstruction *in) {
    (void)in;
    return false;
}

static bool wmma_has_destination(const PtxInstruction *in) {
    return !ptx_instruction_stores(in);
}

static bool wgmma_has_destination(const PtxInstruction *in) {
    return ptx_instruction_has(in, PTX_MOD_MMA_ASYNC);
}

static bool mbarrier_has_destination(const PtxInstruction *in) {
    return in->operands[0].kind != PTX_OPERAND_MEMORY;
}

static bool barrier_has_destination(const PtxInstruction *in) {
    return ptx_instruction_has(in, PTX_MOD_RED);
}

static const PtxOperand *operand_at(const PtxInstruction *in, int index) {
    return index < in->operand_count ? &in->operands[index] : NULL;
}

static const PtxOperand *first_operand(const PtxInstruction *in) {
    return &in->operands[0];
}

static const PtxOperand *third_operand(const PtxInstruction *in) {
    return operand_at(in, 2);
}

static const PtxOperand *last_operand(const PtxInstruction *in) {
    return &in->operands[in->operand_count - 1];
}

/* The participating lanes. NOLINTBEGIN(readability-non-const-parameter): these functions share the signature
 * of those that set a constant. */
static const PtxOperand *members_of_shuffle(const InstrumentSite *site, uint32_t *constant) {
    (void)constant;
    return operand_at(site->instruction, 4);
}

static const PtxOperand *members_of_vote(const InstrumentSite *site, uint32_t *constant) {
    (void)constant;
    return operand_at(site->instruction, 2);
}

static const PtxOperand *members_of_elect(const InstrumentSite *site, uint32_t *constant) {
    (void)constant;
    return operand_at(site->instruction, 1);
}
/* NOLINTEND(readability-non-const-parameter) */

/* The row stride, in elements. */
static const PtxOperand *distance_of_wmma(const InstrumentSite *site, uint32_t *constant) {
    const PtxOperand *distance = operand_at(site->instruction, 2);
    if (site->kind == TRACE_MATRIX) return NULL;
    *constant = fragment_stride(site->instruction);
    return distance && distance->kind == PTX_OPERAND_REGISTER ? distance : NULL;
}

/* How many groups may be in flight after a wait. */
static const PtxOperand *groups_of_copy(const InstrumentSite *site, uint32_t *constant) {
    if (site->kind == TRACE_ASYNC_GROUP && site->instruction->operand_count)
        *constant = (uint32_t)site->instruction->operands[0].integer;
    return NULL;
}

/* The number of the barrier in the block. */
static const PtxOperand *number_of_barrier(const InstrumentSite *site, uint32_t *constant) {
    const PtxInstruction *in = site->instruction;
    bool is_cluster = ptx_instruction_has(in, PTX_MOD_CLUSTER);
    if (is_cluster) *constant = TRACE_CLUSTER_BARRIER;
    return is_cluster ? NULL : operand_at(in, ptx_instruction_has(in, PTX_MOD_RED) ? 1 : 0);
}

static const Probe probe_load = {.plan = plan_access};
static const Probe probe_store = {.plan = plan_access, .has_destination = writes_none};
static const Probe probe_atom = {.plan = plan_access, .operand = third_operand};
static const Probe probe_red = {.plan = plan_access, .has_destination = writes_none};
static const Probe probe_wmma = {
    .plan = plan_wmma, .has_destination = wmma_has_destination, .extra = distance_of_wmma};
static const Probe probe_product = {.plan = plan_product};
static const Probe probe_copy = {
    .plan = plan_copy, .has_destination = writes_none, .operand = third_operand, .extra = groups_of_copy};
static const Probe probe_wgmma = {
    .plan = plan_wgmma, .has_destination = wgmma_has_destination, .extra = groups_of_copy};
static const Probe probe_mbarrier = {
    .plan = plan_mbarrier, .has_destination = mbarrier_has_destination, .operand = operand_of_mbarrier};
static const Probe probe_shuffle = {.plan = plan_shuffle, .extra = members_of_shuffle};
static const Probe probe_vote = {.plan = plan_vote, .extra = members_of_vote};
static const Probe probe_activemask = {.plan = plan_mask};
static const Probe probe_elect = {.plan = plan_mask, .extra = members_of_elect};
static const Probe probe_barrier = {.plan = plan_barrier,
                                    .has_destination = barrier_has_destination,
                                    .operand = last_operand,
                                    .extra = number_of_barrier};
static bool texture_has_destination(const PtxInstruction *in) {
    return in->opcode != PTX_sust;
}

static const Probe probe_texture = {.plan = plan_texture, .has_destination = texture_has_destination};
static const Probe probe_bra = {.plan = plan_bra, .has_destination = writes_none};
static const Probe probe_brx = {.plan = plan_brx, .has_destination = writes_none, .operand = first_operand};

static const Probe *probe_of(const PtxInstruction *in) {
    static const Probe *const probes[PTX_OPCODE_COUNT] = {
#define OPCODE(...)
#define RECORDED(name, section, syntax, meaning, event, probe, ...) [PTX_##name] = &probe_##probe,
#include "ptx/opcodes.def"
#undef OPCODE
    };
    return probes[in->opcode];
}
