/* Session files: FILE.redviz (trace/store.h) to a session. Private to the session. */
#ifndef SESSION_FILE_H
#define SESSION_FILE_H

#include "session/session.h"

/* Opens options->saved; nothing is executed, and no other file is opened. */
Session *session_load(const RunSpec *options, Error *error);

/* Restores the bytes that a buffer of a saved session was filled with. */
bool session_fill_buffer(Session *session, int buffer, Error *error);

#endif
