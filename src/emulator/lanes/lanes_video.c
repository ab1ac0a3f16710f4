/* Video instructions: "Scalar Video Instructions" and "SIMD Video Instructions" of the PTX ISA (9.7.18).
 *
 * All follow one scheme. Parts of the sources (a byte, a half-word or the whole of a word) become signed
 * numbers; an operation makes a number of 34 bits of them; it is clamped to the result's type (.sat); and it
 * is merged with parts of c, or combined with c by a second operation. The SIMD ones do so for two half-words
 * or four bytes at once, whose sources are chosen from both words, b:a.
 *
 * Since sm_50 the machine has few of these instructions, and ptxas writes others in their place. This file
 * follows the manual; what ptxas 13.0 writes for sm_90 does not always. Of the 12,192 lines of
 * tests/device/video_rules.cu 476 differ on an H200 (driver 580.159.04): results with .sat that are merged
 * into a part (0, the highest value, or not clamped), .min and .max behind sums without .sat, and products of
 * unsigned values by vmad with .sat or a shift (it multiplies signed numbers). */
#include "emulator/lanes/lanes.h"
#include "emulator/lanes/lanes_exact.h"

typedef enum VideoOperation {
    VIDEO_ADD,
    VIDEO_SUBTRACT,
    VIDEO_DIFFERENCE, /* absolute */
    VIDEO_MINIMUM,
    VIDEO_MAXIMUM,
    VIDEO_AVERAGE, /* rounded away from zero, but -0.5 to 0 */
    VIDEO_SHIFT_LEFT,
    VIDEO_SHIFT_RIGHT,
    VIDEO_COMPARE
} VideoOperation;

typedef enum VideoEnd { END_MERGE, END_ADD, END_MINIMUM, END_MAXIMUM } VideoEnd;

/* In Op.number. A place is the number of a part in b:a, a nibble each. */
typedef struct VideoForm {
    uint8_t operation, end;
    uint8_t less, equal, greater; /* results of VIDEO_COMPARE */
    uint8_t count;                /* of results: 1, 2 or 4 */
    uint8_t a_bits, b_bits, d_bits;
    uint8_t mask; /* one bit per part of d: takes a result; the others are c's */
    uint16_t a_places, b_places;
    bool saturates : 1, wraps : 1;
    bool a_signed : 1, b_signed : 1, d_signed : 1;
} VideoForm;
_Static_assert(sizeof(VideoForm) <= sizeof((Op){0}.number), "a VideoForm does not fit into Op.number");

static int64_t extended(uint64_t value, unsigned bits, bool is_signed) {
    uint64_t sign = UINT64_C(1) << (bits - 1);
    value &= sign | (sign - 1);
    return is_signed ? (int64_t)(value ^ sign) - (int64_t)sign : (int64_t)value;
}

static int64_t part_at(uint64_t words, unsigned places, int i, unsigned bits, bool is_signed) {
    return extended(words >> ((places >> (4 * i) & 0xf) * bits), bits, is_signed);
}

static int64_t clamped(int64_t value, unsigned bits, bool is_signed) {
    int64_t high = is_signed ? (INT64_C(1) << (bits - 1)) - 1 : (INT64_C(1) << bits) - 1;
    int64_t low = is_signed ? -high - 1 : 0;
    return value < low ? low : value > high ? high : value;
}

static int64_t operate(const VideoForm *form, int64_t a, int64_t b) {
    enum { RESULT_BITS = 34 };
    switch ((VideoOperation)form->operation) {
    case VIDEO_ADD:
        return a + b;
    case VIDEO_SUBTRACT:
        return a - b;
    case VIDEO_DIFFERENCE:
        return a > b ? a - b : b - a;
    case VIDEO_MINIMUM:
        return a < b ? a : b;
    case VIDEO_MAXIMUM:
        return a > b ? a : b;
    case VIDEO_AVERAGE:
        return (a + b + (a + b >= 0)) >> 1;
    case VIDEO_COMPARE:
        return a < b ? form->less : a == b ? form->equal : form->greater;
    case VIDEO_SHIFT_LEFT:
    case VIDEO_SHIFT_RIGHT:
        b = form->wraps ? b & 31 : b > 32 ? 32 : b;
        if (form->operation == VIDEO_SHIFT_RIGHT) return a >> b;
        return extended((uint64_t)a << b, RESULT_BITS, true);
    }
    return 0;
}

static uint32_t video_result(const VideoForm *form, uint32_t a, uint32_t b, uint32_t c) {
    enum { INTERMEDIATE_BITS = 33 };
    uint64_t joined = (uint64_t)b << 32 | a;
    int64_t results[4] = {0}, sum = extended(c, 32, form->d_signed);
    for (int i = 0; i < form->count; i++) {
        int64_t value = operate(form, part_at(joined, form->a_places, i, form->a_bits, form->a_signed),
                                part_at(joined, form->b_places, i, form->b_bits, form->b_signed));
        results[i] = form->saturates ? clamped(value, form->d_bits, form->d_signed)
                                     : extended((uint64_t)value, INTERMEDIATE_BITS, true);
    }
    if (form->end == END_MINIMUM) return (uint32_t)(results[0] < sum ? results[0] : sum);
    if (form->end == END_MAXIMUM) return (uint32_t)(results[0] > sum ? results[0] : sum);
    for (unsigned i = 0; i * form->d_bits < 32; i++) {
        if (!(form->mask >> i & 1)) continue;
        int64_t result = results[form->count > 1 ? i : 0];
        uint32_t part = (uint32_t)((UINT64_C(1) << form->d_bits) - 1), shift = i * form->d_bits;
        if (form->end == END_ADD)
            sum += result;
        else
            c = (c & ~(part << shift)) | (((uint32_t)result & part) << shift);
    }
    return form->end == END_ADD ? (uint32_t)sum : c;
}

SLOW_HANDLER(video) {
    VideoForm form;
    memcpy(&form, op->number, sizeof form);
    uint32_t *d = operand_at(warp, op->d);
    const uint32_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]),
                   *c = op->source_count > 2 ? operand_at(warp, op->s[2]) : a;
    EACH_ACTIVE_LANE d[l] = video_result(&form, a[l], b[l], c[l]);
}

/* vmad; the parts are those of a VideoForm, the rest is in `count` and the flags: */
enum { NEGATES_PRODUCT = 1, NEGATES_ADDEND = 2, ADDS_ONE = 4 };

static uint32_t multiply_add(const VideoForm *form, uint32_t a, uint32_t b, uint32_t c) {
    uint64_t joined = (uint64_t)b << 32 | a;
    SignedWide product = (SignedWide)part_at(joined, form->a_places, 0, form->a_bits, form->a_signed) *
                         part_at(joined, form->b_places, 0, form->b_bits, form->b_signed);
    if (form->mask & NEGATES_PRODUCT) product = -product;
    SignedWide addend = form->mask & NEGATES_ADDEND ? (SignedWide)extended(~c, 32, true) + 1
                                                    : (SignedWide)extended(c, 32, form->d_signed);
    SignedWide sum = (product + addend + !!(form->mask & ADDS_ONE)) >> form->count;
    SignedWide high = form->d_signed ? INT32_MAX : UINT32_MAX, low = form->d_signed ? INT32_MIN : 0;
    if (form->saturates) sum = sum < low ? low : sum > high ? high : sum;
    return (uint32_t)sum;
}

SLOW_HANDLER(video_multiply) {
    VideoForm form;
    memcpy(&form, op->number, sizeof form);
    uint32_t *d = operand_at(warp, op->d);
    const uint32_t *a = operand_at(warp, op->s[0]), *b = operand_at(warp, op->s[1]),
                   *c = operand_at(warp, op->s[2]);
    EACH_ACTIVE_LANE d[l] = multiply_add(&form, a[l], b[l], c[l]);
}

/* ---- lowering -------------------------------------------------------------------------------------- */

/* The digits of a selector, the last one first: "h10" -> 0x10. */
static uint16_t digits_of(const char *selector) {
    uint16_t places = 0;
    for (const char *at = selector + 1; *at; at++) places = (uint16_t)(places << 4 | (*at - '0'));
    return places;
}

static unsigned selected_bits(const char *selector) {
    return !selector ? 32 : *selector == 'b' ? 8 : 16;
}

/* The part that a scalar instruction names; b's parts lie behind the 32 bits of a. */
static uint16_t scalar_place(const char *selector, bool is_b) {
    unsigned parts = 32 / selected_bits(selector);
    return (uint16_t)((selector ? digits_of(selector) : 0) + (is_b ? parts : 0));
}

static void read_scalar_places(const PtxInstruction *in, VideoForm *form) {
    const char *d = in->operands[0].selector, *a = in->operands[1].selector, *b = in->operands[2].selector;
    form->count = 1;
    form->a_bits = (uint8_t)selected_bits(a);
    form->b_bits = (uint8_t)selected_bits(b);
    form->d_bits = (uint8_t)selected_bits(d);
    form->a_places = scalar_place(a, false);
    form->b_places = scalar_place(b, true);
    form->mask = (uint8_t)(1u << scalar_place(d, false));
}

static void read_simd_places(const PtxInstruction *in, VideoForm *form, int count) {
    const char *d = in->operands[0].selector, *a = in->operands[1].selector, *b = in->operands[2].selector;
    form->count = (uint8_t)count;
    form->a_bits = form->b_bits = form->d_bits = (uint8_t)(32 / count);
    form->a_places = digits_of(a ? a : count == 2 ? "h10" : "b3210");
    form->b_places = digits_of(b ? b : count == 2 ? "h32" : "b7654");
    for (const char *at = d ? d + 1 : count == 2 ? "10" : "3210"; *at; at++)
        form->mask |= (uint8_t)(1u << (*at - '0'));
}

static void read_comparison(const PtxInstruction *in, VideoForm *form) {
    static const struct {
        PtxModifierKind modifier;
        uint8_t less, equal, greater;
    } rows[] = {{PTX_MOD_EQ, 0, 1, 0}, {PTX_MOD_NE, 1, 0, 1}, {PTX_MOD_LT, 1, 0, 0},
                {PTX_MOD_LE, 1, 1, 0}, {PTX_MOD_GT, 0, 0, 1}, {PTX_MOD_GE, 0, 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ptx_instruction_has(in, rows[i].modifier)) {
            form->less = rows[i].less;
            form->equal = rows[i].equal;
            form->greater = rows[i].greater;
        }
}

static bool lower_video(Lowering *low, const PtxInstruction *in, Op *op, VideoOperation operation,
                        int count) {
    bool compares = operation == VIDEO_COMPARE; /* without a type of the result: it is unsigned */
    VideoForm form = {.operation = (uint8_t)operation,
                      .saturates = ptx_instruction_has(in, PTX_MOD_SAT),
                      .wraps = ptx_instruction_has(in, PTX_MOD_WRAP),
                      .d_signed = !compares && lanes_type(in, 0) == PTX_S32,
                      .a_signed = lanes_type(in, !compares) == PTX_S32,
                      .b_signed = lanes_type(in, compares ? 1 : 2) == PTX_S32};
    form.end = ptx_instruction_has(in, PTX_MOD_ADD)   ? END_ADD
               : ptx_instruction_has(in, PTX_MOD_MIN) ? END_MINIMUM
               : ptx_instruction_has(in, PTX_MOD_MAX) ? END_MAXIMUM
                                                      : END_MERGE;
    if (count == 1)
        read_scalar_places(in, &form);
    else
        read_simd_places(in, &form, count);
    if (compares) read_comparison(in, &form);
    memcpy(op->number, &form, sizeof form);
    return lanes_simple(low, in, op, PTX_B32, in->operand_count - 1, &video, WEIGHT_SUM);
}

#define VIDEO(NAME, OPERATION, COUNT)                                                                        \
    OPCODE_LOWER(NAME) {                                                                                     \
        return lower_video(low, in, op, VIDEO_##OPERATION, COUNT);                                           \
    }
#define VIDEO_SIMD(NAME, OPERATION) VIDEO(NAME##2, OPERATION, 2) VIDEO(NAME##4, OPERATION, 4)
#define VIDEO_ALL(NAME, OPERATION)  VIDEO(NAME, OPERATION, 1) VIDEO_SIMD(NAME, OPERATION)
VIDEO_ALL(vadd, ADD)
VIDEO_ALL(vsub, SUBTRACT)
VIDEO_ALL(vabsdiff, DIFFERENCE)
VIDEO_ALL(vmin, MINIMUM)
VIDEO_ALL(vmax, MAXIMUM)
VIDEO_ALL(vset, COMPARE)
VIDEO_SIMD(vavrg, AVERAGE)
VIDEO(vshl, SHIFT_LEFT, 1)
VIDEO(vshr, SHIFT_RIGHT, 1)

/* The sum is signed if a factor is, or if something is negated. */
OPCODE_LOWER(vmad) {
    bool minus = in->operands[1].negated != in->operands[2].negated, less = in->operands[3].negated;
    VideoForm form = {.saturates = ptx_instruction_has(in, PTX_MOD_SAT),
                      .a_signed = lanes_type(in, 1) == PTX_S32,
                      .b_signed = lanes_type(in, 2) == PTX_S32};
    if (minus && less) return lowering_reject(low, op, "vmad negates either a product or what is added");
    read_scalar_places(in, &form);
    form.d_signed = form.a_signed || form.b_signed || minus || less;
    form.count = ptx_instruction_has(in, PTX_MOD_SHR7) ? 7 : ptx_instruction_has(in, PTX_MOD_SHR15) ? 15 : 0;
    form.mask = (uint8_t)((minus ? NEGATES_PRODUCT : 0) | (less ? NEGATES_ADDEND : 0) |
                          (ptx_instruction_has(in, PTX_MOD_PO) ? ADDS_ONE : 0));
    memcpy(op->number, &form, sizeof form);
    return lanes_simple(low, in, op, PTX_B32, 3, &video_multiply, WEIGHT_PRODUCT);
}
