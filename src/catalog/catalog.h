/* The catalogue of kernels: the lesson, the launch and the expected result of each.
 *
 * A kernel is one .cu or .py file in kernels/ and one row in ladder_rows.c, asynchronous.c, numerics.c,
 * triton.c, labs.c or bugs.c (rows.h). */
#ifndef CATALOG_CATALOG_H
#define CATALOG_CATALOG_H

#include "expect/reference.h"

typedef enum CatalogGroup {
    CATALOG_LADDER,
    CATALOG_NUMERICS,
    CATALOG_TRITON,
    CATALOG_LAB,
    CATALOG_BUG
} CatalogGroup;

typedef struct CatalogParameter { /* --param NAME=VALUE */
    const char *name;
    int64_t minimum, maximum, fallback; /* not negative; fallback: the default */
    const char *meaning;
} CatalogParameter;

enum { CATALOG_PARAMETERS = 6 };

/* The kernel that does otherwise what a slow finding is about. */
typedef struct CatalogNext {
    const char *finding; /* the kind by its text (findings/races/finding_kinds.def); NULL: of any kind */
    const char *kernel;
} CatalogNext;
enum { CATALOG_NEXT = 3 };

typedef struct CatalogOptions { /* options of the command line; 0 or NULL: the row's default */
    uint64_t n;
    uint32_t block;   /* threads per block */
    uint32_t grid;    /* blocks, for kernels with a free grid */
    uint32_t cluster; /* blocks of a cluster, for kernels launched in clusters */
    PtxType dtype;
    const char *op;                             /* "sum", "min", "max", "argmax" */
    const char *parameters[CATALOG_PARAMETERS]; /* "stride=4" */
    int parameter_count;
    FillKind fill;
    bool has_fill;
    bool prefers_digits; /* without a fill: sums use digits, unless the row's lesson needs another input */
    bool whole_numbers;  /* for tests: random floats that are small integers */
    const char *fill_path;
    uint64_t seed;
    uint32_t multiprocessors; /* for grids that depend on the device; 0: 132 (H200) */
} CatalogOptions;

typedef struct CatalogRow CatalogRow;

typedef struct CatalogRun { /* options resolved by the row: every field is set */
    const CatalogRow *row;
    uint64_t n;
    uint32_t block;
    uint32_t grid;    /* as requested; 0: the row chooses (see the plan's launches) */
    uint32_t cluster; /* blocks of a cluster; 0: no clusters */
    PtxType dtype;
    const char *op;
    int64_t parameters[CATALOG_PARAMETERS]; /* in the order of the row's parameters */
    FillKind fill;
    bool whole_numbers;
    const char *fill_path; /* borrowed from the options */
    uint64_t seed;
    uint32_t multiprocessors;
} CatalogRun;

struct CatalogRow {
    const char *id;
    const char *aliases; /* "K0"; NULL: none */
    CatalogGroup group;
    const char *title;  /* a few words, for the header of the screen */
    const char *story;  /* the first line of the screen, at most 78 characters: what to watch */
    const char *lesson; /* one sentence */
    /* Where the lesson is seen: a kind of event and a text of its source line, "shared_load shared[tid";
     * NULL: where any kernel opens. */
    const char *opens;
    const char *watch;      /* what to watch for, one sentence */
    const char *source;     /* "interleaved.cu"; the PTX has the same name with .ptx */
    const char *types;      /* "int float double" */
    const char *operations; /* "sum min max" */
    uint32_t default_block, minimum_block, maximum_block;
    const char *block_rule; /* "any", "power of two", "multiple of 32", ... as in error messages */
    uint64_t default_n;
    FillKind fill;      /* the input that the lesson needs; ZERO: any will do */
    bool has_free_grid; /* --grid is accepted; else the grid follows from n and the block */
    /* Blocks of a cluster, which --cluster changes; 0: not launched in clusters. */
    uint32_t default_cluster;
    bool (*accepts_block)(uint32_t block); /* NULL: any size in the range */
    const char
        /* Names of the elements of its buffer "cycles", separated by semicolons: clock cycles that the kernel
         * itself measured, each for the parameter `steps` dependent steps; 0: not measured. NULL: no such
         * buffer. */
        *latencies;
    CatalogParameter parameters[CATALOG_PARAMETERS];
    /* of each parameter, what its values are called, [maximum + 1]; NULL: they are quantities */
    const char *const *value_names[CATALOG_PARAMETERS];
    CatalogNext next[CATALOG_NEXT];
    /* Buffers and launches; the second is of a row that refuses some runs. One of them is NULL. */
    void (*plan)(const CatalogRun *run, Plan *plan);
    bool (*plan_if)(const CatalogRun *run, Plan *plan, Error *error);
    void (*check)(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result);
};

int catalog_count(void);
const CatalogRow *catalog_row(int index);
/* By id or alias; an unknown name fails and suggests the nearest. */
const CatalogRow *catalog_find(const char *name, Error *error);
/* Resolves defaults and rejects invalid options, in one line that names the valid ones. */
bool catalog_resolve(const CatalogRow *row, const CatalogOptions *options, CatalogRun *run, Error *error);
/* Adds the buffers and launches of the run. */
bool catalog_plan(const CatalogRun *run, Plan *plan, Error *error);
/* The operation of this name, a static string; NULL: there is none. */
const char *catalog_operation(const char *op);
/* The input if no fill is given. */
FillKind catalog_default_fill(const CatalogRow *row, const char *op, bool prefers_digits);
/* A path in kernels/ or assets/ptx of the build tree, the installed share folder, or $REDVIZ_SHARE. */
bool catalog_path(const char *folder, const char *name, char *path, size_t path_bytes, Error *error);
/* The row's PTX file, which may also have entries of other rows. */
bool catalog_ptx_path(const CatalogRow *row, char *path, size_t path_bytes, Error *error);
/* As above, parsed; NULL with `error`. The caller frees it with ptx_module_free(). */
PtxModule *catalog_module(const CatalogRow *row, Error *error);

#endif
