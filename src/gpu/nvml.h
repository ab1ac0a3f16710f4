/* NVML, opened at run time: clocks and temperature of the GPU, shown with timings. Without the library, and
 * for unknown values, they are NaN or "": a timing does not fail because of them. */
#ifndef GPU_NVML_H
#define GPU_NVML_H

#include "gpu/driver.h"

typedef struct NvmlDeviceTag *NvmlDevice;

typedef struct NvmlTable {
#define NVML(name, symbol, parameters) int(*name) parameters;
#include "gpu/nvml.def"
#undef NVML
} NvmlTable;

typedef struct Nvml { /* zero-initialized: nothing is known */
    NvmlTable table;
    void *library;
    NvmlDevice device;
    char driver[64]; /* "580.159.04" */
} Nvml;

typedef struct NvmlReading {
    double clock, memory_clock; /* current clocks in MHz, of the multiprocessors and of the memory */
    double temperature;         /* degrees Celsius */
} NvmlReading;

/* Opens libnvidia-ml.so.1, or $REDVIZ_NVML (tests), for the device of `cuda`. */
void nvml_open(Nvml *nvml, const Cuda *cuda);
/* "580.159.04, CUDA 13.0" */
void nvml_describe_driver(const Nvml *nvml, const Cuda *cuda, char *text, size_t bytes);
void nvml_close(Nvml *nvml);
NvmlReading nvml_read(const Nvml *nvml);

#endif
