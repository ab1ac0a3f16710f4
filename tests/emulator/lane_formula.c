/* Lane formulas: computes the rows of a table from its formula. */
#include "lane_formula.h"

enum { COUNT = 1500 };

Int int_ones(int bits) {
    return bits >= 127 ? -1 : ((Int)1 << bits) - 1;
}

Int int_extend(Int value, int bits, bool is_signed) {
    value &= int_ones(bits);
    return is_signed && (value >> (bits - 1) & 1) ? value - ((Int)1 << bits) : value;
}

Int int_clamp(Int value, Int low, Int high) {
    return value < low ? low : value > high ? high : value;
}

Int int_clamp_to(Int value, int bits, bool is_signed) {
    return is_signed ? int_clamp(value, -((Int)1 << (bits - 1)), int_ones(bits - 1))
                     : int_clamp(value, 0, int_ones(bits));
}

Int int_part(Int word, int i, int bits, bool is_signed) {
    return int_extend(word >> bits * i, bits, is_signed);
}

static void check_row(const LaneFormula *row) {
    static LaneRow rows[COUNT];
    int source_bits[LANE_VALUES], bits[LANE_VALUES], destinations;
    int sources = lane_table_widths(row->instruction, source_bits, bits, &destinations);
    uint64_t random = 1;
    for (int i = 0; i < COUNT; i++) {
        Int x[LANE_VALUES] = {0};
        for (int j = 0; j < sources; j++) {
            rows[i].in[j] = lane_integer(&random, source_bits[j]);
            if (lane_random(&random) % 16 == 0 && j)
                rows[i].in[j] = rows[i].in[j - 1] & (uint64_t)int_ones(source_bits[j]);
            x[j] = int_extend((Int)rows[i].in[j], source_bits[j], row->sign == SIGNED);
        }
        rows[i].out[0] = (uint64_t)(row->formula(x, source_bits[0]) & int_ones(bits[0]));
    }
    lane_table_check(row->instruction, rows, COUNT);
}

void lane_formula_check(const LaneFormula *rows, size_t count) {
    for (size_t i = 0; i < count; i++) check_row(&rows[i]);
}
