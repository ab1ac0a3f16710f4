#include "tui/motion.h"

int motion_frames(double seconds) {
    int frames = (int)(seconds * MOTION_FRAMES_A_SECOND + 1e-6);
    return frames < 1 ? 1 : frames;
}

double motion_phase(int wavefront, int wavefronts, int frame, int frames) {
    double phase = (wavefront + (double)(frame + 1) / frames) / wavefronts;
    return phase < 1 ? phase : 1;
}
