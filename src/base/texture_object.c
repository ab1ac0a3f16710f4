#include "base/texture_object.h"

bool texture_object_is_valid(const TextureObject *object) {
    if (object->magic != TEXTURE_OBJECT_MAGIC || object->kind > TEXEL_FLOAT) return false;
    if (object->dimensions < 1 || object->dimensions > 3) return false;
    if (object->channels != 1 && object->channels != 2 && object->channels != 4) return false;
    if (object->channel_bytes != 1 && object->channel_bytes != 2 && object->channel_bytes != 4) return false;
    if (object->kind == TEXEL_FLOAT && object->channel_bytes == 1) return false;
    for (int d = 0; d < 3; d++)
        if (object->addressing[d] > TEXTURE_BORDER) return false;
    if (object->width > INT32_MAX || object->height > INT32_MAX || object->depth > INT32_MAX) return false;
    return object->width && object->height && object->depth;
}
