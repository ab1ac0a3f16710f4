/* Headline: the sentence about a run at the top of the screen: how its result compares with the exact answer,
 * and the kernel's lesson or the worst finding. */
#ifndef TUI_SCENE_HEADLINE_H
#define TUI_SCENE_HEADLINE_H

#include "tui/scene/scene.h"

typedef enum HeadlineTone { HEADLINE_PLAIN, HEADLINE_GOOD, HEADLINE_WARNING } HeadlineTone;

/* In as many words as fit into `columns`, or else the fewest: "438, exact 4524: off by 4086, on purpose". */
HeadlineTone headline_print_verdict(const Scene *scene, int columns, char *out, size_t bytes);

/* The catalogue's line about the kernel; for a file, the worst finding once it is known; else "". */
void headline_print_story(const Scene *scene, int columns, char *out, size_t bytes);

#endif
