/* Encode: one event as bytes, exact and short. Private to src/trace.
 *
 * An encoded event is a header (flags, variable-length numbers) and *columns*: 32 lanes of one field, of
 * which only the active lanes are stored, in the shortest form of encode.c. Fields that are zero in all
 * active lanes take no bytes. Decoding returns what was encoded, provided that inactive lanes held 0
 * (trace.h). */
#ifndef TRACE_ENCODE_H
#define TRACE_ENCODE_H

#include "trace/trace.h"

/* No event needs more bytes: 12 columns of 32 * 8, their heads, a header of 60. */
enum { ENCODED_EVENT_LIMIT = 4096 };

/* Writes at most ENCODED_EVENT_LIMIT bytes and returns their number. */
size_t encode_event(const TraceEvent *event, uint8_t *bytes);
/* Fills *event entirely; if `header_only`, leaves addresses, values, operands and sources untouched. Returns
 * the number of bytes read. Safe for any bytes, including a damaged file; never reads more than
 * ENCODED_EVENT_LIMIT of them. event_check (check.h) decides whether they make sense. */
size_t decode_event(const uint8_t *bytes, bool header_only, TraceEvent *event);
/* As above, but leaves operands and values (except branch targets) untouched and inactive lanes undefined:
 * for checks and counts. */
size_t decode_places(const uint8_t *bytes, TraceEvent *event);

#endif
