/* Twin: runs a plan twice in the emulator, original and instrumented. It decodes the trace buffer of the
 * instrumented kernel; the expected events are the emulator's own events of the original kernel. Include
 * cmocka's headers first. */
#ifndef TESTS_INSTRUMENT_TWIN_H
#define TESTS_INSTRUMENT_TWIN_H

#include "catalog/catalog.h"
#include "emulator/emulator.h"
#include "instrument/instrument.h"

typedef struct TwinOptions {
    const char *what;      /* for messages */
    uint64_t first, last;  /* traced blocks */
    uint64_t region_bytes; /* 0: plenty */
    uint32_t spin_limit;   /* 0: the default */
    uint64_t schedule;     /* of the instrumented run */
    uint64_t budget;       /* of instructions; 0: the default */
} TwinOptions;

typedef struct Twin {
    PtxModule *module;
    PtxProgram *programs[PLAN_LAUNCHES]; /* of the original kernel; launches of one entry share theirs */
    Emulator *emulators[2];
    Trace *original, *decoded;
    InstrumentTally tally;
    Text text;             /* of the last launch, instrumented */
    InstrumentSites sites; /* of the last launch */
    InstrumentSettings settings;
    uint8_t *regions;           /* of the last launch */
    InstrumentMemory memory[2]; /* buffers of both runs, numbered as in the original one */
    Arena arena;
} Twin;

char *twin_probe(void); /* assets/ptx/probe.ptx; free() it */

/* The planned launch with the addresses that the emulator gave its buffers; launch_done() it. */
Launch twin_bind(const Emulator *emulator, const PlanLaunch *planned, const PtxProgram *program,
                 const char *what);

/* `plain` and `probed` are filled alike; the runs change them. Takes over `module`. Fails the test if one of
 * the runs fails or traps, the text does not parse, or a region does not decode. */
Twin twin_run(PtxModule *module, Plan *plain, Plan *probed, const TwinOptions *options);
/* The same for a kernel of the catalogue, on random whole numbers. The caller owns the plans. */
Twin twin_run_kernel(const CatalogRow *row, CatalogOptions kernel, Plan plans[2], const TwinOptions *options);
void twin_done(Twin *twin);

/* Both plans contain the same bytes. */
void twin_expect_same_results(const Plan *plain, const Plan *probed, const char *what);

/* Events of one thread of a traced block, and their pcs (at most `most`). */
int twin_thread_events(const TraceLaunch *launch, uint32_t block, int thread, int *pcs, int most);

/* Every thread did the same, with the same masks. Excluded are values that depend on the schedule (results of
 * atomics, loads of words that others write), and masks if the kernel has a loop that waits for others: the
 * waiting time decides which lanes stay together there. Returns the number of (thread, event) pairs
 * compared. */
uint64_t twin_expect_same_events(const Twin *twin, const char *what);

#endif
