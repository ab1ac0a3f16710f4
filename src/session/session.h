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
#include "trace/warp_timeline.h"
#include "trace/hold.h"
#include "trace/measured.h"
#include "trace/steps.h"
#include "trace/trace.h"

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
    /* Of all launches. `blocks` 0: nothing runs yet. Both start again when a run is repeated with other
     * sizes. */
    volatile uint64_t done, blocks;
    /* The work after the run, which `done` and `blocks` then count; NULL: none. */
    const char *volatile what;
} SessionProgress;

/* A remedy of a slow finding, tried in a changed copy of the PTX: SessionOptions.ptx. */
typedef struct SessionWhatIf {
    const char *label;    /* "pad `sums`"; NULL: the kernel is as it was */
    int finding, number;  /* in the verdict of the unchanged run; in its SessionRemedies */
    uint32_t more_shared; /* bytes that the changed copy adds to dynamic shared memory */
} SessionWhatIf;

enum { SESSION_RESIDENCIES = 8 };

typedef struct SessionOptions { /* strings may be NULL: not given */
    const char *saved;          /* FILE.redviz to open; nothing below counts then */
    bool is_from_file;  /* a FILE.redviz gave these options: files that they name must not be opened */
    const char *kernel; /* name in the catalogue */
    const char *file;   /* FILE.cu or FILE.ptx */
    const struct Program
        *program; /* whose captured launch `launch` (from 0) is shown (runtime/user_program.h); borrowed */
    int launch;
    const char *text; /* contents of `file`, if it exists only in memory; borrowed, not copied */
    const char *ptx;  /* a changed copy of the kernel's PTX, to run in its place */
    SessionWhatIf what_if;
    const char *source; /* FILE.cu, a changed copy of the source of `kernel`, to run in its place */
    const char *entry, *args;
    const char *launches;                 /* replaces entry, args, grid and block (plan/launches.h) */
    const char *expect;                   /* what the result should be (expect/expect.h) */
    const char *compiler, *compile_flags; /* for FILE.cu (compile.h) */
    bool no_cache;                        /* compiles FILE.cu even if its PTX is cached */
    const char *sources;                  /* folder whose files may be opened as sources (sources.h) */
    CatalogOptions catalog;               /* n, block, grid, dtype, op, parameters, fill, seed */
    uint32_t grid[3], block[3];           /* for files; 0: not given */
    uint32_t cluster[3];                  /* for files; 0: not given */
    uint32_t shared_bytes;
    bool has_shared; /* shared_bytes was given, even as 0 */
    bool cooperative;
    bool has_trace_blocks;
    uint32_t trace_first, trace_last;
    uint64_t schedule;
    const Hold *holds; /* [hold_count] threads that wait in addition (trace/hold.h) */
    int hold_count;
    const TraceObserver *observer; /* sees every access, in place of the race detector; NULL: none */
    SessionBackend backend;
    int threads;
    uint64_t instruction_budget;
    bool first_look; /* large runs may end after the traced blocks (session_is_partial()) */
    bool
        has_events; /* captures nothing on a GPU: session_take_events() brings the events of another session */
    SessionCounters counters;
    bool times_blocks; /* measures the grid of a run that is captured on a GPU (session_grid()) */
    bool times_warps;  /* session_measure_warps() */
    bool times_shared,
        times_lines; /* also waits for shared memory and shuffles; when each source line is reached */
    uint32_t residencies
        [SESSION_RESIDENCIES]; /* [residency_count] blocks on a multiprocessor at once, a timeline each */
    int residency_count;
    bool measure_sass; /* calls session_measure_sass() after the run */
    bool keep_inputs;  /* session_verify() needs them */
    bool search_races; /* searches for races during the run, which then takes longer (session_hazards()) */
    /* Processor time for other orders and for proofs (session_search_orders(), session_prove()); 0: one
     * second and three. What is given up stands in Findings.limits. */
    double order_seconds, proof_seconds;
    bool keep_going;        /* accesses out of bounds read 0 and write nothing; each is a finding */
    bool until_unsupported; /* runs up to the first instruction that is not emulated */
    Text *
        unsupported; /* gets the list of these instructions if session_open() fails because of them; or NULL */
    const char *machine;         /* whose recordings are shown: "h200" (also NULL), "h100" */
    bool ends_at_interrupt;      /* Ctrl-C ends the run and keeps what is known (session_is_interrupted()) */
    SessionProgress *progress;   /* counts while session_open() runs the kernel; or NULL */
    const volatile bool *cancel; /* true ends session_open() early, with an error; or NULL */
} SessionOptions;

typedef struct Session Session;

/* The versions of SQLite and of the NVIDIA libraries found here, a line each. */
void session_about(Text *out);

/* Runs the kernel to its end. NULL with `error` for bad input. A kernel that traps or gives a wrong result
 * still has a session. */
Session *session_open(const SessionOptions *options, Error *error);
/* Runs a copy of `plan`. The options say how it runs and what is shown, and name the kernel if the plan has
 * no module. */
Session *session_open_plan(const Plan *plan, const SessionOptions *options, Error *error);
/* The plan that was run, with its module; the caller's. Not of a saved session. */
void session_copy_plan(const Session *session, Plan *copy);
void session_free(Session *session);

/* Saves the session to `path` (FILE.redviz). session_open() makes a session of it that gives the same
 * answers. A failure leaves the file as it was. The file contains no absolute path, and equal runs give equal
 * bytes if $SOURCE_DATE_EPOCH is set. The session must not be partial. */
bool session_save(Session *session, const char *path, Error *error);
bool session_is_from_file(const Session *session);

const SessionOptions *session_options(const Session *session); /* its own copy, strings included */
SessionOptions session_options_copy(const SessionOptions *options, Arena *arena); /* strings in the arena */
/* The kernel as it was before a remedy was tried. */
void session_options_drop_remedy(SessionOptions *options);
/* Turns the options of a run into those of another kernel of the catalogue. Parameters, type and block size
 * that it does not accept become its defaults. `kernel` is borrowed. */
void session_options_for_kernel(SessionOptions *options, const char *kernel);
/* The same for another kernel of the file: its launch and arguments are read or guessed again. `entry` is
 * borrowed. */
void session_options_for_entry(SessionOptions *options, const char *entry);
/* Sets an option by its name on the command line: n, block, grid, dtype, op, param, fill, seed, entry,
 * trace-blocks, schedule or source. A `value` that stays text is borrowed. False for a bad value; the error names the
 * option. */
bool session_set(SessionOptions *options, const char *name, const char *value, Error *error);
/* The same for "NAME=VALUE", where NAME may also be a parameter of the kernel. */
bool session_set_item(SessionOptions *options, const char *item, Error *error);
const CatalogRow *session_row(const Session *session); /* NULL: not a catalogue kernel */
const CatalogRun *session_run(const Session *session); /* resolved options; NULL as above */
const Trace *session_trace(const Session *session);
const ExpectResult *session_result(const Session *session); /* NULL: no reference */
/* True if the run ended with the last traced block. The events of the traced blocks are complete; the
 * counters of the grid and the result are unknown. A session opened without first_look has them. */
bool session_is_partial(const Session *session);
/* True if Ctrl-C ended the run: it is partial, and its counters cover what ran until then. */
bool session_is_interrupted(const Session *session);
/* Moves what `first`, a first look, captured on a GPU (events, memory after the run, result, grid) to
 * `whole`, which was opened with has_events. `first` may then only be freed. Nothing changes if `first`
 * captured nothing or ran other code. */
void session_take_events(Session *whole, Session *first);
/* The files that a user may edit: FILE.ptx, or FILE.cu and its headers; none for the catalogue without
 * options.source. */
const char *const *session_files(const Session *session, int *count);
/* The kernels of the file by the names that --entry takes, in the order of the PTX; none for the catalogue
 * and for saved sessions. */
const char *const *session_entries(Session *session, int *count);
/* The guessed options of a kernel that is in no catalogue: "--args 'in=float[n]:random, n' --block 256"; or
 * NULL. */
const char *session_guess(const Session *session);
/* True if the file has a main(), which could be run in place of a guessed launch. */
bool session_has_program(const Session *session);
/* The program of a session file, whose launch it is: from now on the caller's, who frees it after the session (and after those
 * of its other launches). NULL: there is none. */
struct Program *session_take_program(Session *session);
/* True if the arguments or the launches were read in the host code of the file. */
bool session_reads_arguments(const Session *session);
/* True if the arguments hold values that nobody gave: faults, hazards and results are then those of a guess. */
bool session_is_guess(const Session *session);
/* The errors of session_hazards() that do not depend on what was guessed. A guessed length or element decides a fault in global
 * memory and a result; a race, or a barrier that hangs, depends on the block alone. */
int session_sure_errors(Session *session);
/* The function that the result of such a kernel was compared with, or looks like: "sum(in)"; NULL: neither. */
const char *session_looks_like(const Session *session);
/* The --args or --launch of the run, given or guessed; NULL for the catalogue and for saved sessions. */
const char *session_arguments(const Session *session);
const char *session_name(const Session *session);
uint64_t session_n(const Session *session);
/* "EMULATED"; "H200 LIVE": events and results come from that GPU, counters of the grid from the emulator;
 * "RECORDED H200": the same, from a file. Names the number of lost events if there are any. */
const char *session_backend(Session *session);
bool session_is_captured(const Session *session); /* its events come from a GPU */
/* True if a kernel on the GPU does not return. This process can then no longer use the GPU, and must end by
 * _exit(). */
bool session_gpu_is_hung(void);
bool session_gpu_has_faulted(void); /* true if a kernel faulted on the GPU */
/* True if a changed copy of its source or PTX ran: what is recorded of the kernel is not of this code. */
bool session_is_edited(const Session *session);
/* The first line in which the sources of two runs differ (of PTX, if no source was changed); from 1, in `after`;
 * 0: none, or only in what they include. */
int session_first_change(const Session *before, const Session *after);
/* A fault, or a wrong result of a checked kernel; of a guess only what --expect calls wrong. */
bool session_failed(const Session *session);
/* True if the run ended at an instruction that is not emulated; what follows it is unknown. */
bool session_is_unsupported(const Session *session);

/* The traced blocks of all launches, in order: those that can be played. */
typedef struct SessionBlock {
    int launch;
    const TraceBlock *block;
    Steps *steps;
} SessionBlock;
int session_block_count(const Session *session);
const SessionBlock *session_block(const Session *session, int index);

/* Source lines of a file in the line table, from 1; NULL if they cannot be found. */
/* A source file that exists but was not opened, because it lies neither beside the kernel nor in
 * options.sources; or NULL. Looks for every file of the line table. */
const char *session_unopened_source(Session *session);
int session_source_line_count(Session *session, const char *file);
const char *session_source_line(Session *session, const char *file, int line);
const char *session_ptx_line(Session *session, int launch, int pc); /* the instruction as text */

/* Values, found by running a block again; -1 or false if they cannot be known. */
double session_progress(const Session *session, int view, int event);
bool session_event_weights(const Session *session, int view, int event, uint32_t weight[32],
                           int32_t producer[32]);
bool session_register(const Session *session, int view, int event, int warp, const char *name,
                      uint64_t bits[32], uint32_t weight[32], int32_t producer[32]);

/* Largest number of events of a block that is replayed to answer a question. Such a block takes about a
 * second, once, and 170 MB with its folds. (A block that loads 2^20 elements warp by warp has a few more than
 * 2^16.) */
enum { SESSION_MOST_EVENTS = 17 << 12 };

/* The address of an argument's buffer in the emulator. False if `buffer` is not one of them. */
bool session_buffer_address(const Session *session, int buffer, uint64_t *address);

/* The folds of the view's block (trace/folds.h), which the session owns; NULL: unknown. */
const Folds *session_folds(const Session *session, int view);
/* Visits the folds of the other blocks of a small launch, traced or not. */
void session_visit_other_folds(Session *session, int view,
                               void (*visit)(void *context, const Folds *folds, const Steps *steps),
                               void *context);

/* What is wrong with the run, and what is slow; the session owns it. The first call runs the kernel again if
 * races were not searched for. NULL: unknown, for a partial run or a file without them. */
Findings *session_hazards(Session *session);
/* The same without a search: faults, the wrong result and the slow places of what has been counted. Never
 * NULL; the session owns it. */
const Findings *session_counted_findings(Session *session);
/* session_hazards() if that has run, else session_counted_findings(). */
const Findings *session_verdict(Session *session);

/* The remedies of a slow finding of session_verdict(), and what each one changes. */
typedef enum SessionRemedyKind {
    SESSION_PAD,     /* another layout of the shared array */
    SESSION_SWIZZLE, /* the same */
    SESSION_AND,     /* & for % */
    SESSION_NEXT     /* the kernel of the catalogue that does otherwise */
} SessionRemedyKind;
enum { SESSION_REMEDIES = 6 };
typedef struct SessionRemedy {
    SessionRemedyKind kind;
    const char *name; /* "pad", "swizzle", "&", or the kernel's name */
} SessionRemedy;
int session_remedies(Session *session, int finding, SessionRemedy remedies[SESSION_REMEDIES]);
/* Options of a run with remedy `number` (from 0) of the finding; strings in the arena. False with `error`, one
 * line: why it cannot be applied. `session` must have run whole. */
bool session_try(Session *session, int finding, int number, Arena *arena, SessionOptions *options,
                 Error *error);
/* The kernel of the catalogue that shows what to do about a slow finding that redviz cannot rewrite. */
const char *session_shown_by(FindingKind kind);
/* The first finding and its remedy of a kind; false: none has it. */
bool session_find_remedy(Session *session, SessionRemedyKind kind, int *finding, int *number);
/* What a remedy of `before` changed in `after`: one line, or a table. True if it helped: the count of the
 * finding's kind has fallen, and the result is the same. */
bool session_remedy_change(Session *before, Session *after, int finding, int number, Text *line);
bool session_remedy_table(Session *before, Session *after, int finding, int number, Text *out);

/* If an access out of bounds ended the run: runs the kernel again past it and adds the races found there. */
void session_search_behind(Session *session);
/* Runs the kernel in other orders of warps and blocks, schedules 0 to SESSION_ORDERS_SEARCHED, and adds the
 * races found. Only for short runs with atomics, fences and the like, whose order decides which accesses are
 * ordered. */
enum { SESSION_ORDERS_SEARCHED = 5 };
void session_search_orders(Session *session);

/* Searches for an insertion that removes each error, and proves it in a copy of the PTX (FindingCause). Takes
 * several times as long as the run, once. */
void session_prove(Session *session);

/* For the races of each cause, an order of the threads that changes the result, or why there is none (FindingCause). Runs
 * the kernel in orders that reverse pairs of racing accesses; takes about a second, once. */
void session_find_orders(Session *session);
/* The first of these orders; NULL: there is none. */
const FindingOrder *session_bad_order(Session *session);
/* Opens the run in such an order. NULL with `error` if there is no race, or no order that was tried changes
 * the result. */
Session *session_open_in_bad_order(const SessionOptions *options, Error *error);

/* Measurements of this kernel and of those it is compared with; may be empty. */
Measurements *session_measured(Session *session);
/* When a saved session was recorded: UTC, "2026-11-21T15:00:00Z"; NULL if it is not from a file. */
const char *session_recorded(const Session *session);
/* Why requested hardware counters are missing; or NULL. */
const char *session_uncounted(const Session *session);

/* Where and when each block ran on a machine. */
typedef struct SessionGrid {
    GridTimeline *timeline; /* the session's; NULL: not known */
    bool is_live;  /* of this very run, on this machine; else of the same kernel: recorded, perhaps of another
                               size and type */
    bool is_saved; /* of this very run, from its session file */
    const char *why; /* why there is no (live) timeline, in one line; NULL: not tried */
} SessionGrid;
const SessionGrid *session_grid(Session *session);
/* The same, but only of a run with these launches, size and type; NULL: unknown. */
const GridTimeline *session_own_grid(Session *session);
/* When each warp of one multiprocessor waited, and for what: the session's timelines, for each residency that was asked
 * for or recorded. A session file does not keep them. */
typedef struct SessionWarps {
    WarpTimeline **timelines;
    int count, capacity;
    bool
        is_live; /* of this very run, on this machine; else of the same kernel: recorded, perhaps of another size and type */
    bool has_failed; /* a GPU is here, and could not measure them */
    bool was_read;   /* recorded ones were looked for */
    const char *why; /* why there is no (live) timeline, in one line; NULL: there is one */
} SessionWarps;
const SessionWarps *session_warps(Session *session);
/* The source line of a site; NULL: unknown. */
const char *session_warps_source(Session *session, const WarpSite *site);
/* Measures the launches on the GPU of this machine; needs keep_inputs. session_open() calls it for options.times_warps. */
void session_measure_warps(Session *session);
/* The same beside the session: in another one of the same run, so that the interface goes on meanwhile. False: the
 * timelines are there already, or are not to be measured (a saved or partial run, one with a fault).
 * `wanted`: its options, with the residencies that are recorded. */
bool session_wants_warps(Session *session, SessionOptions *wanted);
/* Opens it. NULL with `error`: no GPU is here, or the run could not be opened. */
Session *session_open_for_warps(const SessionOptions *wanted, Error *error);
/* Moves what `from` measured, or the reason why it could not. NULL: `why`, one line, is the reason. False: the timelines are
 * those of before. */
bool session_take_warps(Session *session, Session *from, const char *why);
typedef enum SessionWarpsForm { WARPS_TEXT, WARPS_JSON, WARPS_PERFETTO, WARPS_TSV } SessionWarpsForm;
/* False with `error`: there is no timeline, which a trace for Perfetto or a table cannot say. */
bool session_print_warps(Session *session, SessionWarpsForm form, Text *out, Error *error);
/* The machine code of a launch, with what a GPU counted and sampled; the session owns it. It was measured
 * here (session_set_sass), recorded on options.machine for kernels of the catalogue, or assembled
 * (session_assemble_sass). NULL: none, and *why (may be NULL) says in one line what is missing. */
const SassKernel *session_sass(Session *session, int launch, const char **why);
/* Assembles it by ptxas unless it is known: it is then neither counted nor sampled. Takes a fraction of a second for
 * most kernels, `seconds` at most, and runs two programs, so only who shows machine code calls it; once a launch. */
void session_assemble_sass(Session *session, int launch, double seconds);
/* True if it was measured by this process. */
bool session_sass_is_live(Session *session, int launch);
/* The machine code beside its PTX; NULL if session_sass() is. */
const SassComparison *session_compared_sass(Session *session, int launch);
/* Takes over what was just measured of a launch; session_sass() gives it from now on. */
void session_set_sass(Session *session, int launch, SassKernel *kernel);
/* Measures the launches on the GPU of this machine and takes over the results, or the reason why they are
 * missing. Takes about a second. Needs keep_inputs. session_open() calls it for options.measure_sass. */
void session_measure_sass(Session *session);
/* What the GPU did not measure, a line each. */
enum { SESSION_SASS_NOTES = 8 };
const char *const *session_sass_notes(const Session *session, int *count);
/* Why measuring failed: session_sass() says it unless there is a recording. Copied. */
void session_miss_sass(Session *session, int launch, const char *why);
/* --sass: the machine code of all launches by source line. */
void session_print_sass(Session *session, bool json, Text *out);

/* Runs the kernel instrumented on a GPU and compares the events of the traced blocks. With
 * options.times_warps also the order and the number of the waits of the traced blocks' warps. Prints the answer to
 * `out`. Needs keep_inputs. False with `error` if it could not be done. */
bool session_verify(const Session *session, Text *out, bool *same, Error *error);

/* The same against a recorded trace of the run. The emulator runs once more and takes the values that only
 * scheduling decides from `recorded` (emulator.h). `base`: [recorded->buffer_count] addresses of the buffers,
 * 0: unknown; NULL: those of the emulator. `approximate`: the trace has results of .approx, too. */
typedef struct SessionOther {
    const Trace *recorded;
    const uint64_t *base;
    const char *name; /* "NVIDIA H200" */
    bool approximate;
} SessionOther;
bool session_compare(const Session *session, const SessionOther *other, Text *out, bool *same, Error *error);

void session_report(Session *session, bool json, Text *out);
/* --report with --compare: both, and the metrics in which they differ. */
void session_report_compared(Session *first, Session *second, bool json, Text *out);
/* --invariant: whether the sums in global memory are made in the same order by several runs; each is compared
 * with the first. False with `error` and *answer: ORDER_HAS_NO_RUN; ORDER_IS_UNKNOWN: the runs are too long to be
 * followed; ORDER_DIFFERS: one of them failed. */
typedef struct SessionVariant {
    const char *label; /* "block=256" */
    SessionOptions options;
} SessionVariant;
typedef enum SessionOrderAnswer {
    ORDER_IS_FIXED,   /* or no order can change a result */
    ORDER_DIFFERS,    /* or nothing fixes it */
    ORDER_IS_UNKNOWN, /* of some sums, and of none it is known to differ */
    ORDER_HAS_NO_RUN  /* with `error`: bad input */
} SessionOrderAnswer;
bool session_invariant(const SessionVariant *variants, int count, bool json, SessionOrderAnswer *answer,
                       Text *out, Error *error);
/* --check: the hazards of the run. */
typedef enum SessionCheckForm { CHECK_TEXT, CHECK_JSON, CHECK_SARIF } SessionCheckForm;
void session_check(Session *session, SessionCheckForm form, Text *out);
/* --check of a program (runtime/user_program.h): searches each distinct launch, and says what the host did wrong. `session` shows one of them. At
 * most `seconds`; the launches that are left are named. *failed: an error was found; *unknown: a launch could not be examined. */
void session_check_program(Session *session, SessionCheckForm form, double seconds, bool *failed,
                           bool *unknown, Text *out);
void session_events(const Session *session, FILE *to);
bool session_dump(Session *session, const char *spec, FILE *to,
                  Error *error); /* BUFFER[:COUNT], BUFFER:@FILE.npy */

/* A kernel after the front end: the parsed module, basic blocks, or the program lowered for the emulator.
 * Runs nothing. */
typedef enum SessionForm { FORM_IR, FORM_FLOW, FORM_OPS } SessionForm;
bool session_dump_front_end(const SessionOptions *options, SessionForm form, Text *out, Error *error);

/* The entries of FILE.cu or FILE.ptx, a line each or as JSON: their parameters, and their launch in the file.
 */
bool session_list_entries(const SessionOptions *options, bool json, Text *out, Error *error);

#endif
