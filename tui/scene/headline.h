/* Headline: the sentence about a run at the head of the screen: how its result compares with the exact
 * answer, and what it is about or what is worst in it. */
#ifndef TUI_SCENE_HEADLINE_H
#define TUI_SCENE_HEADLINE_H

#include "tui/scene/scene.h"

typedef enum HeadlineTone { HEADLINE_PLAIN, HEADLINE_GOOD, HEADLINE_WARNING } HeadlineTone;

/* In as many words as fit into `columns`, the fewest otherwise: "438, exact 4524: off by 4086, on purpose". */
HeadlineTone headline_print_verdict(const Scene *scene, int columns, char *out, size_t bytes);

/* The catalogue's line about the kernel; of a file, the worst line that was found, once it is known; else "". */
void headline_print_story(const Scene *scene, int columns, char *out, size_t bytes);

#endif
