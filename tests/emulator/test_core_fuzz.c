/* Kernels of assets/ptx, broken at random and run with small budgets: instructions are inserted, removed and
 * changed. In every case, the emulator must return with a trap, an error or a result, and its trace must be
 * readable.
 *
 * The kernels are the same in every run. REDVIZ_FUZZ_ROUNDS sets how many (else 300, with
 * REDVIZ_TEST_QUICK 64), REDVIZ_FUZZ_SEED the first one; to reproduce a crash, use the last number printed
 * under REDVIZ_FUZZ_VERBOSE. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "catalog/catalog.h"
#include "broken_kernel.h"
#include "core.h"
#include "observer_log.h"
#include <inttypes.h>
#include <stdlib.h>

enum { ROUNDS = 300, QUICK_ROUNDS = 64, VARIANTS = 12, WORDS = 2048, BUDGET = 5000 };

/* ---- running ------------------------------------------------------------------------------------------- */

typedef struct Tally {
    int refused, errors, trapped, ended;
} Tally;

static Emulator *new_emulator(const EmulatorOptions *options, uint32_t memory[2][WORDS]) {
    Emulator *emulator = emulator_new(options);
    emulator_add_buffer(emulator, "a", memory[0], sizeof memory[0], PTX_U32);
    emulator_add_buffer(emulator, "b", memory[1], sizeof memory[1], PTX_U32);
    return emulator;
}

/* Pointers point to buffers; numbers are small. */
static void fill_parameters(const PtxFunction *entry, Dice *dice, Emulator *emulator, uint8_t *bytes,
                            size_t *size) {
    static const uint32_t counts[] = {0, 1, 31, 100, 1024, 2048, 0xffffffff};
    uint64_t at = 0;
    for (int i = 0; i < entry->parameter_count; i++) {
        const PtxVariable *parameter = entry->parameters[i];
        uint64_t alignment = parameter->alignment > 0 ? (uint64_t)parameter->alignment : 1;
        at = (at + alignment - 1) / alignment * alignment;
        if (at + parameter->bytes > 256) break;
        uint64_t value = parameter->bytes == 8 ? emulator_buffer_address(emulator, (int)dice_roll(dice, 2))
                                               : DICE_PICK(dice, counts);
        memcpy(bytes + at, &value, parameter->bytes < 8 ? parameter->bytes : 8);
        at += parameter->bytes;
    }
    *size = at;
}

/* The uses of a trace by the interface and the reports. */
static void read_trace(const Trace *trace) {
    TraceEvent event;
    Text text = {0};
    for (int i = 0; i < trace->launch_count; i++)
        for (int b = 0; b < trace->launches[i]->block_count; b++) {
            const TraceBlock *block = trace->launches[i]->blocks[b];
            int count = trace_block_event_count(block);
            for (int e = 0; e < count; e += 1 + count / 16) {
                trace_block_read(block, e, &event);
                trace_event_print(trace, trace->launches[i], block, &event, &text);
            }
        }
    for (int i = 0; i < trace->trap_count; i++)
        text_print(&text, "%s %s", trap_kind_text(trace->traps[i].kind), trace->traps[i].detail);
    text_done(&text);
}

static void replay(const Trace *trace, const Launch *launch, Dice *dice) {
    if (!trace->launch_count || !trace->launches[0]->block_count) return;
    const TraceBlock *block = trace->launches[0]->blocks[0];
    Error error = {0};
    Replay *replay = replay_open(trace, 0, block, launch, &error);
    if (!replay) return;
    int count = trace_block_event_count(block);
    for (int i = 0; count && i < 3; i++) {
        int event = (int)dice_roll(dice, (uint32_t)count);
        ReplayValue value;
        if (replay_seek(replay, event, &error)) replay_register(replay, 0, "%r1", &value);
        replay_event_provenance(replay, event);
        replay_progress(replay, event);
    }
    replay_free(replay);
}

typedef struct Tapes {
    int runs, with_repeated;
} Tapes;

static char *run_blocks(const PtxProgram *program, Dice dice, bool without_tapes, bool *repeated) {
    static const uint32_t blocks[] = {32, 40, 64, 96};
    static uint32_t memory[2][WORDS];
    for (uint32_t i = 0; i < 2 * WORDS; i++)
        memory[i / WORDS][i % WORDS] = dice_roll(&dice, 4) ? i % 100 : dice_roll(&dice, 9);
    ObserverLog log = {0};
    TraceObserver observer = observer_log(&log);
    EmulatorOptions options = {.threads = 1 + (int)dice_roll(&dice, 2),
                               .keeps_going = dice_roll(&dice, 2),
                               .trace_last = dice_roll(&dice, 2),
                               .observer = dice_roll(&dice, 2) ? &observer : NULL,
                               .without_tapes = without_tapes,
                               .instruction_budget = 40 * BUDGET,
                               .memory_limit_bytes = 64 << 20};
    Emulator *emulator = new_emulator(&options, memory);
    uint8_t parameters[512] = {0};
    size_t bytes;
    fill_parameters(program->entry, &dice, emulator, parameters, &bytes);
    Launch launch = {.program = program,
                     .grid = {12 + dice_roll(&dice, 20), 1 + dice_roll(&dice, 2), 1},
                     .block = {DICE_PICK(&dice, blocks), 1, 1},
                     .dynamic_shared_bytes = 1024,
                     .parameters = parameters,
                     .parameter_bytes = bytes};
    Trace *trace = trace_new("emulator");
    Error error = {0};
    bool done = emulator_run(emulator, &launch, trace, &error);
    CoreRun run = {.done = done,
                   .trace = trace,
                   .program = (PtxProgram *)(uintptr_t)program,
                   .out = memory[0],
                   .words = 2 * WORDS};
    if (done) run.launch = trace->launches[0];
    Text text = {0};
    if (done) core_print(&run, &text);
    text_add(&text, text_string(&log.text));
    text_done(&log.text);
    *repeated = emulator_repeated_blocks(emulator) > 0;
    trace_free(trace);
    emulator_free(emulator);
    return text.data ? text.data : memory_copy_text(error.message);
}

/* Blocks that repeat another block leave the same results as all blocks run by the schedule. */
static void compare_tapes(const PtxProgram *program, Dice *dice, Tapes *tapes) {
    bool repeated, none;
    char *played = run_blocks(program, *dice, false, &repeated),
         *run = run_blocks(program, *dice, true, &none);
    if (strcmp(played, run) != 0) fail_msg("tapes change the run:\n%s\ninstead of\n%s", played, run);
    assert_false(none);
    tapes->runs++;
    tapes->with_repeated += repeated;
    free(played);
    free(run);
}

/* Whether it ended without an error. */
static bool launch_program(const PtxProgram *program, Dice *dice, bool replays, Tally *tally) {
    static const uint32_t blocks[] = {1, 32, 40, 64, 96};
    static uint32_t memory[2][WORDS];
    memset(memory, 0, sizeof memory);
    EmulatorOptions options = {.threads = 1 + (int)dice_roll(dice, 2),
                               .schedule = dice_roll(dice, 3) ? 0 : dice_roll(dice, 100),
                               .trace_last = dice_roll(dice, 2),
                               .instruction_budget = BUDGET,
                               .memory_limit_bytes = 64 << 20};
    Emulator *emulator = new_emulator(&options, memory);
    uint8_t parameters[512] = {0};
    size_t bytes;
    fill_parameters(program->entry, dice, emulator, parameters, &bytes);
    Launch launch = {.program = program,
                     .grid = {1 + dice_roll(dice, 3), 1, 1},
                     .block = {DICE_PICK(dice, blocks), 1, 1},
                     .dynamic_shared_bytes = dice_roll(dice, 4) ? 4096 : dice_roll(dice, 300),
                     .cooperative = dice_roll(dice, 2),
                     .parameters = parameters,
                     .parameter_bytes = bytes};
    Trace *trace = trace_new("emulator");
    Error error = {0};
    bool done = emulator_run(emulator, &launch, trace, &error);
    if (!done && !error.message[0]) fail_msg("an error without a message");
    if (!done)
        tally->errors++;
    else if (trace->trap_count)
        tally->trapped++;
    else
        tally->ended++;
    read_trace(trace);
    if (replays && done) replay(trace, &launch, dice);
    bool well = done && !trace->trap_count;
    trace_free(trace);
    emulator_free(emulator);
    return well;
}

static bool run_kernel(const BrokenKernel *kernel, Dice *dice, bool replays, Tapes *tapes, Tally *tally) {
    Error error = {0};
    char *text = broken_kernel_text(kernel);
    PtxModule *module = ptx_module_parse(text, strlen(text), "fuzz.ptx", &error);
    PtxFunction *entry = module ? ptx_module_find_entry(module, kernel->name, &error) : NULL;
    PtxProgram *program = entry ? ptx_program_link(module, entry, &error) : NULL;
    if (!program && !error.message[0]) fail_msg("refused without a message");
    if (program && tapes) compare_tapes(program, dice, tapes);
    bool well = program && launch_program(program, dice, replays, tally);
    if (!program) tally->refused++;
    if (program) ptx_program_free(program);
    if (module) ptx_module_free(module);
    free(text);
    return well;
}

/* ---- rounds -------------------------------------------------------------------------------------------- */

static char *read_asset(const CatalogRow *row) {
    char path[4096], *text = NULL;
    size_t length;
    Error error = {0};
    if (!catalog_ptx_path(row, path, sizeof path, &error) ||
        !text_read_file(path, 1 << 22, &text, &length, &error))
        fail_msg("%s", error.message);
    return text;
}

static void run_round(uint64_t seed, bool replays, Tapes *tapes, Tally *tally) {
    Dice dice = {seed * 0x9e3779b97f4a7c15u};
    char *text = read_asset(catalog_row((int)dice_roll(&dice, (uint32_t)catalog_count())));
    BrokenKernel *kernel = memory_new(sizeof *kernel);
    for (int index = (int)dice_roll(&dice, 9); !broken_kernel_read(kernel, text, index); index /= 2) continue;
    broken_kernel_prepare(kernel);
    for (int variant = 0; variant < VARIANTS; variant++) { /* kernels that still run are broken further */
        BrokenKernel *altered = memory_new(sizeof *altered);
        broken_kernel_copy(altered, kernel);
        for (uint32_t changes = 1 + dice_roll(&dice, 3); changes; changes--)
            broken_kernel_alter(altered, &dice);
        bool keep = run_kernel(altered, &dice, replays, tapes, tally);
        BrokenKernel *left = keep ? kernel : altered;
        if (keep) kernel = altered;
        broken_kernel_done(left);
        free(left);
    }
    broken_kernel_done(kernel);
    free(kernel);
    free(text);
}

static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t round_count(void) {
    return setting("REDVIZ_FUZZ_ROUNDS", getenv("REDVIZ_TEST_QUICK") ? QUICK_ROUNDS : ROUNDS);
}

static void run_rounds(bool replays, Tapes *tapes, uint64_t rounds) {
    Tally tally = {0};
    uint64_t first = setting("REDVIZ_FUZZ_SEED", 1);
    bool verbose = getenv("REDVIZ_FUZZ_VERBOSE");
    for (uint64_t round = 0; round < rounds; round++) {
        if (verbose) fprintf(stderr, "round %" PRIu64 "\n", first + round);
        run_round(first + round, replays, tapes, &tally);
    }
    if (verbose)
        fprintf(stderr, "refused %d, errors %d, trapped %d, ended %d\n", tally.refused, tally.errors,
                tally.trapped, tally.ended);
    /* Enough runs must have succeeded. */
    if (rounds >= 100) {
        assert_true(tally.refused > 0);
        assert_true(tally.trapped > (int)rounds / 2);
        assert_true(tally.ended > (int)rounds / 4);
    }
}

static void test_broken_kernels(void **state) {
    (void)state;
    run_rounds(false, NULL, round_count());
}

static void test_replays_of_broken_kernels(void **state) {
    (void)state;
    run_rounds(true, NULL, round_count() / 4);
}

static void test_tapes_of_broken_kernels(void **state) {
    (void)state;
    Tapes tapes = {0};
    run_rounds(false, &tapes, round_count() / 4);
    if (tapes.runs >= 100) assert_true(tapes.with_repeated > tapes.runs / 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken_kernels),
        cmocka_unit_test(test_replays_of_broken_kernels),
        cmocka_unit_test(test_tapes_of_broken_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
