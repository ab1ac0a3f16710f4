/* Messages: errors that show their line of PTX. Private to src/ptx. */
#ifndef PTX_MESSAGES_H
#define PTX_MESSAGES_H

#include "ptx/ptx.h"

/* Fills `error` and returns false. `place` is the character of the module's text at that line and column,
 * which the caret marks; NULL: it is searched for, which only errors can afford. Column 0: no caret. */
bool ptx_fail_at(const PtxModule *module, const char *place, int line, int column, Error *error,
                 const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Where a line of the module's text begins; the end of the text if it has fewer lines. */
const char *ptx_line_begin(const PtxModule *module, int line);

#endif
