/* Rewrites: copies of the PTX with a remedy for a slow place. They are made on instructions, so they need no
 * source and hold for any kernel. What they cannot do with certainty they refuse, in one line.
 *
 * A rewritten access computes its address anew: a pointer keeps its value, and only the access itself goes to
 * another place of the array. So comparing, storing and passing pointers stays as it was. The instructions
 * that compute the address are counted like all others. Lines of the PTX and of the source stay the same. */
#ifndef FINDINGS_REWRITE_H
#define FINDINGS_REWRITE_H

#include "findings/shared_layout.h"

/* Another layout for the shared array that the finding's example accesses. layout->pad must be a
 * multiple of rewrite_width(). *more_shared: bytes that the launches' dynamic shared
 * memory needs in addition. */
bool rewrite_layout(const Trace *trace, const Finding *finding, const SharedLayout *layout, Text *out,
                    uint32_t *more_shared, Error *error);
/* Bytes of the widest access to shared memory in the run's programs; 0 with `error`: an access cannot be
 * rewritten. */
uint64_t rewrite_width(const Trace *trace, const Finding *finding, Error *error);

/* The same layout for the array of this name in a copy of `text`, the source of the finding's line: its size,
 * and each index of it. False with `error`: it is not certain that this is all. */
bool rewrite_source(const Trace *trace, const Finding *finding, const SharedLayout *layout, const char *name,
                    const char *text, Text *out, Error *error);

/* ---- for rewrite_*.c */
/* The instruction accesses shared memory, and not by the name of another array. */
bool rewrite_may_access(const Trace *trace, const Finding *finding, const PtxInstruction *in);
typedef struct RewriteEdit { /* of the module's text */
    size_t begin, end;
    const char *text;
} RewriteEdit;
typedef struct Rewrite {
    const PtxModule *module;
    size_t *lines; /* where each line begins, from 1 */
    int line_count;
    RewriteEdit *edits;
    size_t count, capacity;
    Arena arena; /* for texts */
} Rewrite;
void rewrite_begin(Rewrite *rewrite, const PtxModule *module);
void rewrite_end(Rewrite *rewrite, Text *out); /* `out` NULL: discards it */
/* The text of an instruction, with its guard and ';', in the module. */
void rewrite_find(const Rewrite *rewrite, const PtxInstruction *in, size_t *begin, size_t *end);
/* Replaces a part of the text; the same part twice counts once. */
void rewrite_replace(Rewrite *rewrite, size_t begin, size_t end, const char *text);

#endif
