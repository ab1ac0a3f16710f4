#define _XOPEN_SOURCE 700
#include "cli/program_offer.h"

#include "base/interrupt.h"
#include "cli/finish.h"
#include "cli/program_call.h"
#include "cli/program_start.h"
#include "runtime/launch_list.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static Program *build_and_run_held(const Options *options, Error *error) {
    char folder[PATH_MAX], path[PATH_MAX + 16];
    BuildProgram build = {0};
    if (!program_build(options, &build, folder, sizeof folder, error)) return NULL;
    snprintf(path, sizeof path, "%s/program", folder);
    size_t count = 0;
    while (options->program_arguments && options->program_arguments[count]) count++;
    const char **arguments = memory_new((count + 2) * sizeof *arguments);
    arguments[0] = path;
    for (size_t i = 0; i < count; i++) arguments[i + 1] = options->program_arguments[i];
    Program *program = program_start(options, arguments, false, error);
    free(arguments);
    build_program_remove(folder);
    return program;
}

/* A signal ends redviz when its files are removed. */
static Program *build_and_run(const Options *options, Error *error) {
    interrupt_hold();
    Program *program = build_and_run_held(options, error);
    interrupt_release();
    return program;
}

Program *program_offer_open(Options *options, Error *error) {
    Program *program =
        options->call ? program_call_open(options, error)
        : options->run_files
            ? build_and_run(options, error)
            : program_start(options, (const char *const *)options->program_arguments, false, error);
    if (!program) return NULL;
    if (options->run_files && !options->run_files[1] && text_is_cuda_source(options->run_files[0]))
        program->source = options->run_files[0];
    RunSpec *session = &options->session;
    bool good = true;
    session->program = program;
    if (options->at)
        good = run_spec_set(session, "at", options->at, error);
    else
        session->launch = captured_choose(program->capture);
    if (good) return program;
    program_free(program);
    return NULL;
}

/* The program made no launch, which is no fault of its own. */
static int say_no_launch(const Options *options, const Program *program, Error *error) {
    Text end = {0};
    bool has_text = options->action == ACTION_REPORT || options->action == ACTION_CHECK;
    if (!program->prints && !options->json) fputs(text_string(&program->output), stderr); /* it may say why */
    program_describe_end(program, &end);
    int status = captured_lacks(program->capture) ? NOT_EMULATED
                 : program_has_failed(program)    ? RUN_FAILED
                                                  : DONE;
    if (program->static_runtime) {
        error_set(error, "the program's launches cannot be seen: %s", program->static_runtime);
        finish_refuse(error);
        status = NOT_EMULATED;
    } else if (status == DONE && has_text && !options->json && !options->check_log) {
        printf("no launch: the program %s and launched no kernel\n", text_string(&end));
    } else {
        error_set(error, "the program %s and launched no kernel", text_string(&end));
        finish_refuse(error);
    }
    text_done(&end);
    return status;
}

int program_offer_refuse(const Options *options, const Program *program, Error *error) {
    Text out = {0};
    int errors = host_findings_count_errors(program, options->tool),
        launches = program->capture->launch_count;
    if (options->json) {
        Json object = {.out = &out};
        json_open_object(&object, NULL);
        launch_list_put_json(program, &object);
        json_close_object(&object);
        text_add(&out, "\n");
    } else if (options->check_log) {
        /* perform_check_unlaunched() prints them */
    } else if (launches || errors) {
        const LaunchShown none = {.launch = -1};
        launch_list_print(program, 0, &none, &out);
    } else {
        host_findings_print(program, options->tool, &out); /* notes of what is missing */
    }
    finish_print(&out);
    return launches || errors ? RUN_FAILED : say_no_launch(options, program, error);
}
