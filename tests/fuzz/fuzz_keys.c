/* Fuzz target of the interface: any keys, as in --keys, on a small run and on a faulty one; the first byte
 * selects the run and the size of the screen. The output is a frame, with a line for each row. */
#include "session/session.h"
#include "tui/app.h"
#include "tui/view/keys.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Session *open_run(const char *kernel) {
    Error error = {0};
    RunSpec options = {
        .kernel = kernel, .catalog = {.n = 64, .block = 64}, .threads = 1, .search_races = true};
    Session *session = session_open(&options, &error);
    if (!session) {
        error_print(&error, stderr);
        abort();
    }
    return session;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Session *runs[2];
    static const int sizes[][2] = {{80, 24}, {120, 40}, {200, 60}, {7, 3}};
    Error error = {0};
    if (!runs[0]) runs[0] = open_run("shuffle"), runs[1] = open_run("bug_missing_sync");
    if (!size) return 0;
    char *keys = malloc(size);
    memcpy(keys, data + 1, size - 1);
    keys[size - 1] = 0;
    const int *screen = sizes[data[0] / 2 % 4];
    Text out = {0};
    AppStart start = {.keys = keys, .ascii = data[0] & 8};
    if (key_script_check(keys, &error)) {
        if (!app_frame(runs[data[0] % 2], screen[0], screen[1], &start, &out, &error) && !error.message[0])
            abort();
    } else if (!error.message[0]) {
        abort();
    }
    text_done(&out);
    free(keys);
    return 0;
}
