/* Motion: the frames between two wavefronts while a run plays, in which values are on their way. Fast playing has no time
 * for any. */
#ifndef TUI_MOTION_H
#define TUI_MOTION_H

enum { MOTION_FRAMES_A_SECOND = 10 };

/* In how many frames a wavefront of that length is drawn; at least 1. */
int motion_frames(double seconds);
/* How far the beat has come, from 0 to 1, in frame `frame` (from 0) of `frames` of one of its wavefronts. */
double motion_phase(int wavefront, int wavefronts, int frame, int frames);

#endif
