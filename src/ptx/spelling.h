/* Spelling: the ways in which a person types an entry's name: as CUDA C++ has it, "red<int, Op::kSum>", as
 * c++filt prints it, "void red<int, (Op)0>(int const*)", or as redviz does. Spaces do not matter. Private to
 * src/ptx. */
#ifndef PTX_SPELLING_H
#define PTX_SPELLING_H

#include <stdbool.h>

typedef enum SpellingFit {
    SPELLING_OTHER,
    SPELLING_MAY_FIT, /* it has enumerators, whose values PTX does not say */
    SPELLING_SHORTER, /* without its namespaces, or its last template arguments */
    SPELLING_WHOLE
} SpellingFit;

/* Does `asked` name what is called `readable` (ptx_readable_name())? */
SpellingFit ptx_spelling_fit(const char *asked, const char *readable);
/* Has it parameters of the function, as c++filt prints them? They are these, a line each (ptx_readable_parameters()). */
bool ptx_spelling_has_parameters(const char *asked);
bool ptx_spelling_fits_parameters(const char *asked, const char *lines);

#endif
