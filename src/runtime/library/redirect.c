/* A CUDA runtime that is linked into a program or a library is replaced by this library.
 *
 * As Valgrind replaces functions, each function of that runtime gets a jump at its entry to the function of
 * the same name here; one that this library lacks says so when it is called.
 *
 * redviz preloads this library. It begins before the constructors of the program and of its libraries, so
 * that they register their kernels here already: glibc's crti.o calls __gmon_start__(), if any object has it,
 * at the start of the initialisation of each object. What dlopen() loads is seen through the debugger
 * interface of the dynamic linker (r_debug in <link.h>): the empty function r_brk is called whenever the list
 * of objects has changed, before the constructors of the new ones. A debugger that stops there itself takes
 * this away.
 *
 * Functions are found in the symbol table of the object's file (System V ABI, Symbol Table), or, if that has
 * been stripped, in the table of its dynamic symbols. A runtime without names is left as it is. Nothing else
 * of NVIDIA's is read or replaced. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/library/client.h"

#if defined __x86_64__ && defined __GLIBC__

enum { JUMP_BYTES = 14, ALL = PROT_READ | PROT_WRITE | PROT_EXEC };

/* An object and its file. */
typedef struct Object {
    const char *name;
    uintptr_t base; /* what is added to the addresses in the file */
    const unsigned char *file;
    size_t bytes;
    const Elf64_Shdr *sections;
    size_t section_count;
    const Elf64_Sym *symbols;
    size_t symbol_count;
    const char *strings; /* ends with a 0 byte */
    size_t string_bytes;
} Object;

/* What the names of an object say of the runtime in it. Its functions lie together, as the linker takes them
 * from one archive. */
typedef struct BuiltIn {
    const char *version; /* NULL: the object has no runtime */
    Elf64_Addr first, last;
} BuiltIn;

static struct {
    void *self; /* this library, for dlsym() */
    const struct link_map **seen;
    size_t seen_count, seen_capacity;
} redirection;

/* ---- code ---------------------------------------------------------------------------------------------- */

static void *page_of(const unsigned char *at) {
    return (void *)((uintptr_t)at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1));
}

/* Writes `jmp *0(%rip)` and the address behind it (Intel 64 Software Developer's Manual, JMP). The pages stay
 * executable: this code may need the dynamic linker, whose r_brk is one that gets a jump. */
static bool write_jump(unsigned char *at, uintptr_t to) {
    unsigned char jump[JUMP_BYTES] = {0xff, 0x25};
    void *page = page_of(at);
    size_t bytes = (size_t)(at + JUMP_BYTES - (unsigned char *)page);
    memcpy(jump + 6, &to, sizeof to);
    if (mprotect(page, bytes, ALL) != 0) return false;
    memcpy(at, jump, sizeof jump);
    return mprotect(page, bytes, PROT_READ | PROT_EXEC) == 0;
}

/* Whether `code`, a function of `size` bytes, has room for a jump. Behind it only padding may be overwritten:
 * int3, or the bytes of the recommended long forms of NOP. */
static bool has_room(const unsigned char *code, size_t size) {
    static const unsigned char padding[] = {0xcc, 0x90, 0x66, 0x2e, 0x0f, 0x1f, 0x00, 0x40, 0x44, 0x80, 0x84};
    while (size < JUMP_BYTES && memchr(padding, code[size], sizeof padding) != NULL) size++;
    return size >= JUMP_BYTES;
}

static int call_missing(const char *function) {
    int error = library_enter(function, __builtin_return_address(0), ENTER_QUERY);
    if (error == 0) error = lacks(function);
    return library_leave(error);
}

/* A function that calls call_missing(name): `movabs $name, %rdi`, a jump, and the name. NULL: no memory. */
static void *make_missing(const char *name) {
    enum { MOVE_BYTES = 10, CODE_BYTES = MOVE_BYTES + JUMP_BYTES };
    static unsigned char *stubs;
    static size_t left;
    size_t bytes = CODE_BYTES + strlen(name) + 1;
    if (left < bytes) {
        left = (size_t)sysconf(_SC_PAGESIZE);
        stubs = mmap(NULL, left, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stubs == MAP_FAILED) left = 0;
    }
    if (left < bytes || mprotect(page_of(stubs), bytes, ALL) != 0) return NULL;
    unsigned char *stub = stubs, *copy = stub + CODE_BYTES;
    memcpy(stub, (const unsigned char[]){0x48, 0xbf}, 2);
    memcpy(stub + 2, &copy, sizeof copy);
    memcpy(copy, name, strlen(name) + 1);
    if (!write_jump(stub + MOVE_BYTES, (uintptr_t)call_missing)) return NULL;
    stubs += bytes;
    left -= bytes;
    return stub;
}

/* ---- the file of an object ----------------------------------------------------------------------------- */

static bool lies_within(const Object *object, uint64_t offset, uint64_t bytes) {
    return offset <= object->bytes && bytes <= object->bytes - offset;
}

/* Finds the table of symbols of that type and its names. */
static bool find_symbols(Object *object, uint32_t type) {
    for (size_t i = 0; i < object->section_count; i++) {
        const Elf64_Shdr *table = &object->sections[i];
        if (table->sh_type != type || table->sh_link >= object->section_count) continue;
        const Elf64_Shdr *names = &object->sections[table->sh_link];
        if (!lies_within(object, table->sh_offset, table->sh_size) ||
            !lies_within(object, names->sh_offset, names->sh_size) || names->sh_size == 0 ||
            object->file[names->sh_offset + names->sh_size - 1] != '\0')
            return false;
        object->symbols = (const Elf64_Sym *)(const void *)(object->file + table->sh_offset);
        object->symbol_count = table->sh_size / sizeof *object->symbols;
        object->strings = (const char *)object->file + names->sh_offset;
        object->string_bytes = names->sh_size;
        return true;
    }
    return false;
}

static bool object_read(Object *object) {
    Elf64_Ehdr head;
    if (object->bytes < sizeof head) return false;
    memcpy(&head, object->file, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        !lies_within(object, head.e_shoff, (uint64_t)head.e_shnum * sizeof *object->sections))
        return false;
    object->sections = (const Elf64_Shdr *)(const void *)(object->file + head.e_shoff);
    object->section_count = head.e_shnum;
    return find_symbols(object, SHT_SYMTAB) || find_symbols(object, SHT_DYNSYM);
}

/* The name of a function of CUDA's runtime; NULL: the symbol is something else. */
static const char *runtime_name(const Object *object, const Elf64_Sym *symbol) {
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_name >= object->string_bytes ||
        symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= object->section_count)
        return NULL;
    const char *name = object->strings + symbol->st_name;
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0 ? name : NULL;
}

/* The code in the file; NULL unless it has room for a jump and memory has the same. */
static const unsigned char *code_in_file(const Object *object, const Elf64_Sym *symbol) {
    const Elf64_Shdr *section = &object->sections[symbol->st_shndx];
    uint64_t offset = symbol->st_value - section->sh_addr;
    if ((section->sh_flags & SHF_EXECINSTR) == 0 || section->sh_type != SHT_PROGBITS ||
        offset > section->sh_size || section->sh_size - offset < JUMP_BYTES ||
        !lies_within(object, section->sh_offset, section->sh_size))
        return NULL;
    const unsigned char *code = object->file + section->sh_offset + offset;
    const void *in_memory = (const void *)(object->base + symbol->st_value);
    return memcmp(code, in_memory, JUMP_BYTES) == 0 && has_room(code, symbol->st_size) ? code : NULL;
}

/* ---- a runtime ----------------------------------------------------------------------------------------- */

static void *find_own(const char *name, const char *version) {
    void *function = dlvsym(redirection.self, name, version);
    return function != NULL ? function : dlsym(redirection.self, name);
}

/* CUDA 12 dropped references to textures, CUDA 13 the functions of the old threads. */
static BuiltIn find_runtime(const Object *object) {
    BuiltIn runtime = {NULL, UINT64_MAX, 0};
    bool is_runtime = false, has_textures = false, has_threads = false;
    for (size_t i = 0; i < object->symbol_count; i++) {
        const Elf64_Sym *symbol = &object->symbols[i];
        const char *name = runtime_name(object, symbol);
        if (name == NULL) continue;
        is_runtime |= strcmp(name, "__cudaRegisterFatBinary") == 0;
        has_textures |= strcmp(name, "cudaBindTexture") == 0;
        has_threads |= strcmp(name, "cudaThreadSynchronize") == 0;
        if (dlsym(redirection.self, name) == NULL) continue;
        if (symbol->st_value < runtime.first) runtime.first = symbol->st_value;
        if (symbol->st_value > runtime.last) runtime.last = symbol->st_value;
    }
    if (is_runtime)
        runtime.version = has_textures  ? "libcudart.so.11.0"
                          : has_threads ? "libcudart.so.12"
                                        : "libcudart.so.13";
    return runtime;
}

static void replace_runtime(const Object *object) {
    BuiltIn runtime = find_runtime(object);
    for (size_t i = 0; i < object->symbol_count && runtime.version != NULL; i++) {
        const Elf64_Sym *symbol = &object->symbols[i];
        const char *name = runtime_name(object, symbol);
        bool is_between = symbol->st_value > runtime.first && symbol->st_value < runtime.last;
        void *own = name != NULL ? find_own(name, runtime.version) : NULL;
        if (name == NULL || (own == NULL && !is_between)) continue;
        if (own == NULL) own = make_missing(name);
        unsigned char *at = (unsigned char *)(object->base + symbol->st_value);
        if (own == NULL || code_in_file(object, symbol) == NULL || !write_jump(at, (uintptr_t)own))
            fprintf(stderr, "redviz: %s: its function %s cannot be replaced\n", object->name, name);
    }
}

static void take_object(const struct link_map *map) {
    bool is_program = *map->l_name == '\0';
    Object object = {.name = is_program ? "the program" : map->l_name, .base = map->l_addr};
    struct stat status;
    int file = open(is_program ? "/proc/self/exe" : map->l_name, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
        object.bytes = (size_t)status.st_size;
        void *bytes = mmap(NULL, object.bytes, PROT_READ, MAP_PRIVATE, file, 0);
        object.file = bytes;
        if (bytes != MAP_FAILED && object_read(&object)) replace_runtime(&object);
        if (bytes != MAP_FAILED) munmap(bytes, object.bytes);
    }
    if (file >= 0) close(file);
}

/* ---- the objects --------------------------------------------------------------------------------------- */

static bool was_seen(const struct link_map *map) {
    size_t i = 0;
    while (i < redirection.seen_count && redirection.seen[i] != map) i++;
    return i < redirection.seen_count;
}

/* r_brk: called with the dynamic linker's lock. A program may not see an error of dlsym() from here. */
static void take_new_objects(void) {
    size_t count = 0;
    if (_r_debug.r_state != RT_CONSISTENT) return;
    for (const struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next, count++)
        if (!was_seen(map) && (uintptr_t)map->l_ld != (uintptr_t)_DYNAMIC) take_object(map);
    dlerror();
    if (count > redirection.seen_capacity) {
        void *longer = realloc(redirection.seen, 2 * count * sizeof *redirection.seen);
        if (longer == NULL) return;
        redirection.seen = longer;
        redirection.seen_capacity = 2 * count;
    }
    redirection.seen_count = 0;
    for (const struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next)
        redirection.seen[redirection.seen_count++] = map;
}

/* `ret`, maybe behind `endbr64`; else libraries that are loaded later keep a runtime of their own. */
static bool is_empty_function(const unsigned char *code) {
    static const unsigned char branch_target[] = {0xf3, 0x0f, 0x1e, 0xfa};
    if (code == NULL) return false;
    size_t size = memcmp(code, branch_target, sizeof branch_target) == 0 ? sizeof branch_target : 0;
    return code[size] == 0xc3 && has_room(code, size + 1);
}

static void begin(void) {
    Dl_info info;
    if (getenv(RUNTIME_SOCKET_VARIABLE) == NULL || dladdr(&redirection, &info) == 0) return;
    redirection.self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (redirection.self == NULL) return;
    take_new_objects();
    unsigned char *loaded = (unsigned char *)(uintptr_t)_r_debug.r_brk;
    if (is_empty_function(loaded)) write_jump(loaded, (uintptr_t)take_new_objects);
}

__attribute__((visibility("default"))) void __gmon_start__(void);
void __gmon_start__(void) {
    static bool has_begun; /* also while dlopen() initialises this library; one thread runs, or has a lock */
    if (has_begun) return;
    has_begun = true;
    begin();
}

/* A program built for gprof has its own __gmon_start__(). */
__attribute__((constructor)) static void redirect(void) {
    __gmon_start__();
}

#endif
