# triton_row_sum: the sum of each row of a matrix (its inner dimension), written in Triton: a program a row.
#
#                128 columns  128 columns
#   program 0  | tile ...... | tile ...... | ...   -> out[0]    lane t holds columns t, t + 32, t + 64, t + 96 of a tile
#   program 1  | tile ...... | tile ...... | ...   -> out[1]
#
# What it teaches: num_warps=1 makes a program of one warp, so that the sum of a row never leaves it: five shuffles, and
# neither shared memory nor a barrier; triton_sum, with four warps, needs both. The last row may be shorter.
import triton
import triton.language as tl


@triton.jit
def triton_row_sum(x, out, n, columns, TILE: tl.constexpr):
    row = tl.program_id(0)
    end = tl.minimum(row * columns + columns, n)
    total = tl.zeros((TILE,), x.dtype.element_ty)
    for start in range(row * columns, end, TILE):
        i = start + tl.arange(0, TILE)
        total += tl.load(x + i, mask=i < end, other=0)
    tl.store(out + row, tl.sum(total))


INSTANCES = [
    (triton_row_sum, "int", dict(x="*i32", out="*i32", n="i32", columns="i32", TILE=128, num_warps=1)),
    (triton_row_sum, "float", dict(x="*fp32", out="*fp32", n="i32", columns="i32", TILE=128, num_warps=1)),
    (triton_row_sum, "double", dict(x="*fp64", out="*fp64", n="i32", columns="i32", TILE=128, num_warps=1)),
]
