/* Scene: everything about a run that panes read, as plain data. Made from a session; tests make one by hand.
 * A pane is a function of (scene, view); only the step indexes and trees are made on first use. */
#ifndef TUI_SCENE_SCENE_H
#define TUI_SCENE_SCENE_H

#include "ladder/counts.h"
#include "findings/findings.h"
#include "tui/scene/step_index.h"
#include "ask/ask.h"
#include "tui/scene/beats.h"
#include "tui/scene/branch_rows.h"
#include "tui/scene/mbarrier_state.h"
#include "tui/scene/reduction.h"
#include "tui/scene/tree.h"

typedef enum SceneVerdict {
    SCENE_NOT_CHECKED, /* no reference */
    SCENE_COUNTING,    /* the rest of the grid has not run yet */
    /* within what the method guarantees: integers exact, floats within the error bound of their tree */
    SCENE_RIGHT,
    SCENE_OFF, /* as the method predicts, and its lesson: the sum is not exact */
    SCENE_WRONG,
    SCENE_WRONG_ON_PURPOSE, /* a bug kernel shows its bug */
    SCENE_TRAPPED
} SceneVerdict;

typedef struct Scene Scene;

typedef struct
    SceneOwnTime {       /* of the run itself, single calls with an empty L2, on the GPU of this machine */
    double microseconds; /* 0: not known */
    char machine[128];
    char why[256]; /* why it was not timed although a GPU is here; "": it was, or there is none */
    bool was_tried;
} SceneOwnTime;

typedef struct SceneTimings {     /* lists that their owner fills between frames */
    const Measurements *recorded; /* measured elsewhere or earlier: shipped, or in the session's file */
    bool are_of_run;              /* `recorded` was measured with the parameters of this run */
    const Measurements *live;     /* by this process, on this machine */
    SceneOwnTime own;             /* of what the catalogue's times do not cover: a file, a bug */
    const Measurements *timed;    /* holds the intervals of this run; NULL: none were measured */
    const LadderCounts *counts;   /* of rungs, for the ladder screen; NULL: none */
    char measuring[64];           /* the kernel being measured; "": none */
    /* why no GPU is measured here, in one line; "": one is, or none was tried */
    char failure[256];
} SceneTimings;

typedef struct SceneSass {          /* the machine code of a launch */
    const SassKernel *kernel;       /* NULL: unknown */
    const SassComparison *compared; /* compared with the PTX; NULL likewise */
    /* what is missing, in one line; NULL: nothing, or the reason is unknown */
    const char *why;
    bool is_live; /* measured by this process, on this machine; else recorded, or assembled by ptxas */
} SceneSass;

typedef struct SceneIdentity {  /* identifies the run; strings without content are "" */
    const char *kernel, *title; /* id and title of the catalogue */
    bool captured;              /* events come from a GPU, counters of the grid from the emulator */
    const char *level;          /* the source of the run: "EMULATED" */
    const char *dtype, *op;
    PtxType type; /* of the data; NO_TYPE: unknown */
    uint64_t n;
    const char *story;      /* the catalogue's line about the kernel, for the second row of the screen */
    const char *watch;      /* the catalogue's sentence: what to watch for */
    const CatalogRow *row;  /* NULL: not a kernel of the catalogue */
    const CatalogRun *run;  /* its settings; NULL as above */
    bool is_edited;         /* a changed copy ran: as session_is_edited() */
    const char *arguments;  /* --args of a kernel outside the catalogue, given or guessed; else NULL */
    bool reads_arguments;   /* they come from the file's host code */
    const RunSpec *options; /* as given; NULL: made by hand */
} SceneIdentity;

typedef struct SceneOutcome {
    SceneVerdict verdict;
    const char *result, *expected;
    const char *word; /* instead of "result ok": "total right"; NULL: none */
    double off;       /* difference between the two */
    bool counting;    /* only the traced blocks have run: whole-grid counters and the result follow */
} SceneOutcome;

typedef struct SceneTraced { /* what was recorded, and what is derived from it */
    const Trace *trace;
    SessionBlock *blocks; /* [block_count] owned array of borrowed blocks and steps */
    int block_count;
    StepIndex **step_indexes;    /* [block_count] NULL until first use */
    Tree **trees;                /* the same */
    Reduction **reductions;      /* the same */
    Beats **beats;               /* the same */
    Paths **paths;               /* the same */
    MbarrierHistory **mbarriers; /* the same */
} SceneTraced;

/* What the session answers on demand; every function gets `session`; tests have their own functions. `block`
 * is an index into the traced blocks. */
typedef struct SceneQuestions {
    const Folds *(*folds)(const Session *session, int block); /* NULL: folds are unknown */
    /* Compares a new tree with those of the other blocks of its launch, traced or not; may be NULL. */
    void (*compare_blocks)(const Scene *scene, int block, Tree *tree);
    const char *(*source_line)(Session *session, const char *file, int line); /* NULL: no such line */
    int (*source_line_count)(Session *session, const char *file);
    const char *(*ptx_line)(Session *session, int launch, int pc);
    /* As session_register(); NULL: register values are unknown. */
    bool (*registers)(const Session *session, int block, int event, int warp, const char *name,
                      uint64_t bits[32], uint32_t weight[32], int32_t producer[32]);
    double (*progress)(const Session *session, int block, int event); /* as session_progress(); may be NULL */
    bool (*buffer_address)(const Session *session, int buffer,
                           uint64_t *address);       /* as the session's; may be NULL */
    const SessionGrid *(*grid)(Session *session);    /* as session_grid(); NULL: unknown */
    const SessionWarps *(*warps)(Session *session);  /* as session_warps(); NULL: unknown */
    SceneSass (*sass)(Session *session, int launch); /* NULL: unknown */
    void (*assemble)(Session *session, int launch);  /* as session_assemble_sass(); NULL: never */
    Session *session;
} SceneQuestions;

typedef struct SceneBorrowed {        /* set by the app between frames, or owned by the session */
    const Scene *before;              /* the same run before its file was edited; NULL: not edited */
    const SceneTimings *timings;      /* NULL: none */
    const struct Curve *curve;        /* of the run's first parameter (curve.h); NULL: it has none */
    const Findings *hazards;          /* the ranked list (ask_verdict()); NULL: unknown */
    const char *hazards_note;         /* why races were not searched for; NULL: they were */
    const char *warps_note;           /* the timelines of warps are being measured; NULL: they are not */
    const Measurements *measured;     /* hardware counters of the launches; NULL: made by hand */
    const char *recorded, *uncounted; /* as session_recorded(), session_uncounted() */
} SceneBorrowed;

struct Scene {
    SceneIdentity identity;
    SceneOutcome outcome;
    SceneTraced traced;
    SceneQuestions questions;
    SceneBorrowed borrowed;
};

Scene *scene_new(Session *session);
void scene_free(Scene *scene);

StepIndex *scene_step_index(const Scene *scene, int block);
Tree *scene_tree(const Scene *scene, int block); /* NULL: unknown which elements were folded where */
Reduction *scene_reduction(const Scene *scene, int block); /* NULL likewise, or nothing is folded */
Beats *scene_beats(const Scene *scene, int block);
const Paths *scene_paths(const Scene *scene, int block);
/* As mbarrier_history_at(). */
const MbarrierState *scene_mbarriers(const Scene *scene, int block, int event);
/* The group of a split, with words; false: `split` is negative. */
bool scene_branch_rows(const Scene *scene, int block, int split, BranchRows *out);
const Folds *scene_folds(const Scene *scene, int block); /* NULL likewise */
/* The fault that ended the run, in any block; NULL: none. Reads of poison are reported but do not end the
 * run. */
const Trap *scene_fatal_trap(const Scene *scene);
uint32_t scene_trap_block(const Scene *scene, const Trap *trap); /* linear */
/* The block has few enough events to replay it between two frames. */
enum { SCENE_MOST_EVENTS = SESSION_MOST_EVENTS };
bool scene_can_replay(const Scene *scene, int block);
/* Why there is neither tree nor reduction: the block is too large. False: it is not. */
bool scene_print_too_large(const Scene *scene, int block, char *out, size_t bytes);
/* [step] The progress of the run after each step of the block: 0 .. 1, never decreasing. Elements folded, as
 * a fraction of all elements of the block; if unknown, barrier intervals completed. */
const double *scene_progress(const Scene *scene, int block);
const TraceLaunch *scene_launch(const Scene *scene, int block);
const PtxCode *scene_code(const Scene *scene, int block, int pc);

SceneSass scene_sass(const Scene *scene, int block); /* of the block's launch */
/* The same, assembled by ptxas if it is not known otherwise, which takes a moment. */
SceneSass scene_assembled_sass(const Scene *scene, int block);

const char *scene_source_line(const Scene *scene, const char *file, int line); /* NULL: no such line */
int scene_source_line_count(const Scene *scene, const char *file);             /* 0: unknown file */
const char *scene_ptx_line(const Scene *scene, int block, int pc);

/* Names as they appear in the source: "sdata" for _ZZ11interleavedIiEvPKT_PS0_jE5sdata; "strided.cu" for a
 * path. */
void scene_short_name(const char *symbol, char *out, size_t bytes);
const char *scene_file_name(const char *path);
/* The name of a machine without its maker: "H200 NVL". */
const char *scene_machine_name(const char *machine);
bool scene_text_holds(const char *text, const char *part); /* ignores case */

#endif
