/* The parts of the interface: their initialization, and what they share. */
#define _POSIX_C_SOURCE 200809L

#include "tui/app_state.h"

#include "base/utf8.h"
#include <time.h>

double app_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void app_offer_file(App *app, Session *session) {
    AppFile *file = &app->file;
    int count;
    const char *const *entries = session_entries(session, &count);
    if (!count) return;
    arena_done(&file->arena);
    file->arena = (Arena){0};
    file->options = session_options_copy(session_options(session), &file->arena);
    const char **names = arena_new(&file->arena, (size_t)count * sizeof *names);
    for (int i = 0; i < count; i++) names[i] = arena_copy_string(&file->arena, entries[i]);
    file->rows = (ViewFile){count, scene_file_name(file->options.file), names};
    for (int i = 0; i < 2; i++) app->comparison.view[i].display.file = &file->rows;
}

void app_init(App *app, Session *session, const AppStart *start) {
    *app = (App){.first = session, .ascii = start->ascii, .waits = true};
    app->slots[0] = run_slot_new(session, false);
    comparison_init(&app->comparison, app->slots[0].current.scene);
    comparison_view(&app->comparison)->display.theme = start->theme;
    comparison_view(&app->comparison)->display.still = start->still;
    app->lecture.run = start->lecture;
    app->lectures = start->lectures;
    comparison_view(&app->comparison)->display.lectures = start->lectures ? &start->lectures->rows : NULL;
    if (start->lecture && !start->lecture->screens->compare)
        app->lecture.shown = start->lecture->screens->run;
    app_offer_file(app, session);
    if (start->machine) snprintf(app->machine, sizeof app->machine, "%s", start->machine);
}

View *app_view(App *app) {
    return comparison_view(&app->comparison);
}

void app_say(App *app, const char *what, const char *message) {
    View *view = app_view(app);
    char name[41];
    snprintf(name, sizeof name, "%s", what);
    utf8_drop_half(name);
    snprintf(view->transient.message, sizeof view->transient.message, "%s: %.140s", name, message);
    utf8_drop_half(view->transient.message);
}
