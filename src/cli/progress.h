/* Progress: while a run takes longer than a second, a line on stderr says how much of it is done; it goes when the run is
 * over. Nothing is written where stderr is no terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "session/session.h"

typedef struct ProgressLine ProgressLine;

ProgressLine *progress_begin(const SessionProgress *of); /* NULL: stderr is no terminal */
void progress_end(ProgressLine *progress);               /* NULL is allowed */
/* "1,200 of 4,096 blocks, about 12 s left" */
void progress_print(uint64_t done, uint64_t blocks, double seconds, Text *out);

#endif
