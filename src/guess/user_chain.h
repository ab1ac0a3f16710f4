/* Chain: the launches that follow one in the host code and read what it wrote. Private to src/guess. */
#ifndef GUESS_USER_CHAIN_H
#define GUESS_USER_CHAIN_H

#include "guess/host_code.h"
#include "guess/guess.h"

/* The kernel that a launch of the host code is of; NULL: none of this module. */
typedef PtxFunction *(*EntryOfLaunch)(Guess *guess, const HostLaunch *launch);

/* Plans `first`, which is a launch of `entry`, and what follows it in a straight line, if all of it is read in the file; else
 * false, and the plan is what it was. */
bool user_plan_chain(Guess *guess, HostCode *code, const HostLaunch *first, PtxFunction *entry,
                     EntryOfLaunch entry_of);

#endif
