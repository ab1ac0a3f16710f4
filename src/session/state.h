/* The state of a session. Private to src/session: code.c finds and plans the kernel,
 * open.c runs it, file.c saves the session and opens it again, state.c has what these share, the others
 * answer questions about it. */
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

/* The parts of a session that change together: */

typedef struct SessionKernel {     /* what runs, and how it is named */
    const char *name, *dtype, *op; /* dtype, op NULL: not known */
    uint64_t n;
    const CatalogRow *row;                /* NULL: in no catalogue */
    CatalogRun run;                       /* of `row` */
    const char *guess, *read, *arguments; /* options that were guessed, or read in its file; its --args */
    int block_choices;                    /* sizes that its guessed block may have; 0: it was not guessed */
    int profiles;      /* other values that its guessed numbers may have (user_profiles.c) */
    bool has_sides;    /* sizes that nothing tells were taken for the sides of a square */
    bool is_launched;  /* a launch of the kernel was read, which may be of others, too */
    int other_entries; /* other kernels of the file that may be meant (user_entry.c) */
    bool is_reduced;   /* n is less than in its file */
    bool is_cut;       /* less than what its kernels are compiled with */
    bool has_loop;     /* its launches are the rounds of a loop of the host's code */
    bool may_shrink;   /* n was not asked for, and may be less */
    uint64_t
        side; /* of a square, or a cube, of n elements: what sizes that nothing tells were guessed to be */
    const char
        *looks_like;   /* what the result was compared with: "sum(in)"; NULL: nothing, or a row's reference */
    bool is_said;      /* it was, by --expect */
    const char *alike; /* session_alike(); NULL until asked for, or it is not so */
    bool has_alike;    /* it was looked for */
} SessionKernel;

typedef struct SessionCode { /* the PTX, and what it was made of */
    char path[PATH_MAX + 16];
    char *text;
    PtxModule *module;
    const char *compiler; /* of FILE.cu; NULL: it was PTX */
    const char *refusal;  /* "nvrtc, since nvcc failed: ...": of several; NULL: the first compiled it */
    const char *guessed_instance; /* of a template that the file does not launch; NULL */
    const char **files;           /* session_files() */
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

typedef struct SessionSass {   /* the machine code of a launch */
    SassKernel kernel;         /* count 0: not known */
    SassComparison comparison; /* beside the PTX; program NULL until asked for */
    bool was_looked_for, is_live;
    const char *why, *missed; /* why it is not known; why it could not be measured, NULL */
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
} SessionMachine;

typedef struct SessionFindings { /* what is wrong with the run */
    RaceDetector *detector;      /* NULL: races were not searched for */
    TraceObserver observer;      /* the detector's */
    Findings *hazards;           /* NULL until asked for */
    SessionOrder order;
    bool has_order, has_orders, has_proofs, has_deleted; /* they were looked for */
    bool goes_behind;        /* copies go on behind the fault that ended the run */
    TraceLaunch *behind;     /* [launch] with the counters of such a copy; NULL: there was none */
    int orders_searched;     /* schedules 1 to this one were searched, too */
    struct Remedy *remedies; /* [hazards->cause_count] that were proved; NULL until tried */
} SessionFindings;

typedef struct SessionFile {     /* that the session was opened from; else NULL */
    const char *made_by, *saved; /* by which redviz, and when */
} SessionFile;

/* Elements that the inputs of a run have instead of their own (user_alike.c). */
typedef enum ElementsKind {
    ELEMENTS_OWN,
    ELEMENTS_EXCHANGED, /* the same ones, at other places */
    ELEMENTS_OTHER,     /* another draw */
    ELEMENTS_MIXED      /* each is its own or that of the other draw, by a coin */
} ElementsKind;
typedef struct SessionElements {
    ElementsKind kind;
    uint64_t group; /* so many stay together */
    uint64_t seed;  /* of the order */
    bool is_rest;   /* MIXED: with the coins turned over */
} SessionElements;

/* What runs with guessed sizes found out about them: the next run takes it over. */
typedef struct SessionTrial {
    int halvings; /* of a guessed grid, each of whose blocks takes more elements than was thought */
    uint64_t
        grow[64];    /* [parameter] so many times as many elements as were guessed are needed; 0: not tried */
    int block;       /* which of the sizes that a block may have (user_sizes.c) */
    int clean;       /* 1 + the first of these without a trap; 0: none yet */
    bool is_right;   /* the result with this one looks right, whatever --expect says */
    bool is_settled; /* none of them gave a result that is known */
    bool
        is_copy; /* of a run whose sizes are known: none is tried, and what is not to be asked of it is not found */
    bool
        has_no_result; /* a copy of one whose result looks like nothing that is known: neither will this one's */
    bool keeps_n;      /* n is the file's own, whatever that takes */
    bool no_loops;     /* the rounds of a loop gave nothing that is known */
    int quarterings; /* of an n that takes too long */
    int more_sides; /* an array has so many dimensions more than was thought: n is the product of as many sizes */
    SessionElements elements;
    /* Another guess than the likeliest (user_trials.c): */
    bool is_other;     /* one of these three differs */
    int profile;       /* which of the values that guessed numbers may have; 0: the likeliest */
    bool no_sides;     /* sizes that nothing tells are n each */
    int entry;         /* which of the other kernels of the file; 0: the chosen one */
    bool takes_hints;  /* what few elements may give by chance is taken: other draws confirm it */
    bool is_candidate; /* a short run of it, of which there is a session only if its result is right */
} SessionTrial;

struct Session {
    SessionOptions options; /* catalog.n of a user's kernel is what was made of asked_n */
    uint64_t asked_n;       /* 0: none was */
    Arena arena;
    SessionKernel kernel;
    SessionCode code;
    Plan plan, filled;   /* after and before the run; `filled` is kept until the result is checked. Of a file:
                            only buffers, and their bytes where the run changed them */
    uint64_t *checksums; /* of a file: [buffer] of its bytes; else NULL */
    SessionLaunches launches;
    Emulator *emulator; /* NULL: from a file */
    Trace *trace;
    volatile uint64_t blocks_done;
    bool is_partial;
    volatile bool interrupted; /* by Ctrl-C */
    SessionTrial trial;
    int64_t fault_block; /* traced beside those asked for, since the first fault is there; -1: none is */
    bool has_result;
    ExpectResult result;
    TracedBlock *views;
    int view_count;
    Sources sources;
    SessionMachine machine;
    SessionFindings findings;
    SessionFile file;
};

/* Fills `kernel`, `code` and `plan`, whose buffers have no bytes yet, as the options ask. */
bool session_plan(Session *session, Error *error);
/* Fills `code`: the PTX of the kernel that the options name, compiled if need be. */
bool session_load_module(Session *session, Error *error);
/* Links the launch's program, or takes that of an earlier launch with the same entry. */
bool session_link(Session *session, int launch, const char *entry, Error *error);
bool session_link_launches(Session *session, Error *error); /* all of the plan */
/* unsupported.c: false with `error` and the list in options.unsupported where a launch needs what is not emulated. */
bool session_check_supported(Session *session, Error *error);
/* The same of a kernel that is in no catalogue: what the options do not say is read in its file, or guessed, and said
 * (session_guess, session_read). `load` reads the module. */
bool session_plan_user_kernel(Session *session, bool (*load)(Session *session, Error *error), Error *error);
/* user_launches.c: the same of launches that are written down (catalog/launches.h); kernel.arguments gets them, complete. */
bool session_plan_launches(Session *session, const char *text, Error *error);
/* How inputs are filled, as --args has it: "random". */
const char *session_fill_text(Session *session);
/* The instance of a template that the file launches first, "reduce<float, 256>", else a guessed one; NULL: there is none. */
const char *session_launched_instance(Session *session, bool *is_guess);
/* Compares the result of such a kernel with --expect, or what it looks like. */
bool session_compare_user_kernel(Session *session, Error *error);
/* user_elements.c: elements are those of the largest inputs that are drawn at random; smaller inputs are parameters. */
bool session_is_drawn(const PlanBuffer *buffer);
uint64_t session_count_elements(const Plan *plan);
/* Gives the filled plan of such a kernel other elements. */
bool session_change_elements(Plan *plan, const SessionElements *elements, uint64_t seed, Error *error);
/* Is any of the launched entries so? */
bool session_any_entry(const Session *session, bool (*is_so)(const PtxFunction *entry));
/* The buffers that the last of several launches writes, [buffers], the caller's; NULL: not known, or there is one launch. */
bool *session_find_results(const Session *session, int buffers);
/* Such a kernel ran with guessed sizes that do not fit it, or for too long: `trial` has others, to be tried. */
bool session_resize(Session *session);
/* The rounds of a loop of the host gave nothing that is known: the next run is of one launch. */
bool session_leave_loop(Session *session);
/* Another block may be tried after this run. */
bool session_may_try_block(const Session *session);
/* The same of its block, where the result is not what it looks like, or like nothing. */
bool session_try_block(Session *session);
/* Of a run with other guesses there is to be no session: its result is not right. */
bool session_is_dropped(const Session *session);
/* Another session, with other guesses, whose result is what it looks like, where this one's looks like nothing that is known;
 * NULL: there is none. `open` opens one with a trial. */
typedef Session *SessionReopen(const SessionOptions *options, const SessionTrial *trial);
Session *session_try_others(const Session *session, const SessionOptions *given, SessionReopen *open);
/* Out of bounds, whether the run ended there or not. */
bool session_is_outside(TrapKind kind);
/* An access of shared memory; a buffer may be called so, too. */
bool session_is_of_shared(const Trap *trap);
void session_list_blocks(Session *session);
void session_drop_inputs(Session *session); /* frees `filled` */
/* A launch of the plan, for a backend that has the plan's buffers at `addresses`; the caller's. */
bool session_bind(const Session *session, int launch, const uint64_t *addresses, Launch *bound, Error *error);
/* The same for an emulator that holds the plan's buffers. */
bool session_bind_emulated(const Session *session, int launch, const Emulator *emulator, Launch *bound,
                           Error *error);
/* Warp instructions that were executed, of all launches; lanes that executed atomics of memory. */
uint64_t session_count_instructions(const Session *session);
uint64_t session_count_atomics(const Session *session);
/* A fault that ends the run on a GPU, whether it went on here or not. */
bool session_has_fault(const Trace *trace);
/* A fault that ended the run. */
bool session_has_fatal_trap(const Trace *trace);
bool session_is_stopped(const Trace *trace); /* its first fatal trap: an instruction that is not emulated */
/* Events that found no room on a GPU, of all launches. */
uint64_t session_dropped_events(const Session *session);
/* Was a grid asked for? Else it may be made smaller, where a cooperative one does not fit a GPU. */
bool session_has_grid(const Session *session);
SessionOptions session_options_of_grid(const Session *session, uint32_t blocks);
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
