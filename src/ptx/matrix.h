/* Matrix: the elements of a matrix that each lane of a warp holds. The instructions are mma, wmma, ldmatrix,
 * stmatrix and movmatrix.
 *
 * A *fragment* is what the lanes hold of one matrix: some registers each, a register of one or more elements
 * (its parts, the first in the lowest bits). With g = lane / 4 and t = lane % 4, and p parts of a register:
 *
 *  a multiplicand (A, B)  a register holds p neighbours along k, from p * t on, of row g of A (column g of B)
 *  an accumulator (C, D)  two neighbours of row g, columns 2t and 2t + 1: two registers, or the parts of one
 *
 * This is an 8 x 8 block of the accumulator, and 8 x 4p of a multiplicand. Further registers hold further
 * blocks:
 *
 *   A    the block 8 rows below, then those next to them along k, then likewise for the next 16 rows
 *   B    the next block along k, then likewise for the next 8 columns
 *   C    the blocks below each other, then those to the right
 *
 * Sources: PTX ISA 9.0, the figures of "Matrix Fragments for mma.m8n8k4 with .f64" to "mma.m16n8k32", which
 * state this for mma and movmatrix. PTX does not define it for wmma; the layout here is what ptxas 13.0 makes
 * of wmma.load for sm_80 and sm_90 (read from its machine code): the same blocks, those of m16n8 twice.
 * m8n32k16 transposes all matrices (A as a B, B as an A, rows of C as columns). With f16 a lane has eight
 * registers of A and B, which repeat if fewer are needed. ldmatrix, stmatrix: "Warp-level matrix load
 * instruction: ldmatrix". */
#ifndef PTX_MATRIX_H
#define PTX_MATRIX_H

#include "ptx/ptx.h"

typedef enum PtxMatrixRole { PTX_MATRIX_A, PTX_MATRIX_B, PTX_MATRIX_C /* and D */ } PtxMatrixRole;

typedef struct PtxFragment {
    PtxMatrixRole role;
    PtxType type;       /* of an element */
    int rows, columns;  /* of the whole matrix */
    int registers;      /* for each lane */
    int distinct;       /* the first registers, which hold all elements; the others repeat them */
    int register_bytes; /* 4 or 8 */
    int parts;          /* elements in a register */
    bool is_turned;     /* m8n32k16: transposed */
} PtxFragment;

typedef struct PtxMatrixPlace {
    int row, column;
} PtxMatrixPlace;

/* The place in the matrix of part `part` of register `index` of `lane`. */
PtxMatrixPlace ptx_fragment_place(const PtxFragment *fragment, int lane, int index, int part);
/* The bits of that element in the bits of the register. */
uint64_t ptx_fragment_element(const PtxFragment *fragment, uint64_t bits, int part);

/* mma and wmma.mma: D = A * B + C. */
typedef struct PtxProduct {
    int m, n, k;
    int k_step; /* products added to C at once; 0: all k */
    PtxFragment a, b, c, d;
    int kept_bits;  /* of each term of a sum, after the point (emulator/instructions/matrix_dot.h) */
    bool converts;  /* e4m3 and e5m2 become f16 */
    bool saturates; /* .satfinite: integers stay within s32 */
} PtxProduct;

/* false: another instruction, or a form that is not emulated. */
bool ptx_product(const PtxInstruction *instruction, PtxProduct *product);

enum { WARPGROUP_WARPS = 4 };
enum { PTX_WARPGROUP_COLUMNS = 256 /* of B at most */ };
/* wgmma.mma_async: D = A * B + D. Each of the four warps of a warpgroup computes 16 rows
 * ("Asynchronous Warpgroup Level Matrix Instructions: wgmma.mma_async"). */
typedef struct PtxWarpgroupProduct {
    PtxProduct product;        /* of one warp; b has no registers; .sp: a has k / 2 columns, those stored */
    bool a_in_registers;       /* else a descriptor of shared memory, as b */
    bool a_along_m, b_along_n; /* neighbours in shared memory are along M, N; else along K */
    bool is_negative;          /* products are negated */
    bool is_sparse;            /* .sp: metadata say which columns of A are stored */
    int metadata, selector;    /* .sp: operand; the value of the operand behind it */
    int scale_d;               /* operand; false: D = A * B */
} PtxWarpgroupProduct;

/* Where the elements are in shared memory: along MN or along K, with one of four swizzles ("Matrix Descriptor
 * Format"; the roles of the two byte offsets were measured on an H200, driver 580.159.04, with 156
 * descriptors; those of sparse products, whose columns of B have 64 bytes, with another 51, and 51 of A). */
typedef struct PtxMatrixDescriptor {
    uint32_t start, leading_bytes, stride_bytes, base_offset; /* base_offset: in 128 bytes */
    uint32_t span;                                            /* bytes of a swizzled row; 0: no swizzle */
} PtxMatrixDescriptor;

PtxMatrixDescriptor ptx_matrix_descriptor(uint64_t bits);
/* Address in the block's window of the 16 bytes that hold elements `along` and following of line `line`;
 * `along` is a multiple of their number. K-major: a line is a row of A or a column of B, `along` is k. Else a
 * line is a k, and `along` is a row of A or a column of B. */
uint32_t ptx_matrix_chunk(const PtxMatrixDescriptor *descriptor, bool is_along_k, int line, int along,
                          int element_bytes);

/* false: another instruction, or a form that is not emulated (.b1). */
bool ptx_warpgroup_product(const PtxInstruction *instruction, PtxWarpgroupProduct *product);

enum { PTX_MOST_STORED = 32 /* elements of a row of A */ };
typedef struct PtxStoredColumns {
    uint8_t of[16][PTX_MOST_STORED]; /* [row of the warp][stored element]: its column of A */
} PtxStoredColumns;

/* Of sparse A, two of four neighbouring columns are stored, and 4 bits of metadata have their places among
 * the four, the smaller one in the lowest bits; of tf32 one of two columns, 0x4 the first and 0xe the second
 * ("Sparse matrix storage"). Lanes 4g to 4g + 3 have the metadata of rows g and g + 8, those of the first
 * columns in the lowest bits:
 *
 *   8-bit elements  32 columns of row g in the first lane and of row g + 8 in the second; the next 32 columns
 *                   in the other two
 *   others          half the columns in the lane 2 * selector of the four, the others in the next one: row g
 *                   in its low half, row g + 8 in its high half. The other two lanes do not count.
 *
 * An H200 places them so, and computes with the stored elements as with a dense A of k / 2 columns (driver
 * 580.159.04; 318 products of eleven combinations of types, 213 of them in tests/emulator/wgmma_sparse.def).
 * That other metadata are undefined is what PTX says: an H200 computes something of them, too.
 *
 * `metadata`: of each lane; NULL for dense A, whose columns are all stored. Returns -1, or the lane whose
 * metadata PTX does not allow, and leaves `columns` incomplete. */
int ptx_stored_columns(const PtxWarpgroupProduct *product, const uint32_t metadata[32],
                       PtxStoredColumns *columns);

/* wmma.load and wmma.store. Each *piece* of the fragment is executed, counted and recorded as an access of
 * its own, in which each lane accesses `bytes` contiguous bytes.
 *
 *   16-bit elements                a register: two neighbours in memory. If these are not neighbours in the
 *                                  matrix (A by columns, B by rows, ...) the lanes read the rows of the block
 *                                  as stored, and exchange the halves (is_transposed).
 *   adjacent 8-bit elements        a register
 *   other 8-bit elements           one element; a register has four pieces, its highest element is the first
 *   adjacent accumulators          two registers
 *   other elements                 a register */
typedef struct PtxMatrixAccess {
    PtxFragment fragment;
    bool is_store, by_columns; /* layout of the matrix in memory */
    bool is_transposed;
    int pieces, registers_of_piece, pieces_of_register; /* one of the last two is 1 */
    int bytes;
    int address, values, stride; /* indices of operands; stride -1: rows (columns) are contiguous */
    int default_stride;          /* elements */
} PtxMatrixAccess;

/* false: another instruction, or a form that is not emulated. */
bool ptx_matrix_access(const PtxInstruction *instruction, PtxMatrixAccess *access);
/* Byte offset from the matrix's first element to what a lane accesses; `stride` in elements. */
uint64_t ptx_matrix_offset(const PtxMatrixAccess *access, int piece, int lane, uint32_t stride);
/* The first register of a piece; the part of it, if the register has several pieces. */
int ptx_matrix_piece_register(const PtxMatrixAccess *access, int piece);
int ptx_matrix_piece_part(const PtxMatrixAccess *access, int piece);
/* Number of accesses of an instruction: matrices of ldmatrix and stmatrix, pieces of wmma; 0: another
 * instruction. */
int ptx_matrix_access_count(const PtxInstruction *instruction);

/* Transposes an 8 x 8 block of 16-bit elements in place; a lane holds elements 2t and 2t + 1 of row g. Each
 * half of the result comes from half g % 2 of lane 8t + g / 2 (low half), that + 4 (high half). */
void ptx_matrix_transpose(uint32_t values[32]);
/* The source lane of the low half; the high half: + 4. */
static inline int ptx_matrix_transposed_from(int lane) {
    return 8 * (lane % 4) + lane / 8;
}

/* The block that movmatrix transposes. */
PtxFragment ptx_matrix_block(void);
/* True if ldmatrix or stmatrix (`.trans`) exchanges halves that way. */
bool ptx_matrix_is_transposed(const PtxInstruction *instruction);

#endif
