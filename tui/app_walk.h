/* Walk: the frames of a block from one place to the end of its run, for a page. */
#ifndef TUI_APP_WALK_H
#define TUI_APP_WALK_H

#include "tui/app_state.h"

/* Frames as html_add_frame() writes them, each as what differs from the one before. */
typedef struct FrameList {
    Text *frames; /* [count] owned */
    int count, capacity;
    Canvas *last; /* owned; NULL: none yet */
} FrameList;

void frame_list_add(FrameList *list, Canvas *canvas); /* takes the canvas */
void frame_list_done(FrameList *list);

typedef enum StationKind {
    STATION_BEAT,
    STATION_WAVEFRONT, /* a further one of the beat before */
    STATION_LANDING    /* only jumps lead there */
} StationKind;

typedef struct Station { /* a frame to be drawn: what the keys have led to */
    Comparison state;
    StationKind kind;
    int order; /* as they were gathered */
    int frame; /* its frame; stations that look alike share one */
} Station;

enum { WALK_JUMPS = 6 };

typedef struct WalkJump { /* where a key leads, from the first place on */
    char key;
    int *frames; /* [count] in the key's order */
    int count, capacity;
} WalkJump;

typedef struct Walk {
    Station *stations; /* while it is made */
    int station_count, station_capacity;
    FrameList pictures[SHOWN_PICTURE_COUNT]; /* the same places, each with another picture (key r) */
    int picture_count;
    int *steps; /* [pictures->count] of each frame, from 0 */
    Text kinds; /* a character a frame: b, w, x as StationKind */
    int step_capacity;
    WalkJump jumps[WALK_JUMPS];
    int start;    /* the frame that is shown first */
    int revealed; /* of a question: the frame at which what was asked for is seen; 0: there is no question */
    bool plays;   /* the run plays from there */
    bool is_cut;  /* the run goes on behind the last frame */
} Walk;

typedef struct WalkSize {
    int columns, rows; /* of the screen */
    int most_frames;   /* of beats and wavefronts */
} WalkSize;

/* From the first step to the last beat, in every picture that the block has; shown first is where the app stands. The app
 * stands there again when it is done. */
void walk_run(Walk *walk, App *app, WalkSize size);
/* From where the stop of a lecture stands: of a question that waits the frame without figures, then those of its keys. */
void walk_stop(Walk *walk, App *app, WalkSize size);
void walk_done(Walk *walk);

/* An object of a page's data. */
void walk_add_json(const Walk *walk, Json *json);

#endif
