/* Remedies: the barriers or fences that end the errors of one cause, and their places. Every path from the
 * one access to the other passes the place. Whether they are gone, only a run of the changed program says
 * (session/proof.c). Private to src. */
#ifndef FINDINGS_REMEDY_H
#define FINDINGS_REMEDY_H

#include "findings/findings.h"

typedef enum RemedyClass { REMEDY_BY_NOTHING, REMEDY_BY_BARRIER, REMEDY_BY_FENCE } RemedyClass;
RemedyClass remedy_class(const Finding *finding);

/* Both instructions name one element, which the one loads and the other stores: x += 1. Where different threads do, only an
 * atomic helps. */
bool remedy_is_update(const PtxProgram *program, int pc, int other_pc);

typedef enum RemedyKind {
    REMEDY_WARP_BARRIER,
    REMEDY_BLOCK_BARRIER,
    REMEDY_FENCE,
    REMEDY_KIND_COUNT
} RemedyKind;

typedef struct RemedyPoint {
    int pc; /* it comes before this instruction */
    RemedyKind kind;
    uint32_t lanes; /* of a warp barrier: its mask */
} RemedyPoint;

enum { REMEDY_MOST_POINTS = 64 };

typedef struct Remedy {
    const TraceLaunch *launch;
    RemedyPoint points[REMEDY_MOST_POINTS]; /* by pc */
    int count;
} Remedy;

/* The `attempt`th thing to try. False: there is no such place. `launch` is that of the cause; its counters say which threads
 * come where. */
enum { REMEDY_ATTEMPTS = 4 };
bool remedy_find(const Findings *list, int cause, const TraceLaunch *launch, int attempt, Remedy *remedy);
/* "insert __syncwarp() after lines 29 to 33 and before the stores of lines 30 to 34"; as PTX names it where the
 * source is PTX. `source` (may be NULL) knows where braces close. */
void remedy_print(const Remedy *remedy, FindingSource source, void *context, Text *out);
/* A copy of the module's text with the instructions inserted, on the lines where they are. */
void remedy_apply(const Remedy *remedy, Text *out);

#endif
