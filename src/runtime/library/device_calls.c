/* Attributes, properties and limits of the emulated machine. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include "runtime/library/client.h"

static const char UUID[16] = "redviz emulates";

int device_check(int device) {
    return device == 0
               ? 0
               : failed(cudaErrorInvalidDevice, 0, 0, "names device %d; there is one, number 0", device);
}

int device_attribute(int *value, int attribute) {
    const MessageWelcome *gpu = machine();
    switch (attribute) {
#define FACT(number, old_offset, new_offset, bytes, fact)                                                    \
    case number:                                                                                             \
        *value = (int)(fact);                                                                                \
        break;
#include "runtime/library/facts.def"
#undef FACT
    default:
        *value = 0;
    }
    return 0;
}

/* Writes as many bytes as cudaDeviceProp has in that version of CUDA. */
int device_properties(void *properties, int major) {
    const MessageWelcome *gpu = machine();
    const struct {
        int old_offset, new_offset, bytes;
        uint64_t value;
    } facts[] = {
#define FACT(number, old_offset, new_offset, bytes, fact) {old_offset, new_offset, bytes, fact},
#include "runtime/library/facts.def"
#undef FACT
    };
    int size = major == 11 ? 728 : major == 12 ? 1032 : 1008;
    memset(properties, 0, (size_t)size);
    memcpy(properties, gpu->name, sizeof gpu->name);
    memcpy((char *)properties + 256, UUID, sizeof UUID);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        int offset = major == 13 ? facts[i].new_offset : facts[i].old_offset;
        if (offset >= 0 && offset + facts[i].bytes <= size)
            memcpy((char *)properties + offset, &facts[i].value, (size_t)facts[i].bytes);
    }
    return 0;
}

/* cudaLimit: stack, printf buffer, heap, (unused), pending launches, fetches of L2, persisting L2. */
static size_t limits[] = {1024, 8650752, 8388608, 0, 2048, 64, 9830400};

int device_limit(size_t *value, int limit) {
    enum { DEPTH = 3 };
    if (limit < 0 || limit == DEPTH || (size_t)limit >= sizeof limits / sizeof *limits)
        return cudaErrorUnsupportedLimit;
    *value = limits[limit];
    return 0;
}

int device_set_limit(int limit, size_t value) {
    enum { HEAP = 2 };
    size_t old = 0;
    int error = device_limit(&old, limit);
    if (error != 0) return error;
    limits[limit] = value;
    MessageAt message = {value, library_caller()};
    if (limit == HEAP) tell(MESSAGE_HEAP, &message, sizeof message, NULL, 0);
    return 0;
}

int device_uuid(void *uuid) {
    memcpy(uuid, UUID, sizeof UUID);
    return 0;
}

int text_out(char *text, int bytes, const char *value) {
    if (bytes <= 0) return cudaErrorInvalidValue;
    snprintf(text, (size_t)bytes, "%s", value);
    return 0;
}
