/* Remedies of slow findings, tried in a copy beside the run until Escape. */
#include "ask/ask.h"
#include "tui/app_state.h"

#include "base/language.h"
#include <string.h>

/* The run that remedies are for. */
static Session *base_of(const App *app) {
    return app->slots[app_shows_remedy(app) ? 0 : app->comparison.active].current.session;
}

/* The selected finding, else the first slow one; -1: none is slow. */
static int finding_of(App *app, Session *base) {
    const Findings *list = ask_verdict(base);
    int selected = app_view(app)->selection.hazard - 1;
    if (app_shows_remedy(app)) return session_spec(app->slots[1].current.session)->what_if.finding;
    if (selected >= 0 && selected < list->count) return selected;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].severity == SEVERITY_SLOW) return i;
    return -1;
}

static void say_none(App *app, Session *base, int finding) {
    const Findings *list = ask_verdict(base);
    View *view = app_view(app);
    char *message = view->transient.message;
    size_t bytes = sizeof view->transient.message;
    if (session_is_from_file(base))
        snprintf(message, bytes, "%s", tr("a saved session does not run again"));
    else if (finding < 0)
        snprintf(message, bytes, "%s", tr("no slow place: nothing to try"));
    else if (list->items[finding].severity != SEVERITY_SLOW)
        snprintf(message, bytes, "%s", tr("remedies are for errors and slow places"));
    else if (list->items[finding].kind == FINDING_IDLE_LANES)
        snprintf(message, bytes, tr("redviz cannot rewrite line %d; f says what to do"),
                 list->items[finding].access.line);
    else
        snprintf(message, bytes, tr("redviz cannot rewrite line %d; the kernel %s shows what to do: c"),
                 list->items[finding].access.line, ask_shown_by(list->items[finding].kind));
}

static void app_try_number(App *app, Session *base, int finding, int number) {
    AskRemedy remedies[ASK_REMEDIES];
    RunSpec options;
    Error error = {0};
    Arena arena = {0};
    ask_remedies(base, finding, remedies);
    app->tried = (AppTry){.base = base, .finding = finding, .number = number};
    if (!ask_try_remedy(base, finding, number, &arena, &options, &error)) {
        app_say(app, remedies[number].name, error.message);
    } else if (remedies[number].kind == ASK_NEXT) {
        if (app_shows_remedy(app)) app_keep_alone(app, 0);
        app_open_beside(app, &options, remedies[number].name);
    } else {
        app->tried.is_opening = true;
        app_show_changed(app, &options, remedies[number].name);
    }
    arena_done(&arena);
}

void app_try(App *app) {
    AskRemedy remedies[ASK_REMEDIES];
    Session *base = base_of(app);
    int finding = finding_of(app, base), count = ask_remedies(base, finding, remedies);
    int wanted = app_view(app)->transient.wanted_remedy;
    bool has_other = app->comparison.count == 2 && !app_shows_remedy(app);
    bool is_next = app->tried.base == base && app->tried.finding == finding;
    int number = wanted ? wanted - 1 : is_next ? (app->tried.number + 1) % (count ? count : 1) : 0;
    if (has_other) {
        app_say(app, tr("a remedy"), tr("takes the place of the other run: S closes that first"));
    } else if (finding >= 0 && ask_verdict(base)->items[finding].severity == SEVERITY_ERROR) {
        app_mend(app, app->comparison.active, finding);
    } else if (!count) {
        say_none(app, base, finding);
    } else if (number >= count) {
        Text names = {0};
        for (int i = 0; i < count; i++) text_print(&names, "%s%d %s", i ? "  " : "", i + 1, remedies[i].name);
        app_say(app, tr("remedies"), text_string(&names));
        text_done(&names);
    } else {
        app_try_number(app, base, finding, number);
    }
}

bool app_try_kind(App *app, AskRemedyKind kind, Error *error) {
    static const char *const names[] = {"pad", "swizzle", "next"};
    Session *base = base_of(app);
    int finding, number;
    if (!ask_find_remedy(base, kind, &finding, &number))
        return error_set(error, "--what-if %s: no slow place of this run has this remedy", names[kind]);
    app_try_number(app, base, finding, number);
    return true;
}
