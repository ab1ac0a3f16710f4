/* Launch order: what the launches of a program leave to each other: which streams wait for which, and who
 * wrote each word. Private to src/runtime. */
#ifndef RUNTIME_LAUNCH_ORDER_H
#define RUNTIME_LAUNCH_ORDER_H

#include "emulator/emulator.h"
#include "runtime/captured.h"
#include "runtime/program_messages.h"

typedef struct LaunchOrder LaunchOrder;

LaunchOrder *launch_order_new(void);
void launch_order_free(LaunchOrder *order);
/* `memory`: of HOST_READ, its index in the capture, or -1. */
void launch_order_take(LaunchOrder *order, const MessageOrder *message, int memory, int launches);
/* The words from `first` to before `end` hold what no launch is known to have left. */
void launch_order_host_wrote(LaunchOrder *order, const Captured *capture, int memory, uint64_t first,
                             uint64_t end);
/* The last launch that wrote the word, or of a write: read it, and whose end the host has not waited for; 0:
 * none. */
uint32_t launch_order_host_touches(const LaunchOrder *order, const Captured *capture, int memory,
                                   uint64_t word, bool is_write);
/* A launch begins, has touched a page whose first word in its memory is `first`, and has ended: then its
 * faults are added. */
void launch_order_begin(LaunchOrder *order, int launch, uint32_t stream);
void launch_order_touch(LaunchOrder *order, Captured *capture, int launch, int memory, uint64_t first,
                        const EmulatorPage *page);
void launch_order_end(LaunchOrder *order, Captured *capture, int launch);

#endif
