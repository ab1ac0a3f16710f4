#include "ptx/opcodes.h"
#include "sample.h"

#include "base/memory.h"
#include "golden.h"
#include "trace/block.h"
#include "tui/frame.h"
#include "tui/input.h"
#include <stdio.h>
#include <stdlib.h>

static const char *const source[] = {
    "// Contiguous threads, strided index.",
    "template <typename T>",
    "__global__ void strided(const T *in, T *out, unsigned n) {",
    "    __shared__ T sdata[256];",
    "    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;",
    "    sdata[tid] = i < n ? in[i] : T(0);",
    "    __syncthreads();",
    "    for (unsigned s = 1; s < blockDim.x; s *= 2) {",
    "        unsigned index = 2 * s * tid;",
    "        if (index < blockDim.x)",
    "            sdata[index] += sdata[index + s];",
    "        __syncthreads();",
    "    }",
    "    if (tid == 0)",
    "        out[blockIdx.x] = sdata[0];   // one thread writes",
    "    // not in the kernel: one of every other kind",
    "}",
};
enum { SOURCE_LINES = sizeof source / sizeof *source };

/* Instructions by pc: kind of event, source line, mnemonic. */
enum Pc {
    PC_LOAD_GLOBAL,
    PC_FILL,
    PC_BARRIER,
    PC_BRANCH,
    PC_LOAD_FAR,
    PC_LOAD_NEAR,
    PC_STORE,
    PC_LOOP_BARRIER,
    PC_LOOP,
    PC_LAST_BRANCH,
    PC_LOAD_RESULT,
    PC_STORE_GLOBAL,
    PC_SHUFFLE,
    PC_SHUFFLE_PARTIAL,
    PC_BALLOT,
    PC_REDUX,
    PC_WARP_SYNC,
    PC_NAMED,
    PC_SHARED_ATOMIC,
    PC_GLOBAL_STRIDED,
    PC_VECTOR,
    PC_BROADCAST,
    PC_RETURN,
    PC_COUNT
};
static const struct {
    TraceKind kind;
    int line;
    const char *text;
} instructions[PC_COUNT] = {
    [PC_LOAD_GLOBAL] = {TRACE_GLOBAL_LOAD, 6, "ld.global.u32 %r7, [%rd4];"},
    [PC_FILL] = {TRACE_SHARED_STORE, 6, "st.shared.u32 [%r9], %r7;"},
    [PC_BARRIER] = {TRACE_BARRIER, 7, "bar.sync 0;"},
    [PC_BRANCH] = {TRACE_BRANCH, 10, "@%p2 bra $L_skip;"},
    [PC_LOAD_FAR] = {TRACE_SHARED_LOAD, 11, "ld.shared.u32 %r20, [%r19+4];"},
    [PC_LOAD_NEAR] = {TRACE_SHARED_LOAD, 11, "ld.shared.u32 %r21, [%r18];"},
    [PC_STORE] = {TRACE_SHARED_STORE, 11, "st.shared.u32 [%r18], %r22;"},
    [PC_LOOP_BARRIER] = {TRACE_BARRIER, 12, "bar.sync 0;"},
    [PC_LOOP] = {TRACE_BRANCH, 8, "@%p3 bra $L_loop;"},
    [PC_LAST_BRANCH] = {TRACE_BRANCH, 14, "@%p4 bra $L_end;"},
    [PC_LOAD_RESULT] = {TRACE_SHARED_LOAD, 15, "ld.shared.u32 %r30, [sdata];"},
    [PC_STORE_GLOBAL] = {TRACE_GLOBAL_STORE, 15, "st.global.u32 [%rd9], %r30;"},
    [PC_SHUFFLE] = {TRACE_SHUFFLE, 16, "shfl.sync.down.b32 %r40|%p5, %r39, 8, 31, -1;"},
    [PC_SHUFFLE_PARTIAL] = {TRACE_SHUFFLE, 16, "shfl.sync.bfly.b32 %r41|%p5, %r40, 16, 31, 65535;"},
    [PC_BALLOT] = {TRACE_VOTE, 16, "vote.sync.ballot.b32 %r42, %p6, -1;"},
    [PC_REDUX] = {TRACE_REDUX, 16, "redux.sync.add.s32 %r43, %r42, -1;"},
    [PC_WARP_SYNC] = {TRACE_WARP_SYNC, 16, "bar.warp.sync 255;"},
    [PC_NAMED] = {TRACE_NAMED_BARRIER, 16, "barrier.sync 3, 64;"},
    [PC_SHARED_ATOMIC] = {TRACE_SHARED_ATOMIC, 16, "atom.shared.add.u32 %r44, [sdata], 1;"},
    [PC_GLOBAL_STRIDED] = {TRACE_GLOBAL_LOAD, 16, "ld.global.u32 %r45, [%rd12];"},
    [PC_VECTOR] = {TRACE_SHARED_LOAD, 16, "ld.shared.v4.u32 {%r46, %r47, %r48, %r49}, [%r50];"},
    [PC_BROADCAST] = {TRACE_SHARED_LOAD, 16, "ld.shared.u32 %r51, [sdata];"},
    [PC_RETURN] = {TRACE_NOT_RECORDED, 17, "ret;"},
};

static PtxModifier down[] = {{PTX_MOD_OTHER, "sync"}, {PTX_MOD_OTHER, "down"}};
static PtxModifier butterfly[] = {{PTX_MOD_OTHER, "sync"}, {PTX_MOD_OTHER, "bfly"}};
static PtxModifier add[] = {{PTX_MOD_OTHER, "sync"}, {PTX_MOD_ADD, "add"}};
static PtxModifier ballot[] = {{PTX_MOD_OTHER, "sync"}, {PTX_MOD_OTHER, "ballot"}};
static PtxInstruction code_instructions[PC_COUNT];
static PtxCode code[PC_COUNT];
static PtxProgram program = {.code = code, .code_count = PC_COUNT};

/* The opcode of "@%p2 bra $L_skip;": bra. */
static PtxOpcode opcode_of(const char *text) {
    if (*text == '@') text = strchr(text, ' ') + 1;
    size_t length = strcspn(text, ". ;");
#define OPCODE(name, ...)                                                                                    \
    if (length == strlen(#name) && !memcmp(text, #name, length)) return PTX_##name;
#include "ptx/opcodes.def"
#undef OPCODE
    return PTX_OTHER;
}

static void make_program(void) {
    for (int pc = 0; pc < PC_COUNT; pc++) {
        PtxInstruction *instruction = &code_instructions[pc];
        *instruction = (PtxInstruction){.opcode = opcode_of(instructions[pc].text),
                                        .name = pc == PC_REDUX    ? "redux"
                                                : pc == PC_BALLOT ? "vote"
                                                                  : "other"};
        instruction->types[0] = PTX_U32;
        instruction->type_count = 1;
        code[pc] = (PtxCode){.instruction = instruction, .target = PTX_NO_PC, .reconvergence = PTX_NO_PC};
        code[pc].line = (PtxSourceLine){"kernels/strided.cu", instructions[pc].line};
    }
    code_instructions[PC_SHUFFLE].modifiers = down;
    code_instructions[PC_SHUFFLE_PARTIAL].modifiers = butterfly;
    code_instructions[PC_BALLOT].modifiers = ballot;
    code_instructions[PC_REDUX].modifiers = add;
    code_instructions[PC_REDUX].modifier_count = 2;
    code_instructions[PC_SHUFFLE].modifier_count = code_instructions[PC_SHUFFLE_PARTIAL].modifier_count =
        code_instructions[PC_BALLOT].modifier_count = 2;
    code[PC_BRANCH].target = code[PC_BRANCH].reconvergence = PC_LOOP_BARRIER;
    code[PC_LOOP].target = PC_BRANCH;
    code[PC_LOOP].reconvergence = PC_LAST_BRANCH;
    code[PC_LAST_BRANCH].target = code[PC_LAST_BRANCH].reconvergence = PC_RETURN;
}

/* ---- recording ----------------------------------------------------------------------------------------- */

typedef struct Recorder {
    TraceEvent *events;
    int count, capacity, threads, warps;
    uint32_t turn[32], interval, occurrence;
    bool races;      /* without the barriers of the loop */
    int value[1024]; /* the shared array */
} Recorder;

static uint32_t existing(const Recorder *recorder, int warp) {
    int threads = recorder->threads - warp * WARP_LANES;
    return threads >= WARP_LANES ? 0xffffffffu : (1u << threads) - 1;
}

static TraceEvent *record(Recorder *recorder, int warp, int pc, uint32_t mask) {
    TraceEvent event = {.kind = instructions[pc].kind, .warp = warp, .pc = pc, .mask = mask};
    event.turn = recorder->turn[warp]++;
    event.interval = recorder->interval;
    event.occurrence = recorder->occurrence;
    if (trace_kind_is_access(event.kind)) {
        event.width = event.element_bytes = 4;
        event.element_count = 1;
        event.is_load = event.kind != TRACE_SHARED_STORE && event.kind != TRACE_GLOBAL_STORE;
        event.has_result = true;
    }
    array_push(recorder->events, recorder->count, recorder->capacity, event);
    return &recorder->events[recorder->count - 1];
}

/* Every lane of `mask` accesses word first + thread * stride. */
static TraceEvent *record_access(Recorder *recorder, int warp, int pc, uint32_t mask, int first, int stride) {
    TraceEvent *event = record(recorder, warp, pc, mask);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(mask >> lane & 1)) continue;
        int word = first + (warp * WARP_LANES + lane) * stride;
        event->offset[lane] = (uint64_t)word * 4;
        event->value[0][lane] = (uint64_t)recorder->value[word % 1024];
    }
    return event;
}

static void record_barrier(Recorder *recorder, int pc) {
    uint32_t last = 0;
    for (int warp = 0; warp < recorder->warps; warp++) {
        record(recorder, warp, pc, existing(recorder, warp))->participants = 0;
        if (recorder->turn[warp] > last) last = recorder->turn[warp];
    }
    for (int warp = 0; warp < recorder->warps; warp++) recorder->turn[warp] = last;
    recorder->interval++;
}

static void record_loop(Recorder *recorder) {
    int threads = recorder->threads;
    for (int s = 1; s < threads; s *= 2) {
        for (int warp = 0; warp < recorder->warps; warp++) {
            uint32_t active = 0, all = existing(recorder, warp);
            for (int lane = 0; lane < WARP_LANES; lane++)
                if (2 * s * (warp * WARP_LANES + lane) + s < threads) active |= 1u << lane & all;
            record(recorder, warp, PC_BRANCH, all)->taken = all & ~active;
            if (!active) continue;
            record_access(recorder, warp, PC_LOAD_FAR, active, s, 2 * s);
            record_access(recorder, warp, PC_LOAD_NEAR, active, 0, 2 * s);
            for (int lane = 0; lane < WARP_LANES; lane++) {
                int word = 2 * s * (warp * WARP_LANES + lane);
                if (active >> lane & 1) recorder->value[word] += recorder->value[word + s];
            }
            record_access(recorder, warp, PC_STORE, active, 0, 2 * s);
        }
        if (!recorder->races) record_barrier(recorder, PC_LOOP_BARRIER);
        for (int warp = 0; warp < recorder->warps; warp++)
            record(recorder, warp, PC_LOOP, existing(recorder, warp))->taken =
                2 * s < threads ? existing(recorder, warp) : 0;
    }
}

static void record_shuffles(Recorder *recorder) {
    TraceEvent *event = record(recorder, 0, PC_SHUFFLE, 0xffffffffu);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int source = lane + 8 < WARP_LANES ? lane + 8 : lane;
        event->operand[lane] = (uint64_t)lane * 10;
        event->value[0][lane] = (uint64_t)source * 10;
        event->source[lane] = (int8_t)source;
    }
    event->element_bytes = 4, event->element_count = 1, event->has_result = true;
    event->participants = 0xffffffffu;
    event = record(recorder, 0, PC_SHUFFLE_PARTIAL, 0x0000ffffu); /* every source is inactive */
    for (int lane = 0; lane < 16; lane++) event->operand[lane] = (uint64_t)lane, event->source[lane] = -1;
    event->element_bytes = 4, event->element_count = 1, event->has_result = true;
    event->participants = 0xffffffffu;
}

static void record_others(Recorder *recorder) {
    record_shuffles(recorder);
    TraceEvent *event = record(recorder, 0, PC_BALLOT, 0xffffffffu);
    for (int lane = 0; lane < WARP_LANES; lane++) event->value[0][lane] = 0xff;
    event->element_bytes = 4, event->element_count = 1, event->has_result = true;
    event->participants = 0xffffffffu;
    event = record(recorder, 0, PC_REDUX, 0xffffffffu);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        event->value[0][lane] = 496;
        event->operand[lane] = (uint64_t)lane;
    }
    event->element_bytes = 4, event->element_count = 1, event->has_result = true;
    event->participants = 0xffffffffu;
    record(recorder, 0, PC_WARP_SYNC, 0xff)->participants = 0xff;
    record(recorder, 0, PC_NAMED, 0xffffffffu)->participants = 3;
    record_access(recorder, 0, PC_SHARED_ATOMIC, 0xffffffffu, 0, 0);
    record_access(recorder, 0, PC_GLOBAL_STRIDED, 0xffffffffu, 0, 8);
    event = record_access(recorder, 0, PC_VECTOR, 0xffffffffu, 0, 4);
    event->width = 16, event->element_count = 4;
    record_access(recorder, 0, PC_BROADCAST, 0xffffffffu, 7, 0);
}

static int by_turn(const void *a, const void *b) {
    const TraceEvent *x = a, *y = b;
    if (x->turn != y->turn) return x->turn < y->turn ? -1 : 1;
    return x->warp - y->warp;
}

static TraceBlock *finish_block(Recorder *recorder) {
    TraceBlock *block = trace_block_new(0);
    qsort(recorder->events, (size_t)recorder->count, sizeof *recorder->events, by_turn);
    for (int i = 0; i < recorder->count; i++) trace_block_append(block, &recorder->events[i]);
    free(recorder->events);
    return block;
}

/* ---- the scene ----------------------------------------------------------------------------------------- */

static const char *source_line(Session *session, const char *file, int line) {
    (void)session, (void)file;
    return line >= 1 && line <= SOURCE_LINES ? source[line - 1] : NULL;
}
static int source_line_count(Session *session, const char *file) {
    (void)session, (void)file;
    return SOURCE_LINES;
}
static const char *ptx_line(Session *session, int launch, int pc) {
    (void)session, (void)launch;
    return instructions[pc].text;
}

static Sample *sample_open(int threads, int launches) {
    Sample *sample = memory_new(sizeof *sample);
    make_program();
    sample->trace = trace_new("test");
    trace_add_buffer(sample->trace, "in", 4096 * 4, PTX_S32);
    trace_add_buffer(sample->trace, "out", 16 * 4, PTX_S32);
    for (int i = 0; i < launches; i++) {
        TraceLaunch *launch = trace_add_launch(sample->trace, &(Launch){.program = &program});
        launch->name = "strided<int>";
        launch->grid[0] = 4096, launch->grid[1] = launch->grid[2] = 1;
        launch->block[0] = (uint32_t)threads, launch->block[1] = launch->block[2] = 1;
        launch->symbols = arena_new(&sample->trace->arena, sizeof *launch->symbols);
        launch->symbols[0] = (TraceSymbol){"_ZZ7stridedIiEvPKT_PS0_jE5sdata", PTX_SPACE_SHARED, 0, 4096};
        launch->symbol_count = 1;
        launch->static_shared_bytes = (uint32_t)threads * 4;
    }
    sample->scene = (Scene){
        .identity = {.kernel = "strided",
                     .title = "contiguous threads, strided index",
                     .level = "EMULATED",
                     .dtype = "int",
                     .op = "sum",
                     .type = PTX_S32,
                     .n = 1048576,
                     .story = "A strided index: threads stay together, and their words meet in few banks.",
                     .watch = "Divergence is gone, conflicts came instead."},
        .outcome = {.verdict = SCENE_RIGHT, .result = "42", .expected = "42"},
        .traced = {.trace = sample->trace,
                   .blocks = sample->blocks,
                   .step_indexes = sample->step_indexes,
                   .beats = sample->beats,
                   .paths = sample->paths},
        .questions = {
            .source_line = source_line, .source_line_count = source_line_count, .ptx_line = ptx_line}};
    return sample;
}

static void sample_add_block(Sample *sample, int launch, TraceBlock *block) {
    trace_launch_add_block(sample->trace->launches[launch], block);
    sample->blocks[sample->scene.traced.block_count++] =
        (SessionBlock){launch, block, steps_build(sample->trace->launches[launch], block)};
}

static Sample *sample_record(int threads, bool races) {
    Sample *sample = sample_open(threads, 1);
    Recorder recorder = {.threads = threads, .warps = (threads + 31) / 32, .races = races};
    for (int i = 0; i < 1024; i++) recorder.value[i] = i * 37 % 100;
    for (int warp = 0; warp < recorder.warps; warp++) {
        record_access(&recorder, warp, PC_LOAD_GLOBAL, existing(&recorder, warp), 0, 1);
        record_access(&recorder, warp, PC_FILL, existing(&recorder, warp), 0, 1);
    }
    record_barrier(&recorder, PC_BARRIER);
    record_loop(&recorder);
    for (int warp = 0; warp < recorder.warps; warp++) {
        uint32_t all = existing(&recorder, warp);
        record(&recorder, warp, PC_LAST_BRANCH, all)->taken = warp ? all : all & ~1u;
    }
    record_access(&recorder, 0, PC_LOAD_RESULT, 1, 0, 1);
    TraceEvent *event = record_access(&recorder, 0, PC_STORE_GLOBAL, 1, 0, 1);
    event->buffer[0] = 1;
    record_others(&recorder);
    sample_add_block(sample, 0, finish_block(&recorder));
    return sample;
}

Sample *sample_new(int threads) {
    return sample_record(threads, false);
}

Sample *sample_new_racing(int threads) {
    return sample_record(threads, true);
}

Sample *sample_new_two_launches(void) {
    Sample *sample = sample_open(64, 2);
    for (int launch = 0; launch < 2; launch++) {
        Recorder recorder = {.threads = 64, .warps = 2};
        for (int warp = 0; warp < 2; warp++)
            record_access(&recorder, warp, PC_LOAD_GLOBAL, 0xffffffffu, launch * 64, 1);
        sample_add_block(sample, launch, finish_block(&recorder));
    }
    return sample;
}

Sample *sample_new_empty(void) {
    Sample *sample = sample_open(64, 1);
    Trap trap = {.kind = (TrapKind)0, .pc = PTX_NO_PC, .detail = "4 bytes past the end of `in`"};
    trace_add_trap(sample->trace, &trap);
    sample->scene.outcome.verdict = SCENE_TRAPPED;
    return sample;
}

void sample_free(Sample *sample) {
    for (int i = 0; i < sample->scene.traced.block_count; i++) {
        beats_free(sample->beats[i]);
        paths_free(sample->paths[i]);
        step_index_free(sample->step_indexes[i]);
        steps_free(sample->blocks[i].steps);
    }
    trace_free(sample->trace);
    free(sample);
}

int sample_step(const Sample *sample, TraceKind kind, int skip) {
    const Steps *steps = sample->blocks[0].steps;
    for (int step = 0; step < steps->step_count; step++)
        if (instructions[steps->steps[step].pc].kind == kind && skip-- == 0) return step;
    fprintf(stderr, "the sample has no step of kind %s\n", trace_kind_text(kind));
    abort();
}

void sample_press(View *view, const Sample *sample, const char *script) {
    Key key;
    Error error = {0};
    while (*script) {
        if (!keys_read(&script, &key, &error)) {
            error_print(&error, stderr);
            abort();
        }
        input_press(view, &sample->scene, keys_decode(key));
    }
}

char *sample_frame(const Sample *sample, const View *view, int columns, int rows) {
    Canvas *canvas = canvas_new(columns, rows, false);
    Text text = {0};
    frame_draw(&sample->scene, view, canvas);
    canvas_to_text(canvas, &text);
    golden_add_roles(canvas, &text);
    canvas_free(canvas);
    return text.data;
}
