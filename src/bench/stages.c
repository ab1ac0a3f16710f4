#include "bench/stages.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

int stages_find_buffer(const Plan *plan, const char *name) {
    for (int i = 0; i < plan->buffer_count; i++)
        if (!strcmp(plan->buffers[i].name, name)) return i;
    return -1;
}

uint64_t stages_buffer_bytes(const PlanBuffer *buffer) {
    return buffer->count * (uint64_t)ptx_type_bytes(buffer->type);
}

bool stages_plan(Stages *work, const CatalogRow *row, CatalogOptions options, int most, Error *error) {
    work->row = row;
    for (;;) {
        Stage *stage = &work->stages[work->stage_count++];
        if (!catalog_resolve(row, &options, &stage->run, error) ||
            !catalog_plan(&stage->run, &stage->plan, error))
            return false;
        int out = stages_find_buffer(&stage->plan, "out");
        uint64_t left = out < 0 ? 1 : stage->plan.buffers[out].count;
        if (left <= 1 || row->group != CATALOG_LADDER || work->stage_count == most) return true;
        if (left >= options.n && work->stage_count > 1)
            return error_set(error, "it leaves as many results as it has elements");
        if (work->stage_count == STAGES)
            return error_set(error, "more than %d launches to one scalar", STAGES);
        options.n = left;
        options.grid = 0;
    }
}

bool stages_load(Stages *work, Cuda *cuda, bool keeps_code, Error *error) {
    work->module = catalog_module(work->row, error);
    if (!work->module) return false;
    int count = 0;
    for (int s = 0; s < work->stage_count; s++)
        for (int i = 0; i < work->stages[s].plan.launch_count; i++) {
            PtxFunction *entry =
                ptx_module_find_entry(work->module, work->stages[s].plan.launches[i].entry, error);
            PtxProgram *program = entry ? ptx_program_link(work->module, entry, error) : NULL;
            if (!program) return false;
            work->programs[count++] = program;
        }
    Text ptx = {0};
    ptx_programs_print((const PtxProgram *const *)work->programs, count, &ptx);
    bool good =
        (keeps_code ? gpu_run_begin_keeping : gpu_run_begin)(&work->run, cuda, text_string(&ptx), error);
    text_done(&ptx);
    return good;
}

size_t stages_bytes(const Stages *work) {
    size_t bytes = 0;
    for (int s = 0; s < work->stage_count; s++)
        for (int i = 0; i < work->stages[s].plan.buffer_count; i++)
            bytes += (size_t)stages_buffer_bytes(&work->stages[s].plan.buffers[i]) + 256;
    return bytes;
}

/* Adds the stage's buffers and their addresses: a later stage reads the output of the previous one and has no
 * input of its own. */
static bool add_buffers(Stages *work, int stage, uint64_t *addresses, Error *error) {
    const Plan *plan = &work->stages[stage].plan;
    int input = stage ? stages_find_buffer(plan, "in") : -1;
    for (int i = 0; i < plan->buffer_count; i++) {
        int before = work->run.buffer_count;
        int index = gpu_run_add_buffer(&work->run, NULL,
                                       i == input ? 0 : stages_buffer_bytes(&plan->buffers[i]), error);
        if (index < 0) return false;
        if (i == input) {
            const Plan *last = &work->stages[stage - 1].plan;
            index = before - i - last->buffer_count + stages_find_buffer(last, "out");
        }
        addresses[i] = work->run.buffers[index].address;
    }
    return true;
}

bool stages_add_set(Stages *work, int set, Error *error) {
    int index = 0;
    bool good = true;
    for (int s = 0; good && s < work->stage_count; s++) {
        const Plan *plan = &work->stages[s].plan;
        uint64_t *addresses = memory_new((size_t)(plan->buffer_count + 1) * sizeof *addresses);
        good = add_buffers(work, s, addresses, error);
        for (int i = 0; good && i < plan->launch_count; i++, index++) {
            GpuLaunch *launch = &work->launches[set][index];
            good = plan_bind_launch(&plan->launches[i], work->programs[index], addresses, &launch->launch,
                                    error) &&
                   gpu_run_prepare(&work->run, launch, error);
        }
        free(addresses);
        if (!s) work->count[STAGES_ALONE] = index;
    }
    work->count[STAGES_TO_SCALAR] = index;
    return good;
}

bool stages_launch(void *context, int set, Error *error) {
    const Stages *work = context;
    for (int i = 0; i < work->count[work->part]; i++)
        if (!gpu_run_launch(&work->run, &work->launches[set][i], error)) return false;
    return true;
}

void stages_free(Stages *work) {
    for (int set = 0; set < work->set_count; set++)
        for (int i = 0; i < STAGES_LAUNCHES; i++) launch_done(&work->launches[set][i].launch);
    gpu_run_end(&work->run);
    for (int i = 0; i < STAGES_LAUNCHES && work->programs[i]; i++) ptx_program_free(work->programs[i]);
    for (int s = 0; s < work->stage_count; s++) plan_free(&work->stages[s].plan);
    ptx_module_free(work->module);
    free(work);
}
