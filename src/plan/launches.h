/* Launches: one or several launches as --launch has them, or as the host's code is read. Their kernels are in
 * no catalogue.
 *
 *   ENTRY<<<GRID, BLOCK[, SHARED][, cluster=SIZE][, cooperative]>>>(ARGUMENTS); ...
 *
 * GRID, BLOCK and SIZE are an EXPRESSION or (X, Y, Z), {X, Y, Z}, dim3(X, Y, Z), whose last numbers may be
 * missing; SHARED is how many bytes of dynamic shared memory a block gets. Expressions and ARGUMENTS are
 * those of --args (plan.h): n is --n, block and grid are of that launch. Buffers are shared by name. */
#ifndef PLAN_LAUNCHES_H
#define PLAN_LAUNCHES_H

#include "plan/plan.h"

typedef struct TypedLaunch {
    const char *entry; /* "reduce<float, 256>" */
    size_t at;         /* where it stands in the text */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* 0: not given */
    uint32_t shared_bytes;
    bool has_shared, cooperative;
    size_t arguments, argument_length; /* where they stand */
} TypedLaunch;

/* Reads at most PLAN_LAUNCHES launches; entries are in the arena. False with an error that shows the place.
 */
bool launches_read(const char *text, uint64_t n, TypedLaunch *launches, int *count, Arena *arena,
                   Error *error);

/* Prints a launch as launches_read() reads it; `arguments` is copied. */
void launches_print(const char *entry, const PlanLaunch *launch, const char *arguments, Text *out);

/* Adds to an error about a launch the place in the text. */
void launches_show(const char *text, size_t at, Error *error);

#endif
