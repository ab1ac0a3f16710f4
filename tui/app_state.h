/* App state: what is on the screen and what is under way, and what keys, clicks and workers change of it. The loop, frames
 * and scripts are app.c; private to these two. */
#ifndef TUI_APP_STATE_H
#define TUI_APP_STATE_H

#include "tui/app.h"
#include "tui/comparison.h"
#include "tui/draw/cast.h"
#include "tui/measuring.h"
#include "tui/run_slot.h"
#include "tui/rung_counting.h"

typedef enum Purpose {                   /* what a session is opened for */
                       PURPOSE_KERNEL,   /* another kernel, in place of the active run */
                       PURPOSE_BESIDE,   /* to be compared with the active run */
                       PURPOSE_EDIT,     /* the active run of the changed file, at the same place */
                       PURPOSE_SETTINGS, /* the active run with other settings, at the same place */
                       PURPOSE_BLOCK     /* the active run with another block traced, at the same place */
} Purpose;

typedef struct App {
    RunSlot slots[2]; /* as in `comparison` */
    Comparison comparison;
    const Session *first; /* the caller's */
    bool ascii;
    bool watch;  /* files that change are re-run without a key */
    bool waits;  /* keys come from a script: sessions are opened while it waits */
    bool failed; /* the script opens a kernel that cannot be opened: `error` */
    Error error;
    SessionLoader *loader; /* NULL: none under way */
    Purpose purpose;
    int target; /* index of the slot it is for */
    bool cancelled;
    Cast *cast;                        /* NULL: nothing is recorded */
    double cast_seconds;               /* its begin on the clock; of a script: since then */
    char what[64];                     /* what is being opened, as messages call it */
    Measuring *measuring;              /* NULL: the timings have not been on the screen yet */
    Measurements live, recorded;       /* results of `measuring`; shipped timings */
    char machine[BENCH_MACHINE_BYTES]; /* whose recordings; "": the default one's */
    RungCounting rungs;                /* those that the ladder screen has shown */
    ViewRung rung;                     /* `beside` is to be opened as soon as `kernel` is; "": nothing */
    bool has_recorded;                 /* it was looked for */
    bool wants_cpu;                    /* the user asked for timings: this machine's CPU is timed, too */
    SessionLoader **abandoned;         /* cancelled; they end by themselves */
    int abandoned_count, abandoned_capacity;
    Rectangle dragged; /* the timeline in which the mouse was pressed; no rows: elsewhere */
    double look_due;   /* seconds: when files are looked at */
    double due;        /* seconds: when the next frame is to be shown while playing */
    int motion;        /* frame of the wavefront that is played */
} App;

double app_seconds(void); /* on a clock that never goes back */
void app_init(App *app, Session *session, const AppStart *start);
void app_done(App *app);
View *app_view(App *app);
/* Frees cancelled loaders that have ended; `wait`: all of them. */
void app_finish_abandoned(App *app, bool wait);

/* Counts the whole grid of a run of which only a first look is there. */
void app_count(App *app, int index);
/* Take what workers have finished. False: nothing. */
bool app_finish_counting(App *app, int index);
bool app_finish_loading(App *app);
bool app_take_timings(App *app);
/* The session replaces a run, or is compared with it. */
void app_show(App *app, Session *session, Purpose purpose, int index);

/* Looks whether files that are watched have changed; repeats the runs of those that have. */
void app_check_files(App *app);
void app_rerun_stale(App *app);

ViewAnswer app_press(App *app, Key key);
/* What a key or a click asks of the app. */
ViewAnswer app_answer(App *app, ViewAnswer answer);
/* Gives panes what they are going to show. Returns whether timings are on the screen. */
bool app_provide(App *app, int columns, int rows);
/* Measures while the timings are on the screen, for the run that has the keys. */
void app_measure(App *app, bool is_seen);

#endif
