#include "trace/warp_timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

WarpTimeline *warp_timeline_new(int launches, int sites, int lines) {
    WarpTimeline *timeline = memory_new(sizeof *timeline);
    Arena *arena = &timeline->arena;
    timeline->launches = arena_new(arena, (size_t)launches * sizeof *timeline->launches + 1);
    timeline->sites = arena_new(arena, (size_t)sites * sizeof *timeline->sites + 1);
    timeline->lines = arena_new(arena, (size_t)lines * sizeof *timeline->lines + 1);
    timeline->of = timeline_run_unknown;
    timeline->launch_count = launches;
    timeline->site_count = sites;
    timeline->line_count = lines;
    timeline->plain_us = timeline->untraced_us = timeline->traced_us = (double)NAN;
    timeline->plain_life = timeline->traced_life = (double)NAN;
    return timeline;
}

void warp_timeline_free(WarpTimeline *timeline) {
    if (!timeline) return;
    Arena arena = timeline->arena;
    free(timeline);
    arena_done(&arena);
}

static int compare_waits(const void *a, const void *b) {
    const WarpWait *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static int compare_lines(const void *a, const void *b) {
    const WarpLine *x = a, *y = b;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    if (x->came != y->came) return x->came < y->came ? -1 : 1;
    if (x->block != y->block) return x->block < y->block ? -1 : 1;
    return (x->warp > y->warp) - (x->warp < y->warp);
}

static uint32_t within(uint32_t time, const WarpLine *line) {
    return time < line->begin ? line->begin : time > line->end ? line->end : time;
}

static void sort_lines(WarpTimeline *timeline) {
    WarpLine *lines = timeline->lines;
    int count = timeline->line_count;
    for (int i = 0; i < count; i++) lines[i].came = 0;
    qsort(lines, (size_t)count, sizeof *lines, compare_lines);
    for (int i = 0, end; i < count; i = end) {
        uint32_t came = lines[i].begin;
        for (end = i; end < count && warp_line_same_block(&lines[end], &lines[i]); end++)
            if (lines[end].begin < came) came = lines[end].begin;
        for (int k = i; k < end; k++) lines[k].came = came;
    }
    qsort(lines, (size_t)count, sizeof *lines, compare_lines);
}

void warp_timeline_finish(WarpTimeline *timeline) {
    timeline->cycles = 0;
    for (int i = 0; i < timeline->launch_count; i++)
        timeline->launches[i].begin = UINT32_MAX, timeline->launches[i].end = 0;
    for (int i = 0; i < timeline->line_count; i++) {
        WarpLine *line = &timeline->lines[i];
        WarpLaunch *launch = &timeline->launches[line->launch];
        if (line->wait_count)
            qsort(line->waits, (size_t)line->wait_count, sizeof *line->waits, compare_waits);
        for (int k = 0; k < line->wait_count; k++) {
            WarpWait *wait = &line->waits[k];
            wait->begin = within(wait->begin, line);
            wait->end = within(wait->end, line);
        }
        if (line->begin < launch->begin) launch->begin = line->begin;
        if (line->end > launch->end) launch->end = line->end;
        if (line->end > timeline->cycles) timeline->cycles = line->end;
    }
    for (int i = 0; i < timeline->launch_count; i++)
        if (timeline->launches[i].begin == UINT32_MAX) timeline->launches[i].begin = 0;
    sort_lines(timeline);
    timeline->summary = warp_summary(timeline, 0, timeline->cycles);
}

const PtxSourceLine *warp_site_place(const WarpSite *site, const PtxProgram *program) {
    int pc = warp_site_pc(site);
    bool is_there = program && pc < program->code_count && program->code[pc].line.line == site->line;
    return is_there ? &program->code[pc].line : NULL;
}

void warp_line_stretches(const WarpLine *line, WarpStretch *take, void *context) {
    uint32_t at = line->begin;
    for (int i = 0; i < line->wait_count; i++) {
        const WarpWait *wait = &line->waits[i];
        uint32_t end = wait->end;
        if (i + 1 < line->wait_count && line->waits[i + 1].begin < end) end = line->waits[i + 1].begin;
        uint32_t begin = wait->begin > at ? wait->begin : at;
        if (end <= begin) continue;
        if (begin > at) take(context, at, begin, -1);
        take(context, begin, end, wait->site);
        at = end;
    }
    if (at < line->end) take(context, at, line->end, -1);
}

/* ---- pictures ------------------------------------------------------------------------------------------ */

typedef struct Cells {
    WarpCell *cells;
    uint32_t begin, each;
    int columns;
} Cells;

static void fill_cells(void *context, uint32_t begin, uint32_t end, int site) {
    const Cells *row = context;
    uint64_t each = row->each, stop = end - row->begin;
    if (end <= row->begin) return;
    for (uint64_t at = begin > row->begin ? begin - row->begin : 0; at < stop;) {
        uint64_t column = at / each, next = (column + 1) * each, until = next < stop ? next : stop;
        uint32_t length = (uint32_t)(until - at);
        if (column >= (uint64_t)row->columns) return;
        WarpCell *cell = &row->cells[column];
        if (site < 0 && !cell->length) cell->site = WARP_CELL_WORKS;
        if (site >= 0 && length > cell->length) *cell = (WarpCell){site, length};
        at = until;
    }
}

void warp_line_cells(const WarpLine *line, uint32_t begin, uint32_t each, WarpCell *cells, int columns) {
    Cells row = {cells, begin, each, columns};
    for (int i = 0; i < columns; i++) cells[i] = (WarpCell){WARP_CELL_ABSENT, 0};
    warp_line_stretches(line, fill_cells, &row);
}

/* ---- the schedulers ------------------------------------------------------------------------------------ */

typedef struct Change { /* a warp of a scheduler comes to be in a state, or leaves it */
    uint32_t at;
    int8_t by;
    uint8_t state;
} Change;

typedef struct Changes {
    const WarpTimeline *timeline;
    Change *changes;
    int count, capacity;
} Changes;

/* That counts for the stretch: coming to a line is no wait. */
static WarpActivity state_of(const WarpTimeline *timeline, int site) {
    WarpActivity state = site < 0 ? WARP_WORKS : timeline->sites[site].state;
    return state == WARP_PASSES_LINE ? WARP_WORKS : state;
}

static void add_stretch(void *context, uint32_t begin, uint32_t end, int site) {
    Changes *all = context;
    uint8_t state = (uint8_t)state_of(all->timeline, site);
    Change in = {begin, 1, state}, out = {end, -1, state};
    array_push(all->changes, all->count, all->capacity, in);
    array_push(all->changes, all->count, all->capacity, out);
}

static int compare_changes(const void *a, const void *b) {
    const Change *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static void count_span(const int now[WARP_STATES], double span, WarpSummary *summary) {
    int waiting = 0;
    for (int state = WARP_WORKS + 1; state < WARP_STATES; state++) waiting += now[state];
    if (now[WARP_WORKS])
        summary->ready += span;
    else if (!waiting)
        summary->empty += span;
    for (int state = WARP_WORKS + 1; state < WARP_STATES && !now[WARP_WORKS] && waiting; state++)
        summary->waiting[state] += span * now[state] / waiting;
}

static void add_scheduler(const WarpTimeline *timeline, uint32_t scheduler, uint32_t begin, uint32_t end,
                          WarpSummary *summary) {
    Changes all = {.timeline = timeline};
    int now[WARP_STATES] = {0};
    uint32_t at = begin;
    for (int i = 0; i < timeline->line_count; i++)
        if (timeline->lines[i].slot % WARP_SCHEDULERS == scheduler)
            warp_line_stretches(&timeline->lines[i], add_stretch, &all);
    if (all.count) qsort(all.changes, (size_t)all.count, sizeof *all.changes, compare_changes);
    for (int i = 0; i < all.count; i++) {
        uint32_t next = all.changes[i].at < end ? all.changes[i].at : end;
        if (next > at) {
            count_span(now, next - at, summary);
            at = next;
        }
        now[all.changes[i].state] += all.changes[i].by;
    }
    if (at < end) count_span(now, end - at, summary);
    free(all.changes);
}

WarpSummary warp_summary(const WarpTimeline *timeline, uint32_t begin, uint32_t end) {
    WarpSummary summary = {.cycles = (double)WARP_SCHEDULERS * (end - begin)};
    for (uint32_t scheduler = 0; scheduler < WARP_SCHEDULERS; scheduler++)
        add_scheduler(timeline, scheduler, begin, end, &summary);
    return summary;
}

typedef struct StateSum {
    const WarpTimeline *timeline;
    double *cycles;
} StateSum;

static void sum_stretch(void *context, uint32_t begin, uint32_t end, int site) {
    const StateSum *sum = context;
    sum->cycles[state_of(sum->timeline, site)] += end - begin;
}

void warp_state_cycles(const WarpTimeline *timeline, double cycles[WARP_STATES]) {
    StateSum sum = {timeline, cycles};
    for (int state = 0; state < WARP_STATES; state++) cycles[state] = 0;
    for (int i = 0; i < timeline->line_count; i++)
        warp_line_stretches(&timeline->lines[i], sum_stretch, &sum);
}

bool warp_timeline_is_perturbed(const WarpTimeline *timeline) {
    static const double MUCH = 1.5;
    return timeline->traced_us / timeline->plain_us > MUCH ||
           timeline->traced_life / timeline->plain_life > MUCH;
}

const char *warp_state_name(WarpActivity state) {
    static const char *const names[] = {"works", "global", "atomic", "barrier", "fence",
                                        "copy",  "others", "shared", "line"};
    return names[state];
}

char warp_state_letter(WarpActivity state) {
    return "-gabfcosl"[state];
}
