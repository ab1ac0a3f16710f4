#include "side.h"

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

Side side_new(Session *session, bool is_owned) {
    int count;
    const char *const *files = session_files(session, &count);
    return (Side){.now = {session, is_owned, scene_new(session)},
                  .files = count ? file_watch_new(files, count) : NULL};
}

/* Nothing that happened to the files meanwhile goes unnoticed. */
static Side side_after(Session *session, const Side *old) {
    Side side = side_new(session, true);
    if (side.files && old->files) file_watch_follow(side.files, old->files);
    side.is_stale = old->is_stale;
    return side;
}

Side side_renew(Session *session, Side *old) {
    Side side = side_after(session, old);
    side.before = run_move(&old->before);
    side.has_to_tell = old->has_to_tell;
    return side;
}

Side side_edited(Session *session, Side *old) {
    Side side = side_after(session, old);
    side.before = run_move(&old->now);
    side.has_to_tell = true;
    return side;
}

bool side_is_complete(const Side *side) {
    const Session *session = side->now.session;
    return session_is_from_file(session) || (!session_is_partial(session) && session_options(session)->watch);
}

void side_done(Side *side) {
    run_done(&side->now);
    run_done(&side->before);
    file_watch_free(side->files);
    *side = (Side){0};
}
