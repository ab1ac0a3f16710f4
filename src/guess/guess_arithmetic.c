/* The arithmetic of a run, from the instructions that it executed (expect/arithmetic.h). */
#include "guess/guess_state.h"

#include <stdlib.h>

typedef struct Additions { /* of a launch, by basic block */
    const TraceLaunch *launch;
    uint64_t *of_block;  /* [pc of its last recorded instruction] the additions of the basic block */
    uint64_t unrecorded; /* those of blocks without one, by the executions of all warps of a block */
} Additions;

/* Without a recorded instruction nothing says which warp executed a basic block: then all its executions are
 * counted. */
static void end_basic_block(Additions *all, int first, int recorded, uint64_t additions) {
    const TraceLaunch *launch = all->launch;
    if (!additions) return;
    if (recorded >= 0) {
        all->of_block[recorded] += additions;
        return;
    }
    uint64_t blocks = launch_volume(launch->grid), executions = launch->counters[first].executions;
    all->unrecorded += additions * ((executions + blocks - 1) / blocks);
}

static Additions find_additions(const TraceLaunch *launch) {
    const PtxProgram *program = launch->program;
    Additions all = {.launch = launch,
                     .of_block = memory_new(((size_t)program->code_count + 1) * sizeof *all.of_block)};
    int first = 0, recorded = -1;
    uint64_t additions = 0;
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *instruction = program->code[pc].instruction;
        if (program->code[pc].block_begin) {
            end_basic_block(&all, first, recorded, additions);
            first = pc;
            recorded = -1;
            additions = 0;
        }
        additions += arithmetic_additions(instruction);
        if (trace_kind_of(instruction) != TRACE_NOT_RECORDED) recorded = pc;
    }
    end_basic_block(&all, first, recorded, additions);
    return all;
}

/* The most additions of a warp of a traced block; blocks without one are taken to be like them. */
static uint64_t find_depth(const TraceLaunch *launch) {
    enum { MOST_WARPS = 64 };
    uint64_t most = 0;
    Additions all = find_additions(launch);
    TraceEvent event;
    for (int b = 0; b < launch->block_count; b++) {
        uint64_t of_warp[MOST_WARPS] = {0};
        for (int i = 0; i < trace_block_event_count(launch->blocks[b]); i++) {
            trace_block_read_header(launch->blocks[b], i, &event);
            of_warp[event.warp % MOST_WARPS] += all.of_block[event.pc];
        }
        for (int warp = 0; warp < MOST_WARPS; warp++)
            if (of_warp[warp] > most) most = of_warp[warp];
    }
    free(all.of_block);
    return most + all.unrecorded;
}

Arithmetic guess_arithmetic(const Trace *trace) {
    Arithmetic arithmetic = {0};
    for (int i = 0; i < trace->launch_count; i++) {
        const TraceLaunch *launch = trace->launches[i];
        int count = launch->program->code_count;
        uint64_t *lanes = memory_new(((size_t)count + 1) * sizeof *lanes);
        for (int pc = 0; pc < count; pc++) lanes[pc] = launch->counters[pc].lanes;
        arithmetic_add(&arithmetic, launch->program, lanes);
        if (launch->block_count) arithmetic.depth += find_depth(launch);
        free(lanes);
    }
    return arithmetic;
}
