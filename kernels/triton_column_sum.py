# triton_column_sum: the sum of each column of a matrix (not its inner dimension), written in Triton.
#
#             32 columns
#   rows  0 ... 31 | tile |    a program sums 32 columns: it moves a tile of 32 x 32 down them,
#   rows 32 ... 63 | tile |    and folds the rows of the tile in the end
#                     |
#                  out[0 ... 31]
#
# What it teaches: lanes still lie along the inner dimension, so that loads are coalesced; a column is then spread over
# registers and warps, and warps can only meet in shared memory. The last row may be shorter.
import triton
import triton.language as tl


@triton.jit
def triton_column_sum(x, out, n, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), x.dtype.element_ty)
    for start in range(0, tl.cdiv(n, columns), ROWS):
        row = start + tl.arange(0, ROWS)
        i = row[:, None] * columns + column[None, :]
        inside = (column[None, :] < columns) & (i < n)
        total += tl.load(x + i, mask=inside, other=0)
    tl.store(out + column, tl.sum(total, axis=0), mask=(column < columns) & (column < n))


INSTANCES = [
    (triton_column_sum, "int", dict(x="*i32", out="*i32", n="i32", columns="i32", ROWS=32, COLUMNS=32)),
    (triton_column_sum, "float", dict(x="*fp32", out="*fp32", n="i32", columns="i32", ROWS=32, COLUMNS=32)),
    (triton_column_sum, "double", dict(x="*fp64", out="*fp64", n="i32", columns="i32", ROWS=32, COLUMNS=32)),
]
