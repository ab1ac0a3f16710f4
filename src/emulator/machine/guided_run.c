/* A launch whose traced blocks are fed (fed.h). */
#include "emulator/machine/guided_run.h"

#include "emulator/machine/recorded_values.h"
#include "emulator/machine/recorder.h"

#include <stdlib.h>

/* A thread that is lost may wait for ever: a block gets so many instructions for each of its events. */
enum { FOR_EACH_EVENT = 1000, AT_LEAST = 10000000 };

Footprint *writers_footprint(const Writers *writers, uint64_t block) {
    int i = 0;
    while (i < writers->recorded->block_count && trace_block_linear(writers->recorded->blocks[i]) != block)
        i++;
    return writers->footprints[i];
}

/* Words that somebody other than block `index` has written. */
static uint64_t *written_by_others(const Writers *writers, int index, const uint64_t *earlier,
                                   uint64_t earlier_words) {
    uint64_t words = writers->footprints[0]->words,
             *others = memory_new((size_t)(words / 64 + 2) * sizeof *others);
    for (uint64_t i = 0; i <= words / 64; i++) {
        if (i <= earlier_words / 64 && earlier) others[i] = earlier[i];
        for (int f = 0; f <= writers->recorded->block_count; f++)
            if (f != index) others[i] |= writers->footprints[f]->written[i];
    }
    return others;
}

static void run_block(Grid *grid, const TraceBlock *recorded, RecordedValues *recorded_values, Trace *trace) {
    uint64_t budget = AT_LEAST + (uint64_t)FOR_EACH_EVENT * (uint64_t)trace_block_event_count(recorded);
    Worker *worker = worker_new(grid);
    Block *block = block_new(grid);
    grid->trace_first = grid->trace_last = trace_block_linear(recorded);
    block_start(block, worker, trace_block_linear(recorded));
    block->recorded_values = recorded_values;
    SliceEnd end = block_run(block, budget);
    if (end != SLICE_DONE && end != SLICE_STOPPED)
        raise_trap(block, TRAP_INSTRUCTION_BUDGET, NULL, PTX_NO_PC, 0, NULL,
                   "this block has come apart from what was recorded, and does not end");
    recorder_finish(block->recorder, grid->trace);
    block->recorder = NULL;
    for (int i = 0; i < worker->trap_count; i++) trace_add_trap(trace, &worker->traps[i]);
    block_free(block);
    worker_free(worker);
}

static void run_blocks(Grid *grid, const EmulatorRecording *from, const Writers *writers,
                       const uint64_t *earlier, uint64_t earlier_words, EmulatorTakenValues *taken,
                       Trace *trace) {
    uint8_t **begin = grid_save_memory(grid->memory);
    grid->blocks_meet = false; /* each is alone */
    for (int i = 0; i < from->recorded->block_count; i++) {
        uint64_t *others = written_by_others(writers, i, earlier, earlier_words);
        RecordedValues *recorded_values = recorded_values_new(grid, from, from->recorded->blocks[i], others,
                                                              writers->footprints[i]->words, taken);
        run_block(grid, from->recorded->blocks[i], recorded_values, trace);
        recorded_values_free(recorded_values);
        free(others);
        grid_restore_memory(grid->memory, begin);
    }
    grid_drop_memory(grid->memory, begin);
}

bool grid_run_fed(Grid *grid, const EmulatorRecording *recorded_values, uint64_t memory_limit,
                  uint64_t **earlier, uint64_t *earlier_words, EmulatorTakenValues *taken, Trace *trace,
                  Error *error) {
    int count = recorded_values->recorded->block_count;
    Writers writers = {recorded_values->recorded, memory_new(((size_t)count + 1) * sizeof(Footprint *))};
    for (int i = 0; i <= count; i++) writers.footprints[i] = footprint_new(grid->memory);
    uint8_t **begin = grid_save_memory(grid->memory);
    grid->writers = &writers;
    bool good = grid_run(grid, 1, memory_limit, trace, error);
    grid->writers = NULL;
    uint8_t **end = grid_save_memory(grid->memory);
    grid_restore_memory(grid->memory, begin);
    if (good) run_blocks(grid, recorded_values, &writers, *earlier, *earlier_words, taken, trace);
    grid_restore_memory(grid->memory, end);
    grid_drop_memory(grid->memory, begin);
    grid_drop_memory(grid->memory, end);
    uint64_t *after = written_by_others(&writers, -1, *earlier, *earlier_words);
    free(*earlier);
    *earlier = after;
    *earlier_words = writers.footprints[0]->words;
    for (int i = 0; i <= count; i++) footprint_free(writers.footprints[i]);
    free(writers.footprints);
    return good;
}
