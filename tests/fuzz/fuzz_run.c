/* Fuzz target of the emulator: any text as FILE.ptx, run with a small grid and a small budget, searched for
 * races, and reported. The result is a one-line error, or a run, which may end in a trap. */
#include "ask/ask.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUDGET = 20000 };

static void ask(Session *session) {
    Text out = {0};
    FILE *nowhere = fopen("/dev/null", "w");
    ask_report(session, true, &out);
    ask_report(session, false, &out);
    ask_check(session, TOOL_NONE, CHECK_TEXT, &out);
    session_events(session, nowhere);
    if (session_block_count(session)) session_folds(session, 0);
    fclose(nowhere);
    text_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error error = {0};
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    RunSpec options = {.file = "fuzz.ptx",
                       .text = text,
                       .catalog = {.n = 64},
                       .block = {64, 1, 1},
                       .grid = {2, 1, 1},
                       .threads = 1,
                       .instruction_budget = BUDGET,
                       .search_races = true};
    Session *session = session_open(&options, &error);
    if (session)
        ask(session);
    else if (!error.message[0] || strchr(error.message, '\n'))
        abort();
    session_free(session);
    free(text);
    return 0;
}
