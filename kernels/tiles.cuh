// Tiles in shared memory that tensor copies fill, and the mbarriers that say when.
#pragma once

// As the driver encodes it (cuTensorMapEncodeTiled): a tensor in global memory and the box that a copy moves.
struct alignas(64) TensorMap {
    unsigned long long opaque[16];
};

// The block's dynamic shared memory. The hardware's swizzle is a function of the address, so that tiles begin at
// a multiple of its whole pattern, 8 rows of 128 bytes.
__device__ inline unsigned char *shared_tiles() {
    extern __shared__ __align__(1024) unsigned char shared_tile_bytes[];
    return shared_tile_bytes;
}

__device__ inline unsigned shared_address(const void *pointer) { return __cvta_generic_to_shared(pointer); }

__device__ inline void init_barrier(unsigned long long *barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
                 : "memory");
}

// Before another thread or a copy uses the barriers.
__device__ inline void publish_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void arrive(unsigned long long *barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ inline void expect_bytes(unsigned long long *full, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(full)), "r"(bytes)
                 : "memory");
}

__device__ inline void wait_for_phase(unsigned long long *barrier, unsigned parity) {
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred complete;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, complete; }"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
}

// The box of the map whose first element is (column, row).
__device__ inline void copy_box(void *to, const TensorMap *map, int column, int row, unsigned long long *full) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
                 "l"(map), "r"(column), "r"(row), "r"(shared_address(full))
                 : "memory");
}

// Where the hardware puts the byte `at` of a tile: `mask` has the bits of the 16-byte piece that it XORs with
// the row, 0x70 for a span of 128 bytes (8 pieces), 0x30 for 64, 0x10 for 32, 0 without a swizzle.
__device__ inline unsigned swizzled(unsigned at, unsigned mask) { return at ^ (at >> 3 & mask); }

// 16 bytes, which a thread loads at once.
template <typename T> struct alignas(16) Piece {
    static constexpr unsigned count = 16 / sizeof(T);
    T values[count];
};
