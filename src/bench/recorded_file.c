#include "bench/recorded_file.h"

#include "bench/cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    FILE_LIMIT_BYTES = 64 << 20,
    MACHINE_FIELDS = 10,
    TIMING_FIELDS = 16,
    VALUE_FIELDS = 9,
    MOST_FIELDS = 16
};

/* ---- writing ------------------------------------------------------------------------------------------- */

static void add_word(Text *out, const char *word) {
    text_add(out, "\t");
    if (!word || !*word) word = "-";
    for (const char *at = word; *at; at++) text_add_bytes(out, *at == '\t' || *at == '\n' ? " " : at, 1);
}

static void add_number(Text *out, double number) {
    if (isnan(number))
        text_add(out, "\t-");
    else
        text_print(out, "\t%.10g", number);
}

void bench_add_machine(Text *out, const BenchMachine *machine, const char *measured) {
    text_add(out, "machine");
    add_word(out, machine->name);
    add_word(out, machine->driver);
    text_print(out, "\t%d\t%d", machine->multiprocessors, machine->l2_bytes);
    add_number(out, machine->memory_clock);
    add_number(out, machine->peak);
    add_number(out, machine->read);
    add_number(out, machine->copy);
    add_word(out, measured);
    text_add(out, "\n");
}

void bench_add_timing(Text *out, const Timing *timing) {
    text_add(out, "timing");
    add_word(out, timing->kernel);
    text_print(out, "\t%" PRIu64, timing->n);
    add_word(out, timing->dtype);
    add_word(out, timing->op);
    text_print(out, "\t%" PRIu32, timing->threads);
    add_word(out, timing->to_scalar ? "scalar" : "alone");
    add_word(out, timing->graph ? "graph" : "call");
    add_word(out, timing->cold ? "cold" : "warm");
    text_print(out, "\t%" PRIu64, timing->samples);
    add_number(out, timing->median);
    add_number(out, timing->low);
    add_number(out, timing->high);
    add_number(out, timing->clock);
    add_number(out, timing->temperature);
    add_word(out, timing->note);
    text_add(out, "\n");
}

void bench_add_value(Text *out, const BenchValue *value) {
    text_add(out, "value");
    add_word(out, value->kernel);
    text_print(out, "\t%" PRIu64, value->n);
    add_word(out, value->dtype);
    add_word(out, value->op);
    add_word(out, value->name);
    add_word(out, value->unit);
    add_number(out, value->value);
    add_word(out, value->note);
    text_add(out, "\n");
}

/* ---- reading ------------------------------------------------------------------------------------------- */

typedef struct TimingReader {
    const char *path;
    int line;
    const BenchSink *sink;
    BenchMachine machine; /* the last that was read */
    char when[32];
    char *fields[MOST_FIELDS];
    int field_count;
} TimingReader;

static void split(TimingReader *reader, char *line) {
    reader->field_count = 0;
    for (char *next = line; next && reader->field_count < MOST_FIELDS; reader->field_count++) {
        reader->fields[reader->field_count] = next;
        next = strchr(next, '\t');
        if (next) *next++ = 0;
    }
}

static const char *word(const char *field) {
    return strcmp(field, "-") ? field : "";
}

static double number(const char *field) {
    return strcmp(field, "-") ? strtod(field, NULL) : (double)NAN;
}

static bool read_machine(TimingReader *reader, Error *error) {
    char **fields = reader->fields;
    BenchMachine *machine = &reader->machine;
    if (reader->field_count != MACHINE_FIELDS)
        return error_set_at(error, reader->path, reader->line, 0, "a machine has %d columns", MACHINE_FIELDS);
    *machine = (BenchMachine){.multiprocessors = atoi(fields[3]),
                              .l2_bytes = atoi(fields[4]),
                              .memory_clock = number(fields[5]),
                              .peak = number(fields[6]),
                              .read = number(fields[7]),
                              .copy = number(fields[8])};
    snprintf(machine->name, sizeof machine->name, "%s", fields[1]);
    snprintf(machine->driver, sizeof machine->driver, "%s", word(fields[2]));
    snprintf(reader->when, sizeof reader->when, "%s", fields[9]);
    if (reader->sink->machine) reader->sink->machine(reader->sink->context, machine);
    return true;
}

static bool read_timing(TimingReader *reader, Error *error) {
    char **fields = reader->fields;
    PtxType type = PTX_NO_TYPE;
    if (reader->field_count != TIMING_FIELDS || !*reader->when)
        return error_set_at(error, reader->path, reader->line, 0,
                            "a timing has %d columns, and its machine above it", TIMING_FIELDS);
    if (strcmp(fields[3], "-") != 0 && !plan_type_parse(fields[3], &type))
        return error_set_at(error, reader->path, reader->line, 0, "there is no type %s", fields[3]);
    uint64_t n = strtoull(fields[2], NULL, 10);
    Timing timing = bench_timing(fields[1], reader->machine.name, reader->when, n, type, word(fields[4]));
    Spread spread = {number(fields[10]), number(fields[11]), number(fields[12]), atoi(fields[9])};
    timing.threads = (uint32_t)strtoul(fields[5], NULL, 10);
    timing.to_scalar = !strcmp(fields[6], "scalar");
    timing.graph = !strcmp(fields[7], "graph");
    timing.cold = !strcmp(fields[8], "cold");
    if (spread.count) bench_set_times(&timing, &spread, n * (uint64_t)ptx_type_bytes(type), &reader->machine);
    timing.clock = number(fields[13]);
    timing.temperature = number(fields[14]);
    timing.note = strcmp(fields[15], "-") ? fields[15] : NULL;
    bench_send_timing(reader->sink, &timing);
    return true;
}

static bool read_value(TimingReader *reader, Error *error) {
    char **fields = reader->fields;
    if (reader->field_count != VALUE_FIELDS || !*reader->when)
        return error_set_at(error, reader->path, reader->line, 0,
                            "a value has %d columns, and its machine above it", VALUE_FIELDS);
    BenchValue value = {.kernel = fields[1],
                        .machine = reader->machine.name,
                        .measured = reader->when,
                        .n = strtoull(fields[2], NULL, 10),
                        .dtype = word(fields[3]),
                        .op = word(fields[4]),
                        .name = fields[5],
                        .unit = word(fields[6]),
                        .value = number(fields[7]),
                        .note = *word(fields[8]) ? fields[8] : NULL};
    bench_send_value(reader->sink, &value);
    return true;
}

static bool read_line(TimingReader *reader, char *line, Error *error) {
    if (!*line || *line == '#') return true;
    split(reader, line);
    if (!strcmp(reader->fields[0], "machine")) return read_machine(reader, error);
    if (!strcmp(reader->fields[0], "timing")) return read_timing(reader, error);
    if (!strcmp(reader->fields[0], "value")) return read_value(reader, error);
    return error_set_at(error, reader->path, reader->line, 0, "neither a machine nor a timing nor a value");
}

bool bench_read_file(const char *path, const BenchSink *sink, Error *error) {
    TimingReader reader = {.path = path, .sink = sink};
    char *text;
    size_t length;
    if (!text_read_file(path, FILE_LIMIT_BYTES, &text, &length, error)) return false;
    bool good = true;
    for (char *line = text, *next; good && line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        reader.line++;
        good = read_line(&reader, line, error);
    }
    free(text);
    return good;
}
