/* Libraries: the libraries of NVIDIA on this machine, found without using a GPU. */
#ifndef GPU_LIBRARIES_H
#define GPU_LIBRARIES_H

#include "base/text.h"

/* "CUDA driver 13.0" and "CUPTI 28", or that there is none: a line each. */
void found_print(Text *out);

#endif
