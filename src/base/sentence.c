#include "base/sentence.h"

#include "base/characters.h"
#include "base/language.h"
#include <inttypes.h>
#include <string.h>

const char *count_text(uint64_t count, CountText *buffer) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *at = buffer->text; /* cppcheck-suppress ctuuninitvar ; it is filled here */
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) *at++ = ',';
        *at++ = digits[i];
    }
    *at = 0;
    return buffer->text;
}

enum { LANE_RUNS = 4 }; /* that are listed one by one */

/* The last lane of the run that begins at `first`. */
static int end_of_run(uint32_t mask, int first) {
    while (first < 31 && mask >> (first + 1) & 1) first++;
    return first;
}

/* The distance between any two neighbours among the lanes; 0: they differ. */
static int lane_stride(uint32_t mask) {
    int first = __builtin_ctz(mask), stride = 0;
    for (int lane = first + 1, last = first; lane < 32; lane++) {
        if (!(mask >> lane & 1)) continue;
        if (stride && lane - last != stride) return 0;
        stride = lane - last;
        last = lane;
    }
    return stride;
}

const char *lanes_text(uint32_t mask, LanesText *buffer) {
    int length =
        snprintf(buffer->text, sizeof buffer->text, "%s", mask & (mask - 1) ? tr("lanes ") : tr("lane "));
    char *out = buffer->text + length;
    size_t bytes = sizeof buffer->text - (size_t)length;
    int runs = 0, first = mask ? __builtin_ctz(mask) : 0;
    for (int lane = 0; lane < 32; lane++) runs += mask >> lane & 1 && (!lane || !(mask >> (lane - 1) & 1));
    if (!mask || (runs > LANE_RUNS && !lane_stride(mask))) {
        snprintf(out, bytes, "0x%08x", mask);
    } else if (runs > LANE_RUNS) {
        snprintf(out, bytes, "%d, %d, ... %d", first, first + lane_stride(mask), 31 - __builtin_clz(mask));
    } else {
        for (int lane = first; lane < 32; lane++) {
            if (!(mask >> lane & 1)) continue;
            int last = end_of_run(mask, lane);
            int printed =
                snprintf(out, bytes, last > lane ? "%s%d-%d" : "%s%d", lane > first ? ", " : "", lane, last);
            out += printed, bytes -= (size_t)printed;
            lane = last;
        }
    }
    return buffer->text;
}

const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

void sentence_print(Text *out, const char *bullet, const char *sentence) {
    enum { WIDTH = 80 };
    size_t indent = strlen(bullet);
    for (const char *at = sentence; *at;) {
        size_t length = (size_t)line_break(at, WIDTH - (int)indent);
        if (at == sentence)
            text_add(out, bullet);
        else
            text_print(out, "%*s", (int)indent, "");
        text_add_bytes(out, at, length);
        text_add(out, "\n");
        at += length;
        while (*at == ' ') at++;
    }
}
