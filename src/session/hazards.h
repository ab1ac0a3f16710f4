/* Hazards of a session, and --check. Private to session*.c; what others call is in session.h. */
#ifndef SESSION_HAZARDS_H
#define SESSION_HAZARDS_H

#include "session/state.h"

/* For the emulator; NULL where the options do not ask for it. */
const TraceObserver *session_observer(Session *session);

#endif
