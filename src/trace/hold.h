/* Hold: lanes that wait before an instruction until other lanes have executed another.
 *
 * All else follows the schedule of the run. Any such order is one that a GPU may take: nothing but barriers,
 * fences and flags makes one thread wait for another, and a hold ends where the other threads wait for those
 * it holds. */
#ifndef TRACE_HOLD_H
#define TRACE_HOLD_H

#include <stdint.h>

typedef struct HoldPlace { /* one execution of an instruction */
    uint64_t block;        /* linear index */
    int warp, lane;
    int pc;        /* PTX_NO_PC: none */
    uint64_t time; /* which execution by the lane, from 1 */
} HoldPlace;

typedef enum HoldEnd {
    HOLD_UNREACHED, /* the lanes did not come to `at` */
    HOLD_LASTS,     /* the run ended meanwhile */
    HOLD_MET,       /* `until` was executed, and then the lanes continued */
    HOLD_IN_VAIN    /* nothing else could run any more */
} HoldEnd;

typedef struct Hold {
    int launch;          /* in the trace */
    HoldPlace at, until; /* until.pc PTX_NO_PC: until nothing else can run */
    uint32_t lanes;      /* of the warp that wait at `at`, with the lane that comes there */
    HoldEnd end;         /* out */
} Hold;

#endif
