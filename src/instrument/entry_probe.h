/* Entry probes: text at the start and the exits of an entry, for light rewritings (clocks.h,
 * residency_probe.h, wait_probe.h). Private to src/instrument. */
#ifndef INSTRUMENT_ENTRY_PROBE_H
#define INSTRUMENT_ENTRY_PROBE_H

#include "base/text.h"
#include "ptx/program.h"

typedef struct EntryProbe {   /* NULL members add nothing */
    const char *declarations; /* of the module */
    /* Prints the entry's header, without its "{". NULL: unchanged. */
    bool (*print_header)(const PtxItem *item, Text *out, Error *error);
    /* Prints the body, without its braces, in place of the functions below. */
    void (*print_body)(void *context, const PtxFunction *function, Text *out);
    void *context;
    void (*at_begin)(Text *out); /* after the entry's declarations, before its first instruction */
    /* Before a ret or an exit, which may have a guard; NULL: at the end of a text without one. */
    void (*before_exit)(const PtxInstruction *in, Text *out);
    void (*after)(const PtxInstruction *in, Text *out); /* after every instruction */
    /* NULL if a called function, which has no probe, may contain this instruction; otherwise the rest of the
     * message "the called function NAME ...". A NULL pointer allows everything. */
    const char *(*why_not_called)(const PtxInstruction *in);
} EntryProbe;

/* Prints the programs of one module with the probe in their entries, without source lines. False with
 * `error`: a header cannot be printed, or a called function contains a forbidden instruction. */
bool entry_probe_print(const EntryProbe *probe, const PtxProgram *const *programs, int count, Text *out,
                       Error *error);

/* Prints the header with a parameter .u64 `name` at the end; false with `error`: it cannot be read. */
bool entry_probe_add_parameter(const PtxItem *item, const char *name, Text *out, Error *error);

#endif
