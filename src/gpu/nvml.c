#include "gpu/nvml.h"

#include "base/library.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { UUID_BYTES = 16 };
enum { CLOCK_MULTIPROCESSORS = 1, CLOCK_MEMORY = 2, TEMPERATURE_GPU = 0 }; /* nvmlClockType_t and so on */

static bool find_entry_points(Nvml *nvml) {
    void **entry = (void **)(void *)&nvml->table;
    static const char *const symbols[] = {
#define NVML(name, symbol, parameters) symbol,
#include "gpu/nvml.def"
#undef NVML
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (!(entry[i] = dlsym(nvml->library, symbols[i]))) return false;
    return true;
}

/* Finds the device that CUDA uses, whatever its number in NVML:
 * "GPU-11223344-5566-7788-99aa-bbccddeeff00". */
static bool find_device(Nvml *nvml, const Cuda *cuda) {
    uint8_t bytes[UUID_BYTES] = {0};
    char text[64] = "GPU";
    int length = 3;
    if (cuda->table.cuDeviceGetUuid(bytes, cuda->device)) return false;
    for (int i = 0; i < UUID_BYTES; i++) {
        bool begins_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        length +=
            snprintf(text + length, sizeof text - (size_t)length, begins_group ? "-%02x" : "%02x", bytes[i]);
    }
    return !nvml->table.find_device(text, &nvml->device);
}

void nvml_open(Nvml *nvml, const Cuda *cuda) {
    const char *name = getenv("REDVIZ_NVML");
    *nvml = (Nvml){.library = library_open(name && *name ? name : "libnvidia-ml.so.1")};
    if (!nvml->library) return;
    if (!find_entry_points(nvml) || nvml->table.init()) {
        dlclose(nvml->library);
        *nvml = (Nvml){0};
        return;
    }
    if (nvml->table.driver_version(nvml->driver, sizeof nvml->driver)) *nvml->driver = 0;
    if (!find_device(nvml, cuda)) nvml->device = NULL;
}

void nvml_describe_driver(const Nvml *nvml, const Cuda *cuda, char *text, size_t bytes) {
    snprintf(text, bytes, "%s%sCUDA %d.%d", nvml->driver, *nvml->driver ? ", " : "",
             cuda->driver_version / 1000, cuda->driver_version % 1000 / 10);
}

void nvml_close(Nvml *nvml) {
    if (nvml->library) {
        nvml->table.shut_down();
        dlclose(nvml->library);
    }
    *nvml = (Nvml){0};
}

static double clock_now(const Nvml *nvml, int which) {
    unsigned megahertz;
    return nvml->table.clock(nvml->device, which, &megahertz) ? (double)NAN : megahertz;
}

NvmlReading nvml_read(const Nvml *nvml) {
    unsigned celsius;
    if (!nvml->device) return (NvmlReading){NAN, NAN, NAN};
    bool warm = !nvml->table.temperature(nvml->device, TEMPERATURE_GPU, &celsius);
    return (NvmlReading){clock_now(nvml, CLOCK_MULTIPROCESSORS), clock_now(nvml, CLOCK_MEMORY),
                         warm ? celsius : (double)NAN};
}
