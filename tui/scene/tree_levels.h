/* Tree levels: the steps that are levels of the tree, and the distance of each level's operands. Private to
 * tree*.c. */
#ifndef TUI_SCENE_TREE_LEVELS_H
#define TUI_SCENE_TREE_LEVELS_H

#include "tui/scene/tree.h"

void tree_find_levels(Tree *tree);    /* levels, level_count, level_of_node: filled */
void tree_find_distances(Tree *tree); /* distance and crosswise of each level */

#endif
