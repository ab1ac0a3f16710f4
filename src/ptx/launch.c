#include "ptx/launch.h"

#include <stdlib.h>

void launch_done(Launch *launch) {
    free(launch->parameters);
    *launch = (Launch){0};
}

/* "Kernel Function Parameter Attributes" and ".param" in the PTX ISA: parameters lie one after the other,
 * each at a multiple of its alignment. */
size_t launch_parameter_offset(const PtxVariable *parameter, size_t *end) {
    size_t alignment = parameter->alignment > 0 ? (size_t)parameter->alignment : 1;
    size_t offset = (*end + alignment - 1) / alignment * alignment;
    *end = offset + (size_t)parameter->bytes;
    return offset;
}

uint64_t launch_volume(const uint32_t size[3]) {
    return (uint64_t)size[0] * size[1] * size[2];
}
