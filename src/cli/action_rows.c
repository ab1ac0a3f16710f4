/* The rows of actions.def, for the checks of options. */
#include "cli/options.h"

const ActionRow action_rows[CLI_ACTION_COUNT] = {
#define SHOWN(action, screen, races, json) [ACTION_##action] = {true, SCREEN_##screen, RACES_##races, json},
#define PRINTED(action, needs)             [ACTION_##action] = {.needs_kernel = needs},
#define RECORDED(action, needs)            [ACTION_##action] = {.needs_kernel = needs},
#include "cli/actions.def"
};

bool options_draws(const Options *options) {
    return action_rows[options->action].screen != SCREEN_NONE;
}

bool options_is_interface(const Options *options) {
    return action_rows[options->action].screen == SCREEN_TERMINAL;
}

bool options_writes_utf8(const Options *options) {
    bool is_for_grader = options->grade == GRADE_GRADESCOPE || options->grade == GRADE_JUNIT;
    return options->html || options->handout || options->svg || is_for_grader;
}
