/* An event as a line of text, as --events prints it.
 *
 * Scripts compare these lines between runs and producers, so nothing in them depends on where memory was
 * mapped, and the format is stable:
 *
 *   block 0  warp 1  turn 17  interval 0  occurrence 0  shared_load  pc 31  line 24  mask ffffffff
 *   at sdata+0 stride 4  value 7
 *
 * (one line). Fields are separated by two spaces; a field is its name and its content. Lists hold one item
 * for each active lane, lowest lane first. `at`: buffer+offset, and either one address for all lanes, a
 * stride in bytes from active lane to active lane, or a list (of offsets, if the buffer is the same).
 * `value`, `operand`: one number if all lanes have the same. Floats are the shortest decimal that reads back
 * the same; untyped bits are hexadecimal. */
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- active lanes ----------------------------------------------------------------------------------- */

static int lanes_of(uint32_t mask, int lanes[WARP_LANES]) {
    int count = 0;
    for (; mask; mask &= mask - 1) lanes[count++] = __builtin_ctz(mask);
    return count;
}

static bool all_equal(const int *lanes, int count, const uint64_t column[WARP_LANES]) {
    for (int i = 1; i < count; i++)
        if (column[lanes[i]] != column[lanes[0]]) return false;
    return true;
}

/* ---- numbers ---------------------------------------------------------------------------------------- */

static void print_double(double value, int digits, Text *out) {
    if (isnan(value)) {
        text_add(out, "nan");
        return;
    }
    char text[40];
    for (int precision = 1; precision <= digits; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        if (digits <= 9 ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value) break;
    }
    text_add(out, text);
}

/* Widens a half exactly to float: sign, exponent of `exponent_bits`, fraction. */
static double widen_half(uint64_t bits, int exponent_bits) {
    int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    double fraction = (double)(bits & ((1u << fraction_bits) - 1)), sign = bits >> 15 & 1 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

static void print_number(PtxType type, int bytes, uint64_t bits, Text *out) {
    switch (type) {
    case PTX_F16:
        print_double(widen_half(bits, 5), 5, out);
        break;
    case PTX_BF16:
        print_double(widen_half(bits, 8), 4, out);
        break;
    case PTX_F32: {
        uint32_t low = (uint32_t)bits;
        float value;
        memcpy(&value, &low, sizeof value);
        print_double((double)value, 9, out);
        break;
    }
    case PTX_F64: {
        double value;
        memcpy(&value, &bits, sizeof value);
        print_double(value, 17, out);
        break;
    }
    case PTX_S8:
    case PTX_S16:
    case PTX_S32:
    case PTX_S64: {
        int unused = 64 - 8 * (bytes >= 1 && bytes <= 8 ? bytes : 8);
        text_print(out, "%lld", (long long)((int64_t)(bits << unused) >> unused));
        break;
    }
    case PTX_U8:
    case PTX_U16:
    case PTX_U32:
    case PTX_U64:
        text_print(out, "%llu", (unsigned long long)bits);
        break;
    default:
        text_print(out, "0x%llx", (unsigned long long)bits);
    }
}

/* ---- fields ----------------------------------------------------------------------------------------- */

typedef struct Names { /* for the names of an event's buffers */
    const Trace *trace;
    const TraceLaunch *launch;
    TraceKind kind;
} Names;

static const char *buffer_name(const Names *names, int buffer) {
    if (trace_kind_is_shared(names->kind) || trace_kind_is_local(names->kind))
        return buffer < names->launch->symbol_count ? names->launch->symbols[buffer].name : "?";
    return buffer < names->trace->buffer_count ? names->trace->buffers[buffer].name : "?";
}

static void print_addresses(const Names *names, const TraceEvent *event, const int *lanes, int count,
                            Text *out) {
    uint64_t buffer[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++) buffer[lane] = event->buffer[lane];
    text_print(out, "  at %s+%llu", buffer_name(names, event->buffer[lanes[0]]),
               (unsigned long long)event->offset[lanes[0]]);
    bool same_buffer = all_equal(lanes, count, buffer);
    if (same_buffer && all_equal(lanes, count, event->offset)) return;
    uint64_t stride = event->offset[lanes[1]] - event->offset[lanes[0]];
    bool strided = same_buffer && count > 2;
    for (int i = 2; strided && i < count; i++)
        strided = event->offset[lanes[i]] - event->offset[lanes[i - 1]] == stride;
    if (strided) {
        text_print(out, " stride %lld", (long long)stride);
        return;
    }
    for (int i = 1; i < count; i++) {
        text_add(out, ",");
        if (!same_buffer) text_print(out, "%s+", buffer_name(names, event->buffer[lanes[i]]));
        text_print(out, "%llu", (unsigned long long)event->offset[lanes[i]]);
    }
}

/* rows > 1: prints a lane's elements in braces. */
static void print_column(const char *name, PtxType type, int bytes, int rows,
                         const uint64_t (*row)[WARP_LANES], const int *lanes, int count, Text *out) {
    bool same = true;
    for (int r = 0; r < rows; r++) same &= all_equal(lanes, count, row[r]);
    text_print(out, "  %s ", name);
    for (int i = 0; i < (same ? 1 : count); i++) {
        if (i) text_add(out, ",");
        if (rows > 1) text_add(out, "{");
        for (int r = 0; r < rows; r++) {
            if (r) text_add(out, " ");
            print_number(type, bytes, row[r][lanes[i]], out);
        }
        if (rows > 1) text_add(out, "}");
    }
}

/* The source of a shuffle: one lane, a distance, or a list; `-`: an inactive lane, so the value is
 * undefined. */
static void print_sources(const TraceEvent *event, const int *lanes, int count, Text *out) {
    bool same_lane = true, same_distance = true;
    for (int i = 0; i < count; i++) {
        int source = event->source[lanes[i]];
        same_lane &= source >= 0 && source == event->source[lanes[0]];
        same_distance &= source >= 0 && source - lanes[i] == event->source[lanes[0]] - lanes[0];
    }
    if (same_lane) {
        text_print(out, "  from %d", event->source[lanes[0]]);
        return;
    }
    if (same_distance) {
        text_print(out, "  from lane%+d", event->source[lanes[0]] - lanes[0]);
        return;
    }
    text_add(out, "  from ");
    for (int i = 0; i < count; i++) {
        if (i) text_add(out, ",");
        if (event->source[lanes[i]] < 0)
            text_add(out, "-");
        else
            text_print(out, "%d", event->source[lanes[i]]);
    }
}

static void print_branch(const TraceEvent *event, const int *lanes, int count, Text *out) {
    text_print(out, "  taken %08x  to ", event->taken);
    for (int i = 0; i < (all_equal(lanes, count, event->value[0]) ? 1 : count); i++)
        text_print(out, i ? ",%llu" : "%llu", (unsigned long long)event->value[0][lanes[i]]);
}

static bool has_operand(TraceKind kind) {
    return kind == TRACE_SHARED_ATOMIC || kind == TRACE_GLOBAL_ATOMIC || kind == TRACE_SHUFFLE ||
           kind == TRACE_REDUX || kind == TRACE_MBARRIER || trace_kind_is_bulk(kind);
}

/* "commit"; "pending 1": at most that many groups are still in flight after the wait. */
static void print_group(const PtxInstruction *in, const TraceEvent *event, Text *out) {
    PtxAsync form = ptx_asynchronous(in);
    if (form == PTX_ASYNC_COMMIT || form == PTX_ASYNC_BULK_COMMIT)
        text_add(out, "  commit");
    else
        text_print(out, "  pending %u", event->participants);
}

/* Both sides of a copy are events of the same instruction. */
static const char *side_of_copy(const PtxInstruction *in, TraceKind kind) {
    if (trace_written_kind_of(in) == TRACE_NOT_RECORDED) return NULL;
    return kind == trace_written_kind_of(in) ? "  copy destination" : "  copy source";
}

void trace_event_print(const Trace *trace, const TraceLaunch *launch, const TraceBlock *block,
                       const TraceEvent *event, Text *out) {
    const PtxCode *code = &launch->program->code[event->pc];
    Names names = {trace, launch, event->kind};
    int lanes[WARP_LANES] = {0}, count = lanes_of(event->mask, lanes);
    text_print(out, "block %u  warp %d  turn %u  interval %u  occurrence %u  %s  pc %d  line %d  mask %08x",
               trace_block_linear(block), event->warp, event->turn, event->interval, event->occurrence,
               trace_kind_text(event->kind), event->pc, code->line.line, event->mask);
    switch (event->kind) {
    case TRACE_BARRIER:
    case TRACE_NAMED_BARRIER:
        if (trace_event_is_cluster_wait(event))
            text_add(out, "  barrier of the cluster");
        else
            text_print(out, "  barrier %u", event->participants);
        break;
    case TRACE_ASYNC_GROUP:
        print_group(code->instruction, event, out);
        break;
    case TRACE_WARP_SYNC:
    case TRACE_VOTE:
    case TRACE_REDUX:
    case TRACE_SHUFFLE:
        text_print(out, "  members %08x", event->participants);
        break;
    default:
        break;
    }
    if (count == 0) return;
    PtxType type = code->instruction->types[0];
    const char *side = side_of_copy(code->instruction, event->kind);
    if (side) text_add(out, side);
    if (event->kind == TRACE_MBARRIER || trace_kind_is_bulk(event->kind)) type = PTX_U64;
    if (trace_kind_is_access(event->kind)) print_addresses(&names, event, lanes, count, out);
    int peer = trace_event_peer(event);
    if (peer >= 0)
        text_print(out, " of block %u",
                   trace_cluster_member(launch, trace_block_linear(block), (uint32_t)peer));
    if (event->kind == TRACE_SHUFFLE) print_sources(event, lanes, count, out);
    if (event->kind == TRACE_BRANCH) {
        print_branch(event, lanes, count, out);
        return;
    }
    if (has_operand(event->kind))
        print_column("operand", type, event->element_bytes, 1, &event->operand, lanes, count, out);
    int rows = event->element_count > 1 ? event->element_count : 1;
    if (event->has_result)
        print_column("value", type, event->element_bytes, rows, event->value, lanes, count, out);
}
