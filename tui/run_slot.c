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
    return (RunSlot){.current = {session, is_owned, scene_new(session)},
                     .files = count ? file_watch_new(files, count) : NULL};
}

RunSlot run_slot_follow(Session *session, const RunSlot *old) {
    RunSlot slot = run_slot_new(session, true);
    if (slot.files && old->files) file_watch_follow(slot.files, old->files);
    slot.is_stale = old->is_stale;
    return slot;
}

void run_slot_forget_files(RunSlot *slot) {
    file_watch_free(slot->files);
    slot->files = NULL;
    slot->is_stale = false;
}

RunSlot run_slot_renew(Session *session, RunSlot *old) {
    RunSlot slot = run_slot_follow(session, old);
    if (!old->files) run_slot_forget_files(&slot);
    slot.before = run_move(&old->before);
    slot.reports_change = old->reports_change;
    slot.timings.own = old->timings.own;
    slot.timing_run = old->timing_run;
    old->timing_run = NULL;
    return slot;
}

RunSlot run_slot_edited(Session *session, RunSlot *old) {
    RunSlot slot = run_slot_follow(session, old);
    slot.before = run_move(&old->current);
    slot.reports_change = true;
    return slot;
}

bool run_slot_is_complete(const RunSlot *slot) {
    Session *session = slot->current.session;
    return session_is_from_file(session) ||
           (!session_is_partial(session) && session_spec(session)->search_races);
}

void run_slot_done(RunSlot *slot) {
    run_done(&slot->current);
    run_done(&slot->before);
    file_watch_free(slot->files);
    *slot = (RunSlot){0};
}
