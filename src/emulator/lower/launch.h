/* What a launch runs: the program, its geometry and its parameters. Part of emulator.h, which the callers of the
 * emulator include. */
#ifndef EMULATOR_LOWER_LAUNCH_H
#define EMULATOR_LOWER_LAUNCH_H

#include "trace/trace.h"

typedef struct EmulatorLaunch {
    const PtxProgram *program;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    const TraceLaunch
        *shared_as; /* shared variables lie where they lay in that launch; NULL: one after another */
    bool
        records_approximate; /* results that PTX does not define to the bit are events, too (TRACE_APPROXIMATE) */
    bool cooperative; /* all blocks are resident at once; grid sync works (%envreg1:%envreg2 workspace) */
    const uint8_t *parameters; /* of the entry, laid out as PTX lays them out; pointers are from
                                     emulator_buffer_address() */
    size_t parameter_bytes;
} EmulatorLaunch;

#endif
