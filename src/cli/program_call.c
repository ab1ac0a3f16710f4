#define _XOPEN_SOURCE 700
#include "cli/program_call.h"

#include "base/interrupt.h"
#include "base/number.h"
#include "cli/finish.h"
#include "cli/program_start.h"
#include "expect/expect.h"
#include "plan/expression.h"
#include "runtime/host_call.h"
#include "runtime/launch_list.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = 64, USUAL_N = 4096, POISON = 0xA5, SHORT_SECONDS = 5 /* of a call that is made again */ };

typedef struct Caller {
    Options *options;
    Call call;
    char folder[PATH_MAX]; /* of the program and its files */
} Caller;

static bool write_file(const char *path, const void *bytes, size_t count, Error *error) {
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(bytes, 1, count, file) == count;
    if (file) good &= !fclose(file);
    return good || error_set(error, "%s: %s", path, strerror(errno));
}

static size_t bytes_of(const PlanBuffer *buffer) {
    return (size_t)buffer->count * (size_t)ptx_type_bytes(buffer->type);
}

/* The arguments of the generated program: three for each buffer, one for each number. The list is the
 * caller's, its texts are in the plan's arena. */
static const char **make_arguments(const Caller *caller, Plan *plan, Error *error) {
    const PlanLaunch *launch = &plan->launches[0];
    const char **arguments =
        memory_new(((size_t)plan->buffer_count * 3 + (size_t)launch->argument_count + 2) * sizeof *arguments);
    int count = 0;
    bool good = true;
    arguments[count++] = arena_print(&plan->arena, "%s/program", caller->folder);
    for (int b = 0; b < plan->buffer_count && good; b++) {
        const PlanBuffer *buffer = &plan->buffers[b];
        bool is_filled = call_fills(&caller->call, buffer->name) && buffer->fill != FILL_UNWRITTEN;
        const char *from = arena_print(&plan->arena, "%s/in%d", caller->folder, b);
        if (is_filled) good = write_file(from, buffer->bytes, bytes_of(buffer), error);
        arguments[count++] = arena_print(&plan->arena, "%zu", bytes_of(buffer));
        arguments[count++] = is_filled ? from : "";
        arguments[count++] = arena_print(&plan->arena, "%s/out%d", caller->folder, b);
    }
    for (int i = 0; i < launch->argument_count; i++) {
        double number;
        if (launch->arguments[i].buffer >= 0 || launch->arguments[i].byte_count != 8) continue;
        memcpy(&number, launch->arguments[i].bytes, 8);
        arguments[count++] = arena_print(&plan->arena, "%.17g", number);
    }
    if (good) return arguments;
    free(arguments);
    return NULL;
}

static bool read_outputs(const Caller *caller, Plan *done) {
    for (int b = 0; b < done->buffer_count; b++) {
        char path[2 * PATH_MAX], *bytes;
        size_t length;
        snprintf(path, sizeof path, "%s/out%d", caller->folder, b);
        bool good = text_read_file(path, (size_t)1 << 34, &bytes, &length, NULL) &&
                    length == bytes_of(&done->buffers[b]);
        remove(path);
        if (!good) return false;
        free(done->buffers[b].bytes);
        done->buffers[b].bytes = bytes;
    }
    return true;
}

/* It holds poison alone. */
static bool is_unwritten(const PlanBuffer *buffer) {
    const uint8_t *bytes = buffer->bytes;
    for (size_t i = 0; i < bytes_of(buffer); i++)
        if (bytes[i] != POISON) return false;
    return true;
}

/* False: an output was not written. */
static bool print_outputs(const Call *call, const Plan *plan, Text *out) {
    enum { SHOWN = 4 };
    bool all = true;
    for (int b = 0; b < plan->buffer_count; b++) {
        const PlanBuffer *buffer = &plan->buffers[b];
        bool is_filled = call_fills(call, buffer->name);
        if (is_filled && buffer->fill != FILL_ZERO) continue;
        if (!is_filled && is_unwritten(buffer)) {
            text_print(out, " %s is not written", buffer->name);
            all = false;
            continue;
        }
        text_print(out, " %s =", buffer->name);
        for (uint64_t i = 0; i < buffer->count && i < SHOWN; i++) {
            text_add(out, " ");
            plan_element_print(buffer->type, buffer->bytes, i, out);
        }
        if (buffer->count > SHOWN) text_add(out, " ...");
    }
    return all;
}

/* How the launches round, as their code says; a warp makes fewer additions than its block executes
 * instructions. */
static Arithmetic arithmetic_of(const Program *program) {
    Arithmetic arithmetic = {0};
    const Captured *capture = program->capture;
    for (int i = 0; i < capture->launch_count; i++) {
        const CapturedLaunch *launch = captured_original(capture, i);
        uint64_t blocks = launch_volume(launch->grid);
        arithmetic.depth += launch->instructions / (blocks ? blocks : 1) + 1;
        arithmetic.atomics += launch->atomics;
        if (launch != &capture->launches[i] || launch->module < 0 || launch->module >= capture->module_count)
            continue;
        const CapturedModule *from = &capture->modules[launch->module];
        PtxModule *module =
            from->ptx ? ptx_module_parse(from->ptx, strlen(from->ptx), from->name, NULL) : NULL;
        PtxFunction *entry = module && launch->entry ? ptx_module_find(module, launch->entry) : NULL;
        PtxProgram *linked = entry ? ptx_program_link(module, entry, NULL) : NULL;
        if (linked) arithmetic_add(&arithmetic, linked, NULL);
        ptx_program_free(linked);
        ptx_module_free(module);
    }
    return arithmetic;
}

/* Runs the program with another input that shows more than this one, if there is one. False: it is wrong
 * there; `what` says how. */
static bool is_right_for_other(const Caller *caller, const ExpectRun *run, ExpectResult *result, Text *what) {
    Plan other, done;
    Text input = {0};
    ExpectOther of = {0};
    bool is_right = true;
    const char *expect = caller->options->session.expect;
    plan_copy(run->filled, &other);
    bool good = expect_other_input(expect, run, &other, &of, &input) &&
                plan_fill(&other, caller->options->session.catalog.seed, NULL);
    const char **arguments = good ? make_arguments(caller, &other, NULL) : NULL;
    Program *program = arguments ? program_start(caller->options, arguments, true, NULL) : NULL;
    plan_copy(&other, &done);
    if (program && read_outputs(caller, &done) && !program_has_failed(program)) {
        ExpectRun again = {.filled = &other, .done = &done, .n = run->n, .arithmetic = run->arithmetic};
        ExpectResult found;
        Text name = {0};
        is_right =
            !expect_compare(expect, &again, &found, &name, NULL) || !expect_other_is_wrong(&of, &found);
        if (!is_right) *result = found;
        if (!is_right) text_print(what, ", %s; with the input as given no fault shows", text_string(&input));
        text_done(&name);
    }
    program_free(program);
    free(arguments);
    plan_free(&done);
    plan_free(&other);
    text_done(&input);
    return is_right;
}

static bool judge_outputs(const Caller *caller, Program *program, const ExpectRun *run, bool *is_right,
                          Text *line, Error *error) {
    ExpectResult result;
    Text what = {0};
    bool good = expect_compare(caller->options->session.expect, run, &result, &what, error);
    *is_right = good && result.correct &&
                (program->seconds > SHORT_SECONDS || is_right_for_other(caller, run, &result, &what));
    if (good)
        text_print(line, " result %s, expected %s: %s", result.result_text, result.expected_text,
                   !*is_right       ? "WRONG"
                   : result.verdict ? result.verdict
                                    : "ok");
    if (good && *is_right && result.absolute_error > 0)
        text_print(line, ", off by %.2g (%.2g allowed)", result.absolute_error, result.bound);
    if (good) text_print(line, ", %s", text_string(&what));
    if (good && !*is_right)
        program->wrong_result = arena_print(&program->capture->arena, "%s, expected %s", result.result_text,
                                            result.expected_text);
    text_done(&what);
    return good;
}

/* One line: "n = 4,097: result 1, expected 2: WRONG". False: it could not be compared. */
static bool judge(const Caller *caller, Program *program, const Plan *filled, uint64_t n, Error *error) {
    Text line = {0};
    Plan done;
    plan_copy(filled, &done);
    bool has_output = read_outputs(caller, &done), is_right = has_output && !program_has_failed(program),
         good = true;
    if (expression_mentions(caller->call.items, "n")) text_print(&line, "n = %" PRIu64 ":", n);
    if (!is_right) {
        text_add(&line, " the program ");
        program_describe_end(program, &line);
    } else if (caller->options->session.expect) {
        ExpectRun run = {.filled = filled, .done = &done, .n = n, .arithmetic = arithmetic_of(program)};
        good = judge_outputs(caller, program, &run, &is_right, &line, error);
        program->is_judged = good;
    } else {
        is_right = print_outputs(&caller->call, &done, &line);
        text_add(&line, " (not checked; --expect)");
    }
    if (good && !caller->options->json && !options_draws(caller->options))
        printf("%s\n", text_string(&line) + (*text_string(&line) == ' '));
    plan_free(&done);
    text_done(&line);
    caller->options->call_failed |= !is_right;
    return good;
}

static Program *run_size(const Caller *caller, uint64_t n, Error *error) {
    Plan plan;
    if (!call_plan(&caller->call, n, &plan, error)) return NULL;
    bool good = plan_fill(&plan, caller->options->session.catalog.seed, error);
    const char **arguments = good ? make_arguments(caller, &plan, error) : NULL;
    Program *program = arguments ? program_start(caller->options, arguments, false, error) : NULL;
    if (program && !judge(caller, program, &plan, n, error)) {
        program_free(program);
        program = NULL;
    }
    free(arguments);
    plan_free(&plan);
    return program;
}

static int read_sizes(const Options *options, uint64_t sizes[MOST_SIZES], Error *error) {
    const char *at = options->sizes;
    int count = 0;
    if (!at) {
        sizes[0] = options->session.catalog.n ? options->session.catalog.n : USUAL_N;
        return 1;
    }
    while (count < MOST_SIZES && number_read(&at, &sizes[count]) && sizes[count++] && *at == ',') at++;
    if (!*at && count) return count;
    error_set(error, "--n: '%s' is not a list of numbers, 1,31,1000", options->sizes);
    return 0;
}

/* Always false. The compiler's message about an unknown function points into the generated program, which no
 * one can read. */
static bool explain_unknown(const Call *call, const char *source, Error *error) {
    char nvcc[256], clang[256];
    snprintf(nvcc, sizeof nvcc, "identifier \"%.200s\" is undefined", call->function);
    snprintf(clang, sizeof clang, "undeclared identifier '%.200s'", call->function);
    if (error && (strstr(error->message, nvcc) || strstr(error->message, clang))) {
        *error = (Error){0};
        call_refuse_function(call->function, source, error);
    }
    return false;
}

static bool build(Caller *caller, Error *error) {
    char *source = NULL, path[PATH_MAX];
    size_t length;
    Plan plan;
    Text text = {0}, main_text = {0};
    const Options *options = caller->options;
    const char *file = options->run_files[0];
    if (!realpath(file, path) || !text_read_file(path, 64 << 20, &source, &length, error))
        return error_set_at(error, file, 0, 0, "%s", strerror(errno));
    bool good =
        call_read(options->call, source, &caller->call, error) && call_plan(&caller->call, 1, &plan, error);
    if (!good) {
        free(source);
        return false;
    }
    if (caller->call.is_proposed && !options->json && !options_draws(options))
        printf("guessed from its signature: --call '%s(%s)'\n", caller->call.function, caller->call.items);
    call_write_main(&caller->call, &plan, path, &text, &main_text);
    BuildProgram build = {.text = text_string(&text), .main_text = text_string(&main_text)};
    good = program_build(options, &build, caller->folder, sizeof caller->folder, error) ||
           explain_unknown(&caller->call, source, error);
    free(source);
    plan_free(&plan);
    text_done(&text);
    text_done(&main_text);
    return good;
}

Program *program_call_open(Options *options, Error *error) {
    Caller *caller = memory_new(sizeof *caller);
    uint64_t sizes[MOST_SIZES];
    Program *program = NULL;
    int count = read_sizes(options, sizes, error);
    caller->options = options;
    interrupt_hold();
    bool is_built = count && build(caller, error);
    for (int i = 0; i < count && is_built && !interrupt_waits(); i++) {
        program_free(program);
        program = run_size(caller, sizes[i], error);
        if (!program) break;
    }
    if (is_built) build_program_remove(caller->folder);
    interrupt_release();
    options->session.expect = NULL; /* it was of the whole call */
    call_done(&caller->call);
    free(caller);
    return program;
}
