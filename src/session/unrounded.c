/* The result of a run with a shadow: its elements without rounding, compared. */
#include "session/state.h"

#include <stdlib.h>
#include <string.h>

static bool read_elements(const ExpectShadow *shadow, const PlanBuffer *buffer, double *elements,
                          bool *of_literal) {
    const Emulator *emulator = shadow->context;
    size_t bytes = (size_t)ptx_type_bytes(buffer->type);
    if (emulator_lost_shadow(emulator)) return false;
    for (uint64_t i = 0; i < buffer->count; i++) {
        EmulatorShadow of =
            emulator_find_shadow(emulator, (const char *)buffer->bytes + i * bytes, buffer->type);
        if (of.is_cut) return false;
        elements[i] = (double)of.value;
        *of_literal |= of.of_literal;
    }
    return true;
}

ExpectShadow session_shadow(const Session *session) {
    return (ExpectShadow){.of = read_elements, .context = session->run->emulator};
}

/* The check of the row sees the floats that the run changed as doubles without rounding. */
void session_judge_shadow(Session *session) {
    const SessionRun *run = session->run;
    ExpectShadow shadow = session_shadow(session);
    Plan unrounded = run->plan;
    bool known = true, of_literal = false;
    unrounded.buffers = memory_new((size_t)run->plan.buffer_count * sizeof *unrounded.buffers + 1);
    for (int i = 0; i < run->plan.buffer_count; i++) {
        PlanBuffer *buffer = &unrounded.buffers[i];
        *buffer = run->plan.buffers[i];
        size_t bytes = (size_t)(buffer->count * (uint64_t)ptx_type_bytes(buffer->type));
        bool is_changed = ptx_type_is_float(buffer->type) &&
                          memcmp(buffer->bytes, run->filled.buffers[i].bytes, bytes) != 0;
        if (!is_changed) continue;
        double *elements = memory_new((size_t)buffer->count * sizeof *elements + 1);
        known &= shadow.of(&shadow, buffer, elements, &of_literal);
        buffer->bytes = elements;
        buffer->type = PTX_F64;
    }
    session->has_result = known && !of_literal;
    if (session->has_result)
        session->kernel.row->check(&session->kernel.run, &run->filled, &unrounded, &session->result);
    for (int i = 0; i < run->plan.buffer_count; i++)
        if (unrounded.buffers[i].bytes != run->plan.buffers[i].bytes) free(unrounded.buffers[i].bytes);
    free(unrounded.buffers);
}
