/* Judge: the result of a run beside its reference, --expect, or what it looks like. */
#include "session/state.h"

#include <stdlib.h>

bool session_judge(Session *session, Error *error) {
    const SessionRun *run = session->run;
    const CatalogRow *row = session->kernel.row;
    bool is_whole = !run->is_partial || session->machine.device; /* a GPU runs all blocks */
    if (session->is_unchecked) return true;
    if (row && is_whole) {
        session->has_result = true;
        row->check(&session->kernel.run, &run->filled, &run->plan, &session->result);
        if (trace_has_fatal_trap(run->trace)) session->result.correct = false;
    }
    if (row) return true;
    void **bytes = memory_new((size_t)(run->trace->buffer_count + 1) * sizeof *bytes);
    for (int i = 0; i < run->trace->buffer_count; i++) bytes[i] = emulator_buffer_bytes(run->emulator, i);
    GuessRun ran = {.filled = &run->filled,
                    .done = &run->plan,
                    .trace = run->trace,
                    .bytes = bytes,
                    .is_partial = run->is_partial};
    bool good = guess_compare(&session->guess, &ran, error);
    free(bytes);
    session->has_result = session->guess.verdict.has_result;
    session->result = session->guess.verdict.result;
    return good;
}
