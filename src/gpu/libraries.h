/* Libraries: finds the NVIDIA libraries on this machine, without using a GPU. */
#ifndef GPU_LIBRARIES_H
#define GPU_LIBRARIES_H

#include "base/text.h"

/* Prints "CUDA driver 13.0" and "CUPTI 28", or that one is missing: a line each. */
void found_print(Text *out);

#endif
