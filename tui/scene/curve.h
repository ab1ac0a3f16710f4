/* Curve: a kernel's costs by its first parameter, as the emulator counts them. */
#ifndef TUI_SCENE_CURVE_H
#define TUI_SCENE_CURVE_H

#include "metrics/metrics.h"
#include "catalog/catalog.h"

typedef enum CurveCost {
    CURVE_WAVEFRONTS,   /* of the shared access that takes most of them, on average */
    CURVE_SECTORS,      /* of the global access, likewise */
    CURVE_INSTRUCTIONS, /* of all warps of the run */
    CURVE_COSTS
} CurveCost;

enum { CURVE_MOST_POINTS = 48 };

typedef struct CurvePoint {
    int64_t value;
    bool is_counted, has_failed;
    double cost[CURVE_COSTS]; /* 0: the run has no such access */
} CurvePoint;

typedef struct Curve {
    CatalogRun run; /* what all values have in common; its first parameter is that of the run shown */
    CurvePoint points[CURVE_MOST_POINTS];
    int count; /* 0: no curve */
} Curve;

/* Whether the run has a curve: it is of a lab with a parameter. */
bool curve_is_of(const CatalogRun *run);
/* All values of the parameter; of a wide range the powers of two, the ends and the run's own. Keeps what was
 * counted if only the first parameter is another one. */
void curve_begin(Curve *curve, const CatalogRun *run);
/* The curve is of this run, or of one with another value of the first parameter. */
bool curve_is_same(const Curve *curve, const CatalogRun *run);
/* The index of the next value to count; -1: all are counted. The run's own comes first. */
int curve_next(const Curve *curve);
void curve_put(CurvePoint *point, const Trace *trace);

/* The cost that varies most over the counted values; CURVE_COSTS: none varies. */
CurveCost curve_shown(const Curve *curve);
/* "2 wavefronts of the worst shared access"; cost NAN: without the number, in the plural. */
void curve_print_cost(CurveCost of, double cost, char *out, size_t bytes);

#endif
