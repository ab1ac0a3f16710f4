/* Recorded runs: the timelines that ship for a kernel of the catalogue. Private to the session. */
#ifndef SESSION_RECORDED_RUNS_H
#define SESSION_RECORDED_RUNS_H

#include "session/state.h"

/* Reads assets/MACHINE/KIND/KERNEL.tsv of the requested machine, else of one after the other until `read` has
 * kept something: it returns the number, or -1 with `error`. NULL, or why a file could not be read (in the
 * session's arena). */
const char *recorded_runs_read(Session *session, const char *kind,
                               int (*read)(const char *path, Session *session, Error *error));
/* How far the recorded run is from the session's; a large number if it is of another kernel. The same type
 * counts for more than the same size. */
double recorded_run_distance(const Session *session, const TimelineRun *of);
/* Its first launch has blocks of the run's size. */
bool recorded_run_has_block(const Session *session, const uint32_t block[3]);
/* "not measured with block 512", in the session's arena. */
const char *recorded_run_other_block(Session *session);
/* It is of the session's size, type and operation. */
bool recorded_run_is_own(const Session *session, const TimelineRun *of);

#endif
