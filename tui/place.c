#include "place.h"

#include <string.h>

/* The same launch, and of its traced blocks the same one, else the first; without the launch: the last. */
static int same_view(const Scene *from, int view, const Scene *to) {
    const SessionView *wanted = &from->views[view];
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

/* How often the line of this step was begun up to here, this time included. */
static int visits(const Scene *scene, int view, int step) {
    const Steps *steps = scene->views[view].steps;
    PtxSourceLine line = line_of_step(scene, view, step);
    int count = 0;
    for (int group = 0; group <= steps->steps[step].line_step; group++)
        count += same_line(line_of_step(scene, view, steps->line_begin[group]), line);
    return count;
}

/* The step of that visit, as far into the line; -1: there is none. */
static int find_visit(const Scene *scene, int view, PtxSourceLine line, int visit, int into) {
    const Steps *steps = scene->views[view].steps;
    for (int group = 0; group < steps->line_step_count; group++) {
        int begin = steps->line_begin[group], length = steps->line_begin[group + 1] - begin;
        if (!same_line(line_of_step(scene, view, begin), line) || --visit) continue;
        return begin + (into < length ? into : length - 1);
    }
    return -1;
}

static int find_progress(const Scene *scene, int view, double wanted) {
    const double *progress = scene_progress(scene, view);
    int step = 0, last = scene->views[view].steps->step_count - 1;
    while (step < last && progress[step] < wanted) step++;
    return step;
}

/* Nowhere stays nowhere. */
static Place find_again(Place place, const Scene *from, const Scene *to) {
    const Place nowhere = {0};
    if (!place.number || place.view >= from->view_count || !to->view_count) return nowhere;
    const Steps *steps = from->views[place.view].steps;
    int view = same_view(from, place.view, to), step = place.number - 1;
    if (step >= steps->step_count || !to->views[view].steps->step_count) return nowhere;
    int into = step - steps->line_begin[steps->steps[step].line_step];
    int found =
        find_visit(to, view, line_of_step(from, place.view, step), visits(from, place.view, step), into);
    if (found < 0) found = find_progress(to, view, scene_progress(from, place.view)[step]);
    return (Place){view, found + 1};
}

void place_keep(View *view, const Scene *from, const Scene *to) {
    Place here = find_again((Place){view->view, view->step + 1}, from, to);
    int wavefront = view->wavefront;
    view->back = find_again(view->back, from, to);
    for (int i = 0; i < MARK_COUNT; i++) view->marks[i] = find_again(view->marks[i], from, to);
    view->view = here.view;
    view_go_to_step(view, to, here.number - 1);
    if (wavefront < view_wavefronts(view, to)) view->wavefront = wavefront;
}
