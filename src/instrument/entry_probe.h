/* Entry probes: text at the beginning and the exits of an entry, for light rewritings. It is put at places of
 * the control flow and nowhere else (clocks.h, residency_probe.h). Private to src/instrument. */
#ifndef INSTRUMENT_ENTRY_PROBE_H
#define INSTRUMENT_ENTRY_PROBE_H

#include "base/text.h"
#include "ptx/program.h"

typedef struct EntryProbe {   /* what is NULL adds nothing */
    const char *declarations; /* of the module */
    /* Prints the entry's header, without its "{". NULL: as it is. */
    bool (*print_header)(const PtxItem *item, Text *out, Error *error);
    void (*at_begin)(Text *out); /* behind the entry's declarations, before it executes anything */
    /* Before a ret or an exit, which may have a guard; NULL: where the text ends without one. */
    void (*before_exit)(const PtxInstruction *in, Text *out);
    void (*after)(const PtxInstruction *in, Text *out); /* behind any instruction */
    /* May a function that is called have this? It has no probe. NULL: yes; else why not, behind "the called function
     * NAME ". */
    const char *(*why_not_called)(const PtxInstruction *in);
} EntryProbe;

/* Prints the programs, which are of one module, with the probe in their entries, without lines of source. false with
 * `error`: a header cannot be printed, or a function that is called has what it may not have. */
bool entry_probe_print(const EntryProbe *probe, const PtxProgram *const *programs, int count, Text *out,
                       Error *error);

#endif
