#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "broken_kernel.h"

#include "base/memory.h"
#include "base/text.h"
#include "lane_table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t dice_roll(Dice *dice, uint32_t sides) {
    return (uint32_t)(lane_random(&dice->state) >> 32) % sides;
}

/* ---- a kernel as lines --------------------------------------------------------------------------------- */

void broken_kernel_done(BrokenKernel *kernel) {
    for (int i = 0; i < kernel->count; i++) free(kernel->lines[i]);
    free(kernel->before);
    *kernel = (BrokenKernel){0};
}

static void put_in(BrokenKernel *kernel, int at, const char *line) {
    if (kernel->count == BROKEN_KERNEL_LINES) return;
    memmove(&kernel->lines[at + 1], &kernel->lines[at], (size_t)(kernel->count - at) * sizeof *kernel->lines);
    kernel->lines[at] = memory_copy_text(line);
    kernel->count++;
}

static void take_out(BrokenKernel *kernel, int at) {
    free(kernel->lines[at]);
    kernel->count--;
    memmove(&kernel->lines[at], &kernel->lines[at + 1], (size_t)(kernel->count - at) * sizeof *kernel->lines);
}

void broken_kernel_copy(BrokenKernel *to, const BrokenKernel *from) {
    *to = *from;
    to->before = memory_copy_text(from->before);
    for (int i = 0; i < from->count; i++) to->lines[i] = memory_copy_text(from->lines[i]);
}

static const char marker[] = ".visible .entry ";

/* The `index`th entry of the text. */
bool broken_kernel_read(BrokenKernel *kernel, const char *text, int index) {
    const char *first = strstr(text, marker), *at = first;
    for (int i = 0; at && i < index; i++) at = strstr(at + 1, marker);
    if (!at) return false;
    kernel->before = memory_copy_text(text);
    kernel->before[first - text] = 0;
    sscanf(at + strlen(marker), "%200[^( ]", kernel->name);
    for (bool inside = false; kernel->count < BROKEN_KERNEL_LINES - 100;) {
        size_t length = strcspn(at, "\n");
        char line[BROKEN_KERNEL_LINE_BYTES];
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        if (!strstr(line, ".loc")) put_in(kernel, kernel->count, line);
        if (*line == '{' && !inside) inside = true, kernel->body = kernel->count;
        if (*line == '}' || !at[length]) break;
        at += length + 1;
    }
    return true;
}

/* ---- instructions to insert
 * ------------------------------------------------------------------------------ */

/* $p $h $r $d $q $f $e: a register (predicate; 16, 32, 64, 128 bits; f32, f64); $i: a number; $L: a label;
 * $a: an address */
static const char declarations[] =
    ".reg .pred %xp<3>; .reg .b16 %xh<3>; .reg .b32 %xr<5>; .reg .b64 %xd<5>; .reg .b128 %xq<2>; "
    ".reg .f32 %xf<3>; .reg .f64 %xe<3>; .local .align 16 .b8 xlocal[64]; "
    ".param .b64 xp0; .param .b64 xp1; .param .b32 xr0; .param .b64 xr1;";
/* So that inserted instructions have operands. */
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
    "tcgen05.fence::before_thread_sync;",
    "cp.async.wait_all;",
};

static void add_register(Dice *dice, char kind, Text *out) {
    static const struct {
        char kind, letter;
        uint32_t count;
    } kinds[] = {{'p', 'p', 3}, {'h', 'h', 3}, {'r', 'r', 5}, {'d', 'd', 5},
                 {'q', 'q', 2}, {'f', 'f', 3}, {'e', 'e', 3}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == kind)
            text_print(out, "%%x%c%u", kinds[i].letter, dice_roll(dice, kinds[i].count));
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

static void add_label(const BrokenKernel *kernel, Dice *dice, Text *out) {
    int start = (int)dice_roll(dice, (uint32_t)kernel->count);
    for (int i = 0; i < kernel->count; i++) {
        const char *line = kernel->lines[(start + i) % kernel->count];
        if (!is_label(line)) continue;
        text_add_bytes(out, line, strcspn(line, ":"));
        return;
    }
    text_add(out, "$XSTART");
}

/* Mostly a space that the instruction, with which the line begins, can access. */
static void add_address(Dice *dice, Text *out) {
    static const char *const places[] = {"xglobal", "xshared", "xlocal", "xconst"};
    static const char *const spaces[] = {".global", ".shared", ".local", ".const"};
    const char *place = NULL;
    for (int i = 0; i < 4; i++)
        if (strstr(text_string(out), spaces[i])) place = places[i];
    text_add(out, "[");
    if (place && dice_roll(dice, 4))
        text_add(out, place);
    else if (!place && dice_roll(dice, 4))
        text_print(out, "%%xd%u", dice_roll(dice, 3));
    else if (dice_roll(dice, 4))
        add_register(dice, dice_roll(dice, 8) ? 'd' : 'r', out);
    else
        text_add(out, DICE_PICK(dice, places));
    if (!dice_roll(dice, 3)) text_print(out, "+%s", DICE_PICK(dice, numbers));
    text_add(out, "]");
}

static void insert_instruction(BrokenKernel *kernel, Dice *dice, int at) {
    Text line = {0};
    const char *from = DICE_PICK(dice, pool);
    if (!dice_roll(dice, 4) && *from != '@') {
        text_add(&line, dice_roll(dice, 2) ? "@" : "@!");
        add_register(dice, 'p', &line);
        text_add(&line, " ");
    }
    for (; *from; from++) {
        if (*from != '$')
            text_add_bytes(&line, from, 1);
        else if (*++from == 'i')
            text_add(&line, DICE_PICK(dice, numbers));
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

/* ---- changing lines
 * -------------------------------------------------------------------------------------- */

/* Replaces one of the places in the line where `starts` finds a token of `length`. */
typedef size_t (*TokenAt)(const char *line, const char *at);

static bool replace_token(BrokenKernel *kernel, Dice *dice, int line, TokenAt token_at, const char *with) {
    const char *text = kernel->lines[line];
    const char *found[64];
    uint32_t count = 0;
    for (const char *at = text; *at && count < 64; at++)
        if (token_at(text, at)) found[count++] = at;
    if (!count) return false;
    const char *at = found[dice_roll(dice, count)];
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

static const char *some_register(const BrokenKernel *kernel, Dice *dice, char *out, size_t bytes) {
    for (int tries = 0; tries < 20; tries++) {
        const char *line = kernel->lines[dice_roll(dice, (uint32_t)kernel->count)];
        const char *at = strchr(line, '%');
        size_t length = at ? register_at(line, at) : 0;
        if (!length || at[length] == '<') continue;
        snprintf(out, bytes, "%.*s", (int)length, at);
        return out;
    }
    return "%xr0";
}

void broken_kernel_alter(BrokenKernel *kernel, Dice *dice) {
    int at = kernel->body + (int)dice_roll(dice, (uint32_t)(kernel->count - kernel->body));
    int other = kernel->body + (int)dice_roll(dice, (uint32_t)(kernel->count - kernel->body));
    char name[BROKEN_KERNEL_LINE_BYTES];
    Text label = {0};
    switch (dice_roll(dice, 12)) {
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
        replace_token(kernel, dice, at, number_at, DICE_PICK(dice, numbers));
        break;
    case 5:
        replace_token(kernel, dice, at, type_at, DICE_PICK(dice, types));
        break;
    case 6:
        replace_token(kernel, dice, at, modifier_at, DICE_PICK(dice, modifiers));
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

char *broken_kernel_text(const BrokenKernel *kernel) {
    Text text = {0};
    text_add(&text, kernel->before);
    text_add(&text, functions);
    for (int i = 0; i < kernel->count; i++) text_print(&text, "%s\n", kernel->lines[i]);
    return text.data;
}

void broken_kernel_prepare(BrokenKernel *kernel) {
    put_in(kernel, kernel->body, "$XSTART: XTARGETS: .branchtargets $XSTART, $XEND;");
    put_in(kernel, kernel->body, "XPROTO: .callprototype (.reg .b32 _) _ (.reg .b32 _);");
    put_in(kernel, kernel->body, values);
    put_in(kernel, kernel->body, declarations);
    put_in(kernel, kernel->count - 1, "$XEND: ret;");
    kernel->body += 4;
}
