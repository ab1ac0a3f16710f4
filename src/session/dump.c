/* The text of --dump-ir, --dump-flow and --dump-ops; nothing is run. */
#include "session/state.h"

/* Every launch, lowered as it would be for a run. */
static bool print_lowered(const Session *session, Text *out, Error *error) {
    Emulator *emulator = emulator_new(&(EmulatorOptions){0});
    const Plan *plan = &session->run->plan;
    bool good = session_add_buffers(session, emulator, plan->buffers, plan->buffer_count, error);
    for (int i = 0; good && i < session->run->launches.count; i++) {
        Launch launch;
        good = session_bind_emulated(session, i, emulator, &launch, error);
        if (!good) break;
        good = emulator_print_ops(emulator, &launch, out, error);
        launch_done(&launch);
    }
    emulator_free(emulator);
    return good;
}

static void print_flow(const Session *session, Text *out) {
    PtxProgram *const *programs = session->run->launches.programs;
    for (int i = 0; i < session->run->launches.count; i++) {
        bool is_shown = false; /* with an earlier launch of the same kernel */
        for (int j = 0; j < i; j++) is_shown |= programs[j] == programs[i];
        if (!is_shown) ptx_program_print_flow(programs[i], out);
    }
}

bool session_dump_front_end(const SessionOptions *options, SessionForm form, Text *out, Error *error) {
    Session *session = session_new(options);
    bool good = session_plan(session, error);
    if (good && form == FORM_IR) good = ptx_module_print(session->code.module, out, error);
    if (good && form == FORM_OPS) good = print_lowered(session, out, error);
    if (good && form == FORM_FLOW) print_flow(session, out);
    session_free(session);
    return good;
}
