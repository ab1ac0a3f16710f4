/* Lane tables: builds the kernel around an instruction, runs it, compares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "emulator/emulator.h"
#include "emulator/lanes/lanes.h"
#include "lane_table.h"
#include <inttypes.h>
#include <stdlib.h>

enum { BLOCK = 128 };

typedef struct Name {
    char letter;
    int bits;
    bool is_source;
    int index; /* among the sources or the destinations */
} Name;

static int read_names(const char *registers, Name *names) {
    int count = 0, sources = 0, destinations = 0;
    for (const char *at = registers; *at;) {
        char *end;
        Name name = {at[0], (int)strtol(at + 1, &end, 10), strchr("abcxr", at[0]) != NULL, 0};
        name.index = name.is_source ? sources++ : destinations++;
        names[count++] = name;
        at = end + (*end == ' ');
    }
    return count;
}

int lane_table_widths(LaneInstruction instruction, int *source_bits, int *destination_bits,
                      int *destination_count) {
    Name names[2 * LANE_VALUES];
    int count = read_names(instruction.registers, names), sources = 0;
    *destination_count = 0;
    for (int i = 0; i < count; i++) {
        if (names[i].is_source)
            source_bits[sources++] = names[i].bits;
        else
            destination_bits[(*destination_count)++] = names[i].bits;
    }
    return sources;
}

void lane_table_kernel(LaneInstruction instruction, bool guarded, Text *out) {
    Name names[2 * LANE_VALUES];
    int count = read_names(instruction.registers, names);
    bool newer = strstr(instruction.text, "f32x2") != NULL;
    text_print(out, ".version %s\n.target %s\n.address_size 64\n\n", newer ? "8.6" : "8.1",
               newer ? "sm_100" : "sm_90");
    text_add(out, ".visible .entry lanes(.param .u64 rows, .param .u32 count)\n{\n"
                  "    .reg .pred %out, %on;\n    .reg .b32 %i, %n, %bit, %odd;\n    .reg .b64 %row;\n");
    for (int i = 0; i < count; i++)
        text_print(out, "    .reg .%s %c;\n",
                   names[i].bits == 1    ? "pred"
                   : names[i].bits == 16 ? "b16"
                   : names[i].bits == 32 ? "b32"
                                         : "b64",
                   names[i].letter);
    text_print(
        out,
        "    mov.u32 %%i, %%ctaid.x;\n    mov.u32 %%n, %%ntid.x;\n    mov.u32 %%bit, %%tid.x;\n"
        "    mad.lo.u32 %%i, %%i, %%n, %%bit;\n    ld.param.u32 %%n, [count];\n    setp.ge.u32 %%out, %%i, "
        "%%n;\n"
        "    @%%out bra DONE;\n    ld.param.u64 %%row, [rows];\n    mad.wide.u32 %%row, %%i, %zu, %%row;\n"
        "    and.b32 %%odd, %%i, 1;\n    setp.eq.u32 %%on, %%odd, 0;\n",
        sizeof(LaneRow));
    for (int i = 0; i < count; i++) {
        int place = (names[i].is_source ? 0 : 8 * LANE_VALUES) + 8 * names[i].index;
        if (names[i].bits == 1)
            text_print(out, "    ld.global.u32 %%bit, [%%row+%d];\n    setp.ne.u32 %c, %%bit, 0;\n", place,
                       names[i].letter);
        else
            text_print(out, "    ld.global.b%d %c, [%%row+%d];\n", names[i].bits, names[i].letter, place);
    }
    text_add(out, "    ");
    if (guarded && !strchr(instruction.text, '$')) text_add(out, "@%on ");
    for (const char *at = instruction.text; *at; at++) {
        if (*at != '$')
            text_add_bytes(out, at, 1);
        else if (guarded)
            text_add(out, "@%on ");
    }
    text_add(out, "\n");
    for (int i = 0; i < count; i++) {
        int place = 8 * LANE_VALUES + 8 * names[i].index;
        if (names[i].is_source) continue;
        if (names[i].bits == 1)
            text_print(out, "    selp.u32 %%bit, 1, 0, %c;\n    st.global.u32 [%%row+%d], %%bit;\n",
                       names[i].letter, place);
        else
            text_print(out, "    st.global.b%d [%%row+%d], %c;\n", names[i].bits, place, names[i].letter);
    }
    text_add(out, "DONE:\n    ret;\n}\n");
}

/* The detail of the first trap, or NULL. */
static char *run(LaneInstruction instruction, LaneRow *rows, int count, bool guarded) {
    Text text = {0};
    Error error = {0};
    lane_table_kernel(instruction, guarded, &text);
    PtxModule *module = ptx_module_parse(text.data, text.length, "lanes.ptx", &error);
    PtxFunction *entry = module ? ptx_module_find_entry(module, "lanes", &error) : NULL;
    PtxProgram *program = entry ? ptx_program_link(module, entry, &error) : NULL;
    if (!program) {
        error_print(&error, stderr);
        fail_msg("%s does not parse", instruction.text);
    }
    EmulatorOptions options = {.threads = 1, .trace_first = 1, .trace_last = 0};
    Emulator *emulator = emulator_new(&options);
    int buffer = emulator_add_buffer(emulator, "rows", rows, (uint64_t)count * sizeof *rows, PTX_B64);
    struct {
        uint64_t rows;
        uint32_t count, padding;
    } parameters = {emulator_buffer_address(emulator, buffer), (uint32_t)count, 0};
    Launch launch = {.program = program,
                     .grid = {((uint32_t)count + BLOCK - 1) / BLOCK, 1, 1},
                     .block = {BLOCK, 1, 1},
                     .parameters = (uint8_t *)&parameters,
                     .parameter_bytes = 12};
    Trace *trace = trace_new("emulator");
    if (!emulator_run(emulator, &launch, trace, &error)) {
        error_print(&error, stderr);
        fail_msg("%s does not run", instruction.text);
    }
    char *detail =
        trace->trap_count ? memory_copy_text(trace->traps[0].detail ? trace->traps[0].detail : "") : NULL;
    trace_free(trace);
    emulator_free(emulator);
    ptx_program_free(program);
    ptx_module_free(module);
    text_done(&text);
    return detail;
}

void lane_table_run(LaneInstruction instruction, LaneRow *rows, int count, bool guarded) {
    char *detail = run(instruction, rows, count, guarded);
    if (detail) fail_msg("%s: %s", instruction.text, detail);
}

void lane_table_refuses(LaneInstruction instruction, const char *words) {
    LaneRow row = {{0}, {0}};
    char *detail = run(instruction, &row, 1, false);
    if (!detail)
        fail_msg("%s is executed", instruction.text);
    else if (!strstr(detail, words))
        fail_msg("%s: \"%s\" without \"%s\"", instruction.text, detail, words);
    free(detail);
}

static void compare(LaneInstruction instruction, const LaneRow *row, const LaneRow *expected, int number,
                    const char *how) {
    int source_bits[LANE_VALUES], bits[LANE_VALUES], destinations;
    int sources = lane_table_widths(instruction, source_bits, bits, &destinations);
    for (int i = 0; i < destinations; i++) {
        if (row->out[i] == expected->out[i]) continue;
        Text in = {0};
        for (int j = 0; j < sources; j++) text_print(&in, " %" PRIx64, row->in[j]);
        fail_msg("%s row %d (%s), of%s: result %d is %" PRIx64 ", expected %" PRIx64, instruction.text,
                 number, how, text_string(&in), i, row->out[i], expected->out[i]);
    }
}

void lane_table_check(LaneInstruction instruction, const LaneRow *expected, int count) {
    static const uint64_t before = UINT64_C(0x5aa5c33c5aa5c33c);
    int source_bits[LANE_VALUES], bits[LANE_VALUES], destinations;
    lane_table_widths(instruction, source_bits, bits, &destinations);
    LaneRow *rows = memory_new((size_t)count * sizeof *rows), kept = {{0}, {0}};
    for (int i = 0; i < destinations; i++)
        kept.out[i] = bits[i] == 64 ? before : before & ((UINT64_C(1) << bits[i]) - 1);
    lanes_limit_level(LANE_LEVELS);
    for (int level = lanes_level(); level >= 0; level--) {
        lanes_limit_level(level);
        for (int guarded = 0; guarded < 2; guarded++) {
            char how[64];
            snprintf(how, sizeof how, "level %d%s", level, guarded ? ", guarded" : "");
            memcpy(rows, expected, (size_t)count * sizeof *rows);
            for (int i = 0; i < count; i++) memcpy(rows[i].out, kept.out, sizeof kept.out);
            lane_table_run(instruction, rows, count, guarded);
            for (int i = 0; i < count; i++)
                compare(instruction, &rows[i], guarded && i % 2 ? &kept : &expected[i], i, how);
        }
    }
    lanes_limit_level(LANE_LEVELS);
    free(rows);
}

/* ---- values -------------------------------------------------------------------------------------------- */

uint64_t lane_random(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t cut(uint64_t value, int bits) {
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

uint64_t lane_integer(uint64_t *state, int bits) {
    uint64_t random = lane_random(state), choice = random >> 56,
             power = UINT64_C(1) << (random >> 40) % (unsigned)bits;
    switch (choice % 8) {
    case 0:
        return cut(power, bits);
    case 1:
        return cut(power - 1, bits);
    case 2:
        return cut(~power, bits);
    case 3:
        return cut(~power + 2, bits);
    case 4:
        return cut((random & 0x7f) - 32, bits);
    case 5:
        return cut(random & 0xff, bits);
    default:
        return cut(random, bits);
    }
}

static uint64_t float_bits(uint64_t *state, int mantissa, int exponent) {
    uint64_t random = lane_random(state), choice = lane_random(state) % 16,
             top = (UINT64_C(1) << exponent) - 1, field;
    uint64_t fraction = random & ((UINT64_C(1) << mantissa) - 1), bias = top >> 1;
    switch (choice) {
    case 0:
        field = 0, fraction = 0;
        break; /* zero */
    case 1:
        field = 0;
        break; /* subnormal */
    case 2:
        field = top, fraction = 0;
        break; /* infinity */
    case 3:
        field = top;
        break; /* NaN, nearly always */
    case 4:
        field = top - 1;
        break; /* huge */
    case 5:
        field = 1;
        break; /* tiny */
    case 6:
        field = bias + random % 4, fraction &= fraction - 1;
        break;
    case 7:
        field = bias, fraction = 0;
        break; /* one */
    case 8:
        field = bias + (random >> 20) % (unsigned)(mantissa + 3), fraction = 0;
        break;
    case 9:
    case 10:
        field = bias + (random >> 20) % (unsigned)(mantissa + 3);
        break;
    case 11:
    case 12:
        field = bias - (random >> 20) % (unsigned)(mantissa + 3 < (int)bias ? mantissa + 3 : (int)bias);
        break;
    default:
        field = (random >> 30) & top;
        break;
    }
    return (random >> 63) << (mantissa + exponent) | field << mantissa | fraction;
}

uint64_t lane_float(uint64_t *state, int bits) {
    return bits == 16   ? float_bits(state, 10, 5)
           : bits == 32 ? float_bits(state, 23, 8)
                        : float_bits(state, 52, 11);
}

uint64_t lane_bfloat(uint64_t *state) {
    return float_bits(state, 7, 8);
}
