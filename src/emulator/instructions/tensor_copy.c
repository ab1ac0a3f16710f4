/* cp.async.bulk.tensor and cp.reduce.async.bulk.tensor: one lane copies a box of a tensor, pixels of images
 * or four rows of a matrix, which a tensor map in memory describes, or reduces them into the tensor ("Data
 * Movement and Conversion Instructions: Tensor copy", "Tensors: Tiled mode, Im2col mode"). Rules and faults
 * of .tile, .im2col and .im2col_no_offs are those measured on an H200 (driver 580.159.04). .tile::gather4 and
 * .tile::scatter4 follow the PTX ISA and are not measured: the H200 has neither.
 *
 * The bytes are read when the copy is issued and written when it arrives (machine/machine_copies.h). Each
 * side is an event of the lane, with the tile in its values (trace/tile.h). */
#include "emulator/instructions/access_execute.h"
#include "emulator/instructions/copy_async.h"

#include "base/language.h"
#include "base/sentence.h"
#include "base/tensor_map.h"
#include "emulator/lanes/lanes.h"
#include "emulator/machine/machine_cluster.h"
#include "emulator/machine/mbarrier.h"
#include "emulator/machine/observe.h"
#include "emulator/machine/recorder.h"

enum { SHARED_ALIGNMENT = 128 };

typedef struct TensorCopyOp {
    CoreOp core;
    TileShape shape;
    bool is_load, has_multicast;
    int rank, coordinate_count, offset_count;
    MemoryOp map, shared, mbarrier; /* addresses */
    Operand coordinate[TENSOR_RANK_MOST];
    Operand offset[TENSOR_SIDES_MOST]; /* 2 bytes each */
    Operand multicast;                 /* 2 bytes: the ranks of the destination blocks */
    PtxModifierKind operation;         /* PTX_MODIFIER_NONE: a copy */
} TensorCopyOp;

typedef struct Fold { /* how elements are reduced */
    PtxModifierKind operation;
    PtxType type;
    bool flushes;
} Fold;

typedef struct TensorCopy { /* of one lane */
    Block *block;
    Warp *warp;
    const Op *op;
    int lane;
    TensorMap map;
    TraceTile tile;
    uint64_t shared, mbarrier; /* window addresses */
    uint64_t global;           /* of the first byte inside of the tensor */
    int region;                /* that has this byte; or one that stands for a tile that is all outside */
    uint8_t *host;             /* of this byte; NULL: nothing is inside */
    SharedHome home;           /* of the destination of a load */
} TensorCopy;

static bool refuse_as(const TensorCopy *copy, TrapKind kind, const char *format, int64_t number)
    __attribute__((format(printf, 3, 0)));
static bool refuse_as(const TensorCopy *copy, TrapKind kind, const char *format, int64_t number) {
    Text text = {0};
    text_print(&text, format, (long long)number);
    raise_trap(copy->block, kind, copy->warp, copy->op->pc, lane_bit[copy->lane], NULL,
               tr("a tensor copy %s (thread %d of the block)"), text_string(&text),
               copy->warp->index * WARP_LANES + copy->lane);
    text_done(&text);
    return false;
}

static bool refuse(const TensorCopy *copy, const char *format, int64_t number)
    __attribute__((format(printf, 2, 0)));
static bool refuse(const TensorCopy *copy, const char *format, int64_t number) {
    return refuse_as(copy, TRAP_TENSOR_COPY, format, number);
}

/* ---- the tensor map --------------------------------------------------------------------------------- */

/* The bytes of the map, in a parameter or in global or constant memory; NULL: elsewhere. */
static const uint8_t *map_bytes(const TensorCopy *copy, uint64_t address) {
    const Launch *launch = copy->block->grid->launch;
    uint64_t offset = address - PARAMETER_WINDOW;
    if (offset >= WINDOW_BYTES) return memory_at(copy->block->grid->memory, address, TENSOR_MAP_BYTES);
    bool fits = offset + TENSOR_MAP_BYTES <= launch->parameter_bytes;
    return fits ? (const uint8_t *)launch->parameters + offset : NULL;
}

static bool read_map(TensorCopy *copy) {
    const TensorCopyOp *op = copy->op->extra;
    uint64_t address = access_lane_address(copy->warp, &op->map, copy->lane);
    const uint8_t *bytes = map_bytes(copy, address);
    if (!bytes || !tensor_map_decode(bytes, &copy->map))
        return refuse(copy, tr("finds no tensor map at 0x%llx"), (int64_t)address);
    const TensorMap *map = &copy->map;
    const char *refusal = tensor_map_refusal(map);
    if (refusal) {
        raise_trap(copy->block, TRAP_TENSOR_COPY, copy->warp, copy->op->pc, lane_bit[copy->lane], NULL,
                   tr("a tensor copy reads a tensor map with %s"), refusal);
        return false;
    }
    if ((int)map->rank != op->rank)
        return refuse(copy, tr("has other dimensions than its tensor map, which has %lld"), map->rank);
    if ((map->mode == TENSOR_IM2COL) != (op->shape == TILE_PIXELS))
        return refuse(copy,
                      map->mode == TENSOR_IM2COL
                          ? tr("in tiled mode reads a tensor map for im2col of rank %lld")
                          : tr("in im2col mode reads a tiled tensor map of rank %lld"),
                      map->rank);
    if (!map->interleave) return true;
    raise_trap(copy->block, TRAP_NOT_EMULATED, copy->warp, copy->op->pc, lane_bit[copy->lane], NULL,
               tr("tensor copies with an interleave layout are not emulated"));
    return false;
}

/* ---- the tile --------------------------------------------------------------------------------------- */

/* What the instruction says of the lane's tile. False after a trap. */
static bool read_request(const TensorCopy *copy, TileRequest *request) {
    const TensorCopyOp *op = copy->op->extra;
    *request = (TileRequest){.shape = op->shape, .is_load = op->is_load};
    for (int d = 0; d < op->coordinate_count; d++) {
        int32_t at = (int32_t)register_read(copy->warp, op->coordinate[d], 4, copy->lane);
        if (!d && (int64_t)at * tensor_type_bytes(copy->map.type) % TILE_CHUNK)
            return refuse(copy, tr("begins at coordinate %lld, which is not a multiple of 16 bytes"), at);
        if (!op->is_load && at < 0) return refuse(copy, tr("writes at the negative coordinate %lld"), at);
        request->at[d] = at;
    }
    for (int side = 0; side < op->offset_count; side++)
        request->offset[side] = (uint16_t)register_read(copy->warp, op->offset[side], 2, copy->lane);
    return true;
}

/* Whether there is such a tile of pixels. False after a trap. */
static bool check_pixels(const TensorCopy *copy, const TileRequest *request) {
    const TensorMap *map = &copy->map;
    for (uint32_t side = 0; side < tensor_side_count(map); side++)
        if (map->size[side + 1] + (uint64_t)(map->upper[side] - map->lower[side]) >= TILE_SIDE_LIMIT) {
            raise_trap(copy->block, TRAP_NOT_EMULATED, copy->warp, copy->op->pc, lane_bit[copy->lane], NULL,
                       tr("tensor copies in im2col mode with %d pixels a side or more are not emulated"),
                       TILE_SIDE_LIMIT);
            return false;
        }
    /* Measured: 14 of 14 stores by such maps fault, also where no pixel of the copy lies outside. */
    for (uint32_t side = 0; side < tensor_side_count(map) && !request->is_load; side++)
        if (map->lower[side] < 0 || map->upper[side] > 0)
            return refuse(copy, tr("writes by a map whose bounding box leaves the image"), 0);
    return trace_tile_begins_in_box(map, request) ||
           refuse(copy, tr("begins outside of its bounding box"), 0);
}

/* Finds the memory of all that is inside of the tensor. */
static bool find_global(TensorCopy *copy) {
    const Memory *memory = copy->block->grid->memory;
    const TraceTile *tile = &copy->tile;
    if (trace_tile_is_outside(tile)) {
        int region = memory_find(memory, copy->map.address);
        copy->region = region < 0 ? 0 : region;
        copy->global = memory->regions[copy->region].base;
        return true;
    }
    uint64_t bytes = tile->reach;
    copy->region = memory_find(memory, copy->global);
    copy->host = memory_at(memory, copy->global, bytes);
    if (copy->host) return true;
    Text text = {0};
    int buffer = memory_describe(memory, copy->global, (int)bytes, -1, &text);
    Trap *trap = raise_trap(copy->block, TRAP_OUT_OF_BOUNDS, copy->warp, copy->op->pc, lane_bit[copy->lane],
                            NULL, tr("a tensor copy of %u bytes: %s"), (unsigned)bytes, text_string(&text));
    text_done(&text);
    if (!trap) return false;
    trap->space = PTX_SPACE_GLOBAL;
    trap->buffer = buffer;
    return false;
}

static bool find_shared(TensorCopy *copy) {
    const TensorCopyOp *op = copy->op->extra;
    Block *block = copy->block;
    SharedHome at;
    copy->shared = shared_window_address(copy->warp, &op->shared, copy->lane);
    copy->home = (SharedHome){block, -1};
    if (op->is_load) copy->mbarrier = shared_window_address(copy->warp, &op->mbarrier, copy->lane);
    if (op->is_load &&
        (!access_find_home(block, copy->warp, copy->op, op->shared.space, copy->lane, &copy->shared,
                           &copy->home) ||
         !access_find_home(block, copy->warp, copy->op, PTX_SPACE_SHARED_CLUSTER, copy->lane, &copy->mbarrier,
                           &at) ||
         !mbarrier_lies_with(block, copy->warp, copy->op, copy->lane, copy->home.peer, at.peer)))
        return false;
    if (copy->shared % SHARED_ALIGNMENT)
        return refuse_as(copy, TRAP_MISALIGNED,
                         tr("has its tile at shared offset %lld, which is not a multiple of 128"),
                         (int64_t)copy->shared);
    uint64_t size = block->grid->program->shared_bytes, bytes = trace_tile_span(&copy->tile);
    if (copy->shared <= size && bytes <= size - copy->shared) return true;
    raise_trap(
        block, TRAP_OUT_OF_BOUNDS, copy->warp, copy->op->pc, lane_bit[copy->lane], NULL,
        tr("a tensor copy of %u bytes: shared offset %llu, but the block has %u bytes of shared memory"),
        (unsigned)bytes, (unsigned long long)copy->shared, (unsigned)size);
    return false;
}

/* False after a trap. */
static bool place_tile(TensorCopy *copy) {
    TileRequest request;
    if (!read_request(copy, &request)) return false;
    if (request.shape == TILE_PIXELS && !check_pixels(copy, &request)) return false;
    copy->tile = trace_tile_of(&copy->map, &request, &copy->global);
    return find_global(copy) && find_shared(copy);
}

/* ---- elements --------------------------------------------------------------------------------------- */

/* FLOAT32_FTZ flushes subnormals; TFLOAT32 rounds to 10 bits, half away from zero. */
static uint32_t convert(uint32_t type, uint32_t bits) {
    if (type == TENSOR_F32_FTZ) return flush32(bits);
    if (is_nan32(bits)) return UINT32_C(0x7fffe000);
    return (bits + 0x1000) & ~UINT32_C(0x1fff);
}

static void convert_words(uint32_t type, uint8_t *bytes, uint32_t count) {
    for (uint32_t at = 0; at < count; at += 4) {
        uint32_t word = convert(type, (uint32_t)bytes_read(bytes + at, 4));
        memcpy(bytes + at, &word, sizeof word);
    }
}

/* What lies outside is 0, or the NaN 0x7ff7 in every 16 bits. */
static void fill_outside(const TensorMap *map, uint8_t *bytes, uint32_t count) {
    for (uint32_t at = 0; at < count; at++) bytes[at] = map->fill ? at & 1 ? 0x7f : 0xf7 : 0;
}

/* Reads the source into the bytes of the copy. */
static void read_bytes(const TensorCopy *copy, uint8_t *bytes) {
    const TensorCopyOp *op = copy->op->extra;
    bool converts = op->is_load && copy->map.type >= TENSOR_F32_FTZ;
    TilePiece piece;
    TraceTile tile = copy->tile;
    if (op->is_load) tile.swizzle = 0; /* rows are read whole */
    for (TileWalk walk = trace_tile_walk(&tile, copy->shared); trace_tile_next(&walk, &piece);) {
        uint8_t *to = bytes + piece.at;
        if (!op->is_load)
            memcpy(to, copy->block->shared + piece.shared, piece.bytes);
        else if (piece.is_inside)
            memcpy(to, copy->host + piece.global, piece.bytes);
        else
            fill_outside(&copy->map, to, piece.bytes);
        if (converts && piece.is_inside) convert_words(copy->map.type, to, piece.bytes);
    }
}

static void fold_elements(const void *rule, uint8_t *destination, const uint8_t *from, uint32_t bytes) {
    const Fold *fold = rule;
    int width = ptx_type_bytes(fold->type);
    for (uint32_t at = 0; at < bytes; at += (uint32_t)width) {
        uint64_t old = bytes_read(destination + at, width), value = bytes_read(from + at, width);
        if (fold->flushes) old = flush32((uint32_t)old), value = flush32((uint32_t)value);
        value = bulk_fold(fold->operation, fold->type, old, value);
        if (fold->flushes) value = flush32((uint32_t)value);
        memcpy(destination + at, &value, (size_t)width);
    }
}

/* The reduction of `operation` for the type of the map; NULL: the hardware has none. */
static const Fold *find_fold(PtxModifierKind operation, uint32_t type) {
#define ADDS(type, flushes)                                                                                  \
    { PTX_MOD_ADD, type, flushes }
#define ORDERS(type)                                                                                         \
    {PTX_MOD_MIN, type, false}, {                                                                            \
        PTX_MOD_MAX, type, false                                                                             \
    }
#define BITS(type)                                                                                           \
    {PTX_MOD_AND, type, false}, {PTX_MOD_OR, type, false}, {                                                 \
        PTX_MOD_XOR, type, false                                                                             \
    }
    static const Fold folds[TENSOR_TYPE_COUNT][8] = {
        [TENSOR_U32] = {ADDS(PTX_U32, false),
                        ORDERS(PTX_U32),
                        BITS(PTX_U32),
                        {PTX_MOD_INC, PTX_U32, false},
                        {PTX_MOD_DEC, PTX_U32, false}},
        [TENSOR_S32] = {ADDS(PTX_S32, false), ORDERS(PTX_S32), BITS(PTX_S32)},
        [TENSOR_U64] = {ADDS(PTX_U64, false), ORDERS(PTX_U64), BITS(PTX_U64)},
        [TENSOR_S64] = {ORDERS(PTX_S64)},
        [TENSOR_F16] = {ADDS(PTX_F16, false), ORDERS(PTX_F16)},
        [TENSOR_BF16] = {ADDS(PTX_BF16, false), ORDERS(PTX_BF16)},
        [TENSOR_F32] = {ADDS(PTX_F32, false)},
        [TENSOR_F64] = {ADDS(PTX_F64, false)},
        [TENSOR_F32_FTZ] = {ADDS(PTX_F32, true)},
        [TENSOR_TF32] = {ADDS(PTX_F32, false)},
        [TENSOR_TF32_FTZ] = {ADDS(PTX_F32, true)},
    };
    for (int i = 0; i < 8; i++)
        if (folds[type][i].type && folds[type][i].operation == operation) return &folds[type][i];
    return NULL;
}

/* ---- execution -------------------------------------------------------------------------------------- */

static void record_side(const TensorCopy *copy, TraceKind kind, int peer) {
    const Grid *grid = copy->block->grid;
    int lane = copy->lane;
    TraceEvent *event = recorder_begin(copy->block->recorder, copy->warp, copy->op->pc, lane_bit[lane], kind);
    trace_tile_write(&copy->tile, event, lane);
    event->is_load = kind == TRACE_GLOBAL_BULK_READ || kind == TRACE_SHARED_BULK_READ;
    event->operand[lane] = trace_tile_bytes(&copy->tile);
    if (trace_kind_is_shared(kind)) {
        event->participants = (uint32_t)(peer + 1);
        access_place_shared(grid, copy->shared, &event->buffer[lane], &event->offset[lane]);
    } else {
        event->buffer[lane] = (uint16_t)copy->region;
        event->offset[lane] = copy->global - grid->memory->regions[copy->region].base;
    }
    recorder_end(copy->block->recorder, false, false);
}

static void note_read(const TensorCopy *copy) {
    const Footprint *footprint = copy->block->worker->footprint;
    if (!footprint || !copy->host) return;
    const Region *region = &copy->block->grid->memory->regions[copy->region];
    TilePiece piece;
    for (TileWalk walk = trace_tile_walk(&copy->tile, copy->shared); trace_tile_next(&walk, &piece);) {
        if (!piece.is_inside) continue;
        uint64_t at = copy->global - region->base + piece.global;
        bits_set(footprint->read, region->first_word + at / 4, (at + piece.bytes - 1) / 4 - at / 4 + 1);
    }
}

static void check_written(const TensorCopy *copy) {
    const Block *block = copy->block;
    uint8_t *reported = &block->worker->reported[copy->op->pc];
    TilePiece piece;
    bool good = true;
    for (TileWalk walk = trace_tile_walk(&copy->tile, copy->shared); trace_tile_next(&walk, &piece);)
        if (piece.is_inside) good &= bits_all(block->shared_written, piece.shared, piece.bytes);
    if (good || *reported >= MAX_REPORTED) return;
    ++*reported;
    raise_trap(copy->block, TRAP_UNINITIALIZED, copy->warp, copy->op->pc, lane_bit[copy->lane], NULL,
               tr("a bulk copy reads %u bytes of shared memory at offset %llu, some of which were never "
                  "written (thread %d of the block)"),
               trace_tile_bytes(&copy->tile), (unsigned long long)copy->shared,
               copy->warp->index * WARP_LANES + copy->lane);
}

/* A copy, not a reduction: whether those clip in the same way was not measured. */
static void check_padding(const TensorCopy *copy) {
    const TensorCopyOp *op = copy->op->extra;
    const TraceTile *tile = &copy->tile;
    const Region *region = &copy->block->grid->memory->regions[copy->region];
    uint8_t *reported = &copy->block->worker->reported[copy->op->pc];
    int64_t at = (int32_t)register_read(copy->warp, op->coordinate[0], 4, copy->lane),
            size = (int64_t)copy->map.size[0] - at;
    uint32_t rows = 0, row_bytes = tile->count[0] * tile->element_bytes;
    TilePiece piece;
    if (op->operation != PTX_MODIFIER_NONE || trace_tile_is_outside(tile) || size >= tile->last[0] ||
        *reported >= MAX_REPORTED)
        return;
    ++*reported;
    for (TileWalk walk = trace_tile_walk(tile, copy->shared); trace_tile_next(&walk, &piece);)
        rows += piece.is_inside && piece.at % row_bytes == 0;
    raise_trap(copy->block, TRAP_OVERWRITTEN_PADDING, copy->warp, copy->op->pc, lane_bit[copy->lane], NULL,
               tr("a tensor copy overwrites the %u bytes behind %u row%s of its tensor, the first at "
                  "offset %llu of `%s`: the hardware ends rows on 16 bytes (thread %d of the block)"),
               (tile->last[0] - (uint32_t)size) * tile->element_bytes, rows, plural(rows),
               (unsigned long long)(copy->global - region->base) + (uint64_t)size * tile->element_bytes,
               region->name, copy->warp->index * WARP_LANES + copy->lane);
}

static void observe_parts(const TensorCopy *copy, Block *home, const AsyncCopy *begun) {
    int pc = copy->op->pc, warp = copy->warp->index;
    for (CopyParts parts = copy_parts(begun); copy_next_part(&parts);) {
        const AsyncCopy *part = &parts.part;
        ObservedRange read = {copy->block, pc, warp, copy->lane, part->from, part->from_address, part->bytes};
        ObservedRange written = {home, pc, warp, copy->lane, part->to, part->to_address, part->bytes};
        if (part->from != PTX_SPACE_GENERIC) observe_range(copy->block, &read, NULL);
        observe_range(copy->block, &written, copy_bytes(part));
    }
}

/* `home`: the block that holds the destination of a load; a store leaves this block. */
static void begin_copy(const TensorCopy *copy, Block *home, const Fold *fold) {
    const TensorCopyOp *op = copy->op->extra;
    AsyncCopy *begun =
        copies_add(home, copy->warp, copy->lane, copy->op->pc,
                   op->is_load ? COPY_ON_MBARRIER : COPY_IN_BULK_GROUP, trace_tile_bytes(&copy->tile));
    begun->tile = memory_new(sizeof *begun->tile);
    *begun->tile = copy->tile;
    read_bytes(copy, copies_room(begun));
    begun->to = op->is_load ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
    begun->from = op->is_load ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
    begun->to_address = op->is_load ? copy->shared : copy->global;
    begun->from_address = op->is_load ? copy->global : copy->shared;
    begun->mbarrier = (uint32_t)copy->mbarrier;
    begun->fold = fold ? fold_elements : NULL;
    begun->rule = fold;
    if (copy->block->observed) observe_parts(copy, home, begun);
    copies_begun(home, begun);
    if (op->is_load) mbarrier_wake(home, copy->block);
}

/* The ranks of the destination blocks, a bit each; 0: the block of the address. */
static uint32_t ranks_of(const TensorCopy *copy) {
    const TensorCopyOp *op = copy->op->extra;
    return op->has_multicast ? (uint32_t)register_read(copy->warp, op->multicast, 2, copy->lane) : 0;
}

/* Loads into the blocks of the cluster with these ranks, each at the same place. False after a trap. */
static bool load_multicast(const TensorCopy *copy, uint32_t ranks) {
    Block *block = copy->block;
    for (uint32_t rest = ranks; rest; rest &= rest - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(rest);
        bool is_own = rank == block->rank;
        Block *home = is_own ? block : cluster_member(block, rank);
        if (rank >= block->grid->cluster_blocks || (!home && block->cluster))
            return refuse(copy, tr("names block %lld of the cluster, which does not exist or has exited"),
                          rank);
        if (block->recorder) record_side(copy, TRACE_SHARED_BULK_WRITE, is_own ? -1 : (int)rank);
        if (home) begin_copy(copy, home, NULL);
    }
    return true;
}

static bool copy_lane(TensorCopy *copy) {
    const TensorCopyOp *op = copy->op->extra;
    const PtxInstruction *in = copy->op->instruction;
    const Fold *fold = NULL;
    if (!read_map(copy)) return false;
    if (op->operation != PTX_MODIFIER_NONE && !(fold = find_fold(op->operation, copy->map.type)))
        return refuse(copy, tr("has no such reduction for the type of its tensor map, %lld"), copy->map.type);
    if (!place_tile(copy)) return false;
    if (copy->block->recorder) record_side(copy, trace_kind_of(in), -1);
    if (op->is_load) {
        note_read(copy);
    } else {
        check_written(copy);
        check_padding(copy);
    }
    if (op->has_multicast) return load_multicast(copy, ranks_of(copy));
    if (copy->block->recorder) record_side(copy, trace_written_kind_of(in), copy->home.peer);
    if (copy->home.block) begin_copy(copy, copy->home.block, fold);
    return true;
}

/* In a replay: the hooks know the events of the lane; nothing is copied. */
static void replay_lane(const TensorCopy *copy) {
    const TensorCopyOp *op = copy->op->extra;
    int events = 1 + (op->has_multicast ? lane_count(ranks_of(copy)) : 1);
    for (int i = 0; i < events; i++) {
        recorder_begin(copy->block->recorder, copy->warp, copy->op->pc, lane_bit[copy->lane],
                       TRACE_NOT_RECORDED);
        recorder_end(copy->block->recorder, false, false);
    }
}

static Outcome execute_tensor_copy(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    block->worker->counters[op->pc].requests++;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        TensorCopy copy = {.block = block, .warp = warp, .op = op, .lane = __builtin_ctz(rest)};
        if (block->hooks)
            replay_lane(&copy);
        else if (!copy_lane(&copy))
            return OUTCOME_STOP;
    }
    return OUTCOME_NEXT;
}

/* ---- lowering --------------------------------------------------------------------------------------- */

static int rank_of(const PtxInstruction *in) {
    for (int i = 0; i < in->modifier_count; i++)
        if (in->modifiers[i].kind >= PTX_MOD_D1 && in->modifiers[i].kind <= PTX_MOD_D5)
            return (int)(in->modifiers[i].kind - PTX_MOD_D1) + 1;
    return 0;
}

/* "[map, {c0, c1}]". */
static bool lower_map(Lowering *low, Op *op, TensorCopyOp *copy, const PtxOperand *operand) {
    copy->coordinate_count = copy->shape == TILE_ROWS ? TENSOR_RANK_MOST : copy->rank;
    bool is_list = operand->kind == PTX_OPERAND_OTHER && operand->item_count == 2 &&
                   operand->items[1].kind == PTX_OPERAND_VECTOR &&
                   operand->items[1].item_count == copy->coordinate_count;
    if (!is_list) return lowering_reject(low, op, "cp.async.bulk.tensor: malformed coordinates");
    if (!access_lower_address(low, op, &copy->map, &operand->items[0])) return false;
    for (int d = 0; d < copy->coordinate_count; d++) {
        uint8_t bytes;
        if (!lowering_value(low, op, &operand->items[1].items[d], PTX_S32, &copy->coordinate[d], &bytes))
            return false;
        if (bytes != 4) return lowering_reject(low, op, "cp.async.bulk.tensor: a coordinate has 32 bits");
    }
    return true;
}

/* "{w, h, d}", the operand behind the mbarrier of a load in im2col mode. */
static bool lower_offsets(Lowering *low, const PtxInstruction *in, Op *op, TensorCopyOp *copy) {
    copy->offset_count = copy->shape == TILE_PIXELS && copy->is_load ? copy->rank - 2 : 0;
    const PtxOperand *list = &in->operands[3];
    if (copy->offset_count && (list->kind != PTX_OPERAND_VECTOR || list->item_count != copy->offset_count))
        return lowering_reject(low, op, "cp.async.bulk.tensor: malformed offsets");
    for (int side = 0; side < copy->offset_count; side++) {
        uint8_t bytes;
        if (!lowering_value(low, op, &list->items[side], PTX_U16, &copy->offset[side], &bytes)) return false;
        if (bytes != 2) return lowering_reject(low, op, "cp.async.bulk.tensor: an offset has 16 bits");
    }
    return true;
}

/* Whether the mode goes with the rank and the direction. */
static bool shape_fits(const PtxInstruction *in, const TensorCopyOp *copy) {
    if (copy->shape == TILE_PIXELS)
        return copy->rank >= 3 && ptx_instruction_has(in, PTX_MOD_IM2COL) == copy->is_load;
    if (copy->shape == TILE_ROWS)
        return copy->rank == 2 && ptx_instruction_has(in, PTX_MOD_TILE_GATHER4) == copy->is_load &&
               copy->operation == PTX_MODIFIER_NONE;
    return true;
}

bool tensor_copy_lower(Lowering *low, const PtxInstruction *in, Op *op) {
    TensorCopyOp *copy = lowering_allocate(low, sizeof *copy);
    copy->core.execute = execute_tensor_copy;
    op->op_class = OP_MEMORY;
    op->extra = copy;
    copy->rank = rank_of(in);
    copy->shape = trace_tile_shape(in);
    copy->is_load = in->space == PTX_SPACE_SHARED || in->space == PTX_SPACE_SHARED_CLUSTER;
    copy->has_multicast = ptx_instruction_has(in, PTX_MOD_MULTICAST_CLUSTER);
    copy->operation = ptx_instruction_has(in, PTX_MOD_REDUCE) ? atomic_operation_of(in) : PTX_MODIFIER_NONE;
    copy->map.space = PTX_SPACE_GENERIC;
    copy->shared.space = copy->is_load ? in->space : PTX_SPACE_SHARED;
    copy->mbarrier.space = PTX_SPACE_SHARED;
    bool has_offsets = copy->shape == TILE_PIXELS && copy->is_load;
    int count = 2 + copy->is_load + has_offsets + copy->has_multicast +
                (ptx_instruction_has(in, PTX_MOD_L2_CACHE_HINT) ? 1 : 0);
    bool is_reduction = ptx_instruction_has(in, PTX_MOD_REDUCE);
    if (!copy->rank || in->operand_count != count || (copy->has_multicast && !copy->is_load) ||
        (is_reduction && (copy->is_load || copy->operation == PTX_MODIFIER_NONE)) ||
        !ptx_instruction_has(in, copy->is_load ? PTX_MOD_COMPLETE_TX_BYTES : PTX_MOD_BULK_GROUP) ||
        !shape_fits(in, copy))
        return lowering_reject(low, op, "cp.async.bulk.tensor: malformed");
    low->lowered->lets_blocks_communicate |= is_reduction;
    uint8_t bytes = 2;
    if (!access_lower_address(low, op, &copy->shared, &in->operands[copy->is_load ? 0 : 1]) ||
        !lower_map(low, op, copy, &in->operands[copy->is_load ? 1 : 0]) ||
        (copy->is_load && !access_lower_address(low, op, &copy->mbarrier, &in->operands[2])) ||
        !lower_offsets(low, in, op, copy) ||
        (copy->has_multicast &&
         !lowering_value(low, op, &in->operands[3 + has_offsets], PTX_U16, &copy->multicast, &bytes)))
        return false;
    return bytes == 2 || lowering_reject(low, op, "cp.async.bulk.tensor: the mask of blocks has 16 bits");
}
