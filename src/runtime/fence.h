/* Fence: a program cannot stop, kill or trace the process that runs it. Private to src/runtime. */
#ifndef RUNTIME_FENCE_H
#define RUNTIME_FENCE_H

#include <sys/types.h>

/* In the child, before exec: calls of the system that aim at `runner`, or at all processes, are refused
 * (EPERM). Where the system knows no filters, nothing is. */
void fence_put_up(pid_t runner, pid_t group);

#endif
