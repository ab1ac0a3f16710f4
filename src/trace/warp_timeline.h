/* Warp timeline: when each warp of one multiprocessor waited, and for what, as a GPU measured it
 * (instrument/wait_probe.h). The warps pane draws it, files keep it (warp_file.h).
 *
 * Times are cycles of the multiprocessor's clock since the first warp of the launch started there. */
#ifndef TRACE_WARP_TIMELINE_H
#define TRACE_WARP_TIMELINE_H

#include "base/memory.h"
#include "ptx/program.h"
#include "trace/timeline_run.h"

#include <stdbool.h>
#include <stdint.h>

/* What a warp does in a cycle. A wait that is not recorded, and a warp that is ready but not chosen, count as
 * work. */
typedef enum WarpActivity {
    WARP_WORKS,
    WARP_WAITS_GLOBAL,  /* for a value from global memory (or from a generic address) */
    WARP_WAITS_ATOMIC,  /* for an atomic's result */
    WARP_WAITS_BARRIER, /* of a block or cluster */
    WARP_WAITS_FENCE,   /* until writes are visible */
    WARP_WAITS_COPY,    /* for an asynchronous copy, an mbarrier, an earlier grid */
    WARP_WAITS_OTHERS,  /* in a loop that reads until another thread has written */
    WARP_WAITS_SHARED,  /* for a value from shared memory or of a shuffle */
    WARP_PASSES_LINE,   /* no wait: it comes to the first instruction of a source line; one cycle long, which
                           * counts as work in all sums */
    WARP_STATES
} WarpActivity;

enum {
    WARP_SCHEDULERS = 4,
    WARP_MOST_LAUNCHES = 64,
    WARP_MOST_WAITS = 1 << 22,
    WARP_MOST_LINES = 1 << 14,
    WARP_MOST_CYCLES = INT32_MAX /* a second, about */
};

typedef struct WarpSite {
    WarpActivity state;
    int launch;
    int pc;   /* the instruction that waits */
    int load; /* pc of the load or atomic whose value it needs; -1: none */
    int line; /* of the source, of the load or else of the instruction; 0: not known */
} WarpSite;

/* The instruction that says what is waited for, and its place in the source; NULL: the timeline is of other
 * code. */
static inline int warp_site_pc(const WarpSite *site) {
    return site->load >= 0 ? site->load : site->pc;
}
const PtxSourceLine *warp_site_place(const WarpSite *site, const PtxProgram *program);

typedef struct WarpWait {
    uint32_t begin, end;
    uint16_t site;
    uint8_t lane; /* the lowest that waited */
} WarpWait;

typedef struct WarpLine { /* a warp's life */
    int launch;
    uint64_t block;      /* linear */
    uint32_t warp, slot; /* of the block; of the multiprocessor: its scheduler is slot % WARP_SCHEDULERS */
    uint32_t begin, end;
    uint32_t came;   /* when the first warp of its block began */
    WarpWait *waits; /* [wait_count] by begin; those of paths of a split warp may overlap */
    int wait_count;
} WarpLine;

typedef struct WarpLaunch {
    const char *entry; /* its readable name */
    uint32_t grid[3], block[3];
    uint32_t begin, end; /* of its warps on this multiprocessor; equal: it had none */
} WarpLaunch;

/* Cycles of all schedulers of the multiprocessor together, within a span. */
typedef struct WarpSummary {
    double cycles;               /* WARP_SCHEDULERS * the span */
    double ready;                /* a resident warp does not wait */
    double waiting[WARP_STATES]; /* all resident warps wait; shared out by what they wait for */
    double empty;                /* no warp is resident */
} WarpSummary;

typedef struct WarpTimeline {
    TimelineRun of;
    uint32_t multiprocessor;
    uint32_t resident;  /* blocks that a multiprocessor was made to hold; 0: as many as it can */
    bool is_order_only; /* so many probes that lengths of waits mean nothing */
    uint64_t dropped;   /* waits without room */
    /* Microseconds of the whole run: as it is, with probes of which none is active, with the multiprocessor
     * traced. */
    double plain_us, untraced_us, traced_us;
    double plain_life, traced_life; /* cycles of a block there, median; NaN: not known */
    WarpLaunch *launches;
    int launch_count;
    WarpSite *sites;
    int site_count;
    WarpLine *lines; /* [line_count] by launch; blocks in the order in which they came; warps by number */
    int line_count;
    uint32_t cycles;     /* the end of the last warp; at most WARP_MOST_CYCLES */
    WarpSummary summary; /* of all cycles */
    Arena arena;         /* everything above */
} WarpTimeline;

/* Zero except these arrays. */
WarpTimeline *warp_timeline_new(int launches, int sites, int lines);
void warp_timeline_free(WarpTimeline *timeline); /* NULL is fine */
/* Sorts lines and waits, cuts waits to the warp's life, and sets the spans of launches, `came` and
 * `summary`. */
void warp_timeline_finish(WarpTimeline *timeline);

static inline bool warp_line_same_block(const WarpLine *a, const WarpLine *b) {
    return a->launch == b->launch && a->block == b->block;
}

/* The state of a warp over its life. Waits overlap where a warp is split: the one that began last decides,
 * and at its end the warp works, since that path goes on. Calls `take` for stretches of one state, one behind
 * the other, from begin to end of the line; `site` -1: it works. */
typedef void WarpStretch(void *context, uint32_t begin, uint32_t end, int site);
void warp_line_stretches(const WarpLine *line, WarpStretch *take, void *context);

enum { WARP_CELL_WORKS = -1, WARP_CELL_ABSENT = -2 };
typedef struct WarpCell { /* a column of a picture */
    int site;             /* of the wait that takes most of it; or one of these */
    uint32_t length;      /* cycles that this wait takes of it */
} WarpCell;
/* cells[columns] of `each` cycles from `begin` on. */
void warp_line_cells(const WarpLine *line, uint32_t begin, uint32_t each, WarpCell *cells, int columns);
/* A wait of less than half of the column: drawn as a tick. */
static inline bool warp_cell_is_tick(const WarpCell *cell, uint32_t each) {
    return cell->length < each - cell->length;
}

/* Within [begin, end). */
WarpSummary warp_summary(const WarpTimeline *timeline, uint32_t begin, uint32_t end);

/* Of all warps' lives: cycles in each state; their sum is the sum of lives. */
void warp_state_cycles(const WarpTimeline *timeline, double cycles[WARP_STATES]);

/* The launch, or a traced block, takes more than half as long again: the probes change what they measure. */
bool warp_timeline_is_perturbed(const WarpTimeline *timeline);

/* "global", "barrier", ...: what is waited for; "works". */
const char *warp_state_name(WarpActivity state);
char warp_state_letter(WarpActivity state);

#endif
