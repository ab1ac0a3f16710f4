/* Fat binaries from bytes of the tests: PTX as it is and compressed, which text is chosen, and damage at
 * every byte. */
#include "runtime/fatbin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

enum { KIND_PTX = 1, KIND_CODE = 2, LZ4 = 0x2000, ZSTD = 0x8000, MOST = 90 };

typedef struct Bytes {
    uint8_t data[4096];
    size_t count;
} Bytes;

static void put(Bytes *bytes, uint64_t value, int size) {
    memcpy(bytes->data + bytes->count, &value, (size_t)size);
    bytes->count += (size_t)size;
}

static void begin(Bytes *bytes) {
    bytes->count = 0;
    put(bytes, 0xBA55ED50, 4);
    put(bytes, 1, 2);
    put(bytes, 16, 2);
    put(bytes, 0, 8); /* of the entries, see add() */
}

/* An entry with a head of 64 bytes, padded to a multiple of 8. */
static void add(Bytes *bytes, int kind, unsigned architecture, uint64_t flags, const void *text, size_t count,
                size_t expanded) {
    size_t padded = (count + 7) / 8 * 8;
    put(bytes, (uint64_t)kind, 2);
    put(bytes, 0x101, 2);
    put(bytes, 64, 4);
    put(bytes, padded, 8);
    put(bytes, count, 4);
    put(bytes, 0, 8);
    put(bytes, architecture, 4);
    put(bytes, 0, 8);
    put(bytes, flags, 8);
    put(bytes, 0, 8);
    put(bytes, expanded, 8);
    memset(bytes->data + bytes->count, 0, padded);
    memcpy(bytes->data + bytes->count, text, count);
    bytes->count += padded;
    uint64_t body = bytes->count - 16;
    memcpy(bytes->data + 8, &body, 8);
}

static void add_text(Bytes *bytes, unsigned architecture, const char *text) {
    add(bytes, KIND_PTX, architecture, 0, text, strlen(text) + 1, 0);
}

/* Bytes in memory of just their size, so that sanitizers see a read behind them. NULL: the one line of the
 * error. */
static char *find(const uint8_t *data, size_t count, int *architecture, Error *error) {
    uint8_t *copy = malloc(count ? count : 1);
    Text text = {0};
    memcpy(copy, data, count);
    bool good = fatbin_find_ptx(copy, count, MOST, &text, architecture, error);
    free(copy);
    if (!good && (!error->message[0] || strchr(error->message, '\n'))) fail_msg("'%s'", error->message);
    char *found = NULL;
    if (good) {
        found = malloc(text.length + 1);
        memcpy(found, text_string(&text), text.length + 1);
    }
    text_done(&text);
    return found;
}

static void expect(const Bytes *bytes, const char *text, int architecture) {
    Error error = {0};
    int found_architecture = 0;
    char *found = find(bytes->data, bytes->count, &found_architecture, &error);
    if (!found) fail_msg("%s", error.message);
    assert_string_equal(found, text);
    assert_int_equal(found_architecture, architecture);
    free(found);
}

static void expect_refused(const Bytes *bytes, const char *words) {
    Error error = {0};
    char *found = find(bytes->data, bytes->count, NULL, &error);
    assert_null(found);
    if (!strstr(error.message, words)) fail_msg("%s", error.message);
}

static void the_newest_text_that_is_emulated(void **state) {
    (void)state;
    Bytes bytes;
    begin(&bytes);
    add_text(&bytes, 75, "seventy five");
    expect(&bytes, "seventy five", 75);
    add(&bytes, KIND_CODE, 90, 0, "\177ELF", 4, 0);
    expect(&bytes, "seventy five", 75);
    add_text(&bytes, 90, "ninety");
    add_text(&bytes, 80, "eighty");
    add_text(&bytes, 100, "a hundred");
    expect(&bytes, "ninety", 90);
}

static void the_oldest_of_newer_texts(void **state) {
    (void)state;
    Bytes bytes;
    begin(&bytes);
    add_text(&bytes, 120, "a hundred and twenty");
    expect(&bytes, "a hundred and twenty", 120);
    add_text(&bytes, 100, "a hundred");
    add_text(&bytes, 103, "a hundred and three");
    expect(&bytes, "a hundred", 100);
    add_text(&bytes, 80, "eighty");
    expect(&bytes, "eighty", 80);
}

static void without_a_text(void **state) {
    (void)state;
    Bytes bytes;
    begin(&bytes);
    add(&bytes, KIND_CODE, 86, 0, "\177ELF", 4, 0);
    expect_refused(&bytes, "it has machine code (sm_86) and no PTX; compile it with NVCC_APPEND_FLAGS=");
}

/* Literals, a match that overlaps what it writes, one that does not, lengths with further bytes, and literals
 * at the end. */
static void lz4_blocks(void **state) {
    (void)state;
    Bytes bytes;
    char text[600];
    begin(&bytes);
    static const uint8_t run[] = {0x1F, 'a',  1,   0,   255,
                                  26,   0x30, 'e', 'n', 'd'}; /* 1 + 4 + 15 + 255 + 26 times 'a' */
    memset(text, 'a', 301);
    memcpy(text + 301, "end", 4);
    add(&bytes, KIND_PTX, 80, LZ4, run, sizeof run, strlen(text));
    expect(&bytes, text, 80);
    begin(&bytes);
    static const uint8_t pair[] = {0x22, 'a', 'b', 2, 0, 0x42, '.', '.', '.', '!', 12, 0, 0x10, '\n'};
    add(&bytes, KIND_PTX, 80, LZ4, pair, sizeof pair, 8 + 4 + 6 + 1);
    expect(&bytes, "abababab...!ababab\n", 80);
    begin(&bytes);
    static const uint8_t many[] = {0xF0, 1,   'P', 'T', 'X', ' ', 'a', 's', ' ',
                                   'i',  't', ' ', 'i', 's', ' ', 'h', '\n'};
    add(&bytes, KIND_PTX, 80, LZ4, many, sizeof many - 1, 14);
    expect_refused(&bytes, "damaged"); /* 16 literals, of which one is missing */
    begin(&bytes);
    add(&bytes, KIND_PTX, 80, LZ4, many, sizeof many, 16);
    expect_refused(&bytes, "damaged");
}

static void damaged_lz4_blocks(void **state) {
    (void)state;
    static const struct {
        uint8_t block[8];
        size_t count;
    } damaged[] = {
        {{0x10, 'a', 0, 0}, 4},      /* a match 0 bytes back */
        {{0x10, 'a', 2, 0}, 4},      /* a match before the beginning */
        {{0x10, 'a', 1}, 3},         /* half a distance */
        {{0x1F, 'a', 1, 0}, 4},      /* no length */
        {{0x1F, 'a', 1, 0, 255}, 5}, /* a length that does not end */
        {{0xF0}, 1},
        {{0xF0, 255}, 2},            /* the same of literals */
        {{0x50, 'a'}, 2},            /* literals that are missing */
        {{0x1F, 'a', 1, 0, 200}, 5}, /* more than there is room for */
    };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        Bytes bytes;
        begin(&bytes);
        add(&bytes, KIND_PTX, 80, LZ4, damaged[i].block, damaged[i].count, 64);
        expect_refused(&bytes, "damaged");
    }
}

static void damaged_zstd(void **state) {
    (void)state;
    Bytes bytes;
    Error error = {0};
    begin(&bytes);
    add(&bytes, KIND_PTX, 80, ZSTD, "this is no zstd", 15, 100);
    char *found = find(bytes.data, bytes.count, NULL, &error);
    free(found);
    assert_null(found); /* damaged, or the library is missing */
    static const uint8_t stored[] = {0x28, 0xB5, 0x2F, 0xFD, 0x20, 4,   0x21,
                                     0,    0,    'P',  'T',  'X',  '\n'}; /* one raw block */
    begin(&bytes);
    add(&bytes, KIND_PTX, 80, ZSTD, stored, sizeof stored, 4);
    found = find(bytes.data, bytes.count, NULL, &error);
    if (found)
        assert_string_equal(found, "PTX\n");
    else
        assert_non_null(strstr(error.message, "libzstd.so.1 is missing"));
    free(found);
}

static void make_sample(Bytes *bytes) {
    static const uint8_t block[] = {0x1F, 'a', 1, 0, 10, 0x30, 'e', 'n', 'd'};
    begin(bytes);
    add_text(bytes, 70, "seventy");
    add(bytes, KIND_PTX, 80, LZ4, block, sizeof block, 33);
    add(bytes, KIND_CODE, 90, 0, "\177ELF", 4, 0);
}

static void cut_off_at_every_byte(void **state) {
    (void)state;
    Bytes bytes;
    Error error = {0};
    make_sample(&bytes);
    for (size_t count = 0; count < bytes.count; count++) {
        char *found = find(bytes.data, count, NULL, &error);
        assert_null(found); /* the head says how long it is */
    }
}

/* Any value of any byte: a text or one line. */
static void changed_at_every_byte(void **state) {
    (void)state;
    static const uint8_t values[] = {0, 1, 2, 3, 0x0F, 0x10, 0x40, 0x7F, 0x80, 0xF0, 0xFF};
    Bytes sample;
    Error error = {0};
    make_sample(&sample);
    for (size_t at = 0; at < sample.count; at++)
        for (size_t v = 0; v < sizeof values; v++) {
            Bytes bytes = sample;
            bytes.data[at] = values[v];
            free(find(bytes.data, bytes.count, NULL, &error));
            for (size_t k = 1; k < 8 && at + k < bytes.count; k++)
                bytes.data[at + k] = 0xFF; /* a whole number */
            free(find(bytes.data, bytes.count, NULL, &error));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_text_that_is_emulated),
        cmocka_unit_test(the_oldest_of_newer_texts),
        cmocka_unit_test(without_a_text),
        cmocka_unit_test(lz4_blocks),
        cmocka_unit_test(damaged_lz4_blocks),
        cmocka_unit_test(damaged_zstd),
        cmocka_unit_test(cut_off_at_every_byte),
        cmocka_unit_test(changed_at_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
