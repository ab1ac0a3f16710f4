/* Opens CUPTI with dlopen (cupti.h). */
#define _POSIX_C_SOURCE 200809L
#include "gpu/cupti.h"

#include "base/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>

static void *open_matching(const char *pattern) {
    void *library = NULL;
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = found.gl_pathc; !library && i--;) /* cuda-13.0 before cuda-12.8 */
            library = library_open(found.gl_pathv[i]);
        globfree(&found);
    }
    return library;
}

static void *open_library(Error *error) {
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    static const char *const patterns[] = {"/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so*",
                                           "/usr/local/cuda*/lib64/libcupti.so*",
                                           "/usr/local/cuda*/lib/libcupti.so*"};
    const char *given = getenv("REDVIZ_CUPTI");
    void *library = NULL;
    if (given && *given) {
        library = library_open(given);
        if (!library) error_set(error, "there is no CUPTI in %s ($REDVIZ_CUPTI)", given);
        return library;
    }
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++) library = library_open(names[i]);
    for (size_t i = 0; !library && i < sizeof patterns / sizeof *patterns; i++)
        library = open_matching(patterns[i]);
    if (!library)
        error_set(error, "CUPTI (libcupti.so, of the CUDA toolkit) is not installed here; $REDVIZ_CUPTI can "
                         "name its path");
    return library;
}

static bool find_entry_points(Cupti *cupti, Error *error) {
    struct {
        const char *name;
        void *place;
    } entries[] = {
        {"cuptiGetResultString", &cupti->cuptiGetResultString},
        {"cuptiSubscribe", &cupti->cuptiSubscribe},
        {"cuptiEnableCallback", &cupti->cuptiEnableCallback},
        {"cuptiUnsubscribe", &cupti->cuptiUnsubscribe},
#define CUPTI(name, Parameters, last) {#name, &cupti->name},
#include "gpu/cupti.def"
#undef CUPTI
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        void *symbol = dlsym(cupti->library, entries[i].name);
        if (!symbol)
            return error_set(error, "the CUPTI here has no %s: CUDA 12.6 or later is needed",
                             entries[i].name);
        *(void **)entries[i].place = symbol;
    }
    return true;
}

const Cupti *cupti_open(Error *error) {
    static Cupti cupti; /* opened from one thread, the session's */
    if (cupti.library) return &cupti;
    Cupti found = {.library = open_library(error)};
    if (!found.library) return NULL;
    if (!find_entry_points(&found, error)) {
        dlclose(found.library);
        return NULL;
    }
    cupti = found;
    return &cupti;
}

bool cupti_check(const Cupti *cupti, const char *call, CuptiResult result, Error *error) {
    const char *name = NULL, *advice = "";
    if (!result) return true;
    cupti->cuptiGetResultString(result, &name);
    if (result == CUPTI_INSUFFICIENT_PRIVILEGES)
        advice = ": the driver lets only root read counters (NVreg_RestrictProfilingToAdminUsers)";
    return error_set(error, "%s: %s%s", call, name ? name : "unknown error", advice);
}
