#include "session/saved_program.h"

#include "base/memory.h"
#include "findings/findings.h"
#include "runtime/program_messages.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* Bits of the column flags. */
enum {
    IS_REFUSED = 1,
    IS_CHECKED = 2,
    IS_UNSUPPORTED = 4,
    IS_CANCELLED = 8,
    IS_KEPT = 16,
    CHANGES = 32,
    WRITES_AFTER_LAUNCH = 64,
    WAS_EXECUTED = 128,
    OUTDONE = 256,
    ALL_FLAGS = 511
};

enum { MOST_ROWS = 1 << 24, MOST_THREADS = 1024, MOST_SHARED_BYTES = 1 << 20 };

static const int64_t MOST_BYTES = (int64_t)1 << 40; /* of one memory */

static const char *const ends[] = {[PROGRAM_EXITED] = "exited",
                                   [PROGRAM_KILLED] = "killed",
                                   [PROGRAM_TIME] = "late",
                                   [PROGRAM_STOPPED] = "stopped"};
static const char *const faults[] = {[CAPTURED_CALL_FAILED] = "call failed",
                                     [CAPTURED_UNORDERED] = "unordered",
                                     [CAPTURED_STALE] = "stale",
                                     [CAPTURED_NOT_CLEARED] = "not cleared",
                                     [CAPTURED_EARLY] = "early",
                                     [CAPTURED_COUNTER] = "counter",
                                     [CAPTURED_HOST_ACCESS] = "host access",
                                     [CAPTURED_USED_FREED] = "used freed",
                                     [CAPTURED_LACKS] = "lacks"};

static int word_index(const char *const *words, size_t count, const char *word, Store *store) {
    for (size_t i = 0; word && i < count; i++)
        if (!strcmp(words[i], word)) return (int)i;
    store_complain(store, "it does not say what it is");
    return 0;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void put_word(Text *out, uint64_t word) {
    char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (char)(word >> 8 * i);
    text_add_bytes(out, bytes, sizeof bytes);
}

static void put_pages(Text *out, const CapturedPage *pages, int count) {
    for (int i = 0; i < count; i++) {
        put_word(out, pages[i].address);
        put_word(out, pages[i].hash.low);
        put_word(out, pages[i].hash.high);
    }
}

static void put_ranges(Text *out, const CapturedRange *ranges, int count) {
    for (int i = 0; i < count; i++) {
        put_word(out, (uint64_t)ranges[i].memory);
        put_word(out, ranges[i].first);
        put_word(out, ranges[i].count);
    }
}

static void put_blob(Store *store, StoreColumn column, const Text *bytes) {
    store_put_bytes(store, column, bytes->data, bytes->length);
}

static void write_program(const Program *program, int shown, Store *store) {
    store_begin_row(store, TABLE_program);
    store_put_integer(store, COLUMN_program_shown, shown);
    store_put_text(store, COLUMN_program_ended, ends[program->end]);
    store_put_integer(store, COLUMN_program_status, program->status);
    store_put_real(store, COLUMN_program_seconds, program->seconds);
    store_put_text(store, COLUMN_program_largest, program->largest);
    put_blob(store, COLUMN_program_output, &program->output);
    store_end_row(store);
}

static void write_module(const CapturedModule *module, const ShortNames *names, Store *store) {
    Text ptx = {0};
    short_names_write_ptx(names, module->ptx, &ptx);
    store_begin_row(store, TABLE_program_module);
    store_put_text(store, COLUMN_program_module_name, short_names_find(names, module->name));
    store_put_text(store, COLUMN_program_module_ptx, text_string(&ptx));
    store_end_row(store);
    text_done(&ptx);
}

static void write_memory(const CapturedMemory *memory, Store *store) {
    store_begin_row(store, TABLE_program_memory);
    store_put_word(store, COLUMN_program_memory_address, memory->address);
    store_put_word(store, COLUMN_program_memory_bytes, memory->bytes);
    store_put_text(store, COLUMN_program_memory_name, memory->name ? memory->name : "memory");
    store_put_text(store, COLUMN_program_memory_variable, memory->variable);
    store_put_integer(store, COLUMN_program_memory_module, memory->variable ? memory->module : -1);
    store_end_row(store);
}

static int flags_of(const CapturedLaunch *launch) {
    return (launch->is_refused ? IS_REFUSED : 0) | (launch->is_checked ? IS_CHECKED : 0) |
           (launch->is_unsupported ? IS_UNSUPPORTED : 0) | (launch->is_cancelled ? IS_CANCELLED : 0) |
           (launch->is_kept ? IS_KEPT : 0) | (launch->changes ? CHANGES : 0) |
           (launch->writes_after_launch ? WRITES_AFTER_LAUNCH : 0) | (launch->memories ? WAS_EXECUTED : 0) |
           (launch->outdone ? OUTDONE : 0);
}

static void write_launch(const CapturedLaunch *launch, const ShortNames *names, Store *store) {
    Text memories = {0}, before = {0}, after = {0}, unwritten = {0}, changed = {0}, elements = {0};
    for (int i = 0; i < launch->memory_count; i++) put_word(&memories, (uint64_t)launch->memories[i]);
    put_pages(&before, launch->before, launch->before_count);
    put_pages(&after, launch->after, launch->after_count);
    put_ranges(&unwritten, launch->unwritten, launch->unwritten_count);
    put_ranges(&changed, launch->changed, launch->changed_count);
    for (int i = 0; i < launch->changed_count; i++) put_word(&elements, launch->changed[i].elements);
    store_begin_row(store, TABLE_program_launch);
    store_put_integer(store, COLUMN_program_launch_device, launch->device);
    store_put_integer(store, COLUMN_program_launch_module, launch->module);
    store_put_integer(store, COLUMN_program_launch_function, launch->function);
    store_put_text(store, COLUMN_program_launch_entry, launch->entry);
    store_put_text(store, COLUMN_program_launch_name, launch->name);
    for (int i = 0; i < 3; i++) {
        store_put_integer(store, COLUMN_program_launch_grid_x + i, launch->grid[i]);
        store_put_integer(store, COLUMN_program_launch_block_x + i, launch->block[i]);
        store_put_integer(store, COLUMN_program_launch_cluster_x + i, launch->cluster[i]);
    }
    store_put_integer(store, COLUMN_program_launch_static_shared_bytes, launch->static_shared_bytes);
    store_put_integer(store, COLUMN_program_launch_dynamic_shared_bytes, launch->dynamic_shared_bytes);
    store_put_integer(store, COLUMN_program_launch_cooperative, launch->cooperative);
    store_put_word(store, COLUMN_program_launch_heap_bytes, launch->heap_bytes);
    store_put_text(store, COLUMN_program_launch_file, short_names_find(names, launch->file));
    store_put_integer(store, COLUMN_program_launch_line, launch->line);
    store_put_integer(store, COLUMN_program_launch_repeats, launch->repeats);
    store_put_integer(store, COLUMN_program_launch_times, launch->times);
    store_put_integer(store, COLUMN_program_launch_error, launch->error);
    store_put_text(store, COLUMN_program_launch_why, launch->why);
    store_put_integer(store, COLUMN_program_launch_flags, flags_of(launch));
    store_put_word(store, COLUMN_program_launch_instructions, launch->instructions);
    store_put_word(store, COLUMN_program_launch_excess_wavefronts, launch->excess_wavefronts);
    store_put_word(store, COLUMN_program_launch_excess_sectors, launch->excess_sectors);
    store_put_word(store, COLUMN_program_launch_divergent_branches, launch->divergent_branches);
    store_put_word(store, COLUMN_program_launch_atomics, launch->atomics);
    store_put_text(store, COLUMN_program_launch_atomic_file, short_names_find(names, launch->extreme.file));
    store_put_integer(store, COLUMN_program_launch_atomic_line, launch->extreme.line);
    store_put_text(store, COLUMN_program_launch_trap,
                   launch->trap < 0 ? NULL : trap_kind_text((TrapKind)launch->trap));
    store_put_real(store, COLUMN_program_launch_seconds, launch->seconds);
    put_blob(store, COLUMN_program_launch_memories, &memories);
    put_blob(store, COLUMN_program_launch_before, &before);
    put_blob(store, COLUMN_program_launch_after, &after);
    put_blob(store, COLUMN_program_launch_unwritten, &unwritten);
    put_blob(store, COLUMN_program_launch_changed, &changed);
    put_blob(store, COLUMN_program_launch_elements, &elements);
    store_put_text(store, COLUMN_program_launch_finding, launch->finding);
    store_put_word(store, COLUMN_program_launch_beyond, launch->beyond);
    store_end_row(store);
    text_done(&memories), text_done(&before), text_done(&after), text_done(&unwritten), text_done(&changed);
    text_done(&elements);
}

static void write_arguments(const CapturedLaunch *launch, int index, Store *store) {
    for (int i = 0; i < launch->parameter_count; i++) {
        store_begin_row(store, TABLE_program_argument);
        store_put_integer(store, COLUMN_program_argument_launch, index);
        store_put_integer(store, COLUMN_program_argument_offset, launch->offsets[i]);
        store_put_bytes(store, COLUMN_program_argument_bytes, launch->parameters + launch->offsets[i],
                        (size_t)launch->sizes[i]);
        store_end_row(store);
    }
}

static void write_uses(const CapturedLaunch *launch, int index, const ShortNames *names, Store *store) {
    for (int i = 0; i < launch->use_count; i++) {
        store_begin_row(store, TABLE_program_use);
        store_put_integer(store, COLUMN_program_use_launch, index);
        store_put_integer(store, COLUMN_program_use_memory, launch->uses[i].memory);
        store_put_text(store, COLUMN_program_use_file, short_names_find(names, launch->uses[i].line.file));
        store_put_integer(store, COLUMN_program_use_line, launch->uses[i].line.line);
        store_end_row(store);
    }
}

static void write_fault(const CapturedFault *fault, const ShortNames *names, Store *store) {
    store_begin_row(store, TABLE_program_fault);
    store_put_text(store, COLUMN_program_fault_kind, faults[fault->kind]);
    store_put_integer(store, COLUMN_program_fault_error, fault->error);
    store_put_text(store, COLUMN_program_fault_call, fault->call);
    store_put_text(store, COLUMN_program_fault_what, fault->what);
    store_put_integer(store, COLUMN_program_fault_checked, fault->is_checked);
    store_put_integer(store, COLUMN_program_fault_memory, fault->memory);
    store_put_integer(store, COLUMN_program_fault_after, fault->after);
    store_put_text(store, COLUMN_program_fault_file, short_names_find(names, fault->file));
    store_put_integer(store, COLUMN_program_fault_line, fault->line);
    store_put_text(store, COLUMN_program_fault_function, fault->function);
    store_end_row(store);
}

static void write_page(void *context, const void *page, size_t bytes) {
    Store *store = context;
    store_begin_row(store, TABLE_program_page);
    store_put_bytes(store, COLUMN_program_page_bytes, page, bytes);
    store_end_row(store);
}

void saved_program_write(const Program *program, int shown, const ShortNames *names, Store *store) {
    const Captured *capture = program->capture;
    write_program(program, shown, store);
    for (int i = 0; i < capture->module_count; i++) write_module(&capture->modules[i], names, store);
    for (int i = 0; i < capture->memory_count; i++) write_memory(&capture->memories[i], store);
    for (int i = 0; i < capture->launch_count; i++) write_launch(&capture->launches[i], names, store);
    for (int i = 0; i < capture->launch_count; i++) write_arguments(&capture->launches[i], i, store);
    for (int i = 0; i < capture->launch_count; i++) write_uses(&capture->launches[i], i, names, store);
    for (int i = 0; i < capture->fault_count; i++) write_fault(&capture->faults[i], names, store);
    contents_visit(capture->contents, write_page, store);
}

uint64_t saved_program_bytes(const Program *program) {
    uint64_t bytes = contents_bytes(program->capture->contents) + program->output.length;
    for (int i = 0; i < program->capture->module_count; i++)
        bytes += strlen(program->capture->modules[i].ptx);
    return bytes;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static bool read_program(Program *program, int *shown, Store *store) {
    size_t length;
    store_begin_table(store, TABLE_program);
    if (!store_next_row(store)) return false;
    *shown = (int)store_integer(store, COLUMN_program_shown, 0, MOST_ROWS);
    program->end =
        (ProgramEnd)word_index(ends, sizeof ends / sizeof *ends,
                               store_name(store, COLUMN_program_ended, &program->capture->arena), store);
    program->status = (int)store_integer(store, COLUMN_program_status, 0, 255);
    program->seconds = store_real(store, COLUMN_program_seconds);
    program->largest = store_name(store, COLUMN_program_largest, &program->capture->arena);
    program->has_connected = true;
    const uint8_t *output = store_bytes(store, COLUMN_program_output, &length);
    text_add_bytes(&program->output, (const char *)output, length);
    return !store_next_row(store) || store_complain(store, "there are two");
}

static bool has_room(int count, Store *store) {
    return count < MOST_ROWS || store_complain(store, "there are too many");
}

static void read_modules(Captured *capture, Store *store) {
    store_begin_table(store, TABLE_program_module);
    while (store_next_row(store) && has_room(capture->module_count, store)) {
        CapturedModule module = {.name = store_name(store, COLUMN_program_module_name, &capture->arena),
                                 .ptx = store_text(store, COLUMN_program_module_ptx, &capture->arena)};
        array_push(capture->modules, capture->module_count, capture->module_capacity, module);
    }
}

static void read_memories(Captured *capture, Store *store) {
    store_begin_table(store, TABLE_program_memory);
    while (store_next_row(store) && has_room(capture->memory_count, store)) {
        CapturedMemory memory = {
            .address = (uint64_t)store_integer(store, COLUMN_program_memory_address, 1, INT64_MAX / 2),
            .bytes = (uint64_t)store_integer(store, COLUMN_program_memory_bytes, 0, MOST_BYTES),
            .name = store_name(store, COLUMN_program_memory_name, &capture->arena),
            .variable = store_name(store, COLUMN_program_memory_variable, &capture->arena),
            .module = (int)store_integer(store, COLUMN_program_memory_module, -1, capture->module_count - 1)};
        array_push(capture->memories, capture->memory_count, capture->memory_capacity, memory);
    }
}

typedef struct BlobWords { /* of a blob */
    const uint8_t *at;
    int rows;
} BlobWords;

/* Rows of so many words; none where the length does not fit. */
static BlobWords read_words(Store *store, StoreColumn column, size_t words_of_row) {
    size_t length;
    const uint8_t *bytes = store_bytes(store, column, &length);
    if (length % (8 * words_of_row) || length / 8 > INT32_MAX)
        return store_complain(store, "%zu bytes are no whole number of rows", length), (BlobWords){0};
    return (BlobWords){bytes, (int)(length / (8 * words_of_row))};
}

static uint64_t next_word(BlobWords *words) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word |= (uint64_t)words->at[i] << 8 * i;
    words->at += 8;
    return word;
}

/* NULL: there are none. */
static CapturedPage *read_pages(Store *store, StoreColumn column, int *count) {
    BlobWords words = read_words(store, column, 3);
    CapturedPage *pages = words.rows ? memory_new((size_t)words.rows * sizeof *pages) : NULL;
    for (int i = 0; i < words.rows; i++) {
        pages[i].address = next_word(&words);
        pages[i].hash.low = next_word(&words);
        pages[i].hash.high = next_word(&words);
    }
    *count = words.rows;
    return pages;
}

static CapturedRange *read_ranges(const Captured *capture, Store *store, StoreColumn column, int *count) {
    BlobWords words = read_words(store, column, 3);
    CapturedRange *ranges = words.rows ? memory_new((size_t)words.rows * sizeof *ranges) : NULL;
    for (int i = 0; i < words.rows; i++) {
        uint64_t memory = next_word(&words), first = next_word(&words), length = next_word(&words);
        uint64_t most =
            memory < (uint64_t)capture->memory_count ? (capture->memories[memory].bytes + 3) / 4 : 0;
        if (first > most || !length || length > most - first) {
            store_complain(store, "a range is outside its memory");
            break;
        }
        ranges[i] = (CapturedRange){.memory = (int)memory, .first = first, .count = length};
    }
    *count = words.rows;
    return ranges;
}

/* Of a format without this column: the words of each range. */
static void read_elements(CapturedLaunch *launch, Store *store) {
    BlobWords words = read_words(store, COLUMN_program_launch_elements, 1);
    if (words.rows && words.rows != launch->changed_count) store_complain(store, "it has other ranges");
    for (int i = 0; i < launch->changed_count; i++)
        launch->changed[i].elements = i < words.rows ? next_word(&words) : launch->changed[i].count;
}

/* Memories that existed at once do not overlap; a launch that was executed has a list, if an empty one. */
static void read_memory_list(const Captured *capture, CapturedLaunch *launch, Store *store) {
    BlobWords words = read_words(store, COLUMN_program_launch_memories, 1);
    uint64_t behind = 0;
    launch->memories = memory_new(((size_t)words.rows + 1) * sizeof *launch->memories);
    for (int i = 0; i < words.rows; i++) {
        uint64_t index = next_word(&words);
        const CapturedMemory *memory =
            index < (uint64_t)capture->memory_count ? &capture->memories[index] : NULL;
        if (!memory || memory->address < behind) {
            store_complain(store, "its memories overlap");
            return;
        }
        behind = memory->address + memory->bytes;
        launch->memories[launch->memory_count++] = (int)index;
    }
}

static void read_shape(CapturedLaunch *launch, Store *store) {
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        launch->grid[i] = (uint32_t)store_integer(store, COLUMN_program_launch_grid_x + i, 0, UINT32_MAX);
        launch->block[i] = (uint32_t)store_integer(store, COLUMN_program_launch_block_x + i, 0, UINT32_MAX);
        launch->cluster[i] =
            (uint32_t)store_integer(store, COLUMN_program_launch_cluster_x + i, 0, LAUNCH_CLUSTER_BLOCKS);
        threads = threads <= MOST_THREADS ? threads * launch->block[i] : threads;
    }
    int64_t most = launch->is_refused ? UINT32_MAX : MOST_SHARED_BYTES;
    launch->static_shared_bytes =
        (uint32_t)store_integer(store, COLUMN_program_launch_static_shared_bytes, 0, most);
    launch->dynamic_shared_bytes =
        (uint32_t)store_integer(store, COLUMN_program_launch_dynamic_shared_bytes, 0, most);
    if (launch->is_refused) return;
    if (!threads || threads > MOST_THREADS) store_complain(store, "a block has 1 to 1024 threads");
    if (!launch->grid[0] || !launch->grid[1] || !launch->grid[2] || launch->grid[0] > INT32_MAX ||
        launch->grid[1] > 65535 || launch->grid[2] > 65535)
        store_complain(store, "no GPU has such a grid");
}

static void read_flags(CapturedLaunch *launch, const Captured *capture, Store *store) {
    int flags = (int)store_integer(store, COLUMN_program_launch_flags, 0, ALL_FLAGS);
    launch->is_refused = flags & IS_REFUSED;
    launch->is_checked = flags & IS_CHECKED;
    launch->is_unsupported = flags & IS_UNSUPPORTED;
    launch->is_cancelled = flags & IS_CANCELLED;
    launch->is_kept = flags & IS_KEPT;
    launch->changes = flags & CHANGES;
    launch->writes_after_launch = flags & WRITES_AFTER_LAUNCH;
    launch->outdone = flags & OUTDONE;
    if (flags & WAS_EXECUTED)
        read_memory_list(capture, launch, store);
    else
        (void)read_words(store, COLUMN_program_launch_memories, 1);
}

static void read_place(CapturedLaunch *launch, Arena *arena, Store *store) {
    launch->file = store_name(store, COLUMN_program_launch_file, arena);
    launch->line = (int)store_integer(store, COLUMN_program_launch_line, 0, INT32_MAX);
    const char *slash = launch->file ? strrchr(launch->file, '/') : NULL;
    if (launch->file)
        launch->place = arena_print(arena, "%s:%d", slash ? slash + 1 : launch->file, launch->line);
}

static int read_trap(Arena *arena, Store *store) {
    const char *text = store_name(store, COLUMN_program_launch_trap, arena);
    TrapKind kind = text ? trap_kind_find(text) : TRAP_KIND_COUNT;
    if (text && kind == TRAP_KIND_COUNT) store_complain(store, "there is no such fault");
    return text ? (int)kind : -1;
}

static CapturedLaunch read_launch(Captured *capture, Store *store) {
    Arena *arena = &capture->arena;
    CapturedLaunch launch = {0};
    const int64_t most = INT64_MAX;
    int *parameters = arena_new(arena, sizeof *parameters); /* none yet */
    launch.offsets = launch.sizes = parameters;
    launch.parameters = (const uint8_t *)parameters;
    launch.device = (int)store_integer(store, COLUMN_program_launch_device, 0, INT32_MAX);
    launch.module = (int)store_integer(store, COLUMN_program_launch_module, 0, capture->module_count - 1);
    launch.function = (int)store_integer(store, COLUMN_program_launch_function, 0, INT32_MAX);
    launch.entry = store_name(store, COLUMN_program_launch_entry, arena);
    launch.name = store_name(store, COLUMN_program_launch_name, arena);
    read_flags(&launch, capture, store);
    read_shape(&launch, store);
    launch.cooperative = store_flag(store, COLUMN_program_launch_cooperative);
    launch.heap_bytes = (uint64_t)store_integer(store, COLUMN_program_launch_heap_bytes, 0, MOST_BYTES);
    read_place(&launch, arena, store);
    launch.repeats =
        (int)store_integer(store, COLUMN_program_launch_repeats, -1, (int64_t)capture->launch_count - 1);
    if (launch.repeats >= 0 && capture->launches[launch.repeats].repeats >= 0)
        store_complain(store, "it repeats one that repeats another");
    launch.times = (int)store_integer(store, COLUMN_program_launch_times, 0, INT32_MAX);
    launch.error = (int32_t)store_integer(store, COLUMN_program_launch_error, INT32_MIN, INT32_MAX);
    launch.why = store_name(store, COLUMN_program_launch_why, arena);
    if ((launch.error || launch.is_refused) && !launch.why) launch.why = "it failed";
    launch.instructions = (uint64_t)store_integer(store, COLUMN_program_launch_instructions, 0, most);
    launch.excess_wavefronts =
        (uint64_t)store_integer(store, COLUMN_program_launch_excess_wavefronts, 0, most);
    launch.excess_sectors = (uint64_t)store_integer(store, COLUMN_program_launch_excess_sectors, 0, most);
    launch.divergent_branches =
        (uint64_t)store_integer(store, COLUMN_program_launch_divergent_branches, 0, most);
    launch.atomics = (uint64_t)store_integer(store, COLUMN_program_launch_atomics, 0, most);
    launch.extreme.file = store_name(store, COLUMN_program_launch_atomic_file, arena);
    launch.extreme.line = (int)store_integer(store, COLUMN_program_launch_atomic_line, 0, INT32_MAX);
    launch.trap = read_trap(arena, store);
    launch.seconds = store_real(store, COLUMN_program_launch_seconds);
    launch.before = read_pages(store, COLUMN_program_launch_before, &launch.before_count);
    launch.after = read_pages(store, COLUMN_program_launch_after, &launch.after_count);
    launch.unwritten = read_ranges(capture, store, COLUMN_program_launch_unwritten, &launch.unwritten_count);
    launch.changed = read_ranges(capture, store, COLUMN_program_launch_changed, &launch.changed_count);
    read_elements(&launch, store);
    launch.finding = store_name(store, COLUMN_program_launch_finding, arena);
    if (launch.finding && *launch.finding && finding_kind_find(launch.finding) == FINDING_KIND_COUNT)
        store_complain(store, "there is no finding '%.40s'", launch.finding);
    launch.beyond = (uint64_t)store_integer(store, COLUMN_program_launch_beyond, 0, most);
    if (launch.outdone && launch.after_count && !launch.changed_count)
        store_complain(store, "it changed nothing that it wrote");
    return launch;
}

static void read_launches(Captured *capture, Store *store) {
    store_begin_table(store, TABLE_program_launch);
    while (store_next_row(store) && has_room(capture->launch_count, store)) {
        CapturedLaunch launch = read_launch(capture, store);
        array_push(capture->launches, capture->launch_count, capture->launch_capacity, launch);
    }
}

typedef struct Arguments { /* of one launch, while it is read */
    Text bytes;
    int *offsets, *sizes;
    int count, offset_capacity, size_capacity;
    int launch;
} Arguments;

/* The launch takes what was read of it. */
static void end_arguments(Captured *capture, Arguments *arguments) {
    CapturedLaunch *launch = &capture->launches[arguments->launch];
    size_t bytes = (size_t)arguments->count * sizeof *arguments->offsets;
    if (arguments->count) {
        launch->parameters =
            arena_copy(&capture->arena, text_string(&arguments->bytes), arguments->bytes.length + 1);
        launch->offsets = arena_copy(&capture->arena, arguments->offsets, bytes);
        launch->sizes = arena_copy(&capture->arena, arguments->sizes, bytes);
        launch->parameter_count = arguments->count;
    }
    arguments->count = 0;
    arguments->bytes.length = 0;
}

static void read_argument(Captured *capture, Arguments *arguments, Store *store) {
    static const char zeros[4096];
    size_t length;
    int launch = (int)store_integer(store, COLUMN_program_argument_launch, arguments->launch,
                                    (int64_t)capture->launch_count - 1);
    int offset = (int)store_integer(store, COLUMN_program_argument_offset, 0, MESSAGE_PARAMETER_BYTES);
    const uint8_t *bytes = store_bytes(store, COLUMN_program_argument_bytes, &length);
    if (store_failed(store)) return;
    if (launch != arguments->launch) end_arguments(capture, arguments);
    arguments->launch = launch;
    if ((size_t)offset < arguments->bytes.length || length > MESSAGE_PARAMETER_BYTES) {
        store_complain(store, "arguments overlap");
        return;
    }
    while (arguments->bytes.length < (size_t)offset) {
        size_t gap = (size_t)offset - arguments->bytes.length;
        text_add_bytes(&arguments->bytes, zeros, gap < sizeof zeros ? gap : sizeof zeros);
    }
    text_add_bytes(&arguments->bytes, (const char *)bytes, length);
    int capacity = arguments->count;
    array_push(arguments->offsets, capacity, arguments->offset_capacity, offset);
    array_push(arguments->sizes, arguments->count, arguments->size_capacity, (int)length);
}

static void read_arguments(Captured *capture, Store *store) {
    Arguments arguments = {0};
    store_begin_table(store, TABLE_program_argument);
    while (store_next_row(store)) read_argument(capture, &arguments, store);
    if (!store_failed(store) && arguments.count) end_arguments(capture, &arguments);
    text_done(&arguments.bytes);
    free(arguments.offsets);
    free(arguments.sizes);
}

static void read_uses(Captured *capture, Store *store) {
    store_begin_table(store, TABLE_program_use);
    while (store_next_row(store)) {
        int launch =
            (int)store_integer(store, COLUMN_program_use_launch, 0, (int64_t)capture->launch_count - 1);
        CapturedUse use = {
            (int)store_integer(store, COLUMN_program_use_memory, 0, (int64_t)capture->memory_count - 1),
            {store_name(store, COLUMN_program_use_file, &capture->arena),
             (int)store_integer(store, COLUMN_program_use_line, 0, INT32_MAX)}};
        if (store_failed(store)) return;
        CapturedLaunch *used = &capture->launches[launch];
        array_push(used->uses, used->use_count, used->use_capacity, use);
    }
}

static void read_faults(Captured *capture, Store *store) {
    Arena *arena = &capture->arena;
    store_begin_table(store, TABLE_program_fault);
    while (store_next_row(store) && has_room(capture->fault_count, store)) {
        CapturedFault fault = {0};
        fault.kind =
            (CapturedFaultKind)word_index(faults, sizeof faults / sizeof *faults,
                                          store_name(store, COLUMN_program_fault_kind, arena), store);
        bool names_both = fault.kind == CAPTURED_USED_FREED;
        fault.error = (int32_t)store_integer(store, COLUMN_program_fault_error, INT32_MIN, INT32_MAX);
        fault.call = store_name(store, COLUMN_program_fault_call, arena);
        fault.what = store_name(store, COLUMN_program_fault_what, arena);
        fault.is_checked = store_flag(store, COLUMN_program_fault_checked);
        fault.memory = (int)store_integer(store, COLUMN_program_fault_memory, names_both ? 0 : -1,
                                          (int64_t)capture->memory_count - 1);
        fault.after = (int)store_integer(store, COLUMN_program_fault_after, names_both ? 1 : 0,
                                         (int64_t)capture->launch_count);
        fault.file = store_name(store, COLUMN_program_fault_file, arena);
        fault.line = (int)store_integer(store, COLUMN_program_fault_line, 0, INT32_MAX);
        fault.function = store_name(store, COLUMN_program_fault_function, arena);
        if (!fault.call) fault.call = "";
        if (!fault.what) fault.what = "";
        array_push(capture->faults, capture->fault_count, capture->fault_capacity, fault);
    }
}

static void read_contents(Captured *capture, Store *store) {
    store_begin_table(store, TABLE_program_page);
    while (store_next_row(store)) {
        size_t length;
        const uint8_t *bytes = store_bytes(store, COLUMN_program_page_bytes, &length);
        if (!length || length > CONTENTS_PAGE_BYTES) {
            store_complain(store, "a page has 1 to %d bytes", CONTENTS_PAGE_BYTES);
            return;
        }
        contents_keep(capture->contents, contents_hash(bytes, length), bytes, length);
    }
}

Program *saved_program_read(int *shown, Store *store) {
    Program *program = memory_new(sizeof *program);
    program->capture = captured_new(UINT64_MAX);
    *shown = 0;
    bool is_there = read_program(program, shown, store);
    read_modules(program->capture, store);
    read_memories(program->capture, store);
    read_launches(program->capture, store);
    read_arguments(program->capture, store);
    read_uses(program->capture, store);
    read_faults(program->capture, store);
    read_contents(program->capture, store);
    if (is_there && !store_failed(store) && *shown >= program->capture->launch_count)
        store_complain(store, "the launch that it shows is missing");
    if (is_there && !store_failed(store)) return program;
    program_free(program);
    return NULL;
}
