#include "emulator/lanes/texture_sample.h"

#include "emulator/lanes/lanes.h"

#include <math.h>
#include <string.h>

enum { FRACTION = 256 }; /* steps of a weight */

/* ---- places ------------------------------------------------------------------------------------------- */

/* The texel of a place along one dimension; -1: the border. */
static int64_t address(int64_t place, uint32_t extent, uint32_t addressing) {
    int64_t n = extent;
    switch (addressing) {
    case TEXTURE_WRAP:
        return ((place % n) + n) % n;
    case TEXTURE_MIRROR: {
        int64_t turn = ((place % (2 * n)) + 2 * n) % (2 * n);
        return turn < n ? turn : 2 * n - 1 - turn;
    }
    case TEXTURE_CLAMP:
        return place < 0 ? 0 : place < n ? place : n - 1;
    default:
        return place < 0 || place >= n ? -1 : place;
    }
}

typedef struct Along { /* one dimension */
    int64_t texel[2];
    uint32_t weight[2]; /* of 256 */
    int count;
} Along;

static double in_texels(const TextureObject *object, float at, uint32_t extent, uint32_t addressing) {
    const double most = 1 << 30;
    double x = at;
    if (x != x) return 0;
    if (object->flags & TEXTURE_IS_NORMALIZED) {
        if (addressing == TEXTURE_WRAP) x = isinf(x) ? 0 : x - floor(x);
        x *= extent;
    }
    return x > most ? most : x < -most ? -most : x;
}

static bool takes_two(const TextureObject *object, const TextureFetch *fetch) {
    return (object->flags & TEXTURE_FILTERS || fetch->is_gather) && !fetch->is_index;
}

static Along along(const TextureObject *object, const TextureFetch *fetch, float at, uint32_t extent,
                   uint32_t addressing) {
    double x = in_texels(object, at, extent, addressing);
    bool folds = addressing == TEXTURE_WRAP || addressing == TEXTURE_MIRROR;
    if (folds && !(object->flags & TEXTURE_IS_NORMALIZED)) addressing = TEXTURE_CLAMP;
    if (!takes_two(object, fetch))
        return (Along){{address((int64_t)floor(x), extent, addressing)}, {FRACTION}, 1};
    int64_t fixed = (int64_t)floor((x - 0.5) * FRACTION + 0.5), last = ((int64_t)extent - 1) * FRACTION;
    if (addressing == TEXTURE_CLAMP && !fetch->is_gather) fixed = fixed < 0 ? 0 : fixed > last ? last : fixed;
    int64_t first = fixed >> 8;
    uint32_t fraction = (uint32_t)(fixed & (FRACTION - 1));
    return (Along){{address(first, extent, addressing), address(first + 1, extent, addressing)},
                   {FRACTION - fraction, fraction},
                   2};
}

static Along at_index(int64_t index, uint32_t extent) {
    return (Along){{address(index, extent, TEXTURE_BORDER)}, {FRACTION}, 1};
}

/* The face of a cubemap and the place in it, each from 0 to 1 ("Cubemap Textures"). */
static uint32_t face_of(const float at[3], float place[2]) {
    float x = at[0], y = at[1], z = at[2], ax = fabsf(x), ay = fabsf(y), az = fabsf(z), s, t, m;
    uint32_t face;
    if (az >= ax && az >= ay) {
        face = 4 + (z < 0);
        m = az, s = z < 0 ? -x : x, t = -y;
    } else if (ay >= ax) {
        face = 2 + (y < 0);
        m = ay, s = x, t = y < 0 ? -z : z;
    } else {
        face = x < 0;
        m = ax, s = x < 0 ? z : -z, t = -y;
    }
    place[0] = (s / m + 1) / 2;
    place[1] = (t / m + 1) / 2;
    return face;
}

/* Layers are clamped, whatever the addressing. */
static uint64_t layer_of(const TextureObject *object, const TextureFetch *fetch, uint32_t face) {
    bool is_cube = fetch->shape == TEXTURE_SHAPE_CUBE;
    uint32_t layers = is_cube ? object->depth / 6 : object->depth;
    uint32_t wanted = fetch->has_layer ? fetch->layer : 0, layer = wanted < layers ? wanted : layers - 1;
    return is_cube && object->depth >= 6 ? layer * 6 + face : layer;
}

/* Half of a weight's last bit goes to the texels on the diagonal from the first to the last one. */
static uint32_t share(uint32_t whole, uint32_t weight) {
    return (whole * weight + FRACTION / 2) / FRACTION;
}

static void share_weights(const Along parts[3], uint32_t weights[2][2][2]) {
    for (int z = 0; z < 2; z++) {
        uint32_t slice = parts[2].weight[z], right = share(slice, parts[0].weight[1]), left = slice - right;
        weights[z][1][1] = share(right, parts[1].weight[1]);
        weights[z][0][1] = right - weights[z][1][1];
        weights[z][0][0] = share(left, parts[1].weight[0]);
        weights[z][1][0] = left - weights[z][0][0];
    }
}

void texture_find(const TextureObject *object, const TextureFetch *fetch, TextureTexels *texels) {
    const uint32_t extents[3] = {object->width, object->height, object->depth};
    int dimensions = fetch->shape == TEXTURE_SHAPE_CUBE ? 2 : (int)fetch->shape + 1;
    if (fetch->shape == TEXTURE_SHAPE_1D && takes_two(object, fetch)) dimensions = 2; /* the row of y = 0 */
    float place[3] = {fetch->at[0], fetch->shape == TEXTURE_SHAPE_1D ? 0 : fetch->at[1], fetch->at[2]};
    uint32_t face = fetch->shape == TEXTURE_SHAPE_CUBE ? face_of(fetch->at, place) : 0;
    TextureObject seen = *object;
    if (fetch->shape == TEXTURE_SHAPE_CUBE) seen.flags |= TEXTURE_IS_NORMALIZED; /* in a face */
    Along parts[3] = {{{0}, {FRACTION}, 1}, {{0}, {FRACTION}, 1}, {{0}, {FRACTION}, 1}};
    for (int d = 0; d < dimensions && d < 3; d++)
        parts[d] = fetch->is_index ? at_index(fetch->index[d], extents[d])
                                   : along(&seen, fetch, place[d], extents[d], seen.addressing[d]);
    bool has_layers = fetch->shape != TEXTURE_SHAPE_3D && object->depth > 1;
    uint64_t layer = has_layers || face ? layer_of(object, fetch, face) : 0;
    uint32_t weights[2][2][2];
    share_weights(parts, weights);
    texels->count = 0;
    for (int z = 0; z < parts[2].count; z++)
        for (int y = 0; y < parts[1].count; y++)
            for (int x = 0; x < parts[0].count; x++) {
                int i = texels->count++;
                int64_t tx = parts[0].texel[x], ty = parts[1].texel[y], tz = parts[2].texel[z];
                texels->is_inside[i] = tx >= 0 && ty >= 0 && tz >= 0;
                texels->offset[i] = (uint64_t)tx * texture_texel_bytes(object) +
                                    (uint64_t)ty * object->pitch + ((uint64_t)tz + layer) * object->slice;
                texels->weight[i] = weights[z][y][x];
            }
}

/* ---- values ------------------------------------------------------------------------------------------- */

/* [step] The upper 16 bits of the float that an H200 decodes it to. */
static const uint16_t srgb[256] = {
    0x0000, 0x39a0, 0x3a20, 0x3a70, 0x3aa0, 0x3ac8, 0x3af0, 0x3b0c, 0x3b20, 0x3b34, 0x3b48, 0x3b5c, 0x3b70,
    0x3b84, 0x3b90, 0x3b9c, 0x3baa, 0x3bb8, 0x3bc6, 0x3bd6, 0x3be6, 0x3bf6, 0x3c03, 0x3c0c, 0x3c16, 0x3c1f,
    0x3c29, 0x3c34, 0x3c3e, 0x3c49, 0x3c55, 0x3c60, 0x3c6c, 0x3c7a, 0x3c83, 0x3c8a, 0x3c91, 0x3c98, 0x3c9f,
    0x3ca6, 0x3cae, 0x3cb6, 0x3cbe, 0x3cc6, 0x3cce, 0x3cd7, 0x3ce0, 0x3ce9, 0x3cf2, 0x3cfc, 0x3d03, 0x3d08,
    0x3d0d, 0x3d12, 0x3d17, 0x3d1c, 0x3d22, 0x3d28, 0x3d2d, 0x3d33, 0x3d39, 0x3d3f, 0x3d45, 0x3d4c, 0x3d52,
    0x3d58, 0x3d60, 0x3d66, 0x3d6c, 0x3d74, 0x3d7a, 0x3d81, 0x3d85, 0x3d88, 0x3d8c, 0x3d90, 0x3d94, 0x3d98,
    0x3d9c, 0x3da0, 0x3da4, 0x3da9, 0x3dad, 0x3db1, 0x3db6, 0x3dba, 0x3dbf, 0x3dc3, 0x3dc8, 0x3dcd, 0x3dd1,
    0x3dd6, 0x3ddb, 0x3de0, 0x3de5, 0x3dea, 0x3df0, 0x3df4, 0x3dfa, 0x3e00, 0x3e02, 0x3e05, 0x3e08, 0x3e0b,
    0x3e0e, 0x3e11, 0x3e14, 0x3e17, 0x3e1a, 0x3e1d, 0x3e20, 0x3e23, 0x3e26, 0x3e29, 0x3e2c, 0x3e30, 0x3e33,
    0x3e36, 0x3e3a, 0x3e3d, 0x3e40, 0x3e44, 0x3e47, 0x3e4b, 0x3e4e, 0x3e52, 0x3e56, 0x3e59, 0x3e5d, 0x3e61,
    0x3e65, 0x3e68, 0x3e6c, 0x3e70, 0x3e74, 0x3e78, 0x3e7c, 0x3e80, 0x3e82, 0x3e84, 0x3e86, 0x3e88, 0x3e8a,
    0x3e8d, 0x3e8f, 0x3e91, 0x3e93, 0x3e95, 0x3e98, 0x3e9a, 0x3e9c, 0x3e9e, 0x3ea1, 0x3ea3, 0x3ea5, 0x3ea8,
    0x3eaa, 0x3ead, 0x3eaf, 0x3eb2, 0x3eb4, 0x3eb6, 0x3eb9, 0x3ebc, 0x3ebe, 0x3ec1, 0x3ec3, 0x3ec6, 0x3ec8,
    0x3ecb, 0x3ece, 0x3ed1, 0x3ed3, 0x3ed6, 0x3ed9, 0x3edb, 0x3ede, 0x3ee1, 0x3ee4, 0x3ee7, 0x3eea, 0x3eed,
    0x3ef0, 0x3ef2, 0x3ef6, 0x3ef8, 0x3efc, 0x3efe, 0x3f01, 0x3f02, 0x3f04, 0x3f05, 0x3f07, 0x3f09, 0x3f0a,
    0x3f0c, 0x3f0d, 0x3f0f, 0x3f11, 0x3f12, 0x3f14, 0x3f16, 0x3f17, 0x3f19, 0x3f1b, 0x3f1c, 0x3f1e, 0x3f20,
    0x3f21, 0x3f23, 0x3f25, 0x3f27, 0x3f29, 0x3f2a, 0x3f2c, 0x3f2e, 0x3f30, 0x3f32, 0x3f33, 0x3f35, 0x3f37,
    0x3f39, 0x3f3b, 0x3f3d, 0x3f3f, 0x3f41, 0x3f43, 0x3f45, 0x3f47, 0x3f49, 0x3f4b, 0x3f4d, 0x3f4f, 0x3f51,
    0x3f53, 0x3f55, 0x3f57, 0x3f59, 0x3f5b, 0x3f5d, 0x3f5f, 0x3f61, 0x3f63, 0x3f65, 0x3f68, 0x3f6a, 0x3f6c,
    0x3f6e, 0x3f70, 0x3f72, 0x3f74, 0x3f76, 0x3f7a, 0x3f7c, 0x3f7e, 0x3f80};

/* The border is not encoded. */
static double decode_srgb(const TextureObject *object, bool is_inside, const uint8_t *texel, int channel) {
    double border = object->border[channel];
    if (is_inside) return float_of((uint32_t)srgb[texel[channel]] << 16);
    return border > 0 ? (border < 1 ? border : 1) : 0;
}

static bool is_fraction(const TextureObject *object) {
    return object->flags & TEXTURE_READS_FRACTIONS && object->kind != TEXEL_FLOAT &&
           object->channel_bytes < 4;
}

/* The bits of an integer, sign-extended. */
static uint32_t integer_of(const TextureObject *object, const uint8_t *texel, int channel) {
    uint32_t bits = 0, count = object->channel_bytes;
    memcpy(&bits, texel + (uint32_t)channel * count, count);
    uint32_t sign = UINT32_C(1) << (8 * count - 1);
    return object->kind == TEXEL_SIGNED ? (bits ^ sign) - sign : bits;
}

/* The largest integer of a channel, and of a filter's result. */
static int64_t most_of(const TextureObject *object, int bytes) {
    return (INT64_C(1) << (8 * bytes - (object->kind == TEXEL_SIGNED))) - 1;
}

static bool is_srgb(const TextureObject *object, int channel) {
    return object->flags & TEXTURE_IS_SRGB && object->channel_bytes == 1 && channel < 3;
}

/* A float channel. */
static double texel_float(const TextureObject *object, bool is_inside, const uint8_t *texel, int channel) {
    if (!is_inside) return object->border[channel];
    uint32_t bits = integer_of(object, texel, channel);
    return object->channel_bytes == 4 ? float_of(bits) : float_of(widen_f16(bits));
}

/* A channel that is read as a fraction: an integer from -most or 0 to most. The border is the nearest one. */
static int64_t step_of(const TextureObject *object, bool is_inside, const uint8_t *texel, int channel) {
    bool is_signed = object->kind == TEXEL_SIGNED;
    int64_t most = most_of(object, object->channel_bytes), least = is_signed ? -most : 0;
    if (!is_inside) {
        double value = object->border[channel] * (double)most;
        return value > (double)most ? most : value > (double)least ? (int64_t)floor(value + 0.5) : least;
    }
    uint32_t bits = integer_of(object, texel, channel);
    int64_t step = is_signed ? (int32_t)bits : (int64_t)bits;
    return step < least ? least : step;
}

/* A channel of one texel, or of the border, as it is read. */
static uint32_t plain_value(const TextureObject *object, bool is_inside, const uint8_t *texel, int channel) {
    if (channel >= object->channels) return 0;
    if (object->kind == TEXEL_FLOAT) return bits_of((float)texel_float(object, is_inside, texel, channel));
    if (is_fraction(object)) {
        int64_t step = step_of(object, is_inside, texel, channel);
        double value = (double)step / (double)most_of(object, object->channel_bytes);
        return bits_of(
            (float)(is_srgb(object, channel) ? decode_srgb(object, is_inside, texel, channel) : value));
    }
    if (is_inside) return integer_of(object, texel, channel);
    uint32_t bits = bits_of(object->border[channel]);
    return object->channel_bytes == 4 ? bits : bits & ((UINT32_C(1) << 8 * object->channel_bytes) - 1);
}

/* Rounds to so many bits, ties away from zero; `least`: the exponent of the smallest normal number. */
static double round_to(double value, int bits, int least) {
    int exponent = 0;
    if (value == 0 || isinf(value) || isnan(value)) return value;
    frexp(value, &exponent);
    int last = (exponent - 1 > least ? exponent - 1 : least) - bits + 1;
    return ldexp(round(ldexp(value, -last)), last);
}

/* What a filter adds: floats, or steps of 16 bits for integers of 8 and 16 bits. */
static double filtered_of(const TextureObject *object, bool is_inside, const uint8_t *texel, int channel) {
    if (object->kind == TEXEL_FLOAT) return texel_float(object, is_inside, texel, channel);
    double step = (double)step_of(object, is_inside, texel, channel);
    return step * ((double)most_of(object, 2) / (double)most_of(object, object->channel_bytes));
}

static float result_of(const TextureObject *object, double sum) {
    if (object->kind == TEXEL_FLOAT && object->channel_bytes == 4) return (float)round_to(sum, 24, -126);
    if (object->kind == TEXEL_FLOAT) return (float)round_to(sum, 11, -14);
    return (float)(floor(sum + 0.5) / (double)most_of(object, 2));
}

void texture_blend(const TextureObject *object, const TextureFetch *fetch, const TextureTexels *texels,
                   uint8_t (*texel)[TEXEL_MOST_BYTES], uint32_t out[4]) {
    if (fetch->is_gather) { /* lower left, lower right, upper right, upper left ("tld4") */
        static const int order[4] = {2, 3, 1, 0};
        for (int i = 0; i < 4; i++)
            out[i] = plain_value(object, texels->is_inside[order[i]], texel[order[i]], fetch->channel);
        return;
    }
    for (int c = 0; c < 4; c++) {
        bool is_filtered = texels->count > 1 && (object->kind == TEXEL_FLOAT || is_fraction(object));
        if (!is_filtered || c >= object->channels) {
            out[c] = plain_value(object, texels->is_inside[0], texel[0], c);
            continue;
        }
        double sum = 0;
        for (int i = 0; i < texels->count; i++)
            if (texels->weight[i])
                sum += texels->weight[i] * filtered_of(object, texels->is_inside[i], texel[i], c);
        out[c] = bits_of(result_of(object, sum / FRACTION));
    }
}
