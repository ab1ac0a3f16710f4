/* Opening: a session that a worker thread opens while the interface goes on. */
#ifndef TUI_SESSION_LOADER_H
#define TUI_SESSION_LOADER_H

#include "session/session.h"

typedef struct SessionLoader SessionLoader;

/* `options` are copied. `done` is called from the thread when it has ended. NULL: the machine has no thread.
 */
SessionLoader *session_loader_start(const SessionOptions *options, void (*done)(void));
bool session_loader_is_done(const SessionLoader *loader);
/* Ends it soon, with an error. It still has to be finished. */
void session_loader_cancel(SessionLoader *loader);
/* Waits for its end and frees it. The session is the caller's; NULL: `error` says why there is none. */
Session *session_loader_finish(SessionLoader *loader, Error *error);

#endif
