/* Address space: the layout of the 64-bit generic address space of the emulated machine. Private to the
 * emulator.
 *
 * Global memory (arguments, module variables, constants, the device heap) has addresses that are also
 * generic. Shared, local and parameter memory each have small addresses, from 0, and a window in the generic
 * space; `cvta` adds the window's base. The windows lie above the addresses of host programs (below 2^47 on
 * x86-64), so that a host pointer is not taken for shared memory. Nothing is mapped at 0. */
#ifndef EMULATOR_LOWER_ADDRESS_SPACE_H
#define EMULATOR_LOWER_ADDRESS_SPACE_H

#include <stdint.h>

#define GLOBAL_BASE      UINT64_C(0x000000700000000)
#define SHARED_WINDOW    UINT64_C(0x0000800000000000)
#define LOCAL_WINDOW     UINT64_C(0x0000800100000000)
#define PARAMETER_WINDOW UINT64_C(0x0000800200000000)
#define WINDOW_BYTES     UINT64_C(0x0000000100000000)
#define FUNCTION_BASE    UINT64_C(0x0000800300000000)
#define FUNCTION_STRIDE  UINT64_C(16)

/* Shared memory of the cluster: from this bit up, an address holds the rank of its block plus 1; 0: this
 * block. */
#define CLUSTER_RANK_SHIFT 24
#define CLUSTER_OFFSET     ((UINT64_C(1) << CLUSTER_RANK_SHIFT) - 1)
#define CLUSTER_NO_RANK    UINT64_C(0xfe) /* in the result of mapa for a rank that does not exist */

/* In the parameter space: the entry's parameters start at 0, those of the current call frame (the function's
 * own and those it passes on) here. */
#define FRAME_PARAMETERS UINT64_C(0x0000000000100000)

/* The space between buffers is unmapped, so that overruns fault. */
#define BUFFER_ALIGNMENT UINT64_C(256)
#define BUFFER_GAP       UINT64_C(0x10000)

#endif
