/* Texture sample: which texels a fetch reads, and the value that it makes of them. Knows no memory: the caller
 * reads the texels in between.
 *
 *     texture_find()    coordinates -> texels with weights
 *     texture_blend()   texels -> four registers
 *
 * Coordinates ("Texture Fetching" in the CUDA C++ Programming Guide): x in texels, for normalized coordinates the
 * fraction times the extent. Without a filter the texel is floor(x). With a linear filter, xB = x - 0.5, and the
 * texels floor(xB) and floor(xB) + 1 of each dimension are weighted with 1 - a and a, where a is the fraction of xB
 * in 8 bits ("9-bit fixed point format with 8 bits of fractional value").
 *
 * The guide is silent about the following, and nothing has been measured yet:
 *   - xB is rounded to the nearest 1/256, ties upwards, before its integer part is taken;
 *   - the sum is exact and is rounded once to the result;
 *   - a coordinate that is not a number reads texel 0; those beyond 2^30 texels are treated as 2^30;
 *   - absent channels are 0, 0 and 1;
 *   - sRGB is decoded by its formula, in double precision, before the filter. */
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
    double weight[TEXTURE_MOST_TEXELS];   /* multiples of 2^-24 that add up to 1 */
} TextureTexels;

void texture_find(const TextureObject *object, const TextureFetch *fetch, TextureTexels *texels);
/* `texel`: the bytes of each texel that is inside. `out`: the bits of the four results. */
void texture_blend(const TextureObject *object, const TextureFetch *fetch, const TextureTexels *texels,
                   uint8_t (*texel)[TEXEL_MOST_BYTES], uint32_t out[4]);

#endif
