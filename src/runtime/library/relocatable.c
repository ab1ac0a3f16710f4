/* Relocatable fat binaries: those that -rdc has linked.
 *
 * The linked one has machine code alone; the section __nv_relfatbin of the program, or of one of its
 * libraries, still has the PTX of each file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/library/client.h"

enum { FATBIN_HEADER = 16 };

/* Fat binaries follow each other, at multiples of 8 bytes. */
static bool each_of_section(const unsigned char *section, size_t size,
                            void (*each)(const void *fatbin, size_t bytes, void *data), void *data) {
    bool is_any = false;
    for (size_t at = 0; at + FATBIN_HEADER <= size;) {
        uint32_t magic;
        uint16_t header;
        uint64_t bytes;
        memcpy(&magic, section + at, sizeof magic);
        memcpy(&header, section + at + 6, sizeof header);
        memcpy(&bytes, section + at + 8, sizeof bytes);
        if (magic != 0xBA55ED50U || bytes > size - at - header) {
            at += 8;
            continue;
        }
        each(section + at, header + bytes, data);
        is_any = true;
        at += (header + bytes + 7) & ~UINT64_C(7);
    }
    return is_any;
}

static bool each_of_file(const unsigned char *file, size_t size, const char *name,
                         void (*each)(const void *fatbin, size_t bytes, void *data), void *data) {
    Elf64_Ehdr head;
    if (size < sizeof head) return false;
    memcpy(&head, file, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shstrndx >= head.e_shnum ||
        head.e_shoff > size || (size_t)head.e_shnum * sizeof(Elf64_Shdr) > size - head.e_shoff)
        return false;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(file + head.e_shoff);
    const Elf64_Shdr *names = &sections[head.e_shstrndx];
    for (size_t i = 0; i < head.e_shnum; i++) {
        const Elf64_Shdr *section = &sections[i];
        if (section->sh_name >= names->sh_size || section->sh_type == SHT_NOBITS) continue;
        if (strcmp((const char *)file + names->sh_offset + section->sh_name, name) != 0) continue;
        if (section->sh_offset <= size && section->sh_size <= size - section->sh_offset)
            return each_of_section(file + section->sh_offset, section->sh_size, each, data);
    }
    return false;
}

/* An archive: members behind heads of 60 bytes, whose size stands in decimal digits at 48. */
bool fatbins_each(const void *file, size_t bytes, void (*each)(const void *fatbin, size_t bytes, void *data),
                  void *data) {
    enum { MAGIC = 8, HEAD = 60, SIZE = 48 };
    const unsigned char *from = file;
    bool is_any = false;
    if (bytes < MAGIC || memcmp(file, "!<arch>\n", MAGIC) != 0)
        return each_of_file(file, bytes, "__nv_relfatbin", each, data) ||
               each_of_file(file, bytes, ".nv_fatbin", each, data);
    for (size_t at = MAGIC; at + HEAD <= bytes;) {
        char digits[11] = {0};
        memcpy(digits, from + at + SIZE, 10);
        size_t size = strtoull(digits, NULL, 10);
        at += HEAD;
        if (size > bytes - at) break;
        unsigned char *member = malloc(size + 1); /* aligned */
        if (member == NULL) break;
        memcpy(member, from + at, size);
        is_any |= fatbins_each(member, size, each, data);
        free(member);
        at += size + size % 2;
    }
    return is_any;
}

bool relocatable_each(const void *wrapper, void (*each)(const void *fatbin, size_t bytes, void *data),
                      void *data) {
    Dl_info info;
    const struct link_map *object = NULL; /* the program itself has no name */
    struct stat status;
    if (dladdr1(wrapper, &info, (void **)&object, RTLD_DL_LINKMAP) == 0) return false;
    int file = open(*object->l_name != '\0' ? object->l_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool is_any = false;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (map != MAP_FAILED) {
            is_any = each_of_file(map, (size_t)status.st_size, "__nv_relfatbin", each, data);
            munmap(map, (size_t)status.st_size);
        }
    }
    close(file);
    return is_any;
}
