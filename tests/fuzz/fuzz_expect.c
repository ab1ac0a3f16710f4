/* Fuzz target of --expect: the first byte selects the type and the sizes of a run, the rest is the text.
 * Refused text gives one line that says why; accepted text can be compared. */
#include "expect/expect.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TYPES = 4, OUTPUTS = 4 };

static void fill(Plan *plan, uint8_t choice) {
    static const PtxType types[TYPES] = {PTX_S32, PTX_F32, PTX_F64, PTX_F16};
    static const uint64_t outputs[OUTPUTS] = {1, 4, 12, 240};
    PtxType type = types[choice % TYPES];
    Error error = {0};
    plan_add_buffer(plan, "in", type, 240, FILL_DIGITS);
    plan_add_buffer(plan, "other", type, 240, FILL_RANDOM);
    plan_add_buffer(plan, "out", type, outputs[choice / TYPES % OUTPUTS], FILL_IOTA);
    PlanLaunch *launch = plan_add_launch(plan, "k");
    launch->grid[0] = 4;
    launch->block[0] = 32;
    if (!plan_fill(plan, choice, &error)) abort();
}

static void check_refused(const Error *error) {
    if (!error->message[0] || strchr(error->message, '\n')) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Plan filled[TYPES * OUTPUTS];
    Error error = {0};
    ExpectResult result = {0};
    Text what = {0};
    if (!size) return 0;
    Plan *plan = &filled[data[0] % (TYPES * OUTPUTS)];
    if (!plan->buffer_count) fill(plan, data[0] % (TYPES * OUTPUTS));
    char *text = malloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    ExpectRun run = {.filled = plan, .done = plan, .n = 240};
    if (strstr(text, "file:") || strchr(text, '/')) {
        free(text); /* no files of this machine */
        return 0;
    }
    if (!expect_read(text, plan, &error))
        check_refused(&error);
    else if (!expect_compare(text, &run, &result, &what, &error))
        check_refused(&error);
    else if (!what.length)
        abort();
    text_done(&what);
    free(text);
    return 0;
}
