#include "tui/view/keep_place.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
