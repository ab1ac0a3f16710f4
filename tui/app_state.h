/* The state of the interface while it runs. Private to tui/app*.c: app.c is the event loop, app_press.c
 * answers keys, app_keys.c plays the run and draws it, app_script.c runs scripts without a terminal,
 * app_walk.c collects the frames of a web page, app_html.c and app_handout.c write the page and the printed
 * lecture, app_lecture.c goes from stop to stop, app_plain.c speaks in lines, app_runs.c opens other
 * sessions, app_edit.c re-runs changed files and grades, app_try.c tries remedies, app_provide.c provides the
 * data that panes show, app_state.c holds what they share. */
#ifndef TUI_APP_STATE_H
#define TUI_APP_STATE_H

#include "ask/ask.h"
#include "tui/app.h"
#include "tui/comparison.h"
#include "tui/curve_counting.h"
#include "tui/draw/cast.h"
#include "tui/draw/svg.h"
#include "tui/lecture_view.h"
#include "tui/measuring.h"
#include "tui/run_slot.h"

/* Why a session is opened. */
typedef enum Purpose {
    PURPOSE_KERNEL,   /* another kernel, replaces the active run */
    PURPOSE_BESIDE,   /* to compare with the active run */
    PURPOSE_EDIT,     /* the run with a changed file or changed PTX, beside the run before */
    PURPOSE_COPY,     /* the active run from a copy of its source, at the same place; then the editor opens */
    PURPOSE_SETTINGS, /* the active run with other settings, at the same place */
    PURPOSE_BLOCK,    /* the active run with another block traced, at the same place */
    PURPOSE_STOP      /* the run of a lecture stop, alone */
} Purpose;

typedef struct AppFile { /* the file of the last run that had one: the menu offers its kernels */
    Arena arena;
    RunSpec options;
    ViewFile rows; /* no entries: no run had a file */
} AppFile;

typedef struct AppTry {  /* the remedy tried last */
    const Session *base; /* of this run; only compared */
    int finding, number;
    bool is_opening; /* the changed copy is being opened */
} AppTry;

typedef struct AppKept { /* the source with a remedy, before and after it is written */
    char *path;
    int slot;             /* of the run that it changes */
    uint32_t more_shared; /* bytes that launches need in addition */
    bool is_copy;         /* a new file, of a kernel that ships */
    char *before;
    Text source, diff;
} AppKept;

typedef struct AppEvent { /* what the layer above the interface, a lecture, is told */
    enum { APP_OPENED, APP_KEY, APP_LECTURE_CHOSEN } kind;
    Purpose purpose; /* of OPENED */
    KeyPress press;  /* of KEY */
} AppEvent;

typedef struct App App;
struct App {
    RunSlot slots[2]; /* as in `comparison` */
    Comparison comparison;
    Session *first; /* the caller owns it */
    bool ascii;
    bool watch;         /* re-run changed files without a key */
    bool waits;         /* keys come from a script, which waits until a session is open */
    bool waits_to_draw; /* frames that a slow terminal could not show in time are dropped */
    bool failed;        /* the script opens a kernel that cannot be opened: see `error` */
    Error error;
    SessionLoader *loader; /* NULL: no session is being opened */
    Purpose purpose;
    int target;                                        /* index of the slot that it is for */
    bool wants_order;                                  /* it is to be in an order that loses */
    enum { COPY_NONE, COPY_RAN, COPY_REFUSED } copied; /* what became of a copy that is to be edited */
    bool told_of_editor;                               /* how to leave it was said: it opens without asking */
    bool cancelled;
    Cast *cast;                        /* NULL: not recording */
    int signal;                        /* the signal that ends the program; 0: none */
    double cast_seconds;               /* start time on the clock; for a script, seconds since its start */
    SvgMovie *movie;                   /* NULL: no animated image is being made */
    int said_step;                     /* terminal_say() has had it, */
    const Scene *said_run;             /* of this run; NULL: none */
    int marked_line;                   /* terminal_mark() has had it, */
    const Scene *marked_run;           /* of this run; NULL: none */
    char what[64];                     /* what is being opened, as named in messages */
    Measuring *measuring;              /* NULL: the timings pane has not been shown yet */
    Measurements live, recorded;       /* results of `measuring`; shipped timings */
    char machine[BENCH_MACHINE_BYTES]; /* whose recordings to show; "": the default machine */
    RungCounting rungs;                /* the rungs that the ladder screen has shown */
    CurveCounting curves[2];           /* as `slots`: how the runs depend on their first parameters */
    ViewRung rung;                     /* `beside` is opened once `kernel` is open; "": nothing to open */
    bool has_recorded;                 /* true once the recorded timings were looked for */
    bool wants_cpu;                    /* the user asked for timings: also time this machine's CPU */
    SessionLoader **abandoned;         /* cancelled, they end by themselves */
    int abandoned_count, abandoned_capacity;
    Rectangle dragged; /* the timeline in which the mouse button was pressed; no rows: elsewhere */
    double look_due;   /* seconds: when to look at the files next */
    double due;        /* seconds: when to show the next frame while playing */
    int motion;        /* frame of the wavefront being played */
    LectureView lecture;
    Grading *grading;             /* NULL: no exercise */
    bool was_edited;              /* since then the goals are shown */
    const LectureOffer *lectures; /* NULL: none */
    const char *command;          /* that runs redviz; NULL: unknown */
    const HomeOffer *home;        /* NULL: none */
    ProgramOffer *program;        /* NULL: none */
    struct Program *
        *programs; /* of session files that were opened, until the end: their launches can be opened */
    int program_count, program_capacity;
    AppFile file;
    AppTry tried;
    AppKept kept;
    int lecture_columns, lecture_rows; /* size of the screen it was last drawn on */
    /* Hears of events, and whether it takes the key: app_lecture_hears(); NULL: there is no such layer. */
    bool (*above)(App *app, AppEvent event);
};

void app_init(App *app, Session *session, const AppStart *start);
View *app_view(App *app);
void app_say(App *app, const char *what, const char *message);
/* A question of the lecture asks about the step, so what explains it stays covered. */
bool app_is_covered(const App *app);
/* The fault and the step in sentences; nothing while they are covered. */
void app_explain(const App *app, const StepContext *context, Text *out);
/* The menu offers the kernels of this session's file, if it has one. */
void app_offer_file(App *app, Session *session);

/* ---- app_press.c */
ViewAnswer app_press(App *app, Key key);
/* Does what a key or a click asks the app to do. */
ViewAnswer app_answer(App *app, ViewAnswer answer);

/* ---- app_keys.c */
/* How long a run that plays stays at this place, in seconds. */
double app_place_seconds(App *app);
/* Shows the next frame of this wavefront, or the next wavefront. Returns how many seconds to show it. */
double app_play_frame(App *app);
/* Shows what the user selects as it is; the next wavefront follows. */
void app_end_motion(App *app);
/* Presses every key of a script. Records frames of this size; 0 columns: none. */
bool app_press_script(App *app, const char *script, int columns, int rows, bool *quit, Error *error);
/* The frame that a screen of this size shows now; the caller owns it. */
Canvas *app_frame_canvas(App *app, int columns, int rows);
/* The part of a screen that a lecture's panel leaves to the interface. */
void app_fit(const App *app, int *columns, int *rows);
/* A frame with the lecture's panel; the caller owns it. */
Canvas *app_canvas(App *app, const Comparison *shown, int columns, int rows);
/* The interface without the hints of keys below it, for readers without redviz; the caller owns it. */
Canvas *app_page_canvas(App *app, int columns, int rows);

/* ---- app_script.c */
/* Opens the second run, applies --step, presses --keys. Records frames of this size; 0 columns: none. */
bool app_start(App *app, const AppStart *start, int columns, int rows, bool *quit, Error *error);

/* ---- app_edit.c */
/* Grades the learner's file: at the start, and after a save. A script waits for the goals. */
void app_grade(App *app);
/* Shows a grade that is complete; false: there is none. */
bool app_take_grade(App *app);

/* Opens an exercise of this name until the learner leaves it. */
void app_open_exercise(App *app, const char *name);
/* The one that the menu chose. */
void app_open_chosen_exercise(App *app);
void app_edit(App *app);
/* Copies the source of a kernel of the catalogue to the working folder, if it is not there, and runs it. */
void app_copy_source(App *app);
void app_check_files(App *app);
/* Opens the editor for a copy that has just run, or has an error; re-runs the kernels whose files have
 * changed. */
void app_rerun_stale(App *app);

/* ---- app_lecture.c */
/* The layer above: a run was opened, a key was pressed (true: the lecture takes it), the menu chose a
 * lecture. */
bool app_lecture_hears(App *app, AppEvent event);
/* The mouse on the panel: the wheel scrolls its text, a click on "PgDn next" goes to the next stop. False:
 * the mouse is elsewhere. */
bool app_scroll_lecture(App *app, int column, int row, int direction);
bool app_click_lecture(App *app, int column, int row);
/* Begins at this stop, or at the last one if there are fewer. */
void app_begin_lecture(App *app, const LectureRun *run, int stop);
/* Goes to a stop of its lecture: opens its run if it is not on the screen, then presses its keys. False, with
 * the place in the lecture: its run cannot be opened. */
bool app_stand_at_stop(App *app, int stop, Error *error);
/* Presses the next key that leads to the answer of the stop's question, from NULL on; false: there is no
 * further key. The first call answers the question, if it still waits. */
bool app_press_answer(App *app, const char **keys);
/* Presses all of them. */
void app_show_answer(App *app);

/* ---- app_runs.c */
/* Keeps this run alone, which becomes number 0. */
void app_keep_alone(App *app, int index);
/* First runs only the traced blocks; meanwhile a worker counts the whole grid and searches it for hazards. */
void app_count(App *app, int index);
bool app_finish_counting(App *app, int index);
void app_give_up_warps(App *app, RunSlot *slot);
/* Shows the session in place of a run, or beside it. */
void app_show(App *app, Session *session, Purpose purpose, int index);
void app_open_at(App *app, const RunSpec *options, Purpose purpose, const char *what, int target);
void app_open_beside(App *app, const RunSpec *options, const char *what);
void app_open_kernel(App *app);
/* Runs `options`, a changed copy of the run on the screen (its file, options.source or options.ptx), and
 * shows it beside the run before, at the same place, with what changed. `what` names the change:
 * "strided.cu", "a word of padding". A further change takes the place of the run after; the run before
 * stays. */
void app_show_changed(App *app, const RunSpec *options, const char *what);
/* The run that an edit is of: after an edit, the run after it. */
int app_edited_index(const App *app);
/* Opens the file of this folder, or the earlier run, that the menu chose. */
void app_open_from_home(App *app);
/* Opens the launch of the program that the view requests. */
void app_open_launch(App *app);
/* Opens the active run beside itself, in an order of warps and blocks that loses an update to a race. */
void app_open_bad_order(App *app);
/* Opens the active run beside itself with another block size, to compare their trees. */
void app_open_other_block(App *app);
/* Opens the chosen rung in place of the active run, then the rung to compare it with. */
void app_show_rung(App *app);
void app_rerun(App *app);
void app_trace_block(App *app);
void app_leave_comparison(App *app);
void app_cancel(App *app);
/* Abandons the session being opened; nothing of it is shown. */
void app_abandon_loading(App *app);
/* Shows the worker's session or its error, once the worker has ended. */
bool app_finish_loading(App *app);
void app_done(App *app);
void app_finish_abandoned(App *app, bool wait);

/* ---- app_try.c */
/* Runs a copy of the active run with a remedy of the selected finding, else of the first slow one: number
 * `wanted_remedy` of the view; 0: the first, then the next at each call. */
void app_try(App *app);
/* The first remedy of this kind; false with `error`: no finding has it. */
bool app_try_kind(App *app, AskRemedyKind kind, Error *error);

/* ---- app_keep.c */
/* Shows what the remedy on the screen changes in the source, or says why it cannot be written there. */
void app_keep(App *app);
/* The same for the barrier or the fence that ends an error of this run. */
void app_mend(App *app, int slot, int finding);
/* Writes that, and runs the file beside the run before. */
void app_write_kept(App *app);

/* ---- app_state.c */
bool app_shows_remedy(const App *app);
void app_kept_done(AppKept *kept);
/* Says what the remedy on the right changed, and which comes next; nothing if there is none. */
void app_report_try(App *app);
/* The run that stays when a comparison is closed: that without the remedy, or that after the edit. */
int app_kept_index(const App *app);
/* Shows the recordings of the next machine, cyclically. */
void app_next_machine(App *app);
bool app_shows_ladder(App *app);
void app_count_rungs(App *app);

/* ---- app_provide.c */
void app_show_timings(App *app, RunSlot *slot);
/* `ask`: search for hazards now if no worker does. */
void app_show_hazards(App *app, int index, bool ask);
/* Gives panes the data they are about to show. Returns whether timings are on the screen. */
bool app_provide(App *app, int columns, int rows);
void app_measure(App *app, bool is_seen);
bool app_take_timings(App *app);
/* Measures the timelines of warps while their pane is on the screen; leaving it gives that up. */
void app_time_warps(App *app, int columns, int rows);
bool app_take_warps(App *app);
/* Times the runs on the screen that the catalogue's times do not cover, once each, one at a time. */
void app_time_runs(App *app);
bool app_take_run_times(App *app);

#endif
