#define _POSIX_C_SOURCE 200809L

#include "tui/view/launch_view.h"
#include "tui/view/key_actions.h"

#include "base/language.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- launches ------------------------------------------------------------------------------------------ */

int launch_view_shown(const View *view, const Scene *scene) {
    const RunSpec *options = scene->identity.options;
    bool is_of_program = options && options->program && options->program == view->display.program;
    return is_of_program ? options->launch : -1;
}

bool launch_view_can_show(const Captured *capture, int launch) {
    const CapturedLaunch *original = captured_original(capture, launch);
    return !original->is_refused && original->memories && original->is_kept;
}

void launch_view_print_name(const Captured *capture, int launch, Text *out) {
    const CapturedLaunch *of = &capture->launches[launch];
    text_print(out, tr("launch %d of %d: %s"), launch + 1, capture->launch_count, of->name);
    if (of->place) text_print(out, ", %s", of->place);
}

void launch_view_print_end(const Program *program, Text *out) {
    switch (program->end) {
    case PROGRAM_EXITED:
        text_print(out, tr("exited %d"), program->status);
        break;
    case PROGRAM_KILLED:
        text_print(out, tr("was ended by signal %d (%s)"), program->status, strsignal(program->status));
        break;
    case PROGRAM_TIME:
        text_print(out, tr("was stopped after %.0f s"), program->seconds);
        break;
    default:
        text_add(out, tr("was stopped"));
        break;
    }
}

/* ---- the list ------------------------------------------------------------------------------------------ */

static int row_of(const Captured *capture, int launch) {
    int count, found = 0;
    LaunchRow *rows = launch_rows(capture, &count);
    while (found + 1 < count && rows[found].last < launch) found++;
    free(rows);
    return found;
}

void launch_view_open(View *view, const Scene *scene, int launch) {
    const Captured *capture = view->display.program->capture;
    if (launch < 0) launch = launch_view_shown(view, scene);
    view->transient.playing = false;
    view->transient.overlay = OVERLAY_LAUNCHES;
    view->transient.choice = row_of(capture, launch < 0 ? 0 : launch);
}

void launch_view_open_output(View *view) {
    view->transient.playing = false;
    view->transient.overlay = OVERLAY_OUTPUT;
    view->transient.scroll = 0;
}

/* Asks the app for it, unless it is on the screen. */
static ViewAnswer ask(View *view, const Scene *scene, int launch) {
    view->transient.overlay = OVERLAY_NONE;
    view->transient.wanted_launch = launch;
    return launch_view_shown(view, scene) == launch ? VIEW_CHANGED : VIEW_LAUNCH;
}

ViewAnswer launch_view_choose(View *view, const Scene *scene, int row) {
    const Captured *capture = view->display.program->capture;
    int count;
    LaunchRow *rows = launch_rows(capture, &count);
    int launch = row < count ? rows[row].first : -1;
    free(rows);
    if (launch < 0) return VIEW_IGNORED;
    if (capture->launches[launch].repeats >= 0) launch = capture->launches[launch].repeats;
    if (launch_view_can_show(capture, launch)) return ask(view, scene, launch);
    const CapturedLaunch *of = &capture->launches[launch];
    Text text = {0};
    if (of->is_refused)
        text_print(&text, tr("launch %d was refused: %s"), launch + 1, of->why ? of->why : "");
    else if (!of->memories)
        text_print(&text, tr("launch %d was not executed: a launch before it had failed"), launch + 1);
    else
        text_print(&text, tr("launch %d: there was no room to keep its memory; give the program less data"),
                   launch + 1);
    view_say(view, "%s", text_string(&text));
    text_done(&text);
    return VIEW_CHANGED;
}

ViewAnswer launch_view_go_on(View *view, const Scene *scene, int direction, int times) {
    const Captured *capture = view->display.program->capture;
    int shown = launch_view_shown(view, scene), found = shown;
    for (int i = shown < 0 && direction < 0 ? capture->launch_count : shown; times > 0; times--) {
        do i += direction;
        while (i >= 0 && i < capture->launch_count &&
               (capture->launches[i].repeats >= 0 || !launch_view_can_show(capture, i)));
        if (i < 0 || i >= capture->launch_count) break;
        found = i;
    }
    if (found != shown) return ask(view, scene, found);
    view_say(view, "%s",
             direction < 0 ? tr("no earlier launch that can be shown")
                           : tr("no later launch that can be shown"));
    return VIEW_CHANGED;
}

ViewAnswer launch_view_press(View *view, const Scene *scene, KeyPress press) {
    enum { PAGE = 10 };
    const Captured *capture = view->display.program->capture;
    int64_t row = view->transient.choice;
    if (press.key == SPECIAL_ENTER) return launch_view_choose(view, scene, view->transient.choice);
    if (press.action == ACT_LAUNCHES && press.direction < 0) {
        launch_view_open_output(view);
        return VIEW_CHANGED;
    }
    if (press.key == SPECIAL_ESCAPE || press.action == ACT_QUIT || press.action == ACT_LAUNCHES) {
        view->transient.overlay = OVERLAY_NONE;
        return VIEW_CHANGED;
    }
    switch (press.action) {
    case ACT_LINE:
        row += press.direction;
        break;
    case ACT_PAGE:
        row += PAGE * press.direction;
        break;
    case ACT_BEGIN:
        row = 0;
        break;
    case ACT_END:
        row = INT_MAX;
        break;
    case ACT_LAUNCH:
        return launch_view_go_on(view, scene, press.direction, 1);
    default:
        return VIEW_IGNORED;
    }
    int last = capture->launch_count ? row_of(capture, capture->launch_count - 1) : 0;
    view->transient.choice = row < 0 ? 0 : row > last ? last : (int)row;
    return VIEW_CHANGED;
}
