/* Team: threads of this machine that do one thing together, again and again. */
#ifndef HOST_TEAM_H
#define HOST_TEAM_H

#include "base/error.h"

typedef struct HostTeam HostTeam;

/* The calling thread and others, `size` in all; 0: one for each processor. Where the machine refuses threads,
 * it is smaller. */
HostTeam *host_team_new(int size);
void host_team_free(HostTeam *team);
int host_team_size(const HostTeam *team);

/* Every member calls `work` once, with its number from 0; returns when all have returned. One call at a time.
 */
void host_team_do(HostTeam *team, void (*work)(void *context, int member), void *context);

#endif
