/* Unit: the input of a compiler: FILE.cu, what it includes, and a working folder. Private to src/compile. */
#ifndef COMPILE_UNIT_H
#define COMPILE_UNIT_H

#include "base/text.h"
#include "compile/compile.h"

#include <limits.h>

typedef struct UnitFile {
    char *name; /* as in #include */
    char *path; /* absolute */
    char *text; /* nvcc: unchanged; others: the output of device_code_keep() */
} UnitFile;

typedef struct Unit {
    const CompileOptions *options;
    UnitFile *files; /* FILE.cu first; then files included in quotes that were found beside it */
    int file_count, file_capacity;
    char **system; /* names included in <> */
    int system_count, system_capacity;
    char folder[PATH_MAX]; /* for temporary files */
    char **flags;          /* options->flags, one by one */
    int flag_count, flag_capacity;
} Unit;

/* True if options->flags choose the architecture. */
bool unit_has_architecture(const Unit *unit);
/* The compute capability that the options ask for, else `usual`. */
int unit_architecture(const Unit *unit, int usual);
/* An included header whose declarations only the CUDA toolkit has, such as <cooperative_groups.h>; NULL:
 * none. */
const char *unit_find_toolkit_header(const Unit *unit);
/* Writes a file in the unit's folder and sets its path. */
bool unit_write(const Unit *unit, const char *name, const char *text, char *path, size_t path_bytes,
                Error *error);
/* Reads a compiler's output file. */
bool unit_take_output(const char *path, Text *ptx, Error *error);

typedef struct Compiler {
    const char *name;
    bool needs_folder; /* for temporary files: unit->folder */
    /* True if it is installed. `identity`: distinguishes its versions, for the cache. */
    bool (*find)(char *identity, size_t bytes);
    /* Compiles the unit to PTX, or sets `error`. */
    bool (*run)(const Unit *unit, Text *ptx, Error *error);
} Compiler;
extern const Compiler compiler_nvcc, compiler_nvrtc, compiler_clang;

enum {
    COMPILE_ARCHITECTURE = 80,
    COMPILE_CLUSTERS = 90 /* the first with clusters */,
    COMPILE_SECONDS = 120,
    COMPILE_PTX_LIMIT = 64 << 20
};

/* Finds a header in a folder above the source, or in one there that is usually passed to compilers
 * (include/). */
bool unit_find_header(const Unit *unit, const char *name, char whole[PATH_MAX]);

/* True if any file names clusters, __cluster_dims__ or cooperative_groups' this_cluster(). */
bool unit_needs_clusters(const Unit *unit);

#endif
