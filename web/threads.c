/* Threads of a program that has one: each runs when it is joined, or between two events. */
#include "web/threads.h"

#include "base/memory.h"
#include <pthread.h>
#include <stdint.h>

typedef struct Thread {
    void *(*run)(void *); /* NULL: it has run */
    void *context;
} Thread;

static struct {
    Thread *list;
    int count, capacity, first; /* `first`: none before it waits */
} threads;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context) {
    (void)attributes;
    *thread = (pthread_t)(uintptr_t)threads.count;
    array_push(threads.list, threads.count, threads.capacity, ((Thread){run, context}));
    return 0;
}

static void run(int index) {
    Thread thread = threads.list[index];
    threads.list[index].run = NULL;
    if (thread.run) thread.run(thread.context);
}

int pthread_join(pthread_t thread, void **result) {
    (void)result;
    run((int)(uintptr_t)thread);
    return 0;
}

bool threads_wait(void) {
    while (threads.first < threads.count && !threads.list[threads.first].run) threads.first++;
    if (threads.first == threads.count) threads.first = threads.count = 0;
    return threads.count > 0;
}

bool threads_run_one(void) {
    if (!threads_wait()) return false;
    run(threads.first);
    return true;
}
