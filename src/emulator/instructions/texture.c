/* tex, tld4, suld, sust, txq, suq: fetches from textures, loads and stores of surfaces ("Texture
 * Instructions", "Surface Instructions").
 *
 * The handle is the address of a TextureObject in device memory (base/texture_object.h). Each texel that a
 * lane reads or writes is an access of that lane to global memory, for observers and footprints alike. An
 * event keeps the values, which a replay gives back: memory may have changed since. Sectors belong to the
 * load/store units and do not count what the texture units fetch. */
#include "emulator/instructions/texture.h"

#include "base/language.h"
#include "emulator/machine/machine_copies.h"
#include "emulator/machine/marks.h"
#include "emulator/machine/observe.h"
#include "emulator/machine/recorder.h"

typedef struct TextureLane { /* what one lane does */
    Block *block;
    Warp *warp;
    const Op *op;
    const TextureOp *texture;
    int lane;
    TextureObject object;
    uint64_t value[TEXTURE_VALUES];
} TextureLane;

static bool refuse(const TextureLane *at, const char *format, uint64_t address)
    __attribute__((format(printf, 2, 0)));
static bool refuse(const TextureLane *at, const char *format, uint64_t address) {
    uint64_t addresses[WARP_LANES] = {0};
    addresses[at->lane] = address;
    Trap *trap = raise_trap(at->block, TRAP_OUT_OF_BOUNDS, at->warp, at->op->pc, lane_bit[at->lane],
                            addresses, format, at->op->instruction->name, (unsigned long long)address,
                            at->warp->index * WARP_LANES + at->lane);
    if (trap) {
        trap->space = PTX_SPACE_GLOBAL;
        trap->buffer = -1;
    }
    return false;
}

/* ---- memory ------------------------------------------------------------------------------------------- */

/* Copies bytes that the lane reads. False: they are in no memory. */
static bool read_memory(const TextureLane *at, uint64_t address, void *to, uint32_t count) {
    const Memory *memory = at->block->grid->memory;
    const uint8_t *host = memory_at(memory, address, count);
    if (!host) return false;
    Footprint *footprint = at->block->worker->footprint;
    if (footprint) {
        const Region *region = &memory->regions[memory_find(memory, address)];
        uint64_t first = (address - region->base) / 4, last = (address - region->base + count - 1) / 4;
        bits_set(footprint->read, region->first_word + first, last - first + 1);
    }
    memcpy(to, host, count);
    return true;
}

/* Reports texels that nobody has written, where the memory has marks. */
static void check_written(const TextureLane *at, uint64_t address, uint32_t count) {
    const Memory *memory = at->block->grid->memory;
    const Region *region = &memory->regions[memory_find(memory, address)];
    MemoryOp read = {.is_load = true, .width = (uint8_t)count};
    Access access = {.op = at->op,
                     .memory = &read,
                     .block = at->block,
                     .warp = at->warp,
                     .mask = lane_bit[at->lane],
                     .region = region,
                     .space = PTX_SPACE_GLOBAL,
                     .bytes = region->host};
    access.address[at->lane] = address;
    access.scattered[at->lane] = address - region->base;
    access.offset = access.scattered;
    marks_see(&access);
}

static bool read_texels(const TextureLane *at, uint64_t address, void *to, uint32_t count) {
    ObservedRange range = {at->block, at->op->pc, at->warp->index, at->lane, PTX_SPACE_GLOBAL,
                           address,   count};
    if (!read_memory(at, address, to, count))
        return refuse(
            at,
            tr("%s reads a texel at 0x%llx, where no memory is: the array has been freed (thread %d of "
               "the block)"),
            address);
    if (!at->block->observed) return true;
    check_written(at, address, count);
    observe_range(at->block, &range, NULL);
    return true;
}

static bool write_texels(const TextureLane *at, uint64_t address, void *from, uint32_t count) {
    const Memory *memory = at->block->grid->memory;
    if (!memory_at(memory, address, count))
        return refuse(
            at,
            tr("%s writes a texel at 0x%llx, where no memory is: the array has been freed (thread %d "
               "of the block)"),
            address);
    ObservedRange range = {at->block, at->op->pc, at->warp->index, at->lane, PTX_SPACE_GLOBAL,
                           address,   count};
    AsyncCopy copy = {.block = at->block->linear,
                      .to = PTX_SPACE_GLOBAL,
                      .from = PTX_SPACE_GENERIC,
                      .to_address = address,
                      .bytes = count,
                      .more = from};
    if (at->block->observed) observe_range(at->block, &range, from);
    copies_write(at->block, &copy);
    return true;
}

/* Reads what the handle names. */
static bool find_object(TextureLane *at) {
    uint64_t handle = register_read(at->warp, at->texture->handle, 8, at->lane);
    bool wants_surface = at->op->instruction->name[0] == 's';
    if (read_memory(at, handle, &at->object, sizeof at->object) && texture_object_is_valid(&at->object) &&
        !(at->object.flags & TEXTURE_IS_SURFACE) == !wants_surface)
        return true;
    return refuse(at,
                  wants_surface ? tr("%s: the handle 0x%llx names no surface (thread %d of the block)")
                                : tr("%s: the handle 0x%llx names no texture (thread %d of the block)"),
                  handle);
}

/* ---- tex, tld4 ---------------------------------------------------------------------------------------- */

static float float_register(const TextureLane *at, Operand place) {
    uint32_t bits = (uint32_t)register_read(at->warp, place, 4, at->lane);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool sample(TextureLane *at) {
    const TextureOp *texture = at->texture;
    TextureFetch fetch = texture->fetch;
    TextureTexels texels;
    uint8_t bytes[TEXTURE_MOST_TEXELS][TEXEL_MOST_BYTES] = {{0}};
    uint32_t out[TEXTURE_VALUES];
    for (int d = 0; d < texture->coordinates; d++) {
        fetch.at[d] = float_register(at, texture->at[d]);
        fetch.index[d] = (int32_t)register_read(at->warp, texture->at[d], 4, at->lane);
    }
    if (fetch.has_layer) fetch.layer = (uint32_t)register_read(at->warp, texture->layer, 4, at->lane);
    texture_find(&at->object, &fetch, &texels);
    for (int i = 0; i < texels.count; i++)
        if (texels.is_inside[i] && !read_texels(at, at->object.address + texels.offset[i], bytes[i],
                                                texture_texel_bytes(&at->object)))
            return false;
    texture_blend(&at->object, &fetch, &texels, bytes, out);
    for (int i = 0; i < TEXTURE_VALUES; i++) at->value[i] = out[i];
    return true;
}

/* ---- suld, sust --------------------------------------------------------------------------------------- */

/* Moves a coordinate into [0, most]; *outside if it was not. */
static int64_t clamped(int64_t place, int64_t most, bool *outside) {
    int64_t inside = place < 0 ? 0 : place > most ? most : place;
    *outside |= inside != place;
    return inside;
}

/* The offset of the bytes that are accessed; the first coordinate counts bytes. */
static uint64_t surface_offset(const TextureLane *at, uint32_t bytes, bool *outside) {
    const TextureOp *texture = at->texture;
    const TextureObject *object = &at->object;
    int64_t place[3] = {0}, layer = 0;
    int64_t last = (int64_t)object->width * texture_texel_bytes(object) - bytes;
    for (int d = 0; d < texture->coordinates; d++)
        place[d] = (int32_t)register_read(at->warp, texture->at[d], 4, at->lane);
    if (texture->fetch.has_layer) layer = (int32_t)register_read(at->warp, texture->layer, 4, at->lane);
    *outside = last < 0;
    if (last < 0) return 0;
    uint64_t x = (uint64_t)clamped(place[0], last, outside),
             y = (uint64_t)clamped(place[1], (int64_t)object->height - 1, outside),
             z = (uint64_t)clamped(place[2] + layer, (int64_t)object->depth - 1, outside);
    return x + y * object->pitch + z * object->slice;
}

static bool access_surface(TextureLane *at) {
    const TextureOp *texture = at->texture;
    uint32_t bytes = (uint32_t)texture->count * texture->element_bytes;
    uint8_t texels[TEXTURE_VALUES * sizeof(uint64_t)] = {0};
    bool outside = false;
    uint64_t address = at->object.address + surface_offset(at, bytes, &outside);
    bool is_whole = (uint64_t)at->object.width * texture_texel_bytes(&at->object) >= bytes;
    if (outside && (texture->outside == PTX_MOD_TRAP || !is_whole))
        return refuse(
            at,
            tr("%s.trap is outside of the surface, whose texels begin at 0x%llx (thread %d of the block)"),
            at->object.address);
    bool is_nothing = outside && texture->outside == PTX_MOD_ZERO;
    for (int i = 0; i < texture->count && texture->is_store; i++) {
        at->value[i] = register_read(at->warp, texture->values[i].place, texture->values[i].bytes, at->lane);
        memcpy(texels + i * texture->element_bytes, &at->value[i], texture->element_bytes);
    }
    if (texture->is_store) return is_nothing || write_texels(at, address, texels, bytes);
    if (!is_nothing && !read_texels(at, address, texels, bytes)) return false;
    for (int i = 0; i < texture->count; i++)
        at->value[i] = bytes_read(texels + i * texture->element_bytes, texture->element_bytes);
    return true;
}

/* ---- txq, suq ----------------------------------------------------------------------------------------- */

static void query(TextureLane *at) {
    const TextureObject *object = &at->object;
    bool has_layers = object->flags & (TEXTURE_IS_LAYERED | TEXTURE_IS_CUBE);
    switch (at->texture->query) {
    case PTX_MOD_WIDTH:
        at->value[0] = object->width;
        break;
    case PTX_MOD_HEIGHT:
        at->value[0] = object->dimensions > 1 ? object->height : 0;
        break;
    case PTX_MOD_DEPTH:
        at->value[0] = object->dimensions > 2 ? object->depth : 0;
        break;
    case PTX_MOD_ARRAY_SIZE:
        at->value[0] = has_layers ? object->depth : 0;
        break;
    default:
        at->value[0] = (object->flags & TEXTURE_IS_NORMALIZED) != 0;
        break;
    }
}

/* ---- execution ---------------------------------------------------------------------------------------- */

static bool run_lane(TextureLane *at) {
    if (!find_object(at)) return false;
    if (at->texture->query) {
        query(at);
        return true;
    }
    return at->op->instruction->name[0] == 's' ? access_surface(at) : sample(at);
}

static Outcome execute_texture(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    const TextureOp *texture = op->extra;
    uint64_t value[TEXTURE_VALUES][WARP_LANES];
    block->worker->counters[op->pc].requests++;
    for (uint32_t rest = block->hooks ? 0 : mask; rest; rest &= rest - 1) {
        TextureLane at = {
            .block = block, .warp = warp, .op = op, .texture = texture, .lane = __builtin_ctz(rest)};
        if (!run_lane(&at)) return OUTCOME_STOP;
        for (int i = 0; i < texture->count; i++) {
            value[i][at.lane] = at.value[i];
            if (!texture->is_store && texture->values[i].present)
                register_write(warp, texture->values[i].place, texture->values[i].bytes, at.lane,
                               at.value[i]);
        }
    }
    if (!block->recorder) return OUTCOME_NEXT;
    TraceEvent *event = recorder_begin(block->recorder, warp, op->pc, mask, TRACE_TEXTURE);
    event->element_bytes = texture->element_bytes;
    event->element_count = texture->count;
    event->has_result = true;
    for (int i = 0; i < texture->count && !block->hooks; i++)
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            event->value[i][__builtin_ctz(rest)] = value[i][__builtin_ctz(rest)];
    recorder_end(block->recorder, false, false);
    return OUTCOME_NEXT;
}

/* ---- lowering ----------------------------------------------------------------------------------------- */

static TextureOp *new_texture(Lowering *low, Op *op) {
    TextureOp *texture = lowering_allocate(low, sizeof *texture);
    texture->core.execute = execute_texture;
    op->op_class = OP_MEMORY;
    op->extra = texture;
    return texture;
}

/* The values: {a, b, c, d}, a vector register, or a single one. */
static bool lower_values(Lowering *low, const PtxInstruction *in, Op *op, TextureOp *texture,
                         const PtxOperand *operand) {
    bool is_list = operand->kind == PTX_OPERAND_VECTOR;
    texture->count = in->vector > 1 ? in->vector : 1;
    if ((is_list ? operand->item_count : 1) != (is_list ? texture->count : 1) ||
        texture->count > TEXTURE_VALUES || (!is_list && texture->count > 1))
        return lowering_reject(low, op, "%s: the values must be listed in braces", in->name);
    for (int i = 0; i < texture->count; i++) {
        const PtxOperand *item = is_list ? &operand->items[i] : operand;
        MemoryValue *value = &texture->values[i];
        PtxType type = texture->element_bytes == 1   ? PTX_B8
                       : texture->element_bytes == 2 ? PTX_B16
                       : texture->element_bytes == 4 ? PTX_B32
                                                     : PTX_B64;
        value->present = true;
        bool good = texture->is_store
                        ? lowering_value(low, op, item, type, &value->place, &value->bytes)
                        : lowering_destination(low, op, item, &value->place, &value->bytes, &value->present);
        if (!good) return false;
        if (value->present &&
            (value->bytes < (texture->element_bytes == 1 ? 2 : texture->element_bytes) || value->bytes > 8))
            return lowering_reject(low, op, "%s: a register has another size than the value", in->name);
    }
    return true;
}

static bool lower_handle(Lowering *low, Op *op, TextureOp *texture, const PtxOperand *operand) {
    if (operand->kind == PTX_OPERAND_MEMORY && operand->variable)
        return lowering_reject(low, op, "%s of a texture or surface by name is not emulated: only of objects",
                               op->instruction->name);
    PtxOperand handle = *operand;
    uint8_t bytes = 0;
    handle.kind = PTX_OPERAND_REGISTER;
    if (operand->kind != PTX_OPERAND_MEMORY || !operand->reg || operand->integer)
        return lowering_reject(low, op, "%s: the texture or surface must be in a register",
                               op->instruction->name);
    return lowering_value(low, op, &handle, PTX_U64, &texture->handle, &bytes) &&
           (bytes == 8 || lowering_reject(low, op, "%s: a handle has 64 bits", op->instruction->name));
}

/* [a, {layer, x, y, z}]: the layer first, and as many coordinates as the geometry has; more are ignored. */
static bool lower_place(Lowering *low, Op *op, TextureOp *texture, const PtxOperand *operand, PtxType type) {
    const PtxInstruction *in = op->instruction;
    if (operand->kind != PTX_OPERAND_OTHER || operand->item_count != 2)
        return lowering_reject(low, op, "%s: malformed coordinates", in->name);
    if (!lower_handle(low, op, texture, &operand->items[0])) return false;
    const PtxOperand *place = &operand->items[1];
    bool is_list = place->kind == PTX_OPERAND_VECTOR, has_layer = texture->fetch.has_layer;
    if ((is_list ? place->item_count : 1) < texture->coordinates + has_layer)
        return lowering_reject(low, op, "%s: malformed coordinates", in->name);
    for (int i = 0; i < texture->coordinates + has_layer; i++) {
        bool is_layer = has_layer && i == 0;
        uint8_t bytes = 0;
        Operand *to = is_layer ? &texture->layer : &texture->at[i - has_layer];
        if (!lowering_value(low, op, is_list ? &place->items[i] : place, is_layer ? PTX_U32 : type, to,
                            &bytes))
            return false;
        if (bytes != 4) return lowering_reject(low, op, "%s: a coordinate has 32 bits", in->name);
    }
    return true;
}

static bool find_geometry(const PtxInstruction *in, TextureOp *texture) {
    static const struct {
        PtxModifierKind name;
        TextureShape shape;
        bool has_layer;
        int coordinates;
    } geometries[] = {
        {PTX_MOD_D1, TEXTURE_SHAPE_1D, false, 1},     {PTX_MOD_D2, TEXTURE_SHAPE_2D, false, 2},
        {PTX_MOD_D3, TEXTURE_SHAPE_3D, false, 3},     {PTX_MOD_A1D, TEXTURE_SHAPE_1D, true, 1},
        {PTX_MOD_A2D, TEXTURE_SHAPE_2D, true, 2},     {PTX_MOD_CUBE, TEXTURE_SHAPE_CUBE, false, 3},
        {PTX_MOD_ACUBE, TEXTURE_SHAPE_CUBE, true, 3},
    };
    for (size_t g = 0; g < sizeof geometries / sizeof *geometries; g++)
        if (ptx_instruction_has(in, geometries[g].name)) {
            texture->fetch.shape = geometries[g].shape;
            texture->fetch.has_layer = geometries[g].has_layer;
            texture->coordinates = geometries[g].coordinates;
            return true;
        }
    return false;
}

static bool is_32_bits(PtxType type) {
    return type == PTX_U32 || type == PTX_S32 || type == PTX_F32;
}

/* Arrays have one level of detail here, so .level and .grad choose nothing. */
static bool lower_fetch(Lowering *low, const PtxInstruction *in, Op *op, TextureOp *texture) {
    texture->element_bytes = 4;
    if (in->operand_count < 2 || in->type_count != 2)
        return lowering_reject(low, op, "%s: malformed", in->name);
    if (!find_geometry(in, texture) || !is_32_bits(in->types[0]) || in->operands[0].kind == PTX_OPERAND_PAIR)
        return lowering_reject(low, op, "%s of this geometry and type is not emulated", in->name);
    bool takes_offset = in->operand_count > 2 && !ptx_instruction_has(in, PTX_MOD_LEVEL) &&
                        !ptx_instruction_has(in, PTX_MOD_GRAD);
    if (takes_offset || in->operand_count > (ptx_instruction_has(in, PTX_MOD_GRAD) ? 4 : 3))
        return lowering_reject(low, op, "%s with an offset or a depth to compare is not emulated", in->name);
    texture->fetch.is_index = in->types[1] == PTX_S32;
    return lower_place(low, op, texture, &in->operands[1], in->types[1]) &&
           lower_values(low, in, op, texture, &in->operands[0]);
}

OPCODE_LOWER(tex) {
    return lower_fetch(low, in, op, new_texture(low, op));
}

OPCODE_LOWER(tld4) {
    static const PtxModifierKind channels[] = {PTX_MOD_R, PTX_MOD_G, PTX_MOD_B, PTX_MOD_A};
    TextureOp *texture = new_texture(low, op);
    texture->fetch.is_gather = true;
    for (int c = 0; c < 4; c++)
        if (ptx_instruction_has(in, channels[c])) texture->fetch.channel = c;
    return lower_fetch(low, in, op, texture);
}

static bool lower_surface(Lowering *low, const PtxInstruction *in, Op *op, bool is_store) {
    TextureOp *texture = new_texture(low, op);
    texture->is_store = is_store;
    texture->outside = ptx_instruction_has(in, PTX_MOD_CLAMP)  ? PTX_MOD_CLAMP
                       : ptx_instruction_has(in, PTX_MOD_ZERO) ? PTX_MOD_ZERO
                                                               : PTX_MOD_TRAP;
    if (in->operand_count != 2 || in->type_count != 1 || !find_geometry(in, texture))
        return lowering_reject(low, op, "%s: malformed", in->name);
    if (!ptx_instruction_has(in, PTX_MOD_B))
        return lowering_reject(low, op, "%s.p, which converts, is not emulated", in->name);
    texture->element_bytes = (uint8_t)ptx_type_bytes(in->types[0]);
    return lower_place(low, op, texture, &in->operands[is_store ? 0 : 1], PTX_S32) &&
           lower_values(low, in, op, texture, &in->operands[is_store ? 1 : 0]);
}

OPCODE_LOWER(suld) {
    return lower_surface(low, in, op, false);
}
OPCODE_LOWER(sust) {
    return lower_surface(low, in, op, true);
}

static bool lower_query(Lowering *low, const PtxInstruction *in, Op *op) {
    static const PtxModifierKind queries[] = {PTX_MOD_WIDTH, PTX_MOD_HEIGHT, PTX_MOD_DEPTH,
                                              PTX_MOD_ARRAY_SIZE, PTX_MOD_NORMALIZED_COORDS};
    TextureOp *texture = new_texture(low, op);
    texture->element_bytes = 4;
    for (size_t q = 0; q < sizeof queries / sizeof *queries; q++)
        if (ptx_instruction_has(in, queries[q])) texture->query = queries[q];
    if (!texture->query || in->operand_count != 2 || ptx_instruction_has(in, PTX_MOD_LEVEL))
        return lowering_reject(low, op, "%s of this property is not emulated", in->name);
    return lower_handle(low, op, texture, &in->operands[1]) &&
           lower_values(low, in, op, texture, &in->operands[0]);
}

OPCODE_LOWER(txq) {
    return lower_query(low, in, op);
}
OPCODE_LOWER(suq) {
    return lower_query(low, in, op);
}
