#include "ask/ask.h"
#include "tui/scene/scene.h"

#include "base/language.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void compare_with(void *tree, const Folds *folds, const Steps *steps) {
    Tree *other = tree_new(folds, steps);
    if (other) tree_compare(tree, other);
    tree_free(other);
}

static void compare_blocks_of_session(const Scene *scene, int block, Tree *tree) {
    session_visit_other_folds(scene->questions.session, block, compare_with, tree);
}

static SceneSass sass_of_session(Session *session, int launch) {
    SceneSass sass = {.is_live = session_sass_is_live(session, launch)};
    sass.kernel = session_sass(session, launch, &sass.why);
    sass.compared = session_compared_sass(session, launch);
    return sass;
}

/* The screen stands still meanwhile: a large kernel is left to --sass. */
static void assemble_of_session(Session *session, int launch) {
    session_assemble_sass(session, launch, 2);
}

static SceneVerdict verdict_of(Session *session) {
    const CatalogRow *row = session_row(session);
    const ExpectResult *result = session_result(session);
    bool trapped = false;
    for (int i = 0; i < session_trace(session)->trap_count; i++)
        trapped |= !trap_kind_is_note(session_trace(session)->traps[i].kind);
    bool wrong = trapped || (result && !result->correct);
    if (wrong && row && row->group == CATALOG_BUG && !session_is_edited(session))
        return SCENE_WRONG_ON_PURPOSE;
    if (trapped) return SCENE_TRAPPED;
    if (session_is_partial(session)) return SCENE_COUNTING;
    if (!result) return SCENE_NOT_CHECKED;
    if (!result->correct) return SCENE_WRONG;
    return row && result->verdict && result->absolute_error != 0 ? SCENE_OFF : SCENE_RIGHT;
}

Scene *scene_new(Session *session) {
    Scene *scene = memory_new(sizeof *scene);
    const CatalogRow *row = session_row(session);
    const char *what_if = session_spec(session)->what_if.label;
    /* what the catalogue says of a kernel need not be true of a changed copy */
    const CatalogRow *as_ships = session_is_edited(session) ? NULL : row;
    const CatalogRun *run = session_run(session);
    const ExpectResult *result = session_result(session);
    *scene = (Scene){
        .identity = {.kernel = session_name(session),
                     .title = as_ships && row->title ? tr(row->title) : "",
                     .captured = session_is_captured(session),
                     .level = session_backend(session),
                     .dtype = run ? plan_type_name(run->dtype) : "",
                     .op = run ? run->op : "",
                     .type = run ? run->dtype : PTX_NO_TYPE,
                     .n = session_n(session),
                     .story = what_if                  ? what_if
                              : as_ships && row->story ? tr(row->story)
                                                       : "",
                     .watch = as_ships && row->watch && !what_if ? tr(row->watch) : "",
                     .row = row,
                     .is_edited = session_is_edited(session),
                     .run = run,
                     .arguments = session_arguments(session),
                     .reads_arguments = session_reads_arguments(session),
                     .options = session_spec(session)},
        .outcome = {.verdict = verdict_of(session),
                    .result = result ? result->result_text : "",
                    .expected = result ? result->expected_text : "",
                    .word = row || !result ? NULL : result->verdict,
                    .off = result ? result->absolute_error : 0,
                    .counting = session_is_partial(session)},
        .traced = {.trace = session_trace(session), .block_count = session_block_count(session)},
        .questions = {.folds = session_folds,
                      .compare_blocks = compare_blocks_of_session,
                      .source_line = session_source_line,
                      .source_line_count = session_source_line_count,
                      .ptx_line = session_ptx_line,
                      .registers = session_register,
                      .progress = session_progress,
                      .buffer_address = session_buffer_address,
                      .grid = session_grid,
                      .warps = session_warps,
                      .sass = sass_of_session,
                      .assemble = assemble_of_session,
                      .session = session},
        .borrowed = {.hazards = ask_verdict(session),
                     .hazards_note = tr("no race search has run"),
                     .measured = session_measured(session),
                     .recorded = session_recorded(session),
                     .uncounted = session_uncounted(session)},
    };
    scene->traced.blocks = memory_new((size_t)scene->traced.block_count * sizeof *scene->traced.blocks);
    scene->traced.step_indexes = memory_new((size_t)scene->traced.block_count * sizeof(StepIndex *));
    scene->traced.trees = memory_new((size_t)scene->traced.block_count * sizeof(Tree *));
    scene->traced.reductions = memory_new((size_t)scene->traced.block_count * sizeof(Reduction *));
    scene->traced.beats = memory_new((size_t)scene->traced.block_count * sizeof(Beats *));
    scene->traced.paths = memory_new((size_t)scene->traced.block_count * sizeof(Paths *));
    scene->traced.mbarriers = memory_new((size_t)scene->traced.block_count * sizeof(MbarrierHistory *));
    for (int i = 0; i < scene->traced.block_count; i++) scene->traced.blocks[i] = *session_block(session, i);
    return scene;
}

void scene_free(Scene *scene) {
    if (!scene) return;
    for (int i = 0; i < scene->traced.block_count; i++) step_index_free(scene->traced.step_indexes[i]);
    for (int i = 0; i < scene->traced.block_count; i++) {
        beats_free(scene->traced.beats[i]);
        paths_free(scene->traced.paths[i]);
        mbarrier_history_free(scene->traced.mbarriers[i]);
        reduction_free(scene->traced.reductions[i]);
        tree_free(scene->traced.trees[i]);
    }
    free(scene->traced.beats);
    free(scene->traced.paths);
    free(scene->traced.mbarriers);
    free(scene->traced.reductions);
    free(scene->traced.trees);
    free(scene->traced.step_indexes);
    free(scene->traced.blocks);
    free(scene);
}

const Trap *scene_fatal_trap(const Scene *scene) {
    for (int i = 0; i < scene->traced.trace->trap_count; i++)
        if (trap_kind_is_fatal(scene->traced.trace->traps[i].kind)) return &scene->traced.trace->traps[i];
    return NULL;
}

uint32_t scene_trap_block(const Scene *scene, const Trap *trap) {
    const uint32_t *grid = scene->traced.trace->launches[trap->launch]->grid;
    return (trap->block[2] * grid[1] + trap->block[1]) * grid[0] + trap->block[0];
}

bool scene_can_replay(const Scene *scene, int block) {
    return trace_block_event_count(scene->traced.blocks[block].block) <= SCENE_MOST_EVENTS;
}

/* Whether the trap is of this block. */
static const Trap *trap_of_block(const Scene *scene, int block) {
    const Trap *trap = scene_fatal_trap(scene);
    const SessionBlock *of = &scene->traced.blocks[block];
    bool here =
        trap && trap->launch == of->launch && scene_trap_block(scene, trap) == trace_block_linear(of->block);
    return here ? trap : NULL;
}

StepIndex *scene_step_index(const Scene *scene, int block) {
    if (!scene->traced.step_indexes[block])
        scene->traced.step_indexes[block] =
            step_index_new(scene->traced.blocks[block].steps, trap_of_block(scene, block));
    return scene->traced.step_indexes[block];
}

const Folds *scene_folds(const Scene *scene, int block) {
    if (!scene->questions.folds || !scene_can_replay(scene, block)) return NULL;
    return scene->questions.folds(scene->questions.session, block);
}

Tree *scene_tree(const Scene *scene, int block) {
    if (!scene->traced.trees) return NULL;
    if (scene->traced.trees[block]) return scene->traced.trees[block];
    const Folds *folds = scene_folds(scene, block);
    Tree *tree = folds ? tree_new(folds, scene->traced.blocks[block].steps) : NULL;
    if (tree && scene->questions.compare_blocks) scene->questions.compare_blocks(scene, block, tree);
    scene->traced.trees[block] = tree;
    return tree;
}

bool scene_print_too_large(const Scene *scene, int block, char *out, size_t bytes) {
    const TraceBlock *of = scene->traced.blocks[block].block;
    bool can_replay = scene_can_replay(scene, block);
    if (!scene->questions.folds || scene_tree(scene, block) || (can_replay && !scene_folds(scene, block)))
        return false;
    if (can_replay)
        snprintf(out, bytes, tr("block %u folds more than %d values"), trace_block_linear(of), FOLD_LIMIT);
    else
        snprintf(out, bytes, tr("block %u has %d events, more than %d"), trace_block_linear(of),
                 trace_block_event_count(of), SCENE_MOST_EVENTS);
    return true;
}

Reduction *scene_reduction(const Scene *scene, int block) {
    Tree *tree = scene->traced.reductions ? scene_tree(scene, block) : NULL;
    if (!tree || !tree->level_count) return NULL;
    if (!scene->traced.reductions[block])
        scene->traced.reductions[block] =
            reduction_new(tree, scene_step_index(scene, block), scene->identity.type);
    return scene->traced.reductions[block];
}

Beats *scene_beats(const Scene *scene, int block) {
    if (!scene->traced.beats[block]) scene->traced.beats[block] = beats_new(scene_step_index(scene, block));
    return scene->traced.beats[block];
}

const Paths *scene_paths(const Scene *scene, int block) {
    if (!scene->traced.paths[block])
        scene->traced.paths[block] =
            paths_build(scene_launch(scene, block), scene->traced.blocks[block].block);
    return scene->traced.paths[block];
}

const MbarrierState *scene_mbarriers(const Scene *scene, int block, int event) {
    MbarrierHistory **history = &scene->traced.mbarriers[block];
    if (!*history)
        *history = mbarrier_history_new(scene_launch(scene, block), scene->traced.blocks[block].block);
    return mbarrier_history_at(*history, event);
}

static const char *line_of_scene(const void *scene, const char *file, int line) {
    return scene_source_line(scene, file, line);
}

bool scene_branch_rows(const Scene *scene, int block, int split, BranchRows *out) {
    if (split < 0) return false;
    const Paths *paths = scene_paths(scene, block);
    const PtxProgram *program = scene_launch(scene, block)->program;
    branch_rows_of(paths, program, split, out);
    branch_rows_describe(paths, program, &(BranchSource){line_of_scene, scene}, out);
    return true;
}

/* The turn after all events of the step; -1: unknown. */
static double progress_after(const Scene *scene, int block, const Step *step) {
    double most = -1;
    if (!scene_can_replay(scene, block)) return most;
    for (int i = 0; scene->questions.progress && i < step->count; i++) {
        double here = scene->questions.progress(scene->questions.session, block,
                                                scene->traced.blocks[block].steps->events[step->first + i]);
        if (here > most) most = here;
    }
    return most;
}

static double place_in_intervals(const Steps *steps, int step) {
    int interval = steps->steps[step].interval_step, begin = steps->interval_begin[interval];
    double inside = (double)(step + 1 - begin) / (steps->interval_begin[interval + 1] - begin);
    return (interval + inside) / steps->interval_step_count;
}

const double *scene_progress(const Scene *scene, int block) {
    StepIndex *step_index = scene_step_index(scene, block);
    const Steps *steps = scene->traced.blocks[block].steps;
    if (step_index->progress) return step_index->progress;
    double so_far = 0, *progress = memory_new(((size_t)steps->step_count + 1) * sizeof *progress);
    for (int i = 0; i < steps->step_count; i++) {
        double here = progress_after(scene, block, &steps->steps[i]);
        if (here < 0) here = place_in_intervals(steps, i);
        if (here > so_far) so_far = here;
        progress[i] = so_far;
    }
    return step_index->progress = progress;
}

const TraceLaunch *scene_launch(const Scene *scene, int block) {
    return scene->traced.trace->launches[scene->traced.blocks[block].launch];
}

const PtxCode *scene_code(const Scene *scene, int block, int pc) {
    const PtxProgram *program = scene_launch(scene, block)->program;
    return pc >= 0 && pc < program->code_count ? &program->code[pc] : NULL;
}

SceneSass scene_sass(const Scene *scene, int block) {
    if (!scene->questions.sass) return (SceneSass){.kernel = NULL};
    return scene->questions.sass(scene->questions.session, scene->traced.blocks[block].launch);
}

SceneSass scene_assembled_sass(const Scene *scene, int block) {
    const SceneQuestions *questions = &scene->questions;
    if (questions->sass && questions->assemble)
        questions->assemble(questions->session, scene->traced.blocks[block].launch);
    return scene_sass(scene, block);
}

const char *scene_source_line(const Scene *scene, const char *file, int line) {
    return scene->questions.source_line(scene->questions.session, file, line);
}

int scene_source_line_count(const Scene *scene, const char *file) {
    return scene->questions.source_line_count(scene->questions.session, file);
}

const char *scene_ptx_line(const Scene *scene, int block, int pc) {
    return scene->questions.ptx_line(scene->questions.session, scene->traced.blocks[block].launch, pc);
}

/* Itanium names contain identifiers as <length><identifier>; the last one at the end of the name is the
 * variable's own. */
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

const char *scene_machine_name(const char *machine) {
    return strncmp(machine, "NVIDIA ", 7) == 0 ? machine + 7 : machine;
}

bool scene_text_holds(const char *text, const char *part) {
    size_t length = strlen(part);
    for (; *text; text++)
        if (!strncasecmp(text, part, length)) return true;
    return length == 0;
}
