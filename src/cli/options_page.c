/* Checks combinations of the options that write a page, a handout or a moving image. */
#include "cli/options.h"

#include "tui/view/keys.h"

void options_choose_page(Options *options) {
    if (!options->html && !options->handout) return;
    if (options->action != ACTION_OPEN && options->action != ACTION_FRAME) return;
    options->action = ACTION_PAGE; /* --frame gives the size of its frames */
    options->action_name = options->html ? "html" : "handout";
}

bool options_check_page(const Options *options, Error *error) {
    if (options->handout && !options->has_lecture) return error_set(error, "--handout goes with --lecture");
    if (options->html && options->handout)
        return error_set(error, "--html and --handout write different files: give one of them");
    if ((options->html || options->handout) && options->action != ACTION_PAGE)
        return error_set(error, "--%s goes with a run or a lecture, not with --%s",
                         options->html ? "html" : "handout", options->action_name);
    if (options->svg && options->record_cast && options->keys && key_script_has_pause(options->keys))
        return error_set(error, "--record-cast and a moving --svg both play the keys: give one of them");
    if (options->action == ACTION_PAGE && options->record_cast)
        return error_set(error, "--record-cast and --%s write different files: give one of them",
                         options->action_name);
    return true;
}
