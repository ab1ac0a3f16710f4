/* Emit: functions with probes, as text. Private to src/instrument. */
#ifndef INSTRUMENT_EMIT_H
#define INSTRUMENT_EMIT_H

#include "instrument/probe_plan.h"

enum { EMIT_MOST_WIDE = 5, EMIT_MOST_NARROW = 9 };

typedef struct Emitter {
    const InstrumentSites *sites;
    const int *site_of; /* [place] of the current function: its site; -1: none */
    Text *out;
    int labels; /* used so far */
    bool uses_enter, uses_windows, uses_symbol;
    bool uses_record[EMIT_MOST_WIDE + 1][EMIT_MOST_NARROW + 1];
    bool uses_branch[2];
} Emitter;

typedef struct EmittedSymbols {
    int *index;
    int count;
} EmittedSymbols;

/* Prints the function's whole definition. `symbols`: the module's symbols that it records at its start; it
 * records its own where they are declared. `is_plain`: it has no sites and records nothing. */
void emit_function(Emitter *emitter, const PtxItem *item, const EmittedSymbols *symbols, bool is_plain);

#endif
