/* Session: a run from the choice of the kernel to what the interface and the reports read. It plans and
 * executes the kernel; or it opens what was saved of a run, which executes nothing. The only folder that sees
 * every layer; the interface sees the session and the trace, never a producer. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "base/memory.h"
#include "catalog/catalog.h"
#include "findings/findings.h"
#include "metrics/metrics.h"
#include "report/report.h"
#include "sass/compare.h"
#include "trace/folds.h"
#include "trace/grid_timeline.h"
#include "trace/measured.h"
#include "trace/steps.h"
#include "trace/trace.h"

/* The producer of the traced blocks' events; everything else is the emulator's in any case. */
typedef enum SessionBackend {
    BACKEND_EMULATOR,
    BACKEND_AUTO, /* a GPU where there is one that can run the kernel, else the emulator */
    BACKEND_GPU   /* session_open() fails where there is none */
} SessionBackend;

typedef enum SessionCounters { /* hardware counters beside the predictions: session_measured() */
                               COUNTERS_NONE,
                               COUNTERS_ON_GPU, /* where the run is captured on one */
                               COUNTERS_ASKED /* emulated or not; where there are none, the report says why */
} SessionCounters;

typedef struct SessionProgress { /* of a run that is under way, for another thread to read */
    volatile uint64_t done,
        blocks; /* of all launches; blocks 0: nothing runs yet. A run that is tried with other sizes, or
                                       in one thread, begins anew */
    const char
        *volatile what; /* what goes on behind the run, of which `done` and `blocks` are then; NULL: nothing */
} SessionProgress;

typedef struct SessionOptions {
    const char *saved;  /* FILE.redviz: opened, and nothing below counts; or NULL */
    bool is_from_file;  /* they were read from a FILE.redviz: files that they name are not to be opened */
    const char *kernel; /* catalogue name, or NULL */
    const char *file;   /* FILE.cu or FILE.ptx, or NULL */
    const char *text;   /* what it contains, where there is no such file; borrowed, not copied; or NULL */
    const char
        *ptx; /* runs in place of the kernel's own PTX, of which it is a changed copy; borrowed; or NULL */
    const char *entry, *args;
    const char *launches; /* instead of both, and of grid and block: catalog/launches.h; NULL */
    const char *expect;   /* what the result should be: catalog/expect.h; NULL: found by itself */
    const char *compiler, *compile_flags; /* for FILE.cu: see compile.h; NULL: chosen, none */
    bool no_cache;                        /* FILE.cu is compiled anew */
    const char *sources;        /* a folder whose files may be opened as sources (sources.h); NULL: none */
    CatalogOptions catalog;     /* n, block, grid, dtype, op, parameters, fill, seed */
    uint32_t grid[3], block[3]; /* as given for files; 0: not given */
    uint32_t cluster[3];        /* the same */
    uint32_t shared_bytes;
    bool has_shared; /* shared_bytes was given, be it 0 */
    bool cooperative;
    bool has_trace_blocks;
    uint32_t trace_first, trace_last;
    uint64_t schedule;
    SessionBackend backend;
    int threads;
    uint64_t instruction_budget;
    bool first_look; /* large runs may end after the traced blocks: see session_is_partial() */
    bool
        has_events; /* nothing is captured on a GPU: session_take_events() hands over what another session captured */
    SessionCounters counters;
    bool times_blocks; /* a run that is captured on a GPU also gets its grid: session_grid() */
    bool measure_sass; /* session_measure_sass(), when the run is over */
    bool keep_inputs;  /* session_verify() needs them */
    bool
        search_races; /* races are looked for while it runs, which takes some times as long: session_hazards() */
    /* Of processor time that other orders and proofs may take (session_search_orders(), session_prove()); 0: a second, three
     * seconds. What is given up is in Findings.limits. */
    double order_seconds, proof_seconds;
    bool keep_going;        /* accesses out of bounds read 0 and write nothing; each is a finding */
    bool until_unsupported; /* runs although instructions are not emulated, up to the first that is reached */
    Text *
        unsupported; /* gets the list of them where that is why session_open() fails; NULL: it is not needed */
    const char *machine; /* whose recordings are shown: "h200", "h100"; NULL: h200 */
    bool
        ends_at_interrupt; /* Ctrl-C while blocks run ends the run, with what is known: session_is_interrupted() */
    SessionProgress *progress;   /* counts while session_open() runs the kernel; NULL: nobody asks */
    const volatile bool *cancel; /* true ends session_open() early, with an error; NULL: never */
} SessionOptions;

typedef struct Session Session;

/* A line each: SQLite, and what there is of NVIDIA's libraries. */
void session_about(Text *out);

/* Runs the kernel to its end. NULL with `error` on bad input. A kernel that traps or is wrong still gives
 * a session. */
Session *session_open(const SessionOptions *options, Error *error);
/* The same of a plan, which is copied: of the options, those count that say how it is run and shown. Where the plan has no module,
 * it is the options' kernel. */
Session *session_open_plan(const Plan *plan, const SessionOptions *options, Error *error);
/* The plan that was run, with its module; the caller's. Not of a saved session. */
void session_copy_plan(const Session *session, Plan *copy);
void session_free(Session *session);

/* Keeps the session in `path` (FILE.redviz), from which session_open() makes one that answers the same.
 * Whatever happens meanwhile, the file is what it was before, or complete. It contains no absolute path, and equal runs
 * give equal bytes where $SOURCE_DATE_EPOCH is set. Not for a session that is partial.
 */
bool session_save(Session *session, const char *path, Error *error);
bool session_is_from_file(const Session *session);

const SessionOptions *session_options(const Session *session); /* its own copy, strings included */
SessionOptions session_options_copy(const SessionOptions *options, Arena *arena); /* strings in the arena */
/* Options of one run, for another kernel of the catalogue: what that one does not take (its parameters, a
 * type, a block size) goes back to the kernel's default. `kernel` is borrowed. */
void session_options_for_kernel(SessionOptions *options, const char *kernel);
/* The same for another kernel of their file: its launch and its arguments are read or guessed anew. `entry` is borrowed. */
void session_options_for_entry(SessionOptions *options, const char *entry);
/* Sets one of them by its name on the command line: n, block, grid, dtype, op, param, fill, seed, entry, trace-blocks or
 * schedule. `value` is borrowed where it stays text. false: there is no such value; the error names the option. */
bool session_set(SessionOptions *options, const char *name, const char *value, Error *error);
/* "NAME=VALUE": the same, or a parameter of the kernel. */
bool session_set_item(SessionOptions *options, const char *item, Error *error);
const CatalogRow *session_row(const Session *session); /* NULL: not a catalogue kernel */
const CatalogRun *session_run(const Session *session); /* resolved options; NULL as above */
const Trace *session_trace(const Session *session);
const ExpectResult *session_result(const Session *session); /* NULL: no reference */
/* Only blocks up to the last traced one ran, and no launch after theirs: their events are those of the whole
 * run, but counters of the grid and the result are not known. Opened again without first_look, they are. */
bool session_is_partial(const Session *session);
/* Ctrl-C ended it: counters are of what ran until then, and the result is not known. It is partial, too. */
bool session_is_interrupted(const Session *session);
/* The whole run, opened with has_events, takes over what `first`, a first look at it, captured on a GPU: events, memory
 * after the run, result, grid. `first` may only be freed from then on. Where `first` captured nothing, or is a run of other
 * code, nothing changes. */
void session_take_events(Session *whole, Session *first);
/* The files that a user may change: FILE.ptx, or FILE.cu and what it includes; none for the catalogue. */
const char *const *session_files(const Session *session, int *count);
/* The kernels of the file, as --entry takes them, in the order of its PTX; none for the catalogue and saved sessions. */
const char *const *session_entries(Session *session, int *count);
/* The options that were guessed for a kernel that is in no catalogue: "--args 'in=float[n]:random, n'
 * --block 256". NULL: none. */
const char *session_guess(const Session *session);
/* Those that were read in the file's host code, and where: "--grid 64 --block 256 (line 70)". NULL: none. */
const char *session_read(const Session *session);
/* Are its arguments, or its launches, among those? */
bool session_reads_arguments(const Session *session);
/* What the result of such a kernel was compared with: "sum(in)"; NULL: it was not. */
const char *session_looks_like(const Session *session);
/* Of a result that was compared with nothing: "every element counts alike, as in sum(f(x, y))", "it depends on the order of the
 * elements", or "not all elements are loaded", where runs with other elements show that, whatever f is (user_alike.c); NULL: they
 * show none of these, or it was compared.
 * Takes up to some twenty runs at the first question. */
const char *session_symmetry(Session *session);
/* Its --args or --launch, given or guessed; NULL: a kernel of the catalogue, or of a saved session. */
const char *session_arguments(const Session *session);
const char *session_compiler(const Session *session); /* "nvcc"; NULL: nothing was compiled */
const char *session_name(const Session *session);
uint64_t session_n(const Session *session);
/* "EMULATED"; "H200 LIVE": events and results come from that GPU, counters of the grid from the emulator;
 * "RECORDED H200": the same, from a file. With the number of events that found no room. */
const char *session_backend(Session *session);
bool session_is_captured(const Session *session); /* its events come from a GPU */
/* Is a kernel running that does not return? Then this process cannot use the GPU any more, and must end by
 * _exit(). */
bool session_gpu_is_hung(void);
bool session_gpu_has_faulted(void);          /* or has a kernel faulted there? */
bool session_failed(const Session *session); /* fatal trap, or wrong result of a checked kernel */
/* The run ended at an instruction that is not emulated: what comes behind it is not known. */
bool session_is_unsupported(const Session *session);

/* The traced blocks of all launches, in order: what can be played. */
typedef struct SessionBlock {
    int launch;
    const TraceBlock *block;
    Steps *steps;
} SessionBlock;
int session_block_count(const Session *session);
const SessionBlock *session_block(const Session *session, int index);

/* Source text of a file named by the line table; NULL where it cannot be found. Lines are from 1. */
/* A source file that is there and was not opened, since it lies neither beside the kernel nor in options.sources; NULL:
 * none. Every file of the line table is looked for. */
const char *session_unopened_source(Session *session);
int session_source_line_count(Session *session, const char *file);
const char *session_source_line(Session *session, const char *file, int line);
const char *session_ptx_line(Session *session, int launch, int pc); /* the instruction as text */

/* Questions about values (emulator re-execution behind them); -1 / false where they cannot be answered. */
double session_progress(const Session *session, int view, int event);
bool session_event_weights(const Session *session, int view, int event, uint32_t weight[32],
                           int32_t producer[32]);
bool session_register(const Session *session, int view, int event, int warp, const char *name,
                      uint64_t bits[32], uint32_t weight[32], int32_t producer[32]);

/* Blocks with up to so many events are replayed when a question about them is asked. The largest take
 * about a second, once, and 170 MB with their folds. (A block that loads 2^20 elements warp by warp has a
 * few more than 2^16.) */
enum { SESSION_MOST_EVENTS = 17 << 12 };

/* Where the buffer of the launch's arguments lay while the emulator ran the kernel. False: it is not one of them. */
bool session_buffer_address(const Session *session, int buffer, uint64_t *address);

/* The folds of the view's block (trace/folds.h), found at the first question; the session's. NULL: not known. */
const Folds *session_folds(const Session *session, int view);
/* The same of the other blocks of the view's launch, traced or not, one after another, where they are few. */
void session_visit_other_folds(Session *session, int view,
                               void (*visit)(void *context, const Folds *folds, const Steps *steps),
                               void *context);

/* What is wrong with the run, and what is slow about it; the session's. Where races were not searched for,
 * the first question runs it again. NULL: not known, of a run that is partial or of a file without them. */
Findings *session_hazards(Session *session);

/* Where an access out of bounds has ended the run: runs it again past it, and adds the races that come behind. */
void session_search_behind(Session *session);
/* Runs it again in other orders of warps and blocks, schedules 0 to SESSION_ORDERS_SEARCHED, where what is ordered depends on
 * the order (atomics, fences), and adds the races that they show to those of the run. Not of long runs. */
enum { SESSION_ORDERS_SEARCHED = 5 };
void session_search_orders(Session *session);

/* Looks, for each of the errors, for what to insert so that it is gone, and proves it in a copy (findings.h,
 * FindingCause). It takes some times as long as the run; once. */
void session_prove(Session *session);

/* Where there is a race: an order of warps and blocks in which the result differs, searched for among schedules, once. `result`, `instead_of`: as they are shown. */
typedef struct SessionOrder {
    uint64_t schedule; /* --schedule gives it again; 0: none was found */
    uint64_t tried;    /* schedules 1 to this one; 0: there was no need */
    char result[64], instead_of[64];
} SessionOrder;
const SessionOrder *session_bad_order(Session *session);
/* The run in such an order. NULL: there is no race, none of the schedules that were tried has another result, or as
 * session_open(). */
Session *session_open_in_bad_order(const SessionOptions *options, Error *error);

/* Measurements of this kernel and of those that it is compared with; empty: none. */
Measurements *session_measured(Session *session);
/* When a saved session was recorded: UTC, "2026-11-21T15:00:00Z"; NULL: it was not opened from a file. */
const char *session_recorded(const Session *session);
/* Why hardware counters that were asked for are not there; NULL: they are, or were not asked for. */
const char *session_uncounted(const Session *session);

/* Where and when each block was on a machine. */
typedef struct SessionGrid {
    GridTimeline *timeline; /* the session's; NULL: not known */
    bool is_live;  /* of this very run, on this machine; else of the same kernel: recorded, perhaps of another
                               size and type */
    bool is_saved; /* of this very run, from its session file */
    const char *why; /* why there is none, or no live one, in one line; NULL: it was not tried */
} SessionGrid;
const SessionGrid *session_grid(Session *session);
/* The same, of a run with these launches, size and type only; NULL: not known. */
const GridTimeline *session_own_grid(Session *session);
/* The machine code of a launch, with what a GPU counted and sampled of it; the session's. Measured here where that was
 * done (session_set_sass), else recorded on options.machine, of the catalogue's kernels. NULL: there is none; *why
 * (may be NULL) is one line that says what is missing. */
const SassKernel *session_sass(Session *session, int launch, const char **why);
/* It was measured by this process, on this machine; else recorded. */
bool session_sass_is_live(Session *session, int launch);
/* The same beside its PTX; NULL where session_sass() is. */
const SassComparison *session_compared_sass(Session *session, int launch);
/* Takes over what was measured of a launch just now, in place of what session_sass() gave before. */
void session_set_sass(Session *session, int launch, SassKernel *kernel);
/* Measures the launches on the GPU of this machine, and takes them over, or what they lack; it takes about a second. The
 * session was opened with keep_inputs; session_open() does it where options.measure_sass says so. */
void session_measure_sass(Session *session);
/* What the GPU refused, a line each. */
enum { SESSION_SASS_NOTES = 8 };
const char *const *session_sass_notes(const Session *session, int *count);
/* Why there is none, where measuring failed: what session_sass() says unless it is recorded. Copied. */
void session_miss_sass(Session *session, int launch, const char *why);
/* --sass: the machine code of all launches by source line. */
void session_print_sass(Session *session, bool json, Text *out);

/* Runs it once more on a GPU, instrumented: are the events of the traced blocks the same? Prints the
 * answer to `out`. The session was opened with keep_inputs. false with `error`: it could not be done. */
bool session_verify(const Session *session, Text *out, bool *same, Error *error);

/* The same against a recorded trace of the same run. The emulator runs once more, with the values that
 * `recorded` has where only scheduling decides (emulator.h). `base`: [recorded->buffer_count] where the
 * buffers lay, 0: not known; NULL: where the emulator has them. `approximate`: it holds results of
 * .approx, too. */
typedef struct SessionOther {
    const Trace *recorded;
    const uint64_t *base;
    const char *name; /* "NVIDIA H200" */
    bool approximate;
} SessionOther;
bool session_compare(const Session *session, const SessionOther *other, Text *out, bool *same, Error *error);

void session_report(Session *session, bool json, Text *out);
/* --check: the hazards of the run. */
typedef enum SessionCheckForm { CHECK_TEXT, CHECK_JSON, CHECK_SARIF } SessionCheckForm;
void session_check(Session *session, SessionCheckForm form, Text *out);
void session_events(const Session *session, FILE *to);
bool session_dump(Session *session, const char *spec, FILE *to,
                  Error *error); /* BUFFER[:COUNT], BUFFER:@FILE.npy */

/* What the front end makes of a kernel: the parsed module, basic blocks, or the program lowered for the emulator. Nothing is
 * run. */
typedef enum SessionForm { FORM_IR, FORM_FLOW, FORM_OPS } SessionForm;
bool session_dump_front_end(const SessionOptions *options, SessionForm form, Text *out, Error *error);

/* The entries of FILE.cu or FILE.ptx: parameters, and what the file says of their launch. A line each, or JSON. */
bool session_list_entries(const SessionOptions *options, bool json, Text *out, Error *error);

#endif
