/* Session files: FILE.redviz (trace/store.h) to a session. Private to the session. */
#ifndef SESSION_FILE_H
#define SESSION_FILE_H

#include "session/session.h"

/* Opens options->saved; nothing is executed, and no other file is opened. */
Session *session_load(const SessionOptions *options, Error *error);

/* Of a session from a file: makes the bytes again that a buffer was filled with. */
bool session_fill_buffer(Session *session, int buffer, Error *error);

#endif
