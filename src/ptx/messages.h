/* Messages: errors with the line of PTX that they are about. Private to src/ptx. */
#ifndef PTX_MESSAGES_H
#define PTX_MESSAGES_H

#include "ptx/ptx.h"

/* Fills `error` and returns false. `place` is the character of the module's text that the caret shows, in
 * that line and column; NULL: it is looked up (only errors can afford that). Column 0: no caret. */
bool ptx_fail_at(const PtxModule *module, const char *place, int line, int column, Error *error,
                 const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Where a line of the module's text begins; its end, if there is no such line. */
const char *ptx_line_begin(const PtxModule *module, int line);

#endif
