/* Stream: a kernel from a pipe: redviz -, redviz /dev/stdin, redviz <(nvcc ...). */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli/options.h"

/* If the kernel's file can be read only once, reads it and names it stdin.ptx or stdin.cu by its contents.
 * *text: owned by the caller, who frees it when no session uses the options any more; NULL: an ordinary file,
 * or none. */
bool stream_read(Options *options, char **text, Error *error);

#endif
