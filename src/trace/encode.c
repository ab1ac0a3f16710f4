/* Encodes events: a header, then columns.
 *
 *   byte 0   kind (5 bits), has_result, is_load, mask is full
 *   byte 1   element_bytes (3 bits: 0, 1, 2, 4, 8, 16), element_count (3 bits: 0, 1, 2, 4, 8),
 *            width (2 bits: WidthForm)
 *   byte 2   taken (2 bits: MaskForm), participants (2 bits), which columns follow (4 bits)
 *   numbers  warp, pc, turn, interval, occurrence {, width}   seven bits a byte, low ones first
 *   masks    {mask} {taken} {participants}   four bytes each, if byte 0 or 2 does not give them
 *   columns  {buffer, offset} {operand} {source} {value[0], value[1], ...}
 *
 * A column is a byte (form, width of the numbers) and what the form needs. Numbers are sign-extended from
 * their width before they are compared, so that small negative values are small. Memory traffic is mostly
 * strided addresses, and values that lie close together or have trailing zeros in common (whole numbers in
 * floats). */
#include "trace/encode.h"

#include <assert.h>
#include <string.h>

typedef enum ColumnForm {
    COLUMN_ZERO,
    COLUMN_UNIFORM, /* one number */
    COLUMN_STRIDED, /* number of the lowest active lane, difference from lane to lane */
    COLUMN_TWO,     /* four bytes: lanes with the second number; first number, second number */
    /* Base, bits (a byte), shift (a byte), then (number - base) >> shift of each active lane in that many
     * bits. */
    COLUMN_PACKED,
    COLUMN_SHUFFLED /* values of a shuffle: operand[source] */
} ColumnForm;

typedef enum WidthForm { WIDTH_PRODUCT, WIDTH_ZERO, WIDTH_WRITTEN } WidthForm;
typedef enum MaskForm { MASK_ZERO, MASK_SAME /* equal to event->mask */, MASK_FULL, MASK_WRITTEN } MaskForm;

enum { HAS_ADDRESSES = 1 << 4, HAS_OPERAND = 1 << 5, HAS_SOURCE = 1 << 6, HAS_VALUES = 1 << 7 };

static const uint32_t FULL_MASK = 0xffffffffu;

/* ---- numbers ---------------------------------------------------------------------------------------- */

static uint8_t *put_number(uint8_t *at, uint64_t number) {
    for (; number >= 0x80; number >>= 7) *at++ = (uint8_t)(number | 0x80);
    *at++ = (uint8_t)number;
    return at;
}

/* At most ten bytes. */
static const uint8_t *get_number(const uint8_t *at, uint64_t *number) {
    uint64_t result = 0;
    int shift = 0;
    for (; *at & 0x80 && shift < 63; shift += 7) result |= (uint64_t)(*at++ & 0x7f) << shift;
    *number = result | (uint64_t)*at++ << shift;
    return at;
}

static const uint8_t *get_int(const uint8_t *at, int *number) {
    uint64_t wide;
    at = get_number(at, &wide);
    *number = (int)wide;
    return at;
}

static const uint8_t *get_uint32(const uint8_t *at, uint32_t *number) {
    uint64_t wide;
    at = get_number(at, &wide);
    *number = (uint32_t)wide;
    return at;
}

/* Maps numbers of small absolute value to small ones: 0, -1, 1, -2, 2, ... */
static uint8_t *put_signed(uint8_t *at, uint64_t number) {
    return put_number(at, number << 1 ^ (0 - (number >> 63)));
}

static const uint8_t *get_signed(const uint8_t *at, uint64_t *number) {
    uint64_t folded;
    at = get_number(at, &folded);
    *number = folded >> 1 ^ (0 - (folded & 1));
    return at;
}

static uint8_t *put_mask(uint8_t *at, uint32_t mask) {
    for (int byte = 0; byte < 4; byte++) *at++ = (uint8_t)(mask >> 8 * byte);
    return at;
}

static const uint8_t *get_mask(const uint8_t *at, uint32_t *mask) {
    *mask = 0;
    for (int byte = 0; byte < 4; byte++) *mask |= (uint32_t)*at++ << 8 * byte;
    return at;
}

static uint64_t truncate(uint64_t number, int bytes) {
    return bytes == 8 ? number : number & (((uint64_t)1 << 8 * bytes) - 1);
}

static uint64_t extend(uint64_t number, int bytes) {
    uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    return (truncate(number, bytes) ^ sign) - sign;
}

/* ---- columns: writing ------------------------------------------------------------------------------- */

typedef struct Lanes { /* the active lanes of a column */
    int count;
    uint8_t lane[WARP_LANES];
    uint64_t number[WARP_LANES];
} Lanes;

static uint8_t *put_packed(uint8_t *at, const Lanes *lanes, uint64_t base, uint64_t range) {
    uint64_t together = 0; /* bits that are set in any difference from the base */
    for (int i = 0; i < lanes->count; i++) together |= lanes->number[i] - base;
    int shift = __builtin_ctzll(together), bits = 64 - __builtin_clzll(range) - shift;
    at = put_signed(at, base);
    *at++ = (uint8_t)bits;
    *at++ = (uint8_t)shift;
    uint64_t pending = 0;
    int pending_bits = 0;
    for (int i = 0; i < lanes->count; i++) {
        uint64_t number = (lanes->number[i] - base) >> shift;
        for (int left = bits; left > 0; left -= 32, number >>= 32) { /* at most 7 + 32 bits pend */
            int now = left < 32 ? left : 32;
            pending |= truncate(number, 4) << pending_bits;
            for (pending_bits += now; pending_bits >= 8; pending_bits -= 8, pending >>= 8)
                *at++ = (uint8_t)pending;
        }
    }
    if (pending_bits) *at++ = (uint8_t)pending;
    return at;
}

/* True if all 32 lanes hold the same number or an arithmetic progression, as most columns do. The compiler
 * vectorizes both loops. */
static bool put_row(uint8_t **at, const uint64_t number[WARP_LANES], ColumnForm *form) {
    uint64_t first = number[0], stride = number[1] - first, differs = 0;
    for (int l = 1; l < WARP_LANES; l++) differs |= (number[l] - number[l - 1]) ^ stride;
    if (differs) return false;
    *form = stride ? COLUMN_STRIDED : first ? COLUMN_UNIFORM : COLUMN_ZERO;
    if (stride || first) *at = put_signed(*at, first);
    if (stride) *at = put_signed(*at, stride);
    return true;
}

/* Writes what follows the form's byte; returns the form. */
static ColumnForm put_lanes(uint8_t **at, const Lanes *lanes) {
    const uint64_t *number = lanes->number, first = number[0];
    uint64_t second = first, low = first, high = first;
    bool two = true;
    uint32_t seconds = 0;
    for (int i = 1; i < lanes->count; i++) {
        if ((int64_t)number[i] < (int64_t)low) low = number[i];
        if ((int64_t)number[i] > (int64_t)high) high = number[i];
        if (number[i] == first) continue;
        if (second == first) second = number[i];
        two &= number[i] == second;
        seconds |= 1u << lanes->lane[i];
    }
    if (second == first) {
        if (first) *at = put_signed(*at, first);
        return first ? COLUMN_UNIFORM : COLUMN_ZERO;
    }
    uint64_t gap = (uint64_t)(lanes->lane[1] - lanes->lane[0]), stride = number[1] - first;
    bool strided = (int64_t)stride % (int64_t)gap == 0;
    stride = (uint64_t)((int64_t)stride / (int64_t)gap);
    for (int i = 2; strided && i < lanes->count; i++)
        strided = number[i] == first + (uint64_t)(lanes->lane[i] - lanes->lane[0]) * stride;
    if (strided) {
        *at = put_signed(put_signed(*at, first), stride);
        return COLUMN_STRIDED;
    }
    if (two) {
        *at = put_signed(put_signed(put_mask(*at, seconds), first), second);
        return COLUMN_TWO;
    }
    *at = put_packed(*at, lanes, low, high - low);
    return COLUMN_PACKED;
}

static int width_of(uint32_t mask, const uint64_t column[WARP_LANES], int natural) {
    uint64_t any = 0;
    if (mask == FULL_MASK)
        for (int l = 0; l < WARP_LANES; l++) any |= column[l];
    else
        for (; mask; mask &= mask - 1) any |= column[__builtin_ctz(mask)];
    return truncate(any, natural) == any ? natural : 8;
}

static void extend_all(uint64_t number[WARP_LANES], const uint64_t column[WARP_LANES], int bytes) {
    uint64_t sign = (uint64_t)1 << (8 * bytes - 1), bits = sign | (sign - 1);
    for (int l = 0; l < WARP_LANES; l++) number[l] = ((column[l] & bits) ^ sign) - sign;
}

/* `bytes`: natural width of the numbers; a column with wider numbers is written with 8. */
static uint8_t *put_column(uint8_t *at, uint32_t mask, const uint64_t column[WARP_LANES], int bytes) {
    assert(mask);
    Lanes lanes;
    lanes.count = 0;
    lanes.number[0] = 0;
    bytes = width_of(mask, column, bytes);
    uint8_t *head = at++;
    ColumnForm form;
    if (mask == FULL_MASK) extend_all(lanes.number, column, bytes);
    if (mask != FULL_MASK || !put_row(&at, lanes.number, &form)) {
        for (; mask; mask &= mask - 1) {
            int lane = __builtin_ctz(mask);
            lanes.lane[lanes.count] = (uint8_t)lane;
            lanes.number[lanes.count++] = extend(column[lane], bytes);
        }
        form = put_lanes(&at, &lanes);
    }
    *head = (uint8_t)((unsigned)form | (unsigned)bytes << 3);
    return at;
}

/* ---- columns: reading ------------------------------------------------------------------------------- */

static const uint8_t *get_packed(const uint8_t *at, int bytes, uint32_t mask, uint64_t column[WARP_LANES]) {
    uint64_t base, pending = 0;
    at = get_signed(at, &base);
    int bits = *at++, shift = *at++, pending_bits = 0;
    if (bits > 64 || shift > 63) bits = shift = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t number = 0;
        for (int got = 0; got < bits;) {
            int now = bits - got < 32 ? bits - got : 32;
            for (; pending_bits < now; pending_bits += 8) pending |= (uint64_t)*at++ << pending_bits;
            number |= (pending & (((uint64_t)1 << now) - 1)) << got;
            pending >>= now;
            pending_bits -= now;
            got += now;
        }
        column[__builtin_ctz(mask)] = truncate(base + (number << shift), bytes);
    }
    return at;
}

/* Fills the active lanes of `column` (zero before); `form` is its encoding. */
static const uint8_t *get_column(const uint8_t *at, uint32_t mask, uint64_t column[WARP_LANES],
                                 ColumnForm *form) {
    int bytes = *at >> 3 > 8 ? 8 : *at >> 3;
    *form = (ColumnForm)(*at++ & 7);
    uint64_t first = 0, second = 0;
    uint32_t seconds = 0;
    switch (*form) {
    case COLUMN_ZERO:
    case COLUMN_SHUFFLED:
        break;
    case COLUMN_UNIFORM:
        at = get_signed(at, &first);
        first = truncate(first, bytes);
        for (; mask; mask &= mask - 1) column[__builtin_ctz(mask)] = first;
        break;
    case COLUMN_STRIDED: {
        at = get_signed(get_signed(at, &first), &second);
        int lowest = __builtin_ctz(mask);
        for (; mask; mask &= mask - 1) {
            int lane = __builtin_ctz(mask);
            column[lane] = truncate(first + (uint64_t)(lane - lowest) * second, bytes);
        }
        break;
    }
    case COLUMN_TWO:
        at = get_signed(get_signed(get_mask(at, &seconds), &first), &second);
        for (; mask; mask &= mask - 1) {
            int lane = __builtin_ctz(mask);
            column[lane] = truncate(seconds >> lane & 1 ? second : first, bytes);
        }
        break;
    case COLUMN_PACKED:
        at = get_packed(at, bytes, mask, column);
        break;
    }
    return at;
}

/* Skips the bytes of a column without reading its numbers. */
static const uint8_t *skip_column(const uint8_t *at, uint32_t mask, ColumnForm *form) {
    uint64_t number;
    *form = (ColumnForm)(*at++ & 7);
    switch (*form) {
    case COLUMN_ZERO:
    case COLUMN_SHUFFLED:
        break;
    case COLUMN_UNIFORM:
        return get_number(at, &number);
    case COLUMN_STRIDED:
        return get_number(get_number(at, &number), &number);
    case COLUMN_TWO:
        return get_number(get_number(at + 4, &number), &number);
    case COLUMN_PACKED: {
        at = get_number(at, &number);
        int bits = at[0] > 64 || at[1] > 63 ? 0 : at[0];
        return at + 2 + (__builtin_popcount(mask) * bits + 7) / 8;
    }
    }
    return at;
}

/* ---- fields that are not columns of 64-bit numbers -------------------------------------------------- */

/* A quick test, since most columns of many kinds of events are empty. */
static bool is_zero(const void *bytes, size_t count) {
    const char *at = bytes;
    return !at[0] && !memcmp(at, at + 1, count - 1);
}

static bool any_lane(uint32_t mask, const uint64_t column[WARP_LANES]) {
    uint64_t any = 0;
    if (is_zero(column, WARP_LANES * sizeof *column)) return false;
    if (mask == FULL_MASK) return true;
    for (; mask; mask &= mask - 1) any |= column[__builtin_ctz(mask)];
    return any != 0;
}

static int value_rows(const TraceEvent *event) {
    if (event->element_count > TRACE_MAX_ELEMENTS) return TRACE_MAX_ELEMENTS; /* in a damaged file */
    return event->element_count > 1 ? event->element_count : 1;
}

static bool any_value(const TraceEvent *event) {
    for (int row = 0; row < value_rows(event); row++)
        if (any_lane(event->mask, event->value[row])) return true;
    return false;
}

/* The operands and sources of a shuffle determine its values. */
static bool values_follow_from_sources(const TraceEvent *event) {
    if (event->kind != TRACE_SHUFFLE || value_rows(event) != 1) return false;
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest), source = event->source[lane];
        bool is_here = source >= 0 && source < WARP_LANES && event->mask >> source & 1;
        if (!is_here || event->value[0][lane] != event->operand[source]) return false;
    }
    return true;
}

/* Sources as distances from the own lane: one or two numbers for every shuffle but idx. */
static void source_distances(const TraceEvent *event, uint64_t column[WARP_LANES], bool *any) {
    *any = false;
    if (is_zero(event->source, sizeof event->source)) return;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        column[lane] = (uint64_t)((int64_t)event->source[lane] - lane);
        *any |= (event->mask >> lane & 1) && event->source[lane] != 0;
    }
}

/* ---- events ----------------------------------------------------------------------------------------- */

static unsigned size_code(int size) { /* 0, 1, 2, 4, 8, 16: 0..5 */
    assert(size >= 0 && size <= 16 && (size & (size - 1)) == 0);
    return size ? (unsigned)__builtin_ctz((unsigned)size) + 1 : 0;
}

static int size_of_code(unsigned code) {
    return code ? 1 << (code - 1) : 0;
}

static MaskForm mask_form(uint32_t mask, uint32_t of_event) {
    return mask == 0           ? MASK_ZERO
           : mask == of_event  ? MASK_SAME
           : mask == FULL_MASK ? MASK_FULL
                               : MASK_WRITTEN;
}

static uint8_t *put_header(const TraceEvent *event, unsigned columns, uint8_t *at) {
    int product = event->element_bytes * event->element_count;
    WidthForm width = event->width == product ? WIDTH_PRODUCT
                      : event->width == 0     ? WIDTH_ZERO
                                              : WIDTH_WRITTEN;
    MaskForm taken = mask_form(event->taken, event->mask),
             participants = mask_form(event->participants, event->mask);
    bool full = event->mask == FULL_MASK;
    _Static_assert(TRACE_KIND_COUNT <= 32, "a kind is five bits");
    *at++ = (uint8_t)((unsigned)event->kind | (unsigned)event->has_result << 5 |
                      (unsigned)event->is_load << 6 | (unsigned)full << 7);
    *at++ = (uint8_t)(size_code(event->element_bytes) | size_code(event->element_count) << 3 |
                      (unsigned)width << 6);
    *at++ = (uint8_t)((unsigned)taken | (unsigned)participants << 2 | columns);
    at = put_number(at, (uint64_t)event->warp);
    at = put_number(at, (uint64_t)event->pc);
    at = put_number(at, event->turn);
    at = put_number(at, event->interval);
    at = put_number(at, event->occurrence);
    if (width == WIDTH_WRITTEN) at = put_number(at, (uint64_t)event->width);
    if (!full) at = put_mask(at, event->mask);
    if (taken == MASK_WRITTEN) at = put_mask(at, event->taken);
    if (participants == MASK_WRITTEN) at = put_mask(at, event->participants);
    return at;
}

size_t encode_event(const TraceEvent *event, uint8_t *bytes) {
    assert(event->element_count <= TRACE_MAX_ELEMENTS && event->warp >= 0 && event->pc >= 0);
    uint64_t buffer[WARP_LANES] = {0}, distance[WARP_LANES];
    bool has_source;
    bool has_buffers = !is_zero(event->buffer, sizeof event->buffer);
    for (int lane = 0; has_buffers && lane < WARP_LANES; lane++) buffer[lane] = event->buffer[lane];
    source_distances(event, distance, &has_source);
    has_buffers = has_buffers && any_lane(event->mask, buffer);
    bool has_addresses = has_buffers || any_lane(event->mask, event->offset);
    bool has_operand = any_lane(event->mask, event->operand), has_values = any_value(event);
    unsigned columns = (has_addresses ? HAS_ADDRESSES : 0u) | (has_operand ? HAS_OPERAND : 0u) |
                       (has_source ? HAS_SOURCE : 0u) | (has_values ? HAS_VALUES : 0u);
    int natural = event->element_bytes > 0 && event->element_bytes < 8 ? event->element_bytes : 8;

    uint8_t *at = put_header(event, columns, bytes);
    if (has_addresses) {
        at = put_column(at, event->mask, buffer, 2);
        at = put_column(at, event->mask, event->offset, 8);
    }
    if (has_operand) at = put_column(at, event->mask, event->operand, natural);
    if (has_source) at = put_column(at, event->mask, distance, 8);
    if (has_values && values_follow_from_sources(event)) {
        *at++ = COLUMN_SHUFFLED;
    } else if (has_values) {
        for (int row = 0; row < value_rows(event); row++)
            at = put_column(at, event->mask, event->value[row], natural);
    }
    size_t length = (size_t)(at - bytes);
    assert(length <= ENCODED_EVENT_LIMIT);
    return length;
}

static const uint8_t *get_header(const uint8_t *at, unsigned *columns, TraceEvent *event) {
    unsigned flags = *at++, sizes = *at++, forms = *at++;
    event->kind = (TraceKind)(flags & 31);
    event->has_result = flags >> 5 & 1;
    event->is_load = flags >> 6 & 1;
    event->element_bytes = size_of_code(sizes & 7);
    event->element_count = size_of_code(sizes >> 3 & 7);
    WidthForm width = (WidthForm)(sizes >> 6);
    MaskForm taken = (MaskForm)(forms & 3), participants = (MaskForm)(forms >> 2 & 3);
    *columns = forms & 0xf0;
    at = get_int(at, &event->warp);
    at = get_int(at, &event->pc);
    at = get_uint32(at, &event->turn);
    at = get_uint32(at, &event->interval);
    at = get_uint32(at, &event->occurrence);
    event->width = width == WIDTH_PRODUCT ? event->element_bytes * event->element_count : 0;
    if (width == WIDTH_WRITTEN) at = get_int(at, &event->width);
    event->mask = FULL_MASK;
    if (!(flags >> 7)) at = get_mask(at, &event->mask);
    event->taken = taken == MASK_SAME ? event->mask : taken == MASK_FULL ? FULL_MASK : 0;
    if (taken == MASK_WRITTEN) at = get_mask(at, &event->taken);
    event->participants = participants == MASK_SAME ? event->mask : participants == MASK_FULL ? FULL_MASK : 0;
    if (participants == MASK_WRITTEN) at = get_mask(at, &event->participants);
    return at;
}

static void shuffle_values(TraceEvent *event) {
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        event->value[0][lane] = event->operand[event->source[lane] & (WARP_LANES - 1)];
    }
}

static const uint8_t *get_addresses(const uint8_t *at, TraceEvent *event) {
    ColumnForm form;
    uint64_t column[WARP_LANES] = {0};
    at = get_column(at, event->mask, column, &form);
    for (int lane = 0; lane < WARP_LANES; lane++) event->buffer[lane] = (uint16_t)column[lane];
    return get_column(at, event->mask, event->offset, &form);
}

static const uint8_t *get_sources(const uint8_t *at, TraceEvent *event) {
    ColumnForm form;
    uint64_t column[WARP_LANES] = {0};
    at = get_column(at, event->mask, column, &form);
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        event->source[lane] = (int8_t)((int64_t)column[lane] + lane);
    }
    return at;
}

size_t decode_event(const uint8_t *bytes, bool header_only, TraceEvent *event) {
    unsigned columns;
    if (!header_only) *event = (TraceEvent){0};
    const uint8_t *at = get_header(bytes, &columns, event);
    ColumnForm form;
    if (header_only || !event->mask) return (size_t)(at - bytes);
    if (columns & HAS_ADDRESSES) at = get_addresses(at, event);
    if (columns & HAS_OPERAND) at = get_column(at, event->mask, event->operand, &form);
    if (columns & HAS_SOURCE) at = get_sources(at, event);
    for (int row = 0; columns & HAS_VALUES && row < value_rows(event); row++) {
        at = get_column(at, event->mask, event->value[row], &form);
        if (form == COLUMN_SHUFFLED) shuffle_values(event);
    }
    return (size_t)(at - bytes);
}

size_t decode_places(const uint8_t *bytes, TraceEvent *event) {
    unsigned columns;
    const uint8_t *at = get_header(bytes, &columns, event);
    ColumnForm form;
    memset(event->buffer, 0, sizeof event->buffer);
    memset(event->offset, 0, sizeof event->offset);
    memset(event->source, 0, sizeof event->source);
    if (!event->mask) return (size_t)(at - bytes);
    if (columns & HAS_ADDRESSES) at = get_addresses(at, event);
    if (columns & HAS_OPERAND) at = skip_column(at, event->mask, &form);
    if (columns & HAS_SOURCE) at = get_sources(at, event);
    if (event->kind == TRACE_BRANCH) memset(event->value[0], 0, sizeof event->value[0]);
    for (int row = 0; columns & HAS_VALUES && row < value_rows(event); row++)
        at = event->kind == TRACE_BRANCH && !row ? get_column(at, event->mask, event->value[0], &form)
                                                 : skip_column(at, event->mask, &form);
    return (size_t)(at - bytes);
}
