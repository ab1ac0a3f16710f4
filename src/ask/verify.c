/* --verify: compares the emulator's events with those of another producer (ask.h). */
#include "ask/questions.h"
#include "session/gpu.h"
#include "trace/trace_compare.h"
#include "trace/warp_compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the emulator, guided by the recording ------------------------------------------------------------- */

typedef struct GuidedRun { /* the session's run once more, on copies of its buffers */
    Emulator *emulator;
    Trace *trace;
    Plan plan; /* its buffers' bytes are those of this run */
    EmulatorTakenValues taken;
} GuidedRun;

static void guided_run_begin(GuidedRun *run, const Session *session) {
    const RunSpec *options = &session->options;
    EmulatorOptions settings = {.threads = 1,
                                .seed = options->catalog.seed,
                                .schedule = options->schedule,
                                .instruction_budget = options->instruction_budget,
                                .multiprocessors = options->catalog.multiprocessors};
    *run = (GuidedRun){
        .emulator = emulator_new(&settings), .trace = trace_new("emulator"), .plan = session->run->filled};
    run->plan.buffers = memory_new((size_t)(run->plan.buffer_count + 1) * sizeof *run->plan.buffers);
    for (int i = 0; i < run->plan.buffer_count; i++) {
        PlanBuffer *buffer = &run->plan.buffers[i];
        *buffer = session->run->filled.buffers[i];
        size_t bytes = buffer->count * (size_t)ptx_type_bytes(buffer->type);
        buffer->bytes = memory_new(bytes + 1);
        memcpy(buffer->bytes, session->run->filled.buffers[i].bytes, bytes);
    }
    session_add_buffers(session, run->emulator, run->plan.buffers, run->plan.buffer_count, NULL);
}

static void guided_run_done(GuidedRun *run) {
    for (int i = 0; i < run->plan.buffer_count; i++) free(run->plan.buffers[i].bytes);
    free(run->plan.buffers);
    trace_free(run->trace);
    emulator_free(run->emulator);
}

static bool guided_run_launch(GuidedRun *run, const Session *session, int index, const AskRecording *other,
                              Error *error) {
    EmulatorRecording recording = {.recorded = other->recorded->launches[index],
                                   .base = other->base,
                                   .buffer_count = other->base ? other->recorded->buffer_count : 0,
                                   .approximate = other->approximate};
    Launch launch;
    if (!session_bind_emulated(session, index, run->emulator, &launch, error)) return false;
    bool good = emulator_run_guided(run->emulator, &launch, &recording, run->trace, &run->taken, error);
    launch_done(&launch);
    return good;
}

/* ---- the report ---------------------------------------------------------------------------------------- */

static void print_comparison(const Session *session, const GuidedRun *run, const AskRecording *other,
                             const TraceComparison *comparison, Text *out) {
    const EmulatorTakenValues *taken = &run->taken;
    text_print(out, "%s: emulator and %s %s\n", session->kernel.name, other->name,
               comparison->same ? "agree" : "DIFFER");
    text_print(out, "  %" PRIu64 " blocks, %" PRIu64 " threads, %" PRIu64 " events of threads\n",
               comparison->blocks, comparison->threads, comparison->events);
    text_print(out,
               "  from the recording: %" PRIu64 " values that only scheduling decides; %" PRIu64
               " differ from the emulator's\n",
               taken->scheduled, taken->scheduled_other);
    if (taken->approximate)
        text_print(out,
                   "  from the recording: %" PRIu64
                   " results of .approx, within the error that PTX states; %" PRIu64
                   " differ from the emulator's\n",
                   taken->approximate, taken->approximate_other);
    if (taken->products)
        text_print(out,
                   "  from the recording: %" PRIu64
                   " registers of products of matrices, within the error of tensor cores; %" PRIu64
                   " differ from the emulator's\n",
                   taken->products, taken->products_other);
    text_print(out, "  active masks: %" PRIu64 " of %" PRIu64 " are the same\n", comparison->equal_masks,
               comparison->masks);
    if (comparison->other_mask.length)
        text_print(out, "  first mask that differs: %s", comparison->other_mask.data);
    if (comparison->difference.length) text_print(out, "  first difference: %s", comparison->difference.data);
}

static void compare(const Session *session, const GuidedRun *run, const AskRecording *other, Text *out,
                    bool *same) {
    int count = run->trace->buffer_count;
    uint64_t *base = memory_new((size_t)(count + 1) * sizeof *base);
    for (int i = 0; i < count; i++) base[i] = emulator_buffer_address(run->emulator, i);
    const uint64_t *other_base = other->base ? other->base : base;
    TraceSide sides[2] = {{run->trace, base, "emulator"}, {other->recorded, other_base, other->name}};
    TraceComparison comparison;
    trace_compare(&sides[0], &sides[1], &comparison);
    *same = comparison.same;
    print_comparison(session, run, other, &comparison, out);
    trace_comparison_done(&comparison);
    free(base);
}

bool ask_compare(const Session *session, const AskRecording *other, EmulatorTakenValues *taken, Text *out,
                 bool *same, Error *error) {
    if (!session->run->emulator || !session->run->filled.buffers)
        return error_set(error, "--verify needs a run, not a saved session");
    GuidedRun run;
    bool good = true;
    guided_run_begin(&run, session);
    for (int i = 0; good && i < other->recorded->launch_count; i++) {
        if (other->recorded->launches[i]->dropped)
            good = error_set(error,
                             "launch %d: %" PRIu64 " events did not fit the trace buffer; trace fewer blocks",
                             i, other->recorded->launches[i]->dropped);
        good = good && guided_run_launch(&run, session, i, other, error);
    }
    if (good) compare(session, &run, other, out, same);
    *taken = run.taken;
    guided_run_done(&run);
    return good;
}

/* ---- on a GPU ------------------------------------------------------------------------------------------ */

/* Do two captured memories hold the same, where a pointer leads to the same place of a buffer? */
static bool holds_same(const GpuCopy *copy, const uint8_t *ours, const uint8_t *theirs, size_t count) {
    const Plan *plan = &copy->session->run->plan;
    for (size_t at = 0; at < count; at += 8) {
        uint64_t our = 0, their = 0;
        size_t bytes = count - at < 8 ? count - at : 8;
        memcpy(&our, ours + at, bytes);
        memcpy(&their, theirs + at, bytes);
        bool is_same = our == their;
        for (int i = 0; i < plan->buffer_count && i < copy->count && !is_same; i++)
            is_same = plan->buffers[i].address && our - plan->buffers[i].address <= copy->buffers[i].bytes &&
                      our - plan->buffers[i].address == their - copy->buffers[i].address;
        if (!is_same) return false;
    }
    return true;
}

/* Do both leave the same bytes in the plan's buffers? false with the `name` of the first that differs. */
static bool results_agree(const GpuCopy *copy, const char **name) {
    const Plan *plan = &copy->session->run->plan;
    for (int i = 0; i < copy->count && i < plan->buffer_count; i++) {
        *name = copy->buffers[i].name;
        if (memcmp(copy->buffers[i].host, plan->buffers[i].bytes, copy->buffers[i].bytes) != 0 &&
            (!plan->buffers[i].address ||
             !holds_same(copy, plan->buffers[i].bytes, copy->buffers[i].host, copy->buffers[i].bytes)))
            return false;
    }
    return true;
}

static void print_capture(const GpuCopy *copy, Text *out) {
    const char *name = "";
    bool agree = results_agree(copy, &name);
    text_print(out, "  memory after the run: %s%s%s\n", agree ? "the same to the bit" : "`",
               agree ? "" : name, agree ? "" : "` differs");
    text_print(out,
               "  capture: %" PRIu64 " records, %" PRIu64 " dropped, %" PRIu64
               " iterations of spin loops left out; %.1f us on the GPU\n",
               copy->tally.records, copy->tally.dropped, copy->tally.left_out,
               copy->tally.kernel_seconds * 1e6);
}

/* The timeline is of another run on the GPU: where values that only scheduling decides choose the path, it
 * may differ. */
static void print_waits(const WarpTimeline *timeline, const WarpComparison *comparison, bool may_differ,
                        Text *out) {
    const char *difference = text_string(&comparison->difference);
    text_add(out, "  waits");
    if (timeline->resident)
        text_print(out, " with %u block%s at once", timeline->resident, timeline->resident == 1 ? "" : "s");
    text_print(out, " of %d warp%s", comparison->agree, comparison->agree == 1 ? " agree" : "s agree");
    if (comparison->split)
        text_print(out, ", %d of them split otherwise than in the emulator", comparison->split);
    if (comparison->other_counts)
        text_print(out, ", %d count%s differ%s as splits of warps can make them", comparison->other_counts,
                   comparison->other_counts == 1 ? "" : "s", comparison->other_counts == 1 ? "s" : "");
    if (comparison->warps > comparison->agree)
        text_print(out, "; of %d %s", comparison->warps - comparison->agree,
                   may_differ ? "they differ" : "they DIFFER");
    text_add(out, "\n");
    if (*difference)
        text_print(out, "  first difference of waits: %s%s\n", difference,
                   may_differ ? "; values that only scheduling decides may be the cause" : "");
}

static bool verify_waits(const Session *session, const EmulatorTakenValues *taken, Text *out, bool *same,
                         Error *error) {
    const SessionWarps *warps = &session->machine.warps;
    const SessionLaunches *launches = &session->run->launches;
    if (!warps->is_live) return error_set(error, "--verify --timeline: %s", warps->why);
    bool **rounds = memory_new((size_t)launches->count * sizeof *rounds + 1);
    for (int i = 0; i < launches->count; i++) {
        rounds[i] = memory_new((size_t)launches->programs[i]->code_count + 1);
        instrument_find_waiting(launches->programs[i], rounds[i]);
    }
    for (int i = 0; i < warps->count; i++) {
        WarpComparison comparison;
        warp_compare(warps->timelines[i], session->run->trace, rounds, &comparison);
        *same &= !comparison.difference.length || taken->scheduled > 0;
        print_waits(warps->timelines[i], &comparison, taken->scheduled > 0, out);
        warp_comparison_done(&comparison);
    }
    for (int i = 0; i < launches->count; i++) free(rounds[i]);
    free(rounds);
    return true;
}

/* The run with as many blocks as the GPU holds at once of the instrumented kernel. */
static bool verify_smaller(const Session *session, uint32_t blocks, Text *out, bool *same, Error *error) {
    Session *smaller = session_vary(session, &(RunChange){.blocks = blocks, .is_shown = true}, error);
    bool good = smaller && ask_verify(smaller, out, same, error);
    if (good)
        text_print(
            out, "  grid: %" PRIu32 " blocks, all that the GPU can hold at once of the instrumented kernel\n",
            blocks);
    session_free(smaller);
    return good;
}

bool ask_verify(const Session *session, Text *out, bool *same, Error *error) {
    if (!session->run->emulator || !session->run->filled.buffers)
        return error_set(error, "--verify needs a run, not a saved session");
    if (session->options.keep_going && trace_has_fault(session->run->trace))
        return error_set(
            error, "--verify: an access out of bounds ends the run on a GPU, with or without --keep-going");
    Cuda *cuda = session_gpu_take(error);
    if (!cuda) return false;
    GpuCopy copy;
    char name[sizeof cuda->name];
    snprintf(name, sizeof name, "%s", cuda->name);
    bool good = session_gpu_copy_capture(&copy, session, cuda, &(CaptureOptions){.approximate = true}, error);
    session_gpu_give_back(!good);
    uint32_t most = copy.tally.most_blocks;
    AskRecording other = {copy.trace, copy.base, name, true};
    EmulatorTakenValues taken = {0};
    good = good && ask_compare(session, &other, &taken, out, same, error);
    if (good) print_capture(&copy, out);
    if (good && session->options.times_warps) good = verify_waits(session, &taken, out, same, error);
    session_gpu_copy_done(&copy);
    if (!good && most && !session_has_grid(session)) return verify_smaller(session, most, out, same, error);
    return good;
}
