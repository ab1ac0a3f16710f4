/* Prints timings (bench_print.h). */
#include "cli/bench_print.h"

#include "cli/bench_table.h"
#include "base/json.h"
#include "bench/recorded_file.h"

#include <math.h>
#include <stdlib.h>

typedef struct Printer {
    const BenchOutput *output;
    BenchMachine machine; /* the last one printed */
    char named[128];      /* of the lines: the machine they belong to */
    BenchTable table;
    Json machines, timings, values, recorded, recorded_values; /* lists that grow in parallel */
    Text machines_text, timings_text, values_text, recorded_text, recorded_values_text;
} Printer;

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void add_timing(Json *json, const Timing *timing) {
    json_open_object(json, NULL);
#define FIELD(kind, name, field) ADD_##kind(json, field, timing->name);
#define ADD_TEXT                 json_string
#define ADD_WORD                 json_unsigned
#define ADD_THREADS              json_unsigned
#define ADD_FLAG                 json_boolean
#define ADD_REAL                 json_number
#include "trace/timing.def"
#undef FIELD
    json_close_object(json);
}

static void add_value(Json *json, const BenchValue *value) {
    json_open_object(json, NULL);
    json_string(json, "kernel", value->kernel);
    json_string(json, "machine", value->machine);
    json_string(json, "measured", value->measured);
    json_unsigned(json, "n", value->n);
    json_string(json, "dtype", value->dtype);
    json_string(json, "op", value->op);
    json_string(json, "name", value->name);
    json_string(json, "unit", value->unit);
    json_number(json, "value", value->value);
    json_string(json, "note", value->note);
    json_close_object(json);
}

static void add_machine(Json *json, const BenchMachine *machine) {
    json_open_object(json, NULL);
    json_string(json, "name", machine->name);
    json_string(json, "driver", machine->driver);
    json_integer(json, "multiprocessors", machine->multiprocessors);
    json_integer(json, "l2_bytes", machine->l2_bytes);
    json_number(json, "memory_clock_mhz", machine->memory_clock);
    json_number(json, "nominal_gigabytes_per_second", machine->peak);
    json_number(json, "copy_gigabytes_per_second", machine->copy);
    json_number(json, "read_gigabytes_per_second", machine->read);
    json_close_object(json);
}

/* `no_gpu`: the reason why there is no GPU; NULL: there is one. */
static void print_json(Printer *printer, const char *no_gpu) {
    Text whole = {0};
    Json json = {.out = &whole};
    json_string(&json, "no_gpu", no_gpu);
    fprintf(printer->output->out,
            "{%s,\"machines\":[%s],\"timings\":[%s],\"values\":[%s],"
            "\"recorded\":[%s],\"recorded_values\":[%s]}\n",
            text_string(&whole), text_string(&printer->machines_text), text_string(&printer->timings_text),
            text_string(&printer->values_text), text_string(&printer->recorded_text),
            text_string(&printer->recorded_values_text));
    text_done(&whole);
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* Prints the machine above its lines. */
static void name_machine(Printer *printer, const char *name, const char *measured, Text *out) {
    BenchMachine unknown = {.memory_clock = NAN, .peak = NAN, .read = NAN, .copy = NAN};
    if (!strcmp(printer->named, name)) return;
    snprintf(unknown.name, sizeof unknown.name, "%s", name);
    bool known = !strcmp(printer->machine.name, name);
    bench_add_machine(out, known ? &printer->machine : &unknown, measured);
    snprintf(printer->named, sizeof printer->named, "%s", name);
}

static void print_line(Printer *printer, const Timing *timing) {
    Text line = {0};
    name_machine(printer, timing->machine, timing->measured, &line);
    bench_add_timing(&line, timing);
    fputs(text_string(&line), printer->output->out);
    text_done(&line);
}

static void print_value_line(Printer *printer, const BenchValue *value) {
    Text line = {0};
    name_machine(printer, value->machine, value->measured, &line);
    bench_add_value(&line, value);
    fputs(text_string(&line), printer->output->out);
    text_done(&line);
}

/* ---- the sink ------------------------------------------------------------------------------------------ */

static void take_machine(void *context, const BenchMachine *machine) {
    Printer *printer = context;
    printer->machine = *machine;
    if (printer->output->format == BENCH_JSON) add_machine(&printer->machines, machine);
    if (printer->output->format != BENCH_TABLE) return;
    cli_bench_table_flush(&printer->table);
    fprintf(printer->output->out,
            "\n%s, driver %s; copy %.0f GB/s (read and written), read %.0f GB/s, nominal %.0f GB/s\n",
            machine->name, machine->driver, machine->copy, machine->read, machine->peak);
}

static void clear_progress(const Printer *printer) {
    if (printer->output->progress) fprintf(printer->output->progress, "\r%40s\r", "");
}

static void take_cell(void *context, const char *kernel, uint64_t n) {
    const Printer *printer = context;
    clear_progress(printer);
    if (!printer->output->progress) return;
    fprintf(printer->output->progress, "%-20s n = %-12llu", kernel, (unsigned long long)n);
    fflush(printer->output->progress);
}

static void take_timing(void *context, const Timing *timing) {
    Printer *printer = context;
    clear_progress(printer);
    if (printer->output->kept) measured_add_timing(printer->output->kept, timing);
    if (printer->output->format == BENCH_JSON) {
        add_timing(&printer->timings, timing);
    } else if (printer->output->format == BENCH_TSV) {
        print_line(printer, timing);
    } else {
        cli_bench_table_timing(&printer->table, timing);
    }
}

static void take_value(void *context, const BenchValue *value) {
    Printer *printer = context;
    clear_progress(printer);
    if (printer->output->format == BENCH_JSON)
        add_value(&printer->values, value);
    else if (printer->output->format == BENCH_TSV)
        print_value_line(printer, value);
    else
        cli_bench_table_value(&printer->table, value);
}

static bool is_kept(const BenchOutput *output, const BenchValue *of) {
    const CatalogRun *run = output->kept_of;
    return output->kept && run && run->n == of->n && !strcmp(plan_type_name(run->dtype), of->dtype) &&
           !strcmp(run->op, of->op) && !strcmp(run->row->id, of->kernel);
}

/* An interval is a value named "interval 3" or, for a later launch, "2: interval 3". */
static void take_interval(void *context, const BenchValue *of, const IntervalTime *time) {
    const Printer *printer = context;
    BenchValue value = *of;
    char name[48], note[96];
    if (is_kept(printer->output, of)) measured_add_interval(printer->output->kept, time);
    if (time->launch)
        snprintf(name, sizeof name, "%d: interval %u", time->launch + 1, time->interval + 1);
    else
        snprintf(name, sizeof name, "interval %u", time->interval + 1);
    snprintf(note, sizeof note, "%s, n = %llu, %s: reading the clock adds %.1f %% to the launch", of->kernel,
             (unsigned long long)of->n, of->dtype, time->overhead * 100);
    value.name = name;
    value.unit = "cycles";
    value.value = time->cycles;
    value.note = time->launch || time->interval ? NULL : note;
    take_value(context, &value);
}

/* ---- without a GPU ------------------------------------------------------------------------------------- */

typedef struct BenchRecorder {
    Printer *printer;
    const BenchOptions *options;
    const char *no_gpu;
    char from[128], when[64]; /* the last one printed */
} BenchRecorder;

static bool is_wanted(const BenchOptions *options, const char *kernel, uint64_t n, const char *dtype,
                      const char *op) {
    const CatalogOptions *wanted = &options->catalog;
    const CatalogRow *row = catalog_find(kernel, NULL); /* NULL: a comparison */
    const CatalogRow *only = options->kernel ? catalog_find(options->kernel, NULL) : NULL;
    if (wanted->n && wanted->n != n) return false;
    if (wanted->dtype != PTX_NO_TYPE && strcmp(plan_type_name(wanted->dtype), dtype) != 0) return false;
    if (strcmp(wanted->op ? wanted->op : "sum", op) != 0) return false;
    if (!row) return !only || only->group == CATALOG_LADDER;
    return only ? row == only : options->kernel || row->group == CATALOG_LADDER;
}

static void take_recorded_timing(void *context, const Timing *timing) {
    BenchRecorder *recorder = context;
    Printer *printer = recorder->printer;
    if (!is_wanted(recorder->options, timing->kernel, timing->n, timing->dtype, timing->op)) return;
    if (printer->output->format == BENCH_JSON) {
        add_timing(&printer->recorded, timing);
        return;
    }
    if (strcmp(recorder->from, timing->machine) != 0 || strcmp(recorder->when, timing->measured) != 0) {
        cli_bench_table_flush(&printer->table);
        fprintf(printer->output->out, "\n%s; recorded on %s, %s:\n", recorder->no_gpu, timing->machine,
                timing->measured);
        snprintf(recorder->from, sizeof recorder->from, "%s", timing->machine);
        snprintf(recorder->when, sizeof recorder->when, "%s", timing->measured);
    }
    cli_bench_table_timing(&printer->table, timing);
}

/* Takes profile values only if requested, and a kernel's own measurements always. */
static void take_recorded_value(void *context, const BenchValue *value) {
    BenchRecorder *recorder = context;
    Printer *printer = recorder->printer;
    const CatalogRow *row = catalog_find(value->kernel, NULL);
    if (!is_wanted(recorder->options, value->kernel, value->n, value->dtype, value->op)) return;
    if (!recorder->options->profile && !(row && row->latencies)) return;
    if (printer->output->format == BENCH_JSON)
        add_value(&printer->recorded_values, value);
    else
        cli_bench_table_value(&printer->table, value);
}

/* Prints values recorded elsewhere, and says so. */
static bool print_recorded(Printer *printer, const BenchOptions *options, const char *no_gpu, Error *error) {
    BenchRecorder recorder = {.printer = printer, .options = options, .no_gpu = no_gpu};
    BenchSink sink = {.context = &recorder, .timing = take_recorded_timing, .value = take_recorded_value};
    bool good = bench_read_recorded(options->machine, &sink, error);
    cli_bench_table_flush(&printer->table);
    if (good && !*recorder.from && printer->output->format == BENCH_TABLE)
        fprintf(printer->output->out, "\n%s\n", no_gpu);
    return good;
}

bool cli_bench_print(const BenchOptions *options, const BenchOutput *output, Error *error) {
    Printer printer = {.output = output, .table = {.out = output->out}};
    BenchSink sink = {.context = &printer,
                      .machine = take_machine,
                      .cell = take_cell,
                      .timing = take_timing,
                      .value = take_value,
                      .interval = take_interval};
    Error no_gpu = {0};
    printer.machines.out = &printer.machines_text;
    printer.timings.out = &printer.timings_text;
    printer.values.out = &printer.values_text;
    printer.recorded.out = &printer.recorded_text;
    printer.recorded_values.out = &printer.recorded_values_text;
    bool has_gpu = bench_has_gpu(&no_gpu);
    if (options->gpus && !has_gpu) return error_set(error, "--gpus %d: %s", options->gpus, no_gpu.message);
    bool good = options->gpus
                    ? bench_run(options, &sink, error)
                    : bench_cpu(options, &sink, error) && (!has_gpu || bench_run(options, &sink, error));
    clear_progress(&printer);
    cli_bench_table_flush(&printer.table);
    if (good && !has_gpu && output->format != BENCH_TSV)
        good = print_recorded(&printer, options, no_gpu.message, error);
    cli_bench_table_end(&printer.table);
    if (good && output->format == BENCH_JSON) print_json(&printer, has_gpu ? NULL : no_gpu.message);
    text_done(&printer.machines_text);
    text_done(&printer.timings_text);
    text_done(&printer.values_text);
    text_done(&printer.recorded_text);
    text_done(&printer.recorded_values_text);
    return good;
}
