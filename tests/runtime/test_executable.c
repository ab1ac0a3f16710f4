/* The PTX of programs: an ELF file made by hand, whole and damaged at every byte. */
#include "runtime/executable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { FATBIN = 512, NAMES = 64, NAMES_BYTES = 32, SECTIONS = 128, WHOLE = 1600 };

/* A fat binary with one entry of plain PTX; its size. */
static size_t put_fatbin(uint8_t *at, const char *text) {
    uint32_t magic = 0xBA55ED50, head = 64;
    uint16_t version = 1, head_bytes = 16, kind = 1;
    uint32_t architecture = 80;
    uint64_t padded = (strlen(text) + 8) / 8 * 8, body = head + padded;
    memset(at, 0, 16 + body);
    memcpy(at, &magic, 4), memcpy(at + 4, &version, 2), memcpy(at + 6, &head_bytes, 2),
        memcpy(at + 8, &body, 8);
    memcpy(at + 16, &kind, 2), memcpy(at + 20, &head, 4), memcpy(at + 24, &padded, 8);
    memcpy(at + 44, &architecture, 4);
    memcpy(at + 16 + head, text, strlen(text) + 1);
    return 16 + body;
}

static void make_file(uint8_t file[WHOLE]) {
    static const char names[NAMES_BYTES] = "\0.nv_fatbin\0.shstrtab";
    memset(file, 0, WHOLE);
    size_t first = put_fatbin(file + FATBIN, ".version 7.0\n.func f() { ret; }\n");
    size_t second = put_fatbin(file + FATBIN + first, ".version 7.0\n.visible .entry reduce() { ret; }\n");
    size_t third =
        put_fatbin(file + FATBIN + first + second, ".version 7.0\n.visible .entry scale() { ret; }\n");
    Elf64_Ehdr head = {.e_shoff = SECTIONS, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 2};
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    Elf64_Shdr sections[3] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = FATBIN, .sh_size = first + second + third},
        {.sh_name = 12, .sh_type = SHT_STRTAB, .sh_offset = NAMES, .sh_size = NAMES_BYTES}};
    memcpy(file, &head, sizeof head);
    memcpy(file + NAMES, names, NAMES_BYTES);
    memcpy(file + SECTIONS, sections, sizeof sections);
}

static void the_first_kernel_or_the_wanted_one_is_found(void **state) {
    (void)state;
    uint8_t file[WHOLE];
    Text ptx = {0};
    Error error = {0};
    make_file(file);
    assert_true(executable_is(file, WHOLE));
    assert_true(executable_find_ptx(file, WHOLE, NULL, &ptx, &error));
    assert_non_null(strstr(text_string(&ptx), "reduce"));
    text_clear(&ptx);
    assert_true(executable_find_ptx(file, WHOLE, "scale", &ptx, &error));
    assert_null(strstr(text_string(&ptx), "reduce"));
    assert_false(executable_find_ptx(file, WHOLE, "missing", &ptx, &error));
    assert_string_equal(error.message, "this program has no kernel 'missing'");
    text_done(&ptx);
}

static void a_damaged_file_is_refused_or_read(void **state) {
    (void)state;
    for (size_t at = 4; at < WHOLE; at++) {
        uint8_t *file = malloc(WHOLE); /* so that a sanitizer sees its end */
        Text ptx = {0};
        Error error = {0};
        make_file(file);
        file[at] ^= 0xFF;
        bool found = executable_find_ptx(file, WHOLE, NULL, &ptx, &error);
        assert_true(found || *error.message);
        text_done(&ptx);
        free(file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_kernel_or_the_wanted_one_is_found),
        cmocka_unit_test(a_damaged_file_is_refused_or_read),
    };
    return cmocka_run_group_tests_name("executable", tests, NULL, NULL);
}
