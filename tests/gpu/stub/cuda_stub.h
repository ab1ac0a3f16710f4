/* The state that the parts of the driver's stub share. */
#ifndef TESTS_GPU_STUB_CUDA_STUB_H
#define TESTS_GPU_STUB_CUDA_STUB_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;

static inline Result outcome(const char *name) {
    const char *fail = getenv("STUB_FAIL");
    size_t length = strlen(name);
    return fail && !strncmp(fail, name, length) && fail[length] == '=' ? atoi(fail + length + 1) : 0;
}
/* The stub of CUPTI counts and samples the kernel that was launched last. */
static inline void say_launched(const char *name) {
    setenv("STUB_LAUNCHED", name, 1);
}
/* For the stub of CUPTI, whose cubin is the text: a copy of the text of the module loaded with line
 * information. $STUB_LOG is the compiler's log. */
static inline void say_loaded(const void *image, unsigned count, int *options, void **values) {
    static char *kept;
    char at[32];
    free(kept);
    kept = strdup(image);
    snprintf(at, sizeof at, "%p", (void *)kept);
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == 1) { /* CU_JIT_THREADS_PER_BLOCK */
            snprintf(at, sizeof at, "%u", (unsigned)(uintptr_t)values[i]);
            setenv("STUB_THREADS", at, 1);
            snprintf(at, sizeof at, "%p", (void *)kept);
        }
        if (options[i] == 12 && values[i]) setenv("STUB_LOADED", at, 1);
        if (options[i] == 5 && getenv("STUB_LOG")) strcpy(values[i], getenv("STUB_LOG"));
    }
}
#define ENTRY(name, ...) Result name(__VA_ARGS__)

#endif
