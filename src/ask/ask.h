/* Ask: the questions about a run, and about two of them. Each has a file of its own; what it needs of a
 * further run, it gets from session_vary(). A session keeps the answers. */
#ifndef ASK_ASK_H
#define ASK_ASK_H

#include "findings/results.h"
#include "runtime/launch_choice.h"
#include "session/session.h"

/* What is wrong with the run, and what is slow; the session owns it. The first call runs the kernel again if
 * races were not searched for. NULL: unknown, for a partial run or a file without them. */
Findings *ask_hazards(Session *session);
/* The same without a search: faults, the wrong result and the slow places of what has been counted. Never
 * NULL; the session owns it. */
const Findings *ask_counted(Session *session);
/* ask_hazards() if that has run, else ask_counted(). */
const Findings *ask_verdict(Session *session);

/* The remedies of a slow finding of ask_verdict(), and what each one changes. */
typedef enum AskRemedyKind {
    ASK_PAD,     /* another layout of the shared array */
    ASK_SWIZZLE, /* the same */
    ASK_NEXT     /* the kernel of the catalogue that does otherwise */
} AskRemedyKind;
enum { ASK_REMEDIES = 6 };
typedef struct AskRemedy {
    AskRemedyKind kind;
    const char *name; /* "pad", "swizzle", or the kernel's name */
} AskRemedy;
int ask_remedies(Session *session, int finding, AskRemedy remedies[ASK_REMEDIES]);
/* Options of a run with remedy `number` (from 0) of the finding; strings in the arena. False with `error`,
 * one line: why it cannot be applied. `session` must have run whole. */
bool ask_try_remedy(Session *session, int finding, int number, Arena *arena, RunSpec *options, Error *error);
/* The same in a copy of `source`, the text of the finding's file. False with `error`, one line: why it cannot
 * be written there. */
bool ask_keep_remedy(Session *session, int finding, int number, const char *source, Text *out, Error *error);
/* Proves what ends an error, which takes seconds; the cause has the changed source. NULL with `error`, one
 * line: nothing that can be written into the source. */
const FindingCause *ask_mend(Session *session, int finding, Error *error);
/* The kernel of the catalogue that shows what to do about a slow finding that redviz cannot rewrite. */
const char *ask_shown_by(FindingKind kind);
/* The first finding and its remedy of a kind; false: none has it. */
bool ask_find_remedy(Session *session, AskRemedyKind kind, int *finding, int *number);
/* What a remedy of `before` changed in `after`: one line, or a table. True if it helped: the count of the
 * finding's kind has fallen, and the result is the same. */
bool ask_remedy_change(Session *before, Session *after, int finding, int number, Text *line);
bool ask_remedy_table(Session *before, Session *after, int finding, int number, Text *out);

/* If an access out of bounds ended the run: runs the kernel again past it and adds the races found there. */
void ask_behind(Session *session);
/* Runs the kernel in other orders of warps and blocks, schedules 0 to ASK_ORDERS, and adds the
 * races found. Only for short runs with atomics, fences and the like, whose order decides which accesses are
 * ordered. */
enum { ASK_ORDERS = 5 };
void ask_other_orders(Session *session);
/* Whether the elements that two buffers of the run have in common hold the same bits; with `tries_orders`
 * also those of the second one in other orders of warps and blocks. False: *found has the first two that
 * differ, "small[3] = 1.5", or nothing if the run has no such buffers. The caller ends *found with
 * ask_same_bits_done(). */
typedef struct SameBits {
    Text one, other;
    bool is_order; /* `other` is of another order */
} SameBits;
bool ask_same_bits(const Session *session, const char *first, const char *second, bool tries_orders,
                   SameBits *found);
void ask_same_bits_done(SameBits *found);

/* Whether an element of the buffer with this name (of `length` bytes) still holds what unwritten memory does,
 * every byte 0xa5: *index is the first one. A value that is 0xa5a5... by chance counts, too. */
bool ask_finds_unwritten(const Session *session, const char *name, size_t length, uint64_t *index);

/* The most bytes of global memory that one thread of a launch loads. Runs the kernel once more; false: it
 * cannot. */
bool ask_thread_bytes(const Session *session, uint64_t *bytes);

/* If the result is known and right: holds atomics until another warp has read their word, and adds an error
 * where the result is then wrong. */
void ask_late_atomics(Session *session);

/* Searches for an insertion that removes each error, and proves it in a copy of the PTX (FindingCause). Takes
 * several times as long as the run, once. */
void ask_proofs(Session *session);

/* For the races of each cause, an order of the threads that changes the result, or why there is none
 * (FindingCause). Runs the kernel in orders that reverse pairs of racing accesses; takes about a second,
 * once. */
void ask_losing_orders(Session *session);
/* The first of these orders; NULL: there is none. */
const FindingOrder *ask_bad_order(Session *session);
/* All that --check looks for, in its order: what it finds is what ask_open_in_bad_order() shows. The session
 * owns it; NULL as ask_hazards(). */
const Findings *ask_all(Session *session);

/* A race as two runs made it: the run, and one in an order that loses. Of its two threads, the first one
 * comes first in the run, and the second one too early in that order. */
typedef enum AskRaceRun { RACE_RUN, RACE_ORDER, RACE_RUNS } AskRaceRun;
enum { RACE_THREADS = 2 };
typedef struct AskRaceAccess {
    bool is_seen;             /* the thread executes it in this run */
    char word[48], value[24]; /* "sums[16]", what is stored or found there; "": not known */
} AskRaceAccess;
typedef struct AskRace {
    char memory[64];                /* that races: "sums[16]" */
    char missing[160];              /* "insert __syncwarp() before the store of line 35"; "": not known */
    int line[RACE_THREADS];         /* 0: not known */
    const char *verb[RACE_THREADS]; /* "st", "ld", "atom" */
    char thread[RACE_THREADS][40];  /* "w4", "lane 16", "block 3" */
    bool writes[RACE_THREADS];
    AskRaceAccess access[RACE_RUNS][RACE_THREADS];
    bool has_second; /* the second thread is known */
    bool is_held;    /* the first thread waits; else the order is another --schedule */
    int held_count;  /* accesses that wait */
    bool is_right;   /* the result in that order is right, and that of the run is not */
    char where[64];  /* "out[0]"; "": the result of the run */
    char result[RACE_RUNS][64];
} AskRace;
typedef struct AskRacePair { /* of the instructions of a race; pc PTX_NO_PC: none */
    int launch, pc, other_pc;
    bool is_of_blocks; /* its example is of two blocks */
} AskRacePair;
AskRacePair ask_race_pair(const Finding *finding);
/* Opens the run in an order in which a race changes the result: this one, if there is such a race, else the
 * first that has such an order. NULL with `error` if there is no race, or no order that was tried
 * changes the result. */
Session *ask_open_in_bad_order(const RunSpec *options, AskRacePair pair, Error *error);
/* The race of a session opened so; NULL: of any other. The session owns it. */
const AskRace *ask_shown_race(const Session *session);

/* The errors of ask_hazards() that do not depend on what was guessed. A guessed length or element decides a
 * fault in global memory and a result; a race, or a barrier that hangs, depends on the block alone. */
int ask_sure_errors(Session *session);
/* A fault, or a wrong result of a checked kernel; of a guess only what --expect calls wrong. */
bool ask_failed(const Session *session);
/* Saves the session with its hazards, for which this may run it again (session_save()). */
bool ask_save(Session *session, const char *path, Error *error);

/* Runs the kernel instrumented on a GPU and compares the events of the traced blocks. With
 * options.times_warps also the order and the number of the waits of the traced blocks' warps. Prints the
 * answer to `out`. Needs keep_inputs. False with `error` if it could not be done. */
bool ask_verify(const Session *session, Text *out, bool *same, Error *error);

/* The same against a recorded trace of the run. The emulator runs once more and takes the values that only
 * scheduling decides from `recorded` (emulator.h). `base`: [recorded->buffer_count] addresses of the buffers,
 * 0: unknown; NULL: those of the emulator. `approximate`: the trace has results of .approx, too. */
typedef struct AskRecording {
    const Trace *recorded;
    const uint64_t *base;
    const char *name; /* "NVIDIA H200" */
    bool approximate;
} AskRecording;
struct EmulatorTakenValues;
/* *taken: what the emulator took from the recording. */
bool ask_compare(const Session *session, const AskRecording *other, struct EmulatorTakenValues *taken,
                 Text *out, bool *same, Error *error);

void ask_report(Session *session, bool json, Text *out);
/* --report with --compare: both, and the metrics in which they differ. */
void ask_report_compared(Session *first, Session *second, bool json, Text *out);
/* --invariant: whether the sums in global memory are made in the same order by several runs; each is compared
 * with the first. False with `error` and *answer: ORDER_HAS_NO_RUN; ORDER_IS_UNKNOWN: the runs are too long
 * to be followed; ORDER_DIFFERS: one of them failed. */
typedef struct AskVariant {
    const char *label; /* "block=256" */
    RunSpec options;
} AskVariant;
typedef enum AskOrderAnswer {
    ORDER_IS_FIXED,   /* or no order can change a result */
    ORDER_DIFFERS,    /* or nothing fixes it */
    ORDER_IS_UNKNOWN, /* of some sums, and of none it is known to differ */
    ORDER_HAS_NO_RUN  /* with `error`: bad input */
} AskOrderAnswer;
bool ask_invariant(const AskVariant *variants, int count, bool json, AskOrderAnswer *answer, Text *out,
                   Error *error);
/* --check: the hazards of the run. */
typedef enum AskCheckForm { CHECK_TEXT, CHECK_JSON, CHECK_SARIF, CHECK_JUNIT } AskCheckForm;
/* As text or as JSON, what the tool shows. */
void ask_check(Session *session, CheckTool tool, AskCheckForm form, Text *out);
/* What results->tool shows, as results, which other forms list. `program`: the command that launched the
 * kernel; NULL: none did. */
void ask_add_results(Session *session, const char *program, CheckResults *results);
typedef struct AskCheckScope {
    AskCheckForm form;
    double seconds; /* at most; the launches that are left are named */
    LaunchChoice launches;
} AskCheckScope;
/* --check of a program (runtime/user_program.h): searches each distinct launch, and says what the host did
 * wrong. `session` shows one of them. Adds all that results->tool shows to `results`; `out` gets text and
 * JSON. *failed: an error was found; *unknown: a launch could not be examined, or none was chosen. */
void ask_check_program(Session *session, const AskCheckScope *scope, CheckResults *results, bool *failed,
                       bool *unknown, Text *out);
/* Adds what a program's host code did wrong, and its failed end, in the last case. `session`, or NULL, knows
 * its sources. */
void ask_add_host_results(const struct Program *program, Session *session, CheckResults *results);

#endif
