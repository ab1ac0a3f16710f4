/* Values of warp timelines for claims: those that the warps pane shows. Private to this folder. */
#ifndef LECTURE_WARPS_H
#define LECTURE_WARPS_H

#include "lecture/claim.h"
#include "session/session.h"

/* A word with CLAIM_OF_WARPS, of the session's timeline with query->resident blocks at once. False with
 * `error`: there is none of this size and type. */
bool claim_warps_value(Session *session, const ClaimQuery *query, double *value, Error *error);

#endif
