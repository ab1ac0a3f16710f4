/* Motion: the frames between two wavefronts while a run plays, in which values move. Fast playing skips
 * them. */
#ifndef TUI_MOTION_H
#define TUI_MOTION_H

/* At the usual speed, four wavefronts a second, a wavefront has eight frames: motion that the eye follows. */
enum { MOTION_FRAMES_A_SECOND = 32 };

/* The number of frames that draw a wavefront of that length; at least 1. */
int motion_frames(double seconds);
/* The fraction of the beat, from 0 to 1, in frame `frame` (from 0) of `frames` of one of its wavefronts. */
double motion_phase(int wavefront, int wavefronts, int frame, int frames);

#endif
