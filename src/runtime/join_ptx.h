/* Join PTX: makes one module of the texts of a program that was compiled in parts (-rdc=true).
 *
 * Linking such a program makes machine code alone; the PTX of each part remains. The parts name each other's
 * functions and variables by .extern declarations, which are left out, as are the headers of all parts but
 * the first; numbers of files and labels of sections are made distinct. Measured with nvcc 13.0. */
#ifndef RUNTIME_JOIN_PTX_H
#define RUNTIME_JOIN_PTX_H

#include "base/text.h"

/* Appends the text of another part to `module`, which holds `parts` others; the first is `parts` 0. */
void join_ptx(Text *module, int parts, const char *text);

#endif
