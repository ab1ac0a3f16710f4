/* Walk: the frames of a block from one place to the end of its run, for a web page. */
#ifndef TUI_APP_WALK_H
#define TUI_APP_WALK_H

#include "tui/app_state.h"

/* Frames as html_add_frame() writes them, each as its difference from the one before. */
typedef struct FrameList {
    Text *frames; /* [count] owned */
    int count, capacity;
    Canvas *last; /* owned; NULL: none yet */
} FrameList;

typedef enum StationKind {
    STATION_BEAT,
    STATION_WAVEFRONT, /* a later wavefront of the same beat */
    STATION_LANDING    /* reached only by jumps */
} StationKind;

typedef struct Station { /* a frame to draw: the place that the keys have led to */
    Comparison state;
    StationKind kind;
    int order; /* in the order collected */
    int frame; /* its frame; identical stations share one */
} Station;

enum { WALK_JUMPS = 6 };

typedef struct WalkJump { /* where a key leads, starting from the first place */
    char key;
    int *frames; /* [count] in the order of key presses */
    int count, capacity;
} WalkJump;

typedef struct Walk {
    Station *stations; /* only while the walk is made */
    int station_count, station_capacity;
    FrameList pictures[SHOWN_PICTURE_COUNT]; /* the same places with each other picture (key r) */
    int picture_count;
    int *steps; /* [pictures->count] step of each frame, from 0 */
    Text kinds; /* one character per frame: b, w, x as StationKind */
    int step_capacity;
    WalkJump jumps[WALK_JUMPS];
    int start;    /* the frame that is shown first */
    int revealed; /* the frame that reveals the answer of a question; 0: no question */
    bool plays;   /* the run plays from there */
    bool is_cut;  /* the run continues after the last frame */
} Walk;

typedef struct WalkSize {
    int columns, rows; /* size of the screen */
    int most_frames;   /* limit on beats and wavefronts */
} WalkSize;

/* Walks from the first step to the last beat, in every picture that the block has; the page opens where the
 * app stands. The app returns to its place. */
void walk_run(Walk *walk, App *app, WalkSize size);
/* Walks from where the stop of a lecture stands: for an unanswered question first the frame without figures,
 * then the frames of its keys. */
void walk_stop(Walk *walk, App *app, WalkSize size);
void walk_done(Walk *walk);

/* Writes the walk as an object of a page's data. */
void walk_add_json(const Walk *walk, Json *json);

#endif
