# triton_max: the largest element of an array, written in Triton: a tile a program, one atomic a program.
#
#   in     | 0 ... 1023 | 1024 ... 2047 | 2048 ... 3071 | ...      lanes beyond n hold LOWEST, which changes no maximum
#            program 0    program 1       program 2
#                 \____________|______________/
#                           out[0]                                tl.atomic_max, in any order
#
# What it teaches: one launch is enough where the result can be folded by atomics. PTX has no atomic maximum of floats:
# look at what Triton makes of it (ordered as integers, positive floats grow and negative ones fall).
import triton
import triton.language as tl


@triton.jit
def triton_max(x, out, n, TILE: tl.constexpr, LOWEST: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tile = tl.load(x + i, mask=i < n, other=LOWEST)
    tl.atomic_max(out, tl.max(tile), sem="relaxed")


INSTANCES = [
    (triton_max, "int", dict(x="*i32", out="*i32", n="i32", TILE=1024, LOWEST=-(2**31))),
    (triton_max, "float", dict(x="*fp32", out="*fp32", n="i32", TILE=1024, LOWEST=float("-inf"))),
]
