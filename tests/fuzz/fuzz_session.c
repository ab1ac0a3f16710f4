/* Fuzz target of session files: any bytes as FILE.redviz, without a check of the checksum (store.c), so that
 * the contents are reached. A file that opens is queried for everything in it. */
#define _POSIX_C_SOURCE 200809L
#include "ask/ask.h"
#include "tui/app.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(Session *session) {
    Text out = {0};
    Error error = {0};
    AppStart start = {.keys = "]]nrtVz"};
    FILE *nowhere = fopen("/dev/null", "w");
    ask_report(session, true, &out);
    ask_report(session, false, &out);
    session_events(session, nowhere);
    app_frame(session, 120, 40, &start, &out, &error);
    fclose(nowhere);
    text_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char path[64];
    Error error = {0};
    if (!path[0]) snprintf(path, sizeof path, "/dev/shm/redviz-fuzz-%d.redviz", (int)getpid());
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file)) abort();
    Session *session = session_open(&(RunSpec){.saved = path}, &error);
    if (session)
        ask(session);
    else if (!error.message[0] || strchr(error.message, '\n'))
        abort();
    session_free(session);
    remove(path);
    return 0;
}
