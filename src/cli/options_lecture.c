/* Checks combinations of the options for lectures and questions. */
#include "cli/options.h"

#include <string.h>

static bool check_predict(const Options *options, Error *error) {
    if (!options->predict) return true;
    if (options->has_lecture)
        return error_set(error, "--predict asks about one run; a lecture has its own questions");
    if (!options_draws(options))
        return error_set(
            error, "--predict goes with the interface, --frame, --html and --record-cast, not with --%s",
            options->action_name);
    if (options->has_compare || options->watch)
        return error_set(error, "--predict asks about one run: without --%s",
                         options->has_compare ? "compare" : "watch");
    return true;
}

bool options_check_lecture(const Options *options, Error *error) {
    const RunSpec *session = &options->session;
    if (options->stop && !options->has_lecture) return error_set(error, "--stop goes with --lecture");
    if (options->no_predict && !options->has_lecture)
        return error_set(error, "--no-predict goes with --lecture");
    if (!options->has_lecture || options->predict) return check_predict(options, error);
    if (session->kernel || session->file || session->saved || options->has_compare)
        return error_set(error, "--lecture brings its own kernels: give no other");
    if (!options_draws(options) && options->action != ACTION_CHECK && options->action != ACTION_LECTURES)
        return error_set(error,
                         "--lecture goes with the interface, --check, --frame, --html, --handout and "
                         "--record-cast, not with --%s",
                         options->action_name);
    if (options->first_for_run && strcmp(options->first_for_run, "backend") != 0 &&
        strcmp(options->first_for_run, "threads") != 0)
        return error_set(error, "--%s is for one run; a lecture brings its own settings",
                         options->first_for_run);
    if (options->save) return error_set(error, "--save keeps one run; a lecture has several");
    if (options->sarif) return error_set(error, "--check=sarif is for one run, not for a lecture");
    return options->lecture || options->action == ACTION_LECTURES ||
           error_set(error, "--%s needs a lecture: --lecture NAME; --lecture alone lists them",
                     options->action_name);
}
