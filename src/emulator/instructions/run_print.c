/* The vprintf of kernels, which uses the host's printf one conversion at a time. Flags are checked (print.h).
 * A conversion that CUDA's printf does not know (%zu, %.*f, %5%) is printed verbatim and takes no argument,
 * as on an H200. */
#include "emulator/instructions/print.h"

#include "emulator/machine/machine_block.h"
#include "emulator/machine/local_memory.h"

#include <stdio.h>

/* Reads bytes at a generic address as `lane` sees them; false if the address is unmapped. */
static bool generic_read(const Warp *warp, int lane, uint64_t address, void *to, size_t bytes) {
    uint8_t *out = to;
    const Block *block = warp->block;
    for (size_t i = 0; i < bytes; i++, address++) {
        const uint8_t *from = NULL;
        if (address - SHARED_WINDOW < block->grid->program->shared_bytes)
            from = block->shared + (address - SHARED_WINDOW);
        else if (address - LOCAL_WINDOW < WINDOW_BYTES)
            from = local_at(warp, lane, address - LOCAL_WINDOW);
        else if (address - PARAMETER_WINDOW < block->grid->launch->parameter_bytes)
            from = block->grid->launch->parameters + (address - PARAMETER_WINDOW);
        else
            from = memory_at(block->grid->memory, address, 1);
        if (!from) return false;
        out[i] = *from;
    }
    return true;
}

enum { LONGEST_STRING = 4096, LONGEST_FIELD = 1024, MAX_ARGUMENTS = 32 };

void print_string(const Warp *warp, int lane, uint64_t address, size_t limit, Text *out) {
    for (size_t i = 0; i < limit; i++) {
        char c;
        if (!generic_read(warp, lane, address + i, &c, 1)) {
            if (!i) text_add(out, "(unreadable)");
            return;
        }
        if (!c) return;
        text_add_bytes(out, &c, 1);
    }
}

typedef struct Source { /* the source of the arguments */
    const Warp *warp;
    int lane, count;
    uint64_t next;
} Source;

static uint64_t take(Source *source, uint64_t bytes) {
    uint64_t value = 0;
    source->next = (source->next + bytes - 1) / bytes * bytes;
    if (!source->warp || !generic_read(source->warp, source->lane, source->next, &value, bytes)) value = 0;
    source->next += bytes;
    source->count++;
    return value;
}

static const char KNOWN[] = "diuxXocpsaAeEfFgG"; /* conversions */

typedef struct Conversion {
    char flags[8];
    int width, precision; /* -1: not given */
    int longs;            /* 2: 64 bits; 0: int; -1: short; -2: char */
    char kind;
} Conversion;

static int bounded(int value) {
    return value > LONGEST_FIELD ? LONGEST_FIELD : value < -LONGEST_FIELD ? -LONGEST_FIELD : value;
}

static const char *parse_number(const char *at, int *out) {
    for (*out = 0; *at >= '0' && *at <= '9'; at++) *out = bounded(*out * 10 + (*at - '0'));
    return at;
}

static const char *parse_conversion(const char *at, Source *source, Conversion *out) {
    *out = (Conversion){.width = -1, .precision = -1};
    size_t flags = 0;
    for (; *at && strchr("-+ #0", *at); at++)
        if (flags < 6 && !strchr(out->flags, *at)) out->flags[flags++] = *at;
    if (*at == '*')
        out->width = bounded((int)(int32_t)take(source, 4)), at++;
    else if (*at >= '0' && *at <= '9')
        at = parse_number(at, &out->width);
    if (out->width < -1) { /* a negative width from an argument: left-justified */
        out->width = -out->width;
        if (!strchr(out->flags, '-')) out->flags[flags] = '-';
    }
    if (*at == '.') at = parse_number(at + 1, &out->precision);
    for (; *at == 'h' || *at == 'l'; at++) out->longs = *at == 'h' ? out->longs - 1 : 2;
    out->kind = *at;
    return *at ? at + 1 : at;
}

/* Builds the host's format, such as "%-5.3", without length and conversion. */
static void host_format(const Conversion *conversion, const char *ending, char *out, size_t bytes) {
    int length = snprintf(out, bytes, "%%%s", conversion->flags);
    if (conversion->width >= 0)
        length += snprintf(out + length, bytes - (size_t)length, "%d", conversion->width);
    if (conversion->precision >= 0)
        length += snprintf(out + length, bytes - (size_t)length, ".%d", conversion->precision);
    snprintf(out + length, bytes - (size_t)length, "%s", ending);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static int64_t narrowed(int64_t value, int longs) {
    return longs == -1 ? (int16_t)value : longs <= -2 ? (int8_t)value : value;
}

static void print_conversion(const Conversion *conversion, Source *source, Text *out) {
    char format[64], ending[4] = {0};
    ending[0] = conversion->kind;
    switch (conversion->kind) {
    case 'd':
    case 'i': {
        uint64_t bits = take(source, conversion->longs == 2 ? 8 : 4);
        int64_t value = conversion->longs == 2 ? (int64_t)bits : narrowed((int32_t)bits, conversion->longs);
        host_format(conversion, "lld", format, sizeof format);
        text_print(out, format, (long long)value);
        break;
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
        uint64_t value = take(source, conversion->longs == 2 ? 8 : 4);
        if (conversion->longs == -1) value = (uint16_t)value;
        if (conversion->longs <= -2) value = (uint8_t)value;
        char unsigned_ending[4] = {'l', 'l', conversion->kind, 0};
        host_format(conversion, unsigned_ending, format, sizeof format);
        text_print(out, format, (unsigned long long)value);
        break;
    }
    case 'c':
        host_format(conversion, ending, format, sizeof format);
        text_print(out, format, (int)(unsigned char)take(source, 4));
        break;
    case 'p': {
        char pointer[32] = "(nil)";
        uint64_t value = take(source, 8);
        if (value) snprintf(pointer, sizeof pointer, "0x%llx", (unsigned long long)value);
        host_format(conversion, "s", format, sizeof format);
        text_print(out, format, pointer);
        break;
    }
    case 's': {
        Text string = {0};
        uint64_t address = take(source, 8);
        if (address)
            print_string(source->warp, source->lane, address, LONGEST_STRING, &string);
        else
            text_add(&string, "(null)");
        host_format(conversion, ending, format, sizeof format);
        text_print(out, format, text_string(&string));
        text_done(&string);
        break;
    }
    default: { /* a A e E f F g G */
        uint64_t bits = take(source, 8);
        double value;
        memcpy(&value, &bits, sizeof value);
        host_format(conversion, ending, format, sizeof format);
        text_print(out, format, value);
    }
    }
}

#pragma GCC diagnostic pop

/* Counts the arguments as print_conversion() and its callers do, without output. */
static int count_arguments(const char *format) {
    Source none = {.next = 0};
    for (const char *at = format; (at = strchr(at, '%'));) {
        Conversion conversion;
        const char *percent = at;
        at = parse_conversion(at + 1, &none, &conversion);
        none.count += percent[1] != '%' && conversion.kind && strchr(KNOWN, conversion.kind) &&
                      none.count < MAX_ARGUMENTS + 1;
    }
    return none.count;
}

int print_format(const Warp *warp, int lane, uint64_t format, uint64_t arguments, Text *out) {
    char probe;
    if (!generic_read(warp, lane, format, &probe, 1)) return -1;
    Text text = {0};
    print_string(warp, lane, format, LONGEST_STRING, &text);
    if (!out) {
        int count = count_arguments(text_string(&text));
        text_done(&text);
        return count;
    }
    Source source = {warp, lane, 0, arguments};
    for (const char *at = text_string(&text); *at;) {
        const char *percent = strchr(at, '%');
        size_t plain = percent ? (size_t)(percent - at) : strlen(at);
        text_add_bytes(out, at, plain);
        at += plain;
        if (!*at) break;
        Conversion conversion;
        const char *end = parse_conversion(at + 1, &source, &conversion);
        bool known = conversion.kind && strchr(KNOWN, conversion.kind);
        if (at[1] == '%')
            text_add(out, "%");
        else if (known && source.count < MAX_ARGUMENTS + 1)
            print_conversion(&conversion, &source, out);
        else
            text_add_bytes(out, at, (size_t)(end - at));
        at = end;
    }
    text_done(&text);
    return source.count;
}
