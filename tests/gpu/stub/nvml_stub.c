/* NVML without a GPU: one device, whose UUID is all zeros, as in the stub of the driver.
 * $STUB_FAIL="NAME=CODE" makes the entry point NAME fail. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_FOUND = 6 };
static int device;

static int outcome(const char *name) {
    const char *fail = getenv("STUB_FAIL");
    size_t length = strlen(name);
    return fail && !strncmp(fail, name, length) && fail[length] == '=' ? atoi(fail + length + 1) : 0;
}
#define ENTRY(name, ...)                                                                                     \
    int name(__VA_ARGS__);                                                                                   \
    int name(__VA_ARGS__)

ENTRY(nvmlInit_v2, void) {
    return outcome("nvmlInit_v2");
}

ENTRY(nvmlShutdown, void) {
    return 0;
}

ENTRY(nvmlSystemGetDriverVersion, char *version, unsigned bytes) {
    snprintf(version, bytes, "580.00.01");
    return outcome("nvmlSystemGetDriverVersion");
}

ENTRY(nvmlDeviceGetHandleByUUID, const char *uuid, void **out) {
    *out = &device;
    return strcmp(uuid, "GPU-00000000-0000-0000-0000-000000000000") != 0 ? NOT_FOUND : outcome(__func__);
}

ENTRY(nvmlDeviceGetClockInfo, void *which_device, int which, unsigned *megahertz) {
    *megahertz = which == 1 ? 1980 : which == 2 ? 3201 : 1;
    return which_device != &device ? NOT_FOUND : outcome(__func__);
}

ENTRY(nvmlDeviceGetTemperature, void *which_device, int sensor, unsigned *celsius) {
    *celsius = 41;
    return which_device != &device || sensor ? NOT_FOUND : outcome(__func__);
}
