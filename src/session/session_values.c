/* Questions about a session's values, answered by running a block again (session.h); and about its other
 * blocks. */
#include "session/state.h"

#include <string.h>

/* No event has the lanes whose accesses were dropped, so their registers are unknown. */
static bool has_dropped(const Trace *trace, int launch) {
    for (int i = 0; i < trace->trap_count; i++)
        if (trap_kind_is_dropped(trace->traps[i].kind) && trace->traps[i].launch == launch) return true;
    return false;
}

static Replay *find_replay(const Session *session, int index) {
    if (index < 0 || index >= session->view_count) return NULL;
    TracedBlock *view = &session->views[index];
    if (view->replay || view->replay_failed) return view->replay;
    view->replay_failed = has_dropped(session->run->trace, view->shown.launch);
    if (view->replay_failed) return NULL;
    view->replay = replay_open(session->run->trace, view->shown.launch, view->shown.block,
                               &session->run->launches.bound[view->shown.launch], NULL);
    view->replay_failed = !view->replay;
    return view->replay;
}

/* A new emulator places the same buffers at the same addresses as the one that ran. */
bool session_buffer_address(const Session *session, int buffer, uint64_t *address) {
    const Plan *plan = &session->run->plan;
    if (buffer < 0 || buffer >= plan->buffer_count) return false;
    EmulatorOptions settings = {.threads = 1};
    Emulator *emulator = emulator_new(&settings);
    session_add_buffers(session, emulator, plan->buffers, buffer + 1, NULL);
    *address = emulator_buffer_address(emulator, buffer);
    emulator_free(emulator);
    return true;
}

double session_progress(const Session *session, int view, int event) {
    Replay *replay = find_replay(session, view);
    return replay ? replay_progress(replay, event) : -1;
}

bool session_register(const Session *session, int view, int event, int warp, const char *name,
                      uint64_t bits[32], uint32_t weight[32], int32_t producer[32]) {
    Replay *replay = find_replay(session, view);
    ReplayValue value;
    if (!replay || !replay_seek(replay, event, NULL) || !replay_register(replay, warp, name, &value))
        return false;
    memcpy(bits, value.bits, sizeof value.bits);
    memcpy(weight, value.weight, sizeof value.weight);
    memcpy(producer, value.producer, sizeof value.producer);
    return true;
}

const Folds *session_folds(const Session *session, int index) {
    if (index < 0 || index >= session->view_count) return NULL;
    TracedBlock *view = &session->views[index];
    if (!view->folds && !view->folds_failed)
        view->folds = replay_folds(session->run->trace, view->shown.launch, view->shown.block,
                                   &session->run->launches.bound[view->shown.launch], NULL);
    view->folds_failed = !view->folds;
    return view->folds;
}

/* ---- other blocks ------------------------------------------------------------------------------------ */

/* True for a launch of so few blocks that it can be run again with all of them traced. */
static bool are_few(const Session *session, int view) {
    enum { MOST_BLOCKS = 64 };
    const SessionBlock *shown = &session->views[view].shown;
    uint64_t blocks = launch_volume(session->run->trace->launches[shown->launch]->grid);
    uint64_t events = blocks * (uint64_t)trace_block_event_count(shown->block);
    return blocks >= 2 && blocks <= MOST_BLOCKS && events <= SESSION_MOST_EVENTS;
}

void session_trace_others(Session *session, int index) {
    bool wanted = false;
    for (int i = 0; i < session->view_count; i++)
        wanted |= session->views[i].shown.launch == index && are_few(session, i);
    if (!session->run->launches.has_others)
        session->run->launches.has_others =
            arena_new(&session->arena,
                      (size_t)session->run->launches.count * sizeof *session->run->launches.has_others);
    if (!wanted || session->run->launches.has_others[index] || session_is_from_file(session)) return;
    session->run->launches.has_others[index] = true;
    TraceLaunch *launch = session->run->trace->launches[index];
    Session *all = session_vary(session, &(RunChange){.traces_all = true, .shows_progress = true}, NULL);
    if (all && index < all->run->trace->launch_count)
        trace_launch_take_others(launch, all->run->trace->launches[index]);
    session_free(all);
}

void session_visit_other_folds(Session *session, int view,
                               void (*visit)(void *context, const Folds *folds, const Steps *steps),
                               void *context) {
    int index = session->views[view].shown.launch;
    const TraceLaunch *launch = session->run->trace->launches[index];
    if (!are_few(session, view)) return;
    session_trace_others(session, index);
    for (int i = 0; i < launch->other_count + launch->block_count; i++) {
        bool other = i < launch->other_count;
        const TraceBlock *block = other ? launch->others[i] : launch->blocks[i - launch->other_count];
        if (block == session->views[view].shown.block) continue;
        Folds *folds =
            replay_folds(session->run->trace, index, block, &session->run->launches.bound[index], NULL);
        Steps *steps = folds ? steps_build(launch, block) : NULL;
        if (folds) visit(context, folds, steps);
        steps_free(steps);
        folds_free(folds);
    }
}
