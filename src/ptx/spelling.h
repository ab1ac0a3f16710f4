/* Spelling: the ways in which a user types an entry's name. Private to src/ptx.
 *
 * As in CUDA C++, "red<int, Op::kSum>"; as c++filt prints it, "void red<int, (Op)0>(int const*)"; or as
 * redviz prints it. Spaces do not matter. */
#ifndef PTX_SPELLING_H
#define PTX_SPELLING_H

#include <stdbool.h>

typedef enum SpellingFit {
    SPELLING_OTHER,
    SPELLING_MAY_FIT, /* it has enumerators, whose values PTX does not contain */
    SPELLING_SHORTER, /* without its namespaces, or its last template arguments */
    SPELLING_WHOLE
} SpellingFit;

/* How `asked` matches the name `readable` (ptx_readable_name()). */
SpellingFit ptx_spelling_fit(const char *asked, const char *readable);
/* True if it has parameters of the function, as c++filt prints them. ptx_readable_parameters() lists these,
 * one per line. */
bool ptx_spelling_has_parameters(const char *asked);
bool ptx_spelling_fits_parameters(const char *asked, const char *lines);

#endif
