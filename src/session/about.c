/* The lines of --version below the version (session.h). */
#include "session/session.h"

#include "gpu/libraries.h"
#include "trace/store.h"

void session_about(Text *out) {
    text_print(out, "SQLite %s\n", store_sqlite_version());
    found_print(out);
}
