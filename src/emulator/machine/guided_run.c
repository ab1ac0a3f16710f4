/* A launch whose traced blocks take recorded values (guided_run.h). */
#include "emulator/machine/guided_run.h"

#include "base/language.h"
#include "emulator/machine/recorded_values.h"
#include "emulator/machine/recorder.h"
#include "emulator/machine/writers.h"

#include <stdlib.h>

/* A lost thread may wait for ever, so a block has an instruction budget per event. */
enum { FOR_EACH_EVENT = 1000, AT_LEAST = 10000000 };

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
                   tr("this block no longer follows the recorded events and does not end"));
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
    grid->blocks_communicate = false; /* each block is alone */
    for (int i = 0; i < from->recorded->block_count; i++) {
        uint64_t *others = writers_written_by_others(writers, i, earlier, earlier_words);
        RecordedValues *recorded_values = recorded_values_new(grid, from, from->recorded->blocks[i], others,
                                                              writers->footprints[i]->words, taken);
        run_block(grid, from->recorded->blocks[i], recorded_values, trace);
        recorded_values_free(recorded_values);
        free(others);
        grid_restore_memory(grid->memory, begin);
    }
    grid_drop_memory(grid->memory, begin);
}

bool grid_run_guided(Grid *grid, const EmulatorRecording *recording, uint64_t memory_limit,
                     uint64_t **earlier, uint64_t *earlier_words, EmulatorTakenValues *taken, Trace *trace,
                     Error *error) {
    int count = recording->recorded->block_count;
    Writers writers = {recording->recorded, memory_new(((size_t)count + 1) * sizeof(Footprint *))};
    for (int i = 0; i <= count; i++) writers.footprints[i] = footprint_new(grid->memory);
    uint8_t **begin = grid_save_memory(grid->memory);
    grid->writers = &writers;
    bool good = grid_run(grid, 1, memory_limit, trace, error);
    grid->writers = NULL;
    uint8_t **end = grid_save_memory(grid->memory);
    grid_restore_memory(grid->memory, begin);
    if (good) run_blocks(grid, recording, &writers, *earlier, *earlier_words, taken, trace);
    grid_restore_memory(grid->memory, end);
    grid_drop_memory(grid->memory, begin);
    grid_drop_memory(grid->memory, end);
    uint64_t *after = writers_written_by_others(&writers, -1, *earlier, *earlier_words);
    free(*earlier);
    *earlier = after;
    *earlier_words = writers.footprints[0]->words;
    for (int i = 0; i <= count; i++) footprint_free(writers.footprints[i]);
    free(writers.footprints);
    return good;
}
