/* Errors: the frame of every CUDA call, the last error of a thread, and the words of each error. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "runtime/library/client.h"

/* The call that a thread is in. CUDA functions of this library do not call each other. */
static _Thread_local struct {
    const char *function;
    uint64_t caller;
    uint64_t launch; /* the caller of the next call; 0: its return address */
    MessageFailed failure;
    char words[256];
    int last;
} call;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int library_enter(const char *function, void *caller, Enter way) {
    call.words[0] = '\0';
    lines_flush();
    if (host_calls_is_inside()) return way == ENTER_PLAIN ? 0 : cudaErrorNotPermitted;
    int error = way == ENTER_PLAIN ? 0 : connection_error();
    if (way != ENTER_PLAIN) host_calls_wait();
    pthread_mutex_lock(&lock);
    call.function = call.launch != 0 ? "<<<>>>" : function;
    call.caller = call.launch != 0 ? call.launch : (uintptr_t)caller;
    if (way != ENTER_PLAIN) call.launch = 0;
    if (error != 0) return error;
    return way == ENTER_CALL ? device_error() : 0;
}

void library_unlock(void) {
    pthread_mutex_init(&lock, NULL);
}

int library_leave(int error) {
    if (error != 0 && call.words[0] != '\0') {
        char text[512];
        int length = snprintf(text, sizeof text, "%s", call.function) + 1;
        length += snprintf(text + length, sizeof text - length, "%s", call.words) + 1;
        tell(MESSAGE_FAILED, &call.failure, sizeof call.failure, text, length);
    }
    /* The driver's functions do not set the runtime's last error. */
    bool is_driver = strncmp(call.function, "cu", 2) == 0 && strncmp(call.function, "cuda", 4) != 0;
    if (error != 0 && error != cudaErrorNotReady && !is_driver) call.last = error;
    if (!host_calls_is_inside()) pthread_mutex_unlock(&lock);
    return error;
}

uint64_t library_caller(void) {
    return call.caller;
}

void library_set_launch(uint64_t caller) {
    call.launch = caller;
}

int failed(int error, uint64_t address, uint64_t bytes, const char *format, ...) {
    call.failure = (MessageFailed){.caller = call.caller, .address = address, .bytes = bytes, .error = error};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(call.words, sizeof call.words, format, arguments);
    va_end(arguments);
    return error;
}

int lacks(const char *function) {
    static const char *reported[512];
    size_t most = sizeof reported / sizeof *reported, i = 0;
    while (i < most && reported[i] != NULL && strcmp(reported[i], function) != 0) i++;
    if (i < most && reported[i] == NULL) {
        reported[i] = function;
        MessageAt from = {.caller = call.caller};
        tell(MESSAGE_LACKS, &from, sizeof from, function, strlen(function) + 1);
    }
    return cudaErrorNotSupported;
}

int error_last(bool forget) {
    int error = device_error() != 0 ? device_error() : call.last;
    if (error != 0) tell(MESSAGE_CHECKED, NULL, 0, NULL, 0);
    if (forget) call.last = 0;
    return error;
}

static const struct {
    int number;
    const char *name, *driver_name, *words;
} ERRORS[] = {
#define ERROR(number, name, driver_name, words) {number, #name, driver_name, words},
#include "runtime/library/errors.def"
#undef ERROR
};

static size_t error_row(int error) {
    size_t i = 0;
    while (i < sizeof ERRORS / sizeof *ERRORS && ERRORS[i].number != error) i++;
    return i;
}

const char *error_name(int error, bool of_driver) {
    size_t i = error_row(error);
    if (i == sizeof ERRORS / sizeof *ERRORS) return of_driver ? NULL : "unrecognized error code";
    return of_driver ? ERRORS[i].driver_name : ERRORS[i].name;
}

const char *error_words(int error) {
    size_t i = error_row(error);
    return i == sizeof ERRORS / sizeof *ERRORS ? "unrecognized error code" : ERRORS[i].words;
}

int error_of_driver(int error, const char **text, bool name) {
    *text = error_name(error, true);
    if (*text != NULL && !name) *text = error_words(error);
    return *text != NULL ? 0 : cudaErrorInvalidValue;
}
