/* Checks combinations that the rules of options.def do not say: of an option and what is shown, or what is
 * run. */
#include "cli/options.h"

#include "tui/view/keys.h"
#include <string.h>

bool options_has_program(const Options *options) {
    return options->run || options->call || options->program_arguments;
}

static bool check_predict(const Options *options, Error *error) {
    if (!options->predict) return true;
    if (!options_draws(options))
        return error_set(
            error, "--predict goes with the interface, --frame, --html and --record-cast, not with --%s",
            options->action_name);
    return true;
}

static bool check_lecture(const Options *options, Error *error) {
    const RunSpec *session = &options->session;
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
    if (options->check_log)
        return error_set(error, "--check=%s is for one run, not for a lecture", options->check_log);
    return options->lecture || options->action == ACTION_LECTURES ||
           error_set(error, "--%s needs a lecture: --lecture NAME; --lecture alone lists them",
                     options->action_name);
}

void options_choose_page(Options *options) {
    if (!options->html && !options->handout) return;
    if (options->action != ACTION_OPEN && options->action != ACTION_FRAME) return;
    options->action = ACTION_PAGE; /* --frame gives the size of its frames */
    options->action_name = options->html ? "html" : "handout";
}

static bool check_page(const Options *options, Error *error) {
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

/* "1,000" was meant as a number, other lists as several. */
static bool refuse_sizes(const char *sizes, Error *error) {
    char plain[32] = "";
    size_t group = strcspn(sizes, ","), length = 0;
    bool is_number = group >= 1 && group <= 3 && strlen(sizes) < sizeof plain;
    for (const char *at = sizes + group; is_number && *at; at += 4)
        is_number = *at == ',' && strspn(at + 1, "0123456789") == 3;
    for (const char *at = sizes; is_number && *at; at++)
        if (*at != ',') plain[length++] = *at;
    if (is_number)
        return error_set(error,
                         "--n %s: one number is written without commas, %s; several sizes go with --call",
                         sizes, plain);
    return error_set(error, "--n %s: several sizes go with --call; give one number", sizes);
}

bool options_check_together(const Options *options, Error *error) {
    const RunSpec *session = &options->session;
    const ActionRow *row = &action_rows[options->action];
    if (options->action == ACTION_BENCH && options->save && !session->kernel)
        return error_set(error, "--bench --save keeps timings with the run of a kernel: give --kernel NAME");
    if (!row->needs_kernel && options->action != ACTION_BENCH && options->save)
        return error_set(error, "--save keeps a run, and --%s makes none", options->action_name);
    if (options->action == ACTION_TIMELINE && options->save)
        return error_set(error,
                         "--timeline --save: a session file keeps no timelines of warps; write them to a "
                         "file with --timeline=tsv >");
    if (options->action == ACTION_LADDER && (session->kernel || session->file || session->saved))
        return error_set(error, "--ladder shows all rungs: it takes --n, --dtype and --op, and no kernel");
    if (options->action == ACTION_BENCH && (session->file || session->saved))
        return error_set(error, "--bench times kernels of the catalogue");
    if (options->has_index && !options_draws(options) && options->action != ACTION_INDEX)
        return error_set(
            error, "--index opens the index lab, and goes with --frame; with --report it takes no kernel");
    bool shows_change = options->action == ACTION_OPEN || options->action == ACTION_FRAME ||
                        options->action == ACTION_RECORD || options->action == ACTION_REPORT ||
                        options->action == ACTION_CHECK;
    if (options->has_what_if && (!shows_change || options->json || options->check_log))
        return error_set(error, "--what-if goes with --report, --check or --frame, as text");
    if (options->gpus && session->kernel && strcmp(session->kernel, "fastest") != 0)
        return error_set(error, "--gpus sums an array with the kernel fastest, not %s", session->kernel);
    if (!check_page(options, error) || !check_lecture(options, error) ||
        !options_check_exercise(options, error))
        return false;
    if (!row->needs_kernel || options->has_lecture || options->has_exercise) return true;
    const LaunchChoice *launches = &options->launches;
    if ((launches->kernel || launches->skip || launches->count) && !options_has_program(options))
        return error_set(error, "--%s chooses launches of a program: redviz --check ... -- PROGRAM ARGS",
                         launches->kernel ? "kernel-name"
                         : launches->skip ? "launch-skip"
                                          : "launch-count");
    if (session->saved && options->first_for_run)
        return error_set(error, "--%s is for a run; %s is a saved run with its own settings",
                         options->first_for_run, session->saved);
    if (options->sizes && !options->call) return refuse_sizes(options->sizes, error);
    if (options_has_program(options)) return true;
    if (!session->kernel && !session->file && !session->saved)
        return error_set(error, "nothing to show: give --kernel NAME (redviz --list names them), FILE.cu, "
                                "FILE.ptx or FILE.redviz");
    if (session->file && options->first_for_kernel)
        return error_set(error, "--%s is for kernels of the catalogue, not for a file",
                         options->first_for_kernel);
    if (session->kernel && options->first_for_compiled && !session->source)
        return error_set(error,
                         "--%s is for FILE.cu and FILE.ptx, or with --source for a kernel of the catalogue",
                         options->first_for_compiled);
    if (session->kernel && options->first_for_file)
        return error_set(error, "--%s is for FILE.cu and FILE.ptx; a kernel of the catalogue brings its own",
                         options->first_for_file);
    if (session->kernel && (session->block[1] > 1 || session->block[2] > 1))
        return error_set(error, "--block: kernels of the catalogue take one number, the threads per block");
    if (session->kernel && (session->grid[1] > 1 || session->grid[2] > 1))
        return error_set(error, "--grid: kernels of the catalogue take one number, the blocks");
    if (options->json && !row->has_json)
        return error_set(error, "--json goes with --report, --sass, --check, --list or --bench");
    if (options->json && options->check_log)
        return error_set(error, "--check=%s and --json are two forms: give one of them", options->check_log);
    if (options->watch && row->screen != SCREEN_TERMINAL)
        return error_set(error, "--watch goes with the interface, not with --%s", options->action_name);
    if (options->plain && (row->screen != SCREEN_TERMINAL || options->record_cast))
        return error_set(error, "--plain goes with the interface, not with --%s",
                         options->record_cast ? "record-cast" : options->action_name);
    if (options->record_cast && !options_draws(options))
        return error_set(
            error, "--record-cast records the interface, or --frame with its --keys; --%s shows no frames",
            options->action_name);
    return true;
}
