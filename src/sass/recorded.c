#include "sass/recorded.h"

#include "catalog/catalog.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    FILE_LIMIT_BYTES = 64 << 20,
    MOST_FIELDS = 40,
    KERNEL_FIELDS = 9,
    COUNTED_FIELDS = 5,
    SAMPLED_FIELDS = 6,
    PLACE_FIELDS = 4,
    INSTRUCTION_FIELDS = 10,
    LANES = 32
};

/* ---- writing ------------------------------------------------------------------------------------------- */

static void add_word(Text *out, const char *word) {
    text_add(out, "\t");
    if (!word || !*word) word = "-";
    for (const char *at = word; *at; at++) text_add_bytes(out, *at == '\t' || *at == '\n' ? " " : at, 1);
}

static void add_overhead(Text *out, double overhead) {
    if (isnan(overhead))
        text_add(out, "\t-\n");
    else
        text_print(out, "\t%.4g\n", overhead);
}

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
        add_overhead(out, counted->overhead);
    }
    if (sampled->n) {
        text_print(out, "sampled\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32, sampled->n, sampled->grid,
                   sampled->block, sampled->period);
        add_overhead(out, sampled->overhead);
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
    add_word(out, in->label);
    if (kernel->counted.n)
        add_counts(out, in);
    else
        text_add(out, "\t-\t-\t-");
    text_add(out, "\t");
    if (kernel->sampled.n)
        add_samples(out, in);
    else
        text_add(out, "-");
    add_word(out, in->text);
    text_add(out, "\n");
}

void sass_record_kernel(Text *out, const SassKernel *kernel) {
    text_add(out, "sass");
    add_word(out, kernel->kernel);
    add_word(out, kernel->dtype);
    add_word(out, kernel->op);
    text_print(out, "\t%d", kernel->launch);
    add_word(out, kernel->entry);
    add_word(out, kernel->machine);
    add_word(out, kernel->driver);
    add_word(out, kernel->measured);
    text_add(out, "\n");
    add_measured(out, kernel);
    for (int i = 0; i < kernel->place_count; i++) {
        text_add(out, "place");
        add_word(out, kernel->places[i].file);
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
    const char *name;
    int line;
    SassVisit visit;
    void *context;
    SassKernel kernel;             /* the last that was read */
    bool has_kernel, is_over;      /* is_over: the visitor has seen enough */
    SassStall stalls[MOST_FIELDS]; /* what the file's numbers mean */
    int stall_count;
    char *fields[MOST_FIELDS];
    int field_count;
} Reader;

static bool refuse(const Reader *reader, Error *error, const char *why, const char *what) {
    return error_set_at(error, reader->name, reader->line, 0, "%s%s%s", why, *what ? ": " : "", what);
}

static void split(Reader *reader, char *line) {
    reader->field_count = 0;
    for (char *next = line; next && reader->field_count < MOST_FIELDS; reader->field_count++) {
        reader->fields[reader->field_count] = next;
        next = strchr(next, '\t');
        if (next) *next++ = 0;
    }
}

/* A whole number up to `most`. */
static bool read_number(const char *text, int base, uint64_t most, uint64_t *number) {
    char *end;
    if (!isxdigit((unsigned char)*text)) return false;
    *number = strtoull(text, &end, base);
    return !*end && *number <= most;
}

static bool read_fields(const Reader *reader, int first, int count, uint64_t most, uint64_t *numbers,
                        Error *error) {
    for (int i = 0; i < count; i++)
        if (!read_number(reader->fields[first + i], 10, most, &numbers[i]))
            return refuse(reader, error, "not a number that can be here", reader->fields[first + i]);
    return true;
}

/* "-": `other`. */
static bool read_index(const Reader *reader, int field, int below, int other, int *index, Error *error) {
    uint64_t number;
    *index = other;
    if (!strcmp(reader->fields[field], "-")) return true;
    if (below < 1 || !read_number(reader->fields[field], 10, (uint64_t)below - 1, &number))
        return refuse(reader, error, "not a number that can be here", reader->fields[field]);
    *index = (int)number;
    return true;
}

static bool has_fields(const Reader *reader, int count, Error *error) {
    if (reader->field_count == count) return true;
    return error_set_at(error, reader->name, reader->line, 0, "'%s' has %d columns, not %d",
                        reader->fields[0], count, reader->field_count);
}

static char *keep_word(Reader *reader, const char *field) {
    return strcmp(field, "-") ? arena_copy_string(&reader->kernel.arena, field) : NULL;
}

static bool read_stalls(Reader *reader) {
    reader->stall_count = reader->field_count - 1;
    for (int i = 0; i < reader->stall_count; i++) {
        SassStall stall = sass_stall_find(reader->fields[i + 1]);
        reader->stalls[i] = stall == SASS_STALLS ? SASS_STALL_other : stall;
    }
    return true;
}

/* Hands over the kernel that was read last. */
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
    if (!has_fields(reader, KERNEL_FIELDS, error)) return false;
    SassKernel *kernel = &reader->kernel;
    kernel->kernel = keep_word(reader, reader->fields[1]);
    kernel->dtype = keep_word(reader, reader->fields[2]);
    kernel->op = keep_word(reader, reader->fields[3]);
    kernel->entry = keep_word(reader, reader->fields[5]);
    kernel->machine = keep_word(reader, reader->fields[6]);
    kernel->driver = keep_word(reader, reader->fields[7]);
    kernel->measured = keep_word(reader, reader->fields[8]);
    kernel->counted.overhead = kernel->sampled.overhead = NAN;
    reader->has_kernel = true;
    if (!kernel->entry) return refuse(reader, error, "a kernel without the name of its entry", "");
    return read_index(reader, 4, 1 << 16, 0, &kernel->launch, error);
}

static bool read_overhead(const Reader *reader, const char *text, double *overhead, Error *error) {
    char *end;
    *overhead = NAN;
    if (!strcmp(text, "-")) return true;
    *overhead = strtod(text, &end);
    return (*text && !*end && isfinite(*overhead)) || refuse(reader, error, "not a fraction", text);
}

static bool read_measured(Reader *reader, bool is_sampled, Error *error) {
    SassMeasured *measured = is_sampled ? &reader->kernel.sampled : &reader->kernel.counted;
    uint64_t n, sizes[3] = {0};
    int count = is_sampled ? SAMPLED_FIELDS : COUNTED_FIELDS;
    if (!has_fields(reader, count, error) || !read_fields(reader, 1, 1, UINT64_MAX, &n, error) ||
        !read_fields(reader, 2, count - 3, UINT32_MAX, sizes, error) ||
        !read_overhead(reader, reader->fields[count - 1], &measured->overhead, error))
        return false;
    if (reader->kernel.count) return refuse(reader, error, "this belongs before the instructions", "");
    if (!n) return refuse(reader, error, "measured with no elements", "");
    measured->n = n;
    measured->grid = (uint32_t)sizes[0];
    measured->block = (uint32_t)sizes[1];
    measured->period = (uint32_t)sizes[2];
    return true;
}

static bool read_place(Reader *reader, Error *error) {
    SassKernel *kernel = &reader->kernel;
    uint64_t line;
    SassPlace place;
    if (!has_fields(reader, PLACE_FIELDS, error) || !read_fields(reader, 2, 1, INT32_MAX, &line, error) ||
        !read_index(reader, 3, kernel->place_count, -1, &place.inlined_at, error))
        return false;
    place.file = arena_copy_string(&kernel->arena, reader->fields[1]);
    place.line = (int)line;
    array_push(kernel->places, kernel->place_count, kernel->place_capacity, place);
    return true;
}

static bool read_counts(Reader *reader, SassInstruction *in, Error *error) {
    char **fields = reader->fields;
    if (!reader->kernel.counted.n) return true;
    if (!read_fields(reader, 5, 1, UINT64_MAX / LANES, &in->executed, error)) return false;
    in->threads = LANES * in->executed;
    if (*fields[6] && !read_fields(reader, 6, 1, LANES * in->executed, &in->threads, error)) return false;
    in->acting = in->threads;
    return !*fields[7] || read_fields(reader, 7, 1, in->threads, &in->acting, error);
}

static bool read_samples(Reader *reader, SassInstruction *in, Error *error) {
    if (!reader->kernel.sampled.n) return true;
    for (const char *at = reader->fields[8]; *at;) {
        char *end;
        unsigned long stall = strtoul(at, &end, 10);
        if (end == at || *end != ':' || stall >= (unsigned long)reader->stall_count)
            return refuse(reader, error, "not a list of samples", reader->fields[8]);
        at = end + 1;
        unsigned long long count = strtoull(at, &end, 10);
        if (end == at || (*end && *end != ',') || count > UINT32_MAX - in->samples[reader->stalls[stall]])
            return refuse(reader, error, "not a list of samples", reader->fields[8]);
        in->samples[reader->stalls[stall]] += (uint32_t)count;
        at = *end ? end + 1 : end;
    }
    return true;
}

static bool read_instruction(Reader *reader, Error *error) {
    SassKernel *kernel = &reader->kernel;
    SassInstruction in = {.place = -1};
    uint64_t offset;
    if (!has_fields(reader, INSTRUCTION_FIELDS, error)) return false;
    if (!read_number(reader->fields[1], 16, UINT32_MAX, &offset) ||
        (kernel->count && offset <= kernel->instructions[kernel->count - 1].offset))
        return refuse(reader, error, "not an offset above the one before", reader->fields[1]);
    in.offset = (uint32_t)offset;
    if (!read_index(reader, 2, kernel->place_count, -1, &in.place, error) ||
        !read_index(reader, 3, INT32_MAX, 0, &in.ptx_line, error) || !read_counts(reader, &in, error) ||
        !read_samples(reader, &in, error))
        return false;
    kernel->has_ptx_lines |= in.ptx_line > 0;
    in.label = keep_word(reader, reader->fields[4]);
    in.text = arena_copy_string(&kernel->arena, reader->fields[9]);
    sass_add_instruction(kernel, in);
    return true;
}

static bool read_line(Reader *reader, char *line, Error *error) {
    if (!*line || *line == '#') return true;
    split(reader, line);
    const char *kind = reader->fields[0];
    if (!strcmp(kind, "stalls")) return read_stalls(reader);
    if (!strcmp(kind, "sass")) return read_kernel(reader, error);
    if (!reader->has_kernel) return refuse(reader, error, "no kernel above this line", "");
    if (!strcmp(kind, "i")) return read_instruction(reader, error);
    if (!strcmp(kind, "place")) return read_place(reader, error);
    if (!strcmp(kind, "counted")) return read_measured(reader, false, error);
    if (!strcmp(kind, "sampled")) return read_measured(reader, true, error);
    return refuse(reader, error, "not a line of recorded machine code", kind);
}

bool sass_read_text(const char *text, const char *name, SassVisit visit, void *context, Error *error) {
    Reader *reader = memory_new(sizeof *reader);
    char *copy = memory_copy_text(text);
    bool good = true;
    reader->name = name;
    reader->visit = visit;
    reader->context = context;
    for (char *line = copy, *next; good && line && !reader->is_over; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        reader->line++;
        good = read_line(reader, line, error);
    }
    if (good && !reader->is_over) send(reader);
    sass_kernel_done(&reader->kernel);
    free(copy);
    free(reader);
    return good;
}

bool sass_read_file(const char *path, SassVisit visit, void *context, Error *error) {
    char *text;
    size_t length;
    if (!text_read_file(path, FILE_LIMIT_BYTES, &text, &length, error)) return false;
    bool good = sass_read_text(text, path, visit, context, error);
    free(text);
    return good;
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
        return error_set(error, "no machine code of %s is recorded on %s", key->kernel, machine);
    RecordingSearch search = {key, kernel};
    if (!sass_read_file(path, keep_if_wanted, &search, error)) return false;
    return kernel->count > 0 ||
           error_set(
               error, "the machine code of this instance of %s (%s %s, launch %d) is not recorded on %s",
               key->kernel, key->dtype ? key->dtype : "-", key->op ? key->op : "-", key->launch, machine);
}
