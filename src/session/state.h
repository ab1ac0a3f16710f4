/* What a session is made of: shared by session.c, which runs a kernel, and session_file.c, which keeps a
 * session in a file and opens it again. Private to them. */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include "session/session.h"

#include "emulator/emulator.h"
#include "session/sources.h"
#include <limits.h>

enum { PTX_LIMIT_BYTES = 256 << 20 };

typedef struct TracedBlock {
    SessionBlock shown;
    Replay *replay; /* opened at the first question */
    bool replay_failed;
    Folds *folds; /* NULL until asked for */
    bool folds_failed;
} TracedBlock;

struct Session {
    SessionOptions options;
    Arena arena;
    const char *name, *dtype, *op; /* dtype, op NULL: not known */
    const char *device;            /* NULL: none */
    int unprobed;                  /* instructions that the GPU did not record */
    const char *level;             /* session_backend(); NULL until asked for */
    uint64_t n;
    char ptx_path[PATH_MAX + 16];
    const char *guess, *arguments; /* of a kernel that is in no catalogue */
    const char *compiler;          /* of FILE.cu; NULL: it was PTX */
    const char **files;
    int file_count;
    char *ptx_text;
    PtxModule *module;
    PtxProgram **programs; /* [launch]; launches of one entry share a program */
    const CatalogRow *row;
    CatalogRun run;
    Plan plan, filled;   /* after and before the run; `filled` is kept until the result is checked. Of a file:
                            only buffers,   and their bytes where the run changed them */
    uint64_t *checksums; /* of a file: [buffer] of its bytes; else NULL */
    volatile uint64_t blocks_done;
    bool is_partial;
    bool has_result;
    CatalogResult result;
    Emulator *emulator; /* NULL: from a file */
    Trace *trace;
    Launch *launches;  /* bound to the emulator's addresses; of a file: to those it had */
    int launch_count;  /* of `programs` and `launches` */
    int *registers;    /* [launch] */
    double *occupancy; /* [launch] */
    bool *has_others;  /* [launch] the trace's `others` are complete */
    TracedBlock *views;
    int view_count;
    Sources sources;
    const char ***ptx_lines; /* [launch][pc]: instructions as text; NULL until asked for */
    Measurements measured;
    const char *uncounted;  /* why counters that were asked for are not in `measured`; NULL */
    RaceDetector *detector; /* NULL: the run was not watched */
    TraceObserver observer;
    Hazards *hazards; /* NULL until asked for */
    SessionOrder order;
    bool has_order;              /* it was looked for */
    const char *made_by, *saved; /* of a file: by which redviz, and when; else NULL */
};

/* Links the launch's program, or takes that of an earlier launch with the same entry. */
bool session_link(Session *session, int launch, const char *entry, Error *error);
void session_list_blocks(Session *session);
/* A launch of the plan, for a backend that has the plan's buffers at `addresses`; the caller's. */
bool session_bind(const Session *session, int launch, const uint64_t *addresses, Launch *bound, Error *error);
/* The same for an emulator that holds the plan's buffers. */
bool session_bind_emulated(const Session *session, int launch, const Emulator *emulator, Launch *bound,
                           Error *error);
/* A fault that ended the run. */
bool session_has_fatal_trap(const Trace *trace);
/* Events that found no room on a GPU, of all launches. */
uint64_t session_dropped_events(const Session *session);
/* Was a grid asked for? Else it may be made smaller, where a cooperative one does not fit a GPU. */
bool session_has_grid(const Session *session);
SessionOptions session_options_of_grid(const Session *session, uint32_t blocks);
/* Runs it on a GPU, as it is, and adds what the hardware counted to `measured`; needs `filled`. Where that
 * cannot be, `uncounted` says why. */
void session_count(Session *session);
/* Makes the trace's `others` of a launch complete, where it has so few blocks that they can all be looked at.
 */
void session_trace_others(Session *session, int launch);

#endif
