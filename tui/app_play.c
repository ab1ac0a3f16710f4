/* Playing, frame by frame, on the clock of a terminal or of a recording. */
#include "tui/app_state.h"

#include "tui/motion.h"
#include <math.h>

enum { FRAME_MILLISECONDS = 16 }; /* the shortest time that a frame is shown */

double app_play_frame(App *app) {
    View *view = app_view(app);
    double each = 1 / view_wavefronts_per_second(view);
    int frames = view->display.still ? 1 : motion_frames(each);
    int count = each * 1000 >= FRAME_MILLISECONDS ? 1 : (int)(FRAME_MILLISECONDS / 1000.0 / each + 0.5);
    bool is_on_its_way = ++app->motion < frames;
    if (!is_on_its_way) app->motion = 0;
    while (!is_on_its_way && count-- > 0 && view->transient.playing)
        view->transient.playing = comparison_play(&app->comparison);
    view->transient.phase =
        motion_phase(view->place.wavefront, view_wavefronts(view, comparison_scene(&app->comparison)),
                     app->motion, frames);
    return fmax(each / frames, FRAME_MILLISECONDS / 1000.0);
}

void app_end_motion(App *app) {
    app_view(app)->transient.phase = 1;
    app->motion = MOTION_FRAMES_A_SECOND;
}
