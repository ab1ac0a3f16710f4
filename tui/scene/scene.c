#include "tui/scene/scene.h"

#include "base/memory.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static const char *line_of_session(const void *session, const char *file, int line) {
    return session_source_line(session, file, line);
}
static int line_count_of_session(const void *session, const char *file) {
    return session_source_line_count(session, file);
}
static const char *ptx_of_session(const void *session, int launch, int pc) {
    return session_ptx_line(session, launch, pc);
}

static const Folds *folds_of_session(const void *session, int view) {
    return session_folds(session, view);
}

static bool registers_of_session(const void *session, int view, int event, int warp, const char *name,
                                 uint64_t bits[32], uint32_t weight[32], int32_t producer[32]) {
    return session_register(session, view, event, warp, name, bits, weight, producer);
}

static void compare_with(void *tree, const Folds *folds, const Steps *steps) {
    Tree *other = tree_new(folds, steps);
    if (other) tree_compare(tree, other);
    tree_free(other);
}

static void compare_blocks_of_session(const Scene *scene, int view, Tree *tree) {
    session_visit_other_folds(scene->context, view, compare_with, tree);
}

static double progress_of_session(const void *session, int view, int event) {
    return session_progress(session, view, event);
}

static SceneVerdict verdict_of(const Session *session) {
    const CatalogRow *row = session_row(session);
    const CatalogResult *result = session_result(session);
    bool wrong = session_trace(session)->trap_count || (result && !result->correct);
    if (wrong && row && row->group == CATALOG_BUG) return SCENE_WRONG_ON_PURPOSE;
    if (session_trace(session)->trap_count) return SCENE_TRAPPED;
    if (session_is_partial(session)) return SCENE_COUNTING;
    if (!result) return SCENE_NOT_CHECKED;
    return result->correct ? SCENE_RIGHT : SCENE_WRONG;
}

Scene *scene_new(const Session *session) {
    Scene *scene = memory_new(sizeof *scene);
    const CatalogRow *row = session_row(session);
    const CatalogRun *run = session_run(session);
    const CatalogResult *result = session_result(session);
    *scene = (Scene){
        .kernel = session_name(session),
        .title = row && row->title ? row->title : "",
        .captured = session_is_captured(session),
        .level = session_backend(session),
        .dtype = run ? plan_type_name(run->dtype) : "",
        .op = run ? run->op : "",
        .type = run ? run->dtype : PTX_NO_TYPE,
        .n = session_n(session),
        .watch = row && row->watch ? row->watch : "",
        .verdict = verdict_of(session),
        .hazards_note = "hazards are not looked for",
        .counting = session_is_partial(session),
        .measured = session_measured(session),
        .recorded = session_recorded(session),
        .uncounted = session_uncounted(session),
        .result = result ? result->result_text : "",
        .expected = result ? result->expected_text : "",
        .trace = session_trace(session),
        .view_count = session_block_count(session),
        .source_line = line_of_session,
        .source_line_count = line_count_of_session,
        .ptx_line = ptx_of_session,
        .folds = folds_of_session,
        .compare_blocks = compare_blocks_of_session,
        .registers = registers_of_session,
        .progress = progress_of_session,
        .row = row,
        .run = run,
        .arguments = session_arguments(session),
        .options = session_options(session),
        .context = session,
    };
    scene->views = memory_new((size_t)scene->view_count * sizeof *scene->views);
    scene->step_indexes = memory_new((size_t)scene->view_count * sizeof(StepIndex *));
    scene->trees = memory_new((size_t)scene->view_count * sizeof(Tree *));
    scene->reductions = memory_new((size_t)scene->view_count * sizeof(Reduction *));
    for (int i = 0; i < scene->view_count; i++) scene->views[i] = *session_block(session, i);
    return scene;
}

void scene_free(Scene *scene) {
    if (!scene) return;
    for (int i = 0; i < scene->view_count; i++) step_index_free(scene->step_indexes[i]);
    for (int i = 0; scene->reductions && i < scene->view_count; i++) reduction_free(scene->reductions[i]);
    free(scene->reductions);
    for (int i = 0; i < scene->view_count; i++) tree_free(scene->trees[i]);
    free(scene->trees);
    free(scene->step_indexes);
    free(scene->views);
    free(scene);
}

const Trap *scene_fatal_trap(const Scene *scene) {
    for (int i = 0; i < scene->trace->trap_count; i++)
        if (scene->trace->traps[i].kind != TRAP_UNINITIALIZED) return &scene->trace->traps[i];
    return NULL;
}

uint32_t scene_trap_block(const Scene *scene, const Trap *trap) {
    const uint32_t *grid = scene->trace->launches[trap->launch]->grid;
    return (trap->block[2] * grid[1] + trap->block[1]) * grid[0] + trap->block[0];
}

bool scene_can_replay(const Scene *scene, int view) {
    return trace_block_event_count(scene->views[view].block) <= SCENE_MOST_EVENTS;
}

/* Of the view's own block. */
static const Trap *trap_of_view(const Scene *scene, int view) {
    const Trap *trap = scene_fatal_trap(scene);
    const SessionBlock *of = &scene->views[view];
    bool here =
        trap && trap->launch == of->launch && scene_trap_block(scene, trap) == trace_block_linear(of->block);
    return here ? trap : NULL;
}

StepIndex *scene_step_index(const Scene *scene, int view) {
    if (!scene->step_indexes[view])
        scene->step_indexes[view] = step_index_new(scene->views[view].steps, trap_of_view(scene, view));
    return scene->step_indexes[view];
}

Tree *scene_tree(const Scene *scene, int view) {
    if (!scene->trees || !scene->folds || !scene_can_replay(scene, view)) return NULL;
    if (scene->trees[view]) return scene->trees[view];
    const Folds *folds = scene->folds(scene->context, view);
    Tree *tree = folds ? tree_new(folds, scene->views[view].steps) : NULL;
    if (tree && scene->compare_blocks) scene->compare_blocks(scene, view, tree);
    scene->trees[view] = tree;
    return tree;
}

Reduction *scene_reduction(const Scene *scene, int view) {
    Tree *tree = scene_tree(scene, view);
    if (!tree || !tree->level_count) return NULL;
    if (!scene->reductions[view])
        scene->reductions[view] = reduction_new(tree, scene_step_index(scene, view), scene->type);
    return scene->reductions[view];
}

/* After all events of the step; -1: not known. */
static double progress_after(const Scene *scene, int view, const Step *step) {
    double most = -1;
    if (!scene_can_replay(scene, view)) return most;
    for (int i = 0; scene->progress && i < step->count; i++) {
        double here =
            scene->progress(scene->context, view, scene->views[view].steps->events[step->first + i]);
        if (here > most) most = here;
    }
    return most;
}

static double place_in_intervals(const Steps *steps, int step) {
    int interval = steps->steps[step].interval_step, begin = steps->interval_begin[interval];
    double inside = (double)(step + 1 - begin) / (steps->interval_begin[interval + 1] - begin);
    return (interval + inside) / steps->interval_step_count;
}

const double *scene_progress(const Scene *scene, int view) {
    StepIndex *step_index = scene_step_index(scene, view);
    const Steps *steps = scene->views[view].steps;
    if (step_index->progress) return step_index->progress;
    double so_far = 0, *progress = memory_new(((size_t)steps->step_count + 1) * sizeof *progress);
    for (int i = 0; i < steps->step_count; i++) {
        double here = progress_after(scene, view, &steps->steps[i]);
        if (here < 0) here = place_in_intervals(steps, i);
        if (here > so_far) so_far = here;
        progress[i] = so_far;
    }
    return step_index->progress = progress;
}

const TraceLaunch *scene_launch(const Scene *scene, int view) {
    return scene->trace->launches[scene->views[view].launch];
}

const PtxCode *scene_code(const Scene *scene, int view, int pc) {
    const PtxProgram *program = scene_launch(scene, view)->program;
    return pc >= 0 && pc < program->code_count ? &program->code[pc] : NULL;
}

/* Itanium names hold identifiers as <length><identifier>; the last one that ends the name is the variable's
 * own. */
void scene_short_name(const char *symbol, char *out, size_t bytes) {
    const char *best = symbol;
    size_t length = strlen(symbol);
    if (symbol[0] == '_' && symbol[1] == 'Z')
        for (const char *at = symbol; *at; at++) {
            if (!isdigit((unsigned char)*at) || (at > symbol && isdigit((unsigned char)at[-1]))) continue;
            char *end;
            unsigned long count = strtoul(at, &end, 10);
            if (count > 0 && count == length - (size_t)(end - symbol)) best = end;
        }
    snprintf(out, bytes, "%s", best);
}

const char *scene_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool scene_text_holds(const char *text, const char *part) {
    size_t length = strlen(part);
    for (; *text; text++)
        if (!strncasecmp(text, part, length)) return true;
    return length == 0;
}
