/* Encode: one event as bytes, exact and short. Private to src/trace.
 *
 * An encoded event is a header (flags, variable-length numbers) and *columns*: 32 lanes of one field, of
 * which only the active lanes are stored, in the shortest of the forms of encode.c. Fields that are zero in
 * all active lanes take no bytes. What is read back equals what was written, provided that inactive lanes
 * held 0 (trace.h). */
#ifndef TRACE_ENCODE_H
#define TRACE_ENCODE_H

#include "trace/trace.h"

/* No event needs more bytes: 12 columns of 32 * 8, their heads, a header of 60. */
enum { ENCODED_EVENT_LIMIT = 4096 };

/* Writes at most ENCODED_EVENT_LIMIT bytes and returns how many. */
size_t encode_event(const TraceEvent *event, uint8_t *bytes);
/* Fills *event entirely; where `header_only`, addresses, values, operands and sources are left untouched.
 * Returns how many bytes that took. Any bytes are read without harm, also of a damaged file, and never more
 * than ENCODED_EVENT_LIMIT of them; whether they make sense is for event_check (check.h) to say. */
size_t decode_event(const uint8_t *bytes, bool header_only, TraceEvent *event);
/* The same, with operands and values (but where branches go) left untouched and inactive lanes undefined: for checks and
 * counts. */
size_t decode_places(const uint8_t *bytes, TraceEvent *event);

#endif
