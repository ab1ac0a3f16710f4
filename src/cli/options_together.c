/* Checks combinations of all other options: pairs that are valid alone but not together. */
#include "cli/options.h"

#include <string.h>

/* --launch replaces the options that describe a single launch. */
static bool check_launches(const RunSpec *session, Error *error) {
    const char *also = session->args          ? "args"
                       : session->entry       ? "entry"
                       : session->grid[0]     ? "grid"
                       : session->block[0]    ? "block"
                       : session->cluster[0]  ? "cluster"
                       : session->has_shared  ? "shared"
                       : session->cooperative ? "cooperative"
                                              : NULL;
    return !session->launches || !also ||
           error_set(error, "--launch describes its launches completely; leave out --%s", also);
}

bool options_has_program(const Options *options) {
    return options->run || options->call || options->program_arguments;
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
    if (options->has_what_if && (!shows_change || options->json || options->sarif))
        return error_set(error, "--what-if goes with --report, --check or --frame, as text");
    if (options->has_what_if && (options->has_compare || options->has_lecture || options->save))
        return error_set(error, "--what-if shows one run before and after; leave out --%s",
                         options->has_compare   ? "compare"
                         : options->has_lecture ? "lecture"
                                                : "save");
    if ((session->residency_count || session->times_shared || session->times_lines) && !session->times_warps)
        return error_set(error, "--%s goes with --timeline",
                         session->residency_count ? "residency" : "timeline-sites");
    if (options->profile && options->action != ACTION_BENCH)
        return error_set(error, "--profile goes with --bench");
    if (options->gpus && options->action != ACTION_BENCH) return error_set(error, "--gpus goes with --bench");
    if (options->gpus && session->kernel && strcmp(session->kernel, "fastest") != 0)
        return error_set(error, "--gpus sums an array with the kernel fastest, not %s", session->kernel);
    if (!options_check_page(options, error) || !options_check_lecture(options, error) ||
        !options_check_exercise(options, error))
        return false;
    if (!row->needs_kernel || options->has_lecture || options->has_exercise) return true;
    if (session->saved && options->first_for_run)
        return error_set(error, "--%s is for a run; %s is a saved run with its own settings",
                         options->first_for_run, session->saved);
    if (options->sizes && !options->call)
        return error_set(error, "--n %s: several sizes go with --call", options->sizes);
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
    if (!check_launches(session, error)) return false;
    if (session->kernel && (session->block[1] > 1 || session->block[2] > 1))
        return error_set(error, "--block: kernels of the catalogue take one number, the threads per block");
    if (session->kernel && (session->grid[1] > 1 || session->grid[2] > 1))
        return error_set(error, "--grid: kernels of the catalogue take one number, the blocks");
    if (options->json && !row->has_json)
        return error_set(error, "--json goes with --report, --sass, --check, --list or --bench");
    if (options->json && options->sarif)
        return error_set(error, "--check=sarif and --json are two forms: give one of them");
    if (options->watch && row->screen != SCREEN_TERMINAL)
        return error_set(error, "--watch goes with the interface, not with --%s", options->action_name);
    if (options->plain && (row->screen != SCREEN_TERMINAL || options->record_cast))
        return error_set(error, "--plain goes with the interface, not with --%s",
                         options->record_cast ? "record-cast" : options->action_name);
    if (options->svg && options->action != ACTION_FRAME) return error_set(error, "--svg goes with --frame");
    if (options->record_cast && !options_draws(options))
        return error_set(
            error, "--record-cast records the interface, or --frame with its --keys; --%s shows no frames",
            options->action_name);
    return true;
}
