/* Threads of a program that has one: a thread runs when it is joined, or when the interface has nothing else to
 * do (web/threads.h). Locks are free, and nothing ever waits. */
#ifndef WEB_PTHREAD_H
#define WEB_PTHREAD_H

#include <sys/types.h>
#include <time.h>

#define PTHREAD_MUTEX_INITIALIZER                                                                            \
    { 0 }
#define PTHREAD_COND_INITIALIZER                                                                             \
    { 0 }

#ifdef WEB_NO_THREADS /* of a thread that waits for others */
#define pthread_create(thread, attributes, run, context) ((void)(run), 1)
#else
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context);
#endif
int pthread_join(pthread_t thread, void **result);

static inline int pthread_nothing(const void *what) {
    (void)what;
    return 0;
}

#define pthread_mutex_init(mutex, attributes)           pthread_nothing(mutex)
#define pthread_mutex_destroy(mutex)                    pthread_nothing(mutex)
#define pthread_mutex_lock(mutex)                       pthread_nothing(mutex)
#define pthread_mutex_unlock(mutex)                     pthread_nothing(mutex)
#define pthread_cond_init(condition, attributes)        pthread_nothing(condition)
#define pthread_cond_destroy(condition)                 pthread_nothing(condition)
#define pthread_cond_signal(condition)                  pthread_nothing(condition)
#define pthread_cond_broadcast(condition)               pthread_nothing(condition)
#define pthread_cond_wait(condition, mutex)             pthread_nothing(condition)
#define pthread_cond_timedwait(condition, mutex, until) (pthread_nothing(condition), (void)(until), 1)
#define pthread_condattr_init(attributes)               pthread_nothing(attributes)
#define pthread_condattr_setclock(attributes, clock)    pthread_nothing(attributes)
#define pthread_condattr_destroy(attributes)            pthread_nothing(attributes)

#endif
