#include "bench/recorded_file.h"

#include "base/tsv.h"
#include "bench/cell.h"

#include <inttypes.h>
#include <string.h>

enum { DIGITS = 10, MACHINE_FIELDS = 10, TIMING_FIELDS = 16, VALUE_FIELDS = 9 };

/* ---- writing ------------------------------------------------------------------------------------------- */

void bench_add_machine(Text *out, const BenchMachine *machine, const char *measured) {
    text_add(out, "machine");
    tsv_add_word(out, machine->name);
    tsv_add_word(out, machine->driver);
    text_print(out, "\t%d\t%d", machine->multiprocessors, machine->l2_bytes);
    tsv_add_number(out, machine->memory_clock, DIGITS);
    tsv_add_number(out, machine->peak, DIGITS);
    tsv_add_number(out, machine->read, DIGITS);
    tsv_add_number(out, machine->copy, DIGITS);
    tsv_add_word(out, measured);
    text_add(out, "\n");
}

void bench_add_timing(Text *out, const Timing *timing) {
    text_add(out, "timing");
    tsv_add_word(out, timing->kernel);
    text_print(out, "\t%" PRIu64, timing->n);
    tsv_add_word(out, timing->dtype);
    tsv_add_word(out, timing->op);
    text_print(out, "\t%" PRIu32, timing->threads);
    tsv_add_word(out, timing->to_scalar ? "scalar" : "alone");
    tsv_add_word(out, timing->graph ? "graph" : "call");
    tsv_add_word(out, timing->cold ? "cold" : "warm");
    text_print(out, "\t%" PRIu64, timing->samples);
    tsv_add_number(out, timing->median, DIGITS);
    tsv_add_number(out, timing->low, DIGITS);
    tsv_add_number(out, timing->high, DIGITS);
    tsv_add_number(out, timing->clock, DIGITS);
    tsv_add_number(out, timing->temperature, DIGITS);
    tsv_add_word(out, timing->note);
    text_add(out, "\n");
}

void bench_add_value(Text *out, const BenchValue *value) {
    text_add(out, "value");
    tsv_add_word(out, value->kernel);
    text_print(out, "\t%" PRIu64, value->n);
    tsv_add_word(out, value->dtype);
    tsv_add_word(out, value->op);
    tsv_add_word(out, value->name);
    tsv_add_word(out, value->unit);
    tsv_add_number(out, value->value, DIGITS);
    tsv_add_word(out, value->note);
    text_add(out, "\n");
}

/* ---- reading ------------------------------------------------------------------------------------------- */

typedef struct TimingReader {
    TsvReader tsv;
    const BenchSink *sink;
    BenchMachine machine; /* the last one read */
    char when[32];
} TimingReader;

static bool read_machine(void *context, Error *error) {
    TimingReader *reader = context;
    const TsvReader *tsv = &reader->tsv;
    BenchMachine *machine = &reader->machine;
    uint32_t multiprocessors, l2_bytes;
    *machine = (BenchMachine){0};
    if (!tsv_has_columns(tsv, MACHINE_FIELDS, error) ||
        !tsv_whole32(tsv, 3, 0, INT32_MAX, &multiprocessors, error) ||
        !tsv_whole32(tsv, 4, 0, INT32_MAX, &l2_bytes, error) ||
        !tsv_number(tsv, 5, &machine->memory_clock, error) || !tsv_number(tsv, 6, &machine->peak, error) ||
        !tsv_number(tsv, 7, &machine->read, error) || !tsv_number(tsv, 8, &machine->copy, error))
        return false;
    machine->multiprocessors = (int)multiprocessors;
    machine->l2_bytes = (int)l2_bytes;
    snprintf(machine->name, sizeof machine->name, "%s", tsv->columns[1]);
    snprintf(machine->driver, sizeof machine->driver, "%s", tsv_word(tsv, 2));
    snprintf(reader->when, sizeof reader->when, "%s", tsv->columns[9]);
    if (reader->sink->machine) reader->sink->machine(reader->sink->context, machine);
    return true;
}

static bool has_machine(const TimingReader *reader, Error *error) {
    return *reader->when || tsv_refuse(&reader->tsv, error, "no machine line precedes this line");
}

static bool read_timing(void *context, Error *error) {
    TimingReader *reader = context;
    const TsvReader *tsv = &reader->tsv;
    PtxType type = PTX_NO_TYPE;
    uint64_t n;
    uint32_t threads, samples;
    Spread spread;
    double clock, temperature;
    if (!has_machine(reader, error) || !tsv_has_columns(tsv, TIMING_FIELDS, error) ||
        !tsv_whole(tsv, 2, 0, UINT64_MAX, &n, error) ||
        !tsv_whole32(tsv, 5, 0, UINT32_MAX, &threads, error) ||
        !tsv_whole32(tsv, 9, 0, INT32_MAX, &samples, error) || !tsv_number(tsv, 10, &spread.median, error) ||
        !tsv_number(tsv, 11, &spread.low, error) || !tsv_number(tsv, 12, &spread.high, error) ||
        !tsv_number(tsv, 13, &clock, error) || !tsv_number(tsv, 14, &temperature, error))
        return false;
    if (*tsv_word(tsv, 3) && !plan_type_parse(tsv->columns[3], &type))
        return tsv_refuse(tsv, error, "there is no type %s", tsv->columns[3]);
    Timing timing =
        bench_timing(tsv->columns[1], reader->machine.name, reader->when, n, type, tsv_word(tsv, 4));
    spread.count = (int)samples;
    timing.threads = threads;
    timing.to_scalar = !strcmp(tsv->columns[6], "scalar");
    timing.graph = !strcmp(tsv->columns[7], "graph");
    timing.cold = !strcmp(tsv->columns[8], "cold");
    if (samples) bench_set_times(&timing, &spread, n * (uint64_t)ptx_type_bytes(type), &reader->machine);
    timing.clock = clock;
    timing.temperature = temperature;
    timing.note = *tsv_word(tsv, 15) ? tsv->columns[15] : NULL;
    bench_send_timing(reader->sink, &timing);
    return true;
}

static bool read_value(void *context, Error *error) {
    TimingReader *reader = context;
    const TsvReader *tsv = &reader->tsv;
    if (!has_machine(reader, error) || !tsv_has_columns(tsv, VALUE_FIELDS, error)) return false;
    BenchValue value = {.kernel = tsv->columns[1],
                        .machine = reader->machine.name,
                        .measured = reader->when,
                        .dtype = tsv_word(tsv, 3),
                        .op = tsv_word(tsv, 4),
                        .name = tsv->columns[5],
                        .unit = tsv_word(tsv, 6),
                        .note = *tsv_word(tsv, 8) ? tsv->columns[8] : NULL};
    if (!tsv_whole(tsv, 2, 0, UINT64_MAX, &value.n, error) || !tsv_number(tsv, 7, &value.value, error))
        return false;
    bench_send_value(reader->sink, &value);
    return true;
}

bool bench_read_file(const char *path, const BenchSink *sink, Error *error) {
    static const TsvKind kinds[] = {
        {"machine", read_machine}, {"timing", read_timing}, {"value", read_value}};
    TimingReader reader = {.sink = sink};
    if (!tsv_open(&reader.tsv, path, error)) return false;
    bool good = tsv_read_kinds(&reader.tsv, kinds, sizeof kinds / sizeof *kinds, &reader, error);
    tsv_close(&reader.tsv);
    return good;
}
