/* The screens of a program's run: its launches, what it printed, and going from one to the next.
 *
 * The program is made here: its calls are given to the emulated device as the CUDA library would send
 * them. */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/memory.h"
#include "golden.h"
#include "pty.h"
#include "runtime/emulated_device.h"
#include "runtime/user_program.h"
#include "session/session.h"
#include "session/state.h"
#include "stage.h"
#include "tests/cli/program.h"
#include "tests/gpu/libraries.h"
#include "tui/app.h"
#include "tui/frame.h"
#include "tui/panes/pane.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAD ".version 7.5\n.target sm_75\n.address_size 64\n"

/* a[i] = 3 for each of the first n elements */
static const char fill_ptx[] = HEAD ".visible .entry fill(.param .u64 a, .param .u32 n) {\n"
                                    ".reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
                                    "ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n];\n"
                                    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
                                    "mad.lo.u32 %r5, %r2, %r3, %r4;\n"
                                    "setp.ge.u32 %p1, %r5, %r1; @%p1 bra $end;\n"
                                    "mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2;\n"
                                    "mov.u32 %r6, 3; st.global.u32 [%rd3], %r6;\n"
                                    "$end: ret; }\n";

/* Each thread adds its element to *sum, after it has stored it 2 words apart in shared memory. */
static const char sum_ptx[] =
    HEAD ".visible .entry sum_of_everything(.param .u64 a, .param .u64 sum) {\n"
         ".reg .b32 %r<8>; .reg .b64 %rd<8>; .shared .align 4 .b8 s[512];\n"
         "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [sum]; mov.u32 %r1, %tid.x;\n"
         "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4];\n"
         "shl.b32 %r3, %r1, 3; mov.u32 %r4, s; add.u32 %r5, %r4, %r3; st.shared.u32 [%r5], %r2;\n"
         "ld.shared.u32 %r6, [%r5]; red.global.add.u32 [%rd2], %r6; ret; }\n";

/* ---- a program ----------------------------------------------------------------------------------------- */

typedef struct Made {
    Program program;
    Device *device;
} Made;

static uint32_t add_function(Device *device, uint32_t module, const char *ptx, const char *name) {
    MessageFunction function = {0};
    MessageParameter *parameters = NULL;
    device_add_module(device, &(MessageModule){module, FORMAT_PTX}, ptx, strlen(ptx));
    device_find_function(device, module, name, &function, &parameters);
    free(parameters);
    assert_int_equal(function.error, 0);
    return function.number;
}

static uint64_t allocate(Device *device, uint64_t bytes, const char *name) {
    MessagePlace place;
    device_allocate(device, &(MessageAllocate){.bytes = bytes}, &place);
    assert_int_equal(place.error, 0);
    device->capture->memories[device->capture->memory_count - 1].name = name;
    return place.address;
}

static void launch(Device *device, uint32_t function, uint32_t blocks, uint32_t threads, uint64_t a,
                   uint64_t b, int line) {
    uint64_t parameters[] = {a, b};
    MessageLaunch asked = {.function = function,
                           .grid = {blocks, 1, 1},
                           .block = {threads, 1, 1},
                           .refused = threads > 1024 ? 9 : 0, /* cudaErrorInvalidConfiguration */
                           .parameter_bytes = sizeof parameters};
    device_launch(device, &asked, (const uint8_t *)parameters);
    CapturedLaunch *added = &device->capture->launches[device->capture->launch_count - 1];
    added->seconds = 0.02; /* no clock in a golden */
    added->file = "/home/user/sums.cu";
    added->line = line;
    added->place = arena_print(&device->capture->arena, "sums.cu:%d", line);
}

static void print_output(Text *out) {
    text_add(out, "\033[31mred\033[0m \033]0;title\007and \007plain\r\nworking  10 %\rworking 100 %\n");
    for (int i = 1; i <= 30; i++) text_print(out, "line %d\n", i);
    text_add(out, "sum 192: Test passed\n\n");
}

/* Launches 1 to 10: fill, sum (of an untouched word), sum, its two repeats, one that is refused, fill of
 * another size, its repeat, fill of memory that is not there, and one that is not executed any more. */
static Made *make(void) {
    enum { WINDOW_BYTES = 1 << 24 };
    const uint64_t address = UINT64_C(1) << 40;
    Made *made = memory_new(sizeof *made);
    Error error = {0};
    char path[] = "/tmp/redviz_window_XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    assert_true(file >= 0 && !ftruncate(file, WINDOW_BYTES));
    Captured *capture = captured_new(1 << 24);
    Device *device = device_new(capture, file, address, WINDOW_BYTES, &error);
    if (!device) fail_msg("%s", error.message);
    close(file);
    uint32_t fill = add_function(device, 1, fill_ptx, "fill"),
             sum = add_function(device, 2, sum_ptx, "sum_of_everything");
    uint64_t a = allocate(device, 1024, "d_in"), total = allocate(device, 4, "d_out");
    launch(device, fill, 4, 64, a, 256, 12);
    for (int i = 0; i < 2; i++) launch(device, sum, 1, 64, a, total, 14);
    memset(device->host + (total - device->window), 0, 4);
    device_note_write(device, &(MessageWrite){.address = total, .bytes = 4});
    for (int i = 0; i < 2; i++) launch(device, sum, 1, 64, a, total, 16);
    launch(device, sum, 1, 2048, a, total, 18);
    for (int i = 0; i < 2; i++) launch(device, fill, 1, 32, a, 32, 20);
    launch(device, fill, 1, 32, 0, 32, 22);
    launch(device, sum, 1, 64, a, total, 23);
    made->device = device;
    made->program =
        (Program){.capture = capture, .end = PROGRAM_EXITED, .seconds = 1.3, .has_connected = true};
    print_output(&made->program.output);
    return made;
}

static void made_free(Made *made) {
    device_free(made->device);
    captured_free(made->program.capture);
    text_done(&made->program.output);
    free(made);
}

static void draw(const Made *made, int launch_shown, const char *keys, int columns, int rows, Text *out) {
    Error error = {0};
    RunSpec options = {.program = &made->program, .launch = launch_shown, .threads = 1};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("launch %d: %s", launch_shown + 1, error.message);
    AppStart start = {.keys = keys, .still = true};
    text_clear(out);
    if (!app_frame(session, columns, rows, &start, out, &error)) fail_msg("%s: %s", keys, error.message);
    session_free(session);
}

static void expect(const Made *made, const char *keys, const char *shown, const char *never) {
    Text out = {0};
    draw(made, 1, keys, 120, 40, &out);
    if (!strstr(text_string(&out), shown)) fail_msg("%s: no '%s' in\n%s", keys, shown, text_string(&out));
    if (never && strstr(text_string(&out), never))
        fail_msg("%s: '%s' in\n%s", keys, never, text_string(&out));
    text_done(&out);
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void screens_of_a_program(void **state) {
    (void)state;
    static const struct {
        const char *name, *keys;
        int columns, rows;
    } screens[] = {{"program_launches_80x24", "@", 80, 24},
                   {"program_launches_120x40", "@<Down><Down>", 120, 40},
                   {"program_launches_60x16", "@<End><Up>", 60, 16},
                   {"program_output_80x24", "J", 80, 24},
                   {"program_output_end_80x24", "J<End>", 80, 24}};
    Made *made = make();
    Text out = {0};
    for (size_t i = 0; i < sizeof screens / sizeof *screens; i++) {
        draw(made, 1, screens[i].keys, screens[i].columns, screens[i].rows, &out);
        golden_check(screens[i].name, &out);
    }
    text_done(&out);
    made_free(made);
}

static void every_size_can_be_drawn(void **state) {
    (void)state;
    Made *made = make();
    Text out = {0};
    for (int columns = 1; columns <= 140; columns += 9)
        for (int rows = 1; rows <= 30; rows += 4) {
            draw(made, 1, "@<Down>", columns, rows, &out);
            draw(made, 1, "J", columns, rows, &out);
        }
    text_done(&out);
    made_free(made);
}

static void enter_opens_the_selected_launch(void **state) {
    (void)state;
    Made *made = make();
    expect(made, "", "launch 2 of 10", NULL);
    expect(made, "@<Up><Enter>", "launch 1 of 10: fill, sums.cu:12", "launches  the program");
    expect(made, "@<Down><Down><Enter>", "launch 2 of 10", "launches  the program"); /* 4 repeats 2 */
    expect(made, "7@<Enter>", "launch 7 of 10: fill, sums.cu:20", NULL);
    expect(made, "6@<Enter>", "launch 6 was refused: a block has at most 1,024 threads; this one has 2048",
           NULL);
    expect(made, "@<End><Enter>", "launch 10 was not executed", NULL);
    expect(made, "@<End><PgUp><Enter>", "launch 1 of 10: fill", NULL);
    expect(made, "@<Esc>", "launch 2 of 10", "launches  the program");
    expect(made, "@J", "output  the program exited 0", NULL);
    expect(made, "@J@", "launches  the program exited 0", NULL);
    made_free(made);
}

static void keys_go_from_launch_to_launch(void **state) {
    (void)state;
    Made *made = make();
    expect(made, "*", "launch 3 of 10: sum_of_everything, sums.cu:14", NULL);
    expect(made, "**", "launch 7 of 10: fill, sums.cu:20", NULL); /* past repeats and what was refused */
    expect(made, "2*", "launch 7 of 10: fill, sums.cu:20", NULL);
    expect(made, "***", "launch 9 of 10: fill, sums.cu:22", NULL); /* it has a fault */
    expect(made, "****", "no later launch that can be shown", NULL);
    expect(made, "&", "launch 1 of 10: fill, sums.cu:12", NULL);
    expect(made, "&&", "no earlier launch that can be shown", NULL);
    expect(made, "*&", "launch 2 of 10: sum_of_everything, sums.cu:14", NULL);
    expect(made, "p", "the program sets n, grid, block and arguments", NULL);
    made_free(made);
}

static void another_kernel_leaves_the_program(void **state) {
    (void)state;
    Made *made = make();
    expect(made, "Kstrided<Enter>", "strided   contiguous threads", "of 10 ");
    expect(made, "Kstrided<Enter>*", "launch 1 of 10: fill", NULL);
    expect(made, "Kstrided<Enter>@<End>", "launch 10 of 10", NULL);
    made_free(made);
}

static void a_run_without_a_program_says_so(void **state) {
    (void)state;
    static const char *const keys[] = {"@", "J", "*", "&"};
    Error error = {0};
    RunSpec options = {.kernel = "strided", .threads = 1, .catalog.n = 1024};
    Session *session = session_open(&options, &error);
    Text out = {0};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        AppStart start = {.keys = keys[i], .still = true};
        text_clear(&out);
        assert_true(app_frame(session, 80, 24, &start, &out, &error));
        assert_non_null(
            strstr(text_string(&out), "this run is of no program; redviz --run FILE.cu runs one"));
    }
    text_done(&out);
    session_free(session);
}

static void a_launch_is_opened_with_the_options_of_the_run(void **state) {
    (void)state;
    Made *made = make();
    Error error = {0};
    Plan plan;
    assert_true(captured_plan(made->program.capture, 3, &plan, &error)); /* of the launch that it repeats */
    plan_free(&plan);
    RunSpec options = {.program = &made->program, .launch = 3, .threads = 1};
    run_spec_choose_kernel(&options, "strided");
    assert_null(options.program);
    options.program = &made->program;
    run_spec_choose_entry(&options, "fill");
    assert_null(options.program);
    made_free(made);
}

static void the_mouse_selects_and_opens(void **state) {
    (void)state;
    enum { COLUMNS = 80, ROWS = 24, FIRST_ROW = 3 }; /* below header, border and titles */
    Made *made = make();
    Stage *stage = stage_open(&(RunSpec){.program = &made->program, .launch = 1, .threads = 1});
    View *view = stage_view(stage);
    view->display.program = &made->program;
    stage_press(stage, "@");
    assert_int_equal(view->transient.choice, 1);
    assert_int_equal(frame_click(stage->scene, view, COLUMNS, ROWS, 10, FIRST_ROW + 5), VIEW_CHANGED);
    assert_int_equal(view->transient.choice, 5);
    assert_int_equal(frame_click(stage->scene, view, COLUMNS, ROWS, 10, FIRST_ROW + 5), VIEW_LAUNCH);
    assert_int_equal(view->transient.wanted_launch, 6); /* of row 7 */
    assert_int_equal(view->transient.overlay, OVERLAY_NONE);
    stage_press(stage, "@");
    assert_int_equal(frame_click(stage->scene, view, COLUMNS, ROWS, 10, ROWS - 3), VIEW_IGNORED);
    stage_free(stage);
    made_free(made);
}

/* A remedy changes the PTX, which must be what runs. */
static void a_changed_copy_of_a_launch_runs(void **state) {
    (void)state;
    Made *made = make();
    Error error = {0};
    char *changed = memory_copy_text(fill_ptx);
    strstr(changed, "mov.u32 %r6, 3")[strlen("mov.u32 %r6, ")] = '5';
    RunSpec options = {.program = &made->program, .threads = 1, .ptx = changed};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    Plan plan;
    plan_copy(&session->run->plan, &plan);
    assert_non_null(strstr(plan.modules[0].ptx, "mov.u32 %r6, 5"));
    plan_free(&plan);
    session_free(session);
    free(changed);
    made_free(made);
}

/* As the pane of warps does behind the interface. */
static void the_warps_of_a_launch_are_measured(void **state) {
    (void)state;
    Made *made = make();
    Error error = {0};
    RunSpec wanted, options = {.program = &made->program, .launch = 1, .threads = 1};
    use_library("REDVIZ_CUDA", "libcuda_emulated.so");
    Session *session = session_open(&options, &error);
    if (!session || !session_wants_warps(session, &wanted)) fail_msg("%s", error.message);
    Session *measured = session_open_on_gpu(&wanted, &error);
    if (!measured) fail_msg("%s", error.message);
    session_take_warps(session, measured, NULL);
    session_free(measured);
    const SessionWarps *warps = session_warps(session);
    assert_true(warps->is_live && warps->count == 1 && !warps->has_failed);
    assert_int_equal(warps->timelines[0]->line_count, 2); /* of one block */
    assert_false(session_wants_warps(session, &wanted));
    session_free(session);
    unsetenv("REDVIZ_CUDA");
    made_free(made);
}

/* ---- a file with a main() ------------------------------------------------------------------------------ */

static const char file_with_main[] = "#include <cstdio>\n"
                                     "__global__ void twice(int *a, int n) {\n"
                                     "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                     "    if (i < n) a[i] *= 2;\n"
                                     "}\n"
                                     "int main() {\n"
                                     "    int *a;\n"
                                     "    fclose(fopen(\"has_run\", \"w\"));\n"
                                     "    cudaMalloc(&a, 400);\n"
                                     "    cudaMemset(a, 0, 400);\n"
                                     "    for (int i = 0; i < 3; i++) twice<<<1, 128>>>(a, 100 - i);\n"
                                     "    cudaDeviceSynchronize();\n"
                                     "    printf(\"three times twice\\n\");\n"
                                     "}\n";

#define QUESTION "this file has a main(): run it?"

static bool has_run(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s/has_run", program_folder());
    return access(path, F_OK) == 0;
}

static Pty *start_file(const char *option) {
    char command[4096];
    snprintf(command, sizeof command, "cd %s && exec \"$REDVIZ_BIN\" twice.cu %s", program_folder(), option);
    const char *arguments[] = {"/bin/sh", "-c", command, NULL};
    char state[4096];
    snprintf(state, sizeof state, "XDG_STATE_HOME=%s", program_folder());
    const char *environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", state, NULL};
    return pty_start(arguments, environment, 120, 40);
}

/* Host code runs for the answer r, and for nothing else. */
static void a_file_with_a_main_is_run_when_asked(void **state) {
    (void)state;
    char binary[4096]; /* from another folder */
    assert_non_null(realpath(getenv("REDVIZ_BIN") ? getenv("REDVIZ_BIN") : "build/redviz", binary));
    setenv("REDVIZ_BIN", binary, 1);
    program_write_file("twice.cu", file_with_main);
    Outcome compiled = program_shell("cd %s && @ --run twice.cu --report", program_folder());
    bool can_compile = compiled.status == 0;
    program_outcome_done(&compiled);
    if (!can_compile) skip_because("no CUDA compiler was found");
    Outcome removed = program_shell("rm %s/has_run && cd %s && @ twice.cu --frame=80x24 --keys 'r'",
                                    program_folder(), program_folder());
    assert_int_equal(removed.status, 0);
    assert_null(strstr(removed.out, QUESTION));
    program_outcome_done(&removed);
    assert_false(has_run());

    Pty *pty = start_file("");
    pty_wait_for(pty, QUESTION);
    pty_type(pty, "\r");
    pty_wait_without(pty, QUESTION);
    pty_quit(pty);
    pty = start_file("--watch");
    pty_wait_for(pty, "? help");
    assert_false(pty_shows(pty, QUESTION));
    pty_quit(pty);
    assert_false(has_run());

    pty = start_file("");
    pty_wait_for(pty, QUESTION);
    pty_type(pty, "r");
    pty_wait_for(pty, "launch 1 of 3");
    assert_true(has_run());
    assert_false(pty_shows(pty, QUESTION));
    pty_type(pty, "*"); /* in the worker thread */
    pty_wait_for(pty, "launch 2 of 3: twice, twice.cu:11");
    pty_type(pty, "J");
    pty_wait_for(pty, "three times twice");
    pty_type(pty, "@");
    pty_wait_for(pty, "3 launches, 3 distinct");
    pty_type(pty, "q");
    pty_wait_without(pty, "3 launches, 3 distinct");
    pty_quit(pty);
}

/* ---- output -------------------------------------------------------------------------------------------- */

static void check_lines(const char *printed, const char *lines_expected) {
    Program program = {0};
    Text got = {0};
    text_add(&program.output, printed);
    OutputLines lines = output_lines(&program);
    while (output_next_line(&lines)) text_print(&got, "%s|", text_string(&lines.line));
    assert_string_equal(text_string(&got), lines_expected);
    text_done(&lines.line);
    text_done(&got);
    text_done(&program.output);
}

static void output_cannot_control_the_terminal(void **state) {
    (void)state;
    check_lines("", "");
    check_lines("a\n\nb", "a||b|");
    check_lines("a\r\nb\r", "a|b|");
    check_lines("10 %\r100 %\n", "100 %|");
    check_lines("\033[1;31mred\033[0m\033[2J\033[?25l.\n", "red.|");
    check_lines("\033]0;title\007a\033]8;;x\033\\b\033cc\n", "abc|");
    check_lines("\033[12", "|");
    check_lines("\033", "|");
    check_lines("a\033]0;open\nb\n", "a|b|");
    Made *made = make();
    Text out = {0};
    draw(made, 0, "J", 80, 24, &out);
    for (const char *at = text_string(&out); *at; at++)
        if ((unsigned char)*at < ' ' && *at != '\n') fail_msg("byte %d is drawn", *at);
    draw(made, 0, "@", 120, 40, &out);
    for (const char *at = text_string(&out); *at; at++)
        if ((unsigned char)*at < ' ' && *at != '\n') fail_msg("byte %d is drawn", *at);
    text_done(&out);
    made_free(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens_of_a_program),
        cmocka_unit_test(every_size_can_be_drawn),
        cmocka_unit_test(enter_opens_the_selected_launch),
        cmocka_unit_test(keys_go_from_launch_to_launch),
        cmocka_unit_test(another_kernel_leaves_the_program),
        cmocka_unit_test(a_run_without_a_program_says_so),
        cmocka_unit_test(a_launch_is_opened_with_the_options_of_the_run),
        cmocka_unit_test(the_mouse_selects_and_opens),
        cmocka_unit_test(a_changed_copy_of_a_launch_runs),
        cmocka_unit_test(the_warps_of_a_launch_are_measured),
        cmocka_unit_test(a_file_with_a_main_is_run_when_asked),
        cmocka_unit_test(output_cannot_control_the_terminal),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
