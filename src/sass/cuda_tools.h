/* CUDA tools: where ptxas and nvdisasm are. */
#ifndef SASS_CUDA_TOOLS_H
#define SASS_CUDA_TOOLS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum CudaTool { TOOL_PTXAS, TOOL_NVDISASM } CudaTool;

/* $REDVIZ_PTXAS or $REDVIZ_NVDISASM, else the program in bin/ of $CUDA_HOME and $CUDA_PATH, in PATH, in
 * /usr/local/cuda*, or in NVIDIA's wheels. False with `error`: not found, and how to get it. */
bool cuda_tool_find(CudaTool tool, char *path, size_t bytes, Error *error);

#endif
