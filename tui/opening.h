/* Opening: a session that a worker thread opens while the interface goes on. */
#ifndef TUI_OPENING_H
#define TUI_OPENING_H

#include "session.h"

typedef struct Opening Opening;

/* `options` are copied. `done` is called from the thread when it has ended. NULL: the machine has no thread.
 */
Opening *opening_start(const SessionOptions *options, void (*done)(void));
bool opening_is_done(const Opening *opening);
/* Ends it soon, with an error. It still has to be finished. */
void opening_cancel(Opening *opening);
/* Waits for its end and frees it. The session is the caller's; NULL: `error` says why there is none. */
Session *opening_finish(Opening *opening, Error *error);

#endif
