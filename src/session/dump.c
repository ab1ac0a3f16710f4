/* What the front end makes of a kernel, as text; nothing is run. */
#include "session/state.h"

#include <stdlib.h>
#include <string.h>

static uint64_t buffer_address(void *context, int buffer) {
    return emulator_buffer_address(context, buffer);
}

/* One launch, lowered as it would be for a run. */
static bool print_ops(const Session *session, Emulator *emulator, int index, Text *out, Error *error) {
    const PlanLaunch *planned = &session->plan.launches[index];
    EmulatorLaunch launch = {.program = session->programs[index],
                             .dynamic_shared_bytes = planned->shared_bytes,
                             .cooperative = planned->cooperative};
    uint8_t *parameters;
    memcpy(launch.grid, planned->grid, sizeof launch.grid);
    memcpy(launch.block, planned->block, sizeof launch.block);
    if (!plan_pack_arguments(planned, launch.program->entry, buffer_address, emulator, &parameters,
                             &launch.parameter_bytes, error))
        return false;
    launch.parameters = parameters;
    bool good = emulator_print_ops(emulator, &launch, out, error);
    free(parameters);
    return good;
}

static bool print_lowered(const Session *session, Text *out, Error *error) {
    Emulator *emulator = emulator_new(&(EmulatorOptions){0});
    bool good = true;
    for (int i = 0; i < session->plan.buffer_count; i++) {
        const PlanBuffer *buffer = &session->plan.buffers[i];
        emulator_add_buffer(emulator, buffer->name, buffer->bytes,
                            buffer->count * (uint64_t)ptx_type_bytes(buffer->type), buffer->type);
    }
    for (int i = 0; good && i < session->launch_count; i++)
        good = print_ops(session, emulator, i, out, error);
    emulator_free(emulator);
    return good;
}

static bool link_launches(Session *session, Error *error) {
    size_t count = (size_t)session->plan.launch_count;
    session->programs = arena_new(&session->arena, count * sizeof *session->programs);
    session->launches = arena_new(&session->arena, count * sizeof *session->launches);
    session->launch_count = session->plan.launch_count;
    for (int i = 0; i < session->launch_count; i++)
        if (!session_link(session, i, session->plan.launches[i].entry, error)) return false;
    return true;
}

bool session_dump_front_end(const SessionOptions *options, SessionForm form, Text *out, Error *error) {
    SessionOptions planned = *options;
    planned.plan_only = true;
    Session *session = session_open(&planned, error);
    if (!session) return false;
    bool good = link_launches(session, error);
    if (good && form == FORM_IR) good = ptx_module_print(session->module, out, error);
    if (good && form == FORM_OPS) good = print_lowered(session, out, error);
    for (int i = 0; good && form == FORM_FLOW && i < session->launch_count; i++) {
        bool is_shown = false; /* with an earlier launch of the same kernel */
        for (int j = 0; j < i; j++) is_shown |= session->programs[j] == session->programs[i];
        if (!is_shown) ptx_program_print_flow(session->programs[i], out);
    }
    session_free(session);
    return good;
}
