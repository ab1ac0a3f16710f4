/* The remedy on the screen: the run without it on the left, the copy with it on the right. */
#include "ask/ask.h"
#include "tui/app_state.h"

#include "base/language.h"

bool app_shows_remedy(const App *app) {
    return app->comparison.change[0] && session_spec(app->slots[1].current.session)->what_if.label;
}

void app_report_try(App *app) {
    AskRemedy remedies[ASK_REMEDIES];
    Text line = {0};
    if (!app_shows_remedy(app)) return;
    Session *base = app->slots[0].current.session, *copy = app->slots[1].current.session;
    const SessionWhatIf *what_if = &session_spec(copy)->what_if;
    int count = ask_remedies(base, what_if->finding, remedies);
    ask_remedy_change(base, copy, what_if->finding, what_if->number, &line);
    if (count > 1) text_print(&line, tr("   I: %s"), remedies[(what_if->number + 1) % count].name);
    text_add(&line, tr("   Esc: back"));
    snprintf(app_view(app)->transient.message, sizeof app_view(app)->transient.message, "%s",
             text_string(&line));
    text_done(&line);
}

int app_kept_index(const App *app) {
    return app_shows_remedy(app) ? 0 : app->comparison.change[0] ? 1 : app->comparison.active;
}
