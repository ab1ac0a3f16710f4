/* Other programs where there are none: no compiler, no program of the user. */
#include "compile/process.h"
#include "runtime/executable.h"
#include "runtime/user_program.h"

#include <stdlib.h>

bool process_run(const char *const *arguments, const char *temporary, double seconds,
                 const atomic_bool *cancel, Text *output, int *status, Error *error) {
    (void)temporary, (void)seconds, (void)cancel, (void)output;
    *status = 127;
    return error_set(error, "%s: a browser runs no other programs", arguments[0]);
}

bool process_is_safe_in_quotes(const char *path) {
    (void)path;
    return false;
}

const char *process_temporary_folder(void) {
    return "/tmp";
}

bool process_find(const char *name, const char *const *homes, int home_count, char *path, size_t bytes) {
    (void)name, (void)homes, (void)home_count;
    if (bytes) path[0] = 0;
    return false;
}

bool process_identify(const char *path, char *identity, size_t bytes) {
    (void)path;
    if (bytes) identity[0] = 0;
    return false;
}

bool executable_is(const void *bytes, size_t count) {
    (void)bytes, (void)count;
    return false;
}

bool executable_find_ptx(const void *bytes, size_t count, const char *wanted, Text *ptx, Error *error) {
    (void)bytes, (void)count, (void)wanted, (void)ptx;
    return error_set(error, "programs are not read in a browser");
}

Program *program_run(const ProgramOptions *options, Error *error) {
    error_set(error, "%s: a browser runs no other programs", options->arguments[0]);
    return NULL;
}

void program_free(Program *program) {
    free(program);
}

bool program_has_failed(const Program *program) {
    (void)program;
    return false;
}

void program_describe_end(const Program *program, Text *out) {
    (void)program, (void)out;
}
