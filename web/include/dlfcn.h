/* No library can be opened here. */
#ifndef WEB_DLFCN_H
#define WEB_DLFCN_H

#include <stddef.h>

enum { RTLD_NOW = 2, RTLD_LOCAL = 0, RTLD_LAZY = 1, RTLD_GLOBAL = 256 };

static inline void *dlopen(const char *name, int flags) {
    (void)name, (void)flags;
    return NULL;
}

static inline void *dlsym(void *library, const char *name) {
    (void)library, (void)name;
    return NULL;
}

static inline int dlclose(void *library) {
    (void)library;
    return 0;
}

static inline char *dlerror(void) {
    return "no libraries in a browser";
}

#endif
