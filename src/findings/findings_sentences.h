/* Sentences about errors, shared by all sources of errors. Private to src/findings. */
#ifndef FINDINGS_FINDINGS_SENTENCES_H
#define FINDINGS_FINDINGS_SENTENCES_H

#include "findings/findings_list.h"
#include "findings/races/race_detector.h"

/* ---- memory by its name (findings_names.c) ------------------------------------------------------------- */

/* Sets the symbol of the access; the detector's shared offsets lie in the window of the observed blocks. */
void findings_locate_symbol(const SharedWindow *window, const TraceLaunch *launch, FindingAccess *access);
/* "sums[3]"; in bytes if the instruction has no type. Shared memory without a declared size gets the name
 * that the source lines of both accesses index it by, unless they name different places. */
const char *findings_name_memory(const FindingsBuilder *builder, const TraceLaunch *launch, PtxSpace space,
                                 const FindingAccess *access, const FindingAccess *other);

/* "sums": the same for the whole array in shared memory. */
const char *findings_name_array(const FindingsBuilder *builder, const TraceLaunch *launch,
                                const FindingAccess *access);

/* ---- places (findings_places.c) ------------------------------------------------------------------------ */

void finding_add_place(const FindingAccess *access, Text *out);   /* "line 21", "line 17 or 18 of sum.cuh" */
void finding_begin_place(const FindingAccess *access, Text *out); /* the same with ": " */
/* ". Called from line 32", for functions that were inlined; `other` may be NULL. */
void finding_add_callers(const FindingAccess *access, const FindingAccess *other, Text *out);

/* ---- sentences ----------------------------------------------------------------------------------------- */

void findings_add_thread(const FindingAccess *access, bool names_block, Text *out); /* "warp 0 lane 3" */
/* "warp 0 lane 3 stores sums[3] (7)"; `what` NULL: "it" */
void findings_add_access(const FindingAccess *access, bool names_block, const char *what, Text *out);
void findings_add_value(const FindingAccess *access, Text *out);  /* " (7)" */
int64_t finding_signed_value(const FindingAccess *access);        /* for a signed type */
double finding_real_value(const FindingAccess *access);           /* f32, f64 */
const char *findings_finish_sentence(Findings *list, Text *text); /* adds the full stop; keeps it */

/* Names the memory, and fills in sentence and advice. */
void findings_describe_race(FindingsBuilder *builder, const RaceDetector *detector, const RacePair *pair,
                            Finding *finding);
/* findings_overlap.c: if the two accesses are to arrays of different types that overlap in dynamic shared
 * memory, says so. */
bool findings_describe_overlap(FindingsBuilder *builder, Finding *finding);
/* As above, for findings about lanes of a warp (findings_lanes.c). */
void findings_describe_undefined(FindingsBuilder *builder, const RacePair *pair, Finding *finding);
void findings_describe_early_result(FindingsBuilder *builder, Finding *finding);
void findings_describe_wrapped_index(FindingsBuilder *builder, Finding *finding);
void findings_describe_partial_barrier(FindingsBuilder *builder, const RacePair *pair, Finding *finding);
void findings_describe_split_barrier(FindingsBuilder *builder, Finding *finding);
void findings_describe_passed_by(FindingsBuilder *builder, const RacePair *pair, Finding *finding);
/* Asynchronous copies (findings_copies.c): disturbed in flight; never waited for. */
void findings_add_early(const RacePair *pair, const TraceLaunch *launch, const Finding *finding, Text *out);
/* `copy`: the pc of the asynchronous instruction. */
const char *findings_advice_for_early(const TraceLaunch *launch, int copy, bool is_source);
void findings_describe_left(FindingsBuilder *builder, Finding *finding);

#endif
