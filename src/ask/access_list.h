/* Accesses of the racing instructions, as one run made them. Private to src/ask. */
#ifndef SESSION_ACCESS_LIST_H
#define SESSION_ACCESS_LIST_H

#include "session/state.h"

#include "trace/hold.h"

typedef struct
    ListedAccess {     /* an access of one lane to one word of memory, or to an element that is smaller */
    uint64_t place;    /* of the word: equal for equal words of a launch */
    uint64_t sequence; /* of its warp's access in the run */
    uint64_t block, time;
    int launch, warp, lane, pc;
    uint32_t interval;      /* block-wide barriers that the block has passed */
    uint32_t before, after; /* the word's contents; a load, an atomic: equal */
    bool writes;
} ListedAccess;

typedef struct AccessList AccessList;
/* Of the instructions of the races in `hazards`, in the launches of `trace`. The caller frees it. */
AccessList *access_list_new(const Findings *hazards, const Trace *trace);
/* Of the instructions that `is_listed` takes. */
AccessList *access_list_new_of(const Trace *trace, bool (*is_listed)(const PtxInstruction *in));
void access_list_free(AccessList *list);
/* For a run of the same launches, which then fills the list. */
TraceObserver access_list_observer(AccessList *list);
/* After the run: sorted by launch and place, then in their order. Valid until the list is freed. */
const ListedAccess *access_list_sorted(AccessList *list, int *count);
/* That of a place of a hold; NULL: it was not seen. */
const ListedAccess *access_list_find(const AccessList *list, int launch, const HoldPlace *at, uint64_t place);

#endif
