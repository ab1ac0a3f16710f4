/* Team: threads of this machine that repeatedly execute a task together. */
#ifndef BENCH_CPU_TEAM_H
#define BENCH_CPU_TEAM_H

#include "base/error.h"

typedef struct CpuTeam CpuTeam;

/* The calling thread and others, `size` in all; 0: one per processor. Smaller if the machine refuses
 * threads. */
CpuTeam *cpu_team_new(int size);
void cpu_team_free(CpuTeam *team);
int cpu_team_size(const CpuTeam *team);

/* Every member calls `work` once, with its number from 0. Returns when all have returned. One call at a
 * time. */
void cpu_team_do(CpuTeam *team, void (*work)(void *context, int member), void *context);

#endif
