/* Remedies: the barriers or fences that end the errors of one cause, and their places. Every path from one
 * access to the other passes the place. Only a run of the changed program proves that the errors are gone
 * (session/proof.c). Private to src. */
#ifndef FINDINGS_REMEDY_H
#define FINDINGS_REMEDY_H

#include "findings/findings.h"

typedef enum RemedyClass { REMEDY_BY_NOTHING, REMEDY_BY_BARRIER, REMEDY_BY_FENCE } RemedyClass;
RemedyClass remedy_class(const Finding *finding);

/* The two instructions load and store the same element: x += 1. If different threads do so, only an atomic
 * helps. */
bool remedy_is_update(const TraceLaunch *launch, int pc, int other_pc);

typedef enum RemedyKind {
    REMEDY_WARP_BARRIER,
    REMEDY_BLOCK_BARRIER,
    REMEDY_FENCE,
    REMEDY_KIND_COUNT
} RemedyKind;

typedef struct RemedyPoint {
    int pc; /* inserted before this instruction */
    RemedyKind kind;
    uint32_t lanes; /* mask of a warp barrier */
} RemedyPoint;

enum { REMEDY_MOST_POINTS = 64 };

typedef struct Remedy {
    const TraceLaunch *launch;
    RemedyPoint points[REMEDY_MOST_POINTS]; /* in order of pc */
    int count;
} Remedy;

/* Remedy number `attempt`; false: there is no such place. `launch` is the launch of the cause; its counters
 * tell which threads reach which instruction. */
enum { REMEDY_ATTEMPTS = 4 };
bool remedy_find(const Findings *list, int cause, const TraceLaunch *launch, int attempt, Remedy *remedy);
/* "insert __syncwarp() after lines 29 to 33 and before the stores of lines 30 to 34"; in PTX terms if the
 * source is PTX. `source` (may be NULL) shows where braces close. */
void remedy_print(const Remedy *remedy, FindingSource source, void *context, Text *out);
/* A copy of `text`, the source `file`, with the statements inserted where choice number `choice` puts them,
 * and the words for that. Lines keep their numbers. False: there is no such choice: a place is within a
 * statement or in another file. */
enum { REMEDY_CHOICES = 4 };
bool remedy_apply_to_source(const Remedy *remedy, const char *file, const char *text, int choice, Text *out,
                            Text *words);
/* The same for a barrier between the lines of two accesses, for code that the compiler has rearranged because
 * it is missing, so that no place in the PTX helps. */
bool remedy_insert_between(const Finding *race, const char *file, const char *text, int choice, Text *out,
                           Text *words);
/* Waits for groups of asynchronous copies on one line, which leave this many in flight. */
typedef struct RemedyWait {
    const TraceLaunch *launch;
    PtxSourceLine line;
    int groups; /* at least 1 */
} RemedyWait;

enum { REMEDY_WAITS = 4 };
int remedy_find_waits(const TraceLaunch *launch, RemedyWait waits[REMEDY_WAITS]); /* their number */
/* A copy of the module's text in which they leave `groups`. */
void remedy_apply_wait(const RemedyWait *wait, int groups, Text *out);
/* A copy of `text`, the source of the wait. False: the line does not say the number once. */
bool remedy_apply_wait_to_source(const RemedyWait *wait, int groups, const char *text, Text *out);

/* A copy of the module's text with the instructions inserted at their places. */
void remedy_apply(const Remedy *remedy, Text *out);

#endif
