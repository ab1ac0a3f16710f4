/* The state of the interface while it runs. Private to tui/app*.c: app.c is the loop, app_press.c answers
 * keys, app_play.c plays, app_script.c starts, and does without a terminal, app_keys.c presses the keys of
 * scripts, app_canvas.c draws, app_walk.c gathers the frames of a page, app_html.c and app_handout.c write
 * what is taken home, app_lecture.c goes from stop to stop, app_runs.c opens other sessions, app_edit.c
 * repeats those whose files change, app_ladder.c serves the ladder screen, app_provide.c gives panes what
 * they are going to show, app_state.c has what these share. */
#ifndef TUI_APP_STATE_H
#define TUI_APP_STATE_H

#include "tui/app.h"
#include "tui/comparison.h"
#include "tui/draw/cast.h"
#include "tui/draw/svg_movie.h"
#include "tui/lecture_view.h"
#include "tui/measuring.h"
#include "tui/run_slot.h"
#include "tui/rung_counting.h"

typedef enum Purpose {                   /* what a session is opened for */
                       PURPOSE_KERNEL,   /* another kernel, in place of the active run */
                       PURPOSE_BESIDE,   /* to be compared with the active run */
                       PURPOSE_EDIT,     /* the active run of the changed file, at the same place */
                       PURPOSE_SETTINGS, /* the active run with other settings, at the same place */
                       PURPOSE_BLOCK,    /* the active run with another block traced, at the same place */
                       PURPOSE_STOP      /* the run of a lecture's stop, alone */
} Purpose;

typedef struct AppFile { /* the file of the last run of one: the menu offers its kernels */
    Arena arena;
    SessionOptions options;
    ViewFile rows; /* no entries: there was none */
} AppFile;

typedef struct App App;
struct App {
    RunSlot slots[2]; /* as in `comparison` */
    Comparison comparison;
    Session *first; /* the caller's */
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
    int signal;                        /* by which the program is to end; 0: none */
    double cast_seconds;               /* its begin on the clock; of a script: since then */
    SvgMovie *movie;                   /* NULL: no frames are gathered for a moving image */
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
    LectureView lecture;
    const LectureOffer *lectures; /* NULL: none */
    AppFile file;
    int lecture_columns, lecture_rows; /* of the screen that it was drawn on last */
    /* Of a lecture, NULL without one: a run was opened, for whatever purpose; does it take the key? */
    void (*opened)(App *app, Purpose purpose);
    bool (*takes_key)(App *app, KeyPress press);
    void (*open_lecture)(App *app); /* the one that the menu of kernels chose */
};

void app_init(App *app, Session *session, const AppStart *start);
View *app_view(App *app);
void app_say(App *app, const char *what, const char *message);
/* The menu offers the kernels of its file, if it is of one. */
void app_offer_file(App *app, Session *session);
double app_now(void); /* seconds of a clock that never goes back */

/* ---- app_press.c */
ViewAnswer app_press(App *app, Key key);
/* What a key or a click asks of the app. */
ViewAnswer app_answer(App *app, ViewAnswer answer);

/* ---- app_play.c */
/* The next frame of this wavefront, or the next wavefront; the fastest speeds show several at once. Returns the seconds
 * that it is shown. */
double app_play_frame(App *app);
/* What the user selects meanwhile is shown as it is; then comes the next wavefront. */
void app_end_motion(App *app);

/* ---- app_script.c */
/* The second run, --step, the keys of --keys; records frames of this size, 0 columns: none. */
bool app_start(App *app, const AppStart *start, int columns, int rows, bool *quit, Error *error);

/* ---- app_keys.c */
/* Presses every key of a script. Frames of this size are recorded; 0 columns: none. */
bool app_press_script(App *app, const char *script, int columns, int rows, bool *quit, Error *error);
/* The frame that a screen of this size shows now; owned by the caller. */
Canvas *app_frame_canvas(App *app, int columns, int rows);

/* ---- app_canvas.c */
/* What a lecture's panel leaves to the interface of a screen. */
void app_fit(const App *app, int *columns, int *rows);
/* A frame with the lecture's panel; owned by the caller. */
Canvas *app_canvas(App *app, const Comparison *shown, int columns, int rows);
/* The interface alone, without the hints of keys below it, for what is read without redviz; owned by the caller. */
Canvas *app_page_canvas(App *app, int columns, int rows);

/* ---- app_lecture.c */
/* At this stop, or at the last one where there are fewer. */
/* The one that the menu of kernels chose. */
void app_open_lecture(App *app);
/* The mouse on the panel: the wheel scrolls its text, a click on "PgDn next" goes on. False: it is elsewhere. */
bool app_scroll_lecture(App *app, int column, int row, int direction);
bool app_click_lecture(App *app, int column, int row);
void app_begin_lecture(App *app, const LectureRun *run, int stop);
/* Goes to a stop: its run is opened where it is not shown, then its keys are pressed. */
void app_go_to_stop(App *app, int stop);
/* A key of the stop or of its question: the lecture is not left. */
void app_press_own(App *app, Key key);

/* ---- app_runs.c */
/* A first look shows the traced blocks; meanwhile the whole grid is counted and searched for hazards. */
void app_count(App *app, int index);
bool app_finish_counting(App *app, int index);
/* The session replaces a run, or is compared with it. */
void app_show(App *app, Session *session, Purpose purpose, int index);
void app_open_at(App *app, const SessionOptions *options, Purpose purpose, const char *what, int target);
void app_open_kernel(App *app, Purpose purpose);
/* The active run beside itself, in an order of warps and blocks in which a race loses something. */
void app_open_bad_order(App *app);
/* The rung that was chosen in place of the active run, and then the one that is to stand beside it. */
void app_show_rung(App *app);
void app_rerun(App *app);
void app_trace_block(App *app);
void app_leave_comparison(App *app);
void app_cancel(App *app);
/* What is being opened is not wanted any more; nothing is shown of it. */
void app_abandon_loading(App *app);
/* Shows the worker's session or its error, once it has ended. */
bool app_finish_loading(App *app);
void app_done(App *app);
void app_finish_abandoned(App *app, bool wait);

/* ---- app_edit.c */
void app_edit(App *app);
void app_check_files(App *app);
/* Repeats the runs whose files have changed. */
void app_rerun_stale(App *app);

/* ---- app_ladder.c */
/* The recordings of the next machine, around. */
void app_next_machine(App *app);
bool app_shows_ladder(App *app);
void app_count_rungs(App *app);

/* ---- app_provide.c */
void app_show_timings(App *app, RunSlot *slot);
/* `ask`: searches for hazards now where no worker does. */
void app_show_hazards(App *app, int index, bool ask);
/* Gives panes what they are going to show. Returns whether timings are on the screen. */
bool app_provide(App *app, int columns, int rows);
void app_measure(App *app, bool is_seen);
bool app_take_timings(App *app);

#endif
