/* Guess state: what the files of src/guess share: which kernel of a file (guess_entry.c), what its parameters
 * are (guess_parameters.c), the plan (guess.c, guess_launches.c), its result (guess_result.c). */
#ifndef GUESS_GUESS_STATE_H
#define GUESS_GUESS_STATE_H

#include "guess/guess.h"
#include "guess/guess_parameters.h"

enum {
    GUESS_N = 1 << 20, /* elements, threads where nothing says how many */
    GUESS_BLOCK = 256,
    GUESS_WARPS = 1 << 25 /* of a launch: a thread each for 2^30 elements */
};

/* How inputs are filled, as --args has it: "random". */
const char *guess_fill_text(Guess *guess);
/* Dynamic shared memory where nobody says how much: 48 KB with that of sized arrays; 0: the module has no
 * unsized array. */
uint32_t guess_shared(const Guess *guess, const PtxFunction *entry);

/* guess_launches.c: the plan of launches that are written down (plan/launches.h); account.arguments gets
 * them, complete. */
bool guess_plan_launches(Guess *guess, Error *error);

/* Of FILE.cu; NULL: it is PTX, or cannot be read. */
HostCode *guess_host_code(const GuessRequest *request);
/* Parses the entry and checks what it calls, once: only then are its instructions looked at. */
bool guess_parse(Guess *guess, PtxFunction *entry, Error *error);
/* The kernel that --entry names, else the first that the file launches, else its first; `is_choice`: there
 * are others. */
PtxFunction *guess_find_entry(Guess *guess, HostCode *code, bool *is_choice, Error *error);
/* The file's first launch of `entry`; NULL: there is none. */
const HostLaunch *guess_find_launch(Guess *guess, HostCode *code, const PtxFunction *entry);
/* "sum" of "space::sum<float>", in the guess's arena. */
const char *guess_bare_name(Guess *guess, const PtxFunction *entry);

/* The guess's buffers before and after the run, and behind them the module's variables that its launches may
 * write (`__device__ float total`): shallow copies, to be given back with guess_variables_done(). */
typedef struct GuessVariables {
    Plan filled, done;
    void *zeros; /* initial values that the module does not give */
} GuessVariables;
GuessVariables guess_variables(const Guess *guess, const GuessRun *run);
void guess_variables_done(GuessVariables *variables);

/* How a run rounds its values. */
Arithmetic guess_arithmetic(const Trace *trace);

#endif
