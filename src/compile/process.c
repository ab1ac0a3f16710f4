#define _GNU_SOURCE
#include "compile/process.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_LIMIT = 16 << 20, POLL_MILLISECONDS = 20, LOADED_MACHINE = 10 };
#define MEMORY_LIMIT ((rlim_t)4 << 30)

/* The environment with another $TMPDIR; the caller frees the array. */
static char **environment_with(char *temporary) {
    size_t count = 0, kept = 0;
    while (environ[count]) count++;
    char **copy = memory_new((count + 2) * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "TMPDIR=", 7) != 0) copy[kept++] = environ[i];
    copy[kept] = temporary;
    return copy;
}

/* Starts it in a process group, so that all its children can be killed with it. Returns 0 or an errno. */
static int start(const char *const *arguments, char **environment, const int pipe_ends[2], pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGXFSZ); /* redviz ignores it */
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
    posix_spawn_file_actions_addclose(&actions, pipe_ends[1]);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    int failure =
        posix_spawnp(child, arguments[0], &actions, &attributes, (char *const *)arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

/* Reads until the program and all its children have closed the other end. */
static bool read_all(int from, double end, const atomic_bool *cancel, Text *output) {
    char bytes[4096];
    for (;;) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        if ((cancel && *cancel) || interrupt_waits() || clock_seconds() > end) return false;
        if (poll(&ready, 1, POLL_MILLISECONDS) <= 0) continue;
        ssize_t got = read(from, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        if (output->length < OUTPUT_LIMIT) text_add_bytes(output, bytes, (size_t)got);
    }
}

/* Kills it and all its children, and waits for them: they may create files in a folder that is about to be
 * removed. */
static void kill_all(pid_t child, int from) {
    enum { GONE_MILLISECONDS = 2000 };
    char bytes[4096];
    kill(-child, SIGKILL);
    struct pollfd ready = {.fd = from, .events = POLLIN};
    double end = clock_seconds() + GONE_MILLISECONDS * 1e-3;
    while (clock_seconds() < end && poll(&ready, 1, GONE_MILLISECONDS) >= 0 &&
           read(from, bytes, sizeof bytes) > 0)
        continue;
}

/* Of this process's own processor time (RLIMIT_CPU), for a child; RLIM_INFINITY: as much as it takes. */
static rlim_t processor_seconds_left(void) {
    struct rlimit own;
    if (getrlimit(RLIMIT_CPU, &own) || own.rlim_cur == RLIM_INFINITY) return RLIM_INFINITY;
    double used = clock_processor_seconds();
    return used + 1 < (double)own.rlim_cur ? own.rlim_cur - (rlim_t)used : 1;
}

/* Each of its own children gets the limits, too. */
static void set_limits(pid_t child, rlim_t seconds) {
    const struct rlimit time = {seconds, seconds}, memory = {MEMORY_LIMIT, MEMORY_LIMIT};
    if (seconds == RLIM_INFINITY) return;
    prlimit(child, RLIMIT_CPU, &time, NULL);
    prlimit(child, RLIMIT_AS, &memory, NULL);
}

/* It ends; the processor time that it and its children used. */
static double wait_for(pid_t child, int *status) {
    int state = 0;
    double before = clock_processor_seconds();
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) continue;
    *status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    return clock_processor_seconds() - before;
}

bool process_run(const char *const *arguments, const char *temporary, double seconds,
                 const atomic_bool *cancel, Text *output, int *status, Error *error) {
    int ends[2];
    pid_t child;
    rlim_t left = processor_seconds_left();
    Text variable = {0};
    if (pipe(ends)) return error_set(error, "%s: %s", arguments[0], strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    if (temporary) text_print(&variable, "TMPDIR=%s", temporary);
    char **environment = temporary ? environment_with(variable.data) : environ;
    int failure = start(arguments, environment, ends, &child);
    close(ends[1]);
    if (temporary) free(environment);
    text_done(&variable);
    if (!failure) set_limits(child, left);
    double longest = left == RLIM_INFINITY ? seconds : seconds * LOADED_MACHINE;
    bool done = !failure && read_all(ends[0], clock_seconds() + longest, cancel, output);
    if (!failure && !done) kill_all(child, ends[0]);
    close(ends[0]);
    if (failure) return error_set(error, "%s: %s", arguments[0], strerror(failure));
    double used = wait_for(child, status);
    if (done && *status && left != RLIM_INFINITY && used + 0.5 > (double)left)
        return error_set(error, "%s: stopped after %.0f s of processor time", arguments[0], used);
    if (done) return true;
    if ((cancel && *cancel) || interrupt_waits()) return error_set(error, "%s: given up", arguments[0]);
    return error_set(error, "%s: stopped after %.0f seconds", arguments[0], seconds);
}

bool process_is_safe_in_quotes(const char *path) {
    return !strpbrk(path, "\"\\\n$`");
}

const char *process_temporary_folder(void) {
    const char *place = getenv("TMPDIR");
    struct stat about;
    bool is_usable = place && *place && process_is_safe_in_quotes(place) && stat(place, &about) == 0 &&
                     S_ISDIR(about.st_mode) && access(place, W_OK | X_OK) == 0;
    return is_usable ? place : "/tmp";
}

static bool is_program(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

bool process_find(const char *name, const char *const *homes, int home_count, char *path, size_t bytes) {
    for (int i = 0; i < home_count; i++) {
        int length = homes[i] ? snprintf(path, bytes, "%s/bin/%s", homes[i], name) : -1;
        if (length > 0 && (size_t)length < bytes && is_program(path)) return true;
    }
    const char *at = getenv("PATH");
    while (at && *at) {
        int length = (int)strcspn(at, ":");
        int whole = snprintf(path, bytes, "%.*s/%s", length, at, name);
        if (length && whole > 0 && (size_t)whole < bytes && is_program(path)) return true;
        at += length + (at[length] == ':');
    }
    snprintf(path, bytes, "/usr/local/cuda/bin/%s", name);
    return is_program(path);
}

bool process_identify(const char *path, char *identity, size_t bytes) {
    struct stat about;
    if (stat(path, &about)) return false;
    snprintf(identity, bytes, "%s %lld %lld.%09ld", path, (long long)about.st_size,
             (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
    return true;
}
