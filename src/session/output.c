/* The printing of a session's events and buffers, and of its code (session.h). */
#include "plan/npy.h"
#include "session/file.h"
#include "session/state.h"

#include <stdlib.h>
#include <string.h>

void session_events(const Session *session, FILE *to) {
    Text line = {0};
    TraceEvent event;
    for (int i = 0; i < session->view_count; i++) {
        const SessionBlock *view = &session->views[i].shown;
        const TraceLaunch *launch = session->run->trace->launches[view->launch];
        bool captured = session_is_captured(session) && session->machine.device;
        fprintf(to, "# launch %d %s block %u: %d events%s%s\n", view->launch, launch->name,
                trace_block_linear(view->block), trace_block_event_count(view->block), captured ? " of " : "",
                captured ? session->machine.device : "");
        if (launch->dropped)
            fprintf(to, "# %llu events found no room\n", (unsigned long long)launch->dropped);
        for (int j = 0; j < trace_block_event_count(view->block); j++) {
            trace_block_read(view->block, j, &event);
            text_clear(&line);
            trace_event_print(session->run->trace, launch, view->block, &event, &line);
            fprintf(to, "%s\n", text_string(&line));
        }
    }
    text_done(&line);
}

bool session_dump(Session *session, const char *spec, FILE *to, Error *error) {
    size_t length = strcspn(spec, ":");
    int index = plan_find_buffer(&session->run->plan, spec, length);
    const PlanBuffer *found = index < 0 ? NULL : &session->run->plan.buffers[index];
    if (!found) {
        Text names = {0};
        const PlanBuffer *buffers = session->run->plan.buffers;
        for (int i = 0; buffers && i < session->run->plan.buffer_count; i++)
            text_print(&names, "%s%s", i ? ", " : "", buffers[i].name);
        error_set(error, "--dump: no buffer '%.*s'; %s%s", (int)length, spec,
                  names.length ? "there are: " : "the kernel has none", text_string(&names));
        text_done(&names);
        return false;
    }
    uint64_t count = found->count;
    const char *npy = spec[length] && spec[length + 1] == '@' ? spec + length + 2 : NULL;
    if (spec[length] && !npy) {
        char *end;
        count = strtoull(spec + length + 1, &end, 0);
        if (spec[length + 1] < '0' || spec[length + 1] > '9' || *end)
            return error_set(error, "--dump: '%s' is not a count; write BUFFER:COUNT", spec + length + 1);
        if (count > found->count) count = found->count;
    }
    if (!found->bytes && !session_fill_buffer(session, index, error)) return false;
    if (npy) return npy_write(npy, found->type, found->bytes, count, error);
    Text value = {0};
    for (uint64_t i = 0; i < count; i++) {
        text_clear(&value);
        plan_element_print(found->type, found->bytes, i, &value);
        fprintf(to, "%s\n", text_string(&value));
    }
    text_done(&value);
    return true;
}

/* ---- the front end: nothing is run --------------------------------------------------------------------- */

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

bool session_dump_front_end(const RunSpec *options, SessionForm form, Text *out, Error *error) {
    Session *session = session_new(options);
    bool good = session_plan(session, error);
    if (good && form == FORM_IR) good = ptx_module_print(session->code.module, out, error);
    if (good && form == FORM_OPS) good = print_lowered(session, out, error);
    if (good && form == FORM_FLOW) print_flow(session, out);
    session_free(session);
    return good;
}
