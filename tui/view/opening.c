/* The place where a run opens: at an error, else at a slow step, else at an addition. */
#include "tui/view/view.h"

typedef struct Opening {
    int step;   /* -1: none */
    int thread; /* the thread to select; -1: any */
} Opening;

static const Opening NO_OPENING = {.step = -1, .thread = -1};

static Reduction *reduction_shown(const View *view, const Scene *scene) {
    Reduction *reduction = scene_reduction(scene, view->place.block);
    return reduction && reduction_is_worth_showing(reduction) ? reduction : NULL;
}

/* ---- additions ----------------------------------------------------------------------------------------- */

/* NULL: it does not fold. Such a level, even of a million inputs, is made only when it is drawn. */
static const ReductionLevel *folding_level(Reduction *reduction, int index) {
    return reduction_level_kind(reduction, index) == TREE_FOLD ? reduction_level(reduction, index) : NULL;
}

/* For a thread that adds up its own inputs: the first sum, where all inputs are still visible. */
static Opening first_of_chain(Reduction *reduction) {
    for (int index = 0; index < reduction_level_count(reduction); index++) {
        const ReductionLevel *chain = reduction_chain(reduction, index, 0);
        if (chain) return (Opening){chain->boxes[1].step, 0};
    }
    return NO_OPENING;
}

/* The step of the first sum that threads make of each other's values. */
static Opening first_addition(Reduction *reduction) {
    if (!reduction) return NO_OPENING;
    if (!reduction_fold_count(reduction)) return first_of_chain(reduction);
    for (int index = 0; index < reduction_level_count(reduction); index++) {
        const ReductionLevel *level = folding_level(reduction, index);
        for (int i = 0; level && i < level->box_count; i++)
            if (level->boxes[i].adds) return (Opening){level->boxes[i].step, -1};
    }
    return NO_OPENING;
}

/* ---- faults -------------------------------------------------------------------------------------------- */

/* How an input gets into a sum twice. */
typedef enum Doubling {
    DOUBLING_NONE,
    DOUBLING_OWN, /* a value is added to itself, as by a shuffle without a source lane: often harmless */
    DOUBLING_MET  /* two different sums contain the same input */
} Doubling;

static Doubling doubling_of(const Tree *tree, const TreePath *path, int node) {
    if (!path || node == FOLD_NONE || node > path->root || !path->doubles[node]) return DOUBLING_NONE;
    const FoldNode *at = &tree->folds->nodes[node];
    return tree_origin(tree, node, at->a) == tree_origin(tree, node, at->b) ? DOUBLING_OWN : DOUBLING_MET;
}

/* The sum reads a word that another thread writes concurrently, or that nothing had written, or it does not
 * grow. */
static bool is_faulty(const Reduction *reduction, const ReductionLevel *level, const ReductionBox *box) {
    if (!box->adds) return false;
    for (int t = 0; t < box->term_count; t++) {
        const ReductionTerm *term = &level->terms[box->first_term + t];
        if (term->writer >= 0 && !term->is_silent) return true;
    }
    return box->unwritten >= 0 || (box->node != FOLD_NONE && reduction_is_stuck(reduction, box->node));
}

/* The first sum of one thread's own inputs that does not grow although something is added. */
static Opening first_stuck(Reduction *reduction, int index) {
    const ReductionLevel *chain = reduction_chain(reduction, index, 0);
    for (int i = 1; chain && i < chain->box_count; i++)
        if (reduction_is_stuck(reduction, chain->boxes[i].node)) return (Opening){chain->boxes[i].step, 0};
    return NO_OPENING;
}

/* The first wrong sum. */
static Opening first_fault(Reduction *reduction, Tree *tree) {
    const TreePath *path = tree->final_count ? tree_path(tree, tree->final[0]) : NULL;
    Opening doubled = NO_OPENING;
    for (int index = 0; index < reduction_level_count(reduction); index++) {
        bool is_inputs = reduction_level_kind(reduction, index) == TREE_INPUTS;
        Opening stuck = is_inputs ? first_stuck(reduction, index) : NO_OPENING;
        if (stuck.step >= 0) return stuck;
        const ReductionLevel *level = folding_level(reduction, index);
        for (int i = 0; level && i < level->box_count; i++) {
            const ReductionBox *box = &level->boxes[i];
            Doubling doubling = box->adds ? doubling_of(tree, path, box->node) : DOUBLING_NONE;
            Opening here = {box->step, box->thread};
            if (is_faulty(reduction, level, box) || doubling == DOUBLING_MET) return here;
            if (doubling == DOUBLING_OWN && doubled.step < 0) doubled = here;
        }
    }
    return doubled;
}

/* The access that ended the block's run: its step is the last one, which other warps may share. */
static Opening trapped(const StepIndex *index) {
    const Trap *trap = index->trap;
    if (!trap) return NO_OPENING;
    int lane = trap->lanes ? __builtin_ctz(trap->lanes) : 0;
    return (Opening){index->steps->step_count - 1, trap->warp < 0 ? -1 : trap->warp * WARP_LANES + lane};
}

/* The traced block with the first fault; a fault that ended the run precedes others. If no block has one, the
 * block in view. */
static int faulty_block(const View *view, const Scene *scene) {
    const Trace *trace = scene->traced.trace;
    const Trap *trap = scene_fatal_trap(scene);
    if (!trap && trace->trap_count) trap = &trace->traps[0];
    for (int i = 0; trap && i < scene->traced.block_count; i++)
        if (scene->traced.blocks[i].launch == trap->launch &&
            trace_block_linear(scene->traced.blocks[i].block) == scene_trap_block(scene, trap))
            return i;
    return view->place.block;
}

void view_open(View *view, const Scene *scene) {
    view->place.block = faulty_block(view, scene);
    const Steps *steps = view_steps(view, scene);
    if (!steps || !steps->step_count) return;
    Reduction *reduction = reduction_shown(view, scene);
    const StepIndex *index = scene_step_index(scene, view->place.block);
    const Beats *beats = scene_beats(scene, view->place.block);
    Opening opening = trapped(index);
    if (opening.step < 0 && reduction) opening = first_fault(reduction, scene_tree(scene, view->place.block));
    int conflict = index->conflict_from[0];
    bool conflicts = opening.step < 0 && conflict < steps->step_count;
    if (opening.step < 0) opening = conflicts ? (Opening){conflict, -1} : first_addition(reduction);
    if (opening.step < 0) opening.step = beats->count ? beats->step[0] : 0;
    ShownPicture *picture =
        view->display.picture == SHOW_GRID ? &view->display.behind_grid : &view->display.picture;
    *picture = reduction && !conflicts ? SHOW_REDUCTION : SHOW_INSTRUCTION;
    if (opening.thread >= 0) {
        view->selection.warp = opening.thread / WARP_LANES;
        view->selection.lane = opening.thread % WARP_LANES;
    }
    view_go_to_step(view, scene, opening.step);
}
