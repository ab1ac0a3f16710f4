/* Guess: a plan for a kernel that is in no catalogue and that no program launches. What the request leaves open is read in the
 * host code of its file, or guessed from its PTX. Where the first plan gives a result that looks like nothing known, other plans
 * are tried.
 *
 *     Guess guess = guess_begin(&request);
 *     while ((step = guess_next(&guess, run, &plan, error)) == GUESS_RUN) run = ... the plan, run ...;
 *     guess_done(&guess);
 *
 * This header is the only way into src/guess. */
#ifndef GUESS_GUESS_H
#define GUESS_GUESS_H

#include "expect/expect.h"
#include "plan/plan.h"
#include "trace/trace.h"
#include <time.h>

typedef struct GuessRequest {     /* what was asked for; 0, NULL: nothing. All of it is borrowed */
    const char *file;             /* FILE.cu, whose host code is read, or FILE.ptx */
    PtxModule *module;            /* its PTX */
    const char *guessed_instance; /* of a template that the file does not launch */
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
    bool guesses_arguments, guesses_block, guesses_grid, reads_arguments; /* of one launch */
    bool reads_launches;                                                  /* several, one after another */
    int block_choices; /* sizes that a guessed block may have */
    int profiles;      /* other values that the guessed numbers may have */
    int other_entries; /* other kernels of the file that may be meant */
    bool has_sides;    /* unknown sizes, assumed to be the sides of a square */
    bool is_launched;  /* the file launches this kernel by its name */
    bool is_reduced;   /* n is less than in the file */
    bool is_cut;       /* n is less than what the kernels are compiled with */
    bool has_loop;     /* the launches are the rounds of a loop of the host code */
    bool may_shrink;   /* n was not asked for, and may be less */
    uint64_t side;     /* of a square, or a cube, of n elements */
} GuessAccount;

typedef struct GuessVerdict { /* a result beside what it should be, or what it looks like */
    bool has_result;
    ExpectResult result;
    const char *looks_like; /* "sum(in)"; NULL: nothing known */
    bool is_said;           /* by --expect */
    bool is_right;          /* it looks right, whatever --expect says */
} GuessVerdict;

/* What sets this plan apart from the likeliest one. */
typedef struct GuessTrial {
    int halvings;      /* of a guessed grid, whose blocks take more elements than was assumed */
    uint64_t grow[64]; /* growth factor of each parameter's buffer; 0: 1 */
    int block;         /* which of the sizes that a block may have */
    int clean;         /* 1 + the first of these that ran without a fault; 0: none yet */
    bool is_settled;   /* no other block is tried */
    bool keeps_n;      /* n is the file's own */
    bool no_loops;     /* the rounds of a loop gave no known result */
    int quarterings;   /* of an n that takes too long */
    int more_sides;    /* n is the product of so many sizes more than was assumed */
    bool is_other;     /* profile, no_sides or entry differ from the likeliest: */
    int profile;
    bool no_sides;
    int entry;
    bool takes_hints;  /* what few elements may give by chance counts: other draws confirm it */
    bool is_candidate; /* a short run, dropped unless its result is right */
} GuessTrial;

typedef enum GuessStage {
    GUESS_STAGE_NEW,
    GUESS_STAGE_FIRST, /* the likeliest plan, as its sizes are corrected */
    GUESS_STAGE_HINT,  /* the same, taking what few elements give by chance */
    GUESS_STAGE_DRAW,  /* other elements, to confirm that */
    GUESS_STAGE_OTHER, /* other plans */
    GUESS_STAGE_WHOLE, /* one of them, with all elements */
    GUESS_STAGE_SHORTER
} GuessStage;

typedef struct GuessRun {      /* what came of a plan; borrowed */
    const Plan *filled, *done; /* with their bytes, before and after the run */
    const Trace *trace;
    void *const *
        bytes; /* [trace->buffer_count] after the run; those of module variables lie behind the plan's buffers */
    bool is_partial, is_interrupted;
} GuessRun;

typedef struct Guess {
    Arena arena;
    GuessRequest asked, request; /* `request`: with what this trial asks for instead */
    GuessAccount account; /* of the plan that was made last; after GUESS_DONE of the plan that is kept */
    GuessVerdict verdict;
    GuessTrial trial;
    /* Private to src/guess: */
    GuessStage stage;
    Plan *plan; /* while it is made */
    const PtxFunction *entries[PLAN_LAUNCHES];
    int launch_count;
    PtxFunction **checked; /* entries that were parsed and checked */
    int checked_count, checked_capacity;
    GuessRun run;
    GuessTrial kept_trial, candidate;
    GuessAccount kept_account;
    GuessVerdict kept_verdict;
    const PtxFunction *kept_entries[PLAN_LAUNCHES];
    int kept_launch_count;
    GuessVerdict hinted;
    int draw, axis, next_profile;
    clock_t deadline;
} Guess;

Guess guess_begin(const GuessRequest *request);
void guess_done(Guess *guess);

typedef enum GuessStep {
    GUESS_RUN,  /* `plan` is the next to be run, for a few seconds if guess->trial.is_candidate */
    GUESS_DONE, /* the last run that was no candidate is kept */
    GUESS_FAILED
} GuessStep;

/* `run`: what came of the last plan; NULL at first, and where a candidate did not run. `seconds` of processor time are for other
 * plans than the likeliest one. FAILED: the likeliest plan cannot be made, or --expect cannot be compared; see `error`. */
GuessStep guess_next(Guess *guess, const GuessRun *run, double seconds, Plan *plan, Error *error);
/* Another size of the block may be tried after the plan that was made last. */
bool guess_may_try_block(const Guess *guess);

/* Compares a run of the plan that is kept with --expect, or with what it looks like. */
bool guess_compare(Guess *guess, const GuessRun *run, Error *error);
/* A plan that is given rather than guessed, so that its result can be compared. `entries`: [plan->launch_count], parsed or not. */
Guess guess_of_plan(const GuessRequest *request, const Plan *plan, const PtxFunction *const *entries);
/* The same guess for a copy of its module; texts are borrowed. */
Guess guess_copy(const Guess *guess, PtxModule *module, const PtxFunction *const *entries);

/* The instance of a template that the file launches first, "reduce<float, 256>", else a guessed one; NULL: none. */
const char *guess_instance(const GuessRequest *request, Arena *arena, bool *is_guess);
/* The kernels of the file: what they take, and how the file launches them. Nothing is run. */
void guess_list_entries(const GuessRequest *request, bool json, Text *out);

/* Other elements for the inputs of a run. */
typedef enum GuessElementsKind {
    ELEMENTS_OWN,
    ELEMENTS_EXCHANGED, /* the same ones, at other places */
    ELEMENTS_OTHER,     /* another draw */
    ELEMENTS_MIXED      /* each is its own or that of the other draw, by a coin */
} GuessElementsKind;
typedef struct GuessElements {
    GuessElementsKind kind;
    uint64_t group; /* elements that stay together */
    uint64_t seed;  /* of the order */
    bool is_rest;   /* MIXED: with the coins turned over */
} GuessElements;
bool guess_change_elements(Plan *plan, const GuessElements *elements, uint64_t seed, Error *error);

/* Runs the plan that is kept on other elements. `done` gets the buffers after the run, the caller's; false: it does not end well. */
typedef bool GuessAgain(void *context, const GuessElements *elements, Plan *done);
/* Of a result of an unknown function: "every element counts alike, as in sum(f(x, y))", "it depends on the order of the elements",
 * or "not all elements are loaded", where runs on other elements show that; else NULL. Takes up to twenty runs. The text is the
 * guess's. */
const char *guess_symmetry(Guess *guess, const GuessRun *run, GuessAgain *again, void *context);

#endif
