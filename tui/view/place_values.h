/* Place values: the values of a step or a level that claims and answers of a lecture ask for. Runs, lines,
 * intervals and times are lecture/values.h's. */
#ifndef TUI_VIEW_PLACE_VALUES_H
#define TUI_VIEW_PLACE_VALUES_H

#include "lecture/values.h"
#include "tui/view/view.h"

typedef struct PlaceValues {
    ClaimRuns *runs;    /* borrowed */
    const Scene *scene; /* where the lecture stands; borrowed, NULL: nowhere */
    const View *view;
    Session *session; /* of the scene */
    Scene *other;     /* of another run whose levels were asked for; owned */
    Session *other_session;
} PlaceValues;

/* A ClaimWorld's function; its context is a PlaceValues. */
bool place_values_value(void *values, const ClaimQuery *query, double *value, Error *error);
void place_values_done(PlaceValues *values);

#endif
