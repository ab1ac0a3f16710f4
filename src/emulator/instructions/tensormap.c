/* tensormap.replace and tensormap.cp_fenceproxy. The first sets a field of a tensor map in memory
 * (base/tensor_map.h), the second copies a map from shared to global memory ("Data Movement and Conversion
 * Instructions"). A tensor copy reads the map as it is (tensor_copy.c), fenced or not. */
#include "emulator/instructions/access_execute.h"

#include "base/language.h"
#include "base/tensor_map.h"
#include "emulator/machine/machine_copies.h"
#include "emulator/machine/observe.h"

typedef struct TensormapOp {
    CoreOp core;
    MemoryOp to, from;      /* addresses; replace: only `to` */
    TensorField field;      /* replace */
    const char *field_name; /* as PTX writes it */
    uint32_t dimension;
    Operand value;
    uint8_t value_bytes;
} TensormapOp;

typedef struct MapPlace {
    PtxSpace space; /* SHARED, GLOBAL */
    uint64_t address;
    uint8_t *host;
} MapPlace;

static bool refuse(const Warp *warp, const Op *op, int lane, const char *format, const char *name,
                   uint64_t number) __attribute__((format(printf, 4, 0)));
static bool refuse(const Warp *warp, const Op *op, int lane, const char *format, const char *name,
                   uint64_t number) {
    raise_trap(warp->block, TRAP_TENSOR_COPY, warp, op->pc, lane_bit[lane], NULL, format, name,
               (unsigned long long)number, warp->index * WARP_LANES + lane);
    return false;
}

/* False after a trap. */
static bool find_place(Block *block, const Warp *warp, const Op *op, const MemoryOp *at, int lane,
                       MapPlace *place) {
    uint64_t address = access_lane_address(warp, at, lane);
    bool is_shared = at->space == PTX_SPACE_SHARED ||
                     (at->space == PTX_SPACE_GENERIC && address - SHARED_WINDOW < WINDOW_BYTES);
    SharedHome home;
    *place = (MapPlace){.space = is_shared ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL, .address = address};
    if (!is_shared) {
        int region = memory_find(block->grid->memory, address);
        if (region >= 0 && !block->grid->memory->regions[region].read_only)
            place->host = memory_at(block->grid->memory, address, TENSOR_MAP_BYTES);
    } else {
        place->address = shared_window_address(warp, at, lane);
        if (!access_find_home(block, warp, op, PTX_SPACE_SHARED, lane, &place->address, &home)) return false;
        uint64_t size = block->grid->program->shared_bytes;
        if (home.block == block && place->address < size && size - place->address >= TENSOR_MAP_BYTES)
            place->host = block->shared + place->address;
    }
    return place->host || refuse(warp, op, lane,
                                 tr("%s finds no memory for a tensor map at 0x%llx (thread %d of the block)"),
                                 op->instruction->name, address);
}

/* Writes the map; `from`: where its bytes were before. */
static void write_map(Block *block, const Warp *warp, const Op *op, int lane, const MapPlace *from,
                      const MapPlace *to, uint8_t bytes[TENSOR_MAP_BYTES]) {
    ObservedRange written = {block, op->pc, warp->index, lane, to->space, to->address, TENSOR_MAP_BYTES};
    AsyncCopy copy = {.block = block->linear,
                      .to = to->space,
                      .from = from->space,
                      .to_address = to->address,
                      .from_address = from->address,
                      .bytes = TENSOR_MAP_BYTES,
                      .more = bytes};
    if (block->observed) observe_range(block, &written, bytes);
    copies_write(block, &copy);
}

static bool replace_in_lane(Block *block, const Warp *warp, const Op *op, int lane) {
    const TensormapOp *replace = op->extra;
    MapPlace place;
    TensorMap map;
    uint8_t bytes[TENSOR_MAP_BYTES];
    uint64_t value = register_read(warp, replace->value, replace->value_bytes, lane);
    if (!find_place(block, warp, op, &replace->to, lane, &place)) return false;
    if (!tensor_map_decode(place.host, &map))
        return refuse(warp, op, lane, tr("%s finds no tensor map at 0x%llx (thread %d of the block)"),
                      op->instruction->name, place.address);
    if (map.mode == TENSOR_IM2COL) {
        raise_trap(block, TRAP_NOT_EMULATED, warp, op->pc, lane_bit[lane], NULL,
                   tr("tensormap.replace in a tensor map for im2col is not emulated"));
        return false;
    }
    if (!tensor_map_replace(&map, replace->field, replace->dimension, value))
        return refuse(warp, op, lane,
                      tr("tensormap.replace: .%s of a tensor map cannot be %llu (thread %d of the block)"),
                      replace->field_name, value);
    tensor_map_encode(&map, bytes);
    write_map(block, warp, op, lane, &place, &place, bytes);
    return true;
}

/* In a replay nothing is written: the hooks know what is loaded. */
static Outcome execute_replace(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    block->worker->counters[op->pc].requests++;
    for (uint32_t rest = mask; rest && !block->hooks; rest &= rest - 1)
        if (!replace_in_lane(block, warp, op, __builtin_ctz(rest))) return OUTCOME_STOP;
    return OUTCOME_NEXT;
}

/* All lanes name the same copy. */
static Outcome execute_copy(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const TensormapOp *copy = op->extra;
    int lane = __builtin_ctz(mask);
    MapPlace from, to;
    uint8_t bytes[TENSOR_MAP_BYTES];
    block->worker->counters[op->pc].requests++;
    if (block->hooks) return OUTCOME_NEXT;
    if (!find_place(block, warp, op, &copy->from, lane, &from) ||
        !find_place(block, warp, op, &copy->to, lane, &to))
        return OUTCOME_STOP;
    memcpy(bytes, from.host, sizeof bytes);
    write_map(block, warp, op, lane, &from, &to, bytes);
    if (block->observed) observe_fence(warp, op->pc, mask);
    return OUTCOME_NEXT;
}

/* ---- lowering --------------------------------------------------------------------------------------- */

static bool find_field(const PtxInstruction *in, TensormapOp *replace) {
    static const struct {
        PtxModifierKind name;
        TensorField field;
    } fields[] = {{PTX_MOD_GLOBAL_ADDRESS, TENSOR_FIELD_ADDRESS},
                  {PTX_MOD_RANK, TENSOR_FIELD_RANK},
                  {PTX_MOD_BOX_DIM, TENSOR_FIELD_BOX},
                  {PTX_MOD_GLOBAL_DIM, TENSOR_FIELD_SIZE},
                  {PTX_MOD_GLOBAL_STRIDE, TENSOR_FIELD_STRIDE},
                  {PTX_MOD_ELEMENT_STRIDE, TENSOR_FIELD_STEP},
                  {PTX_MOD_ELEMTYPE, TENSOR_FIELD_TYPE},
                  {PTX_MOD_INTERLEAVE_LAYOUT, TENSOR_FIELD_INTERLEAVE},
                  {PTX_MOD_SWIZZLE_MODE, TENSOR_FIELD_SWIZZLE},
                  {PTX_MOD_FILL_MODE, TENSOR_FIELD_FILL}};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (int i = 0; i < in->modifier_count; i++)
            if (in->modifiers[i].kind == fields[f].name) {
                replace->field = fields[f].field;
                replace->field_name = in->modifiers[i].text;
                return true;
            }
    return false;
}

static bool lower_replace(Lowering *low, const PtxInstruction *in, Op *op, TensormapOp *replace) {
    int last = in->operand_count - 1;
    replace->core.execute = execute_replace;
    replace->to.space = in->space;
    if (!find_field(in, replace))
        return lowering_reject(low, op, "tensormap.replace of this field is not emulated");
    if (last < 1 || in->type_count != 1) return lowering_reject(low, op, "tensormap.replace: malformed");
    if (last == 2) replace->dimension = (uint32_t)in->operands[1].integer;
    low->lowered->lets_blocks_communicate |= in->space != PTX_SPACE_SHARED;
    return access_lower_address(low, op, &replace->to, &in->operands[0]) &&
           lowering_value(low, op, &in->operands[last], in->types[0], &replace->value, &replace->value_bytes);
}

OPCODE_LOWER(tensormap) {
    TensormapOp *map = lowering_allocate(low, sizeof *map);
    op->op_class = OP_MEMORY;
    op->extra = map;
    if (ptx_instruction_has(in, PTX_MOD_REPLACE)) return lower_replace(low, in, op, map);
    map->core.execute = execute_copy;
    map->to.space = PTX_SPACE_GLOBAL;
    map->from.space = PTX_SPACE_SHARED;
    low->lowered->lets_blocks_communicate = true;
    if (in->operand_count != 3) return lowering_reject(low, op, "tensormap.cp_fenceproxy: malformed");
    return access_lower_address(low, op, &map->to, &in->operands[0]) &&
           access_lower_address(low, op, &map->from, &in->operands[1]);
}
