/* Known versions and targets of PTX (versions.def), and files that are not PTX. */
#include "ptx/versions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int major, minor;
} versions[] = {
#define VERSION(major, minor) {major, minor},
#define TARGET(name)
#define TARGET_OPTION(name)
#include "ptx/versions.def"
#undef VERSION
#undef TARGET
#undef TARGET_OPTION
};
enum { VERSIONS = sizeof versions / sizeof *versions };

static const char *const targets[] = {
#define VERSION(major, minor)
#define TARGET(name) #name,
#define TARGET_OPTION(name)
#include "ptx/versions.def"
#undef TARGET
#undef TARGET_OPTION
};
enum { TARGETS = sizeof targets / sizeof *targets };

static const char *const options[] = {
#define TARGET(name)
#define TARGET_OPTION(name) #name,
#include "ptx/versions.def"
#undef VERSION
#undef TARGET
#undef TARGET_OPTION
};

bool ptx_version_exists(int major, int minor, char *why, size_t bytes) {
    const int newest = VERSIONS - 1;
    for (int i = 0; i < VERSIONS; i++) {
        if (versions[i].major != major) continue;
        if (minor <= versions[i].minor || i == newest) return true;
        snprintf(why, bytes, "there is no PTX %d.%d: the last %d.x is %d.%d", major, minor, major, major,
                 versions[i].minor);
        return false;
    }
    snprintf(why, bytes, "there is no PTX %d.%d: the newest that redviz knows is %d.%d", major, minor,
             versions[newest].major, versions[newest].minor);
    return false;
}

static bool is_one_of(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

bool ptx_target_exists(const char *name, int major, int minor, char *why, size_t bytes) {
    const int newest = VERSIONS - 1;
    char machine[64];
    bool is_virtual = !strncmp(name, "compute_", 8);
    bool is_newer = major == versions[newest].major && minor > versions[newest].minor;
    snprintf(machine, sizeof machine, "%s%s", is_virtual ? "sm_" : "", is_virtual ? name + 8 : name);
    if (is_newer || is_one_of(machine, targets, TARGETS)) return true;
    snprintf(why, bytes, "there is no target %.40s; the newest that redviz knows is %s", name,
             targets[TARGETS - 1]);
    return false;
}

/* sm_101 is the former name of sm_110. */
static int read_target(const char *name, char *suffix) {
    const char *digits = strchr(name, '_');
    char *end;
    long number = strtol(digits ? digits + 1 : name, &end, 10);
    *suffix = *end == 'a' || *end == 'f' ? *end : 0;
    return number == 101 ? 110 : (int)number;
}

bool ptx_target_meets(const char *target, const char *needed) {
    char suffix, wanted_suffix;
    int number = read_target(target, &suffix);
    for (; needed; needed = strchr(needed, '|') ? strchr(needed, '|') + 1 : NULL) {
        int wanted = read_target(needed, &wanted_suffix);
        bool is_family = number / 10 == wanted / 10;
        if (wanted_suffix == 'a' ? number == wanted && suffix == 'a'
                                 : number >= wanted && (!wanted_suffix || (is_family && suffix)))
            return true;
    }
    return false;
}

bool ptx_target_option_exists(const char *name) {
    return is_one_of(name, options, sizeof options / sizeof *options);
}

const char *ptx_foreign_format(const char *text, size_t length) {
    static const struct {
        const char *begin;
        size_t length;
        const char *what;
    } formats[] = {
        {"\x50\xed\x55\xba", 4, "this is a fat binary, not PTX; `cuobjdump -ptx FILE` prints the PTX in it"},
        {"\x46\x62\x43\xb1", 4,
         "this is the wrapper of a fat binary, not PTX; `cuobjdump -ptx FILE` prints the PTX in it"},
        {"!<arch>\n", 8, "this is a library, not PTX; `cuobjdump -ptx FILE` prints the PTX in it"},
        {"BC\xc0\xde", 4, "this is LLVM bitcode, not PTX; `llc -march=nvptx64` compiles it"},
        {"\x1f\x8b", 2, "this file is compressed; `gunzip` it first"}};
    enum { ELF_MACHINE = 18, CUDA_MACHINE = 190 };
    if (length > ELF_MACHINE && !memcmp(text, "\177ELF", 4))
        return (unsigned char)text[ELF_MACHINE] == CUDA_MACHINE
                   ? "this is a cubin (machine code), not PTX; if PTX was kept with it, `cuobjdump -ptx "
                     "FILE` prints it"
                   : "this is a program or library (ELF), not PTX; `cuobjdump -ptx FILE` prints the PTX in "
                     "it";
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (length >= formats[i].length && !memcmp(text, formats[i].begin, formats[i].length))
            return formats[i].what;
    return NULL;
}
