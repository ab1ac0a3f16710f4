/* Guess parameters: what each parameter of a kernel probably is, and the --args that say so. They follow from
 * its declaration, its name and the literals of a launch, and are text that can be shown and changed. Private
 * to src/guess.
 *
 *   Constant pointers are inputs of n random elements; without any, the first pointer is. Other pointers are
 *   outputs, zeros. The whole number that is named n, size, ... is n, else the last one; others are 1. */
#ifndef GUESS_GUESS_PARAMETERS_H
#define GUESS_GUESS_PARAMETERS_H

#include "guess/guess_declared.h"
#include "guess/host_code.h"

typedef struct GuessParameter {
    bool is_pointer, is_input, is_constant;
    bool is_n;
    PtxType type;     /* of the elements, or of the number */
    int vector;       /* elements of a vector: float4 has 4 */
    const char *name; /* as the source has it, where --args may have it; NULL: not known */
    int same_as;      /* the same pointer as this earlier parameter; -1: none */
    bool is_null;
    bool is_literal; /* the launch says what it is: */
    uint64_t count;  /* elements of a pointer */
    ExpressionValue value;
    const char *text; /* the launch's argument; NULL: none */
} GuessParameter;

typedef struct GuessSource {  /* what is known of an entry beside its PTX */
    HostCode *code;           /* NULL: nothing */
    const char *kernel;       /* its name in the file */
    const HostLaunch *launch; /* NULL: none */
} GuessSource;

/* [GUESS_PARAMETERS] `entry` is parsed; `n`: elements, if they are known. Texts are in the arena. */
void guess_parameters(const PtxFunction *entry, const GuessSource *source, uint64_t n, Arena *arena,
                      GuessParameter *parameters);
/* What elements are whose loads or stores have this type in the entry's PTX, which has no word for signs, and
 * whose bits may be floats: if the entry has floats of that size, they are. */
PtxType guess_element_type(const PtxFunction *entry, PtxType type);
/* The parameters as --args, of n elements; inputs are filled by `fill`. */
void guess_print_parameters(const GuessParameter *parameters, int count, uint64_t n, const char *fill,
                            Text *out);
/* "float[n]:random", for a pointer. */
void guess_print_buffer(const GuessParameter *parameter, uint64_t n, const char *fill, Text *out);

#endif
