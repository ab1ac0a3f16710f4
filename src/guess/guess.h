/* Guess: a plan for a kernel that is in no catalogue and that no program launches. What the request leaves
 * open is read as far as the file says it literally, else guessed: one plan, shown as a guess, and never
 * changed by what comes of it.
 *
 * This header is the only way into src/guess. */
#ifndef GUESS_GUESS_H
#define GUESS_GUESS_H

#include "expect/expect.h"
#include "plan/plan.h"
#include "trace/trace.h"

typedef struct GuessRequest { /* what was asked for; 0, NULL: nothing. All of it is borrowed */
    const char *file;         /* FILE.cu, whose host code is read, or FILE.ptx */
    PtxModule *module;        /* its PTX */
    const char *entry, *args, *launches, *expect;
    uint64_t n, seed;
    FillKind fill; /* of the inputs, if has_fill */
    bool has_fill;
    const char *fill_path;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t shared_bytes;
    bool has_shared, cooperative;
    bool has_budget; /* --max-instructions was given: a launch may be as large as it likes */
} GuessRequest;

typedef struct GuessAccount { /* what was decided */
    uint64_t n;
    const char *guessed, *read; /* options that were guessed, or read in the file, for people; NULL: none */
    const char *arguments;      /* --args or --launch, complete */
    bool invents_arguments;     /* a value of --args is neither asked for nor literal in the file */
    bool invents_block;         /* the threads of a block are neither asked for, read nor required */
    bool reads_arguments;       /* all of them are literal there */
    bool reads_scalars;         /* those that are no pointers are literal there, or asked for */
    bool has_program;           /* the file has a main(), which could be run instead */
} GuessAccount;

typedef struct GuessVerdict {
    bool has_result; /* --expect was compared: */
    ExpectResult result;
    const char
        *looks_like; /* "sum(in)": what was compared, else what the result looks like; NULL: nothing known */
    bool changes_nothing; /* all memory is as before the run */
} GuessVerdict;

typedef struct GuessRun {      /* what came of a plan; borrowed */
    const Plan *filled, *done; /* with their bytes, before and after the run */
    const Trace *trace;
    /* [trace->buffer_count] after the run; those of module variables lie behind the plan's buffers */
    void *const *bytes;
    bool is_partial;
    const ExpectShadow *shadow; /* NULL: the values are compared */
} GuessRun;

typedef struct Guess {
    Arena arena;
    GuessRequest request;
    GuessAccount account;
    GuessVerdict verdict;
    /* Private to src/guess: */
    Plan *plan; /* while it is made */
    const PtxFunction *entries[PLAN_LAUNCHES];
    int launch_count;
    PtxFunction **checked; /* entries that were parsed and checked */
    int checked_count, checked_capacity;
} Guess;

Guess guess_begin(const GuessRequest *request);
void guess_done(Guess *guess);

/* Makes the plan, the caller's. */
bool guess_plan(Guess *guess, Plan *plan, Error *error);
/* A plan that is given rather than guessed, so that its result can be compared. `entries`:
 * [plan->launch_count], parsed or not. */
Guess guess_of_plan(const GuessRequest *request, const Plan *plan, const PtxFunction *const *entries);
/* The same guess for a copy of its module; texts are borrowed. */
Guess guess_copy(const Guess *guess, PtxModule *module, const PtxFunction *const *entries);

/* Compares a run of the plan with --expect; without that, says what its result looks like. */
bool guess_compare(Guess *guess, const GuessRun *run, Error *error);
/* Gives `other`, a copy of the plan, an input for which --expect shows more; `what` gets its name. False:
 * there is none. */
bool guess_other_input(const Guess *guess, const GuessRun *run, Plan *other, ExpectOther *of, Text *what);

/* The instance of a template that the file launches first with all its arguments, "reduce<float, 256>"; NULL:
 * none. */
const char *guess_instance(const GuessRequest *request, Arena *arena);
/* Says why a file has no kernel that could be run: all are templates without an instance, or there is
 * none. */
void guess_refuse(const GuessRequest *request, Error *error);
/* The kernels of the file: what they take, and how the file launches them. Nothing is run. */
void guess_list_entries(const GuessRequest *request, bool json, Text *out);

#endif
