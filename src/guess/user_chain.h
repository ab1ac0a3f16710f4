/* Chain: the launches that follow one in the host code and read what it wrote. Private to src/session. */
#ifndef GUESS_USER_CHAIN_H
#define GUESS_USER_CHAIN_H

#include "guess/host_code.h"
#include "session/state.h"

/* The kernel that a launch of the host code is of; NULL: none of this module. */
typedef PtxFunction *(*EntryOfLaunch)(Session *session, const HostLaunch *launch);

/* Plans `first`, which is a launch of `entry`, and what follows it in a straight line, if all of it is read in the file; else
 * false, and the plan is what it was. */
bool session_plan_chain(Session *session, HostCode *code, const HostLaunch *first, PtxFunction *entry,
                        EntryOfLaunch entry_of);

#endif
