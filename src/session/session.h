/* Session: a run from the choice of the kernel to what the interface and the reports read. It plans and
 * executes the kernel; or it opens what was saved of a run, which executes nothing. The only folder that sees
 * every layer; the interface sees the session and the trace, never a producer. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "session/run_spec.h"

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

typedef struct Session Session;

/* The versions of SQLite and of the NVIDIA libraries found here, a line each. */
void session_about(Text *out);

/* Runs the kernel to its end. NULL with `error` for bad input. A kernel that traps or gives a wrong result
 * still has a session. */
Session *session_open(const RunSpec *options, Error *error);
/* Runs a copy of `plan`. The options say how it runs and what is shown, and name the kernel if the plan has
 * no module. */
Session *session_open_plan(const Plan *plan, const RunSpec *options, Error *error);
/* What a further run of the same kernel changes; 0 and NULL: nothing. */
typedef struct RunChange {
    const char *ptx; /* a changed copy of its code */
    const uint64_t *schedule;
    const FindingOrder *order; /* its schedule and its holds */
    uint64_t n;      /* another size: arguments and launch are guessed again; a fault ends this run */
    uint32_t blocks; /* another grid; with is_shown */
    /* the same launches with other contents, which the run takes over; its result is not compared */
    Plan *plan;
    bool searches_races, traces_all, shows_progress;
    int threads;
    const TraceObserver *observer;
    bool is_shown; /* with all that the options ask for; else on the emulator, as far as an answer needs it */
} RunChange;
/* The run of a session once more: the only way to run again. The same change may give the same run as before.
 * NULL if it fails, with `error` (which may be NULL) if n or is_shown is set. The caller frees it, before
 * `of`. */
Session *session_vary(const Session *of, const RunChange *change, Error *error);
void session_free(Session *session);

/* Saves the session to `path` (FILE.redviz). session_open() makes a session of it that gives the same
 * answers. A failure leaves the file as it was. The file contains no absolute path, and equal runs give equal
 * bytes if $SOURCE_DATE_EPOCH is set. The session must not be partial; hazards are saved if they are known
 * (ask_save()). */
bool session_save(Session *session, const char *path, Error *error);
bool session_is_from_file(const Session *session);

const RunSpec *session_spec(const Session *session);   /* its own copy, strings included */
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
/* True if the file has a main(), which could be run in place of a guessed launch. */
bool session_has_program(const Session *session);
/* The program of a session file, whose launch it is: from now on the caller's, who frees it after the session
 * (and after those of its other launches). NULL: there is none. */
struct Program *session_take_program(Session *session);
/* True if the arguments or the launches were read in the host code of the file. */
bool session_reads_arguments(const Session *session);
/* True if the arguments hold values that nobody gave: faults, hazards and results are then those of a
 * guess. */
bool session_is_guess(const Session *session);
/* The --args or --launch of the run, given or guessed; NULL for the catalogue and for saved sessions. */
const char *session_arguments(const Session *session);
const char *session_name(const Session *session);
uint64_t session_n(const Session *session);
/* "EMULATED"; "H200 LIVE": events and results come from that GPU, counters of the grid from the emulator;
 * "RECORDED H200": the same, from a file. Names the number of lost events if there are any. */
const char *session_backend(Session *session);
bool session_is_captured(const Session *session); /* its events come from a GPU */
/* True if a kernel on the GPU, or the driver's compiler, does not return. This process can then no longer use
 * the GPU, and must end by _exit(). */
bool session_gpu_is_hung(void);
bool session_gpu_has_faulted(void); /* or a kernel did not return */
/* True if a changed copy of its source or PTX ran: what is recorded of the kernel is not of this code. */
bool session_is_edited(const Session *session);
/* The first line in which the sources of two runs differ (of PTX, if no source was changed); from 1, in
 * `after`; 0: none, or only in what they include. */
int session_first_change(const Session *before, const Session *after);
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
/* When each warp of one multiprocessor waited, and for what: the session's timelines, for each residency that
 * was asked for or recorded. A session file does not keep them. */
typedef struct SessionWarps {
    WarpTimeline **timelines;
    int count, capacity;
    /* of this very run, on this machine; else of the same kernel: recorded, perhaps of another size and
     * type */
    bool is_live;
    bool has_failed; /* a GPU is here, and could not measure them */
    bool was_read;   /* recorded ones were looked for */
    const char *why; /* why there is no (live) timeline, in one line; NULL: there is one */
} SessionWarps;
const SessionWarps *session_warps(Session *session);
/* The source line of a site; NULL: unknown. */
const char *session_warps_source(Session *session, const WarpSite *site);
/* Measures the launches on the GPU of this machine; needs keep_inputs. session_open() calls it for
 * options.times_warps. */
void session_measure_warps(Session *session);
/* The same beside the session: in another one of the same run, so that the interface goes on meanwhile.
 * False: the timelines are there already, or are not to be measured (a saved or partial run, one with a
 * fault). `wanted`: its options, with the residencies that are recorded. */
bool session_wants_warps(Session *session, RunSpec *wanted);
/* Opens it. NULL with `error`: no GPU is here, or the run could not be opened. */
Session *session_open_on_gpu(const RunSpec *wanted, Error *error);
/* Moves what `from` measured, or the reason why it could not. NULL: `why`, one line, is the reason. False:
 * the timelines are those of before. */
bool session_take_warps(Session *session, Session *from, const char *why);
typedef enum SessionWarpsForm { WARPS_TEXT, WARPS_JSON, WARPS_PERFETTO, WARPS_TSV } SessionWarpsForm;
/* False with `error`: there is no timeline, which a trace for Perfetto or a table cannot say. */
bool session_print_warps(Session *session, SessionWarpsForm form, Text *out, Error *error);
/* How long the run takes on the GPU of this machine: its launches one after another, called, with an empty
 * L2. */
typedef struct SessionTime {
    double microseconds; /* the median */
    int repetitions;     /* 0: not timed */
    const char *machine; /* "NVIDIA H200" */
    const char *why;     /* why it was not timed, in one line; NULL: it was, or nobody tried */
} SessionTime;
/* Why the run is not launched on a GPU to be timed: it may not end, or has a fault. NULL: it may be. */
const char *session_untimed(const Session *session);
/* Times it; needs keep_inputs. session_open() calls it for options.times_run. */
void session_measure_time(Session *session);
/* The same beside the session, as session_wants_warps(), with session_open_on_gpu(). False: it is a saved
 * run, or a partial one that no GPU has run either. A run that must not be launched is opened without its
 * time. */
bool session_wants_time(const Session *session, RunSpec *wanted);
/* The time that this other session measured; its texts belong to the two. */
SessionTime session_take_time(const Session *session, const Session *measured);
/* The machine code of a launch, with what a GPU counted and sampled; the session owns it. It was measured
 * here (session_set_sass), recorded on options.machine for kernels of the catalogue, or assembled
 * (session_assemble_sass). NULL: none, and *why (may be NULL) says in one line what is missing. */
const SassKernel *session_sass(Session *session, int launch, const char **why);
/* Assembles it by ptxas unless it is known: it is then neither counted nor sampled. Takes a fraction of a
 * second for most kernels, `seconds` at most, and runs two programs, so only who shows machine code calls it;
 * once a launch. */
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

void session_events(const Session *session, FILE *to);
bool session_dump(Session *session, const char *spec, FILE *to,
                  Error *error); /* BUFFER[:COUNT], BUFFER:@FILE.npy */

/* A kernel after the front end: the parsed module, basic blocks, or the program lowered for the emulator.
 * Runs nothing. */
typedef enum SessionForm { FORM_IR, FORM_FLOW, FORM_OPS } SessionForm;
bool session_dump_front_end(const RunSpec *options, SessionForm form, Text *out, Error *error);

/* The entries of FILE.cu or FILE.ptx, a line each or as JSON: their parameters, and their launch in the file.
 */
bool session_list_entries(const RunSpec *options, bool json, Text *out, Error *error);

#endif
