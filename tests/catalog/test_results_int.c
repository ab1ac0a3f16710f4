/* Integers and 16-bit floats: every kernel gives the result of the reference (results.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results.h"

int main(void) {
    static const PtxType types[] = {PTX_S8, PTX_S16, PTX_S32, PTX_F16, PTX_BF16};
    return results_main(types, sizeof types / sizeof *types);
}
