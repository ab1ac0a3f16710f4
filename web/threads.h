/* Threads: what web/include/pthread.h began and nobody has joined yet. */
#ifndef WEB_THREADS_H
#define WEB_THREADS_H

#include <stdbool.h>

/* Runs the oldest thread that has not run, to its end. False: there is none. */
bool threads_run_one(void);
bool threads_wait(void); /* whether there is one */

#endif
