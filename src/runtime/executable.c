#define _GNU_SOURCE
#include "runtime/executable.h"

#include "runtime/fatbin.h"

#include <elf.h>
#include <string.h>

enum { FATBIN_HEAD = 16 };

bool executable_is(const void *bytes, size_t count) {
    return count >= sizeof(Elf64_Ehdr) && !memcmp(bytes, ELFMAG, SELFMAG);
}

static bool reads(size_t count, uint64_t offset, uint64_t bytes) {
    return offset <= count && bytes <= count - offset;
}

/* The section header `index`; false: the file is damaged. */
static bool read_section(const uint8_t *bytes, size_t count, const Elf64_Ehdr *head, unsigned index,
                         Elf64_Shdr *section) {
    uint64_t at = head->e_shoff + (uint64_t)index * sizeof *section;
    if (head->e_shentsize != sizeof *section || at < head->e_shoff || !reads(count, at, sizeof *section))
        return false;
    memcpy(section, bytes + at, sizeof *section);
    return true;
}

/* Fat binaries lie one behind the other; the first error is kept. */
static bool search_section(const uint8_t *bytes, uint64_t count, const char *wanted, Text *ptx,
                           Error *error) {
    static const uint8_t magic[] = {0x50, 0xED, 0x55, 0xBA};
    for (uint64_t at = 0; at + FATBIN_HEAD <= count;) {
        uint64_t body;
        memcpy(&body, bytes + at + 8, sizeof body);
        if (memcmp(bytes + at, magic, sizeof magic) != 0 || body > count - at - FATBIN_HEAD) {
            at += 8;
            continue;
        }
        Text text = {0};
        Error why = {0};
        bool good = fatbin_find_ptx(bytes + at, (size_t)(count - at), FATBIN_NEWEST, &text, NULL, &why);
        bool is_it =
            good && strstr(text_string(&text), ".entry") && (!wanted || strstr(text_string(&text), wanted));
        if (is_it) text_add(ptx, text_string(&text));
        if (!good && error && !*error->message) *error = why;
        text_done(&text);
        if (is_it) return true;
        at += FATBIN_HEAD + (body + 7) / 8 * 8;
    }
    return false;
}

bool executable_find_ptx(const void *file, size_t count, const char *wanted, Text *ptx, Error *error) {
    const uint8_t *bytes = file;
    Elf64_Ehdr head;
    Elf64_Shdr names, section;
    Error why = {0};
    memcpy(&head, bytes, sizeof head);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || !read_section(bytes, count, &head, head.e_shstrndx, &names) ||
        !reads(count, names.sh_offset, names.sh_size) || !names.sh_size ||
        bytes[names.sh_offset + names.sh_size - 1])
        return error_set(error, "this program has no table of sections");
    for (unsigned i = 0; i < head.e_shnum && read_section(bytes, count, &head, i, &section); i++) {
        const char *name =
            section.sh_name < names.sh_size ? (const char *)bytes + names.sh_offset + section.sh_name : "";
        bool has_code = !strcmp(name, ".nv_fatbin") || !strcmp(name, "__nv_relfatbin");
        if (has_code && section.sh_type != SHT_NOBITS && reads(count, section.sh_offset, section.sh_size) &&
            search_section(bytes + section.sh_offset, section.sh_size, wanted, ptx, &why))
            return true;
    }
    if (*why.message) return error_set(error, "%s", why.message);
    return wanted ? error_set(error, "this program has no kernel '%s'", wanted)
                  : error_set(error, "this program has no kernel");
}

bool executable_has_name(const void *file, size_t count, const char *name) {
    Elf64_Ehdr head;
    Elf64_Shdr section;
    memcpy(&head, file, sizeof head);
    for (unsigned i = 0; i < head.e_shnum && read_section(file, count, &head, i, &section); i++)
        if (section.sh_type == SHT_STRTAB && reads(count, section.sh_offset, section.sh_size) &&
            memmem((const char *)file + section.sh_offset, section.sh_size, name, strlen(name) + 1))
            return true;
    return false;
}
