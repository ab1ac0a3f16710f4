/* The parts of the interface: their initialization, and what they share. */
#define _POSIX_C_SOURCE 200809L

#include "tui/app_state.h"

#include "base/utf8.h"
#include "base/language.h"
#include "tui/draw/terminal.h"
#include "tui/view/ladder_view.h"
#include <stdlib.h>

void app_offer_file(App *app, Session *session) {
    AppFile *file = &app->file;
    int count;
    const char *const *entries = session_entries(session, &count);
    if (!count || session_spec(session)->program) return; /* of a program, its launches are offered */
    arena_done(&file->arena);
    file->arena = (Arena){0};
    file->options = run_spec_copy(session_spec(session), &file->arena);
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
    comparison_view(&app->comparison)->display.speed = start->pace;
    comparison_view(&app->comparison)->display.program = session_spec(session)->program;
    app->lecture.run = start->lecture;
    app->grading = start->grading;
    app->lectures = start->lectures;
    app->command = start->command;
    comparison_view(&app->comparison)->display.exercises = start->exercises;
    app->home = start->home;
    app->program = start->program;
    comparison_view(&app->comparison)->display.home = start->home ? &start->home->rows : NULL;
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
    view_say(view, "%s: %.140s", name, message);
    utf8_drop_half(view->transient.message);
}

bool app_is_covered(const App *app) {
    return (view_lecture_hides(&app->lecture) & pane_explanation.tells) != 0;
}

void app_explain(const App *app, const StepContext *context, Text *out) {
    if (app_is_covered(app)) return;
    size_t before = out->length;
    explain_fault(context, out);
    if (out->length > before) text_add(out, " ");
    explain_step(context, out);
}

/* ---- the remedy on the screen -------------------------------------------------------------------------- */

bool app_shows_remedy(const App *app) {
    return app->comparison.change[0] && session_spec(app->slots[1].current.session)->what_if.label;
}

void app_report_try(App *app) {
    Text line = {0};
    if (!app_shows_remedy(app)) return;
    Session *base = app->slots[0].current.session, *copy = app->slots[1].current.session;
    const SessionWhatIf *what_if = &session_spec(copy)->what_if;
    ask_remedy_change(base, copy, what_if->finding, what_if->number, &line);
    view_say(app_view(app), "%s", text_string(&line));
    text_done(&line);
}

void app_kept_done(AppKept *kept) {
    free(kept->path);
    free(kept->before);
    text_done(&kept->source);
    text_done(&kept->diff);
    *kept = (AppKept){0};
}

int app_kept_index(const App *app) {
    return app_shows_remedy(app) ? 0 : app->comparison.change[0] ? 1 : app->comparison.active;
}

/* ---- the ladder screen --------------------------------------------------------------------------------- */

void app_next_machine(App *app) {
    Error error = {0};
    Measurements recorded = {0};
    if (!bench_next_machine(app->machine) || !bench_recorded(app->machine, &recorded, &error)) {
        app_say(app, tr("recordings"),
                *error.message ? error.message : tr("there are none of another machine"));
        return;
    }
    measured_done(&app->recorded);
    app->recorded = recorded;
}

bool app_shows_ladder(App *app) {
    return app_view(app)->transient.overlay == OVERLAY_LADDER;
}

void app_count_rungs(App *app) {
    Ladder ladder;
    bool is_live;
    if (app_shows_ladder(app) &&
        view_ladder_gather(app_view(app), comparison_scene(&app->comparison), &ladder, &is_live))
        rung_counting_go_on(&app->rungs, &ladder, app_view(app)->display.ladder.n, app->waits, terminal_wake);
}
