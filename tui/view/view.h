/* View: the user's place in the run, the selection and the display: everything that a frame depends on
 * besides the scene, and nothing else. A key script and a scene always give the same frame. Stepping back
 * costs the same as stepping forwards, because a view is a place in a trace, not a running machine.
 *
 * Its parts change together: the place with every step, the selection when the user picks something, the
 * display when the user changes how things look (both runs of a comparison share it), the rest from key to
 * key. */
#ifndef TUI_VIEW_VIEW_H
#define TUI_VIEW_VIEW_H

#include "index/index_access.h"
#include "tui/view/keys.h"
#include "tui/scene/scene.h"
#include "tui/scene/scene_times.h"
#include "tui/draw/theme.h"
#include "tui/view/settings.h"

typedef enum ValueFormat {
    VALUE_NATURAL,
    VALUE_HEX,
    VALUE_SIGNED,
    VALUE_FLOAT,
    VALUE_FORMAT_COUNT
} ValueFormat;
typedef enum GutterScope {
    GUTTER_INTERVAL,
    GUTTER_RUN,
    GUTTER_STEP,
    GUTTER_SAMPLES,
    GUTTER_SCOPE_COUNT
} GutterScope;
typedef enum SourceMode { SOURCE_CODE, SOURCE_BOTH, SOURCE_PTX, SOURCE_SASS, SOURCE_TEXT_COUNT } SourceMode;
typedef enum Overlay {
    OVERLAY_NONE,
    OVERLAY_HELP,  /* keys and signs */
    OVERLAY_WORDS, /* the glossary */
    OVERLAY_MENU,
    OVERLAY_FAILURE, /* the edited file cannot be run */
    OVERLAY_DIFF,    /* of the source that a kept remedy changes */
    OVERLAY_LADDER,  /* these fill the screen below the header: overlay_fills_screen() */
    OVERLAY_LATENCY,
    OVERLAY_INDEX,
    OVERLAY_LAUNCHES,    /* of the program (launch_view.h) */
    OVERLAY_OUTPUT,      /* what the program printed */
    OVERLAY_DIFFERENCES, /* two runs side by side: drawn by tui/comparison.c */
    OVERLAY_COUNT
} Overlay;
static inline bool overlay_fills_screen(Overlay overlay) {
    return overlay == OVERLAY_LADDER || overlay == OVERLAY_LATENCY || overlay == OVERLAY_INDEX ||
           overlay == OVERLAY_LAUNCHES || overlay == OVERLAY_OUTPUT;
}

/* The panes that Tab visits: each can be enlarged, and all but the picture hidden. */
typedef enum Focus { FOCUS_PICTURE, FOCUS_SOURCE, FOCUS_LANES, FOCUS_SIDE, FOCUS_COUNT } Focus;
/* The side pane that comes first, as panes.def counts them, until the user picks one. */
enum { VIEW_SIDE_STALLS, VIEW_SIDE_TIMINGS };
typedef enum Loop { LOOP_OFF, LOOP_INTERVAL, LOOP_RUN, LOOP_COUNT } Loop;
/* What the menu lists: see menu.h. */
typedef enum MenuScope { MENU_KERNELS, MENU_BESIDE, MENU_HOME, MENU_PALETTE } MenuScope;
/* What the next keys mean. */
typedef enum KeyInput {
    INPUT_COMMANDS,
    INPUT_SEARCH,
    INPUT_MARK,
    INPUT_RETURN,
    INPUT_COPY,     /* the message asks whether to copy the source: Enter: yes */
    INPUT_EDITOR,   /* the message says how to leave the editor: Enter or e opens it */
    INPUT_PROGRAM,  /* asks whether to run the program of the file: r: yes; any other key shows the kernel */
    INPUT_SETTINGS, /* `transient.settings` are in the footer's row */
    INPUT_COUNT
} KeyInput;

/* What the picture shows: the level of the reduction as boxes; the access, shuffle, ... of this step; or the
 * tree of the value that the selected lane holds, or of the result. If nothing is folded, the first equals
 * the second. */
typedef enum ShownPicture {
    SHOW_REDUCTION,
    SHOW_INSTRUCTION,
    SHOW_LANE_TREE,
    SHOW_RESULT_TREE,
    SHOWN_PICTURE_COUNT, /* of the pictures that key r cycles through */
    /* These replace any of them: */
    SHOW_GRID = SHOWN_PICTURE_COUNT, /* the blocks on the machine */
    SHOW_WARPS                       /* warps in time */
} ShownPicture;
static inline bool picture_is_of_machine(ShownPicture picture) {
    return picture >= SHOW_GRID;
}

enum { SPEED_SLOWEST = -2, SPEED_FASTEST = 3, MENU_FILTER_BYTES = 32, SEARCH_BYTES = 40, MARK_COUNT = 26 };

typedef struct ViewPosition {
    int block;  /* as ViewPlace.block */
    int number; /* step, from 1; 0: nowhere */
} ViewPosition;

typedef struct ViewPlace {
    int block; /* index into scene->traced.blocks: one traced block of a launch */
    int step;
    int wavefront;     /* within a shared access, from 0 */
    ViewPosition back; /* where the last jump started */
} ViewPlace;

typedef struct ViewSelection {
    int warp; /* panes show the step's first warp if it has no event */
    int lane;
    int reg;    /* which values the lanes show: 0: the event's own, else a register of the instruction */
    int hazard; /* from 1; 0: none yet */
    bool hazard_other;              /* the access that it races with is selected */
    bool hazard_waits;              /* the view goes there once the hazard's block is traced */
    int traced;                     /* the metric whose steps are marked, from 1; 0: none */
    char search[SEARCH_BYTES];      /* what n and N look for; empty: bank conflicts */
    ViewPosition marks[MARK_COUNT]; /* a to z */
} ViewSelection;

/* What an open question asks about: a pane that tells it is covered until the answer. */
enum {
    HIDES_LANES = 1,    /* active lanes, divergence */
    HIDES_ACCESSES = 2, /* wavefronts, banks, sectors */
    HIDES_VALUES = 4,   /* values and results */
    HIDES_COUNTS = 8,   /* counters, steps, levels */
    HIDES_TIMES = 16,
    HIDES_HERE = 32, /* the question is about the step on the screen; else about a later one */
    HIDES_ALL = 63
};

/* The ladder screen: the selection, and the contents of its columns. */
typedef struct ViewLadder {
    int row;        /* of the table (ladder.h) */
    uint64_t n;     /* the size whose figures are shown */
    char dtype[16]; /* "" until the screen is opened */
    /* show columns of the articles; show recordings although there are live timings */
    bool published, recorded;
} ViewLadder;

/* The index lab (index_view.h). */
typedef struct ViewIndex {
    char text[2][INDEX_TEXT_BYTES]; /* the expressions A and B; "": none */
    char good[2][INDEX_TEXT_BYTES]; /* the last ones without an error, shown while there is one */
    IndexOf of;
    uint32_t access_mask;        /* the lanes of the access that it was opened on */
    bool has_offsets;            /* A is not an expression but these offsets */
    uint64_t offset[WARP_LANES]; /* of that access */
    char about[80];              /* "line 23, w0 loads sdata"; "": not opened on an access */
    int field;                   /* what the arrow keys turn: view_index_field() */
    bool typing;                 /* the keys go to the expression of the field, at `cursor` */
    int cursor;
} ViewIndex;

/* Warps in time (warps_view.h). */
typedef struct ViewWarps {
    int timeline;         /* of SessionWarps */
    int line, wait;       /* the cursor, as it was selected; wait -1: none */
    ViewPosition at;      /* where the view was then; from another place the cursor follows the step */
    uint32_t begin, span; /* the cycles shown; span 0: the life of the cursor's block */
} ViewWarps;

/* What VIEW_RUNG requests: a kernel, or two to compare, at a size and in a type. */
typedef struct ViewRung {
    char kernel[48], beside[48]; /* beside "": the kernel alone */
    uint64_t n;
    char dtype[16];
} ViewRung;

typedef struct ViewFile { /* the user's file */
    int count;
    const char *name, *const *entries; /* its kernels */
} ViewFile;

typedef struct ViewTitles { /* of lectures, or of exercises */
    int count;
    const char *const *names, *const *titles;
    const char *const *abouts; /* their texts, to search in */
} ViewTitles;

typedef struct ViewHome { /* what the home screen lists beside the catalogue */
    int file_count, recent_count;
    const char *const *files;  /* of this folder, that redviz opens */
    const char *const *recent; /* command lines of the last runs, the newest first */
} ViewHome;

/* How things look: the same for both runs of a comparison. */
typedef struct ViewDisplay {
    Theme theme;
    SourceMode source;  /* the kernel's code, its PTX, both, or its machine code */
    GutterScope gutter; /* what the gutter counts; GUTTER_SAMPLES: of the whole kernel, on a GPU */
    ValueFormat values;
    Focus focus;
    bool zoomed;                       /* the focused pane fills the middle of the screen */
    uint32_t hidden;                   /* bits 1 << Focus */
    bool projector;                    /* few panes, large cells, the theme of the strongest contrast */
    Theme behind_projector;            /* the theme that returns when the projector is off */
    ShownPicture picture, behind_grid; /* the picture that returns when the grid or the warps are closed */
    int side;                          /* the side pane that comes first */
    TimesWay times;
    ViewLadder ladder;
    ViewIndex index;
    ViewWarps warps;
    bool times_alone;   /* the kernel alone, else with the work that reduces to one scalar */
    int timeline_steps; /* comparing: the steps of the longer run, so that both have one scale; 0: its own */
    Loop loop;
    bool still;                    /* playing does not animate values */
    int speed;                     /* plays 2^speed times as fast as usual; SPEED_SLOWEST .. SPEED_FASTEST */
    bool plays_lecture;            /* its keys appear in help and footer */
    const ViewFile *file;          /* also offered in the menu; NULL: none */
    const ViewTitles *lectures;    /* the same */
    const ViewTitles *exercises;   /* the same */
    const ViewHome *home;          /* NULL: not known */
    const struct Program *program; /* whose launches can be shown (runtime/user_program.h); NULL: none */
} ViewDisplay;

/* State that lasts until the next key, the next frame, or an answer. */
typedef struct ViewTransient {
    bool playing;
    double phase; /* the fraction of the playing beat: 0 to 1; see view_phase() */
    KeyInput input;
    int number;              /* typed before a key; -1: none */
    char message[192];       /* one line in place of the footer's hints, until the next key */
    Overlay overlay, behind; /* `behind`: the overlay that the help was opened from and returns to */
    ViewRung rung;           /* what VIEW_RUNG requests */
    int scroll;              /* first visible line of the help, the words, the differences or the output */
    char filter[MENU_FILTER_BYTES]; /* of the kernel menu */
    int choice;            /* index among the kernels that match the filter, or row of the launches */
    MenuScope menu;        /* what the menu lists */
    bool begins;           /* the home screen is the first one: nothing was chosen yet */
    bool confirms;         /* the menu's choice writes a file: Enter again */
    const char *diff;      /* of OVERLAY_DIFF; borrowed */
    Settings settings;     /* while they are being edited */
    Error failure;         /* why the edited file cannot be run */
    unsigned hides;        /* a question is open: HIDES_ bits; else 0 */
    const char *enter;     /* what Enter does in a lecture, not translated; NULL: nothing */
    uint32_t wanted_block; /* the block that VIEW_TRACE requests */
    int wanted_launch;     /* the launch that VIEW_LAUNCH requests, from 0 */
    int wanted_threads;    /* the block size that VIEW_BLOCK requests; 0: half as many, or twice */
    int wanted_remedy;     /* the remedy that VIEW_TRY requests, from 1; 0: the next one */
} ViewTransient;

typedef struct View {
    ViewPlace place;
    ViewSelection selection;
    ViewDisplay display;
    ViewTransient transient;
    bool is_opening; /* view_open() went to this place, and no key was pressed since */
} View;

typedef enum ViewAnswer {
    VIEW_IGNORED, /* nothing changed */
    VIEW_CHANGED,
    VIEW_REDRAW,   /* redraw everything: the terminal's contents are unknown */
    VIEW_OPEN,     /* the menu chose a kernel, to compare with this run if it is MENU_BESIDE: menu_choice() */
    VIEW_LECTURE,  /* the menu chose a lecture */
    VIEW_EXERCISE, /* the menu chose an exercise */
    VIEW_HOME,     /* the menu chose a file of this folder, or an earlier run */
    VIEW_ACTION,   /* the menu chose an action of keys.def, or a step */
    VIEW_ORDER,    /* compare with this run in an order that triggers the race */
    VIEW_BLOCK,    /* compare with this run in blocks of `transient.wanted_threads` */
    VIEW_TRY,      /* try remedy `wanted_remedy` of the finding, in a copy */
    VIEW_KEEP,     /* write the source whose diff is shown, and run it */
    VIEW_RERUN,    /* re-run with `transient.settings` */
    VIEW_EDIT,     /* edit its source in the user's editor, then re-run */
    VIEW_PROGRAM,  /* compile the file, run its main(), and show a launch of that */
    VIEW_COPY,     /* copy the source of the kernel, run the copy, then edit it */
    VIEW_RUNG,     /* the ladder chose `transient.rung` */
    VIEW_MACHINE,  /* show the recordings of the next machine */
    VIEW_LAUNCH,   /* show launch `wanted_launch` of the program */
    VIEW_TRACE,    /* re-run with block `transient.wanted_block` traced */
    /* For two runs (tui/comparison.h): */
    VIEW_OTHER,    /* the keys go to the other run */
    VIEW_EXCHANGE, /* swap left and right */
    VIEW_LINK,     /* link or unlink them */
    VIEW_ALONE,    /* end the comparison and keep this run */
    VIEW_QUIT
} ViewAnswer;

void view_init(View *view);
/* One line in place of the footer's hints, until the next key. */
void view_say(View *view, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For another scene: the display stays, the place goes to the start, hazards and marks are cleared. */
void view_restart(View *view);
/* The edited file runs again. */
void view_forget_failure(View *view);
/* Shows the same things as `from`, in the same way: display, register, traced metric, search. The place and
 * the rest of the selection stay. */
void view_show_alike(View *view, const View *from);

const Steps *view_steps(const View *view, const Scene *scene);  /* NULL: nothing was traced */
void view_go_to_step(View *view, const Scene *scene, int step); /* clamped */
/* Where a run opens, and the picture that shows it, with its thread selected. A file opens at its first
 * problem, findings_first(), which the header and the key f name. A kernel of the catalogue opens at its
 * first fault (a trap, a wrong sum), at its lesson, its first bank conflict, its first addition, its first
 * problem, its first step that moves data. Stalls come first of the side panes if they were sampled. */
void view_open(View *view, const Scene *scene);
/* The first problem became known after a file was opened: opens it again, unless a key was pressed since. */
void view_open_again(View *view, const Scene *scene);
/* Moves by this many beats (beats.h), forwards or backwards. */
void view_move_by_beats(View *view, const Scene *scene, int by);
/* Moves by this many levels of the reduction; if nothing is folded, by barrier intervals. Backwards first to
 * the start of this one. False: there is no further one. */
bool view_move_by_levels(View *view, const Scene *scene, int by);
/* Does the same as a jump: '' returns from it. */
void view_jump_to_step(View *view, const Scene *scene, int step);
/* Goes to the start of a traced block. */
void view_go_to_block(View *view, const Scene *scene, int block);
/* Moves one wavefront forwards: within the access, else to the next beat. False at the end of the run. */
bool view_next_wavefront(View *view, const Scene *scene);
void view_previous_wavefront(View *view, const Scene *scene);
/* The next wavefront to play, within the loop if one is set. False: stop. */
bool view_play(View *view, const Scene *scene);
int view_wavefronts(const View *view, const Scene *scene); /* of the access at this place; else 1 */
double view_wavefront_seconds(const View *view);           /* while the run plays */
/* The same for this wavefront: what ends a level (or a barrier interval) stays twice as long. */
double view_place_seconds(const View *view, const Scene *scene);
/* 1 (everything has arrived) in still frames, and if motion is off. */
double view_phase(const View *view);
enum { VIEW_SPEED_BYTES = 16 };
void view_print_speed(int speed, char out[VIEW_SPEED_BYTES]); /* "1/4x" */

/* The step of this access of a finding; number 0: its block is not traced, or it has no step there. */
ViewPosition view_finding_place(const Scene *scene, const Finding *finding, const FindingAccess *access);
/* Goes to the access of the selected hazard; for a block that is not traced: VIEW_TRACE. */
ViewAnswer view_go_to_hazard(View *view, const Scene *scene);

/* Moves `view` from its place in `from` to the corresponding place in `to`: the same visit of the same source
 * line in the same launch, else the same progress. Its marks move likewise. Selection and display stay. */
void keep_place(View *view, const Scene *from, const Scene *to);

/* Motion: the frames of a wavefront while a run plays, in which values move. They arrive before the next
 * wavefront begins. */

enum { MOTION_FRAMES_A_SECOND = 32 };
#define MOTION_SHARE 0.75 /* of a wavefront's time; then it rests */

/* The number of frames that draw motion of that length; at least 1. */
int motion_frames(double seconds);
/* The fraction of the beat, from 0 to 1, in frame `frame` (from 0) of `frames` of one of its wavefronts. */
double motion_phase(int wavefront, int wavefronts, int frame, int frames);

#endif
