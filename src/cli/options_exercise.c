/* Takes and checks the options of exercises. */
#define _POSIX_C_SOURCE 200809L

#include "cli/options.h"

#include <string.h>
#include <sys/stat.h>

/* Of two words, in any order, the exercise is FILE.md, or the one that is no file. */
static bool is_exercise(const char *word) {
    struct stat status;
    bool is_source = text_is_cuda_source(word) || text_ends_with(word, ".ptx");
    return text_ends_with(word, ".md") || (!is_source && stat(word, &status) != 0);
}

bool options_take_exercise(Options *options, int count, char **words, Error *error) {
    int used = 0;
    for (; used < count; used++) {
        bool needs_name = options->has_exercise && !options->exercise;
        bool needs_file = options->grades && !options->submission;
        if (needs_name && (!needs_file || is_exercise(words[used])))
            options->exercise = words[used];
        else if (needs_file)
            options->submission = words[used];
        else
            break;
    }
    return used == count ||
           error_set(error, "%s: --exercise takes one NAME or FILE.md, --grade one FILE.cu or folder",
                     words[used]);
}

bool options_check_exercise(const Options *options, Error *error) {
    const RunSpec *session = &options->session;
    if (options->grades && !options->exercise) return error_set(error, "--grade needs --exercise NAME");
    if (options->grades && !options->submission)
        return error_set(error, "--grade needs the file to grade: --exercise %s --grade FILE.cu",
                         options->exercise);
    if (!options->has_exercise) return true;
    if (session->kernel || session->file || session->saved || options->has_compare || options->has_lecture)
        return error_set(error, "--exercise brings its own kernel: give no other");
    if (options->action != ACTION_OPEN && options->action != ACTION_FRAME &&
        options->action != ACTION_CHECK && options->action != ACTION_EXERCISES)
        return error_set(error,
                         "--exercise goes with the interface, --frame, --check and --grade, not with --%s",
                         options->action_name);
    if (options->first_for_run && strcmp(options->first_for_run, "threads") != 0 &&
        strcmp(options->first_for_run, "compiler") != 0 &&
        strcmp(options->first_for_run, "max-instructions") != 0 &&
        !(options->grades && !strcmp(options->first_for_run, "seed")))
        return error_set(error, "--%s is for one run; an exercise brings its own settings",
                         options->first_for_run);
    if (options->check_log) return error_set(error, "--exercise goes without --check=%s", options->check_log);
    return options->exercise || options->action == ACTION_EXERCISES ||
           error_set(error, "--%s needs an exercise: --exercise NAME; --exercise alone lists them",
                     options->action_name);
}
