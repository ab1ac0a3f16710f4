/* Claims that several sentences share. */
#ifndef TESTS_CATALOG_FACTS_H
#define TESTS_CATALOG_FACTS_H

/* clang-format off */
#define SEVENTY_TIMES_FOR_FLOATS                                                                            \
    (ABOUT(TIME("atomic", "float", 20, SCALAR, WARM) / TIME("atomic", "int", 20, SCALAR, WARM), 72) &&      \
    ABOUT(TIME("atomic", "float", 20, SCALAR, COLD) / TIME("atomic", "int", 20, SCALAR, COLD), 72))

#define HALF_THE_TIME_OF_INTERLEAVED                                                                        \
    (IS_HALF(TIME_SHARE("interleaved_bitmask", "interleaved", 28)) &&                                       \
    METRIC_OF("interleaved_bitmask", divergent_branches) == METRIC_OF("interleaved", divergent_branches))

#define SAME_LANES_AS_INTERLEAVED                                                                           \
    (METRIC_OF("interleaved_bitmask", divergent_branches) == METRIC_OF("interleaved", divergent_branches) && \
    METRIC_OF("interleaved_bitmask", shared_stores) == METRIC_OF("interleaved", shared_stores))

#define HALF_A_WARP_THEN_ONE_LANE                                                                           \
    (STORING_LANES("interleaved", 1) == 16 && STORING_LANES("interleaved", 5) == 1)

#define STRIDED_CONFLICTS                                                                                   \
    (WAYS("strided", 1) == 2 && WAYS("strided", 2) == 4 && WAYS("strided", 3) == 8)

#define SEQUENTIAL_IS_CONTIGUOUS                                                                            \
    (EXCESS("sequential") == 0 && STORING_LANES("sequential", 1) == 32 &&                                   \
    STORING_LANES("sequential", 3) == 32 && STORING_LANES("sequential", 4) == 16 &&                         \
    METRIC_OF("sequential", divergent_branches) == 6 * BLOCKS("sequential"))

#define ONE_BARRIER_FOR_1024_THREADS                                                                        \
    (METRIC_OF("shuffle block=1024", barriers) == BLOCKS("shuffle block=1024") * 32 &&                      \
    METRIC_OF("shuffle block=1024", shared_stores) == BLOCKS("shuffle block=1024") * 32)

#define GRID_STRIDE_TREES_STAY                                                                              \
    (BLOCKS("grid_stride n=4194304") == BLOCKS("grid_stride"))

#define MULTI_ADD_TREES_ARE_FEWER                                                                           \
    (BLOCKS("multi_add") * 4 == BLOCKS("shuffle"))

#define VECTORS_TAKE_FOUR_WAVEFRONTS                                                                        \
    (MOST_WAVEFRONTS("vectorized_shared", 1) == 4 && EXCESS("vectorized_shared") == 0)

#define A_QUARTER_OF_THE_BYTES                                                                              \
    (SHARED_BYTES("vectorized") * 4 == SHARED_BYTES("vectorized_shared") &&                                 \
    SHARED_BYTES("vectorized dtype=double") * 2 == SHARED_BYTES("vectorized_shared dtype=double"))

#define REDUX_IS_ONE_INSTRUCTION                                                                            \
    (METRIC_OF("redux", shuffles) == 0 && EVENTS("redux", REDUX) == 9 &&                                    \
    EVENTS("shuffle", SHUFFLE) == 9 * 5)

#define COLUMN_SUM_SECTORS                                                                                  \
    (SECTORS("column_sum") == 4 && SECTORS("column_sum axis=1") == 32 &&                                    \
    METRIC_OF("column_sum", barriers) == 0 && METRIC_OF("column_sum", shared_stores) == 0)

#define TRANSPOSING_TIMES                                                                                   \
    (TIME("column_sum", "int", 20, ALONE, WARM) > 25 * TIME("column_sum_permuted", "int", 20, ALONE, WARM) &&\
    TIME("column_sum", "int", 20, ALONE, WARM) < 35 * TIME("column_sum_permuted", "int", 20, ALONE, WARM) &&\
    BLOCKS("column_sum") == 4 &&                                                                            \
    ABOUT(METRIC_OF("column_sum_permuted", global_load_sectors) + METRIC_OF("column_sum_permuted",          \
        global_store_sectors), 3 * METRIC_OF("column_sum", global_load_sectors)))

#define MOMENTS_SHARE_BARRIERS_AND_LOADS                                                                    \
    (METRIC_OF("moments dtype=float", barriers) == METRIC_OF("row_sum dtype=float", barriers) &&            \
    METRIC_OF("moments dtype=float", global_load_sectors) == METRIC_OF("row_sum dtype=float",               \
        global_load_sectors))

#define STRIDES                                                                                             \
    (WAVEFRONTS("lab_bank_stride stride=2") == 2 && WAVEFRONTS("lab_bank_stride stride=32") == 32 &&        \
    WAVEFRONTS("lab_bank_stride stride=33") == 1)

#define BROADCASTS                                                                                          \
    (WAVEFRONTS("lab_bank_broadcast words=1") == 1 && WAVEFRONTS("lab_bank_broadcast words=2") == 1 &&      \
    WAVEFRONTS("lab_bank_broadcast words=4") == 1)

#define BYTES_SHARE_WORDS                                                                                   \
    (WAVEFRONTS("lab_bank_bytes stride=1") == 1 && WAVEFRONTS("lab_bank_bytes stride=1 dtype=short") == 1)

#define DOUBLES_TAKE_TWO                                                                                    \
    (WAVEFRONTS("lab_bank_double stride=1") == 2 && EXCESS("lab_bank_double stride=1") == 0)

#define VECTOR_TAKES_FOUR                                                                                   \
    (WAVEFRONTS("lab_bank_vector") == 4 && EXCESS("lab_bank_vector") == 0)

#define PADDING                                                                                             \
    (LINE_METRIC("lab_bank_padding padding=0", "+= tile", shared_load_wavefronts) == 32 * 32 &&             \
    LINE_METRIC("lab_bank_padding padding=1", "+= tile", shared_load_wavefronts) == 32)

#define TILE_WAVEFRONTS(layout) METRIC_OF("lab_tile_column layout=" #layout, shared_load_wavefronts)

#define TILE_COLUMNS                                                                                        \
    (TILE_WAVEFRONTS(0) == 1024 && TILE_WAVEFRONTS(1) == 32 && TILE_WAVEFRONTS(2) == 32 &&                  \
    TILE_WAVEFRONTS(3) == 128 && TILE_WAVEFRONTS(4) == 32)

#define ARMS                                                                                                \
    (METRIC_OF("lab_divergent_branch by=0", divergent_branches) > 0 &&                                      \
    METRIC_OF("lab_divergent_branch by=1", divergent_branches) == 0 &&                                      \
    LANES("lab_divergent_branch by=1") == 32 &&                                                             \
    LINE_METRIC("lab_divergent_branch by=0", "3 * x + 1", lane_instructions) == 16 *                        \
        LINE_METRIC("lab_divergent_branch by=0", "3 * x + 1", warp_instructions))

#define SECTORS_BY_STRIDE                                                                                   \
    (SECTORS("lab_coalescing block=8") == 1 && SECTORS("lab_coalescing") == 4 &&                            \
    SECTORS("lab_coalescing stride=8") == 32)

#define LATENCIES                                                                                           \
    (ABOUT(VALUE("lab_latency", 0, "global memory"), 700) &&                                                \
    ROUNDS(VALUE("lab_latency", 0, "shared memory"), 24))

#define CONFLICT_LATENCY                                                                                    \
    (ROUNDS(VALUE("lab_latency", 0, "32-way conflict"), 86) &&                                              \
    ROUNDS(VALUE("lab_latency", 0, "shared memory"), 24))

#define STRIDED_AFTER_BITMASK                                                                               \
    (NEAR(TIME_SHARE("strided", "interleaved_bitmask", 28), 125))

#define CUB_AFTER_FASTEST(type, log_n)                                                                      \
    (TIME("cub", type, log_n, SCALAR, COLD) / TIME("fastest", type, log_n, SCALAR, COLD))

#define UP_TO_2_20(type)                                                                                    \
    (CUB_AFTER_FASTEST(#type, 10) > 1.3 && CUB_AFTER_FASTEST(#type, 14) > 1.3 &&                            \
     CUB_AFTER_FASTEST(#type, 18) > 1.3 && CUB_AFTER_FASTEST(#type, 20) > 1.3)

#define EXECUTED(kernel)                                                                                    \
    (COUNTER(kernel, "int", SASS_INSTRUCTIONS))
/* clang-format on */

#endif
