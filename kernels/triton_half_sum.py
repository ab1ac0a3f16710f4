# triton_half_sum: fp16 numbers in, fp16 sums out, and fp32 in between, written in Triton.
#
#   x[0 ... items)   x[items ... 2 * items)  ...      fp16, 2 bytes each
#     program 0        program 1                      tiles of 1024, widened, then added: fp32
#       out[0]           out[1]                       rounded to fp16 once, at the end
#
# What it teaches: store small, add large, as half_promote does; the widening is one word of the source. (4096
# ones would add up without it, too: a lane adds four of them into one number, and a tree adds the rest.)
import triton
import triton.language as tl


@triton.jit
def triton_half_sum(x, out, n, items, TILE: tl.constexpr):
    program = tl.program_id(0)
    begin = program * items
    end = tl.minimum(begin + items, n)
    total = tl.zeros((TILE,), tl.float32)
    for start in range(begin, end, TILE):
        i = start + tl.arange(0, TILE)
        total += tl.load(x + i, mask=i < end, other=0).to(tl.float32)
    tl.store(out + program, tl.sum(total).to(tl.float16))


INSTANCES = [
    (triton_half_sum, "half", dict(x="*fp16", out="*fp16", n="i32", items="i32", TILE=1024)),
]
