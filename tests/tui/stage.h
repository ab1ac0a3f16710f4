/* Stage: a run opened as the interface opens it, and drawn without a terminal. It has the shipped timings. */
#ifndef TESTS_TUI_STAGE_H
#define TESTS_TUI_STAGE_H

#include "session/session.h"
#include "tui/comparison.h"

typedef struct Stage {
    Session *session;
    Scene *scene;
    Measurements recorded;
    SceneTimings timings;
    Comparison comparison;
} Stage;

/* Fails the test if the run cannot be opened. */
Stage *stage_open(const RunSpec *options);
/* A kernel of the catalogue with its defaults, run as far as the first frame needs. */
Stage *stage_open_kernel(const char *kernel);
/* Opens a kernel with one entry, `kernel`, in one block, emulated. `body`: the text between its braces. */
Session *stage_session_of_ptx(const char *parameters, const char *body, const char *args, uint32_t threads);
void stage_free(Stage *stage);

void stage_press(Stage *stage, const char *script);
View *stage_view(Stage *stage);
Canvas *stage_draw(const Stage *stage, int columns, int rows); /* caller frees */
/* The same as text; caller frees. */
char *stage_text(const Stage *stage, int columns, int rows);
/* Compares the frame with tests/tui/golden/<name>.txt. */
void stage_check(const Stage *stage, const char *name, int columns, int rows, bool ascii);
/* The pane that draws the picture, and its place; the reduction counts if it is in the picture's place. */
const Pane *stage_picture(const Stage *stage, int columns, int rows, Rectangle *area);

#endif
