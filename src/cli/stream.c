#include "cli/stream.h"

#include <string.h>

enum { LIMIT_BYTES = 256 << 20 };

/* PTX begins with .version; blanks and comments may come before it. */
static bool is_ptx(const char *text) {
    for (;;) {
        text += strspn(text, " \t\r\n");
        const char *end = !strncmp(text, "//", 2)   ? strchr(text, '\n')
                          : !strncmp(text, "/*", 2) ? strstr(text + 2, "*/")
                                                    : NULL;
        if (!end) return !strncmp(text, ".version", 8);
        text = end + (*end == '*' ? 2 : 1);
    }
}

bool stream_read(Options *options, char **text, Error *error) {
    RunSpec *session = &options->session;
    size_t length;
    *text = NULL;
    if (!session->file || !text_is_stream(session->file)) return true;
    if (options->watch) return error_set(error, "--watch: %s is not a file that can change", session->file);
    if (!text_read_stream(session->file, LIMIT_BYTES, text, &length, error)) return false;
    if (!length) return error_set_at(error, session->file, 0, 0, "it is empty");
    if (strlen(*text) != length) return error_set_at(error, session->file, 0, 0, "this is not text");
    session->file = is_ptx(*text) ? "stdin.ptx" : "stdin.cu";
    session->text = *text;
    return true;
}
