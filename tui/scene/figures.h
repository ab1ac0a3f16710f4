/* Figures: the few numbers of a run that a change of its settings is judged by, before and after. */
#ifndef TUI_SCENE_FIGURES_H
#define TUI_SCENE_FIGURES_H

#include "tui/scene/scene.h"

typedef struct RunFigures {
    bool is_whole;       /* false: a fault ended the run early, with fewer of everything */
    bool is_counted;     /* false: the grid is still being counted, and the counts are 0 */
    uint64_t wavefronts; /* of shared memory */
    uint64_t divergent;  /* branches */
    uint64_t barriers;
    double microseconds; /* median, measured with these settings; 0: see `missing` */
    bool is_live;        /* measured by this process */
    char machine[64];    /* "": not measured */
    char missing[80];    /* "not measured with block 512" */
} RunFigures;

void figures_of(const Scene *scene, bool to_scalar, TimesWay way, RunFigures *out);

/* "wavefronts 600 → 180   barriers 36 → 18   time not measured with block 512", in at most `columns`: those
 * that changed first, whole or not at all. */
void figures_print(const RunFigures *before, const RunFigures *after, int columns, char *out, size_t bytes);

#endif
