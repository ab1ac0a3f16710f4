/* Warp timelines as text in tab-separated columns: what --timeline=tsv prints.
 *
 * assets/h100/warps has a file for each kernel. Lines that begin with # are skipped.
 *
 *   warps   KERNEL N TYPE OP MACHINE DRIVER WHEN MULTIPROCESSOR RESIDENT order|lengths DROPPED PLAIN_US
 *           UNTRACED_US TRACED_US PLAIN_LIFE TRACED_LIFE LAUNCHES SITES WARPS
 *   launch  ENTRY GX GY GZ BX BY BZ
 *   site    STATE LAUNCH PC LOAD LINE                  numbered from 0; "-": no load, no line
 *   warp    LAUNCH BLOCK WARP SLOT BEGIN END WAITS     then its waits, 64 a line:
 *   w       SITE,GAP,LENGTH,LANE ...                   GAP: from the previous begin; ",LANE" is left out for
 *           lane 0 */
#ifndef TRACE_WARP_FILE_H
#define TRACE_WARP_FILE_H

#include "base/text.h"
#include "trace/warp_timeline.h"

typedef void WarpFileTake(void *context, WarpTimeline *timeline); /* owns it */

void warp_file_write(const WarpTimeline *timeline, Text *out);
/* Passes each timeline of the file to `take`. Trusts nothing. False with `error`: the file, the line and what
 * is wrong there. */
bool warp_file_read(const char *path, WarpFileTake *take, void *context, Error *error);
/* As above, for text; `path` is its name in errors. */
bool warp_file_read_text(const char *text, const char *path, WarpFileTake *take, void *context, Error *error);

#endif
