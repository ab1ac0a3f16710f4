/* Stream: a kernel that is piped in: redviz -, redviz /dev/stdin, redviz <(nvcc ...). */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli/options.h"

/* Where the kernel's file can be read only once, reads it, and names it stdin.ptx or stdin.cu by what it contains.
 * *text: the caller's, to be freed when no session uses the options any more; NULL: it is a file, or there is none. */
bool stream_read(Options *options, char **text, Error *error);

#endif
