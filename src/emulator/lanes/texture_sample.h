/* Texture sample: which texels a fetch reads, and the value that it makes of them. Knows no memory: the
 * caller reads the texels in between.
 *
 *     texture_find()    coordinates -> texels with weights
 *     texture_blend()   texels -> four registers
 *
 * Coordinates ("Texture Fetching" in the CUDA C++ Programming Guide): x in texels, for normalized coordinates
 * the fraction times the extent. Without a filter the texel is floor(x). With a linear filter, xB = x - 0.5,
 * and the texels floor(xB) and floor(xB) + 1 of each dimension are weighted with 1 - a and a, where a is the
 * fraction of xB in 8 bits.
 *
 * The guide is silent about the rest, which is as an H200 does it (measured 2026-11-30 by
 * tests/device/texture_rules.cu; floats of 32 bits and unsigned fractions agree to the bit):
 *   - xB is rounded to the nearest 1/256, ties upwards; with clamp addressing it ends at the first and the
 *     last texel, except in a gather. The two or three weights of a texel are multiplied to a multiple of
 *     1/256: depth first, then x, then y, as share_weights() says.
 *   - A line is the row y = 0 of a plane: its filter gives half the weight to what the second dimension's
 *     addressing finds at y = -1, the border.
 *   - The sum is exact and is rounded once, ties away from zero, to the format: f32, f16; integers of 8 and
 *     16 bits are added as integers of 16 bits, ties upwards. Known to differ by one step: f16 texels of very
 *     different sizes (36 of 6,084), signed 8-bit texels (116 of 3,042).
 *   - sRGB is decoded by a table of 256 values with 8 significant bits; the border is not encoded. A filter
 *     of sRGB texels is refused (runtime/library/arrays.c).
 *   - A coordinate that is not a number reads texel 0, and one that is infinite too if it wraps.
 *   - Absent channels are 0. The border is converted to the format: fractions are clamped and rounded,
 *     integers take its low bits.
 *   - A layer beyond the last one is the last; it is unsigned. Of equal components of a direction, z goes
 *     before y before x. A face of a cubemap is addressed as the texture says. Known to
 *     differ: which texel a direction of zeroes reads.
 * Not measured: textures that are infinite or not a number under a filter, layered lines and cubemaps,
 * coordinates beyond 2^30 texels, which are treated as 2^30. */
#ifndef EMULATOR_LANES_TEXTURE_SAMPLE_H
#define EMULATOR_LANES_TEXTURE_SAMPLE_H

#include "base/texture_object.h"

enum { TEXTURE_MOST_TEXELS = 8, TEXEL_MOST_BYTES = 16 };

typedef enum TextureShape {
    TEXTURE_SHAPE_1D,
    TEXTURE_SHAPE_2D,
    TEXTURE_SHAPE_3D,
    TEXTURE_SHAPE_CUBE
} TextureShape;

typedef struct TextureFetch {
    TextureShape shape;
    bool is_index;  /* `index` in place of coordinates */
    bool is_gather; /* the four texels around the place, one channel of each */
    int channel;    /* of a gather */
    bool has_layer; /* the instruction names a layer */
    float at[3];    /* x, y, z */
    int32_t index[3];
    uint32_t layer;
} TextureFetch;

typedef struct TextureTexels {
    int count;
    bool is_inside[TEXTURE_MOST_TEXELS];  /* false: the border */
    uint64_t offset[TEXTURE_MOST_TEXELS]; /* from the object's address, in bytes */
    uint32_t weight[TEXTURE_MOST_TEXELS]; /* of 256 */
} TextureTexels;

void texture_find(const TextureObject *object, const TextureFetch *fetch, TextureTexels *texels);
/* `texel`: the bytes of each texel that is inside. `out`: the bits of the four results. */
void texture_blend(const TextureObject *object, const TextureFetch *fetch, const TextureTexels *texels,
                   uint8_t (*texel)[TEXEL_MOST_BYTES], uint32_t out[4]);

#endif
