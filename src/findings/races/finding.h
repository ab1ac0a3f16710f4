/* Finding: the kinds of findings and where one occurs. The race detector finds races, which findings.h
 * defines. */
#ifndef FINDINGS_RACES_FINDING_H
#define FINDINGS_RACES_FINDING_H

#include "trace/observer.h"

typedef enum FindingKind {
#define FINDING(id, text, severity, tool, title) FINDING_##id,
#include "findings/races/finding_kinds.def"
#undef FINDING
    FINDING_KIND_COUNT
} FindingKind;

typedef enum Severity { SEVERITY_ERROR, SEVERITY_SLOW, SEVERITY_NOTE } Severity; /* in the order of a list */

typedef struct FindingAccess {
    int pc; /* PTX_NO_PC: no such access */
    const char *file;
    int line;                /* metrics_line_of() */
    const PtxPlaces *places; /* further candidates, and where its function is called; NULL: none; borrowed */
    bool is_elsewhere;       /* `file` is not that of the kernel */
    uint32_t block[3];
    uint64_t linear_block;
    int warp;
    uint32_t lanes; /* the lanes involved */
    int lane;       /* the lane with this address and value; -1: none */
    int buffer;     /* global: in trace->buffers; shared and local: in the launch's symbols; -1: no address */
    uint64_t offset;
    bool has_value, is_store, is_atomic;
    uint64_t value;    /* loaded or stored; the operand of an atomic is not kept */
    PtxType type;      /* of the value, from the instruction and the buffers; PTX_NO_TYPE: not known */
    uint32_t interval; /* block-wide barriers that the warp has passed */
    int event;         /* index in the traced block; -1: the block is not traced, or has no such event */
} FindingAccess;

enum { UNSEEN_NAMED = 3 };
typedef struct UnseenPlace { /* a place that an instruction wrote after more reads than a cell keeps */
    int launch;
    PtxSpace space;
    FindingAccess write;
} UnseenPlace;

typedef struct FindingsUnseen {      /* where the search may have missed a race */
    uint64_t places;                 /* places written after more reads than a cell keeps, in all blocks */
    uint64_t accesses;               /* warp accesses that did not fit in memory */
    UnseenPlace named[UNSEEN_NAMED]; /* the first ones, one for each writing instruction */
    int named_count;
} FindingsUnseen;

typedef struct RaceDetector RaceDetector;
RaceDetector *race_detector_new(void);
void race_detector_free(RaceDetector *detector);
/* The observer of an emulator's options. */
TraceObserver race_detector_observer(RaceDetector *detector);
/* It ran in several threads; find the origin of a wrong result with a single-threaded run. */
bool race_detector_was_split(const RaceDetector *detector);

#endif
