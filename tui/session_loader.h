/* Session loader: opens a session in a worker thread while the interface runs. */
#ifndef TUI_SESSION_LOADER_H
#define TUI_SESSION_LOADER_H

#include "ask/ask.h"

typedef struct SessionLoader SessionLoader;

/* `options` are copied. The thread calls `done` when it has finished. NULL: no thread could be started. */
SessionLoader *loader_start(const RunSpec *options, void (*done)(void));
/* Does the same with ask_open_in_bad_order(). */
SessionLoader *loader_start_in_bad_order(const RunSpec *options, AskRacePair pair, void (*done)(void));
/* Does the same with session_open_on_gpu(). */
SessionLoader *loader_start_on_gpu(const RunSpec *options, void (*done)(void));
bool loader_is_done(const SessionLoader *loader);
/* Makes it end soon, with an error; loader_finish() must still be called. */
void loader_cancel(SessionLoader *loader);
/* Waits for its end and frees it. The caller owns the session; NULL: `error` says why there is none. */
Session *loader_finish(SessionLoader *loader, Error *error);

#endif
