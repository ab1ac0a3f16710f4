/* User launch: the state while a kernel that is in no catalogue is planned: which kernel of its file
 * (user_entry.c), its block, grid and shared memory (user_sizes.c), n and its arguments (user_kernel.c).
 * Private to src/session. */
#ifndef GUESS_USER_LAUNCH_H
#define GUESS_USER_LAUNCH_H

#include "session/state.h"

#include "guess/guess.h"
#include "guess/uses.h"
#include "guess/host_code.h"

enum { USER_BLOCK = 256 }; /* threads where nothing says how many */

typedef struct UserLaunch {
    Session *session;
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
    Text guess, read;
} UserLaunch;

/* Of FILE.cu; NULL: it is PTX, or cannot be read. */
HostCode *user_read_host_code(const SessionOptions *options);
/* The kernel that --entry names, else the one that is probably meant, which is added to `guess`. */
PtxFunction *user_find_entry(UserLaunch *user, Error *error);
/* The kernel of the module that a launch is of; NULL: none. */
PtxFunction *user_entry_of_launch(Session *session, const HostLaunch *launch);
/* An argument is a null pointer, as the host writes it. */
bool user_is_null(const char *item);
/* The launch only makes an instance of a template: its pointers are null. The body of `entry` is parsed. */
bool user_passes_nothing(const PtxFunction *entry, const HostLaunch *launch);
/* The file's launch of `entry`; NULL: there is none. */
const HostLaunch *user_find_launch(UserLaunch *user);

/* "sum" of "space::sum<float>". */
const char *user_bare_name(UserLaunch *user);
/* [parameter] their names in the file, which buffers get; NULL: they are not known, or --args could not have them. */
const char *const *user_parameter_names(Session *session, HostCode *code, const PtxFunction *entry);
/* Of the numbers that were guessed, the values of trial.profile instead; kernel.profiles says how many such there are. False: it has not that
 * one. */
bool user_apply_profile(UserLaunch *user);
bool user_choose_block(UserLaunch *user, uint32_t block[3], Error *error);
/* The file says how many blocks, and nothing else was asked for. */
bool user_reads_grid(UserLaunch *user, uint32_t read[3]);
bool user_choose_grid(UserLaunch *user, PlanLaunch *launch, Error *error);
void user_choose_shared(UserLaunch *user, PlanLaunch *launch);

#endif
