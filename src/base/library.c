#include "base/library.h"

#include <dlfcn.h>
#include <stddef.h>

void *library_open(const char *name) {
#ifdef REDVIZ_STATIC
    (void)name;
    return NULL;
#else
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
#endif
}
