/* Sample: a run made by hand, so that screens can be tested without an emulator: the textbook reduction with
 * contiguous threads and a strided index (bank conflicts), then one instruction of every other kind. */
#ifndef TESTS_TUI_SAMPLE_H
#define TESTS_TUI_SAMPLE_H

#include "tui/scene/scene.h"
#include "tui/view/view.h"

typedef struct Sample {
    Scene scene;
    Trace *trace;
    SessionBlock blocks[2];
    StepIndex *step_indexes[2];
    Beats *beats[2];
    Paths *paths[2];
} Sample;

/* One block of `threads` threads. */
Sample *sample_new(int threads);
/* The same without the barriers of its loop: each level reads words that other threads have just written. */
Sample *sample_new_racing(int threads);
/* Two launches whose only events are a global load by each warp. */
Sample *sample_new_two_launches(void);
/* A trace without a traced block, but with a trap. */
Sample *sample_new_empty(void);
void sample_free(Sample *sample);

/* The first step of this kind, or the one `skip` later; fails the test if there is none. */
int sample_step(const Sample *sample, TraceKind kind, int skip);

/* Presses the keys of the script. */
void sample_press(View *view, const Sample *sample, const char *script);
/* A frame as text, with its roles; the caller frees it. */
char *sample_frame(const Sample *sample, const View *view, int columns, int rows);

#endif
