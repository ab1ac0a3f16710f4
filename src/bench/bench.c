/* Timings on the GPU: the device, and the order of the measurements. */
#include "bench/bench.h"

#include "base/text.h"
#include "gpu/ceilings.h"
#include "bench/multi_gpu.h"

static bool describe_machine(Bench *bench, Error *error) {
    const Cuda *cuda = bench->cuda;
    BenchMachine *machine = &bench->machine;
    Ceilings ceilings;
    if (!gpu_measure_ceilings(&bench->timer, bench_cell_seconds, &ceilings, error)) return false;
    snprintf(machine->name, sizeof machine->name, "%s", cuda->name);
    nvml_describe_driver(&bench->nvml, cuda, machine->driver, sizeof machine->driver);
    machine->memory_clock = nvml_read(&bench->nvml).memory_clock; /* after memory was used */
    machine->multiprocessors = cuda->multiprocessors;
    machine->l2_bytes = cuda->l2_bytes;
    machine->peak = ceilings.nominal;
    machine->read = ceilings.read;
    machine->copy = ceilings.copy;
    if (bench->sink->machine) bench->sink->machine(bench->sink->context, machine);
    return true;
}

bool bench_has_gpu(Error *why) {
    Cuda *cuda = cuda_open(why);
    cuda_close(cuda);
    return cuda != NULL;
}

bool bench_run(const BenchOptions *options, const BenchSink *sink, Error *error) {
    Bench bench = {.options = options, .sink = sink, .cuda = cuda_open(error)};
    if (!bench.cuda) return false;
    text_now(bench.measured, sizeof bench.measured);
    nvml_open(&bench.nvml, bench.cuda);
    bool good =
        timer_new(&bench.timer, bench.cuda, error) && describe_machine(&bench, error) &&
        (options->gpus ? bench_multi_gpu(&bench, error)
                       : bench_kernels(&bench, error) && (options->grid || bench_peers(&bench, error)));
    timer_free(&bench.timer);
    nvml_close(&bench.nvml);
    cuda_close(bench.cuda);
    return good;
}
