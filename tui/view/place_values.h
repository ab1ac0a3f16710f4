/* Place values: the values of a step or a level that the claims and answers of a lecture refer to. Runs,
 * lines, intervals and times are in lecture/values.h. */
#ifndef TUI_VIEW_PLACE_VALUES_H
#define TUI_VIEW_PLACE_VALUES_H

#include "lecture/values.h"
#include "tui/view/view.h"

typedef struct PlaceValues {
    ClaimRuns *runs;    /* borrowed */
    const Scene *scene; /* the lecture's place; borrowed, NULL: none */
    const View *view;
    Session *session; /* of the scene */
    Scene *other;     /* another run whose levels were requested; owned */
    Session *other_session;
} PlaceValues;

/* A ClaimWorld's function; its context is a PlaceValues. */
bool place_values_value(void *values, const ClaimQuery *query, double *value, Error *error);
void place_values_done(PlaceValues *values);

#endif
