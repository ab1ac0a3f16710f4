/* Host value: expressions of host code, evaluated where they stand. Private to src/compile. */
#ifndef GUESS_HOST_VALUE_H
#define GUESS_HOST_VALUE_H

#include "guess/host_binding.h"

typedef struct HostOverride { /* the definition at `at` has this value */
    size_t at;
    int64_t value;
} HostOverride;

enum { HOST_OVERRIDES = 8, HOST_ROOTS = 16 };

typedef struct HostRoot { /* a definition that is a plain number */
    size_t at;
    int64_t value;
} HostRoot;

/* What evaluations share. */
typedef struct HostValues {
    HostText *text;
    uint64_t free_size; /* what free sizes are; 0: they are not known */
    size_t known_place; /* of a free size that was chosen (host_code_set_block); 0: none was */
    uint64_t known_size;
    HostOverride overrides[HOST_OVERRIDES];
    int override_count;
    HostRoot roots[HOST_ROOTS]; /* that the evaluation met */
    int root_count;
    size_t free_places[HOST_ROOTS]; /* of the free sizes that it met */
    int free_count;
    HostBindings bindings; /* come before definitions */
    int depth;
} HostValues;

/* `span` of the text, as it means at `at`. */
HostNumber host_value(HostValues *values, HostSpan span, size_t at);

#endif
