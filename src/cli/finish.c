#define _POSIX_C_SOURCE 200809L

#include "cli/finish.h"

#include "tui/draw/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static int write_error; /* errno of a failed write; a later flush may report another */

int finish_refuse(const Error *error) {
    terminal_close(); /* it may have waited for what failed */
    fflush(stdout);
    error_print(error, stderr);
    return error->not_emulated ? NOT_EMULATED : BAD_INPUT;
}

void finish_print(Text *text) {
    if (fwrite(text_string(text), 1, text->length, stdout) < text->length && !write_error)
        write_error = errno;
    text_done(text);
}

int finish_output(int status) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    if (!write_error) write_error = errno;
    if (write_error == EPIPE) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    fprintf(stderr, "redviz: cannot write the output: %s\n", strerror(write_error));
    return BAD_INPUT;
}

bool finish_write_file(const char *path, const Text *text, Error *error) {
    FILE *file = fopen(path, "wb");
    if (!file) return error_set_at(error, path, 0, 0, "cannot be written: %s", strerror(errno));
    bool written = fwrite(text_string(text), 1, text->length, file) == text->length;
    if (fclose(file) == 0 && written) return true;
    error_set_at(error, path, 0, 0, "cannot be written: %s", strerror(errno));
    remove(path);
    return false;
}
