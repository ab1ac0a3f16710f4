/* RunSpec: all that decides a run, as a value; and who watches it. Its fields are the rows of
 * run_spec.def. */
#ifndef SESSION_RUN_SPEC_H
#define SESSION_RUN_SPEC_H

#include "base/memory.h"
#include "base/text.h"
#include "catalog/catalog.h"
#include "trace/hold.h"
#include "trace/observer.h"
#include <stdatomic.h>

/* Who produces the events of the traced blocks. The emulator produces everything else. */
typedef enum SessionBackend {
    BACKEND_EMULATOR,
    BACKEND_AUTO, /* a GPU if one can run the kernel, else the emulator */
    BACKEND_GPU   /* a GPU; session_open() fails without one */
} SessionBackend;

/* When hardware counters stand beside the predictions (session_measured()). */
typedef enum SessionCounters {
    COUNTERS_NONE,
    COUNTERS_ON_GPU, /* if the run is captured on a GPU */
    COUNTERS_ASKED   /* always; without a GPU the report says why there are none */
} SessionCounters;

/* Progress of a run, for another thread to read. */
typedef struct SessionProgress {
    /* Of all launches; both start again when a run is repeated with other sizes. `blocks` 0: nothing runs,
     * or a program does, whose launches `done` counts. */
    _Atomic uint64_t done, blocks;
    /* The work before or after the run, which `done` and `blocks` then count; NULL: none. */
    const char *_Atomic what;
} SessionProgress;

/* A remedy of a slow finding, tried in a changed copy of the PTX: RunSpec.ptx. */
typedef struct SessionWhatIf {
    const char *label;    /* "pad `sums`"; NULL: the kernel is as it was */
    int finding, number;  /* in the verdict of the unchanged run; in its remedies (ask/ask.h) */
    uint32_t more_shared; /* bytes that the changed copy adds to dynamic shared memory */
} SessionWhatIf;

enum { SESSION_RESIDENCIES = 8 };

typedef struct RunSpec {
#define DECLARE_FLAG(name)    bool name;
#define DECLARE_INT(name)     int name;
#define DECLARE_COUNT(name)   uint32_t name;
#define DECLARE_TRIPLE(name)  uint32_t name[3];
#define DECLARE_COUNTS(name)  uint32_t name[SESSION_RESIDENCIES];
#define DECLARE_WORD(name)    uint64_t name;
#define DECLARE_REAL(name)    double name;
#define DECLARE_TEXT(name)    const char *name;
#define DECLARE_LOOSE(name)   const char *name;
#define DECLARE_HOLDS(name)   const Hold *name;
#define FIELD(kind, name, of) DECLARE_##kind(name)
#define TYPED(type, name, of) type name;
#define PART(type, name)      type name;
#define WITHIN(kind, name, of)
#include "session/run_spec.def"
} RunSpec;

/* Strings and holds of the copy are in the arena; what is LOOSE or TYPED stays the caller's. */
RunSpec run_spec_copy(const RunSpec *spec, Arena *arena);
/* True if both describe the same run, whoever watches it. */
bool run_spec_equal(const RunSpec *a, const RunSpec *b);
/* The kernel as it was before a remedy was tried. */
void run_spec_drop_remedy(RunSpec *spec);
/* Turns the specification of a run into that of another kernel of the catalogue. Parameters, type and block
 * size that it does not accept become its defaults. `kernel` is borrowed. */
void run_spec_choose_kernel(RunSpec *spec, const char *kernel);
/* The same for another kernel of the file: its launch and arguments are read or guessed again. `entry` is
 * borrowed. */
void run_spec_choose_entry(RunSpec *spec, const char *entry);
/* run_setting.c: sets a field by its name on the command line: n, block, grid, dtype, op, param, fill, seed,
 * entry, trace-blocks, schedule or source. A `value` that stays text is borrowed. False for a bad value; the
 * error names the option. */
bool run_spec_set(RunSpec *spec, const char *name, const char *value, Error *error);
/* The same for "NAME=VALUE", where NAME may also be a parameter of the kernel. */
bool run_spec_set_item(RunSpec *spec, const char *item, Error *error);

#endif
