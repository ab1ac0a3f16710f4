/* User launch: the state while a kernel that is in no catalogue is planned: which kernel of its file
 * (user_entry.c), its block, grid and shared memory (user_sizes.c), n and its arguments (user_kernel.c).
 * Private to src/guess. */
#ifndef GUESS_USER_LAUNCH_H
#define GUESS_USER_LAUNCH_H

#include "guess/guess.h"

#include "guess/guess_arguments.h"
#include "guess/uses.h"
#include "guess/host_code.h"

enum { USER_BLOCK = 256 }; /* threads where nothing says how many */

typedef struct UserLaunch {
    Guess *guess;
    HostCode *code;         /* NULL: a file of PTX */
    const HostLaunch *host; /* NULL: the file launches no such kernel */
    PtxFunction *entry;
    KernelShape shape;
    GuessHint hints[USES_PARAMETERS];
    bool reads_arguments; /* every argument's value and size is known from the file */
    bool reads_grid, reads_block, reads_shared;
    uint64_t too_many_threads; /* a block has in the file, more than any GPU starts; 0: it has not */
    bool chooses_n;            /* nobody asked for a number of elements */
    bool is_reduced;           /* n is less than in the file */
    bool has_number;           /* n is a number that the kernel is given, and free sizes are others */
    uint64_t side;             /* of a square, or a cube, of n elements */
    const PlanLaunch *launch;  /* as far as it is planned */
    bool has_one_block;        /* the guessed grid is tried as one block */
    Text guessed, read;
} UserLaunch;

/* Plans what the request asks for and the trial says. */
bool user_plan(Guess *guess, Error *error);
/* user_launches.c: the same of launches that are written down (plan/launches.h); account.arguments gets them, complete. */
bool user_plan_launches(Guess *guess, const char *text, Error *error);
/* How inputs are filled, as --args has it: "random". */
const char *user_fill_text(Guess *guess);
/* user_result.c: is any of the launched entries so? */
bool user_any_entry(const Guess *guess, bool (*is_so)(const PtxFunction *entry));
/* [buffers] Buffers that the last of several launches writes, the caller's; NULL: not known, or there is one launch. */
bool *user_find_results(const Guess *guess, int buffers);
/* The last run had guessed sizes that do not fit, or took too long: the trial has others. */
bool user_resize(Guess *guess);
/* The rounds of a loop of the host gave no known result: the trial is of one launch. */
bool user_leave_loop(Guess *guess);
/* The trial is of another block, since the result is not right. */
bool user_try_block(Guess *guess);
/* user_elements.c: the elements of a plan are those of its largest inputs that are drawn at random. */
bool user_is_drawn(const PlanBuffer *buffer);
uint64_t user_count_elements(const Plan *plan);

/* Of FILE.cu; NULL: it is PTX, or cannot be read. */
HostCode *user_read_host_code(const GuessRequest *options);
/* Parses the entry and checks what it calls, once: only then are its instructions looked at. */
bool user_parse(Guess *guess, PtxFunction *entry, Error *error);
/* The kernel that --entry names, else the one that is probably meant, which is added to `guess`. */
PtxFunction *user_find_entry(UserLaunch *user, Error *error);
/* The kernel of the module that a launch is of; NULL: none. */
PtxFunction *user_entry_of_launch(Guess *guess, const HostLaunch *launch);
/* An argument is a null pointer, as the host writes it. */
bool user_is_null(const char *item);
/* The launch only makes an instance of a template: its pointers are null. The body of `entry` is parsed. */
bool user_passes_nothing(const PtxFunction *entry, const HostLaunch *launch);
/* The file's launch of `entry`; NULL: there is none. */
const HostLaunch *user_find_launch(UserLaunch *user);

/* "sum" of "space::sum<float>". */
const char *user_bare_name(UserLaunch *user);
/* [parameter] their names in the file, which buffers get; NULL: they are not known, or --args could not have them. */
const char *const *user_parameter_names(Guess *guess, HostCode *code, const PtxFunction *entry);
/* Of the numbers that were guessed, the values of trial.profile instead; kernel.profiles says how many such there are. False: it has not that
 * one. */
bool user_apply_profile(UserLaunch *user);
bool user_choose_block(UserLaunch *user, uint32_t block[3], Error *error);
/* The file says how many blocks, and nothing else was asked for. */
bool user_reads_grid(UserLaunch *user, uint32_t read[3]);
bool user_choose_grid(UserLaunch *user, PlanLaunch *launch, Error *error);
void user_choose_shared(UserLaunch *user, PlanLaunch *launch);

#endif
