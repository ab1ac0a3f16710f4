/* Host lines: the source lines of addresses in a program, by addr2line and the maps of its process. Private
 * to src/runtime. */
#ifndef RUNTIME_HOST_LINES_H
#define RUNTIME_HOST_LINES_H

#include "runtime/emulated_device.h"
#include <sys/types.h>

typedef struct HostLines HostLines;

HostLines *host_lines_new(void);
void host_lines_free(HostLines *lines);
/* The maps of the process that just connected; its number is that of the device. */
void host_lines_add_process(HostLines *lines, pid_t process);
/* Reads them again where the device has loaded a module since: a library may have been opened. */
void host_lines_refresh(HostLines *lines, const Device *device);
/* Fills in the places of launches and faults, and the names that the source gives its memory: "d_in" of
 * cudaMalloc(&d_in, ...). */
void host_lines_name(HostLines *lines, Captured *capture);

#endif
