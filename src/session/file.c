#define _POSIX_C_SOURCE 200809L
/* A session in a file: what ask_save() writes, session_load() reads (trace/store.h, trace/schema.def). */
#include "session/file.h"

#include "base/version.h"
#include "session/saved_program.h"
#include "session/short_names.h"
#include "session/state.h"
#include "trace/trace_store.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART_BYTES = 1 << 20, MOST_SOURCES = 4096 };

static const int64_t MOST = INT64_MAX;

/* ---- writing: what was asked for ----------------------------------------------------------------------- */

/* Arguments are borrowed until the row ends. */
static const char *short_arguments(const char *arguments, Text *out) {
    if (!arguments) return NULL;
    short_names_write_arguments(arguments, out);
    return text_string(out);
}

static void write_session(const Session *session, const ShortNames *names, Store *store) {
    char now[32];
    Text grid = {0}, guess = {0}, ptx = {0};
    short_names_write_ptx(names, session->code.text, &ptx);
    const Trace *trace = session->run->trace;
    store_begin_row(store, TABLE_session);
    store_put_text(store, COLUMN_session_redviz,
                   session->file.made_by ? session->file.made_by : REDVIZ_VERSION);
    store_put_text(store, COLUMN_session_saved,
                   session->file.saved ? session->file.saved : text_now(now, sizeof now));
    store_put_text(store, COLUMN_session_name, session->kernel.name);
    store_put_text(store, COLUMN_session_kernel, session->options.kernel);
    store_put_text(store, COLUMN_session_producer, trace->producer);
    store_put_text(store, COLUMN_session_device, session->machine.device);
    store_put_integer(store, COLUMN_session_unprobed, session->machine.unprobed);
    bool has_grid = session_write_grid(session, &grid);
    store_put_text(store, COLUMN_session_grid, has_grid ? text_string(&grid) : NULL);
    store_put_text(store, COLUMN_session_read, session->guess.account.read);
    store_put_text(store, COLUMN_session_looks_like, session->guess.verdict.looks_like);
    store_put_integer(store, COLUMN_session_is_said, session->guess.verdict.has_result);
    store_put_text(store, COLUMN_session_alike, NULL);
    store_put_integer(store, COLUMN_session_fuses, !session->code.module->keeps_products);
    store_put_word(store, COLUMN_session_n, session->kernel.n);
    store_put_text(store, COLUMN_session_dtype, session->kernel.dtype);
    store_put_text(store, COLUMN_session_op, session->kernel.op);
    store_put_text(store, COLUMN_session_guessed, short_arguments(session->guess.account.guessed, &guess));
    store_put_text(store, COLUMN_session_compiler, session->code.compiler);
    store_put_bytes(store, COLUMN_session_printed, text_string(&trace->printed), trace->printed.length);
    store_put_text(store, COLUMN_session_ptx_file, short_names_find(names, session->code.path));
    store_put_text(store, COLUMN_session_ptx, text_string(&ptx));
    store_end_row(store);
    text_done(&grid);
    text_done(&guess);
    text_done(&ptx);
}

/* `edited`: of a kernel of the catalogue whose code was changed, where that came from; else NULL. */
static void write_settings(const RunSpec *options, const char *edited, const ShortNames *names,
                           Store *store) {
    const CatalogOptions *catalog = &options->catalog;
    Text arguments = {0};
    store_begin_row(store, TABLE_settings);
    const char *file = options->file ? options->file : edited;
    store_put_text(store, COLUMN_settings_file, short_names_find(names, file));
    store_put_text(store, COLUMN_settings_entry, options->entry);
    store_put_text(store, COLUMN_settings_arguments,
                   short_arguments(options->launches ? options->launches : options->args, &arguments));
    store_put_word(store, COLUMN_settings_n, catalog->n);
    store_put_integer(store, COLUMN_settings_threads, catalog->block);
    store_put_integer(store, COLUMN_settings_blocks, catalog->grid);
    store_put_text(store, COLUMN_settings_dtype,
                   catalog->dtype == PTX_NO_TYPE ? NULL : plan_type_name(catalog->dtype));
    store_put_text(store, COLUMN_settings_op, catalog->op);
    store_put_text(store, COLUMN_settings_fill, catalog->has_fill ? plan_fill_name(catalog->fill) : NULL);
    store_put_text(store, COLUMN_settings_fill_file, short_names_find(names, catalog->fill_path));
    store_put_integer(store, COLUMN_settings_whole_numbers, catalog->whole_numbers);
    store_put_word(store, COLUMN_settings_seed, catalog->seed);
    store_put_integer(store, COLUMN_settings_multiprocessors, catalog->multiprocessors);
    for (int i = 0; i < 3; i++) store_put_integer(store, COLUMN_settings_grid_x + i, options->grid[i]);
    for (int i = 0; i < 3; i++) store_put_integer(store, COLUMN_settings_block_x + i, options->block[i]);
    store_put_integer(store, COLUMN_settings_shared_bytes, options->shared_bytes);
    store_put_integer(store, COLUMN_settings_cooperative, options->cooperative);
    store_put_integer(store, COLUMN_settings_narrowed, options->has_trace_blocks);
    store_put_integer(store, COLUMN_settings_trace_first, options->trace_first);
    store_put_integer(store, COLUMN_settings_trace_last, options->trace_last);
    store_put_word(store, COLUMN_settings_schedule, options->schedule);
    store_put_word(store, COLUMN_settings_instruction_budget, options->instruction_budget);
    for (int i = 0; i < 3; i++) store_put_integer(store, COLUMN_settings_cluster_x + i, options->cluster[i]);
    store_end_row(store);
    text_done(&arguments);
    for (int i = 0; i < catalog->parameter_count; i++) {
        store_begin_row(store, TABLE_parameter);
        store_put_text(store, COLUMN_parameter_setting, catalog->parameters[i]);
        store_end_row(store);
    }
}

/* ---- writing: sources, entries, contents, result ------------------------------------------------------- */

static bool is_listed(const char *const *files, int count, const char *file) {
    for (int i = 0; i < count; i++)
        if (!strcmp(files[i], file)) return true;
    return false;
}

static void write_source(Session *session, const char *file, const char *name, Store *store) {
    Text text = {0};
    bool found = sources_text(&session->sources, file, &text);
    store_begin_row(store, TABLE_source);
    store_put_text(store, COLUMN_source_file, name);
    store_put_text(store, COLUMN_source_text, found ? text_string(&text) : NULL);
    store_end_row(store);
    text_done(&text);
}

/* Of the kernel; and, of a program, of its other launches as far as they are found. */
static void write_sources(Session *session, const ShortNames *names, Store *store) {
    const char **files = NULL;
    int count = 0, capacity = 0;
    for (int i = 0; i < session->run->launches.count; i++)
        for (int pc = 0; pc < session->run->launches.programs[i]->code_count; pc++) {
            const char *file = session->run->launches.programs[i]->code[pc].line.file;
            if (!file || is_listed(files, count, file)) continue;
            array_push(files, count, capacity, file);
            write_source(session, file, short_names_find(names, file), store);
        }
    const Captured *capture = session->options.program ? session->options.program->capture : NULL;
    const char *path;
    for (int i = 0; capture && (path = capture->is_saved ? sources_file(&session->sources, i)
                                                         : short_names_path(names, i));
         i++)
        if (!is_listed(files, count, path) && sources_line_count(&session->sources, path))
            write_source(session, path, short_names_find(names, path), store);
    free(files);
}

static void write_entries(const Session *session, Store *store) {
    for (int i = 0; i < session->run->trace->launch_count; i++) {
        const Launch *launch = &session->run->launches.bound[i];
        store_begin_row(store, TABLE_entry);
        store_put_text(store, COLUMN_entry_name, launch->program->entry->name);
        store_put_integer(store, COLUMN_entry_registers, session->run->launches.registers[i]);
        store_put_real(store, COLUMN_entry_occupancy,
                       session->run->launches.occupancy[i] < 0 ? (double)NAN
                                                               : session->run->launches.occupancy[i]);
        store_put_bytes(store, COLUMN_entry_parameters, launch->parameters, launch->parameter_bytes);
        store_end_row(store);
    }
}

static size_t buffer_bytes(const PlanBuffer *buffer) {
    return (size_t)buffer->count * (size_t)ptx_type_bytes(buffer->type);
}

/* Bytes that the fill gives again need not be saved. */
static bool holds_its_fill(const Session *session, int index) {
    const PlanBuffer *buffer = &session->run->plan.buffers[index];
    if (!buffer->bytes) return true; /* it came so from a file */
    if (buffer->fill == FILL_FILE || buffer->fill == FILL_CONTENT) return false;
    Plan again = session->run->plan;
    PlanBuffer *copies = memory_new((size_t)again.buffer_count * sizeof *copies);
    memcpy(copies, again.buffers, (size_t)again.buffer_count * sizeof *copies);
    again.buffers = copies;
    bool same = plan_fill_buffer(&again, index, session->options.catalog.seed, NULL) &&
                !memcmp(copies[index].bytes, buffer->bytes, buffer_bytes(buffer));
    free(copies[index].bytes);
    free(copies);
    return same;
}

static void write_contents(const Session *session, Store *store) {
    const Plan *plan = &session->run->plan;
    bool *kept = memory_new((size_t)plan->buffer_count * sizeof *kept);
    for (int i = 0; i < plan->buffer_count; i++) {
        const PlanBuffer *buffer = &plan->buffers[i];
        size_t bytes = buffer_bytes(buffer);
        kept[i] = !holds_its_fill(session, i);
        store_begin_row(store, TABLE_content);
        store_put_word(store, COLUMN_content_elements, buffer->count);
        Text fill = {0};
        plan_fill_print(buffer, &fill);
        store_put_text(store, COLUMN_content_fill, text_string(&fill));
        store_put_bytes(store, COLUMN_content_value, buffer->value, sizeof buffer->value);
        store_put_real(store, COLUMN_content_scale, buffer->scale);
        store_put_integer(store, COLUMN_content_whole_numbers, buffer->whole_numbers);
        store_put_integer(store, COLUMN_content_parts,
                          kept[i] ? (int64_t)((bytes + PART_BYTES - 1) / PART_BYTES) : 0);
        store_put_word(store, COLUMN_content_checksum,
                       buffer->bytes ? store_checksum(buffer->bytes, bytes) : session->checksums[i]);
        store_end_row(store);
        text_done(&fill);
    }
    for (int i = 0; i < plan->buffer_count; i++) {
        size_t bytes = kept[i] ? buffer_bytes(&plan->buffers[i]) : 0;
        for (size_t at = 0; at < bytes; at += PART_BYTES) {
            store_begin_row(store, TABLE_content_part);
            store_put_bytes(store, COLUMN_content_part_bytes, (const uint8_t *)plan->buffers[i].bytes + at,
                            bytes - at < PART_BYTES ? bytes - at : PART_BYTES);
            store_end_row(store);
        }
    }
    free(kept);
}

static void write_result(const ExpectResult *result, Store *store) {
    store_begin_row(store, TABLE_result);
    store_put_real(store, COLUMN_result_result, result->result);
    store_put_real(store, COLUMN_result_expected, result->expected);
    store_put_text(store, COLUMN_result_result_text, result->result_text);
    store_put_text(store, COLUMN_result_expected_text, result->expected_text);
    store_put_real(store, COLUMN_result_absolute_error, result->absolute_error);
    store_put_real(store, COLUMN_result_relative_error, result->relative_error);
    store_put_real(store, COLUMN_result_bound, result->bound);
    store_put_integer(store, COLUMN_result_is_rounding, result->is_rounding);
    store_put_text(store, COLUMN_result_rounding, result->rounding);
    store_put_integer(store, COLUMN_result_correct, result->correct);
    store_put_word(store, COLUMN_result_element, result->index);
    store_put_text(store, COLUMN_result_verdict, result->verdict);
    store_put_word(store, COLUMN_result_compared, result->compared);
    store_put_word(store, COLUMN_result_inexact, result->inexact);
    store_end_row(store);
}

bool session_save(Session *session, const char *path, Error *error) {
    if (session->run->is_partial)
        return error_set_at(error, path, 0, 0,
                            "cannot save yet: the rest of the grid is still being counted");
    const Program *program = session->options.program;
    uint64_t bytes = trace_stored_bytes(session->run->trace) + (program ? saved_program_bytes(program) : 0);
    Store *store = store_create(path, bytes, error);
    if (!store) return false;
    ShortNames names = {0};
    short_names_read(&names, session->code.text);
    for (int i = 0; program && i < program->capture->module_count; i++)
        short_names_read(&names, program->capture->modules[i].ptx);
    write_session(session, &names, store);
    const char *source = session->options.source ? session->options.source : session->code.path;
    write_settings(&session->options, session->code.is_edited ? source : NULL, &names, store);
    write_sources(session, &names, store);
    write_entries(session, store);
    trace_write(session->run->trace, store);
    write_contents(session, store);
    if (session->has_result) write_result(&session->result, store);
    measured_write(&session->machine.measured, store);
    findings_write(session->findings.hazards, store);
    if (program) saved_program_write(program, session->options.launch, &names, store);
    short_names_done(&names);
    return store_finish(store, error);
}

/* ---- reading: what was asked for ----------------------------------------------------------------------- */

static bool read_ptx(Session *session, Store *store) {
    Error error = {0};
    snprintf(session->code.path, sizeof session->code.path, "%s",
             store_name(store, COLUMN_session_ptx_file, &session->arena));
    const char *text = store_text(store, COLUMN_session_ptx, &session->arena);
    if (store_failed(store)) return false;
    if (strlen(text) > PTX_LIMIT_BYTES) return store_complain(store, "its PTX is too long");
    session->code.text = memory_copy_text(text);
    session->code.module = ptx_module_parse(session->code.text, strlen(text), session->code.path, &error);
    if (session->code.module) session->code.module->has_library_headers = session->options.kernel != NULL;
    return session->code.module || store_complain(store, "its PTX does not parse: %.100s", error.message);
}

static bool read_session(Session *session, const char **grid, Store *store) {
    Arena *arena = &session->arena;
    size_t printed_bytes;
    store_begin_table(store, TABLE_session);
    if (!store_next_row(store)) return store_failed(store) || store_complain(store, "it is empty");
    session->file.made_by = store_name(store, COLUMN_session_redviz, arena);
    session->file.saved = store_name(store, COLUMN_session_saved, arena);
    session->kernel.name = store_name(store, COLUMN_session_name, arena);
    session->options.kernel = store_name(store, COLUMN_session_kernel, arena);
    session->run->trace = trace_new(store_name(store, COLUMN_session_producer, arena));
    if (strcmp(session->run->trace->producer, "emulator") != 0 &&
        strcmp(session->run->trace->producer, "gpu") != 0)
        store_complain(store, "there is no such producer");
    session->machine.device = store_name(store, COLUMN_session_device, arena);
    session->machine.unprobed = (int)store_integer(store, COLUMN_session_unprobed, 0, INT_MAX);
    *grid = store_lines(store, COLUMN_session_grid, arena);
    session->kernel.n = (uint64_t)store_integer(store, COLUMN_session_n, 0, MOST);
    session->kernel.dtype = store_name(store, COLUMN_session_dtype, arena);
    session->kernel.op = store_name(store, COLUMN_session_op, arena);
    session->guess.account.guessed = store_text(store, COLUMN_session_guessed, arena);
    GuessAccount *account = &session->guess.account;
    account->read = store_text(store, COLUMN_session_read, arena); /* options, as they were printed */
    account->reads_arguments = account->read && strstr(account->read, "--args ");
    account->invents_arguments = account->guessed && strstr(account->guessed, "--args ");
    session->guess.verdict.looks_like = store_text(store, COLUMN_session_looks_like, arena);
    session->guess.verdict.has_result = store_flag(store, COLUMN_session_is_said);
    (void)store_text(store, COLUMN_session_alike, arena);
    session->code.compiler = store_name(store, COLUMN_session_compiler, arena);
    const uint8_t *printed = store_bytes(store, COLUMN_session_printed, &printed_bytes);
    text_add_bytes(&session->run->trace->printed, (const char *)printed, printed_bytes);
    bool fuses = store_flag(store, COLUMN_session_fuses);
    if (read_ptx(session, store)) session->code.module->keeps_products = !fuses;
    return !store_next_row(store) || store_complain(store, "there are two");
}

static bool fill_of(const char *name, FillKind *fill) {
    PlanBuffer buffer = {0};
    bool good = name && plan_fill_scan(name, &buffer);
    *fill = buffer.fill;
    return good;
}

static void read_settings_row(RunSpec *options, Arena *arena, Store *store) {
    CatalogOptions *catalog = &options->catalog;
    options->file = store_name(store, COLUMN_settings_file, arena);
    options->entry = store_name(store, COLUMN_settings_entry, arena);
    const char *arguments = store_name(store, COLUMN_settings_arguments, arena);
    bool is_launch = arguments && strstr(arguments, "<<<");
    *(is_launch ? &options->launches : &options->args) = arguments;
    catalog->n = (uint64_t)store_integer(store, COLUMN_settings_n, 0, MOST);
    catalog->block = (uint32_t)store_integer(store, COLUMN_settings_threads, 0, UINT32_MAX);
    catalog->grid = (uint32_t)store_integer(store, COLUMN_settings_blocks, 0, UINT32_MAX);
    const char *type = store_name(store, COLUMN_settings_dtype, arena);
    if (type && !plan_type_parse(type, &catalog->dtype))
        store_complain(store, "there is no type %.20s", type);
    catalog->op = store_name(store, COLUMN_settings_op, arena);
    const char *fill = store_name(store, COLUMN_settings_fill, arena);
    catalog->has_fill = fill != NULL;
    if (fill && !fill_of(fill, &catalog->fill)) store_complain(store, "there is no fill %.20s", fill);
    catalog->fill_path = store_name(store, COLUMN_settings_fill_file, arena);
    catalog->whole_numbers = store_flag(store, COLUMN_settings_whole_numbers);
    catalog->seed = store_word(store, COLUMN_settings_seed);
    catalog->multiprocessors = (uint32_t)store_integer(store, COLUMN_settings_multiprocessors, 0, UINT32_MAX);
    for (int i = 0; i < 3; i++)
        options->grid[i] = (uint32_t)store_integer(store, COLUMN_settings_grid_x + i, 0, UINT32_MAX);
    for (int i = 0; i < 3; i++)
        options->block[i] = (uint32_t)store_integer(store, COLUMN_settings_block_x + i, 0, UINT32_MAX);
    options->shared_bytes = (uint32_t)store_integer(store, COLUMN_settings_shared_bytes, 0, UINT32_MAX);
    options->cooperative = store_flag(store, COLUMN_settings_cooperative);
    options->has_trace_blocks = store_flag(store, COLUMN_settings_narrowed);
    options->trace_first = (uint32_t)store_integer(store, COLUMN_settings_trace_first, 0, UINT32_MAX);
    options->trace_last = (uint32_t)store_integer(store, COLUMN_settings_trace_last, 0, UINT32_MAX);
    options->schedule = store_word(store, COLUMN_settings_schedule);
    options->instruction_budget = store_word(store, COLUMN_settings_instruction_budget);
    for (int i = 0; i < 3; i++)
        options->cluster[i] =
            (uint32_t)store_integer(store, COLUMN_settings_cluster_x + i, 0, LAUNCH_CLUSTER_BLOCKS);
    catalog->cluster = options->cluster[0] * options->cluster[1] * options->cluster[2];
}

static void read_settings(Session *session, Store *store) {
    CatalogOptions *catalog = &session->options.catalog;
    store_begin_table(store, TABLE_settings);
    RunSpec *options = &session->options;
    if (store_next_row(store)) read_settings_row(options, &session->arena, store);
    if (options->kernel && options->file) { /* a changed copy of its source */
        options->source = options->file;
        options->file = NULL;
        session->code.is_edited = true;
    }
    if (store_next_row(store)) store_complain(store, "there are two");
    store_begin_table(store, TABLE_parameter);
    while (store_next_row(store)) {
        const char *setting = store_name(store, COLUMN_parameter_setting, &session->arena);
        if (catalog->parameter_count == CATALOG_PARAMETERS)
            store_complain(store, "there are too many");
        else
            catalog->parameters[catalog->parameter_count++] = setting;
    }
}

/* The row of the catalogue, if this version has it and it accepts the settings. */
static void find_row(Session *session) {
    const CatalogRow *row = session->options.kernel ? catalog_find(session->options.kernel, NULL) : NULL;
    if (row && catalog_resolve(row, &session->options.catalog, &session->kernel.run, NULL))
        session->kernel.row = row;
}

/* ---- reading: sources, entries, contents, result ------------------------------------------------------- */

static void read_sources(Session *session, Store *store) {
    session->sources.is_closed = true;
    store_begin_table(store, TABLE_source);
    while (store_next_row(store)) {
        Arena arena = {0};
        const char *file = store_text(store, COLUMN_source_file, &arena),
                   *text = store_text(store, COLUMN_source_text, &arena);
        if (session->sources.file_count == MOST_SOURCES) store_complain(store, "there are too many");
        if (!store_failed(store)) sources_add(&session->sources, file, text);
        arena_done(&arena);
    }
}

/* The sources of the shown launch, and of the others. */
static void add_program_sources(Session *session) {
    Captured *capture = session->file.program->capture;
    const char *file;
    capture->is_saved = true;
    for (int i = 0; (file = sources_file(&session->sources, i)); i++) {
        Text text = {0};
        CapturedSource source = {arena_copy_string(&capture->arena, file), NULL};
        if (sources_text(&session->sources, file, &text))
            source.text = arena_copy_string(&capture->arena, text_string(&text));
        array_push(capture->sources, capture->source_count, capture->source_capacity, source);
        text_done(&text);
    }
}

static bool read_entry(Session *session, int index, Store *store) {
    Error error = {0};
    size_t length;
    Launch *launch = &session->run->launches.bound[index];
    const char *name = store_name(store, COLUMN_entry_name, &session->arena);
    session->run->launches.registers[index] = (int)store_integer(store, COLUMN_entry_registers, -1, INT_MAX);
    double occupancy = store_real(store, COLUMN_entry_occupancy);
    session->run->launches.occupancy[index] = occupancy >= 0 ? occupancy : -1;
    const uint8_t *parameters = store_bytes(store, COLUMN_entry_parameters, &length);
    if (store_failed(store)) return false;
    launch->parameters = memory_new(length);
    memcpy(launch->parameters, parameters, length);
    launch->parameter_bytes = length;
    if (!session_link(session, index, name, &error))
        return store_complain(store, "its PTX: %.100s", error.message);
    launch->program = session->run->launches.programs[index];
    return true;
}

static void read_entries(Session *session, Store *store) {
    session->run->launches.programs =
        arena_new(&session->arena, PLAN_LAUNCHES * sizeof *session->run->launches.programs);
    session->run->launches.bound =
        arena_new(&session->arena, PLAN_LAUNCHES * sizeof *session->run->launches.bound);
    session->run->launches.registers =
        arena_new(&session->arena, PLAN_LAUNCHES * sizeof *session->run->launches.registers);
    session->run->launches.occupancy =
        arena_new(&session->arena, PLAN_LAUNCHES * sizeof *session->run->launches.occupancy);
    store_begin_table(store, TABLE_entry);
    while (store_next_row(store)) {
        if (session->run->launches.count == PLAN_LAUNCHES)
            store_complain(store, "there are too many");
        else
            read_entry(session, session->run->launches.count++, store);
    }
    if (!store_failed(store) && !session->run->launches.count) store_complain(store, "there is none");
}

typedef struct Contents { /* [buffer] */
    int64_t *parts;
    int count, capacity;
} Contents;

static void read_content(Session *session, Contents *contents, Store *store) {
    Plan *plan = &session->run->plan;
    size_t length;
    uint64_t elements = (uint64_t)store_integer(store, COLUMN_content_elements, 0, (int64_t)1 << 46);
    PlanBuffer filled = {0};
    const char *fill_name = store_name(store, COLUMN_content_fill, &session->arena);
    if (!fill_name || !plan_fill_scan(fill_name, &filled)) store_complain(store, "there is no such fill");
    FillKind fill = filled.fill;
    const uint8_t *value = store_bytes(store, COLUMN_content_value, &length);
    if (plan->buffer_count >= session->run->trace->buffer_count || length != sizeof plan->buffers->value) {
        store_complain(store, "it has no buffer");
        return;
    }
    const TraceBuffer *buffer = &session->run->trace->buffers[plan->buffer_count];
    int index = plan_add_buffer(plan, buffer->name, buffer->type, elements, fill);
    PlanBuffer *added = &plan->buffers[index];
    memcpy(added->value, value, sizeof added->value);
    added->first = filled.first;
    added->step = filled.step;
    added->has_range = filled.has_range;
    added->low = filled.low;
    added->high = filled.high;
    added->scale = store_real(store, COLUMN_content_scale);
    added->whole_numbers = store_flag(store, COLUMN_content_whole_numbers);
    int64_t parts = store_integer(store, COLUMN_content_parts, 0, INT32_MAX);
    array_push(contents->parts, contents->count, contents->capacity, parts);
    session->checksums[index] = store_word(store, COLUMN_content_checksum);
    if (!ptx_type_bytes(buffer->type) || buffer_bytes(added) != buffer->bytes ||
        (fill == FILL_FILE && !parts && buffer->bytes))
        store_complain(store, "it does not fit its buffer");
}

static void read_parts(PlanBuffer *buffer, int64_t parts, uint64_t checksum, Store *store) {
    Text bytes = {0};
    for (int64_t i = 0; i < parts && !store_failed(store); i++) {
        size_t length;
        if (!store_next_row(store)) {
            if (!store_failed(store)) store_complain(store, "more parts should follow");
            break;
        }
        const uint8_t *part = store_bytes(store, COLUMN_content_part_bytes, &length);
        text_add_bytes(&bytes, (const char *)part, length);
    }
    if (!store_failed(store) && (bytes.length != buffer_bytes(buffer) ||
                                 store_checksum(text_string(&bytes), bytes.length) != checksum))
        store_complain(store, "it is not what `%.40s` held", buffer->name);
    buffer->bytes = bytes.data ? bytes.data : memory_new(0);
}

static void read_contents(Session *session, Store *store) {
    Contents contents = {0};
    session->checksums = arena_new(&session->arena, ((size_t)session->run->trace->buffer_count + 1) *
                                                        sizeof *session->checksums);
    store_begin_table(store, TABLE_content);
    while (store_next_row(store)) read_content(session, &contents, store);
    store_begin_table(store, TABLE_content_part);
    for (int i = 0; i < contents.count && !store_failed(store); i++)
        if (contents.parts[i])
            read_parts(&session->run->plan.buffers[i], contents.parts[i], session->checksums[i], store);
    if (store_next_row(store)) store_complain(store, "it belongs to no buffer");
    free(contents.parts);
}

bool session_fill_buffer(Session *session, int index, Error *error) {
    PlanBuffer *buffer = &session->run->plan.buffers[index];
    if (!plan_fill_buffer(&session->run->plan, index, session->options.catalog.seed, error)) {
        free(buffer->bytes);
        buffer->bytes = NULL;
        return false;
    }
    if (store_checksum(buffer->bytes, buffer_bytes(buffer)) == session->checksums[index]) return true;
    return error_set(error, "--dump: this redviz fills `%s` with other values than redviz %s did",
                     buffer->name, session->file.made_by);
}

static void read_result_row(ExpectResult *result, Arena *arena, Store *store) {
    result->result = store_real(store, COLUMN_result_result);
    result->expected = store_real(store, COLUMN_result_expected);
    snprintf(result->result_text, sizeof result->result_text, "%s",
             store_name(store, COLUMN_result_result_text, arena));
    snprintf(result->expected_text, sizeof result->expected_text, "%s",
             store_name(store, COLUMN_result_expected_text, arena));
    result->absolute_error = store_real(store, COLUMN_result_absolute_error);
    result->relative_error = store_real(store, COLUMN_result_relative_error);
    result->bound = store_real(store, COLUMN_result_bound);
    result->is_rounding = store_flag(store, COLUMN_result_is_rounding);
    result->rounding = store_name(store, COLUMN_result_rounding, arena);
    result->correct = store_flag(store, COLUMN_result_correct);
    result->index = store_word(store, COLUMN_result_element);
    result->verdict = store_name(store, COLUMN_result_verdict, arena);
    result->compared = store_word(store, COLUMN_result_compared);
    result->inexact = store_word(store, COLUMN_result_inexact);
}

static void read_result(Session *session, Store *store) {
    store_begin_table(store, TABLE_result);
    session->has_result = store_next_row(store);
    if (!session->has_result) return;
    read_result_row(&session->result, &session->arena, store);
    if (store_next_row(store)) store_complain(store, "there are two");
}

static const char *source_line(void *session, const char *file, int line) {
    return session_source_line(session, file, line);
}

static void read_all(Session *session, Store *store) {
    const char *grid = NULL;
    Error error = {0};
    if (!read_session(session, &grid, store) || store_failed(store)) return;
    read_settings(session, store);
    read_sources(session, store);
    read_entries(session, store);
    if (store_failed(store)) return;
    trace_read(session->run->trace, session->run->launches.bound, session->run->launches.count, store);
    if (store_failed(store)) return;
    if (grid && !session_read_grid(session, grid, &error))
        store_complain(store, "its grid on the machine: %.100s", error.message);
    read_contents(session, store);
    read_result(session, store);
    measured_read(&session->machine.measured, session->run->launches.count, store);
    if (store_failed(store)) return;
    session->findings.hazards = findings_read(session->run->trace, store);
    if (session->findings.hazards && !store_failed(store))
        findings_count_slow_again(session->findings.hazards, session->run->trace,
                                  (FindingNames){source_line, session});
    session->file.program = saved_program_read(&session->options.launch, store);
    session->options.program = session->file.program;
    if (session->file.program) add_program_sources(session);
}

Session *session_load(const RunSpec *options, Error *error) {
    Store *store = store_open(options->saved, error);
    if (!store) return NULL;
    Session *session = memory_new(sizeof *session);
    session->run = memory_new(sizeof *session->run);
    session->options.is_from_file = true;
    session->options.threads = options->threads;
    session->options.backend = options->backend;
    read_all(session, store);
    if (!store_close(store, error)) {
        session_free(session);
        return NULL;
    }
    find_row(session);
    session_list_blocks(session);
    return session;
}
