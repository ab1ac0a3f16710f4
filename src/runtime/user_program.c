#define _GNU_SOURCE
#include "runtime/user_program.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/visible.h"
#include "runtime/executable.h"
#include "runtime/host_lines.h"
#include "runtime/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WAITING = 64, MOST_OUTPUT = 16 << 20, POLL_MS = 20 };
#define SECONDS_TO_FINISH 0.5 /* for a launch whose program has gone */

typedef struct ProgramRun {
    const ProgramOptions *options;
    Program *program;
    char name[64];        /* of the socket */
    int listener, output; /* -1: closed; the watcher reads the output while it runs */
    pid_t child;          /* the guard, the program's parent */
    bool has_ended;
    Connection *connections; /* one for each process that made a CUDA call; those that have ended stay */
    int connection_count, connection_capacity;
    struct pollfd *files; /* [1 + connection_count] */
    int file_capacity;
    HostLines *lines;
    double begun;
    /* Shared with the watcher: */
    pthread_t watcher;
    atomic_bool is_over, stops; /* everything; what runs now, for ever */
    atomic_bool is_late, is_interrupted;
    pthread_mutex_t lock; /* of the next two */
    int watched;          /* a socket whose launch is executed; -1: none */
    Device *device;
} ProgramRun;

/* ---- the child ----------------------------------------------------------------------------------------- */

static bool listen_at(ProgramRun *run, Error *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(run->name, sizeof run->name, "redviz-%ld-%lx", (long)getpid(), (unsigned long)now.tv_nsec);
    memcpy(address.sun_path + 1, run->name, strlen(run->name));
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(run->name));
    run->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (run->listener >= 0 && !bind(run->listener, (struct sockaddr *)&address, length) &&
        !listen(run->listener, MOST_WAITING))
        return true;
    return error_set(error, "no socket for the program: %s", strerror(errno));
}

/* Puts an entry in front of a list whose entries are separated by colons. */
static void set_first(const char *variable, const char *entry) {
    const char *old = getenv(variable);
    char *list = NULL;
    if (old && *old && asprintf(&list, "%s:%s", entry, old) >= 0) {
        setenv(variable, list, 1);
        free(list);
    } else {
        setenv(variable, entry, 1);
    }
}

/* LD_PRELOAD cannot have blanks and colons within an entry; a name alone is looked up in LD_LIBRARY_PATH.
 * AddressSanitizer, which wants to be the first library, is told that it need not. */
static void preload(const char *folder) {
    static const char name[] = "libredviz_cuda.so";
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    set_first("LD_PRELOAD", strpbrk(path, " :") ? name : path);
    set_first("ASAN_OPTIONS", "verify_asan_link_order=0");
}

/* Ends up in the program, or writes errno to `failed`. */
static void become_program(const ProgramRun *run, const int output[2], int failed) {
    const char *const *arguments = run->options->arguments;
    char python[PATH_MAX]; /* has a sitecustomize.py */
    snprintf(python, sizeof python, "%s/python", run->options->library);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output[1], STDOUT_FILENO);
    dup2(output[1], STDERR_FILENO);
    setenv("REDVIZ_PROGRAM", run->name, 1);
    setenv("PYTHONUNBUFFERED", "1", 1);
    set_first("LD_LIBRARY_PATH", run->options->library);
    set_first("PYTHONPATH", python);
    preload(run->options->library);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    execvp(arguments[0], (char *const *)(uintptr_t)arguments);
    int reason = errno;
    if (write(failed, &reason, sizeof reason) < 0) _exit(126);
    _exit(127);
}

/* Ends as the program did. */
static void end_as(int status) {
    if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    _exit(126);
}

/* The program's parent: a program that stops, traces or kills its parent does it to this process. The program
 * begins when the pipe that redviz waits for is closed here. */
static void guard_program(const ProgramRun *run, const int output[2], int failed) {
    int status = 0, begin[2];
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t program = pipe2(begin, O_CLOEXEC) ? -1 : fork();
    if (!program) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* with the guard */
        close(begin[1]);
        if (!read(begin[0], &byte, 1)) become_program(run, output, failed);
        _exit(126);
    }
    int reason = program < 0 ? errno : 0;
    if (reason && write(failed, &reason, sizeof reason) < 0) _exit(126);
    if (reason) _exit(127);
    close(failed), close(output[0]), close(output[1]), close(begin[1]);
    while (waitpid(program, &status, 0) < 0 && errno == EINTR) continue;
    end_as(status);
}

static bool start(ProgramRun *run, Error *error) {
    int output[2], failed[2], reason = 0;
    if (!listen_at(run, error)) return false;
    if (pipe2(output, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
        return error_set(error, "no pipe: %s", strerror(errno));
    fflush(stdout);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    run->child = fork();
    if (!run->child) guard_program(run, output, failed[1]);
    close(output[1]), close(failed[1]);
    run->output = output[0];
    ssize_t got = run->child > 0 ? read(failed[0], &reason, sizeof reason) : 0;
    close(failed[0]);
    if (run->child < 0) return error_set(error, "%s: %s", run->options->arguments[0], strerror(errno));
    if (got <= 0) return true;
    waitpid(run->child, NULL, 0);
    run->child = -1;
    return error_set(error, "%s: %s", run->options->arguments[0],
                     reason == ENOENT ? "no such program" : strerror(reason));
}

/* Kills what the program has left behind, of which this process is the reaper. */
static void kill_rest(void) {
    char path[64], list[4096];
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    for (int tries = 0; tries < 100; tries++) {
        FILE *file = fopen(path, "r");
        size_t length = file ? fread(list, 1, sizeof list - 1, file) : 0;
        if (file) fclose(file);
        list[length] = 0;
        if (!length) break;
        for (char *at = list, *end; (errno = 0, strtol(at, &end, 10)) > 0 && end != at; at = end)
            kill((pid_t)strtol(at, NULL, 10), SIGKILL);
        while (waitpid(-1, NULL, WNOHANG) > 0) continue;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* ---- the watcher --------------------------------------------------------------------------------------- */

/* Or a signal that is held back will end this process. */
static bool is_cancelled(const ProgramOptions *options) {
    return (options->cancel && *options->cancel) || interrupt_waits();
}

static void take_output(ProgramRun *run) {
    char bytes[65536];
    ssize_t got = read(run->output, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) {
        close(run->output);
        run->output = -1;
        return;
    }
    Text *output = &run->program->output;
    if (output->length + (size_t)got <= MOST_OUTPUT) text_add_bytes(output, bytes, (size_t)got);
    FILE *to = run->options->prints_to;
    if (!to) return;
    fwrite(bytes, 1, (size_t)got, to);
    fflush(to);
}

/* The program is gone before its launch is cancelled: it must not see that it was. */
static void stop_program(ProgramRun *run) {
    siginfo_t ended;
    run->stops = true;
    kill(run->child, SIGKILL);
    waitid(P_PID, (id_t)run->child, &ended, WEXITED | WNOWAIT);
}

/* Takes what the program prints, also while a launch is executed; ends the launch when its time is over,
 * Ctrl-C was pressed, or the program has been gone for a while: what it launched last is to be seen. */
static void *watch(void *context) {
    ProgramRun *run = context;
    const ProgramOptions *options = run->options;
    double gone_since = clock_seconds();
    while (!run->is_over) {
        struct pollfd printed = {.fd = run->output, .events = POLLIN};
        if (poll(&printed, 1, POLL_MS) > 0) take_output(run);
        bool is_late = options->seconds > 0 && clock_seconds() - run->begun > options->seconds;
        bool is_interrupted = is_cancelled(options);
        if (is_late) run->is_late = true;
        if (is_interrupted) run->is_interrupted = true;
        if ((is_late || is_interrupted) && !run->stops) stop_program(run);
        pthread_mutex_lock(&run->lock);
        struct pollfd gone = {.fd = run->watched, .events = POLLRDHUP};
        bool has_gone =
            run->watched >= 0 && poll(&gone, 1, 0) > 0 && gone.revents & (POLLRDHUP | POLLHUP | POLLERR);
        if (!has_gone) gone_since = clock_seconds();
        bool is_left = clock_seconds() - gone_since > SECONDS_TO_FINISH;
        if (run->device && (is_left || is_late || is_interrupted)) run->device->cancel = true;
        pthread_mutex_unlock(&run->lock);
    }
    return NULL;
}

static void set_watched(ProgramRun *run, const Connection *connection) {
    pthread_mutex_lock(&run->lock);
    run->watched = connection ? connection->socket : -1;
    run->device = connection ? connection->device : NULL;
    pthread_mutex_unlock(&run->lock);
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

/* The command of a process as printable text, its arguments separated by blanks. */
static const char *command_of(pid_t process, Arena *arena) {
    enum { MOST_BYTES = 120 };
    char path[64], command[MOST_BYTES + 1];
    Text text = {0};
    snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)process);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(command, 1, MOST_BYTES, file) : 0;
    if (file) fclose(file);
    while (length && !command[length - 1]) length--;
    for (size_t i = 0; i < length; i++)
        if (!command[i]) command[i] = ' ';
    command[length] = '\0';
    visible_add(&text, command);
    const char *copy = arena_copy_text(arena, text_string(&text), text.length);
    text_done(&text);
    return copy;
}

static void accept_program(ProgramRun *run) {
    int socket = accept4(run->listener, NULL, NULL, SOCK_CLOEXEC);
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    if (socket < 0) return;
    bool is_ours = !getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) && peer.uid == getuid();
    if (!is_ours) {
        close(socket);
        return;
    }
    host_lines_add_process(run->lines, peer.pid);
    Captured *capture = run->program->capture;
    array_push(capture->processes, capture->process_count, capture->process_capacity,
               command_of(peer.pid, &capture->arena));
    run->program->has_connected = true;
    Connection connection = {.socket = socket,
                             .poisons = run->options->poisons,
                             .keeps_going = run->options->keeps_going,
                             .capture = run->program->capture,
                             .index = run->connection_count};
    array_push(run->connections, run->connection_count, run->connection_capacity, connection);
}

static void serve(ProgramRun *run, Connection *connection) {
    set_watched(run, connection);
    bool goes_on = serve_message(connection);
    if (goes_on) host_lines_refresh(run->lines, connection->device);
    if (run->options->launches) *run->options->launches = (uint64_t)run->program->capture->launch_count;
    set_watched(run, NULL);
    if (!goes_on) serve_done(connection);
}

static bool has_ended(ProgramRun *run) {
    int status;
    if (run->has_ended || waitpid(run->child, &status, WNOHANG | WUNTRACED) != run->child)
        return run->has_ended;
    if (WIFSTOPPED(status)) {
        kill(run->child, SIGCONT); /* its child has stopped it */
        return false;
    }
    run->has_ended = true;
    Program *program = run->program;
    program->end = run->is_interrupted || is_cancelled(run->options) ? PROGRAM_STOPPED
                   : run->is_late                                    ? PROGRAM_TIME
                   : WIFEXITED(status)                               ? PROGRAM_EXITED
                                                                     : PROGRAM_KILLED;
    program->status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    return true;
}

/* Until the program has ended and every message of it has been answered. */
static void serve_all(ProgramRun *run) {
    for (;;) {
        array_reserve(run->files, run->connection_count + 1, run->file_capacity);
        struct pollfd *files = run->files;
        files[0] = (struct pollfd){.fd = run->listener, .events = POLLIN};
        for (int i = 0; i < run->connection_count; i++)
            files[1 + i] = (struct pollfd){.fd = run->connections[i].socket, .events = POLLIN};
        int count = run->connection_count;
        bool ended = has_ended(run);
        int ready = poll(files, 1 + (nfds_t)count, ended ? 0 : POLL_MS);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0 && ended) return;
        if (run->stops && ended) return;
        for (int i = 0; i < count; i++)
            if (files[1 + i].revents) serve(run, &run->connections[i]);
        if (files[0].revents & POLLIN) accept_program(run);
    }
}

/* Whether the program's calls of the CUDA runtime can come to redviz: its functions have names, by which
 * library/redirect.c replaces them (on x86-64 alone), or they lie in a library of their own. */
static bool has_runtime_of_ours(const char *bytes, size_t length) {
#ifdef __x86_64__
    return executable_is(bytes, length) && executable_has_name(bytes, length, "__cudaRegisterFatBinary");
#else
    static const char shared[] = "libcudart.so.";
    return memmem(bytes, length, shared, strlen(shared));
#endif
}

/* A CUDA runtime within the program that cannot be replaced: it finds no driver that it knows, and makes no
 * launch that could be seen. */
static const char *find_static_runtime(const char *path) {
    static const char code[] = ".nv_fatbin";
    char *bytes;
    size_t length;
    if (!strchr(path, '/') || !text_read_file(path, (size_t)1 << 30, &bytes, &length, NULL)) return NULL;
    bool is_static = memmem(bytes, length, code, strlen(code)) && !has_runtime_of_ours(bytes, length);
    free(bytes);
    return is_static ? "it has NVIDIA's runtime built in, without symbols: do not strip it, or link it with "
                       "NVCC_APPEND_FLAGS=\"-cudart shared -gencode arch=compute_80,code=compute_80\", or "
                       "CMake's -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared"
                     : NULL;
}

/* What it printed before it was stopped is still in the pipe. */
static void take_last_output(ProgramRun *run) {
    enum { MOST_READS = 64 };
    struct pollfd file = {.fd = run->output, .events = POLLIN};
    for (int i = 0; i < MOST_READS && run->output >= 0 && poll(&file, 1, 0) > 0; i++) take_output(run);
    if (run->output >= 0) close(run->output);
}

/* "--n=16777216" has 16777216; 0: there is none. */
static double largest_number(const char *argument) {
    double most = 0;
    for (const char *at = argument; *(at += strcspn(at, "0123456789"));) {
        char *end;
        double number = strtod(at, &end);
        if (number > most) most = number;
        at = end;
    }
    return most;
}

static const char *largest_argument(const char *const *arguments) {
    const char *largest = NULL;
    for (int i = 1; arguments[0] && arguments[i]; i++)
        if (!strpbrk(arguments[i], "/.") &&
            largest_number(arguments[i]) > (largest ? largest_number(largest) : 1))
            largest = arguments[i];
    return largest;
}

static void finish(ProgramRun *run) {
    Program *program = run->program;
    for (int i = 0; i < run->connection_count; i++)
        if (run->connections[i].socket >= 0) serve_done(&run->connections[i]);
    program->seconds = clock_seconds() - run->begun;
    program->largest = arena_copy_string(&program->capture->arena, largest_argument(run->options->arguments));
    kill_rest();
    take_last_output(run);
    host_lines_name(run->lines, program->capture);
    if (!program->capture->launch_count)
        program->static_runtime = find_static_runtime(run->options->arguments[0]);
}

Program *program_run(const ProgramOptions *options, Error *error) {
    ProgramRun run = {.options = options,
                      .output = -1,
                      .listener = -1,
                      .child = -1,
                      .watched = -1,
                      .begun = clock_seconds()};
    atomic_bool interrupted = false;
    ProgramOptions with_interrupt = *options;
    if (!options->cancel) {
        with_interrupt.cancel = &interrupted;
        run.options = &with_interrupt;
    }
    run.program = memory_new(sizeof *run.program);
    run.program->prints = options->prints_to == stdout;
    run.program->capture = captured_new(options->most_bytes ? options->most_bytes : memory_of_machine() / 4);
    run.lines = host_lines_new();
    pthread_mutex_init(&run.lock, NULL);
    if (!options->cancel) interrupt_catch(&interrupted);
    bool good = start(&run, error);
    if (good) {
        bool is_watched = !pthread_create(&run.watcher, NULL, watch, &run);
        if (is_watched) serve_all(&run);
        run.is_over = true;
        if (is_watched) pthread_join(run.watcher, NULL);
        finish(&run);
        if (!is_watched) good = error_set(error, "no thread to watch the program");
    }
    if (!options->cancel) interrupt_leave();
    if (run.listener >= 0) close(run.listener);
    pthread_mutex_destroy(&run.lock);
    host_lines_free(run.lines);
    free(run.connections);
    free(run.files);
    if (good) return run.program;
    program_free(run.program);
    return NULL;
}

void program_free(Program *program) {
    if (!program) return;
    captured_free(program->capture);
    text_done(&program->output);
    free(program);
}

bool program_has_failed(const Program *program) {
    return program->end != PROGRAM_EXITED || program->status != 0;
}

/* Which launch took the time, and what makes it shorter. */
static void describe_late(const Program *program, Text *out) {
    const Captured *capture = program->capture;
    const CapturedLaunch *last = capture->launch_count ? &capture->launches[capture->launch_count - 1] : NULL;
    text_add(out, " (--time-limit");
    if (last && last->is_cancelled)
        text_print(out, "; launch %d, %s, still ran", capture->launch_count, last->name);
    if (program->largest)
        text_print(out, "; a smaller argument '%s' would help)", program->largest);
    else
        text_add(out, "; smaller sizes in its source would help)");
}

void program_describe_end(const Program *program, Text *out) {
    switch (program->end) {
    case PROGRAM_EXITED:
        text_print(out, "exited %d", program->status);
        break;
    case PROGRAM_KILLED:
        text_print(out, "was ended by signal %d (%s)", program->status, strsignal(program->status));
        break;
    case PROGRAM_TIME:
        text_print(out, "was stopped after %.0f s", program->seconds);
        describe_late(program, out);
        break;
    case PROGRAM_STOPPED:
        text_print(out, "was stopped by Ctrl-C after %.0f s", program->seconds);
        break;
    }
}
