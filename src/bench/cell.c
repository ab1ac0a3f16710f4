#include "bench/cell.h"

#include <math.h>

const double bench_cell_seconds = 0.050;
const PtxType bench_types[BENCH_TYPES] = {PTX_S32, PTX_F32, PTX_F64, PTX_F16};
static const uint64_t usual_sizes[BENCH_SIZES] = {1 << 10, 1 << 14, 1 << 18, 1 << 20,
                                                  1 << 22, 1 << 24, 1 << 28, 1 << 30};
enum { GRID_SIZES = 2 };
static const uint64_t grid_sizes[BENCH_SIZES] = {1 << 20, 1 << 24};

int bench_list_sizes(const BenchOptions *options, uint64_t sizes[BENCH_SIZES]) {
    memcpy(sizes, options->grid ? grid_sizes : usual_sizes, sizeof usual_sizes);
    if (!options->catalog.n) return options->grid ? GRID_SIZES : BENCH_SIZES;
    sizes[0] = options->catalog.n;
    return 1;
}

double bench_seconds(const BenchOptions *options) {
    return options->cell_seconds > 0 ? options->cell_seconds : bench_cell_seconds;
}

bool bench_may_go_on(const BenchOptions *options, Error *error) {
    return !options->cancel || !*options->cancel || error_set(error, "cancelled");
}

int bench_list_reductions(const BenchOptions *options, PtxType types[BENCH_TYPES], Error *error) {
    const char *kernel = options->kernel;
    if (kernel && strcmp(kernel, "all") != 0) {
        const CatalogRow *row = catalog_find(kernel, error);
        if (!row) return -1;
        if (row->group != CATALOG_LADDER) return 0;
    }
    int count = 0;
    for (int i = 0; i < BENCH_TYPES; i++)
        if (options->catalog.dtype == PTX_NO_TYPE || options->catalog.dtype == bench_types[i])
            types[count++] = bench_types[i];
    return count;
}

Timing bench_timing(const char *kernel, const char *machine, const char *measured, uint64_t n, PtxType type,
                    const char *op) {
    return (Timing){.kernel = kernel,
                    .machine = machine,
                    .measured = measured,
                    .n = n,
                    .dtype = type == PTX_NO_TYPE ? "" : plan_type_name(type),
                    .op = op ? op : "",
                    .median = NAN,
                    .low = NAN,
                    .high = NAN,
                    .gigabytes_per_second = NAN,
                    .share_of_read = NAN,
                    .share_of_copy = NAN,
                    .share_of_peak = NAN,
                    .clock = NAN,
                    .temperature = NAN};
}

static double share(double speed, double ceiling) {
    return ceiling > 0 ? speed / ceiling : (double)NAN;
}

void bench_set_times(Timing *timing, const Spread *microseconds, uint64_t bytes,
                     const BenchMachine *machine) {
    double speed = (double)bytes / microseconds->median * 1e-3;
    timing->samples = (uint64_t)microseconds->count;
    timing->median = microseconds->median;
    timing->low = microseconds->low;
    timing->high = microseconds->high;
    timing->gigabytes_per_second = speed;
    timing->share_of_read = share(speed, machine->read);
    timing->share_of_copy = share(speed, machine->copy);
    timing->share_of_peak = share(speed, machine->peak);
}

void bench_send_cell(const BenchSink *sink, const char *kernel, uint64_t n) {
    if (sink->cell) sink->cell(sink->context, kernel, n);
}

void bench_send_timing(const BenchSink *sink, const Timing *timing) {
    if (sink->timing) sink->timing(sink->context, timing);
}

void bench_send_value(const BenchSink *sink, const BenchValue *value) {
    if (sink->value) sink->value(sink->context, value);
}
