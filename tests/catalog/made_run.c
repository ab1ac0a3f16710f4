#include "tests/catalog/made_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

void made_open(MadeRun *run, PtxType type, uint64_t n, double range) {
    *run = (MadeRun){0};
    Plan *const plans[] = {&run->filled, &run->done};
    for (int i = 0; i < 2; i++) {
        int index = plan_add_buffer(plans[i], "in", type, n, FILL_RANDOM);
        PlanBuffer *in = &plans[i]->buffers[index];
        in->has_range = in->whole_numbers = true;
        in->low = -range;
        in->high = range;
        PlanLaunch *launch = plan_add_launch(plans[i], "k");
        launch->grid[0] = MADE_BLOCKS;
        launch->block[0] = 32;
    }
    run->expect = (ExpectRun){.filled = &run->filled, .done = &run->done, .n = n};
}

void made_add(MadeRun *run, const char *name, PtxType type, uint64_t count, FillKind fill) {
    plan_add_buffer(&run->filled, name, type, count, fill);
    plan_add_buffer(&run->done, name, type, count, fill);
}

void made_fill(MadeRun *run) {
    Error error = {0};
    if (!plan_fill(&run->filled, 1, &error) || !plan_fill(&run->done, 1, &error))
        fail_msg("%s", error.message);
}

void made_close(MadeRun *run) {
    plan_free(&run->filled);
    plan_free(&run->done);
}

double made_in(const MadeRun *run, int buffer, uint64_t i) {
    const PlanBuffer *from = &run->filled.buffers[buffer];
    return plan_element(from->type, from->bytes, i);
}

void made_put(MadeRun *run, int buffer, uint64_t i, double value) {
    PlanBuffer *out = &run->done.buffers[buffer];
    plan_element_set(out->type, out->bytes, i, value);
}
