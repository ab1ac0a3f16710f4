# triton_sum: the sum of an array, written in Triton: one program, launched twice.
#
#   in        | 0 ... 1023 | 1024 ... 2047 | 2048 ... 3071 | 3072 ... 4095 | ...
#               program 0    program 1       program 0       program 1        first launch: 2 programs
#                    \___________|______________/               |
#                     partial[0] |__________________________partial[1]
#                            \__________________________/
#                                       out[0]                               second launch: 1 program
#
# What it teaches: a Triton program speaks of tiles, not of threads; which lane holds which element, the shuffles and the
# barrier of tl.sum() are the compiler's choice, and can be seen here.
import triton
import triton.language as tl


@triton.jit
def triton_sum(x, out, n, TILE: tl.constexpr):
    program = tl.program_id(0)
    step = tl.num_programs(0) * TILE
    total = tl.zeros((TILE,), x.dtype.element_ty)
    for start in range(program * TILE, n, step):
        i = start + tl.arange(0, TILE)
        total += tl.load(x + i, mask=i < n, other=0)
    tl.store(out + program, tl.sum(total))


INSTANCES = [
    (triton_sum, "int", dict(x="*i32", out="*i32", n="i32", TILE=1024)),
    (triton_sum, "float", dict(x="*fp32", out="*fp32", n="i32", TILE=1024)),
    (triton_sum, "double", dict(x="*fp64", out="*fp64", n="i32", TILE=1024)),
]
