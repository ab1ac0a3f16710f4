/* Printing of timings (bench_print.h). A line of the table is a *cell*: all timings in a row that are of one
 * kernel, size and type on one machine. */
#include "bench_print.h"

#include "base/json.h"
#include "session_bench_file.h"

#include <math.h>
#include <stdlib.h>

typedef struct Printer {
    const BenchOutput *output;
    BenchMachine machine;             /* the last that was told of */
    char named[128];                  /* of the lines: the machine above them */
    Measurements cell;                /* of the table; not printed yet */
    bool headed;                      /* the table's head was printed */
    Json machines, timings, recorded; /* lists that grow side by side */
    Text machines_text, timings_text, recorded_text;
} Printer;

/* ---- the table -------------------------------------------------------------------------------------------
 */

typedef struct Column { /* which timing of the cell */
    bool to_scalar, graph, cold;
} Column;
static const Column columns[] = {{false, true, true}, {false, true, false}, {false, false, true},
                                 {true, true, true},  {true, true, false},  {true, false, true},
                                 {true, false, false}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void print_head(Printer *printer) {
    FILE *out = printer->output->out;
    fprintf(out,
            "microseconds: median; alone = the kernel, scalar = until one result is left; call = one launch "
            "between two\nevents, graph = one of many in a CUDA graph; cold = L2 holds nothing of it\n\n");
    fprintf(out, "%-20s %-7s %11s %5s", "kernel", "type", "n", "block");
    for (int i = 0; i < COLUMNS; i++) fprintf(out, " %8s", columns[i].to_scalar ? "scalar" : "alone");
    fprintf(out, " %9s %6s %4s\n%46s", "GB/s", "MHz", "C", "");
    for (int i = 0; i < COLUMNS; i++) fprintf(out, " %8s", columns[i].graph ? "graph" : "call");
    fprintf(out, " %9s\n%46s", "", "");
    for (int i = 0; i < COLUMNS; i++) fprintf(out, " %8s", columns[i].cold ? "cold" : "warm");
    fprintf(out, " %9s\n", "cold");
    printer->headed = true;
}

static const Timing *find(const Measurements *cell, const Column *column) {
    for (int i = 0; i < cell->timing_count; i++) {
        const Timing *timing = &cell->timings[i];
        if (timing->samples && timing->to_scalar == column->to_scalar && timing->graph == column->graph &&
            timing->cold == column->cold)
            return timing;
    }
    return NULL;
}

/* What the rate is told of: to one scalar where there is that, in a graph where it can be in one, cold. */
static const Timing *find_rate(const Measurements *cell) {
    static const Column wanted[] = {{true, true, true},
                                    {true, false, true},
                                    {false, true, true},
                                    {false, false, true},
                                    {true, false, false}};
    const Timing *found = NULL;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && !found; i++) found = find(cell, &wanted[i]);
    return found;
}

static void print_number(FILE *out, int width, int digits, double value) {
    if (isnan(value))
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, " %*.*f", width, digits, value);
}

static void print_cell(Printer *printer) {
    const Measurements *cell = &printer->cell;
    if (!cell->timing_count) return;
    const Timing *first = &cell->timings[0];
    FILE *out = printer->output->out;
    if (!printer->headed) print_head(printer);
    fprintf(out, "%-20s %-7s %11llu %5u", first->kernel, *first->dtype ? first->dtype : "-",
            (unsigned long long)first->n, first->threads);
    if (!first->samples) {
        fprintf(out, " skipped: %s\n", first->note);
        return;
    }
    for (int i = 0; i < COLUMNS; i++) {
        const Timing *timing = find(cell, &columns[i]);
        print_number(out, 8, 2, timing ? timing->median : (double)NAN);
    }
    const Timing *rate = find_rate(cell);
    print_number(out, 9, 1, rate ? rate->gigabytes_per_second : (double)NAN);
    print_number(out, 6, 0, rate ? rate->clock : (double)NAN);
    print_number(out, 4, 0, rate ? rate->temperature : (double)NAN);
    fprintf(out, "\n");
}

static void end_cell(Printer *printer) {
    print_cell(printer);
    measured_done(&printer->cell);
    fflush(printer->output->out);
}

static bool is_of_cell(const Measurements *cell, const Timing *timing) {
    const Timing *first = cell->timings;
    return cell->timing_count && first->n == timing->n && first->threads == timing->threads &&
           !strcmp(first->kernel, timing->kernel) && !strcmp(first->dtype, timing->dtype) &&
           !strcmp(first->op, timing->op) && !strcmp(first->machine, timing->machine);
}

/* ---- JSON ------------------------------------------------------------------------------------------------
 */

static void add_timing(Json *json, const Timing *timing) {
    json_open_object(json, NULL);
    json_string(json, "kernel", timing->kernel);
    json_string(json, "machine", timing->machine);
    json_string(json, "measured", timing->measured);
    json_unsigned(json, "n", timing->n);
    json_string(json, "dtype", timing->dtype);
    json_string(json, "op", timing->op);
    json_unsigned(json, "threads", timing->threads);
    json_boolean(json, "to_scalar", timing->to_scalar);
    json_boolean(json, "graph", timing->graph);
    json_boolean(json, "cold", timing->cold);
    json_unsigned(json, "samples", timing->samples);
    json_number(json, "median", timing->median);
    json_number(json, "p5", timing->low);
    json_number(json, "p95", timing->high);
    json_number(json, "gigabytes_per_second", timing->gigabytes_per_second);
    json_number(json, "share_of_read", timing->share_of_read);
    json_number(json, "share_of_copy", timing->share_of_copy);
    json_number(json, "share_of_nominal", timing->share_of_peak);
    json_number(json, "clock_mhz", timing->clock);
    json_number(json, "temperature_celsius", timing->temperature);
    json_string(json, "note", timing->note);
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

/* `no_gpu`: why there is none; NULL: there is one. */
static void print_json(Printer *printer, const char *no_gpu) {
    Text whole = {0};
    Json json = {.out = &whole};
    json_string(&json, "no_gpu", no_gpu);
    fprintf(printer->output->out, "{%s,\"machines\":[%s],\"timings\":[%s],\"recorded\":[%s]}\n",
            text_string(&whole), text_string(&printer->machines_text), text_string(&printer->timings_text),
            text_string(&printer->recorded_text));
    text_done(&whole);
}

/* ---- lines -----------------------------------------------------------------------------------------------
 */

/* After its machine, where that is another than before. */
static void print_line(Printer *printer, const Timing *timing) {
    Text line = {0};
    BenchMachine unknown = {.memory_clock = NAN, .peak = NAN, .read = NAN, .copy = NAN};
    snprintf(unknown.name, sizeof unknown.name, "%s", timing->machine);
    if (strcmp(printer->named, timing->machine) != 0) {
        bool known = !strcmp(printer->machine.name, timing->machine);
        bench_add_machine(&line, known ? &printer->machine : &unknown, timing->measured);
        snprintf(printer->named, sizeof printer->named, "%s", timing->machine);
    }
    bench_add_timing(&line, timing);
    fputs(text_string(&line), printer->output->out);
    text_done(&line);
}

/* ---- the sink --------------------------------------------------------------------------------------------
 */

static void take_machine(void *context, const BenchMachine *machine) {
    Printer *printer = context;
    printer->machine = *machine;
    if (printer->output->format == BENCH_JSON)
        add_machine(&printer->machines, machine);
    else if (printer->output->format == BENCH_TABLE)
        fprintf(printer->output->out,
                "%s, driver %s; copy %.0f GB/s (read and written), read %.0f GB/s, nominal %.0f GB/s\n",
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
        if (!is_of_cell(&printer->cell, timing)) end_cell(printer);
        measured_add_timing(&printer->cell, timing);
    }
}

/* ---- without a GPU ---------------------------------------------------------------------------------------
 */

static bool is_wanted(const BenchOptions *options, const Timing *timing) {
    const CatalogOptions *wanted = &options->catalog;
    const CatalogRow *row = catalog_find(timing->kernel, NULL); /* NULL: what it is compared with */
    const CatalogRow *only = options->kernel ? catalog_find(options->kernel, NULL) : NULL;
    if (wanted->n && wanted->n != timing->n) return false;
    if (wanted->dtype != PTX_NO_TYPE && strcmp(plan_type_name(wanted->dtype), timing->dtype) != 0)
        return false;
    if (strcmp(wanted->op ? wanted->op : "sum", timing->op) != 0) return false;
    if (!row) return !only || only->group == CATALOG_LADDER;
    return only ? row == only : options->kernel || row->group == CATALOG_LADDER;
}

/* What was recorded elsewhere, and says so. */
static bool print_recorded(Printer *printer, const BenchOptions *options, const char *no_gpu, Error *error) {
    Measurements recorded = {0};
    const char *from = "", *when = ""; /* the last that was told of */
    bool good = bench_recorded(&recorded, error);
    for (int i = 0; good && i < recorded.timing_count; i++) {
        const Timing *timing = &recorded.timings[i];
        if (!is_wanted(options, timing)) continue;
        if (printer->output->format == BENCH_JSON) {
            add_timing(&printer->recorded, timing);
            continue;
        }
        if (!is_of_cell(&printer->cell, timing)) end_cell(printer);
        if (strcmp(from, timing->machine) != 0 || strcmp(when, timing->measured) != 0)
            fprintf(printer->output->out, "\n%s; recorded on %s, %s:\n", no_gpu, timing->machine,
                    timing->measured);
        from = timing->machine;
        when = timing->measured;
        measured_add_timing(&printer->cell, timing);
    }
    end_cell(printer);
    if (good && !*from && printer->output->format == BENCH_TABLE)
        fprintf(printer->output->out, "\n%s\n", no_gpu);
    measured_done(&recorded);
    return good;
}

bool bench_print(const BenchOptions *options, const BenchOutput *output, Error *error) {
    Printer printer = {.output = output};
    BenchSink sink = {&printer, take_machine, take_cell, take_timing};
    Error no_gpu = {0};
    printer.machines.out = &printer.machines_text;
    printer.timings.out = &printer.timings_text;
    printer.recorded.out = &printer.recorded_text;
    bool has_gpu = bench_has_gpu(&no_gpu);
    bool good = bench_cpu(options, &sink, error) && (!has_gpu || bench_run(options, &sink, error));
    clear_progress(&printer);
    end_cell(&printer);
    if (good && !has_gpu && output->format != BENCH_TSV)
        good = print_recorded(&printer, options, no_gpu.message, error);
    if (good && output->format == BENCH_JSON) print_json(&printer, has_gpu ? NULL : no_gpu.message);
    text_done(&printer.machines_text);
    text_done(&printer.timings_text);
    text_done(&printer.recorded_text);
    return good;
}
