# Compares out [rows][columns] with a [rows][depth] times b [columns][depth] transposed, each in a file of its
# name, one number a line. promoted_product's a and b are e4m3, with scales_of_a [depth / 128][rows] and
# scales_of_b [depth / 128]; its result may be off by 1/512 of the sum of the magnitudes. Exit 1 if one differs.

function e4m3(byte,    magnitude, exponent) {
    magnitude = byte % 128
    exponent = int(magnitude / 8)
    magnitude = exponent ? (8 + magnitude % 8) * 2 ^ (exponent - 10) : magnitude % 8 * 2 ^ -9
    return byte < 128 ? magnitude : -magnitude
}

FNR == 1 { file = FILENAME; count = 0 }
{
    value[file, count++] = promoted && file ~ /^[ab]$/ ? e4m3($1) : $1
    counts[file] = count
}
BEGIN { promoted = name == "promoted_product" }
END {
    if (counts["a"] != rows * depth || counts["b"] != columns * depth || counts["out"] != rows * columns) {
        print "a buffer has another number of elements"
        exit 1
    }
    for (row = 0; row < rows; row++)
        for (column = 0; column < columns; column++) {
            sum = magnitude = 0
            for (k = 0; k < depth; k++) {
                term = value["a", row * depth + k] * value["b", column * depth + k]
                if (promoted) {
                    block = int(k / 128)
                    term *= value["scales_of_a", block * rows + row] * value["scales_of_b", block]
                }
                sum += term
                magnitude += term < 0 ? -term : term
            }
            off = value["out", row * columns + column] - sum
            if (off < 0) off = -off
            share = magnitude > 0 ? off / magnitude : off
            if (share > most) most = share
            if (promoted ? share > 1 / 512 : off != 0) {
                printf "row %d, column %d: %g, the product is %g\n", row, column,
                    value["out", row * columns + column], sum
                exit 1
            }
        }
    printf "largest error: %g of the sum of the magnitudes\n", most
}
