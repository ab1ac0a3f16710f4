/* Fragments (matrix.h): one rule for all shapes, with the numbers of matrix.def. */
#include "ptx/matrix.h"

#include "ptx/opcodes.h"

#include <stdio.h>

enum { LANES = 32, BLOCK = 8, LANES_OF_ROW = 4, WMMA_REGISTERS = 8 };
enum { KEPT_BITS = 25, KEPT_BITS_OF_FP8 = 13 }; /* measured on an H200, driver 580.159.04 */

static const struct {
    PtxModifierKind kind;
    int m, n, k;
} shapes[] = {
#define SHAPE(name, m, n, k) {PTX_MOD_##name, m, n, k},
#include "ptx/matrix.def"
};

/* ---- places ------------------------------------------------------------------------------------------- */

/* The block of register `index` of a multiplicand: `side` is the dimension of its rows of lanes, `depth` is
 * k. */
static PtxMatrixPlace multiplicand_block(const PtxFragment *fragment, int index, int side, int depth) {
    int along = depth / (LANES_OF_ROW * fragment->parts);
    bool below_first = (fragment->role == PTX_MATRIX_A) != fragment->is_turned && side > BLOCK;
    if (!below_first) return (PtxMatrixPlace){index / along * BLOCK, index % along};
    int in_tile = index % (2 * along), tile = index / (2 * along);
    return (PtxMatrixPlace){tile * 2 * BLOCK + in_tile % 2 * BLOCK, in_tile / 2};
}

PtxMatrixPlace ptx_fragment_place(const PtxFragment *fragment, int lane, int index, int part) {
    int g = lane / LANES_OF_ROW, t = lane % LANES_OF_ROW, parts = fragment->parts;
    index %= fragment->distinct;
    if (fragment->role == PTX_MATRIX_C) {
        int rows = fragment->is_turned ? fragment->columns : fragment->rows;
        int pair = (index * parts + part) / 2, column = 2 * t + (index * parts + part) % 2;
        PtxMatrixPlace place = {g + pair % (rows / BLOCK) * BLOCK, column + pair / (rows / BLOCK) * BLOCK};
        return fragment->is_turned ? (PtxMatrixPlace){place.column, place.row} : place;
    }
    bool is_a = fragment->role == PTX_MATRIX_A;
    int side = is_a ? fragment->rows : fragment->columns, depth = is_a ? fragment->columns : fragment->rows;
    PtxMatrixPlace block = multiplicand_block(fragment, index, side, depth);
    int across = block.row + g, along = (block.column * LANES_OF_ROW + t) * parts + part;
    return is_a ? (PtxMatrixPlace){across, along} : (PtxMatrixPlace){along, across};
}

uint64_t ptx_fragment_element(const PtxFragment *fragment, uint64_t bits, int part) {
    int width = 8 * fragment->register_bytes / fragment->parts;
    return width == 64 ? bits : bits >> part * width & ((UINT64_C(1) << width) - 1);
}

/* ---- instructions ------------------------------------------------------------------------------------- */

static int element_bytes(PtxType type) {
    return ptx_type_bytes(type);
}

static bool is_fp8(PtxType type) {
    return type == PTX_E4M3 || type == PTX_E5M2;
}

static bool is_multiplicand(PtxType type) {
    return is_fp8(type) || type == PTX_F16 || type == PTX_BF16 || type == PTX_TF32 || type == PTX_F64 ||
           type == PTX_S8 || type == PTX_U8;
}

static bool is_accumulator(PtxType type) {
    return type == PTX_F16 || type == PTX_F32 || type == PTX_F64 || type == PTX_S32;
}

static bool find_shape(const PtxInstruction *in, PtxProduct *product) {
    for (int i = 0; i < in->modifier_count; i++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            if (in->modifiers[i].kind == shapes[s].kind) {
                product->m = shapes[s].m;
                product->n = shapes[s].n;
                product->k = shapes[s].k;
                return true;
            }
    return false;
}

static PtxFragment make_fragment(const PtxProduct *shape, PtxMatrixRole role, PtxType type, bool is_wmma) {
    PtxFragment fragment = {
        .role = role, .type = type, .is_turned = shape->m < BLOCK * 2 && shape->n > BLOCK};
    fragment.rows = role == PTX_MATRIX_B ? shape->k : shape->m;
    fragment.columns = role == PTX_MATRIX_A ? shape->k : shape->n;
    fragment.register_bytes = element_bytes(type) == 8 ? 8 : 4;
    fragment.parts = fragment.register_bytes / element_bytes(type);
    fragment.distinct = fragment.rows * fragment.columns / LANES / fragment.parts;
    bool repeats = is_wmma && type == PTX_F16 && role != PTX_MATRIX_C;
    fragment.registers = repeats ? WMMA_REGISTERS : fragment.distinct;
    return fragment;
}

/* The first `count` of row and col among the modifiers. */
static int read_layouts(const PtxInstruction *in, bool by_columns[], int count) {
    int found = 0;
    for (int i = 0; i < in->modifier_count && found < count; i++) {
        bool is_column = in->modifiers[i].kind == PTX_MOD_COL;
        if (is_column || in->modifiers[i].kind == PTX_MOD_ROW) by_columns[found++] = is_column;
    }
    return found;
}

/* mma.m8n8k4 of f16 has other fragments. */
static bool has_types(const PtxProduct *product, PtxType d, PtxType a, PtxType b, PtxType c) {
    if (!is_multiplicand(a) || !is_multiplicand(b) || !is_accumulator(c) || !is_accumulator(d)) return false;
    if (is_fp8(a)) return product->k == 32 && is_fp8(b) && c == d;
    return a == PTX_F64 ? b == a && c == a && d == a
                        : product->m * product->n > BLOCK * BLOCK || a == PTX_S8 || a == PTX_U8;
}

bool ptx_product(const PtxInstruction *in, PtxProduct *product) {
    bool is_wmma = in->opcode == PTX_wmma;
    *product = (PtxProduct){.kept_bits = KEPT_BITS, .saturates = ptx_instruction_has(in, PTX_MOD_SATFINITE)};
    if (!is_wmma && in->opcode != PTX_mma) return false;
    if (is_wmma && !ptx_instruction_has(in, PTX_MOD_MMA)) return false;
    if (in->operand_count != 4 || !find_shape(in, product)) return false;
    PtxType d, a, b, c;
    if (in->type_count == 4)
        d = in->types[0], a = in->types[1], b = in->types[2], c = in->types[3];
    else if (is_wmma && in->type_count == 2)
        d = in->types[0], a = b = PTX_F16, c = in->types[1];
    else
        return false;
    if (!has_types(product, d, a, b, c)) return false;
    product->converts = is_fp8(a);
    if (is_wmma && a == PTX_TF32) product->k_step = 4; /* ptxas compiles it to two HMMA.1684 */
    product->d = make_fragment(product, PTX_MATRIX_C, d, is_wmma);
    product->a = make_fragment(product, PTX_MATRIX_A, a, is_wmma);
    product->b = make_fragment(product, PTX_MATRIX_B, b, is_wmma);
    product->c = make_fragment(product, PTX_MATRIX_C, c, is_wmma);
    return true;
}

/* ---- warpgroups --------------------------------------------------------------------------------------- */

enum { WARP_ROWS = 16, LINE_BYTES = 32 /* a stored row of A */, CHUNK = 16 };

static bool is_constant(const PtxOperand *operand, int64_t a, int64_t b) {
    return operand->kind == PTX_OPERAND_INTEGER && (operand->integer == a || operand->integer == b);
}

/* ptxas 13.0: 8-bit elements have one selector, others two. */
static bool read_sparsity(const PtxInstruction *in, PtxWarpgroupProduct *of) {
    if (!of->is_sparse) return true;
    const PtxOperand *selector = &in->operands[of->metadata + 1];
    of->selector = (int)selector->integer;
    return is_constant(selector, 0, element_bytes(of->product.a.type) == 1 ? 0 : 1);
}

/* The operands after scale-d: imm-scale-a, imm-scale-b and, of 16-bit types, the transposes of what is in
 * shared memory. */
static bool read_constants(const PtxInstruction *in, PtxWarpgroupProduct *of) {
    int at = of->scale_d + 1;
    bool is_integer = of->product.d.type == PTX_S32, may_turn = element_bytes(of->product.a.type) == 2;
    int turns = !may_turn ? 0 : of->a_in_registers ? 1 : 2;
    if (in->operand_count != at + (is_integer ? 0 : 2) + turns) return false;
    const PtxOperand *scales = &in->operands[at], *transposes = scales + 2;
    if (is_integer) return true;
    if (!is_constant(&scales[0], 1, -1) || !is_constant(&scales[1], 1, -1)) return false;
    of->is_negative = scales[0].integer != scales[1].integer;
    for (int i = 0; i < turns; i++) {
        if (!is_constant(&transposes[i], 0, 1)) return false;
        bool *along = i == 0 && turns == 2 ? &of->a_along_m : &of->b_along_n;
        *along = transposes[i].integer;
    }
    return true;
}

static bool has_warpgroup_types(PtxType d, PtxType a, PtxType b) {
    if (a == PTX_S8 || a == PTX_U8) return (b == PTX_S8 || b == PTX_U8) && d == PTX_S32;
    bool has_half = a == PTX_F16 || is_fp8(a);
    return (is_fp8(a) ? is_fp8(b) : b == a && (has_half || a == PTX_BF16 || a == PTX_TF32)) &&
           (d == PTX_F32 || (d == PTX_F16 && has_half));
}

static PtxFragment make_stored_a(const PtxWarpgroupProduct *of, PtxType type) {
    PtxProduct stored = of->product;
    if (of->is_sparse) stored.k /= 2;
    return make_fragment(&stored, PTX_MATRIX_A, type, false);
}

static bool find_warpgroup_shape(const PtxInstruction *in, PtxProduct *product) {
    for (int i = 0; i < in->modifier_count; i++)
        if (sscanf(in->modifiers[i].text, "m64n%dk%d", &product->n, &product->k) == 2)
            return product->n % BLOCK == 0 && product->n > 0 && product->n <= PTX_WARPGROUP_COLUMNS;
    return false;
}

bool ptx_warpgroup_product(const PtxInstruction *in, PtxWarpgroupProduct *of) {
    PtxProduct *product = &of->product;
    *of = (PtxWarpgroupProduct){.product.m = WARP_ROWS, .is_sparse = ptx_instruction_has(in, PTX_MOD_SP)};
    of->metadata = 3;
    of->scale_d = of->is_sparse ? 5 : 3;
    product->saturates = ptx_instruction_has(in, PTX_MOD_SATFINITE);
    if (in->opcode != PTX_wgmma || in->type_count != 3 || in->operand_count <= of->scale_d) return false;
    PtxType d = in->types[0], a = in->types[1], b = in->types[2];
    if (!find_warpgroup_shape(in, product) || !has_warpgroup_types(d, a, b)) return false;
    product->a = make_stored_a(of, a);
    if (product->a.columns * element_bytes(a) != LINE_BYTES) return false;
    product->kept_bits = is_fp8(a) ? KEPT_BITS_OF_FP8 : KEPT_BITS;
    product->b =
        (PtxFragment){.role = PTX_MATRIX_B, .type = b, .rows = product->k, .columns = product->n, .parts = 1};
    product->c = product->d = make_fragment(product, PTX_MATRIX_C, d, false);
    of->a_in_registers = in->operands[1].kind == PTX_OPERAND_VECTOR;
    return read_sparsity(in, of) && read_constants(in, of);
}

int ptx_stored_columns(const PtxWarpgroupProduct *of, const uint32_t metadata[32],
                       PtxStoredColumns *columns) {
    const PtxFragment *a = &of->product.a;
    bool is_pair = a->type == PTX_TF32, is_byte = element_bytes(a->type) == 1;
    int group_stored = is_pair ? 1 : 2, group_columns = 2 * group_stored;
    for (int row = 0; !of->is_sparse && row < WARP_ROWS; row++)
        for (int i = 0; i < a->columns; i++) columns->of[row][i] = (uint8_t)i;
    if (!of->is_sparse) return -1;
    for (int row = 0; row < WARP_ROWS; row++)
        for (int group = 0; group < a->columns / group_stored; group++) {
            int half = row / BLOCK, lane = row % BLOCK * LANES_OF_ROW;
            lane += is_byte ? group / 8 * 2 + half : 2 * of->selector + group / 4;
            uint32_t bits = metadata[lane] >> 4 * (is_byte ? group % 8 : half * 4 + group % 4) & 0xf;
            uint32_t low = bits & 3, high = bits >> 2;
            uint8_t *stored = &columns->of[row][group * group_stored];
            if (is_pair ? bits != 0x4 && bits != 0xe : low >= high) return lane;
            stored[0] = (uint8_t)(group * group_columns + (int)(is_pair ? bits == 0xe : low));
            if (!is_pair) stored[1] = (uint8_t)(group * group_columns + (int)high);
        }
    return -1;
}

PtxMatrixDescriptor ptx_matrix_descriptor(uint64_t bits) {
    uint32_t mode = (uint32_t)(bits >> 62); /* 0: none, 1: 128 bytes, 2: 64, 3: 32 */
    return (PtxMatrixDescriptor){.start = (uint32_t)(bits & 0x3fff) << 4,
                                 .leading_bytes = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                                 .stride_bytes = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                                 .base_offset = (uint32_t)(bits >> 49 & 7),
                                 .span = mode ? 256u >> mode : 0};
}

uint32_t ptx_matrix_chunk(const PtxMatrixDescriptor *descriptor, bool is_along_k, int line, int along,
                          int element_bytes) {
    uint32_t span = descriptor->span, of = (uint32_t)line, bytes = (uint32_t)(along * element_bytes);
    uint32_t leading = descriptor->leading_bytes, stride = descriptor->stride_bytes, at = descriptor->start;
    if (is_along_k)
        at += of / BLOCK * stride + of % BLOCK * (span ? span : CHUNK) +
              (span ? bytes / span * leading + bytes % span : bytes / CHUNK * leading);
    else if (span)
        at += bytes / span * leading + of / BLOCK * stride + of % BLOCK * span + bytes % span;
    else
        at += bytes / CHUNK * stride + of / BLOCK * leading + of % BLOCK * CHUNK;
    uint32_t pattern = span ? (span - CHUNK) & 0x70 : 0;
    return at ^ ((at - 128 * descriptor->base_offset) >> 3 & pattern);
}

/* ---- accesses ----------------------------------------------------------------------------------------- */

static void cut(PtxMatrixAccess *access) {
    const PtxFragment *fragment = &access->fragment;
    int bytes = element_bytes(fragment->type);
    bool is_c = fragment->role == PTX_MATRIX_C;
    /* True if the elements of a register (for C, of two) are adjacent in memory. */
    bool along_row = is_c ? !fragment->is_turned : fragment->role == PTX_MATRIX_A;
    bool are_neighbours = along_row != access->by_columns;
    access->registers_of_piece = access->pieces_of_register = 1;
    access->is_transposed = bytes == 2 && !are_neighbours;
    if (bytes == 1 && !are_neighbours) access->pieces_of_register = fragment->parts;
    if (bytes >= 4 && is_c && are_neighbours) access->registers_of_piece = 2;
    access->pieces = fragment->distinct / access->registers_of_piece * access->pieces_of_register;
    access->bytes = fragment->register_bytes * access->registers_of_piece / access->pieces_of_register;
}

bool ptx_matrix_access(const PtxInstruction *in, PtxMatrixAccess *access) {
    *access = (PtxMatrixAccess){.is_store = ptx_instruction_has(in, PTX_MOD_STORE)};
    if (in->opcode != PTX_wmma || ptx_instruction_has(in, PTX_MOD_MMA)) return false;
    if (in->operand_count < 2 || in->operand_count > 3 || in->type_count != 1) return false;
    PtxProduct shape;
    if (!find_shape(in, &shape) || read_layouts(in, &access->by_columns, 1) != 1) return false;
    PtxMatrixRole role = access->is_store                     ? PTX_MATRIX_C
                         : ptx_instruction_has(in, PTX_MOD_A) ? PTX_MATRIX_A
                         : ptx_instruction_has(in, PTX_MOD_B) ? PTX_MATRIX_B
                                                              : PTX_MATRIX_C;
    if (role == PTX_MATRIX_C ? !is_accumulator(in->types[0]) : !is_multiplicand(in->types[0])) return false;
    access->fragment = make_fragment(&shape, role, in->types[0], true);
    access->address = access->is_store ? 0 : 1;
    access->values = !access->address;
    access->stride = in->operand_count == 3 ? 2 : -1;
    access->default_stride = access->by_columns ? access->fragment.rows : access->fragment.columns;
    cut(access);
    return true;
}

int ptx_matrix_piece_register(const PtxMatrixAccess *access, int piece) {
    return piece / access->pieces_of_register * access->registers_of_piece;
}

int ptx_matrix_piece_part(const PtxMatrixAccess *access, int piece) {
    return access->pieces_of_register - 1 - piece % access->pieces_of_register;
}

int ptx_matrix_access_count(const PtxInstruction *in) {
    PtxMatrixAccess access;
    return ptx_matrix_access(in, &access) ? access.pieces : ptx_matrix_count(in);
}

/* Where the block of a register begins. */
static PtxMatrixPlace block_begin(const PtxFragment *fragment, int index) {
    return ptx_fragment_place(fragment, 0, index, 0);
}

uint64_t ptx_matrix_offset(const PtxMatrixAccess *access, int piece, int lane, uint32_t stride) {
    const PtxFragment *fragment = &access->fragment;
    int index = ptx_matrix_piece_register(access, piece);
    int part = ptx_matrix_piece_part(access, piece);
    PtxMatrixPlace place = ptx_fragment_place(fragment, lane, index, part);
    /* The block as stored: rows in memory are columns of the block, or vice versa. */
    if (access->is_transposed) {
        PtxMatrixPlace begin = block_begin(fragment, index);
        int line = lane / LANES_OF_ROW, along = 2 * (lane % LANES_OF_ROW);
        place = access->by_columns ? (PtxMatrixPlace){begin.row + along, begin.column + line}
                                   : (PtxMatrixPlace){begin.row + line, begin.column + along};
    }
    uint64_t line = (uint64_t)(access->by_columns ? place.column : place.row);
    uint64_t along = (uint64_t)(access->by_columns ? place.row : place.column);
    return (line * stride + along) * (uint64_t)element_bytes(fragment->type);
}

/* ---- transposition ------------------------------------------------------------------------------------ */

void ptx_matrix_transpose(uint32_t values[32]) {
    uint32_t from[LANES];
    memcpy(from, values, sizeof from);
    for (int lane = 0; lane < LANES; lane++) {
        int low = ptx_matrix_transposed_from(lane), shift = lane / LANES_OF_ROW % 2 * 16;
        values[lane] = (from[low] >> shift & 0xffff) | (from[low + LANES_OF_ROW] >> shift & 0xffff) << 16;
    }
}

bool ptx_matrix_is_transposed(const PtxInstruction *in) {
    return ptx_matrix_count(in) && ptx_instruction_has(in, PTX_MOD_TRANS);
}

PtxFragment ptx_matrix_block(void) {
    return make_fragment(&(PtxProduct){.m = BLOCK, .n = BLOCK, .k = BLOCK}, PTX_MATRIX_A, PTX_F16, false);
}
