#include "tui/view/keep_place.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The same launch, and of its traced blocks the same one, else the first; without the launch: the last. */
static int same_view(const Scene *from, int view, const Scene *to) {
    const SessionBlock *wanted = &from->views[view];
    int found = 0;
    for (int i = 0; i < to->view_count && to->views[i].launch <= wanted->launch; i++) {
        bool is_new_launch = to->views[i].launch != to->views[found].launch;
        bool is_same_block = trace_block_linear(to->views[i].block) == trace_block_linear(wanted->block);
        if (is_new_launch || is_same_block) found = i;
    }
    return found;
}

static PtxSourceLine line_of_step(const Scene *scene, int view, int step) {
    return metrics_line_of(scene_launch(scene, view)->program, scene->views[view].steps->steps[step].pc);
}

static bool same_line(PtxSourceLine a, PtxSourceLine b) {
    return a.line == b.line && a.file && b.file && !strcmp(a.file, b.file);
}

/* Code without line information has one group of steps, but lines of PTX. */
static bool begins_visit(const Scene *scene, int view, int step) {
    const Step *steps = scene->views[view].steps->steps;
    return step == 0 || steps[step].line_step != steps[step - 1].line_step ||
           !same_line(line_of_step(scene, view, step), line_of_step(scene, view, step - 1));
}

/* How often the line of this step was begun up to here, this time included; `into`: steps since. */
static int visits(const Scene *scene, int view, int step, int *into) {
    PtxSourceLine line = line_of_step(scene, view, step);
    int count = 0;
    for (int i = 0; i <= step; i++) {
        if (!begins_visit(scene, view, i) || !same_line(line_of_step(scene, view, i), line)) continue;
        *into = step - i;
        count++;
    }
    return count;
}

/* The step of that visit, as far into the line; -1: there is none. */
static int find_visit(const Scene *scene, int view, PtxSourceLine line, int visit, int into) {
    int count = scene->views[view].steps->step_count;
    for (int step = 0; step < count; step++) {
        if (!begins_visit(scene, view, step) || !same_line(line_of_step(scene, view, step), line) || --visit)
            continue;
        while (into-- > 0 && step + 1 < count && !begins_visit(scene, view, step + 1)) step++;
        return step;
    }
    return -1;
}

/* The source file was edited: the nearest line that reads the same, else the same number. */
static PtxSourceLine find_source_line(const Scene *from, const Scene *to, PtxSourceLine line) {
    const char *text = from->source_line(from->context, line.file, line.line);
    int count = text ? to->source_line_count(to->context, line.file) : 0;
    for (int distance = 0; distance <= count; distance++)
        for (int side = 0; side < 2; side++) {
            int number = side ? line.line + distance : line.line - distance;
            const char *other = to->source_line(to->context, line.file, number);
            if (other && !strcmp(text, other)) return (PtxSourceLine){line.file, number};
        }
    return line;
}

/* The same of PTX without line information: the nearest instruction that reads the same. */
static PtxSourceLine find_ptx_line(const Scene *from, ViewPosition place, const Scene *to, int to_view,
                                   PtxSourceLine line) {
    const PtxProgram *program = scene_launch(to, to_view)->program;
    int pc = from->views[place.view].steps->steps[place.number - 1].pc, nearest = INT_MAX;
    const char *text = from->ptx_line(from->context, from->views[place.view].launch, pc);
    PtxSourceLine found = line;
    for (int i = 0; text && i < program->code_count; i++) {
        PtxSourceLine here = metrics_line_of(program, i);
        const char *other = to->ptx_line(to->context, to->views[to_view].launch, i);
        if (!other || abs(here.line - line.line) >= nearest || strcmp(text, other) != 0) continue;
        nearest = abs(here.line - line.line);
        found = here;
    }
    return found;
}

static PtxSourceLine find_line(const Scene *from, ViewPosition place, const Scene *to, int to_view) {
    PtxSourceLine line = line_of_step(from, place.view, place.number - 1);
    const PtxCode *code =
        scene_code(from, place.view, from->views[place.view].steps->steps[place.number - 1].pc);
    bool has_source = code && code->line.file;
    return has_source ? find_source_line(from, to, line) : find_ptx_line(from, place, to, to_view, line);
}

static int find_progress(const Scene *scene, int view, double wanted) {
    const double *progress = scene_progress(scene, view);
    int step = 0, last = scene->views[view].steps->step_count - 1;
    while (step < last && progress[step] < wanted) step++;
    return step;
}

/* Nowhere stays nowhere. */
static ViewPosition find_again(ViewPosition place, const Scene *from, const Scene *to) {
    const ViewPosition nowhere = {0};
    if (!place.number || place.view >= from->view_count || !to->view_count) return nowhere;
    const Steps *steps = from->views[place.view].steps;
    int view = same_view(from, place.view, to), step = place.number - 1;
    if (step >= steps->step_count || !to->views[view].steps->step_count) return nowhere;
    int into = 0, visit = visits(from, place.view, step, &into);
    PtxSourceLine line = find_line(from, place, to, view);
    int found = find_visit(to, view, line, visit, into);
    if (found < 0) found = find_progress(to, view, scene_progress(from, place.view)[step]);
    return (ViewPosition){view, found + 1};
}

void keep_place(View *view, const Scene *from, const Scene *to) {
    ViewPosition here = find_again((ViewPosition){view->view, view->step + 1}, from, to);
    int wavefront = view->wavefront;
    view->back = find_again(view->back, from, to);
    for (int i = 0; i < MARK_COUNT; i++) view->marks[i] = find_again(view->marks[i], from, to);
    view->view = here.view;
    view_go_to_step(view, to, here.number - 1);
    if (wavefront < view_wavefronts(view, to)) view->wavefront = wavefront;
}
