#include "sass/recorded.h"

#include "base/language.h"
#include "base/tsv.h"
#include "catalog/catalog.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    OVERHEAD_DIGITS = 4,
    KERNEL_FIELDS = 9,
    COUNTED_FIELDS = 5,
    SAMPLED_FIELDS = 6,
    PLACE_FIELDS = 4,
    INSTRUCTION_FIELDS = 10,
    LANES = 32
};

/* ---- writing ------------------------------------------------------------------------------------------- */

void sass_record_begin(Text *out) {
    text_add(out, "stalls");
    for (int i = 0; i < SASS_STALLS; i++) text_print(out, "\t%s", sass_stalls[i].tool_name);
    text_add(out, "\n");
}

static void add_measured(Text *out, const SassKernel *kernel) {
    const SassMeasured *counted = &kernel->counted, *sampled = &kernel->sampled;
    if (counted->n) {
        text_print(out, "counted\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32, counted->n, counted->grid,
                   counted->block);
        tsv_add_number(out, counted->overhead, OVERHEAD_DIGITS);
        text_add(out, "\n");
    }
    if (sampled->n) {
        text_print(out, "sampled\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32, sampled->n, sampled->grid,
                   sampled->block, sampled->period);
        tsv_add_number(out, sampled->overhead, OVERHEAD_DIGITS);
        text_add(out, "\n");
    }
}

static void add_counts(Text *out, const SassInstruction *in) {
    text_print(out, "\t%" PRIu64 "\t", in->executed);
    if (in->threads != LANES * in->executed) text_print(out, "%" PRIu64, in->threads);
    text_add(out, "\t");
    if (in->acting != in->threads) text_print(out, "%" PRIu64, in->acting);
}

static void add_samples(Text *out, const SassInstruction *in) {
    const char *before = "";
    for (int i = 0; i < SASS_STALLS; i++) {
        if (!in->samples[i]) continue;
        text_print(out, "%s%d:%" PRIu32, before, i, in->samples[i]);
        before = ",";
    }
}

static void add_instruction(Text *out, const SassKernel *kernel, const SassInstruction *in) {
    text_print(out, "i\t%" PRIx32, in->offset);
    if (in->place < 0)
        text_add(out, "\t-");
    else
        text_print(out, "\t%d", in->place);
    if (kernel->has_ptx_lines && in->ptx_line)
        text_print(out, "\t%d", in->ptx_line);
    else
        text_add(out, "\t-");
    tsv_add_word(out, in->label);
    if (kernel->counted.n)
        add_counts(out, in);
    else
        text_add(out, "\t-\t-\t-");
    text_add(out, "\t");
    if (kernel->sampled.n)
        add_samples(out, in);
    else
        text_add(out, "-");
    tsv_add_word(out, in->text);
    text_add(out, "\n");
}

void sass_record_kernel(Text *out, const SassKernel *kernel) {
    text_add(out, "sass");
    tsv_add_word(out, kernel->kernel);
    tsv_add_word(out, kernel->dtype);
    tsv_add_word(out, kernel->op);
    text_print(out, "\t%d", kernel->launch);
    tsv_add_word(out, kernel->entry);
    tsv_add_word(out, kernel->machine);
    tsv_add_word(out, kernel->driver);
    tsv_add_word(out, kernel->measured);
    text_add(out, "\n");
    add_measured(out, kernel);
    for (int i = 0; i < kernel->place_count; i++) {
        text_add(out, "place");
        tsv_add_word(out, kernel->places[i].file);
        text_print(out, "\t%d", kernel->places[i].line);
        if (kernel->places[i].inlined_at < 0)
            text_add(out, "\t-\n");
        else
            text_print(out, "\t%d\n", kernel->places[i].inlined_at);
    }
    for (int i = 0; i < kernel->count; i++) add_instruction(out, kernel, &kernel->instructions[i]);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

typedef struct Reader {
    TsvReader tsv;
    SassVisit visit;
    void *context;
    SassKernel kernel;             /* the kernel read last */
    bool has_kernel, is_over;      /* is_over: the visitor wants no more kernels */
    SassStall stalls[TSV_COLUMNS]; /* meanings of the file's numbers */
    int stall_count;
} Reader;

/* An index into an earlier list of `count` entries; "-": `other`. */
static bool read_index(const Reader *reader, int column, int count, int other, int *index, Error *error) {
    uint64_t number;
    *index = other;
    if (!*tsv_word(&reader->tsv, column)) return true;
    if (!tsv_whole(&reader->tsv, column, 0, UINT64_MAX, &number, NULL) || number >= (uint64_t)count)
        return tsv_refuse(&reader->tsv, error, "column %d is '%.24s', neither - nor a whole number below %d",
                          column + 1, reader->tsv.columns[column], count);
    *index = (int)number;
    return true;
}

static char *keep_word(Reader *reader, int column) {
    const char *word = tsv_word(&reader->tsv, column);
    return *word ? arena_copy_string(&reader->kernel.arena, word) : NULL;
}

static bool read_stalls(Reader *reader, Error *error) {
    if (reader->tsv.count > TSV_COLUMNS)
        return tsv_refuse(&reader->tsv, error, "more than %d reasons", TSV_COLUMNS - 1);
    reader->stall_count = reader->tsv.count - 1;
    for (int i = 0; i < reader->stall_count; i++) {
        SassStall stall = sass_stall_find(reader->tsv.columns[i + 1]);
        reader->stalls[i] = stall == SASS_STALLS ? SASS_STALL_other : stall;
    }
    return true;
}

/* Passes on the kernel read last. */
static void send(Reader *reader) {
    if (!reader->has_kernel) return;
    SassKernel kernel = reader->kernel;
    reader->kernel = (SassKernel){.count = 0};
    reader->has_kernel = false;
    reader->is_over = !reader->visit(reader->context, &kernel);
}

static bool read_kernel(Reader *reader, Error *error) {
    send(reader);
    if (reader->is_over) return true;
    if (!tsv_has_columns(&reader->tsv, KERNEL_FIELDS, error)) return false;
    SassKernel *kernel = &reader->kernel;
    kernel->kernel = keep_word(reader, 1);
    kernel->dtype = keep_word(reader, 2);
    kernel->op = keep_word(reader, 3);
    kernel->entry = keep_word(reader, 5);
    kernel->machine = keep_word(reader, 6);
    kernel->driver = keep_word(reader, 7);
    kernel->measured = keep_word(reader, 8);
    kernel->counted.overhead = kernel->sampled.overhead = NAN;
    reader->has_kernel = true;
    if (!kernel->entry) return tsv_refuse(&reader->tsv, error, "a kernel without the name of its entry");
    return read_index(reader, 4, 1 << 16, 0, &kernel->launch, error);
}

static bool read_measured(Reader *reader, bool is_sampled, Error *error) {
    const TsvReader *tsv = &reader->tsv;
    SassMeasured *measured = is_sampled ? &reader->kernel.sampled : &reader->kernel.counted;
    SassMeasured read = {0};
    int count = is_sampled ? SAMPLED_FIELDS : COUNTED_FIELDS;
    if (!tsv_has_columns(tsv, count, error) || !tsv_whole(tsv, 1, 1, UINT64_MAX, &read.n, error) ||
        !tsv_whole32(tsv, 2, 0, UINT32_MAX, &read.grid, error) ||
        !tsv_whole32(tsv, 3, 0, UINT32_MAX, &read.block, error) ||
        (is_sampled && !tsv_whole32(tsv, 4, 0, UINT32_MAX, &read.period, error)) ||
        !tsv_number(tsv, count - 1, &read.overhead, error))
        return false;
    if (reader->kernel.count) return tsv_refuse(tsv, error, "this belongs before the instructions");
    *measured = read;
    return true;
}

static bool read_place(Reader *reader, Error *error) {
    SassKernel *kernel = &reader->kernel;
    uint32_t line;
    SassPlace place;
    if (!tsv_has_columns(&reader->tsv, PLACE_FIELDS, error) ||
        !tsv_whole32(&reader->tsv, 2, 0, INT32_MAX, &line, error) ||
        !read_index(reader, 3, kernel->place_count, -1, &place.inlined_at, error))
        return false;
    place.file = arena_copy_string(&kernel->arena, reader->tsv.columns[1]);
    place.line = (int)line;
    array_push(kernel->places, kernel->place_count, kernel->place_capacity, place);
    return true;
}

static bool read_counts(const Reader *reader, SassInstruction *in, Error *error) {
    const TsvReader *tsv = &reader->tsv;
    if (!reader->kernel.counted.n) return true;
    if (!tsv_whole(tsv, 5, 0, UINT64_MAX / LANES, &in->executed, error)) return false;
    in->threads = LANES * in->executed;
    if (*tsv->columns[6] && !tsv_whole(tsv, 6, 0, LANES * in->executed, &in->threads, error)) return false;
    in->acting = in->threads;
    return !*tsv->columns[7] || tsv_whole(tsv, 7, 0, in->threads, &in->acting, error);
}

static bool read_samples(const Reader *reader, SassInstruction *in, Error *error) {
    const char *list = reader->tsv.columns[8];
    if (!reader->kernel.sampled.n) return true;
    for (const char *at = list; *at;) {
        char *end;
        unsigned long stall = strtoul(at, &end, 10);
        if (end == at || *end != ':' || stall >= (unsigned long)reader->stall_count)
            return tsv_refuse(&reader->tsv, error, "not a list of samples: %.40s", list);
        at = end + 1;
        unsigned long long count = strtoull(at, &end, 10);
        if (end == at || (*end && *end != ',') || count > UINT32_MAX - in->samples[reader->stalls[stall]])
            return tsv_refuse(&reader->tsv, error, "not a list of samples: %.40s", list);
        in->samples[reader->stalls[stall]] += (uint32_t)count;
        at = *end ? end + 1 : end;
    }
    return true;
}

/* A hexadecimal number above the previous instruction's. */
static bool read_offset(const Reader *reader, uint32_t *offset, Error *error) {
    const SassKernel *kernel = &reader->kernel;
    const char *text = reader->tsv.columns[1];
    char *end;
    unsigned long long number = strtoull(text, &end, 16);
    *offset = (uint32_t)number;
    if (isxdigit((unsigned char)*text) && !*end && number <= UINT32_MAX &&
        (!kernel->count || number > kernel->instructions[kernel->count - 1].offset))
        return true;
    return tsv_refuse(&reader->tsv, error, "not an offset above the one before: %.24s", text);
}

static bool read_instruction(Reader *reader, Error *error) {
    SassKernel *kernel = &reader->kernel;
    SassInstruction in = {.place = -1};
    if (!tsv_has_columns(&reader->tsv, INSTRUCTION_FIELDS, error) ||
        !read_offset(reader, &in.offset, error) ||
        !read_index(reader, 2, kernel->place_count, -1, &in.place, error) ||
        !read_index(reader, 3, INT32_MAX, 0, &in.ptx_line, error) || !read_counts(reader, &in, error) ||
        !read_samples(reader, &in, error))
        return false;
    kernel->has_ptx_lines |= in.ptx_line > 0;
    in.label = keep_word(reader, 4);
    in.text = arena_copy_string(&kernel->arena, reader->tsv.columns[9]);
    sass_add_instruction(kernel, in);
    return true;
}

static bool read_line(Reader *reader, Error *error) {
    const TsvReader *tsv = &reader->tsv;
    if (tsv_is(tsv, "stalls")) return read_stalls(reader, error);
    if (tsv_is(tsv, "sass")) return read_kernel(reader, error);
    if (!reader->has_kernel) return tsv_refuse(tsv, error, "no kernel above this line");
    if (tsv_is(tsv, "i")) return read_instruction(reader, error);
    if (tsv_is(tsv, "place")) return read_place(reader, error);
    if (tsv_is(tsv, "counted")) return read_measured(reader, false, error);
    if (tsv_is(tsv, "sampled")) return read_measured(reader, true, error);
    return tsv_refuse(tsv, error, "not a line of recorded machine code: %.40s", tsv->columns[0]);
}

static bool read_all(Reader *reader, Error *error) {
    bool good = true;
    while (good && !reader->is_over && tsv_next(&reader->tsv)) good = read_line(reader, error);
    if (good && !reader->is_over) send(reader);
    sass_kernel_done(&reader->kernel);
    tsv_close(&reader->tsv);
    return good;
}

bool sass_read_text(const char *text, const char *name, SassVisit visit, void *context, Error *error) {
    Reader reader = {.visit = visit, .context = context};
    tsv_open_text(&reader.tsv, text, name);
    return read_all(&reader, error);
}

bool sass_read_file(const char *path, SassVisit visit, void *context, Error *error) {
    Reader reader = {.visit = visit, .context = context};
    return tsv_open(&reader.tsv, path, error) && read_all(&reader, error);
}

/* ---- finding ------------------------------------------------------------------------------------------- */

typedef struct RecordingSearch {
    const SassKey *key;
    SassKernel *found;
} RecordingSearch;

static bool is_like(const char *wanted, const char *name) {
    return !wanted || (name && !strcmp(wanted, name));
}

static bool keep_if_wanted(void *context, SassKernel *kernel) {
    RecordingSearch *search = context;
    const SassKey *key = search->key;
    if (kernel->launch == key->launch && is_like(key->kernel, kernel->kernel) &&
        is_like(key->dtype, kernel->dtype) && is_like(key->op, kernel->op) &&
        is_like(key->entry, kernel->entry)) {
        *search->found = *kernel;
        return false;
    }
    sass_kernel_done(kernel);
    return true;
}

bool sass_recorded_find(const SassKey *key, SassKernel *kernel, Error *error) {
    char folder[128], name[128], path[4096];
    const char *machine = key->machine ? key->machine : "h200";
    snprintf(folder, sizeof folder, "assets/%s/sass", machine);
    snprintf(name, sizeof name, "%s.tsv", key->kernel);
    if (strchr(machine, '/') || !catalog_path(folder, name, path, sizeof path, NULL))
        return error_set(error, tr("no machine code of %s is recorded on %s"), key->kernel, machine);
    RecordingSearch search = {key, kernel};
    if (!sass_read_file(path, keep_if_wanted, &search, error)) return false;
    return kernel->count > 0 ||
           error_set(
               error, tr("the machine code of this instance of %s (%s %s, launch %d) is not recorded on %s"),
               key->kernel, key->dtype ? key->dtype : "-", key->op ? key->op : "-", key->launch, machine);
}
