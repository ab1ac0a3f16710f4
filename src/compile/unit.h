/* Unit: the input of a compiler: FILE.cu, what it includes, and a folder to work in. Private to
 * src/compile. */
#ifndef COMPILE_UNIT_H
#define COMPILE_UNIT_H

#include "base/text.h"
#include "compile/compile.h"

#include <limits.h>

typedef struct UnitFile {
    char *name; /* as #include says it */
    char *path; /* absolute */
    char *text; /* nvcc: as it is; others: what device_code_keep() leaves */
} UnitFile;

typedef struct Unit {
    const CompileOptions *options;
    UnitFile *files; /* the first is FILE.cu; then what is included in quotes and was found beside it */
    int file_count, file_capacity;
    char **system; /* names included in <> */
    int system_count, system_capacity;
    char folder[PATH_MAX]; /* for temporary files */
    char **flags;          /* options->flags, one by one */
    int flag_count, flag_capacity;
} Unit;

/* Does options->flags choose the architecture? */
bool unit_has_architecture(const Unit *unit);
/* A header that is included and that only the CUDA toolkit has what it declares of, like
 * <cooperative_groups.h>; NULL: there is none. */
const char *unit_find_toolkit_header(const Unit *unit);
/* Makes a file of the unit's folder; its path. */
bool unit_write(const Unit *unit, const char *name, const char *text, char *path, size_t path_bytes,
                Error *error);
/* Reads what a compiler wrote. */
bool unit_take_output(const char *path, Text *ptx, Error *error);

typedef struct Compiler {
    const char *name;
    bool needs_folder; /* for temporary files: unit->folder */
    /* Is it here? Gives what distinguishes it from other versions, for the cache. */
    bool (*find)(char *identity, size_t bytes);
    /* PTX of the unit, or an error. */
    bool (*run)(const Unit *unit, Text *ptx, Error *error);
} Compiler;
extern const Compiler compiler_nvcc, compiler_nvrtc, compiler_clang;

enum {
    COMPILE_ARCHITECTURE = 80,
    COMPILE_CLUSTERS = 90 /* the first that has clusters */,
    COMPILE_SECONDS = 120,
    COMPILE_PTX_LIMIT = 64 << 20
};

/* What was compiled earlier, by the text of everything that decides it. */
bool cache_find(const char *key, Text *ptx);
void cache_keep(const char *key, const char *ptx);

/* A header that is in a folder above the source, or in one there that compilers are usually given (include/). */
bool unit_find_header(const Unit *unit, const char *name, char whole[PATH_MAX]);

/* Does any file name clusters, __cluster_dims__ or cooperative_groups' this_cluster()? */
bool unit_needs_clusters(const Unit *unit);

#endif
