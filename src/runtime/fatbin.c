#include "runtime/fatbin.h"

#include "base/library.h"
#include "base/memory.h"

#include <dlfcn.h>
#include <stdlib.h>

enum {
    MAGIC_BYTES = 4,
    HEAD_BYTES = 16,
    ENTRY_BYTES = 64, /* of the head of an entry, at the least */
    KIND_PTX = 1,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    MOST_TEXT = 256 << 20
};

const char fatbin_remedy[] = "compile it with NVCC_APPEND_FLAGS=\"-gencode arch=compute_80,code=compute_80\"";

typedef struct FatbinEntry {
    const uint8_t *bytes;  /* of its text */
    uint64_t stored, size; /* bytes of the fat binary, bytes of the text */
    uint64_t flags;
    uint32_t kind, architecture;
} FatbinEntry;

static uint64_t read_number(const uint8_t *at, int bytes) {
    uint64_t value = 0;
    memcpy(&value, at, (size_t)bytes);
    return value;
}

/* The entry at `*at`, which then stands behind it. */
static bool next_entry(const uint8_t **at, const uint8_t *end, FatbinEntry *entry) {
    if (end - *at < ENTRY_BYTES) return false;
    uint64_t head = read_number(*at + 4, 4), padded = read_number(*at + 8, 8),
             compressed = read_number(*at + 16, 4);
    if (head < ENTRY_BYTES || head > (uint64_t)(end - *at) || padded > (uint64_t)(end - *at) - head)
        return false;
    *entry = (FatbinEntry){.bytes = *at + head,
                           .kind = (uint32_t)read_number(*at, 2),
                           .architecture = (uint32_t)read_number(*at + 28, 4),
                           .flags = read_number(*at + 40, 8),
                           .size = read_number(*at + 56, 8)};
    bool is_compressed = entry->flags & (FLAG_LZ4 | FLAG_ZSTD);
    entry->stored = is_compressed ? compressed : padded;
    if (entry->stored > padded) return false;
    *at += head + padded;
    return true;
}

/* One block of the LZ4 format. Returns the bytes written; 0: damaged. */
static size_t expand_lz4(const uint8_t *from, size_t count, uint8_t *to, size_t room) {
    const uint8_t *end = from + count;
    size_t at = 0;
    while (from < end) {
        uint8_t token = *from++;
        size_t literals = token >> 4, match = token & 15, back;
        for (uint8_t more = 255; literals >= 15 && more == 255; literals += more)
            if (from == end)
                return 0;
            else
                more = *from++;
        if (literals > (size_t)(end - from) || literals > room - at) return 0;
        memcpy(to + at, from, literals);
        at += literals, from += literals;
        if (from == end) break; /* the last sequence has no match */
        if (end - from < 2) return 0;
        back = from[0] | (size_t)from[1] << 8, from += 2;
        for (uint8_t more = 255; match >= 15 && more == 255; match += more)
            if (from == end)
                return 0;
            else
                more = *from++;
        match += 4;
        if (!back || back > at || match > room - at) return 0;
        for (size_t i = 0; i < match; i++) to[at + i] = to[at + i - back];
        at += match;
    }
    return at;
}

static size_t expand_zstd(const uint8_t *from, size_t count, uint8_t *to, size_t room, Error *error) {
    typedef size_t Decompress(void *to, size_t room, const void *from, size_t count);
    typedef unsigned IsError(size_t result);
    void *library = library_open("libzstd.so.1");
    Decompress *decompress = NULL;
    IsError *is_error = NULL;
    if (library) {
        *(void **)&decompress = dlsym(library, "ZSTD_decompress");
        *(void **)&is_error = dlsym(library, "ZSTD_isError");
    }
    if (!decompress || !is_error) {
        error_set(error, "its PTX is compressed with zstd, and libzstd.so.1 is missing; install libzstd1, or "
                         "compile it with "
                         "--no-compress");
        return 0;
    }
    size_t written = decompress(to, room, from, count);
    return is_error(written) ? 0 : written;
}

static bool take_text(const FatbinEntry *entry, Text *ptx, Error *error) {
    error_set(error, "its fat binary is damaged");
    uint64_t size = entry->flags & (FLAG_LZ4 | FLAG_ZSTD) ? entry->size : entry->stored;
    if (!size || size > MOST_TEXT) return false;
    uint8_t *text = memory_new(size + 1);
    size_t written = size;
    if (entry->flags & FLAG_ZSTD)
        written = expand_zstd(entry->bytes, entry->stored, text, size, error);
    else if (entry->flags & FLAG_LZ4)
        written = expand_lz4(entry->bytes, entry->stored, text, size);
    else
        memcpy(text, entry->bytes, size);
    text[written] = 0;
    text_add(ptx, (const char *)text); /* up to the padding */
    free(text);
    return written > 0;
}

bool fatbin_find_ptx(const void *bytes, size_t count, int most, Text *ptx, int *architecture, Error *error) {
    static const uint8_t magic[MAGIC_BYTES] = {0x50, 0xED, 0x55, 0xBA};
    const uint8_t *at = bytes;
    FatbinEntry best = {0}, entry;
    uint32_t machine_code = 0;
    if (count < HEAD_BYTES || memcmp(at, magic, MAGIC_BYTES) != 0)
        return error_set(error, "its fat binary is damaged");
    uint64_t head = read_number(at + 6, 2), body = read_number(at + 8, 8);
    if (head < HEAD_BYTES || head > count || body > count - head)
        return error_set(error, "its fat binary is damaged");
    const uint8_t *end = at + head + body;
    at += head;
    while (next_entry(&at, end, &entry)) {
        bool is_ptx = entry.kind == KIND_PTX;
        if (!is_ptx && entry.architecture > machine_code) machine_code = entry.architecture;
        bool is_new = entry.architecture > (uint32_t)most, is_best_new = best.architecture > (uint32_t)most;
        bool is_better = is_new == is_best_new ? is_new ? entry.architecture < best.architecture
                                                        : entry.architecture >= best.architecture
                                               : is_best_new;
        if (is_ptx && (!best.bytes || is_better)) best = entry;
    }
    if (architecture) *architecture = (int)best.architecture;
    if (best.bytes) return take_text(&best, ptx, error);
    return error_set(error, "it has machine code (sm_%u) and no PTX; %s", machine_code, fatbin_remedy);
}
