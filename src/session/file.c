#define _POSIX_C_SOURCE 200809L
#include "session/file.h"

#include "session/state.h"
#include "trace/trace_store.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART_BYTES = 1 << 20, MOST_SOURCES = 4096 };

static const int64_t MOST = INT64_MAX;

/* ---- writing: what was asked for ------------------------------------------------------------------------
 */

static void write_session(const Session *session, Store *store) {
    char now[32];
    const Trace *trace = session->trace;
    store_begin_row(store, "session");
    store_put_text(store, session->made_by ? session->made_by : REDVIZ_VERSION);
    store_put_text(store, session->saved ? session->saved : text_now(now, sizeof now));
    store_put_text(store, session->name);
    store_put_text(store, session->options.kernel);
    store_put_text(store, trace->producer);
    store_put_text(store, session->device);
    store_put_word(store, session->n);
    store_put_text(store, session->dtype);
    store_put_text(store, session->op);
    store_put_text(store, session->guess);
    store_put_text(store, session->compiler);
    store_put_bytes(store, text_string(&trace->printed), trace->printed.length);
    store_put_text(store, session->ptx_path);
    store_put_text(store, session->ptx_text);
    store_end_row(store);
}

static void write_settings(const SessionOptions *options, Store *store) {
    const CatalogOptions *catalog = &options->catalog;
    store_begin_row(store, "settings");
    store_put_text(store, options->file);
    store_put_text(store, options->entry);
    store_put_text(store, options->args);
    store_put_word(store, catalog->n);
    store_put_integer(store, catalog->block);
    store_put_integer(store, catalog->grid);
    store_put_text(store, catalog->dtype == PTX_NO_TYPE ? NULL : plan_type_name(catalog->dtype));
    store_put_text(store, catalog->op);
    store_put_text(store, catalog->has_fill ? plan_fill_name(catalog->fill) : NULL);
    store_put_text(store, catalog->fill_path);
    store_put_integer(store, catalog->whole_numbers);
    store_put_word(store, catalog->seed);
    store_put_integer(store, catalog->multiprocessors);
    for (int i = 0; i < 3; i++) store_put_integer(store, options->grid[i]);
    for (int i = 0; i < 3; i++) store_put_integer(store, options->block[i]);
    store_put_integer(store, options->shared_bytes);
    store_put_integer(store, options->cooperative);
    store_put_integer(store, options->has_trace_blocks);
    store_put_integer(store, options->trace_first);
    store_put_integer(store, options->trace_last);
    store_put_word(store, options->schedule);
    store_put_word(store, options->instruction_budget);
    store_end_row(store);
    for (int i = 0; i < catalog->parameter_count; i++) {
        store_begin_row(store, "parameter");
        store_put_text(store, catalog->parameters[i]);
        store_end_row(store);
    }
}

/* ---- writing: sources, entries, contents, result --------------------------------------------------------
 */

static bool is_listed(const char *const *files, int count, const char *file) {
    for (int i = 0; i < count; i++)
        if (!strcmp(files[i], file)) return true;
    return false;
}

static void write_source(Session *session, const char *file, Store *store) {
    Text text = {0};
    bool found = sources_text(&session->sources, file, &text);
    store_begin_row(store, "source");
    store_put_text(store, file);
    store_put_text(store, found ? text_string(&text) : NULL);
    store_end_row(store);
    text_done(&text);
}

static void write_sources(Session *session, Store *store) {
    const char **files = NULL;
    int count = 0, capacity = 0;
    for (int i = 0; i < session->launch_count; i++)
        for (int pc = 0; pc < session->programs[i]->code_count; pc++) {
            const char *file = session->programs[i]->code[pc].line.file;
            if (!file || is_listed(files, count, file)) continue;
            array_push(files, count, capacity, file);
            write_source(session, file, store);
        }
    free(files);
}

static void write_entries(const Session *session, Store *store) {
    for (int i = 0; i < session->trace->launch_count; i++) {
        const Launch *launch = &session->launches[i];
        store_begin_row(store, "entry");
        store_put_text(store, launch->program->entry->name);
        store_put_integer(store, session->registers[i]);
        store_put_real(store, session->occupancy[i] < 0 ? (double)NAN : session->occupancy[i]);
        store_put_bytes(store, launch->parameters, launch->parameter_bytes);
        store_end_row(store);
    }
}

static size_t buffer_bytes(const PlanBuffer *buffer) {
    return (size_t)buffer->count * (size_t)ptx_type_bytes(buffer->type);
}

/* Can its bytes be made again? Then they need not be kept. */
static bool holds_its_fill(const Session *session, int index) {
    const PlanBuffer *buffer = &session->plan.buffers[index];
    if (!buffer->bytes) return true; /* it came so from a file */
    if (buffer->fill == FILL_FILE) return false;
    Plan again = session->plan;
    PlanBuffer *copies = memory_new((size_t)again.buffer_count * sizeof *copies);
    memcpy(copies, again.buffers, (size_t)again.buffer_count * sizeof *copies);
    again.buffers = copies;
    again.cancel = NULL;
    bool same = plan_fill_buffer(&again, index, session->options.catalog.seed, NULL) &&
                !memcmp(copies[index].bytes, buffer->bytes, buffer_bytes(buffer));
    free(copies[index].bytes);
    free(copies);
    return same;
}

static void write_contents(const Session *session, Store *store) {
    const Plan *plan = &session->plan;
    bool *kept = memory_new((size_t)plan->buffer_count * sizeof *kept);
    for (int i = 0; i < plan->buffer_count; i++) {
        const PlanBuffer *buffer = &plan->buffers[i];
        size_t bytes = buffer_bytes(buffer);
        kept[i] = !holds_its_fill(session, i);
        store_begin_row(store, "content");
        store_put_word(store, buffer->count);
        store_put_text(store, plan_fill_name(buffer->fill));
        store_put_bytes(store, buffer->value, sizeof buffer->value);
        store_put_real(store, buffer->scale);
        store_put_integer(store, buffer->whole_numbers);
        store_put_integer(store, kept[i] ? (int64_t)((bytes + PART_BYTES - 1) / PART_BYTES) : 0);
        store_put_word(store, buffer->bytes ? store_checksum(buffer->bytes, bytes) : session->checksums[i]);
        store_end_row(store);
    }
    for (int i = 0; i < plan->buffer_count; i++) {
        size_t bytes = kept[i] ? buffer_bytes(&plan->buffers[i]) : 0;
        for (size_t at = 0; at < bytes; at += PART_BYTES) {
            store_begin_row(store, "content_part");
            store_put_bytes(store, (const uint8_t *)plan->buffers[i].bytes + at,
                            bytes - at < PART_BYTES ? bytes - at : PART_BYTES);
            store_end_row(store);
        }
    }
    free(kept);
}

static void write_result(const CatalogResult *result, Store *store) {
    store_begin_row(store, "result");
    store_put_real(store, result->result);
    store_put_real(store, result->expected);
    store_put_text(store, result->result_text);
    store_put_text(store, result->expected_text);
    store_put_real(store, result->absolute_error);
    store_put_real(store, result->relative_error);
    store_put_real(store, result->bound);
    store_put_integer(store, result->correct);
    store_put_word(store, result->index);
    store_put_text(store, result->verdict);
    store_put_word(store, result->compared);
    store_put_word(store, result->inexact);
    store_end_row(store);
}

bool session_save(Session *session, const char *path, Error *error) {
    if (session->is_partial)
        return error_set_at(error, path, 0, 0,
                            "cannot save yet: the rest of the grid is still being counted");
    for (int i = 0; i < session->trace->launch_count; i++) session_trace_others(session, i);
    Store *store = store_create(path, trace_stored_bytes(session->trace), error);
    if (!store) return false;
    write_session(session, store);
    write_settings(&session->options, store);
    write_sources(session, store);
    write_entries(session, store);
    trace_write(session->trace, store);
    write_contents(session, store);
    if (session->has_result) write_result(&session->result, store);
    measured_write(&session->measured, store);
    hazards_write(session_hazards(session), store);
    return store_finish(store, error);
}

/* ---- reading: what was asked for ------------------------------------------------------------------------
 */

/* Where the schema says NOT NULL. */
static const char *word_of(Store *store, Arena *arena) {
    const char *text = store_name(store, arena);
    return text ? text : "";
}

static bool read_ptx(Session *session, Store *store) {
    Error error = {0};
    snprintf(session->ptx_path, sizeof session->ptx_path, "%s", word_of(store, &session->arena));
    const char *text = store_text(store, &session->arena);
    if (store_failed(store)) return false;
    if (!text || strlen(text) > PTX_LIMIT_BYTES)
        return store_complain(store, "its PTX is missing or too long");
    session->ptx_text = memory_copy_text(text);
    session->module = ptx_module_parse(session->ptx_text, strlen(text), session->ptx_path, &error);
    return session->module || store_complain(store, "its PTX is none: %.100s", error.message);
}

static bool read_session(Session *session, Store *store) {
    Arena *arena = &session->arena;
    size_t printed_bytes;
    store_begin_table(store, "session");
    if (!store_next_row(store)) return store_failed(store) || store_complain(store, "it is empty");
    session->made_by = word_of(store, arena);
    session->saved = word_of(store, arena);
    session->name = word_of(store, arena);
    session->options.kernel = store_name(store, arena);
    session->trace = trace_new(word_of(store, arena));
    if (strcmp(session->trace->producer, "emulator") != 0 && strcmp(session->trace->producer, "gpu") != 0)
        store_complain(store, "nobody knows its producer");
    session->device = store_name(store, arena);
    session->n = (uint64_t)store_integer(store, 0, MOST);
    session->dtype = store_name(store, arena);
    session->op = store_name(store, arena);
    session->guess = store_text(store, arena);
    session->compiler = store_name(store, arena);
    const uint8_t *printed = store_bytes(store, &printed_bytes);
    text_add_bytes(&session->trace->printed, (const char *)printed, printed_bytes);
    read_ptx(session, store);
    return !store_next_row(store) || store_complain(store, "there are two");
}

static bool fill_of(const char *name, FillKind *fill) {
    for (int kind = FILL_ZERO; name && kind <= FILL_VALUE; kind++)
        if (!strcmp(plan_fill_name((FillKind)kind), name)) {
            *fill = (FillKind)kind;
            return true;
        }
    return false;
}

static void read_settings_row(SessionOptions *options, Arena *arena, Store *store) {
    CatalogOptions *catalog = &options->catalog;
    options->file = store_name(store, arena);
    options->entry = store_name(store, arena);
    options->args = store_name(store, arena);
    catalog->n = (uint64_t)store_integer(store, 0, MOST);
    catalog->block = (uint32_t)store_integer(store, 0, UINT32_MAX);
    catalog->grid = (uint32_t)store_integer(store, 0, UINT32_MAX);
    const char *type = store_name(store, arena);
    if (type && !plan_type_parse(type, &catalog->dtype))
        store_complain(store, "there is no type %.20s", type);
    catalog->op = store_name(store, arena);
    const char *fill = store_name(store, arena);
    catalog->has_fill = fill != NULL;
    if (fill && !fill_of(fill, &catalog->fill)) store_complain(store, "there is no fill %.20s", fill);
    catalog->fill_path = store_name(store, arena);
    catalog->whole_numbers = store_flag(store);
    catalog->seed = store_word(store);
    catalog->multiprocessors = (uint32_t)store_integer(store, 0, UINT32_MAX);
    for (int i = 0; i < 3; i++) options->grid[i] = (uint32_t)store_integer(store, 0, UINT32_MAX);
    for (int i = 0; i < 3; i++) options->block[i] = (uint32_t)store_integer(store, 0, UINT32_MAX);
    options->shared_bytes = (uint32_t)store_integer(store, 0, UINT32_MAX);
    options->cooperative = store_flag(store);
    options->has_trace_blocks = store_flag(store);
    options->trace_first = (uint32_t)store_integer(store, 0, UINT32_MAX);
    options->trace_last = (uint32_t)store_integer(store, 0, UINT32_MAX);
    options->schedule = store_word(store);
    options->instruction_budget = store_word(store);
}

static void read_settings(Session *session, Store *store) {
    CatalogOptions *catalog = &session->options.catalog;
    store_begin_table(store, "settings");
    if (store_next_row(store)) read_settings_row(&session->options, &session->arena, store);
    if (store_next_row(store)) store_complain(store, "there are two");
    store_begin_table(store, "parameter");
    while (store_next_row(store)) {
        const char *setting = word_of(store, &session->arena);
        if (catalog->parameter_count == CATALOG_PARAMETERS)
            store_complain(store, "there are too many");
        else
            catalog->parameters[catalog->parameter_count++] = setting;
    }
}

/* The catalogue's row, where this redviz still has it and it takes the settings. */
static void find_row(Session *session) {
    const CatalogRow *row = session->options.kernel ? catalog_find(session->options.kernel, NULL) : NULL;
    if (row && catalog_resolve(row, &session->options.catalog, &session->run, NULL)) session->row = row;
}

/* ---- reading: sources, entries, contents, result --------------------------------------------------------
 */

static void read_sources(Session *session, Store *store) {
    session->sources.is_closed = true;
    store_begin_table(store, "source");
    while (store_next_row(store)) {
        Arena arena = {0};
        const char *file = store_text(store, &arena), *text = store_text(store, &arena);
        if (session->sources.file_count == MOST_SOURCES) store_complain(store, "there are too many");
        if (!store_failed(store)) sources_add(&session->sources, file ? file : "", text);
        arena_done(&arena);
    }
}

static bool read_entry(Session *session, int index, Store *store) {
    Error error = {0};
    size_t length;
    Launch *launch = &session->launches[index];
    const char *name = word_of(store, &session->arena);
    session->registers[index] = (int)store_integer(store, -1, INT_MAX);
    double occupancy = store_real(store);
    session->occupancy[index] = occupancy >= 0 ? occupancy : -1;
    const uint8_t *parameters = store_bytes(store, &length);
    if (store_failed(store)) return false;
    launch->parameters = memory_new(length);
    memcpy(launch->parameters, parameters, length);
    launch->parameter_bytes = length;
    if (!session_link(session, index, name, &error))
        return store_complain(store, "its PTX: %.100s", error.message);
    launch->program = session->programs[index];
    return true;
}

static void read_entries(Session *session, Store *store) {
    session->programs = arena_new(&session->arena, PLAN_LAUNCHES * sizeof *session->programs);
    session->launches = arena_new(&session->arena, PLAN_LAUNCHES * sizeof *session->launches);
    session->registers = arena_new(&session->arena, PLAN_LAUNCHES * sizeof *session->registers);
    session->occupancy = arena_new(&session->arena, PLAN_LAUNCHES * sizeof *session->occupancy);
    store_begin_table(store, "entry");
    while (store_next_row(store)) {
        if (session->launch_count == PLAN_LAUNCHES)
            store_complain(store, "there are too many");
        else
            read_entry(session, session->launch_count++, store);
    }
    if (!store_failed(store) && !session->launch_count) store_complain(store, "there is none");
}

typedef struct Contents { /* [buffer] */
    int64_t *parts;
    int count, capacity;
} Contents;

static void read_content(Session *session, Contents *contents, Store *store) {
    Plan *plan = &session->plan;
    size_t length;
    uint64_t elements = (uint64_t)store_integer(store, 0, (int64_t)1 << 46);
    FillKind fill = FILL_ZERO;
    if (!fill_of(word_of(store, &session->arena), &fill)) store_complain(store, "there is no such fill");
    const uint8_t *value = store_bytes(store, &length);
    if (plan->buffer_count >= session->trace->buffer_count || length != sizeof plan->buffers->value) {
        store_complain(store, "it has no buffer");
        return;
    }
    const TraceBuffer *buffer = &session->trace->buffers[plan->buffer_count];
    int index = plan_add_buffer(plan, buffer->name, buffer->type, elements, fill);
    PlanBuffer *added = &plan->buffers[index];
    memcpy(added->value, value, sizeof added->value);
    added->scale = store_real(store);
    added->whole_numbers = store_flag(store);
    int64_t parts = store_integer(store, 0, INT32_MAX);
    array_push(contents->parts, contents->count, contents->capacity, parts);
    session->checksums[index] = store_word(store);
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
        const uint8_t *part = store_bytes(store, &length);
        text_add_bytes(&bytes, (const char *)part, length);
    }
    if (!store_failed(store) && (bytes.length != buffer_bytes(buffer) ||
                                 store_checksum(text_string(&bytes), bytes.length) != checksum))
        store_complain(store, "it is not what `%.40s` held", buffer->name);
    buffer->bytes = bytes.data ? bytes.data : memory_new(0);
}

static void read_contents(Session *session, Store *store) {
    Contents contents = {0};
    session->checksums =
        arena_new(&session->arena, ((size_t)session->trace->buffer_count + 1) * sizeof *session->checksums);
    store_begin_table(store, "content");
    while (store_next_row(store)) read_content(session, &contents, store);
    store_begin_table(store, "content_part");
    for (int i = 0; i < contents.count && !store_failed(store); i++)
        if (contents.parts[i])
            read_parts(&session->plan.buffers[i], contents.parts[i], session->checksums[i], store);
    if (store_next_row(store)) store_complain(store, "it belongs to no buffer");
    free(contents.parts);
}

bool session_fill_buffer(Session *session, int index, Error *error) {
    PlanBuffer *buffer = &session->plan.buffers[index];
    if (!plan_fill_buffer(&session->plan, index, session->options.catalog.seed, error)) {
        free(buffer->bytes);
        buffer->bytes = NULL;
        return false;
    }
    if (store_checksum(buffer->bytes, buffer_bytes(buffer)) == session->checksums[index]) return true;
    return error_set(error, "--dump: `%s` cannot be made again as it was; redviz %s could", buffer->name,
                     session->made_by);
}

static void read_result_row(CatalogResult *result, Arena *arena, Store *store) {
    result->result = store_real(store);
    result->expected = store_real(store);
    snprintf(result->result_text, sizeof result->result_text, "%s", word_of(store, arena));
    snprintf(result->expected_text, sizeof result->expected_text, "%s", word_of(store, arena));
    result->absolute_error = store_real(store);
    result->relative_error = store_real(store);
    result->bound = store_real(store);
    result->correct = store_flag(store);
    result->index = store_word(store);
    result->verdict = store_name(store, arena);
    result->compared = store_word(store);
    result->inexact = store_word(store);
}

static void read_result(Session *session, Store *store) {
    store_begin_table(store, "result");
    session->has_result = store_next_row(store);
    if (!session->has_result) return;
    read_result_row(&session->result, &session->arena, store);
    if (store_next_row(store)) store_complain(store, "there are two");
}

static void read_all(Session *session, Store *store) {
    if (!read_session(session, store) || store_failed(store)) return;
    read_settings(session, store);
    read_sources(session, store);
    read_entries(session, store);
    if (store_failed(store)) return;
    trace_read(session->trace, session->launches, session->launch_count, store);
    if (store_failed(store)) return;
    read_contents(session, store);
    read_result(session, store);
    measured_read(&session->measured, session->launch_count, store);
    if (!store_failed(store)) session->hazards = hazards_read(session->trace, store);
}

Session *session_load(const SessionOptions *options, Error *error) {
    Store *store = store_open(options->saved, error);
    if (!store) return NULL;
    Session *session = memory_new(sizeof *session);
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
