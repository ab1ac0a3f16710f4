#!/usr/bin/env python3
"""Times PyTorch's sum as redviz --bench times kernels; prints lines of assets/*/timings.tsv
(src/bench/recorded_file.h).

    scripts/bench_torch.py [--seconds 0.05] [--dtype int,float,double] >>torch.tsv

Cold: other buffers in every repetition, and L2 overwritten before each sample; warm: the same buffer again.
Graph: the time of a CUDA graph of several repetitions, divided by their number; call: one repetition between
two events. The sum is one number of the input's type on the device. The machine line is not printed: append
the lines to those of --bench=tsv of the same machine.
"""
import argparse
import sys

import torch

SIZES = [1 << power for power in (10, 14, 18, 20, 22, 24, 28, 30)]
TYPES = {"int": torch.int32, "float": torch.float32, "double": torch.float64, "half": torch.float16}
SETS, LEAST_SAMPLES, MOST_SAMPLES = 32, 5, 200
WARM_UP = 3


def repetitions(size_bytes):
    """Repetitions in a graph; fewer if one takes long (bench.c)."""
    return 2 if size_bytes >= 1 << 28 else 8 if size_bytes >= 1 << 24 else 32


class Work:
    """Sums of copies of one array, which together overwrite L2 twice."""

    def __init__(self, count, dtype, l2_bytes):
        size_bytes = count * dtype.itemsize
        free, _ = torch.cuda.mem_get_info()
        sets = min(2 * 2 * l2_bytes // size_bytes + 1, SETS, free // 2 // size_bytes)
        if sets < 1:
            raise MemoryError(f"{size_bytes >> 20} MB do not fit into half of the GPU's free memory")
        self.dtype, self.bytes = dtype, size_bytes
        self.inputs = [torch.ones(count, dtype=dtype, device="cuda") for _ in range(sets)]
        self.out = torch.empty((), dtype=dtype, device="cuda")
        self.flush = torch.empty(2 * l2_bytes, dtype=torch.uint8, device="cuda")

    def once(self, index):
        torch.sum(self.inputs[index % len(self.inputs)], dim=0, dtype=self.dtype, out=self.out)

    def graph(self, cold, count):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for index in range(WARM_UP):
                self.once(index)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for index in range(count):
                self.once(index if cold else 0)
        return graph


def percentile(ordered, share):
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def measure(work, in_graph, cold, seconds):
    """Microseconds of a repetition: all samples, in ascending order."""
    count = repetitions(work.bytes) if in_graph else 1
    graph = work.graph(cold, count) if in_graph else None
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    samples, spent, turn = [], 0.0, 0
    for _ in range(WARM_UP):
        graph.replay() if graph else work.once(0)
    while len(samples) < LEAST_SAMPLES or (spent < seconds and len(samples) < MOST_SAMPLES):
        if cold:
            work.flush.zero_()
        torch.cuda.synchronize()
        begin.record()
        graph.replay() if graph else work.once(turn if cold else 0)
        end.record()
        end.synchronize()
        milliseconds = begin.elapsed_time(end)
        samples.append(milliseconds * 1e3 / count)
        spent += milliseconds * 1e-3
        turn += 1
    return sorted(samples)


def print_timing(count, name, in_graph, cold, samples):
    fields = ["timing", "torch", count, name, "sum", 0, "scalar", "graph" if in_graph else "call",
              "cold" if cold else "warm", len(samples)]
    fields += ["%.10g" % percentile(samples, share) for share in (0.5, 0.05, 0.95)]
    fields += ["-", "-", f"PyTorch {torch.__version__}"]
    print(*fields, sep="\t", flush=True)


def print_skipped(count, name, why):
    print("timing", "torch", count, name, "sum", 0, "scalar", "graph", "cold", 0, "-", "-", "-", "-", "-", why, sep="\t")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.0125, help="for each size, type and way, at most")
    parser.add_argument("--dtype", default="int,float,double", help="of " + ", ".join(TYPES))
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("bench_torch.py: PyTorch finds no GPU")
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    for name in options.dtype.split(","):
        if name not in TYPES:
            sys.exit(f"bench_torch.py: there is no type {name}; there are {', '.join(TYPES)}")
        for count in SIZES:
            try:
                work = Work(count, TYPES[name], l2_bytes)
                for in_graph in (True, False):
                    for cold in (True, False):
                        print_timing(count, name, in_graph, cold, measure(work, in_graph, cold, options.seconds))
            except (MemoryError, torch.cuda.OutOfMemoryError) as error:
                print_skipped(count, name, str(error).splitlines()[0].replace("\t", " "))
            work = None
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
