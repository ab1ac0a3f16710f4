#!/usr/bin/env python3
"""Times the sums of rows of float matrices: row_sum and row_sum_vectors of the catalogue, torch.sum, Triton, CUB's segmented sum.

  tests/device/rows.py rows.so        rows.cu says how to build it

All are enqueued into CUDA graphs by one process, so that the host takes no part; their samples alternate. The
matrices of a graph are together larger than the L2 cache. A line gives the median of a call, and in brackets the
10th and 90th of 100. Exit 1 if a sum is wrong.
"""
import ctypes
import sys

import torch
import triton
import triton.language as tl

SHAPES = [(4096, 4096), (65536, 256)]
SETS, SAMPLES, CALLS = 4, 101, 16


@triton.jit
def one_tile(x, out, columns, TILE: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, TILE)
    tl.store(out + row, tl.sum(tl.load(x + row * columns + i, mask=i < columns, other=0)))


def check(result):
    if result:
        sys.exit(f"CUDA error {result}")


def kinds_of(library, rows, columns, workspace):
    def stream():
        return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def pointer(tensor):
        return ctypes.c_void_p(tensor.data_ptr())

    def ours(block):
        return lambda x, out: check(library.row_sum(pointer(x), pointer(out), rows, columns, block, stream()))

    def vectors(block, is_warp):
        return lambda x, out: check(library.row_sum_vectors(pointer(x), pointer(out), rows, columns, block, is_warp,
                                                            stream()))

    def cub(x, out):
        bytes_ = ctypes.c_size_t(workspace.numel())
        check(library.cub_rows(pointer(workspace), ctypes.byref(bytes_), pointer(x), pointer(out), rows, columns,
                               stream()))

    def tiles(warps):
        return lambda x, out: one_tile[(rows,)](x, out, columns, TILE=triton.next_power_of_2(columns), num_warps=warps)

    kinds = {f"row_sum, blocks of {block}": ours(block) for block in (128, 256, 512)}
    for block in (64, 128, 256, 512):
        kinds[f"vectors, warps of {block}"] = vectors(block, True)
        kinds[f"vectors, blocks of {block}"] = vectors(block, False)
    kinds["CUB, segmented"] = cub
    kinds["torch.sum"] = lambda x, out: torch.sum(x, 1, out=out)
    for warps in (1, 4, 8):
        kinds[f"Triton, {warps} warp" + "s" * (warps > 1)] = tiles(warps)
    return kinds


def graph_of(call, matrices, out):
    call(matrices[0], out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(CALLS):
            call(matrices[i % SETS], out)
    return graph


def microseconds(graph):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000 / CALLS


def is_right(call, matrix, out):
    out.fill_(float("nan"))
    call(matrix, out)
    wanted = matrix.double().sum(1)
    bound = matrix.shape[1] * 2.0**-24 * matrix.double().abs().sum(1)
    return bool(((out.double() - wanted).abs() <= bound).all())


def main():
    library = ctypes.CDLL(sys.argv[1])
    good = True
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, Triton {triton.__version__},",
          f"CCCL {library.cccl_version()}")
    for rows, columns in SHAPES:
        matrices = [torch.rand(rows, columns, device="cuda") * 2 - 1 for _ in range(SETS)]
        out = torch.empty(rows, device="cuda")
        bytes_ = ctypes.c_size_t(0)
        check(library.cub_rows(None, ctypes.byref(bytes_), None, None, rows, columns, None))
        kinds = kinds_of(library, rows, columns, torch.empty(max(bytes_.value, 1), dtype=torch.uint8, device="cuda"))
        right = {name: is_right(call, matrices[0], out) for name, call in kinds.items()}
        graphs = {name: graph_of(call, matrices, out) for name, call in kinds.items()}
        samples = {name: [] for name in kinds}
        for _ in range(SAMPLES):
            for name, graph in graphs.items():
                samples[name].append(microseconds(graph))
        for name, times in samples.items():
            low, middle, high = (sorted(times)[i * (SAMPLES - 1) // 10] for i in (1, 5, 9))
            print(f"{rows:6} x {columns:<5} {name:24} {middle:8.2f} us ({low:.2f} .. {high:.2f})"
                  f" {rows * columns * 4 / middle / 1000:8.1f} GB/s{'' if right[name] else '   WRONG'}")
        good = good and all(right.values())
    sys.exit(not good)


main()
