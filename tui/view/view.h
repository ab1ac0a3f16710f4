/* View: where the user stands and what is selected. Everything a frame depends on besides the scene, and
 * nothing else: a key script and a scene give the same frame, always. Stepping back costs the same as
 * forwards, because a view is a place in a trace, not a running machine. */
#ifndef TUI_VIEW_VIEW_H
#define TUI_VIEW_VIEW_H

#include "tui/view/keys.h"
#include "tui/scene/scene.h"
#include "tui/draw/theme.h"
#include "tui/view/settings.h"

typedef enum ValueFormat {
    VALUE_NATURAL,
    VALUE_HEX,
    VALUE_SIGNED,
    VALUE_FLOAT,
    VALUE_FORMAT_COUNT
} ValueFormat;
typedef enum GutterScope { GUTTER_INTERVAL, GUTTER_RUN, GUTTER_STEP, GUTTER_SCOPE_COUNT } GutterScope;
typedef enum SourceMode { SOURCE_CODE, SOURCE_BOTH, SOURCE_PTX, SOURCE_TEXT_COUNT } SourceMode;
typedef enum Overlay {
    OVERLAY_NONE,
    OVERLAY_HELP,
    OVERLAY_MENU,
    OVERLAY_SETTINGS,
    OVERLAY_FAILURE,    /* the file that was edited cannot be run */
    OVERLAY_DIFFERENCES /* drawn by who knows both runs: pair.c */
} Overlay;
/* The panes that Tab goes through: they can be enlarged, and all but the picture hidden. */
typedef enum Focus { FOCUS_PICTURE, FOCUS_SOURCE, FOCUS_LANES, FOCUS_SIDE, FOCUS_COUNT } Focus;
typedef enum Loop { LOOP_OFF, LOOP_INTERVAL, LOOP_RUN, LOOP_COUNT } Loop;
/* What the next keys are for. */
typedef enum KeyInput { INPUT_COMMANDS, INPUT_SEARCH, INPUT_MARK, INPUT_RETURN } KeyInput;

/* The reduction so far in place of the picture. */
typedef enum ShownTree { SHOW_NO_TREE, SHOW_LANE_TREE, SHOW_RESULT_TREE, SHOWN_TREE_COUNT } ShownTree;

/* How times were taken: with the L2 cache empty or not, in a CUDA graph (without the gaps between launches)
 * or as single calls (what a caller waits for). */
typedef enum TimesWay { TIMES_COLD, TIMES_WARM, TIMES_COLD_CALL, TIMES_WARM_CALL, TIMES_WAY_COUNT } TimesWay;

enum { SPEED_SLOWEST = -2, SPEED_FASTEST = 6, MENU_FILTER_BYTES = 32, SEARCH_BYTES = 40, MARK_COUNT = 26 };

typedef struct ViewPosition {
    int view;
    int number; /* step, from 1; 0: nowhere */
} ViewPosition;

typedef struct View {
    int view; /* index into scene->views: a launch and one of its traced blocks */
    int step;
    int wavefront; /* inside a shared access, from 0 */
    int warp;      /* selected; panes fall back to the step's first warp where it has no event */
    int lane;
    bool playing;
    Loop loop;
    int speed; /* 2^speed times 4 wavefronts a second; SPEED_SLOWEST .. SPEED_FASTEST */
    ValueFormat values;
    int reg; /* whose values the lanes show: 0 the event's own, else a register of the instruction */
    GutterScope gutter;
    SourceMode source; /* the kernel's code, its PTX, or both */
    Focus focus;
    bool zoomed;     /* the focused pane fills the middle of the screen */
    uint32_t hidden; /* bits 1 << Focus */
    Theme theme;
    bool projector; /* few panes, large cells */
    ShownTree tree;
    int side;          /* which of the panes at the side comes first */
    int hazard;        /* that is selected, from 1; 0: none yet */
    bool hazard_other; /* the access that it clashes with */
    bool hazard_waits; /* to be gone to, as soon as its block is traced */
    TimesWay times;
    bool times_alone; /* the kernel alone, else with what it takes to come to one scalar */
    Overlay overlay;
    Error failure;     /* why not */
    Settings settings; /* while they are being changed */
    uint32_t block;    /* that VIEW_TRACE asks for */
    bool beside;       /* the menu chooses a second kernel, to compare with */
    int scroll;        /* first line shown of the help or of the differences */
    char filter[MENU_FILTER_BYTES];
    int choice; /* among the kernels that the filter leaves */
    int number; /* typed before a key; -1: none */
    KeyInput input;
    int traced;                     /* the metric whose steps are marked, from 1; 0: none */
    char search[SEARCH_BYTES];      /* what n and N look for; empty: bank conflicts */
    ViewPosition marks[MARK_COUNT]; /* a to z */
    ViewPosition back;              /* where the last jump began */
    char message[192];              /* one line in place of the footer's hints, until the next key */
} View;

typedef enum ViewAnswer {
    VIEW_IGNORED, /* nothing changed */
    VIEW_CHANGED,
    VIEW_REDRAW, /* the terminal's content is not to be trusted */
    VIEW_OPEN,   /* the menu chose view_chosen_kernel() */
    VIEW_BESIDE, /* the same, to stand beside this one */
    VIEW_REMAKE, /* the run again, with `settings` */
    VIEW_EDIT,   /* its source in the user's editor, then the run again */
    VIEW_TRACE,  /* the run again, with block `block` traced */
    /* Of two runs (pair.h): */
    VIEW_OTHER,    /* the keys go to the other one */
    VIEW_EXCHANGE, /* left and right change places */
    VIEW_LINK,     /* each moves by itself, or together again */
    VIEW_ALONE,    /* this one alone again */
    VIEW_QUIT
} ViewAnswer;

void view_init(View *view, const Scene *scene);
/* Another scene in place of the old one: how things are shown stays, the place goes to the start. */
void view_restart(View *view, const Scene *scene);
/* The file that was edited can be run after all. */
void view_forget_failure(View *view);
/* How things are shown: as in `from`. The place, and what is selected and marked, stay. */
void view_show_alike(View *view, const View *from);
ViewAnswer view_press(View *view, const Scene *scene, Key key);

const Steps *view_steps(const View *view, const Scene *scene);  /* NULL: nothing was traced */
void view_go_to_step(View *view, const Scene *scene, int step); /* clamped */
/* The same, from where the user can come back to. */
void view_jump_to_step(View *view, const Scene *scene, int step);
/* One wavefront on: inside the access, else to the next step. False at the end of the run. */
bool view_next_wavefront(View *view, const Scene *scene);
void view_previous_wavefront(View *view, const Scene *scene);
/* The next wavefront to be played, around the loop that is set. False: stop. */
bool view_play(View *view, const Scene *scene);
int view_wavefronts(const View *view, const Scene *scene); /* of the access at this place; else 1 */
double view_wavefronts_per_second(const View *view);
enum { VIEW_SPEED_BYTES = 16 };
void view_print_speed(const View *view, char out[VIEW_SPEED_BYTES]); /* "1/4x" */

/* To the access of the selected hazard; of a block that is not traced: VIEW_TRACE. */
ViewAnswer view_go_to_hazard(View *view, const Scene *scene);

int view_overlay_lines(const View *view); /* of the help or of the differences, which scroll */

/* Kernel menu: the catalogue rows that the filter leaves; -1 past the last. */
int view_menu_row(const View *view, int index);
const char *view_chosen_kernel(const View *view); /* NULL: the filter leaves none */

#endif
