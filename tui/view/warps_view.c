#include "tui/view/warps_view.h"

#include "base/language.h"
#include <stdio.h>
#include <string.h>

enum { LEAST_SPAN = 32 };

const SessionWarps *warps_view_of(const Scene *scene) {
    return scene->questions.warps ? scene->questions.warps(scene->questions.session) : NULL;
}

const WarpTimeline *warps_view_timeline(const Scene *scene, const View *view, int *index) {
    const SessionWarps *warps = warps_view_of(scene);
    int at = view->display.warps.timeline;
    if (!warps || !warps->count) return NULL;
    if (at >= warps->count) at = 0;
    if (index) *index = at;
    return warps->timelines[at];
}

/* ---- sites and instructions ---------------------------------------------------------------------------- */

static const PtxProgram *program_of(const Scene *scene, int launch) {
    const Trace *trace = scene->traced.trace;
    return launch < trace->launch_count ? trace->launches[launch]->program : NULL;
}

/* The site's place in the code of this run; NULL: the timeline is of other code. */
static const PtxSourceLine *place_of(const Scene *scene, const WarpSite *site) {
    return warp_site_place(site, program_of(scene, site->launch));
}

const char *warps_view_source(const Scene *scene, const WarpSite *site) {
    const PtxSourceLine *place = place_of(scene, site);
    return place && place->file && site->line ? scene_source_line(scene, place->file, site->line) : NULL;
}

typedef enum Likeness { UNLIKE, SAME_LINE, SAME_INSTRUCTION } Likeness;

static Likeness compare(const Scene *scene, const WarpSite *site, int launch, int pc) {
    const PtxProgram *program = program_of(scene, launch);
    if (site->launch != launch || !program || pc < 0 || pc >= program->code_count) return UNLIKE;
    const PtxSourceLine *line = &program->code[pc].line, *place = place_of(scene, site);
    bool same_line = site->line && line->line == site->line;
    if (!place) return same_line ? SAME_LINE : UNLIKE;
    if (pc == site->pc || pc == site->load) return SAME_INSTRUCTION;
    return same_line && line->file && place->file && !strcmp(line->file, place->file) ? SAME_LINE : UNLIKE;
}

static int launch_of(const Scene *scene, const View *view) {
    return scene->traced.blocks[view->place.block].launch;
}

bool warps_view_is_here(const StepContext *context, const WarpSite *site) {
    return compare(context->scene, site, launch_of(context->scene, context->view), context->step->pc) !=
           UNLIKE;
}

/* ---- the cursor ---------------------------------------------------------------------------------------- */

static ViewPosition position(const View *view) {
    return (ViewPosition){view->place.block, view->place.step + 1};
}

static bool is_selected(const View *view, const WarpTimeline *timeline) {
    const ViewWarps *warps = &view->display.warps;
    ViewPosition now = position(view);
    return warps->at.number == now.number && warps->at.block == now.block &&
           warps->line < timeline->line_count && warps->wait < timeline->lines[warps->line].wait_count;
}

static int find_line(const WarpTimeline *timeline, int launch, uint64_t block, int warp) {
    for (int i = 0; i < timeline->line_count; i++) {
        const WarpLine *line = &timeline->lines[i];
        if (line->launch == launch && line->block == block && (warp < 0 || (int)line->warp == warp)) return i;
    }
    return -1;
}

/* The wait of the step's visit of this instruction; -1: none. */
static int follow_wait(const StepContext *context, const WarpTimeline *timeline, const WarpLine *line) {
    Likeness best = UNLIKE;
    int site = -1;
    for (int i = 0; i < timeline->site_count; i++) {
        Likeness likeness = compare(context->scene, &timeline->sites[i],
                                    launch_of(context->scene, context->view), context->step->pc);
        if (likeness > best) best = likeness, site = i;
    }
    if (site < 0) return -1;
    /* How often the warp executed this instruction before the step. */
    const StepIndex *index = context->step_index;
    int left = 0;
    for (int i = index->warp_begin[context->event.warp]; i < index->warp_begin[context->event.warp + 1];
         i++) {
        int step = context->steps->step_of_event[index->events[i]];
        if (step >= context->view->place.step) break;
        left += context->steps->steps[step].pc == context->step->pc;
    }
    for (int i = 0; i < line->wait_count; i++)
        if (line->waits[i].site == site && left-- == 0) return i;
    return -1;
}

WarpsCursor warps_view_cursor(const StepContext *context) {
    const WarpTimeline *timeline = warps_view_timeline(context->scene, context->view, NULL);
    const ViewWarps *warps = &context->view->display.warps;
    if (!timeline || !timeline->line_count) return (WarpsCursor){0, -1};
    if (is_selected(context->view, timeline)) return (WarpsCursor){warps->line, warps->wait};
    /* The step's warp, in the step's block if the timeline has it, else in the block that was selected last,
     * or in the first of the launch. */
    const View *view = context->view;
    int launch = launch_of(context->scene, view), last = view->display.warps.line, warp = context->event.warp;
    uint64_t own = trace_block_linear(context->scene->traced.blocks[view->place.block].block);
    int found = find_line(timeline, launch, own, warp);
    if (last >= timeline->line_count) last = 0;
    for (int i = 0; found < 0 && timeline->lines[last].launch != launch && i < timeline->line_count; i++)
        if (timeline->lines[i].launch == launch) last = i;
    if (found < 0)
        found = find_line(timeline, timeline->lines[last].launch, timeline->lines[last].block, warp);
    int line = found < 0 ? last : found;
    return (WarpsCursor){line, follow_wait(context, timeline, &timeline->lines[line])};
}

/* ---- the window ---------------------------------------------------------------------------------------- */

static WarpsWindow life_of_block(const WarpTimeline *timeline, int line) {
    uint32_t begin = timeline->lines[line].came, end = begin;
    for (int i = 0; i < timeline->line_count; i++)
        if (warp_line_same_block(&timeline->lines[i], &timeline->lines[line]) && timeline->lines[i].end > end)
            end = timeline->lines[i].end;
    return (WarpsWindow){begin, end > begin ? end - begin : 1};
}

static WarpsWindow fit(const WarpTimeline *timeline, WarpsWindow window) {
    uint32_t least = timeline->cycles < LEAST_SPAN ? timeline->cycles : LEAST_SPAN;
    if (window.span < least) window.span = least;
    if (window.span > timeline->cycles) window.span = timeline->cycles;
    if (window.begin > timeline->cycles - window.span) window.begin = timeline->cycles - window.span;
    if (!window.span) window.span = 1;
    return window;
}

WarpsWindow warps_view_window(const View *view, const WarpTimeline *timeline, int line) {
    const ViewWarps *warps = &view->display.warps;
    return warps->span ? fit(timeline, (WarpsWindow){warps->begin, warps->span})
                       : life_of_block(timeline, line);
}

/* Shows this many cycles, with `cycle` in the middle. */
static void centre(View *view, const WarpTimeline *timeline, uint32_t cycle, uint32_t span) {
    WarpsWindow window = fit(timeline, (WarpsWindow){cycle > span / 2 ? cycle - span / 2 : 0, span});
    view->display.warps.begin = window.begin;
    view->display.warps.span = window.span;
}

static void bring_into_window(View *view, const WarpTimeline *timeline, int line, const WarpWait *wait) {
    WarpsWindow window = warps_view_window(view, timeline, line);
    bool is_outside = wait->begin < window.begin || wait->begin >= window.begin + window.span;
    if (view->display.warps.span && is_outside) centre(view, timeline, wait->begin, window.span);
}

/* ---- selecting ----------------------------------------------------------------------------------------- */

/* A traced block for this line: the very block, else the one on the screen or another of the same launch; -1:
 * none. */
static int block_for(const Scene *scene, const View *view, const WarpLine *line) {
    int other = launch_of(scene, view) == line->launch ? view->place.block : -1;
    for (int i = 0; i < scene->traced.block_count; i++) {
        const SessionBlock *block = &scene->traced.blocks[i];
        if (block->launch != line->launch) continue;
        if (trace_block_linear(block->block) == line->block) return i;
        if (other < 0) other = i;
    }
    return other;
}

/* The step in which the warp executes what the wait is for; -1: it has none. */
static int step_for(const Scene *scene, const WarpTimeline *timeline, const WarpLine *line, int wait,
                    int block) {
    const StepIndex *index = scene_step_index(scene, block);
    const WarpSite *site = &timeline->sites[line->waits[wait].site];
    int left = 0, found = -1, pc = -1;
    bool is_line = site->state == WARP_PASSES_LINE; /* its first instruction need not be a step */
    if (!is_line && place_of(scene, site)) pc = warp_site_pc(site);
    for (int i = 0; i < wait; i++) left += line->waits[i].site == line->waits[wait].site;
    if ((int)line->warp >= index->warp_count) return -1;
    for (int i = index->warp_begin[line->warp]; i < index->warp_begin[line->warp + 1] && left >= 0; i++) {
        int step = index->steps->step_of_event[index->events[i]], at = index->steps->steps[step].pc;
        if (pc < 0 && compare(scene, site, line->launch, at) >= SAME_LINE) pc = at;
        if (at != pc) continue;
        found = step;
        left--;
    }
    return found;
}

void warps_view_select(View *view, const Scene *scene, int line, int wait) {
    const WarpTimeline *timeline = warps_view_timeline(scene, view, NULL);
    ViewWarps *warps = &view->display.warps;
    if (!timeline || line < 0 || line >= timeline->line_count) return;
    const WarpLine *of = &timeline->lines[line];
    int block = block_for(scene, view, of), step = -1;
    if (block >= 0) {
        if (wait >= 0) step = step_for(scene, timeline, of, wait, block);
        if (step >= 0 || (int)of->warp < scene_step_index(scene, block)->warp_count)
            view->selection.warp = (int)of->warp;
        if (step >= 0 && (block != view->place.block || step != view->place.step)) {
            ViewPosition before = position(view);
            view->place.block = block;
            view_go_to_step(view, scene, step);
            view->place.back = before;
        }
    }
    warps->line = line;
    warps->wait = wait;
    warps->at = position(view);
    if (wait >= 0) bring_into_window(view, timeline, line, &of->waits[wait]);
    if (wait >= 0 && step < 0) view_say(view, tr("this run has no step for that wait"));
}

void warps_view_choose(View *view, const Scene *scene, int timeline) {
    const SessionWarps *of = warps_view_of(scene);
    int count = of ? of->count : 0;
    ViewWarps *warps = &view->display.warps;
    if (count < 2) view_say(view, tr("only this number of blocks at once was measured"));
    if (count < 2) return;
    *warps = (ViewWarps){.timeline = (timeline % count + count) % count};
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

bool warps_view_has_keys(const View *view, const Scene *scene) {
    const WarpTimeline *timeline;
    bool has_focus = view->display.picture == SHOW_WARPS && view->display.focus == FOCUS_PICTURE;
    if (!scene || !has_focus) return false;
    timeline = warps_view_timeline(scene, view, NULL);
    return timeline && timeline->line_count > 0;
}

/* The wait that is at this cycle, or the nearest before it; 0 if it is before all; -1: the warp has none. */
static int wait_near(const WarpLine *line, uint32_t cycle) {
    int found = line->wait_count ? 0 : -1;
    for (int i = 0; i < line->wait_count && line->waits[i].begin <= cycle; i++) found = i;
    return found;
}

static void move_wait(View *view, const Scene *scene, const WarpTimeline *timeline, WarpsCursor cursor,
                      int by) {
    const WarpLine *line = &timeline->lines[cursor.line];
    uint32_t begin = warps_view_window(view, timeline, cursor.line).begin;
    int wait = cursor.wait < 0 ? wait_near(line, begin) : cursor.wait + by;
    if (wait >= line->wait_count) wait = line->wait_count - 1;
    if (wait < 0) wait = line->wait_count ? 0 : -1;
    warps_view_select(view, scene, cursor.line, wait);
}

/* The same visit of the same instruction; a warp that did not wait then: the wait at the same time. */
static int wait_like(const WarpLine *from, int wait, const WarpLine *to) {
    int left = 0;
    for (int i = 0; i < wait; i++) left += from->waits[i].site == from->waits[wait].site;
    for (int i = 0; i < to->wait_count; i++)
        if (to->waits[i].site == from->waits[wait].site && left-- == 0) return i;
    return wait_near(to, from->waits[wait].begin);
}

static void move_line(View *view, const Scene *scene, const WarpTimeline *timeline, WarpsCursor cursor,
                      int to) {
    const WarpLine *from = &timeline->lines[cursor.line];
    if (to < 0) to = 0;
    if (to >= timeline->line_count) to = timeline->line_count - 1;
    int wait = cursor.wait < 0 ? -1 : wait_like(from, cursor.wait, &timeline->lines[to]);
    warps_view_select(view, scene, to, wait);
}

/* The same warp of the block that came before or after; the first or last warp if there is none. */
static int line_in_next_block(const WarpTimeline *timeline, int line, int by) {
    int to = line;
    while (to >= 0 && to < timeline->line_count &&
           (warp_line_same_block(&timeline->lines[to], &timeline->lines[line]) ||
            timeline->lines[to].warp != timeline->lines[line].warp))
        to += by;
    return to;
}

/* Around the cursor's wait, if it has one on the screen. */
static void zoom(View *view, const WarpTimeline *timeline, WarpsCursor cursor, bool is_in) {
    WarpsWindow window = warps_view_window(view, timeline, cursor.line);
    uint32_t middle = window.begin + window.span / 2;
    const WarpLine *line = &timeline->lines[cursor.line];
    if (cursor.wait >= 0 && line->waits[cursor.wait].begin - window.begin < window.span)
        middle = line->waits[cursor.wait].begin;
    centre(view, timeline, middle, is_in ? window.span / 2 : window.span * 2);
}

static void pan(View *view, const WarpTimeline *timeline, int line, bool is_right) {
    WarpsWindow window = warps_view_window(view, timeline, line);
    uint32_t middle = window.begin + window.span / 2, half = window.span / 2;
    centre(view, timeline, is_right ? middle + half : middle > half ? middle - half : 0, window.span);
}

ViewAnswer warps_view_press(View *view, const Scene *scene, KeyPress press, int number) {
    StepContext context;
    if (!step_context_init(&context, scene, view)) return VIEW_IGNORED;
    const WarpTimeline *timeline = warps_view_timeline(scene, view, NULL);
    WarpsCursor cursor = warps_view_cursor(&context);
    int direction, repeats = number > 0 ? number : 1;
    WarpsKey key = keys_of_warps(press.key, &direction);
    int by = direction * repeats;
    switch (key) {
    case WARPS_KEY_WAIT:
        move_wait(view, scene, timeline, cursor, by);
        break;
    case WARPS_KEY_LINE:
        move_line(view, scene, timeline, cursor, cursor.line + by);
        break;
    case WARPS_KEY_BLOCK:
        move_line(view, scene, timeline, cursor, line_in_next_block(timeline, cursor.line, direction));
        break;
    case WARPS_KEY_STEP:
        move_wait(view, scene, timeline, cursor, 0);
        break;
    case WARPS_KEY_ZOOM:
        zoom(view, timeline, cursor, direction > 0);
        break;
    case WARPS_KEY_PAN:
        pan(view, timeline, cursor.line, direction > 0);
        break;
    case WARPS_KEY_RESIDENCY:
        warps_view_choose(view, scene, view->display.warps.timeline + direction);
        break;
    default:
        return VIEW_IGNORED;
    }
    return VIEW_CHANGED;
}
