/* Linking: the driver's linker, of PTX alone. Its module is a text that the program's side keeps. */
#ifndef RUNTIME_LINKING_H
#define RUNTIME_LINKING_H

#include "base/text.h"
#include "runtime/program_messages.h"

/* Adds a part to `module`, or without one (0 bytes) completes it. Returns a cudaError_t; if it is not 0, the
 * text is why, in one line. */
int linking_add(Text *module, const MessageLink *asked, const void *part, size_t bytes);

#endif
