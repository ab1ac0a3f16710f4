/* Scene: everything about a run that panes read, as plain data. Made from a session; tests make one by hand.
 * A pane is a function of (scene, view); only the outlines are gathered on first use. */
#ifndef TUI_SCENE_SCENE_H
#define TUI_SCENE_SCENE_H

#include "metrics/findings.h"
#include "tui/scene/step_index.h"
#include "session/session.h"
#include "tui/scene/tree.h"

typedef enum SceneVerdict {
    SCENE_NOT_CHECKED, /* no reference */
    SCENE_COUNTING,    /* the rest of the grid has not run yet */
    SCENE_RIGHT,
    SCENE_WRONG,
    SCENE_WRONG_ON_PURPOSE, /* a bug kernel does what it is there to show */
    SCENE_TRAPPED
} SceneVerdict;

typedef struct SceneTimings {     /* lists that their owner fills between frames */
    const Measurements *recorded; /* elsewhere or earlier: shipped, or in the session's file */
    const Measurements *live;     /* by this process, on this machine */
    const Measurements *timed;    /* its intervals are those of this run; NULL: nobody read the clock */
    char measuring[64];           /* the kernel that is measured right now; "": none */
    char failure[256];            /* why no GPU is measured here, in one line; "": it is, or nobody tried */
} SceneTimings;

typedef struct Scene {
    const char *kernel, *title; /* "" where there is none; so for every string here */
    bool captured;              /* events come from a GPU, counters of the grid from the emulator */
    const char *level;          /* where the run comes from: "EMULATED" */
    const char *dtype, *op;
    PtxType type; /* of the data; NO_TYPE: not known */
    uint64_t n;
    const char *watch; /* the catalogue's sentence: what to watch for */
    SceneVerdict verdict;
    const char *result, *expected;
    const struct Scene *before;  /* borrowed: the same run before its file was edited; NULL: it was not */
    const SceneTimings *timings; /* borrowed, set by whoever measures; NULL: nobody does */
    const Findings *hazards;     /* borrowed; NULL: not known, and the note says why */
    const char *hazards_note;
    const Measurements *measured;     /* hardware counters of the launches; NULL: made by hand */
    const char *recorded, *uncounted; /* as session_recorded(), session_uncounted() */
    bool counting; /* only the traced blocks ran so far: whole-grid counters and the result are still to come
                    */
    const CatalogRow *row;         /* NULL: not a kernel of the catalogue */
    const CatalogRun *run;         /* what it was run with; NULL as above */
    const char *arguments;         /* --args of a kernel of no catalogue, given or guessed; else NULL */
    const SessionOptions *options; /* as they were asked for; NULL: made by hand */
    const Trace *trace;
    SessionBlock *views; /* owned array of borrowed blocks and steps */
    int view_count;
    StepIndex **step_indexes;                             /* [view_count], NULL until asked for */
    Tree **trees;                                         /* the same */
    const Folds *(*folds)(const void *context, int view); /* NULL: it cannot be told */
    /* Compares a view's new tree with those of the other blocks of its launch, traced or not; NULL: not here.
     */
    void (*compare_blocks)(const struct Scene *scene, int view, Tree *tree);
    const char *(*source_line)(const void *context, const char *file, int line); /* NULL: not there */
    int (*source_line_count)(const void *context, const char *file);
    const char *(*ptx_line)(const void *context, int launch, int pc);
    /* As session_register(); NULL: nobody can tell. */
    bool (*registers)(const void *context, int view, int event, int warp, const char *name, uint64_t bits[32],
                      uint32_t weight[32], int32_t producer[32]);
    double (*progress)(const void *context, int view, int event); /* as session_progress(); may be NULL */
    const void *context;
} Scene;

Scene *scene_new(const Session *session);
void scene_free(Scene *scene);

StepIndex *scene_step_index(const Scene *scene, int view);
Tree *scene_tree(const Scene *scene, int view); /* NULL: it cannot be told who folded what */
/* The fault that ended the run, in whichever block; NULL: none. Reads of poison are told, but end nothing. */
const Trap *scene_fatal_trap(const Scene *scene);
uint32_t scene_trap_block(const Scene *scene, const Trap *trap); /* linear */
/* Running the view's block again answers while somebody waits: it has few enough events. */
enum { SCENE_MOST_EVENTS = SESSION_MOST_EVENTS };
bool scene_can_replay(const Scene *scene, int view);
/* [step] How far the run has come after each step of the view: 0 .. 1, never falling. Elements folded, over
 * the block's all; where that is not known, barrier intervals done. */
const double *scene_progress(const Scene *scene, int view);
const TraceLaunch *scene_launch(const Scene *scene, int view);
const PtxCode *scene_code(const Scene *scene, int view, int pc);

/* Names as a student wrote them: "sdata" of _ZZ11interleavedIiEvPKT_PS0_jE5sdata; "strided.cu" of a path. */
void scene_short_name(const char *symbol, char *out, size_t bytes);
const char *scene_file_name(const char *path);
bool scene_text_holds(const char *text, const char *part); /* in any case */

#endif
