#define _POSIX_C_SOURCE 200809L
#include "base/interrupt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <signal.h>

/* Handlers set atomics, which other threads read. */
_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_POINTER_LOCK_FREE == 2,
               "a handler may not wait for a lock");

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
enum { ENDING_COUNT = sizeof ending / sizeof *ending };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int depth;                             /* number of nested holds */
static struct sigaction before[ENDING_COUNT]; /* the previous action, if is_held */
static bool is_held[ENDING_COUNT];
static atomic_int came; /* the last signal; 0: none */

static void note(int number) {
    came = number;
}

void interrupt_hold(void) {
    pthread_mutex_lock(&lock);
    struct sigaction action = {.sa_handler = note}; /* without SA_RESTART: waiting calls return */
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < ENDING_COUNT && !depth; i++) {
        is_held[i] = !sigaction(ending[i], NULL, &before[i]) && !(before[i].sa_flags & SA_SIGINFO) &&
                     before[i].sa_handler == SIG_DFL;
        if (is_held[i]) sigaction(ending[i], &action, NULL);
    }
    depth++;
    pthread_mutex_unlock(&lock);
}

bool interrupt_waits(void) {
    return came != 0;
}

void interrupt_release(void) {
    pthread_mutex_lock(&lock);
    depth--;
    for (int i = 0; i < ENDING_COUNT && !depth; i++)
        if (is_held[i]) sigaction(ending[i], &before[i], NULL);
    int number = depth ? 0 : came;
    pthread_mutex_unlock(&lock);
    if (number) raise(number);
}

static atomic_bool *_Atomic caught; /* NULL: not caught */

static void keep(int number) {
    (void)number;
    atomic_bool *flag = caught;
    if (flag) *flag = true;
}

void interrupt_catch(atomic_bool *flag) {
    struct sigaction now, action = {.sa_handler = keep, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&lock);
    bool is_default =
        !sigaction(SIGINT, NULL, &now) && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL;
    bool is_free = !caught && (depth ? is_held[0] : is_default);
    if (is_free) {
        caught = flag;
        sigaction(SIGINT, &action, NULL);
    }
    pthread_mutex_unlock(&lock);
}

void interrupt_leave(void) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&lock);
    if (depth) action.sa_handler = note;
    if (caught) sigaction(SIGINT, &action, NULL);
    caught = NULL;
    pthread_mutex_unlock(&lock);
}

void interrupt_die(void) {
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
}
