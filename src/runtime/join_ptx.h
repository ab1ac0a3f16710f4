/* Join PTX: links the PTX texts of a program.
 *
 * It was compiled in parts (-rdc=true), or gives them to the driver's linker.
 * Linking such a program makes machine code alone; the PTX of each part remains. Rules of linking: PTX ISA,
 * "Linking Directives". What a part declares .extern another defines; of several weak definitions one stays,
 * and a definition that is not weak replaces them; names without a linking directive are those of their part,
 * and are renamed where two parts have the same. One header remains, with the newest version and target;
 * numbers of files and labels of sections are made distinct. Both parts must say the same types of a
 * function, also whether it has a result, unless a part declares it and does not use it. Measured with nvcc
 * and nvlink 13.0. */
#ifndef RUNTIME_JOIN_PTX_H
#define RUNTIME_JOIN_PTX_H

#include "base/text.h"

/* Appends the text of another part to `module`, which holds `parts` others; the first is `parts` 0. False
 * with `error`, one line, if they do not go together: `module` is as before. */
bool join_ptx(Text *module, int parts, const char *text, Error *error);
/* All parts are there: declarations of what one of them defines are no longer .extern. */
void join_ptx_finish(Text *module);

#endif
