/* Video instructions: "Scalar Video Instructions" and "SIMD Video Instructions".
 *
 * All follow one plan: take parts (bytes, half-words) of 32-bit registers, extend them, operate, clamp to the
 * destination type, then merge the parts into c or accumulate them onto it. They are rare: one function for a
 * lane does all of them. */
#include "emulator/lanes/lanes.h"
#include "emulator/lanes/lanes_exact.h"

enum { MAXIMUM_PARTS = 4 };

typedef struct Video {
    PtxOpcode operation;                              /* of the scalar form: vadd2 is vadd */
    int parts;                                        /* 1 (scalar), 2, 4 */
    int a_bits, b_bits;                               /* of a part; 32: the whole register */
    int a_part[MAXIMUM_PARTS], b_part[MAXIMUM_PARTS]; /* SIMD: counted through a, then b */
    bool write[MAXIMUM_PARTS];                        /* SIMD: the mask */
    bool signed_d, signed_a, signed_b, saturate, wrap, plus_one, negate_product, negate_c;
    int d_bits, d_part;     /* scalar: where the result is merged into c; 32: nowhere */
    int scale;              /* vmad */
    PtxModifierKind second; /* scalar: ADD, MIN, MAX with c; SIMD: ADD; else NONE */
    PtxModifierKind comparison;
} Video;

static int64_t take(uint64_t bits, int width, int part, bool is_signed) {
    uint64_t field = bits >> (width * part) << (64 - width);
    return is_signed ? (int64_t)field >> (64 - width) : (int64_t)(field >> (64 - width));
}

static int64_t clamp(int64_t value, int bits, bool is_signed) {
    int64_t high = (INT64_C(1) << (bits - is_signed)) - 1, low = is_signed ? -high - 1 : 0;
    return value < low ? low : value > high ? high : value;
}

static bool compare(int64_t a, int64_t b, PtxModifierKind comparison) {
    switch (comparison) {
    case PTX_MOD_EQ:
        return a == b;
    case PTX_MOD_NE:
        return a != b;
    case PTX_MOD_LT:
        return a < b;
    case PTX_MOD_LE:
        return a <= b;
    case PTX_MOD_GT:
        return a > b;
    default:
        return a >= b;
    }
}

static int64_t sign_extend(uint64_t value, int bits) {
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static int64_t operate(const Video *video, int64_t a, int64_t b) {
    switch (video->operation) {
    case PTX_vadd:
        return a + b;
    case PTX_vsub:
        return a - b;
    case PTX_vabsdiff:
        return a < b ? b - a : a - b;
    case PTX_vmin:
        return a < b ? a : b;
    case PTX_vmax:
        return a > b ? a : b;
    case PTX_vavrg2:
        return (a + b + (a + b >= 0)) >> 1;
    case PTX_vset:
        return compare(a, b, video->comparison);
    default:
        break;
    }
    int64_t amount = video->wrap ? b & 31 : b > 32 ? 32 : b;
    /* The result is an .s34; only a left shift does not fit it. */
    return video->operation == PTX_vshl ? sign_extend((uint64_t)a << amount, 34) : a >> amount;
}

static uint32_t scalar(const Video *video, uint32_t a, uint32_t b, uint32_t c) {
    int64_t value = operate(video, take(a, video->a_bits, video->a_part[0], video->signed_a),
                            take(b, video->b_bits, video->b_part[0], video->signed_b));
    if (video->saturate) value = clamp(value, video->d_bits, video->signed_d);
    value = sign_extend((uint64_t)value, 33); /* .s33 optSaturate(.s34 tmp, ...) */
    int64_t third = video->signed_d ? (int32_t)c : (int64_t)c;
    switch (video->second) {
    case PTX_MOD_ADD:
        value += third;
        break;
    case PTX_MOD_MIN:
        value = value < third ? value : third;
        break;
    case PTX_MOD_MAX:
        value = value > third ? value : third;
        break;
    default:
        break;
    }
    if (video->d_bits == 32) return (uint32_t)value;
    uint32_t field = ((1u << video->d_bits) - 1) << (video->d_bits * video->d_part);
    return ((uint32_t)value << (video->d_bits * video->d_part) & field) | (c & ~field);
}

static uint32_t multiply_add(const Video *video, uint32_t a, uint32_t b, uint32_t c) {
    SignedWide product = (SignedWide)take(a, video->a_bits, video->a_part[0], video->signed_a) *
                         take(b, video->b_bits, video->b_part[0], video->signed_b);
    bool is_signed = video->signed_a || video->signed_b || video->negate_product || video->negate_c;
    if (video->negate_product) product = -product;
    SignedWide third = is_signed ? (SignedWide)(int32_t)c : (SignedWide)c;
    if (video->negate_c) third = (SignedWide)(int32_t)~c + 1;
    SignedWide value = (product + third + video->plus_one) >> video->scale;
    if (video->saturate) {
        SignedWide high = is_signed ? INT32_MAX : (SignedWide)UINT32_MAX, low = is_signed ? INT32_MIN : 0;
        value = value < low ? low : value > high ? high : value;
    }
    return (uint32_t)value;
}

static uint32_t simd(const Video *video, uint32_t a, uint32_t b, uint32_t c) {
    int bits = 32 / video->parts;
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t field = (uint32_t)((UINT64_C(1) << bits) - 1), result = 0, sum = c;
    for (int i = 0; i < video->parts; i++) {
        int64_t value = operate(video, take(both, bits, video->a_part[i], video->signed_a),
                                take(both, bits, video->b_part[i], video->signed_b));
        if (video->saturate) value = clamp(value, bits, video->signed_d);
        uint32_t kept = c >> (bits * i);
        result |= ((video->write[i] ? (uint32_t)value : kept) & field) << (bits * i);
        if (video->write[i]) sum += (uint32_t)value;
    }
    return video->second == PTX_MOD_ADD ? sum : result;
}

SLOW_TERNARY(video_scalar, uint32_t, uint32_t, uint32_t, scalar(op->extra, a[l], b[l], c[l]))
SLOW_TERNARY(video_multiply_add, uint32_t, uint32_t, uint32_t, multiply_add(op->extra, a[l], b[l], c[l]))
SLOW_TERNARY(video_simd, uint32_t, uint32_t, uint32_t, simd(op->extra, a[l], b[l], c[l]))

/* ---- lowering -------------------------------------------------------------------------------------- */

/* "b2", "h1": the width and index of a part; none: the whole word. */
static bool read_part(const char *selector, int *bits, int *part) {
    *bits = 32, *part = 0;
    if (!selector) return true;
    *bits = selector[0] == 'b' ? 8 : selector[0] == 'h' ? 16 : 0;
    *part = selector[1] - '0';
    return *bits && *part >= 0 && *part < 32 / *bits && selector[2] == '\0';
}

/* "h32", "b7654": parts for every position, the last first; none: counted from `first`. */
static bool read_parts(const char *selector, int parts, int first, int *part) {
    for (int i = 0; i < parts; i++) part[i] = first + i;
    if (!selector) return true;
    if (selector[0] != (parts == 2 ? 'h' : 'b') || strlen(selector) != (size_t)parts + 1) return false;
    for (int i = 0; i < parts; i++) {
        part[i] = selector[parts - i] - '0';
        if (part[i] < 0 || part[i] >= 2 * parts) return false;
    }
    return true;
}

static bool read_mask(const char *selector, int parts, bool *write) {
    for (int i = 0; i < parts; i++) write[i] = !selector;
    if (!selector) return true;
    if (selector[0] != (parts == 2 ? 'h' : 'b') || !selector[1]) return false;
    for (const char *digit = selector + 1; *digit; digit++) {
        if (*digit < '0' || *digit >= '0' + parts) return false;
        write[*digit - '0'] = true;
    }
    return true;
}

static const PtxModifierKind seconds[] = {PTX_MOD_ADD, PTX_MOD_MIN, PTX_MOD_MAX, PTX_MODIFIER_NONE};
static const PtxModifierKind order[] = {PTX_MOD_EQ, PTX_MOD_NE, PTX_MOD_LT,       PTX_MOD_LE,
                                        PTX_MOD_GT, PTX_MOD_GE, PTX_MODIFIER_NONE};

/* Of those before PTX_MODIFIER_NONE. */
static PtxModifierKind first_of(const PtxInstruction *in, const PtxModifierKind *kinds) {
    while (*kinds != PTX_MODIFIER_NONE && !ptx_instruction_has(in, *kinds)) kinds++;
    return *kinds;
}

/* Types, modifiers and operands that all forms share. */
static Video *lower_video(Lowering *low, const PtxInstruction *in, Op *op, PtxOpcode operation, int parts) {
    if (!lanes_accept(low, in, op, PTX_MOD_SAT, PTX_MOD_ADD, PTX_MOD_MIN, PTX_MOD_MAX, PTX_MOD_CLAMP,
                      PTX_MOD_WRAP, PTX_MOD_PO, PTX_MOD_SHR7, PTX_MOD_SHR15, PTX_MOD_EQ, PTX_MOD_NE,
                      PTX_MOD_LT, PTX_MOD_LE, PTX_MOD_GT, PTX_MOD_GE, PTX_MODIFIER_NONE) ||
        !lanes_expect_operands(low, in, op, 3, 4))
        return NULL;
    int first = operation == PTX_vset ? 0 : 1; /* vset has no type of d, which is unsigned */
    for (int i = 0; i < first + 2; i++) {
        PtxType type = lanes_type(in, i);
        if (type == PTX_U32 || type == PTX_S32) continue;
        lowering_reject(low, op, "%s takes %d types, each .u32 or .s32", in->name, first + 2);
        return NULL;
    }
    Video *video = lowering_allocate(low, sizeof *video);
    video->operation = operation;
    video->parts = parts;
    video->signed_d = first && lanes_type(in, 0) == PTX_S32;
    video->signed_a = lanes_type(in, first) == PTX_S32;
    video->signed_b = lanes_type(in, first + 1) == PTX_S32;
    video->saturate = ptx_instruction_has(in, PTX_MOD_SAT);
    video->wrap = ptx_instruction_has(in, PTX_MOD_WRAP);
    video->second = first_of(in, seconds);
    video->comparison = first_of(in, order);
    if (operation == PTX_vset && !video->comparison) {
        lowering_reject(low, op, "%s without a comparison", in->name);
        return NULL;
    }
    op->extra = video;
    op->source_count = in->operand_count - 1;
    if (!lowering_destination(low, op, &in->operands[0], &op->d, &op->d_bytes, &op->has_d)) return NULL;
    for (int i = 0; i < op->source_count; i++)
        if (!lowering_source(low, op, i + 1, PTX_U32, &op->s[i])) return NULL;
    if (op->source_count == 2) op->s[2] = op->s[1];
    if (op->has_d && op->d_bytes == 4 && op->s_bytes[0] == 4 && op->s_bytes[1] == 4) return video;
    lowering_reject(low, op, "the operands of %s are not 32-bit registers", in->name);
    return NULL;
}

static bool lower_scalar(Lowering *low, const PtxInstruction *in, Op *op, PtxOpcode operation) {
    Video *video = lower_video(low, in, op, operation, 1);
    if (!video) return false;
    const PtxOperand *from = in->operands;
    if (!read_part(from[0].selector, &video->d_bits, &video->d_part) ||
        !read_part(from[1].selector, &video->a_bits, &video->a_part[0]) ||
        !read_part(from[2].selector, &video->b_bits, &video->b_part[0]))
        return lowering_reject(low, op, "%s: a part of an operand is .b0 to .b3, .h0 or .h1", in->name);
    if ((video->d_bits != 32 || video->second) != (in->operand_count == 4) ||
        (video->d_bits != 32 && video->second))
        return lowering_reject(low, op, "%s: the third source is for merging or a second operation",
                               in->name);
    return lanes_use(low, in, op, &video_scalar, WEIGHT_SUM);
}

bool lower_vmad(Lowering *low, const PtxInstruction *in, Op *op) {
    Video *video = lower_video(low, in, op, PTX_vmad, 1);
    if (!video) return false;
    const PtxOperand *from = in->operands;
    if (in->operand_count != 4 || !read_part(from[1].selector, &video->a_bits, &video->a_part[0]) ||
        !read_part(from[2].selector, &video->b_bits, &video->b_part[0]))
        return lowering_reject(low, op, "vmad takes three sources with parts .b0 to .b3, .h0 or .h1");
    video->negate_product = from[1].negated != from[2].negated;
    video->negate_c = from[3].negated;
    video->plus_one = ptx_instruction_has(in, PTX_MOD_PO);
    video->scale = ptx_instruction_has(in, PTX_MOD_SHR7)    ? 7
                   : ptx_instruction_has(in, PTX_MOD_SHR15) ? 15
                                                            : 0;
    return lanes_use(low, in, op, &video_multiply_add, WEIGHT_PRODUCT);
}

static bool lower_simd(Lowering *low, const PtxInstruction *in, Op *op, PtxOpcode operation, int parts) {
    Video *video = lower_video(low, in, op, operation, parts);
    if (!video) return false;
    if (in->operand_count != 4 || !read_mask(in->operands[0].selector, parts, video->write) ||
        !read_parts(in->operands[1].selector, parts, 0, video->a_part) ||
        !read_parts(in->operands[2].selector, parts, parts, video->b_part))
        return lowering_reject(low, op, "%s: malformed parts of operands", in->name);
    return lanes_use(low, in, op, &video_simd, WEIGHT_SUM);
}

#define SCALAR(NAME)                                                                                         \
    bool lower_##NAME(Lowering *low, const PtxInstruction *in, Op *op) {                                     \
        return lower_scalar(low, in, op, PTX_##NAME);                                                        \
    }
#define SIMD(NAME, OPERATION, PARTS)                                                                         \
    bool lower_##NAME(Lowering *low, const PtxInstruction *in, Op *op) {                                     \
        return lower_simd(low, in, op, OPERATION, PARTS);                                                    \
    }
SCALAR(vadd)
SCALAR(vsub)
SCALAR(vabsdiff)
SCALAR(vmin)
SCALAR(vmax)
SCALAR(vshl)
SCALAR(vshr)
SCALAR(vset)
SIMD(vadd2, PTX_vadd, 2)
SIMD(vsub2, PTX_vsub, 2)
SIMD(vavrg2, PTX_vavrg2, 2)
SIMD(vabsdiff2, PTX_vabsdiff, 2)
SIMD(vmin2, PTX_vmin, 2)
SIMD(vmax2, PTX_vmax, 2)
SIMD(vset2, PTX_vset, 2)
SIMD(vadd4, PTX_vadd, 4)
SIMD(vsub4, PTX_vsub, 4)
SIMD(vavrg4, PTX_vavrg2, 4)
SIMD(vabsdiff4, PTX_vabsdiff, 4)
SIMD(vmin4, PTX_vmin, 4)
SIMD(vmax4, PTX_vmax, 4)
SIMD(vset4, PTX_vset, 4)
