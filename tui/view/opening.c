/* The place where a run opens: a file at its first problem; a kernel of the catalogue at its fault, else
 * where its lesson is seen; else at a bank conflict, at an addition. */
#include "tui/view/view.h"

#include <string.h>
#include <limits.h>
#include <stdlib.h>

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

/* The step of the first sum that threads make of each other's values. */
static Opening first_addition(Reduction *reduction) {
    if (!reduction) return NO_OPENING;
    if (!reduction_fold_count(reduction)) {
        /* For a thread that adds up its own inputs: the first sum, where all inputs are still visible. */
        for (int index = 0; index < reduction_level_count(reduction); index++) {
            const ReductionLevel *chain = reduction_chain(reduction, index, 0);
            if (chain) return (Opening){chain->boxes[1].step, 0};
        }
        return NO_OPENING;
    }
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

/* NULL: there is none. */
static const Finding *first_problem(const Scene *scene) {
    int first = findings_first(scene->borrowed.hazards);
    return first < 0 ? NULL : &scene->borrowed.hazards->items[first];
}

static bool is_file(const Scene *scene) {
    return !*scene->identity.story;
}

/* The access of the first problem, in the block in view. */
static Opening problem_place(const View *view, const Scene *scene) {
    const Finding *first = first_problem(scene);
    if (!first || !finding_has_place(first)) return NO_OPENING;
    const FindingAccess *access = &first->access;
    ViewPosition place = view_finding_place(scene, first, access);
    if (!place.number || place.block != view->place.block) return NO_OPENING;
    int lane = access->lane >= 0 ? access->lane : access->lanes ? __builtin_ctz(access->lanes) : 0;
    return (Opening){place.number - 1, access->warp < 0 ? -1 : access->warp * WARP_LANES + lane};
}

/* Where the catalogue says that the kernel's lesson is seen. */
static Opening lesson(const View *view, const Scene *scene) {
    const char *opens = scene->identity.row ? scene->identity.row->opens : NULL;
    if (!opens) return NO_OPENING;
    size_t kind = strcspn(opens, " ");
    const char *text = opens + kind + (opens[kind] == ' ');
    const TraceLaunch *launch = scene_launch(scene, view->place.block);
    const StepIndex *index = scene_step_index(scene, view->place.block);
    for (int step = 0; step < index->steps->step_count; step++) {
        const char *name = trace_kind_text((TraceKind)index->step[step].kind);
        if (strlen(name) != kind || strncmp(name, opens, kind) != 0) continue;
        const PtxSourceLine *line = &launch->program->code[index->steps->steps[step].pc].line;
        const char *source = line->file ? scene_source_line(scene, line->file, line->line) : NULL;
        if (source && strstr(source, text)) return (Opening){step, -1};
    }
    return NO_OPENING;
}

/* The access that ended the block's run: its step is the last one, which other warps may share. */
static Opening trapped(const StepIndex *index) {
    const Trap *trap = index->trap;
    if (!trap) return NO_OPENING;
    int lane = trap->lanes ? __builtin_ctz(trap->lanes) : 0;
    return (Opening){index->steps->step_count - 1, trap->warp < 0 ? -1 : trap->warp * WARP_LANES + lane};
}

/* The traced block with a file's first problem, else with the first fault; a fault that ended the run
 * precedes others. If no block has one, the block in view. */
static int faulty_block(const View *view, const Scene *scene) {
    const Finding *first = is_file(scene) ? first_problem(scene) : NULL;
    ViewPosition place = first ? view_finding_place(scene, first, &first->access) : (ViewPosition){0};
    if (place.number) return place.block;
    const Trace *trace = scene->traced.trace;
    const Trap *trap = scene_fatal_trap(scene);
    if (!trap && trace->trap_count) trap = &trace->traps[0];
    for (int i = 0; trap && i < scene->traced.block_count; i++)
        if (scene->traced.blocks[i].launch == trap->launch &&
            trace_block_linear(scene->traced.blocks[i].block) == scene_trap_block(scene, trap))
            return i;
    return view->place.block;
}

/* Until the user picks a side pane. */
static void choose_side(View *view, const Scene *scene) {
    if (view->display.side > VIEW_SIDE_TIMINGS || !scene->traced.block_count) return;
    SceneSass sass = scene_sass(scene, view->place.block);
    bool is_sampled = sass.kernel && sass_sums(sass.kernel).all_samples;
    view->display.side = is_sampled ? VIEW_SIDE_STALLS : VIEW_SIDE_TIMINGS;
}

/* Of problems without a place, a wrong result is seen where a sum becomes wrong, and idle warps and barriers
 * at the first addition, which shows who waits. */
static Opening place_of_file(const View *view, const Scene *scene, Reduction *reduction) {
    const Finding *first = first_problem(scene);
    if (!first || finding_has_place(first)) return first ? problem_place(view, scene) : NO_OPENING;
    return first->severity == SEVERITY_ERROR ? NO_OPENING : first_addition(reduction);
}

/* `is_of_step`: the picture of this step shows it, not that of the reduction. */
static Opening place_to_open(const View *view, const Scene *scene, Reduction *reduction, bool *is_of_step) {
    const StepIndex *index = scene_step_index(scene, view->place.block);
    const Finding *first = first_problem(scene);
    Opening opening = is_file(scene) ? place_of_file(view, scene, reduction) : NO_OPENING;
    *is_of_step = opening.step >= 0 && first->severity == SEVERITY_SLOW && finding_has_place(first);
    if (opening.step < 0) opening = trapped(index);
    if (opening.step < 0 && reduction) opening = first_fault(reduction, scene_tree(scene, view->place.block));
    if (opening.step >= 0) return opening;
    *is_of_step = true;
    opening = lesson(view, scene);
    if (opening.step >= 0) return opening;
    int conflict = index->conflict_from[0];
    if (conflict < index->steps->step_count) return (Opening){conflict, -1};
    *is_of_step = false;
    opening = first_addition(reduction);
    if (opening.step >= 0) return opening;
    opening = problem_place(view, scene);
    *is_of_step = opening.step >= 0;
    const Beats *beats = scene_beats(scene, view->place.block);
    return *is_of_step ? opening : (Opening){beats->count ? beats->step[0] : 0, -1};
}

void view_open(View *view, const Scene *scene) {
    view->place.block = faulty_block(view, scene);
    choose_side(view, scene);
    const Steps *steps = view_steps(view, scene);
    if (!steps || !steps->step_count) return;
    Reduction *reduction = reduction_shown(view, scene);
    bool is_of_step = false;
    Opening opening = place_to_open(view, scene, reduction, &is_of_step);
    ShownPicture *picture =
        picture_is_of_machine(view->display.picture) ? &view->display.behind_grid : &view->display.picture;
    *picture = reduction && !is_of_step ? SHOW_REDUCTION : SHOW_INSTRUCTION;
    if (opening.thread >= 0) {
        view->selection.warp = opening.thread / WARP_LANES;
        view->selection.lane = opening.thread % WARP_LANES;
    }
    view_go_to_step(view, scene, opening.step);
    view->is_opening = true;
}

void view_open_again(View *view, const Scene *scene) {
    if (view->is_opening && is_file(scene)) view_open(view, scene);
}

/* ---- the same place in another run --------------------------------------------------------------------- */

/* The same launch and the same traced block, else the launch's first; without the launch: the last. */
static int same_block(const Scene *from, int block, const Scene *to) {
    const SessionBlock *wanted = &from->traced.blocks[block];
    int found = 0;
    for (int i = 0; i < to->traced.block_count && to->traced.blocks[i].launch <= wanted->launch; i++) {
        bool is_new_launch = to->traced.blocks[i].launch != to->traced.blocks[found].launch;
        bool is_same_block =
            trace_block_linear(to->traced.blocks[i].block) == trace_block_linear(wanted->block);
        if (is_new_launch || is_same_block) found = i;
    }
    return found;
}

static PtxSourceLine line_of_step(const Scene *scene, int block, int step) {
    return metrics_line_of(scene_launch(scene, block)->program,
                           scene->traced.blocks[block].steps->steps[step].pc);
}

static bool same_line(PtxSourceLine a, PtxSourceLine b) {
    return a.line == b.line && a.file && b.file && !strcmp(a.file, b.file);
}

/* Code without line information has one line step, but lines of PTX. */
static bool begins_visit(const Scene *scene, int block, int step) {
    const Step *steps = scene->traced.blocks[block].steps->steps;
    return step == 0 || steps[step].line_step != steps[step - 1].line_step ||
           !same_line(line_of_step(scene, block, step), line_of_step(scene, block, step - 1));
}

/* How often the line of this step was entered so far, this visit included; `into`: steps since then. */
static int visits(const Scene *scene, int block, int step, int *into) {
    PtxSourceLine line = line_of_step(scene, block, step);
    int count = 0;
    for (int i = 0; i <= step; i++) {
        if (!begins_visit(scene, block, i) || !same_line(line_of_step(scene, block, i), line)) continue;
        *into = step - i;
        count++;
    }
    return count;
}

/* The step of that visit, equally far into the line; -1: none. */
static int find_visit(const Scene *scene, int block, PtxSourceLine line, int visit, int into) {
    int count = scene->traced.blocks[block].steps->step_count;
    for (int step = 0; step < count; step++) {
        if (!begins_visit(scene, block, step) || !same_line(line_of_step(scene, block, step), line) ||
            --visit)
            continue;
        while (into-- > 0 && step + 1 < count && !begins_visit(scene, block, step + 1)) step++;
        return step;
    }
    return -1;
}

static const char *first_file(const PtxProgram *program) {
    for (int i = 0; i < program->code_count; i++)
        if (metrics_line_of(program, i).file) return metrics_line_of(program, i).file;
    return NULL;
}

/* The file of that name in the line table of `to`. A copy of the kernel's own file, the first of both tables,
 * may have another name. */
static const char *find_file(const PtxProgram *from, const char *file, const PtxProgram *to) {
    for (int i = 0; i < to->code_count; i++) {
        const char *name = metrics_line_of(to, i).file;
        if (name && !strcmp(name, file)) return name;
    }
    const char *own = first_file(from);
    if (own && !strcmp(own, file) && first_file(to)) return first_file(to);
    for (int i = 0; i < to->code_count; i++) {
        const char *name = metrics_line_of(to, i).file;
        if (name && !strcmp(scene_file_name(name), scene_file_name(file))) return name;
    }
    return file;
}

static PtxSourceLine find_line(const Scene *from, ViewPosition place, const Scene *to, int to_block) {
    PtxSourceLine line = line_of_step(from, place.block, place.number - 1);
    const PtxCode *code =
        scene_code(from, place.block, from->traced.blocks[place.block].steps->steps[place.number - 1].pc);
    bool has_source = code && code->line.file;
    if (!has_source) {
        /* The same for PTX without line information: the nearest instruction with the same text. */
        const PtxProgram *program = scene_launch(to, to_block)->program;
        int pc = from->traced.blocks[place.block].steps->steps[place.number - 1].pc, nearest = INT_MAX;
        const char *text = scene_ptx_line(from, place.block, pc);
        PtxSourceLine found = line;
        for (int i = 0; text && i < program->code_count; i++) {
            PtxSourceLine here = metrics_line_of(program, i);
            const char *other = scene_ptx_line(to, to_block, i);
            if (!other || abs(here.line - line.line) >= nearest || strcmp(text, other) != 0) continue;
            nearest = abs(here.line - line.line);
            found = here;
        }
        return found;
    }
    const char *file =
        find_file(scene_launch(from, place.block)->program, line.file, scene_launch(to, to_block)->program);
    /* The source file was edited: the nearest line of `file` with the same text, else the same number. */
    const char *text = scene_source_line(from, line.file, line.line);
    line.file = file;
    if (!text) return line;
    int count = scene_source_line_count(to, line.file);
    for (int distance = 0; distance <= count; distance++)
        for (int sign = -1; sign <= 1; sign += 2) {
            int number = line.line + sign * distance;
            const char *other = scene_source_line(to, line.file, number);
            if (other && !strcmp(text, other)) return (PtxSourceLine){line.file, number};
        }
    return line;
}

static int find_progress(const Scene *scene, int block, double wanted) {
    const double *progress = scene_progress(scene, block);
    int step = 0, last = scene->traced.blocks[block].steps->step_count - 1;
    while (step < last && progress[step] < wanted) step++;
    return step;
}

/* No position stays no position. */
static ViewPosition find_again(ViewPosition place, const Scene *from, const Scene *to) {
    const ViewPosition nowhere = {0};
    if (!place.number || place.block >= from->traced.block_count || !to->traced.block_count) return nowhere;
    const Steps *steps = from->traced.blocks[place.block].steps;
    int block = same_block(from, place.block, to), step = place.number - 1;
    if (step >= steps->step_count || !to->traced.blocks[block].steps->step_count) return nowhere;
    int into = 0, visit = visits(from, place.block, step, &into);
    PtxSourceLine line = find_line(from, place, to, block);
    int found = find_visit(to, block, line, visit, into);
    if (found < 0) found = find_progress(to, block, scene_progress(from, place.block)[step]);
    return (ViewPosition){block, found + 1};
}

void keep_place(View *view, const Scene *from, const Scene *to) {
    ViewPlace *place = &view->place;
    ViewPosition here = find_again((ViewPosition){place->block, place->step + 1}, from, to);
    int wavefront = place->wavefront;
    place->back = find_again(place->back, from, to);
    for (int i = 0; i < MARK_COUNT; i++)
        view->selection.marks[i] = find_again(view->selection.marks[i], from, to);
    place->block = here.block;
    view_go_to_step(view, to, here.number - 1);
    if (wavefront < view_wavefronts(view, to)) place->wavefront = wavefront;
}
