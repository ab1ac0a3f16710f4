#include "cli/bench_table.h"

#include <math.h>
#include <stdlib.h>

/* ---- cells --------------------------------------------------------------------------------------------- */

typedef struct TimingColumn { /* selects a timing of the cell */
    bool to_scalar, graph, cold;
} TimingColumn;
static const TimingColumn columns[] = {{false, true, true}, {false, true, false}, {false, false, true},
                                       {true, true, true},  {true, true, false},  {true, false, true},
                                       {true, false, false}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void print_head(BenchTable *table) {
    FILE *out = table->out;
    fprintf(
        out,
        "Microseconds, medians. alone: the kernel; scalar: until one result is left; graph: one of many in a "
        "CUDA graph;\ncall: a single one between two events; cold: the L2 cache holds nothing of the "
        "input.\n\n");
    fprintf(out, "%-20s %-7s %11s %5s", "kernel", "type", "n", "block");
    for (int i = 0; i < COLUMNS; i++) fprintf(out, " %8s", columns[i].to_scalar ? "scalar" : "alone");
    fprintf(out, " %9s %6s %4s\n%46s", "GB/s", "MHz", "C", "");
    for (int i = 0; i < COLUMNS; i++) fprintf(out, " %8s", columns[i].graph ? "graph" : "call");
    fprintf(out, " %9s\n%46s", "", "");
    for (int i = 0; i < COLUMNS; i++) fprintf(out, " %8s", columns[i].cold ? "cold" : "warm");
    fprintf(out, " %9s\n", "cold");
    table->headed = true;
}

static const Timing *find(const Measurements *cell, const TimingColumn *column) {
    for (int i = 0; i < cell->timing_count; i++) {
        const Timing *timing = &cell->timings[i];
        if (timing->samples && timing->to_scalar == column->to_scalar && timing->graph == column->graph &&
            timing->cold == column->cold)
            return timing;
    }
    return NULL;
}

/* The timing for the rate: to one scalar if measured, in a graph if possible, cold. */
static const Timing *find_rate(const Measurements *cell) {
    static const TimingColumn wanted[] = {{true, true, true},
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

static void print_cell(BenchTable *table) {
    const Measurements *cell = &table->cell;
    if (!cell->timing_count) return;
    const Timing *first = &cell->timings[0];
    FILE *out = table->out;
    if (!table->headed) print_head(table);
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

void cli_bench_table_flush(BenchTable *table) {
    print_cell(table);
    measured_done(&table->cell);
    fflush(table->out);
}

static bool is_of_cell(const Measurements *cell, const Timing *timing) {
    const Timing *first = cell->timings;
    return cell->timing_count && first->n == timing->n && first->threads == timing->threads &&
           !strcmp(first->kernel, timing->kernel) && !strcmp(first->dtype, timing->dtype) &&
           !strcmp(first->op, timing->op) && !strcmp(first->machine, timing->machine);
}

void cli_bench_table_timing(BenchTable *table, const Timing *timing) {
    if (!is_of_cell(&table->cell, timing)) cli_bench_table_flush(table);
    measured_add_timing(&table->cell, timing);
}

/* ---- values -------------------------------------------------------------------------------------------- */

enum { LEAST_WIDTH = 9 };

void cli_bench_table_value(BenchTable *table, const BenchValue *value) {
    BenchValue own = *value;
    own.kernel = arena_copy_string(&table->arena, value->kernel);
    own.machine = arena_copy_string(&table->arena, value->machine);
    own.measured = arena_copy_string(&table->arena, value->measured);
    own.dtype = arena_copy_string(&table->arena, value->dtype);
    own.op = arena_copy_string(&table->arena, value->op);
    own.name = arena_copy_string(&table->arena, value->name);
    own.unit = arena_copy_string(&table->arena, value->unit);
    own.note = arena_copy_string(&table->arena, value->note);
    array_push(table->values, table->value_count, table->value_capacity, own);
}

static bool is_of_same(const BenchValue *a, const BenchValue *b) {
    return a->n == b->n && !strcmp(a->kernel, b->kernel) && !strcmp(a->dtype, b->dtype) &&
           !strcmp(a->op, b->op) && !strcmp(a->machine, b->machine);
}

/* The number of consecutive values, from `first`, that belong to one line. */
static int line_count(const BenchTable *table, int first) {
    int count = 1;
    while (first + count < table->value_count &&
           is_of_same(&table->values[first], &table->values[first + count]))
        count++;
    return count;
}

static bool have_same_names(const BenchValue *a, const BenchValue *b, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(a[i].name, b[i].name) != 0 || strcmp(a[i].unit, b[i].unit) != 0) return false;
    return true;
}

static int width_of(const BenchValue *value) {
    int name = (int)strlen(value->name), unit = (int)strlen(value->unit), width = name > unit ? name : unit;
    return width > LEAST_WIDTH ? width : LEAST_WIDTH;
}

static void print_names(const BenchTable *table, const BenchValue *values, int count) {
    fprintf(table->out, "\n%-20s %-7s %11s", "kernel", "type", "n");
    for (int i = 0; i < count; i++) fprintf(table->out, " %*s", width_of(&values[i]), values[i].name);
    fprintf(table->out, "\n%40s", "");
    for (int i = 0; i < count; i++) fprintf(table->out, " %*s", width_of(&values[i]), values[i].unit);
    fprintf(table->out, "\n");
}

static void print_line(const BenchTable *table, const BenchValue *values, int count) {
    fprintf(table->out, "%-20s %-7s %11llu", values->kernel, *values->dtype ? values->dtype : "-",
            (unsigned long long)values->n);
    for (int i = 0; i < count; i++)
        print_number(table->out, width_of(&values[i]), fabs(values[i].value) < 99999 ? 1 : 0,
                     values[i].value);
    fprintf(table->out, "\n");
}

/* Prints each reason for an unknown value once. */
static void print_notes(const BenchTable *table) {
    for (int i = 0; i < table->value_count; i++) {
        bool printed = !table->values[i].note;
        for (int k = 0; k < i && !printed; k++)
            printed = table->values[k].note && !strcmp(table->values[k].note, table->values[i].note);
        if (!printed) fprintf(table->out, "%s\n", table->values[i].note);
    }
}

static void print_values(const BenchTable *table) {
    int named = 0, named_count = 0; /* the line last printed with the names above it */
    for (int first = 0; first < table->value_count;) {
        const BenchValue *values = &table->values[first];
        int count = line_count(table, first);
        if (count != named_count || !have_same_names(&table->values[named], values, count))
            print_names(table, values, count);
        print_line(table, values, count);
        named = first;
        named_count = count;
        first += count;
    }
    print_notes(table);
}

void cli_bench_table_end(BenchTable *table) {
    cli_bench_table_flush(table);
    print_values(table);
    free(table->values);
    arena_done(&table->arena);
    *table = (BenchTable){0};
}
