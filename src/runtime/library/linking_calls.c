/* The driver's linker, of PTX alone: what it makes, its "cubin", is PTX. So is what nvJitLink makes.
 *
 * redviz joins the parts; their text so far is kept here. Objects and archives are searched for fat
 * binaries. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/library/client.h"

typedef struct JitLog {
    char *text; /* of the program */
    size_t room;
    void **bytes; /* the value of the option with its size, which becomes the bytes written */
} JitLog;

struct PtxLinking {
    char *text;
    size_t bytes; /* without its end */
    unsigned parts;
    JitLog errors;
    int error; /* of a part of an archive */
    bool is_complete;
    char own_log[4096]; /* nvJitLink */
    void *own_log_bytes;
};

static void log_line(const JitLog *log, const char *line) {
    size_t written = log->text != NULL && log->bytes != NULL ? (uintptr_t)*log->bytes : 0;
    if (log->text == NULL || written >= log->room) return;
    int length = snprintf(log->text + written, log->room - written, "%s\n", line);
    written += (size_t)length < log->room - written ? (size_t)length : log->room - written - 1;
    if (log->bytes != NULL) *log->bytes = (void *)(uintptr_t)written;
}

/* The log of which `buffer` is the option, emptied. CUjit_option: the size is the option behind. */
static JitLog log_of(int buffer, unsigned count, const int *options, void **values) {
    JitLog log = {0};
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == buffer) log.text = values[i];
        if (options[i] == buffer + 1) log.bytes = &values[i];
    }
    if (log.bytes == NULL) log.text = NULL;
    if (log.bytes != NULL) log.room = (unsigned)(uintptr_t)*log.bytes;
    if (log.bytes != NULL) *log.bytes = NULL;
    if (log.room > 0 && log.text != NULL) log.text[0] = '\0';
    return log;
}

enum { INFORMATION = 3, ERRORS = 5 };

void jit_logs_empty(unsigned count, const int *options, void **values) {
    log_of(INFORMATION, count, options, values);
    log_of(ERRORS, count, options, values);
}

int link_create(PtxLinking **linker, unsigned count, const int *options, void **values) {
    *linker = calloc(1, sizeof **linker);
    if (*linker == NULL) return cudaErrorMemoryAllocation;
    log_of(INFORMATION, count, options, values);
    (*linker)->errors = log_of(ERRORS, count, options, values);
    return 0;
}

static int refuse(const PtxLinking *linker, const char *what) {
    char line[256];
    snprintf(line, sizeof line, "%s is not emulated", what);
    log_line(&linker->errors, line);
    return lacks(what);
}

/* Sends the text so far and a part, or no part at the end; takes the new text, or why there is none. */
static int ask_to_link(PtxLinking *linker, MessageFormat format, const void *part, size_t bytes) {
    MessageLink question = {linker->bytes, linker->parts, format};
    MessageLinked linked = {0};
    char *both = malloc(linker->bytes + bytes + 1), *text = NULL;
    size_t length = 0;
    if (both == NULL) return cudaErrorMemoryAllocation;
    if (linker->bytes > 0) memcpy(both, linker->text, linker->bytes);
    if (bytes > 0) memcpy(both + linker->bytes, part, bytes);
    int error = ask(MESSAGE_LINK, &question, sizeof question, both, linker->bytes + bytes, &linked,
                    sizeof linked, (void **)&text, &length);
    free(both);
    if (error == 0) error = linked.error;
    if (error == 0 && length > 0) {
        free(linker->text);
        linker->text = text;
        linker->bytes = length - 1;
        linker->parts += bytes > 0;
        return 0;
    }
    if (length > 0) {
        log_line(&linker->errors, text);
        failed(error, 0, 0, "%s", text);
    }
    free(text);
    return error;
}

static void add_fatbin(const void *fatbin, size_t bytes, void *data) {
    PtxLinking *linker = data;
    int error = ask_to_link(linker, FORMAT_FATBIN, fatbin, bytes);
    if (linker->error == 0) linker->error = error;
}

int link_add(PtxLinking *linker, int type, const void *data, size_t bytes, const char *name) {
    enum { LTO = 5 };
    /* Who uses a function of it is told when the module is complete. */
    if (name != NULL && strstr(name, "cudadevrt") != NULL) return 0;
    if (type == LTO) return refuse(linker, "cuLinkAddData of LTO-IR");
    if (data == NULL || bytes < 8) return cudaErrorInvalidValue;
    linker->error = 0;
    bool is_fatbin = memcmp(data, "\x50\xED\x55\xBA", 4) == 0;
    if (is_fatbin)
        add_fatbin(data, bytes, linker);
    else if (memcmp(data, "!<arch>\n", 8) != 0 && memcmp(data, "\177ELF", 4) != 0)
        return ask_to_link(linker, FORMAT_PTX, data, strnlen(data, bytes));
    else if (!fatbins_each(data, bytes, add_fatbin, linker))
        return refuse(linker, "cuLinkAddData of machine code");
    bool is_machine_code = linker->error == cudaErrorNoKernelImageForDevice;
    return is_machine_code ? lacks("cuLinkAddData of machine code") : linker->error;
}

int link_add_file(PtxLinking *linker, int type, const char *name) {
    FILE *file = fopen(name, "rb");
    if (file == NULL) return cudaErrorFileNotFound;
    char part[65536];
    char *text = NULL;
    size_t bytes = 0, got;
    while ((got = fread(part, 1, sizeof part, file)) > 0) {
        char *longer = realloc(text, bytes + got);
        if (longer == NULL) break;
        text = longer;
        memcpy(text + bytes, part, got);
        bytes += got;
    }
    fclose(file);
    int error = link_add(linker, type, text, bytes, name);
    free(text);
    return error;
}

int link_complete(PtxLinking *linker, void **image, size_t *bytes) {
    int error = linker->parts > 0 ? ask_to_link(linker, FORMAT_PTX, NULL, 0) : cudaErrorInvalidValue;
    linker->is_complete = error == 0;
    if (image != NULL) *image = error == 0 ? linker->text : NULL;
    if (bytes != NULL) *bytes = error == 0 ? linker->bytes + 1 : 0;
    return error;
}

int link_destroy(PtxLinking *linker) {
    free(linker->text);
    free(linker);
    return 0;
}

enum { LINKED, MISSING_ARCHITECTURE = 2, INVALID_INPUT, WRONG_PTX, INTERNAL = 6, UNRECOGNIZED_INPUT = 8 };

int jit_linker_create(PtxLinking **linker, unsigned count, const char **options) {
    bool has_architecture = false;
    for (unsigned i = 0; i < count; i++) has_architecture |= strncmp(options[i], "-arch", 5) == 0;
    if (!has_architecture) return MISSING_ARCHITECTURE;
    if (link_create(linker, 0, NULL, NULL) != 0) return INTERNAL;
    (*linker)->errors = (JitLog){(*linker)->own_log, sizeof(*linker)->own_log, &(*linker)->own_log_bytes};
    return LINKED;
}

int jit_linker_input(int type) {
    enum { PTX = 1, LTO_IR = 3, LTO = 5 };
    return type == LTO_IR ? LTO : PTX; /* the bytes say which of the others it is */
}

int jit_linker_result(int error) {
    if (error == cudaErrorInvalidPtx) return WRONG_PTX;
    if (error == cudaErrorNotSupported) return UNRECOGNIZED_INPUT;
    if (error == cudaErrorNoKernelImageForDevice) return INTERNAL;
    return error != 0 ? INVALID_INPUT : LINKED;
}

int jit_linker_get(const PtxLinking *linker, size_t *bytes, void *to) {
    if (!linker->is_complete) return INTERNAL;
    if (bytes != NULL) *bytes = linker->bytes + 1;
    if (to != NULL) memcpy(to, linker->text, linker->bytes + 1);
    return LINKED;
}

int jit_linker_get_errors(const PtxLinking *linker, size_t *bytes, void *to) {
    size_t length = strlen(linker->own_log);
    if (bytes != NULL) *bytes = length + 1;
    if (to != NULL) memcpy(to, linker->own_log, length + 1);
    return LINKED;
}
