/* The state of a session. code.c finds and plans the kernel,
 * open.c runs it, file.c saves the session and opens it again, state.c has what these share, the others
 * give what it holds. src/ask answers questions about it, and is the only other folder that includes this. */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include "session/session.h"

#include "compile/compile.h"
#include "emulator/emulator.h"
#include "guess/guess.h"
#include "session/sources.h"
#include <limits.h>
#include <stdatomic.h>

enum { PTX_LIMIT_BYTES = 256 << 20 };

typedef struct TracedBlock {
    SessionBlock shown;
    Replay *replay; /* opened at the first question */
    bool replay_failed;
    Folds *folds; /* NULL until asked for */
    bool folds_failed;
} TracedBlock;

/* The parts of a session that change together: */

typedef struct SessionKernel {     /* what runs, and how it is named */
    const char *name, *dtype, *op; /* dtype, op NULL: not known */
    uint64_t n;
    const CatalogRow *row; /* NULL: in no catalogue */
    CatalogRun run;        /* of `row` */
} SessionKernel;

typedef struct SessionCode { /* the PTX, and what it was made of */
    char path[PATH_MAX + 16];
    char *text;
    const char *source;           /* FILE.cu as it was compiled; NULL: nothing was */
    CompileOptions compiled_with; /* if it was */
    bool is_edited;               /* session_is_edited() */
    PtxModule *module;
    PtxModule **others; /* [other_count] further modules of a plan */
    int other_count;
    const char *compiler; /* of FILE.cu; NULL: it was PTX */
    const char *refusal;  /* "nvrtc, since nvcc failed: ...": of several; NULL: the first compiled it */
    const char **files;   /* session_files() */
    int file_count;
    const char **entries; /* session_entries(); NULL: not asked for */
    int entry_count;
} SessionCode;

typedef struct SessionLaunches { /* [count] each */
    int count;
    PtxProgram **programs; /* launches of one entry share a program */
    Launch *bound;         /* to the emulator's addresses; of a file: to those it had */
    int *registers;
    double *occupancy;
    bool *has_others;        /* the trace's `others` are complete */
    const char ***ptx_lines; /* [launch][pc]: instructions as text; NULL until asked for */
} SessionLaunches;

/* A plan, and what came of it. */
typedef struct SessionRun {
    Arena arena;
    Plan plan,
        /* after and before the run; `filled` is kept until the result is checked. Of a file: only buffers,
         * and their bytes where the run changed them */
        filled;
    SessionLaunches launches;
    Emulator *emulator; /* NULL: from a file */
    Trace *trace;
    RaceDetector *detector; /* NULL: races were not searched for */
    TraceObserver observer; /* the detector's */
    Hold *holds;            /* [options.hold_count] those of the options, with their ends */
    _Atomic uint64_t blocks_done;
    atomic_bool interrupted; /* by Ctrl-C */
    bool is_partial;
} SessionRun;

typedef struct SessionSass {                     /* the machine code of a launch */
    SassKernel kernel;                           /* count 0: not known */
    SassComparison comparison;                   /* beside the PTX; program NULL until asked for */
    bool was_looked_for, was_assembled, is_live; /* was_assembled: it was tried */
    const char *why, *missed;                    /* why it is not known; why it could not be measured, NULL */
} SessionSass;

typedef struct SessionMachine { /* what a GPU recorded and measured */
    const char *device;         /* NULL: none recorded the events */
    int unprobed;               /* instructions that it could not record */
    const char *level;          /* session_backend(); NULL until asked for */
    Measurements measured;
    SessionSass *sass; /* [launches.count]; NULL until it is asked for */
    const char *sass_notes[SESSION_SASS_NOTES];
    int sass_note_count;
    const char *uncounted; /* why counters that were asked for are not in `measured`; NULL */
    SessionGrid grid;
    bool grid_was_read; /* recorded ones were looked for */
    SessionWarps warps;
    SessionTime time;
} SessionMachine;

typedef struct SessionFindings { /* what is wrong with the run */
    Findings *hazards;           /* NULL until asked for */
    Findings *counted;           /* without a search; NULL until asked for */
    bool has_samples;            /* `hazards` has its shares of samples */
    bool finds_orders, has_orders, has_late, has_proofs, has_deleted; /* they were looked for */
    bool has_reach;                                                   /* reach.c has looked */
    bool has_other_size;                                              /* other_size.c has run one */
    /* what is wrong with a size that is no multiple of the block; NULL: nothing, or not tried */
    const char *other_size;
    /* for which the result is right, too: "with small whole numbers in x"; NULL: none was tried */
    const char *other_input;
    bool has_first_nan;      /* first_nan.c has looked */
    const char *first_nan;   /* where the first NaN of finite input is stored; NULL: there is none */
    const char *reach;       /* which elements reach a result that is wrong for the others; NULL: not known */
    bool goes_behind;        /* copies go on behind the fault that ended the run */
    TraceLaunch *behind;     /* [launch] with the counters of such a copy; NULL: there was none */
    int orders_searched;     /* schedules 1 to this one were searched, too */
    struct Remedy *remedies; /* [hazards->cause_count] that were proved; NULL until tried */
    const struct AskRace *race; /* whose losing order this run is (ask_open_in_bad_order()); NULL: none */
} SessionFindings;

typedef struct SessionFile {     /* that the session was opened from; else NULL */
    const char *made_by, *saved; /* by which redviz, and when */
    struct Program *program;     /* that it holds, unless it was taken; else NULL */
} SessionFile;

enum { SESSION_VARIED = 8 };
typedef struct SessionVaried { /* the last runs that differ from the session's in a change */
    Session *runs[SESSION_VARIED];
    int count, next;
} SessionVaried;

struct Session {
    RunSpec options; /* catalog.n of a user's kernel is what was chosen */
    Arena arena;
    SessionKernel kernel;
    SessionCode code;
    Guess guess;         /* of a kernel that is in no catalogue; of a file: its texts */
    SessionRun *run;     /* NULL until there is a plan */
    uint64_t *checksums; /* of a file: [buffer] of its bytes; else NULL */
    int64_t fault_block; /* traced beside those asked for, since the first fault is there; -1: none is */
    bool is_planned;     /* the plan was given: it is not made anew */
    bool invents_n;      /* of a file: no size was asked for */
    bool is_unchecked;   /* a copy of a run whose result is not known: it is not compared */
    bool has_result;
    ExpectResult result;
    TracedBlock *views;
    int view_count;
    Sources sources;
    SessionMachine machine;
    SessionFindings findings;
    SessionFile file;
    SessionVaried *varied;
    int sharer_count; /* of a run that is kept: who else frees it */
};

/* A session without a run, with its own copy of the options. */
Session *session_new(const RunSpec *options);
/* code.c: fills `code`: the PTX of the kernel that the options name, compiled if need be. */
bool session_load_module(Session *session, Error *error);
bool session_keeps_products(const Session *session); /* its compile flags say so (ptx/contract.h) */
/* run_plan.c: gives an emulator the buffers of the plan, at their addresses. */
bool session_add_buffers(const Session *session, Emulator *emulator, const PlanBuffer *buffers, int count,
                         Error *error);
/* source.c: fails where a launch of `plan` finds no kernel in options.source, or one with other
 * parameters. */
bool session_check_source(const Session *session, const Plan *plan, Error *error);
/* code.c: the PTX of what was compiled with this text in place of one of its files; the caller's. NULL: it
 * does not compile. */
char *session_compile_changed(const Session *session, const char *file, const char *text);
/* code.c: of a program that redviz has compiled from one file, makes that file the source of the session. */
void session_find_source(Session *session);
/* What the options ask of a guess. */
GuessRequest session_guess_request(const Session *session);
/* run_plan.c: links the programs of `plan`, which the session's run takes over. */
bool session_take_plan(Session *session, const Plan *plan, Error *error);
/* The same of the plan that the options ask for, without a run. */
bool session_plan(Session *session, Error *error);
PtxModule *session_module(const Session *session, int index); /* of a plan */
/* [plan->launch_count] Its entries, in the session's modules; NULL: not there. */
void session_find_entries(const Session *session, const Plan *plan, const PtxFunction **entries);
/* code.c: the modules of a plan behind the first one. */
bool session_parse_others(Session *session, const Plan *plan, Error *error);
/* Links the launch's program, or takes that of an earlier launch with the same entry. */
bool session_link(Session *session, int launch, const char *entry, Error *error);
void session_run_free(SessionRun *run);
/* Runs `plan` on the emulator; the session's run is a new one, and the old one is the caller's. */
bool session_run_plan(Session *session, const Plan *plan, Error *error);
/* Compares the result of the run with its reference, or with --expect. */
bool session_judge(Session *session, Error *error);
/* run_copy.c: leaves out of `spec`, a copy of the session's options, what only a run that is shown needs. */
void session_make_quiet(const Session *of, RunSpec *spec);
/* Runs `plan`, which the copy takes over, with the session's guess; the caller's. NULL if it fails.
 * `is_unchecked`: its result is not compared. */
Session *session_run_copy(const Session *of, const RunSpec *spec, Plan *plan, bool is_unchecked);
/* other_input.c: makes a right result wrong where another input shows that it is. */
void session_try_other_input(Session *session);
/* Its result is right, and its run whole, without a fault and short enough to be run again for a closer
 * look. */
bool session_may_repeat(const Session *session);
/* Runs `plan`, which the copy takes over, on the emulator and compares its result; the caller's. NULL if it
 * fails. `has_shadow`: what is compared is the result without rounding. */
Session *session_judge_again(const Session *of, Plan *plan, bool has_shadow);
/* Runs a kernel of floats whose result is right within its bound once more with a shadow
 * (emulator/machine/shadow.h): what is off is rounding, or the result is wrong. */
void session_find_rounding(Session *session);
/* In a run with a shadow: its elements without rounding; the result of a row of the catalogue, compared with
 * them. */
ExpectShadow session_shadow(const Session *session);
void session_judge_shadow(Session *session);
void session_name_run(Session *session);
/* Fills `kernel`'s names, occupancy, and the blocks that can be played. */
void session_describe(Session *session);
/* unsupported.c: false with `error` and the list in options.unsupported where a launch needs what is not
 * emulated. */
bool session_check_supported(Session *session, Error *error);
void session_list_blocks(Session *session);
void session_drop_inputs(Session *session); /* frees `filled` */
/* A launch of the plan, for a backend that has the plan's buffers at `addresses`; the caller's. */
bool session_bind(const Session *session, int launch, const uint64_t *addresses, Launch *bound, Error *error);
/* The same for an emulator that holds the plan's buffers. */
bool session_bind_emulated(const Session *session, int launch, const Emulator *emulator, Launch *bound,
                           Error *error);
/* Events that found no room on a GPU, of all launches. */
uint64_t session_dropped_events(const Session *session);
/* Was a grid asked for? Else it may be made smaller, where a cooperative one does not fit a GPU. */
bool session_has_grid(const Session *session);
void session_set_grid(RunSpec *options, bool is_row, uint32_t blocks);
/* The host writes between its launches, or it has several modules. */
bool session_needs_emulator(const Plan *plan);
/* Runs it on a GPU, as it is, and adds what the hardware counted to `measured`; needs `filled`. Where that
 * cannot be, `uncounted` says why. */
void session_count(Session *session);
/* Runs it on a GPU with the residency probe and keeps the grid, or why there is none; needs `filled`. */
void session_measure_grid(Session *session);
/* As text of src/trace/grid_file.h; false: none was measured of this run. */
bool session_write_grid(const Session *session, Text *out);
/* Takes it over from the session's file, which may hold anything. */
bool session_read_grid(Session *session, const char *text, Error *error);
/* Makes the trace's `others` of a launch complete, where it has so few blocks that they can all be looked at.
 */
void session_trace_others(Session *session, int launch);

#endif
