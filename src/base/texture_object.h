/* Texture object: what a texture or a surface is made of, as the emulated machine keeps it.
 *
 * On a GPU a handle (cudaTextureObject_t, cudaSurfaceObject_t) names a descriptor that only the hardware
 * reads. Here the handle is the address of a TextureObject in device memory, so that whatever keeps memory
 * (sessions, repeated launches) keeps textures too. Texels lie in rows, the rows in layers or slices of
 * depth, the faces of a cubemap as six layers each; a GPU tiles arrays in ways that are not documented.
 *
 * Sources: CUDA C++ Programming Guide, "Texture and Surface Memory"; the enumerations have the numbers of
 * cudaChannelFormatKind and cudaTextureAddressMode. */
#ifndef BASE_TEXTURE_OBJECT_H
#define BASE_TEXTURE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

enum { TEXTURE_OBJECT_MAGIC = 0x54584574 };

typedef enum TexelKind { TEXEL_SIGNED, TEXEL_UNSIGNED, TEXEL_FLOAT } TexelKind;

typedef enum TextureAddressing {
    TEXTURE_WRAP,
    TEXTURE_CLAMP,
    TEXTURE_MIRROR,
    TEXTURE_BORDER
} TextureAddressing;

enum { /* TextureObject.flags */
       TEXTURE_IS_SURFACE = 1,
       TEXTURE_IS_LINEAR_MEMORY = 2, /* read by index alone */
       TEXTURE_IS_LAYERED = 4,       /* depth counts layers */
       TEXTURE_IS_CUBE = 8,          /* depth counts faces, 6 in each layer */
       TEXTURE_FILTERS = 16,         /* linear filter; else the nearest texel */
       TEXTURE_IS_NORMALIZED = 32,   /* coordinates are fractions of the extent */
       TEXTURE_READS_FRACTIONS = 64, /* 8- and 16-bit integers are read as fractions of their range */
       TEXTURE_IS_SRGB = 128         /* red, green and blue of 8 bits are decoded */
};

typedef struct TextureObject {
    uint32_t magic; /* TEXTURE_OBJECT_MAGIC */
    uint32_t flags;
    uint64_t address;              /* of the first texel, in device memory */
    uint64_t pitch;                /* bytes from row to row */
    uint64_t slice;                /* bytes from layer to layer, or along the depth */
    uint32_t width, height, depth; /* in texels; at least 1 */
    uint8_t dimensions;            /* 1, 2 or 3, without layers and faces */
    uint8_t channels;              /* 1, 2 or 4 */
    uint8_t channel_bytes;         /* 1, 2 or 4 */
    uint8_t kind;                  /* TexelKind */
    uint32_t addressing[3];        /* TextureAddressing, by dimension */
    float border[4];
} TextureObject;

/* False: not a texture object, or one that cannot be: memory comes from anywhere. */
bool texture_object_is_valid(const TextureObject *object);
static inline uint32_t texture_texel_bytes(const TextureObject *object) {
    return (uint32_t)object->channels * object->channel_bytes;
}

#endif
