/* Broken kernels: the entries of assets/ptx with instructions put in, left out and altered at random, run
 * with small budgets. Whatever they do, the emulator must come back, with a trap, an error or a result, and
 * its trace must be readable.
 *
 * The same kernels in every run. REDVIZ_FUZZ_ROUNDS sets how many, REDVIZ_FUZZ_SEED where they begin; a crash
 * is found again by the last number printed under REDVIZ_FUZZ_VERBOSE. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "catalog/catalog.h"
#include "core.h"
#include "lane_table.h"
#include <inttypes.h>
#include <stdlib.h>

enum { ROUNDS = 300, VARIANTS = 12, MOST_LINES = 4000, LONGEST_LINE = 256, WORDS = 2048, BUDGET = 5000 };

typedef struct Dice {
    uint64_t state;
} Dice;

static uint32_t roll(Dice *dice, uint32_t sides) {
    return (uint32_t)(lane_random(&dice->state) >> 32) % sides;
}

#define PICK(dice, array) ((array)[roll(dice, sizeof(array) / sizeof *(array))])

/* ---- a kernel as lines ------------------------------------------------------------------------------ */

typedef struct Kernel {
    char *before; /* everything of the module that stands before its first entry */
    char *lines[MOST_LINES];
    int count, body; /* lines[body]: the first one inside the entry's braces */
    char name[LONGEST_LINE];
} Kernel;

static void kernel_done(Kernel *kernel) {
    for (int i = 0; i < kernel->count; i++) free(kernel->lines[i]);
    free(kernel->before);
    *kernel = (Kernel){0};
}

static void put_in(Kernel *kernel, int at, const char *line) {
    if (kernel->count == MOST_LINES) return;
    memmove(&kernel->lines[at + 1], &kernel->lines[at], (size_t)(kernel->count - at) * sizeof *kernel->lines);
    kernel->lines[at] = memory_copy_text(line);
    kernel->count++;
}

static void take_out(Kernel *kernel, int at) {
    free(kernel->lines[at]);
    kernel->count--;
    memmove(&kernel->lines[at], &kernel->lines[at + 1], (size_t)(kernel->count - at) * sizeof *kernel->lines);
}

static void kernel_copy(Kernel *to, const Kernel *from) {
    *to = *from;
    to->before = memory_copy_text(from->before);
    for (int i = 0; i < from->count; i++) to->lines[i] = memory_copy_text(from->lines[i]);
}

static const char marker[] = ".visible .entry ";

/* The `index`th entry of the text. */
static bool kernel_read(Kernel *kernel, const char *text, int index) {
    const char *first = strstr(text, marker), *at = first;
    for (int i = 0; at && i < index; i++) at = strstr(at + 1, marker);
    if (!at) return false;
    kernel->before = memory_copy_text(text);
    kernel->before[first - text] = 0;
    sscanf(at + strlen(marker), "%200[^( ]", kernel->name);
    for (bool inside = false; kernel->count < MOST_LINES - 100;) {
        size_t length = strcspn(at, "\n");
        char line[LONGEST_LINE];
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        if (!strstr(line, ".loc")) put_in(kernel, kernel->count, line);
        if (*line == '{' && !inside) inside = true, kernel->body = kernel->count;
        if (*line == '}' || !at[length]) break;
        at += length + 1;
    }
    return true;
}

/* ---- instructions to put in ------------------------------------------------------------------------- */

/* $p $h $r $d $q $f $e: a register (predicate; 16, 32, 64, 128 bits; f32, f64); $i: a number; $L: a label;
 * $a: an address */
static const char declarations[] =
    ".reg .pred %xp<3>; .reg .b16 %xh<3>; .reg .b32 %xr<5>; .reg .b64 %xd<5>; .reg .b128 %xq<2>; "
    ".reg .f32 %xf<3>; .reg .f64 %xe<3>; .local .align 16 .b8 xlocal[64]; "
    ".param .b64 xp0; .param .b64 xp1; .param .b32 xr0; .param .b64 xr1;";
/* So that what is put in has something to work on. */
static const char values[] =
    "mov.u32 %xr0, %tid.x; mov.u32 %xr1, 1; mov.u32 %xr2, -1; and.b32 %xr3, %xr0, 15; mov.u64 %xd0, xglobal; "
    "mov.u64 %xd1, xshared; cvta.shared.u64 %xd1, %xd1; mov.u64 %xd2, xlocal; cvta.local.u64 %xd2, %xd2; "
    "mov.u64 %xd3, xdown; setp.lt.u32 %xp0, %xr0, 7; setp.lt.u32 %xp1, %xr3, 3; "
    "setp.lt.u32 %xp2, %xr0, 1000; mov.f32 %xf0, 0f3f800000; mov.f64 %xe0, 0d3ff0000000000000;";
static const char functions[] =
    ".shared .align 16 .b8 xshared[256];\n.global .align 16 .b8 xglobal[256];\n.const .align 16 .b8 "
    "xconst[64];\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.extern .func free(.param .b64 a);\n"
    ".func (.reg .b32 r) xdown(.reg .b32 n) { .reg .pred %p; .reg .b32 %m; setp.lt.u32 %p, n, 3; mov.b32 r, "
    "n; @%p ret;\n"
    "sub.u32 %m, n, 3; call (r), xdown, (%m); bar.warp.sync 0; ret; }\n"
    ".func (.param .b32 r) xmeet(.param .b32 n) { .reg .b32 %m; ld.param.u32 %m, [n]; barrier.sync 0; "
    "st.param.u32 [r], %m; ret; }\n"
    ".global .b64 xtable[2] = {xdown, xmeet};\n";
static const char *const pool[] = {
    "mov.u32 $r, %tid.x;",
    "mov.u32 $r, %laneid;",
    "mov.u32 $r, %clock;",
    "mov.u64 $d, %globaltimer;",
    "mov.b32 $r, $i;",
    "mov.u64 $d, xglobal;",
    "mov.u64 $d, xshared;",
    "mov.u64 $d, xlocal;",
    "mov.u64 $d, xdown;",
    "mov.b64 {$r, $r}, $d;",
    "mov.b32 $r, {$h, $h};",
    "mov.b128 $q, {$d, $d};",
    "mov.b128 {$d, $d}, $q;",
    "mov.pred $p, $p;",
    "not.pred $p, $p;",
    "add.u32 $r, $r, $i;",
    "sub.s32 $r, $r, $r;",
    "mul.wide.u32 $d, $r, $r;",
    "mad.lo.s32 $r, $r, $r, $r;",
    "div.u32 $r, $r, $r;",
    "rem.s32 $r, $r, $i;",
    "div.s64 $d, $d, $d;",
    "shl.b32 $r, $r, $r;",
    "shr.s64 $d, $d, $r;",
    "bfe.s32 $r, $r, $r, $i;",
    "bfi.b64 $d, $d, $d, $r, $r;",
    "prmt.b32 $r, $r, $r, $r;",
    "dp4a.u32.s32 $r, $r, $r, $r;",
    "lop3.b32 $r, $r, $r, $r, $i;",
    "shf.l.wrap.b32 $r, $r, $r, $r;",
    "addc.cc.u32 $r, $r, $r;",
    "popc.b64 $r, $d;",
    "clz.b32 $r, $r;",
    "brev.b64 $d, $d;",
    "add.f32 $f, $f, $f;",
    "fma.rn.f64 $e, $e, $e, $e;",
    "div.rn.f32 $f, $f, $f;",
    "sqrt.approx.f32 $f, $f;",
    "ex2.approx.ftz.f32 $f, $f;",
    "cvt.rzi.s32.f32 $r, $f;",
    "cvt.rn.f16.f32 $h, $f;",
    "cvt.u64.u32 $d, $r;",
    "cvt.sat.u8.s32 $r, $r;",
    "cvt.rn.bf16x2.f32 $r, $f, $f;",
    "fma.rn.f16x2 $r, $r, $r, $r;",
    "max.NaN.bf16x2 $r, $r, $r;",
    "setp.lt.u32 $p, $r, $i;",
    "setp.gt.and.f32 $p|$p, $f, $f, $p;",
    "selp.b64 $d, $d, $d, $p;",
    "set.eq.u32.f64 $r, $e, $e;",
    "slct.f32.s32 $f, $f, $f, $r;",
    "vadd4.u32.u32.u32 $r, $r, $r, $r;",
    "cvta.shared.u64 $d, $d;",
    "cvta.to.global.u64 $d, $d;",
    "cvta.local.u64 $d, $d;",
    "isspacep.shared $p, $d;",
    "ld.u32 $r, $a;",
    "ld.global.v4.u32 {$r, $r, $r, $r}, $a;",
    "ld.shared.s8 $r, $a;",
    "ld.local.u64 $d, $a;",
    "ld.const.f32 $f, $a;",
    "ld.volatile.global.u16 $h, $a;",
    "ld.param.u32 $r, $a;",
    "ld.global.b128 $q, $a;",
    "ld.acquire.gpu.global.u32 $r, $a;",
    "st.u32 $a, $r;",
    "st.shared.v2.f64 $a, {$e, $e};",
    "st.local.u8 $a, $r;",
    "st.global.b128 $a, $q;",
    "st.release.sys.global.u64 $a, $d;",
    "st.shared.u32 [xshared], $r;",
    "ld.shared.u32 $r, [xshared+8];",
    "st.local.u32 [xlocal+4], $r;",
    "st.const.u32 [xconst], $r;",
    "atom.add.u32 $r, $a, $r;",
    "atom.shared.cas.b32 $r, [xshared], $r, $r;",
    "atom.global.exch.b64 $d, $a, $d;",
    "red.global.add.f32 $a, $f;",
    "atom.global.inc.u32 $r, [xglobal], $i;",
    "atom.global.cas.b128 $q, $a, $q, $q;",
    "red.shared.max.s32 [xshared+4], $r;",
    "atom.global.add.noftz.f16x2 $r, [xglobal+8], $r;",
    "red.global.v2.f32.add [xglobal], {$f, $f};",
    "shfl.sync.down.b32 $r|$p, $r, $r, $i, $r;",
    "shfl.sync.idx.b32 $r, $r, $i, 31, -1;",
    "shfl.bfly.b32 $r, $r, 1, 31;",
    "vote.sync.ballot.b32 $r, $p, -1;",
    "vote.sync.uni.pred $p, $p, $r;",
    "match.any.sync.b64 $r, $d, $r;",
    "match.all.sync.b32 $r|$p, $r, -1;",
    "redux.sync.add.s32 $r, $r, $r;",
    "activemask.b32 $r;",
    "elect.sync $r|$p, $r;",
    "bar.warp.sync $r;",
    "bar.warp.sync -1;",
    "bar.sync 0;",
    "bar.sync $r;",
    "bar.sync 1, 64;",
    "bar.arrive 1, $r;",
    "barrier.sync 2;",
    "bar.red.popc.u32 $r, 0, $p;",
    "barrier.cluster.arrive;",
    "barrier.cluster.wait;",
    "membar.gl;",
    "fence.acq_rel.cta;",
    "nanosleep.u32 $r;",
    "bra $L;",
    "@$p bra $L;",
    "@!$p bra $L;",
    "brx.idx $r, XTARGETS;",
    "exit;",
    "ret;",
    "@$p exit;",
    "@$p ret;",
    "trap;",
    "brkpt;",
    "call ($r), xdown, ($r);",
    "call ($r), xdown, ($i);",
    "call ($r), $d, ($r), XPROTO;",
    "st.param.b32 [xr0], $r;",
    "call.uni (xr0), xmeet, (xr0);",
    "ld.param.b32 $r, [xr0];",
    "st.param.b64 [xp0], $d;",
    "call.uni (xr0), vprintf, (xp0, xp1);",
    "call.uni (xr1), malloc, (xp0);",
    "ld.param.b64 $d, [xr1];",
    "call.uni free, (xp0);",
    "alloca.u64 $d, $d, 16;",
    "stacksave.u64 $d;",
    "stackrestore.u64 $d;",
    "prefetch.global.L2 $a;",
    "mov.u32 $r, %reserved_smem_offset_1;",
    "mov.u64 $d, xtable; ld.global.u64 $d, [$d];",
    "wgmma.fence.sync.aligned;",
    "cp.async.wait_all;",
};

static void add_register(Dice *dice, char kind, Text *out) {
    static const struct {
        char kind, letter;
        uint32_t count;
    } kinds[] = {{'p', 'p', 3}, {'h', 'h', 3}, {'r', 'r', 5}, {'d', 'd', 5},
                 {'q', 'q', 2}, {'f', 'f', 3}, {'e', 'e', 3}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == kind) text_print(out, "%%x%c%u", kinds[i].letter, roll(dice, kinds[i].count));
}

static const char *const numbers[] = {"0",
                                      "1",
                                      "-1",
                                      "2",
                                      "3",
                                      "4",
                                      "7",
                                      "8",
                                      "15",
                                      "16",
                                      "31",
                                      "32",
                                      "33",
                                      "64",
                                      "128",
                                      "256",
                                      "1000",
                                      "4096",
                                      "65535",
                                      "0x7fffffff",
                                      "0x80000000",
                                      "0xffffffff",
                                      "0x7fffffffffffffff",
                                      "-4",
                                      "-128"};

static bool is_label(const char *line) {
    return *line == '$' && strchr(line, ':');
}

static void add_label(const Kernel *kernel, Dice *dice, Text *out) {
    int start = (int)roll(dice, (uint32_t)kernel->count);
    for (int i = 0; i < kernel->count; i++) {
        const char *line = kernel->lines[(start + i) % kernel->count];
        if (!is_label(line)) continue;
        text_add_bytes(out, line, strcspn(line, ":"));
        return;
    }
    text_add(out, "$XSTART");
}

/* Mostly one that the instruction, which the line begins with, can access. */
static void add_address(Dice *dice, Text *out) {
    static const char *const places[] = {"xglobal", "xshared", "xlocal", "xconst"};
    static const char *const spaces[] = {".global", ".shared", ".local", ".const"};
    const char *place = NULL;
    for (int i = 0; i < 4; i++)
        if (strstr(text_string(out), spaces[i])) place = places[i];
    text_add(out, "[");
    if (place && roll(dice, 4))
        text_add(out, place);
    else if (!place && roll(dice, 4))
        text_print(out, "%%xd%u", roll(dice, 3));
    else if (roll(dice, 4))
        add_register(dice, roll(dice, 8) ? 'd' : 'r', out);
    else
        text_add(out, PICK(dice, places));
    if (!roll(dice, 3)) text_print(out, "+%s", PICK(dice, numbers));
    text_add(out, "]");
}

static void insert_instruction(Kernel *kernel, Dice *dice, int at) {
    Text line = {0};
    const char *from = PICK(dice, pool);
    if (!roll(dice, 4) && *from != '@') {
        text_add(&line, roll(dice, 2) ? "@" : "@!");
        add_register(dice, 'p', &line);
        text_add(&line, " ");
    }
    for (; *from; from++) {
        if (*from != '$')
            text_add_bytes(&line, from, 1);
        else if (*++from == 'i')
            text_add(&line, PICK(dice, numbers));
        else if (*from == 'L')
            add_label(kernel, dice, &line);
        else if (*from == 'a')
            add_address(dice, &line);
        else
            add_register(dice, *from, &line);
    }
    put_in(kernel, at, text_string(&line));
    text_done(&line);
}

/* ---- altering lines --------------------------------------------------------------------------------- */

/* Replaces one of the places in the line where `starts` says that a token of `length` begins. */
typedef size_t (*TokenAt)(const char *line, const char *at);

static bool replace_token(Kernel *kernel, Dice *dice, int line, TokenAt token_at, const char *with) {
    const char *text = kernel->lines[line];
    const char *found[64];
    uint32_t count = 0;
    for (const char *at = text; *at && count < 64; at++)
        if (token_at(text, at)) found[count++] = at;
    if (!count) return false;
    const char *at = found[roll(dice, count)];
    Text out = {0};
    text_add_bytes(&out, text, (size_t)(at - text));
    text_add(&out, with);
    text_add(&out, at + token_at(text, at));
    free(kernel->lines[line]);
    kernel->lines[line] = memory_copy_text(text_string(&out));
    text_done(&out);
    return true;
}

static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static size_t register_at(const char *line, const char *at) {
    (void)line;
    if (*at != '%' || !is_word(at[1])) return 0;
    size_t length = 1;
    while (is_word(at[length])) length++;
    return length;
}

static size_t number_at(const char *line, const char *at) {
    if (*at < '0' || *at > '9' ||
        (at > line && (is_word(at[-1]) || at[-1] == '.' || at[-1] == '%' || at[-1] == '<')))
        return 0;
    size_t length = 1;
    while (is_word(at[length])) length++;
    return length;
}

static const char *const types[] = {".u32",  ".s32",   ".b32",  ".f32",    ".u64",   ".s64", ".b64",
                                    ".f64",  ".u16",   ".b16",  ".f16",    ".pred",  ".u8",  ".s8",
                                    ".bf16", ".f16x2", ".b128", ".v2.u32", ".v4.f32"};
static const char *const modifiers[] = {".global", ".shared", ".local", ".const",      ".param", ".volatile",
                                        ".lo",     ".hi",     ".wide",  ".rn",         ".rz",    ".sat",
                                        ".ftz",    ".sync",   ".eq",    ".lt",         ".ge",    ".down",
                                        ".up",     ".idx",    ".uni",   ".relaxed.gpu"};

static size_t row_at(const char *at, const char *const *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(rows[i]);
        if (!strncmp(at, rows[i], length) && !is_word(at[length])) return length;
    }
    return 0;
}

static size_t type_at(const char *line, const char *at) {
    (void)line;
    return row_at(at, types, sizeof types / sizeof *types);
}

static size_t modifier_at(const char *line, const char *at) {
    (void)line;
    return row_at(at, modifiers, sizeof modifiers / sizeof *modifiers);
}

static size_t label_at(const char *line, const char *at) {
    return *at == '$' && !is_label(line) ? strcspn(at, ";,: ") : 0;
}

static const char *some_register(const Kernel *kernel, Dice *dice, char *out, size_t bytes) {
    for (int tries = 0; tries < 20; tries++) {
        const char *line = kernel->lines[roll(dice, (uint32_t)kernel->count)];
        const char *at = strchr(line, '%');
        size_t length = at ? register_at(line, at) : 0;
        if (!length || at[length] == '<') continue;
        snprintf(out, bytes, "%.*s", (int)length, at);
        return out;
    }
    return "%xr0";
}

static void alter(Kernel *kernel, Dice *dice) {
    int at = kernel->body + (int)roll(dice, (uint32_t)(kernel->count - kernel->body));
    int other = kernel->body + (int)roll(dice, (uint32_t)(kernel->count - kernel->body));
    char name[LONGEST_LINE];
    Text label = {0};
    switch (roll(dice, 12)) {
    case 0:
        take_out(kernel, at);
        break;
    case 1:
        put_in(kernel, at, kernel->lines[other]);
        break;
    case 2: {
        char *line = kernel->lines[at];
        kernel->lines[at] = kernel->lines[other];
        kernel->lines[other] = line;
        break;
    }
    case 3:
    case 4:
        replace_token(kernel, dice, at, number_at, PICK(dice, numbers));
        break;
    case 5:
        replace_token(kernel, dice, at, type_at, PICK(dice, types));
        break;
    case 6:
        replace_token(kernel, dice, at, modifier_at, PICK(dice, modifiers));
        break;
    case 7:
    case 8:
        replace_token(kernel, dice, at, register_at, some_register(kernel, dice, name, sizeof name));
        break;
    case 9:
        add_label(kernel, dice, &label);
        for (int i = 0; i < kernel->count - kernel->body; i++) {
            int line = kernel->body + (at - kernel->body + i) % (kernel->count - kernel->body);
            if (strstr(kernel->lines[line], "bra") &&
                replace_token(kernel, dice, line, label_at, text_string(&label)))
                break;
        }
        text_done(&label);
        break;
    default:
        insert_instruction(kernel, dice, at);
        break;
    }
}

/* ---- running ---------------------------------------------------------------------------------------- */

typedef struct Tally {
    int refused, errors, trapped, ended;
} Tally;

static char *text_of(const Kernel *kernel) {
    Text text = {0};
    text_add(&text, kernel->before);
    text_add(&text, functions);
    for (int i = 0; i < kernel->count; i++) text_print(&text, "%s\n", kernel->lines[i]);
    return text.data;
}

/* Pointers lead to buffers; numbers are small. */
static void fill_parameters(const PtxFunction *entry, Dice *dice, Emulator *emulator, uint8_t *bytes,
                            size_t *size) {
    static const uint32_t counts[] = {0, 1, 31, 100, 1024, 2048, 0xffffffff};
    uint64_t at = 0;
    for (int i = 0; i < entry->parameter_count; i++) {
        const PtxVariable *parameter = entry->parameters[i];
        uint64_t alignment = parameter->alignment > 0 ? (uint64_t)parameter->alignment : 1;
        at = (at + alignment - 1) / alignment * alignment;
        if (at + parameter->bytes > 256) break;
        uint64_t value = parameter->bytes == 8 ? emulator_buffer_address(emulator, (int)roll(dice, 2))
                                               : PICK(dice, counts);
        memcpy(bytes + at, &value, parameter->bytes < 8 ? parameter->bytes : 8);
        at += parameter->bytes;
    }
    *size = at;
}

/* What the interface and the reports do with a trace. */
static void read_trace(const Trace *trace) {
    TraceEvent event;
    Text text = {0};
    for (int i = 0; i < trace->launch_count; i++)
        for (int b = 0; b < trace->launches[i]->block_count; b++) {
            const TraceBlock *block = trace->launches[i]->blocks[b];
            int count = trace_block_event_count(block);
            for (int e = 0; e < count; e += 1 + count / 16) {
                trace_block_read(block, e, &event);
                trace_event_print(trace, trace->launches[i], block, &event, &text);
            }
        }
    for (int i = 0; i < trace->trap_count; i++)
        text_print(&text, "%s %s", trap_kind_text(trace->traps[i].kind), trace->traps[i].detail);
    text_done(&text);
}

static void replay(const Trace *trace, const Launch *launch, Dice *dice) {
    if (!trace->launch_count || !trace->launches[0]->block_count) return;
    const TraceBlock *block = trace->launches[0]->blocks[0];
    Error error = {0};
    Replay *replay = replay_open(trace, 0, block, launch, &error);
    if (!replay) return;
    int count = trace_block_event_count(block);
    for (int i = 0; count && i < 3; i++) {
        int event = (int)roll(dice, (uint32_t)count);
        ReplayValue value;
        if (replay_seek(replay, event, &error)) replay_register(replay, 0, "%r1", &value);
        replay_event_provenance(replay, event);
        replay_progress(replay, event);
    }
    replay_free(replay);
}

typedef struct Tapes {
    int runs, with_repeated;
} Tapes;

static char *run_blocks(const PtxProgram *program, Dice dice, bool without_tapes, bool *repeated) {
    static const uint32_t blocks[] = {32, 40, 64, 96};
    static uint32_t memory[2][WORDS];
    for (uint32_t i = 0; i < 2 * WORDS; i++)
        memory[i / WORDS][i % WORDS] = roll(&dice, 4) ? i % 100 : roll(&dice, 9);
    EmulatorOptions options = {.threads = 1 + (int)roll(&dice, 2),
                               .keeps_going = roll(&dice, 2),
                               .trace_last = roll(&dice, 2),
                               .without_tapes = without_tapes,
                               .instruction_budget = 40 * BUDGET,
                               .memory_limit_bytes = 64 << 20};
    Emulator *emulator = emulator_new(&options);
    emulator_add_buffer(emulator, "a", memory[0], sizeof memory[0], PTX_U32);
    emulator_add_buffer(emulator, "b", memory[1], sizeof memory[1], PTX_U32);
    uint8_t parameters[512] = {0};
    size_t bytes;
    fill_parameters(program->entry, &dice, emulator, parameters, &bytes);
    Launch launch = {.program = program,
                     .grid = {12 + roll(&dice, 20), 1 + roll(&dice, 2), 1},
                     .block = {PICK(&dice, blocks), 1, 1},
                     .dynamic_shared_bytes = 1024,
                     .parameters = parameters,
                     .parameter_bytes = bytes};
    Trace *trace = trace_new("emulator");
    Error error = {0};
    bool done = emulator_run(emulator, &launch, trace, &error);
    CoreRun run = {.done = done,
                   .trace = trace,
                   .program = (PtxProgram *)(uintptr_t)program,
                   .out = memory[0],
                   .words = 2 * WORDS};
    if (done) run.launch = trace->launches[0];
    Text text = {0};
    if (done) core_print(&run, &text);
    *repeated = emulator_repeated_blocks(emulator) > 0;
    trace_free(trace);
    emulator_free(emulator);
    return text.data ? text.data : memory_copy_text(error.message);
}

/* Blocks that repeat what another one did leave what all would leave by the schedule. */
static void compare_tapes(const PtxProgram *program, Dice *dice, Tapes *tapes) {
    bool repeated, none;
    char *played = run_blocks(program, *dice, false, &repeated),
         *run = run_blocks(program, *dice, true, &none);
    if (strcmp(played, run) != 0) fail_msg("tapes change the run:\n%s\ninstead of\n%s", played, run);
    assert_false(none);
    tapes->runs++;
    tapes->with_repeated += repeated;
    free(played);
    free(run);
}

/* Did it end well? */
static bool launch_program(const PtxProgram *program, Dice *dice, bool replays, Tally *tally) {
    static const uint32_t blocks[] = {1, 32, 40, 64, 96};
    static uint32_t memory[2][WORDS];
    memset(memory, 0, sizeof memory);
    EmulatorOptions options = {.threads = 1 + (int)roll(dice, 2),
                               .schedule = roll(dice, 3) ? 0 : roll(dice, 100),
                               .trace_last = roll(dice, 2),
                               .instruction_budget = BUDGET,
                               .memory_limit_bytes = 64 << 20};
    Emulator *emulator = emulator_new(&options);
    emulator_add_buffer(emulator, "a", memory[0], sizeof memory[0], PTX_U32);
    emulator_add_buffer(emulator, "b", memory[1], sizeof memory[1], PTX_U32);
    uint8_t parameters[512] = {0};
    size_t bytes;
    fill_parameters(program->entry, dice, emulator, parameters, &bytes);
    Launch launch = {.program = program,
                     .grid = {1 + roll(dice, 3), 1, 1},
                     .block = {PICK(dice, blocks), 1, 1},
                     .dynamic_shared_bytes = roll(dice, 4) ? 4096 : roll(dice, 300),
                     .cooperative = roll(dice, 2),
                     .parameters = parameters,
                     .parameter_bytes = bytes};
    Trace *trace = trace_new("emulator");
    Error error = {0};
    bool done = emulator_run(emulator, &launch, trace, &error);
    if (!done && !error.message[0]) fail_msg("an error without a message");
    if (!done)
        tally->errors++;
    else if (trace->trap_count)
        tally->trapped++;
    else
        tally->ended++;
    read_trace(trace);
    if (replays && done) replay(trace, &launch, dice);
    bool well = done && !trace->trap_count;
    trace_free(trace);
    emulator_free(emulator);
    return well;
}

static bool run_kernel(const Kernel *kernel, Dice *dice, bool replays, Tapes *tapes, Tally *tally) {
    Error error = {0};
    char *text = text_of(kernel);
    PtxModule *module = ptx_module_parse(text, strlen(text), "fuzz.ptx", &error);
    PtxFunction *entry = module ? ptx_module_find_entry(module, kernel->name, &error) : NULL;
    PtxProgram *program = entry ? ptx_program_link(module, entry, &error) : NULL;
    if (!program && !error.message[0]) fail_msg("refused without a message");
    if (program && tapes) compare_tapes(program, dice, tapes);
    bool well = program && launch_program(program, dice, replays, tally);
    if (!program) tally->refused++;
    if (program) ptx_program_free(program);
    if (module) ptx_module_free(module);
    free(text);
    return well;
}

/* ---- rounds ----------------------------------------------------------------------------------------- */

static char *read_asset(const CatalogRow *row) {
    char path[4096], *text = NULL;
    size_t length;
    Error error = {0};
    if (!catalog_ptx_path(row, path, sizeof path, &error) ||
        !text_read_file(path, 1 << 20, &text, &length, &error))
        fail_msg("%s", error.message);
    return text;
}

static void run_round(uint64_t seed, bool replays, Tapes *tapes, Tally *tally) {
    Dice dice = {seed * 0x9e3779b97f4a7c15u};
    char *text = read_asset(catalog_row((int)roll(&dice, (uint32_t)catalog_count())));
    Kernel *kernel = memory_new(sizeof *kernel);
    for (int index = (int)roll(&dice, 9); !kernel_read(kernel, text, index); index /= 2) continue;
    put_in(kernel, kernel->body, "$XSTART: XTARGETS: .branchtargets $XSTART, $XEND;");
    put_in(kernel, kernel->body, "XPROTO: .callprototype (.reg .b32 _) _ (.reg .b32 _);");
    put_in(kernel, kernel->body, values);
    put_in(kernel, kernel->body, declarations);
    put_in(kernel, kernel->count - 1, "$XEND: ret;");
    kernel->body += 4;
    for (int variant = 0; variant < VARIANTS; variant++) { /* what still ends well is broken further */
        Kernel *altered = memory_new(sizeof *altered);
        kernel_copy(altered, kernel);
        for (uint32_t changes = 1 + roll(&dice, 3); changes; changes--) alter(altered, &dice);
        bool keep = run_kernel(altered, &dice, replays, tapes, tally);
        Kernel *left = keep ? kernel : altered;
        if (keep) kernel = altered;
        kernel_done(left);
        free(left);
    }
    kernel_done(kernel);
    free(kernel);
    free(text);
}

static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void run_rounds(bool replays, Tapes *tapes, uint64_t rounds) {
    Tally tally = {0};
    uint64_t first = setting("REDVIZ_FUZZ_SEED", 1);
    bool verbose = getenv("REDVIZ_FUZZ_VERBOSE");
    for (uint64_t round = 0; round < rounds; round++) {
        if (verbose) fprintf(stderr, "round %" PRIu64 "\n", first + round);
        run_round(first + round, replays, tapes, &tally);
    }
    if (verbose)
        fprintf(stderr, "refused %d, errors %d, trapped %d, ended %d\n", tally.refused, tally.errors,
                tally.trapped, tally.ended);
    /* It must have been worth it. */
    if (rounds >= 100) {
        assert_true(tally.refused > 0);
        assert_true(tally.trapped > (int)rounds / 2);
        assert_true(tally.ended > (int)rounds / 4);
    }
}

static void test_broken_kernels(void **state) {
    (void)state;
    run_rounds(false, NULL, setting("REDVIZ_FUZZ_ROUNDS", ROUNDS));
}

static void test_replays_of_broken_kernels(void **state) {
    (void)state;
    run_rounds(true, NULL, setting("REDVIZ_FUZZ_ROUNDS", ROUNDS) / 4);
}

static void test_tapes_of_broken_kernels(void **state) {
    (void)state;
    Tapes tapes = {0};
    run_rounds(false, &tapes, setting("REDVIZ_FUZZ_ROUNDS", ROUNDS) / 4);
    if (tapes.runs >= 100) assert_true(tapes.with_repeated > tapes.runs / 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken_kernels),
        cmocka_unit_test(test_replays_of_broken_kernels),
        cmocka_unit_test(test_tapes_of_broken_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
