#define _GNU_SOURCE
#include "exercise/grade_class.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/language.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORKERS = 256, POLL_MILLISECONDS = 50, SECONDS_TO_STOP = 5 };

typedef enum Verdict { VERDICT_UNKNOWN, VERDICT_FAILED, VERDICT_PASSED } Verdict;

typedef struct FileGrader {
    pid_t process;
    int from; /* its Verdict as a byte, then its part of the document */
    int file;
    Text said;
} FileGrader;

typedef struct ClassWork {
    const GradeClass *class;
    Text *parts;       /* of the files */
    Verdict *verdicts; /* of the files */
    int next;          /* file to be started */
    int done, printed; /* files before `done` are printed or given up */
    FileGrader workers[MOST_WORKERS];
    int most_workers, worker_count;
} ClassWork;

/* ---- the process of a file ---- */

static atomic_bool is_late;

static void note_late(int number) {
    (void)number;
    is_late = true;
}

/* A run ends at the first limit, and with it the grade; what does not is killed at the second. */
static void limit_process(double seconds) {
    struct sigaction action = {.sa_handler = note_late};
    rlim_t most = (rlim_t)ceil(seconds) + 1;
    struct rlimit old;
    getrlimit(RLIMIT_CPU, &old);
    if (most + SECONDS_TO_STOP > old.rlim_max) return;
    sigemptyset(&action.sa_mask);
    sigaction(SIGXCPU, &action, NULL);
    setrlimit(RLIMIT_CPU, &(struct rlimit){most, most + SECONDS_TO_STOP});
}

static bool write_all(int to, const char *bytes, size_t length) {
    for (ssize_t put; length > 0; bytes += put, length -= (size_t)put)
        if ((put = write(to, bytes, length)) < 0) return false;
    return true;
}

static void print_grade(const GradeClass *class, Grade *grade, Text *part) {
    grade_print_file(class->exercise, grade, class->count == 1, class->form, part);
    grade_done(grade);
}

static _Noreturn void grade_and_exit(const ClassWork *work, int file, int to) {
    const GradeClass *class = work->class;
    GradeLimits limits = *class->limits;
    Grade grade;
    Text part = {0};
    Error error = {0};
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    interrupt_release(); /* the parent's */
    limit_process(limits.seconds);
    limits.cancel = &is_late;
    if (work->most_workers > 1) limits.threads = 1;
    bool is_graded = grade_file(class->exercise, class->files[file], NULL, &limits, &grade, &error);
    char verdict = is_graded && grade_passed(&grade) ? VERDICT_PASSED : VERDICT_FAILED;
    print_grade(class, &grade, &part);
    bool good = write_all(to, &verdict, 1) && write_all(to, text_string(&part), part.length);
    _exit(good ? 0 : 1);
}

/* ---- all files ---- */

static bool start_next(ClassWork *work, Error *error) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return error_set(error, "no pipe: %s", strerror(errno));
    fflush(stdout);
    pid_t process = fork();
    if (!process) grade_and_exit(work, work->next, ends[1]);
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return error_set(error, "no process: %s", strerror(errno));
    }
    work->workers[work->worker_count++] = (FileGrader){process, ends[0], work->next++, {0}};
    return true;
}

/* Of a file whose process ended without a grade. */
static void give_no_mark(const ClassWork *work, const FileGrader *worker, int status, double seconds) {
    const GradeClass *class = work->class;
    Text why = {0};
    Grade grade;
    if (seconds > class->limits->seconds)
        text_print(&why, tr("it was stopped after %.0f s of processor time"), seconds);
    else
        text_print(&why, tr("its grading ended early (%s %d)"), WIFSIGNALED(status) ? "signal" : "status",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    grade_nothing(class->exercise, class->files[worker->file], class->limits, text_string(&why), &grade);
    grade.seconds = seconds;
    print_grade(class, &grade, &work->parts[worker->file]);
    text_done(&why);
}

static void end_worker(ClassWork *work, int index) {
    FileGrader *worker = &work->workers[index];
    int status = 0;
    double before = clock_processor_seconds();
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR) continue;
    close(worker->from);
    bool is_whole = worker->said.length > 1 && WIFEXITED(status) && !WEXITSTATUS(status);
    if (is_whole)
        text_add_bytes(&work->parts[worker->file], worker->said.data + 1, worker->said.length - 1);
    else
        give_no_mark(work, worker, status, clock_processor_seconds() - before);
    work->verdicts[worker->file] = is_whole ? (Verdict)worker->said.data[0] : VERDICT_FAILED;
    text_done(&worker->said);
    *worker = work->workers[--work->worker_count];
}

static void hear_workers(ClassWork *work) {
    struct pollfd files[MOST_WORKERS];
    char bytes[4096];
    for (int i = 0; i < work->worker_count; i++)
        files[i] = (struct pollfd){.fd = work->workers[i].from, .events = POLLIN};
    if (poll(files, (nfds_t)work->worker_count, POLL_MILLISECONDS) <= 0) return;
    for (int i = work->worker_count - 1; i >= 0; i--) {
        if (!files[i].revents) continue;
        ssize_t got = read(work->workers[i].from, bytes, sizeof bytes);
        if (got > 0) text_add_bytes(&work->workers[i].said, bytes, (size_t)got);
        if (got == 0) end_worker(work, i);
    }
}

static void print_part(const ClassWork *work, Text *part) {
    work->class->print(part);
    fflush(stdout);
}

/* Those that are known, up to the first that is not, or behind it, too. */
static void print_known(ClassWork *work, bool has_gaps) {
    for (; work->done < work->class->count && (has_gaps || work->verdicts[work->done]); work->done++) {
        Text part = {0};
        if (!work->verdicts[work->done]) continue;
        if (work->printed++) text_add(&part, grade_print_separator(work->class->form));
        text_add(&part, text_string(&work->parts[work->done]));
        print_part(work, &part);
    }
}

static void stop_workers(ClassWork *work) {
    for (int i = 0; i < work->worker_count; i++) kill(work->workers[i].process, SIGTERM);
    for (int i = 0; i < work->worker_count; i++) {
        waitpid(work->workers[i].process, NULL, 0);
        close(work->workers[i].from);
        text_done(&work->workers[i].said);
    }
}

static bool grade_all(ClassWork *work, Error *error) {
    int count = work->class->count;
    bool good = true;
    while (good && work->done < count && !interrupt_waits()) {
        while (good && work->next < count && work->worker_count < work->most_workers)
            good = start_next(work, error);
        hear_workers(work);
        print_known(work, false);
    }
    stop_workers(work);
    print_known(work, true);
    return good;
}

static int workers_for(const GradeClass *class) {
    long processors = class->limits->threads > 0 ? class->limits->threads : sysconf(_SC_NPROCESSORS_ONLN);
    int most = processors > MOST_WORKERS ? MOST_WORKERS : processors < 1 ? 1 : (int)processors;
    return most < class->count ? most : class->count;
}

bool grade_class(const GradeClass *class, bool *passed, Error *error) {
    ClassWork *work = memory_new(sizeof *work);
    Text begin = {0}, end = {0};
    work->class = class;
    work->parts = memory_new((size_t) class->count * sizeof *work->parts);
    work->verdicts = memory_new((size_t) class->count * sizeof *work->verdicts);
    work->most_workers = workers_for(class);
    interrupt_hold();
    grade_print_begin(class->exercise, class->limits->seed, class->form, &begin);
    print_part(work, &begin);
    bool good = grade_all(work, error);
    grade_print_end(class->form, &end);
    print_part(work, &end);
    interrupt_release();
    *passed = good;
    for (int i = 0; i < class->count; i++) {
        *passed = *passed && work->verdicts[i] == VERDICT_PASSED;
        text_done(&work->parts[i]);
    }
    free(work->parts), free(work->verdicts), free(work);
    return good;
}
