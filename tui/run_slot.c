#include "tui/run_slot.h"

static void run_done(Run *run) {
    scene_free(run->scene);
    if (run->is_owned) session_free(run->session);
    *run = (Run){0};
}

static Run run_move(Run *from) {
    Run run = *from;
    *from = (Run){0};
    return run;
}

RunSlot run_slot_new(Session *session, bool is_owned) {
    int count;
    const char *const *files = session_files(session, &count);
    return (RunSlot){.now = {session, is_owned, scene_new(session)},
                     .files = count ? file_watch_new(files, count) : NULL};
}

/* Nothing that happened to the files meanwhile goes unnoticed. */
static RunSlot side_after(Session *session, const RunSlot *old) {
    RunSlot side = run_slot_new(session, true);
    if (side.files && old->files) file_watch_follow(side.files, old->files);
    side.is_stale = old->is_stale;
    return side;
}

RunSlot run_slot_renew(Session *session, RunSlot *old) {
    RunSlot side = side_after(session, old);
    side.before = run_move(&old->before);
    side.has_to_tell = old->has_to_tell;
    return side;
}

RunSlot run_slot_edited(Session *session, RunSlot *old) {
    RunSlot side = side_after(session, old);
    side.before = run_move(&old->now);
    side.has_to_tell = true;
    return side;
}

bool run_slot_is_complete(const RunSlot *side) {
    const Session *session = side->now.session;
    return session_is_from_file(session) ||
           (!session_is_partial(session) && session_options(session)->search_races);
}

void run_slot_done(RunSlot *side) {
    run_done(&side->now);
    run_done(&side->before);
    file_watch_free(side->files);
    *side = (RunSlot){0};
}
