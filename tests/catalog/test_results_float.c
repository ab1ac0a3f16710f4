/* float: every kernel gives the result of the reference (results.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results.h"

int main(void) {
    static const PtxType types[] = {PTX_F32};
    return results_main(types, sizeof types / sizeof *types);
}
