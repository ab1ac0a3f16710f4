/* Load order: issues independent loads of an entry before the first wait for one.
 * Finds where each is awaited. Private to src/instrument.
 *
 * The machine issues loads until an instruction needs a value. A clock read at that first use cannot be
 * passed by later loads, so that independent ones, which the machine has under way together, would follow
 * each other: eight loads took 198 us instead of 40 on an H100. Within a run of loads and arithmetic, every
 * load therefore comes before what needs no load of fewer steps: instructions are sorted by the number of
 * loads on the longest chain before them. */
#ifndef INSTRUMENT_LOAD_ORDER_H
#define INSTRUMENT_LOAD_ORDER_H

#include "ptx/program.h"

typedef struct LoadOrder {
    int count;   /* instructions of the entry */
    int *placed; /* [count] pc of the instruction in each place */
    /* [count] in the order of `placed`: a load or atomic (its pc) whose result this instruction is the first
     * to need, on some path; -1: none. `awaited` has the registers. */
    int *load;
    const PtxRegister ***awaited; /* [count] NULL-terminated; NULL: none */
    Arena arena;
} LoadOrder;

/* `is_awaited`: whether a use of its result is to be found. `keep_order`: places are pcs. */
void load_order_find(const PtxProgram *program, bool (*is_awaited)(const PtxInstruction *in), bool keep_order,
                     LoadOrder *order);
void load_order_done(LoadOrder *order);

#endif
